"""The newest release of an agent, and what changed in it against the committed results."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from hookport.lab import drivers, programs
from hookport.lab.campaign import Agent
from hookport.lab.driver import AgentPackage
from hookport.lab.programs import ProgramError
from hookport.lab.results import AgentResults, ScenarioResult, Sighting
from hookport.lab.versions import is_newer

# `answer`: a scenario has another result, for example a deny that is no longer obeyed.
ChangeKind = Literal[
    "event gone", "event new", "field gone", "field new", "tool gone", "tool new", "answer", "failure"
]


class Change(NamedTuple):
    """One difference: of what, before and now."""

    kind: ChangeKind
    what: str
    before: str
    now: str


class Newest(NamedTuple):
    """The newest release of an agent beside the measured one; `agent` is None if nothing must be played."""

    name: str
    measured: str
    newest: str
    agent: Agent | None


def find_newest(names: Sequence[str], tell: Callable[[str], None]) -> tuple[list[Newest], dict[str, str]]:
    """Find and fetch the newest releases, and the agents for which that failed, with the reason."""
    found: list[Newest] = []
    missing: dict[str, str] = {}
    for name in names or drivers.list_names():
        driver = drivers.get(name)
        try:
            pinned = driver.package.version
            version = pinned if driver.package.is_last else find_newest_version(driver.package)
            if not is_newer(version, pinned):
                found.append(Newest(name, pinned, pinned, None))
                continue
            moved = driver._replace(package=driver.package._replace(version=version))
            found.append(Newest(name, pinned, version, Agent(name, moved, programs.fetch(name, moved, tell))))
        except ProgramError as error:
            missing[name] = str(error)
    return found, missing


def find_newest_version(package: AgentPackage) -> str:
    """Ask the package's registry for its newest release."""
    if package.registry == "npm":
        npm = shutil.which("npm")
        if not npm:
            raise ProgramError(f"`npm` is not on PATH, so the newest {package.name} is unknown.")
        text = programs.ask_registry([npm, "view", package.name, "version", "--json"], package)
        version = _read_npm_version(text)
    else:
        python = programs.find_python(package)
        pip = [python, "-m", "pip", "--disable-pip-version-check", "index", "versions", package.name]
        version = _read_pip_version(programs.ask_registry(pip, package))
    if not version:
        raise ProgramError(f"the registry names no version of {package.name}.")
    return version


def _read_npm_version(text: str) -> str:
    """Read the version from what npm prints, warnings included."""
    match = re.search(r'^"(\d[^"\s]*)"$', text, re.MULTILINE)
    return match[1] if match else ""


def _read_pip_version(text: str) -> str:
    match = re.search(r"^\S+ \(([^)]+)\)", text, re.MULTILINE)
    return match[1] if match else ""


def compare_results(old: AgentResults, new: AgentResults) -> list[Change]:
    """Compare a newer version with the committed results, in what was played of both."""
    played = set(old.scenarios) & set(new.scenarios)
    changes = [
        *_compare_sightings(old.events, new.events, played, ("event gone", "event new")),
        *_compare_sightings(old.tools, new.tools, played, ("tool gone", "tool new")),
        *_compare_fields(old.events, new.events),
    ]
    for name in sorted(played):
        for mode in sorted(set(old.scenarios[name]) & set(new.scenarios[name])):
            before, now = old.scenarios[name][mode], new.scenarios[name][mode]
            if _describe_result(before) != _describe_result(now):
                kind: ChangeKind = "failure" if now.result == "fail" else "answer"
                evidence = "; ".join(now.evidence) if now.result == "fail" else now.instead
                words = f"{_describe_result(now)}{f': {evidence}' if evidence else ''}"
                changes.append(Change(kind, f"{name} {mode}", _describe_result(before), words))
    return changes


def _describe_result(result: ScenarioResult) -> str:
    """Describe a result with the formats that differ from it."""
    parts = sorted(result.parts.items())
    others = ", ".join(f"{name} {word}" for name, word in parts if word != result.result)
    return f"{result.result}{f' ({others})' if others else ''}"


def _compare_sightings(
    old: Mapping[str, Sighting],
    new: Mapping[str, Sighting],
    played: set[str],
    kinds: tuple[ChangeKind, ChangeKind],
) -> Iterator[Change]:
    for native in sorted(set(old) | set(new)):
        before, now = old.get(native), new.get(native)
        if before and not now and before.scenario in played:
            yield Change(kinds[0], native, f"{before.times} times in '{before.scenario}'", "never")
        if now and not before and now.scenario in played:
            yield Change(kinds[1], native, "never", f"{now.times} times in '{now.scenario}'")


def _compare_fields(old: Mapping[str, Sighting], new: Mapping[str, Sighting]) -> Iterator[Change]:
    """Compare the keys of the payloads, of events from the same scenario."""
    for native in sorted(set(old) & set(new)):
        before, now = old[native], new[native]
        if before.scenario != now.scenario or not before.fields or not now.fields:
            continue
        for field in before.fields:
            if field not in now.fields:
                yield Change("field gone", f"{native}.{field}", "sent", "not sent")
        for field in now.fields:
            if field not in before.fields:
                yield Change("field new", f"{native}.{field}", "not sent", "sent")
