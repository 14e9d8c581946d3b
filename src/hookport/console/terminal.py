"""Colours on a terminal, plain text everywhere else, and tables that fit.

Everything that a command prints goes through a `Screen`. It escapes characters that would control a terminal,
or change the order or look of the text. Only hookport's own colours and line clearing pass: they carry a mark
that no text of a hook can know.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

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


_MARK = f"\x1b{os.urandom(8).hex()}:"
# Goes to the start of a line and removes it.
CLEAR = f"{_MARK}K;"
# Unicode 16, DerivedCoreProperties, Default_Ignorable_Code_Point: characters without a width that
# `isprintable` accepts. U+FE0F passes, because it gives an emoji its colours.
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | frozenset(
    map(chr, (*range(0xFE00, 0xFE0F), *range(0xE0100, 0xE01F0)))
)


class Paint:
    """Colours for one stream: none unless it is a terminal and NO_COLOR is not set."""

    def __init__(self, stream: TextIO) -> None:
        self.on = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"

    def __call__(self, text: str, style: str) -> str:
        return f"{_MARK}{_CODES[style]};{text}{_MARK}0;" if self.on and style in _CODES else text


def make_plain(text: str) -> str:
    """Put a text on one line, with escapes for terminal control characters."""
    return _escape(text, kept="")


def make_plain_lines(text: str) -> str:
    """Make a text of several lines plain; tabs stay."""
    return _escape(text, kept="\n\t")


def _escape(text: str, kept: str) -> str:
    """Escape as JSON does, so that JSON stays valid; hookport's colours stay."""
    first, *rest = text.split(_MARK)
    parts = [_escape_controls(first, kept)]
    for part in rest:
        code, after = _split_code(part)
        parts.append(f"{_MARK}{code};{_escape_controls(after, kept)}")
    return "".join(parts)


def _escape_controls(text: str, kept: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        sign if (sign.isprintable() and sign not in _UNSEEN) or sign in kept else _format_escape(sign)
        for sign in text
    )


def _format_escape(sign: str) -> str:
    """Format a character as a JSON escape; one beyond 16 bits is two escapes."""
    data = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at]:02x}{data[at + 1]:02x}" for at in range(0, len(data), 2))


def takes_utf8(stream: TextIO) -> bool:
    """Whether a stream encodes every character; ASCII and Windows-1252 do not."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig", "cp65001")


def _make_encodable(text: str, encoding: str) -> str:
    """Escape each character that the encoding lacks."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(sign if sign.encode(encoding, "ignore") else _format_escape(sign) for sign in text)
    return text


class Screen:
    """A stream that escapes terminal control characters, except hookport's own colours."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._encoding = None if takes_utf8(stream) else getattr(stream, "encoding", None)

    def write(self, text: str) -> int:
        """Write a text, escaped."""
        first, *rest = make_plain_lines(text).split(_MARK)
        shown = first
        for part in rest:
            code, after = _split_code(part)
            shown += ("\r\x1b[K" if code == "K" else f"\x1b[{code}m") + after
        self._stream.write(_make_encodable(shown, self._encoding) if self._encoding else shown)
        return len(text)

    def writelines(self, texts: Iterable[str]) -> None:
        """Write several texts."""
        for text in texts:
            self.write(text)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (whatever the stream has)
        return getattr(self._stream, name)


def _split_code(part: str) -> tuple[str, str]:
    """Split what follows a mark into the code and the text behind it."""
    code = next(code for code in (*_CODES.values(), "0", "K") if part.startswith(f"{code};"))
    return code, part.removeprefix(f"{code};")


@contextmanager
def screen_output() -> Iterator[None]:
    """Print through a screen."""
    out, err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = cast("TextIO", Screen(out)), cast("TextIO", Screen(err))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


def format_table(
    rows: list[tuple[str, ...]], paint: Paint | None = None, styles: dict[str, str] | None = None
) -> str:
    """Format rows in columns, the first as the head; a cell whose text is in `styles` gets that colour."""
    rows = [tuple(make_plain(cell) for cell in row) for row in rows]
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


def format_markdown(rows: list[tuple[str, ...]]) -> str:
    """Format rows as a Markdown table."""
    lines = ["| " + " | ".join(make_plain(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines) + "\n"
