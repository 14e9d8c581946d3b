"""Whose payload something is: by the word of who wrote it, else by what it says."""

from __future__ import annotations

from hookport.wire.events import at, canonical_name, names_tool, native_name
from hookport.wire.spellings import bears

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from hookport.wire.table import Wire

# What a hook finds in its environment where its payload was written for it: a seal of the bytes, the dialect
# and its event. A payload made of another agent's event is not always told from that agent's own.
VARIABLE = "HOOKPORT_PAYLOAD"
# Events of which every payload names a tool.
TOOL_EVENTS = ("before_tool_execute", "after_tool_execute")
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


def variables(wires: Iterable[Wire]) -> dict[str, list[str]]:
    """The variables by which each agent shows that it is the one who calls, which no other agent sets."""
    agents = [wire for wire in wires if wire.fires]
    often = [name for wire in agents for name in wire.env]
    return {
        wire.id: [
            name
            for name, value in wire.env.items()
            # A plugin's is not there for other hooks; one that is not in capitals may be anybody's.
            if often.count(name) == 1 and name.isupper() and value not in ("$package", "$prompt")
        ]
        for wire in agents
    }


def is_strange(
    agent: Wire,
    payload: Mapping[str, Any],
    native: str,
    env: Mapping[str, str],
    callers: Mapping[str, Sequence[str]],
) -> bool:
    """Whether a payload may be of another agent than the one that an entry names; asked on every event."""
    keys = {**agent.keys, **agent.keys_of.get(native, {})}
    said = at(payload, keys.get("event"))
    if native in agent.events and said is not None and not _is_spelled(agent, native, said):
        return True
    if said is None and keys.get("event") and native_name(agent, payload) not in agent.events:
        return True
    is_about = agent.events.get(native) in TOOL_EVENTS and native not in agent.event_tools
    if not names_tool(agent, payload, native) or (is_about and at(payload, keys.get("tool")) is None):
        return True
    return _is_missed(agent, env, callers) and any(_is_set(marks, env) for marks in callers.values())


def _is_set(marks: Sequence[str], env: Mapping[str, str]) -> bool:
    return any(env.get(mark) for mark in marks)


def _is_missed(agent: Wire, env: Mapping[str, str], callers: Mapping[str, Sequence[str]]) -> bool:
    """Whether the agent would have set a variable and did not; what others set may be inherited."""
    marks = callers.get(agent.id, ())
    return bool(marks) and not _is_set(marks, env)


def caller(
    agent: Wire,
    payload: Mapping[str, Any],
    native: str,
    env: Mapping[str, str],
    callers: Mapping[str, Wire],
    marks: Mapping[str, Sequence[str]],
) -> tuple[Wire, str] | None:
    """(wire, native event) of the one other agent that a payload fits better; None where no one does."""
    if _has_twins(payload):
        return None
    ranked: list[tuple[tuple[int, ...], Wire, str]] = []
    is_missed = _is_missed(agent, env, marks)
    for wire in callers.values():
        found = native_name(wire, payload)
        is_there = is_missed and _is_set(marks.get(wire.id, ()), env)
        if found in wire.events:
            ranked.append(((*_score(payload, wire, found)[:3], is_there), wire, found))
    ranked.sort(key=lambda one: one[0], reverse=True)
    others = [one for one in ranked if one[1].id != agent.id]
    own = next((score for score, wire, _ in ranked if wire.id == agent.id), ())
    if not others or others[0][0] <= own or (len(others) > 1 and others[1][0] == others[0][0]):
        return None
    _, wire, found = others[0]
    is_same = native not in agent.events or canonical_name(wire, found) == canonical_name(agent, native)
    return (wire, found) if is_same else None


def _has_twins(payload: Mapping[str, Any]) -> bool:
    """Whether keys have two spellings, `tool_name` and `toolName`: no agent that we know does that."""
    for key in payload:
        first, *rest = key.split("_")
        if rest and first + "".join(map(str.capitalize, rest)) in payload:
            return True
    return False


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
        _is_spelled(wire, native, at(payload, keys.get("event"))),
        # A key that is always sent is missing: that says more than any number of common keys that are there.
        len(there) - len(wire.fixed),
        len(known) + len(there),
        wire.precedence,
    )


def _is_spelled(wire: Wire, native: str, said: object) -> bool:
    """Whether a payload calls an event as the agent does; one with names of its own varies their case."""
    expected = wire.said.get(native, native)
    return bool(said == expected or (wire.said and str(said).lower() == native.lower()))


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
