"""The hooks that a suite is about, found from its folder, and which of them an event and an index mean."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.agents import get_wire, list_dialects
from hookport.base import paths
from hookport.errors import InputError, Problem, UsageError, closest
from hookport.findings import Finding
from hookport.model.events import EVENTS
from hookport.project import plan_builder
from hookport.project.discovery import Discovery, load
from hookport.runtime.plan import PlannedHook
from hookport.testing.suite import CONFIG, Broken, Suite

# `.claude/hooks/tests` is three folders below the project whose settings it is about.
MOST_LEVELS = 3
# A handler within a group that has several.
_HANDLER = re.compile(r"\.hooks\[\d+\]$")
_NUMBER = re.compile(r"\[(\d+)\]$")


class Origin(NamedTuple):
    """Where the hooks of a suite are: the file or folder that names them, and the folder with all they need.

    `parts` are the files and folders in there that are copied, where that is not everything.
    """

    source: Path
    base: Path
    parts: tuple[Path, ...] = ()


def origin(suite: Suite, env: Mapping[str, str]) -> tuple[Origin | None, list[Broken]]:
    """The hooks that a suite is about, and the files that say them wrongly."""
    start = suite.folder.parent
    if suite.config.hooks:
        named = Path(os.path.normpath(suite.folder / suite.config.hooks))
        candidates = [named]
    else:
        candidates = list(_upward(start))
    first: InputError | None = None
    for source in candidates:
        try:
            found = load(str(source), None, env)
        except InputError as error:
            first = first or error
            continue
        wrong = _broken(found.findings)
        if found.hooks:
            try:
                return _origin(suite, found, source), wrong
            except InputError as error:
                return None, [*wrong, Broken(suite.folder / CONFIG, error.problems)]
        if wrong:
            return None, wrong
    if suite.config.hooks and first is not None:
        return None, [Broken(suite.folder, first.problems)]
    message = (
        f"no hooks of any dialect are in {start} or above it, so no case runs. "
        f'Say where they are with "hooks" in {suite.folder / CONFIG}'
    )
    return None, [Broken(suite.folder, (Problem(message, file=str(suite.folder)),))]


def _upward(start: Path) -> Iterable[Path]:
    root = paths.repository(str(start))
    for folder in (start, *start.parents)[:MOST_LEVELS]:
        yield folder
        if str(folder) == root:
            return


def _origin(suite: Suite, found: Discovery, source: Path) -> Origin:
    """The folder that has the hooks, their packages and the tests; InputError if it cannot be copied."""
    folder = source if source.is_dir() else source.parent
    own = [*(one.package for one in found.hooks), str(folder), str(suite.folder.parent)]
    if not suite.config.copy:
        return Origin(source, Path(os.path.commonpath(own)))
    named = [Path(os.path.normpath(suite.folder / path)) for path in suite.config.copy]
    missing = [path for path in named if not path.exists()]
    if missing:
        raise InputError(Problem(f"copy: {missing[0]} does not exist", file=str(suite.folder / CONFIG)))
    parts = (*named, suite.folder, *(Path(one.file) for one in found.hooks))
    return Origin(source, Path(os.path.commonpath([*own, *map(str, named)])), tuple(dict.fromkeys(parts)))


def _broken(findings: Iterable[Finding]) -> list[Broken]:
    by_file: dict[str, list[Problem]] = {}
    for one in findings:
        if one.severity == "error":
            message = f"{one.where}: {one.message}" if one.where else one.message
            problem = Problem(message, (), one.file, one.line, one.column)
            by_file.setdefault(one.file, []).append(problem)
    return [Broken(Path(file), tuple(problems)) for file, problems in by_file.items()]


def hooks_in(found: Discovery) -> list[PlannedHook]:
    """Every hook that may run, in the order of the files."""
    return [plan_builder.plan_entry(one) for one in plan_builder.list_runnable(found)]


class Meant(NamedTuple):
    """The hooks that a case is about, and their event in canonical terms."""

    event: str
    hooks: tuple[PlannedHook, ...]


def meant(hooks: list[PlannedHook], event: str, index: int | None) -> Meant:
    """The hooks of an event, of one group or of all; UsageError if there are none.

    An event is named as the hooks' own dialect names it, as the canonical vocabulary does, or as any dialect.
    """
    own = [hook for hook in hooks if _is_named(hook, event)]
    canonical = own[0].event if own else canonical_event(event, [hook.dialect for hook in hooks])
    own = own or [hook for hook in hooks if hook.event == canonical]
    if not own:
        has = ", ".join(dict.fromkeys(hook.native or hook.event for hook in hooks)) or "nothing"
        raise UsageError(f"no hook is for the event '{event}'. There are hooks for: {has}")
    if index is None:
        return Meant(canonical, tuple(own))
    groups = _groups(own)
    if index not in groups:
        numbers = ", ".join(map(str, sorted(groups)))
        raise UsageError(f"the event '{event}' has no hook group {index}. It has: {numbers}")
    return Meant(canonical, tuple(groups[index]))


def canonical_event(event: str, dialects: Iterable[str] = ()) -> str:
    """The canonical event that a name of any dialect means, those named first."""
    if event in EVENTS:
        return event
    for dialect in dict.fromkeys((*dialects, *list_dialects())):
        found = get_wire(dialect).events.get(event)
        if found:
            return found
    known = (*EVENTS, *(native for name in list_dialects() for native in get_wire(name).events))
    raise UsageError(f"no agent or format has an event '{event}'.{closest(event, known)}")


def _is_named(hook: PlannedHook, event: str) -> bool:
    known = get_wire(hook.dialect).events
    return known.get(event) == hook.event and hook.native in ("", event)


def _groups(hooks: list[PlannedHook]) -> dict[int, list[PlannedHook]]:
    """The groups by their index in the event's list; where they are in several lists, counted through."""
    groups: dict[tuple[str, str], list[PlannedHook]] = {}
    for hook in hooks:
        groups.setdefault((hook.file, _HANDLER.sub("", hook.place)), []).append(hook)
    lists = {(file, _NUMBER.sub("", place)) for file, place in groups}
    is_of_event = len(lists) == 1 and next(iter(lists))[1].endswith(
        (f".{hooks[0].native}", f".{hooks[0].event}")
    )
    numbers = [_NUMBER.search(place) for _, place in groups]
    if is_of_event and all(numbers):
        return {int(found[1]): group for found, group in zip(numbers, groups.values(), strict=True) if found}
    return dict(enumerate(groups.values()))
