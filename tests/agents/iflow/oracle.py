"""What iFlow CLI does with a hook's answer, by its documentation."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import Args, Outcome, Seat


def iflow(answer: Answer, args: Args) -> Outcome:
    """Every exit code but 0 blocks, with what stands on stderr; what is printed is shown to the person."""
    if answer.exit_code:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    return Outcome(blocked=False, input=args)


SEATS = {
    "iflow": Seat(
        "iflow",
        "PreToolUse",
        "PreToolUse",
        iflow,
        rewrites=False,
        contexts={
            "session_start": ("SessionStart", "SessionStart", None),
            "before_prompt": ("UserPromptSubmit", "UserPromptSubmit", None),
            "after_tool_execute": ("PostToolUse", "PostToolUse", None),
        },
    ),
}
