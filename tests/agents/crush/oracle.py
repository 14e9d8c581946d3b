"""What Crush does with a hook's answer, as strictly as its source does."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, part, tree_of


def crush(answer: Answer, args: Args) -> Outcome:
    """Exit codes 2 and 49, or an object with exit code 0, of which the nested form hides the other."""
    if answer.exit_code in (2, 49):
        return Outcome(blocked=True, reason=answer.stderr.strip(), ended=answer.exit_code == 49)
    tree = tree_of(answer.stdout) if answer.exit_code == 0 else {}
    own = part(tree)
    nested = "hookSpecificOutput" in tree
    decision = own.get("permissionDecision") if nested else tree.get("decision")
    reason = own.get("permissionDecisionReason") if nested else tree.get("reason")
    ended = not nested and tree.get("halt") is True
    if decision == "deny" or ended:
        return Outcome(blocked=True, reason=str(reason or ""), ended=ended)
    changed = own.get("updatedInput") if nested else tree.get("updated_input")
    return Outcome(
        blocked=False,
        input={**args, **changed} if isinstance(changed, dict) else args,
        context=str(own.get("additionalContext", "") if nested else tree.get("context", "")),
        decided="allow" if decision == "allow" else "",
    )


SEATS = {"crush": Seat("crush", "PreToolUse", "PreToolUse", crush)}
