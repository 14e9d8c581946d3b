"""What qwen-code does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import BEGINS, Args, Outcome, Seat, nested, nested_or_text, part, same, tree_of


def qwen(answer: Answer, args: Args) -> Outcome:
    """As where another hook's allow is listed last: that undoes every deny but `continue: false`."""
    text = answer.stderr.strip()
    if answer.exit_code != 2:
        text = answer.stdout.strip() or text
    tree = tree_of(text)
    if tree.get("continue") is False:
        reason = part(tree).get("permissionDecisionReason") or tree.get("stopReason") or tree.get("reason")
        return Outcome(blocked=True, reason=reason or "")
    decided = part(tree).get("permissionDecision") or tree.get("decision") or ""
    return Outcome(blocked=False, input=args, decided=decided)


SEATS = {
    "qwen-code": Seat(
        "qwen-code",
        "PreToolUse",
        "PreToolUse.run_shell_command",
        qwen,
        rewrites=False,
        contexts={
            **same(BEGINS, nested_or_text),
            "after_tool_execute": ("PostToolUse", "PostToolUse.run_shell_command", nested("PostToolUse")),
        },
    ),
}
