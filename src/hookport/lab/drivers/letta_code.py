"""Letta Code: `letta -p` on its local backend, with a model server on loopback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage
from hookport.lab.drivers._settings import make_absolute, write_json


def settle(stage: Stage) -> None:
    # What `letta connect lmstudio --base-url URL` writes (measured, 0.25.9).
    provider = {
        "id": "local-provider-lc-lmstudio",
        "name": "lc-lmstudio",
        "provider_type": "lmstudio",
        "provider_category": "byok",
        "auth": {"type": "api", "key": "not-needed"},
        "base_url": f"{stage.url}/v1",
    }
    providers = stage.home / ".letta" / "lc-local-backend" / "providers" / "auth.json"
    write_json(providers, {"version": 1, "providers": {provider["name"]: provider}})


def command(stage: Stage) -> Sequence[str]:
    model = ("-m", "lmstudio/scripted-model")
    return (*stage.program, "--backend", "local", "--new-agent", *model, "--yolo", "-p", stage.prompt)


def environment(_stage: Stage) -> Mapping[str, str]:
    return {
        "LETTA_LOCAL_BACKEND_EXPERIMENTAL": "1",
        "LETTA_CODE_TELEM": "0",
        "DISABLE_AUTOUPDATER": "1",
    }


# Measured, 0.25.9.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("Bash", {"command": line, "description": "as scripted"}),
    "write": lambda stage, path, text: ModelCall(
        "Write", {"file_path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "Edit", {"file_path": make_absolute(stage, path), "old_string": old, "new_string": new}
    ),
    "read": lambda stage, path: ModelCall("Read", {"file_path": make_absolute(stage, path)}),
}

# The names and fields of its schemas (0.25.9).
FURTHER: Further = (
    ("todo", lambda _stage: ModelCall("TodoWrite", {"todos": [{"content": "one", "status": "pending"}]})),
    ("skill", lambda _stage: ModelCall("Skill", {"skill": "none"})),
    (
        "agent",
        lambda _stage: ModelCall(
            "Agent", {"description": "look", "prompt": "Look around.", "subagent_type": "general-purpose"}
        ),
    ),
)

DRIVER = Driver(
    title="Letta Code",
    package=AgentPackage("npm", "@letta-ai/letta-code", "0.25.9", node=22),
    program="letta",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    lacks={
        "calls.mcp": "Letta Code has no MCP servers of its own; its server or a program adds their tools"
        " (src, 0.25.9)",
        "before_prompt.fires": "`letta -p` fires no UserPromptSubmit (measured, 0.25.9)",
        "agent_stop.fires": "`letta -p` fires no Stop (measured, 0.25.9)",
        "session_start.fires": "`letta -p` fires no SessionStart (measured, 0.25.9)",
        "session_end.fires": "`letta -p` fires no SessionEnd (measured, 0.25.9)",
    },
)
