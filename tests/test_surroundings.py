"""What a hook finds around it: the variables of its dialect, and the files and folders that they name."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookport import findings as f
from hookport.agents import get, get_wire, list_agents
from hookport.install import sync
from hookport.install.sync import SyncRequest
from hookport.runtime import engine, sessions
from hookport.runtime.plan import PlannedHook
from hookport.runtime.surroundings import is_kept
from hookport.wire.events import read_event
from tests.agent_data import facts_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

START = {"sessionId": "s1", "timestamp": 1794787175280, "cwd": "/", "source": "new"}
CALL = {"sessionId": "s1", "timestamp": 1794787175280, "cwd": "/", "toolName": "bash", "toolArgs": {}}
# As shell scripts of public plugins set variables; without the file the redirection itself fails.
SET = 'set -u; echo "export ANSWER=42" >> "$CLAUDE_ENV_FILE"; cat "$CLAUDE_ENV_FILE"'


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOOKPORT_STATE_DIR": str(folder / "state"), **more}


def ran(payload: dict[str, Any], native: str, env: dict[str, str], *commands: str) -> engine.DispatchReport:
    """Hooks of Claude Code on an event of Copilot CLI."""
    agent = get_wire("copilot-cli")
    event = read_event(agent, payload, native)
    hooks = [
        PlannedHook("h", event.event, "claude-code", command=command, package="/p/my plugin")
        for command in commands
    ]
    return engine.run_hooks(event, hooks, engine.RunSetting(agent, get_wire, env))


def printed(report: engine.DispatchReport) -> list[str]:
    return [run.result.stdout + run.result.stderr for run in report.runs if run.result]


def test_a_session_has_a_file_for_variables(tmp_path: Path) -> None:
    """It is there, it is the same for all hooks of the session, and what no shell reads is noted."""
    env = environment(tmp_path)
    report = ran(START, "sessionStart", env, SET, SET)
    path = next((tmp_path / "state" / "env").iterdir())
    both = "export ANSWER=42\n" * 2
    # They run side by side: the one that ends last sees both lines, the other one or both.
    assert (path.read_text("utf-8"), max(printed(report))) == (both, both)
    assert report.notes == (f"variables: no shell of the agent reads {path}",) * 2
    assert path.stat().st_mode & 0o777 == 0o600
    other = ran({**START, "sessionId": "s2"}, "sessionStart", env, "cat $CLAUDE_ENV_FILE; echo end")
    assert (printed(other), other.notes) == (["end\n"], ())


def test_only_some_events_have_the_file(tmp_path: Path) -> None:
    command = 'echo "${CLAUDE_ENV_FILE-unset}"'
    assert printed(ran(CALL, "preToolUse", environment(tmp_path), command)) == ["unset\n"]


def test_the_agents_own_file_stays(tmp_path: Path) -> None:
    """Claude Code and Droid name a file that their shells read."""
    own = tmp_path / "own.sh"
    report = ran(START, "sessionStart", environment(tmp_path, CLAUDE_ENV_FILE=str(own)), SET)
    assert (own.read_text("utf-8"), report.notes) == ("export ANSWER=42\n", ())


def test_a_package_keeps_its_data(tmp_path: Path) -> None:
    """In a folder that is there, stays the same, and is another one for another package."""
    env = environment(tmp_path)
    write = 'echo more >> "$CLAUDE_PLUGIN_DATA/log"; cat "$CLAUDE_PLUGIN_DATA/log"'
    assert printed(ran(START, "sessionStart", env, write)) == ["more\n"]
    assert printed(ran(CALL, "preToolUse", env, write)) == ["more\nmore\n"]
    event = read_event(get_wire("copilot-cli"), CALL, "preToolUse")
    other = PlannedHook("h", event.event, "claude-code", command=write, package="/q/my plugin")
    assert printed(
        engine.run_hooks(event, [other], engine.RunSetting(get_wire("copilot-cli"), get_wire, env))
    ) == ["more\n"]


def test_without_a_place_nothing_is_named(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"]}
    command = 'echo "${CLAUDE_ENV_FILE-unset} ${CLAUDE_PLUGIN_DATA-unset}"'
    assert printed(ran(START, "sessionStart", env, command)) == ["unset unset\n"]
    assert not list(tmp_path.iterdir())


def test_old_files_are_forgotten(tmp_path: Path) -> None:
    """When a session begins, those that no session can still need; what packages keep stays."""
    env = environment(tmp_path)
    ran(START, "sessionStart", env, SET)
    path = next((tmp_path / "state" / "env").iterdir())
    event = read_event(get_wire("copilot-cli"), {**START, "sessionId": "s2"}, "sessionStart")
    sessions.reset_stops(event, env)
    assert path.exists()
    os.utime(path, (0, 0))
    data = next((tmp_path / "state" / "data").iterdir())
    os.utime(data, (0, 0))
    sessions.reset_stops(event, env)
    assert (path.exists(), data.exists()) == (False, True)


@pytest.mark.parametrize("agent", list_agents())
def test_what_an_agent_does_not_send_is_told(agent: str, tmp_path: Path) -> None:
    """By the name of the field that the script reads, once for each hook; and so is a file for a shell."""
    root, home = tmp_path / "project", tmp_path / "home"
    for folder in (root / ".git", root / ".claude", home):
        folder.mkdir(parents=True)
    scripts = {
        "mode": ("PreToolUse", 'test "$(jq -r .permission_mode)" = bypassPermissions && exit 2'),
        "read": ("PreToolUse", "tail -1 $(jq -r .transcript_path)"),
        "none": ("PreToolUse", "jq -r .tool_name"),
        "set": ("SessionStart", "echo export A=1 >> $CLAUDE_ENV_FILE"),
    }
    hooks: dict[str, list[Any]] = {}
    for name, (event, text) in scripts.items():
        (root / f"{name}.sh").write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        (root / f"{name}.sh").chmod(0o755)
        command = f"$CLAUDE_PROJECT_DIR/{name}.sh"
        hooks.setdefault(event, []).append({"hooks": [{"type": "command", "command": command}]})
    (root / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}), "utf-8")
    scope: Any = "project" if any(one.scope == "project" for one in get(agent).locations) else "user"
    env = {"HOME": str(home), **environment(tmp_path)}
    (planned,) = sync.plan_sync(str(root), env, SyncRequest((agent,), scope, "bridge")).agents
    codes = (f.FieldUnsent.code, f.ShellVariablesUnread.code)
    told = sorted(one.message.partition("which")[0] for one in planned.findings if one.code in codes)
    expected = []
    if "mode" not in facts_of(agent).sends:
        expected.append("'mode.sh' reads permission_mode, ")
    if "transcript" not in facts_of(agent).sends and not is_kept(get_wire(agent)):
        expected.append("'read.sh' reads transcript_path, ")
    if agent not in ("claude-code", "factory-droid") and get_wire(agent).natives.get("session_start"):
        expected.append(
            f"the variables that 'set.sh' writes to $CLAUDE_ENV_FILE do not reach the commands of {agent}"
        )
    assert told == sorted(expected)
