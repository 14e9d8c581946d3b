"""A guard for universal, as its documentation tells people to write it."""

from tests.guarding import Guard

# Its fixtures show the keys, its blocking schema the answer; the tools' names are Claude Code's.
GUARD = Guard(
    "pre-tool-use",
    """
has(hookEventName="pre-tool-use", toolName="Bash")
args = event["toolInput"]
if is_harmless(args["command"]):
    sys.exit(0)
if rewrites:
    nested("pre-tool-use", permissionDecision="allow", updatedInput={**args, "command": KEPT})
nested("pre-tool-use", permissionDecision="deny", permissionDecisionReason=REASON)
""",
    {
        "session_start": (
            "session-start",
            'has(hookEventName="session-start")\nnested("session-start", additionalContext=CONTEXT)',
        )
    },
)
