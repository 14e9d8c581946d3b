"""A guard for codex, as its documentation tells people to write it."""

from tests.guarding import CHANGED, Guard, claude_like, nested_context

# An allow stands only with another input, which is one string: the command.
GUARD = Guard(
    "PreToolUse",
    claude_like("PreToolUse", "Bash", '"session_id", "turn_id", "transcript_path", "cwd", "model"', CHANGED),
    {
        "session_start": nested_context("SessionStart", "model"),
        "before_prompt": nested_context("UserPromptSubmit", "prompt"),
        "after_tool_execute": nested_context(
            "PostToolUse", "tool_input", "tool_response", text='["tool_response"]'
        ),
    },
)
