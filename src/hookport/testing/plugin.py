"""The pytest plugin: collects cases of hooks in pytest's folders, and touches nothing else.

pytest loads this in every project where hookport is installed, so it imports nothing of ours before it
finds a file of ours.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookport.testing.bench import CopyPool
    from hookport.testing.session import Task, TaskResult

# The folder of each kind of file, below or in `tests/`.
FOLDERS = {".yaml": "cases", ".yml": "cases", ".json": "fixtures"}
CONFIG = "test-config.json"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file of a suite that is a case or has a problem."""
    folder = file_path.parent
    if file_path.name != CONFIG:
        if FOLDERS.get(file_path.suffix) != folder.name:
            return None
        folder = folder.parent
    if folder.name != "tests" or not _list_tasks(folder):
        return None
    return CaseFile.from_parent(parent, path=file_path)


@cache
def _open_pool() -> CopyPool:
    """The copies of packages, shared by all cases of a session."""
    from hookport.testing.bench import CopyPool

    pool = CopyPool()
    atexit.register(pool.close)
    return pool


@cache
def _list_tasks(folder: Path) -> tuple[Task, ...]:
    """List the tasks of a `tests/` folder; empty if it does not test hooks."""
    from hookport.testing import find

    if not find.is_suite(folder):
        return ()
    from hookport.errors import HookportError
    from hookport.testing import session

    try:
        tasks = session.list_tasks(folder)
    except HookportError:
        return ()
    has_hooks = any(task.package for task in tasks) or any(
        (folder.parent / name).is_file() for name in find.HOOK_FILES
    )
    return tuple(tasks) if has_hooks else ()


class CaseFile(pytest.File):
    """One file of a suite."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the cases of the file, one item for each agent; or one item with its problems."""
        folder = self.path.parent if self.path.name == CONFIG else self.path.parent.parent
        for task in _list_tasks(folder):
            if _is_shown_with(task, self.path):
                yield CaseItem.from_parent(self, name=task.id, task=task)


def _is_shown_with(task: Task, path: Path) -> bool:
    """Whether a task appears under this file; the hooks' problems appear under the first case."""
    if task.entry.file == path:
        return True
    first = next((path for path in sorted(path.parent.glob("*.yaml"))), None)
    is_elsewhere = task.entry.file.parent.name not in FOLDERS.values() and task.entry.file.name != CONFIG
    return is_elsewhere and path == first


class FailedCase(Exception):  # noqa: N818  (pytest shows it as a failure, not as an error of ours)
    """A case that did not pass."""

    def __init__(self, result: TaskResult) -> None:
        super().__init__(result.task.id)
        self.result = result


class CaseItem(pytest.Item):
    """One case, for its hook alone or for one agent."""

    def __init__(self, *, task: Task, **named: object) -> None:
        super().__init__(**named)  # type: ignore[arg-type]
        self.task = task

    def runtest(self) -> None:
        """Run the case and compare."""
        from hookport.testing.session import perform

        result = perform(self.task, _open_pool())
        if result.status == "not applicable":
            pytest.skip(f"{self.task.agent}: {result.why}" if self.task.agent else result.why)
        if result.status == "failed":
            raise FailedCase(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_style: object) -> str:
        """Format the failure like `hookport test`."""
        if not isinstance(excinfo.value, FailedCase):
            return str(super().repr_failure(excinfo))
        from hookport.testing import report

        return "\n".join(report.explain(excinfo.value.result))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The place of the case."""
        return self.path, None, self.name
