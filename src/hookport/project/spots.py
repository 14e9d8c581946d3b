"""The files that sites stand for in one project and one home; folders with any names are watched."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hookport.dialects import Dialect, get, names
from hookport.errors import InputError, Problem
from hookport.project.disk import Log, data_of, is_folder, names_in
from hookport.project.places import (
    CATALOGUES,
    PLUGINS,
    Scope,
    Site,
    absolute,
    home_folder,
    manifest_reader,
    plugin_sites,
    scoped_sites,
    sites,
)

Tree = Any

# Of a file in a folder, by what file systems take.
LONGEST_NAME = 255


# A key of a frontmatter, however it is spelled.
HOOKS = re.compile(rb"""(?:^|[\r\n{,])[ \t]*["']?hooks["']?[ \t]*:""")


class Folders(NamedTuple):
    """What places start from; None where there is no home."""

    root: Path
    home: Path | None
    env: Mapping[str, str]


class Spot(NamedTuple):
    """One file of a site; `name` is that of the plugin or of the hook's folder, if it is one."""

    file: Path
    package: Path
    scope: Scope
    name: str
    dialects: tuple[Dialect, ...]


def folders_of(root: str, env: Mapping[str, str]) -> Folders:
    """The folders that places start from."""
    return Folders(Path(root), home_folder(env), env)


def spots_of(folders: Folders, log: Log) -> Iterator[Spot]:
    """Every file that may hold hooks, those of the user first."""
    catalogued = [folder for folder in _catalogued(folders, log) if not _is_known(folder)]
    named = [site for folder in catalogued for site in plugin_sites("project", folder)]
    # A file that has a place of its own is of nobody else who reads the folder.
    own = [absolute(site.dialects[0], site.path, str(folders.root), folders.env) for site in sites()]
    exact = {path for path in own if path and "*" not in path}
    for site in (*sites(), *named):
        for spot in _expand_site(site, folders, log):
            if "*" not in site.path or str(spot.file) not in exact:
                yield spot
    for scope, folder in (*PLUGINS, *(("project", folder) for folder in catalogued)):
        for package in _packages(folder, folders, log):
            yield from _manifest_spots(package, scope, log)


def scoped_spots(folders: Folders, log: Log) -> Iterator[Spot]:
    """The skills and subagents that have hooks in their frontmatter."""
    for site in scoped_sites():
        for spot in _expand_site(site, folders, log):
            log.watch(spot.file)
            if _has_hooks(spot.file):
                yield spot


def _has_hooks(file: Path) -> bool:
    """Whether the frontmatter of a file names hooks: most skills have none, and need no parser."""
    try:
        data = data_of(file) or b""
    except InputError:
        return False
    head, _, _ = data.removeprefix(b"\xef\xbb\xbf").partition(b"\n---")
    return head.startswith(b"---") and HOOKS.search(head) is not None


def _is_known(folder: str) -> bool:
    """Whether a folder of a catalogue is one of those that are looked at anyway."""
    above, _, _ = folder.rpartition("/")
    return any(pattern == f"{above}/*" for _, pattern in PLUGINS)


def _expand_site(site: Site, folders: Folders, log: Log) -> Iterator[Spot]:
    dialect = site.dialects[0]
    place = absolute(dialect, site.path, str(folders.root), folders.env)
    if not place:
        return
    package = absolute(dialect, site.package, str(folders.root), folders.env) if site.package else ""
    for file in _expand(place, log):
        if package:
            above = Path(*file.parts[: len(Path(package).parts)])
        elif dialect.companions or site.scope == "user":
            above = file.parent
        else:
            above = folders.root
        is_named = "*" in site.package or bool(dialect.companions)
        yield Spot(file, above, site.scope, above.name if is_named else "", site.dialects)


def _expand(place: str, log: Log) -> Iterator[Path]:
    """The paths that a place with stars stands for; without one, itself, be it there or not."""
    start, star, rest = place.partition("*")
    if not star:
        yield Path(place)
        return
    folder, stem = os.path.split(start)
    last, slash, rest = rest.partition("/")
    log.watch(Path(folder))
    for name in names_in(Path(folder), log):
        if not (name.startswith(stem) and name.endswith(last)):
            continue
        if not slash:
            yield Path(folder, name)
        elif is_folder(Path(folder, name), log):
            yield from _expand(f"{folder}/{name}/{rest}", log)


def _packages(folder: str, folders: Folders, log: Log) -> list[Path]:
    """The folders that are a plugin each."""
    place = absolute(None, folder, str(folders.root), folders.env)
    return [path for path in _expand(place, log) if os.path.isdir(path)] if place else []  # noqa: PTH112  (a name may be impossible)


def _manifest_spots(package: Path, scope: Scope, log: Log) -> Iterator[Spot]:
    """The hooks that a plugin's manifest names: files of its own, or the manifest itself."""
    for dialect in map(get, names()):
        for name in dialect.manifests:
            log.watch(package / name)
            hooks = object_in(package / name).get("hooks")
            for one in named_files(hooks):
                yield Spot(package / one, package, scope, package.name, (dialect,))
            log.broken(*_unread(package, package / name, hooks))
            if isinstance(hooks, dict):
                inside = manifest_reader(dialect, {"hooks": hooks})
                yield Spot(package / name, package, scope, package.name, (inside,))


def _unread(package: Path, manifest: Path, hooks: Tree) -> Iterator[Problem]:
    """What a manifest says of hooks that hookport does not read."""
    for number, one in enumerate(hooks) if isinstance(hooks, list) else [(None, hooks)]:
        way = ("hooks",) if number is None else ("hooks", number)
        files = [package / name for name in named_files(one)]
        if isinstance(one, str) and not any(map(os.path.isfile, files)):
            yield Problem(f"names '{one}', which is no file of the plugin", way, str(manifest))
        elif number is not None and not isinstance(one, str):
            yield Problem("has hooks inside a list, which are not read", way, str(manifest))


def named_files(hooks: Tree) -> list[str]:
    """The files that a manifest names for its hooks, from the plugin's folder."""
    names_ = [one for one in (hooks if isinstance(hooks, list) else [hooks]) if isinstance(one, str)]
    return [one for one in map(os.path.normpath, names_) if _is_inside(one)]


def _is_inside(path: str) -> bool:
    """Whether a path stays below the folder that it starts from, and may be one at all."""
    is_name = path.isprintable() and max(map(len, path.split("/"))) <= LONGEST_NAME
    return is_name and not path.startswith((os.pardir, os.sep))


def _catalogued(folders: Folders, log: Log) -> Iterator[str]:
    """The folders that the catalogue of a marketplace names, from the project's root."""
    for name in CATALOGUES:
        log.watch(folders.root / name)
        yield from (folder for _, folder in catalogued_in(folders.root, name) if folder != os.curdir)


def catalogued_in(market: Path, catalogue: str) -> Iterator[tuple[str, str]]:
    """The plugins of a marketplace that are folders of it: each name, and the folder from the marketplace."""
    tree = object_in(market / catalogue)
    plugins = tree.get("plugins")
    for plugin in plugins if isinstance(plugins, list) else ():
        folder = _folder_of(plugin, tree)
        if folder:
            yield str(plugin.get("name", "")), folder


def _folder_of(plugin: Tree, tree: Mapping[str, Tree]) -> str:
    """The folder of a plugin in a catalogue; empty if it is elsewhere."""
    source = plugin.get("source") if isinstance(plugin, dict) else None
    if isinstance(source, dict):
        source = source.get("path")
    metadata = tree.get("metadata")
    start = metadata.get("pluginRoot") if isinstance(metadata, dict) else None
    if not isinstance(source, str) or not source or "://" in source or "*" in source:
        return ""
    if isinstance(start, str) and not source.startswith("."):
        source = f"{start}/{source}"
    folder = os.path.normpath(source)
    return folder if _is_inside(folder) else ""


def object_in(file: Path) -> dict[str, Tree]:
    """A JSON object; empty where there is none."""
    try:
        tree = json.loads((data_of(file) or b"{}").decode("utf-8-sig"))
    except (InputError, ValueError, RecursionError):
        return {}
    return tree if isinstance(tree, dict) else {}
