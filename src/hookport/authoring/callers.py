"""Who is calling: the agent or the format whose payload came on stdin, told by nothing but what it says."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hookport.wires.table import Wire


def caller(payload: Mapping[str, Any]) -> tuple[Wire, str] | None:
    """The likeliest wire that the payload is of, and the native event; None where no wire has such a one."""
    from hookport.dialects._wiring import recognised, wire

    for name, native in recognised(payload):
        return wire(name), native
    return None
