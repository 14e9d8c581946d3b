"""A guard for kilo, as its documentation tells people to write it."""

from tests.guarding import Guard

# What the generated plugin runs: a callback's arguments in, the interchange format's answer out.
GUARD = Guard(
    "tool.execute.before",
    """
has(hook="tool.execute.before")
bears("directory")
if event["input"]["tool"] != "bash":
    sys.exit(f"no shell tool: {event['input']}")
args = event["output"]["args"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    say({"updated_input": {**args, "command": KEPT}})
say({"decision": "deny", "reason": REASON})
""",
    {
        "session_start": (
            "event.session.created",
            'event["input"]["event"]["properties"]\nsay({"context": CONTEXT})',
        ),
        "before_prompt": ("chat.message", 'event["output"]["parts"]\nsay({"context": CONTEXT})'),
        "after_tool_execute": (
            "tool.execute.after",
            """
is_text(event["input"]["args"]["command"])
is_text(event["output"]["output"])
say({"context": CONTEXT})
""",
        ),
    },
)
