"""Watches the files that a test run depends on, by size, mtime and inode."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from hookport.testing.find import SKIPPED_FOLDERS

POLL_SECONDS = 0.3

# Size, mtime and inode of each file, by path.
FileTraces = dict[str, tuple[int, int, int]]


def trace_files(roots: Iterable[Path], without: Collection[str] = ()) -> FileTraces:
    """Size, mtime and inode of every file at or below some paths, except those in `without`."""
    traces: FileTraces = {}
    for root in roots:
        if root.is_file():
            _add(traces, str(root))
        for folder, inside, files in os.walk(root):
            inside[:] = set(inside) - SKIPPED_FOLDERS
            for name in files:
                _add(traces, os.path.join(folder, name))  # noqa: PTH118  (one call for each of many files)
    return {path: status for path, status in traces.items() if path not in without}


def _add(traces: FileTraces, path: str) -> None:
    with suppress(OSError):
        status = os.stat(path)  # noqa: PTH116
        traces[path] = status.st_size, status.st_mtime_ns, status.st_ino


def wait_for_change(before: FileTraces, roots: Collection[Path], without: Collection[str] = ()) -> list[str]:
    """The changed paths, once nothing changed for another check: an editor writes several times."""
    last = before
    while True:
        now = trace_files(roots, without)
        if now == last != before:
            return sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
        last = now
        time.sleep(POLL_SECONDS)
