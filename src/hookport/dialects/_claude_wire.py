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
    "notebook_edit": {"path": "notebook_path", "content": "new_source"},
    "search": {"include": "glob"},
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
        # It must have the shape of the tool's own output (doc).
        "result": nested(updatedToolOutput="$shaped"),
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
        "deny": nested(decision={"behavior": "deny", "message": "$reason"}),
        "allow": nested(decision={"behavior": "allow"}),
        "rewrite": {**nested(decision={"behavior": "allow", "updatedInput": "$input"}), "needs": "allow"},
    },
    "*": ALWAYS,
}

# Forms that are no answer to Claude Code are read for the deny that was meant; as an allow they are nothing.
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
# What is printed where a session or a turn begins is context for the model, JSON or not.
READ_TEXT = {**READ, "text": "context"}
# Where the agent is about to stop, context makes it go on as a block does (doc).
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

WIRE = Wire(
    keys=KEYS,
    keys_of=KEYS_OF,
    inputs=INPUTS,
    fixed={"session_id": "$session", "transcript_path": "", "cwd": "$cwd", "permission_mode": "default"},
    answers=ANSWERS,
    reads=READS,
)

EXIT = {"stderr": "$reason", "exit": 2}

# Events of Claude Code itself on which all that is printed is thrown away (doc).
SILENT = (
    *("InstructionsLoaded", "MessageDisplay", "Notification", "WorktreeRemove", "PostCompact"),
    *("SessionEnd", "StopFailure"),
)
ACTIONS = ("hookSpecificOutput.action", {"accept": "allow", "decline": "deny", "cancel": "deny"})
READ_ELICITATION = {**READ, "verdicts": [ACTIONS, *VERDICTS]}

CLAUDE = WIRE.replace(
    keys_of={
        **KEYS_OF,
        "UserPromptExpansion": {"source": "command_name"},
        "InstructionsLoaded": {"source": "load_reason"},
        "StopFailure": {"source": "error"},
        "FileChanged": {"source": "file_path:name"},
        "Setup": {"source": "trigger"},
        "Elicitation": {"source": "mcp_server_name"},
        "ElicitationResult": {"source": "mcp_server_name"},
        "PreModelSwitch": {"source": "to_model"},
        "PostModelSwitch": {"source": "to_model"},
    },
    # Captured on 2.1.325: Bash, EnterWorktree, Read, Write and Agent, MCP.
    texts=("stdout", "message", "file.content", "content:parts", ":parts"),
    results={"shell": {"stdout": "$text", "stderr": "", "interrupted": False, "isImage": False}},
    answers={
        **ANSWERS,
        **{event: {} for event in SILENT},
        "PreCompact": {"deny": BLOCK},
        "ConfigChange": {"deny": BLOCK},
        "CwdChanged": {"message": MESSAGE},
        "FileChanged": {"message": MESSAGE},
        "Setup": {**ALWAYS, "context": CONTEXT},
        "TaskCreated": {"deny": BLOCK, "message": MESSAGE},
        "TaskCompleted": {**ALWAYS, "deny": EXIT},
        "TeammateIdle": {**ALWAYS, "deny": EXIT},
        "Elicitation": {"deny": EXIT},
        "ElicitationResult": {"deny": EXIT},
        "PreModelSwitch": {
            "deny": permission("deny"),
            "ask": permission("ask"),
            "allow": permission("allow"),
        },
        "PostModelSwitch": {"context": CONTEXT},
        # The text on stdout is the worktree's path, so it has to come through.
        "WorktreeCreate": {"deny": {**EXIT, "alone": True}, "context": {"stdout": "$context"}},
    },
    reads={
        **READS,
        "WorktreeCreate": {**READ_TEXT, "exits": {"+": "deny"}},
        "Elicitation": READ_ELICITATION,
        "ElicitationResult": READ_ELICITATION,
    },
    env={
        "CLAUDE_PROJECT_DIR": "$root",
        "CLAUDE_PLUGIN_ROOT": "$package",
        "CLAUDE_CODE_SESSION_ID": "$session",
    },
    marks=("transcript_path=.claude/", "prompt_id", "permission_mode", "tool_use_id"),
    # (doc, the tools reference of 2.1.325)
    others=(
        *("EnterPlanMode", "ExitPlanMode", "EnterWorktree", "ExitWorktree", "LSP", "ToolSearch"),
        *("TaskOutput", "TaskStop", "SendMessage", "Cron*", "ListMcpResourcesTool", "ReadMcpResourceTool"),
    ),
    # It ended a Stop hook that always blocks after eight blocks (lab).
    caps_stops=True,
)
