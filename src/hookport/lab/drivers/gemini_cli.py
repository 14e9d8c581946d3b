"""Gemini CLI: `gemini -p` with a dummy key and the model's address in the environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage
from hookport.lab.drivers._editor import make_ways
from hookport.lab.drivers._settings import make_absolute, make_servers, write_json


def settle(stage: Stage) -> None:
    settings = {
        # Without a type it exits with 41, "Invalid auth method selected" (measured, 0.61.0).
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "folderTrust": {"enabled": not stage.trusted},
        },
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        **make_servers(stage, trust=True),
    }
    write_json(stage.home / ".gemini" / "settings.json", settings)


def command(stage: Stage) -> Sequence[str]:
    # A concrete model keeps it from asking another model for a choice. Files above its start folder are out
    # of its reach unless named.
    model = ("-m", "gemini-2.5-flash")
    reach = ("--include-directories", str(stage.project)) if stage.cwd != stage.project else ()
    # Without it, it exits with 55 in an untrusted folder (measured, 0.61.0).
    anyway = () if stage.trusted else ("--skip-trust",)
    return (*stage.program, *model, *reach, "-p", stage.prompt, "--approval-mode=yolo", *anyway)


def environment(stage: Stage) -> Mapping[str, str]:
    return {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": stage.url,
        "GEMINI_CLI_NO_RELAUNCH": "true",
        # `--skip-trust` would silently skip a project's hooks (measured, 0.61.0).
        **({"GEMINI_CLI_TRUST_WORKSPACE": "true"} if stage.trusted else {}),
    }


# Measured, 0.61.0.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall(
        "run_shell_command", {"command": line, "description": "as scripted"}
    ),
    "write": lambda stage, path, text: ModelCall(
        "write_file", {"file_path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "replace",
        {
            "file_path": make_absolute(stage, path),
            "instruction": "as scripted",
            "old_string": old,
            "new_string": new,
        },
    ),
    "read": lambda stage, path: ModelCall("read_file", {"file_path": make_absolute(stage, path)}),
    "mcp": lambda _stage, tool, given: ModelCall(f"mcp_lab_{tool}", given),
    "delegate": lambda _stage, task: ModelCall("invoke_agent", {"agent_name": "generalist", "prompt": task}),
}

# The names and fields of its schemas (0.61.0).
FURTHER: Further = (
    ("search", lambda _stage: ModelCall("grep_search", {"pattern": "word"})),
    ("find", lambda _stage: ModelCall("glob", {"pattern": "*.txt"})),
    ("list", lambda stage: ModelCall("list_directory", {"dir_path": str(stage.project)})),
    ("web_fetch", lambda _stage: ModelCall("web_fetch", {"prompt": "Read https://127.0.0.1:9/."})),
    ("web_search", lambda _stage: ModelCall("google_web_search", {"query": "hooks"})),
    (
        "todo",
        lambda _stage: ModelCall("write_todos", {"todos": [{"description": "one", "status": "in_progress"}]}),
    ),
    (
        "agent",
        lambda _stage: ModelCall("invoke_agent", {"agent_name": "generalist", "prompt": "Look around."}),
    ),
)

DRIVER = Driver(
    title="Gemini CLI",
    package=AgentPackage("npm", "@google/gemini-cli", "0.61.0"),
    program="gemini",
    protocol="gemini",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    lacks={
        "after_model.block": "a deny on AfterModel lets the calls run and keeps the model's answer out of the"
        " conversation (measured, 0.61.0)",
    },
    further=FURTHER,
    ways=make_ways(lambda stage: (*stage.program, "--acp", "-m", "gemini-2.5-flash")),
)
