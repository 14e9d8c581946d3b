"""What vs-code-copilot does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import BEGINS, Args, Outcome, Seat, nested, part, same, tree_of


def vs_code(answer: Answer, args: Args) -> Outcome:
    """JSON with exit code 0 only; any stopReason ends the request; a foreign hookEventName is dropped."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    tree = tree_of(answer.stdout) if answer.exit_code == 0 else {}
    if tree.get("continue") is False or isinstance(tree.get("stopReason"), str):
        return Outcome(blocked=True, reason=tree.get("stopReason", ""), ended=True)
    if tree.get("hookEventName", "PreToolUse") != "PreToolUse":
        tree = {}
    own = part(tree) if part(tree).get("hookEventName", "PreToolUse") == "PreToolUse" else {}
    verdict = own.get("permissionDecision")
    if verdict == "deny":
        return Outcome(blocked=True, reason=own.get("permissionDecisionReason", ""))
    return Outcome(
        blocked=False,
        input=own.get("updatedInput", args),
        context=own.get("additionalContext", ""),
        decided=verdict or "",
    )


SEATS = {
    "vs-code-copilot": Seat(
        "vs-code-copilot",
        "PreToolUse",
        "PreToolUse",
        vs_code,
        contexts=same({**BEGINS, "after_tool_execute": "PostToolUse"}, nested),
    ),
}
