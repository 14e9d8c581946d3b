"""Configuration as a list of tables, each of which names its event: `[[hooks]]` in TOML.

What an agent's loader accepts and which entries it never runs differs by agent; how files are read,
what is kept beside the hooks and how a matcher without meaning survives does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hookport.errors import Problem, spell_path
from hookport.findings import Finding, NeverRuns, OtherSettings
from hookport.model.hooks import NOTHING, Hook, Manifest
from hookport.shapes.dialect import (
    DecodedManifest,
    Dialect,
    EventSpec,
    Path,
    Place,
    RefusedError,
    Tree,
    get_dialect_data,
)
from hookport.shapes.entries import (
    bind,
    explain_wrong_key,
    find_slipped_key,
    get_manifest_data,
    is_table_list,
    name_kind,
)
from hookport.shapes.matchers import read_matcher

KEY = "hooks"
Table = Mapping[str, Tree]
# The hook of one table of a file, or None and the problems; why a parsed table never runs.
ReadTable = Callable[[str, Table, Path, list[Problem]], Hook | None]
FindFaults = Callable[[Table, Path], Iterable[Finding]]


def decode_tables(
    dialect: Dialect, trees: Mapping[str, Tree], read_table: ReadTable, find_faults: FindFaults
) -> DecodedManifest:
    """The hooks of all files, duplicates included."""
    problems: list[Problem] = []
    findings: list[Finding] = []
    hooks: list[tuple[Hook, Place]] = []
    data: dict[str, Tree] = {}
    for file, tree in trees.items():
        if not isinstance(tree, Mapping):
            problems.append(Problem(f"must be a table, not {name_kind(tree)}", (), file))
            continue
        root = find_slipped_key(KEY, tree, is_table_list) or KEY
        if root != KEY:
            words = {"dialect": dialect.id, **explain_wrong_key(KEY, (root,))}
            findings.append(NeverRuns.at(spell_path((root,)), None, **words)._replace(file=file))
        other_settings = {key: value for key, value in tree.items() if key != root}
        if other_settings:
            data[file] = other_settings
            findings.append(OtherSettings.at("", keys=", ".join(other_settings))._replace(file=file))
        tables = tree.get(root, [])
        if not isinstance(tables, list):
            wrong = f"must be written as [[{KEY}]], a list of tables, not as {name_kind(tables)}"
            problems.append(Problem(wrong, (KEY,), file))
            continue
        for number, table in enumerate(tables):
            path: Path = (root, number)
            if not isinstance(table, Mapping):
                problems.append(Problem(f"must be a table, not {name_kind(table)}", path, file))
                continue
            faults: list[Problem] = []
            hook = read_table(file, table, path, faults)
            problems += [problem._replace(file=file) for problem in faults]
            if hook:
                hooks.append((hook, Place(file, path)))
                findings += [finding._replace(file=file) for finding in find_faults(table, path)]
    if problems:
        raise RefusedError(*problems)
    return build_decoded(dialect, hooks, data, findings)


def build_decoded(
    dialect: Dialect,
    hooks: list[tuple[Hook, Place]],
    data: Mapping[str, Tree],
    findings: Iterable[Finding],
) -> DecodedManifest:
    """Build a manifest from hooks with their places; `data` holds the files' other settings, by file."""
    manifest = Manifest(tuple(hook for hook, _ in hooks), {dialect.id: data} if data else NOTHING)
    return DecodedManifest(manifest, tuple(place for _, place in hooks), tuple(findings))


def bind_table(
    dialect: Dialect, hook: Hook, native: str, spec: EventSpec | None, matcher: str, *, is_dead: bool
) -> Hook:
    """Set the hook's event and matcher.

    A matcher without meaning is stored and written back to its own file: without it a hook that never ran
    would start to run.
    """
    if is_dead:
        data = {**get_dialect_data(hook, dialect.id), dialect.shape.matcher_key: matcher}
        hook = hook._replace(provider_data={dialect.id: data})
    terms = read_matcher(dialect, spec, matcher)[0] if spec and spec.subject and not is_dead else ()
    return bind(dialect, hook, native, spec, terms, "")


def write_tables(dialect: Dialect, manifest: Manifest, file: str, tables: list[Tree]) -> Tree:
    """The file's contents: its other settings unchanged, then the hooks."""
    return {**get_manifest_data(dialect, manifest).get(file, NOTHING), KEY: tables}
