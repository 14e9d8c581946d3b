"""A guard for deepagents-code, as its own answers have it."""

from tests.guarding import Guard, nested_context

# The nested deny, and nothing at all where the hook has no objection.
GUARD = Guard(
    "PreToolUse",
    """
has(hook_event_name="PreToolUse", tool_name="Bash")
bears("session_id", "transcript_path", "cwd")
if not is_harmless(event["tool_input"]["command"]):
    nested("PreToolUse", permissionDecision="deny", permissionDecisionReason=REASON)
""",
    {
        "session_start": nested_context("SessionStart", "session_id", "cwd"),
        "before_prompt": nested_context("UserPromptSubmit", "session_id", "prompt"),
        "after_tool_execute": nested_context(
            "PostToolUse", "tool_input", "tool_response", text='["tool_response"]["content"]'
        ),
    },
    rewrites=False,
)
