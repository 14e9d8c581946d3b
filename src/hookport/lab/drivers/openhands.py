"""OpenHands: `openhands --headless` with a model from the environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, ModelCall, Stage
from hookport.lab.drivers._settings import make_absolute, make_servers, write_json

# Every tool asks for both, and hooks do not see them (measured, 1.16.0).
ABOUT = {"security_risk": "LOW", "summary": "as scripted"}


def settle(stage: Stage) -> None:
    if stage.mcp:
        write_json(stage.home / ".openhands" / "mcp.json", make_servers(stage))


def command(stage: Stage) -> Sequence[str]:
    mode = ("--headless", "--override-with-envs", "--always-approve", "--json")
    return (*stage.program, *mode, "-t", stage.prompt)


def environment(stage: Stage) -> Mapping[str, str]:
    return {
        "LLM_MODEL": "openai/lab-model",
        "LLM_BASE_URL": f"{stage.url}/v1",
        "LLM_API_KEY": "none",
        "OPENHANDS_SUPPRESS_BANNER": "1",
        # The shell is in a server of tmux, which all runs of a user share otherwise (measured, 1.16.0).
        "TMUX_TMPDIR": str(stage.home.parent / "tmp"),
        # Else the list of the models' prices is looked up.
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def edit(stage: Stage, command: str, path: str, **fields: object) -> ModelCall:
    return ModelCall(
        "file_editor", {"command": command, "path": make_absolute(stage, path), **fields, **ABOUT}
    )


# Measured, 1.16.0; MCP tools have their bare names.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall(
        "terminal", {"command": line, "is_input": False, "timeout": 30, "reset": False, **ABOUT}
    ),
    "write": lambda stage, path, text: edit(stage, "create", path, file_text=text),
    "edit": lambda stage, path, old, new: edit(stage, "str_replace", path, old_str=old, new_str=new),
    "read": lambda stage, path: edit(stage, "view", path),
    "mcp": lambda _stage, tool, given: ModelCall(tool, {**given, **ABOUT}),
}

DRIVER = Driver(
    title="OpenHands",
    package=AgentPackage("pypi", "openhands", "1.16.0", python=(3, 12)),
    program="openhands",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    patience=180,
)
