"""The wire of Claude Code and of the agents that copied it: payload keys, the nested answer, exit code 2.

Facts: the official hooks reference (2.1.240) and measurements on 2.1.325; a dialect of this family overrides
what differs.
"""

from __future__ import annotations

from hookport.shapes.dialect import Tree
from hookport.shapes.transcripts import BLOCKS
from hookport.wire.table import Wire, list_by_event

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
    "subagent": "agent_type",
    "permission_mode": "permission_mode",
    "transcript": "transcript_path",
    "agent_transcript": "agent_transcript_path",
    "model": "model",
    "effort": "effort.level",
    "turn": "prompt_id",
    "agent_id": "agent_id",
    "session_title": "session_title",
    "duration_ms": "duration_ms",
    "interrupted": "is_interrupt",
    "suggestions": "permission_suggestions",
    "background_tasks": "background_tasks",
    "crons": "session_crons",
}

KEYS_OF = {
    "SessionStart": {"source": "source"},
    "UserPromptSubmit": {"source": "source"},
    "ConfigChange": {"source": "source"},
    "DirectoryAdded": {"source": "source"},
    "SessionEnd": {"source": "reason"},
    "PreCompact": {"source": "trigger", "instructions": "custom_instructions"},
    "PostCompact": {"source": "trigger", "summary": "compact_summary"},
    "Notification": {"source": "notification_type", "message": "message", "title": "title"},
    "InstructionsLoaded": {"file": "file_path", "load_reason": "load_reason", "memory": "memory_type"},
    "FileChanged": {"source": "file_path:name", "file": "file_path"},
    "StopFailure": {"source": "error", "error_message": "error_details"},
}

# Canonical values are Claude Code's if it has one. Its sessions end for a few named reasons, or for "other".
ENDS = ("clear", "resume", "logout", "prompt_input_exit")
WORDS: dict[str, dict[str, Tree]] = {"session_end": {**{word: word for word in ENDS}, "*": "other"}}

INPUTS = {
    "file_read": {"path": "file_path"},
    "file_write": {"path": "file_path"},
    "file_edit": {"path": "file_path", "old": "old_string", "new": "new_string"},
    "notebook_edit": {"path": "notebook_path", "content": "new_source"},
    "search": {"include": "glob"},
    "agent": {"agent_type": "subagent_type"},
    "edits": {"old": "old_string", "new": "new_string"},
}


def nest_fields(**fields: Tree) -> dict[str, Tree]:
    """A piece inside `hookSpecificOutput`, which is not an answer without the event's name (CC2)."""
    return {"json": {"hookSpecificOutput": {"hookEventName": "$event", **fields}}}


def decide_permission(verdict: str, **more: Tree) -> dict[str, Tree]:
    """The piece that decides on a tool call."""
    return {**nest_fields(permissionDecision=verdict, permissionDecisionReason="$reason"), **more}


HALT = {"json": {"continue": False, "stopReason": "$reason"}}
MESSAGE = {"json": {"systemMessage": "$message"}}
SUPPRESS = {"json": {"suppressOutput": True}}
BLOCK = {"json": {"decision": "block", "reason": "$reason"}}
CONTEXT = nest_fields(additionalContext="$context")

ALWAYS = {"halt": HALT, "message": MESSAGE, "suppress": SUPPRESS}

ANSWERS = {
    "before_tool_execute": {
        **ALWAYS,
        "deny": decide_permission("deny"),
        "ask": decide_permission("ask"),
        "allow": decide_permission("allow"),
        "rewrite": nest_fields(updatedInput="$input"),
        "context": CONTEXT,
        # `continue: false` alone lets this one call run (CC4).
        "halt": {**HALT, "denies": True},
    },
    "after_tool_execute": {
        **ALWAYS,
        "deny": BLOCK,
        "context": CONTEXT,
        # It must have the shape of the tool's own output (doc).
        "result": nest_fields(updatedToolOutput="$shaped"),
    },
    "tool_use_failure": {**ALWAYS, "deny": BLOCK, "context": CONTEXT},
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
        # Not measured alone, so a refusal goes with it.
        "halt": {**HALT, "denies": True},
        "deny": nest_fields(decision={"behavior": "deny", "message": "$reason"}),
        "allow": nest_fields(decision={"behavior": "allow"}),
        "rewrite": {
            **nest_fields(decision={"behavior": "allow", "updatedInput": "$input"}),
            "needs": "allow",
        },
    },
    "*": ALWAYS,
}

# Forms that Claude Code ignores are read as an intended deny; as an allow they do not count.
VERDICTS = [
    (
        "hookSpecificOutput.permissionDecision",
        {"allow": "allow", "deny": "deny", "ask": "ask", "defer": "ask"},
    ),
    ("decision", {"approve": "allow", "block": "deny", "deny": "deny", "ask": "ask", "allow": "none"}),
    ("permissionDecision", {"deny": "deny", "ask": "ask", "allow": "none"}),
]
READ: dict[str, Tree] = {
    "verdicts": VERDICTS,
    "reason": [
        "hookSpecificOutput.permissionDecisionReason",
        "reason",
        "permissionDecisionReason",
        "stopReason",
    ],
    "context": ["hookSpecificOutput.additionalContext"],
    "input": ["hookSpecificOutput.updatedInput"],
    "result": ["hookSpecificOutput.updatedToolOutput", "hookSpecificOutput.updatedMCPToolOutput"],
    "message": ["systemMessage"],
    "suppress": ["suppressOutput"],
    "halt": ["continue"],
    "exits": {"2": "deny"},
    "json": "any",
    "text": "ignored",
}
# Output at the start of a session or a turn is context for the model, JSON or not.
READ_TEXT = {**READ, "text": "context"}
# On a stop event, context makes the agent continue as a block does (doc).
READ_STOP = {
    **READ,
    "verdicts": [*VERDICTS, ("hookSpecificOutput.additionalContext", {"*": "deny"})],
    "reason": [*READ["reason"], "hookSpecificOutput.additionalContext"],
    "context": [],
}

READS = {
    "session_start": READ_TEXT,
    "before_prompt": READ_TEXT,
    "before_command_expansion": READ_TEXT,
    "agent_stop": READ_STOP,
    "subagent_stop": READ_STOP,
    "permission_request": {
        **READ,
        "verdicts": [("hookSpecificOutput.decision.behavior", {"allow": "allow", "deny": "deny"})],
        "reason": ["hookSpecificOutput.decision.message", "stopReason"],
        "input": ["hookSpecificOutput.decision.updatedInput"],
        "exits": {},
    },
    "*": READ,
}

# What Claude Code itself obeys. Measured on 2.1.325 (lab): nested output without `hookEventName` and JSON
# with any other text around it are no answer (b5, b7), JSON counts with every exit code (b6), exit code 2
# beats it (a3), a value of a wrong kind in any of these fields, null too, drops the answer (t1-t13).
# `approve` and the events that were not measured: hooks reference (doc).
TYPED = {
    "continue": "flag",
    "suppressOutput": "flag",
    "stopReason": "text",
    "systemMessage": "text",
    "decision": "text",
    "reason": "text",
    "hookSpecificOutput": "object",
    "hookSpecificOutput.permissionDecisionReason": "text",
    "hookSpecificOutput.additionalContext": "text",
    "hookSpecificOutput.updatedInput": "object",
}
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [
        (
            "hookSpecificOutput.permissionDecision",
            {"allow": "allow", "deny": "deny", "ask": "ask", "defer": "ask"},
        ),
        ("decision", {"block": "deny", "approve": "allow"}),
    ],
    "reason": ["hookSpecificOutput.permissionDecisionReason", "reason", "stopReason"],
    "named": "all",
    "typed": TYPED,
}
OBEY_BLOCK = {**OBEY, "verdicts": [("decision", {"block": "deny"})]}
OBEY_TEXT = {**OBEY_BLOCK, "text": "context"}
# No answer there stops anything (g5, doc).
OBEY_NOTHING = {**OBEY, "verdicts": [], "exits": {}, "text": "context"}
OBEY_STOP = {
    **OBEY_BLOCK,
    "verdicts": [("decision", {"block": "deny"}), ("hookSpecificOutput.additionalContext", {"*": "deny"})],
    "context": [],
}
OBEYS: dict[str, dict[str, Tree]] = {
    "before_tool_execute": OBEY,
    "before_prompt": OBEY_TEXT,
    "before_command_expansion": OBEY_TEXT,
    "session_start": OBEY_NOTHING,
    "subagent_start": OBEY_NOTHING,
    "session_end": OBEY_NOTHING,
    "after_compact": OBEY_NOTHING,
    "notification": OBEY_NOTHING,
    "agent_stop": OBEY_STOP,
    "subagent_stop": OBEY_STOP,
    "permission_request": {**READS["permission_request"], "named": "all", "typed": TYPED},
    "*": OBEY_BLOCK,
}

# Fields that few agents have (doc, 2.1.325); an update of permissions goes with an allow only.
PERMISSION_EXTRAS = {
    "permissions@allow": "hookSpecificOutput.decision.updatedPermissions",
    "interrupt@deny": "hookSpecificOutput.decision.interrupt",
}

WIRE = Wire(
    keys=KEYS,
    by_event=list_by_event(keys=KEYS_OF),
    words=WORDS,
    transcript=(BLOCKS,),
    inputs=INPUTS,
    fixed={"session_id": "$session", "transcript_path": "", "cwd": "$cwd", "permission_mode": "default"},
    answers=ANSWERS,
    reads=READS,
)

EXIT = {"stderr": "$reason", "exit": 2}
# Its shell sources the file before every command (doc).
ENV_FILE = {"CLAUDE_ENV_FILE": "$env_file"}
