"""What claude-code does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import BEGINS, Args, Outcome, Seat, nested, nested_or_text, part, same, tree_of


def claude_code(answer: Answer, args: Args) -> Outcome:
    """Any text around the JSON, or no hookEventName, and the command runs; JSON counts with every code."""
    tree = tree_of(answer.stdout)
    own = part(tree) if part(tree).get("hookEventName") == "PreToolUse" else {}
    verdict = own.get("permissionDecision")
    if answer.exit_code == 2:
        reason = own.get("permissionDecisionReason") if verdict == "deny" else ""
        return Outcome(blocked=True, reason=reason or answer.stderr.strip() or "No stderr output")
    if verdict in ("deny", "ask", "defer"):
        return Outcome(blocked=True, reason=own.get("permissionDecisionReason", "Blocked by hook"))
    if tree.get("decision") == "block":
        return Outcome(blocked=True, reason=tree.get("reason", ""))
    return Outcome(
        blocked=False,
        input=own.get("updatedInput", args),
        context=own.get("additionalContext", ""),
        decided="allow" if verdict == "allow" or tree.get("decision") == "approve" else "",
        ended=tree.get("continue") is False,
    )


SEATS = {
    "claude-code": Seat(
        "claude-code",
        "PreToolUse",
        "PreToolUse.Bash",
        claude_code,
        contexts={
            **same(BEGINS, nested_or_text),
            "after_tool_execute": ("PostToolUse", "PostToolUse.Bash", nested("PostToolUse")),
        },
    ),
}
