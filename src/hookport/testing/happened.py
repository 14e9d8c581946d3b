"""Recorded events, from the journal or from `dispatch --record`; an unreadable event gives a note."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.agents import get_wire, list_dialects
from hookport.base.tree import Tree
from hookport.errors import InputError, Problem
from hookport.model.runs import Call, Event
from hookport.model.tools import TOOLS
from hookport.runtime import journal
from hookport.runtime.occasion import identify_event, parse_object
from hookport.wire.events import read_event, write_event, write_input

Record = Mapping[str, Tree]

# The journal's marks of a shortened text and of an omitted field.
TEXT_CUT, FIELD_CUT = "… [cut: ", "[left out: "
# The fields that the journal does not store, by event.
NOT_RECORDED = {
    "before_prompt": "the prompt",
    "agent_stop": "the last message",
    "subagent_stop": "the last message",
    "after_tool_execute": "the result of the tool",
    "tool_use_failure": "the error of the tool",
}


class RecordedEvent(NamedTuple):
    """One event and its hooks' decisions; `lacks` names what was not recorded, if anything."""

    time: str
    event: Event
    decision: Record
    hooks: tuple[Record, ...]
    lacks: str = ""


class RecordedEvents(NamedTuple):
    """Events, oldest first, and a note for each unusable event."""

    events: tuple[RecordedEvent, ...]
    notes: tuple[str, ...] = ()


def read_journal(env: Mapping[str, str]) -> RecordedEvents:
    """The events of the journal."""
    try:
        records = list(journal.Reader(env).new())
    except OSError as error:
        message = f"cannot read the journal: {error.strerror}"
        raise InputError(Problem(message, file=str(error.filename))) from error
    # A line without an event is a note about a dispatch, one without an agent is a pause, and one about an
    # async hook repeats an event.
    of_events = [
        record
        for record in records
        if record.get("event") and record.get("agent") and "async: over" not in record.get("notes", ())
    ]
    return _gather((str(record["time"]), _read_record(record), record) for record in of_events)


def read_folder(folder: Path) -> RecordedEvents:
    """The events of a folder that `dispatch --record` wrote."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except OSError as error:
        raise InputError(Problem(f"cannot read it: {error.strerror}", file=str(folder))) from error
    if not paths:
        message = "has no event: `hookport dispatch --record DIR` or HOOKPORT_RECORD=DIR writes them"
        raise InputError(Problem(message, file=str(folder)))
    return _gather((path.name, *_read_file(path)) for path in paths)


def _gather(rows: Iterable[tuple[str, Event | str, Record]]) -> RecordedEvents:
    events, notes = [], []
    for name, event, record in rows:
        if isinstance(event, str):
            notes.append(f"{name}: {event}")
            continue
        hooks = record.get("hooks")
        decision = record.get("decision")
        events.append(
            RecordedEvent(
                str(record.get("time", "")),
                event,
                decision if isinstance(decision, dict) else {},
                tuple(hook for hook in hooks if isinstance(hook, dict)) if isinstance(hooks, list) else (),
                "" if "version" in record else _name_lacking(event, record),
            )
        )
    return RecordedEvents(tuple(events), tuple(notes))


def _read_file(path: Path) -> tuple[Event | str, Record]:
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        return f"cannot read it: {error}", {}
    if not isinstance(record, dict) or not isinstance(record.get("agent"), str):
        return "is not a recorded event", {}
    if record["agent"] not in list_dialects():
        return f"unknown agent '{record['agent']}'", {}
    try:
        text = record.get("payload")
        payload = base64.b64decode(record["payload_base64"]) if text is None else text.encode()
    except (KeyError, AttributeError, binascii.Error) as error:
        return f"has no payload: {error}", {}
    tree = parse_object(payload)
    if isinstance(tree, str):
        return tree, {}
    return identify_event(get_wire(record["agent"]), tree, str(record.get("native", ""))), record


def _read_record(record: Record) -> Event | str:
    agent = record.get("agent")
    if agent not in list_dialects():
        return f"unknown agent '{agent}'"
    text = {name: str(record.get(name) or "") for name in ("event", "native", "session", "cwd")}
    event = Event(text["event"], agent, timestamp=str(record["time"]), call=_read_call(record))
    return event.replace(**text)


def _read_call(record: Record) -> Call | None:
    if "native_tool" not in record:
        return None
    fields = record.get("input")
    tool, native = str(record.get("tool") or ""), str(record.get("native_tool") or "")
    agent_wire, canonical = get_wire(record["agent"]), fields if isinstance(fields, dict) else {}
    call = Call(tool, native, input=canonical, raw=write_input(agent_wire, tool, native, canonical))
    if tool in TOOLS or not tool:
        return call
    shown = Event(
        str(record["event"]), agent_wire.id, str(record["native"]), call=Call(native=native, raw={})
    )
    known = read_event(agent_wire, write_event(agent_wire, shown), shown.native).call
    return call.replace(tool="", mcp_tool=tool, server=known.server if known else "")


def _name_lacking(event: Event, record: Record) -> str:
    text = json.dumps(record.get("input"), ensure_ascii=False)
    if TEXT_CUT in text or FIELD_CUT in text:
        return "a part of the input, which was too long"
    return NOT_RECORDED.get(event.event, "")
