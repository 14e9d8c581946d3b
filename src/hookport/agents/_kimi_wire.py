"""The wire of kimi-cli and Kimi Code: Claude's payload with a few names of its own, and exit code 2.

What is not marked otherwise was captured or measured on kimi-cli 1.51.0 and Kimi Code 2.1.0. Both are read;
scripts are written to as Kimi Code does it.
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.wire.table import Wire

KEYS = {
    "event": "hook_event_name",
    "session": "session_id",
    "cwd": "cwd",
    "tool": "tool_name",
    "input": "tool_input",
    "call_id": "tool_call_id",
    "result": "tool_output",
    "error": "error",
    "prompt": "prompt",
    "stop_active": "stop_hook_active",
    "subagent": "agent_name",
    "agent_id": "agent_id",
    "turn": "turn_id:number",
    "session_title": "session_title",
}
KEYS_OF = {
    # A list of parts in Kimi Code, a text in kimi-cli.
    "UserPromptSubmit": {"prompt": "prompt:parts"},
    "UserPromptQueued": {"prompt": "prompt:parts"},
    "SubagentStop": {"final_message": "response"},
    "SessionStart": {"source": "source", "model": "model"},
    "SessionEnd": {"source": "reason"},
    "SessionHeartbeat": {"session_ms": "uptime_ms"},
    "PreCompact": {"source": "trigger", "context_tokens": "token_count"},
    "PostCompact": {"source": "trigger"},
    "Notification": {"source": "notification_type", "message": "body", "title": "title"},
    "StopFailure": {"source": "error_type", "error_message": "error_message"},
    "Interrupt": {"source": "reason"},
    "TurnStarted": {"source": "origin_kind"},
    "TaskStarted": {"source": "kind"},
}

WORDS: dict[str, dict[str, Tree]] = {"session_end": {"complete": "exit"}}

INPUTS: dict[str, dict[str, Tree]] = {
    "file_read": {"offset": "line_offset", "limit": "n_lines"},
    "Edit": {"old": "old_string", "new": "new_string"},
    # One edit or a list of them, with canonical names in it (cli).
    "StrReplaceFile": {"edits": "edit"},
    "search": {"include": "glob"},
    # The second in kimi-cli (cli).
    "find": {"path": ("path", "directory")},
    "agent": {"agent_type": "subagent_type"},
}

# With exit code 2 stdout is not looked at, so that nothing else can be said beside a deny.
DENY = {"stderr": "$reason", "exit": 2, "alone": True}

ANSWERS: dict[str, Tree] = {
    # No ask, which runs the tool (KI5), no rewrite, no context; an allow says nothing there.
    "PreToolUse": {"deny": DENY},
    "UserPromptSubmit": {"deny": DENY},
    "Stop": {"deny": DENY},
    "*": {},
}
# Kimi Code, whose payloads name the client, adds the message to the prompt; kimi-cli nothing at all (KI7).
KIMI_CODE: dict[str, Tree] = {
    **ANSWERS,
    "UserPromptSubmit": {"deny": DENY, "context": {"json": {"message": "$context"}}},
}

# A top-level decision, `ask`, and JSON with another exit code than 0 do nothing there (KI4, KI5); they are
# read for the deny that was meant.
READ: dict[str, Tree] = {
    "verdicts": [
        ("hookSpecificOutput.permissionDecision", {"allow": "allow", "deny": "deny", "ask": "ask"}),
        ("decision", {"allow": "none", "approve": "none", "deny": "deny", "block": "deny", "ask": "ask"}),
    ],
    "reason": ["hookSpecificOutput.permissionDecisionReason", "reason"],
    "exits": {"2": "deny"},
    "json": "any",
}

# What Kimi itself obeys: exit code 2 with any text or none, and with exit code 0 `permissionDecision: deny`
# in nested output, whose `hookEventName` it does not look at (a, b, d, k).
OBEY = {
    **READ,
    "verdicts": [("hookSpecificOutput.permissionDecision", {"deny": "deny"})],
    "reason": ["hookSpecificOutput.permissionDecisionReason"],
    "json": "zero",
}
# The others are not waited for (l).
OBEY_NOTHING = {**OBEY, "verdicts": [], "exits": {}}

WIRE = Wire(
    obeys={"PreToolUse": OBEY, "UserPromptSubmit": OBEY, "Stop": OBEY, "*": OBEY_NOTHING},
    keys=KEYS,
    keys_of=KEYS_OF,
    words=WORDS,
    fixed={"session_id": "$session", "cwd": "$cwd"},
    inputs=INPUTS,
    # Only hooks of a plugin of Kimi Code have it (code).
    env={"KIMI_PLUGIN_ROOT": "$package"},
    starts_in="root",
    marks=(
        *("client_type=kimi", "session_title", "tool_call_id", "agent_name", "sink"),
        *("token_count", "estimated_token_count"),
    ),
    answers=ANSWERS,
    answers_of={"client_type": KIMI_CODE},
    reads={
        "UserPromptSubmit": {
            **READ,
            "context": ["message", "hookSpecificOutput.message", "hookSpecificOutput.additionalContext"],
            "text": "context",
        },
        "*": READ,
    },
    # kimi-cli shows MCP tools under their bare names (KI8); these are offered to the model by one of the two.
    others=(
        *("CreateGoal", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "ExitPlanMode", "GetGoal"),
        *("SetGoalBudget", "TaskList", "TaskOutput", "TaskStop", "Think", "UpdateGoal", "WaitFor"),
    ),
    bare_mcp=True,
    lifts=False,
    # A Stop hook is asked once a turn.
    caps_stops=True,
)
