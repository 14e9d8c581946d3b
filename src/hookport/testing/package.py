"""The hooks that a suite tests, found from its folder, and which of them an event and an index mean."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.agents import get_wire, list_dialects
from hookport.base import paths
from hookport.errors import InputError, Problem, UsageError, suggest_closest
from hookport.findings import Finding
from hookport.model.events import EVENTS
from hookport.project import plan_builder
from hookport.project.discovery import Discovery, load
from hookport.runtime.plan import PlannedHook
from hookport.testing.suite import CONFIG, BrokenFile, Suite

# `.claude/hooks/tests` is three levels below the project whose settings it tests.
MOST_LEVELS = 3
# A handler within a group of several.
_HANDLER = re.compile(r"\.hooks\[\d+\]$")
_NUMBER = re.compile(r"\[(\d+)\]$")


class PackageOrigin(NamedTuple):
    """Where the hooks of a suite are: the file or folder that names them, and the folder with all they need.

    `parts` are the files and folders in it that are copied, if not everything.
    """

    source: Path
    base: Path
    parts: tuple[Path, ...] = ()


def find_origin(suite: Suite, env: Mapping[str, str]) -> tuple[PackageOrigin | None, list[BrokenFile]]:
    """Find the hooks that a suite tests, and the files with invalid hooks."""
    start = suite.folder.parent
    if suite.config.hooks:
        named = Path(os.path.normpath(suite.folder / suite.config.hooks))
        candidates = [named]
    else:
        candidates = list(_list_candidates(start))
    first: InputError | None = None
    for source in candidates:
        try:
            discovery = load(str(source), None, env)
        except InputError as error:
            first = first or error
            continue
        wrong = _group_problems(discovery.findings)
        if discovery.hooks:
            try:
                return _make_origin(suite, discovery, source), wrong
            except InputError as error:
                return None, [*wrong, BrokenFile(suite.folder / CONFIG, error.problems)]
        if wrong:
            return None, wrong
    if suite.config.hooks and first is not None:
        return None, [BrokenFile(suite.folder, first.problems)]
    message = (
        f"no hooks of any dialect in {start} or above, so no case runs. "
        f'Name their place with "hooks" in {suite.folder / CONFIG}'
    )
    return None, [BrokenFile(suite.folder, (Problem(message, file=str(suite.folder)),))]


def _list_candidates(start: Path) -> Iterable[Path]:
    root = paths.find_repository(str(start))
    for folder in (start, *start.parents)[:MOST_LEVELS]:
        yield folder
        if str(folder) == root:
            return


def _make_origin(suite: Suite, discovery: Discovery, source: Path) -> PackageOrigin:
    """Find the folder with the hooks, their packages and the tests; InputError if it cannot be copied."""
    folder = source if source.is_dir() else source.parent
    needed = [*(hook.package for hook in discovery.hooks), str(folder), str(suite.folder.parent)]
    if not suite.config.copy:
        return PackageOrigin(source, Path(os.path.commonpath(needed)))
    named = [Path(os.path.normpath(suite.folder / path)) for path in suite.config.copy]
    missing = [path for path in named if not path.exists()]
    if missing:
        raise InputError(Problem(f"copy: {missing[0]} does not exist", file=str(suite.folder / CONFIG)))
    parts = (*named, suite.folder, *(Path(hook.file) for hook in discovery.hooks))
    return PackageOrigin(
        source, Path(os.path.commonpath([*needed, *map(str, named)])), tuple(dict.fromkeys(parts))
    )


def _group_problems(findings: Iterable[Finding]) -> list[BrokenFile]:
    by_file: dict[str, list[Problem]] = {}
    for finding in findings:
        if finding.severity == "error":
            message = f"{finding.where}: {finding.message}" if finding.where else finding.message
            problem = Problem(message, (), finding.file, finding.line, finding.column)
            by_file.setdefault(finding.file, []).append(problem)
    return [BrokenFile(Path(file), tuple(problems)) for file, problems in by_file.items()]


def list_hooks(discovery: Discovery) -> list[PlannedHook]:
    """List every hook that may run, in the order of the files."""
    return [plan_builder.plan_entry(discovered) for discovered in plan_builder.list_runnable(discovery)]


class CaseHooks(NamedTuple):
    """The hooks that a case tests, and their canonical event."""

    event: str
    hooks: tuple[PlannedHook, ...]


def select_hooks(hooks: list[PlannedHook], event: str, index: int | None) -> CaseHooks:
    """Select the hooks of an event, in one group or in all; UsageError if none match.

    The event may have its name in the hooks' own dialect, its canonical name, or any dialect's name.
    """
    named = [hook for hook in hooks if _is_named(hook, event)]
    canonical = named[0].event if named else find_canonical_event(event, [hook.dialect for hook in hooks])
    named = named or [hook for hook in hooks if hook.event == canonical]
    if not named:
        has = ", ".join(dict.fromkeys(hook.native or hook.event for hook in hooks)) or "nothing"
        raise UsageError(f"no hook for the event '{event}'. Events with hooks: {has}")
    if index is None:
        return CaseHooks(canonical, tuple(named))
    groups = _group_hooks(named)
    if index not in groups:
        numbers = ", ".join(map(str, sorted(groups)))
        raise UsageError(f"the event '{event}' has no hook group {index}. Its groups: {numbers}")
    return CaseHooks(canonical, tuple(groups[index]))


def find_canonical_event(event: str, dialects: Iterable[str] = ()) -> str:
    """Find the canonical event for a name of any dialect; `dialects` are searched first."""
    if event in EVENTS:
        return event
    for dialect in dict.fromkeys((*dialects, *list_dialects())):
        canonical = get_wire(dialect).events.get(event)
        if canonical:
            return canonical
    known = (*EVENTS, *(native for name in list_dialects() for native in get_wire(name).events))
    raise UsageError(f"no agent or format has an event '{event}'.{suggest_closest(event, known)}")


def _is_named(hook: PlannedHook, event: str) -> bool:
    known = get_wire(hook.dialect).events
    return known.get(event) == hook.event and hook.native in ("", event)


def _group_hooks(hooks: list[PlannedHook]) -> dict[int, list[PlannedHook]]:
    """Groups by their index in the event's list; groups of several lists are numbered through."""
    groups: dict[tuple[str, str], list[PlannedHook]] = {}
    for hook in hooks:
        groups.setdefault((hook.file, _HANDLER.sub("", hook.place)), []).append(hook)
    lists = {(file, _NUMBER.sub("", place)) for file, place in groups}
    is_of_event = len(lists) == 1 and next(iter(lists))[1].endswith(
        (f".{hooks[0].native}", f".{hooks[0].event}")
    )
    numbers = [_NUMBER.search(place) for _, place in groups]
    if is_of_event and all(numbers):
        return {int(match[1]): group for match, group in zip(numbers, groups.values(), strict=True) if match}
    return dict(enumerate(groups.values()))
