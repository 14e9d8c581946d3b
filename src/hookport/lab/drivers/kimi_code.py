"""Kimi Code, the Node program: `kimi -p` with a custom provider in its configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage
from hookport.lab.drivers._editor import make_ways
from hookport.lab.drivers._settings import make_absolute, make_servers, write_json, write_toml


def settle(stage: Stage) -> None:
    home = stage.home / ".kimi-code"
    model = {"provider": "lab", "model": "lab-model", "max_context_size": 100000}
    provider = {"type": "openai", "base_url": f"{stage.url}/v1", "api_key": "none"}
    tables: dict[str, Mapping[str, object]] = {
        "": {"default_model": "lab", "telemetry": False},
        "models.lab": model,
        "providers.lab": provider,
    }
    write_toml(home / "config.toml", tables)
    if stage.mcp:
        write_json(home / "mcp.json", make_servers(stage))


def command(stage: Stage) -> Sequence[str]:
    # `-p` asks nobody (measured, 2.1.0).
    return (*stage.program, "-p", stage.prompt)


def environment(_stage: Stage) -> Mapping[str, str]:
    return {"KIMI_DISABLE_TELEMETRY": "1", "KIMI_CODE_NO_AUTO_UPDATE": "1"}


# Measured, 2.1.0.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("Bash", {"command": line}),
    "write": lambda stage, path, text: ModelCall(
        "Write", {"path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "Edit", {"path": make_absolute(stage, path), "old_string": old, "new_string": new}
    ),
    "read": lambda stage, path: ModelCall("Read", {"path": make_absolute(stage, path)}),
    "mcp": lambda _stage, tool, given: ModelCall(f"mcp__lab__{tool}", given),
    "delegate": lambda _stage, task: ModelCall(
        "Agent", {"description": "as scripted", "prompt": task, "subagent_type": "coder"}
    ),
}

# The names and fields of its schemas (2.1.0).
FURTHER: Further = (
    ("search", lambda _stage: ModelCall("Grep", {"pattern": "word"})),
    ("find", lambda _stage: ModelCall("Glob", {"pattern": "*.txt"})),
    ("web_fetch", lambda _stage: ModelCall("FetchURL", {"url": "http://127.0.0.1:9/"})),
    ("todo", lambda _stage: ModelCall("TodoList", {"todos": [{"title": "one", "status": "pending"}]})),
    ("skill", lambda _stage: ModelCall("Skill", {"skill": "none"})),
    ("agent", lambda _stage: ModelCall("Agent", {"description": "look", "prompt": "Look around."})),
)

DRIVER = Driver(
    title="Kimi Code",
    # It requires 22.19.
    package=AgentPackage("npm", "@moonshot-ai/kimi-code", "2.1.0", node=22),
    program="kimi",
    protocol="chat",
    dialect="kimi_cli",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    window=100000,
    # Measured, 2.1.0; Kimi CLI, of the same dialect, drops it.
    has=("before_prompt.context",),
    lacks={
        "session_end.fires": "SessionEnd does not fire with `-p` (measured, 2.1.0)",
    },
    ways=make_ways(lambda stage: (*stage.program, "acp")),
)
