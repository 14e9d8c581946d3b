"""A guard for augment, as its documentation tells people to write it."""

from tests.guarding import CHANGED, Guard, claude_like, nested_context

# updatedInput has the "modified tool input parameters"; context is documented as it is for Claude Code.
GUARD = Guard(
    "PreToolUse",
    claude_like(
        "PreToolUse", "launch-process", '"conversation_id", "workspace_roots", "is_mcp_tool"', CHANGED
    ),
    {
        "session_start": nested_context("SessionStart", "conversation_id", "workspace_roots"),
        "after_tool_execute": nested_context("PostToolUse", "tool_output", text='["tool_output"]'),
    },
)
