"""One prompt for an agent that reads JSON lines: run from its file, with the arguments of `main`.

The program's stdin stays open until the turn has ended, as by a program that embeds it. This needs only the
standard library.
"""

from __future__ import annotations

import json
import subprocess
import sys

# Once its stdin is closed, the agent has this long to end by itself.
GRACE_SECONDS = 10


def main(start: str, ending: str, line: str, *program: str) -> int:
    """Start the program in a folder, send it a line, and wait for a line of the type `ending`."""
    agent = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=start)
    if agent.stdin is None or agent.stdout is None:
        return 1
    try:
        agent.stdin.write(f"{line}\n")
        agent.stdin.flush()
        for printed in agent.stdout:
            sys.stdout.write(printed)
            try:
                message = json.loads(printed)
            except ValueError:
                continue
            if isinstance(message, dict) and message.get("type") == ending:
                return 0
        return 1
    finally:
        agent.stdin.close()
        try:
            agent.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            agent.terminate()
            agent.wait(GRACE_SECONDS)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
