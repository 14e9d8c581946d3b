"""The wire of universal hooks.json: the keys of its test fixtures, and the answer of its blocking schema.

The specification shows three keys of a payload. The others are Claude Code's in the same spelling; a package
is installed there too, so a script finds Claude Code's own keys beside them.
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.agents._claude_wire import CONTEXT, INPUTS, READ, READ_TEXT, nested, permission
from hookport.agents._claude_wire import KEYS as CLAUDE
from hookport.wire.events import FACTS
from hookport.wire.table import Wire


def both(key: str) -> list[str]:
    """A key in the specification's spelling, and in Claude Code's where that is another."""
    first, *rest = key.split("_")
    return list(dict.fromkeys((first + "".join(word.capitalize() for word in rest), key)))


KEYS = {
    "event": "hookEventName",
    "session": ["sessionId", CLAUDE["session"]],
    "cwd": "cwd",
    "tool": ["toolName", CLAUDE["tool"]],
    "input": ["toolInput", CLAUDE["input"]],
    "call_id": ["toolUseId", CLAUDE["call_id"]],
    "result": ["toolResponse", CLAUDE["result"]],
    "error": "error",
    "prompt": "prompt",
    **{name: both(CLAUDE[name]) for name in FACTS if name in CLAUDE},
    "final_message": ["lastAssistantMessage", CLAUDE["final_message"]],
    "stop_active": ["stopHookActive", CLAUDE["stop_active"]],
    "subagent": ["agentType", CLAUDE["subagent"]],
}
KEYS_OF: dict[str, dict[str, Tree]] = {
    "session-start": {"source": "source"},
    "session-end": {"source": "reason"},
    "pre-compact": {"source": "trigger", "instructions": both("custom_instructions")},
    "notification": {"source": both("notification_type"), "message": "message", "title": "title"},
}

DENY = permission("deny")
# "Blocking error. stderr fed back to agent."
BLOCK: dict[str, Tree] = {"stderr": "$reason", "exit": 2, "alone": True}
DECIDE: dict[str, Tree] = {
    "deny": DENY,
    "ask": permission("ask"),
    "allow": permission("allow"),
    "rewrite": nested(updatedInput="$input"),
}

ANSWERS: dict[str, dict[str, Tree]] = {
    "pre-tool-use": DECIDE,
    "permission-request": DECIDE,
    # There is no input to rewrite and nobody to ask (UH4).
    "pre-prompt": {"deny": DENY, "context": CONTEXT},
    "stop": {"deny": DENY},
    "sub-agent-end": {"deny": BLOCK},
    "post-tool-use": {"deny": BLOCK, "context": CONTEXT},
    "session-start": {"context": CONTEXT},
    "*": {},
}

READS: dict[str, dict[str, Tree]] = {
    "session-start": READ_TEXT,
    "pre-prompt": READ_TEXT,
    "permission-request": {
        **READ,
        "verdicts": [
            ("hookSpecificOutput.decision.behavior", {"allow": "allow", "deny": "deny"}),
            *READ["verdicts"],
        ],
        "reason": ["hookSpecificOutput.decision.message", *READ["reason"]],
        "input": ["hookSpecificOutput.decision.updatedInput", *READ["input"]],
    },
    "*": READ,
}

WIRE = Wire(
    keys=KEYS,
    keys_of=KEYS_OF,
    transcript="blocks",
    inputs=INPUTS,
    env={"PACKAGE_ROOT": "$package"},
    marks=("hookEventName",),
    answers=ANSWERS,
    reads=READS,
)
