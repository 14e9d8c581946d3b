"""Edits a source in place: its own files with other hooks, and the rest untouched."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import NamedTuple

from hookport import documents
from hookport.agents import DecodedManifest, Dialect, Place, RefusedError, Tree
from hookport.convert.pipeline import Reading, detect_dialect_kind, read
from hookport.errors import InputError, InternalError, Problem
from hookport.model.hooks import NOTHING, Hook, Manifest
from hookport.shapes.dialect import Path
from hookport.shapes.entries import find_slots


def encode(reading: Reading, hooks: tuple[Hook, ...]) -> dict[str, bytes]:
    """The source's own files with these hooks instead; everything without a changed hook keeps its bytes.

    Only files that were read are edited. A new file appears only if a dialect has one for each hook or event,
    beside the others. Hooks of one event keep their order in each file, and a hook without the name that the
    dialect requires gets one. A file that was read but is not in the result contained only removed hooks, or
    was generated for them: the caller deletes it. A script of the user's stays, even if no hook runs it any
    more; it is replaced only if the command itself changed.
    """
    before = reading.decoded.manifest.hooks
    if _group_by_event(reading.dialect, hooks) == _group_by_event(reading.dialect, before):
        return {name: document.data for name, document in reading.documents.items()}
    _refuse_scripts(reading)
    remaining = list(before)
    wanted: list[Hook] = []
    for hook in hooks:
        if hook in remaining:
            remaining.remove(hook)
            wanted.append(hook)
        else:
            wanted.append(_settle_hook(reading, hook, len(wanted)))
    edits = (
        (_edit_folders,)
        if _has_folders(reading.dialect)
        else (_edit_entries, _rewrite_entries, _merge_files, _cut_and_append)
    )
    results: list[tuple[dict[str, bytes], DecodedManifest]] = []
    for edit in edits:
        try:
            files = edit(reading, tuple(wanted))
            decoded = _enable_new(read(files, reading.dialect).decoded, wanted)
        except (_UnlikeError, InputError, documents.RewriteFailed):
            continue
        if _group_by_event(reading.dialect, decoded.manifest.hooks) == _group_by_event(
            reading.dialect, tuple(wanted)
        ):
            return files
        results.append((files, decoded))
    for files, decoded in results:
        if _agrees(reading.dialect, decoded, tuple(wanted)):
            return files
    if not hooks and reading.dialect.kind == "format":  # such a file contains only hooks and may not be empty
        used = {place.file for place in reading.decoded.places}
        return {name: document.data for name, document in reading.documents.items() if name not in used}
    raise InternalError(f"writing these hooks into the files of {reading.dialect.id} would change others")


def _refuse_scripts(reading: Reading) -> None:
    """Refuse to edit or delete a script that a person wrote."""
    scripts = [place.file for place in reading.decoded.places if not place.path]
    if reading.dialect.shape.in_place and scripts:
        raise InputError(
            *(Problem("is a person's own script, so it is not edited", (), script) for script in scripts)
        )


def _enable_new(decoded: DecodedManifest, wanted: list[Hook]) -> DecodedManifest:
    """The result, without the effect of a disabled file that also disables new hooks."""
    hooks = tuple(
        on if hook not in wanted and (on := hook._replace(enabled=True)) in wanted else hook
        for hook in decoded.manifest.hooks
    )
    return decoded._replace(manifest=decoded.manifest._replace(hooks=hooks))


class _UnlikeError(Exception):
    """A file has its hooks in a form that this kind of edit does not support."""


class _FreshHook(NamedTuple):
    """One hook written alone: the new file, its tree, the path to the entry, the hook read back."""

    key: str
    tree: Tree
    path: Path
    hook: Hook


def _has_folders(dialect: Dialect) -> bool:
    """Whether each hook is a folder."""
    return "/*/" in dialect.locations[0].path


def _group_by_event(dialect: Dialect, hooks: tuple[Hook, ...]) -> dict[tuple[str, ...], list[Hook]]:
    """The hooks of each event; where events are in named sets, those of each set, as sets have no order."""
    has_sets = dialect.shape.by_event and "name" in dialect.shape.group_fields.values()
    events: dict[tuple[str, ...], list[Hook]] = {}
    for hook in hooks:
        natives = tuple(spec.native for spec, _ in find_slots(dialect, hook))
        events.setdefault((*natives, hook.name) if has_sets else natives, []).append(hook)
    return events


def _agrees(dialect: Dialect, decoded: DecodedManifest, hooks: tuple[Hook, ...]) -> bool:
    """Whether exactly these hooks were found, in order within each file; the order of files is given."""
    remaining = list(hooks)
    for hook in decoded.manifest.hooks:
        if hook not in remaining:
            return False
        remaining.remove(hook)
    hooks_by_event = _group_by_event(dialect, hooks)
    for file in {place.file for place in decoded.places}:
        pairs = zip(decoded.manifest.hooks, decoded.places, strict=True)
        file_hooks = tuple(hook for hook, place in pairs if place.file == file)
        for event, some in _group_by_event(dialect, file_hooks).items():
            rest = iter(hooks_by_event[event])
            if not all(hook in rest for hook in some):
                return False
    return not remaining


def _settle_hook(reading: Reading, hook: Hook, number: int) -> Hook:
    """The hook in the form of the parsed files: named if required, marked if other files lack it."""
    dialect = reading.dialect
    named = hook
    if dialect.adjust:
        filled = dialect.adjust([*reading.decoded.manifest.hooks[:number], hook])[0]
        adjusted = filled[-1] if filled else hook
        if not _loses(hook, adjusted):
            named = hook._replace(name=adjusted.name, description=adjusted.description)
    if _has_folders(dialect):
        return named
    names = [name for name, document in reading.documents.items() if document.kind != "text"]
    best, most = hook, 0
    for choice in (hook, named):
        fresh_hooks = [fresh_hook for name in names if (fresh_hook := _write_alone(reading, name, choice))]
        exact = {
            candidate.key: candidate.hook for candidate in fresh_hooks if not _loses(choice, candidate.hook)
        }
        if len(exact) > most:
            fresh = dialect.shape.encode(dialect, Manifest((choice,)))
            is_complete = all(any(_fits(reading, name, key, fresh[key]) for name in names) for key in fresh)
            best, most = choice if is_complete else next(iter(exact.values())), len(exact)
    return best


def _loses(hook: Hook, written: Hook) -> bool:
    """Whether the second hook lacks anything of the first."""
    named = written._replace(
        name=hook.name or written.name,
        description=hook.description or written.description,
        provider_data=NOTHING,
    )
    same = named == hook._replace(name=named.name, description=named.description, provider_data=NOTHING)
    if not same or named.name != written.name or named.description != written.description:
        return True
    return any(
        written.provider_data.get(owner, NOTHING).get(key) != value
        for owner, data in hook.provider_data.items()
        for key, value in data.items()
    )


def _rank_fresh_files(file: str, fresh: Mapping[str, Tree]) -> list[str]:
    """The new files, the one most similar to a file first."""

    def unlike(key: str) -> int:
        (*_, folder, name), (*_, own_folder, own_name) = f"//{key}".split("/"), f"//{file}".split("/")
        return 0 if key == file else 1 if folder == own_folder else 2 if name == own_name else 3

    return sorted(fresh, key=unlike)


def _write_alone(reading: Reading, file: str, hook: Hook) -> _FreshHook | None:
    dialect = reading.dialect
    fresh = dialect.shape.encode(dialect, Manifest((hook,)))
    candidates: list[_FreshHook] = []
    for key in _rank_fresh_files(file, fresh):
        try:
            decoded = dialect.shape.decode(dialect, {file: fresh[key]})
        except RefusedError:
            continue
        if len(decoded.manifest.hooks) == 1:
            candidates.append(_FreshHook(key, fresh[key], decoded.places[0].path, decoded.manifest.hooks[0]))
    exact = (candidate for candidate in candidates if not _loses(hook, candidate.hook))
    return next(exact, candidates[0] if candidates else None)


def _pair_hooks(
    reading: Reading, hooks: tuple[Hook, ...]
) -> tuple[dict[int, Hook], list[int], list[tuple[int, Hook]]]:
    """By number: which hooks changed into which, which are gone, and which are new at which place."""
    before = reading.decoded.manifest.hooks
    changed: dict[int, Hook] = {}
    gone: list[int] = []
    new: list[tuple[int, Hook]] = []
    for event in dict.fromkeys(_list_natives(reading, hook) for hook in (*before, *hooks)):
        old, now = (
            [number for number, hook in enumerate(some) if _list_natives(reading, hook) == event]
            for some in (before, hooks)
        )
        pairs = documents.align(
            [_list_fields(before[at]) for at in old], [_list_fields(hooks[at]) for at in now]
        )
        for old_index, new_index in pairs:
            if old_index is None and new_index is not None:
                new.append((now[new_index], hooks[now[new_index]]))
            elif old_index is not None and new_index is None:
                gone.append(old[old_index])
            elif (
                old_index is not None
                and new_index is not None
                and before[old[old_index]] != hooks[now[new_index]]
            ):
                changed[old[old_index]] = hooks[now[new_index]]
    return changed, gone, sorted(new, key=lambda numbered: numbered[0])


def _list_natives(reading: Reading, hook: Hook) -> tuple[str, ...]:
    return tuple(spec.native for spec, _ in find_slots(reading.dialect, hook))


def _list_fields(hook: Hook) -> dict[str, object]:
    return {**hook._asdict(), **hook.handler._asdict()}


def _edit_entries(reading: Reading, hooks: tuple[Hook, ...], *, afresh: bool = False) -> dict[str, bytes]:
    """Edit changed hooks in place, cut removed ones, and add new ones at the end of their event."""
    changed, gone, new = _pair_hooks(reading, hooks)
    trees = {name: copy.deepcopy(document.tree) for name, document in reading.documents.items()}
    for number, hook in changed.items():
        old, place = reading.decoded.manifest.hooks[number], reading.decoded.places[number]
        _change(reading, trees, place, old, hook, afresh=afresh)
        for leftover, at in _find_leftovers(reading, trees, [old], hooks):
            differs = {
                field: value for field, value in hook._asdict().items() if value != getattr(old, field)
            }
            _change(reading, trees, at, leftover, leftover._replace(**differs), afresh=afresh)
    _cut_out(reading, trees, gone, hooks)
    return _write_with_new(reading, trees, hooks, new)


def _rewrite_entries(reading: Reading, hooks: tuple[Hook, ...]) -> dict[str, bytes]:
    """Edit the same way, but rewrite the entries of changed hooks: they may use other keys than ours."""
    return _edit_entries(reading, hooks, afresh=True)


def _cut_and_append(reading: Reading, hooks: tuple[Hook, ...]) -> dict[str, bytes]:
    """Cut removed and changed hooks, and add changed and new ones at the end of their event."""
    changed, gone, new = _pair_hooks(reading, hooks)
    trees = {name: copy.deepcopy(document.tree) for name, document in reading.documents.items()}
    _cut_out(reading, trees, sorted([*gone, *changed]), hooks)
    again = [(hooks.index(hook), hook) for hook in changed.values()]
    return _write_with_new(reading, trees, hooks, sorted([*new, *again], key=lambda numbered: numbered[0]))


def _cut_out(reading: Reading, trees: dict[str, Tree], gone: list[int], hooks: tuple[Hook, ...]) -> None:
    """Cut the entries of hooks, and what is left of them: one hook may be several entries."""
    cut = [reading.decoded.places[number] for number in gone]
    old = [reading.decoded.manifest.hooks[number] for number in gone]
    while cut:
        for file, path in sorted(cut, reverse=True):
            if not path:
                del trees[file]
            else:
                _remove(trees[file], path, is_toml=reading.documents[file].kind == "toml")
        cut = [place for _, place in _find_leftovers(reading, trees, old, hooks)]


def _find_leftovers(
    reading: Reading, trees: dict[str, Tree], old: list[Hook], hooks: tuple[Hook, ...]
) -> list[tuple[Hook, Place]]:
    """What is left of edited hooks: nothing, unless a hook was read from several entries or had a copy."""
    try:
        decoded = reading.dialect.shape.decode(reading.dialect, trees)
    except RefusedError:
        raise _UnlikeError from None
    expected = [*(hook for hook in reading.decoded.manifest.hooks if hook not in old), *hooks]
    handlers = [(hook.handler.type, hook.handler.command) for hook in old]
    return [
        (hook, place)
        for hook, place in zip(decoded.manifest.hooks, decoded.places, strict=True)
        if hook not in expected and (hook.handler.type, hook.handler.command) in handlers
    ]


def _write_with_new(
    reading: Reading, trees: dict[str, Tree], hooks: tuple[Hook, ...], new: list[tuple[int, Hook]]
) -> dict[str, bytes]:
    """The files of the trees, with new hooks at the end of their events."""
    for at, hook in new:
        _add(reading, trees, hooks[:at], hook)
    return {
        name: reading.documents[name].rewrite(tree)
        if name in reading.documents
        else documents.dump(tree, detect_dialect_kind(reading.dialect, name))
        for name, tree in trees.items()
    }


def _change(
    reading: Reading, trees: dict[str, Tree], place: Place, old: Hook, new: Hook, *, afresh: bool
) -> None:
    """The entry at a place, with the differences between the two hooks when written alone."""
    if reading.documents[place.file].kind == "text":
        raise _UnlikeError
    old_fresh, new_fresh = _write_alone(reading, place.file, old), _write_alone(reading, place.file, new)
    if (
        old_fresh is None
        or new_fresh is None
        or old_fresh.path != new_fresh.path
        or old_fresh.key != new_fresh.key
    ):
        raise _UnlikeError
    path, fresh_path = place.path, old_fresh.path
    if not path or not isinstance(path[-1], int) or not isinstance(fresh_path[-1], int):
        raise _UnlikeError
    tree = trees[place.file]
    depth, fresh_depth = _count_keys(path), _count_keys(fresh_path)
    if len(path) - depth != len(fresh_path) - fresh_depth:
        # In a group in one file and alone in the other, or the reverse: rewritten as new.
        item, more = _value_at(tree, path[: depth + 1]), _value_at(new_fresh.tree, fresh_path[:fresh_depth])
        if len(more) != 1 or len(item.get("hooks", [item])) != 1:
            raise _UnlikeError
        _value_at(tree, path[:depth])[path[depth]] = more[0]
        return
    if len(path) - depth > 1:
        _change_group(
            tree,
            path[:-2],
            _value_at(old_fresh.tree, fresh_path[:-2]),
            _value_at(new_fresh.tree, fresh_path[:-2]),
        )
    entry = _value_at(new_fresh.tree, fresh_path)
    _value_at(tree, path[:-1])[path[-1]] = (
        entry if afresh else _merge_trees(_value_at(tree, path), _value_at(old_fresh.tree, fresh_path), entry)
    )


def _change_group(tree: Tree, path: Path, old: Tree, new: Tree) -> None:
    """Change a group's own keys; a group of several entries cannot change for one of them."""
    group = _value_at(tree, path)
    before, after, head = (
        {key: value for key, value in tree_of_group.items() if key != "hooks"}
        for tree_of_group in (old, new, group)
    )
    if documents.is_same_tree(before, after):
        return
    if len(group["hooks"]) != 1:
        raise _UnlikeError
    merged = _merge_trees(head, before, after)
    for key in head.keys() - merged.keys():
        del group[key]
    group.update(merged)


def _count_keys(path: Path) -> int:
    """How many steps of a path come before the first list."""
    return next((number for number, step in enumerate(path) if isinstance(step, int)), len(path))


def _value_at(tree: Tree, path: Path) -> Tree:
    for step in path:
        tree = tree[step]
    return tree


def _add(reading: Reading, trees: dict[str, Tree], before: tuple[Hook, ...], hook: Hook) -> None:
    """Add the hook at the end of its event, once in every kind of file that would have it."""
    fresh_by_key: dict[str, list[tuple[str, _FreshHook]]] = {}
    for name, document in reading.documents.items():
        fresh_hook = _write_alone(reading, name, hook) if document.kind != "text" and name in trees else None
        if fresh_hook:
            fresh_by_key.setdefault(fresh_hook.key, []).append((name, fresh_hook))
    if not fresh_by_key:
        fresh = reading.dialect.shape.encode(reading.dialect, Manifest((hook,)))
        # Files of one hook each cannot take another.
        if fresh.keys() & trees.keys() or any(place.path for place in reading.decoded.places):
            raise _UnlikeError
        trees.update(fresh)
        return
    homes = dict(zip(map(repr, reading.decoded.manifest.hooks), reading.decoded.places, strict=True))
    near = [
        homes[repr(earlier)].file
        for earlier in before
        if repr(earlier) in homes and _list_natives(reading, earlier) == _list_natives(reading, hook)
    ]
    used = [place.file for place in reading.decoded.places]
    for alike in fresh_by_key.values():
        names = [name for name, _ in alike]
        home = next((name for name in (*reversed(near), *used) if name in names), names[0])
        _append(reading, trees, home, dict(alike)[home])


def _append(reading: Reading, trees: dict[str, Tree], home: str, fresh_hook: _FreshHook) -> None:
    fresh_container = _find_container(reading, fresh_hook.hook, fresh_hook.path)
    container = next(
        (
            _find_container(reading, hook, place.path)
            for hook, place in zip(reading.decoded.manifest.hooks, reading.decoded.places, strict=True)
            if place.file == home
            and place.path
            and (alone := _write_alone(reading, home, hook))
            and _find_container(reading, alone.hook, alone.path) == fresh_container
        ),
        None,
    )
    if container is None:
        manifest = reading.decoded.manifest._replace(hooks=(fresh_hook.hook,))
        fresh = reading.dialect.shape.encode(reading.dialect, manifest)
        decoded = reading.dialect.shape.decode(
            reading.dialect, {home: fresh[_rank_fresh_files(home, fresh)[0]]}
        )
        container = _find_container(reading, fresh_hook.hook, decoded.places[0].path)
    more = _value_at(fresh_hook.tree, fresh_container)
    tree = trees[home] if trees[home] or not container else dict(reading.dialect.shape.root_keys)
    for step in reversed(container):
        more = {step: more}
    trees[home] = _append_trees(tree, more)


def _find_container(reading: Reading, hook: Hook, path: Path) -> Path:
    """The path to the map of events or the list of hooks around an entry."""
    keys = path[: _count_keys(path)]
    natives = [spec.native for spec, _ in find_slots(reading.dialect, hook)]
    return keys[:-1] if keys and keys[-1] in natives else keys


def _append_trees(tree: Tree, more: Tree) -> Tree:
    """A tree with another tree's entries at the end of its lists."""
    if isinstance(tree, dict) and isinstance(more, dict):
        merged = {
            key: _append_trees(value, more[key]) if key in more else value for key, value in tree.items()
        }
        return {**merged, **{key: value for key, value in more.items() if key not in tree}}
    if isinstance(tree, list) and isinstance(more, list):
        return [*tree, *more]
    raise _UnlikeError


def _remove(tree: Tree, path: Path, *, is_toml: bool) -> None:
    """Cut the entry at a path from its list, and the group or event that has nothing else."""
    if not isinstance(path[-1], int) or not isinstance(tree, (dict, list)):
        raise _UnlikeError
    parents: list[Tree] = [tree]
    for step in path[:-1]:
        parents.append(parents[-1][step])
    depth = len(path) - 1
    while len(parents[depth]) == 1 and depth > 1:
        depth -= 2 if isinstance(path[depth - 1], str) and isinstance(path[depth - 2], int) else 1
        if isinstance(path[depth], str):
            break
    del parents[depth][path[depth]]
    # TOML writes a list of tables without naming the list, so an empty list would add a line.
    while is_toml and depth and not parents[depth]:
        depth -= 1
        del parents[depth][path[depth]]


def _merge_files(reading: Reading, hooks: tuple[Hook, ...]) -> dict[str, bytes]:
    """Each file with the differences between all hooks before and after, both written as new."""
    dialect, manifest = reading.dialect, reading.decoded.manifest
    old, new = (
        dialect.shape.encode(dialect, manifest._replace(hooks=some)) for some in (manifest.hooks, hooks)
    )
    fresh = {**new, **old}
    used = {place.file for place in reading.decoded.places}
    files = {name: document.data for name, document in reading.documents.items()}
    remaining = dict(new)
    for name, document in reading.documents.items():
        is_text = document.kind == "text"
        if is_text and name not in used:
            continue
        key = next(
            (key for key in _rank_fresh_files(name, fresh) if _fits(reading, name, key, fresh[key])), None
        )
        if key is None or (key in new and key not in remaining):
            raise _UnlikeError
        remaining.pop(key, None)
        if key not in new and is_text:
            del files[name]
            continue
        before, after = (fresh_trees.get(key, {} if not is_text else "") for fresh_trees in (old, new))
        if not documents.is_same_tree(before, after):
            files[name] = document.rewrite(_merge_trees(document.tree, before, after))
    for key, tree in remaining.items():
        # A file for each event goes beside the others. Any other file was not read, so it stays untouched.
        if "*" not in dialect.locations[0].path:
            continue
        folder = next((name.rpartition("/")[0] for name in reading.documents), key.rpartition("/")[0])
        name = f"{folder}/{key.rpartition('/')[2]}".removeprefix("/")
        if name in files:
            raise _UnlikeError
        files[name] = documents.dump(tree, detect_dialect_kind(dialect, name))
    return files


def _fits(reading: Reading, name: str, key: str, tree: Tree) -> bool:
    """Whether a new file can replace a file; an event's file only under that event's name."""
    if "*" in reading.dialect.locations[0].path:
        stems = [path.rpartition("/")[2].partition(".")[0].lower() for path in (name, key)]
        return stems[0] == stems[1]
    try:
        reading.dialect.shape.decode(reading.dialect, {name: tree})
    except RefusedError:
        return False
    return True


def _merge_trees(base: Tree, old: Tree, new: Tree) -> Tree:
    """Apply the difference between `old` and `new` to `base`, which has its own spelling of `old`."""
    if documents.is_same_tree(old, new):
        return base
    if isinstance(base, dict) and isinstance(old, dict) and isinstance(new, dict):
        merged = {
            key: _merge_trees(value, old[key], new[key]) if key in old and key in new else new.get(key, value)
            for key, value in base.items()
            if key not in old or key in new
        }
        more = {
            key: value
            for key, value in new.items()
            if key not in base and (key not in old or old[key] != value)
        }
        return {**merged, **more}
    if isinstance(base, list) and isinstance(old, list) and isinstance(new, list):
        if len(base) != len(old):
            raise _UnlikeError
        return [
            new[new_index]
            if base_index is None
            else _merge_trees(base[base_index], old[base_index], new[new_index])
            for base_index, new_index in documents.align(old, new)
            if new_index is not None
        ]
    if any(isinstance(tree, (dict, list)) for tree in (base, old)):
        raise _UnlikeError
    return new


def _edit_folders(reading: Reading, hooks: tuple[Hook, ...]) -> dict[str, bytes]:
    """Edit a folder for each hook: changed folders are edited, new ones are added beside them."""
    dialect, before = reading.dialect, reading.decoded.manifest.hooks
    changed, gone, new = _pair_hooks(reading, hooks)
    files = {name: document.data for name, document in reading.documents.items()}
    for number in (*changed, *gone):
        main = reading.decoded.places[number].file
        folder = main.rpartition("/")[0]
        (_, tree), (script, text) = _write_folder(dialect, before[number])
        runs = _find_script(reading, folder, script)
        if number in gone:
            del files[main]
            if runs in files and reading.documents[runs].tree == text:
                del files[runs]
            continue
        hook = changed[number]
        (_, after), (_, new_text) = _write_folder(dialect, hook)
        files[main] = reading.documents[main].rewrite(_merge_trees(reading.documents[main].tree, tree, after))
        if hook.handler.command != before[number].handler.command:
            if (
                before[number].handler.command in hook.handler.command
                and runs in files
                and reading.documents[runs].tree != text
            ):
                raise _UnlikeError  # the script would be overwritten by one that calls it
            files[runs] = documents.dump(new_text, "text")
    for at, hook in new:
        _add_folder(reading, files, hooks[:at], hook)
    return files


def _write_folder(dialect: Dialect, hook: Hook) -> tuple[tuple[str, Tree], tuple[str, Tree]]:
    """The main file and the script of a hook's folder, each with its path below the folder."""
    fresh = dialect.shape.encode(dialect, Manifest((hook,)))
    main = next(path for path in fresh if documents.detect_kind(path) != "text")
    folder = main.rpartition("/")[0]
    script = next(path for path in fresh if path != main)
    return (folder.rpartition("/")[2], fresh[main]), (script.removeprefix(f"{folder}/"), fresh[script])


def _find_script(reading: Reading, folder: str, script: str) -> str:
    """The script of a folder's hook, in any language."""
    stem = f"{folder}/{script}".rpartition(".")[0]
    return min(
        (name for name in reading.documents if name == stem or name.startswith(f"{stem}.")),
        default=f"{folder}/{script}",
    )


def _add_folder(reading: Reading, files: dict[str, bytes], before: tuple[Hook, ...], hook: Hook) -> None:
    """A folder name that sorts after that of the hook before it."""
    dialect = reading.dialect
    (slug, tree), (script, text) = _write_folder(dialect, hook)
    pattern = dialect.locations[0].path
    name = pattern.rpartition("/")[2]
    folders = sorted(path.rpartition("/")[0] for path in files if path.rpartition("/")[2] == name)
    taken_folders = {path.rpartition("/")[0] for path in (*files, *reading.documents)}
    last = folders[-1] if folders else ""
    parent = last.rpartition("/")[0] if last else pattern.partition("/*/")[0]
    folder = f"{parent}/{slug}"
    if folder in taken_folders or (last and f"{folder}/" < f"{last}/" and before):
        folder = f"{last or folder}_{slug}"
    files[f"{folder}/{name}"] = documents.dump(tree, detect_dialect_kind(dialect, name))
    files[f"{folder}/{script}"] = documents.dump(text, "text")
