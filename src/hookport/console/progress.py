"""What a command is doing, for a person who waits: a line on stderr after a second, gone at the end.

It is drawn on a terminal only, never where TERM is dumb, and by a thread of its own, so that it moves while
one long step runs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from hookport.console.terminal import CLEAR, Paint

if TYPE_CHECKING:
    from threading import Thread

Item = TypeVar("Item")
PATIENCE_SECONDS, PERIOD_SECONDS = 1.0, 0.1


class Progress:
    """How far a command is; a `total` of 0 is unknown."""

    def __init__(self, what: str, total: int = 0) -> None:
        self.what, self.total, self.done, self.text = what, total, 0, ""
        self.is_shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        if self.is_shown:
            self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def show(self, text: str, done: int | None = None, total: int | None = None) -> None:
        """Show what is done now, after `done` of `total` steps."""
        self.text = text
        self.done = self.done if done is None else done
        self.total = self.total if total is None else total

    def count(self, items: Sequence[Item]) -> Iterator[Item]:
        """Yield items and count them."""
        self.total = len(items)
        for number, item in enumerate(items):
            self.show(str(item), number)
            yield item

    @contextmanager
    def cleared(self) -> Iterator[None]:
        """Take the line away while something is printed."""
        if self._thread is None:
            yield
            return
        with self._lock:
            self._clear()
            yield
            sys.stdout.flush()

    def end(self) -> None:
        """Take the line away for good."""
        if self._thread is not None:
            self._over.set()
            self._thread.join()
            self._thread = None
            self._clear()

    def _begin(self) -> None:
        from threading import Event, RLock, Thread

        self._lock, self._over, self._is_drawn = RLock(), Event(), False
        self._thread = Thread(target=self._draw, daemon=True)
        self._thread.start()

    def _clear(self) -> None:
        if self._is_drawn:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()
            self._is_drawn = False

    def _draw(self) -> None:
        if self._over.wait(PATIENCE_SECONDS):
            return
        try:
            from hookport.console.drawn.bar import Bar
        except ImportError:
            return
        bar = Bar(self.what, Paint(sys.stderr), time.monotonic() - PATIENCE_SECONDS)
        while True:
            line = bar.draw(self.text, self.done, self.total)
            with self._lock:
                sys.stderr.write(f"{CLEAR}{line}")
                sys.stderr.flush()
                self._is_drawn = True
            if self._over.wait(PERIOD_SECONDS):
                return
