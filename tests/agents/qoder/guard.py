"""A guard for Qoder CLI, as its documentation tells people to write it."""

from tests.guarding import WHOLE, Guard, claude_like, nested_context

GUARD = Guard(
    "PreToolUse",
    claude_like("PreToolUse", "Bash", '"session_id", "cwd"', WHOLE),
    {
        "session_start": nested_context("SessionStart", "session_id"),
        "before_prompt": nested_context("UserPromptSubmit", "prompt"),
        "after_tool_execute": nested_context("PostToolUse", "tool_response"),
    },
)
