"""Show what each agent can do: events and what blocking means there, tools, capabilities.

`prevent`: a hook can stop the action. `retry`: it can make the agent go on. `observe`: it can only watch.
An empty cell: the agent has no such event, tool or field. Everything shown is documented or was read in
the agent's source; `facts of` names the version.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace

from hookport.cli.terminal import Paint, markdown, table
from hookport.dialects import Dialect, agents, event_specs, get, names_of, supports
from hookport.model.events import EVENTS
from hookport.model.hooks import CAPABILITIES
from hookport.model.tools import TOOLS

Rows = list[tuple[str, ...]]


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport matrix`."""
    parser.add_argument(
        "--agent", metavar="AGENT", nargs="+", action="extend", help="show these only; may be repeated"
    )
    parser.add_argument(
        "--format", choices=("table", "json", "markdown"), default="table", help="how to print it"
    )


def run(args: Namespace) -> int:
    """Print the tables."""
    chosen = [get(name) for name in args.agent or agents()]
    if args.format == "json":
        sys.stdout.write(json.dumps(as_json(chosen), indent=2, ensure_ascii=False) + "\n")
        return 0
    sys.stdout.write(text(chosen, markdown_text=args.format == "markdown"))
    return 0


def text(chosen: list[Dialect], *, markdown_text: bool) -> str:
    """The tables one after the other."""
    paint = Paint(sys.stdout)
    styles = {"prevent": "kept", "retry": "kept", "observe": "changed"}
    parts = []
    for title, rows in sections(chosen):
        body = markdown(rows) if markdown_text else table(rows, paint, styles)
        parts.append(f"## {title}\n\n{body}" if markdown_text else f"{title}\n{body}")
    return "\n".join(parts)


def sections(chosen: list[Dialect]) -> list[tuple[str, Rows]]:
    """Events, native names, tools and capabilities, one column per agent."""
    head = ("", *(one.id for one in chosen))
    facts = ("facts of", *(one.facts for one in chosen))
    events: Rows = [head, facts, *((name, *(_blocks(one, name) for one in chosen)) for name in EVENTS)]
    natives: Rows = [head, *((name, *(_natives(one, name) for one in chosen)) for name in EVENTS)]
    tools: Rows = [head, *((tool, *(" ".join(names_of(one, tool)) for one in chosen)) for tool in TOOLS)]
    able: Rows = [
        head,
        *((name, *("yes" if supports(one, name) else "" for one in chosen)) for name in CAPABILITIES),
    ]
    return [
        ("Events: what a hook can do", events),
        ("Events: native names", natives),
        ("Tools: native names", tools),
        ("Capabilities", able),
    ]


def _blocks(dialect: Dialect, event: str) -> str:
    return next((spec.blocks for spec in event_specs(dialect, event)), "")


def _natives(dialect: Dialect, event: str) -> str:
    return " ".join(spec.native for spec in event_specs(dialect, event))


def as_json(chosen: list[Dialect]) -> list[dict[str, object]]:
    """The same for machines, with the sources and the reasons for what is missing."""
    return [
        {
            "agent": one.id,
            "facts": one.facts,
            "events": {
                name: [
                    {
                        "native": spec.native,
                        "blocks": spec.blocks,
                        "source": one.sources.get(spec.source, spec.source),
                    }
                    for spec in event_specs(one, name)
                ]
                for name in EVENTS
                if event_specs(one, name)
            },
            "lacks": dict(one.lacks),
            "tools": {tool: names_of(one, tool) for tool in TOOLS if names_of(one, tool)},
            "capabilities": {name: supports(one, name) for name in CAPABILITIES},
            "quirks": [{"id": quirk.id, "text": quirk.text} for quirk in one.quirks],
        }
        for one in chosen
    ]
