"""Where hooks may stand, for every command: each agent's own files, those of the formats, and plugins."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.convert import kind_in
from hookport.dialects import Decoded, Dialect, Tree, get, names

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
# The catalogue of a marketplace: its plugins and the folders that they are in.
CATALOGUES = (".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json")


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
    formats = [dialect for dialect in map(get, names()) if dialect.kind == "format"]
    agents = [dialect for dialect in map(get, names()) if dialect.kind == "agent"]
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
    """The places where dialects have their own files; programs are hooks of which no table tells."""
    for dialect in dialects:
        for place in (*dialect.locations, *dialect.runs_from):
            is_code = kind_in(dialect, place.path.replace("*", "x")) == "text"
            if place.scope in ("project", "local", "user") and not is_code and not _in_plugin(place.path):
                yield Site("user" if place.scope == "user" else "project", place.path, (dialect,))


def _in_plugin(path: str) -> bool:
    """Whether a place is inside a folder of plugins, which are found by themselves."""
    return any(path.startswith(f"{folder}/") for _, folder in PLUGINS if folder != ".")


@cache
def plugin_sites(scope: Scope, folder: str) -> tuple[Site, ...]:
    """The places in one folder that is a plugin."""
    found: dict[str, list[Dialect]] = {}
    for dialect in map(get, names()):
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
    found: list[Site] = []
    for dialect in map(get, names()):
        inside = (embedded(dialect, ("frontmatter", "hooks")),)
        for place in dialect.scoped_in:
            if place.scope == "plugin":
                found += [Site(scope, f"{folder}/{place.path}", inside, folder) for scope, folder in PLUGINS]
            else:
                found.append(Site("user" if place.scope == "user" else "project", place.path, inside))
    return tuple(found)


@cache
def manifest_sites() -> tuple[Site, ...]:
    """The manifests of plugins, which may have hooks inside."""
    return tuple(
        Site(scope, name if folder == "." else f"{folder}/{name}", (dialect,), folder)
        for dialect in map(get, names())
        for name in dialect.manifests
        for scope, folder in PLUGINS
    )


def manifest_reader(dialect: Dialect, tree: object) -> Dialect:
    """The dialect as it reads the hooks inside a manifest; there are none where `hooks` names files."""
    hooks = tree.get("hooks") if isinstance(tree, Mapping) else None
    nested = isinstance(hooks, Mapping) and isinstance(hooks.get("hooks"), Mapping)
    return embedded(dialect, ("hooks", "hooks") if nested else ("hooks",))


def embedded(dialect: Dialect, root: tuple[str, ...]) -> Dialect:
    """The dialect as it reads hooks that stand inside a file about something else."""
    decode = dialect.shape.decode

    def inside(reader: Dialect, trees: Mapping[str, Tree]) -> Decoded:
        return decode(reader, {file: _only(tree, root) for file, tree in trees.items()})

    return dialect._replace(root=root, shape=dialect.shape._replace(decode=inside))


def _only(tree: Tree, way: tuple[str, ...]) -> Tree:
    """A tree with nothing but the map at the end of a way of keys."""
    if not way:
        return tree if isinstance(tree, Mapping) else {}
    inside = tree.get(way[0]) if isinstance(tree, Mapping) else None
    return {way[0]: _only(inside, way[1:])} if isinstance(inside, Mapping) else {}


def home_folder(env: Mapping[str, str]) -> Path | None:
    """The user's home; None where there is none."""
    home = Path(env.get("HOME") or env.get("USERPROFILE") or "~")
    try:
        home = home.expanduser()
    except RuntimeError:  # a user without a home
        return None
    return home if home.is_absolute() else None


def config_folder(env: Mapping[str, str]) -> Path | None:
    """Where the user's own files are; None where the environment names no place."""
    config = Path(env.get("XDG_CONFIG_HOME", ""))
    if config.is_absolute():  # the XDG specification ignores any other
        return config
    home = home_folder(env)
    return home and home / ".config"


def absolute(dialect: Dialect | None, place: str, root: str, env: Mapping[str, str]) -> str:
    """A place on this machine; empty where the environment names no home."""
    folder, variable = dialect.home if dialect else ("", "")
    if folder and env.get(variable) and f"{place}/".startswith(f"{folder}/"):
        return str(Path(env[variable], place.removeprefix(folder).lstrip("/")))
    if place.startswith("/"):
        return place
    if not place.startswith("~/"):
        return str(Path(root, place))
    for start, above in (("~/.config/", config_folder(env)), ("~/", home_folder(env))):
        if place.startswith(start):
            return str(above / place.removeprefix(start)) if above else ""
    return ""


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
