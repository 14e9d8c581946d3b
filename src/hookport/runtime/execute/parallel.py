"""Several lines of work at the same time: commands in one loop, calls of a URL or a model in threads.

A line is a generator: it yields a job and receives the result. Leaving early ends every running command.
"""

from __future__ import annotations

import _thread
import os

from hookport.model.runs import RunResult
from hookport.runtime.execute import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookport.runtime.engine import Work
    from hookport.runtime.handlers import Job


def run(works: Sequence[Work], stop: int = -1) -> None:
    """Run every line to its end; StopRunError once there is something to read from `stop`."""
    try:
        woken, wake = os.pipe()
    except OSError:  # calls that run one after the other need no descriptor of ours
        woken = wake = -1
    lines = _Lines(works, woken, wake, stop)
    try:
        lines.run()
    finally:
        lines.children.close()
        for descriptor in {woken, wake} - {-1}:
            os.close(descriptor)


class _Lines:
    """The running lines, by number."""

    def __init__(self, works: Sequence[Work], woken: int, wake: int, stop: int) -> None:
        self.works, self.woken, self.wake = works, woken, wake
        self.children = process.Children(woken, stop)
        self.running = set(range(len(works)))
        self.called: list[tuple[int, RunResult]] = []

    def run(self) -> None:
        for key in range(len(self.works)):
            self._go_on(key, None)
        while self.running:
            over = self.children.wait()
            while self.called:
                over.append(self.called.pop())
                os.read(self.woken, 1)
            for key, result in over:
                self._go_on(key, result)

    def _go_on(self, key: int, result: RunResult | None) -> None:
        while True:
            try:
                job = self.works[key].send(result)
            except StopIteration:
                self.running.discard(key)
                return
            if job.command:
                self.children.start(key, **job.command)
                return
            if job.call is not None and self.wake >= 0:
                _thread.start_new_thread(self._call, (key, job))
                return
            result = job()

    def _call(self, key: int, job: Job) -> None:
        try:
            result = job()
        except Exception as error:  # noqa: BLE001  (the line of work has to hear of it)
            result = RunResult("not_started", detail=f"{type(error).__name__}: {error}")
        self.called.append((key, result or RunResult("not_started")))
        try:
            os.write(self.wake, b".")
        except OSError:  # nobody waits any more
            return
