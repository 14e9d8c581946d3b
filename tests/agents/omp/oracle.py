"""What oh-my-pi does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from tests.judging import Seat, flat, generated

SEATS = {
    "omp": Seat(
        "omp",
        "tool_call",
        "tool_call.bash",
        generated,
        contexts={
            "session_start": ("session_start", "session_start", flat("context")),
            "after_tool_execute": ("tool_result", "tool_result.bash", flat("context")),
        },
        place="input",
    ),
}
