"""Hermes: `hermes -z` with a custom provider in its configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, ModelCall, Stage
from hookport.lab.drivers._settings import make_absolute, make_server, write_json


def settle(stage: Stage) -> None:
    settings: dict[str, object] = {
        "model": {
            "default": "lab-model",
            "provider": "custom",
            "base_url": f"{stage.url}/v1",
            "api_key": "none",
        },
    }
    if stage.mcp:
        settings["mcp_servers"] = {"lab": make_server(stage)}
    # JSON is YAML.
    write_json(stage.home / ".hermes" / "config.yaml", settings)


def command(stage: Stage) -> Sequence[str]:
    return (*stage.program, "chat", "--yolo", "--quiet", "-q", stage.prompt)


def environment(stage: Stage) -> Mapping[str, str]:
    return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{stage.url}/v1"}


# Measured, 0.19.0.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("terminal", {"command": line}),
    "write": lambda stage, path, text: ModelCall(
        "write_file", {"path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "patch",
        {"mode": "replace", "path": make_absolute(stage, path), "old_string": old, "new_string": new},
    ),
    "read": lambda stage, path: ModelCall("read_file", {"path": make_absolute(stage, path)}),
    "mcp": lambda _stage, tool, given: ModelCall(f"mcp__lab__{tool}", given),
}

DRIVER = Driver(
    title="Hermes",
    # The client for MCP servers is an extra.
    package=AgentPackage("pypi", "hermes-agent[mcp]", "0.19.0", python=(3, 11)),
    program="hermes",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
)
