"""A guard for OpenHands, as its documentation tells people to write it."""

from tests.guarding import Guard

# Exit code 2 with the reason on stderr, or a flat deny; nothing where the hook has no objection.
GUARD = Guard(
    "pre_tool_use",
    """
has(event_type="PreToolUse", tool_name="terminal", message=None, tool_response=None)
bears("session_id", "working_dir", "metadata")
if not is_harmless(event["tool_input"]["command"]):
    say({"decision": "deny", "reason": REASON})
""",
    {
        "before_prompt": (
            "user_prompt_submit",
            """
has(event_type="UserPromptSubmit", tool_name=None)
is_text(event["message"])
say({"additionalContext": CONTEXT})
""",
        )
    },
    rewrites=False,
)
