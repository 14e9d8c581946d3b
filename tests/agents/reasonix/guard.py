"""A guard for reasonix, as its own answers have it."""

from tests.guarding import Guard

# Exit code 2 with stderr, and nothing at all where the hook has no objection.
GUARD = Guard(
    "PreToolUse",
    """
has(event="PreToolUse", toolName="bash")
bears("sessionId", "cwd")
if not is_harmless(event["toolArgs"]["command"]):
    block(REASON)
""",
    {
        "session_start": (
            "SessionStart",
            'has(event="SessionStart")\nprint(CONTEXT)',
        )
    },
    rewrites=False,
)
