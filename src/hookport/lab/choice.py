"""The quick choice of runs: every scenario in some agent, and every agent in each class of scenarios."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hookport.lab.run import ScenarioRun
from hookport.lab.scenario import CLASSES, Mode


class Played(NamedTuple):
    """A scenario in a mode, in one agent, with all its runs."""

    agent: str
    scenario: str
    mode: Mode

    @property
    def part(self) -> tuple[str, Mode]:
        """What is the same in every agent."""
        return self.scenario, self.mode


def choose_quick(runs: Sequence[ScenarioRun]) -> tuple[ScenarioRun, ...]:
    """Choose from every run of every agent, in their order; the same runs give the same choice.

    First each agent plays one scenario of each class, the one that the fewest agents play so far. Then each
    scenario that no agent plays goes to the agent with the fewest runs.
    """
    sizes: Counter[Played] = Counter()
    kinds: dict[tuple[str, Mode], str] = {}
    for run in runs:
        played = Played(run.driver, run.scenario.name, run.mode)
        sizes[played] += 1
        kinds[played.part] = run.scenario.kind
    chosen: dict[Played, None] = {}
    players: Counter[tuple[str, Mode]] = Counter()

    def choose(candidates: Sequence[Played], key: Callable[[Played], tuple[object, ...]]) -> None:
        best = min(candidates, key=key)
        chosen[best] = None
        players[best.part] += 1

    for agent in dict.fromkeys(run.driver for run in runs):
        for kind in CLASSES:
            candidates = [played for played in sizes if played.agent == agent and kinds[played.part] == kind]
            if candidates:
                choose(candidates, lambda played: (players[played.part], sizes[played], played))
    for part in kinds:
        if not players[part]:
            loads: Counter[str] = Counter()
            for played in chosen:
                loads[played.agent] += sizes[played]
            choose(
                [played for played in sizes if played.part == part],
                lambda played, loads=loads: (loads[played.agent] + sizes[played], played),  # type: ignore[misc]
            )
    return tuple(run for run in runs if Played(run.driver, run.scenario.name, run.mode) in chosen)
