"""Where cases run: a temporary copy of the package, with its own home and environment.

A copy serves many runs. Each run gets an empty home and an empty temporary folder, and finds the package
unchanged: writes of a run are undone, and runs that may have seen them are repeated. So no run sees another,
and a package is copied once for each job, whatever its size.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Self, TypeVar

from hookport.errors import UsageError
from hookport.project.discovery import load
from hookport.project.settings import load_settings
from hookport.runtime.plan import PlannedHook
from hookport.testing.package import PackageOrigin, list_hooks
from hookport.testing.suite import CONFIG, PACKAGE_ROOT

SKIPPED_FOLDERS = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__"})
# Copying this much takes seconds, once for each job; a file counts as at least one block.
LARGEST = 256 << 20
BLOCK_BYTES = 4096
# Variables that programs need to start and print, and those of version managers in a home.
PASSED_VARIABLES = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "VIRTUAL_ENV",
    "PYENV_ROOT",
    "NVM_DIR",
    "VOLTA_HOME",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "RBENV_ROOT",
    "CARGO_HOME",
    "RUSTUP_HOME",
)
# Folders without the owner's permissions are opened before they are removed.
OPENED = stat.S_IRWXU

Outcome = TypeVar("Outcome")
# A file's `lstat`. A hook cannot reset the time of the last status change.
FileTrace = tuple[int, int, int, int, int]


class Bench(NamedTuple):
    """The copy, its hooks, environment and settings."""

    root: str
    home: str
    hooks: list[PlannedHook]
    env: Mapping[str, str]
    settings: Mapping[str, str]

    def hide_paths(self, text: str) -> str:
        """Replace the paths of the copy and the home by names that are equal in every run."""
        for path, name in ((self.root, PACKAGE_ROOT), (self.home, "${HOME}")):
            for spelling in (path, os.path.realpath(path)):
                text = text.replace(spelling, name)
        return text


class Copy:
    """One copy of a package; `bench` is a run's view of it."""

    def __init__(self, origin: PackageOrigin, env: Mapping[str, str]) -> None:
        self.origin = origin
        self.top = Path(tempfile.mkdtemp(prefix="hookport-test-"))
        self.root = self.top / (origin.base.name or "package")
        self.home, self.scratch = self.top / "~", self.top / "tmp"
        self.copying = _Copier(origin.base, self.root)
        try:
            self.copying.copy_package(origin)
            passed_on = {name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ}
            # Bytecode would change the package; as for approved hooks, Python writes it elsewhere.
            compiled = {"PYTHONPYCACHEPREFIX": str(self.top / "pycache")}
            full_env = {**passed_on, **compiled, "HOME": str(self.home), "TMPDIR": str(self.scratch), **env}
            self.empty_home()
            discovery = load(str(self.root / origin.source.relative_to(origin.base)), None, full_env)
            settings = load_settings(str(self.root), full_env)
        except BaseException:
            self.remove()
            raise
        self.bench = Bench(str(self.root), str(self.home), list_hooks(discovery), full_env, settings)
        self.traces = _trace(self.root)

    def empty_home(self) -> None:
        """Empty the home and the temporary folder."""
        for folder in (self.home, self.scratch):
            if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
                _remove(folder)
            folder.mkdir(exist_ok=True)

    def is_unchanged(self) -> bool:
        """Whether no file in the copy was written, removed or renamed since it was made or restored."""
        try:
            return _trace(self.root) == self.traces
        except OSError:
            return False

    def restore(self) -> None:
        """Undo all writes; OSError if that is not possible."""
        now = _trace(self.root)
        changed = {path for path, trace in now.items() if self.traces.get(path) != trace}
        # A folder with new or removed files is itself unchanged.
        same = {
            path for path in changed if path in self.traces and _is_same_folder(now[path], self.traces[path])
        }
        removed = changed - same
        for path in sorted(removed, key=len):
            _remove(self.root / path)
        gone = [path for path in self.traces if path not in now or _is_below(path, removed)]
        for path in sorted(gone, key=len):
            self._restore_path(path)
        around = (path.rpartition("/")[0] for path in (*gone, *removed))
        folders = {*same, *gone, *around} & self.traces.keys()
        for path in sorted(folders, key=len, reverse=True):
            if stat.S_ISDIR(self.traces[path][0]):
                shutil.copystat(self.origin.base / path, self.root / path)
        self.traces.update({path: _read_trace(os.lstat(self.root / path)) for path in (*folders, *gone)})

    def _restore_path(self, path: str) -> None:
        if stat.S_ISDIR(self.traces[path][0]):
            (self.root / path).mkdir()
        else:
            self.copying.copy(self.origin.base / path, self.root / path)

    def remove(self) -> None:
        """Remove all of it from disk."""
        _remove(self.top)


class CopyPool:
    """Idle copies, each lent to one job at a time; closing the pool removes them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_closed = False
        self._idle: dict[tuple[PackageOrigin, tuple[tuple[str, str], ...]], list[Copy]] = {}
        # Packages whose hooks write into the copy: their runs are checked one by one.
        self._writing: set[PackageOrigin] = set()

    def run_apart(
        self, origin: PackageOrigin, env: Mapping[str, str], runs: Sequence[Callable[[Bench], Outcome]]
    ) -> list[Outcome]:
        """Return the outcome of each run, as if each had its own copy.

        While no run writes into the copy, no run can see another, so one check after all is enough. If a run
        wrote, all are repeated, and the copy is restored after each.
        """
        if not runs:
            return []
        package_copy = self._take(origin, env)
        try:
            outcomes: list[Outcome] = []
            if origin not in self._writing:
                # An error recurs below, unless an earlier run's writes caused it.
                with suppress(Exception):
                    outcomes += [self._run_once(package_copy, run) for run in runs]
                if not package_copy.is_unchanged():
                    package_copy = _restore_copy(package_copy, env)
                    if len(runs) > 1:
                        self._writing.add(origin)
                        outcomes = []
            while len(outcomes) < len(runs):
                outcomes.append(self._run_once(package_copy, runs[len(outcomes)]))
                package_copy = _restore_copy(package_copy, env)
        except BaseException:
            package_copy.remove()
            raise
        self._give_back(package_copy, env)
        return outcomes

    def _run_once(self, copy: Copy, run: Callable[[Bench], Outcome]) -> Outcome:
        if self._is_closed:
            raise InterruptedError("the tests were interrupted")
        copy.empty_home()
        return run(copy.bench)

    def _take(self, origin: PackageOrigin, env: Mapping[str, str]) -> Copy:
        with self._lock:
            idle = self._idle.get((origin, tuple(env.items())))
            if idle:
                return idle.pop()
        return Copy(origin, env)

    def _give_back(self, copy: Copy, env: Mapping[str, str]) -> None:
        with self._lock:
            if not self._is_closed:
                self._idle.setdefault((copy.origin, tuple(env.items())), []).append(copy)
                return
        copy.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove every copy."""
        with self._lock:
            idle, self._idle, self._is_closed = self._idle, {}, True
        for copies in idle.values():
            for copy in copies:
                copy.remove()


def _restore_copy(copy: Copy, env: Mapping[str, str]) -> Copy:
    """Restore a copy, or replace it if that fails."""
    try:
        copy.restore()
    except OSError:
        copy.remove()
        return Copy(copy.origin, env)
    return copy


def _trace(root: Path) -> dict[str, FileTrace]:
    """The `lstat` of every file and folder below a root, by relative path."""
    traces: dict[str, FileTrace] = {"": _read_trace(os.lstat(root))}
    folders = [""]
    while folders:
        folder = folders.pop()
        with suppress(PermissionError), os.scandir(root / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                traces[path] = _read_trace(entry.stat(follow_symlinks=False))
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
    return traces


def _read_trace(status: os.stat_result) -> FileTrace:
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _is_same_folder(now: FileTrace, before: FileTrace) -> bool:
    return stat.S_ISDIR(now[0]) and now[0] == before[0] and now[-1] == before[-1]


class _Copier(NamedTuple):
    """Copies a package from its folder to the root of its copy."""

    base: Path
    root: Path

    def copy_package(self, origin: PackageOrigin) -> None:
        """Copy everything that the hooks need."""
        if not origin.parts and _measure_size(origin.base) > LARGEST:
            raise UsageError(
                f"{origin.base} is larger than {LARGEST >> 20} MiB, too large to copy; most of it is in "
                f"'{_find_largest_part(origin.base)}'. Name what the hooks need with \"copy\" in {CONFIG}"
            )
        self.root.mkdir()
        for part in origin.parts or (origin.base,):
            to = self.root / part.relative_to(self.base)
            to.parent.mkdir(parents=True, exist_ok=True)
            if part.is_dir():
                # A folder that is named explicitly is copied whole, even if skipped by default.
                self.copy_folder(part, to, frozenset() if part.name in SKIPPED_FOLDERS else SKIPPED_FOLDERS)
            else:
                self.copy(part, to)

    def copy(self, source: Path, to: Path, left_out: frozenset[str] = SKIPPED_FOLDERS) -> None:
        """Copy a file, a link or a folder with its content; skip pipes and sockets.

        An unreadable file is copied as unreadable, because hooks see it that way.
        """
        if source.is_symlink():
            to.unlink(missing_ok=True)
            to.symlink_to(self.find_target(source))
        elif source.is_dir():
            self.copy_folder(source, to, left_out)
        elif source.is_file():
            try:
                shutil.copy2(source, to)
            except PermissionError:
                to.touch()
                shutil.copystat(source, to)

    def copy_folder(self, source: Path, to: Path, left_out: frozenset[str]) -> None:
        to.mkdir(exist_ok=True)
        with suppress(PermissionError):
            for entry in sorted(source.iterdir()):
                if entry.name not in left_out:
                    self.copy(entry, to / entry.name, left_out)
        shutil.copystat(source, to)

    def find_target(self, link: Path) -> Path:
        """The target of a copied link: never in the package itself, which a hook could change."""
        target = link.readlink()
        if target.is_absolute() and target.is_relative_to(self.base):
            return self.root / target.relative_to(self.base)
        return target


def _is_below(path: str, folders: Collection[str]) -> bool:
    return path in folders or any(path.startswith(f"{folder}/") for folder in folders)


def _remove(path: Path) -> None:
    """Remove a path with everything below it, even what a hook locked."""
    if path.is_symlink() or not path.is_dir():
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return
    for folder in _folders_below(path):
        with suppress(OSError):
            if folder.lstat().st_mode & OPENED != OPENED:
                folder.chmod(OPENED)
    shutil.rmtree(path, ignore_errors=True)


def _folders_below(path: Path) -> Iterator[Path]:
    yield path
    for folder, inside, _ in os.walk(path):
        yield from (Path(folder, name) for name in inside)


@cache
def _measure_size(folder: Path) -> int:
    """The size of a copy in bytes, counted only up to the limit."""
    total = 0
    for subfolder, inside, files in os.walk(folder):
        inside[:] = set(inside) - SKIPPED_FOLDERS
        for name in files:
            with suppress(OSError):
                total += max(os.lstat(f"{subfolder}/{name}").st_size, BLOCK_BYTES)
        if total > LARGEST:
            break
    return total


def _find_largest_part(base: Path) -> str:
    """The largest entry of a folder; sizes are counted only up to the limit."""
    parts = [path for path in base.iterdir() if path.name not in SKIPPED_FOLDERS and not path.is_symlink()]
    return max(parts, key=lambda path: _measure_size(path) if path.is_dir() else path.stat().st_size).name
