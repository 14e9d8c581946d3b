"""A guard for goose, as the open-plugin format and its own answers have it."""

from tests.guarding import Guard

# `block` with a reason, and nothing at all where the hook has no objection.
GUARD = Guard(
    "PreToolUse",
    """
has(event="PreToolUse", tool_name="shell", matcher_context="shell")
bears("session_id", "tool_call_id", "working_dir")
if not is_harmless(event["tool_input"]["command"]):
    say({"decision": "block", "reason": REASON})
""",
    rewrites=False,
)
