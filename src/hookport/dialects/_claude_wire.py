"""The wire of Claude Code and of those who copied it: payload keys, the nested answer, exit code 2.

Facts: the official hooks reference (2.1.240) and what was measured on 2.1.325; a dialect of this family
replaces what it does otherwise.
"""

from __future__ import annotations

from hookport.dialects._base import Tree
from hookport.wires.table import Wire

KEYS = {
    "event": "hook_event_name",
    "session": "session_id",
    "cwd": "cwd",
    "tool": "tool_name",
    "input": "tool_input",
    "call_id": "tool_use_id",
    "result": "tool_response",
    "error": "error",
    "prompt": "prompt",
    "final_message": "last_assistant_message",
    "stop_active": "stop_hook_active",
    "source": "source",
    "subagent": "agent_type",
}

KEYS_OF = {
    "SessionEnd": {"source": "reason"},
    "PreCompact": {"source": "trigger"},
    "PostCompact": {"source": "trigger"},
    "Notification": {"source": "notification_type"},
}

INPUTS = {
    "file_read": {"path": "file_path"},
    "file_write": {"path": "file_path"},
    "file_edit": {"path": "file_path", "old": "old_string", "new": "new_string"},
    "notebook_edit": {"path": "notebook_path"},
    "agent": {"agent_type": "subagent_type"},
    "edits": {"old": "old_string", "new": "new_string"},
}


def nested(**fields: Tree) -> dict[str, Tree]:
    """A piece inside `hookSpecificOutput`, which is no answer without the event's name (CC2)."""
    return {"json": {"hookSpecificOutput": {"hookEventName": "$event", **fields}}}


def permission(verdict: str, **more: Tree) -> dict[str, Tree]:
    """The piece that decides on a tool call."""
    return {**nested(permissionDecision=verdict, permissionDecisionReason="$reason"), **more}


HALT = {"json": {"continue": False, "stopReason": "$reason"}}
MESSAGE = {"json": {"systemMessage": "$message"}}
SUPPRESS = {"json": {"suppressOutput": True}}
BLOCK = {"json": {"decision": "block", "reason": "$reason"}}
CONTEXT = nested(additionalContext="$context")

ALWAYS = {"halt": HALT, "message": MESSAGE, "suppress": SUPPRESS}

ANSWERS = {
    "before_tool_execute": {
        **ALWAYS,
        "deny": permission("deny"),
        "ask": permission("ask"),
        "allow": permission("allow"),
        "rewrite": nested(updatedInput="$input"),
        "context": CONTEXT,
        # `continue: false` alone lets this one call run (CC4).
        "halt": {**HALT, "denies": True},
    },
    "after_tool_execute": {
        **ALWAYS,
        "deny": BLOCK,
        "context": CONTEXT,
        "result": nested(updatedToolOutput="$result"),
    },
    "tool_use_failure": {**ALWAYS, "context": CONTEXT},
    "after_tool_batch": {**ALWAYS, "deny": BLOCK, "context": CONTEXT},
    "before_prompt": {**ALWAYS, "deny": BLOCK, "context": CONTEXT},
    "before_command_expansion": {**ALWAYS, "deny": BLOCK, "context": CONTEXT},
    "session_start": {**ALWAYS, "context": CONTEXT},
    "subagent_start": {**ALWAYS, "context": CONTEXT},
    "agent_stop": {**ALWAYS, "deny": BLOCK},
    "subagent_stop": {**ALWAYS, "deny": BLOCK},
    "before_compact": {**ALWAYS, "deny": BLOCK},
    "config_change": {**ALWAYS, "deny": BLOCK},
    "permission_request": {
        **ALWAYS,
        "deny": nested(decision={"behavior": "deny", "message": "$reason"}),
        "allow": nested(decision={"behavior": "allow"}),
        "rewrite": {**nested(decision={"behavior": "allow", "updatedInput": "$input"}), "needs": "allow"},
    },
    "*": ALWAYS,
}

READ = {
    "verdicts": [
        (
            "hookSpecificOutput.permissionDecision",
            {"allow": "allow", "deny": "deny", "ask": "ask", "defer": "ask"},
        ),
        ("decision", {"approve": "allow", "block": "deny"}),
    ],
    "reason": ["hookSpecificOutput.permissionDecisionReason", "reason", "stopReason"],
    "context": ["hookSpecificOutput.additionalContext"],
    "input": ["hookSpecificOutput.updatedInput"],
    "result": ["hookSpecificOutput.updatedToolOutput"],
    "message": ["systemMessage"],
    "suppress": ["suppressOutput"],
    "halt": ["continue"],
    "exits": {"2": "deny"},
    "json": "any",
    "text": "ignored",
}
# What is printed where a session or a turn begins is context for the model, JSON or not.
READ_TEXT = {**READ, "text": "context"}

READS = {
    "session_start": READ_TEXT,
    "before_prompt": READ_TEXT,
    "before_command_expansion": READ_TEXT,
    "permission_request": {
        **READ,
        "verdicts": [("hookSpecificOutput.decision.behavior", {"allow": "allow", "deny": "deny"})],
        "reason": ["hookSpecificOutput.decision.message", "stopReason"],
        "input": ["hookSpecificOutput.decision.updatedInput"],
        "exits": {},
    },
    "*": READ,
}

WIRE = Wire(
    keys=KEYS,
    keys_of=KEYS_OF,
    inputs=INPUTS,
    fixed={"session_id": "$session", "transcript_path": "", "cwd": "$cwd", "permission_mode": "default"},
    answers=ANSWERS,
    reads=READS,
)
