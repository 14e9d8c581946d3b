"""Recognises the agent of a payload: by its writer's seal, else by its content."""

from __future__ import annotations

from hookport.wire.events import as_list, find_native_name, get_canonical_name, get_first, names_tool
from hookport.wire.spellings import has_mark
from hookport.wire.table import read_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from hookport.wire.table import Wire

# What a hook finds in its environment where its payload was written for it: a seal of the bytes, the dialect
# and its event. A payload made from another agent's event may look like that agent's own.
VARIABLE = "HOOKPORT_PAYLOAD"
# Events of which every payload names a tool.
TOOL_EVENTS = ("before_tool_execute", "after_tool_execute")
_PART, _PRIME = 4096, (1 << 61) - 1


def recognise_payload(payload: Mapping[str, Any], wires: Iterable[Wire]) -> list[tuple[Wire, str]]:
    """Return (wire, native event) for every agent that may have sent a payload, likeliest first."""
    scored = []
    for wire in wires:
        native = find_native_name(wire, payload)
        if native in wire.events:
            scored.append((_score_wire(payload, wire, native), wire, native))
    ranked = sorted(scored, key=lambda row: row[0], reverse=True)
    return [(wire, native) for _, wire, native in ranked]


def list_marker_variables(wires: Iterable[Wire]) -> dict[str, list[str]]:
    """The environment variables of each agent that no other agent sets."""
    agents = [wire for wire in wires if wire.fires]
    often = [name for wire in agents for name in wire.env]
    return {
        wire.id: [
            name
            for name, value in wire.env.items()
            # Other hooks lack a plugin's variable; one that is not in capitals may be anybody's.
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
    """Whether a payload may come from another agent than the entry's; checked on every event."""
    keys = read_rows(agent, "keys", native)
    event_name = get_first(payload, keys.get("event"))
    if native in agent.events and event_name is not None and not _is_spelled(agent, native, event_name):
        return True
    if event_name is None and keys.get("event") and find_native_name(agent, payload) not in agent.events:
        return True
    is_about = agent.events.get(native) in TOOL_EVENTS and native not in agent.event_tools
    if not names_tool(agent, payload, native) or (is_about and get_first(payload, keys.get("tool")) is None):
        return True
    return _is_missed(agent, env, callers) and any(_is_set(marks, env) for marks in callers.values())


def _is_set(marks: Sequence[str], env: Mapping[str, str]) -> bool:
    return any(env.get(mark) for mark in marks)


def _is_missed(agent: Wire, env: Mapping[str, str], callers: Mapping[str, Sequence[str]]) -> bool:
    """Whether a variable that the agent sets is missing; those of other agents may be inherited."""
    marks = callers.get(agent.id, ())
    return bool(marks) and not _is_set(marks, env)


def find_caller(
    agent: Wire,
    payload: Mapping[str, Any],
    native: str,
    env: Mapping[str, str],
    callers: Mapping[str, Wire],
    marks: Mapping[str, Sequence[str]],
) -> tuple[Wire, str] | None:
    """Return (wire, native event) of the only other agent that fits a payload better; None without one."""
    has_twins = _has_twins(payload)
    ranked: list[tuple[tuple[int, ...], Wire, str]] = []
    is_missed = _is_missed(agent, env, marks)
    for wire in callers.values():
        if has_twins and wire.id != agent.id and not _has_twins(_list_places(wire)):
            continue
        candidate = find_native_name(wire, payload)
        is_marked = is_missed and _is_set(marks.get(wire.id, ()), env)
        if candidate in wire.events:
            ranked.append(((*_score_wire(payload, wire, candidate)[:3], is_marked), wire, candidate))
    ranked.sort(key=lambda row: row[0], reverse=True)
    other_rows = [row for row in ranked if row[1].id != agent.id]
    own_score = next((score for score, wire, _ in ranked if wire.id == agent.id), ())
    if (
        not other_rows
        or other_rows[0][0] <= own_score
        or (len(other_rows) > 1 and other_rows[1][0] == other_rows[0][0])
    ):
        return None
    _, wire, candidate = other_rows[0]
    is_same = native not in agent.events or get_canonical_name(wire, candidate) == get_canonical_name(
        agent, native
    )
    return (wire, candidate) if is_same else None


def _has_twins(keys: Collection[str]) -> bool:
    """Whether keys have two spellings, `tool_name` and `toolName`; few agents do that."""
    for key in keys:
        first, *rest = key.split("_")
        if rest and first + "".join(map(str.capitalize, rest)) in keys:
            return True
    return False


def _list_places(wire: Wire) -> set[str]:
    """The places of a payload's attributes."""
    plain = (places for places in wire.keys.values() if not isinstance(places, dict))
    return {place for places in plain for place in as_list(places)}


def _score_wire(payload: Mapping[str, Any], wire: Wire, native: str) -> tuple[int, ...]:
    """The evidence for a wire, the strongest first."""
    keys = read_rows(wire, "keys", native)
    tool = get_first(payload, keys.get("tool"))
    # The places of an input without an object of its own are those of others.
    plain = [places for places in keys.values() if not isinstance(places, dict)]
    present = [places for places in plain if get_first(payload, places) is not None]
    fixed_keys = [key for key in wire.fixed if key in payload]
    return (
        sum(has_mark(payload, mark) for mark in wire.marks),
        isinstance(tool, str) and tool in wire.tools,
        # Its name as the agent spells it, capitals too.
        _is_spelled(wire, native, get_first(payload, keys.get("event"))),
        # A missing key that is always sent counts more than any number of common keys.
        len(fixed_keys) - len(wire.fixed),
        len(present) + len(fixed_keys),
        wire.precedence,
    )


def _is_spelled(wire: Wire, native: str, event_name: object) -> bool:
    """Whether a payload spells an event as the agent does; the case of an agent's own words varies."""
    expected = wire.said.get(native, native)
    return bool(event_name == expected or (wire.said and str(event_name).lower() == native.lower()))


def seal_payload(body: bytes, dialect: str, native: str) -> str:
    """The seal beside a payload; a process that inherits it with other bytes sees that it is stale."""
    return f"{_compute_seal(body)} {dialect} {native}"


def read_seal(text: str, body: bytes) -> tuple[str, str] | None:
    """Return (dialect, native event) from a seal, if it is for these bytes."""
    seal, _, rest = text.partition(" ")
    dialect, _, native = rest.partition(" ")
    return (dialect, native) if native and seal == _compute_seal(body) else None


def _compute_seal(body: bytes) -> str:
    """A value that distinguishes two payloads: of a long one by its length, start and end."""
    ends = body if len(body) <= 2 * _PART else body[:_PART] + body[-_PART:]
    return f"{len(body)}-{int.from_bytes(ends, 'big') % _PRIME:x}"
