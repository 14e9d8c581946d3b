"""A dialect's wire made whole: its own tables and what follows from those of its events and tools."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from hookport.agents import get, names
from hookport.agents._base import Dialect, EventSpec, ToolName, Tree, terms_of
from hookport.agents._limits import longest_wait
from hookport.model.events import native_event
from hookport.wire import recognition
from hookport.wire.table import Wire


@cache
def wire(name: str) -> Wire:
    """The wire of the dialect of that id."""
    dialect = get(name)
    mcp = dialect.mcp
    return dialect.wire.replace(
        id=dialect.id,
        fires=dialect.kind == "agent",
        events={
            spec.native: spec.canonical or native_event(dialect.id, spec.native) for spec in dialect.events
        },
        natives=_natives(dialect),
        tools=_by_native(dialect.tools),
        names=_by_tool(dialect.tools),
        event_tools={spec.native: tools for spec in dialect.events if (tools := _tools(spec))},
        event_names={spec.native: _by_tool(spec.tool_names) for spec in dialect.events if spec.tool_names},
        file_placeholder=dialect.file_placeholder,
        waits=_waits(dialect),
        ceilings=_ceilings(dialect),
        mcp=(mcp.prefix, mcp.joint, mcp.allowed, mcp.longest) if mcp else (),
        server_last=mcp is not None and mcp.server_last,
        precedence=dialect.precedence,
        shows={event: channels for event, (channels, _) in dialect.shows.items()} or Wire.shows,
    )


def _natives(dialect: Dialect) -> dict[str, list[tuple[list[str], str]]]:
    """The native events of each canonical one, those that are written first."""
    found: dict[str, list[tuple[list[str], str]]] = {}
    for spec in sorted(dialect.events, key=lambda spec: spec.secondary):
        event = spec.canonical or native_event(dialect.id, spec.native)
        found.setdefault(event, []).append((_tools(spec), spec.native))
    return found


def _waits(dialect: Dialect) -> dict[str, float]:
    """How long the agent waits for a command, by event, in seconds, where that is known."""
    default = dialect.handlers["command"].timeout.default if "command" in dialect.handlers else None
    rows = {"*": default, **{spec.native: spec.default_timeout or None for spec in dialect.events}}
    return {native: wait.total_seconds() for native, wait in rows.items() if wait is not None}


def _ceilings(dialect: Dialect) -> dict[str, float]:
    """How long the agent waits at most, by event, in seconds, where it has a limit."""
    rows = {
        "*": longest_wait(dialect, ()),
        **{spec.native: longest_wait(dialect, (spec,)) for spec in dialect.events if spec.max_timeout},
    }
    return {native: wait.total_seconds() for native, wait in rows.items() if wait is not None}


def _tools(spec: EventSpec) -> list[str]:
    return [term.value if term.kind == "tool" else "mcp" for term in terms_of(spec)]


def _by_native(rows: tuple[ToolName, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.native, []).append(row.tool)
    return found


def _by_tool(rows: tuple[ToolName, ...]) -> dict[str, list[str]]:
    """Every name of a tool; aliases and names that are gone last."""
    found: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: row.alias or row.gone):
        found.setdefault(row.tool, []).append(row.native)
    return found


def recognised(payload: Mapping[str, Tree]) -> list[tuple[str, str]]:
    """(dialect, native event) of those a payload may be of, the likeliest first."""
    return [(own.id, native) for own, native in recognition.recognised(payload, map(wire, names()))]
