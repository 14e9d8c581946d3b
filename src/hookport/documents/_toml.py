"""TOML documents; a statement-level index has the position of every value."""

from __future__ import annotations

import re
from typing import Any

from hookport.documents._document import (
    TOO_DEEP,
    Document,
    Path,
    SyntaxProblem,
    decode,
    find_line_column,
    find_out_of_bounds,
    is_same_tree,
    make_problem,
)

_STRING = (
    r'"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}'
    r"|'''(?:[^']|'(?!''))*+'{3,5}"
    r'|"(?:[^"\\\r\n]|\\.)*+"'
    r"|'[^'\r\n]*+'"
)
_SCALAR = re.compile(_STRING + r"|\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]*|[^\s,\]}#]+", re.DOTALL)
_TRIVIA = re.compile(r"(?:[ \t\r\n]++|#[^\r\n]*+)*+")
_KEY_PART = re.compile(r"[A-Za-z0-9_-]+|" + r'"(?:[^"\\\r\n]|\\.)*+"' + r"|'[^'\r\n]*+'")
_DOT = re.compile(r"[ \t]*+\.[ \t]*+")
_SPACE = re.compile(r"[ \t]*+")
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\n|\r|\Z)")
# tomllib takes quadratic time for the parts of one dotted key.
_ENDLESS_KEY = re.compile(
    r"^[ \t\[{]*+(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){1000}", re.MULTILINE | re.ASCII
)
_PLACE = re.compile(r"(.*?) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)


class Value:
    """A value to the right of `=`: its span and, for arrays and inline tables, its members."""

    __slots__ = ("end", "items", "start")

    def __init__(self, start: int, end: int, items: list[Item] | None) -> None:
        self.start = start
        self.end = end
        self.items = items


class Item:
    """A member of an array or inline table; `keys` is empty in an array."""

    __slots__ = ("comma", "end", "keys", "start", "value")

    def __init__(self, keys: tuple[str, ...], start: int, value: Value, comma: int) -> None:
        self.keys = keys
        self.start = start
        self.end = value.end
        self.comma = comma
        self.value = value


class Entry:
    """One `key = value` statement and the lines it takes."""

    __slots__ = ("line_end", "line_start", "path", "section", "start", "value")

    def __init__(self, path: Path, start: int, value: Value, section: Section) -> None:
        self.path = path
        self.start = start
        self.value = value
        self.section = section
        self.line_start = start
        self.line_end = value.end


class Section:
    """A header, or the top of the file, with the statements below it; `end` follows the last one."""

    __slots__ = ("end", "entries", "path", "start")

    def __init__(self, path: Path, start: int, end: int) -> None:
        self.path = path
        self.start = start
        self.end = end
        self.entries: list[Entry] = []


class Index:
    """Every statement of a valid text, with the path it defines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sections = [Section((), 0, 0)]
        self.tables: set[Path] = set()
        self.places: dict[Path, int] = {(): 0}
        self._counts: dict[Path, int] = {}
        self._at = 0
        self._scan()

    def _scan(self) -> None:
        text = self.text
        while True:
            self._skip()
            if self._at >= len(text):
                return
            start = self._at
            if text[start] == "[":
                self._read_header(start)
                continue
            section = self.sections[-1]
            keys = self._read_keys()
            self._at += 1
            self._skip_spaces()
            value = self._read_value()
            entry = Entry(section.path + keys, start, value, section)
            entry.line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
            entry.line_end = section.end = self._find_line_end(value.end)
            section.entries.append(entry)
            self._add_place(entry.path, start)
            self._add_value_places(entry.path, value)

    def _read_header(self, start: int) -> None:
        repeated = self.text.startswith("[[", start)
        self._at = start + (2 if repeated else 1)
        self._skip_spaces()
        keys = self._read_keys()
        path: Path = ()
        for key in keys[:-1]:
            path = self._find_current((*path, key))
        path = (*path, keys[-1])
        if repeated:
            self._counts[path] = self._counts.get(path, -1) + 1
            path = (*path, self._counts[path])
        line_start = max(self.text.rfind("\n", 0, start), self.text.rfind("\r", 0, start)) + 1
        self._at = self._find_line_end(self._at)
        self.sections.append(Section(path, line_start, self._at))
        self.tables.add(path)
        self._add_place(path, start)
        self.places[path] = start

    def _find_current(self, path: Path) -> Path:
        return (*path, self._counts[path]) if path in self._counts else path

    def _add_place(self, path: Path, start: int) -> None:
        for length in range(1, len(path) + 1):
            self.places.setdefault(path[:length], start)

    def _add_value_places(self, path: Path, value: Value) -> None:
        self.places[path] = value.start
        for at, item in enumerate(value.items or ()):
            inner = path + (item.keys or (at,))
            self._add_place(inner, item.start)
            self._add_value_places(inner, item.value)

    def _skip(self) -> None:
        match = _TRIVIA.match(self.text, self._at)
        self._at = match.end() if match else self._at

    def _skip_spaces(self) -> None:
        match = _SPACE.match(self.text, self._at)
        self._at = match.end() if match else self._at

    def _find_line_end(self, at: int) -> int:
        match = _LINE.match(self.text, at)
        return match.end() if match else at

    def _read_keys(self) -> tuple[str, ...]:
        keys: list[str] = []
        while True:
            match = _KEY_PART.match(self.text, self._at)
            if match is None:
                raise AssertionError(f"no key at offset {self._at}")
            keys.append(_parse_key_name(match.group()))
            dot = _DOT.match(self.text, match.end())
            if dot is None:
                self._at = match.end()
                self._skip_spaces()
                return tuple(keys)
            self._at = dot.end()

    def _read_value(self) -> Value:
        text, start = self.text, self._at
        if text[start] not in "[{":
            match = _SCALAR.match(text, start)
            self._at = match.end() if match else start
            return Value(start, self._at, None)
        keyed = text[start] == "{"
        items: list[Item] = []
        self._at += 1
        self._skip()
        while text[self._at] not in "]}":
            first = self._at
            keys: tuple[str, ...] = ()
            if keyed:
                keys = self._read_keys()
                self._at += 1
                self._skip_spaces()
            value = self._read_value()
            self._skip()
            has_comma = text[self._at] == ","
            items.append(Item(keys, first, value, self._at if has_comma else -1))
            self._at += has_comma
            self._skip()
        self._at += 1
        return Value(start, self._at, items)


class TomlDocument(Document):
    """A TOML file."""

    def __init__(self, data: bytes, bom: bytes, text: str, tree: Any) -> None:
        super().__init__("toml", data, tree)
        self._bom = bom
        self._text = text
        self._index: Index | None = None

    def _indexed(self) -> Index:
        if self._index is None:
            self._index = Index(self._text)
        return self._index

    def position(self, path: Path) -> tuple[int, int]:
        places = self._indexed().places
        while path not in places:
            path = path[:-1]
        return find_line_column(self._text, places[path])

    def rewrite(self, tree: Any) -> bytes:
        old = load(self._text)
        if is_same_tree(old, tree):
            return self.data
        from hookport.documents._toml_edit import rewrite

        return self._bom + rewrite(self._indexed(), old, tree).encode("utf-8")


def parse(data: bytes) -> Document:
    bom, text = decode(data)
    return TomlDocument(data, bom, text, load(text))


def load(text: str) -> Any:
    """The tree of a text; raises SyntaxProblem."""
    endless = _ENDLESS_KEY.search(text)
    if endless:
        raise make_problem(text, endless.start(), TOO_DEEP)
    import tomllib

    try:
        tree = tomllib.loads(text)
    except RecursionError:
        raise SyntaxProblem(1, 1, TOO_DEEP) from None
    except ValueError as error:
        raise _locate_problem(text, str(error)) from None
    reason = find_out_of_bounds(tree)
    if reason:
        raise SyntaxProblem(1, 1, reason)
    return tree


def _locate_problem(text: str, message: str) -> SyntaxProblem:
    match = _PLACE.fullmatch(message)
    if match is None:
        return SyntaxProblem(1, 1, message[:1].lower() + message[1:])
    message = match.group(1)[:1].lower() + match.group(1)[1:]
    if match.group(2):
        return SyntaxProblem(int(match.group(2)), int(match.group(3)), message)
    return SyntaxProblem(*find_line_column(text, len(text)), message)


def _parse_key_name(token: str) -> str:
    if token[0] not in "\"'":
        return token
    import tomllib

    return str(tomllib.loads("k = " + token)["k"])
