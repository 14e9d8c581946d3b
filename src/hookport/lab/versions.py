"""Which version of an agent is here, and whether it is newer than what was measured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hookport.lab import drivers, programs
from hookport.lab.drivers import get_dialect_id
from hookport.lab.results import AgentResults, load_results

NUMBERS = re.compile(r"\d+(?:\.\d+)+")


def is_newer(version: str, than: str) -> bool:
    """Whether a version is later than another, by their numbers; not if one has none."""
    numbers, others = _read_numbers(version), _read_numbers(than)
    return bool(numbers and others) and numbers > others


def _read_numbers(version: str) -> tuple[int, ...]:
    match = NUMBERS.search(version)
    return tuple(map(int, match[0].split("."))) if match else ()


def describe_unmeasured(agent: str, version: str, measured: Iterable[AgentResults] | None = None) -> str:
    """Say that a version is newer than every measured one of its agent; empty if it is not."""
    every = load_results() if measured is None else measured
    versions = [results.version for results in every if results.agent == agent]
    if not version or not versions or not all(is_newer(version, other) for other in versions):
        return ""
    return f"{agent} {version} is newer than what was measured: {', '.join(versions)}"


def list_installed(agents: Iterable[str]) -> Iterator[tuple[str, str]]:
    """List the agents whose program is on PATH, with its version."""
    for name in drivers.list_names():
        driver = drivers.get(name)
        agent = get_dialect_id(driver)
        program = programs.find_installed(driver) if agent in agents else None
        if program:
            yield agent, program.version
