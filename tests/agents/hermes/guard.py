"""A guard for Hermes, as its documentation tells people to write it."""

from tests.guarding import Guard

# One JSON object on stdout, or nothing; the exit code has no effect.
GUARD = Guard(
    "pre_tool_call",
    """
has(hook_event_name="pre_tool_call", tool_name="terminal")
bears("session_id", "cwd", "extra")
if not is_harmless(event["tool_input"]["command"]):
    say({"decision": "block", "reason": REASON})
""",
    {
        "before_prompt": (
            "pre_llm_call",
            """
has(hook_event_name="pre_llm_call", tool_name=None, tool_input=None)
is_text(event["extra"]["user_message"])
say({"context": CONTEXT})
""",
        )
    },
    rewrites=False,
)
