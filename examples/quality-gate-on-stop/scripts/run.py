#!/usr/bin/env python3
"""Sends the agent back to work if the project's checks fail, and never twice in a row.

An agent that reports that it was sent back before may stop. For agents that do not report it, a mark in the
temporary folder does. A fault of the gate itself keeps no agent from stopping.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = os.environ.get("QUALITY_GATE", "make check")
# Below the timeout in HOOK.md, so that the answer comes in time.
LONGEST_SECONDS = 110
MARK_HOLDS_SECONDS = 3600
SHOWN_LINES = 30


def main() -> int:
    """Answer the event on stdin: 2 to go on, 0 to stop."""
    event = json.load(sys.stdin)
    folder = event.get("work_dir") or str(Path.cwd())
    mark = mark_of(folder, str(event.get("session_id")))
    was_sent_back = event.get("stop_hook_active") is True or is_fresh(mark)
    mark.unlink(missing_ok=True)
    if was_sent_back or not is_changed(folder):
        return 0
    output = failure(folder)
    if not output:
        return 0
    mark.touch(mode=0o600, exist_ok=False)
    print(
        f"`{COMMAND}` fails. Make it pass before you stop, or say why it cannot:\n{output}", file=sys.stderr
    )
    return 2


def mark_of(folder: str, session: str) -> Path:
    """The file that marks this session as just sent back."""
    name = hashlib.sha256(f"{folder}\n{session}\n{COMMAND}".encode()).hexdigest()[:24]
    return Path(tempfile.gettempdir()) / f"quality-gate-{name}"


def is_fresh(mark: Path) -> bool:
    """Whether there is a mark of this turn; an old one is a leftover of an ended session."""
    try:
        return time.time() - mark.stat().st_mtime < MARK_HOLDS_SECONDS
    except OSError:
        return False


def is_changed(folder: str) -> bool:
    """Whether there is anything to check; if git cannot tell, there is."""
    words = ["git", "--no-optional-locks", "status", "--porcelain"]
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 0 or bool(done.stdout.strip())


def failure(folder: str) -> str:
    """The end of the checks' output; empty if they pass."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        # A file, not a pipe: processes that the command leaves running cannot block the gate.
        done = subprocess.run(
            COMMAND,
            shell=True,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=LONGEST_SECONDS,
            check=False,
        )
        if not done.returncode:
            return ""
        output.seek(0)
        lines = output.read().splitlines()
    return "\n".join([*lines[-SHOWN_LINES:], f"exit code {done.returncode}"])


try:
    sys.exit(main())
except (OSError, ValueError, AttributeError, subprocess.TimeoutExpired) as error:
    print(f"quality-gate-on-stop could not check: {error}", file=sys.stderr)
    sys.exit(1)
