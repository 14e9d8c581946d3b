"""A guard for cursor, as its documentation tells people to write it."""

from tests.guarding import Guard

# Flat snake_case; "always print permission: allow".
GUARD = Guard(
    "preToolUse",
    """
has(hook_event_name="preToolUse", tool_name="Shell")
bears("conversation_id", "generation_id", "workspace_roots", "cursor_version")
args = event["tool_input"]
if is_harmless(args["command"]):
    say({"permission": "allow"})
if rewrites:
    say({"permission": "allow", "updated_input": {**args, "command": KEPT}})
say({"permission": "deny", "user_message": REASON, "agent_message": REASON})
""",
    {
        "session_start": (
            "sessionStart",
            'has(hook_event_name="sessionStart")\nsay({"additional_context": CONTEXT})',
        ),
        "after_tool_execute": (
            "postToolUse",
            """
has(hook_event_name="postToolUse", tool_name="Shell")
is_text(json.loads(event["tool_output"])["output"])
say({"additional_context": CONTEXT})
""",
        ),
    },
)

# Its other events and protocols that its own hooks can be written for.
OTHERS = {
    "beforeShellExecution": """
has(hook_event_name="beforeShellExecution")
bears("conversation_id", "cwd")
if is_harmless(event["command"]):
    say({"permission": "allow"})
say({"permission": "deny", "user_message": REASON, "agent_message": REASON})
""",
}
