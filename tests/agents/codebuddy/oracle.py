"""What CodeBuddy Code does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import BEGINS, Args, Outcome, Seat, nested, nested_or_text, part, same, tree_of


def codebuddy(answer: Answer, args: Args) -> Outcome:
    """As with bypassed permissions: a printed allow beats exit code 2, and `ask` runs the call."""
    tree = tree_of(answer.stdout)
    decided = part(tree).get("permissionDecision", "")
    reason = part(tree).get("permissionDecisionReason") or tree.get("stopReason") or tree.get("reason") or ""
    is_refused = answer.exit_code == 2 or (
        answer.exit_code == 0 and (tree.get("decision") == "block" or tree.get("continue") is False)
    )
    if decided == "deny" or (is_refused and decided != "allow"):
        return Outcome(blocked=True, reason=reason or answer.stderr.strip())
    return Outcome(
        blocked=False,
        input={**args, **part(tree).get("updatedInput", {})},
        decided="allow" if decided == "allow" else "",
    )


SEATS = {
    "codebuddy": Seat(
        "codebuddy",
        "PreToolUse",
        "PreToolUse.Bash",
        codebuddy,
        contexts={
            **same(BEGINS, nested_or_text),
            "after_tool_execute": ("PostToolUse", "PostToolUse.Write", nested("PostToolUse")),
        },
    ),
}
