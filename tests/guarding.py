"""What the guards of several dialects share (see `guards`).

Each is a real program. It refuses a payload that is not its dialect's own (exit code 1, a failure), lets
`ls` pass as its documentation lets things pass, and denies, or with `rewrite` replaces, `rm -rf`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

REASON = "rm -rf is forbidden here"
CONTEXT = "this repository uses tabs"
DANGEROUS, HARMLESS, KEPT = "rm -rf build", "ls", "echo kept"

PRELUDE = f"""
import json, sys
REASON, CONTEXT, KEPT = {REASON!r}, {CONTEXT!r}, {KEPT!r}
event = json.load(sys.stdin)
rewrites = sys.argv[1:] == ["rewrite"]

def has(**fields):
    for key, value in fields.items():
        if event.get(key) != value:
            sys.exit(f"{{key}} is {{event.get(key)!r}}, not {{value!r}}: {{json.dumps(event)}}")

def bears(*keys):
    for key in keys:
        if key not in event:
            sys.exit(f"there is no {{key}}: {{json.dumps(event)}}")

def is_text(value):
    if not isinstance(value, str):
        sys.exit(f"no text: {{value!r}}: {{json.dumps(event)}}")

def is_harmless(command):
    return "rm -rf" not in command

def say(answer):
    print(json.dumps(answer))
    sys.exit(0)

def block(reason):
    print(reason, file=sys.stderr)
    sys.exit(2)

def nested(name, **fields):
    say({{"hookSpecificOutput": {{"hookEventName": name, **fields}}}})
"""


class Guard(NamedTuple):
    """A guard's native event and program, and the programs that add context, by canonical event."""

    native: str
    program: str
    contexts: Mapping[str, tuple[str, str]] = MappingProxyType({})
    rewrites: bool = True


def claude_like(native: str, tool: str, keys: str, rewrite: str) -> str:
    """The guard of the agents that took Claude Code's nested answer over."""
    return f"""
has(hook_event_name="{native}", tool_name="{tool}")
bears({keys})
args = event["tool_input"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    nested("{native}", permissionDecision="allow", {rewrite})
nested("{native}", permissionDecision="deny", permissionDecisionReason=REASON)
"""


def nested_context(native: str, *keys: str, text: str = "") -> tuple[str, str]:
    """The program that adds context the way Claude Code's reference shows it; `text` is the tool's output."""
    bears = ", ".join(f'"{key}"' for key in keys)
    output = f"is_text(event{text})" if text else ""
    return (
        native,
        f"""
has(hook_event_name="{native}")
bears({bears})
{output}
nested("{native}", additionalContext=CONTEXT)
""",
    )


WHOLE = 'updatedInput={**args, "command": KEPT}'
CHANGED = 'updatedInput={"command": KEPT}'
