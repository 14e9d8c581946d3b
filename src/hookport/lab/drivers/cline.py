"""Cline: its command line program, which approves everything itself, without its daemon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage
from hookport.lab.drivers._settings import make_absolute, make_server, write_json

PROVIDER = "openai-compatible"


def settle(stage: Stage) -> None:
    folder = stage.home / ".cline" / "data" / "settings"
    settings = {
        "provider": PROVIDER,
        "apiKey": "none",
        "model": "lab-model",
        "baseUrl": f"{stage.url}/v1",
    }
    # What `cline auth` writes (measured, 3.0.65).
    entry = {"settings": settings, "updatedAt": "2026-11-16T00:00:00.000Z", "tokenSource": "manual"}
    known = {"version": 1, "lastUsedProvider": PROVIDER, "modes": {}, "providers": {PROVIDER: entry}}
    write_json(folder / "providers.json", known)
    # Without these it waits 7 s for the network when it ends.
    write_json(folder / "global-settings.json", {"telemetryOptOut": True, "autoUpdateEnabled": False})
    if stage.mcp:
        lab = {"transport": {"type": "stdio", **make_server(stage)}}
        write_json(folder / "cline_mcp_settings.json", {"mcpServers": {"lab": lab}})


def command(stage: Stage) -> Sequence[str]:
    # With `--yolo` it runs no hooks; without, it approves every tool as well (measured, 3.0.65).
    return (*stage.program, "-P", PROVIDER, "-m", "lab-model", stage.prompt)


def environment(_stage: Stage) -> Mapping[str, str]:
    # A run of one prompt happens in the process itself in either mode; only this mode starts no daemon that
    # outlives it (measured, 3.0.65: the same hooks and answers).
    return {"CLINE_NO_AUTO_UPDATE": "1", "CLINE_SESSION_BACKEND_MODE": "local"}


# Measured, 3.0.65: one tool writes and edits.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("run_commands", {"commands": [line]}),
    "write": lambda stage, path, text: ModelCall(
        "editor", {"path": make_absolute(stage, path), "new_text": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "editor", {"path": make_absolute(stage, path), "old_text": old, "new_text": new}
    ),
    "read": lambda stage, path: ModelCall("read_files", {"files": [{"path": make_absolute(stage, path)}]}),
    "mcp": lambda _stage, tool, given: ModelCall(f"lab__{tool}", given),
    "delegate": lambda _stage, task: ModelCall("spawn_agent", {"systemPrompt": "Do it.", "task": task}),
}

# The names and fields of its schemas (3.0.65).
FURTHER: Further = (
    ("search", lambda _stage: ModelCall("search_codebase", {"queries": ["word"]})),
    (
        "web_fetch",
        lambda _stage: ModelCall(
            "fetch_web_content", {"requests": [{"url": "http://127.0.0.1:9/", "prompt": "read it"}]}
        ),
    ),
    (
        "agent",
        lambda _stage: ModelCall("spawn_agent", {"systemPrompt": "You look around.", "task": "Look around."}),
    ),
)

DRIVER = Driver(
    title="Cline",
    package=AgentPackage("npm", "cline", "3.0.65"),
    program="cline",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    denial_ends=True,
    lacks={
        "ways.protocol": "`cline --acp` needs an account (measured, 3.0.65)",
        "ways.elsewhere": "`cline --acp` needs an account (measured, 3.0.65)",
        "session_end.fires": "SessionShutdown fires only after a hook has ended the run (measured, 3.0.65)",
        "before_tool_execute.again": "a denied call ends the run (measured, 3.0.65)",
        "before_prompt.fires": "UserPromptSubmit does not fire in a run of one prompt (measured, 3.0.65)",
    },
)
