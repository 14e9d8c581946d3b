"""Decode, check, degrade, encode, verify: from one dialect's files to another's; pure, no input or output."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from hookport import documents as formats
from hookport.agents import DecodedManifest, Dialect, RefusedError, Tree
from hookport.base.places import ends_at, split_place
from hookport.convert import checks
from hookport.convert.degrade import degrade
from hookport.errors import HookportError, InputError, InternalError, Problem, spell_path
from hookport.findings import (
    EFFECTS,
    AlwaysRuns,
    Effect,
    Finding,
    MatcherRespelled,
    NativeDropped,
    NothingLeft,
    TargetNote,
)
from hookport.model.hooks import NOTHING, Hook, Manifest
from hookport.shapes.dialect import Matching, find_matching, list_locations
from hookport.shapes.entries import find_slots
from hookport.shapes.matchers import write_matcher


class File(NamedTuple):
    """One file, by its path relative to the project (or `~` for the user's home)."""

    path: str
    text: str


class Conversion(NamedTuple):
    """The result of a conversion; `effects` has the effect on each hook of the source."""

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
    decoded: DecodedManifest
    # For each command, the texts of its scripts, by name.
    found_scripts: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    # Refused hooks were left out.
    is_partial: bool = False

    @property
    def wheres(self) -> tuple[str, ...]:
        """The place of each hook in words."""
        has_several = len(self.documents) > 1
        return tuple(
            f"{place.file}: {spell_path(place.path)}"
            if has_several and place.path
            else spell_path(place.path) or place.file
            for place in self.decoded.places
        )

    @property
    def scripts(self) -> dict[str, dict[str, str]]:
        """For each command, the texts of the scripts that came with the hooks or were found beside them."""
        came = {name: doc.tree for name, doc in self.documents.items() if doc.kind == "text"}
        if self.dialect.shape.in_place:  # its command names a script by its path
            came = {find_home_path(self.dialect, name): text for name, text in came.items()}
        handlers = (hook.handler for hook in self.decoded.manifest.hooks)
        commands = (
            command for handler in handlers for command in (handler.command, *handler.platform.values())
        )
        return {
            command: {
                **self.found_scripts.get(command, {}),
                **{name: text for name, text in came.items() if name in command},
            }
            for command in commands
        }


def parse(files: Mapping[str, bytes], dialect: Dialect | None = None) -> dict[str, formats.Document]:
    """Parse the files into documents; report all syntax errors at once."""
    documents: dict[str, formats.Document] = {}
    problems: list[Problem] = []
    for name, data in files.items():
        kind = detect_dialect_kind(dialect, name) if dialect is not None else formats.detect_kind(name)
        try:
            documents[name] = formats.parse(data, kind)
        except formats.SyntaxProblem as wrong:
            problems.append(Problem(wrong.message, (), name, wrong.line, wrong.column))
        if dialect and dialect.shape.refuses_bom and kind == "json" and data.startswith(codecs.BOM_UTF8):
            message = f"{dialect.title} refuses a file with a byte order mark"
            problems.append(Problem(message, (), name, 1, 1))
    if problems:
        raise InputError(*problems)
    return documents


def read(files: Mapping[str, bytes], dialect: Dialect) -> Reading:
    """Read the manifest in the files of one dialect."""
    documents = parse(files, dialect)
    trees: dict[str, Tree] = {name: document.tree for name, document in documents.items()}
    try:
        decoded = dialect.shape.decode(dialect, trees)
    except RefusedError as refused:
        raise InputError(*(locate_problem(problem, documents) for problem in refused.problems)) from None
    return Reading(dialect, documents, decoded)


def locate_problem(problem: Problem, documents: Mapping[str, formats.Document]) -> Problem:
    """The problem with its line and column."""
    document = documents.get(problem.file)
    if document is None or problem.line:
        return problem
    line, column = document.position(problem.path)
    return problem._replace(line=line, column=column)


def convert(reading: Reading, target: Dialect, *, bare: bool = False) -> Conversion:
    """Convert a source to one target, with a finding for every difference."""
    return convert_all(reading, [target], bare=bare)[0]


def convert_all(reading: Reading, targets: list[Dialect], *, bare: bool = False) -> list[Conversion]:
    """Convert a source to several targets; checks that do not depend on a target run once.

    Commands of another dialect run through the bridge, except with `bare`.
    """
    source_findings = (*reading.decoded.findings, *checks.check(reading))
    return [_convert(reading, target, source_findings, bare=bare) for target in targets]


def _convert(
    reading: Reading, target: Dialect, source_findings: tuple[Finding, ...], *, bare: bool
) -> Conversion:
    source = reading.dialect
    manifest = reading.decoded.manifest
    findings = list(source_findings)
    if source.id == target.id:
        files = tuple(
            File(find_home_path(source, name), _decode_text(document.data))
            for name, document in reading.documents.items()
        )
        return Conversion(
            source.id,
            target.id,
            files,
            tuple(findings),
            manifest.hooks,
            list_effects(len(manifest.hooks), ()),
        )
    manifest, dropped = _keep_matchers(reading) if target.is_hub else _drop_unreadable_data(reading, target)
    degraded = degrade(manifest, target, reading.wheres, reading.scripts, bare=bare)
    if source.shape.root[:1] == ("frontmatter",):
        dropped += [
            AlwaysRuns.at(reading.wheres[number], number, target=target.id) for number in degraded.kept
        ]
    findings += [*dropped, *degraded.findings]
    trees: dict[str, Tree] = {}
    if degraded.manifest.hooks:
        trees = target.shape.encode(target, degraded.manifest)
        findings += [
            TargetNote.at("", note=note) for note in (*target.notes, *_list_plugin_notes(target, trees))
        ]
    else:
        findings.append(NothingLeft.at("", target=target.id))
    written = {path: formats.dump(tree, detect_dialect_kind(target, path)) for path, tree in trees.items()}
    verify(target, written, degraded.manifest.hooks)
    files = tuple(File(path, _decode_text(data)) for path, data in written.items())
    return Conversion(
        source.id,
        target.id,
        files,
        tuple(findings),
        reading.decoded.manifest.hooks,
        list_effects(len(manifest.hooks), (*dropped, *degraded.findings)),
    )


def _keep_matchers(reading: Reading) -> tuple[Manifest, list[Finding]]:
    """The manifest with matchers that would not convert back: one name may mean several tools of an agent."""
    dialect, manifest = reading.dialect, reading.decoded.manifest
    hooks, findings = list(manifest.hooks), []
    for entry in checks.list_entries(reading):
        pieces = find_slots(dialect, entry.hook)
        if len(pieces) != 1 or pieces[0][0].subject != "tool":
            continue
        spec, terms = pieces[0]
        _, text = checks.find_written_matcher(entry, spec)
        written = write_matcher(dialect, spec, terms, entry.hook.content)
        is_same = len(written) == 1 and _is_same(find_matching(dialect, spec), text, written[0])
        if not text or not terms or is_same or _is_written(entry.hook, dialect, text):
            continue
        dialect_fields = {**entry.hook.provider_data.get(dialect.id, NOTHING), "written_matcher": text}
        marked = entry.hook._replace(provider_data={**entry.hook.provider_data, dialect.id: dialect_fields})
        if _is_written(marked, dialect, text):
            hooks[entry.number] = marked
        else:
            spelled = ", ".join(matcher_text or "*" for matcher_text in written)
            findings.append(
                MatcherRespelled.at(
                    entry.words, entry.number, dialect=dialect.id, matcher=text, written=spelled
                )
            )
    return manifest._replace(hooks=tuple(hooks)), findings


def _is_same(matching: Matching, first: str, second: str | None) -> bool:
    """Whether two matchers are the same text, or the same names in another order."""
    lists = [re.split(f"[{re.escape(matching.separators)}]", text) for text in (first, second or "")]
    is_list = matching.grammar == "names" and bool(re.fullmatch(f"{matching.plain}+", f"{first}{second}"))
    return first == second or (is_list and sorted(lists[0]) == sorted(lists[1]))


def _is_written(hook: Hook, dialect: Dialect, matcher: str) -> bool:
    """Whether a dialect writes a hook with the matcher that it was read with."""
    trees = dialect.shape.encode(dialect, degrade(Manifest((hook,)), dialect, (), {}).manifest)
    return any(matcher in _find_values(tree, dialect.shape.matcher_key) for tree in trees.values())


def _find_values(tree: Tree, key: str) -> Iterator[Tree]:
    """The values of a key, anywhere in a tree."""
    if isinstance(tree, Mapping):
        if key in tree:
            yield tree[key]
        tree = list(tree.values())
    for inner in tree if isinstance(tree, list) else ():
        yield from _find_values(inner, key)


def _drop_unreadable_data(reading: Reading, target: Dialect) -> tuple[Manifest, list[Finding]]:
    """The manifest without data for the target that the target could not read back.

    Data from a file of the target comes back; a manifest may also contain data that no such file can.
    """
    manifest = reading.decoded.manifest
    if not reading.dialect.is_hub:
        return manifest, []
    hooks, findings = list(manifest.hooks), []
    for number, hook in enumerate(hooks):
        target_data = hook.provider_data.get(target.id)
        if not target_data or _comes_back(hook, target):
            continue
        rest = {name: data for name, data in hook.provider_data.items() if name != target.id}
        hooks[number] = hook._replace(provider_data=rest or NOTHING)
        where = reading.wheres[number] if number < len(reading.wheres) else ""
        words = {"source": target.id, "target": target.id, "fields": ", ".join(map(str, target_data))}
        findings.append(NativeDropped.at(where, number, **words))
    return manifest._replace(hooks=tuple(hooks)), findings


def _comes_back(hook: Hook, target: Dialect) -> bool:
    """Whether the target reads a hook back as written; a manifest may contain anything."""
    try:
        degraded = degrade(Manifest((hook,)), target, (), {})
        trees = target.shape.encode(target, degraded.manifest)
        written = {
            path: formats.dump(tree, detect_dialect_kind(target, path)) for path, tree in trees.items()
        }
        verify(target, written, degraded.manifest.hooks)
    except (HookportError, ValueError, TypeError, AttributeError, KeyError):
        return False
    return True


def find_home_path(dialect: Dialect, name: str) -> str:
    """The path of a dialect's file: its known place at the end of its path, else the first place."""
    steps = [step for step in name.split("/") if step not in ("", ".", "..")]
    places = [place.path for place in list_locations(dialect, "own", "scoped")]
    for place in (*places, *dialect.manifests):
        companion = (
            f"{place.rpartition('/')[0]}/{dialect.shape.companions}" if dialect.shape.companions else place
        )
        for path in (place, companion):
            if ends_at(steps, path):
                tail = steps[-len(split_place(path)) :]
                return "/".join(["~", *tail] if path.startswith("~/") else tail)
    kinds = [
        place.path
        for place in dialect.locations
        if detect_dialect_kind(dialect, place.path) == detect_dialect_kind(dialect, name)
    ]
    first = kinds[0] if kinds else dialect.locations[0].path
    if "*" not in first:
        return first
    # A single folder: its name and content replace the star.
    before, _, after = first.partition("*")
    depth = (
        len(after.split("/"))
        if steps[-1] == dialect.shape.file_name
        else len(dialect.shape.companions.split("/")) + 1
    )
    return before + "/".join(steps[-depth:]) if len(steps) >= depth else before + "hook/" + name


def _list_plugin_notes(target: Dialect, trees: Mapping[str, Tree]) -> list[str]:
    """Note that a file with its package's root works only inside a package."""
    places = {place.path for place in target.locations if place.scope == "plugin"}
    belongs = f"belongs in the root of a plugin or extension of {target.title}, which must be installed"
    return [f"{path} {belongs}." for path in trees if path in places and target.kind == "agent"]


def detect_dialect_kind(dialect: Dialect, path: str) -> str:
    """The kind of a file by its name, as the dialect reads it."""
    kind = formats.detect_kind(path)
    scopes = {place.scope for place in dialect.locations if f"/{path}".endswith(f"/{place.path}")}
    if scopes == {"plugin"}:  # only people's settings have comments
        return kind
    return dialect.shape.file_kinds.get(path.rpartition(".")[2], dialect.shape.file_kinds.get(kind, kind))


def _decode_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def verify(target: Dialect, written: Mapping[str, bytes], hooks: tuple[Hook, ...]) -> None:
    """Decode the encoded files: the result must equal the whole manifest, or hookport has a bug."""
    if not written:
        return
    try:
        decoded = read(written, target).decoded.manifest.hooks
    except InputError as error:
        raise InternalError(f"the files written for {target.id} cannot be read back: {error}") from error
    hooks = tuple(_remove_written_matcher(target, hook) for hook in hooks)
    if decoded == hooks:
        return
    for number, (ours, theirs) in enumerate(zip(hooks, decoded, strict=False)):
        for field, our_value, their_value in zip(Hook._fields, ours, theirs, strict=True):
            if our_value != their_value:
                difference = f"{field} {their_value!r} instead of {our_value!r}"
                raise InternalError(f"{target.id} would read hook {number} differently: {difference}")
    raise InternalError(f"{target.id} would read {len(decoded)} hooks instead of {len(hooks)}")


def _remove_written_matcher(target: Dialect, hook: Hook) -> Hook:
    """A hook without its original matcher text, which its file stores separately."""
    target_data = hook.provider_data.get(target.id)
    if target.is_hub or not target_data or "written_matcher" not in target_data:
        return hook
    rest = {key: value for key, value in target_data.items() if key != "written_matcher"}
    other_data = {name: data for name, data in hook.provider_data.items() if name != target.id}
    return hook._replace(provider_data={**other_data, **({target.id: rest} if rest else {})} or NOTHING)


def list_effects(count: int, findings: tuple[Finding, ...]) -> tuple[Effect, ...]:
    """For each hook, the strongest effect of its findings."""
    strongest: list[Effect] = ["kept"] * count
    for finding in findings:
        if finding.hook is not None and EFFECTS.index(finding.effect) > EFFECTS.index(
            strongest[finding.hook]
        ):
            strongest[finding.hook] = finding.effect
    return tuple(strongest)
