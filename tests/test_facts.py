"""What every dialect must say about itself, and what the interchange format's own tables say about agents."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from typing import Any, get_args

import pytest

from hookport.agents import get, get_wire, list_dialects
from hookport.convert import pipeline
from hookport.model.events import EVENTS, Blocks
from hookport.model.hooks import HANDLER_TYPES
from hookport.model.tools import TOOLS
from hookport.shapes import dialect as tables
from hookport.shapes.dialect import (
    WAYS,
    Dialect,
    Point,
    WayAround,
    WayState,
    find_event,
    list_tool_names,
)
from hookport.shapes.matchers import read_matcher
from hookport.wire.table import Wire

DIALECTS = [get(name) for name in list_dialects()]
each = pytest.mark.parametrize("dialect", DIALECTS, ids=[dialect.id for dialect in DIALECTS])


def repeated(values: list[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


@each
def test_a_native_event_stands_for_one_thing(dialect: Dialect) -> None:
    assert repeated([spec.native for spec in dialect.events]) == []
    assert [spec for spec in dialect.events if spec.canonical and spec.canonical not in EVENTS] == []
    assert [spec for spec in dialect.events if spec.blocks not in get_args(Blocks)] == []


@each
def test_every_event_is_there_or_missing_for_a_reason(dialect: Dialect) -> None:
    there = {spec.canonical for spec in dialect.events if spec.canonical and not spec.secondary}
    assert sorted(there & dialect.lacks.keys()) == []
    assert sorted(EVENTS.keys() - there - dialect.lacks.keys()) == []
    assert sorted(dialect.lacks.keys() - EVENTS.keys()) == []
    assert [event for event, reason in dialect.lacks.items() if not reason.strip()] == []


@each
def test_every_fact_has_a_source(dialect: Dialect) -> None:
    assert dialect.sources
    assert [key for key, text in dialect.sources.items() if not text.strip()] == []
    rows: list[Any] = [*dialect.events, *dialect.tools, *dialect.locations, *dialect.quirks]
    rows += [way for way in dialect.ways_around if way.state != "unknown"]
    rows += [dialect.mcp] if dialect.mcp else []
    assert [row for row in rows if row.source not in dialect.sources] == []
    assert [name for name, source in dialect.wordless.items() if source not in dialect.sources] == []
    assert {*dialect.wordless} & {row.native for row in dialect.tools} == set()


@each
def test_tools_are_words_of_the_vocabulary(dialect: Dialect) -> None:
    assert sorted({row.tool for row in dialect.tools} - TOOLS.keys()) == []
    assert repeated([f"{row.tool} {row.native} {row.source}" for row in dialect.tools]) == []
    for spec in dialect.events:
        assert sorted(set(spec.tools) - {*TOOLS, "mcp"}) == []


@each
def test_handlers_are_known_and_their_times_make_sense(dialect: Dialect) -> None:
    assert sorted(dialect.handlers.keys() - {*HANDLER_TYPES, "native"}) == []
    for spec in dialect.handlers.values():
        rule = spec.timeout
        assert rule.unit in {None, timedelta(seconds=1), timedelta(milliseconds=1)}
        times = [time for time in (rule.minimum, rule.default, rule.maximum) if time is not None]
        assert times == sorted(times)
        assert all(timedelta() <= time <= timedelta(days=30) for time in times)
    for event in dialect.events:
        assert sorted(set(event.types) - dialect.handlers.keys()) == []
        if event.default_timeout and event.max_timeout:
            assert event.default_timeout <= event.max_timeout


@each
def test_places_and_surprises_are_named(dialect: Dialect) -> None:
    assert dialect.title
    assert dialect.facts
    assert dialect.locations
    for place in dialect.locations:
        parts = place.path.split("/")
        assert place.path
        assert ".." not in parts
        assert "\\" not in place.path or place.scope == "system"
    ids = [quirk.id for quirk in dialect.quirks]
    assert repeated([*ids, *(way.id for way in dialect.ways_around if way.id)]) == []
    assert [quirk for quirk in dialect.quirks if not quirk.text.strip()] == []


@each
def test_every_agent_says_what_goes_around_its_hooks(dialect: Dialect) -> None:
    ways = dialect.ways_around
    assert sorted(set(WAYS) - {way.kind for way in ways}) == (
        [] if dialect.kind == "agent" else [*sorted(WAYS)]
    )
    for way in ways:
        assert way.kind in WAYS
        assert way.state in get_args(WayState)
        assert bool(way.id) == bool(way.text), way
        assert way.id or way.state in ("none", "unknown"), (
            f"what happens in '{way.kind}' needs an id and a text"
        )
        assert sorted(set(way.events) - EVENTS.keys()) == []
        assert sorted(set(way.tools) - TOOLS.keys()) == []
    # What is unknown says nothing else of its kind.
    assert [way for way in ways if way.state == "unknown" and way != WayAround(way.kind, "unknown")] == []
    doubted = {way.kind for way in ways if way.state == "unknown"}
    assert repeated([way.kind for way in ways if way.kind in doubted]) == []


@each
def test_a_closed_way_is_named_by_every_guard_of_its_tool(dialect: Dialect) -> None:
    """A second tool is one of the tools that a matcher for the canonical one is written with."""
    closed = [way for way in dialect.ways_around if way.state == "closed"]
    assert [way for way in closed if not (way.native and way.tools)] == []
    assert [
        (way, tool)
        for way in closed
        for tool in way.tools
        if way.native not in list_tool_names(dialect, tool)
    ] == []


# Hook Interchange Format 1.0, event and tool tables; "-" where a row has no name for the agent.
AGENTS = ("claude-code", "gemini-cli", "cursor", "copilot-cli", "kiro")
EVENT_TABLE = """
before_tool_execute PreToolUse       BeforeTool  beforeShellExecution preToolUse          preToolUse
after_tool_execute  PostToolUse      AfterTool   afterFileEdit        postToolUse         postToolUse
before_prompt       UserPromptSubmit BeforeAgent beforeSubmitPrompt   userPromptSubmitted userPromptSubmit
agent_stop          Stop             AfterAgent  stop                 -                   stop
"""
TOOL_TABLE = """
shell      Bash      run_shell_command run_terminal_cmd bash   execute_bash
file_read  Read      read_file         read_file        view   fs_read
file_write Write     write_file        edit_file        create fs_write
file_edit  Edit      replace           edit_file        edit   fs_write
search     Grep      grep_search       grep_search      grep   grep
find       Glob      glob              file_search      glob   glob
web_search WebSearch google_web_search web_search       -      web_search
web_fetch  WebFetch  web_fetch         -                web_fetch web_fetch
agent      Agent     -                 -                task   use_subagent
"""


def cells(table: str) -> list[Any]:
    rows = [line.split() for line in table.strip().splitlines()]
    return [
        pytest.param(agent, canonical, native, id=f"{agent}-{canonical}")
        for canonical, *natives in rows
        for agent, native in zip(AGENTS, natives, strict=True)
        if native != "-" and agent in list_dialects()
    ]


@pytest.mark.parametrize(("agent", "event", "native"), cells(EVENT_TABLE))
def test_events_of_the_interchange_table_are_read(agent: str, event: str, native: str) -> None:
    spec = find_event(get(agent), native)
    assert spec is not None
    assert spec.canonical == event


@pytest.mark.parametrize(("agent", "tool", "native"), cells(TOOL_TABLE))
def test_tools_of_the_interchange_table_are_read(agent: str, tool: str, native: str) -> None:
    dialect = get(agent)
    spec = next(
        spec for spec in dialect.events if spec.canonical == "before_tool_execute" and spec.subject == "tool"
    )
    terms, content = read_matcher(dialect, spec, native)
    assert tool in {term.value for term in terms if term.kind == "tool"}
    assert content == ""


def test_the_manifest_of_the_interchange_format_is_read() -> None:
    manifest = {
        "spec": "hooks/1.0",
        "hooks": [
            {
                "event": "before_tool_execute",
                "matcher": "shell",
                "handler": {"type": "command", "command": "./safety-check.sh", "timeout": 10},
                "blocking": True,
            }
        ],
    }
    (hook,) = pipeline.read(
        {"hooks.json": json.dumps(manifest).encode()}, get("canonical")
    ).decoded.manifest.hooks
    assert (hook.event, hook.matcher[0].value, hook.blocking) == ("before_tool_execute", "shell", True)
    assert (hook.handler.command, hook.handler.timeout) == ("./safety-check.sh", timedelta(seconds=10))


def test_no_field_is_for_one_dialect() -> None:
    """What one agent needs is said by its quirk at a hook point."""
    users = {
        field: [
            dialect.id
            for dialect in DIALECTS
            if getattr(dialect, field) != Dialect._field_defaults.get(field)
        ]
        for field in Dialect._fields
    }
    wires = {dialect.id: get_wire(dialect.id) for dialect in DIALECTS}
    users |= {
        f"wire.{field}": [
            name for name, wire in wires.items() if getattr(wire, field) != getattr(Wire, field)
        ]
        for field in Wire._fields
    }
    # Tools of MCP servers that number their edits are read by it too (`wire.kinds`).
    assert [field for field, names in users.items() if len(names) < 2] == ["wire.numbered"]


def test_every_hook_point_has_a_quirk() -> None:
    points = {point for point in vars(tables).values() if isinstance(point, Point)}
    assert {point for dialect in DIALECTS for quirk in dialect.quirks for point in quirk.at} == points
