"""A guard for factory-droid, as its documentation tells people to write it."""

from tests.guarding import CHANGED, Guard, claude_like, nested_context

# updatedInput has "fields to change or add".
GUARD = Guard(
    "PreToolUse",
    claude_like(
        "PreToolUse", "Execute", '"session_id", "transcript_path", "cwd", "permission_mode"', CHANGED
    ),
    {
        "session_start": nested_context("SessionStart", "session_id"),
        "before_prompt": nested_context("UserPromptSubmit", "prompt"),
        "after_tool_execute": nested_context("PostToolUse", "tool_response", text='["tool_response"]'),
    },
)
