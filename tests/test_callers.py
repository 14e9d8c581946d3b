"""An entry may be run by another agent than it names; it is read and answered as that agent's."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hookport.agents import get_wire, list_agents
from hookport.wire import recognition
from hookport.wire.events import find_native_name
from tests import agent_data
from tests.test_runtime_dispatch import Place, denied

WIRES = {name: get_wire(name) for name in list_agents()}
MARKS = recognition.list_marker_variables(WIRES.values())


@cache
def payloads(agent: str) -> list[tuple[str, dict[str, Any]]]:
    """(native event, payload) of all that were captured or documented."""
    captured = [
        json.loads(path.read_text("utf-8"))
        for path in sorted((agent_data.folder_of(agent) / "payloads").rglob("*.json"))
    ]
    found = [*captured, *agent_data.DOCUMENTED.get(agent, {}).values()]
    named = [(find_native_name(WIRES[agent], payload), payload) for payload in found]
    return [(native, payload) for native, payload in named if native in WIRES[agent].events]


def called(agent: str, native: str, payload: dict[str, Any], env: dict[str, str]) -> str:
    """Who calls, where the entry names this agent."""
    own = WIRES[agent]
    if not recognition.is_strange(own, payload, native, env, MARKS):
        return agent
    found = recognition.find_caller(own, payload, native, env, WIRES, MARKS)
    return found[0].id if found else agent


@pytest.mark.parametrize("agent", list_agents())
def test_an_agents_own_payload_is_never_strange(agent: str) -> None:
    for native, payload in payloads(agent):
        assert not recognition.is_strange(WIRES[agent], payload, native, {}, MARKS), (native, payload)


@pytest.mark.parametrize("agent", list_agents())
def test_an_agent_that_another_one_started_is_itself(agent: str) -> None:
    """Its hooks inherit the variables of the agent around it."""
    for other in list_agents():
        env = dict.fromkeys([*MARKS[other], *MARKS[agent]], "x")
        assert {called(agent, native, payload, env) for native, payload in payloads(agent)} <= {agent}


@pytest.mark.parametrize("agent", list_agents())
def test_a_foreign_payload_is_its_agents_or_the_named_ones(agent: str) -> None:
    """Never that of a third."""
    for native, payload in payloads(agent):
        event = WIRES[agent].events[native]
        for other, own in WIRES.items():
            named = next((name for name, canonical in own.events.items() if canonical == event), "")
            if named:
                assert called(other, named, payload, {}) in (agent, other), (other, native)


def test_a_variable_tells_where_the_payload_does_not() -> None:
    payload: dict[str, Any] = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w"}
    payload |= {"tool_name": "Read", "tool_input": {"file_path": "/w/a"}}
    assert called("claude-code", "PreToolUse", payload, {}) == "claude-code"
    assert called("claude-code", "PreToolUse", payload, {"FACTORY_PROJECT_DIR": "/w"}) == "factory-droid"
    both = {"FACTORY_PROJECT_DIR": "/w", "CLAUDE_CODE_SESSION_ID": "s"}
    assert called("claude-code", "PreToolUse", payload, both) == "claude-code"


def test_variables_tell_one_agent_each() -> None:
    names = [name for marks in MARKS.values() for name in marks]
    assert len(names) == len(set(names))


CURSOR = {
    "conversation_id": "c",
    "generation_id": "g",
    "hook_event_name": "preToolUse",
    "cursor_version": "2.0.77",
    "tool_name": "Shell",
    "tool_input": {"command": "rm -rf x", "working_directory": "/w"},
    "tool_use_id": "t",
}


def test_the_answer_is_in_the_callers_words(tmp_path: Path) -> None:
    place = Place(tmp_path.resolve())
    place.hook("guard", "echo no >&2; exit 2")
    payload = {**CURSOR, "cwd": str(place.root), "workspace_roots": [str(place.root)]}
    code, answer, _ = place.fire("claude-code", "PreToolUse", payload)
    assert (code, answer) == (0, {"permission": "deny", "user_message": "no", "agent_message": "no"})
    line = place.journal()[-1]
    assert (line["agent"], line["native"]) == ("cursor", "preToolUse")
    assert line["notes"] == ["caller: recognised as cursor, the entry is for claude-code"]


def test_a_wrapped_command_answers_its_caller_too(tmp_path: Path) -> None:
    place = Place(tmp_path.resolve())
    script = place.write("guard.sh", "#!/bin/sh\necho no >&2\nexit 2\n", mode=0o755)
    payload = {**CURSOR, "cwd": str(place.root), "workspace_roots": [str(place.root)]}
    place.command = [*place.command[:-1], "wrap", "canonical", "claude-code", "PreToolUse"]
    code, answer, _ = place.fire("--", str(script), payload)
    assert (code, answer) == (0, {"permission": "deny", "user_message": "no", "agent_message": "no"})


@pytest.mark.parametrize(
    ("more", "agent"),
    [
        ({"hookEventName": "pre_tool_use", "sessionId": "s", "workspaceRoot": "/w/"}, "grok-build"),
        ({}, "claude-code"),
    ],
)
def test_a_caller_with_twin_keys_is_one_that_sends_them_or_the_named_agent(
    more: dict[str, str], agent: str, tmp_path: Path
) -> None:
    """Grok Build 1.0.41 sends each key in two spellings, and tools that other agents have too."""
    place = Place(tmp_path.resolve())
    place.hook("guard", "echo no >&2; exit 2", "matcher: {tool: Grep}")
    given = {"pattern": "x", "path": "/w"}
    payload: dict[str, Any] = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(place.root)}
    payload |= {"tool_name": "grep", "tool_input": given, "tool_use_id": "t"}
    payload |= {"toolName": "grep", "toolInput": given, **more}
    assert place.fire("claude-code", "PreToolUse", payload) == denied("no")
    assert place.journal()[-1]["agent"] == agent
