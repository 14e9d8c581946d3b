"""GitHub Copilot CLI: `copilot -p` with a custom model, offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage, Way
from hookport.lab.drivers._editor import make_ways
from hookport.lab.drivers._settings import make_absolute, make_servers, write_json


def settle(stage: Stage) -> None:
    # Hooks of an untrusted repository are skipped. `--trust-folder` trusts the start folder, and below the
    # repository's root it then skips them even with this entry (measured, 1.0.102).
    folders = [str(stage.project)] if stage.trusted else []
    write_json(stage.home / ".copilot" / "config.json", {"trustedFolders": folders})
    if stage.mcp:
        write_json(
            stage.home / ".copilot" / "mcp-config.json", make_servers(stage, type="local", tools=["*"])
        )


def command(stage: Stage) -> Sequence[str]:
    flags = ("--allow-all-tools", "--allow-all-paths", "--no-auto-update")
    return (*stage.program, "-p", stage.prompt, *flags, "--disable-client-telemetry", "--no-color")


def environment(stage: Stage) -> Mapping[str, str]:
    return {
        "COPILOT_PROVIDER_BASE_URL": f"{stage.url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_WIRE_API": "completions",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "lab-model",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        # It unpacks 235 MB there on its first start.
        "XDG_CACHE_HOME": str(stage.shared),
    }


# Measured, 1.0.102, with the completions API; with the Responses API `apply_patch` writes and edits.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("bash", {"command": line, "description": "as scripted"}),
    "write": lambda stage, path, text: ModelCall(
        "create", {"path": make_absolute(stage, path), "file_text": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "edit", {"path": make_absolute(stage, path), "old_str": old, "new_str": new}
    ),
    "read": lambda stage, path: ModelCall("view", {"path": make_absolute(stage, path)}),
    "mcp": lambda _stage, tool, given: ModelCall(f"lab-{tool}", given),
    "delegate": lambda _stage, task: ModelCall(
        "task",
        {
            "name": "scripted",
            "description": "as scripted",
            "prompt": task,
            "agent_type": "general-purpose",
            "mode": "sync",
        },
    ),
}

# The names and fields of its schemas (1.0.102).
FURTHER: Further = (
    ("search", lambda _stage: ModelCall("grep", {"pattern": "word"})),
    ("find", lambda _stage: ModelCall("glob", {"pattern": "*.txt"})),
    (
        "agent",
        lambda _stage: ModelCall(
            "task",
            {
                "description": "look",
                "prompt": "Look around.",
                "agent_type": "general-purpose",
                "name": "look",
            },
        ),
    ),
)


# `-p` refuses what it would ask for.
def ask(stage: Stage) -> Sequence[str]:
    quiet = ("--no-auto-update", "--disable-client-telemetry", "--no-color")
    return (*stage.program, "-p", stage.prompt, *quiet)


DRIVER = Driver(
    title="GitHub Copilot CLI",
    package=AgentPackage("npm", "@github/copilot", "1.0.102"),
    program="copilot",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    # Of several hooks with context for a prompt, only the last counts (measured, 1.0.102).
    alone=("context-prompt",),
    ways={
        "asking": Way(command=ask),
        **make_ways(
            lambda stage: (
                *(*stage.program, "--acp", "--allow-all-tools", "--allow-all-paths", "--no-auto-update"),
            )
        ),
    },
)
