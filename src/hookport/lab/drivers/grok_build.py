"""Grok Build: `grok -p` with a model of one's own in its configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage, Way
from hookport.lab.drivers._editor import make_ways
from hookport.lab.drivers._settings import make_absolute, make_server, write_toml


def settle(stage: Stage) -> None:
    model = {
        "model": "lab-model",
        "name": "lab",
        "base_url": f"{stage.url}/v1",
        "api_key": "none",
        "api_backend": "chat_completions",
        "context_window": 128000,
    }
    tables: dict[str, Mapping[str, object]] = {
        "models": {"default": "lab"},
        "model.lab": model,
        "cli": {"auto_update": False},
    }
    if stage.mcp:
        tables["mcp_servers.lab"] = make_server(stage)
    write_toml(stage.home / ".grok" / "config.toml", tables)
    # Hooks of a project that is not in it are skipped.
    folder = f'folders."{stage.project}"'
    trusted = {folder: {"trusted": True, "decided_at": 1794837762}} if stage.trusted else {}
    write_toml(stage.home / ".grok" / "trusted_folders.toml", trusted)


def command(stage: Stage) -> Sequence[str]:
    return (*stage.program, "-p", stage.prompt, "-m", "lab", "--always-approve")


def environment(_stage: Stage) -> Mapping[str, str]:
    return {
        "XAI_API_KEY": "none",
        "GROK_TELEMETRY_ENABLED": "0",
        "GROK_DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }


# Measured, 1.0.41.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall(
        "run_terminal_command", {"command": line, "description": "as scripted"}
    ),
    "write": lambda stage, path, text: ModelCall(
        "write", {"file_path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "search_replace", {"file_path": make_absolute(stage, path), "old_string": old, "new_string": new}
    ),
    "read": lambda stage, path: ModelCall("read_file", {"target_file": make_absolute(stage, path)}),
    "mcp": lambda _stage, tool, given: ModelCall(
        "use_tool", {"tool_name": f"lab__{tool}", "tool_input": given}
    ),
    "delegate": lambda _stage, task: ModelCall(
        "spawn_subagent", {"prompt": task, "description": "as scripted", "background": False}
    ),
    "other_shell": lambda _stage, line: ModelCall("monitor", {"command": line, "description": "as scripted"}),
}

# The names and fields of its schemas (1.0.41).
FURTHER: Further = (
    ("search", lambda _stage: ModelCall("grep", {"pattern": "word"})),
    ("list", lambda stage: ModelCall("list_dir", {"target_directory": str(stage.project)})),
    (
        "todo",
        lambda _stage: ModelCall(
            "todo_write", {"todos": [{"id": "1", "content": "one", "status": "in_progress"}]}
        ),
    ),
    ("web_search", lambda _stage: ModelCall("web_search", {"query": "hooks"})),
    ("agent", lambda _stage: ModelCall("spawn_subagent", {"prompt": "Look around.", "description": "look"})),
)


# `-p` refuses what it would ask for.
def ask(stage: Stage) -> Sequence[str]:
    return (*stage.program, "-p", stage.prompt, "-m", "lab")


DRIVER = Driver(
    title="Grok Build",
    # Its first start is a script of Node, which then puts the program itself in its own place.
    package=AgentPackage("npm", "@xai-official/grok", "1.0.41"),
    program="grok",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    ways={
        "asking": Way(command=ask),
        **make_ways(lambda stage: (*stage.program, "agent", "-m", "lab", "--always-approve", "stdio")),
    },
)
