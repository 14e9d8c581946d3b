"""Events that a dispatch keeps as they came: every byte, whoever fails, and never instead of the answer."""

from __future__ import annotations

import base64
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hookport.runtime import journal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

BRIDGE = Path(__file__).parent.parent / "src" / "hookport" / "bridge.py"
PAYLOAD = b'{"hook_event_name": "PreToolUse",\n "tool_name": "Bash", "tool_input": {"command": "\xc3\xa9"}}\n'
DENY = ("wrap", "canonical", "claude-code", "PreToolUse", "--", "echo 'no: é' >&2; exit 2")
LONG = 60


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), **more}


def run(
    folder: Path, words: tuple[str, ...], payload: bytes, **more: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-I", "-S", str(BRIDGE), *words],
        env=environment(folder, **more),
        cwd=folder,
        input=payload,
        capture_output=True,
        timeout=LONG,
        check=False,
    )


def recorded(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted(folder.iterdir())]


def answered(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    return {"stdout": done.stdout.decode(), "stderr": done.stderr.decode(), "exit_code": done.returncode}


def test_an_event_is_kept_as_it_came_with_what_was_answered(tmp_path: Path) -> None:
    bare = run(tmp_path, DENY, PAYLOAD)
    kept = tmp_path / "kept"
    by_option = run(tmp_path, (*DENY[:4], "--record", "kept", *DENY[4:]), PAYLOAD)
    by_variable = run(tmp_path, DENY, PAYLOAD, HOOKPORT_RECORD=str(kept))
    assert answered(by_option) == answered(by_variable) == answered(bare)
    assert b'"permissionDecision": "deny"' in bare.stdout
    first, second = recorded(kept)
    assert first["pid"] != second["pid"]
    assert first["time"] <= second["time"]
    changing = {"pid": 0, "time": "", "seconds": 0.0, "command": [], "hooks": []}
    assert {**first, **changing} == {**second, **changing}
    assert {**first, **changing} == {
        "version": 1,
        **changing,
        "cwd": str(tmp_path),
        "agent": "claude-code",
        "native": "PreToolUse",
        "event": "before_tool_execute",
        "payload": PAYLOAD.decode(),
        "decision": {"verdict": "deny", "reason": "no: é"},
        "notes": [],
        "answer": answered(bare),
    }
    assert first["command"] == [*DENY[:4], "--record", "kept", *DENY[4:]]
    assert [one["outcome"] for one in first["hooks"]] == ["completed"]


def test_only_the_owner_can_read_them_and_nothing_else_is_left(tmp_path: Path) -> None:
    kept = tmp_path / "new" / "kept"
    run(tmp_path, DENY, PAYLOAD, HOOKPORT_RECORD=str(kept))
    (only,) = kept.iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (kept, only)] == [0o700, 0o600]


@pytest.mark.parametrize("payload", [b'{"a": "\xff"}', b"no JSON", b""], ids=["not UTF-8", "text", "nothing"])
def test_a_payload_that_cannot_be_read_is_kept_too(tmp_path: Path, payload: bytes) -> None:
    done = run(tmp_path, DENY, payload, HOOKPORT_RECORD="kept")
    (record,) = recorded(tmp_path / "kept")
    text = record.get("payload")
    assert payload == (base64.b64decode(record["payload_base64"]) if text is None else text.encode())
    assert record["answer"] == answered(done)


def test_an_answer_to_a_failure_of_ours_is_kept(tmp_path: Path) -> None:
    words = ("dispatch", "no-such-agent", "PreToolUse")
    done = run(tmp_path, words, PAYLOAD, HOOKPORT_RECORD="kept")
    assert b"no-such-agent" in done.stderr
    (record,) = recorded(tmp_path / "kept")
    assert "decision" not in record
    assert (record["payload"], record["answer"]) == (PAYLOAD.decode(), answered(done))


def test_an_event_that_the_agent_gave_up_is_kept_without_an_answer(tmp_path: Path) -> None:
    words = (*DENY[:5], "touch started; sleep 50")
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", str(BRIDGE), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment(tmp_path, HOOKPORT_RECORD="kept"),
        cwd=tmp_path,
    )
    assert child.stdin is not None
    child.stdin.write(PAYLOAD)
    child.stdin.close()
    until = time.monotonic() + LONG
    while not (tmp_path / "started").exists() and time.monotonic() < until:
        time.sleep(0.01)
    child.send_signal(signal.SIGTERM)
    assert child.wait(LONG) == 143
    (record,) = recorded(tmp_path / "kept")
    assert (record["payload"], record["answer"]) == (PAYLOAD.decode(), None)


def test_a_folder_that_cannot_be_written_is_a_note_of_the_journal(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file")
    done = run(tmp_path, DENY, PAYLOAD, HOOKPORT_RECORD="kept")
    assert answered(done) == answered(run(tmp_path, DENY, PAYLOAD))
    records = list(journal.Reader(environment(tmp_path)).new())
    notes = [one["notes"] for one in records if one.get("notes")]
    assert notes == [["the event was not recorded in 'kept': File exists"]]


def test_an_async_hook_is_recorded_once(tmp_path: Path) -> None:
    words = (*DENY[:4], "--async", "--", "sleep 0.2; touch over")
    run(tmp_path, words, PAYLOAD, HOOKPORT_RECORD="kept")
    until = time.monotonic() + LONG
    while len(list(journal.Reader(environment(tmp_path)).new())) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    (record,) = recorded(tmp_path / "kept")
    assert [one.get("async") for one in record["hooks"]] == [True]
