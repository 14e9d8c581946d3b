"""What kimi-cli does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat, part, raw, tree_of


def kimi(answer: Answer, args: Args) -> Outcome:
    """Exit code 2, or the nested deny with exit code 0; kimi-cli and Kimi Code alike."""
    if answer.exit_code == 2:
        return Outcome(blocked=True, reason=answer.stderr.strip() or "Blocked by PreToolUse hook")
    own = part(tree_of(answer.stdout)) if answer.exit_code == 0 else {}
    if own.get("permissionDecision") == "deny":
        return Outcome(blocked=True, reason=own.get("permissionDecisionReason", ""))
    return Outcome(blocked=False, input=args)


def kimi_code(answer: Answer) -> str:
    """`message` of an object, else all of stdout as it is."""
    return str(tree_of(answer.stdout).get("message", raw(answer)))


SEATS = {
    "kimi-cli": Seat(
        "kimi-cli",
        "PreToolUse",
        "PreToolUse.Shell",
        kimi,
        rewrites=False,
        contexts={
            "session_start": ("SessionStart", "SessionStart", None),
            "before_prompt": ("UserPromptSubmit", "UserPromptSubmit", None),
            "after_tool_execute": ("PostToolUse", "PostToolUse.Shell", None),
        },
    ),
    "kimi-code": Seat(
        "kimi-cli",
        "PreToolUse",
        "kimi-code/PreToolUse.Bash",
        kimi,
        rewrites=False,
        contexts={
            "session_start": ("SessionStart", "kimi-code/SessionStart", None),
            "before_prompt": ("UserPromptSubmit", "kimi-code/UserPromptSubmit", kimi_code),
            "after_tool_execute": ("PostToolUse", "kimi-code/PostToolUse.Bash", None),
        },
    ),
}
