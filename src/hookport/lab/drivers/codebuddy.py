"""CodeBuddy Code: `codebuddy -p` with a custom model and no account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage
from hookport.lab.drivers._settings import make_absolute, make_servers, write_json


def settle(stage: Stage) -> None:
    model = {
        "id": "lab-model",
        "name": "Lab",
        "vendor": "OpenAI",
        "apiKey": "none",
        "url": f"{stage.url}/v1/chat/completions",
        "maxInputTokens": 200_000,
        "maxOutputTokens": 8_000,
        "supportsToolCall": True,
    }
    models = {"models": [model], "availableModels": ["lab-model"]}
    write_json(stage.home / ".codebuddy" / "models.json", models)
    if stage.mcp:
        write_json(stage.home / ".codebuddy" / ".mcp.json", make_servers(stage, type="stdio"))


def command(stage: Stage) -> Sequence[str]:
    return (*stage.program, "-p", "--model", "lab-model", "-y", stage.prompt)


def environment(_stage: Stage) -> Mapping[str, str]:
    return {"CODEBUDDY_API_KEY": "none", "CODEBUDDY_SKIP_BUILTIN_MARKETPLACE": "1"}


# Measured, 2.117.0.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("Bash", {"command": line, "description": "as scripted"}),
    "write": lambda stage, path, text: ModelCall(
        "Write", {"file_path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "Edit", {"file_path": make_absolute(stage, path), "old_string": old, "new_string": new}
    ),
    "read": lambda stage, path: ModelCall("Read", {"file_path": make_absolute(stage, path)}),
    # Tools of MCP servers are searched for first, and run by a tool of their own.
    "mcp": lambda _stage, tool, given: ModelCall(
        "DeferExecuteTool", {"toolName": f"mcp__lab__{tool}", "params": given}
    ),
}

# The names and fields of its schemas (0.3.201).
FURTHER: Further = (
    ("search", lambda _stage: ModelCall("Grep", {"pattern": "word"})),
    ("find", lambda _stage: ModelCall("Glob", {"pattern": "*.txt"})),
    ("web_fetch", lambda _stage: ModelCall("WebFetch", {"url": "http://127.0.0.1:9/", "prompt": "read it"})),
    ("web_search", lambda _stage: ModelCall("WebSearch", {"query": "hooks"})),
    ("todo", lambda _stage: ModelCall("TaskCreate", {"subject": "one", "description": "as scripted"})),
    ("skill", lambda _stage: ModelCall("Skill", {"skill": "none"})),
    (
        "agent",
        lambda _stage: ModelCall(
            "Agent", {"description": "look", "prompt": "Look around.", "subagent_type": "general-purpose"}
        ),
    ),
)

DRIVER = Driver(
    title="CodeBuddy Code",
    # The registry has no package of the program alone; the SDK's contains it.
    package=AgentPackage(
        "npm",
        "@tencent-ai/agent-sdk",
        "0.3.201",
        program="../@tencent-ai/agent-sdk/cli/bin/codebuddy",
    ),
    program="codebuddy",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    # Of several contexts the model gets the last (CB15).
    alone=("context-prompt", "context-session"),
    lacks={
        "agent_stop.block": "with `-p` CodeBuddy ends although a Stop hook blocks (measured, 2.117.0)",
        "session_end.fires": "SessionEnd does not fire with `-p` (measured, 2.117.0)",
    },
)
