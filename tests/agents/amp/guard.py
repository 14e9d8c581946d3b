"""A guard for Amp, as its documentation tells people to write one."""

from tests.guarding import Guard

# What the generated plugin runs: an event's own object in, the interchange format's answer out.
GUARD = Guard(
    "tool.call",
    """
has(hook="tool.call", tool="Bash")
bears("cwd", "toolUseID", "thread")
args = event["input"]
if is_harmless(args["cmd"]):
    sys.exit(0)
if rewrites:
    say({"updated_input": {**args, "cmd": KEPT}})
say({"decision": "deny", "reason": REASON})
""",
    {
        "session_start": ("session.start", 'has(hook="session.start")\nsay({"context": CONTEXT})'),
        "before_prompt": ("agent.start", 'is_text(event["prompt"])\nsay({"context": CONTEXT})'),
        "after_tool_execute": ("tool.result", 'is_text(event["output"])\nsay({"context": CONTEXT})'),
    },
)
