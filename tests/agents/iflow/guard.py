"""A guard for iFlow CLI, as its documentation tells people to write it."""

from tests.guarding import Guard

GUARD = Guard(
    "PreToolUse",
    """
has(tool_name="run_shell_command")
if not is_harmless(event["tool_input"]["command"]):
    block(REASON)
""",
    rewrites=False,
)
