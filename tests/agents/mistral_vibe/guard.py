"""A guard for mistral-vibe, as its documentation tells people to write it."""

from tests.guarding import Guard

# `strict`: what is printed must be a JSON object, and every exit code but 0 is a failure.
GUARD = Guard(
    "pre_tool",
    """
has(hook_event_name="pre_tool", tool_name="file_system.bash", parent_session_id=None)
bears("session_id", "transcript_path", "cwd", "tool_call_id")
args = event["tool_input"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    say({"hook_specific_output": {"tool_input": {**args, "command": KEPT}}})
say({"decision": "deny", "reason": REASON})
""",
    {
        "after_tool_execute": (
            "post_tool",
            """
has(hook_event_name="post_tool", tool_status="success", tool_error=None)
is_text(event["tool_output"]["stdout"])
is_text(event["tool_output_text"])
say({"hook_specific_output": {"additional_context": CONTEXT}})
""",
        )
    },
)
