"""What deepagents-code does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

import json

from hookport.model.runs import Answer
from tests.judging import BEGINS, Args, Outcome, Seat, nested, nested_or_text, part, same


def deepagents(answer: Answer, args: Args) -> Outcome:
    """Exit code 2 with stderr, else one JSON object with exit code 0; a `decision` but `block` voids it."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip() or "Hook blocked the operation")
    try:
        tree = json.loads(answer.stdout) if not answer.exit_code else {}
    except ValueError:
        tree = {}
    own = part(tree) if isinstance(tree, dict) else {}
    if not isinstance(tree, dict) or tree.get("decision") not in (None, "block"):
        return Outcome(blocked=False, input=args)
    if own and own.get("hookEventName") != "PreToolUse":
        return Outcome(blocked=False, input=args)
    context = str(own.get("additionalContext", ""))
    if tree.get("continue") is False:
        return Outcome(blocked=True, reason=str(tree.get("stopReason", "")), context=context)
    if tree.get("decision") == "block":
        return Outcome(blocked=True, reason=str(tree.get("reason", "")), context=context)
    word = own.get("permissionDecision", "")
    if word == "deny":
        return Outcome(blocked=True, reason=str(own.get("permissionDecisionReason", "")), context=context)
    decided = word if word in ("allow", "ask") and "updatedInput" not in own else ""
    return Outcome(blocked=False, input=args, context=context, decided=decided)


SEATS = {
    "deepagents-code": Seat(
        "deepagents-code",
        "PreToolUse",
        "PreToolUse.Bash",
        deepagents,
        rewrites=False,
        contexts={
            **same(BEGINS, nested_or_text),
            "after_tool_execute": ("PostToolUse", "PostToolUse.Bash", nested("PostToolUse")),
        },
    ),
}
