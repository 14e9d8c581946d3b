"""A guard for kiro, as its documentation tells people to write it."""

from tests.guarding import Guard

# An agent file: exit code 2 with stderr, raw stdout is context on two events.
GUARD = Guard(
    "preToolUse",
    """
has(hook_event_name="preToolUse", tool_name="execute_bash")
bears("cwd")
if not is_harmless(event["tool_input"]["command"]):
    block(REASON)
""",
    {
        "session_start": ("agentSpawn", 'has(hook_event_name="agentSpawn")\nprint(CONTEXT)'),
        "before_prompt": (
            "userPromptSubmit",
            'has(hook_event_name="userPromptSubmit")\nbears("prompt")\nprint(CONTEXT)',
        ),
    },
    rewrites=False,
)

# Its other events and protocols that its own hooks can be written for.
OTHERS = {
    "PreToolUse": """
if event["hook_event_name"].lower() != "pretooluse":
    sys.exit(json.dumps(event))
if not is_harmless(event["tool_input"]["command"]):
    block(REASON)
""",
}
