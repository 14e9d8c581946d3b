"""A file that is a map of events as a whole, beside settings that hold the same map at the key `hooks`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hookport.findings import Finding, NeverRuns
from hookport.model.hooks import NOTHING, Hook, Manifest
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.dialect import DecodedManifest, Dialect, Field, Place, RefusedError, Shape, Tree
from hookport.shapes.entries import get_manifest_data

if TYPE_CHECKING:
    from hookport.errors import Problem

WRAPPER = "hooks"
# The other settings of a settings file are kept under this name.
SETTINGS = "settings"


def _note_wrapped(dialect: Dialect, file: str) -> Finding:
    reason = f"{file} must hold the events at its root, not under '{WRAPPER}'"
    return _note_dead(dialect, file, reason, f"Take the outer '{WRAPPER}' away.")


def _note_hidden(dialect: Dialect, file: str, by: str) -> Finding:
    return _note_dead(dialect, file, f"{by} hides the hooks of this file", f"Move them to {by}.")


def _note_dead(dialect: Dialect, file: str, reason: str, way: str) -> Finding:
    """Report a file whose hooks the agent does not read where they are."""
    what = "any hook of this file"
    return NeverRuns.at("", dialect=dialect.id, what=what, reason=reason, way=way)._replace(file=file)


def _decode_files(
    dialect: Dialect, trees: Mapping[str, Tree], is_bare: Callable[[str], bool], hides: Callable[[str], str]
) -> DecodedManifest:
    hooks: list[Hook] = []
    places: list[Place] = []
    findings: list[Finding] = []
    problems: list[Problem] = []
    settings: dict[str, Tree] = {}
    inner = dialect._replace(shape=dialect.shape._replace(root=(WRAPPER,)))
    for file, tree in trees.items():
        wrapped = isinstance(tree, Mapping) and isinstance(tree.get(WRAPPER), Mapping)
        try:
            decoded = BY_EVENT.decode(inner if wrapped or not is_bare(file) else dialect, {file: tree})
        except RefusedError as refused:
            problems += refused.problems
            continue
        hooks += decoded.manifest.hooks
        places += decoded.places
        findings += decoded.findings
        settings.update(get_manifest_data(dialect, decoded.manifest))
        if decoded.manifest.hooks and is_bare(file) and wrapped:
            findings.append(_note_wrapped(dialect, file))
        elif decoded.manifest.hooks and wrapped and hides(file) in trees:
            findings.append(_note_hidden(dialect, file, hides(file)))
    if problems:
        raise RefusedError(*problems)
    data = NOTHING if any(map(is_bare, trees)) else {dialect.id: {SETTINGS: settings}}
    return DecodedManifest(Manifest(tuple(hooks), data), tuple(places), tuple(findings))


def make_bare_map(
    is_bare: Callable[[str], bool],
    hides: Callable[[str], str] = lambda _file: "",
    group_fields: Mapping[str, Field | str] = NOTHING,
) -> Shape:
    """The shape of an agent that wants the events at the root of the files that `is_bare`.

    `hides` names the file that keeps the agent from reading the hooks of another one.
    """

    def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
        return _decode_files(dialect, trees, is_bare, hides)

    def encode(dialect: Dialect, manifest: Manifest) -> dict[str, Tree]:
        """The bare map, or the wrapped form where the hooks came from settings or go into a plugin."""
        data = get_manifest_data(dialect, manifest)
        files = BY_EVENT.encode(dialect, manifest)
        if SETTINGS in data:
            return {file: {**data[SETTINGS], WRAPPER: events} for file, events in files.items()}
        return {file: events if is_bare(file) else {WRAPPER: events} for file, events in files.items()}

    return Shape(decode, encode, root=(), group_fields=group_fields)
