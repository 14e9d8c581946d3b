"""Colours where a person looks, plain text everywhere else, and tables that fit."""

from __future__ import annotations

import os
from typing import TextIO

_CODES = {
    "error": "31;1",
    "loss": "33",
    "note": "2",
    "kept": "32",
    "changed": "33",
    "stricter": "35",
    "dropped": "31;1",
    "bold": "1",
}


class Paint:
    """Colours for one stream: none unless it is a terminal and NO_COLOR is not set."""

    def __init__(self, stream: TextIO) -> None:
        self.on = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.on and style in _CODES else text


def plain(text: str) -> str:
    """A text in which what would steer the terminal is shown as an escape."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def table(
    rows: list[tuple[str, ...]], paint: Paint | None = None, styles: dict[str, str] | None = None
) -> str:
    """Rows in columns, the first being the head; a cell whose text is in `styles` is painted so."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        cells = []
        for cell, width in zip(row, widths, strict=True):
            padded = f"{cell:{width}}"
            if paint and number == 0:
                padded = paint(padded, "bold")
            elif paint and styles and cell in styles:
                padded = paint(padded, styles[cell])
            cells.append(padded)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def markdown(rows: list[tuple[str, ...]]) -> str:
    """Rows as a Markdown table."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines) + "\n"
