"""What TRAE does with a hook's answer, by its documentation."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, nested, nested_or_text, part, tree_of


def trae(answer: Answer, args: Args) -> Outcome:
    """Exit code 2, or the nested decision that is printed with exit code 0."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    own = part(tree_of(answer.stdout)) if answer.exit_code == 0 else {}
    if own.get("permissionDecision") == "deny":
        return Outcome(blocked=True, reason=own.get("permissionDecisionReason", ""))
    return Outcome(
        blocked=False,
        input=own.get("updatedInput", args),
        context=own.get("additionalContext", ""),
        decided=own.get("permissionDecision", ""),
    )


SEATS = {
    "trae": Seat(
        "trae",
        "PreToolUse",
        "PreToolUse",
        trae,
        contexts={
            "session_start": ("SessionStart", "SessionStart", nested_or_text("SessionStart")),
            "before_prompt": ("UserPromptSubmit", "UserPromptSubmit", nested("UserPromptSubmit")),
            "after_tool_execute": ("PostToolUse", "PostToolUse", nested("PostToolUse")),
        },
    ),
}
