"""Hooks that stand where their agent does not look, and hooks that it finds in two places."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator
from itertools import combinations

from hookport import findings as f
from hookport.agents import get
from hookport.convert.checks import CheckedEntry
from hookport.convert.checks.scripts import find_started_scripts
from hookport.convert.degrade.wrapping import unwrap_hook
from hookport.doctor.bridge import call_of, is_ours
from hookport.doctor.case import Case, Diagnosis, about, at_file, name
from hookport.doctor.files import SCOPES, Source, counted, read, shown
from hookport.install.entries import ends_at_once
from hookport.project.agent_trust import expand_last
from hookport.project.ownership import MARK


def misplaced(case: Case) -> Iterator[Diagnosis]:
    """Files of the user in a project, and files of a project in the user's home."""
    home, root = case.world.home, case.world.root
    if home is None or home == root:
        return
    paths = {
        scope: _paths(case, *scopes) for scope, scopes in (("user", SCOPES[2:]), ("project", SCOPES[:2]))
    }
    for scope, folder, why in (
        ("user", root, "it reads it in the home folder only"),
        ("project", home, "it reads it in a project only"),
    ):
        others = paths["project" if scope == "user" else "user"]
        for path in paths[scope]:
            if any(fnmatch.fnmatchcase(path, other) for other in others) or path.startswith(("/", "hooks")):
                continue
            for file in expand_last(folder / path):
                source = read(case.dialect, scope, file)
                place = (
                    f"~/{path}"
                    if scope == "user"
                    else next((f"~/{one}" for one in others), f"a project's {path}")
                )
                if source and source.hooks and not _is_met(case, source):
                    yield _whole(case, source, f.WrongScope, why, why=why, place=place)


def _paths(case: Case, *scopes: str) -> list[str]:
    return [row.path.removeprefix("~/") for row in case.dialect.locations if row.scope in scopes]


def _is_met(case: Case, source: Source) -> bool:
    return any(one.path == source.path for one in case.sources)


def _whole(case: Case, source: Source, kind: type[f.Kind], evidence: str, **words: object) -> Diagnosis:
    """A diagnosis of all hooks of a file."""
    words |= {"dialect": case.dialect.title, "count": counted(len(source.hooks))}
    dead = frozenset(name(source, one) for one in source.hooks)
    told = f"{shown(source.path, case.world)} has {counted(len(source.hooks))}; {evidence}"
    return Diagnosis(case.dialect.id, at_file(source.path, kind, words), told, dead)


def passed_over(case: Case) -> Iterator[Diagnosis]:
    """Files between the folder and the project's root, for agents that look at the root only."""
    folders = [case.world.cwd, *case.world.cwd.parents]
    if not case.dialect.at_repository or case.world.root not in folders:
        return
    for folder in folders[: folders.index(case.world.root)]:
        for path in _paths(case, "project", "local"):
            for file in expand_last(folder / path):
                source = read(case.dialect, "project", file) if file.is_file() else None
                if source and source.hooks:
                    root = shown(case.world.root, case.world)
                    yield _whole(case, source, f.ReadElsewhere, f"the root is {root}", root=root)
                    break


def copies(case: Case) -> Iterator[Diagnosis]:
    """Hooks that the agent reads twice in different files, be one of them another agent's."""
    found = [
        (source, one, _key(one), _started(case, one))
        for source in (*case.sources, *case.foreign)
        for one in source.hooks
        if one.hook.enabled and not ends_at_once(one.hook.handler.command, case.dialect.id)
    ]
    told: set[tuple[str, str]] = set()
    for (first, one, key, script), (second, other, other_key, other_script) in combinations(found, 2):
        # Two hooks do the same by their words, or by the script that both start.
        if not (key == other_key or (script and script == other_script)) or name(second, other) in told:
            continue
        # The same words twice in one file are told of by `check`.
        if first.path == second.path and one.hook.handler.command == other.hook.handler.command:
            continue
        # Of entries of a project and of a user one answers for both.
        if key[0] == "bridge" and (first.scope == "user") != (second.scope == "user"):
            continue
        if _overlap(one, other) and not _once(case, one, other) and not _apart(case, first, second):
            told.add(name(second, other))
            spot = f"{shown(first.path, case.world)}"
            evidence = f"{shown(first.path, case.world)} and {shown(second.path, case.world)}: {_shown(one)}"
            yield about(case, second, other, f.RunsTwice, evidence, other=spot)


def _apart(case: Case, first: Source, second: Source) -> bool:
    """Whether no product of the agent reads both files."""
    readers = [_product(case, str(source.path)) for source in (first, second)]
    return None not in readers and readers[0] != readers[1]


def _product(case: Case, path: str) -> int | None:
    numbered = enumerate(case.dialect.products)
    return next((number for number, places in numbered if any(f"/{place}" in path for place in places)), None)


def _started(case: Case, one: CheckedEntry) -> tuple[str, ...]:
    """The event and the command with the real path of its script, however that is spelled."""
    command = one.hook.handler.command.replace('"', "").replace("'", "")
    for script, path in find_started_scripts(one, case.world.root):
        word = script.word.replace('"', "").replace("'", "")
        if word in command and path.is_file() and not is_ours(one):
            return one.hook.event, command.replace(word, os.path.realpath(path))
    return ()


def _key(one: CheckedEntry) -> tuple[str, ...]:
    """What two hooks share that do the same, in whatever dialect they are written."""
    if is_ours(one) and " dispatch " in one.hook.handler.command:
        return ("bridge", one.hook.event)
    hook = unwrap_hook(one.hook)
    handler = hook.handler
    text = handler.command or handler.url or handler.prompt
    text = text.removesuffix(MARK).strip().replace('"', "").replace("'", "")
    for dialect in (one.dialect, get(hook.dialect or one.dialect.id)):
        for spelling in sorted(dialect.project_dir, key=len, reverse=True):
            text = text.replace(f"{spelling}/", "")
    return (hook.event, handler.type, text.removeprefix("./"))


def _shown(one: CheckedEntry) -> str:
    call = call_of(one)
    return call[0] if call else unwrap_hook(one.hook).handler.command[:80]


def _overlap(one: CheckedEntry, other: CheckedEntry) -> bool:
    ours, theirs = one.hook.matcher, other.hook.matcher
    return not ours or not theirs or bool(set(ours) & set(theirs))


def _once(case: Case, one: CheckedEntry, other: CheckedEntry) -> bool:
    """Whether the agent runs the same hook once, wherever it stands."""
    if one.dialect.id != case.dialect.id or other.dialect.id != case.dialect.id:
        return False
    once = case.dialect.runs_once
    if once is None or (once.by_name and one.hook.name != other.hook.name):
        return False
    ours, theirs = one.hook.handler, other.hook.handler
    return (ours.type, ours.command, ours.url, ours.prompt) == (
        theirs.type,
        theirs.command,
        theirs.url,
        theirs.prompt,
    )
