"""A guard for Antigravity, as its documentation tells people to write it: nothing printed is no opinion."""

from tests.guarding import Guard

GUARD = Guard(
    "PreToolUse",
    """
bears("conversationId", "workspacePaths")
call = event["toolCall"]
if call["name"] != "run_command":
    sys.exit(f"a call of {call['name']}: {json.dumps(event)}")
if is_harmless(call["args"]["CommandLine"]):
    sys.exit(0)
if rewrites:
    say({"decision": "allow", "overwrite": {"CommandLine": KEPT}})
say({"decision": "deny", "reason": REASON})
""",
)
