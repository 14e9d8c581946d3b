"""Reasonix: `reasonix -p` with a provider in reasonix.toml that speaks Chat Completions."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage, Way
from hookport.lab.drivers._editor import make_ways
from hookport.lab.drivers._settings import make_servers, write, write_json

PROVIDER = {
    "name": "lab",
    "kind": "openai",
    "model": "lab-model",
    "models": ["lab-model"],
    "api_key_env": "LAB_KEY",
    "context_window": 128000,
}


def settle(stage: Stage) -> None:
    provider = {**PROVIDER, "base_url": f"{stage.url}/v1"}
    lines = [f"{key} = {json.dumps(value)}" for key, value in provider.items()]
    # Without bubblewrap the sandbox refuses every command (measured, 1.38.11).
    blocks = ['default_model = "lab/lab-model"', "[[providers]]", *lines, "[sandbox]", 'bash = "off"', ""]
    write(stage.home / ".reasonix" / "config.toml", "\n".join(blocks))
    if stage.mcp:
        write_json(stage.project / ".mcp.json", make_servers(stage))


def command(stage: Stage) -> Sequence[str]:
    mode = ("--permission-mode", "danger-full-access")
    return (*stage.program, "-p", "--model", "lab", *mode, stage.prompt)


def environment(_stage: Stage) -> Mapping[str, str]:
    return {"LAB_KEY": "none", "REASONIX_TELEMETRY": "off"}


def move_to_start(stage: Stage, line: str) -> str:
    """The command in the start folder; Reasonix begins at the repository's root (measured, 1.38.11)."""
    # A later command starts where an earlier one has gone (measured, 1.38.11).
    return line if stage.cwd == stage.project else f"cd {shlex.quote(str(stage.cwd))} && {line}"


# Measured, 1.38.11; paths are relative to the repository's root.
CALLS: Calls = {
    "shell": lambda stage, line: ModelCall("bash", {"command": move_to_start(stage, line)}),
    "write": lambda _stage, path, text: ModelCall("write_file", {"path": path, "content": text}),
    "edit": lambda _stage, path, old, new: ModelCall(
        "edit_file", {"path": path, "old_string": old, "new_string": new}
    ),
    "read": lambda _stage, path: ModelCall("read_file", {"path": path}),
    "mcp": lambda _stage, tool, given: ModelCall(f"mcp__lab__{tool}", given),
}

# The names and fields of its schemas and of its payloads (1.38.11).
FURTHER: Further = (
    ("search", lambda _stage: ModelCall("grep", {"pattern": "word", "path": "."})),
    ("find", lambda _stage: ModelCall("glob", {"pattern": "*.txt"})),
    ("list", lambda _stage: ModelCall("ls", {"path": "."})),
    ("todo", lambda _stage: ModelCall("todo_write", {"todos": [{"content": "one", "status": "pending"}]})),
)


# `-p` refuses what it would ask for.
def ask(stage: Stage) -> Sequence[str]:
    return (*stage.program, "-p", "--model", "lab", stage.prompt)


DRIVER = Driver(
    title="Reasonix",
    package=AgentPackage("npm", "reasonix", "1.38.11"),
    program="reasonix",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    lacks={
        "calls.agent": "its `task` tool hangs while a tool hook is installed (measured, 1.38.11)",
        "calls.delegate": "with a hook on tools `task` hangs (RX5), and `read_only_task` runs no command"
        " (measured, 1.38.11)",
    },
    # Without bubblewrap the sandbox refuses every command (measured, 1.38.11).
    ways={
        "asking": Way(command=ask),
        **make_ways(
            lambda stage: (*stage.program, "acp", "--model", "lab"), "tool_approval=danger-full-access"
        ),
    },
)
