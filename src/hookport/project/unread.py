"""Files at an agent's own place whose hooks hookport does not read: each is reported.

The place identifies a file. The dialects list the places of their agents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect, Tree, get, list_dialects
from hookport.base.places import ends_at, list_rests, split_place
from hookport.errors import InputError
from hookport.project.disk import Log, expand_place, read_data
from hookport.project.places import PLUGINS, resolve_place
from hookport.project.spots import (
    Folders,
    find_catalogued_folders,
    list_named_files,
    list_written_files,
    read_object,
)
from hookport.shapes.dialect import PLUGIN_STORE, find_quirk, list_locations


class UnreadPlace(NamedTuple):
    """A place whose hooks hookport does not read, and its agent.

    `manifest`: the file is about a plugin, and `hooks` in it contains hooks or names files of them.
    """

    agent: str
    path: str
    manifest: bool
    reader: Dialect


class UnreadFile(NamedTuple):
    """A file with hooks at such a place."""

    file: Path
    agent: str
    reader: Dialect


class RefusedManifest(NamedTuple):
    """A manifest with a path to a file of hooks that makes its agent refuse the plugin."""

    file: Path
    reader: Dialect
    path: str
    start: str


@cache
def _list_places() -> tuple[UnreadPlace, ...]:
    """Every place; those in a plugin start at its folder."""
    own_places = [
        UnreadPlace(dialect.title, place.path, place.scope == "plugin", dialect)
        for dialect in map(get, list_dialects())
        for place in list_locations(dialect, "unread")
    ]
    # The place with the most steps is the most specific.
    return tuple(sorted(own_places, key=lambda place: -place.path.count("/")))


def find_unread(folders: Folders) -> list[UnreadFile]:
    """The files of a project and its user's home whose hooks hookport does not read."""
    paths = [
        path
        for place in _list_places()
        for path in (_expand_in_plugins(place.path, folders) if place.manifest else [place.path])
    ]
    return [unread_file for unread_file in map(judge_place, _list_files(paths, folders)) if unread_file]


def find_refused(folders: Folders) -> list[RefusedManifest]:
    """The manifests, of a project and its user, that make an agent refuse the plugin."""
    manifests = [name for agent, _ in _list_strict_agents() for name in agent.manifests]
    paths = [path for name in manifests for path in _expand_in_plugins(name, folders)]
    return [refused for file in _list_files(paths, folders) for refused in judge_manifest(file)]


def judge_manifest(file: Path) -> Iterator[RefusedManifest]:
    """Why agents refuse the plugin of a manifest."""
    for dialect, start in _list_strict_agents():
        for name in dialect.manifests:
            if file.as_posix().endswith(f"/{name}"):
                paths = list_written_files(read_object(file).get("hooks"))
                yield from (
                    RefusedManifest(file, dialect, path, start)
                    for path in paths
                    if not path.startswith(start)
                )


@cache
def _list_strict_agents() -> tuple[tuple[Dialect, str], ...]:
    """The agents that accept only paths with a certain start in a manifest, and that start."""
    stores = ((dialect, find_quirk(dialect, PLUGIN_STORE)) for dialect in map(get, list_dialects()))
    return tuple((dialect, store.path_start) for dialect, store in stores if store and store.path_start)


def _expand_in_plugins(path: str, folders: Folders) -> list[str]:
    """A path in every folder that may be a plugin."""
    plugins = [folder for _, folder in PLUGINS] + list(find_catalogued_folders(folders, Log([], {})))
    return [path if folder == "." else f"{folder}/{path}" for folder in plugins]


def _list_files(paths: list[str], folders: Folders) -> list[Path]:
    places = [resolve_place(None, path, str(folders.root), folders.env) for path in paths]
    files = (file for place in places if place for file in expand_place(place, Log([], {})))
    return list(dict.fromkeys(file for file in files if file.is_file()))


def find_below(folder: Path) -> list[UnreadFile]:
    """A path in a folder that a person named, which may itself be the start of such a place."""
    files: dict[Path, None] = {}
    starts = ["", *(f"{pattern}/" for _, pattern in PLUGINS if pattern != ".")]
    paths = [
        f"{start}{place.path}" for place in _list_places() for start in (starts if place.manifest else [""])
    ]
    for path in paths:
        for rest in list_rests(folder.parts, path):
            inside = expand_place(rest, Log([], {}), f"{str(folder).rstrip('/')}/")
            files |= dict.fromkeys(file for file in inside if file.is_file())
    return [unread_file for unread_file in map(judge_place, files) if unread_file]


def find_refused_below(folder: Path) -> list[RefusedManifest]:
    """The refused manifests of a plugin's folder that a person named, or of a folder with plugins."""
    manifests = [name for agent, _ in _list_strict_agents() for name in agent.manifests]
    files = [folder / path for name in manifests for path in (name, name.rpartition("/")[2])]
    return [refused for file in files if file.is_file() for refused in judge_manifest(file)]


def judge_place(file: Path) -> UnreadFile | None:
    """The unread file at one of these places; None if it is at none, or has no hooks."""
    for place in _list_places():
        if not ends_at(file.parts, place.path):
            continue
        steps = len(split_place(place.path))
        # A manifest in a hidden folder, such as .claude-plugin, belongs to another agent.
        is_other = place.manifest and file.parents[steps - 1].name.startswith(".")
        if not is_other and _holds_hooks(file, place, steps):
            return UnreadFile(file, place.agent, place.reader)
    return None


def _holds_hooks(file: Path, place: UnreadPlace, steps: int) -> bool:
    """Whether a file has hooks that nothing else reads; one that cannot be parsed may have some."""
    try:
        data = read_data(file) or b""
    except InputError:
        return True
    try:
        tree = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return b'"hooks"' in data if place.manifest else bool(data.strip())
    if not isinstance(tree, Mapping):
        return False
    if place.manifest:
        return _declares_hooks(tree.get("hooks"), file.parents[steps - 1])
    return any(isinstance(group, Mapping) and any(group.values()) for group in tree.values())


def _declares_hooks(hooks: Tree, package: Path) -> bool:
    """Whether a manifest contains hooks, or names a file of them that hookport does not otherwise read."""
    from hookport.project.misplaced import is_read

    several = hooks if isinstance(hooks, list) else [hooks]
    if any(isinstance(item, Mapping) and item for item in several):
        return True
    files = [package / name for name in list_named_files(hooks)]
    return any(file.is_file() and not is_read(file, str(package), {}) for file in files)
