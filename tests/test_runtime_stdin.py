"""A payload from an agent that leaves stdin open, or never sends all of it: it is answered all the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BRIDGE = Path(__file__).parent.parent / "src" / "hookport" / "bridge.py"
PAYLOAD = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}})
# Far longer than an answer takes; what is tested is that there is one although stdin stays open.
LONG = 60


@pytest.mark.parametrize(
    ("sent", "answer"),
    [(PAYLOAD, (2, "no\n")), (PAYLOAD + "\n", (2, "no\n")), (PAYLOAD[:40], (2, ""))],
    ids=["whole", "line", "half"],
)
def test_stdin_that_stays_open(tmp_path: Path, sent: str, answer: tuple[int, str]) -> None:
    words = ["wrap", "canonical", "codex", "PreToolUse", "--within=3", "--", "echo no >&2; exit 2"]
    env = {**os.environ, "HOME": str(tmp_path), "HOOKPORT_ON_FAILURE": "closed"}
    child = subprocess.Popen(
        [sys.executable, str(BRIDGE), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=env,
        text=True,
    )
    assert child.stdin is not None
    assert child.stderr is not None
    child.stdin.write(sent)
    child.stdin.flush()
    code = child.wait(LONG)
    said = child.stderr.read()
    child.stdin.close()
    child.stderr.close()
    if child.stdout is not None:
        child.stdout.close()
    assert code == answer[0]
    assert said == answer[1] or (not answer[1] and "the payload is not JSON" in said)
