"""The wire of Cursor: flat answers in snake case, and events that are the tool beside those that name it.

Nothing could be captured: all is documented (IDE 3.9, CLI 2026.07.01) but for what is marked `probe`.
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.wire.table import Wire

KEYS = {
    "event": "hook_event_name",
    "session": ("conversation_id", "session_id"),
    "cwd": "cwd",
    "root": "workspace_roots:list",
    "tool": "tool_name",
    "input": "tool_input",
    "call_id": "tool_use_id",
    "result": "tool_output:json",
    "error": "error_message",
    "prompt": "prompt",
    "stop_active": "loop_count:count",
    "subagent": "subagent_type",
    "transcript": "transcript_path",
    "agent_transcript": "agent_transcript_path",
    "model": "model",
    "turn": "generation_id",
    "agent_id": "subagent_id",
    "parent_session": "parent_conversation_id",
    "duration_ms": "duration",
    "interrupted": "is_interrupt",
}
SHELL: dict[str, Tree] = {"tool": None, "input": {"command": "command", "cwd": "cwd"}}
MCP: dict[str, Tree] = {"tool": None, "mcp_tool": "tool_name", "input": "tool_input:json"}
KEYS_OF: dict[str, dict[str, Tree]] = {
    "beforeShellExecution": SHELL,
    "afterShellExecution": {**SHELL, "result": "output"},
    "beforeMCPExecution": MCP,
    "afterMCPExecution": {**MCP, "result": "result_json:json"},
    "beforeReadFile": {"tool": None, "input": {"path": "file_path"}},
    "afterFileEdit": {"tool": None, "input": {"path": "file_path", "edits": "edits"}},
    "subagentStart": {"prompt": "task"},
    "subagentStop": {
        "prompt": "task",
        "final_message": "summary",
        "source": "status",
        "steps": "tool_call_count",
        "messages": "message_count",
    },
    "stop": {"source": "status"},
    "sessionEnd": {"source": "reason", "session_ms": "duration_ms", "error_message": "error_message"},
    "preCompact": {
        "source": "trigger",
        "context_tokens": "context_tokens",
        "messages": "message_count",
    },
    "afterAgentResponse": {"final_message": "text"},
}

ENDED = {"end_turn": "completed", "interrupted": "aborted"}
WORDS: dict[str, dict[str, Tree]] = {
    "agent_stop": ENDED,
    "subagent_stop": ENDED,
    "session_end": {
        "complete": "completed",
        "abort": "aborted",
        "prompt_input_exit": ["user_close", "window_close"],
    },
}

PATH = {"path": "file_path"}
CHANGE = {**PATH, "old": "old_string", "new": "new_string"}
INPUTS = {
    "shell": {"cwd": "working_directory"},
    "file_read": PATH,
    "file_write": CHANGE,
    "file_edit": CHANGE,
    "search": PATH,
    "Delete": PATH,
    "edits": {"old": "old_string", "new": "new_string"},
}

# The model sees the message for the user, not the one for it (probe), so the reason stands in both.
REASON = {"user_message": "$reason", "agent_message": "$reason"}
DENY = {"json": {"permission": "deny", **REASON}}
ASK = {"json": {"permission": "ask", **REASON}}
ALLOW = {"json": {"permission": "allow"}}
FOLLOW = {"json": {"followup_message": "$reason"}}
# With failClosed a hook that prints nothing blocks (CU5).
NONE: dict[str, Tree] = {"json": {}}

PERMISSION: dict[str, Tree] = {"none": NONE, "deny": DENY, "allow": ALLOW}

ANSWERS: dict[str, Tree] = {
    # No ask, which is read and not enforced here.
    "preToolUse": {**PERMISSION, "rewrite": {"json": {"permission": "allow", "updated_input": "$input"}}},
    # An ask is a deny in 3.9.16 (CU2).
    "beforeShellExecution": {**PERMISSION, "ask": ASK},
    "beforeMCPExecution": {**PERMISSION, "ask": ASK},
    "beforeReadFile": PERMISSION,
    "beforeTabFileRead": PERMISSION,
    "subagentStart": PERMISSION,
    "beforeSubmitPrompt": {
        "none": {"json": {"continue": True}},
        "deny": {"json": {"continue": False, "user_message": "$reason"}},
    },
    "postToolUse": {"context": {"json": {"additional_context": "$context"}}},
    "sessionStart": {"context": {"json": {"additional_context": "$context"}}},
    "stop": {"deny": FOLLOW},
    "subagentStop": {"deny": FOLLOW},
    "preCompact": {"message": {"json": {"user_message": "$message"}}},
    "*": {},
}

DECISIONS = {"allow": "allow", "approve": "allow", "deny": "deny", "block": "deny", "ask": "ask"}
# `decision` is the form of January 2026, the nested one that of files it takes over from Claude Code.
VERDICTS: list[Tree] = [
    ("permission", DECISIONS),
    ("decision", DECISIONS),
    ("hookSpecificOutput.permissionDecision", DECISIONS),
]
OBSERVED: dict[str, Tree] = {
    "verdicts": VERDICTS,
    "reason": ["user_message", "agent_message", "reason", "hookSpecificOutput.permissionDecisionReason"],
    "context": ["additional_context", "hookSpecificOutput.additionalContext"],
    "json": "any",
}
# What is no JSON is a hook that failed, and blocks with failClosed.
READ = {
    **OBSERVED,
    "input": ["updated_input", "hookSpecificOutput.updatedInput"],
    "exits": {"2": "deny"},
    "text": "failure",
}
READ_STOP = {
    **OBSERVED,
    "verdicts": [("followup_message", {"": None, "*": "deny"}), ("decision", DECISIONS)],
    "reason": ["followup_message", "reason"],
}

# What Cursor itself obeys (doc): flat JSON with exit code 0, exit code 2 where it can be denied; `ask` is
# read and not enforced on preToolUse. What is no answer is a failure, which denies with `failClosed`.
_PERMITS = {"allow": "allow", "deny": "deny"}
OBEY = {
    **READ,
    "verdicts": [("permission", _PERMITS)],
    "reason": ["user_message", "agent_message"],
    "context": [],
    "input": ["updated_input"],
    "json": "zero",
    "closes": True,
}
OBEY_PLAIN = {**OBEY, "input": []}
OBEY_ASK = {**OBEY_PLAIN, "verdicts": [("permission", {**_PERMITS, "ask": "ask"})]}
OBEY_STOP = {**READ_STOP, "verdicts": [("followup_message", {"": None, "*": "deny"})], "json": "zero"}
OBEYS: dict[str, Tree] = {
    "preToolUse": OBEY,
    "beforeShellExecution": OBEY_ASK,
    "beforeMCPExecution": OBEY_ASK,
    "beforeReadFile": OBEY_PLAIN,
    "beforeTabFileRead": OBEY_PLAIN,
    "subagentStart": OBEY_PLAIN,
    "beforeSubmitPrompt": {**OBEY, "verdicts": [("continue", {"False": "deny", "True": None})], "input": []},
    "stop": OBEY_STOP,
    "subagentStop": OBEY_STOP,
    "*": {**OBSERVED, "verdicts": [], "context": ["additional_context"], "json": "zero"},
}

WIRE = Wire(
    obeys=OBEYS,
    extras={
        "sessionStart": {"env": "env"},
        "postToolUse": {"mcp_result": "updated_mcp_tool_output"},
        "workspaceOpen": {"plugin_paths": "pluginPaths"},
    },
    keys=KEYS,
    keys_of=KEYS_OF,
    words=WORDS,
    fixed={
        "generation_id": "",
        "model": "",
        "cursor_version": "",
        "workspace_roots": ["$root"],
        "user_email": None,
        "transcript_path": None,
    },
    inputs=INPUTS,
    texts=("output", "content:parts"),
    results={"afterShellExecution": "$text", "shell": {"output": "$text", "exitCode": 0}},
    env={
        "CURSOR_PROJECT_DIR": "$root",
        "CLAUDE_PROJECT_DIR": "$root",
        "CURSOR_TRANSCRIPT_PATH": "$transcript",
        # Both spellings are filled in for plugins (plugins of public repositories, November 2026).
        "CURSOR_PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_ROOT": "$package",
    },
    # Hooks of a project start at its root, those of the user in ~/.cursor, those of a plugin in its folder.
    starts_in="package",
    marks=("cursor_version", "conversation_id", "generation_id", "workspace_roots"),
    answers=ANSWERS,
    reads={
        **dict.fromkeys(
            (
                *("preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"),
                *("beforeTabFileRead", "subagentStart"),
            ),
            READ,
        ),
        "beforeSubmitPrompt": {
            **READ,
            "verdicts": [("continue", {"False": "deny", "True": None}), *VERDICTS],
            "input": [],
        },
        "stop": READ_STOP,
        "subagentStop": READ_STOP,
        "preCompact": {**OBSERVED, "message": ["user_message"], "reason": []},
        "*": OBSERVED,
    },
    # Scripts print it to have no opinion, and it is not documented to skip a prompt.
    lifts=False,
    # loop_limit is 5 where a file does not say otherwise.
    caps_stops=True,
    fires_twice=True,
)
