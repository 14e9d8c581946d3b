"""What the matrix shows: a cell for each event, capability and agent, and the basis of its claim.

`measured`: a real agent did it. `documented`: the dialect's table claims it with a source, and no run showed
it. `unknown`: the agent has the event, no source claims that it takes such an answer, and hookport does not
rely on it. A measurement that contradicts a table is never shown; it fails the check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from hookport.agents import Dialect, find_event_specs, get
from hookport.lab import abilities, drivers, scenario
from hookport.lab.results import AgentResults, ScenarioResult, load_results
from hookport.lab.scenario import ABILITIES, AbilityNeed
from hookport.model.events import EVENTS
from hookport.shapes.dialect import find_event

Basis = Literal["measured", "documented", "unknown"]
BASES: tuple[Basis, ...] = ("measured", "documented", "unknown")
# For these an empty table entry means unknown; a table always has whether an event fires and blocks.
UNSAID = ("rewrite", "context")


class Cell(NamedTuple):
    """What one agent does on one event: the claim and its basis, in few words and in full."""

    event: str
    capability: str
    agent: str
    # `yes`, `no`, `perhaps` (depending on the product or the way of running), or how it blocks.
    claim: str
    basis: Basis
    told: str
    why: str = ""


class _Observation(NamedTuple):
    """One result of a run: that an agent can, or what it does if it cannot."""

    results: AgentResults
    need: AbilityNeed
    can: bool
    what: str


def make_cells(agents: Iterable[str], measured: Sequence[AgentResults] | None = None) -> list[Cell]:
    """Make the cells of these agents, by event, capability and agent; without empty rows."""
    dialects = [get(name) for name in agents]
    shown = [
        observation
        for results in (load_results() if measured is None else measured)
        for observation in _find_observations(results)
    ]
    all_cells = []
    for event in EVENTS:
        for capability in ABILITIES:
            row = [_make_cell(dialect, AbilityNeed(event, capability), shown) for dialect in dialects]
            filled = [cell for cell in row if cell is not None]
            if capability not in UNSAID or any(cell.claim not in {"no", ""} for cell in filled):
                all_cells += filled
    return all_cells


def find_contradictions(measured: Sequence[AgentResults] | None = None) -> list[str]:
    """Find where a measurement and a table disagree, a sentence each."""
    sentences = []
    for results in load_results() if measured is None else measured:
        driver, dialect = drivers.get(results.driver), get(results.agent)
        who = f"{results.title} {results.version}"
        sentences += [
            f"{who}: the event '{native}' fired, but the table of {results.agent} lacks it"
            for native in results.events
            if find_event(dialect, native) is None
        ]
        for name, mode, result in _list_results(results):
            needs = scenario.get(name).needs
            word = abilities.find_joint_ability(driver, needs).word
            if result.result == "fail":
                sentences.append(f"{who}: '{name}' failed in {mode} mode: {'; '.join(result.evidence)}")
            elif {"pass": "no", "cannot": "yes"}[_read_word(result)] == word and needs:
                needed = ", ".join(f"{need.event}.{need.can}" for need in needs)
                sentences.append(
                    f"{who}: the tables claim '{word}' for {needed}, but '{name}' is a {result.result}"
                )
    return sentences


def _read_word(result: ScenarioResult) -> str:
    """Read the word of a result: the agent can if it did so with one format."""
    return "pass" if "pass" in result.parts.values() else result.result


def _list_results(results: AgentResults) -> Iterator[tuple[str, str, ScenarioResult]]:
    for name, modes in results.scenarios.items():
        if name in scenario.list_names():
            for mode, result in modes.items():
                yield name, mode, result


def _find_observations(results: AgentResults) -> Iterator[_Observation]:
    dialect = get(results.agent)
    for native in results.events:
        spec = find_event(dialect, native)
        if spec is not None and spec.canonical:
            yield _Observation(
                results, AbilityNeed(spec.canonical, "fires"), can=True, what=f"'{native}' fired"
            )
    for name, mode, result in _list_results(results):
        driver = drivers.get(results.driver)
        for need in scenario.get(name).needs:
            word = abilities.find_ability(driver, need).word
            what = f"'{name}' in {mode} mode"
            if _read_word(result) == "pass" and word != "no":
                yield _Observation(results, need, can=True, what=what)
            elif result.result == "cannot" and word != "yes":
                yield _Observation(
                    results, need, can=False, what=f"{what}: {result.instead or result.reason}"
                )


def _make_cell(dialect: Dialect, need: AbilityNeed, shown: Sequence[_Observation]) -> Cell | None:
    specs = find_event_specs(dialect, need.event)
    if not specs and need.can != "fires":
        return None
    ability = abilities.find_table_ability(dialect, need)
    claim: str = ability.word
    if need.can == "block" and claim != "no":
        claim = specs[0].blocks
    mine = [
        observation
        for observation in shown
        if observation.results.agent == dialect.id and observation.need == need
    ]
    seen = [observation for observation in mine if observation.can]
    source = specs[0].source if specs else ""
    why = ability.reason or dialect.sources.get(source, source)
    place = (need.event, need.can, dialect.id)
    if mine and (seen or need.can == "fires"):
        measured_on = "; ".join(
            dict.fromkeys(
                _format_date(observation, several=_has_several_drivers(mine))
                for observation in (seen or mine)
            )
        )
        lines = dict.fromkeys(
            f"{_format_date(observation, several=True)}: {observation.what}."
            for observation in _select_first(mine)
        )
        return Cell(*place, claim, "measured", measured_on, " ".join([ability.reason, *lines]).strip())
    if claim == "no" and need.can in UNSAID and not mine:
        return Cell(*place, "", "unknown", "no source", why)
    played = [
        f"Played on {_format_date(observation, several=True)}: {observation.what}."
        for observation in _select_first(mine)
    ]
    return Cell(*place, claim, "documented", dialect.facts, " ".join([why, *played]).strip())


def _has_several_drivers(mine: Sequence[_Observation]) -> bool:
    return len({observation.results.driver for observation in mine}) > 1


def _select_first(mine: Sequence[_Observation]) -> list[_Observation]:
    """Select one observation for each program, because they all show the same."""
    return list(
        {
            (observation.results.driver, observation.can): observation for observation in reversed(mine)
        }.values()
    )[::-1]


def _format_date(observation: _Observation, *, several: bool) -> str:
    whose = f"{observation.results.title} " if several else ""
    return f"{whose}{observation.results.version}, {observation.results.date}"
