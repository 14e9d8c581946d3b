"""Claude Code: `claude -p` with the Messages API on loopback, configured through the environment."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage, Way
from hookport.lab.drivers import _stream_session
from hookport.lab.drivers._settings import make_absolute, make_servers, write_json


# Measured on 2.1.325: `-p` needs neither a trusted folder nor an account.
def settle(stage: Stage) -> None:
    refused = {str(stage.project): {"hasTrustDialogAccepted": False}}
    settings = {**make_servers(stage), **({} if stage.trusted else {"projects": refused})}
    if settings:
        write_json(stage.home / ".claude.json", settings)


def command(stage: Stage) -> Sequence[str]:
    permissions = "--dangerously-skip-permissions"
    return (*stage.program, "-p", stage.prompt, "--model", "claude-sonnet-4-5", permissions)


def stream(stage: Stage) -> Sequence[str]:
    """Start it as a program does that embeds it, such as the SDK and editors."""
    line = json.dumps({"type": "user", "message": {"role": "user", "content": stage.prompt}})
    formats = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    flags = ("--model", "claude-sonnet-4-5", "--dangerously-skip-permissions")
    session = (sys.executable, _stream_session.__file__, str(stage.cwd), "result", line)
    return (*session, *stage.program, "-p", *formats, *flags)


def environment(stage: Stage) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": stage.url,
        "ANTHROPIC_API_KEY": "sk-ant-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        # Without it, root may not skip permissions.
        "IS_SANDBOX": "1",
    }


# The names and inputs of the tools that it offers to the model (measured, 2.1.325). It edits and overwrites
# only files that it has read before.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("Bash", {"command": line, "description": "as scripted"}),
    "write": lambda stage, path, text: ModelCall(
        "Write", {"file_path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "Edit", {"file_path": make_absolute(stage, path), "old_string": old, "new_string": new}
    ),
    "read": lambda stage, path: ModelCall("Read", {"file_path": make_absolute(stage, path)}),
    "mcp": lambda _stage, tool, given: ModelCall(f"mcp__lab__{tool}", given),
    # In the background the turn would end before it.
    "delegate": lambda _stage, task: ModelCall(
        "Agent",
        {
            "description": "as scripted",
            "prompt": task,
            "subagent_type": "general-purpose",
            "run_in_background": False,
        },
    ),
    "other_shell": lambda _stage, line: ModelCall("Monitor", {"command": line, "description": "as scripted"}),
}

# The names and fields of its schemas (2.1.325), of tools that it offers or finds by ToolSearch.
FURTHER: Further = (
    ("web_fetch", lambda _stage: ModelCall("WebFetch", {"url": "https://127.0.0.1:9/", "prompt": "read it"})),
    ("web_search", lambda _stage: ModelCall("WebSearch", {"query": "hooks"})),
    ("todo", lambda _stage: ModelCall("TaskCreate", {"subject": "one", "description": "as scripted"})),
    ("skill", lambda _stage: ModelCall("Skill", {"skill": "init"})),
    (
        "agent",
        lambda _stage: ModelCall(
            "Agent", {"description": "look", "prompt": "Look around.", "subagent_type": "general-purpose"}
        ),
    ),
)


# `-p` refuses what it would ask for (measured, 2.1.325).
def ask(stage: Stage) -> Sequence[str]:
    return (*stage.program, "-p", stage.prompt, "--model", "claude-sonnet-4-5")


DRIVER = Driver(
    title="Claude Code",
    package=AgentPackage("npm", "@anthropic-ai/claude-code", "2.1.325"),
    program="claude",
    protocol="anthropic",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    # Its own window is larger with some models; a fuller one is full too.
    window=1000000,
    # The folder needs no manifest (measured, 2.1.325).
    ways={"asking": Way(command=ask), "protocol": Way(stream)},
)
