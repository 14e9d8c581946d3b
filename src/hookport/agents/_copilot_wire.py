"""The wire of Copilot CLI: an event's spelling decides what its hooks are sent, answers are flat in both.

Facts: measured on 1.0.102 (lab), the hooks reference of 2026-08-07 (doc). Names in camelCase stand for the
protocol of its own, names in PascalCase for the one that looks like Claude Code's.
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.wire.table import Wire

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
    "transcript": "transcriptPath",
    "agent_id": "agentId",
    "parent_agent": "parentAgentId",
}
SNAKE = {
    "event": "hook_event_name",
    "session": "session_id",
    "timestamp": "timestamp",
    "tool": "tool_name",
    "input": "tool_input:loose",
    "result": "tool_result",
    "subagent": "agent_type",
    "transcript": "transcript_path",
    "agent_id": "agent_id",
    "parent_agent": "parent_agent_id",
}
# The permission events have camelCase payloads under both names (lab).
PERMISSION = {"event": "hookName", "input": "toolInput", "suggestions": "permissionSuggestions"}
NOTIFICATION = {
    "event": "hook_event_name",
    "source": "notification_type",
    "message": "message",
    "title": "title",
}

KEYS_OF: dict[str, dict[str, Tree]] = {
    "sessionStart": {"source": "source", "prompt": "initialPrompt"},
    "sessionEnd": {"source": "reason"},
    "agentStop": {"source": "stopReason"},
    "preCompact": {"source": "trigger", "instructions": "customInstructions"},
    "errorOccurred": {"source": "errorContext", "error_message": "error.message"},
    "subagentStart": {"subagent": ["agentName", "agentType"]},
    "subagentStop": {
        "subagent": ["agentName", "agentType"],
        "final_message": "response",
        "source": "stopReason",
    },
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
    "SubagentStart": {
        "subagent": ["agentName", "agent_type"],
        "agent_id": "agent_id",
        "parent_agent": "parent_agent_id",
    },
    "SubagentStop": {
        **SNAKE,
        "subagent": ["agent_name", "agent_type"],
        "final_message": "last_assistant_message",
        "source": "stop_reason",
    },
    "SessionStart": {**SNAKE, "source": "source", "prompt": "initial_prompt"},
    "SessionEnd": {**SNAKE, "source": "reason"},
    "PreCompact": {**SNAKE, "source": "trigger", "instructions": "custom_instructions"},
    "ErrorOccurred": {**SNAKE, "source": "error_context", "error_message": "error.message"},
    "PreToolUse": SNAKE,
    "PostToolUse": SNAKE,
    "PostToolUseFailure": SNAKE,
    "UserPromptSubmit": SNAKE,
    "Stop": {**SNAKE, "source": "stop_reason"},
}

# A session that begins is `new` (lab; the reference also has `startup`), one that ends is `complete`, or
# ended by its user (doc).
WORDS: dict[str, dict[str, Tree]] = {
    "session_start": {"startup": ["new", "startup"]},
    "session_end": {"prompt_input_exit": "user_exit"},
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

# What Copilot itself obeys (lab): flat JSON alone on stdout, no `decision: block` before a tool (b2), the
# nested form under the PascalCase name only (b), every exit code but 0 before a tool (d) and none elsewhere.
OBEY: dict[str, Tree] = {**READ, "verdicts": [], "json": "zero"}
OBEY_BLOCK = {**OBEY, "verdicts": [("decision", {"block": "deny"})]}
OBEY_NATIVE: dict[str, Tree] = {
    **OBEY,
    "verdicts": [FLAT],
    "reason": ["permissionDecisionReason"],
    "input": ["modifiedArgs"],
    "exits": {"+": "deny"},
    "json": "any",
}
OBEYS: dict[str, dict[str, Tree]] = {
    "preToolUse": OBEY_NATIVE,
    "PreToolUse": {
        **OBEY_NATIVE,
        "verdicts": [FLAT, (NESTED, FLAT[1])],
        "reason": ["permissionDecisionReason", "hookSpecificOutput.permissionDecisionReason"],
        "context": ["additionalContext", "hookSpecificOutput.additionalContext"],
        "input": ["modifiedArgs", "hookSpecificOutput.updatedInput"],
    },
    # (doc) exit code 2 denies too.
    "permission_request": {
        **OBEY,
        "verdicts": [("behavior", {"allow": "allow", "deny": "deny"})],
        "reason": ["message"],
        "exits": {"2": "deny"},
    },
    "before_prompt": OBEY_BLOCK,
    "after_tool_execute": OBEY_BLOCK,
    "agent_stop": OBEY_BLOCK,
    "subagent_stop": OBEY_BLOCK,
    "*": OBEY,
}

# What is asked for has the names of the permission service: another field for the path, `/` in MCP (CP5).
ASKED = {"inputs": {"edit": {"path": "file_path"}, "Edit": {"path": "file_path"}}, "mcp": ("", "/", "", 0)}

WIRE = Wire(
    keys=CAMEL,
    keys_of=KEYS_OF,
    words=WORDS,
    transcript="log",
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
        "CLAUDE_PLUGIN_DATA": "$data",
    },
    marks=("sessionId", "transcriptPath=.copilot/", "transcript_path=.copilot/", "tool_result", "timestamp"),
    answers=ANSWERS,
    reads=READS,
    obeys=OBEYS,
    # `modifiedPrompt`, `handled` and `responseContent` were measured, the others are documented.
    extras={
        "permission_request": {"interrupt@deny": "interrupt"},
        "userPromptSubmitted": {
            "prompt": "modifiedPrompt",
            "handled": "handled",
            "response": "responseContent",
        },
        "userPromptTransformed": {"prompt": "modifiedTransformedPrompt"},
        "subagent_stop": {"response": "modifiedResponse"},
    },
    # It ended a stop hook that always blocks after eight blocks, and ran no hook after one that denied (lab).
    caps_stops=True,
    stops_at_deny=True,
)
