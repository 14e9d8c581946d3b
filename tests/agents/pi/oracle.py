"""What pi does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from tests.judging import Seat, flat, generated

SEATS = {
    "pi": Seat(
        "pi",
        "tool_call",
        "tool_call",
        generated,
        contexts={
            "session_start": ("session_start", "session_start", flat("context")),
            "before_prompt": ("input", "input", flat("context")),
            "after_tool_execute": ("tool_result", "tool_result", flat("context")),
        },
        place="input",
    ),
}
