"""What windsurf does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from tests.judging import Seat, stderr_with_2

SEATS = {
    "windsurf": Seat(
        "windsurf",
        "pre_run_command",
        "pre_run_command",
        stderr_with_2,
        rewrites=False,
        contexts={
            "before_prompt": ("pre_user_prompt", "pre_user_prompt", None),
            "after_tool_execute": ("post_run_command", "post_run_command", None),
        },
        place="tool_info",
    ),
}
