"""The dialects, found by file name and loaded when asked for.

Other packages add theirs through the entry point group `hookport.dialects`, a name and a `Dialect` each.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module

from hookport.dialects._base import (
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

__all__ = [
    "Decoded",
    "Dialect",
    "EventSpec",
    "Place",
    "RefusedError",
    "Tree",
    "agents",
    "event_specs",
    "get",
    "names",
    "names_of",
    "supports",
]

GROUP = "hookport.dialects"


@cache
def names() -> tuple[str, ...]:
    """The ids of all dialects, the formats first."""
    found = [get(name) for name in (*_builtin(), *_entry_points())]
    return tuple(
        dialect.id for dialect in sorted(found, key=lambda dialect: (dialect.kind != "format", dialect.id))
    )


def agents() -> tuple[str, ...]:
    """The ids of the dialects that fire events by themselves."""
    return tuple(name for name in names() if get(name).kind == "agent")


@cache
def get(name: str) -> Dialect:
    """The dialect of that id."""
    module = name.replace("-", "_")
    if name.replace("-", "").isalnum():
        try:
            found: Dialect = import_module(f"hookport.dialects.{module}").DIALECT
        except ModuleNotFoundError as missing:
            if missing.name != f"hookport.dialects.{module}":
                raise
        else:
            return found
    points = _entry_points()
    if name in points:
        loaded: Dialect = points[name].load()  # type: ignore[attr-defined]
        return loaded
    raise UsageError(f"unknown dialect '{name}'.{closest(name, _builtin())}")


@cache
def _builtin() -> tuple[str, ...]:
    try:
        files = [entry.name for entry in os.scandir(__path__[0])]
    except OSError:  # in an archive
        import pkgutil

        files = [f"{module.name}.py" for module in pkgutil.iter_modules(__path__)]
    modules = sorted(file.removesuffix(".py") for file in files if file.endswith(".py"))
    return tuple(name.replace("_", "-") for name in modules if not name.startswith("_"))


@cache
def _entry_points() -> dict[str, object]:
    """The dialects of other packages; the slow look-up is made only where a package has some."""
    if not any(map(_mentions_dialects, sys.path)):
        return {}
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def _mentions_dialects(folder: str) -> bool:
    try:
        packages = [
            entry.path
            for entry in os.scandir(folder or ".")
            if entry.name.endswith((".dist-info", ".egg-info"))
        ]
    except OSError:
        return False
    return any(map(_mentions_group, packages))


def _mentions_group(package: str) -> bool:
    try:
        with open(f"{package}/entry_points.txt", "rb") as file:  # noqa: PTH123  (pathlib costs milliseconds here)
            return GROUP.encode() in file.read()
    except OSError:
        return False
