"""Decode, check, degrade, encode, verify: from one dialect's files to another's; pure, no input or output."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import NamedTuple

from hookport import checks, formats
from hookport.degrade import degrade
from hookport.dialects import Decoded, Dialect, RefusedError, Tree
from hookport.errors import InputError, InternalError, Problem, spell_path
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
    # Hooks that are refused were left out.
    is_partial: bool = False

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
        kind = kind_in(dialect, name) if dialect is not None else formats.kind_of(name)
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


def convert(reading: Reading, target: Dialect, *, bare: bool = False) -> Conversion:
    """The files that say the same in another dialect, and a finding for everything that differs."""
    return convert_all(reading, [target], bare=bare)[0]


def convert_all(reading: Reading, targets: list[Dialect], *, bare: bool = False) -> list[Conversion]:
    """One conversion per target; what is wrong whatever the target is looked for once.

    A command that speaks another dialect is run through the bridge, but for `bare`.
    """
    known = (*reading.decoded.findings, *checks.check(reading))
    return [_convert(reading, target, known, bare=bare) for target in targets]


def _convert(reading: Reading, target: Dialect, known: tuple[Finding, ...], *, bare: bool) -> Conversion:
    source = reading.dialect
    manifest = reading.decoded.manifest
    found = list(known)
    if source.id == target.id:
        files = tuple(
            File(home_path(source, name), _text(document.data))
            for name, document in reading.documents.items()
        )
        return Conversion(
            source.id, target.id, files, tuple(found), manifest.hooks, effects(len(manifest.hooks), ())
        )
    degraded = degrade(manifest, target, reading.wheres, reading.scripts, bare=bare)
    found += degraded.findings
    trees: dict[str, Tree] = {}
    if degraded.manifest.hooks:
        trees = target.shape.encode(target, degraded.manifest)
        found += [TargetNote.at("", note=note) for note in (*target.notes, *_plugin_notes(target, trees))]
    else:
        found.append(NothingLeft.at("", target=target.id))
    written = {path: formats.dump(tree, kind_in(target, path)) for path, tree in trees.items()}
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


def home_path(dialect: Dialect, name: str) -> str:
    """Where a file of a dialect belongs: its known place at the end of its path, else the first place."""
    steps = [step for step in name.split("/") if step not in ("", ".", "..")]
    for place in dialect.locations:
        known = place.path.split("/")
        own = known[:-1] + dialect.companions.split("/") if dialect.companions else known
        for parts in (known, own):
            wanted = [part for part in parts if part != "~"]
            tail = steps[-len(wanted) :]
            if len(tail) == len(wanted) and all(map(fnmatchcase, tail, wanted)):
                return "/".join(["~", *tail] if parts[0] == "~" else tail)
    kinds = [
        place.path for place in dialect.locations if kind_in(dialect, place.path) == kind_in(dialect, name)
    ]
    first = kinds[0] if kinds else dialect.locations[0].path
    if "*" not in first:
        return first
    # A loose folder: its name, and what is in it, in the place of the star.
    before, _, after = first.partition("*")
    depth = (
        len(after.split("/")) if steps[-1] == dialect.file_name else len(dialect.companions.split("/")) + 1
    )
    return before + "/".join(steps[-depth:]) if len(steps) >= depth else before + "hook/" + name


def _plugin_notes(target: Dialect, trees: Mapping[str, Tree]) -> list[str]:
    """A file that names its package's root works only inside a package."""
    places = {place.path for place in target.locations if place.scope == "plugin"}
    belongs = f"belongs in the root of a plugin or extension of {target.title}, which must be installed"
    return [f"{path} {belongs}." for path in trees if path in places and target.kind == "agent"]


def kind_in(dialect: Dialect, path: str) -> str:
    """The kind of a file by its name, as the dialect reads it."""
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
