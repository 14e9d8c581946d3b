"""A guard for vs-code-copilot, as its documentation tells people to write it."""

from tests.guarding import WHOLE, Guard, claude_like, nested_context

GUARD = Guard(
    "PreToolUse",
    claude_like("PreToolUse", "run_in_terminal", '"timestamp", "cwd"', WHOLE),
    {
        "session_start": nested_context("SessionStart", "timestamp"),
        "before_prompt": nested_context("UserPromptSubmit", "prompt"),
        "after_tool_execute": nested_context("PostToolUse", "tool_response", text='["tool_response"]'),
    },
)
