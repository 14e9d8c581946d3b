"""A guard for my-agent."""

from tests.guarding import Guard

GUARD = Guard(
    "tool.before",
    """
has(what="tool.before", tool="run")
bears("talk", "dir")
if is_harmless(event["with"]["line"]):
    sys.exit(0)
say({"verdict": "no", "because": REASON})
""",
    rewrites=False,
)
