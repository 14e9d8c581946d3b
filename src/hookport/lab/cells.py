"""What the matrix shows: a cell for each event, capability and agent, and the basis of its claim.

`measured`: a real agent did it in a run, and in the run's control the same calls happened without the hook.
`documented`: the dialect's table claims it with a source, and no run showed
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


# The scenario in which every call happens beside a hook without an opinion.
CONTROL = "allow"


class MeasuredRun(NamedTuple):
    """Where a result comes from: a scenario in a mode, on a version of a program, on a day."""

    program: str
    version: str
    scenario: str
    mode: str
    date: str


class Cell(NamedTuple):
    """What one agent does on one event: the claim and its basis, in few words and in full.

    `run` is the run that showed it, and `control` the one in which the same happened without the hook.
    """

    event: str
    capability: str
    agent: str
    # `yes`, `no`, `perhaps` (depending on the product or the way of running), or how it blocks.
    claim: str
    basis: Basis
    told: str
    why: str = ""
    run: MeasuredRun | None = None
    control: MeasuredRun | None = None


class _Observation(NamedTuple):
    """One result of a run with its control: that an agent can, or what it does if it cannot."""

    results: AgentResults
    need: AbilityNeed
    can: bool
    what: str
    run: MeasuredRun
    control: MeasuredRun | None


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
        if scenario.is_known(name):
            for mode, result in modes.items():
                yield name, mode, result


def _find_observations(results: AgentResults) -> Iterator[_Observation]:
    dialect = get(results.agent)
    fired = _find_events_run(results)
    for native in results.events:
        spec = find_event(dialect, native)
        if spec is not None and spec.canonical and fired:
            need = AbilityNeed(spec.canonical, "fires")
            yield _Observation(results, need, can=True, what=f"'{native}' fired", run=fired, control=fired)
    for name, mode, result in _list_results(results):
        driver = drivers.get(results.driver)
        run = _describe_run(results, name, mode)
        for need in scenario.get(name).needs:
            word = abilities.find_ability(driver, need).word
            # A hook that only ran needs no other run: the call that it saw is its own control.
            control = run if need.can == "fires" else find_control(results, mode)
            what = f"'{name}' in {mode} mode"
            if _read_word(result) == "pass" and word != "no":
                yield _Observation(results, need, can=True, what=what, run=run, control=control)
            elif result.result == "cannot" and word != "yes":
                what = f"{what}: {result.instead or result.reason}"
                yield _Observation(results, need, can=False, what=what, run=run, control=control)


def _find_events_run(results: AgentResults) -> MeasuredRun | None:
    """Find the run with a hook on every event."""
    names = (
        name for name in results.scenarios if scenario.is_known(name) and scenario.get(name).kind == "events"
    )
    return next(
        (_describe_run(results, name, "bridge") for name in names if "bridge" in results.scenarios[name]),
        None,
    )


def find_control(results: AgentResults, mode: str) -> MeasuredRun | None:
    """Find the run in which every call of the scenarios happened beside a hook without an opinion."""
    result = results.scenarios.get(CONTROL, {}).get(mode)
    return _describe_run(results, CONTROL, mode) if result and _read_word(result) == "pass" else None


def _describe_run(results: AgentResults, name: str, mode: str) -> MeasuredRun:
    date = results.scenarios[name][mode].date or results.date
    return MeasuredRun(results.driver, results.version, name, mode, date)


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
    seen = [observation for observation in mine if observation.can and observation.control]
    source = specs[0].source if specs else ""
    why = ability.reason or dialect.sources.get(source, source)
    place = (need.event, need.can, dialect.id)
    if seen or (need.can == "fires" and any(observation.control for observation in mine)):
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
        told = " ".join([ability.reason, *lines]).strip()
        first = (seen or mine)[0]
        return Cell(*place, claim, "measured", measured_on, told, first.run, first.control)
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
    return f"{whose}{observation.run.version}, {observation.run.date}"
