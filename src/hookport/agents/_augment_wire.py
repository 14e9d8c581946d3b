"""The wire of Augment: Claude's answers, of which it obeys few, and payloads without a folder or call ids.

What is not marked otherwise was captured or measured on Auggie 0.36.0 with `--print`.
"""

from __future__ import annotations

from hookport.agents import _claude_wire as claude
from hookport.agents._base import Tree
from hookport.agents._claude_wire import CONTEXT, EXIT, MESSAGE, SUPPRESS, nested
from hookport.wire.table import Wire

KEYS: dict[str, Tree] = {
    "event": "hook_event_name",
    "session": "conversation_id",
    "cwd": "workspace_roots:list",
    "root": "workspace_roots:list",
    "tool": "tool_name",
    "input": "tool_input",
    # Both are documented; the second is sent where an entry asks for it.
    "server": ("mcp_server_name", "mcp_metadata.mcpExecutedToolServerName"),
    "is_mcp": "is_mcp_tool",
    # Sent where an entry asks for it (doc).
    "model": "context.modelName",
}
KEYS_OF: dict[str, dict[str, Tree]] = {
    # Before the call the result is there too, as the text `[undefined]` (AU10).
    "PostToolUse": {"result": "tool_output", "error": "tool_error"},
    "PromptSubmit": {"prompt": "user_prompt"},
    "Stop": {
        "source": "agent_stop_cause",
        "prompt": ("conversation.userPrompt", "_exchange.exchange.request_message"),
        "turn": "_exchange.exchange.request_id",
        # The first is documented and sent where an entry asks for it, the second was captured.
        "final_message": ("conversation.agentTextResponse", "_exchange.exchange.response_text"),
    },
    "Notification": {"source": "notification_type", "message": "notification_message"},
}
WORDS: dict[str, dict[str, Tree]] = {"agent_stop": {"max_steps": "max_iterations"}}

INPUTS: dict[str, Tree] = {
    "write-process": {"command": "input_text"},
    "file_write": {"content": "file_content"},
    "file_edit": {"old": "old_str_1", "new": "new_str_1", "edits": "edits"},
    "edits": {"old": "old_str", "new": "new_str"},
    "codebase-retrieval": {"pattern": "information_request"},
    "grep-search": {"pattern": "query"},
}

SAYS = {"message": MESSAGE, "suppress": SUPPRESS}
# JSON is read with exit code 0 only, and what is printed around it undoes it; the exit code holds.
DENY = {**EXIT, "alone": True}

ANSWERS: dict[str, Tree] = {
    # No ask, which lets the tool run (AU1); no allow, which is documented for later; no context, which is not
    # passed on; no halt, which does not end the agent (AU6). Whether a rewrite is merged was not measured, so
    # it is whole.
    "PreToolUse": {**SAYS, "deny": DENY, "rewrite": nested(updatedInput="$input")},
    # A block is not seen here, stderr is added to the result.
    "PostToolUse": {**SAYS, "deny": DENY, "context": CONTEXT},
    # Documented, and not seen by the model (AU4).
    "SessionStart": {**SAYS, "context": CONTEXT},
    # Documented for the interactive Auggie (AU3).
    "Stop": {**SAYS, "deny": nested(decision="block", reason="$reason")},
    "PromptSubmit": {},
    "*": SAYS,
}

DENIES = {"deny": "deny", "block": "deny", "ask": "ask", "allow": None, "approve": None}
# Forms that are no answer to Augment are read for the deny that was meant.
READ: dict[str, Tree] = {
    **claude.READ,
    "verdicts": [
        ("hookSpecificOutput.permissionDecision", DENIES),
        ("hookSpecificOutput.decision", DENIES),
        ("decision", DENIES),
        ("permissionDecision", DENIES),
    ],
    "reason": [*claude.READ["reason"], "hookSpecificOutput.reason"],
    "result": [],
    "text": "message",
}
# `continue: false` is a deny of this call (AU6).
HALTS = ("continue", {"False": "deny", "True": None})

# What Auggie itself obeys (lab): JSON with exit code 0 only (b6), alone on stdout (b7), with `hookEventName`
# (b5), a deny and no other word (b2, b9, k), `continue: false` (b3), exit code 2. Nothing but text and
# stderr counts after a tool (l), and nothing at all elsewhere with `--print` (g3, g4, h).
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [HALTS, ("hookSpecificOutput.permissionDecision", {"deny": "deny", "allow": "none"})],
    "reason": ["hookSpecificOutput.permissionDecisionReason", "stopReason"],
    "halt": [],
    "named": "all",
    "json": "zero",
}
OBEY_NOTHING = {**OBEY, "verdicts": [], "exits": {}}

WIRE: Wire = Wire(
    obeys={"PreToolUse": OBEY, "PostToolUse": {**OBEY, "verdicts": []}, "*": OBEY_NOTHING},
    keys=KEYS,
    keys_of=KEYS_OF,
    words=WORDS,
    inputs=INPUTS,
    numbered=("str-replace-editor",),
    fixed={"conversation_id": "$session", "workspace_roots": ["$root"]},
    fixed_of={
        "PreToolUse": {"is_mcp_tool": "$is_mcp"},
        "PostToolUse": {"is_mcp_tool": "$is_mcp"},
        "Stop": {"agent_stop_cause": "end_turn"},
    },
    env={
        "AUGMENT_PROJECT_DIR": "$root",
        "AUGMENT_CONVERSATION_ID": "$session",
        "AUGMENT_HOOK_EVENT": "$event",
        "AUGMENT_TOOL_NAME": "$tool",
        "AUGMENT_PLUGIN_ROOT": "$package",
        # (doc) Other names for the same.
        "AUGGIE_PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_ROOT": "$package",
    },
    marks=("is_mcp_tool", "agent_stop_cause", "user_prompt", "conversation_id", "workspace_roots"),
    answers=ANSWERS,
    # The documentation's example gives the changed field only.
    merges=("*",),
    reads={
        "PreToolUse": {**READ, "verdicts": [HALTS, *READ["verdicts"]], "halt": []},
        "SessionStart": {**READ, "text": "context"},
        "*": READ,
    },
    lifts=False,
)
