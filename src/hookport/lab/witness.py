"""A command that an agent runs itself, observed: its input, its output, how it ended.

`python -I -S witness.py FILE NUMBER COMMAND` replaces the command in the agent's own settings. It adds a line
to the file when the command begins and when it ends, and otherwise behaves like the command.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

# How much of each stream is stored.
KEPT = 64 * 1024


def _write_record(file: str, record: dict[str, object]) -> None:
    line = (json.dumps(record) + "\n").encode()
    target = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(target, line)
    finally:
        os.close(target)


def main(file: str, number: str, command: str) -> int:
    """Run the command as a shell does; the exit code is its own."""
    payload = sys.stdin.buffer.read()
    about: dict[str, object] = {"hook": int(number), "run": os.getpid()}
    _write_record(file, {**about, "stdin": payload.decode("utf-8", "replace")})
    done = subprocess.run(["/bin/sh", "-c", command], input=payload, capture_output=True, check=False)
    streams = {"stdout": done.stdout, "stderr": done.stderr}
    texts = {name: data[:KEPT].decode("utf-8", "replace") for name, data in streams.items()}
    _write_record(file, {**about, "exit": done.returncode, **texts})
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
