"""A guard for open-plugin, as its documentation tells people to write it."""

from tests.guarding import Guard

# "Exit 0 on success, write errors to stderr": a block is Claude Code's exit code 2.
GUARD = Guard(
    "PreToolUse",
    """
has(hook_event_name="PreToolUse", tool_name="Bash")
if not is_harmless(event["tool_input"]["command"]):
    block(REASON)
""",
    rewrites=False,
)
