"""The wire of Copilot CLI: an event's spelling decides what its hooks are sent, answers are flat in both.

Facts: measured on 1.0.102 (lab), the hooks reference of 2026-08-07 (doc). Names in camelCase stand for the
protocol of its own, names in PascalCase for the one that looks like Claude Code's.
"""

from __future__ import annotations

from hookport.dialects._base import Tree
from hookport.wires.table import Wire

CAMEL = {
    "session": "sessionId",
    "timestamp": "timestamp:ms",
    "cwd": "cwd",
    "tool": "toolName",
    # An object, the text of a patch (lab), or an object as JSON text (doc: unknown; older versions).
    "input": "toolArgs:loose",
    "result": "toolResult",
    "error": "error",
    "prompt": "prompt",
    "stop_active": "stop_hook_active",
    "subagent": "agentType",
}
SNAKE = {
    "event": "hook_event_name",
    "session": "session_id",
    "timestamp": "timestamp",
    "tool": "tool_name",
    "input": "tool_input:loose",
    "result": "tool_result",
    "subagent": "agent_type",
}
# The permission events have camelCase payloads under both names (lab).
PERMISSION = {"event": "hookName", "input": "toolInput"}
NOTIFICATION = {"event": "hook_event_name", "source": "notification_type"}

KEYS_OF: dict[str, dict[str, Tree]] = {
    "sessionStart": {"source": "source"},
    "sessionEnd": {"source": "reason"},
    "preCompact": {"source": "trigger"},
    "errorOccurred": {"source": "errorContext"},
    "subagentStart": {"subagent": ["agentName", "agentType"]},
    "subagentStop": {"subagent": ["agentName", "agentType"], "final_message": "response"},
    "preMcpToolCall": {
        "tool": None,
        "server": "serverName",
        "mcp_tool": "toolName",
        "input": "arguments",
        "call_id": "toolCallId",
    },
    "permissionRequest": PERMISSION,
    "notification": NOTIFICATION,
    "PermissionRequest": PERMISSION,
    "Notification": NOTIFICATION,
    # In camelCase but for its ids (lab).
    "SubagentStart": {"subagent": ["agentName", "agent_type"]},
    "SubagentStop": {
        **SNAKE,
        "subagent": ["agent_name", "agent_type"],
        "final_message": "last_assistant_message",
    },
    "SessionStart": {**SNAKE, "source": "source"},
    "SessionEnd": {**SNAKE, "source": "reason"},
    "PreCompact": {**SNAKE, "source": "trigger"},
    "ErrorOccurred": {**SNAKE, "source": "error_context"},
    "PreToolUse": SNAKE,
    "PostToolUse": SNAKE,
    "PostToolUseFailure": SNAKE,
    "UserPromptSubmit": SNAKE,
    "Stop": SNAKE,
}

# Payloads in camelCase do not say their event (lab; subagentStop and errorOccurred: doc).
TELLS = {
    "preToolUse": ("toolName", "toolArgs"),
    "postToolUse": ("toolName", "toolArgs", "toolResult"),
    "postToolUseFailure": ("toolName", "toolArgs", "error"),
    "preMcpToolCall": ("toolName", "serverName", "arguments"),
    "userPromptSubmitted": ("sessionId", "prompt"),
    "userPromptTransformed": ("sessionId", "prompt", "transformedPrompt"),
    "agentStop": ("transcriptPath", "stopReason", "stop_hook_active"),
    "subagentStart": ("transcriptPath", "agentName"),
    "SubagentStart": ("transcriptPath", "agentName", "agent_id"),
    "subagentStop": ("transcriptPath", "agentName", "agentType", "stopReason"),
    "sessionStart": ("sessionId", "source"),
    "sessionEnd": ("sessionId", "reason"),
    "preCompact": ("transcriptPath", "trigger"),
    "errorOccurred": ("error", "errorContext"),
}

# For the events of agents that have no session.
SESSION = {"sessionId": "$session"}


def decision(verdict: str, **more: Tree) -> dict[str, Tree]:
    """The piece that decides on a tool call: flat, which is obeyed under both names (lab b', q3)."""
    return {"json": {"permissionDecision": verdict, "permissionDecisionReason": "$reason"}, **more}


BLOCK = {"json": {"decision": "block", "reason": "$reason"}}
# Inside hookSpecificOutput it is dropped nearly everywhere (lab g, CP3).
CONTEXT = {"json": {"additionalContext": "$context"}}
NATIVE_REWRITE = {"json": {"modifiedArgs": "$input"}}
# With an allow and without one, which lifts no question (lab c; 1.0.102, 2026-11-16).
CLAUDE_REWRITE = {"json": {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": "$input"}}}

PRE_TOOL = {
    # The exit code denies by itself, the reason is taken from flat JSON beside it (lab a, a3; CP2).
    "deny": decision("deny", exit=2),
    "ask": decision("ask"),
    "allow": decision("allow"),
    "context": CONTEXT,
}

# There is no `continue` and no `systemMessage` anywhere (lab b3, doc), and exit 2 blocks nothing after
# PreToolUse (lab g4, h2).
ANSWERS: dict[str, dict[str, Tree]] = {
    "preToolUse": {**PRE_TOOL, "rewrite": NATIVE_REWRITE},
    "PreToolUse": {**PRE_TOOL, "rewrite": CLAUDE_REWRITE},
    "permission_request": {
        "deny": {"json": {"behavior": "deny", "message": "$reason"}},
        "allow": {"json": {"behavior": "allow"}},
    },
    "after_tool_execute": {
        "deny": BLOCK,
        "context": CONTEXT,
        "result": {"json": {"modifiedResult": {"resultType": "success", "textResultForLlm": "$result"}}},
    },
    "tool_use_failure": {"context": CONTEXT},
    "before_prompt": {"deny": BLOCK, "context": CONTEXT},
    "agent_stop": {"deny": BLOCK},
    "subagent_stop": {"deny": BLOCK},
    "session_start": {"context": CONTEXT},
    "subagent_start": {"context": CONTEXT},
    "notification": {"context": CONTEXT},
    "*": {},
}

# A deny that was meant for another agent is a deny; what would allow there means nothing here.
FLAT = ("permissionDecision", {"allow": "allow", "deny": "deny", "ask": "ask"})
NESTED = "hookSpecificOutput.permissionDecision"
BLOCKED = ("decision", {"block": "deny", "deny": "deny", "ask": "ask", "allow": "none", "approve": "none"})
READ: dict[str, Tree] = {
    "verdicts": [BLOCKED],
    "reason": ["reason"],
    "context": ["additionalContext"],
    "result": ["modifiedResult.textResultForLlm"],
    "json": "any",
    "text": "ignored",
}
READ_NATIVE: dict[str, Tree] = {
    **READ,
    "verdicts": [FLAT, (NESTED, {"deny": "deny", "ask": "ask", "allow": "none"}), BLOCKED],
    "reason": ["permissionDecisionReason", "hookSpecificOutput.permissionDecisionReason", "reason"],
    "input": ["modifiedArgs"],
    # Any exit code but 0 denies (lab d, CP1).
    "exits": {"+": "deny"},
}
READS = {
    "preToolUse": READ_NATIVE,
    "PreToolUse": {
        **READ_NATIVE,
        "verdicts": [FLAT, (NESTED, FLAT[1]), BLOCKED],
        "context": ["additionalContext", "hookSpecificOutput.additionalContext"],
        "input": ["modifiedArgs", "hookSpecificOutput.updatedInput"],
    },
    "permission_request": {
        **READ,
        "verdicts": [("behavior", {"allow": "allow", "deny": "deny"}), BLOCKED],
        "reason": ["message", "reason"],
        "exits": {"2": "deny"},
    },
    "*": READ,
}

# What is asked for has the names of the permission service: another field for the path, `/` in MCP (CP5).
ASKED = {"inputs": {"edit": {"path": "file_path"}, "Edit": {"path": "file_path"}}, "mcp": ("", "/", "", 0)}

WIRE = Wire(
    keys=CAMEL,
    keys_of=KEYS_OF,
    said={"PermissionRequest": "permissionRequest", "notification": "Notification"},
    tells=TELLS,
    fixed_of={
        **dict.fromkeys(TELLS, SESSION),
        "agentStop": {**SESSION, "transcriptPath": "", "stopReason": "end_turn"},
        "Stop": {"transcript_path": "", "stop_reason": "end_turn"},
        "permissionRequest": {"permissionSuggestions": []},
        "PermissionRequest": {"permissionSuggestions": []},
    },
    inputs={
        "file_write": {"content": "file_text"},
        "file_edit": {"old": "old_str", "new": "new_str"},
        # Its `command` says what it does, and is no shell command.
        "str_replace_editor": {
            "action": "command",
            "content": "file_text",
            "old": "old_str",
            "new": "new_str",
        },
        "edits": {"old": "old_str", "new": "new_str"},
    },
    patches={"apply_patch": ""},
    texts=("textResultForLlm", "text_result_for_llm"),
    results={"*": {"resultType": "success", "textResultForLlm": "$text"}},
    views={
        "permissionRequest": ASKED,
        "PermissionRequest": ASKED,
        "PostToolUse": {"results": {"*": {"result_type": "success", "text_result_for_llm": "$text"}}},
    },
    env={
        "COPILOT_CLI": "1",
        "COPILOT_PROJECT_DIR": "$root",
        "CLAUDE_PROJECT_DIR": "$root",
        "PLUGIN_ROOT": "$package",
        "COPILOT_PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_ROOT": "$package",
    },
    marks=("sessionId", "transcriptPath=.copilot/", "transcript_path=.copilot/", "tool_result", "timestamp"),
    answers=ANSWERS,
    reads=READS,
    # It ended a stop hook that always blocks after eight blocks, and ran no hook after one that denied (lab).
    caps_stops=True,
    stops_at_deny=True,
)
