"""A guard for qwen-code, as its documentation tells people to write it."""

from tests.guarding import WHOLE, Guard, claude_like, nested_context

GUARD = Guard(
    "PreToolUse",
    claude_like("PreToolUse", "run_shell_command", '"session_id", "cwd", "timestamp"', WHOLE),
    {
        "session_start": nested_context("SessionStart", "session_id"),
        "before_prompt": ("UserPromptSubmit", 'bears("prompt")\nprint(CONTEXT)'),
        "after_tool_execute": nested_context(
            "PostToolUse", "tool_response", text='["tool_response"]["llmContent"]'
        ),
    },
)
