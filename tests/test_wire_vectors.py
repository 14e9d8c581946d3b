"""Wires against facts: each vector in `agents/*/wire.yaml` is one row of what was measured or documented.

A file has up to four lists; every vector may say its `source`.

`answers`: what the agent is told for a `decision` on a native `event`: the whole `answer`, and what is `lost`
(the words before the colon, in order).
`reads`: what a script of the dialect decided by its `result` on a native `event`: the whole `decision`.
`payloads`: a `payload` of a native `event`, and what it says in canonical terms: the keys that are given. It
comes back the same.
`scripts`: the whole `payload` that a script of the dialect gets for another agent's canonical `event`.

An event is about the shell command `rm -rf build` where it is about a tool; a vector may give other
attributes of the event (`session`, `prompt`, `source_word`, …) and of its call (`tool`, `native_tool`,
`input`, …). A text that is JSON is compared as JSON, and may be written as YAML.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookport.agents import get_wire, list_dialects
from hookport.model.runs import Answer, Call, Decision, Event, RunResult
from hookport.wire.answers import read_answer, write_answer
from hookport.wire.events import name_tool, read_event, write_event, write_input
from hookport.wire.table import Wire
from tests import agent_data

FILES = agent_data.find("wire.yaml")
KINDS = {
    "answers": {"decision", "answer", "lost"},
    "reads": {"result", "decision", "blocking"},
    "payloads": {"payload", "canonical"},
    "scripts": {"payload"},
}
CALL = {"id", "result", "text", "error", "server", "mcp_tool"}
OF_CALL = {"tool", "native_tool", "input", *CALL}
TEXTS = {
    "session",
    "cwd",
    "root",
    "timestamp",
    "prompt",
    "final_message",
    "stop_active",
    "subagent",
    "facts",
    "extra",
}
# A vector's own `source` is where it is known from, so the event's is called `source_word`.
OF_EVENT = {*TEXTS, "source_word"}


def vectors(kind: str) -> list[Any]:
    """The vectors of one kind of all files, each with the dialect it is of."""
    found = []
    for name, path in FILES.items():
        for number, vector in enumerate(agent_data.read_yaml(path).get(kind) or ()):
            found.append(pytest.param(name, vector, id=f"{name}-{vector['event']}-{number}"))
    return found


def sample(it: Wire, vector: dict[str, Any], event: str, **fixed: Any) -> Event:
    """The event a vector is about."""
    call = None
    if OF_CALL & set(vector) or "tool" in event or event == "permission_request":
        tool = vector.get("tool", "shell")
        plain = vector.get("input", {"command": "rm -rf build"})
        call = Call(tool, input=plain, **{key: vector[key] for key in CALL if key in vector})
        native = vector.get("native_tool") or name_tool(it, call, fixed.get("native", ""))
        call = call.replace(native=native, raw=write_input(it, tool, native, plain))
    said: dict[str, Any] = {
        "session": "s1",
        "cwd": "/home/dev/project",
        "timestamp": "2026-11-16T00:10:27.283Z",
    }
    said.update({key: vector[key] for key in TEXTS if key in vector})
    if "source_word" in vector:
        said["source"] = vector["source_word"]
    return Event(event, call=call, **said, **fixed)


def stated(text: Any) -> Any:
    """A text as the tree it is the JSON of, else as it is but for the last newline."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text.removesuffix("\n")


def told(answer: Answer) -> dict[str, Any]:
    """An answer as vectors write it."""
    return {
        "stdout": stated(answer.stdout),
        "stderr": answer.stderr.removesuffix("\n"),
        "exit_code": answer.exit_code,
    }


def terms(event: Event) -> dict[str, Any]:
    """What an event says, by the names that vectors use."""
    call = event.call or Call()
    said = {name: getattr(event, name) for name in TEXTS}
    said |= {name: getattr(call, name) for name in CALL}
    return {
        **said,
        "event": event.event,
        "native": event.native,
        "source": event.source,
        "tool": call.tool,
        "also": list(call.also),
        "native_tool": call.native,
        "input": dict(call.input),
        "parts": [{"tool": part.tool, "input": dict(part.input)} for part in call.parts],
    }


@pytest.mark.parametrize("name", FILES)
def test_file_is_well_formed(name: str) -> None:
    """A vector with a misspelt key would test nothing."""
    assert name in list_dialects()
    tree = agent_data.read_yaml(FILES[name])
    assert set(tree) <= set(KINDS)
    known = get_wire(name).events
    for kind, keys in KINDS.items():
        for vector in tree.get(kind) or ():
            assert set(vector) <= {"event", "source", *keys, *OF_CALL, *OF_EVENT}, (kind, vector)
            assert kind == "scripts" or vector["event"] in known, vector["event"]


@pytest.mark.parametrize(("name", "vector"), vectors("answers"))
def test_answer(name: str, vector: dict[str, Any]) -> None:
    """The agent is told exactly what it was seen to obey."""
    it = get_wire(name)
    native = vector["event"]
    event = sample(it, vector, it.events[native], agent=name, native=native)
    decision = Decision(**vector["decision"])
    changed = None
    if decision.updated_input is not None and event.call is not None:
        changed = write_input(it, event.call.tool, event.call.native, decision.updated_input)
    answer, lost = write_answer(it, event, decision, changed=changed)
    expected = {"stdout": "", "stderr": "", "exit_code": 0, **vector["answer"]}
    expected = {**expected, "stdout": stated(expected["stdout"]), "stderr": expected["stderr"].rstrip("\n")}
    assert (told(answer), [one.partition(":")[0] for one in lost]) == (expected, vector.get("lost", []))


@pytest.mark.parametrize(("name", "vector"), vectors("reads"))
def test_read(name: str, vector: dict[str, Any]) -> None:
    """A script's answer decides what the agent itself would have done by it."""
    it = get_wire(name)
    result = {"outcome": "completed", **vector["result"]}
    if not isinstance(result.get("stdout", ""), str):
        result["stdout"] = json.dumps(result["stdout"])
    decided = read_answer(
        it,
        RunResult(**result),
        native=vector["event"],
        canonical=it.events[vector["event"]],
        blocking=vector.get("blocking", True),
    )
    assert decided == Decision(**vector["decision"])


@pytest.mark.parametrize(("name", "vector"), vectors("payloads"))
def test_payload(name: str, vector: dict[str, Any]) -> None:
    """A payload says what its agent means by it, and comes back the same."""
    it = get_wire(name)
    event = read_event(it, vector["payload"], vector["event"])
    said = terms(event)
    assert {key: said[key] for key in vector["canonical"]} == vector["canonical"]
    assert write_event(it, event) == vector["payload"]


@pytest.mark.parametrize(("name", "vector"), vectors("scripts"))
def test_script(name: str, vector: dict[str, Any]) -> None:
    """A script of the dialect gets another agent's event as its own agent would have sent it."""
    it = get_wire(name)
    event = sample(it, vector, vector["event"], agent="another")
    assert write_event(it, event) == vector["payload"]
