"""A guard for kimi-cli, as its documentation tells people to write it."""

from tests.guarding import Guard

# Exit code 2 with stderr; stdout of a prompt hook is context.
GUARD = Guard(
    "PreToolUse",
    """
has(hook_event_name="PreToolUse")
bears("session_id", "cwd")
if event["tool_name"] not in ("Shell", "Bash"):
    sys.exit(f"no shell tool: {event['tool_name']}")
if not is_harmless(event["tool_input"]["command"]):
    block(REASON)
""",
    {
        "before_prompt": (
            "UserPromptSubmit",
            'has(hook_event_name="UserPromptSubmit")\nbears("prompt")\nprint(CONTEXT)',
        )
    },
    rewrites=False,
)
