"""What was measured: one JSON file for each agent and version, the same bytes for the same results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from hookport.errors import InputError, Problem

Tree = Any
NOTHING: Mapping[str, Tree] = MappingProxyType({})


class Result(NamedTuple):
    """What came of one scenario in one mode: `pass`, `fail` or `cannot`, and what shows it.

    `reason` is why an agent cannot and `instead` what it does; `parts` has the result of each format.
    """

    result: str
    seconds: float = 0
    evidence: tuple[str, ...] = ()
    reason: str = ""
    instead: str = ""
    parts: Mapping[str, str] = NOTHING


class Results(NamedTuple):
    """What was measured on one version of one agent; `events` has how often each native event fired."""

    agent: str
    driver: str
    title: str
    version: str
    hookport: str
    date: str
    platform: str
    command: str
    isolated: bool
    events: Mapping[str, int] = NOTHING
    scenarios: Mapping[str, Mapping[str, Result]] = NOTHING


def name_of(results: Results) -> str:
    return f"{results.driver}@{results.version}.json"


def text_of(results: Results) -> str:
    """The file, with sorted keys and nothing that is empty."""
    tree = results._asdict()
    tree["events"] = {native: {"fired": count} for native, count in results.events.items()}
    tree["scenarios"] = {
        name: {mode: _written(one) for mode, one in modes.items()}
        for name, modes in results.scenarios.items()
    }
    return json.dumps(tree, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _written(one: Result) -> dict[str, Tree]:
    tree = {**one._asdict(), "evidence": list(one.evidence), "parts": dict(one.parts)}
    return {key: value for key, value in tree.items() if value or key == "seconds"}


def parse(text: str, file: str = "") -> Results:
    """The results in a text; InputError where it is none of ours."""
    try:
        tree = json.loads(text)
        scenarios = {
            name: {
                mode: Result(**{**one, "evidence": tuple(one.get("evidence", ()))})
                for mode, one in modes.items()
            }
            for name, modes in tree["scenarios"].items()
        }
        events = {native: int(said["fired"]) for native, said in tree["events"].items()}
        return Results(**{**tree, "scenarios": scenarios, "events": events})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = f"no results of `hookport prove`: {type(error).__name__}: {error}. Measure them again."
        raise InputError(Problem(why, file=file)) from None


def kept() -> list[Results]:
    """The results that come with hookport, in the order of their names."""
    folder = files("hookport.lab").joinpath("results")
    paths = [path for path in folder.iterdir() if path.name.endswith(".json")] if folder.is_dir() else []
    found = [parse(path.read_text("utf-8"), path.name) for path in paths]
    return sorted(found, key=lambda one: (one.driver, one.version))


def write(folder: Path, results: Results) -> Path:
    """Put results into a folder, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name_of(results)
    draft = path.with_suffix(".new")
    draft.write_text(text_of(results), "utf-8")
    draft.replace(path)
    return path


def save(results: Results) -> Path:
    """Keep results in hookport's own source, in place of those of other versions."""
    folder = Path(str(files("hookport.lab").joinpath("results")))
    path = folder / name_of(results)
    if path.is_file():
        results = merged(parse(path.read_text("utf-8"), path.name), results)
    for other in folder.glob(f"{results.driver}@*.json"):
        if other != path:
            other.unlink()
    return write(folder, results)


def merged(old: Results, new: Results) -> Results:
    """New results with the scenarios that were measured before and not again.

    Where some are of before, all have the older day: nothing is called newer than it is.
    """
    names = {*old.scenarios, *new.scenarios}
    scenarios = {
        name: {**old.scenarios.get(name, NOTHING), **new.scenarios.get(name, NOTHING)}
        for name in sorted(names)
    }
    if scenarios != new.scenarios:
        new = new._replace(date=old.date, hookport=old.hookport, isolated=old.isolated and new.isolated)
    return new._replace(scenarios=scenarios, events={**old.events, **new.events})


class Failure(NamedTuple):
    """A scenario that failed, and where."""

    driver: str
    scenario: str
    mode: str
    result: Result


def failed(measured: Iterable[Results]) -> list[Failure]:
    """Every failure."""
    return [
        Failure(one.driver, name, mode, result)
        for one in measured
        for name, modes in one.scenarios.items()
        for mode, result in modes.items()
        if result.result == "fail"
    ]
