"""What Junie CLI does with a hook's answer, by its documentation."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, flat, tree_of


def junie(answer: Answer, args: Args) -> Outcome:
    """Exit code 2, or the flat decision that is printed with exit code 0."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    tree = tree_of(answer.stdout) if answer.exit_code == 0 else {}
    if tree.get("decision") in ("block", "deny"):
        return Outcome(blocked=True, reason=str(tree.get("reason", "")))
    return Outcome(
        blocked=False,
        input=tree.get("updatedInput", args),
        context=tree.get("additionalContext", ""),
        decided=tree.get("decision", ""),
    )


SEATS = {
    "junie": Seat(
        "junie",
        "PreToolUse",
        "PreToolUse",
        junie,
        contexts={
            "session_start": ("SessionStart", "SessionStart", flat("additionalContext")),
            "before_prompt": ("UserPromptSubmit", "UserPromptSubmit", flat("additionalContext")),
        },
    ),
}
