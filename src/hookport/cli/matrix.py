"""Show what each agent can do: events and what blocking means there, tools, capabilities.

A row for each agent, or one agent in full, or one event or capability of all agents.

`prevent`: a hook can stop the action. `retry`: it can make the agent go on. `observe`: it can only watch.
An empty cell: the agent has no such event, tool or field. A cell with a dot was measured on the real agent by
`hookport prove`, on the version and day of `measured on`; one without is documented or was read in the
agent's source, `facts of` names the version; `?`: no source says so, and hookport does not rely on it.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from hookport.agents import Dialect, find_event_specs, get, list_agents, list_tool_names, supports
from hookport.cli import agent_tables
from hookport.cli.agent_tables import format_blocking, format_claim, index_cells, join_native_names
from hookport.console.terminal import Paint, format_markdown
from hookport.lab.cells import make_cells
from hookport.lab.results import AgentResults, load_results
from hookport.model.events import EVENTS
from hookport.model.hooks import CAPABILITIES
from hookport.model.tools import TOOLS

Rows = list[tuple[str, ...]]


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport matrix`."""
    parser.add_argument("named", metavar="AGENT", nargs="*", help="show these only; one in full")
    parser.add_argument(
        "--agent", metavar="AGENT", nargs="+", action="extend", help="show these only; may be repeated"
    )
    parser.add_argument("--event", metavar="EVENT", help="show one event, by its canonical or a native name")
    parser.add_argument(
        "--capability",
        metavar="NAME",
        help=f"show one capability: {', '.join(agent_tables.ANSWERS)}, or one of the manifest format",
    )
    parser.add_argument(
        "--format", choices=("table", "json", "markdown", "html"), default="table", help="how to print it"
    )


def run(args: Namespace) -> int:
    """Print the tables."""
    chosen = [get(name) for name in [*args.named, *(args.agent or [])] or list_agents()]
    if args.format == "json":
        sys.stdout.write(json.dumps(as_json(chosen), indent=2, ensure_ascii=False) + "\n")
        return 0
    if args.format == "html":
        from hookport.lab.page import format_page

        sys.stdout.write(format_page(make_cells(dialect.id for dialect in chosen)))
        return 0
    if args.format == "markdown":
        sys.stdout.write(format_pages(chosen))
        return 0
    sys.stdout.write(_format_tables(args, chosen))
    return 0


def _format_tables(args: Namespace, chosen: list[Dialect]) -> str:
    """Format what the options select."""
    paint = Paint(sys.stdout)
    if args.event:
        return agent_tables.format_event(chosen, args.event, paint)
    if args.capability:
        return agent_tables.format_capability(chosen, args.capability, paint)
    if len(chosen) == 1:
        return agent_tables.format_agent(chosen[0], paint)
    return agent_tables.format_overview(chosen, paint)


def format_pages(chosen: list[Dialect]) -> str:
    """Format every table as Markdown."""
    return "\n".join(f"## {title}\n\n{format_markdown(rows)}" for title, rows in make_sections(chosen))


def make_sections(chosen: list[Dialect]) -> list[tuple[str, Rows]]:
    """Make the tables of events, native names, tools and capabilities, one column per agent."""
    head = ("", *(dialect.id for dialect in chosen))
    facts = ("facts of", *(dialect.facts for dialect in chosen))
    measured = load_results()
    days = (
        "measured on",
        *(_format_measured(measured, dialect.id) for dialect in chosen),
    )
    known = index_cells(chosen)

    def answers(capability: str) -> Rows:
        rows = (
            (name, *(format_claim(known.get((name, capability, dialect.id))) for dialect in chosen))
            for name in EVENTS
        )
        return [head, *(row for row in rows if any(row[1:]))]

    events: Rows = [
        head,
        facts,
        days,
        *((name, *(format_blocking(dialect, name, known) for dialect in chosen)) for name in EVENTS),
    ]
    natives: Rows = [
        head,
        *((name, *(join_native_names(dialect, name) for dialect in chosen)) for name in EVENTS),
    ]
    tools: Rows = [
        head,
        *((tool, *(" ".join(list_tool_names(dialect, tool)) for dialect in chosen)) for tool in TOOLS),
    ]
    able: Rows = [
        head,
        *((name, *("yes" if supports(dialect, name) else "" for dialect in chosen)) for name in CAPABILITIES),
    ]
    return [
        ("Events: what a hook can do", events),
        ("Events: a hook may change the input", answers("rewrite")),
        ("Events: a hook may tell the model something", answers("context")),
        ("Events: native names", natives),
        ("Tools: native names", tools),
        ("Capabilities", able),
    ]


def _format_measured(measured: Iterable[AgentResults], agent: str) -> str:
    mine = [results for results in measured if results.agent == agent]
    return ", ".join(f"{results.title} {results.version} ({results.date})" for results in mine)


def as_json(chosen: list[Dialect]) -> list[dict[str, object]]:
    """The same for machines, with the sources and the reasons for what is missing."""
    return [
        {
            "agent": dialect.id,
            "facts": dialect.facts,
            "events": {
                name: [
                    {
                        "native": spec.native,
                        "blocks": spec.blocks,
                        "source": dialect.sources.get(spec.source, spec.source),
                    }
                    for spec in find_event_specs(dialect, name)
                ]
                for name in EVENTS
                if find_event_specs(dialect, name)
            },
            "lacks": dict(dialect.lacks),
            "tools": {
                tool: list_tool_names(dialect, tool) for tool in TOOLS if list_tool_names(dialect, tool)
            },
            "capabilities": {name: supports(dialect, name) for name in CAPABILITIES},
            "cells": [cell._asdict() for cell in make_cells([dialect.id])],
            "quirks": [{"id": quirk.id, "text": quirk.text} for quirk in dialect.quirks],
        }
        for dialect in chosen
    ]
