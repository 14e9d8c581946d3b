"""Codex CLI: `codex exec` with its own provider, which uses the Responses API on loopback."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from hookport.lab.driver import FROM_RESULT, AgentPackage, Calls, Driver, Further, ModelCall, Stage, Way
from hookport.lab.drivers import _codex_session
from hookport.lab.drivers._settings import join_words, make_server, write_toml

# Of the models that it knows, only this one gets plain tools; newer ones write JavaScript that calls them
# (measured, 0.166.0).
MODEL = "gpt-5.5"
CODE_MODEL = "gpt-6-sol"


def settle(stage: Stage) -> None:
    home = stage.home / ".codex"
    provider = {
        "name": "lab",
        "base_url": f"{stage.url}/v1",
        "wire_api": "responses",
        "env_key": "LAB_KEY",
        "request_max_retries": 0,
        "stream_max_retries": 0,
    }
    # Without these a run without a network takes 4 s longer (measured, 0.166.0).
    waiting = ("plugins", "apps", "plugin_discovery_prefetch", "daemon_auto_start")
    tables: dict[str, Mapping[str, object]] = {
        "": {"model": MODEL, "model_provider": "lab", "check_for_update_on_startup": False},
        "model_providers.lab": provider,
        "features": dict.fromkeys(waiting, False),
        "analytics": {"enabled": False},
        # Hooks of an untrusted project are skipped. Without this setting, the bypass of approvals counts
        # as trust (measured, 0.166.0).
        f"projects.{json.dumps(str(stage.project))}": {
            "trust_level": "trusted" if stage.trusted else "untrusted"
        },
    }
    if stage.mcp:
        tables["mcp_servers.lab"] = make_server(stage)
    write_toml(home / "config.toml", tables)


def command(stage: Stage) -> Sequence[str]:
    # The bypass covers its approvals and its sandbox, not the trust of hooks.
    freely = "--dangerously-bypass-approvals-and-sandbox"
    return (*stage.program, "exec", freely, "--skip-git-repo-check", stage.prompt)


def settle_for_code(stage: Stage) -> None:
    """Choose a model that gets one tool, which runs JavaScript that calls the others (measured, 0.166.0)."""
    path = stage.home / ".codex" / "config.toml"
    path.write_text(path.read_text("utf-8").replace(f'"{MODEL}"', f'"{CODE_MODEL}"'), "utf-8")


def serve(stage: Stage) -> Sequence[str]:
    """Start the server that editors start."""
    return _start_server(stage, stage.cwd)


def serve_elsewhere(stage: Stage) -> Sequence[str]:
    return _start_server(stage, stage.home)


def _start_server(stage: Stage, start: Path) -> Sequence[str]:
    session = (sys.executable, _codex_session.__file__, str(stage.cwd), str(start), stage.prompt)
    return (*session, *stage.program, "app-server")


def environment(stage: Stage) -> Mapping[str, str]:
    return {"LAB_KEY": "none", "CODEX_HOME": str(stage.home / ".codex")}


def _make_patch(stage: Stage, path: str, act: str, *lines: str) -> ModelCall:
    """A free-form patch; its paths are relative to the agent's start folder."""
    place = os.path.relpath(stage.project / path, stage.cwd)
    body = "\n".join(["*** Begin Patch", f"*** {act} File: {place}", *lines, "*** End Patch"])
    return ModelCall("apply_patch", body + "\n")


def write(stage: Stage, path: str, content: str) -> ModelCall:
    return _make_patch(stage, path, "Add", *(f"+{line}" for line in content.splitlines()))


def edit(stage: Stage, path: str, old: str, new: str) -> ModelCall:
    removed = [f"-{line}" for line in old.splitlines()]
    return _make_patch(stage, path, "Update", "@@", *removed, *(f"+{line}" for line in new.splitlines()))


def read(stage: Stage, path: str) -> ModelCall:
    return ModelCall("exec_command", {"cmd": f"cat {shlex.quote(str(stage.project / path))}"})


# Measured, 0.166.0: only its shell reads files; MCP tools are in a namespace.
CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall("exec_command", {"cmd": line}),
    "write": write,
    "edit": edit,
    "read": read,
    "mcp": lambda _stage, tool, given: ModelCall(tool, given, "mcp__lab"),
    "delegate": lambda _stage, task: ModelCall("spawn_agent", {"message": task}, "multi_agent_v1"),
    "other_shell": lambda _stage, line: ModelCall(
        "write_stdin",
        {"session_id": f"{FROM_RESULT}session ID (\\d+)", "chars": f"{line}\n", "yield_time_ms": 1000},
    ),
    "code": lambda _stage, line: ModelCall(
        "exec", f"text(await tools.exec_command({{cmd: {join_words(line)}}}));"
    ),
}

# The names and fields of its schemas (0.166.0).
FURTHER: Further = (
    (
        "todo",
        lambda _stage: ModelCall("update_plan", {"plan": [{"step": "one", "status": "in_progress"}]}),
    ),
    ("agent", lambda _stage: ModelCall("spawn_agent", {"message": "Look around."}, "multi_agent_v1")),
)


# Without it `codex exec` asks for nothing; its model decides (measured, 0.166.0).
def ask(stage: Stage) -> Sequence[str]:
    return (*stage.program, "exec", "--approve-for-me", "--skip-git-repo-check", stage.prompt)


# A model that it does not know gets `spawn_agent` and no `apply_patch` (measured, 0.166.0).
def use_agents(stage: Stage) -> Sequence[str]:
    freely = "--dangerously-bypass-approvals-and-sandbox"
    return (*stage.program, "exec", "-m", "lab-model", freely, "--skip-git-repo-check", stage.prompt)


DRIVER = Driver(
    title="Codex CLI",
    package=AgentPackage("npm", "@openai/codex", "0.166.0"),
    program="codex",
    protocol="responses",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    further=FURTHER,
    window=400000,
    lacks={
        "permission_request.fires": "`codex exec` asks for no permission (measured, 0.166.0)",
    },
    # A shell that goes on running, whose stdin `write_stdin` writes to.
    opening=lambda _stage: ModelCall("exec_command", {"cmd": "sh", "tty": True, "yield_time_ms": 500}),
    ways={
        "asking": Way(command=ask),
        **dict.fromkeys(("events-tools", "context-subagent", "stop-subagent"), Way(command=use_agents)),
        "protocol": Way(serve),
        "elsewhere": Way(serve_elsewhere),
        "code": Way(settle=settle_for_code),
    },
)
