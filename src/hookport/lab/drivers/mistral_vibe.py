"""Mistral Vibe: `vibe -p` with a custom provider in its configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage
from hookport.lab.drivers._editor import make_ways
from hookport.lab.drivers._settings import make_absolute, write_toml


def settle(stage: Stage) -> None:
    quiet = dict.fromkeys(("enable_telemetry", "enable_update_checks", "enable_notifications"), False)
    provider = {
        "name": "lab",
        "api_base": f"{stage.url}/v1",
        "api_key_env_var": "LAB_KEY",
        "api_style": "openai",
        "backend": "generic",
    }
    tables: dict[str, Mapping[str, object]] = {
        "": {"active_model": "lab", "api_retry_max_elapsed_time": 5.0, **quiet},
        "[providers]": provider,
        "[models]": {"name": "lab-model", "provider": "lab", "alias": "lab"},
    }
    if stage.mcp:
        tables["[mcp_servers]"] = {"name": "lab", "transport": "stdio", "command": list(stage.mcp)}
    write_toml(stage.home / ".vibe" / "config.toml", tables)
    # It loads no hook of a folder outside this list; `--trust` trusts one run, which is not recorded.
    folders = [str(stage.project)]
    kept = {"trusted": folders if stage.trusted else [], "untrusted": [] if stage.trusted else folders}
    write_toml(stage.home / ".vibe" / "trusted_folders.toml", {"": kept})


def command(stage: Stage) -> Sequence[str]:
    return (*stage.program, "--auto-approve", "-p", stage.prompt)


def environment(_stage: Stage) -> Mapping[str, str]:
    return {"LAB_KEY": "none"}


def mcp(_stage: Stage, tool: str, given: Mapping[str, object]) -> ModelCall:
    """Call an MCP tool: only a program of the model can call these functions."""
    return ModelCall("run_typescript", {"code": f"return await tools.mcp_lab.{tool}({json.dumps(given)});"})


# Measured, 3.0.2.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("bash", {"command": line}),
    "write": lambda stage, path, text: ModelCall(
        "write_file", {"path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "edit", {"file_path": make_absolute(stage, path), "old_string": old, "new_string": new}
    ),
    "read": lambda stage, path: ModelCall("read_file", {"path": make_absolute(stage, path)}),
    "mcp": mcp,
}

# The names and fields of its schemas (3.0.2).
FURTHER: Further = (
    ("todo", lambda _stage: ModelCall("todo", {"action": "read"})),
    ("skill", lambda _stage: ModelCall("skill", {"name": "vibe"})),
)

DRIVER = Driver(
    title="Mistral Vibe",
    package=AgentPackage("pypi", "mistral-vibe", "3.0.2", python=(3, 12)),
    program="vibe",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    # After the first hook that denies a stop, no further hook runs, three times in a turn (measured, 3.0.2).
    alone=("stop-once",),
    ways=make_ways(lambda stage: (str(Path(stage.program[0]).with_name("vibe-acp")),)),
)
