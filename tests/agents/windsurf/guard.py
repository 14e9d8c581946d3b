"""A guard for windsurf, as its documentation tells people to write it."""

from tests.guarding import Guard

GUARD = Guard(
    "pre_run_command",
    """
has(agent_action_name="pre_run_command")
bears("trajectory_id", "execution_id", "timestamp")
if not is_harmless(event["tool_info"]["command_line"]):
    block(REASON)
""",
    rewrites=False,
)
