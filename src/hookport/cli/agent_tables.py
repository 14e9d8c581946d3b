"""What agents can do, in tables that fit a terminal: all agents, one agent, one event or one capability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hookport.agents import Dialect, find_event_specs, get_wire, list_tool_names, supports
from hookport.console.terminal import Paint, format_table
from hookport.errors import UsageError, suggest_closest
from hookport.lab.cells import Cell, make_cells
from hookport.lab.results import AgentResults, load_results
from hookport.model.events import EVENTS
from hookport.model.hooks import CAPABILITIES
from hookport.model.tools import TOOLS
from hookport.shapes.dialect import WAYS, WayAround
from hookport.wire.table import find_table

# Stands behind what was measured.
DOT = " ●"
_WORDS = {"prevent": "kept", "retry": "kept", "observe": "changed", "yes": "kept", "partly": "changed"}
STYLES = {**_WORDS, **{word + DOT: style for word, style in _WORDS.items()}}
CALL = "before_tool_execute"
# What a hook may answer to an event, beside what an agent's hooks can do in general.
ANSWERS = ("block", "ask", "rewrite", "context")
LEGEND = (
    "BLOCKS, ASKS (takes `ask` as an answer) and REWRITES: before a tool call. CONTEXT: at any event.",
    "EXCEPT: calls that go around the agent's hooks.",
    "prevent: a hook can stop the action. ●: measured by `hookport prove`. ?: no source says so.",
    "`hookport matrix AGENT` shows one agent, `--event EVENT` one event, `--capability NAME` one capability.",
)

Known = Mapping[tuple[str, str, str], Cell]


def format_overview(chosen: Sequence[Dialect], paint: Paint) -> str:
    """Format a row for each agent; on a terminal with what the words mean."""
    known, measured = index_cells(chosen), load_results()
    rows = [("AGENT", "BLOCKS", "ASKS", "REWRITES", "CONTEXT", "EXCEPT", "MEASURED ON")]
    rows += [
        (
            dialect.id,
            format_blocking(dialect, CALL, known) or "no",
            find_asking(dialect, CALL),
            format_claim(known.get((CALL, "rewrite", dialect.id))) or "no",
            _find_best(format_claim(known.get((event, "context", dialect.id))) for event in EVENTS),
            ", ".join(dict.fromkeys(way.kind for way in dialect.ways_around if way.state == "open")) or "–",
            format_versions([results for results in measured if results.agent == dialect.id]) or "–",
        )
        for dialect in chosen
    ]
    return format_table(rows, paint, STYLES, spare=("MEASURED ON",)) + _format_legend(paint)


def _format_legend(paint: Paint) -> str:
    if not paint.width:
        return ""
    return "\n" + "".join(f"{paint.fold(paint(line, 'note'), 2)}\n" for line in LEGEND)


def format_agent(dialect: Dialect, paint: Paint) -> str:
    """Format everything about one agent."""
    known = index_cells([dialect])
    measured = format_versions([results for results in load_results() if results.agent == dialect.id])
    about = f"facts of {dialect.facts}; " + (f"measured on {measured}" if measured else "not measured")
    events: list[tuple[str, ...]] = [("EVENT", "NATIVE", "BLOCKS", "ASKS", "REWRITES", "CONTEXT")]
    events += [
        (
            event,
            join_native_names(dialect, event),
            format_blocking(dialect, event, known),
            find_asking(dialect, event) if event == CALL else "",
            format_claim(known.get((event, "rewrite", dialect.id))),
            format_claim(known.get((event, "context", dialect.id))),
        )
        for event in EVENTS
        if find_event_specs(dialect, event)
    ]
    tools: list[tuple[str, ...]] = [("TOOL", "NATIVE")]
    names = {tool: " ".join(list_tool_names(dialect, tool)) for tool in TOOLS}
    tools += [(tool, native) for tool, native in names.items() if native]
    able: list[tuple[str, ...]] = [("CAPABILITY", "SUPPORTED")]
    able += [(name, "yes" if supports(dialect, name) else "no") for name in CAPABILITIES]
    lacking = [event for event in EVENTS if not find_event_specs(dialect, event)]
    ways: list[tuple[str, ...]] = [("WAY AROUND", "STATE", "ID")]
    ways += [describe_way(way)[:3] for way in dialect.ways_around]
    explained = [(way.id, describe_way(way)[3]) for way in dialect.ways_around if way.text]
    explained += [(quirk.id, quirk.text) for quirk in dialect.quirks]
    parts = [
        f"{paint.fold(paint(f'{dialect.title} ({dialect.id})', 'bold'))}\n{paint.fold(about)}\n",
        format_table(events, paint, STYLES),
        f"{paint.fold('no such event: ' + ', '.join(lacking), 2)}\n" if lacking else "",
        format_table(tools, paint),
        format_table(able, paint, STYLES),
        format_table(ways, paint, STYLES) if dialect.ways_around else "",
        "".join(f"{paint.fold(f'{id_}: {text}', 2)}\n" for id_, text in explained),
    ]
    return "\n".join(filter(None, parts))


def format_event(chosen: Sequence[Dialect], name: str, paint: Paint) -> str:
    """Format what each agent makes of one event, or why it has none."""
    event = find_named_event(name, chosen)
    known = index_cells(chosen)
    rows = [("AGENT", "BLOCKS", "REWRITES", "CONTEXT", "NATIVE")]
    rows += [
        (
            dialect.id,
            format_blocking(dialect, event, known) or "–",
            format_claim(known.get((event, "rewrite", dialect.id))),
            format_claim(known.get((event, "context", dialect.id))),
            join_native_names(dialect, event) or dialect.lacks.get(event, "no such event"),
        )
        for dialect in chosen
    ]
    used = [at for at in range(len(rows[0])) if any(row[at] for row in rows[1:])]
    title = f"{paint(event, 'bold')}\n" if paint.width else ""
    return title + format_table([[row[at] for at in used] for row in rows], paint, STYLES)


def find_named_event(name: str, chosen: Iterable[Dialect]) -> str:
    """Find an event by its canonical name, or by its native name in one of these agents."""
    if name in EVENTS:
        return name
    canonical = [spec.canonical for dialect in chosen for spec in dialect.events if spec.native == name]
    if any(canonical):
        return next(filter(None, canonical))
    raise UsageError(f"unknown event '{name}'.{suggest_closest(name, tuple(EVENTS))}")


def format_capability(chosen: Sequence[Dialect], name: str, paint: Paint) -> str:
    """Format what each agent has of one capability: at which events, or whether at all."""
    if name in CAPABILITIES:
        rows = [("AGENT", "SUPPORTED")]
        rows += [(dialect.id, "yes" if supports(dialect, name) else "no") for dialect in chosen]
    elif name in ANSWERS:
        known = index_cells(chosen)
        rows = [("AGENT", "EVENTS")]
        rows += [(dialect.id, _list_events(dialect, name, known) or "–") for dialect in chosen]
    else:
        names = (*ANSWERS, *CAPABILITIES)
        near = suggest_closest(name, names)
        raise UsageError(f"unknown capability '{name}'.{near} Known: {', '.join(names)}")
    title = f"{paint(name, 'bold')}\n" if paint.width else ""
    return title + format_table(rows, paint, STYLES)


def _list_events(dialect: Dialect, answer: str, known: Known) -> str:
    """List the events at which an agent obeys such an answer; what was measured has a dot."""
    if answer == "ask":
        return {"yes": CALL, "partly": f"{CALL} (some tools)"}.get(find_asking(dialect, CALL), "")
    cells = [known[event, answer, dialect.id] for event in EVENTS if (event, answer, dialect.id) in known]
    return ", ".join(
        cell.event
        + (f" ({cell.claim})" if cell.claim not in ("yes", "prevent") else "")
        + DOT * (cell.basis == "measured")
        for cell in cells
        if cell.claim not in ("no", "")
    )


def index_cells(chosen: Iterable[Dialect]) -> Known:
    """Make the cells of these agents, by event, capability and agent."""
    cells = make_cells(dialect.id for dialect in chosen)
    return {(cell.event, cell.capability, cell.agent): cell for cell in cells}


def format_blocking(dialect: Dialect, event: str, known: Known) -> str:
    """Format what blocking means at an event."""
    blocks = next((spec.blocks for spec in find_event_specs(dialect, event)), "")
    cell = known.get((event, "fires" if blocks == "observe" else "block", dialect.id))
    return blocks + DOT if blocks and cell and cell.basis == "measured" else blocks


def format_claim(cell: Cell | None) -> str:
    """Format what is known of a cell."""
    if cell is None:
        return ""
    return "?" if cell.basis == "unknown" else cell.claim + DOT * (cell.basis == "measured")


def _find_best(claims: Iterable[str]) -> str:
    """Find the best of what is known at several events, measured before documented."""
    order = ("yes" + DOT, "yes", "perhaps" + DOT, "perhaps", "no" + DOT, "no", "?")
    return min(filter(None, claims), key=order.index, default="no")


def find_asking(dialect: Dialect, event: str) -> str:
    """Find whether a hook can have the agent ask its user, by the answers that the agent's table has."""
    answers = get_wire(dialect.id).answers
    asks = {
        "ask" in find_table(answers, spec.native, spec.canonical) for spec in find_event_specs(dialect, event)
    }
    return "partly" if len(asks) > 1 else "yes" if asks == {True} else "no"


def format_level(level: str, exceptions: Sequence[str]) -> str:
    """Format how a deny holds, never without the calls that the agent asks no hook about."""
    if not exceptions:
        return level
    first = exceptions[0].rpartition(" (")[0]
    if len(exceptions) > 1:
        return f"{level}, except in {len(exceptions)} cases"
    return f"{level}, except {first if first in WAYS.values() else 'in 1 case'}"


def describe_way(way: WayAround) -> tuple[str, ...]:
    """Describe a way around an agent's hooks: its kind, state, id, what happens, and the source."""
    versions = [f"since {way.since}"] * bool(way.since) + [f"until {way.until}"] * bool(way.until)
    text = " ".join([way.text, f"({', '.join(versions)})" if versions else ""]).strip()
    return way.kind, way.state, way.id, text, way.source


def format_ways(dialect: Dialect, kind: str) -> str:
    """Format what is known of one kind of way around an agent's hooks."""
    ways = [way for way in dialect.ways_around if way.kind == kind]
    words = {"none": "no", "unknown": "?"}
    return ", ".join(f"{words.get(way.state, way.state)} {way.id}".strip() for way in ways)


def join_native_names(dialect: Dialect, event: str) -> str:
    """Join the native names of an event."""
    return " ".join(spec.native for spec in find_event_specs(dialect, event))


def format_versions(measured: Sequence[AgentResults]) -> str:
    """Format the versions that were measured, with days; several with the names of the products."""
    names = [f"{results.title} " if len(measured) > 1 else "" for results in measured]
    versions = [
        f"{name}{results.version} ({results.date})" for name, results in zip(names, measured, strict=True)
    ]
    return ", ".join(versions)
