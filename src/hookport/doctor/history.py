"""The runs of hooks in the journal: how long the last runs took, and which hooks never ran."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hookport.agents import Tree
from hookport.runtime import journal

# Older runs show little about the current hook.
LAST = 200
# A single slow start proves nothing.
FEWEST = 3
SHARE = 0.95


class RunTimes(NamedTuple):
    """The last runs: how long each took, and how many timed out."""

    seconds: deque[float]
    cut: list[int]

    def add(self, seconds: Tree, outcome: Tree) -> None:
        if isinstance(seconds, (int, float)) and not isinstance(seconds, bool):
            self.seconds.append(float(seconds))
            self.cut.append(int(outcome == "timeout"))
            del self.cut[:-LAST]

    def find_slow_seconds(self) -> float:
        """The time within which 95 % of the runs ended."""
        ordered = sorted(self.seconds)
        return ordered[math.ceil(SHARE * len(ordered)) - 1]


class LoggedEvent(NamedTuple):
    """One event of the journal: its time and place, its canonical name and tool, each hook's run."""

    time: str
    agent: str
    event: str
    tool: str
    cwd: str
    hooks: Mapping[tuple[str, str], tuple[bool, str]]


class History(NamedTuple):
    """The journal, by hook (its file and place), by command and agent, by agent and native event."""

    by_hook: dict[tuple[str, str], RunTimes]
    by_command: dict[tuple[str, str], RunTimes]
    by_event: dict[tuple[str, str], RunTimes]
    events: tuple[LoggedEvent, ...]


def read_history(env: Mapping[str, str]) -> History:
    """The whole journal; nothing if it cannot be read."""
    past = History({}, {}, {}, ())
    events: list[LoggedEvent] = []
    try:
        for record in journal.Reader(env).new():
            events.append(_read_event(record))
            _add_run(
                past.by_event,
                (_read_text(record, "agent"), _read_text(record, "native")),
                record.get("seconds"),
                "",
            )
            for run in _list_hooks(record):
                if not run.get("matched"):
                    continue
                source, place = _read_text(run, "source"), _read_text(run, "place")
                key = (source, place) if source else (_read_text(record, "agent"), _read_text(run, "hook"))
                table = past.by_hook if source else past.by_command
                _add_run(table, key, run.get("seconds"), run.get("outcome"))
    except OSError:
        return past
    return past._replace(events=tuple(events))


def _add_run(
    table: dict[tuple[str, str], RunTimes], key: tuple[str, str], seconds: Tree, outcome: Tree
) -> None:
    table.setdefault(key, RunTimes(deque(maxlen=LAST), [])).add(seconds, outcome)


def _read_event(record: Mapping[str, Tree]) -> LoggedEvent:
    hooks = {
        (_read_text(run, "source"), _read_text(run, "place")): (
            bool(run.get("matched")),
            _read_text(run, "why"),
        )
        for run in _list_hooks(record)
    }
    time, agent, event, tool, cwd = (
        _read_text(record, key) for key in ("time", "agent", "event", "tool", "cwd")
    )
    return LoggedEvent(time, agent, event, tool, cwd, hooks)


def _list_hooks(record: Mapping[str, Tree]) -> Iterable[Mapping[str, Tree]]:
    hooks = record.get("hooks")
    return [run for run in hooks if isinstance(run, Mapping)] if isinstance(hooks, list) else []


def _read_text(record: Mapping[str, Tree], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def is_late(runs: RunTimes | None, limit_seconds: float) -> bool:
    """Whether runs timed out, or take longer than allowed."""
    if runs is None or not runs.seconds:
        return False
    return bool(sum(runs.cut)) or (len(runs.seconds) >= FEWEST and runs.find_slow_seconds() >= limit_seconds)
