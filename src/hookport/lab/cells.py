"""What the matrix shows: a cell for each event, capability and agent, and the basis of its claim.

`measured`: a real agent did it in a run, and in the run's control the same calls happened without the hook.
`documented`: the dialect's table claims it with a source, and no run showed it. `unknown`: the agent has the
event, no source claims that it takes such an answer, and hookport does not rely on it. A measurement that
contradicts a table is never shown; it fails the check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from hookport.agents import Dialect, find_event_specs, get, supports
from hookport.lab import abilities, drivers, scenario
from hookport.lab.results import AgentResults, ScenarioResult, Sighting, load_results
from hookport.lab.scenario import ABILITIES, AbilityNeed
from hookport.model.events import EVENTS
from hookport.model.hooks import CAPABILITIES
from hookport.model.tools import TOOLS
from hookport.shapes.dialect import find_event, find_tools
from hookport.wire.table import find_table

Basis = Literal["measured", "documented", "unknown"]
BASES: tuple[Basis, ...] = ("measured", "documented", "unknown")
# For these an empty table entry means unknown; a table always has whether an event fires and blocks.
UNSAID = ("rewrite", "context")
# The rows below those of events: tools by the word of the vocabulary, and what hooks of the agent may have.
TOOL, CAPABILITY = "tool", "capability"
# The scenarios that show a capability where the agent runs the hook itself.
SHOWN_BY: dict[str, tuple[str, ...]] = {
    "structured_output": ("rewrite", "context-tool", "context-session", "context-prompt", "deny-json"),
    "input_rewrite": ("rewrite",),
    "async_execution": ("async",),
    "platform_commands": ("handler-platform",),
    "custom_env": ("handler-env",),
    "configurable_cwd": ("handler-cwd",),
}
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
    ids = {dialect.id for dialect in dialects}
    every = [
        results for results in (load_results() if measured is None else measured) if results.agent in ids
    ]
    shown = [observation for results in every for observation in _find_observations(results)]
    all_cells = []
    for event in EVENTS:
        for capability in ABILITIES:
            row = [_make_cell(dialect, AbilityNeed(event, capability), shown) for dialect in dialects]
            filled = [cell for cell in row if cell is not None]
            if capability not in UNSAID or any(cell.claim not in {"no", ""} for cell in filled):
                all_cells += filled
    for tool in TOOLS:
        all_cells += [cell for dialect in dialects if (cell := _make_tool_cell(dialect, tool, every))]
    for capability in CAPABILITIES:
        all_cells += [_make_capability_cell(dialect, capability, every) for dialect in dialects]
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
    for native, sighting in results.events.items():
        spec = find_event(dialect, native)
        run = _find_sighting_run(results, sighting)
        # What fires in a subagent alone is not shown for the agent.
        is_lacking = spec is not None and f"{spec.canonical}.fires" in drivers.get(results.driver).lacks
        if spec is not None and spec.canonical and run and not is_lacking:
            need = AbilityNeed(spec.canonical, "fires")
            yield _Observation(results, need, can=True, what=f"'{native}' fired", run=run, control=run)
    for native, sighting in results.ignored.items():
        spec = find_event(dialect, native)
        run = _find_sighting_run(results, sighting)
        if spec is not None and spec.canonical and run:
            need = AbilityNeed(spec.canonical, "block")
            what = f"a deny on '{native}' changed nothing"
            # The calls that happened in spite of the deny are its control.
            yield _Observation(results, need, can=False, what=what, run=run, control=run)
    for name, mode, result in _list_results(results):
        driver = drivers.get(results.driver)
        run = _describe_run(results, name, mode)
        for event in _list_silent(name, result):
            need, what = AbilityNeed(event, "fires"), f"'{name}' did not make it fire"
            yield _Observation(results, need, can=False, what=what, run=run, control=None)
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


def _list_silent(name: str, result: ScenarioResult) -> list[str]:
    """List the events that a scenario provokes and that did not fire."""
    events = [str(check.about["event"]) for check in scenario.get(name).expect if check.kind == "sees"]
    return [event for event in events if f"{event} did not fire" in result.evidence]


def _find_sighting_run(results: AgentResults, sighting: Sighting) -> MeasuredRun | None:
    """Find the run in which hooks on every event saw something."""
    is_played = "bridge" in results.scenarios.get(sighting.scenario, {})
    return _describe_run(results, sighting.scenario, "bridge") if is_played else None


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
    # A deny that changed nothing was really sent only where the observation is its own control.
    shows_limit = any(observation.control == observation.run for observation in mine)
    if seen or (shows_limit and (claim == "no" or need.can == "fires")):
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
        first = next(
            observation for observation in (seen or mine) if seen or observation.control == observation.run
        )
        return Cell(*place, claim, "measured", measured_on, told, first.run, first.control)
    if claim == "no" and need.can in UNSAID and not mine:
        return Cell(*place, "", "unknown", "no source", why)
    played = [
        f"Played on {_format_date(observation, several=True)}: {observation.what}."
        for observation in _select_first(mine)
    ]
    lacks = _explain_lacks(dialect, f"{need.event}.{need.can}")
    return Cell(*place, claim, "documented", dialect.facts, " ".join([why, *played, *lacks]).strip())


def _make_tool_cell(dialect: Dialect, tool: str, measured: Sequence[AgentResults]) -> Cell | None:
    """Make the cell of a tool of the vocabulary: hooks saw it run under one of its native names."""
    rows = [row for row in dialect.tools if row.tool == tool and not row.alias]
    if not rows:
        return None
    place = (TOOL, tool, dialect.id)
    claim = "yes" if any(not row.gone for row in rows) else "no"
    sources = dict.fromkeys(dialect.sources.get(row.source, row.source) for row in rows)
    why = f"{', '.join(row.native for row in rows)}. {' '.join(sources)}"
    runs: dict[str, MeasuredRun] = {}
    for results in (results for results in measured if results.agent == dialect.id):
        for native, sighting in results.tools.items():
            run = _find_sighting_run(results, sighting)
            if run and tool in find_tools(dialect, native):
                runs.setdefault(f"{results.title} {results.version}, {run.date}: hooks saw {native}", run)
    if not runs:
        return Cell(
            *place,
            claim,
            "documented",
            dialect.facts,
            " ".join([why, *_explain_lacks(dialect, f"tools.{tool}")]),
        )
    first = next(iter(runs.values()))
    told = f"{first.version}, {first.date}"
    return Cell(*place, "yes", "measured", told, f"{why} {'. '.join(runs)}.", first, first)


def _explain_lacks(dialect: Dialect, name: str) -> list[str]:
    """Explain why the runs do not show something, from the drivers of an agent."""
    return [
        f"Not shown by runs of {driver.title}: {driver.lacks[name]}."
        for driver in map(drivers.get, drivers.list_names())
        if drivers.get_dialect_id(driver) == dialect.id and name in driver.lacks
    ]


def _make_capability_cell(dialect: Dialect, capability: str, measured: Sequence[AgentResults]) -> Cell:
    """Make the cell of a capability of hooks that the agent runs itself."""
    claim = "yes" if supports(dialect, capability) else "no"
    place = (CAPABILITY, capability, dialect.id)
    for results in (results for results in measured if results.agent == dialect.id and claim == "yes"):
        control = find_control(results, "native")
        for name in SHOWN_BY.get(capability, ()):
            result = results.scenarios.get(name, {}).get("native")
            is_shown = capability != "structured_output" or _answers_in_json(dialect, name)
            if control and result and is_shown and _read_word(result) == "pass":
                run = _describe_run(results, name, "native")
                told = f"{run.version}, {run.date}"
                why = f"{results.title} {told}: '{name}' in native mode."
                return Cell(*place, claim, "measured", told, why, run, control)
    return Cell(*place, claim, "documented", dialect.facts)


def _answers_in_json(dialect: Dialect, name: str) -> bool:
    """Whether the agent obeyed JSON in a scenario, and not an exit code or a text."""
    for need in scenario.get(name).needs:
        for spec in find_event_specs(dialect, need.event):
            answers = find_table(dialect.wire.answers, spec.native, spec.canonical)
            if "json" in answers.get(abilities.PIECES.get(need.can, ""), {}):
                return True
    return False


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
