"""The dialects, found by file name and loaded on demand.

Other packages add theirs through the entry point group `hookport.dialects`: the id, and a `Dialect` with it.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module

from hookport.errors import UsageError, suggest_closest
from hookport.model.json_text import dumps
from hookport.shapes.dialect import (
    DecodedManifest,
    Dialect,
    EventSpec,
    Place,
    RefusedError,
    Tree,
    find_event_specs,
    list_tool_names,
    supports,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint
    from types import ModuleType

    from hookport.wire.table import Wire

__all__ = [
    "EXAMPLE_NAMES",
    "DecodedManifest",
    "Dialect",
    "EventSpec",
    "Place",
    "RefusedError",
    "Tree",
    "find_event_specs",
    "find_package_folder",
    "find_unusable",
    "get",
    "get_dialect_module",
    "get_wire",
    "list_added",
    "list_agents",
    "list_builtin",
    "list_dialects",
    "list_package_folders",
    "list_tool_names",
    "recognise_payload",
    "supports",
]

GROUP = "hookport.dialects"
# The ids in examples, by the part that they play.
EXAMPLE_NAMES = {"agent": "claude-code", "other": "cursor", "third": "codex", "format": "universal"}


@cache
def list_dialects() -> tuple[str, ...]:
    """The ids of all dialects, the formats first."""
    dialects = [get(name) for name in (*list_builtin(), *list_added())]
    return tuple(
        dialect.id for dialect in sorted(dialects, key=lambda dialect: (dialect.kind != "format", dialect.id))
    )


def list_agents() -> tuple[str, ...]:
    """The ids of the dialects whose agents fire events."""
    return tuple(name for name in list_dialects() if get(name).kind == "agent")


def list_markers() -> tuple[str, ...]:
    """The variables that agents set for the commands that they run; see `Dialect.markers`."""
    return tuple(dict.fromkeys(marker for name in list_agents() for marker in get(name).markers))


def list_added() -> tuple[str, ...]:
    """The ids of the dialects that other packages add."""
    return tuple(name for name, dialect in _load_all().items() if isinstance(dialect, Dialect))


def find_unusable() -> dict[str, str]:
    """The entry points without a usable dialect, and why."""
    return {name: reason for name, reason in _load_all().items() if isinstance(reason, str)}


@cache
def get(name: str) -> Dialect:
    """The dialect of that id."""
    module = name.replace("-", "_")
    if _is_id(name):
        try:
            dialect: Dialect = import_module(f"hookport.agents.{module}").DIALECT
        except ModuleNotFoundError as missing:
            if missing.name != f"hookport.agents.{module}":
                raise
        else:
            return dialect
    loaded = _load_all().get(name)
    if isinstance(loaded, str):
        raise UsageError(f"dialect '{name}' is unusable: {loaded}.")
    if loaded is None:
        raise UsageError(
            f"unknown dialect '{name}'.{suggest_closest(name, (*list_builtin(), *list_added()))}",
            hint="`hookport dialects` lists the dialects",
        )
    return loaded


@cache
def get_wire(name: str) -> Wire:
    """The wire of the dialect of that id, completed from its tables."""
    from hookport.shapes.wiring import complete_wire

    return complete_wire(get(name))


def recognise_payload(payload: Mapping[str, Tree]) -> list[tuple[str, str]]:
    """(dialect, native event) for every agent that may have sent a payload, likeliest first."""
    from hookport.wire import recognition

    return [
        (match.id, native)
        for match, native in recognition.recognise_payload(payload, map(get_wire, list_dialects()))
    ]


@cache
def list_builtin() -> tuple[str, ...]:
    """The ids of the dialects in this package."""
    try:
        files = [entry.name for entry in os.scandir(__path__[0])]
    except OSError:  # in an archive
        import pkgutil

        files = [f"{module.name}.py" for module in pkgutil.iter_modules(__path__)]
    modules = sorted(file.removesuffix(".py") for file in files if file.endswith(".py"))
    return tuple(name.replace("_", "-") for name in modules if not name.startswith("_"))


def find_package_folder(name: str) -> str:
    """The folder where the package that adds a dialect is installed."""
    dist = _find_entry_points()[name][0].dist
    return str(dist.locate_file("")) if dist else ""


def get_dialect_module(name: str) -> ModuleType:
    """The module of a dialect that another package adds."""
    return sys.modules[_find_entry_points()[name][0].module]


@cache
def list_package_folders() -> dict[str, list[str]]:
    """The folders on the search path with installed packages, each with the packages' metadata folders."""
    return {folder: packages for folder in sys.path if (packages := _list_packages(folder))}


def _is_id(name: str) -> bool:
    return name.isascii() and name.replace("-", "").isalnum()


@cache
def _load_all() -> dict[str, Dialect | str]:
    """Every dialect of another package by name, or why it is unusable; a broken dialect affects no other."""
    return {name: _load(name, points) for name, points in _find_entry_points().items()}


def _load(name: str, points: list[EntryPoint]) -> Dialect | str:
    owners = sorted({point.dist.name for point in points if point.dist})
    if name in list_builtin():
        return f"hookport itself has a dialect of that name, and {', '.join(owners)} adds a second"
    if len(owners) > 1:
        return f"{', '.join(owners)} each add a dialect of that name"
    try:
        dialect = points[0].load()
        if not isinstance(dialect, Dialect):
            return f"{points[0].value} is not a Dialect"
        dumps(dialect.wire.as_dict())  # a plan carries it as JSON
    except Exception as error:  # noqa: BLE001  (the code is not ours)
        return f"{points[0].value} failed with {type(error).__name__}: {error}"
    if dialect.id != name or not _is_id(name):
        return (
            f"{points[0].value} has the id '{dialect.id}'" if _is_id(name) else "its name is not a valid id"
        )
    return dialect


@cache
def _find_entry_points() -> dict[str, list[EntryPoint]]:
    """The entry points of other packages by name; looked up only if a package mentions the group."""
    if not any(map(_mentions_dialects, list_package_folders().values())):
        return {}
    from importlib.metadata import entry_points

    points: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        points.setdefault(point.name, []).append(point)
    return points


def _list_packages(folder: str) -> list[str]:
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
