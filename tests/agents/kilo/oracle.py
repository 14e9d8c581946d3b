"""What kilo does with a hook's answer, as strictly as it does itself."""

from __future__ import annotations

from typing import Any

from tests.judging import PROJECT, Seat, flat, generated

SEATS = {
    "kilo": Seat(
        "kilo",
        "tool.execute.before",
        "tool.execute.before",
        generated,
        contexts={
            "session_start": ("event.session.created", "event.session.created", flat("context")),
            "before_prompt": ("chat.message", "chat.message", flat("context")),
            "after_tool_execute": ("tool.execute.after", "tool.execute.after", flat("context")),
        },
        place="output.args",
    ),
}


def complete(payload: dict[str, Any], native: str) -> dict[str, Any]:
    """The callback's arguments are captured; this is what the generated plugin adds."""
    return {"hook": native, **payload, "directory": PROJECT}
