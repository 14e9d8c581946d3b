"""The folders and hooks that agents trust, read from their own files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport import documents
from hookport.agents import Dialect, Tree
from hookport.documents import Document
from hookport.errors import InputError
from hookport.project.disk import read_data
from hookport.project.places import resolve_place
from hookport.shapes.dialect import HOOK_TRUST, FolderTrust, Gate, HookTrust, find_quirk


class TrustVerdict(NamedTuple):
    """Whether something is trusted, None if unknown; the file that records it, and the evidence."""

    is_trusted: bool | None
    path: Path | None = None
    evidence: str = ""
    # What the hook lacks, as the end of a sentence.
    why: str = ""
    # An earlier version of it was trusted.
    has_changed: bool = False


def read_folder_trust(dialect: Dialect, root: str, env: Mapping[str, str]) -> TrustVerdict:
    """Whether an agent trusts a project's folder, from its files; an agent without trust always does."""
    trust = dialect.folder_trust
    if trust is None:
        return TrustVerdict(is_trusted=True)
    if not trust.file:
        return TrustVerdict(is_trusted=None)
    if any(env.get(name) == value for name, value in trust.lifted) or not _asks_about_trust(
        dialect, trust, root, env
    ):
        return TrustVerdict(is_trusted=True)
    path = next(iter(expand_place(trust.file, dialect, root, env)), None)
    document = read_settings_file(path) if path else None
    if path is None or (document is None and not trust.certain):
        return TrustVerdict(None, path)
    evidence = _explain_distrust(trust, document, Path(root))
    if not evidence:
        return TrustVerdict(is_trusted=True, path=path)
    return TrustVerdict(False if trust.certain else None, path, evidence)


def _asks_about_trust(dialect: Dialect, trust: FolderTrust, root: str, env: Mapping[str, str]) -> bool:
    files, key, default = trust.asks
    setting = find_first_with_key(files, key, dialect, root, env)
    if setting is None:
        return default
    value = value_at(setting[1].tree, key)
    return not any(is_value(value, word) for word in trust.trusting) if trust.trusting else value is True


def _explain_distrust(trust: FolderTrust, document: Document | None, root: Path) -> str:
    """The evidence that a folder is not trusted; empty if it is."""
    if document is None:
        return "does not exist"
    best: tuple[int, bool, str] = (-1, False, f"does not have {root}")
    for key in trust.keys:
        listed = value_at(document.tree, key)
        rows = list(listed.items()) if isinstance(listed, Mapping) else []
        rows += [(folder, True) for folder in listed] if isinstance(listed, list) else []
        for folder, entry in rows:
            value = value_at(entry, trust.field)
            above = any(is_value(value, word) for word in trust.above)
            is_trusted = above or isinstance(listed, list) or any(is_value(value, word) for word in trust.yes)
            if not isinstance(folder, str) or not _covers(
                Path(folder).parent if above else Path(folder), root, trust
            ):
                continue
            # If a folder has only one value, the nearest folder decides.
            rank = len(folder) if not trust.field else int(is_trusted)
            words = f"sets {spell_key((*key, folder, *trust.field))} to {spell_value(value)}"
            best = max(best, (rank, is_trusted, words))
    return "" if best[1] else best[2]


def _covers(folder: Path, root: Path, trust: FolderTrust) -> bool:
    try:
        folders = {str(folder), os.path.realpath(folder)}
    except ValueError:  # no folder can have such a name
        return False
    roots = {str(root), os.path.realpath(root)}
    if trust.below:
        roots |= {str(above) for path in roots for above in Path(path).parents}
    return bool(folders & roots)


def spell_trust_key(trust: HookTrust, file: str, path: tuple[str | int, ...]) -> str:
    """The name under which an agent trusts one hook: its file, event and numbers, or its event alone."""
    if trust.row:
        return _find_native_event(path)
    group, index = (*(step for step in path if isinstance(step, int)), 0, 0)[:2]
    return trust.name.format(file=file, event=_spell_event(path), group=group, index=index)


def _spell_event(path: tuple[str | int, ...]) -> str:
    """The event of a hook, in snake case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", _find_native_event(path)).lower()


def _find_native_event(path: tuple[str | int, ...]) -> str:
    return next((step for step in path[1:] if isinstance(step, str)), "")


def read_hook_trust(
    dialect: Dialect, file: str, path: tuple[str | int, ...], root: str, env: Mapping[str, str]
) -> TrustVerdict:
    """Whether an agent with trust per hook trusts this hook, from its files."""
    trust = find_quirk(dialect, HOOK_TRUST)
    if trust is None:
        return TrustVerdict(is_trusted=True)
    place = next(iter(expand_place(trust.file, dialect, root, env)), None)
    document = read_settings_file(place) if place else None
    states = value_at(document.tree, trust.key) if document else None
    if trust.row:
        setting, key = trust.lifted
        lifting = find_first_with_key((setting,), key, dialect, root, env) if setting else None
        if lifting and value_at(lifting[1].tree, key) is True:
            return TrustVerdict(is_trusted=True, path=place)
        row = make_trust_row(trust, spell_trust_key(trust, file, path), fingerprint_hook(trust, file, path))
        evidence = _read_trust_row(trust, row, states)
        why = "it is not approved" if evidence else ""
        return TrustVerdict(not evidence, place, evidence, why)
    keys = [spell_trust_key(trust, name, path) for name in dict.fromkeys((file, os.path.realpath(file)))]
    state = next((states[key] for key in keys if isinstance(states, Mapping) and key in states), None)
    name = spell_key((*trust.key, keys[0]))
    if not value_at(state, (trust.field,)):
        return TrustVerdict(
            is_trusted=False, path=place, evidence=f"{name} has no {trust.field}", why="it is not trusted"
        )
    if value_at(state, (trust.switch,)) is False:
        return TrustVerdict(
            is_trusted=False, path=place, evidence=f"{name}.{trust.switch} is false", why="it is switched off"
        )
    if trust.fingerprint and value_at(state, (trust.field,)) != fingerprint_hook(trust, file, path):
        evidence = f"{name}.{trust.field} is from an earlier version"
        return TrustVerdict(
            is_trusted=False,
            path=place,
            evidence=evidence,
            why="it changed since it was trusted",
            has_changed=True,
        )
    return TrustVerdict(is_trusted=True, path=place)


def _read_trust_row(trust: HookTrust, wanted: Mapping[str, Tree], rows: Tree) -> str:
    """The evidence that a hook has no row in the list of the trusted ones; empty if it has."""
    each = rows if isinstance(rows, list) else []
    has_row = any(isinstance(row, Mapping) and wanted.items() <= row.items() for row in each)
    return "" if has_row else f"{spell_key(trust.key)} does not have its command"


def make_trust_row(trust: HookTrust, event: str, command: str) -> dict[str, Tree]:
    """The row by which an agent trusts a hook."""
    return dict(zip(trust.row or (), (event, command), strict=False))


def fingerprint_hook(trust: HookTrust, file: str, path: tuple[str | int, ...]) -> str:
    """The agent's hash of the current hook, or the command that it is known by; empty if it has none."""
    document = read_settings_file(Path(file))
    trees: list[Tree] = [document.tree if document else None]
    for step in path:
        inside = trees[-1]
        is_list = isinstance(step, int) and isinstance(inside, list) and step < len(inside)
        trees.append(inside[step] if is_list else value_at(inside, (str(step),)))
    groups = [tree for tree in trees if isinstance(tree, Mapping)]
    if trust.row and groups and groups[-1] is trees[-1]:
        return str(groups[-1].get("command", ""))
    if trust.fingerprint is None or not groups or groups[-1] is not trees[-1]:
        return ""
    return trust.fingerprint(_spell_event(path), groups[-2] if len(groups) > 1 else {}, groups[-1])


def find_closed_gate(dialect: Dialect, scope: str, root: str, env: Mapping[str, str]) -> Gate | None:
    """The setting that prevents an agent from running hooks of a scope, if any."""
    for gate in dialect.gates:
        if scope not in gate.scopes or gate.files == ("",):
            continue
        if gate.variable:
            if env.get(gate.variable):
                return gate
            continue
        if find_closing_setting(gate, dialect, root, env):
            return gate
    return None


def find_closing_setting(
    gate: Gate, dialect: Dialect, root: str, env: Mapping[str, str]
) -> tuple[Path, Document] | None:
    """The file whose value closes a gate: the first that has the key; of lists each counts."""
    for files in [(file,) for file in gate.files] if gate.lists else [gate.files]:
        setting = find_first_with_key(files, gate.key, dialect, root, env)
        if setting and closes(gate, value_at(setting[1].tree, gate.key)):
            return setting
    return None


def closes(gate: Gate, value: Tree) -> bool:
    """Whether a value closes a gate."""
    values = value if gate.lists and isinstance(value, list) else [value]
    return any(is_value(item, off) for item in values for off in gate.off)


def list_trust_files(dialect: Dialect, root: str, env: Mapping[str, str]) -> Iterator[str]:
    """The files that decide what an agent trusts."""
    folder, hook = dialect.folder_trust, find_quirk(dialect, HOOK_TRUST)
    names = [*((folder.file, *folder.asks[0]) if folder else ()), *((hook.file,) if hook else ())]
    yield from (path for name in names if name and (path := resolve_place(dialect, name, root, env)))


def expand_place(path: str, dialect: Dialect, root: str, env: Mapping[str, str]) -> list[Path]:
    """The files that a place of a dialect matches; without a star also a missing one."""
    full = resolve_place(dialect, path, root, env)
    return expand_last(Path(full)) if full else []


def expand_last(path: Path) -> list[Path]:
    """The files that a path matches, with stars in its last name only."""
    if "*" not in path.name:
        return [path]
    return sorted(file for file in path.parent.glob(path.name) if file.is_file())


def find_first_with_key(
    files: tuple[str, ...], key: tuple[str, ...], dialect: Dialect, root: str, env: Mapping[str, str]
) -> tuple[Path, Document] | None:
    """The first file with the key."""
    for file in files:
        for path in expand_place(file, dialect, root, env):
            document = read_settings_file(path)
            if document is not None and value_at(document.tree, key) is not None:
                return path, document
    return None


def read_settings_file(path: Path) -> Document | None:
    """A settings file, whatever its content; None if it cannot be read."""
    kind = documents.detect_kind(path.name)
    try:
        data = read_data(path)
        return None if data is None else documents.parse(data, "jsonc" if kind == "json" else kind)
    except (InputError, documents.SyntaxProblem):
        return None


def value_at(tree: Tree, key: Iterable[str]) -> Tree:
    """The value at a path of keys, None if missing."""
    for step in key:
        tree = tree.get(step) if isinstance(tree, Mapping) else None
    return tree


def is_value(value: Tree, expected: str | bool) -> bool:  # noqa: FBT001  (a value to compare with)
    """Whether two values are equal; `1` and `true` differ."""
    return type(value) is type(expected) and value == expected


def spell_value(value: Tree) -> str:
    """Format a value as in its file."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def spell_key(key: Iterable[str]) -> str:
    """Format a path of keys for people; keys with dots or slashes in quotes."""
    return ".".join(step if re.fullmatch(r"[\w-]+", step) else f'"{step}"' for step in key)
