"""Calls that do several things: one of them is rewritten and the others stay as the model wrote them."""

from __future__ import annotations

from typing import Any

import pytest

from hookport.agents import get_wire
from hookport.model.runs import Call
from hookport.wire.events import read_event
from hookport.wire.rewrites import rewrite_part


def call_of(tool: str, raw: Any) -> Call:
    """The call that a payload of Cline's CLI is about."""
    found = read_event(
        get_wire("cline"), {"hookName": "tool_call", "tool_call": {"name": tool, "input": raw}}
    ).call
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("tool", "raw", "number", "changed", "expected"),
    [
        (
            "run_commands",
            {
                "commands": [{"command": "rm", "args": ["-rf", "x"]}, "ls", {"cmd": "pwd"}],
                "credentials": ["A"],
            },
            1,
            {"command": "ls -l"},
            {
                "commands": [{"command": "rm", "args": ["-rf", "x"]}, "ls -l", {"cmd": "pwd"}],
                "credentials": ["A"],
            },
        ),
        ("run_commands", {"commands": "ls"}, 0, {"command": "pwd"}, {"commands": ["pwd"]}),
        ("run_commands", {"command": "rm", "args": ["x"]}, 0, {"command": "ls"}, {"commands": ["ls"]}),
        ("run_commands", "rm x", 0, {"command": "ls"}, {"commands": ["ls"]}),
        ("run_commands", ["rm x", "pwd"], 0, {"command": "ls"}, {"commands": ["ls", "pwd"]}),
        (
            "read_files",
            {"paths": ["a", {"file_path": ".env"}]},
            1,
            {"path": "b"},
            {"files": ["a", {"path": "b"}]},
        ),
    ],
)
def test_one_is_rewritten(tool: str, raw: Any, number: int, changed: dict[str, Any], expected: Any) -> None:
    """The input that the agent gets, and the parts it has then."""
    call = call_of(tool, raw)
    again = rewrite_part(get_wire("cline"), call, number, changed)
    assert again.raw == expected
    assert [dict(part.input) for part in again.parts] == [
        changed if place == number else dict(part.input) for place, part in enumerate(call.parts)
    ]


def test_words_make_one_command() -> None:
    """A guard sees the whole command however its words are spelled, quoted where the shell needs it."""
    raw = {"commands": [{"command": "rm", "args": "-rf"}, ["rm", "a b"], {"cmd": "ls", "args": []}]}
    commands = [part.input for part in call_of("run_commands", raw).parts]
    assert commands == [{"command": "rm -rf"}, {"command": "rm 'a b'"}, {"command": "ls"}]


def test_field_that_the_tool_prefers_is_the_one_seen() -> None:
    """Of two spellings of one field the tool takes its own, in whatever order they come."""
    for raw in ({"path": "a", "file_path": ".env"}, {"file_path": ".env", "path": "a"}):
        seen = call_of("read_files", {"files": [raw]}).parts[0].input
        assert seen["path"] == "a"


def test_an_object_in_place_of_the_list_stays_one() -> None:
    """VS Code refuses a list there, and then runs the task as it was."""
    task = {"label": "t", "type": "shell", "command": "rm", "args": ["-rf", "x"]}
    payload = {"tool_name": "create_and_run_task", "tool_input": {"workspaceFolder": "/w", "task": task}}
    wire = get_wire("vs-code-copilot")
    call = read_event(wire, {"hook_event_name": "PreToolUse", **payload}).call
    assert call is not None
    assert [part.input["command"] for part in call.parts] == ["rm -rf x"]
    again = rewrite_part(wire, call, 0, {**call.parts[0].input, "command": "ls"})
    assert again.raw == {"workspaceFolder": "/w", "task": {"label": "t", "type": "shell", "command": "ls"}}
