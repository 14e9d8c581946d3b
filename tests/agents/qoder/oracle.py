"""What Qoder CLI does with a hook's answer, by its program."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import BEGINS, Args, Outcome, Seat, nested, nested_or_text, part, same, tree_of


def qoder(answer: Answer, args: Args) -> Outcome:
    """Exit code 2, or with exit code 0 what is printed; nested output without the event's name denies."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    tree = tree_of(answer.stdout) if answer.exit_code == 0 else {}
    own = part(tree)
    if own and "hookEventName" not in own:
        return Outcome(blocked=True)
    decided = own.get("permissionDecision") or tree.get("decision") or ""
    if decided in ("deny", "block"):
        return Outcome(blocked=True, reason=own.get("permissionDecisionReason") or tree.get("reason", ""))
    if tree.get("continue") is False:
        return Outcome(blocked=True, reason=tree.get("stopReason", ""), ended=True)
    if decided == "ask":
        return Outcome(blocked=False, input=args, decided="ask")
    context = own.get("additionalContext", "")
    word = "allow" if decided in ("allow", "approve") else ""
    return Outcome(blocked=False, input=own.get("updatedInput", args), context=context, decided=word)


SEATS = {
    "qoder": Seat(
        "qoder",
        "PreToolUse",
        "PreToolUse",
        qoder,
        contexts={
            **same(BEGINS, nested_or_text),
            "after_tool_execute": ("PostToolUse", "PostToolUse", nested("PostToolUse")),
        },
    ),
}
