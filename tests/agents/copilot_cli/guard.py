"""A guard for copilot-cli, as its documentation tells people to write it."""

from tests.guarding import WHOLE, Guard, claude_like

# The native protocol: payloads do not say their event, answers are flat.
GUARD = Guard(
    "preToolUse",
    """
has(toolName="bash")
bears("sessionId", "timestamp", "cwd")
args = event["toolArgs"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    say({"permissionDecision": "allow", "modifiedArgs": {**args, "command": KEPT}})
say({"permissionDecision": "deny", "permissionDecisionReason": REASON})
""",
    {
        "session_start": ("sessionStart", 'bears("sessionId")\nsay({"additionalContext": CONTEXT})'),
        "before_prompt": ("userPromptSubmitted", 'bears("prompt")\nsay({"additionalContext": CONTEXT})'),
        "after_tool_execute": (
            "postToolUse",
            """
has(toolName="bash")
is_text(event["toolResult"]["textResultForLlm"])
say({"additionalContext": CONTEXT})
""",
        ),
    },
)

# Its other events and protocols that its own hooks can be written for.
OTHERS = {
    "PreToolUse": claude_like("PreToolUse", "Bash", '"session_id", "timestamp", "cwd"', WHOLE),
}
