"""The wire of Codex: Claude Code's payload and answers, of which it drops every one with a word too many.

Facts: measured on 0.166.0 (lab), and codex-rs/hooks at 0.150.0-alpha.7 (src). A run that fails lets the call
go on, so a piece is here only where the event's own schema has its keys.
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.agents._claude_wire import (
    BLOCK,
    CONTEXT,
    HALT,
    INPUTS,
    KEYS,
    MESSAGE,
    READ,
    READ_TEXT,
    READS,
    TYPED,
    VERDICTS,
    WIRE,
    nested,
)

ANSWERS = {
    "PreToolUse": {
        # Exit code 2 with stderr holds whatever a version takes for a valid answer (lab a; CX1, CX2). What is
        # printed with it is not read.
        "deny": {"stderr": "$reason", "exit": 2, "alone": True},
        # The word `allow` is wanted beside another input and refused without one; it lifts no question (src).
        "rewrite": nested(permissionDecision="allow", updatedInput="$input"),
        "context": CONTEXT,
        "message": MESSAGE,
    },
    "PermissionRequest": {
        "deny": nested(decision={"behavior": "deny", "message": "$reason"}),
        "allow": nested(decision={"behavior": "allow"}),
        "message": MESSAGE,
    },
    # The reason takes the result's place; `continue: false` does the same and ends nothing (lab).
    "PostToolUse": {"deny": BLOCK, "context": CONTEXT, "message": MESSAGE},
    "UserPromptSubmit": {"deny": BLOCK, "context": CONTEXT, "halt": HALT, "message": MESSAGE},
    "SessionStart": {"context": CONTEXT, "halt": HALT, "message": MESSAGE},
    "SubagentStart": {"context": CONTEXT, "message": MESSAGE},
    "Stop": {"deny": BLOCK, "halt": HALT, "message": MESSAGE},
    "SubagentStop": {"deny": BLOCK, "halt": HALT, "message": MESSAGE},
    "PreCompact": {"halt": HALT, "message": MESSAGE},
    "PostCompact": {"halt": HALT, "message": MESSAGE},
    "Interrupt": {"message": MESSAGE},
    # SessionEnd reads nothing (src); what the model events obey was not measured (CX10).
    "*": {},
}

# An `allow` of PreToolUse means nothing by itself.
NO_ALLOW = [
    (place, {word: "none" if verdict == "allow" else verdict for word, verdict in words.items()})
    for place, words in VERDICTS
]

# What Codex itself obeys. Every fault of an answer lets the call go on (lab a2, b', b4-b10, c2, c5, k; src).
_COMMON = ("continue", "stopReason", "suppressOutput", "systemMessage")
_REASONS = ["hookSpecificOutput.permissionDecisionReason", "reason"]
_BLOCKS = ("decision", {"block": "deny"})
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [_BLOCKS],
    "reason": _REASONS,
    "wants": {"deny": ["reason"]},
    "knows": (*_COMMON, "decision", "reason", "hookSpecificOutput"),
    "refuses": [("suppressOutput", [True])],
    "named": "all",
    # A value of a wrong kind drops the answer, null is none (lab t1, t2, t4-t6, t8, t10, n).
    "typed": TYPED,
    "nulls": "absent",
    "exits": {"2": "deny"},
    "speaks": "stderr",
    "json": "zero",
}
OBEY_TOOL = {
    **OBEY,
    "verdicts": [("hookSpecificOutput.permissionDecision", {"deny": "deny", "allow": "allow"}), _BLOCKS],
    "wants": {"deny": _REASONS},
    "refuses": [
        ("suppressOutput", [True]),
        ("continue", [False]),
        ("stopReason", ["*"]),
        ("hookSpecificOutput.permissionDecision", ["ask", "defer"]),
        ("decision", ["approve", "allow", "deny", "ask"]),
    ],
    "rewrites": "allow",
}
# There is no nested output here, so that one drops the answer (src).
OBEY_STOP = {**OBEY, "knows": (*_COMMON, "decision", "reason"), "text": "failure"}
OBEY_NOTHING = {**OBEY, "verdicts": [], "exits": {}, "text": "context"}
OBEYS: dict[str, dict[str, Tree]] = {
    "PreToolUse": OBEY_TOOL,
    "PermissionRequest": {
        **OBEY,
        "verdicts": [("hookSpecificOutput.decision.behavior", {"allow": "allow", "deny": "deny"})],
        "reason": ["hookSpecificOutput.decision.message"],
        "wants": {},
        "refuses": [
            ("suppressOutput", [True]),
            ("continue", [False]),
            ("stopReason", ["*"]),
            ("hookSpecificOutput.decision.updatedInput", ["*"]),
            ("hookSpecificOutput.decision.updatedPermissions", ["*"]),
            ("hookSpecificOutput.decision.interrupt", [True]),
        ],
    },
    "PostToolUse": {
        **OBEY,
        "refuses": [("suppressOutput", [True]), ("hookSpecificOutput.updatedMCPToolOutput", ["*"])],
    },
    "UserPromptSubmit": {**OBEY, "text": "context"},
    "Stop": OBEY_STOP,
    "SubagentStop": OBEY_STOP,
    "SessionStart": OBEY_NOTHING,
    "SubagentStart": OBEY_NOTHING,
    "*": {**OBEY_NOTHING, "text": "ignored"},
}

WIRE_OF_CODEX = WIRE.replace(
    obeys=OBEYS,
    # What one prompt sets off is a turn (src). Its permission modes are words of Claude Code.
    keys={**KEYS, "turn": "turn_id"},
    transcript="items",
    inputs={
        **INPUTS,
        "spawn_agent": {"prompt": "message"},
        "update_plan": {"todos": "plan"},
    },
    patches={"apply_patch": "command"},
    # Of another input only the command is taken over (src).
    merges=("shell",),
    texts=("content:parts",),
    fixed={
        "session_id": "$session",
        "transcript_path": None,
        "cwd": "$cwd",
        "permission_mode": "default",
        "model": "",
        "turn_id": "",
    },
    answers=ANSWERS,
    reads={
        **READS,
        "PreToolUse": {**READ, "verdicts": NO_ALLOW},
        "PermissionRequest": {**READS["permission_request"], "exits": {"2": "deny"}},
        "SubagentStart": READ_TEXT,
        "Stop": {**READ, "text": "failure"},
        "SubagentStop": {**READ, "text": "failure"},
        "Interrupt": {**READ, "text": "failure"},
    },
    env={
        "PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_ROOT": "$package",
        "PLUGIN_DATA": "$data",
        "CLAUDE_PLUGIN_DATA": "$data",
    },
    marks=("turn_id", "transcript_path=.codex/", "permission_mode", "tool_use_id"),
)
