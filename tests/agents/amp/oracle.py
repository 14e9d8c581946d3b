"""What Amp's generated plugin does with a hook's answer."""

from __future__ import annotations

from tests.judging import Seat, flat, generated

SEATS = {
    "amp": Seat(
        "amp",
        "tool.call",
        "tool.call",
        generated,
        contexts={
            "session_start": ("session.start", "session.start", flat("context")),
            "before_prompt": ("agent.start", "agent.start", flat("context")),
            "after_tool_execute": ("tool.result", "tool.result", flat("context")),
        },
        place="input",
    ),
}
