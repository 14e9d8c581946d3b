"""goose: `goose run` with an OpenAI model on loopback."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage, Way
from hookport.lab.drivers._editor import make_ways
from hookport.lab.drivers._settings import join_words, make_absolute, write_json


def settle(stage: Stage) -> None:
    extensions: dict[str, Mapping[str, object]] = {
        "developer": {
            "enabled": True,
            "type": "platform",
            "name": "developer",
            "display_name": "Developer",
            "bundled": True,
            "timeout": 300,
        }
    }
    if stage.mcp:
        program, *arguments = stage.mcp
        extensions["lab"] = {
            "enabled": True,
            "type": "stdio",
            "name": "lab",
            "cmd": program,
            "args": arguments,
            "timeout": 30,
        }
    # JSON is YAML.
    settings = {"GOOSE_TELEMETRY_ENABLED": False, "extensions": extensions}
    write_json(stage.home / ".config" / "goose" / "config.yaml", settings)


def settle_for_code(stage: Stage) -> None:
    """Switch Code Mode on."""
    path = stage.home / ".config" / "goose" / "config.yaml"
    settings = json.loads(path.read_text("utf-8"))
    settings["extensions"]["code_execution"] = {
        "enabled": True,
        "type": "platform",
        "name": "code_execution",
        "display_name": "Code Mode",
        "bundled": True,
    }
    write_json(path, settings)


def command(stage: Stage) -> Sequence[str]:
    return (*stage.program, "run", "--no-session", "-t", stage.prompt)


def environment(stage: Stage) -> Mapping[str, str]:
    return {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "lab-model",
        "GOOSE_MODE": "auto",
        "GOOSE_DISABLE_KEYRING": "1",
        "OPENAI_HOST": stage.url,
        "OPENAI_API_KEY": "none",
    }


# Code that calls the shell tool.
RUN = "async function run() { return await Developer.shell({ command: %s }); }"
# Measured, 1.52.0; no tool of its own reads a file.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("shell", {"command": line}),
    "write": lambda stage, path, text: ModelCall(
        "write", {"path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "edit", {"path": make_absolute(stage, path), "before": old, "after": new}
    ),
    "mcp": lambda _stage, tool, given: ModelCall(f"lab__{tool}", given),
    "delegate": lambda _stage, task: ModelCall("delegate", {"instructions": task}),
    "code": lambda _stage, line: ModelCall(
        "execute_typescript",
        {"code": RUN % join_words(line)},
    ),
}

# The names and fields of its schemas (1.52.0).
FURTHER: Further = (
    ("list", lambda stage: ModelCall("tree", {"path": str(stage.project)})),
    ("skill", lambda _stage: ModelCall("load_skill", {"name": "none"})),
    ("agent", lambda _stage: ModelCall("delegate", {"instructions": "Look around."})),
)

DRIVER = Driver(
    title="goose",
    package=AgentPackage("npm", "@aaif/goose-binary-linux-x64", "1.52.0", program="goose-binary-linux-x64"),
    program="goose",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    lacks={"calls.read": "goose has no tool that reads a file (measured, 1.52.0)"},
    ways={
        **make_ways(lambda stage: (*stage.program, "acp")),
        "code": Way(settle=settle_for_code),
    },
)
