"""Where hooks may stand, for every command: each agent's own files, those of the formats, and plugins."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.agents import DecodedManifest, Dialect, Tree, get, list_dialects
from hookport.base import folders
from hookport.convert.pipeline import kind_in
from hookport.shapes.dialect import Location
from hookport.shapes.dialect import Path as Way

Scope = Literal["project", "user"]

# Folders that are a plugin each: the project itself, those that open plugins are installed in, and those of
# a marketplace. More may be named by the catalogue of a marketplace.
PLUGINS: tuple[tuple[Scope, str], ...] = (
    ("user", "~/.agents/plugins/*"),
    ("user", "~/.config/agents/plugins/*"),
    ("project", "."),
    ("project", ".agents/plugins/*"),
    ("project", "plugins/*"),
)
# Where hooks stand in a skill, subagent or command.
FRONTMATTER_HOOKS: Way = ("frontmatter", "hooks")
# The catalogue of a marketplace beside the manifests of an agent's plugins, and the one that agents share.
CATALOGUE = "marketplace.json"
SHARED_CATALOGUE = ".agents/plugins/marketplace.json"


class Site(NamedTuple):
    """One place where hooks may stand, and the dialects that a file there may be in.

    `package` is the folder of a plugin, as a place of its own; empty for a file of a project or a user.
    """

    scope: Scope
    path: str
    dialects: tuple[Dialect, ...]
    package: str = ""


@cache
def sites() -> tuple[Site, ...]:
    """Every place: those of the user first; those of formats, then plugins, then agents' own files."""
    formats = [dialect for dialect in map(get, list_dialects()) if dialect.kind == "format"]
    agents = [dialect for dialect in map(get, list_dialects()) if dialect.kind == "agent"]
    plugins = [site for scope, folder in PLUGINS for site in plugin_sites(scope, folder)]
    found: dict[tuple[Scope, str], Site] = {}
    for site in (*_own_sites(formats), *plugins, *_own_sites(agents)):
        known = found.get((site.scope, site.path), site)
        # A bare name at the root may be a format's own file or a plugin's.
        more = tuple(one for one in site.dialects if one not in known.dialects)
        package = known.package or site.package
        found[site.scope, site.path] = known._replace(dialects=(*known.dialects, *more), package=package)
    return tuple(sorted(found.values(), key=lambda site: site.scope != "user"))


def _own_sites(dialects: Sequence[Dialect]) -> Iterator[Site]:
    """The places where dialects have their own files; modules of code are `module_sites`."""
    for dialect in dialects:
        for place in (*dialect.locations, *dialect.runs_from):
            is_text = kind_in(dialect, place.path.replace("*", "x")) == "text"
            is_code = is_text and dialect.shape.in_place is None
            if place.scope in ("project", "local", "user") and not is_code and not _in_plugin(place.path):
                yield Site("user" if place.scope == "user" else "project", place.path, (dialect,))


def _in_plugin(path: str) -> bool:
    """Whether a place is inside a folder of plugins, which are found by themselves."""
    return any(path.startswith(f"{folder}/") for _, folder in PLUGINS if folder != ".")


@cache
def plugin_sites(scope: Scope, folder: str) -> tuple[Site, ...]:
    """The places in one folder that is a plugin."""
    found: dict[str, list[Dialect]] = {}
    for dialect in map(get, list_dialects()):
        for place in dialect.locations:
            if place.scope == "plugin":
                found.setdefault(place.path, []).append(dialect)
    start = "" if folder == "." else f"{folder}/"
    return tuple(
        Site(scope, f"{start}{path}", tuple(dialects), folder) for path, dialects in sorted(found.items())
    )


@cache
def scoped_sites() -> tuple[Site, ...]:
    """The places of skills and subagents, read by their frontmatter."""
    found = [site for scope, folder in PLUGINS for site in scoped_plugin_sites(scope, folder)]
    for dialect in map(get, list_dialects()):
        inside = (embedded(dialect, FRONTMATTER_HOOKS),)
        own = [place for place in dialect.scoped_in if place.scope != "plugin"]
        found += [Site("user" if one.scope == "user" else "project", one.path, inside) for one in own]
    return tuple(found)


@cache
def scoped_plugin_sites(scope: Scope, folder: str) -> tuple[Site, ...]:
    """The same in one folder that is a plugin."""
    return tuple(
        Site(scope, f"{folder}/{place.path}", (embedded(dialect, FRONTMATTER_HOOKS),), folder)
        for dialect in map(get, list_dialects())
        for place in dialect.scoped_in
        if place.scope == "plugin"
    )


@cache
def module_sites() -> tuple[Site, ...]:
    """The places of modules of code, which hookport neither runs nor reads."""
    return tuple(
        Site("user" if place.scope == "user" else "project", place.path, (dialect,))
        for dialect in map(get, list_dialects())
        for place in dialect.modules
    )


@cache
def manifest_sites() -> tuple[Site, ...]:
    """The manifests of plugins, which may have hooks inside."""
    return tuple(
        Site(scope, name if folder == "." else f"{folder}/{name}", (dialect,), folder)
        for dialect in map(get, list_dialects())
        for name in dialect.manifests
        for scope, folder in PLUGINS
    )


@cache
def catalogues() -> Mapping[str, Dialect | None]:
    """The catalogues of marketplaces, and the agent that reads the hooks in their entries, if one does."""
    beside = {
        f"{name.rpartition('/')[0]}/{CATALOGUE}": one
        for one in map(get, list_dialects())
        for name in one.manifests
    }
    return {**beside, SHARED_CATALOGUE: None}


@cache
def catalogue_sites() -> tuple[Site, ...]:
    """The catalogues whose entries may have hooks inside."""
    return tuple(Site("project", name, (one,), ".") for name, one in catalogues().items() if one)


def ways_inside(hooks: object, way: Way) -> Iterator[Way]:
    """The ways to the hooks that stand at a key of a manifest or an entry; none where it names files."""
    if isinstance(hooks, Mapping):
        yield (*way, "hooks") if isinstance(hooks.get("hooks"), Mapping) else way
    elif isinstance(hooks, list):
        for number, one in enumerate(hooks):
            if isinstance(one, Mapping):
                yield from ways_inside(one, (*way, number))


def embedded(dialect: Dialect, root: Way) -> Dialect:
    """The dialect as it reads hooks that stand inside a file about something else."""
    decode = dialect.shape.decode

    def inside(reader: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
        return decode(reader, {file: _only(tree, root) for file, tree in trees.items()})

    # What stands inside a skill or a plugin runs beside its like elsewhere.
    return dialect._replace(root=root, runs_once=None, shape=dialect.shape._replace(decode=inside))


def _only(tree: Tree, way: Way) -> Tree:
    """A tree with nothing but the map at the end of a way; the number of an item is a key like any other."""
    if not way:
        return tree if isinstance(tree, Mapping) else {}
    key, *rest = way
    if isinstance(key, int):
        inside = tree[key] if isinstance(tree, list) and key < len(tree) else None
    else:
        inside = tree.get(key) if isinstance(tree, Mapping) else None
    return {key: _only(inside, tuple(rest))} if isinstance(inside, Mapping | list) else {}


def home_folder(env: Mapping[str, str]) -> Path | None:
    """The user's home; None where there is none."""
    home = folders.home(env)
    return _path(home) if home else None


def config_folder(env: Mapping[str, str]) -> Path | None:
    """Where the user's own files are; None where the environment names no place."""
    config = folders.config(env)
    return _path(config) if config else None


@cache
def _path(folder: str) -> Path:
    """Asked for every place of every agent."""
    return Path(folder)


def absolute(dialect: Dialect | None, place: str, root: str, env: Mapping[str, str]) -> str:
    """A place on this machine; empty where the environment names no home."""
    folder, variable = dialect.home if dialect else ("", "")
    if folder and env.get(variable) and f"{place}/".startswith(f"{folder}/"):
        return str(Path(env[variable], place.removeprefix(folder).lstrip("/")))
    if place.startswith("/"):
        return place
    if not place.startswith("~/"):
        return _joined(root, place)
    is_config = place.startswith("~/.config/")
    above = config_folder(env) if is_config else home_folder(env)
    rest = place.removeprefix("~/.config/" if is_config else "~/")
    return _joined(str(above), rest) if above else ""


@lru_cache(4_096)
def _joined(folder: str, place: str) -> str:
    """A path in a folder: every hook asks for the places of every agent."""
    return str(Path(folder, place))


def is_at(path: str, pattern: str) -> bool:
    """Whether a path is at a place, of which a star stands for one name."""
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def is_same(one: str, other: str) -> bool:
    """Whether two paths lead to the same file or folder, be it there or not."""
    if os.path.normpath(one) == os.path.normpath(other):
        return True
    try:
        return os.path.realpath(one) == os.path.realpath(other)
    except ValueError:  # no file can have such a name
        return False


def own_place(dialect: Dialect, file: str, root: str, env: Mapping[str, str]) -> Location | None:
    """The agent's own place that a file is at."""
    for place in (*dialect.locations, *dialect.scoped_in):
        if place.scope not in ("project", "local", "user") or not place.loaded:
            continue
        path = absolute(dialect, place.path, root, env)
        # By another way to the same folder; a link from one agent's file to another's is another file.
        is_linked = (
            "*" not in path and file.endswith(f"/{place.path.removeprefix('~/')}") and is_same(file, path)
        )
        if path and (is_at(file, path) or is_linked):
            return place
    return None
