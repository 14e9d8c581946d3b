"""The dialects, found by file name and loaded when asked for.

Other packages add theirs through the entry point group `hookport.dialects`: the id, and a `Dialect` with it.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module

from hookport.agents._base import (
    Decoded,
    Dialect,
    EventSpec,
    Place,
    RefusedError,
    Tree,
    event_specs,
    names_of,
    supports,
)
from hookport.errors import UsageError, closest
from hookport.model._json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from types import ModuleType

__all__ = [
    "Decoded",
    "Dialect",
    "EventSpec",
    "Place",
    "RefusedError",
    "Tree",
    "added",
    "agents",
    "builtin",
    "event_specs",
    "folder_of",
    "get",
    "module_of",
    "names",
    "names_of",
    "package_folders",
    "supports",
    "unusable",
]

GROUP = "hookport.dialects"


@cache
def names() -> tuple[str, ...]:
    """The ids of all dialects, the formats first."""
    found = [get(name) for name in (*builtin(), *added())]
    return tuple(
        dialect.id for dialect in sorted(found, key=lambda dialect: (dialect.kind != "format", dialect.id))
    )


def agents() -> tuple[str, ...]:
    """The ids of the dialects that fire events by themselves."""
    return tuple(name for name in names() if get(name).kind == "agent")


def markers() -> tuple[str, ...]:
    """The variables that agents set for the commands that they run; see `Dialect.markers`."""
    return tuple(dict.fromkeys(one for name in agents() for one in get(name).markers))


def added() -> tuple[str, ...]:
    """The ids of the dialects that other packages add."""
    return tuple(name for name, found in _loaded().items() if isinstance(found, Dialect))


def unusable() -> dict[str, str]:
    """The entry points that give no dialect, and why."""
    return {name: found for name, found in _loaded().items() if isinstance(found, str)}


@cache
def get(name: str) -> Dialect:
    """The dialect of that id."""
    module = name.replace("-", "_")
    if _is_id(name):
        try:
            found: Dialect = import_module(f"hookport.agents.{module}").DIALECT
        except ModuleNotFoundError as missing:
            if missing.name != f"hookport.agents.{module}":
                raise
        else:
            return found
    loaded = _loaded().get(name)
    if isinstance(loaded, str):
        raise UsageError(f"dialect '{name}' cannot be used: {loaded}.")
    if loaded is None:
        raise UsageError(f"unknown dialect '{name}'.{closest(name, (*builtin(), *added()))}")
    return loaded


@cache
def builtin() -> tuple[str, ...]:
    """The ids of our own dialects."""
    try:
        files = [entry.name for entry in os.scandir(__path__[0])]
    except OSError:  # in an archive
        import pkgutil

        files = [f"{module.name}.py" for module in pkgutil.iter_modules(__path__)]
    modules = sorted(file.removesuffix(".py") for file in files if file.endswith(".py"))
    return tuple(name.replace("_", "-") for name in modules if not name.startswith("_"))


def folder_of(name: str) -> str:
    """Where the package is installed that adds a dialect."""
    dist = _entry_points()[name][0].dist
    return str(dist.locate_file("")) if dist else ""


def module_of(name: str) -> ModuleType:
    """The module that has the dialect which another package adds."""
    return sys.modules[_entry_points()[name][0].module]


@cache
def package_folders() -> dict[str, list[str]]:
    """The folders on the search path that packages are installed in, each with what it knows of them."""
    return {folder: packages for folder in sys.path if (packages := _packages(folder))}


def _is_id(name: str) -> bool:
    return name.isascii() and name.replace("-", "").isalnum()


@cache
def _loaded() -> dict[str, Dialect | str]:
    """By name each dialect of another package, or why it is none; one that is broken costs only itself."""
    return {name: _load(name, points) for name, points in _entry_points().items()}


def _load(name: str, points: list[EntryPoint]) -> Dialect | str:
    owners = sorted({point.dist.name for point in points if point.dist})
    if name in builtin():
        return f"hookport has one of that name itself, and {', '.join(owners)} adds another"
    if len(owners) > 1:
        return f"{', '.join(owners)} each add one of that name"
    try:
        found = points[0].load()
        if not isinstance(found, Dialect):
            return f"{points[0].value} is no Dialect"
        dumps(found.wire.as_dict())  # a plan carries it as JSON
    except Exception as error:  # noqa: BLE001  (the code is not ours)
        return f"{points[0].value} failed with {type(error).__name__}: {error}"
    if found.id != name or not _is_id(name):
        return f"{points[0].value} has the id '{found.id}'" if _is_id(name) else "its name is no id"
    return found


@cache
def _entry_points() -> dict[str, list[EntryPoint]]:
    """What other packages add, by name; the slow look-up is made only where a package has some."""
    if not any(map(_mentions_dialects, package_folders().values())):
        return {}
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, []).append(point)
    return found


def _packages(folder: str) -> list[str]:
    try:
        return [
            entry.path
            for entry in os.scandir(folder or ".")
            if entry.name.endswith((".dist-info", ".egg-info"))
        ]
    except OSError:
        return []


def _mentions_dialects(packages: list[str]) -> bool:
    return any(map(_mentions_group, packages))


def _mentions_group(package: str) -> bool:
    try:
        with open(f"{package}/entry_points.txt", "rb") as file:  # noqa: PTH123  (pathlib costs milliseconds here)
            return GROUP.encode() in file.read()
    except OSError:
        return False
