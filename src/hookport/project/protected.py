"""What no agent may change: hooks, their scripts, the settings that call us, and hookport's own files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import hookport
from hookport.agents import get, list_dialects
from hookport.base.folders import walk_upward
from hookport.base.paths import make_resolver
from hookport.project.discovery import Discovery
from hookport.project.identity import identify
from hookport.project.places import find_config_folder, list_sites, resolve_place
from hookport.runtime import journal, plan, trust

# Plugins developed here: only their hooks are protected.
MARKETPLACES = (".", "plugins/*")


def list_protected_paths(
    discovery: Discovery,
    env: Mapping[str, str],
    files_by_entry: Mapping[int, Sequence[str]] = MappingProxyType({}),
) -> list[str]:
    """The protected paths, each with everything below it, by their names and by the targets of their links.

    `files_by_entry` has the files of hooks whose identity was already computed, by the hook's `id()`.
    """
    paths = [path for path in _find_paths(discovery, env, files_by_entry) if path]
    resolve = make_resolver()
    names = {name for path in paths for name in (os.path.normpath(path), resolve(path))}
    return sorted(name for name in names if names.isdisjoint(islice(walk_upward(name), 1, None)))


def list_watched_settings(env: Mapping[str, str]) -> list[str]:
    """The users' settings files that may get an entry of ours."""
    return [str(path) for path in _list_settings_files(env) if path.is_file()]


def _find_paths(
    discovery: Discovery, env: Mapping[str, str], files_by_entry: Mapping[int, Sequence[str]]
) -> Iterator[str]:
    root, config = Path(discovery.root), find_config_folder(env)
    yield from (str(root / name) for name in (trust.LOCK, ".hookport"))
    yield journal.find_state_folder(env)
    cache = plan.find_plan_path("", env)
    yield str(Path(cache).parents[1]) if cache else ""
    yield str(config / "hookport") if config else ""
    package = Path(hookport.__file__).parent
    if root not in package.parents:  # else it is the project itself
        yield str(package)
    for place in _list_places():
        # A path with an unknown part below a folder is protected with the folder.
        yield resolve_place(None, place.partition("/*")[0], str(root), env)
    # A hook added there would run in every agent without approval.
    yield from map(str, _list_settings_files(env))
    for entry in (*discovery.hooks, *discovery.scoped):
        if entry.scope == "project":
            yield entry.file
            # A manifest lists which files of a plugin are hooks.
            manifests = (Path(entry.package, name) for name in get(entry.hook.dialect).manifests)
            yield from (str(path) for path in manifests if path.is_file())
        yield from entry.scripts
        if entry.scope == "project":
            files = (
                files_by_entry[id(entry)]
                if id(entry) in files_by_entry
                else identify(entry, discovery.root, env).files
            )
            yield from (trust.resolve_name(name, discovery.root, env) for name in files)


def _list_places() -> Iterator[str]:
    """The places with hooks only; agents' settings in the user's home are listed separately."""
    for site in list_sites():
        is_format = any(dialect.kind == "format" for dialect in site.dialects)
        if site.package not in MARKETPLACES and (site.scope == "project" or is_format or "*" in site.path):
            yield site.path
    # Code that agents run as hooks.
    for dialect in map(get, list_dialects()):
        for place in dialect.locations:
            if place.scope in ("project", "local") or (place.scope == "user" and place.path.endswith("/*")):
                yield place.path


def _list_settings_files(env: Mapping[str, str]) -> Iterator[Path]:
    """The settings files of agents in the user's home."""
    for dialect in map(get, list_dialects()):
        for place in dialect.locations:
            path = resolve_place(dialect, place.path, "", env)
            if place.scope == "user" and "*" not in place.path and path:
                yield Path(path)
