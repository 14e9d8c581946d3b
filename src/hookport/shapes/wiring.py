"""Completes a dialect's wire: its own tables, and those derived from its events and tools."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from hookport.model.events import join_native
from hookport.shapes.dialect import Dialect, ToolName
from hookport.shapes.limits import find_longest_wait
from hookport.wire.table import Wire


def complete_wire(dialect: Dialect) -> Wire:
    """The wire of a dialect, completed from its tables."""
    mcp = dialect.mcp
    return dialect.wire.replace(
        id=dialect.id,
        fires=dialect.kind == "agent",
        events={
            spec.native: spec.canonical or join_native(dialect.id, spec.native) for spec in dialect.events
        },
        natives=_index_natives(dialect),
        tools=_index_by_native(dialect.tools),
        names=_index_by_tool(dialect.tools),
        event_tools={spec.native: spec.tools for spec in dialect.events if spec.tools},
        event_names={
            spec.native: _index_by_tool(spec.tool_names) for spec in dialect.events if spec.tool_names
        },
        waits=_list_waits(dialect),
        mcp=(mcp.prefix, mcp.joint, mcp.allowed, mcp.longest) if mcp else (),
        traits=(*dialect.wire.traits, *(("server last",) if mcp and mcp.server_last else ())),
        shows={event: channels for event, (channels, _) in dialect.shows.items()} or Wire.shows,
    )


def _index_natives(dialect: Dialect) -> dict[str, list[tuple[Sequence[str], str]]]:
    """The native events of each canonical one, those that are written first."""
    natives: dict[str, list[tuple[Sequence[str], str]]] = {}
    for spec in sorted(dialect.events, key=lambda spec: spec.secondary):
        event = spec.canonical or join_native(dialect.id, spec.native)
        natives.setdefault(event, []).append((spec.tools, spec.native))
    return natives


def _list_waits(dialect: Dialect) -> dict[str, tuple[float, float]]:
    """How long the agent waits for a command, by event: by default, and at most."""
    default = dialect.handlers["command"].timeout.default if "command" in dialect.handlers else None
    rows = {"*": (default, find_longest_wait(dialect, ()))}
    for spec in dialect.events:
        rows[spec.native] = (
            spec.default_timeout,
            find_longest_wait(dialect, (spec,)) if spec.max_timeout else None,
        )
    return {
        native: (_count_seconds(usual), _count_seconds(most))
        for native, (usual, most) in rows.items()
        if usual or most
    }


def _count_seconds(wait: timedelta | None) -> float:
    return wait.total_seconds() if wait else 0.0


def _index_by_native(rows: tuple[ToolName, ...]) -> dict[str, list[str]]:
    tools: dict[str, list[str]] = {}
    for row in rows:
        tools.setdefault(row.native, []).append(row.tool)
    return tools


def _index_by_tool(rows: tuple[ToolName, ...]) -> dict[str, list[str]]:
    """Every name of a tool; aliases and removed names last."""
    names: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: row.alias or row.gone):
        names.setdefault(row.tool, []).append(row.native)
    return names
