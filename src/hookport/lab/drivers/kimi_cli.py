"""Kimi CLI, the Python program: `kimi --print` with a custom provider in its configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage
from hookport.lab.drivers._editor import make_ways
from hookport.lab.drivers._settings import make_absolute, make_servers, write_json, write_toml


def settle(stage: Stage) -> None:
    home = stage.home / ".kimi"
    model = {"provider": "lab", "model": "lab-model", "max_context_size": 100000}
    provider = {"type": "openai_legacy", "base_url": f"{stage.url}/v1", "api_key": "none"}
    tables: dict[str, Mapping[str, object]] = {
        "": {"default_model": "lab", "telemetry": False},
        "models.lab": model,
        "providers.lab": provider,
    }
    write_toml(home / "config.toml", tables)
    if stage.mcp:
        write_json(home / "mcp.json", make_servers(stage))


def log_in(stage: Stage) -> None:
    """Write a token that names nobody: `kimi acp` starts no session without one (measured, 1.51.0)."""
    token = {"access_token": "none", "refresh_token": "none", "expires_at": 0, "scope": "", "token_type": ""}
    write_json(stage.home / ".kimi" / "credentials" / "kimi-code.json", {**token, "expires_in": 0})


def command(stage: Stage) -> Sequence[str]:
    return (*stage.program, "--print", "--yolo", "-p", stage.prompt)


def environment(_stage: Stage) -> Mapping[str, str]:
    return {"KIMI_DISABLE_TELEMETRY": "1", "KIMI_CLI_NO_AUTO_UPDATE": "1"}


# Measured, 1.51.0; MCP tools have their bare names.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("Shell", {"command": line}),
    "write": lambda stage, path, text: ModelCall(
        "WriteFile", {"path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "StrReplaceFile", {"path": make_absolute(stage, path), "edit": {"old": old, "new": new}}
    ),
    "read": lambda stage, path: ModelCall("ReadFile", {"path": make_absolute(stage, path)}),
    "mcp": lambda _stage, tool, given: ModelCall(tool, given),
    "delegate": lambda _stage, task: ModelCall(
        "Agent", {"description": "as scripted", "prompt": task, "subagent_type": "coder"}
    ),
}

# The names and fields of its schemas (1.51.0).
FURTHER: Further = (
    ("search", lambda _stage: ModelCall("Grep", {"pattern": "word"})),
    ("find", lambda _stage: ModelCall("Glob", {"pattern": "*.txt"})),
    ("web_fetch", lambda _stage: ModelCall("FetchURL", {"url": "http://127.0.0.1:9/"})),
    ("todo", lambda _stage: ModelCall("SetTodoList", {"todos": [{"title": "one", "status": "pending"}]})),
    ("agent", lambda _stage: ModelCall("Agent", {"description": "look", "prompt": "Look around."})),
)

DRIVER = Driver(
    title="Kimi CLI",
    # 1.52.0 only prints a farewell; 1.51.0 is the last version that works. Its package accepts Python 3.12,
    # but on 3.12.1 it crashes at start (`super(type, obj)`, measured).
    package=AgentPackage("pypi", "kimi-cli", "1.51.0", python=(3, 13), is_last=True),
    program="kimi",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    window=100000,
    # Measured, 1.51.0; Kimi Code, of the same dialect, starts hooks in the folder of its process (KI14).
    has=("before_tool_execute.elsewhere",),
    lacks={
        "before_prompt.context": "a hook's output does not reach the model (measured, 1.51.0)",
    },
    ways=make_ways(lambda stage: (*stage.program, "acp"), settle=log_in),
)
