"""What reasonix does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from tests.judging import Seat, nested, stderr_with_2

SEATS = {
    "reasonix": Seat(
        "reasonix",
        "PreToolUse",
        "PreToolUse.bash",
        stderr_with_2,
        rewrites=False,
        contexts={
            "session_start": ("SessionStart", "SessionStart", nested("SessionStart")),
            "before_prompt": ("UserPromptSubmit", "UserPromptSubmit", None),
            "after_tool_execute": ("PostToolUse", "PostToolUse.bash", None),
        },
        place="toolArgs",
    ),
}
