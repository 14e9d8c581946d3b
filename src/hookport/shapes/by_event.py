"""Configuration that maps events to hooks, as one JSON object, nested or flat.

Nested: event -> groups with a matcher -> handlers; consecutive handlers with the same matcher form one group.
Flat: event -> entries, with the matcher as a field.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from hookport.base.places import ends_at
from hookport.errors import Problem, spell_path, suggest_closest
from hookport.findings import Finding, IgnoredMatcher, Kind, NeverRuns, OtherSettings, RunsOnce, UnknownEvent
from hookport.model.hooks import NOTHING, Hook, Manifest
from hookport.shapes.dialect import (
    DecodedManifest,
    Dialect,
    EventSpec,
    Location,
    Path,
    Place,
    RefusedError,
    Shape,
    Tree,
    as_field,
    find_event,
    find_matching,
)
from hookport.shapes.entries import (
    bind,
    explain_wrong_key,
    find_slipped_key,
    find_slots,
    find_type_problem,
    get_manifest_data,
    merge_entries,
    name_kind,
    read_entry,
    read_root_data,
    write_entry,
    write_group_extra,
    write_matchers,
)
from hookport.shapes.matchers import means_all, read_matcher


class _Reading:
    """The hooks, findings and problems read from a dialect's files so far."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.hooks: list[tuple[Hook, Place]] = []
        self.findings: list[Finding] = []
        self.problems: list[Problem] = []

    def refuse(self, place: Place, message: str) -> None:
        self.problems.append(Problem(message, place.path, place.file))

    def note(self, kind: type[Kind], place: Place, **words: object) -> None:
        finding = kind.at(spell_path(place.path), None, dialect=self.dialect.id, **words)
        self.findings.append(finding._replace(file=place.file))


class _Group(NamedTuple):
    """One group of an event; in the flat form an entry is its own group."""

    place: Place
    native: str
    spec: EventSpec | None
    tree: Mapping[str, Tree]

    @property
    def is_flat(self) -> bool:
        return "hooks" not in self.tree


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """Every hook of the files, in the order the agent reads them."""
    reading = _Reading(dialect)
    data: dict[str, Tree] = {}
    for file, tree in trees.items():
        events, path = find_event_map(dialect, file, tree, reading.problems)
        if path and isinstance(tree, Mapping):
            extra = {name: value for name, value in read_root_data(dialect, tree).items() if name != path[0]}
            if extra:
                data.update(extra)
                reading.findings.append(OtherSettings.at("", keys=", ".join(extra))._replace(file=file))
        setting_values = {
            native: value for native, value in events.items() if native in dialect.shape.not_events
        }
        if setting_values and len(path) == 1:
            data[str(path[0])] = setting_values
        if dialect.shape.root and events and path[:1] != dialect.shape.root[:1]:
            _note_outside(reading, file, path)
        first = len(reading.hooks)
        for native, groups in events.items():
            _read_event(reading, Place(file, (*path, native)), native, groups)
        reading.hooks[first:] = _apply_switches(dialect, tree, reading.hooks[first:])
    if reading.problems:
        raise RefusedError(*reading.problems)
    hooks = reading.hooks
    if dialect.shape.merges:
        hooks = merge_entries(hooks)
    if dialect.runs_once and len(trees) > 1:
        hooks = _drop_copies(dialect, hooks, reading.findings)
    manifest = Manifest(tuple(hook for hook, _ in hooks), {dialect.id: data} if data else NOTHING)
    return DecodedManifest(manifest, tuple(place for _, place in hooks), tuple(reading.findings))


def _apply_switches(
    dialect: Dialect, tree: Tree, hooks: list[tuple[Hook, Place]]
) -> list[tuple[Hook, Place]]:
    """The hooks of a file, disabled if the file switches them off."""
    is_off = dialect.shape.is_off
    if is_off is None:
        return hooks
    return [(hook._replace(enabled=False) if is_off(tree, hook) else hook, place) for hook, place in hooks]


def find_value(tree: Tree, path: tuple[str, ...]) -> Tree:
    """The value at a path of keys, None if missing."""
    for key in path:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree


def _drop_copies(
    dialect: Dialect, hooks: list[tuple[Hook, Place]], findings: list[Finding]
) -> list[tuple[Hook, Place]]:
    """Drop copies of a hook in other settings files, which the agent does not run again."""
    plugins = tuple(place.path for place in dialect.locations if place.scope == "plugin")
    first_files: dict[str, str] = {}
    unique: list[tuple[Hook, Place]] = []
    for hook, place in hooks:
        first = (
            first_files.setdefault(repr(hook), place.file) if not place.file.endswith(plugins) else place.file
        )
        if first == place.file:
            unique.append((hook, place))
        else:
            place_text = spell_path(place.path)
            findings.append(RunsOnce.at(place_text, dialect=dialect.id, file=first)._replace(file=place.file))
    return unique


def find_event_map(
    dialect: Dialect, file: str, tree: Tree, problems: list[Problem]
) -> tuple[Mapping[str, Tree], Path]:
    """The object that maps events to hooks, and where it is in the tree."""
    path: Path = ()
    if not isinstance(tree, Mapping):
        problems.append(Problem(f"must be an object, not {name_kind(tree)}", (), file))
        return {}, path
    for key in dialect.shape.root:
        if not path and key not in tree:
            if _looks_bare(dialect, tree):
                return tree, ()
            if slipped := find_slipped_key(str(key), tree, lambda value: _is_event_map(dialect, value)):
                return tree[slipped], (slipped,)
        tree = tree.get(key, {})
        path = (*path, key)
        if not isinstance(tree, Mapping):
            problems.append(Problem(f"must be an object, not {name_kind(tree)}", path, file))
            return {}, path
    return tree, path


def _is_event_map(dialect: Dialect, tree: Tree) -> bool:
    return isinstance(tree, Mapping) and _looks_bare(dialect, tree)


def _looks_bare(dialect: Dialect, tree: Mapping[str, Tree]) -> bool:
    return any(find_event(dialect, key) and isinstance(value, list) for key, value in tree.items())


def _note_outside(reading: _Reading, file: str, path: Path) -> None:
    """Report events without the right key around them, which the agent ignores in its own settings file.

    Elsewhere they are an excerpt, as in documentation, and are read as intended.
    """
    dialect = reading.dialect
    if dialect.kind == "agent" and any(
        ends_at(PurePosixPath(file).parts, place.path) for place in dialect.locations
    ):
        key = ".".join(map(str, dialect.shape.root))
        reading.note(NeverRuns, Place(file, path), **explain_wrong_key(key, path))


def _read_event(reading: _Reading, place: Place, native: str, groups: Tree) -> None:
    dialect = reading.dialect
    if native in dialect.shape.not_events:
        return
    if not isinstance(groups, list):
        reading.refuse(place, f"must be a list of groups, not {name_kind(groups)}")
        return
    spec = find_event(dialect, native)
    if spec is None:
        guess = suggest_closest(native, tuple(event.native for event in dialect.events))
        reading.note(UnknownEvent, place, event=native, guess=guess)
    for number, tree in enumerate(groups):
        at = Place(place.file, (*place.path, number))
        if isinstance(tree, Mapping):
            _read_group(reading, _Group(at, native, spec, tree))
        else:
            reading.refuse(at, f"must be an object, not {name_kind(tree)}")


def _read_group(reading: _Reading, group: _Group) -> None:
    file, path = group.place
    if ("flat" if group.is_flat else "nested") not in reading.dialect.shape.forms:
        lacks = (
            "lacks 'hooks', the list of its handlers"
            if group.is_flat
            else "has 'hooks', a list that it does not read here"
        )
        reading.refuse(group.place, f"{lacks}; {reading.dialect.id} does not run it")
        return
    if group.is_flat:
        _read_hook(reading, group, group.place, group.tree)
        return
    entries = group.tree["hooks"]
    if not isinstance(entries, list):
        place = Place(file, (*path, "hooks"))
        reading.refuse(place, f"must be a list of handlers, not {name_kind(entries)}")
        return
    for index, entry in enumerate(entries):
        _read_hook(reading, group, Place(file, (*path, "hooks", index)), entry)


def _read_hook(reading: _Reading, group: _Group, place: Place, entry: Tree) -> None:
    dialect = reading.dialect
    reason = ""
    if dialect.shape.prepare and isinstance(entry, Mapping):
        entry, reason = dialect.shape.prepare(group.native, entry)
    hook = _decode_entry(reading, group, place, entry)
    if hook is None:
        return
    reason = reason or _find_skip_reason(dialect, group.spec, group.tree)
    if reason:
        reading.note(NeverRuns, place, what="this hook", reason=reason, way="Correct it.")
    elif group.spec is not None and _ignores_matcher(dialect, group.spec, group.tree, hook):
        reading.note(IgnoredMatcher, place, matcher=group.tree[dialect.shape.matcher_key])
    reading.hooks.append((hook, place))


def _ignores_matcher(dialect: Dialect, spec: EventSpec, group: Mapping[str, Tree], hook: Hook) -> bool:
    matching = find_matching(dialect, spec)
    unread = matching.grammar in ("none", "ignored") or not (hook.matcher or hook.content)
    # If the agent ignores the matcher, every spelling of "all" is no loss.
    as_pattern = matching._replace(grammar="regex") if matching.grammar in ("none", "ignored") else matching
    return unread and not means_all(as_pattern, group.get(dialect.shape.matcher_key) or "")


def _find_skip_reason(dialect: Dialect, spec: EventSpec | None, group: Mapping[str, Tree]) -> str:
    matcher = group.get(dialect.shape.matcher_key)
    if spec is None or matcher not in find_matching(dialect, spec).never:
        return ""
    return f"'{matcher}' is not a valid matcher on {spec.native}; without a matcher it runs every time"


def _decode_entry(reading: _Reading, group: _Group, place: Place, entry: Tree) -> Hook | None:
    dialect, (file, path) = reading.dialect, place
    matcher_key = dialect.shape.matcher_key
    matcher = group.tree.get(matcher_key, "")
    if not isinstance(matcher, str):
        at = Place(file, (*group.place.path, matcher_key))
        reading.refuse(at, f"must be a string, not {name_kind(matcher)}")
        return None
    if not isinstance(entry, Mapping):
        reading.refuse(place, f"must be an object, not {name_kind(entry)}")
        return None
    problems: list[Problem] = []
    structure = (matcher_key, "hooks", *dialect.shape.group_fields) if group.is_flat else ()
    hook = read_entry(dialect, entry, path, structure, problems)
    extra: dict[str, Tree] = {}
    values: dict[str, Tree] = {}
    for key, value in group.tree.items():
        if key in (matcher_key, "hooks") or (group.is_flat and key not in dialect.shape.group_fields):
            continue
        if key in dialect.shape.group_fields:
            field = as_field(dialect.shape.group_fields[key])
            wrong = find_type_problem(field.attr, value, (*group.place.path, key))
            problems += [wrong] if wrong else []
            values[field.attr] = value
        else:
            extra[key] = value
    reading.problems += [problem._replace(file=file) for problem in problems]
    if hook is None or problems:
        return None
    if extra:
        data = {**hook.provider_data.get(dialect.id, NOTHING), "group": extra}
        hook = hook._replace(provider_data={dialect.id: data})
    hook = hook._replace(**values)
    spec = group.spec
    terms, content = read_matcher(dialect, spec, matcher) if spec else ((), "")
    if spec is None and matcher:
        data = {**hook.provider_data.get(dialect.id, NOTHING), "group": {**extra, matcher_key: matcher}}
        hook = hook._replace(provider_data={dialect.id: data})
    return bind(dialect, hook, group.native, spec, terms, content)


def encode(dialect: Dialect, manifest: Manifest) -> dict[str, Tree]:
    """The file of all hooks, at the place where the agent reads it."""
    events: dict[str, list[dict[str, Tree]]] = {}
    for hook in manifest.hooks:
        for spec, terms in find_slots(dialect, hook):
            for matcher in write_matchers(dialect, spec, hook, terms):
                _add_entry(events.setdefault(spec.native, []), dialect, hook, matcher)
    return {
        choose_location(dialect, manifest).path: wrap_events(dialect, manifest, sort_events(dialect, events))
    }


def _add_entry(groups: list[dict[str, Tree]], dialect: Dialect, hook: Hook, matcher: str | None) -> None:
    head: dict[str, Tree] = {} if matcher is None else {dialect.shape.matcher_key: matcher}
    head.update(write_group_extra(dialect, hook))
    entry = write_entry(dialect, hook)
    if dialect.shape.forms[0] == "flat":
        groups.append({**entry, **head})
    elif groups and {key: value for key, value in groups[-1].items() if key != "hooks"} == head:
        groups[-1]["hooks"].append(entry)
    else:
        groups.append({**head, "hooks": [entry]})


def sort_events(dialect: Dialect, events: Mapping[str, Tree]) -> dict[str, Tree]:
    """The events in the order of the dialect's table, unknown ones last."""
    natives = [spec.native for spec in dialect.events if spec.native in events]
    return {
        native: events[native] for native in [*natives, *(name for name in events if name not in natives)]
    }


def wrap_events(dialect: Dialect, manifest: Manifest, events: Tree) -> Tree:
    """The event map among the file's other settings."""
    data = dict(get_manifest_data(dialect, manifest))
    old_events = data.pop(str(dialect.shape.root[0]), NOTHING) if len(dialect.shape.root) == 1 else NOTHING
    events = {**old_events, **events}
    for key in reversed(dialect.shape.root):
        events = {key: events}
    return {**dialect.shape.root_keys, **data, **events} if dialect.shape.root else events


def choose_location(dialect: Dialect, manifest: Manifest) -> Location:
    """The path of the file: in the plugin if a command names the plugin's root, else in the project."""
    in_package = any(word in hook.handler.command for hook in manifest.hooks for word in dialect.package_dir)
    scopes = ("plugin", "project", "user") if in_package else ("project", "user", "plugin")
    return next(place for scope in scopes for place in dialect.locations if place.scope == scope)


BY_EVENT = Shape(decode, encode)
SPLIT_BY_EVENT = Shape(decode, encode, merges=True)
