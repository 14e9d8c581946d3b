"""A guard for Junie CLI, as its documentation tells people to write it."""

from tests.guarding import Guard

GUARD = Guard(
    "PreToolUse",
    """
has(hook_event_name="PreToolUse", tool_name="Bash")
args = event["tool_input"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    say({"updatedInput": {**args, "command": KEPT}})
say({"decision": "deny", "reason": REASON})
""",
    {
        "session_start": ("SessionStart", 'bears("cwd")\nsay({"additionalContext": CONTEXT})'),
        "before_prompt": ("UserPromptSubmit", 'bears("prompt")\nsay({"additionalContext": CONTEXT})'),
    },
)
