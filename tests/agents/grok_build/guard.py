"""A guard for Grok Build, as its guide tells people to write it."""

from tests.guarding import Guard

# camelCase keys, `decision` with a reason, and the whole input as another one.
GUARD = Guard(
    "PreToolUse",
    """
has(hookEventName="pre_tool_use", toolName="run_terminal_command", hook_event_name="PreToolUse")
bears("sessionId", "cwd", "workspaceRoot", "toolInputTruncated")
args = event["toolInput"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    nested("PreToolUse", updatedInput={**args, "command": KEPT})
say({"decision": "deny", "reason": REASON})
""",
    {
        "after_tool_execute": (
            "PostToolUse",
            """
has(hookEventName="post_tool_use", hook_event_name="PostToolUse")
is_text(event["toolResult"]["output_for_prompt"])
nested("PostToolUse", additionalContext=CONTEXT)
""",
        )
    },
)
