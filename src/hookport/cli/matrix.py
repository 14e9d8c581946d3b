"""Show what each agent can do: events and what blocking means there, tools, capabilities.

`prevent`: a hook can stop the action. `retry`: it can make the agent go on. `observe`: it can only watch.
An empty cell: the agent has no such event, tool or field. A cell with a dot was measured on the real agent by
`hookport prove`, on the version and day in the row `measured on`; one without is documented or was read in
the agent's source, `facts of` names the version; `?`: no source says so, and hookport does not rely on it.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace

from hookport.agents import Dialect, find_event_specs, get, list_agents, list_tool_names, supports
from hookport.console.terminal import Paint, format_markdown, format_table
from hookport.lab.cells import Cell, make_cells
from hookport.lab.results import load_results
from hookport.model.events import EVENTS
from hookport.model.hooks import CAPABILITIES
from hookport.model.tools import TOOLS

# Stands behind what was measured.
DOT = " ●"
Rows = list[tuple[str, ...]]


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport matrix`."""
    parser.add_argument(
        "--agent", metavar="AGENT", nargs="+", action="extend", help="show these only; may be repeated"
    )
    parser.add_argument(
        "--format", choices=("table", "json", "markdown", "html"), default="table", help="how to print it"
    )


def run(args: Namespace) -> int:
    """Print the tables."""
    chosen = [get(name) for name in args.agent or list_agents()]
    if args.format == "json":
        sys.stdout.write(json.dumps(as_json(chosen), indent=2, ensure_ascii=False) + "\n")
        return 0
    if args.format == "html":
        from hookport.lab.page import format_page

        sys.stdout.write(format_page(make_cells(dialect.id for dialect in chosen)))
        return 0
    sys.stdout.write(format_tables(chosen, markdown_text=args.format == "markdown"))
    return 0


def format_tables(chosen: list[Dialect], *, markdown_text: bool) -> str:
    """Format the tables one after the other."""
    paint = Paint(sys.stdout)
    words = {"prevent": "kept", "retry": "kept", "observe": "changed", "yes": "kept"}
    styles = {**words, **{word + DOT: style for word, style in words.items()}}
    parts = []
    for title, rows in make_sections(chosen):
        body = format_markdown(rows) if markdown_text else format_table(rows, paint, styles)
        parts.append(f"## {title}\n\n{body}" if markdown_text else f"{title}\n{body}")
    return "\n".join(parts)


def make_sections(chosen: list[Dialect]) -> list[tuple[str, Rows]]:
    """Make the tables of events, native names, tools and capabilities, one column per agent."""
    head = ("", *(dialect.id for dialect in chosen))
    facts = ("facts of", *(dialect.facts for dialect in chosen))
    days = ("measured on", *(_format_measured(dialect) for dialect in chosen))
    known = {
        (cell.event, cell.capability, cell.agent): cell
        for cell in make_cells(dialect.id for dialect in chosen)
    }

    def answers(capability: str) -> Rows:
        rows = (
            (name, *(_format_claim(known.get((name, capability, dialect.id))) for dialect in chosen))
            for name in EVENTS
        )
        return [head, *(row for row in rows if any(row[1:]))]

    events: Rows = [
        head,
        facts,
        days,
        *((name, *(_format_blocking(dialect, name, known) for dialect in chosen)) for name in EVENTS),
    ]
    natives: Rows = [
        head,
        *((name, *(_join_native_names(dialect, name) for dialect in chosen)) for name in EVENTS),
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


def _format_measured(dialect: Dialect) -> str:
    mine = [results for results in load_results() if results.agent == dialect.id]
    return ", ".join(f"{results.title} {results.version} ({results.date})" for results in mine)


def _format_blocking(dialect: Dialect, event: str, known: dict[tuple[str, str, str], Cell]) -> str:
    blocks = next((spec.blocks for spec in find_event_specs(dialect, event)), "")
    cell = known.get((event, "fires" if blocks == "observe" else "block", dialect.id))
    return blocks + DOT if blocks and cell and cell.basis == "measured" else blocks


def _format_claim(cell: Cell | None) -> str:
    if cell is None:
        return ""
    return "?" if cell.basis == "unknown" else cell.claim + DOT * (cell.basis == "measured")


def _join_native_names(dialect: Dialect, event: str) -> str:
    return " ".join(spec.native for spec in find_event_specs(dialect, event))


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
