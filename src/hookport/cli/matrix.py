"""Show what each agent supports: events and what blocking means there, tools, capabilities.

A row for each agent, or one agent in full, or one event or capability of all agents.

`prevent`: a hook can stop the action. `retry`: it can make the agent continue. `observe`: it can only watch.
An empty cell: the agent has no such event, tool or field. A dot: measured on the real agent by `hookport
prove`, on the version and day of `measured on`. No dot: documented, or read in the agent's source, of the
version that `facts of` names. `?`: no source says so, and hookport does not rely on it.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from hookport.agents import Dialect, find_event_specs, get, list_agents, list_tool_names, supports
from hookport.cli import agent_tables, options
from hookport.cli.agent_tables import (
    format_blocking,
    format_claim,
    format_ways,
    index_cells,
    join_native_names,
)
from hookport.cli.problems import print_line
from hookport.console.document import print_document
from hookport.console.terminal import Paint, format_markdown
from hookport.lab import versions
from hookport.lab.cells import Cell, make_cells
from hookport.lab.results import AgentResults, load_results
from hookport.model.events import EVENTS
from hookport.model.hooks import CAPABILITIES
from hookport.model.tools import TOOLS
from hookport.shapes.dialect import WAYS, WayKind, WayState

Rows = list[tuple[str, ...]]


EXAMPLES = {
    "hookport matrix {third} {other}": "Compare two agents",
    "hookport matrix --event before_tool_execute": "Show one event in every agent",
    "hookport matrix --format html > matrix.html": "Write a page with every source",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport matrix`."""
    parser.add_argument(
        "names", metavar="AGENT", nargs="*", help="Same as --agent AGENT; one is shown in full"
    )
    options.add_agents(parser, "Only these agents or formats", options.parse_dialects)
    parser.add_argument("--event", metavar="EVENT", help="Only this event, by its native or canonical name")
    parser.add_argument(
        "--capability",
        metavar="NAME",
        help=f"Only this capability: {', '.join(agent_tables.ANSWERS)}, or one of the manifest format",
    )
    parser.add_argument(
        "--format",
        metavar="FORMAT",
        choices=("table", "markdown", "html"),
        default="table",
        help="How to print the tables",
    )
    options.add_json(parser)


class NativeEvent(NamedTuple):
    """An event of an agent, and what blocking means there."""

    native: str
    blocks: Literal["prevent", "retry", "observe"]
    source: str


class QuirkDocument(NamedTuple):
    """A surprise of an agent."""

    id: str
    text: str


class WayDocument(NamedTuple):
    """A kind of way around an agent's hooks; `exception` has the words behind "enforced, except"."""

    kind: WayKind
    state: WayState
    id: str
    text: str
    exception: str
    events: tuple[str, ...]
    tools: tuple[str, ...]
    native: str
    since: str
    until: str
    source: str


class AgentDocument(NamedTuple):
    """What an agent supports, with the sources, and the reasons for what is missing."""

    agent: str
    facts: str
    events: dict[str, tuple[NativeEvent, ...]]
    lacks: dict[str, str]
    tools: dict[str, list[str]]
    capabilities: dict[str, bool]
    cells: tuple[Cell, ...]
    quirks: tuple[QuirkDocument, ...]
    ways_around: tuple[WayDocument, ...]


class Document(NamedTuple):
    """The agents that were asked for, and those on PATH that are newer than what was measured."""

    agents: tuple[AgentDocument, ...]
    unmeasured: dict[str, str]


def run(args: Namespace) -> int:
    """Print the tables."""
    chosen = [get(name) for name in [*args.names, *args.agents] or list_agents()]
    if args.json:
        print_document(make_document(chosen))
        return 0
    if args.format == "html":
        from hookport.lab.page import format_page

        sys.stdout.write(format_page(make_cells(dialect.id for dialect in chosen)))
        return 0
    if args.format == "markdown":
        sys.stdout.write(format_pages(chosen))
        return 0
    sys.stdout.write(_format_tables(args, chosen))
    for words in find_unmeasured(chosen).values():
        print_line("note", f"{words}; `hookport prove --latest` compares them")
    return 0


def find_unmeasured(chosen: Iterable[Dialect]) -> dict[str, str]:
    """Find the agents on PATH that are newer than what was measured."""
    installed = versions.list_installed({dialect.id for dialect in chosen})
    sentences = {agent: versions.describe_unmeasured(agent, version) for agent, version in installed}
    return {agent: words for agent, words in sentences.items() if words}


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
    around: Rows = [
        head,
        *((kind, *(format_ways(dialect, kind) for dialect in chosen)) for kind in WAYS),
    ]
    able: Rows = [
        head,
        *((name, *("yes" if supports(dialect, name) else "" for dialect in chosen)) for name in CAPABILITIES),
    ]
    return [
        ("Events: what a hook can do", events),
        ("Events: a hook may change the input", answers("rewrite")),
        ("Events: a hook may tell the model something", answers("context")),
        ("Ways around: calls that hooks do not see", around),
        ("Events: native names", natives),
        ("Tools: native names", tools),
        ("Capabilities", able),
    ]


def _format_measured(measured: Iterable[AgentResults], agent: str) -> str:
    mine = [results for results in measured if results.agent == agent]
    return ", ".join(f"{results.title} {results.version} ({results.date})" for results in mine)


def make_document(chosen: Iterable[Dialect]) -> Document:
    """Make the document of `--json`."""
    measured, dialects = load_results(), list(chosen)
    agents = tuple(_describe_agent(dialect, measured) for dialect in dialects)
    return Document(agents, find_unmeasured(dialects))


def _describe_agent(dialect: Dialect, measured: Sequence[AgentResults]) -> AgentDocument:
    specs = {name: find_event_specs(dialect, name) for name in EVENTS}
    tools = {tool: list_tool_names(dialect, tool) for tool in TOOLS}
    return AgentDocument(
        dialect.id,
        dialect.facts,
        {
            name: tuple(
                NativeEvent(spec.native, spec.blocks, dialect.sources.get(spec.source, spec.source))
                for spec in of_event
            )
            for name, of_event in specs.items()
            if of_event
        },
        dict(dialect.lacks),
        {tool: list(names) for tool, names in tools.items() if names},
        {name: supports(dialect, name) for name in CAPABILITIES},
        tuple(make_cells([dialect.id], measured)),
        tuple(QuirkDocument(quirk.id, quirk.text) for quirk in dialect.quirks),
        tuple(
            WayDocument(
                *(way.kind, way.state, way.id, way.text, way.exception, way.events, way.tools),
                *(way.native, way.since, way.until, dialect.sources.get(way.source, way.source)),
            )
            for way in dialect.ways_around
        ),
    )
