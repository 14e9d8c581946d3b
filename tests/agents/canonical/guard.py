"""A guard for canonical, as its documentation tells people to write it."""

from tests.guarding import Guard

# Specification 1.0: exit codes, decision and reason, updated_input, context.
GUARD = Guard(
    "before_tool_execute",
    """
has(event="before_tool_execute", tool_name="shell")
args = event["tool_input"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    say({"updated_input": {**args, "command": KEPT}})
say({"decision": "deny", "reason": REASON})
""",
    {
        event: (event, f'has(event="{event}")\nsay({{"context": CONTEXT}})')
        for event in ("session_start", "before_prompt", "after_tool_execute")
    },
)
