"""oh-my-pi: `omp -p` with an OpenAI model on loopback, run by Bun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, Further, ModelCall, Stage
from hookport.lab.drivers._settings import make_absolute, make_servers, write_json

# Every tool of its own takes a word on why it is called (measured, 18.2.3).
WHY = {"i": "as scripted"}


def settle(stage: Stage) -> None:
    folder = stage.home / ".omp" / "agent"
    model = {
        "id": "lab-model",
        "name": "Lab",
        "contextWindow": 200_000,
        "maxTokens": 8_000,
        "input": ["text"],
        "reasoning": False,
    }
    lab = {"baseUrl": f"{stage.url}/v1", "api": "openai-completions", "apiKey": "none", "models": [model]}
    # JSON is YAML.
    write_json(folder / "models.yml", {"providers": {"lab": lab}})
    # An edit by its text, not by a patch with the hashes of lines; MCP tools under names of their own.
    write_json(folder / "config.yml", {"edit": {"mode": "replace"}, "tools": {"xdev": False}})
    if stage.mcp:
        write_json(folder / "mcp.json", make_servers(stage, type="stdio"))


def command(stage: Stage) -> Sequence[str]:
    return (
        *(*stage.program, "--model", "lab/lab-model", "--auto-approve", "--no-title"),
        *("-p", stage.prompt),
    )


def environment(_stage: Stage) -> Mapping[str, str]:
    return {}


# Measured, 18.2.3.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("bash", {"command": line, **WHY}),
    "write": lambda stage, path, text: ModelCall(
        "write", {"path": make_absolute(stage, path), "content": text, **WHY}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "edit", {"path": make_absolute(stage, path), "old_string": old, "new_string": new, **WHY}
    ),
    "read": lambda stage, path: ModelCall("read", {"path": make_absolute(stage, path), **WHY}),
    "mcp": lambda _stage, tool, given: ModelCall(f"mcp__lab_{tool}", {**given, **WHY}),
}

# The names and fields of its schemas (18.2.3).
FURTHER: Further = (
    ("search", lambda _stage: ModelCall("grep", {"i": "look", "pattern": "word", "path": "."})),
    ("find", lambda _stage: ModelCall("glob", {"i": "look", "path": "*.txt"})),
    ("web_search", lambda _stage: ModelCall("web_search", {"i": "look", "query": "hooks"})),
    (
        "todo",
        lambda _stage: ModelCall(
            "todo", {"i": "plan", "op": "init", "list": [{"phase": "I", "items": ["one"]}]}
        ),
    ),
)

DRIVER = Driver(
    title="oh-my-pi",
    package=AgentPackage("npm", "@oh-my-pi/pi-coding-agent", "18.2.3", bun="1.4.4"),
    program="omp",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    lacks={"before_prompt.fires": "`omp -p` fires no input (measured, 18.2.3)"},
)
