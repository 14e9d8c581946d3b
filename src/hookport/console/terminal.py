"""Colours and lines that fit where a person looks, plain text everywhere else.

On a terminal, tables and sentences are laid out for its width by `hookport.console.drawn`, which needs
`rich`; a vendored bridge has neither and prints plain lines there too. Elsewhere a record is one whole line,
with two spaces between columns, whatever COLUMNS says, so that other programs can rely on it.

Everything that a command prints goes through a `Screen`. It escapes characters that would control a terminal,
or change the order or look of the text. Only hookport's own colours and line clearing pass: they carry a mark
that no text of a hook can know.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO, cast

Rows = Sequence[Sequence[str]]
NO_STYLES: Mapping[str, str] = {}
# The width of a terminal that does not give one, and the least that anything is laid out for.
USUAL_WIDTH, LEAST_WIDTH = 80, 20

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


# Characters of our own texts, for an encoding that lacks them.
_ASCII = {"…": "...", "●": "*", "–": "-", "→": "->", "×": "x", "’": "'"}


def wants_colour(stream: TextIO, env: Mapping[str, str]) -> bool:
    """Whether a stream gets colours.

    NO_COLOR takes them everywhere, FORCE_COLOR and CLICOLOR_FORCE give them everywhere (0 takes or ignores,
    as Node.js and BSD tools have it); otherwise a terminal gets them unless CLICOLOR is 0 or TERM is dumb.
    """
    forced = env.get("FORCE_COLOR", "").lower()
    if env.get("NO_COLOR") or forced in ("0", "false"):
        return False
    if forced or env.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return stream.isatty() and env.get("CLICOLOR") != "0" and env.get("TERM") != "dumb"


def find_width(stream: TextIO, env: Mapping[str, str]) -> int:
    """Find how many columns a terminal has; 0 for what is no terminal."""
    if not stream.isatty():
        return 0
    columns = env.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return max(int(columns), LEAST_WIDTH)
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        width = 0
    return max(width or USUAL_WIDTH, LEAST_WIDTH)


class Paint:
    """Colours and width of one stream; a width of 0 is that of a file or a pipe, which has none."""

    def __init__(self, stream: TextIO) -> None:
        self.on = wants_colour(stream, os.environ)
        self.width = find_width(stream, os.environ)
        self.encoding = find_narrow_encoding(stream)

    def __call__(self, text: str, style: str) -> str:
        return f"{_MARK}{_CODES[style]};{text}{_MARK}0;" if self.on and style in _CODES else text

    def fold(self, text: str, hang: int = 0) -> str:
        """Break a line that is wider than the terminal; what follows stands `hang` columns to the right."""
        if len(text) <= self.width and text.isascii():
            return text
        return drawing.fold(text, self, hang) if self.width and (drawing := _load_drawing()) else text

    def make_shown(self, text: str) -> str:
        """Make a text as the stream shows it, on one line, so that its width can be measured."""
        text = make_plain(text)
        return _make_encodable(text, self.encoding) if self.encoding else text


def _load_drawing() -> Any:  # noqa: ANN401  (a module)
    """Load what lays text out for a terminal; None where it or `rich` is not installed."""
    try:
        from hookport.console.drawn import layout
    except ImportError:
        return None
    return layout


def split_styles(text: str) -> Iterator[tuple[str, str]]:
    """Split a painted text into pieces with the code of each, empty for none."""
    first, *rest = text.split(_MARK)
    yield first, ""
    for part in rest:
        code, after = _split_code(part)
        yield after, "" if code == "0" else code


def mark_style(text: str, code: str) -> str:
    """Paint a text with a code that `split_styles` gave."""
    return f"{_MARK}{code};{text}{_MARK}0;" if code else text


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
    letters = text
    for sign in kept:
        letters = letters.replace(sign, "")
    if letters.isprintable() and (letters.isascii() or _UNSEEN.isdisjoint(letters)):
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


def find_narrow_encoding(stream: TextIO) -> str:
    """Find the encoding of a stream that lacks characters; empty for UTF-8."""
    return "" if takes_utf8(stream) else str(getattr(stream, "encoding", "") or "")


def _make_encodable(text: str, encoding: str) -> str:
    """Spell each character that the encoding lacks in ASCII, or escape it."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(
            sign if sign.encode(encoding, "ignore") else _ASCII.get(sign) or _format_escape(sign)
            for sign in text
        )
    return text


class Screen:
    """A stream that escapes terminal control characters, except hookport's own colours."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._encoding = find_narrow_encoding(stream)

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
    """Print through a screen; a stream that the caller closed is `/dev/null`."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    out, err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = cast("TextIO", Screen(out)), cast("TextIO", Screen(err))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


def format_table(
    rows: Rows,
    paint: Paint | None = None,
    styles: Mapping[str, str] = NO_STYLES,
    *,
    indent: int = 0,
    spare: Sequence[str] = (),
) -> str:
    """Format rows in columns, the first as the head; a cell whose text is in `styles` gets that colour.

    On a terminal cells are folded to fit. Where it is too narrow, `spare` columns are left out, with a line
    that says so, and if that is not enough, rows become records below each other.
    """
    if paint and paint.width and (drawing := _load_drawing()):
        return str(drawing.format_table(rows, paint, styles, indent, spare))
    rows = [[make_plain(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        cells = []
        for cell, width in zip(row, widths, strict=True):
            padded = f"{cell:{width}}"
            cells.append(paint_cell(padded, number, styles.get(cell, ""), paint) if paint else padded)
        lines.append(f"{'':{indent}}{'  '.join(cells)}".rstrip())
    return "\n".join(lines) + "\n"


def paint_cell(text: str, number: int, style: str, paint: Paint) -> str:
    """Paint a cell of a table's row with this number."""
    return paint(text, "bold" if number == 0 else style)


def format_columns(cells: Sequence[str], widths: Sequence[int], paint: Paint) -> str:
    """Format one row of a table that is still to be continued; the last cell has no width.

    On a terminal a cell is folded in its column; elsewhere a longer one moves those behind it.
    """
    if paint.width and (drawing := _load_drawing()):
        return str(drawing.format_columns(cells, widths, paint))
    padded = [
        cell + " " * (width - (_count_shown(cell) if paint.on else len(cell)))
        for cell, width in zip(cells, widths, strict=False)
    ]
    return "  ".join([*padded, cells[-1]]).rstrip() + "\n"


def _count_shown(cell: str) -> int:
    return sum(len(piece) for piece, _ in split_styles(cell))


def format_grid(rows: Rows, paint: Paint, styles: Mapping[str, str] = NO_STYLES, heads: int = 1) -> str:
    """Format what each column, such as an agent, has in each row; the first rows are `heads` of columns.

    On a terminal that is too narrow, columns that have the same in a row share a line.
    """
    if paint.width and (drawing := _load_drawing()):
        return str(drawing.format_grid(rows, paint, styles, heads))
    return format_table(rows, paint, styles)


def format_markdown(rows: Rows) -> str:
    """Format rows as a Markdown table."""
    lines = ["| " + " | ".join(make_plain(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines) + "\n"
