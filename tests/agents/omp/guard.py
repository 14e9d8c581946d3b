"""A guard for oh-my-pi, as its documentation tells people to write it."""

from tests.guarding import Guard

# What the generated extension runs: an event's own object in, the interchange format's answer out.
GUARD = Guard(
    "tool_call",
    """
has(hook="tool_call", type="tool_call", toolName="bash")
bears("cwd", "toolCallId")
args = event["input"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    say({"updated_input": {**args, "command": KEPT}})
say({"decision": "deny", "reason": REASON})
""",
    {
        "session_start": ("session_start", 'has(type="session_start")\nsay({"context": CONTEXT})'),
        "before_prompt": ("input", 'is_text(event["text"])\nsay({"context": CONTEXT})'),
        "after_tool_execute": (
            "tool_result",
            """
has(type="tool_result", isError=False)
is_text(event["input"]["command"])
is_text(event["content"][0]["text"])
say({"context": CONTEXT})
""",
        ),
    },
)
