"""What no agent may change: hooks, their scripts, the settings that call us, and what hookport keeps."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import hookport
from hookport.dialects import get, names
from hookport.errors import InputError
from hookport.project.discovery import Discovery
from hookport.project.disk import data_of
from hookport.project.identity import identity
from hookport.project.places import config_folder, home_folder
from hookport.runtime import journal, plan, trust

# What an entry of ours has in it, whatever its file is like.
OURS = (b"hookport", b"bridge.py")


def protected(found: Discovery, env: Mapping[str, str]) -> list[str]:
    """The paths, each with all that is below it, by the names they have and by where these lead."""
    paths = [path for path in _paths(found, env) if path]
    names = {name for path in paths for name in (os.path.normpath(path), os.path.realpath(path))}
    return sorted(name for name in names if names.isdisjoint(map(str, Path(name).parents)))


def watched(env: Mapping[str, str]) -> list[str]:
    """The users' settings files that may get an entry of ours."""
    return [str(path) for path in _settings(env) if path.is_file()]


def _paths(found: Discovery, env: Mapping[str, str]) -> Iterator[str]:
    root, config = Path(found.root), config_folder(env)
    yield from (str(root / name) for name in (trust.LOCK, ".hookport"))
    yield journal.folder(env)
    cache = plan.path_for("", env)
    yield str(Path(cache).parents[1]) if cache else ""
    yield str(config / "hookport") if config else ""
    package = Path(hookport.__file__).parent
    if root not in package.parents:  # else it is the project itself
        yield str(package)
    for dialect in map(get, names()):
        agents = () if dialect.runs_from else dialect.locations
        for place in (*dialect.runs_from, *agents):
            start, star, _ = place.path.partition("/*")
            if place.scope in ("project", "local"):
                yield str(root / start)
            elif place.scope == "user" and (dialect.runs_from or (star and not dialect.file_name)):
                yield _at_home(start, env)
    for path in _settings(env):
        if not path.exists() or _is_ours(path):
            yield str(path)
    for one in found.hooks:
        yield from one.scripts
        if one.scope == "project":
            files = identity(one, found.root, env).files
            yield from (trust.resolved(name, found.root, env) for name in files)


def _settings(env: Mapping[str, str]) -> Iterator[Path]:
    """The settings files of agents in the user's home."""
    for dialect in map(get, names()):
        for place in dialect.locations:
            path = _at_home(place.path, env)
            if place.scope == "user" and "*" not in place.path and path:
                yield Path(path)


def _at_home(path: str, env: Mapping[str, str]) -> str:
    home, config = home_folder(env), config_folder(env)
    for start, folder in (("~/.config/", config), ("~/", home)):
        if path.startswith(start):
            return str(folder / path.removeprefix(start)) if folder else ""
    return ""


def _is_ours(path: Path) -> bool:
    try:
        data = data_of(path) or b""
    except InputError:
        return True
    return any(word in data for word in OURS)
