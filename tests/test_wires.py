"""The laws of wires over every dialect: payloads come back, answers come back, nothing gets weaker."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from hookport.agents import get_wire, list_dialects
from hookport.model.runs import Call, Decision, Event, RunResult
from hookport.wire.answers import read_answer, write_answer
from hookport.wire.events import find_wrapped, read_event, read_input, write_event, write_input
from hookport.wire.table import Wire, find_table
from tests import agent_data

STRICTNESS = {"none": 0, "allow": 0, "ask": 1, "deny": 2}


def native_of(path: Path) -> str:
    """The event that a file's name says: all up to the tool."""
    known = get_wire(agent_data.dialect_of(path)).events
    stem = path.name.removesuffix(".json")
    return max((name for name in known if stem == name or stem.startswith(f"{name}.")), key=len, default=stem)


def loaded(path: Path) -> Any:
    """A captured payload."""
    return json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize("path", agent_data.CAPTURED.values(), ids=agent_data.CAPTURED)
def test_payload_comes_back(path: Path) -> None:
    """Law 4: what is read and written again is the same, and so is a tool's input by its field names."""
    it = get_wire(agent_data.dialect_of(path))
    payload = loaded(path)
    event = read_event(it, payload, native_of(path))
    assert write_event(it, event) == payload
    call = event.call
    if call is not None and isinstance(call.raw, dict) and not (call.parts or find_wrapped(it, call.raw)):
        plain = read_input(it, call.tool, call.native, call.raw)
        assert write_input(it, call.tool, call.native, plain) == call.raw


@pytest.mark.parametrize("path", agent_data.CAPTURED.values(), ids=agent_data.CAPTURED)
def test_payload_names_its_event(path: Path) -> None:
    """A payload alone, without the name on a command line, is known for what it is where it says so."""
    it = get_wire(agent_data.dialect_of(path))
    event = read_event(it, loaded(path))
    # A file is named by the type on the bus, of which an event may be one kind only.
    if event.native and event.native.partition(" (")[0] != native_of(path):
        assert it.events.get(event.native, "") == it.events.get(native_of(path), "")


def sample(it: Wire, native: str, canonical: str) -> Event:
    """An event of one kind."""
    call = Call("shell", (it.names.get("shell") or [""])[0], input={"command": "ls"}, raw={"command": "ls"})
    about_tool = "tool" in canonical or canonical == "permission_request"
    return Event(canonical, it.id, native, cwd="/p", call=call if about_tool else None)


FIELDS: dict[str, dict[str, Any]] = {
    "allow": {"verdict": "allow"},
    "ask": {"verdict": "ask", "reason": "sure?"},
    "deny": {"verdict": "deny", "reason": "no"},
    "rewrite": {"updated_input": {"command": "ls -l"}},
    "context": {"context": "remember"},
    "halt": {"carry_on": False, "reason": "no"},
    "message": {"system_message": "look"},
    "suppress": {"suppress_output": True},
    "result": {"replaced_result": "other"},
}


def decisions() -> list[Decision]:
    """Nothing, every single thing, and every pair that makes sense."""
    found = [Decision()]
    for size in (1, 2):
        for some in itertools.combinations(FIELDS, size):
            if len({"allow", "ask", "deny"} & set(some)) < 2 and not {"deny", "rewrite"} <= set(some):
                fields: dict[str, Any] = {}
                for one in some:
                    fields.update(FIELDS[one])
                found.append(Decision(**fields))
    return found


EVERY = [(name, native) for name in list_dialects() for native in get_wire(name).events]


@pytest.mark.parametrize(("name", "native"), EVERY)
def test_answer_comes_back(name: str, native: str) -> None:
    """Law 3: what an agent can be told is read back the same; what it cannot be told is said or stricter."""
    it = get_wire(name)
    canonical = it.events[native]
    event = sample(it, native, canonical)
    table = find_table(it.answers, native, canonical)
    for decision in decisions():
        answer, lost = write_answer(it, event, decision, changed=decision.updated_input)
        result = RunResult("completed", answer.exit_code, answer.stdout, answer.stderr)
        back = read_answer(it, result, native=native, canonical=canonical)
        assert back.failure == "" or not (answer.stdout or answer.exit_code), (decision, answer, back)
        if not it.lifts and back.verdict == "allow":
            back = back.replace(verdict=decision.verdict)
        if not lost and (decision.verdict != "allow" or "allow" in table):
            assert back == decision, (decision, answer)
        if decision.verdict == "deny" and not any(one.startswith("deny") for one in lost):
            assert back.verdict == "deny", (decision, answer)
        if not any(one.startswith("deny") for one in lost):
            assert STRICTNESS[back.verdict] >= STRICTNESS[decision.verdict], (decision, answer)


@pytest.mark.parametrize(("name", "native"), EVERY)
def test_no_opinion_is_not_allow(name: str, native: str) -> None:
    """Law 5: a decision that says nothing is the dialect's own no-op.

    It ends with 0, but where that approves.
    """
    it = get_wire(name)
    answer, lost = write_answer(it, sample(it, native, it.events[native]), Decision())
    result = RunResult("completed", answer.exit_code, answer.stdout, answer.stderr)
    back = read_answer(it, result, native=native, canonical=it.events[native])
    silence = read_answer(it, RunResult("completed", 0), native=native, canonical=it.events[native])
    assert (back, lost) == (Decision(), [])
    assert (answer.exit_code == 0) == (silence == Decision())


@pytest.mark.parametrize("name", list_dialects())
def test_tables_say_something(name: str) -> None:
    """Every dialect has a wire: payload keys, answers it obeys and answers it reads."""
    it = get_wire(name)
    assert it.keys or it.by_event
    assert it.answers
    assert it.reads
    blocking = find_table(
        it.answers, *next((n, c) for n, c in it.events.items() if c == "before_tool_execute")
    )
    assert "deny" in blocking
