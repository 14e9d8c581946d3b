"""A guard for gemini-cli, as its documentation tells people to write it."""

from tests.guarding import Guard, nested_context

# A top-level decision; tool_input is merged over the model's arguments.
GUARD = Guard(
    "BeforeTool",
    """
has(hook_event_name="BeforeTool", tool_name="run_shell_command")
bears("session_id", "transcript_path", "cwd", "timestamp")
if is_harmless(event["tool_input"]["command"]):
    sys.exit(0)
if rewrites:
    nested("BeforeTool", tool_input={"command": KEPT})
say({"decision": "deny", "reason": REASON})
""",
    {
        "session_start": nested_context("SessionStart", "timestamp"),
        "before_prompt": nested_context("BeforeAgent", "prompt"),
        "after_tool_execute": nested_context(
            "AfterTool", "tool_input", "tool_response", text='["tool_response"]["llmContent"]'
        ),
    },
)
