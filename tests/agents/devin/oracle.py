"""What Devin does with a hook's answer, by the parts of its documentation that agree."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, tree_of


def devin(answer: Answer, args: Args) -> Outcome:
    """Exit code 2, or a printed block or deny with exit code 0."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    tree = tree_of(answer.stdout) if answer.exit_code == 0 else {}
    if tree.get("decision") in ("block", "deny"):
        return Outcome(blocked=True, reason=str(tree.get("reason", "")))
    word = "allow" if tree.get("decision") == "approve" else ""
    return Outcome(blocked=False, input=args, decided=word)


SEATS = {
    "devin": Seat(
        "devin",
        "PreToolUse",
        "PreToolUse",
        devin,
        rewrites=False,
        contexts={"after_tool_execute": ("PostToolUse", "PostToolUse", None)},
    ),
}
