"""The line of a progress: what is done, a bar and a count where the end is known, and the seconds so far."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from hookport.console.drawn.layout import draw_line, read_painted
from hookport.console.terminal import Paint

if TYPE_CHECKING:
    from rich.console import RenderableType

BAR_WIDTH = 20


class Bar:
    """A line that moves, at most as wide as the terminal."""

    def __init__(self, what: str, paint: Paint, begun: float) -> None:
        self.what, self.paint, self.begun = what, paint, begun
        self.spinner = Spinner("line" if paint.encoding else "dots")

    def draw(self, text: str, done: int, total: int) -> str:
        """Draw the current line."""
        now = time.monotonic()
        columns: list[RenderableType] = [self.spinner.render(now), read_painted(self.what, self.paint)]
        if total:
            columns += [ProgressBar(total, done, width=BAR_WIDTH), Text(f"{done}/{total}")]
        columns += [Text(f"{now - self.begun:.0f} s"), read_painted(text, self.paint)]
        grid = Table.grid(padding=(0, 1, 0, 0))
        for _ in columns[:-1]:
            grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")  # the first line of it is shown
        grid.add_row(*columns)
        return draw_line(grid, self.paint)
