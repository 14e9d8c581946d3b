"""Qwen Code: `qwen -p` with an OpenAI model on loopback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage, Way
from hookport.lab.drivers._editor import make_ways
from hookport.lab.drivers._settings import make_absolute, make_servers, write_json


def settle(stage: Stage) -> None:
    settings = {
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": not stage.trusted}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False},
        "model": {"name": "lab-model"},
        **make_servers(stage, trust=True),
    }
    write_json(stage.home / ".qwen" / "settings.json", settings)


def command(stage: Stage) -> Sequence[str]:
    return (*stage.program, "--approval-mode", "yolo", "-p", stage.prompt)


def environment(stage: Stage) -> Mapping[str, str]:
    return {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{stage.url}/v1",
        "OPENAI_MODEL": "lab-model",
        "QWEN_CODE_NO_RELAUNCH": "true",
    }


def shell(_stage: Stage, line: str) -> ModelCall:
    return ModelCall(
        "run_shell_command", {"command": line, "is_background": False, "description": "as scripted"}
    )


# Measured, 0.24.4.
CALLS: Calls = {
    "shell": shell,
    "write": lambda stage, path, text: ModelCall(
        "write_file", {"file_path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "edit", {"file_path": make_absolute(stage, path), "old_string": old, "new_string": new}
    ),
    "read": lambda stage, path: ModelCall("read_file", {"file_path": make_absolute(stage, path)}),
    "mcp": lambda _stage, tool, given: ModelCall(f"mcp__lab__{tool}", given),
    "delegate": lambda _stage, task: ModelCall(
        "agent",
        {
            "description": "as scripted",
            "prompt": task,
            "subagent_type": "general-purpose",
            "run_in_background": False,
        },
    ),
    # It is not offered before it was searched for; called by name it runs too.
    "other_shell": lambda _stage, line: ModelCall("monitor", {"command": line, "description": "as scripted"}),
}

# The names and fields of its schemas (0.24.4); some are found by `tool_search` only.
FURTHER: Further = (
    ("search", lambda _stage: ModelCall("grep_search", {"pattern": "word"})),
    ("find", lambda _stage: ModelCall("glob", {"pattern": "*.txt"})),
    ("list", lambda stage: ModelCall("list_directory", {"path": str(stage.project)})),
    ("web_fetch", lambda _stage: ModelCall("web_fetch", {"url": "http://127.0.0.1:9/", "prompt": "read"})),
    (
        "todo",
        lambda _stage: ModelCall(
            "todo_write", {"todos": [{"id": "1", "content": "one", "status": "pending"}]}
        ),
    ),
    ("skill", lambda _stage: ModelCall("skill", {"skill": "none"})),
    ("agent", lambda _stage: ModelCall("agent", {"description": "look", "prompt": "Look around."})),
)


# `-p` refuses what it would ask for (measured, 0.24.4).
def ask(stage: Stage) -> Sequence[str]:
    return (*stage.program, "--approval-mode", "default", "-p", stage.prompt)


DRIVER = Driver(
    title="Qwen Code",
    # On an older Node it does not start.
    package=AgentPackage("npm", "@qwen-code/qwen-code", "0.24.4", node=22),
    program="qwen",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    lacks={
        "before_tool_execute.untrusted": "Qwen Code runs no shell in an untrusted folder,"
        " whatever approvals it has (measured, 0.24.4)",
        "subagent_start.context": "a subagent in the background does not get the context of SubagentStart"
        " (measured, 0.24.4)",
        "session_end.fires": "SessionEnd does not fire with `-p` (measured, 0.24.4)",
    },
    ways={
        "asking": Way(command=ask),
        **make_ways(lambda stage: (*stage.program, "--acp", "--approval-mode", "yolo")),
    },
)
