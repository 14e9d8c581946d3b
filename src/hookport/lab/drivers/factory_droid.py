"""Factory Droid: `droid exec` with a custom model and no account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage
from hookport.lab.drivers._editor import make_ways
from hookport.lab.drivers._settings import make_absolute, make_servers, write_json


def settle(stage: Stage) -> None:
    model = {
        "model": "lab-model",
        "displayName": "Lab",
        "baseUrl": f"{stage.url}/v1",
        "apiKey": "none",
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 4096,
    }
    settings = {"customModels": [model], "cloudSessionSync": False, "enableDroidShield": False}
    write_json(stage.home / ".factory" / "settings.json", settings)
    if stage.mcp:
        write_json(stage.home / ".factory" / "mcp.json", make_servers(stage, type="stdio", disabled=False))


# A custom model is selected by its display name and its number (measured, 0.215.0).
MODEL = ("-m", "custom:Lab-0")


def command(stage: Stage) -> Sequence[str]:
    return (*stage.program, "exec", *MODEL, "--skip-permissions-unsafe", stage.prompt)


def environment(_stage: Stage) -> Mapping[str, str]:
    return {
        # It then looks up no name and needs no key (measured, 0.215.0).
        "FACTORY_AIRGAP_ENABLED": "true",
        "FACTORY_API_KEY": "none",
        "FACTORY_DISABLE_TELEMETRY": "1",
        "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
    }


def shell(_stage: Stage, line: str) -> ModelCall:
    why = {"summary": "as scripted", "riskLevel": "low", "riskLevelReason": "it is scripted"}
    return ModelCall("Execute", {"command": line, **why})


# Measured, 0.215.0.
CALLS: Calls = {
    "shell": shell,
    "write": lambda stage, path, text: ModelCall(
        "Create", {"file_path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "Edit", {"file_path": make_absolute(stage, path), "old_str": old, "new_str": new}
    ),
    "read": lambda stage, path: ModelCall("Read", {"file_path": make_absolute(stage, path)}),
    "mcp": lambda _stage, tool, given: ModelCall(f"lab___{tool}", given),
    "delegate": lambda _stage, task: ModelCall(
        "Task", {"subagent_type": "worker", "description": "as scripted", "prompt": task, "await": True}
    ),
}

# The names and fields of its schemas (0.215.0).
FURTHER: Further = (
    ("search", lambda _stage: ModelCall("Grep", {"pattern": "word"})),
    ("find", lambda _stage: ModelCall("Glob", {"patterns": ["*.txt"]})),
    ("list", lambda stage: ModelCall("LS", {"directory_path": str(stage.project)})),
    (
        "agent",
        lambda _stage: ModelCall(
            "Task", {"subagent_type": "worker", "description": "look", "prompt": "Look around."}
        ),
    ),
)

DRIVER = Driver(
    title="Factory Droid",
    package=AgentPackage("npm", "droid", "0.215.0"),
    program="droid",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    lacks={
        "before_tool_execute.mode": "run with --skip-permissions-unsafe, Droid sends `auto-low` (FD11)",
        "subagent_stop.block": "a SubagentStop hook that exits with 2 does not keep the subagent of"
        " `droid exec` going (measured, 0.215.0)",
        "before_prompt.fires": "UserPromptSubmit does not fire in `droid exec` (measured, 0.215.0)",
    },
    ways=make_ways(
        lambda stage: (*stage.program, "exec", "--output-format", "acp", *MODEL, "--skip-permissions-unsafe")
    ),
)
