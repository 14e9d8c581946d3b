"""The places of hooks, for every command: each agent's own files, those of the formats, and plugins."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.agents import DecodedManifest, Dialect, Tree, get, list_dialects
from hookport.base import folders
from hookport.base.places import is_at
from hookport.convert.pipeline import detect_dialect_kind
from hookport.shapes.dialect import Location, list_locations
from hookport.shapes.dialect import Path as Way

Scope = Literal["project", "user"]

# Folders that are a plugin each: the project itself, the install folder of open plugins, and a marketplace's
# folders. A marketplace's catalogue may name more.
PLUGINS: tuple[tuple[Scope, str], ...] = (
    ("user", "~/.agents/plugins/*"),
    ("user", "~/.config/agents/plugins/*"),
    ("project", "."),
    ("project", ".agents/plugins/*"),
    ("project", "plugins/*"),
)
# The path to the hooks in a skill, subagent or command.
FRONTMATTER_HOOKS: Way = ("frontmatter", "hooks")
# The catalogue of a marketplace beside the manifests of an agent's plugins, and the one that agents share.
CATALOGUE = "marketplace.json"
SHARED_CATALOGUE = ".agents/plugins/marketplace.json"


class Site(NamedTuple):
    """One place where hooks may be, and the possible dialects of a file there.

    `package` is the folder of a plugin, as a place of its own; empty for a file of a project or a user.
    """

    scope: Scope
    path: str
    dialects: tuple[Dialect, ...]
    package: str = ""


@cache
def list_sites() -> tuple[Site, ...]:
    """List every place: the user's first; formats, then plugins, then agents' own files."""
    formats = [dialect for dialect in map(get, list_dialects()) if dialect.kind == "format"]
    agents = [dialect for dialect in map(get, list_dialects()) if dialect.kind == "agent"]
    plugins = [site for scope, folder in PLUGINS for site in list_plugin_sites(scope, folder)]
    site_by_place: dict[tuple[Scope, str], Site] = {}
    for site in (*_list_own_sites(formats), *plugins, *_list_own_sites(agents)):
        earlier = site_by_place.get((site.scope, site.path), site)
        # A bare name at the root may be a format's own file or a plugin's.
        more = tuple(dialect for dialect in site.dialects if dialect not in earlier.dialects)
        package = earlier.package or site.package
        site_by_place[site.scope, site.path] = earlier._replace(
            dialects=(*earlier.dialects, *more), package=package
        )
    return tuple(sorted(site_by_place.values(), key=lambda site: site.scope != "user"))


def _list_own_sites(dialects: Sequence[Dialect]) -> Iterator[Site]:
    """The places of the dialects' own files; code modules are in `list_module_sites`."""
    for dialect in dialects:
        for place in list_locations(dialect, "own", "run"):
            is_text = detect_dialect_kind(dialect, place.path.replace("*", "x")) == "text"
            is_code = is_text and dialect.shape.in_place is None
            if place.scope in ("project", "local", "user") and not is_code and not _in_plugin(place.path):
                yield Site("user" if place.scope == "user" else "project", place.path, (dialect,))


def _in_plugin(path: str) -> bool:
    """Whether a place is inside a folder of plugins, which are found separately."""
    return any(path.startswith(f"{folder}/") for _, folder in PLUGINS if folder != ".")


@cache
def list_plugin_sites(scope: Scope, folder: str) -> tuple[Site, ...]:
    """The places in one plugin's folder."""
    dialects_by_path: dict[str, list[Dialect]] = {}
    for dialect in map(get, list_dialects()):
        for place in dialect.locations:
            if place.scope == "plugin":
                dialects_by_path.setdefault(place.path, []).append(dialect)
    start = "" if folder == "." else f"{folder}/"
    return tuple(
        Site(scope, f"{start}{path}", tuple(dialects), folder)
        for path, dialects in sorted(dialects_by_path.items())
    )


@cache
def list_scoped_sites() -> tuple[Site, ...]:
    """The places of skills and subagents, read by their frontmatter."""
    all_sites = [site for scope, folder in PLUGINS for site in list_scoped_plugin_sites(scope, folder)]
    for dialect in map(get, list_dialects()):
        inside = (embed_dialect(dialect, FRONTMATTER_HOOKS),)
        locations = [place for place in list_locations(dialect, "scoped") if place.scope != "plugin"]
        all_sites += [
            Site("user" if location.scope == "user" else "project", location.path, inside)
            for location in locations
        ]
    return tuple(all_sites)


@cache
def list_scoped_plugin_sites(scope: Scope, folder: str) -> tuple[Site, ...]:
    """The places of skills and subagents in one plugin's folder."""
    return tuple(
        Site(scope, f"{folder}/{place.path}", (embed_dialect(dialect, FRONTMATTER_HOOKS),), folder)
        for dialect in map(get, list_dialects())
        for place in list_locations(dialect, "scoped")
        if place.scope == "plugin"
    )


@cache
def list_module_sites() -> tuple[Site, ...]:
    """The places of code modules, which hookport neither runs nor reads."""
    return tuple(
        Site("user" if place.scope == "user" else "project", place.path, (dialect,))
        for dialect in map(get, list_dialects())
        for place in list_locations(dialect, "module")
    )


@cache
def list_manifest_sites() -> tuple[Site, ...]:
    """The manifests of plugins, which may contain hooks."""
    return tuple(
        Site(scope, name if folder == "." else f"{folder}/{name}", (dialect,), folder)
        for dialect in map(get, list_dialects())
        for name in dialect.manifests
        for scope, folder in PLUGINS
    )


@cache
def list_catalogues() -> Mapping[str, Dialect | None]:
    """The catalogues of marketplaces, and the agent that reads the hooks in their entries, if one does."""
    beside = {
        f"{name.rpartition('/')[0]}/{CATALOGUE}": dialect
        for dialect in map(get, list_dialects())
        for name in dialect.manifests
    }
    return {**beside, SHARED_CATALOGUE: None}


@cache
def list_catalogue_sites() -> tuple[Site, ...]:
    """The catalogues whose entries may contain hooks."""
    return tuple(
        Site("project", name, (dialect,), ".") for name, dialect in list_catalogues().items() if dialect
    )


def find_ways_inside(hooks: object, way: Way) -> Iterator[Way]:
    """The paths to the hooks inside a key of a manifest or an entry; none if it names files."""
    if isinstance(hooks, Mapping):
        yield (*way, "hooks") if isinstance(hooks.get("hooks"), Mapping) else way
    elif isinstance(hooks, list):
        for number, item in enumerate(hooks):
            if isinstance(item, Mapping):
                yield from find_ways_inside(item, (*way, number))


def embed_dialect(dialect: Dialect, root: Way) -> Dialect:
    """The dialect for hooks inside a file about something else."""
    decode = dialect.shape.decode

    def inside(reader: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
        return decode(reader, {file: _keep_only(tree, root) for file, tree in trees.items()})

    # Hooks inside a skill or a plugin run in addition to equal hooks elsewhere.
    return dialect._replace(runs_once=None, shape=dialect.shape._replace(root=root, decode=inside))


def _keep_only(tree: Tree, way: Way) -> Tree:
    """A tree with only the map at a path; an item's number is a key like any other."""
    if not way:
        return tree if isinstance(tree, Mapping) else {}
    key, *rest = way
    if isinstance(key, int):
        inside = tree[key] if isinstance(tree, list) and key < len(tree) else None
    else:
        inside = tree.get(key) if isinstance(tree, Mapping) else None
    return {key: _keep_only(inside, tuple(rest))} if isinstance(inside, Mapping | list) else {}


def find_home_folder(env: Mapping[str, str]) -> Path | None:
    """The user's home; None if unknown."""
    home = folders.find_home(env)
    return _make_path(home) if home else None


def find_config_folder(env: Mapping[str, str]) -> Path | None:
    """The folder of the user's own files; None if the environment names none."""
    config = folders.find_config_folder(env)
    return _make_path(config) if config else None


@cache
def _make_path(folder: str) -> Path:
    """Resolve a folder; cached, because every place of every agent needs it."""
    return Path(folder)


def resolve_place(dialect: Dialect | None, place: str, root: str, env: Mapping[str, str]) -> str:
    """A place on this machine; empty if the environment names no home."""
    folder, variable = dialect.home if dialect else ("", "")
    if folder and env.get(variable) and f"{place}/".startswith(f"{folder}/"):
        return str(Path(env[variable], place.removeprefix(folder).lstrip("/")))
    if place.startswith("/"):
        return place
    if not place.startswith("~/"):
        return _join_path(root, place)
    is_config = place.startswith("~/.config/")
    above = find_config_folder(env) if is_config else find_home_folder(env)
    rest = place.removeprefix("~/.config/" if is_config else "~/")
    return _join_path(str(above), rest) if above else ""


@lru_cache(4_096)
def _join_path(folder: str, place: str) -> str:
    """Join a path to a folder; cached, because every hook needs the places of every agent."""
    return str(Path(folder, place))


def is_same(first: str, second: str) -> bool:
    """Whether two paths lead to the same file or folder, existing or not."""
    if os.path.normpath(first) == os.path.normpath(second):
        return True
    try:
        return os.path.realpath(first) == os.path.realpath(second)
    except ValueError:  # no file can have such a name
        return False


def find_own_place(dialect: Dialect, file: str, root: str, env: Mapping[str, str]) -> Location | None:
    """The agent's own place that a file is at."""
    for place in list_locations(dialect, "own", "scoped"):
        if place.scope not in ("project", "local", "user") or not place.loaded:
            continue
        path = resolve_place(dialect, place.path, root, env)
        # The same folder by another path; a link from one agent's file to another's does not count.
        is_linked = (
            "*" not in path and file.endswith(f"/{place.path.removeprefix('~/')}") and is_same(file, path)
        )
        if path and (is_at(file, path) or is_linked):
            return place
    return None
