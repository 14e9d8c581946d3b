"""Decode, check, degrade, encode, verify: from one dialect's files to another's; pure, no input or output."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hookport import checks, formats
from hookport.degrade import degrade
from hookport.dialects import Decoded, Dialect, Refused, Tree, get
from hookport.errors import Bug, InputError, Problem, spell_path
from hookport.findings import EFFECTS, Effect, Finding, NothingLeft, TargetNote
from hookport.model.hooks import Hook


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
            f"{place.file}: {spell_path(place.path)}" if many and place.path else spell_path(place.path) or place.file
            for place in self.decoded.places
        )

    @property
    def scripts(self) -> dict[str, str]:
        """The text of every script that came with the hooks or was found beside them."""
        return {**self.found_scripts, **{name: doc.tree for name, doc in self.documents.items() if doc.kind == "text"}}


def parse(files: Mapping[str, bytes], dialect: Dialect | None = None) -> dict[str, formats.Document]:
    """The files as documents; every syntax error of all of them is reported at once."""
    documents: dict[str, formats.Document] = {}
    problems: list[Problem] = []
    for name, data in files.items():
        kind = formats.kind_of(name)
        if dialect is not None:
            kind = dialect.file_kinds.get(kind, kind)
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
    except Refused as refused:
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
    source = reading.dialect
    manifest = reading.decoded.manifest
    found = [*reading.decoded.findings, *checks.check(reading)]
    if source.id == target.id:
        files = tuple(File(name, _text(document.data)) for name, document in reading.documents.items())
        return Conversion(source.id, target.id, files, tuple(found), manifest.hooks, ("kept",) * len(manifest.hooks))
    degraded = degrade(manifest, target, reading.wheres, reading.scripts)
    found += degraded.findings
    trees: dict[str, Tree] = {}
    if degraded.manifest.hooks:
        trees = target.shape.encode(target, degraded.manifest)
        found += [TargetNote.at("", note=note) for note in target.notes]
    else:
        found.append(NothingLeft.at("", target=target.id))
    written = {path: formats.dump(tree, _kind(target, path)) for path, tree in trees.items()}
    verify(target, written, degraded.manifest.hooks)
    files = tuple(File(path, _text(data)) for path, data in written.items())
    return Conversion(source.id, target.id, files, tuple(found), manifest.hooks, effects(len(manifest.hooks), degraded.findings))


def _kind(dialect: Dialect, path: str) -> str:
    kind = formats.kind_of(path)
    return dialect.file_kinds.get(kind, kind)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def verify(target: Dialect, written: Mapping[str, bytes], hooks: tuple[Hook, ...]) -> None:
    """Decode what was encoded: it must be the manifest, whole, or we have a bug."""
    if not written:
        return
    try:
        decoded = read(written, target).decoded.manifest.hooks
    except InputError as error:
        raise Bug(f"what was written for {target.id} cannot be read back: {error}") from error
    if decoded == hooks:
        return
    for number, (ours, theirs) in enumerate(zip(hooks, decoded, strict=False)):
        for field, one, other in zip(Hook._fields, ours, theirs, strict=True):
            if one != other:
                raise Bug(f"{target.id} would read hook {number} differently: {field} {other!r} instead of {one!r}")
    raise Bug(f"{target.id} would read {len(decoded)} hooks instead of {len(hooks)}")


def effects(count: int, findings: tuple[Finding, ...]) -> tuple[Effect, ...]:
    """For each hook the strongest effect of its findings."""
    strongest: list[Effect] = ["kept"] * count
    for finding in findings:
        if finding.hook is not None and EFFECTS.index(finding.effect) > EFFECTS.index(strongest[finding.hook]):
            strongest[finding.hook] = finding.effect
    return tuple(strongest)


def encode(reading: Reading, hooks: tuple[Hook, ...]) -> dict[str, bytes]:
    """The source's own files with these hooks instead: events whose hooks stay are not touched."""
    dialect = reading.dialect
    if hooks == reading.decoded.manifest.hooks:
        return {name: document.data for name, document in reading.documents.items()}
    manifest = reading.decoded.manifest._replace(hooks=hooks)
    fresh = dialect.shape.encode(dialect, manifest)
    base = next((name for name in reading.documents if name in fresh), None) or next(iter(reading.documents))
    tree = next(iter(fresh.values()))
    return {base: reading.documents[base].rewrite(tree)}


__all__ = ["Conversion", "File", "Reading", "convert", "effects", "encode", "get", "parse", "read", "verify"]
