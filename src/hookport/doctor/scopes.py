"""Hooks in files that their agent does not read, and hooks that it reads twice."""

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
from hookport.doctor.bridge import find_call, is_ours
from hookport.doctor.case import AgentCase, Diagnosis, diagnose_hook, identify_hook, make_file_finding
from hookport.doctor.files import SCOPES, HookFile, read_source, shorten_path, spell_count
from hookport.install.entries import ends_at_once
from hookport.project.agent_trust import expand_last
from hookport.project.ownership import MARK


def find_misplaced_files(case: AgentCase) -> Iterator[Diagnosis]:
    """User files in a project, and project files in the user's home."""
    home, root = case.world.home, case.world.root
    if home is None or home == root:
        return
    paths = {
        scope: _list_paths(case, *scopes) for scope, scopes in (("user", SCOPES[2:]), ("project", SCOPES[:2]))
    }
    for scope, folder, why in (
        ("user", root, "it reads it only in the home folder"),
        ("project", home, "it reads it only in a project"),
    ):
        other_paths = paths["project" if scope == "user" else "user"]
        for path in paths[scope]:
            if any(fnmatch.fnmatchcase(path, other) for other in other_paths) or path.startswith(
                ("/", "hooks")
            ):
                continue
            for file in expand_last(folder / path):
                source = read_source(case.dialect, scope, file)
                place = (
                    f"~/{path}"
                    if scope == "user"
                    else next((f"~/{other}" for other in other_paths), f"a project's {path}")
                )
                if source and source.hooks and not _is_read(case, source):
                    yield _diagnose_file(case, source, f.WrongScope, why, why=why, place=place)


def _list_paths(case: AgentCase, *scopes: str) -> list[str]:
    return [row.path.removeprefix("~/") for row in case.dialect.locations if row.scope in scopes]


def _is_read(case: AgentCase, source: HookFile) -> bool:
    return any(met.path == source.path for met in case.sources)


def _diagnose_file(
    case: AgentCase, source: HookFile, kind: type[f.Kind], evidence: str, **words: object
) -> Diagnosis:
    """A diagnosis of all hooks of a file."""
    words |= {"dialect": case.dialect.title, "count": spell_count(len(source.hooks))}
    dead = frozenset(identify_hook(source, hook) for hook in source.hooks)
    evidence = f"{shorten_path(source.path, case.world)} has {spell_count(len(source.hooks))}; {evidence}"
    return Diagnosis(case.dialect.id, make_file_finding(source.path, kind, words), evidence, dead)


def find_passed_over(case: AgentCase) -> Iterator[Diagnosis]:
    """Files between the folder and the project root, for agents that read only the root."""
    folders = [case.world.cwd, *case.world.cwd.parents]
    if case.dialect.project_read not in ("repository", "unsure") or case.world.root not in folders:
        return
    for folder in folders[: folders.index(case.world.root)]:
        for path in _list_paths(case, "project", "local"):
            for file in expand_last(folder / path):
                source = read_source(case.dialect, "project", file) if file.is_file() else None
                if source and source.hooks:
                    root = shorten_path(case.world.root, case.world)
                    yield _diagnose_file(case, source, f.ReadElsewhere, f"the root is {root}", root=root)
                    break


def find_copies(case: AgentCase) -> Iterator[Diagnosis]:
    """Hooks that the agent reads twice in different files, its own or another agent's."""
    candidates = [
        (source, hook, _make_key(hook), _resolve_script(case, hook))
        for source in (*case.sources, *case.foreign)
        for hook in source.hooks
        if hook.hook.enabled and not ends_at_once(hook.hook.handler.command, case.dialect.id)
    ]
    reported: set[tuple[str, str]] = set()
    for (first, hook, key, script), (second, other, other_key, other_script) in combinations(candidates, 2):
        # Two hooks do the same if their commands are equal, or start the same script.
        if (
            not (key == other_key or (script and script == other_script))
            or identify_hook(second, other) in reported
        ):
            continue
        # `check` reports the same command twice in one file.
        if first.path == second.path and hook.hook.handler.command == other.hook.handler.command:
            continue
        # Of a project's and a user's entries, one answers for both.
        if key[0] == "bridge" and (first.scope == "user") != (second.scope == "user"):
            continue
        if (
            _overlaps(hook, other)
            and not _runs_once(case, hook, other)
            and not _is_apart(case, first, second)
        ):
            reported.add(identify_hook(second, other))
            path, other_path = (shorten_path(source.path, case.world) for source in (first, second))
            evidence = f"{path} and {other_path}: {_spell_call(hook)}"
            yield diagnose_hook(case, second, other, f.RunsTwice, evidence, other=path)


def _is_apart(case: AgentCase, first: HookFile, second: HookFile) -> bool:
    """Whether each product of the agent reads only one of two files."""
    readers = [_find_product(case, str(source.path)) for source in (first, second)]
    return None not in readers and readers[0] != readers[1]


def _find_product(case: AgentCase, path: str) -> int | None:
    numbered = enumerate(case.dialect.products)
    return next((number for number, places in numbered if any(f"/{place}" in path for place in places)), None)


def _resolve_script(case: AgentCase, hook: CheckedEntry) -> tuple[str, ...]:
    """The event and the command with the real path of its script, however spelled."""
    command = hook.hook.handler.command.replace('"', "").replace("'", "")
    for script, path in find_started_scripts(hook, case.world.root):
        word = script.word.replace('"', "").replace("'", "")
        if word in command and path.is_file() and not is_ours(hook):
            return hook.hook.event, command.replace(word, os.path.realpath(path))
    return ()


def _make_key(seen_hook: CheckedEntry) -> tuple[str, ...]:
    """The key that two hooks share if they do the same, in any dialect."""
    if is_ours(seen_hook) and " dispatch " in seen_hook.hook.handler.command:
        return ("bridge", seen_hook.hook.event)
    hook = unwrap_hook(seen_hook.hook)
    handler = hook.handler
    text = handler.command or handler.url or handler.prompt
    text = text.removesuffix(MARK).strip().replace('"', "").replace("'", "")
    for dialect in (seen_hook.dialect, get(hook.dialect or seen_hook.dialect.id)):
        for spelling in sorted(dialect.project_dir, key=len, reverse=True):
            text = text.replace(f"{spelling}/", "")
    return (hook.event, handler.type, text.removeprefix("./"))


def _spell_call(hook: CheckedEntry) -> str:
    call = find_call(hook)
    return call[0] if call else unwrap_hook(hook.hook).handler.command[:80]


def _overlaps(hook: CheckedEntry, other: CheckedEntry) -> bool:
    ours, theirs = hook.hook.matcher, other.hook.matcher
    return not ours or not theirs or bool(set(ours) & set(theirs))


def _runs_once(case: AgentCase, hook: CheckedEntry, other_hook: CheckedEntry) -> bool:
    """Whether the agent runs the same hook once, even if it is in several files."""
    if hook.dialect.id != case.dialect.id or other_hook.dialect.id != case.dialect.id:
        return False
    once = case.dialect.runs_once
    if once is None or (once.by_name and hook.hook.name != other_hook.hook.name):
        return False
    ours, theirs = hook.hook.handler, other_hook.hook.handler
    return (ours.type, ours.command, ours.url, ours.prompt) == (
        theirs.type,
        theirs.command,
        theirs.url,
        theirs.prompt,
    )
