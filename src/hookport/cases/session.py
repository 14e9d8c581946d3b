"""One run of many cases: side by side, with results in the order of the files whatever ends first."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hookport.cases import load, snapshots
from hookport.cases.compare import Difference, differences
from hookport.cases.package import origin
from hookport.cases.run import Got, Package, Status, run_case
from hookport.cases.suite import Broken, Case
from hookport.errors import HookportError

# More would only make each slower: what runs are processes of their own.
MOST_JOBS = 16


class Task(NamedTuple):
    """One thing to run: a case, for one agent or for its hook alone; or a file that cannot be run.

    `here` is the folder that paths are told from. It is asked for before anything runs, because the start of
    a process changes it for a moment.
    """

    folder: Path
    entry: Case | Broken
    package: Package | None = None
    agent: str = ""
    here: str = os.sep

    @property
    def name(self) -> str:
        return self.entry.name if isinstance(self.entry, Case) else self.entry.file.name

    def shown(self, path: str | Path) -> str:
        """A path as a person would type it."""
        near = os.path.relpath(path, self.here)
        return str(path) if near.startswith("..") else near

    @property
    def id(self) -> str:
        return f"{self.name}[{self.agent}]" if self.agent else self.name


class Result(NamedTuple):
    """What came of a task; `why` tells why there is nothing to compare."""

    task: Task
    status: Status
    differences: tuple[Difference, ...] = ()
    got: Got | None = None
    why: str = ""
    updated: bool = False


def tasks(folder: Path, env: Mapping[str, str] | None = None) -> list[Task]:
    """Everything that a `tests/` folder asks for, in the order of its files."""
    suite = load.suite(folder)
    where, broken = origin(suite, os.environ if env is None else env)
    here = str(Path.cwd())
    found = [Task(folder, one, here=here) for one in broken]
    package = Package(folder, where, suite.config) if where else None
    for entry in suite.entries:
        if isinstance(entry, Broken):
            found.append(Task(folder, entry, here=here))
        elif package is not None:
            found += [Task(folder, entry, package, agent, here) for agent in entry.agents or ("",)]
    return found


def perform(task: Task, *, update: bool = False) -> Result:
    """Run one task and compare."""
    entry = task.entry
    if isinstance(entry, Broken) or task.package is None:
        return Result(task, "failed")
    try:
        got = run_case(task.package, entry, task.agent)
    except HookportError as error:
        return Result(task, "failed", (Difference("event", str(error)),))
    except OSError as error:
        message = f"the package could not be copied: {error.strerror or error}"
        return Result(task, "failed", (Difference("package", message),))
    if got.reason:
        return Result(task, "not applicable", got=got, why=got.reason)
    found, updated = differences(entry, got), False
    if entry.expected.snapshot and not found:
        found, updated = snapshots.compared(task.folder, entry.expected.snapshot, got, update=update)
    return Result(task, "failed" if found else "passed", tuple(found), got, updated=updated)


def perform_all(
    todo: Iterable[Task], jobs: int = 0, *, update: bool = False, until_failure: bool = False
) -> Iterator[Result]:
    """The results in order, each as soon as those before it are there."""
    listed = list(todo)
    pool = ThreadPoolExecutor(max(1, min(jobs or os.cpu_count() or 1, MOST_JOBS, len(listed) or 1)))
    try:
        futures = [pool.submit(perform, task, update=update) for task in listed]
        for future in futures:
            result = future.result()
            yield result
            if until_failure and result.status == "failed":
                return
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)
        _end_children()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _end_children() -> None:
    """End the hooks that are running: each has a process group of its own, which no interrupt reaches."""
    with suppress(OSError, ValueError):
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False)
        for line in listed.stdout.splitlines():
            pid, parent = map(int, line.split())
            if parent == os.getpid():
                with suppress(OSError):
                    os.killpg(pid, signal.SIGTERM)
