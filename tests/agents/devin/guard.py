"""A guard for Devin, as its documentation tells people to write it."""

from tests.guarding import Guard

GUARD = Guard(
    "PreToolUse",
    """
has(tool_name="exec")
if not is_harmless(event["tool_input"]["command"]):
    block(REASON)
""",
    rewrites=False,
)
