"""Deep Agents Code: `dcode -n` with a model that speaks Chat Completions on loopback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookport.lab.driver import AgentPackage, Calls, Driver, ModelCall, Stage
from hookport.lab.drivers._settings import make_absolute, write

# Without it a run says on each start what is missing on the machine.
CONFIG = '[warnings]\nsuppress = ["ripgrep", "tavily"]\n'


def settle(stage: Stage) -> None:
    write(stage.home / ".deepagents" / "config.toml", CONFIG)


def command(stage: Stage) -> Sequence[str]:
    # Hooks of a project that is not trusted are skipped.
    trust = ("--trust-project-hooks",) if stage.trusted else ()
    # The interpreter costs the start seconds, and on a busy machine the run. Each hook on a tool counts as
    # a turn (measured, 0.1.88).
    limits = ("--no-interpreter", "--max-turns", "1000", "--shell-allow-list", "all")
    model = ("-M", "openai:gpt-4o", "--model-params", '{"use_responses_api": false}')
    return (*stage.program, "-n", stage.prompt, *model, *limits, *trust)


def environment(stage: Stage) -> Mapping[str, str]:
    return {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{stage.url}/v1",
        "LANGSMITH_TRACING": "false",
        "DEEPAGENTS_CODE_NO_UPDATE_CHECK": "1",
        "DEEPAGENTS_CODE_OFFLINE": "1",
    }


# Measured, 0.1.88; hooks get other names.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("execute", {"command": line}),
    "write": lambda stage, path, text: ModelCall(
        "write_file", {"file_path": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "edit_file", {"file_path": make_absolute(stage, path), "old_string": old, "new_string": new}
    ),
    "read": lambda stage, path: ModelCall("read_file", {"file_path": make_absolute(stage, path)}),
}

DRIVER = Driver(
    title="Deep Agents Code",
    package=AgentPackage("pypi", "deepagents-code", "0.1.88", python=(3, 12)),
    program="dcode",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    # Its server takes 5 s to start on an idle machine, and a minute on a busy one (measured, 0.1.88).
    patience=240,
    lacks={
        "calls.mcp": "`dcode -n` refuses every call of an MCP tool that does not declare that it only reads;"
        " the hook is asked, and its reason is lost (measured, 0.1.88)",
    },
)
