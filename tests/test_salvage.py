"""One hook that is refused does not cost the others of its file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookport.agents import get
from hookport.errors import InputError
from hookport.model.hooks import Hook
from hookport.project import salvage

GOOD = {
    "event": "before_tool_execute",
    "handler": {"type": "command", "command": "./good.sh"},
    "blocking": True,
}
BROKEN: list[Any] = [
    {"name": "b", "event": "before_tool_execute", "handler": {"type": "command"}},
    {"handler": {"type": "command", "command": "./x.sh"}},
    {**GOOD, "handler": {"type": "weird"}},
    {**GOOD, "handler": {"type": "command", "command": "./x.sh", "timeout": "soon"}},
    {**GOOD, "matcher": ["shell", {"pattern": 3}]},
    "hook",
]


def left(
    dialect: str, tree: Any
) -> tuple[list[tuple[str, tuple[str | int, ...]]], list[tuple[str | int, ...]]]:
    """(command and place of each hook that is left, the ways to what is refused)."""
    reading, problems = salvage.read({"f.json": json.dumps(tree).encode()}, get(dialect))
    hooks: tuple[Hook, ...] = reading.decoded.manifest.hooks
    commands = [hook.handler.command for hook in hooks]
    places = [place.path for place in reading.decoded.places]
    return list(zip(commands, places, strict=True)), [one.path for one in problems]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_manifest(broken: Any) -> None:
    for number in range(3):
        hooks: list[Any] = [GOOD, GOOD]
        hooks.insert(number, broken)
        kept, refused = left("canonical", {"spec": "hooks/1.0", "hooks": hooks})
        good = [index for index in range(3) if index != number]
        assert kept == [("./good.sh", ("hooks", index)) for index in good]
        assert refused
        assert all(path[:2] == ("hooks", number) for path in refused)


def test_groups_and_handlers() -> None:
    """A bad handler goes alone, a bad group as a whole, and what is left is where it was."""
    good = {"type": "command", "command": "./good.sh"}
    groups = [
        {"matcher": "Bash", "hooks": [{"type": "command"}, good, {"type": "command", "command": 3}, good]},
        {"matcher": 3, "hooks": [good]},
        {"hooks": [{"type": "command"}]},
        {"matcher": "Edit", "hooks": [good]},
    ]
    kept, refused = left("claude-code", {"hooks": {"PreToolUse": groups, "Stop": [{"hooks": [good]}]}})
    event = ("hooks", "PreToolUse")
    assert kept == [
        ("./good.sh", (*event, 0, "hooks", 1)),
        ("./good.sh", (*event, 0, "hooks", 3)),
        ("./good.sh", (*event, 3, "hooks", 0)),
        ("./good.sh", ("hooks", "Stop", 0, "hooks", 0)),
    ]
    assert {path[:5] for path in refused} >= {(*event, 0, "hooks", 0), (*event, 0, "hooks", 2)}
    assert {path[:3] for path in refused} == {(*event, 0), (*event, 1), (*event, 2)}


def test_nothing_can_be_saved() -> None:
    for tree in ({"spec": "hooks/9", "hooks": [GOOD]}, {"spec": "hooks/1.0", "hooks": [BROKEN[0]]}):
        with pytest.raises(InputError):
            left("canonical", tree)
