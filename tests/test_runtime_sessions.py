"""The memory of a session: real processes at the same time, and what their files hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hookport
from hookport.agents import get_wire
from hookport.model.runs import Call, Decision, Event
from hookport.runtime import sessions

SOURCE = str(Path(hookport.__file__).parent.parent)
WRITERS, THINGS = 8, 50
# Starts when its stdin is closed, so that all of them begin together.
WRITER = """
import sys
from hookport.model.runs import Decision, Event
from hookport.agents import get_wire
from hookport.runtime import sessions
sys.stdin.read()
env = {"HOOKPORT_STATE_DIR": sys.argv[1]}
event = Event("agent_stop", "cline", "x", session="one", stop_active=True)
if sys.argv[2] == "told":
    print(*(number for number in range(int(sys.argv[3])) if sessions.is_first(event, str(number), env)))
else:
    env["HOOKPORT_STOP_LIMIT"] = "9999"
    for _ in range(int(sys.argv[3])):
        sessions.explain_dropped_deny(event, Decision("deny", "go on"), get_wire("cline"), env)
"""


def run_together(state: Path, *words: str) -> list[str]:
    ready, go = os.pipe()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(state), *words],
            env={"PYTHONPATH": SOURCE},
            stdin=ready,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(WRITERS)
    ]
    os.close(ready)
    os.close(go)
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * WRITERS
    return outputs


def test_what_eight_processes_would_say_at_once_is_said_once(tmp_path: Path) -> None:
    outputs = run_together(tmp_path, "told", str(THINGS))
    said = sorted(int(word) for output in outputs for word in output.split())
    assert said == list(range(THINGS))


def test_stops_of_eight_processes_are_all_counted(tmp_path: Path) -> None:
    assert "caps stops" not in get_wire("cline").traits
    run_together(tmp_path, "stops", "25")
    (file,) = (tmp_path / "sessions").iterdir()
    assert json.loads(file.read_text())["stops"] == WRITERS * 25


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_no_text_of_a_call_and_no_secret_is_in_the_file(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4" * 5
    env = {"HOOKPORT_STATE_DIR": str(tmp_path)}
    call = Call("shell", "Shell", input={"command": f"deploy --now {token}"})
    event = Event("before_tool_execute", "cursor", "preToolUse", session="s", call=call)
    said = Decision("deny", f"not with {token}")
    sessions.keep_decision(event, event, said, get_wire("cursor"), env)
    (file,) = (tmp_path / "sessions").iterdir()
    assert token not in file.read_text()
    assert "deploy" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    second = event.replace(native="beforeShellExecution")
    assert sessions.find_decision(second, get_wire("cursor"), env) == Decision("deny", "not with [redacted]")


@pytest.mark.parametrize("session", ["", "s"])
def test_a_cause_is_told_once_a_session_or_once_a_day_in_a_project(tmp_path: Path, session: str) -> None:
    env = {"HOOKPORT_STATE_DIR": str(tmp_path)}
    here, there = (
        Event("session_start", "cursor", "sessionStart", session=session, root=root) for root in ("/a", "/b")
    )
    told = [sessions.is_first(event, what, env) for event in (here, there) for what in ("it", "it", "that")]
    assert told == [True, False, True, *([False] * 3 if session else [True, False, True])]


def test_what_was_told_outlasts_a_pause_of_the_session(tmp_path: Path) -> None:
    env = {"HOOKPORT_STATE_DIR": str(tmp_path)}
    event = Event("session_start", "cursor", "sessionStart", session="s")
    assert sessions.is_first(event, "it", env)
    (file,) = (tmp_path / "sessions").iterdir()
    kept = json.loads(file.read_text())
    file.write_text(json.dumps({**kept, "saved": kept["saved"] - 2 * sessions.FORGET_SECONDS}))
    assert not sessions.is_first(event, "it", env)


def test_what_cannot_be_remembered_is_not_made_a_denial(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file is no folder")
    env = {"HOOKPORT_STATE_DIR": str(tmp_path / "state")}
    event = Event("before_tool_execute", "cursor", "preToolUse", session="s")
    assert [sessions.is_first(event, "it", env, unkept=unkept) for unkept in (True, False)] == [True, False]
