"""Kilo: `kilo serve` with a provider of the user's configuration that speaks Chat Completions."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Driver, ModelCall, Stage
from hookport.lab.drivers import _opencode_session
from hookport.lab.drivers._editor import make_ways
from hookport.lab.drivers._settings import write_json
from hookport.lab.drivers.opencode import CALLS, FURTHER

MODEL = "lab/lab-model"


def settle(stage: Stage) -> None:
    model = {"name": "lab", "tool_call": True, "limit": {"context": 128000, "output": 8000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "lab",
        "options": {"baseURL": f"{stage.url}/v1", "apiKey": "none"},
        "models": {"lab-model": model},
    }
    settings: dict[str, object] = {
        "$schema": "https://app.kilo.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "model": MODEL,
        "small_model": MODEL,
        # Kilo asks before it reads .env anyway, and a server has nobody to answer (measured, 7.7.7).
        "permission": {"*": "allow", "read": {"*": "allow", "*.env": "allow"}},
        "provider": {"lab": provider},
    }
    if stage.mcp:
        settings["mcp"] = {"lab": {"type": "local", "command": list(stage.mcp), "enabled": True}}
    write_json(stage.home / ".config" / "kilo" / "kilo.json", settings)


def command(stage: Stage) -> Sequence[str]:
    # A server, as for OpenCode, whose fork this is: it outlives the last hook.
    return (sys.executable, _opencode_session.__file__, stage.prompt, *stage.program)


def environment(_stage: Stage) -> Mapping[str, str]:
    return {
        "KILO_TELEMETRY_LEVEL": "off",
        "KILO_DISABLE_AUTOUPDATE": "1",
        "KILO_DISABLE_LSP_DOWNLOAD": "1",
        "KILO_DISABLE_MODELS_FETCH": "1",
        "KILO_DISABLE_SESSION_INGEST": "1",
        "KILO_DISABLE_SHARE": "1",
        # It installs a package for plugins on its start.
        "npm_config_fetch_retries": "0",
    }


DRIVER = Driver(
    title="Kilo",
    package=AgentPackage("npm", "@kilocode/cli", "7.7.7"),
    program="kilo",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    # The tools of OpenCode, with its names and fields (measured, 7.7.7).
    calls={
        **CALLS,
        "other_shell": lambda _stage, line: ModelCall(
            "background_process", {"action": "start", "command": line, "description": "as scripted"}
        ),
    },
    further=FURTHER,
    patience=240,
    ways=make_ways(lambda stage: (*stage.program, "acp")),
)
