"""pi: `pi -p` with an OpenAI model on loopback."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, ModelCall, Stage, Way
from hookport.lab.drivers import _stream_session
from hookport.lab.drivers._settings import make_absolute, write_json


def settle(stage: Stage) -> None:
    model = {
        "baseUrl": f"{stage.url}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "models": [{"id": "lab-model"}],
    }
    write_json(stage.home / ".pi" / "agent" / "models.json", {"providers": {"lab": model}})
    # Extensions of an untrusted project are silently skipped; `--approve` trusts one run, which is not
    # recorded (measured, 0.87.1).
    write_json(stage.home / ".pi" / "agent" / "trust.json", {str(stage.project): stage.trusted})


def command(stage: Stage) -> Sequence[str]:
    return (
        *(*stage.program, "--provider", "lab", "--model", "lab-model"),
        *("--offline", "-p", stage.prompt),
    )


def speak(stage: Stage) -> Sequence[str]:
    """Start it as a program does that embeds it."""
    line = json.dumps({"type": "prompt", "message": stage.prompt})
    session = (sys.executable, _stream_session.__file__, str(stage.cwd), "agent_end", line)
    return (
        *session,
        *stage.program,
        "--mode",
        "rpc",
        "--provider",
        "lab",
        "--model",
        "lab-model",
        "--offline",
    )


def environment(_stage: Stage) -> Mapping[str, str]:
    return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}


# Measured, 0.87.1.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("bash", {"command": line}),
    "write": lambda stage, path, text: ModelCall(
        "write", {"path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "edit", {"path": make_absolute(stage, path), "edits": [{"oldText": old, "newText": new}]}
    ),
    "read": lambda stage, path: ModelCall("read", {"path": make_absolute(stage, path)}),
}

DRIVER = Driver(
    title="pi",
    # On an older Node it does not start.
    package=AgentPackage("npm", "@earendil-works/pi-coding-agent", "0.87.1", node=22),
    program="pi",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    lacks={"calls.mcp": "pi has no MCP (0.87.1)"},
    ways={"protocol": Way(speak)},
)
