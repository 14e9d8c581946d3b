"""What keeps hooks from running that are written down correctly: settings, trust, files that hide others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from hookport.checks import Seen
from hookport.dialects import Tree
from hookport.dialects._base import FolderTrust, Gate, HookTrust
from hookport.errors import spell_path
from hookport.findings import FileShadowed, FolderUntrusted, HooksOff, HookUntrusted, TrustUnseen
from hookport.formats import Document
from hookport.install.doctor.case import Case, Diagnosis, about, at_file, names
from hookport.install.doctor.files import Source, at, counted, places, settings, shown, spelled


def switched_off(case: Case) -> Iterator[Diagnosis]:
    """Settings that switch hooks off: those of the agent, of the project and of the machine."""
    for gate in case.dialect.gates:
        if gate.variable:
            yield from _by_variable(case, gate)
        elif gate.files == ("",):
            for source in case.sources:
                yield from _by_value(case, gate, source.path, source.document, [source])
        else:
            found = _first(case, gate.files, gate.key)
            if found:
                there = [source for source in case.sources if source.scope in gate.scopes]
                yield from _by_value(case, gate, *found, there)


def _by_variable(case: Case, gate: Gate) -> Iterator[Diagnosis]:
    value = case.world.env.get(gate.variable, "")
    hooks = case.hooks(gate.scopes)
    if value and hooks:
        words = {
            "dialect": case.dialect.title,
            "count": counted(len(hooks)),
            "what": gate.what,
            "fix": gate.fix,
        }
        finding = HooksOff.at(gate.variable, None, **words)
        yield Diagnosis(case.dialect.id, finding, f"{gate.variable}={value}", names(hooks))


def _by_value(
    case: Case, gate: Gate, path: Path, document: Document | None, sources: list[Source]
) -> Iterator[Diagnosis]:
    """Hooks that a value keeps from running; those of the same file were read as switched off."""
    value = at(document.tree, gate.key) if document else None
    hooks = [(source, one) for source in sources for one in source.hooks]
    if document is None or not hooks or not any(_same(value, off) for off in gate.off):
        return
    words = {"dialect": case.dialect.title, "count": counted(len(hooks)), "what": gate.what, "fix": gate.fix}
    finding = at_file(path, HooksOff, words, spelled(gate.key), document.position(gate.key))
    yield Diagnosis(case.dialect.id, finding, f"{spelled(gate.key)} is {_said(value)}", names(hooks))


def _first(case: Case, files: tuple[str, ...], key: tuple[str, ...]) -> tuple[Path, Document] | None:
    """The first of the files that has the key."""
    for file in files:
        for path in places(file, case.dialect, case.world):
            document = settings(path)
            if document is not None and at(document.tree, key) is not None:
                return path, document
    return None


def _same(value: Tree, other: str | bool) -> bool:  # noqa: FBT001  (a value to compare with)
    return type(value) is type(other) and value == other


def _said(value: Tree) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def untrusted_folder(case: Case) -> Iterator[Diagnosis]:
    """A folder that the agent does not trust; on a machine without the agent there is nothing to trust."""
    trust = case.dialect.folder_trust
    hooks = case.hooks(trust.scopes) if trust and case.is_here else []
    if trust is None or not hooks:
        return
    words: dict[str, object] = {"dialect": case.dialect.title, "fix": trust.fix}
    if not trust.file:
        yield Diagnosis(case.dialect.id, TrustUnseen.at("", None, **words), "")
        return
    if any(case.world.env.get(name) == value for name, value in trust.lifted) or not _asks(case, trust):
        return
    path = next(iter(places(trust.file, case.dialect, case.world)), None)
    document = settings(path) if path else None
    if path is None or (document is None and not trust.certain):
        return
    evidence = _unlisted(trust, document, case.world.root)
    if evidence:
        finding = at_file(path, FolderUntrusted, {**words, "count": counted(len(hooks))})
        told = f"{shown(path, case.world)} {evidence}"
        if trust.certain:
            yield Diagnosis(case.dialect.id, finding, told, names(hooks))
        else:
            yield Diagnosis(case.dialect.id, finding._replace(severity="loss"), told)


def _asks(case: Case, trust: FolderTrust) -> bool:
    files, key, default = trust.asks
    found = _first(case, files, key)
    if found is None:
        return default
    value = at(found[1].tree, key)
    return not any(_same(value, one) for one in trust.trusting) if trust.trusting else value is True


def _unlisted(trust: FolderTrust, document: Document | None, root: Path) -> str:
    """What shows that a folder is not trusted; empty if it is."""
    if document is None:
        return "is not there"
    best: tuple[int, bool, str] = (-1, False, f"does not have {root}")
    for key in trust.keys:
        listed = at(document.tree, key)
        rows = list(listed.items()) if isinstance(listed, Mapping) else []
        rows += [(folder, True) for folder in listed] if isinstance(listed, list) else []
        for folder, said in rows:
            value = at(said, trust.field)
            above = any(_same(value, one) for one in trust.above)
            is_trusted = above or isinstance(listed, list) or any(_same(value, one) for one in trust.yes)
            if not isinstance(folder, str) or not _covers(
                Path(folder).parent if above else Path(folder), root, trust
            ):
                continue
            # Where the word for a folder is all there is to it, the nearest folder decides.
            rank = len(folder) if not trust.field else int(is_trusted)
            best = max(
                best, (rank, is_trusted, f"says {spelled((*key, folder, *trust.field))} is {_said(value)}")
            )
    return "" if best[1] else best[2]


def _covers(folder: Path, root: Path, trust: FolderTrust) -> bool:
    folders = {str(folder), os.path.realpath(folder)}
    roots = {str(root), os.path.realpath(root)}
    if trust.below:
        roots |= {str(above) for one in roots for above in Path(one).parents}
    return bool(folders & roots)


def untrusted_hooks(case: Case) -> Iterator[Diagnosis]:
    """Hooks that an agent which trusts them one by one does not trust, or has switched off."""
    trust = case.dialect.hook_trust
    if trust is None or not case.is_here:
        return
    path = next(iter(places(trust.file, case.dialect, case.world)), None)
    document = settings(path) if path else None
    states = at(document.tree, trust.key) if document else None
    for source, one in case.hooks(("project", "local", "user")):
        keys = [
            _key(trust, file, one)
            for file in dict.fromkeys((str(source.path), os.path.realpath(source.path)))
        ]
        state = next((states[key] for key in keys if isinstance(states, Mapping) and key in states), None)
        name = spelled((*trust.key, keys[0]))
        if not at(state, (trust.field,)):
            why, evidence = "it is not trusted", f"{name} has no {trust.field}"
        elif at(state, (trust.switch,)) is False:
            why, evidence = "it is switched off", f"{name}.{trust.switch} is false"
        elif _modified(case, keys):
            why, evidence = (
                "it changed since it was trusted",
                f"{name}.{trust.field} is of what it was before",
            )
        else:
            continue
        told = f"{shown(path or trust.file, case.world)}: {evidence}"
        yield about(case, source, one, HookUntrusted, told, why=why, fix=trust.fix)


def _modified(case: Case, keys: list[str]) -> bool:
    """Whether the agent itself says that a hook is not as it was trusted; only it knows how it counts."""
    return bool(case.version) and not case.modified().isdisjoint(keys)


def _key(trust: HookTrust, file: str, one: Seen) -> str:
    steps = [step for step in one.place.path if isinstance(step, int)]
    event = next((step for step in one.place.path[1:] if isinstance(step, str)), "")
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", event).lower()
    group, index = (*steps, 0, 0)[:2]
    return trust.name.format(file=file, event=snake, group=group, index=index)


def shadowed(case: Case) -> Iterator[Diagnosis]:
    """Files that are not read because of another."""
    for shadow in case.dialect.shadows:
        hidden = {str(path) for path in places(shadow.file, case.dialect, case.world)}
        for by in places(shadow.by, case.dialect, case.world):
            if not by.is_file() or not (shadow.even_empty or _has_hooks(case, by)):
                continue
            for source in case.sources:
                hooks = [(source, one) for one in source.hooks if one.hook.enabled]
                if str(source.path) not in hidden or not hooks:
                    continue
                words = {
                    "dialect": case.dialect.title,
                    "other": shown(by, case.world),
                    "count": counted(len(hooks)),
                }
                where = spell_path(hooks[0][1].place.path[:1])
                finding = at_file(source.path, FileShadowed, words, where)
                yield Diagnosis(case.dialect.id, finding, f"{shown(by, case.world)} is there", names(hooks))


def _has_hooks(case: Case, path: Path) -> bool:
    return any(source.path == path and source.hooks for source in case.sources)
