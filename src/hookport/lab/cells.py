"""What the matrix shows: a cell for each event, capability and agent, and how we know what stands in it.

`measured`: a real agent did it. `documented`: the dialect's table says so, with its source, and no run showed
it. `unknown`: the agent has the event, no source says that it takes such an answer, and hookport does not
rely on it. A measurement that contradicts a table is never shown; it fails the check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from hookport.agents import Dialect, find_event_specs, get
from hookport.lab import abilities, drivers, scenario
from hookport.lab.results import Result, Results, kept
from hookport.lab.scenario import ABILITIES, Need
from hookport.model.events import EVENTS
from hookport.shapes.dialect import find_event

Basis = Literal["measured", "documented", "unknown"]
BASES: tuple[Basis, ...] = ("measured", "documented", "unknown")
# Of these a table that says nothing says nothing; whether an event fires and blocks is always said.
UNSAID = ("rewrite", "context")


class Cell(NamedTuple):
    """What one agent does at one event: the claim, how it is known, in few words and in full."""

    event: str
    capability: str
    agent: str
    # `yes`, `no`, `perhaps` (it depends on the product or the way of running), or how it blocks.
    claim: str
    basis: Basis
    told: str
    why: str = ""


class _Shown(NamedTuple):
    """One thing that a run showed: that an agent can, or what it does where it cannot."""

    results: Results
    need: Need
    can: bool
    what: str


def cells(agents: Iterable[str], measured: Sequence[Results] | None = None) -> list[Cell]:
    """The cells of these agents, by event, capability and agent; rows that no agent fills are left out."""
    dialects = [get(name) for name in agents]
    shown = [one for results in (kept() if measured is None else measured) for one in _shown(results)]
    found = []
    for event in EVENTS:
        for capability in ABILITIES:
            row = [_cell(dialect, Need(event, capability), shown) for dialect in dialects]
            filled = [cell for cell in row if cell is not None]
            if capability not in UNSAID or any(cell.claim not in {"no", ""} for cell in filled):
                found += filled
    return found


def contradictions(measured: Sequence[Results] | None = None) -> list[str]:
    """Where a measurement and a table disagree, a sentence each."""
    found = []
    for results in kept() if measured is None else measured:
        driver, dialect = drivers.get(results.driver), get(results.agent)
        who = f"{results.title} {results.version}"
        found += [
            f"{who}: the event '{native}' fired, and the table of {results.agent} does not have it"
            for native in results.events
            if find_event(dialect, native) is None
        ]
        for name, mode, one in _played(results):
            needs = scenario.get(name).needs
            word = abilities.all_of(driver, needs).word
            if one.result == "fail":
                found.append(f"{who}: '{name}' failed in {mode} mode: {'; '.join(one.evidence)}")
            elif {"pass": "no", "cannot": "yes"}[_said(one)] == word and needs:
                said = ", ".join(f"{need.event}.{need.can}" for need in needs)
                found.append(f"{who}: the tables say '{word}' of {said}, and '{name}' is a {one.result}")
    return found


def _said(one: Result) -> str:
    """What a result says of the agent: it can if it did with one format, whoever runs those of the others."""
    return "pass" if "pass" in one.parts.values() else one.result


def _played(results: Results) -> Iterator[tuple[str, str, Result]]:
    for name, modes in results.scenarios.items():
        if name in scenario.names():
            for mode, one in modes.items():
                yield name, mode, one


def _shown(results: Results) -> Iterator[_Shown]:
    dialect = get(results.agent)
    for native in results.events:
        spec = find_event(dialect, native)
        if spec is not None and spec.canonical:
            yield _Shown(results, Need(spec.canonical, "fires"), can=True, what=f"'{native}' fired")
    for name, mode, one in _played(results):
        driver = drivers.get(results.driver)
        for need in scenario.get(name).needs:
            word = abilities.of(driver, need).word
            what = f"'{name}' in {mode} mode"
            if _said(one) == "pass" and word != "no":
                yield _Shown(results, need, can=True, what=what)
            elif one.result == "cannot" and word != "yes":
                yield _Shown(results, need, can=False, what=f"{what}: {one.instead or one.reason}")


def _cell(dialect: Dialect, need: Need, shown: Sequence[_Shown]) -> Cell | None:
    specs = find_event_specs(dialect, need.event)
    if not specs and need.can != "fires":
        return None
    ability = abilities.in_tables(dialect, need)
    claim: str = ability.word
    if need.can == "block" and claim != "no":
        claim = specs[0].blocks
    mine = [one for one in shown if one.results.agent == dialect.id and one.need == need]
    seen = [one for one in mine if one.can]
    source = specs[0].source if specs else ""
    why = ability.reason or dialect.sources.get(source, source)
    place = (need.event, need.can, dialect.id)
    if mine and (seen or need.can == "fires"):
        told = "; ".join(dict.fromkeys(_when(one, several=_differ(mine)) for one in (seen or mine)))
        lines = dict.fromkeys(f"{_when(one, several=True)}: {one.what}." for one in _first(mine))
        return Cell(*place, claim, "measured", told, " ".join([ability.reason, *lines]).strip())
    if claim == "no" and need.can in UNSAID and not mine:
        return Cell(*place, "", "unknown", "no source", why)
    played = [f"Played on {_when(one, several=True)}: {one.what}." for one in _first(mine)]
    return Cell(*place, claim, "documented", dialect.facts, " ".join([why, *played]).strip())


def _differ(mine: Sequence[_Shown]) -> bool:
    return len({one.results.driver for one in mine}) > 1


def _first(mine: Sequence[_Shown]) -> list[_Shown]:
    """One thing shown for each program, since they all show the same."""
    return list({(one.results.driver, one.can): one for one in reversed(mine)}.values())[::-1]


def _when(one: _Shown, *, several: bool) -> str:
    whose = f"{one.results.title} " if several else ""
    return f"{whose}{one.results.version}, {one.results.date}"
