"""Tables and sentences laid out for the width of a terminal: nothing is cut, and no line is wider."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from hookport.console.terminal import Paint, Rows, mark_style, paint_cell, split_styles

if TYPE_CHECKING:
    from rich.segment import Segment

GAP = 2
# A column keeps at least its longest word, up to the second number, or as much of its text as the first.
LEAST, LONGEST_WORD = 16, 24
CODE = "code"
# `rich` 15 counts an emoji modifier, a skin tone, as no column. Unicode 16's EastAsianWidth.txt and a
# terminal that does not join it to the emoji before it give it two, so a wide character stands in for it
# while lines are made. No text has one of these: they are not assigned, and a `Paint` escapes them.
_STAND_INS = {0x1F3FB + number: 0x2FFF9 + number for number in range(5)}
_STOOD_FOR = {stand_in: sign for sign, stand_in in _STAND_INS.items()}


def fold(text: str, paint: Paint, hang: int) -> str:
    """Break a line between words to fit the terminal, and inside a word only where nothing else fits."""
    line = read_painted(text, paint)
    if line.cell_len <= paint.width:
        return text
    console = _make_console(paint.width)
    first = line.wrap(console, paint.width, overflow="fold")[0]
    rest = line[len(first.plain) :]
    rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
    hang = min(hang, paint.width // 2)
    lines = [first, *rest.wrap(console, paint.width - hang, overflow="fold")]
    return f"\n{'':{hang}}".join(_draw(part, paint.width) for part in lines)


def format_table(
    rows: Rows, paint: Paint, styles: Mapping[str, str], indent: int, spare: Sequence[str]
) -> str:
    """Format rows in columns that fit, or as records where the columns would be too narrow to read."""
    cells = [
        [read_painted(paint_cell(cell, number, styles.get(cell, ""), paint), paint) for cell in row]
        for number, row in enumerate(rows)
    ]
    room = paint.width - indent
    for count in range(len(spare) + 1):
        kept = [at for at, head in enumerate(rows[0]) if head not in spare[:count]]
        shown = [[row[at] for at in kept] for row in cells]
        if sum(map(_find_least, zip(*shown, strict=True))) + GAP * (len(kept) - 1) <= room:
            return _indent(_draw(_make_table(shown), room), indent) + _name_spare(spare[:count], paint)
    return "".join(_format_record(rows[0], row, paint, indent) for row in cells[1:])


def _name_spare(columns: Sequence[str], paint: Paint) -> str:
    """Name the columns that are left out, if any."""
    if not columns:
        return ""
    line = f"left out for lack of space: {', '.join(columns)}. A wider terminal or a pipe has all columns."
    return f"{paint.fold(paint(line, 'note'), GAP)}\n"


def format_columns(cells: Sequence[str], widths: Sequence[int], paint: Paint) -> str:
    """Format a row whose cells have these widths, the last one what is left."""
    table = Table(box=None, show_header=False, padding=(0, GAP, 0, 0), pad_edge=False)
    for width in widths:
        table.add_column(overflow="fold", width=width)
    table.add_column(overflow="fold")
    table.add_row(*(read_painted(cell, paint) for cell in cells))
    return f"{_draw(table, paint.width)}\n"


def format_grid(rows: Rows, paint: Paint, styles: Mapping[str, str], heads: int) -> str:
    """Format rows in columns where they fit; else for each row and word the columns that have it."""
    widths = [
        max(read_painted(cell, paint).cell_len for cell in column) for column in zip(*rows, strict=True)
    ]
    if sum(widths) + GAP * (len(widths) - 1) <= paint.width:
        return format_table(rows, paint, styles, 0, ())
    columns = [" ".join(filter(None, column)) for column in zip(*rows[:heads], strict=True)]
    listed = paint.fold(paint(f"in {', '.join(columns[1:])}", "note"), GAP)
    grouped = [[rows[0][0], "", ""]]
    for name, *words in rows[heads:]:
        grouped += [
            ["" if number else name, word, ", ".join(same) if len(same) < len(words) else f"all {len(same)}"]
            for number, (word, same) in enumerate(_group_columns(words, rows[0][1:]).items())
        ]
    return f"{format_table(grouped, paint, styles, 0, ())}{listed}\n"


def _group_columns(words: Sequence[str], columns: Sequence[str]) -> dict[str, list[str]]:
    """Group the columns of a row by what stands in them."""
    groups: dict[str, list[str]] = {}
    for word, column in zip(words, columns, strict=True):
        if word:
            groups.setdefault(word, []).append(column)
    return groups


def draw_line(renderable: RenderableType, paint: Paint) -> str:
    """Draw something as one line; one that filled the terminal would move the cursor to the next."""
    console = _make_console(paint.width - 1, paint.encoding)
    return _mark_segments(console.render_lines(renderable, pad=False)[0])


def _format_record(heads: Sequence[str], cells: Sequence[Text], paint: Paint, indent: int) -> str:
    """Format a row as its first cell with a line for every other one that is not empty."""
    room = paint.width - indent
    title = read_painted(paint(cells[0].plain.translate(_STOOD_FOR), "bold"), paint)
    pairs = [
        [read_painted(paint(head, "note"), paint), cell]
        for head, cell in zip(heads[1:], cells[1:], strict=True)
        if cell.plain
    ]
    table = _indent(_draw(_make_table(pairs, is_record=True), room - GAP), indent + GAP) if pairs else ""
    return (_indent(_draw(title, room), indent) if title.plain else "") + table


def _make_table(cells: Iterable[Sequence[Text]], *, is_record: bool = False) -> Table:
    """Make a table in which a column that has its least width anyway is not folded, but for a record."""
    rows = [list(row) for row in cells]
    table = Table(box=None, show_header=False, padding=(0, GAP, 0, 0), pad_edge=False)
    for column in zip(*rows, strict=True):
        is_whole = _find_least(column) >= max(cell.cell_len for cell in column)
        table.add_column(overflow="fold", no_wrap=is_whole and not is_record)
    for row in rows:
        table.add_row(*row)
    return table


def _find_least(column: Sequence[Text]) -> int:
    """Find the least width in which a column can be read."""
    widest = max(cell.cell_len for cell in column)
    word = max((cell_len(word) for cell in column for word in cell.plain.split()), default=0)
    return min(widest, max(LEAST, word if word <= LONGEST_WORD else 0))


def _draw(renderable: RenderableType, width: int) -> str:
    """Draw something as painted lines of at most this width."""
    lines = _make_console(width).render_lines(renderable, pad=False)
    return "\n".join(map(_mark_segments, lines))


def _mark_segments(line: list[Segment]) -> str:
    """Paint a line, without the blanks at its end."""
    while line and not line[-1].text.strip():
        line.pop()
    texts = [*(part.text for part in line[:-1]), *(part.text.rstrip() for part in line[-1:])]
    return "".join(
        mark_style(text.translate(_STOOD_FOR), _read_code(part.style))
        for text, part in zip(texts, line, strict=True)
    )


def _indent(text: str, indent: int) -> str:
    return "".join(f"{'':{indent}}{line}".rstrip() + "\n" for line in text.split("\n"))


class _Nowhere(io.StringIO):
    """Where nothing is written, in the encoding of the terminal."""

    encoding = "utf-8"


@cache
def _make_console(width: int, encoding: str = "") -> Console:
    """Make a console that only measures and wraps; what it makes goes through a `Screen` like everything."""
    nowhere = _Nowhere()
    nowhere.encoding = encoding or "utf-8"
    return Console(file=nowhere, width=width, height=25, color_system=None, legacy_windows=False, _environ={})


@cache
def _make_style(code: str) -> Style:
    """Make a style that carries the code of a colour through the layout."""
    return Style.from_meta({CODE: code})


def _read_code(style: Style | None) -> str:
    return str(style.meta.get(CODE, "")) if style else ""


def read_painted(text: str, paint: Paint) -> Text:
    """Read a painted text."""
    line = Text(overflow="fold", end="")
    for piece, code in split_styles(text):
        line.append(paint.make_shown(piece).translate(_STAND_INS), _make_style(code) if code else None)
    return line
