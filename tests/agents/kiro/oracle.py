"""What kiro does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from hookport.model.runs import Answer
from tests.judging import BEGINS, Args, Outcome, Seat, raw, stderr_with_2


def kiro_v1(answer: Answer, args: Args) -> Outcome:
    """v1 files: one page lets every code but 0 block, and stdout is context."""
    if answer.exit_code:
        return Outcome(blocked=True, reason=answer.stderr.strip())
    return Outcome(blocked=False, input=args, context=answer.stdout.strip())


SEATS = {
    "kiro": Seat(
        "kiro",
        "preToolUse",
        "preToolUse",
        stderr_with_2,
        rewrites=False,
        contexts={
            "session_start": ("agentSpawn", "agentSpawn", raw),
            "before_prompt": ("userPromptSubmit", "userPromptSubmit", raw),
            "after_tool_execute": ("postToolUse", "postToolUse", None),
        },
    ),
    "kiro-v1": Seat(
        "kiro",
        "PreToolUse",
        "PreToolUse",
        kiro_v1,
        rewrites=False,
        contexts={
            canonical: (native, native, raw)
            for canonical, native in {**BEGINS, "after_tool_execute": "PostToolUse"}.items()
        },
    ),
}
