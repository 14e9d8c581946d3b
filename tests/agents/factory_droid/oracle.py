"""What factory-droid does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import BEGINS, Args, Outcome, Seat, nested, nested_or_text, part, same, tree_of


def droid(answer: Answer, args: Args) -> Outcome:
    """As where another hook's allow is listed first: that undoes a printed deny, and not exit code 2."""
    own = part(tree_of(answer.stdout))
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=own.get("permissionDecisionReason", answer.stderr.strip()))
    if answer.exit_code == 3:
        return Outcome(blocked=True, ended=True)
    if tree_of(answer.stdout).get("continue") is False:
        return Outcome(blocked=True, ended=True)
    return Outcome(
        blocked=False,
        input={**args, **own.get("updatedInput", {})},
        decided="allow" if own.get("permissionDecision") == "allow" else "",
    )


SEATS = {
    "factory-droid": Seat(
        "factory-droid",
        "PreToolUse",
        "PreToolUse.Execute",
        droid,
        contexts={
            **same(BEGINS, nested_or_text),
            "after_tool_execute": ("PostToolUse", "PostToolUse.Execute", nested("PostToolUse")),
        },
    ),
}
