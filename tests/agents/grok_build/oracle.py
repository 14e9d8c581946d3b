"""What Grok Build does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, nested, part, tree_of

DENIES = ("deny", "block")


def grok(answer: Answer, args: Args) -> Outcome:
    """The first of two places with a word, with any exit code; exit code 2; a rewrite as the whole input."""
    tree = tree_of(answer.stdout)
    own = part(tree)
    word = own.get("permissionDecision", tree.get("decision"))
    if word in DENIES:
        reason = own.get("permissionDecisionReason") or tree.get("reason", "")
        return Outcome(blocked=True, reason=str(reason))
    if answer.exit_code == 2:
        first = answer.stderr.strip().partition("\n")[0]
        return Outcome(blocked=True, reason=first or "denied by hook (exit code 2)")
    changed = own.get("updatedInput") if not answer.exit_code else None
    if not isinstance(changed, dict):
        return Outcome(blocked=False, input=args)
    if not {"command", "description"} <= changed.keys():
        return Outcome(blocked=True, reason="failed the tool's schema: missing field")
    return Outcome(blocked=False, input=changed)


SEATS = {
    "grok-build": Seat(
        "grok-build",
        "PreToolUse",
        "PreToolUse.run_terminal_command",
        grok,
        contexts={
            "session_start": ("SessionStart", "SessionStart", None),
            "before_prompt": ("UserPromptSubmit", "UserPromptSubmit", None),
            "after_tool_execute": (
                "PostToolUse",
                "PostToolUse.run_terminal_command",
                nested("PostToolUse"),
            ),
        },
    ),
}
