"""The matrix as one self-contained HTML page: a cell for each event, capability and agent."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hookport.agents import Dialect, get
from hookport.lab.cells import BASES, Cell, MeasuredRun
from hookport.shapes.dialect import WAYS

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --yes: #1a7f37; --no: #82071e; --dim: #6e7781; }
@media (prefers-color-scheme: dark) { :root { --yes: #4ac26b; --no: #ff8182; --dim: #8b949e; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; max-width: none; }
p, ul { max-width: 75ch; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; }
thead th { position: sticky; top: 0; background: Canvas; z-index: 1; }
tbody th { position: sticky; left: 0; background: Canvas; white-space: nowrap; }
tbody.event th.name { font-weight: 600; }
td b { font-weight: 600; }
td small { display: block; color: var(--dim); white-space: nowrap; }
td.yes b { color: var(--yes); }
td.no b { color: var(--no); }
td.measured { background: color-mix(in srgb, var(--yes) 12%, transparent); }
td.no.measured { background: color-mix(in srgb, var(--no) 10%, transparent); }
td.unknown b { color: var(--dim); }
td.none { color: var(--dim); }
details { display: block; max-width: 28ch; }
summary { cursor: pointer; }
label { margin-right: 1rem; }
body:has(#measured:not(:checked)) td.measured > *,
body:has(#documented:not(:checked)) td.documented > *,
body:has(#unknown:not(:checked)) td.unknown > * { visibility: hidden; }
"""


_EXPLAINED = """
Each cell shows what one agent does on one event, and how hookport knows. <b>measured</b>: <code>hookport
prove</code> ran the real agent, of that version and on that day, against a scripted model, and in another
run, the control, the same calls happened without the hook. <b>documented</b>: the agent's documentation or
source, for that version, claims it, and no run has shown it. <b>unknown</b>: no source claims it, and
hookport does not rely on it. <b>prevent</b>: a hook can stop the action; <b>retry</b>: it can make the agent
continue; <b>perhaps</b>: it depends on the product or the way of running it. An empty cell: the agent has no
such event. <b>tool</b>: hooks see it under the agent's own name. <b>capability</b>: what hooks may have that
the agent runs itself. <b>ways around</b>: calls that an agent's hooks do not see (open), that they see
because hookport names them (closed), or that they see like all others (none). Open a cell for its source or
for the scenario that was played.
"""


def format_page(cells: Sequence[Cell]) -> str:
    """Format the whole page."""
    agents = list(dict.fromkeys(cell.agent for cell in cells))
    by_place = {(cell.event, cell.capability, cell.agent): cell for cell in cells}
    rows = dict.fromkeys((cell.event, cell.capability) for cell in cells)
    head = "".join(f"<th scope=col>{escape(agent)}</th>" for agent in agents)
    bodies = []
    for event in dict.fromkeys(event for event, _ in rows):
        lines = []
        for capability in (name for of, name in rows if of == event):
            row_cells = [by_place.get((event, capability, agent)) for agent in agents]
            lines.append(
                f"<tr><th scope=row class=name>{escape(event)}</th><th scope=row>{escape(capability)}</th>"
                + "".join(_format_cell(cell) for cell in row_cells)
                + "</tr>"
            )
        bodies.append(f"<tbody class=event>{''.join(lines)}</tbody>")
    ways = "".join(
        f"<tr><th scope=row class=name>ways around</th><th scope=row>{escape(kind)}</th>"
        + "".join(_format_ways(get(agent), kind) for agent in agents)
        + "</tr>"
        for kind in WAYS
    )
    bodies.append(f"<tbody class=event>{ways}</tbody>")
    counts = {basis: sum(cell.basis == basis for cell in cells) for basis in BASES}
    filters = "".join(
        f"<label><input type=checkbox id={basis} checked> {basis} ({counts[basis]})</label>"
        for basis in BASES
    )
    return (
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width,initial-scale=1">'
        f"<title>hookport: what hooks can do, by agent</title><style>{_STYLE}</style></head>\n<body>\n"
        f"<h1>What hooks can do, by agent</h1>\n<p>{_EXPLAINED.strip()}</p>\n<p>{filters}</p>\n"
        f"<table><thead><tr><th scope=col>event</th><th scope=col>capability</th>{head}</tr></thead>\n"
        + "\n".join(bodies)
        + "\n</table>\n</body></html>\n"
    )


def _format_ways(dialect: Dialect, kind: str) -> str:
    """Format what is known of one kind of way around an agent's hooks."""
    ways = [way for way in dialect.ways_around if way.kind == kind]
    states = [way.state for way in ways]
    sign = "no" if "open" in states else "unknown" if set(states) <= {"unknown"} else "yes"
    content = f"<b>{escape(', '.join(states) or '?')}</b>"
    why = " ".join(f"{way.id}: {way.text} ({dialect.sources[way.source]})." for way in ways if way.text)
    if why:
        content = f"<details><summary>{content}</summary>{escape(why)}</details>"
    return f'<td class="{sign}">{content}</td>'


def _format_cell(cell: Cell | None) -> str:
    if cell is None:
        return "<td class=none></td>"
    sign = "unknown" if cell.basis == "unknown" else "no" if cell.claim == "no" else "yes"
    content = f"<b>{escape(cell.claim or '?')}</b><small>{escape(cell.told)}</small>"
    lines = [cell.why, *(f"{name}: {format_run(run)}." for name, run in _list_runs(cell))]
    if any(lines):
        content = (
            f"<details><summary>{content}</summary>{'<br>'.join(map(escape, filter(None, lines)))}</details>"
        )
    return f'<td class="{sign} {cell.basis}">{content}</td>'


def _list_runs(cell: Cell) -> list[tuple[str, MeasuredRun]]:
    if not cell.run or not cell.control:
        return []
    return [("Run", cell.run), ("Control without the hook", cell.control)]


def format_run(run: MeasuredRun) -> str:
    """Format where a result comes from, on one line."""
    return f"{run.program}@{run.version} {run.scenario} {run.mode}, {run.date}"
