"""A guard for cline, as its documentation tells people to write it."""

from tests.guarding import Guard

# All that it can say to a call is to end the run; input is replaced as a whole.
GUARD = Guard(
    "PreToolUse",
    """
bears("taskId", "workspaceRoots", "clineVersion")
shown = event["preToolUse"]
# The extension names the event as its file, and has no tool_call.
spelled = {"name": shown["toolName"], "input": {"commands": json.loads(shown["parameters"]["commands"])}}
call = event["tool_call"] if event["hookName"] == "tool_call" else spelled
if event["hookName"] not in ("tool_call", "PreToolUse") or call["name"] != "run_commands":
    sys.exit(f"no shell tool: {json.dumps(event)}")
if call["input"] != spelled["input"] or call["name"] != spelled["name"]:
    sys.exit(f"the two spellings differ: {json.dumps(event)}")
commands = call["input"]["commands"]
if all(map(is_harmless, commands)):
    say({"cancel": False})
if rewrites:
    kept = [one if is_harmless(one) else KEPT for one in commands]
    say({"cancel": False, "overrideInput": {**call["input"], "commands": kept}})
say({"cancel": True, "errorMessage": REASON})
""",
    {
        "after_tool_execute": (
            "PostToolUse",
            """
event["postToolUse"]["result"]
event["postToolUse"]["parameters"]["commands"]
say({"cancel": False, "contextModification": CONTEXT})
""",
        )
    },
)
