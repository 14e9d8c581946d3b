"""A guard for letta-code, as its documentation has it."""

from tests.guarding import Guard

# Exit code 2 with stderr, and nothing at all where the hook has no objection.
GUARD = Guard(
    "PreToolUse",
    """
has(event_type="PreToolUse", tool_name="Bash")
bears("agent_id", "working_directory")
if not is_harmless(event["tool_input"]["command"]):
    block(REASON)
""",
    {
        "session_start": ("SessionStart", 'has(event_type="SessionStart")\nprint(CONTEXT)'),
        "before_prompt": ("UserPromptSubmit", 'has(event_type="UserPromptSubmit")\nprint(CONTEXT)'),
        "after_tool_execute": (
            "PostToolUse",
            """
has(event_type="PostToolUse")
is_text(event["tool_result"]["output"])
say({"additionalContext": CONTEXT})
""",
        ),
    },
    rewrites=False,
)
