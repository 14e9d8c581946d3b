"""Edits of TOML text by statement; a result that does not read back as the intended tree is withheld."""

from __future__ import annotations

import re
from typing import Any

from hookport.documents._align import align, anchor_additions
from hookport.documents._document import (
    Path,
    RewriteFailed,
    SyntaxProblem,
    check_new,
    detect_newline,
    is_same_tree,
)
from hookport.documents._layout import HASH, Frame, Layout
from hookport.documents._splice import Splices
from hookport.documents._toml import Index, Section, Value, load
from hookport.documents._toml_dump import dump, dump_inline, dump_sections, is_section
from hookport.documents._toml_dump import dump_key as key_text

_BLANK_LINES = re.compile(r"(?:[ \t]*+(?:\r\n|\n|\r))*+")
_WHOLE_LINE = re.compile(r"[^\n]*\n")
_LINE_START = re.compile(r"^(?=.)", re.MULTILINE)
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
# The order at one offset: values of the section above, then tables after it, then the next section's.
_VALUES, _AFTER, _BEFORE = range(3)
_INDENT = re.compile(r"[ \t]*+")


def rewrite(index: Index, old: dict[str, Any], new: Any) -> str:
    """Edit the text so that its tree becomes `new`."""
    check_new(new)
    if not isinstance(new, dict):
        raise ValueError("the root of a TOML document must be a table")
    if not index.places.keys() - {()}:
        text = index.text
        if text and not text.endswith("\n"):
            text += detect_newline(text)
        return text + dump(new).decode("utf-8").replace("\n", detect_newline(text))
    for attempt in (_TomlEditor.splice, _TomlEditor.rewrite_by_key):
        try:
            text = attempt(_TomlEditor(index), old, new)
            if is_same_tree(load(text), new):
                return text
        except SyntaxProblem:
            pass
    raise RewriteFailed("the edited TOML does not read back as the intended tree")


class _TomlEditor:
    """One attempt at an edit."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._text = index.text
        self._newline = detect_newline(index.text)
        self._splices = Splices()
        self._entries = {e.path: e for section in index.sections for e in section.entries}

    def splice(self, old: dict[str, Any], new: dict[str, Any]) -> str:
        self._change_table((), old, new)
        return self._splices.apply(self._text)

    def rewrite_by_key(self, old: dict[str, Any], new: dict[str, Any]) -> str:
        changed = [k for k in old if k not in new or not is_same_tree(old[k], new[k])]
        self._remove([(key,) for key in changed])
        self._add((), {k: v for k, v in new.items() if k in changed or k not in old})
        return self._splices.apply(self._text)

    def _convert_newlines(self, text: str) -> str:
        return text.replace("\n", self._newline)

    def _change_table(self, path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
        added = {key: value for key, value in new.items() if key not in old}
        gone: list[Path] = []
        for key, value in old.items():
            if key not in new:
                gone.append((*path, key))
            elif not is_same_tree(value, new[key]) and not self._change((*path, key), value, new[key]):
                gone.append((*path, key))
                added[key] = new[key]
        self._remove(gone)
        if added:
            self._add(path, added)

    def _change(self, path: Path, old: Any, new: Any) -> bool:
        """Splice a change in place; False if the value must be rewritten elsewhere."""
        entry = self._entries.get(path)
        if entry is not None:
            match = _INDENT.match(self._text, entry.line_start)
            base = match.group() if match else ""
            value = entry.value
            self._splices.replace(value.start, value.end, self._write_inline(value, old, new, base))
            return True
        if isinstance(old, dict) and isinstance(new, dict):
            if not any(key in old for key in new) and path not in self._index.tables:
                return False
            self._change_table(path, old, new)
            return True
        if isinstance(old, list) and isinstance(new, list) and is_section(new):
            pairs = align(old, new)
            if any(i is not None and j is not None for i, j in pairs):
                self._change_tables(path, old, new, pairs)
                return True
        return False

    def _change_tables(
        self, path: Path, old: list[Any], new: list[Any], pairs: list[tuple[int | None, int | None]]
    ) -> None:
        anchor: int | None = None
        self._remove([(*path, i) for i, j in pairs if i is not None and j is None])
        for i, j in pairs:
            if i is None and j is not None:
                text = dump_sections(_list_names(path), [new[j]])
                if anchor is None:
                    at = self._find_comment_block(self._find_under((*path, 0))[0].start)
                    self._splices.insert(at, self._convert_newlines(text[1:] + "\n"), _BEFORE)
                else:
                    self._append(self._find_under((*path, anchor))[-1].end, text, _AFTER)
            elif i is not None and j is not None:
                anchor = i
                if not is_same_tree(old[i], new[j]):
                    self._change_table((*path, i), old[i], new[j])

    def _find_under(self, path: Path) -> list[Section]:
        depth = len(path)
        return [s for s in self._index.sections if s.path[:depth] == path]

    def _remove(self, paths: list[Path]) -> None:
        """Remove the values at or below some paths; neighbours go together, with the lines between them."""
        run: list[Section] = []
        for section in self._index.sections:
            if any(section.path[: len(path)] == path for path in paths):
                run.append(section)
                continue
            self._cut_sections(run)
            run = []
            for entry in section.entries:
                if any(entry.path[: len(path)] == path for path in paths):
                    self._splices.cut(entry.line_start, entry.line_end)
        self._cut_sections(run)

    def _cut_sections(self, run: list[Section]) -> None:
        """Cut neighbouring sections, with the comments between them but not those around them."""
        if not run:
            return
        start, end = run[0].start, run[-1].end
        blank = _BLANK_LINES.match(self._text, end)
        after = blank.end() if blank else end
        above = len(self._text[:start].rstrip(" \t\r\n"))
        breaks = [match.end() for match in _LINE_BREAK.finditer(self._text, above, start)]
        if after == len(self._text) and breaks:
            start, end = breaks[0], after
        elif len(breaks) > 1 or not above:
            end = after
        self._splices.cut(start, end)

    def _add(self, path: Path, added: dict[str, Any]) -> None:
        values = {key: value for key, value in added.items() if not is_section(value)}
        tables = {key: value for key, value in added.items() if is_section(value)}
        own_sections = [s for s in self._index.sections if s.path == path]
        dotted = self._find_dotted(path)
        if not own_sections and dotted is not None:
            prefix = _list_names(path[len(dotted.path) :])
            lines = "".join(
                ".".join(map(key_text, (*prefix, k))) + f" = {dump_inline(v)}\n" for k, v in added.items()
            )
            entries = [e for e in dotted.entries if e.path[: len(path)] == path]
            self._append(entries[-1].line_end, self._indent_lines(lines, entries[-1].line_start), _VALUES)
            return
        if values:
            lines = "".join(f"{key_text(k)} = {dump_inline(v)}\n" for k, v in values.items())
            if own_sections:
                self._add_values(own_sections[0], lines)
            else:
                name = ".".join(map(key_text, _list_names(path)))
                header = self._find_comment_block(self._find_under(path)[0].start)
                self._splices.insert(header, self._convert_newlines(f"[{name}]\n{lines}\n"), _BEFORE)
        under = self._find_under(path)
        for key, value in tables.items():
            end = under[-1].end if path else len(self._text)
            self._append(end, dump_sections((*_list_names(path), key), value), _AFTER)

    def _find_dotted(self, path: Path) -> Section | None:
        depth = len(path)
        for section in reversed(self._index.sections):
            if len(section.path) < depth and any(e.path[:depth] == path for e in section.entries):
                return section
        return None

    def _add_values(self, section: Section, lines: str) -> None:
        if section.entries:
            last = section.entries[-1]
            self._append(last.line_end, self._indent_lines(lines, last.line_start), _VALUES)
        elif section.path or len(self._index.sections) == 1:
            end = section.end if section.path else len(self._text)
            self._append(end, lines, _VALUES)
        else:
            at = self._find_comment_block(self._index.sections[1].start)
            self._splices.insert(at, self._convert_newlines(lines + "\n"), _VALUES)

    def _find_comment_block(self, header: int) -> int:
        """Where the comment lines directly above a header begin."""
        above = _WHOLE_LINE.findall(self._text, 0, header)
        while above and above[-1].lstrip(" \t").startswith("#"):
            header -= len(above.pop())
        return header

    def _indent_lines(self, lines: str, line_start: int) -> str:
        match = _INDENT.match(self._text, line_start)
        return _LINE_START.sub(match.group() if match else "", lines)

    def _append(self, at: int, text: str, rank: int) -> None:
        if at and self._text[at - 1] not in "\r\n":
            text = "\n" + text
            if at == len(self._text):
                text = text.removesuffix("\n")
        self._splices.insert(at, self._convert_newlines(text), rank)

    def _write_inline(self, value: Value, old: Any, new: Any, base: str) -> str:
        if is_same_tree(old, new):
            return self._text[value.start : value.end]
        keyed = isinstance(old, dict) and isinstance(new, dict)
        listed = isinstance(old, list) and isinstance(new, list)
        items = value.items
        if items is None or not (keyed or listed) or any(len(i.keys) > 1 for i in items):
            return dump_inline(new)
        frame = Frame(HASH, self._newline, "    ", base, " ", wide_when_empty=False)
        layout = Layout(self._text, value.start + 1, value.end - 1, items, frame)
        plan: list[tuple[int | None, str]] = []
        if listed:
            for i, j in align(old, new):
                if j is not None and i is None:
                    plan.append((None, dump_inline(new[j])))
                elif j is not None and i is not None:
                    inner = self._write_inline(items[i].value, old[i], new[j], layout.find_base(i))
                    plan.append((i, inner))
            return "[" + layout.join(plan) + "]"
        last = {item.keys[0]: at for at, item in enumerate(items)}
        after = anchor_additions(last, new)
        for at in range(-1, len(items)):
            if at >= 0 and items[at].keys[0] in new:
                item, key = items[at], items[at].keys[0]
                inner = self._write_inline(item.value, old[key], new[key], base)
                plan.append((at, self._text[item.start : item.value.start] + inner))
            plan += [(None, f"{key_text(key)} = {dump_inline(new[key])}") for key in after.get(at, ())]
        return "{" + layout.join(plan) + "}"


def _list_names(path: Path) -> tuple[str, ...]:
    return tuple(step for step in path if isinstance(step, str))
