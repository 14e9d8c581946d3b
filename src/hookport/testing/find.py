"""Where suites are: `tests/` folders with cases beside hooks; those of other programs are ignored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

TESTS, CASES = "tests", "cases"
CONFIG = "test-config.json"
SHAPE = "tests/cases/*.yaml, with tests/test-config.json, or with hooks.json or HOOK.md beside tests/"
# Files beside `tests/` in the formats that define where tests are.
HOOK_FILES = ("hooks.json", "HOOK.md")
SKIPPED_FOLDERS = frozenset(
    {".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox", "site-packages"}
)


def is_suite(folder: Path) -> bool:
    """Whether a `tests/` folder has tests of hooks: it has a configuration, or hooks are beside it."""
    return (folder / CONFIG).is_file() or any((folder.parent / name).is_file() for name in HOOK_FILES)


def find_suites(path: Path) -> dict[Path, Path | None]:
    """Find the `tests/` folders at a path, each with the given file if the path is a file."""
    full = Path(os.path.abspath(path))  # noqa: PTH100  (links stay: hooks are found beside the name)
    if full.is_file():
        return {full.parent.parent: full} if full.parent.name == CASES else {}
    if full.name == CASES and full.parent.name == TESTS:
        return {full.parent: None}
    if (full / CASES).is_dir():
        return {full: None}
    return dict.fromkeys(_find_below(full))


def _find_below(folder: Path) -> Iterator[Path]:
    for subfolder, inside, _ in os.walk(folder):
        inside[:] = sorted(set(inside) - SKIPPED_FOLDERS)
        if (
            TESTS in inside
            and is_suite(Path(subfolder) / TESTS)
            and (Path(subfolder) / TESTS / CASES).is_dir()
        ):
            inside.remove(TESTS)
            yield Path(subfolder) / TESTS
