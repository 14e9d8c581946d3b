"""Ask a Guardian of the OWASP Agent Control Standard, as a hook.

This is a command for hooks: it reads an event in the interchange format from stdin, asks the Guardian at URL,
and answers as a hook does. Requests are signed with the secret in a file, which only you may read; an answer
that is not signed with it is a deny. docs/standards.md has a hook with it.
"""

from __future__ import annotations

import os
import stat
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookport.errors import UsageError

EXAMPLES = {
    "hookport ask-guardian http://127.0.0.1:8787/acs --secret-file guardian.key < event.json": (
        "Ask about the event in a file"
    )
}
# An event that is larger is no event of an agent.
MOST_BYTES = 32 << 20


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport ask-guardian`."""
    parser.add_argument("url", metavar="URL", help="Address of the Guardian: https, or http on this machine")
    parser.add_argument(
        "--secret-file", metavar="PATH", required=True, help="File with the secret shared with the Guardian"
    )
    parser.add_argument(
        "--agent-id", metavar="ID", default="hookport", help="Id of this agent for the Guardian"
    )


def run(args: Namespace) -> int:
    """Answer the event on stdin; the exit code is 1 where nobody decided."""
    from hookport.guardian.client import Guardian, UnansweredError, answer
    from hookport.model.json_text import dumps, loads

    secret = _read_secret(args.secret_file)
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    try:
        event = loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict) or len(data) > MOST_BYTES:
        raise UsageError("stdin has no event in the interchange format.")
    guardian = Guardian(args.url, secret, os.environ.copy(), args.agent_id)
    try:
        decision = answer(event, guardian)
    except UnansweredError as error:
        sys.stderr.write(f"the Guardian did not decide: {error}\n")
        return 1
    if decision:
        sys.stdout.write(f"{dumps(decision)}\n")
    return 0


def _read_secret(path: str) -> bytes:
    """Read the secret; UsageError where others could have read it too."""
    try:
        status = os.lstat(path)
        secret = Path(path).read_bytes().strip()
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror}.") from None
    if stat.S_ISLNK(status.st_mode):
        raise UsageError(f"'{path}' is a link; name the file itself.")
    if os.name != "nt" and status.st_mode & 0o077:
        raise UsageError(f"others can read '{path}'. Try: chmod 600 {path}")
    if not secret:
        raise UsageError(f"'{path}' is empty.")
    return secret
