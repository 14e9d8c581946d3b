"""OpenCode: `opencode serve` with the address of the model in the user's configuration."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage
from hookport.lab.drivers import _opencode_session
from hookport.lab.drivers._editor import make_ways
from hookport.lab.drivers._settings import make_absolute, write_json

MODEL = "anthropic/claude-sonnet-4-5"


def settle(stage: Stage) -> None:
    settings: dict[str, object] = {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "model": MODEL,
        "small_model": MODEL,
        "permission": {"*": "allow"},
        "provider": {"anthropic": {"options": {"baseURL": f"{stage.url}/v1", "apiKey": "none"}}},
    }
    if stage.mcp:
        settings["mcp"] = {"lab": {"type": "local", "command": list(stage.mcp), "enabled": True}}
    write_json(stage.home / ".config" / "opencode" / "opencode.json", settings)


def command(stage: Stage) -> Sequence[str]:
    # Not `opencode run`, which ends before a hook at the end of a turn has answered (measured, 1.18.33).
    return (sys.executable, _opencode_session.__file__, stage.prompt, *stage.program)


def environment(_stage: Stage) -> Mapping[str, str]:
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_SHARE": "1",
        # It installs a package for plugins at its start, and without a network tries for 70 s (measured,
        # 1.18.33).
        "npm_config_fetch_retries": "0",
    }


# Measured, 1.18.33.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("bash", {"command": line, "description": "as scripted"}),
    "write": lambda stage, path, text: ModelCall(
        "write", {"filePath": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "edit", {"filePath": make_absolute(stage, path), "oldString": old, "newString": new}
    ),
    "read": lambda stage, path: ModelCall("read", {"filePath": make_absolute(stage, path)}),
    "mcp": lambda _stage, tool, given: ModelCall(f"lab_{tool}", given),
    "delegate": lambda _stage, task: ModelCall(
        "task", {"description": "as scripted", "prompt": task, "subagent_type": "general"}
    ),
}

# The names and fields of its schemas (1.18.33).
FURTHER: Further = (
    ("search", lambda _stage: ModelCall("grep", {"pattern": "word"})),
    ("find", lambda _stage: ModelCall("glob", {"pattern": "*.txt"})),
    (
        "todo",
        lambda _stage: ModelCall(
            "todowrite",
            {"todos": [{"id": "1", "content": "one", "status": "pending", "priority": "low"}]},
        ),
    ),
    ("skill", lambda _stage: ModelCall("skill", {"name": "none"})),
    ("web_fetch", lambda _stage: ModelCall("webfetch", {"url": "http://127.0.0.1:9/", "format": "text"})),
    (
        "agent",
        lambda _stage: ModelCall(
            "task", {"description": "look", "prompt": "Look around.", "subagent_type": "general"}
        ),
    ),
)

DRIVER = Driver(
    title="OpenCode",
    package=AgentPackage("npm", "opencode-ai", "1.18.33"),
    program="opencode",
    protocol="anthropic",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    window=200000,
    # A server is still running when a hook at the end of a turn answers (measured, 1.18.33).
    has=("agent_stop.block",),
    # It uses a processor for 5 s, and the run waits for it.
    patience=180,
    ways=make_ways(lambda stage: (*stage.program, "acp")),
)
