"""Failures because a dependency beside the hooks was not copied, and the setting that copies it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hookport.base import paths
from hookport.testing.bench import SKIPPED_FOLDERS
from hookport.testing.run import CaseRun, Package
from hookport.testing.suite import CONFIG

# Folders of dependencies. Other skipped folders contain nothing that a hook loads.
DEPENDENCIES = tuple(sorted(SKIPPED_FOLDERS & {"node_modules", ".venv", "venv"}))
# An interpreter's message about a missing module, and the module's path on disk.
MODULES = (
    # Node 22: CommonJS, then ES modules.
    (re.compile(r"Cannot find module '(?P<name>[^'/.][^']*)'"), ("",)),
    (re.compile(r"Cannot find package '(?P<name>[^']+)'"), ("",)),
    # CPython 3.13.
    (re.compile(r"No module named '(?P<name>[\w.]+)'"), ("lib/python*/site-packages", "Lib/site-packages")),
)
# A missing file in such a folder, reported by a shell, an interpreter or the start of a process.
FILES = re.compile(rf"(?P<name>(?:{'|'.join(map(re.escape, DEPENDENCIES))})/[^\s:'\"]+)")


class Dependency(NamedTuple):
    """A name that a hook could not load, and the folder on disk that has it."""

    name: str
    folder: Path


def find_dependency(package: Package, got: CaseRun) -> Dependency | None:
    """Find the dependency that a failed case lacks because it was not copied; None if none is missing."""
    text = "\n".join((got.stderr, got.stdout, *got.failures, *(result.detail for result in got.results)))
    named = [
        Dependency(module.group("name"), folder)
        for pattern, places in MODULES
        for module in pattern.finditer(text)
        for folder in _find_folders(package)
        if any(_has_module(folder, place, module.group("name")) for place in places)
    ]
    paths = [path.group("name") for path in FILES.finditer(text)]
    listed = [
        Dependency(path, folder)
        for path in paths
        for folder in _find_folders(package)
        if folder.name == path.partition("/")[0] and os.path.lexists(folder.parent / path)
    ]
    return next(iter((*named, *listed)), None)


def write_hint(package: Package, got: CaseRun) -> str:
    """The setting that copies the missing dependency; empty if none is missing."""
    dependency = find_dependency(package, got)
    if dependency is None:
        return ""
    copied = package.config.copy or (os.path.relpath(package.origin.base, package.folder),)
    setting = json.dumps([*copied, os.path.relpath(dependency.folder, package.folder)])
    folder = f"{dependency.folder.name}/"
    return f"'{dependency.name}' is in {folder}, which was not copied. Add \"copy\": {setting} to {CONFIG}"


def _find_folders(package: Package) -> Iterator[Path]:
    """Find uncopied folders of dependencies, from the tests up to the root of the repository."""
    copied = {Path(part) for part in package.origin.parts}
    root = paths.find_repository(str(package.folder.parent))
    for folder in package.folder.parents:
        for name in DEPENDENCIES:
            if (folder / name).is_dir() and folder / name not in copied:
                yield folder / name
        if str(folder) == root:
            return


def _has_module(folder: Path, place: str, name: str) -> bool:
    """Whether a folder of dependencies contains a module, at its language's path."""
    if not place:
        scoped = name.split("/")[: 2 if name.startswith("@") else 1]
        return folder.name == "node_modules" and folder.joinpath(*scoped).exists()
    module = name.partition(".")[0]
    return any((at / module).exists() or (at / f"{module}.py").exists() for at in folder.glob(place))
