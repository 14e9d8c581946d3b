"""Decode, check, degrade, encode, verify: from one dialect's files to another's; pure, no input or output."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hookport import checks, formats
from hookport.degrade import degrade
from hookport.dialects import Decoded, Dialect, Place, RefusedError, Tree
from hookport.dialects._base import Path
from hookport.dialects._entries import slots
from hookport.errors import InputError, InternalError, Problem, spell_path
from hookport.findings import EFFECTS, Effect, Finding, NothingLeft, TargetNote
from hookport.model.hooks import Hook, Manifest


class File(NamedTuple):
    """One file, by its path relative to the project (or `~` for the user's home)."""

    path: str
    text: str


class Conversion(NamedTuple):
    """What came of a conversion; `effects` says for each hook of the source what became of it."""

    source: str
    target: str
    files: tuple[File, ...]
    findings: tuple[Finding, ...]
    hooks: tuple[Hook, ...]
    effects: tuple[Effect, ...]


class Reading(NamedTuple):
    """The files of one source, parsed and decoded."""

    dialect: Dialect
    documents: Mapping[str, formats.Document]
    decoded: Decoded
    found_scripts: Mapping[str, str] = MappingProxyType({})

    @property
    def wheres(self) -> tuple[str, ...]:
        """The place of each hook in words."""
        many = len(self.documents) > 1
        return tuple(
            f"{place.file}: {spell_path(place.path)}"
            if many and place.path
            else spell_path(place.path) or place.file
            for place in self.decoded.places
        )

    @property
    def scripts(self) -> dict[str, str]:
        """The text of every script that came with the hooks or was found beside them."""
        return {
            **self.found_scripts,
            **{name: doc.tree for name, doc in self.documents.items() if doc.kind == "text"},
        }


def parse(files: Mapping[str, bytes], dialect: Dialect | None = None) -> dict[str, formats.Document]:
    """The files as documents; every syntax error of all of them is reported at once."""
    documents: dict[str, formats.Document] = {}
    problems: list[Problem] = []
    for name, data in files.items():
        kind = _kind(dialect, name) if dialect is not None else formats.kind_of(name)
        try:
            documents[name] = formats.parse(data, kind)
        except formats.SyntaxProblem as wrong:
            problems.append(Problem(wrong.message, (), name, wrong.line, wrong.column))
    if problems:
        raise InputError(*problems)
    return documents


def read(files: Mapping[str, bytes], dialect: Dialect) -> Reading:
    """The manifest that the files of one dialect hold."""
    documents = parse(files, dialect)
    trees: dict[str, Tree] = {name: document.tree for name, document in documents.items()}
    try:
        decoded = dialect.shape.decode(dialect, trees)
    except RefusedError as refused:
        raise InputError(*(located(problem, documents) for problem in refused.problems)) from None
    return Reading(dialect, documents, decoded)


def located(problem: Problem, documents: Mapping[str, formats.Document]) -> Problem:
    """The problem with its line and column."""
    document = documents.get(problem.file)
    if document is None or problem.line:
        return problem
    line, column = document.position(problem.path)
    return problem._replace(line=line, column=column)


def convert(reading: Reading, target: Dialect) -> Conversion:
    """The files that say the same in another dialect, and a finding for everything that differs."""
    return convert_all(reading, [target])[0]


def convert_all(reading: Reading, targets: list[Dialect]) -> list[Conversion]:
    """One conversion per target; what is wrong whatever the target is looked for once."""
    known = (*reading.decoded.findings, *checks.check(reading))
    return [_convert(reading, target, known) for target in targets]


def _convert(reading: Reading, target: Dialect, known: tuple[Finding, ...]) -> Conversion:
    source = reading.dialect
    manifest = reading.decoded.manifest
    found = list(known)
    if source.id == target.id:
        files = tuple(File(name, _text(document.data)) for name, document in reading.documents.items())
        return Conversion(
            source.id, target.id, files, tuple(found), manifest.hooks, effects(len(manifest.hooks), ())
        )
    degraded = degrade(manifest, target, reading.wheres, reading.scripts)
    found += degraded.findings
    trees: dict[str, Tree] = {}
    if degraded.manifest.hooks:
        trees = target.shape.encode(target, degraded.manifest)
        found += [TargetNote.at("", note=note) for note in (*target.notes, *_plugin_notes(target, trees))]
    else:
        found.append(NothingLeft.at("", target=target.id))
    written = {path: formats.dump(tree, _kind(target, path)) for path, tree in trees.items()}
    verify(target, written, degraded.manifest.hooks)
    files = tuple(File(path, _text(data)) for path, data in written.items())
    return Conversion(
        source.id,
        target.id,
        files,
        tuple(found),
        manifest.hooks,
        effects(len(manifest.hooks), degraded.findings),
    )


def _plugin_notes(target: Dialect, trees: Mapping[str, Tree]) -> list[str]:
    """A file that names its package's root works only inside a package."""
    places = {place.path for place in target.locations if place.scope == "plugin"}
    belongs = f"belongs in the root of a plugin or extension of {target.title}, which must be installed"
    return [f"{path} {belongs}." for path in trees if path in places and target.kind == "agent"]


def _kind(dialect: Dialect, path: str) -> str:
    kind = formats.kind_of(path)
    return dialect.file_kinds.get(path.rpartition(".")[2], dialect.file_kinds.get(kind, kind))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def verify(target: Dialect, written: Mapping[str, bytes], hooks: tuple[Hook, ...]) -> None:
    """Decode what was encoded: it must be the manifest, whole, or we have a bug."""
    if not written:
        return
    try:
        decoded = read(written, target).decoded.manifest.hooks
    except InputError as error:
        raise InternalError(f"what was written for {target.id} cannot be read back: {error}") from error
    if decoded == hooks:
        return
    for number, (ours, theirs) in enumerate(zip(hooks, decoded, strict=False)):
        for field, one, other in zip(Hook._fields, ours, theirs, strict=True):
            if one != other:
                raise InternalError(
                    f"{target.id} would read hook {number} differently: {field} {other!r} instead of {one!r}"
                )
    raise InternalError(f"{target.id} would read {len(decoded)} hooks instead of {len(hooks)}")


def effects(count: int, findings: tuple[Finding, ...]) -> tuple[Effect, ...]:
    """For each hook the strongest effect of its findings."""
    strongest: list[Effect] = ["kept"] * count
    for finding in findings:
        if finding.hook is not None and EFFECTS.index(finding.effect) > EFFECTS.index(
            strongest[finding.hook]
        ):
            strongest[finding.hook] = finding.effect
    return tuple(strongest)


def encode(reading: Reading, hooks: tuple[Hook, ...]) -> dict[str, bytes]:
    """The source's own files with these hooks instead; what no changed hook is written in keeps its bytes.

    Hooks of one event keep their order; a file that held only hooks that are gone is not in the result.
    """
    for edit in (_cut, _spliced, _renewed):
        files = edit(reading, hooks)
        if files is None:
            continue
        try:
            found = read(files, reading.dialect).decoded.manifest.hooks
        except InputError:
            continue
        if _by_event(reading.dialect, found) == _by_event(reading.dialect, hooks):
            return files
    raise InternalError(
        f"these hooks cannot be written into the files of {reading.dialect.id} without changing others"
    )


def _by_event(dialect: Dialect, hooks: tuple[Hook, ...]) -> dict[tuple[str, ...], list[Hook]]:
    events: dict[tuple[str, ...], list[Hook]] = {}
    for hook in hooks:
        events.setdefault(tuple(spec.native for spec, _ in slots(dialect, hook)), []).append(hook)
    return events


def _cut(reading: Reading, hooks: tuple[Hook, ...]) -> dict[str, bytes] | None:
    """The files without the entries of hooks that are gone, new ones appended; every other entry stays."""
    dialect = reading.dialect
    trees = {name: copy.deepcopy(document.tree) for name, document in reading.documents.items()}
    added = list(hooks)
    gone: list[Place] = []
    for hook, place in zip(reading.decoded.manifest.hooks, reading.decoded.places, strict=True):
        if hook in added:
            added.remove(hook)
        else:
            gone.append(place)
    for place in reversed(gone):
        if not place.path or not _remove(trees[place.file], place.path):
            return None
    if added:
        if len(trees) > 1 or "*" in dialect.locations[0].path:
            return None
        fresh = list(dialect.shape.encode(dialect, Manifest(tuple(added))).values())
        if len(fresh) != 1:
            return None
        trees = {name: _appended(tree, fresh[0]) for name, tree in trees.items()}
    return {name: document.rewrite(trees[name]) for name, document in reading.documents.items()}


def _remove(tree: Tree, path: Path) -> bool:
    """Take the entry at a path out of its list, and with it the group or event that holds nothing else."""
    if not isinstance(path[-1], int) or not isinstance(tree, (dict, list)):
        return False
    parents: list[Tree] = [tree]
    for step in path[:-1]:
        parents.append(parents[-1][step])
    depth = len(path) - 1
    while len(parents[depth]) == 1 and depth > 1:
        depth -= 2 if isinstance(path[depth - 1], str) and isinstance(path[depth - 2], int) else 1
        if isinstance(path[depth], str):
            break
    del parents[depth][path[depth]]
    return True


def _appended(tree: Tree, more: Tree) -> Tree:
    """A tree with the entries of another one at the end of its lists."""
    if isinstance(tree, dict) and isinstance(more, dict):
        both = {key: _appended(value, more[key]) if key in more else value for key, value in tree.items()}
        return {**both, **{key: value for key, value in more.items() if key not in tree}}
    return [*tree, *more] if isinstance(tree, list) and isinstance(more, list) else tree


def _spliced(reading: Reading, hooks: tuple[Hook, ...]) -> dict[str, bytes] | None:
    """Each file with the hooks that stay in it, changed only where they differ."""
    dialect = reading.dialect
    before: dict[str, list[Hook]] = {}
    for hook, place in zip(reading.decoded.manifest.hooks, reading.decoded.places, strict=True):
        before.setdefault(place.file, []).append(hook)
    after: dict[str, list[Hook]] = {name: [] for name in before}
    left = [
        (place.file, hook)
        for hook, place in zip(reading.decoded.manifest.hooks, reading.decoded.places, strict=True)
    ]
    home = next(iter(before or reading.documents))
    apart = "*" in dialect.locations[0].path
    added: list[Hook] = []
    for hook in hooks:
        found = next((number for number, (_, other) in enumerate(left) if other == hook), None)
        if found is not None:
            home, _ = left.pop(found)
            after[home].append(hook)
        elif apart:
            added.append(hook)
        else:
            after.setdefault(home, []).append(hook)
    files = {name: document.data for name, document in reading.documents.items()}
    for name, wanted in after.items():
        if apart and not wanted:
            folder = name.rpartition("/")[0]
            alone = not any(other != name and other.startswith(f"{folder}/") for other in before)
            files = {
                path: data
                for path, data in files.items()
                if path != name and not (alone and path.startswith(f"{folder}/"))
            }
        elif wanted != before.get(name, []):
            old, new = (_one_tree(reading, group) for group in (before.get(name, []), wanted))
            if old is None or new is None:
                return None
            document = reading.documents[name]
            files[name] = document.rewrite(_merged(document.tree, old[0], new[0]))
    fresh = dialect.shape.encode(dialect, Manifest(tuple(added))) if added else {}
    if fresh.keys() & files.keys():
        return None
    return {**files, **{path: formats.dump(tree, _kind(dialect, path)) for path, tree in fresh.items()}}


def _one_tree(reading: Reading, hooks: list[Hook]) -> tuple[Tree] | None:
    """The tree of the one file that these hooks are written to, if it is one."""
    manifest = reading.decoded.manifest._replace(hooks=tuple(hooks))
    trees = reading.dialect.shape.encode(reading.dialect, manifest)
    return (next(iter(trees.values())),) if len(trees) == 1 else None


def _renewed(reading: Reading, hooks: tuple[Hook, ...]) -> dict[str, bytes]:
    """All hooks written anew, in the file they were in if it is one."""
    dialect = reading.dialect
    fresh = dialect.shape.encode(dialect, reading.decoded.manifest._replace(hooks=hooks))
    if len(fresh) == 1 and len(reading.documents) == 1:
        name, document = next(iter(reading.documents.items()))
        return {name: document.rewrite(next(iter(fresh.values())))}
    return {path: formats.dump(tree, _kind(dialect, path)) for path, tree in fresh.items()}


def _merged(base: Tree, old: Tree, new: Tree) -> Tree:
    """What turns `old` into `new`, done to `base`, which says the same as `old` in its own way."""
    if formats.same(old, new):
        return base
    if isinstance(base, dict) and isinstance(old, dict) and isinstance(new, dict):
        merged = {
            key: _merged(value, old[key], new[key]) if key in old and key in new else new.get(key, value)
            for key, value in base.items()
            if key not in old or key in new
        }
        more = {
            key: value
            for key, value in new.items()
            if key not in base and (key not in old or old[key] != value)
        }
        return {**merged, **more}
    if isinstance(base, list) and isinstance(old, list) and isinstance(new, list) and len(base) == len(old):
        return [
            new[there] if here is None else _merged(base[here], old[here], new[there])
            for here, there in formats.align(old, new)
            if there is not None
        ]
    return new


__all__ = [
    "Conversion",
    "File",
    "Reading",
    "convert",
    "convert_all",
    "effects",
    "encode",
    "parse",
    "read",
    "verify",
]
