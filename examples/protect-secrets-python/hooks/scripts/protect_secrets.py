#!/usr/bin/env python3
"""Denies calls that read or change a file with secrets, or name one in a shell command.

Only the standard library is used. It fails closed: a payload that cannot be read is denied.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SECRET = re.compile(
    r"""(^|/)(\.env(\.[^/]*)?|\.netrc|\.pgpass|\.pypirc|\.git-credentials|credentials(\.[^/]*)?
    |secrets?\.(json|toml|ya?ml)|id_(rsa|dsa|ecdsa|ed25519)|[^/]*\.(pem|key|p12|pfx|jks|kdbx|tfstate))$
    |(^|/)\.(ssh|gnupg)(/|$)""",
    re.IGNORECASE | re.VERBOSE,
)
HARMLESS = re.compile(r"\.(example|sample|template|dist|pub)$", re.IGNORECASE)


def is_secret(path: str) -> bool:
    """Whether a file may hold secrets, by its name."""
    return bool(SECRET.search(path)) and not HARMLESS.search(path)


def named(call: dict[str, object]) -> Iterator[str]:
    """Every path in a call, and for a link its target too."""
    for key in ("file_path", "path"):
        path = call.get(key)
        if isinstance(path, str):
            yield path
            yield str(Path(path).resolve())
    command = call.get("command")
    if isinstance(command, str):
        # Quotes and backslashes hide a name from a search, not from the shell.
        yield from re.split(r"[^\w./~-]+", re.sub(r"[\"'\\]", "", command))


def main() -> None:
    """Answer the event on stdin."""
    event = json.load(sys.stdin)
    found = next(filter(is_secret, named(event["toolInput"])), "")
    if found:
        reason = f"{found} may hold secrets. Ask the user for what you need from it."
        decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        print(json.dumps({"hookSpecificOutput": {"hookEventName": "pre-tool-use", **decision}}))


try:
    main()
except Exception as error:  # noqa: BLE001  (a guard that failed has checked nothing)
    print(f"protect-secrets could not read the call, so it is denied: {error!r}", file=sys.stderr)
    sys.exit(2)
