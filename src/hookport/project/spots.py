"""The files of the sites in one project and one home; folders behind a star are watched."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect, get, list_dialects
from hookport.base.tree import Tree
from hookport.convert.checks.scripts import find_place_folder
from hookport.errors import InputError, Problem
from hookport.project.disk import Log, expand_place, read_data
from hookport.project.places import (
    PLUGINS,
    Scope,
    Site,
    embed_dialect,
    find_home_folder,
    find_ways_inside,
    list_catalogues,
    list_module_sites,
    list_plugin_sites,
    list_scoped_plugin_sites,
    list_scoped_sites,
    list_sites,
    resolve_place,
)
from hookport.shapes.dialect import Path as Way
from hookport.shapes.module import MARK

# Generated code has its mark within these bytes.
HEAD = 4096
# A file name's longest length, by the limits of file systems.
LONGEST_NAME = 255


# A key of a frontmatter, however it is spelled.
HOOKS = re.compile(rb"""(?:^|[\r\n{,])[ \t]*["']?hooks["']?[ \t]*:""")


class Declaration(NamedTuple):
    """The hooks that a plugin's manifest, or its entry in a catalogue, declares, and where.

    `dialect` is None if no agent reads them, `package` if the plugin is not in the marketplace.
    """

    file: Path
    way: Way
    hooks: Tree
    dialect: Dialect | None
    package: Path | None

    @property
    def files(self) -> list[Path]:
        """The files that it names."""
        return [self.package / name for name in list_named_files(self.hooks)] if self.package else []

    @property
    def readers(self) -> list[Dialect]:
        """The dialect for the hooks there, once for each object with hooks."""
        if self.dialect is None or self.package is None:
            return []
        return [embed_dialect(self.dialect, way) for way in find_ways_inside(self.hooks, self.way)]


class Folders(NamedTuple):
    """The base folders of places; None without a home."""

    root: Path
    home: Path | None
    env: Mapping[str, str]


class Spot(NamedTuple):
    """One file of a site; `name` is that of the plugin or of the hook's folder, if any."""

    file: Path
    package: Path
    scope: Scope
    name: str
    dialects: tuple[Dialect, ...]


def make_folders(root: str, env: Mapping[str, str]) -> Folders:
    """The base folders of places."""
    return Folders(Path(root), find_home_folder(env), env)


def find_spots(folders: Folders, log: Log) -> Iterator[Spot]:
    """Every file that may contain hooks, the user's first."""
    catalogued = [folder for folder in find_catalogued_folders(folders, log) if not _is_known(folder)]
    named = [site for folder in catalogued for site in list_plugin_sites("project", folder)]
    # A file with its own place does not belong to other readers of the folder.
    paths = [
        resolve_place(site.dialects[0], site.path, str(folders.root), folders.env) for site in list_sites()
    ]
    exact = {path for path in paths if path and "*" not in path}
    for site in (*list_sites(), *named):
        for spot in _expand_site(site, folders, log):
            if "*" not in site.path or str(spot.file) not in exact:
                yield spot
    for scope, folder in (*PLUGINS, *(("project", folder) for folder in catalogued)):
        for package in _list_packages(folder, folders, log):
            yield from _find_manifest_spots(package, scope, log)
    for declaration in read_catalogues(folders.root):
        yield from _find_declared_spots(declaration, "project", log)


def find_scoped_spots(folders: Folders, log: Log) -> Iterator[Spot]:
    """The skills and subagents that have hooks in their frontmatter."""
    catalogued = [folder for folder in find_catalogued_folders(folders, log) if not _is_known(folder)]
    named = [site for folder in catalogued for site in list_scoped_plugin_sites("project", folder)]
    for site in (*list_scoped_sites(), *named):
        for spot in _expand_site(site, folders, log):
            log.watch(spot.file)
            if has_frontmatter_hooks(spot.file):
                yield spot


def find_module_spots(folders: Folders, log: Log) -> Iterator[Spot]:
    """The code modules that agents load themselves, except those that hookport generated."""
    for site in list_module_sites():
        for spot in _expand_site(site, folders, log):
            if spot.file.is_file() and not is_generated(spot.file):
                yield spot


def is_generated(file: Path) -> bool:
    """Whether hookport generated the code in a file; false if it cannot be read."""
    try:
        return MARK.encode() in (read_data(file, HEAD) or b"")
    except InputError:
        return False


def has_frontmatter_hooks(file: Path) -> bool:
    """Whether the frontmatter of a file names hooks: most skills have none, and need no parser."""
    try:
        data = read_data(file) or b""
    except InputError:
        return False
    head, _, _ = data.removeprefix(b"\xef\xbb\xbf").partition(b"\n---")
    return head.startswith(b"---") and HOOKS.search(head) is not None


def _is_known(folder: str) -> bool:
    """Whether a folder of a catalogue is one of the known plugin folders."""
    above, _, _ = folder.rpartition("/")
    return any(pattern == f"{above}/*" for _, pattern in PLUGINS)


def _expand_site(site: Site, folders: Folders, log: Log) -> Iterator[Spot]:
    dialect = site.dialects[0]
    place = resolve_place(dialect, site.path, str(folders.root), folders.env)
    if not place:
        return
    package = resolve_place(dialect, site.package, str(folders.root), folders.env) if site.package else ""
    for file in expand_place(place, log):
        if dialect.shape.in_place and not dialect.shape.in_place(dialect, file.name):
            continue
        if package:
            above = Path(*file.parts[: len(Path(package).parts)])
        elif dialect.shape.companions or site.scope == "user":
            above = file.parent
        else:
            at_file = find_place_folder(dialect, file, "plugin") if dialect.starts_in_package else None
            above = at_file or folders.root
        is_named = "*" in site.package or bool(dialect.shape.companions)
        yield Spot(file, above, site.scope, above.name if is_named else "", site.dialects)


def _list_packages(folder: str, folders: Folders, log: Log) -> list[Path]:
    """The folders that are a plugin each."""
    place = resolve_place(None, folder, str(folders.root), folders.env)
    return [path for path in expand_place(place, log) if os.path.isdir(path)] if place else []  # noqa: PTH112  (a name may be impossible)


def _find_manifest_spots(package: Path, scope: Scope, log: Log) -> Iterator[Spot]:
    for dialect in map(get, list_dialects()):
        for name in dialect.manifests:
            log.watch(package / name)
    for declaration in read_manifests(package):
        yield from _find_declared_spots(declaration, scope, log)


def read_manifests(package: Path) -> Iterator[Declaration]:
    """What the manifests of a plugin declare about hooks."""
    for dialect in map(get, list_dialects()):
        for name in dialect.manifests:
            hooks = read_object(package / name).get("hooks")
            if hooks is not None:
                yield Declaration(package / name, ("hooks",), hooks, dialect, package)


def read_catalogues(market: Path) -> Iterator[Declaration]:
    """What the entries of a marketplace's catalogues declare about hooks."""
    for name, dialect in list_catalogues().items():
        tree = read_object(market / name)
        plugins = tree.get("plugins")
        for number, plugin in enumerate(plugins if isinstance(plugins, list) else ()):
            hooks = plugin.get("hooks") if isinstance(plugin, dict) else None
            if hooks is not None:
                folder = _find_plugin_folder(plugin, tree, market)
                package = Path(os.path.normpath(market / folder)) if folder else None
                yield Declaration(market / name, ("plugins", number, "hooks"), hooks, dialect, package)


def _find_declared_spots(declaration: Declaration, scope: Scope, log: Log) -> Iterator[Spot]:
    """The hooks that a manifest or an entry declares: in files that it names, or inside itself."""
    log.add_problems(*explain_unread(declaration))
    if declaration.dialect and declaration.package:
        for file in declaration.files:
            yield Spot(file, declaration.package, scope, declaration.package.name, (declaration.dialect,))
        for reader in declaration.readers:
            yield Spot(declaration.file, declaration.package, scope, declaration.package.name, (reader,))


def explain_unread(declaration: Declaration) -> Iterator[Problem]:
    """Problems of declared hooks that hookport does not read."""
    file, way = str(declaration.file), declaration.way
    if declaration.dialect is None:
        yield Problem("has hooks in the entry of a plugin, where no agent reads them", way, file)
    elif declaration.package is None:
        yield Problem("has hooks of a plugin that is elsewhere, so they are not read", way, file)
    else:
        hooks = declaration.hooks
        for number, item in enumerate(hooks) if isinstance(hooks, list) else [(None, hooks)]:
            place = way if number is None else (*way, number)
            files = [declaration.package / name for name in list_named_files(item)]
            if isinstance(item, str) and not any(map(os.path.isfile, files)):
                yield Problem(f"names '{item}', which is not a file of the plugin", place, file)
            elif not isinstance(item, str | dict):
                yield Problem("must be an object or the name of a file, so it is not read", place, file)


def list_named_files(hooks: Tree) -> list[str]:
    """The files that a manifest names for its hooks, from the plugin's folder."""
    return [path for path in map(os.path.normpath, list_written_files(hooks)) if _is_inside(path)]


def list_written_files(hooks: Tree) -> list[str]:
    """The named files as written."""
    return [item for item in (hooks if isinstance(hooks, list) else [hooks]) if isinstance(item, str)]


def _is_inside(path: str) -> bool:
    """Whether a path is valid and stays below its base folder."""
    is_name = path.isprintable() and max(map(len, path.split("/"))) <= LONGEST_NAME
    return is_name and not path.startswith((os.pardir, os.sep))


def find_catalogued_folders(folders: Folders, log: Log) -> Iterator[str]:
    """The folders in a marketplace's catalogue, from the project root."""
    for name in list_catalogues():
        log.watch(folders.root / name)
        yield from (
            folder for _, folder in find_catalogued_plugins(folders.root, name) if folder != os.curdir
        )


def find_catalogued_plugins(market: Path, catalogue: str) -> Iterator[tuple[str, str]]:
    """The plugins in a marketplace's own folders: each name, and the folder from the marketplace."""
    tree = read_object(market / catalogue)
    plugins = tree.get("plugins")
    for plugin in plugins if isinstance(plugins, list) else ():
        folder = _find_plugin_folder(plugin, tree, market)
        if folder:
            yield str(plugin.get("name", "")), folder


def _find_plugin_folder(plugin: Tree, tree: Mapping[str, Tree], market: Path) -> str:
    """The folder of a plugin in a catalogue; empty if it is elsewhere.

    Some write its path from the marketplace and some from `pluginRoot`, whatever it starts with.
    """
    source = plugin.get("source") if isinstance(plugin, dict) else None
    if isinstance(source, dict):
        source = source.get("path")
    metadata = tree.get("metadata")
    start = metadata.get("pluginRoot") if isinstance(metadata, dict) else None
    if not isinstance(source, str) or not source or "://" in source or "*" in source:
        return ""
    candidates = [os.path.normpath(source)]
    if isinstance(start, str):
        below = os.path.normpath(f"{start}/{source}")
        candidates = [*candidates, below] if source.startswith(".") else [below]
    inside = [folder for folder in candidates if _is_inside(folder)]
    return next((folder for folder in inside if os.path.isdir(market / folder)), "".join(inside[:1]))  # noqa: PTH112  (a name may be impossible)


def read_object(file: Path) -> dict[str, Tree]:
    """Read a JSON object; empty if missing or invalid."""
    try:
        tree = json.loads((read_data(file) or b"{}").decode("utf-8-sig"))
    except (InputError, ValueError, RecursionError):
        return {}
    return tree if isinstance(tree, dict) else {}
