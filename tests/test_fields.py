"""Law 12, fields travel: what an agent's payload says and a script's dialect has reaches the script.

The tables are those of `fields.py`. `python -m tests.test_fields` prints the share that arrives.
"""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from hookport.agents import find_event_specs, get, get_wire, list_dialects
from hookport.model.hooks import Handler, Hook
from hookport.model.runs import Event
from hookport.project import plan_builder
from hookport.project.discovery import HookEntry
from hookport.runtime.plan import PlannedHook
from hookport.runtime.select import is_for
from hookport.shapes.matchers import read_matcher
from hookport.wire.events import read_event, write_event
from hookport.wire.table import read_rows
from tests import agent_data
from tests.fields import DOCUMENTED, SENT, TAKEN, WORDS, Places

PASCAL = " (pascal)"
# Events of Copilot CLI that have payloads in camelCase under both names.
CAMEL = ("PermissionRequest", "Notification", "SubagentStart")


def captured() -> list[tuple[str, str, dict[str, Any], str]]:
    """(agent in the tables, native event, payload, where it is from) of every payload that is known."""
    found = []
    for place, path in agent_data.CAPTURED.items():
        agent, *folders, name = place.split("/")
        events = get_wire(agent).events
        stem = name.removesuffix(".json")
        native = max(
            (one for one in events if stem == one or stem.startswith(f"{one}.")), key=len, default=""
        )
        kind = PASCAL if "pascal" in folders and native not in CAMEL else ""
        payload = json.loads(path.read_text("utf-8"))
        if native and isinstance(payload, dict):
            found.append((agent + kind, native, payload, place))
    return found + [(*row, f"document {number}") for number, row in enumerate(DOCUMENTED)]


def at(tree: Any, place: str) -> Any:
    for key in place.split("."):
        if isinstance(tree, list):
            tree = tree[int(key)] if key.isdecimal() and int(key) < len(tree) else None
        else:
            tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def said(places: Places, event: str, payload: dict[str, Any]) -> dict[str, Any]:
    """What a payload says, by the names of the table."""
    found = {}
    for field, place in places.items():
        where = place.get(event) if isinstance(place, dict) else place
        value = at(payload, where) if where else None
        if value not in (None, "", []):
            found[field] = value
    return found


def in_common(field: str, dialect: str, value: Any) -> Any:
    """A value in the words that all have in common."""
    words = {
        native: common for common, native in WORDS.get(field, {}).get(dialect, {}).items() if common != "*"
    }
    if field == "end" and "other" in words:
        words.pop("other")
    if field == "time" and isinstance(value, int):
        whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(value // 1000))
        return f"{whole}.{value % 1000:03d}Z"
    if field in ("turn", "session"):
        return str(value)
    return words.get(value, value) if isinstance(value, str) else value


def in_own(field: str, dialect: str, value: Any) -> Any:
    """A value in the words of a dialect."""
    if field == "session time" and dialect == "agent-hooks":
        return round(value / 1000)
    if field == "time" and dialect == "copilot-cli":
        return value
    if field == "turn" and dialect in ("kimi-cli", "reasonix") and value.isdecimal():
        return int(value)
    words = WORDS.get(field, {}).get(dialect, {})
    return words.get(value, words.get("*", value)) if isinstance(value, str) else value


def natives(script: str, event: Event) -> str | None:
    """The native event that a script is written for; empty for the usual one, None for none."""
    own = get_wire(script.removesuffix(PASCAL))
    rows = [native for _, native in own.natives.get(event.event, ())]
    if script.endswith(PASCAL):
        return next((native for native in rows if native[:1].isupper() and native not in CAMEL), None)
    return "" if rows else None


# What a call is called where the script's dialect has another event for it, without the field.
BY_TOOL = {"cursor", "windsurf", "kilo", "opencode"}


def missing(agent: str, native: str, payload: dict[str, Any]) -> tuple[list[str], set[tuple[str, str]]]:
    """What does not arrive, and all (script, field) that must."""
    own = get_wire(agent.removesuffix(PASCAL))
    event = read_event(own, payload, native)
    told = said(SENT[agent], event.event, payload)
    lost, asked = [], set()
    for script, places in TAKEN.items():
        if script.partition(" ")[0] == agent.partition(" ")[0]:
            continue
        target = natives(script, event)
        if target is None:
            continue
        written = write_event(get_wire(script.removesuffix(PASCAL)), event, target)
        got = said(places, event.event, written)
        for field, value in told.items():
            place = places.get(field)
            if place is None or (isinstance(place, dict) and event.event not in place):
                continue
            if script in BY_TOOL and field in ("call", "duration") and event.event != "tool_use_failure":
                continue
            asked.add((script, field))
            expected = in_own(field, script, in_common(field, agent, value))
            arrived = got.get(field)
            if field == "time":
                expected, arrived = (in_common("time", "", one) for one in (expected, arrived))
            if arrived != expected:
                lost.append(f"{script}: {field} is {arrived!r}, not {expected!r}")
    return lost, asked


ALL = captured()


@pytest.mark.parametrize(("agent", "native", "payload"), [pytest.param(*row[:3], id=row[3]) for row in ALL])
def test_fields_travel(agent: str, native: str, payload: dict[str, Any]) -> None:
    """Every field that the payload has and the script's dialect has too is there, in the script's words."""
    assert missing(agent, native, payload)[0] == []


def test_every_dialect_is_asked() -> None:
    """A dialect without a row would lose everything unseen."""
    assert {script.removesuffix(PASCAL) for script in TAKEN} == set(list_dialects())
    assert {agent.removesuffix(PASCAL) for agent, *_ in ALL} == {
        one for one in list_dialects() if get_wire(one).fires
    }


@pytest.mark.parametrize("name", list_dialects())
def test_constants_fill_what_is_missing_only(name: str) -> None:
    """A constant of a wire never stands where the event says something itself."""
    own = get_wire(name)
    for native, canonical in own.events.items():
        constants = read_rows(own, "fixed", native)
        plain = {place for place, value in constants.items() if "." not in place and value != {}}
        extra: dict[str, Any] = {place: f"from the agent: {place}" for place in sorted(plain)}
        written = write_event(own, Event(canonical, "another", extra=extra), native)
        keys = read_rows(own, "keys", native)
        named = {"event", "timestamp", "stop_active", "result"}
        own_places = {one for key in named for one in _places(keys.get(key))}
        assert {place: written[place] for place in extra if place not in own_places} == {
            place: value for place, value in extra.items() if place not in own_places
        }


def _places(places: Any) -> set[str]:
    listed = [places] if isinstance(places, str) else list(places or ())
    return {place.partition(":")[0].partition(".")[0] for place in listed}


ABOUT = {
    "session_start": "start",
    "session_end": "end",
    "before_compact": "trigger",
    "notification": "notice",
}
SUBJECTS = [row for row in ALL if get_wire(row[0].removesuffix(PASCAL)).events[row[1]] in ABOUT]


def matcher(script: str, native: str, subject: str, word: str) -> PlannedHook:
    event = get_wire(script).events[native]
    return PlannedHook("h", event, script, native, subject, terms=(("tool", word, ""),))


@pytest.mark.parametrize(
    ("agent", "native", "payload"), [pytest.param(*row[:3], id=row[3]) for row in SUBJECTS]
)
def test_matchers_are_tested_in_their_own_words(agent: str, native: str, payload: dict[str, Any]) -> None:
    """A matcher fires on the script's word for what happened, and not on another one."""
    event = read_event(get_wire(agent.removesuffix(PASCAL)), payload, native)
    told = said(SENT[agent], event.event, payload)
    found = {}
    for script in list_dialects():
        for spec in find_event_specs(get(script), event.event):
            # iFlow's matcher on notifications is about their text.
            field = "message" if spec.subject == "message" else ABOUT[event.event]
            value = told.get(field)
            if value is None or not spec.subject:
                continue
            word = in_own(field, script, in_common(field, agent, value))
            fires = [
                is_for(matcher(script, spec.native, spec.subject, one), get_wire(script), event)
                for one in (word, "something else")
            ]
            if fires != [True, False]:
                found[script, spec.native] = fires
    assert found == {}


def test_a_session_starts_under_every_agent() -> None:
    """The matcher of a public plugin on sessions that begin fires wherever an agent says that one did."""
    own = get("claude-code")
    spec = next(iter(find_event_specs(own, "session_start")))
    terms, _ = read_matcher(own, spec, "startup|clear|compact")
    made = Hook("session_start", Handler(command="exit 0"), terms, dialect=own.id)
    planned = plan_builder.plan_entry(HookEntry(made, "f", "p", "/", "project", ()))
    fires = {}
    for agent, native, payload, where in ALL:
        event = read_event(get_wire(agent.removesuffix(PASCAL)), payload, native)
        if event.event == "session_start":
            fires[where] = is_for(planned, get_wire(own.id), event)
    assert {where for where, does in fires.items() if not does} == {
        where for _, _, payload, where in ALL if payload.get("source") == "resume"
    }


def share() -> tuple[int, int]:
    """(triples of agent, script and field that arrive, all of them)."""
    asked: set[tuple[str, str, str]] = set()
    lost: set[tuple[str, str, str]] = set()
    for agent, native, payload, _ in ALL:
        gone, wanted = missing(agent, native, payload)
        asked |= {(agent, *row) for row in wanted}
        lost |= {(agent, one.partition(":")[0], one.split(": ")[1].partition(" is ")[0]) for one in gone}
    return len(asked - lost), len(asked)


if __name__ == "__main__":
    arrived, everything = share()
    print(f"{arrived} of {everything} triples (agent, script, field) arrive: {arrived / everything:.1%}")
