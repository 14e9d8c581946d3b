"""Whose payload something is: by the word of who wrote it, else by what it says."""

from __future__ import annotations

from hookport.wires.events import at, native_name
from hookport.wires.spellings import bears

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from hookport.wires.table import Wire

# What a hook finds in its environment where its payload was written for it: a seal of the bytes, the dialect
# and its event. A payload made of another agent's event is not always told from that agent's own.
VARIABLE = "HOOKPORT_PAYLOAD"
_PART, _PRIME = 4096, (1 << 61) - 1


def recognised(payload: Mapping[str, Any], wires: Iterable[Wire]) -> list[tuple[Wire, str]]:
    """(wire, native event) of those a payload may be of, the likeliest first."""
    found = []
    for wire in wires:
        native = native_name(wire, payload)
        if native in wire.events:
            found.append((_score(payload, wire, native), wire, native))
    ranked = sorted(found, key=lambda one: one[0], reverse=True)
    return [(wire, native) for _, wire, native in ranked]


def _score(payload: Mapping[str, Any], wire: Wire, native: str) -> tuple[int, ...]:
    """What speaks for a wire, the weightiest first."""
    keys = {**wire.keys, **wire.keys_of.get(native, {})}
    tool = at(payload, keys.get("tool"))
    # The places of an input without an object of its own are those of others.
    plain = [places for places in keys.values() if not isinstance(places, dict)]
    known = [places for places in plain if at(payload, places) is not None]
    there = [key for key in wire.fixed if key in payload]
    return (
        sum(bears(payload, mark) for mark in wire.marks),
        isinstance(tool, str) and tool in wire.tools,
        # Its name as the agent spells it, capitals too.
        at(payload, keys.get("event")) == wire.said.get(native, native),
        # A key that is always sent is missing: that says more than any number of common keys that are there.
        len(there) - len(wire.fixed),
        len(known) + len(there),
        wire.precedence,
    )


def sealed(body: bytes, dialect: str, native: str) -> str:
    """What is said beside a payload; who inherits it and gets other bytes sees that it is stale."""
    return f"{_seal(body)} {dialect} {native}"


def unsealed(said: str, body: bytes) -> tuple[str, str] | None:
    """(dialect, native event) of a payload, where what is said is about these bytes."""
    seal, _, rest = said.partition(" ")
    dialect, _, native = rest.partition(" ")
    return (dialect, native) if native and seal == _seal(body) else None


def _seal(body: bytes) -> str:
    """Enough to tell two payloads apart: of a long one its length, start and end."""
    ends = body if len(body) <= 2 * _PART else body[:_PART] + body[-_PART:]
    return f"{len(body)}-{int.from_bytes(ends, 'big') % _PRIME:x}"
