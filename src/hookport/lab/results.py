"""The measurements: one JSON file for each agent and version, the same bytes for the same results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from hookport.base.files import replace_file
from hookport.base.tree import Tree
from hookport.errors import InputError, Problem

NOTHING: Mapping[str, Tree] = MappingProxyType({})
# What is counted of each in the file.
SIGHTINGS = {"events": "fired", "tools": "seen", "ignored": "denied"}


class ScenarioResult(NamedTuple):
    """The result of one scenario in one mode: `pass`, `fail` or `cannot`, with the evidence.

    `reason` is why an agent cannot, and `instead` what it does; `parts` has the result of each format; `date`
    is the day of the run.
    """

    result: str
    seconds: float = 0
    evidence: tuple[str, ...] = ()
    reason: str = ""
    instead: str = ""
    parts: Mapping[str, str] = NOTHING
    date: str = ""


class Sighting(NamedTuple):
    """How often something happened in a run with hooks on every event, and in which scenario.

    `fields` are the keys of the event's payloads.
    """

    times: int
    scenario: str = "events"
    fields: tuple[str, ...] = ()


class AgentResults(NamedTuple):
    """The measurements of one version of one agent.

    By native name: `events` are those that fired, `tools` those that hooks saw before they ran, and `ignored`
    the events on which a hook denied and changed nothing.
    """

    agent: str
    driver: str
    title: str
    version: str
    hookport: str
    date: str
    platform: str
    command: str
    isolated: bool
    events: Mapping[str, Sighting] = NOTHING
    scenarios: Mapping[str, Mapping[str, ScenarioResult]] = NOTHING
    tools: Mapping[str, Sighting] = NOTHING
    ignored: Mapping[str, Sighting] = NOTHING


def make_file_name(results: AgentResults) -> str:
    return f"{results.driver}@{results.version}.json"


def format_results(results: AgentResults) -> str:
    """Format the results file, with sorted keys and without empty fields."""
    tree = results._asdict()
    for name, word in SIGHTINGS.items():
        tree[name] = {
            native: {
                word: times,
                "scenario": where,
                **({"fields": list(fields)} if fields else {}),
            }
            for native, (times, where, fields) in tree[name].items()
        }
    tree["scenarios"] = {
        name: {mode: _make_result_tree(result) for mode, result in modes.items()}
        for name, modes in results.scenarios.items()
    }
    return json.dumps(tree, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _make_result_tree(result: ScenarioResult) -> dict[str, Tree]:
    tree = {**result._asdict(), "evidence": list(result.evidence), "parts": dict(result.parts)}
    return {key: value for key, value in tree.items() if value or key == "seconds"}


def parse_results(text: str, file: str = "") -> AgentResults:
    """Parse the results in a text; InputError if it has none."""
    try:
        tree = json.loads(text)
        scenarios = {
            name: {
                mode: ScenarioResult(
                    **{"date": tree["date"], **result, "evidence": tuple(result.get("evidence", ()))}
                )
                for mode, result in modes.items()
            }
            for name, modes in tree["scenarios"].items()
        }
        sightings = {
            name: {
                native: Sighting(
                    int(count[word]), str(count.get("scenario", "events")), tuple(count.get("fields", ()))
                )
                for native, count in tree.get(name, {}).items()
            }
            for name, word in SIGHTINGS.items()
        }
        return AgentResults(**{**tree, **sightings, "scenarios": scenarios})
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        why = f"no results of `hookport prove`: {type(error).__name__}: {error}. Measure them again."
        raise InputError(Problem(why, file=file)) from None


def load_results() -> list[AgentResults]:
    """Load the results that come with hookport, in the order of their names."""
    folder = files("hookport.lab").joinpath("results")
    paths = [path for path in folder.iterdir() if path.name.endswith(".json")] if folder.is_dir() else []
    results = [parse_results(path.read_text("utf-8"), path.name) for path in paths]
    return sorted(results, key=lambda agent_results: (agent_results.driver, agent_results.version))


def write_results(folder: Path, results: AgentResults) -> Path:
    """Write results into a folder, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / make_file_name(results)
    replace_file(str(path), format_results(results).encode(), None)
    return path


def save_results(results: AgentResults) -> Path:
    """Store results in hookport's own source, replacing those of other versions."""
    folder = Path(str(files("hookport.lab").joinpath("results")))
    path = folder / make_file_name(results)
    if path.is_file():
        results = merge_results(parse_results(path.read_text("utf-8"), path.name), results)
    for other in folder.glob(f"{results.driver}@*.json"):
        if other != path:
            other.unlink()
    return write_results(folder, results)


def merge_results(old: AgentResults, new: AgentResults) -> AgentResults:
    """Merge new results with earlier results of scenarios that were not measured again.

    If some are earlier, all get the earlier day: nothing is dated newer than it is.
    """
    names = {*old.scenarios, *new.scenarios}
    scenarios = {
        name: {**old.scenarios.get(name, NOTHING), **new.scenarios.get(name, NOTHING)}
        for name in sorted(names)
    }
    if scenarios != new.scenarios:
        new = new._replace(date=old.date, hookport=old.hookport, isolated=old.isolated and new.isolated)
    # Only through the bridge every event is seen.
    bridged = {name for name, modes in new.scenarios.items() if "bridge" in modes}
    return new._replace(
        scenarios=scenarios,
        events=_merge_sightings(old.events, new.events, bridged),
        tools=_merge_sightings(old.tools, new.tools, bridged),
        ignored=_merge_sightings(old.ignored, new.ignored, bridged),
    )


def _merge_sightings(
    old: Mapping[str, Sighting], new: Mapping[str, Sighting], played: set[str]
) -> dict[str, Sighting]:
    """Merge what was seen: what a scenario showed stays until that scenario is played again."""
    kept = {native: sighting for native, sighting in old.items() if sighting.scenario not in played}
    return dict(sorted({**new, **kept}.items()))


class Failure(NamedTuple):
    """A scenario that failed, and where."""

    driver: str
    scenario: str
    mode: str
    result: ScenarioResult


def find_failures(measured: Iterable[AgentResults]) -> list[Failure]:
    """Find every failure."""
    return [
        Failure(agent_results.driver, name, mode, result)
        for agent_results in measured
        for name, modes in agent_results.scenarios.items()
        for mode, result in modes.items()
        if result.result == "fail"
    ]
