"""The wire of Codex: Claude Code's payload and answers, of which it drops every one with a word too many.

Facts: measured on 0.166.0 (lab), and codex-rs/hooks at 0.150.0-alpha.7 (src). A run that fails lets the call
go on, so a piece is here only where the event's own schema has its keys.
"""

from __future__ import annotations

from hookport.dialects._claude_wire import (
    BLOCK,
    CONTEXT,
    HALT,
    INPUTS,
    MESSAGE,
    READ,
    READ_TEXT,
    READS,
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

WIRE_OF_CODEX = WIRE.replace(
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
    env={"PLUGIN_ROOT": "$package", "CLAUDE_PLUGIN_ROOT": "$package"},
    marks=("turn_id", "transcript_path=.codex/", "permission_mode", "tool_use_id"),
)
