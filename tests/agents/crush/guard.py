"""A guard for Crush, as its documentation tells people to write it."""

from tests.guarding import Guard

GUARD = Guard(
    "PreToolUse",
    """
has(event="PreToolUse", tool_name="bash")
bears("session_id", "cwd")
if is_harmless(event["tool_input"]["command"]):
    sys.exit(0)
if rewrites:
    say({"decision": "allow", "updated_input": {"command": KEPT}})
say({"decision": "deny", "reason": REASON})
""",
)
