"""A guard for agent-hooks, as its documentation tells people to write it."""

from tests.guarding import Guard

# Sections 2 and 5: exit code 2 with stderr; the keys for input and context are the reference
# implementation's, the specification names none.
GUARD = Guard(
    "before_tool",
    """
has(event_type="before_tool", tool_name="Shell")
bears("timestamp", "session_id", "work_dir")
args = event["tool_input"]
if is_harmless(args["command"]):
    say({"decision": "allow", "log": "Command validated"})
if rewrites:
    say({"decision": "allow", "modified_input": {**args, "command": KEPT}})
block(REASON)
""",
    {
        canonical: (
            native,
            f'has(event_type="{native}")\nbears("work_dir")\nsay({{"additional_context": CONTEXT}})',
        )
        for canonical, native in {
            "session_start": "session_start",
            "before_prompt": "before_agent",
            "after_tool_execute": "after_tool",
        }.items()
    },
)
