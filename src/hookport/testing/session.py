"""One run of many cases in parallel, with results in the order of the files, whatever ends first."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from hookport.errors import HookportError
from hookport.testing import load, snapshots
from hookport.testing.bench import Bench, CopyPool
from hookport.testing.compare import Difference, find_differences
from hookport.testing.package import find_origin
from hookport.testing.run import CaseRun, Package, Status, run_case
from hookport.testing.suite import BrokenFile, Case

# More would only slow each down: cases run as separate processes.
MOST_JOBS = 16
# The number of tasks after which a copy of a package is checked for their writes.
LOT = 32


class Task(NamedTuple):
    """One task: a case, for one agent or for its hook alone; or a file that cannot be run.

    `here` is the folder that paths are relative to. It is read before anything runs, because starting a
    process changes the working directory for a moment.
    """

    folder: Path
    entry: Case | BrokenFile
    package: Package | None = None
    agent: str = ""
    here: str = os.sep

    @property
    def name(self) -> str:
        return self.entry.name if isinstance(self.entry, Case) else self.entry.file.name

    def show_path(self, path: str | Path) -> str:
        """Format a path as a person types it."""
        near = os.path.relpath(path, self.here)
        return str(path) if near.startswith("..") else near

    @property
    def id(self) -> str:
        return f"{self.name}[{self.agent}]" if self.agent else self.name


class TaskResult(NamedTuple):
    """The result of a task; `why` is the reason if there is nothing to compare."""

    task: Task
    status: Status
    differences: tuple[Difference, ...] = ()
    got: CaseRun | None = None
    why: str = ""
    updated: bool = False


def list_tasks(folder: Path, env: Mapping[str, str] | None = None) -> list[Task]:
    """List the tasks of a `tests/` folder, in the order of its files."""
    suite = load.load_suite(folder)
    hooks_origin, broken = find_origin(suite, os.environ if env is None else env)
    cwd = str(Path.cwd())
    listed = [Task(folder, entry, here=cwd) for entry in broken]
    package = Package(folder, hooks_origin, suite.config) if hooks_origin else None
    for entry in suite.entries:
        if isinstance(entry, BrokenFile):
            listed.append(Task(folder, entry, here=cwd))
        elif package is not None:
            listed += [Task(folder, entry, package, agent, cwd) for agent in entry.agents or ("",)]
    return listed


def perform(task: Task, copies: CopyPool, *, update: bool = False) -> TaskResult:
    """Run one task and compare."""
    return perform_lot([task], copies, update=update)[0]


def perform_lot(lot: Sequence[Task], copies: CopyPool, *, update: bool = False) -> list[TaskResult]:
    """Run tasks of one package and compare."""
    package = lot[0].package
    if package is None:
        return [TaskResult(task, "failed") for task in lot]
    runs = [partial(_run_task, task) for task in lot]
    try:
        outcomes = copies.run_apart(package.origin, package.config.env, runs)
    except HookportError as error:
        return [TaskResult(task, "failed", (Difference("event", str(error)),)) for task in lot]
    except OSError as error:
        message = f"the package could not be copied: {error.strerror or error}"
        return [TaskResult(task, "failed", (Difference("package", message),)) for task in lot]
    return [_compare(task, got, update=update) for task, got in zip(lot, outcomes, strict=True)]


def _run_task(task: Task, bench: Bench) -> CaseRun | Difference:
    assert task.package is not None  # noqa: S101  (a broken file is not run)
    assert isinstance(task.entry, Case)  # noqa: S101
    try:
        return run_case(bench, task.package, task.entry, task.agent)
    except HookportError as error:
        return Difference("event", str(error))


def _compare(task: Task, got: CaseRun | Difference, *, update: bool) -> TaskResult:
    entry = task.entry
    if isinstance(got, Difference) or isinstance(entry, BrokenFile):
        return TaskResult(task, "failed", (got,) if isinstance(got, Difference) else ())
    if got.reason:
        return TaskResult(task, "not applicable", got=got, why=got.reason)
    differing, updated = find_differences(entry, got), False
    if entry.expected.snapshot and not differing:
        differing, updated = snapshots.compare_snapshot(
            task.folder, entry.expected.snapshot, got, update=update
        )
    return TaskResult(task, "failed" if differing else "passed", tuple(differing), got, updated=updated)


def perform_all(
    todo: Iterable[Task], jobs: int = 0, *, update: bool = False, until_failure: bool = False
) -> Iterator[TaskResult]:
    """Yield the results in order, each as soon as the earlier ones are complete."""
    listed = list(todo)
    workers = max(1, min(jobs or os.cpu_count() or 1, MOST_JOBS, len(listed) or 1))
    pool = ThreadPoolExecutor(workers, initializer=leave_interrupts)
    with CopyPool() as copies:
        try:
            lots = _divide(listed, workers)
            futures = [pool.submit(perform_lot, lot, copies, update=update) for lot in lots]
            for result in chain.from_iterable(future.result() for future in futures):
                yield result
                if until_failure and result.status == "failed":
                    return
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            copies.close()
            _end_children()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _divide(todo: Sequence[Task], workers: int) -> list[list[Task]]:
    """Group the tasks by package, in enough groups for every worker."""
    most = max(1, min(LOT, -(-len(todo) // workers)))
    lots: list[list[Task]] = []
    for task in todo:
        last = lots[-1] if lots else []
        if last and last[0].package == task.package and len(last) < most:
            last.append(task)
        else:
            lots.append([task])
    return lots


def leave_interrupts() -> None:
    """Leave an interrupt to the main thread: in another thread it would not wake the main thread."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _end_children() -> None:
    """End the running hooks: each has its own process group, which no interrupt reaches."""
    with suppress(OSError, ValueError):
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False)
        for line in listed.stdout.splitlines():
            pid, parent = map(int, line.split())
            if parent == os.getpid():
                with suppress(OSError):
                    os.killpg(pid, signal.SIGTERM)
