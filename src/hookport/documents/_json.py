"""JSON and JSONC documents; a rewrite splices only the changed members."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from hookport.documents._align import align, anchor_additions
from hookport.documents._document import (
    MAX_DEPTH,
    TOO_DEEP,
    Document,
    Duplicate,
    Path,
    RewriteFailed,
    SyntaxProblem,
    check_new,
    decode,
    detect_newline,
    find_line_column,
    find_out_of_bounds,
    is_same_tree,
    make_problem,
)
from hookport.documents._layout import JSON, Frame, Layout

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TRIVIA = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*.*?\*/)*+", re.DOTALL)
_STRUCTURE = re.compile(_STRING + r"|//[^\r\n]*+|/\*.*?\*/|[\[\]{}]", re.DOTALL)
_STRING_TOKEN = re.compile(_STRING, re.DOTALL)
_SCALAR = re.compile(_STRING + r"|[-+.\w]+", re.DOTALL)
# Unfinished strings and comments run to the end of the text, which keeps these scans linear.
_OPEN_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_COMMENT = re.compile(_OPEN_STRING + r"|//[^\r\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(_OPEN_STRING + r"|[\[{,:][ \t\r\n]*+,|,(?=[ \t\r\n]*+[\]}])", re.DOTALL)
_INDENTED_LINE = re.compile(r"[\r\n]([ \t]+)[^\s/*]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NON_FINITE = re.compile(_STRING + r"|-?Infinity|NaN", re.DOTALL)


class Member(NamedTuple):
    """A member of an object or an item of an array; `start` is its key's start, if it has one."""

    key: str | None
    start: int
    value: int
    end: int
    comma: int


class JsonSource:
    """The places of the values in a valid text, found on demand."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends: dict[int, int] | None = None
        self._members: dict[int, list[Member]] = {}

    def root(self) -> int:
        return self._skip(0)

    def end(self, start: int) -> int:
        if self.text[start] not in "[{":
            match = _SCALAR.match(self.text, start)
            return match.end() if match else start
        if self._ends is None:
            self._ends = {}
            opened: list[int] = []
            for match in _STRUCTURE.finditer(self.text):
                char = match.group()
                if char in "[{":
                    opened.append(match.start())
                elif char in "]}":
                    self._ends[opened.pop()] = match.end()
        return self._ends[start]

    def members(self, start: int) -> list[Member]:
        members = self._members.get(start)
        if members is None:
            members = self._members[start] = self._scan(start)
        return members

    def _scan(self, start: int) -> list[Member]:
        text, members = self.text, []
        keyed = text[start] == "{"
        at = self._skip(start + 1)
        while text[at] not in "]}":
            first, key = at, None
            if keyed:
                token = _STRING_TOKEN.match(text, at)
                at = token.end() if token else at
                key = json.loads(text[first:at])
                at = self._skip(self._skip(at) + 1)
            end = self.end(at)
            comma = self._skip(end)
            has_comma = text[comma] == ","
            members.append(Member(key, first, at, end, comma if has_comma else -1))
            at = self._skip(comma + 1) if has_comma else comma
        return members

    def _skip(self, at: int) -> int:
        match = _TRIVIA.match(self.text, at)
        return match.end() if match else at


class JsonDocument(Document):
    """A JSON or JSONC file."""

    def __init__(self, kind: str, data: bytes, bom: bytes, text: str, loaded: _Loaded) -> None:
        super().__init__(kind, data, loaded.tree)
        self._bom = bom
        self._source = JsonSource(text)
        self._has_duplicates = loaded.has_duplicates

    @property
    def duplicates(self) -> list[Duplicate]:
        places: list[tuple[int, Path]] = []
        if self._has_duplicates:
            source = self._source
            todo: list[tuple[int, Path]] = [(source.root(), ())]
            while todo:
                start, path = todo.pop()
                if source.text[start] not in "[{":
                    continue
                keys = set()
                for index, member in enumerate(source.members(start)):
                    step = index if member.key is None else member.key
                    if step in keys:
                        places.append((member.start, (*path, step)))
                    keys.add(step)
                    todo.append((member.value, (*path, step)))
        return [
            Duplicate(path, *find_line_column(self._source.text, start)) for start, path in sorted(places)
        ]

    def position(self, path: Path) -> tuple[int, int]:
        source = self._source
        at = source.root()
        for step in path:
            if source.text[at] != ("{" if isinstance(step, str) else "["):
                break
            members = source.members(at)
            if isinstance(step, int):
                if not 0 <= step < len(members):
                    break
                at = members[step].value
            else:
                matching = [member.value for member in members if member.key == step]
                if not matching:
                    break
                at = matching[-1]
        return find_line_column(source.text, at)

    def rewrite(self, tree: Any) -> bytes:
        old = _load(self._source.text, self.kind).tree
        if is_same_tree(old, tree):
            return self.data
        check_new(tree)
        text = _JsonEditor(self._source).document(old, tree)
        if not is_same_tree(_load(text, self.kind).tree, tree):
            raise RewriteFailed("the edited JSON does not read back as the intended tree")
        return self._bom + text.encode("utf-8")


class _Loaded(NamedTuple):
    tree: Any
    has_duplicates: bool


def parse(data: bytes, kind: str) -> Document:
    bom, text = decode(data)
    return JsonDocument(kind, data, bom, text, _load(text, kind))


def dump(tree: Any) -> bytes:
    check_new(tree)
    return (_render(tree, indent="  ") + "\n").encode("utf-8")


def _load(text: str, kind: str) -> _Loaded:
    loaded = _try_load(text)
    if loaded is None and kind == "jsonc":
        loaded = _try_load(_COMMA.sub(_blank_comma, _COMMENT.sub(_blank_comment, text)))
    if loaded is None:
        from hookport.documents._json_errors import explain

        raise explain(text, allow_comments=kind == "jsonc")
    if text.count("[") + text.count("{") > MAX_DEPTH and find_out_of_bounds(loaded.tree):
        raise _find_too_deep(text)
    return loaded


def _try_load(text: str) -> _Loaded | None:
    has_duplicates = False

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_duplicates
        result = dict(pairs)
        has_duplicates = has_duplicates or len(result) != len(pairs)
        return result

    try:
        tree = json.loads(text, object_pairs_hook=members, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return _Loaded(tree, has_duplicates)


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _blank_comment(match: re.Match[str]) -> str:
    token = match.group()
    if token[0] == '"':
        return token
    unfinished = token[1] == "*" and (len(token) < 4 or not token.endswith("*/"))
    return token if unfinished else " "


def _blank_comma(match: re.Match[str]) -> str:
    return " " if match.group() == "," else match.group()


def _find_too_deep(text: str) -> SyntaxProblem:
    depth = 0
    for match in _STRUCTURE.finditer(text):
        if match.group() in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return make_problem(text, match.start(), TOO_DEEP)
        elif match.group() in "]}":
            depth -= 1
    return make_problem(text, 0, "a number has too many digits")


def _render(value: Any, indent: str | None, *, compact: bool = False) -> str:
    separators = (",", ":") if compact else (("," if indent is not None else ", "), ": ")
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    except ValueError:
        text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
        text = _NON_FINITE.sub(_spell_finite, text)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _spell_finite(match: re.Match[str]) -> str:
    if match.group() == "NaN":
        raise ValueError("JSON cannot hold NaN")
    # JSON has no infinity, but a number beyond the range of a double reads back as one.
    return {"Infinity": "1e999", "-Infinity": "-1e999"}.get(match.group(), match.group())


class _JsonEditor:
    """Builds the new text of one document from the old one and two trees."""

    def __init__(self, source: JsonSource) -> None:
        self._source = source
        self._text = source.text
        self._newline = detect_newline(source.text)
        indented = _INDENTED_LINE.search(source.text)
        self._unit = indented.group(1) if indented else "  "
        body = source.text.strip()
        self._compact = len(body) > 2 and not re.search(r"[ \t\r\n]", _STRING_TOKEN.sub("", body))

    def document(self, old: Any, new: Any) -> str:
        start = self._source.root()
        end = self._source.end(start)
        return self._text[:start] + self._write_value(old, new, start, "", wide=True) + self._text[end:]

    def _write_value(self, old: Any, new: Any, start: int, base: str, *, wide: bool) -> str:
        if not is_same_tree(old, new):
            if isinstance(old, dict) and isinstance(new, dict):
                return self._write_object(old, new, start, base, wide=wide)
            if isinstance(old, list) and isinstance(new, list):
                return self._write_array(old, new, start, base, wide=wide)
            return self._write_fresh(new, base, wide=wide)
        return self._text[start : self._source.end(start)]

    def _write_fresh(self, value: Any, base: str, *, wide: bool) -> str:
        text = _render(value, self._unit if wide else None, compact=self._compact and not wide)
        return text.replace("\n", self._newline + base)

    def _make_layout(self, start: int, base: str, *, wide: bool) -> Layout:
        frame = Frame(
            JSON, self._newline, self._unit, base, "" if self._compact else " ", wide_when_empty=wide
        )
        end = self._source.end(start) - 1
        return Layout(self._text, start + 1, end, self._source.members(start), frame)

    def _write_object(
        self, old: dict[str, Any], new: dict[str, Any], start: int, base: str, *, wide: bool
    ) -> str:
        members = self._source.members(start)
        layout = self._make_layout(start, base, wide=wide)
        last = {member.key: at for at, member in enumerate(members) if member.key is not None}
        after = anchor_additions(last, new)
        plan: list[tuple[int | None, str]] = []
        for at in range(-1, len(members)):
            if at >= 0 and members[at].key in new:
                member = members[at]
                key = str(member.key)
                body = self._text[member.start : member.end]
                if last[key] == at:
                    body = self._text[member.start : member.value] + self._write_value(
                        old[key], new[key], member.value, layout.find_base(at), wide=layout.wide
                    )
                plan.append((at, body))
            plan += [(None, self._write_member(key, new[key], layout)) for key in after.get(at, ())]
        return "{" + layout.join(plan) + "}"

    def _write_member(self, key: str, value: Any, layout: Layout) -> str:
        colon = ":" if self._compact and not layout.wide else ": "
        return _render(key, None) + colon + self._write_fresh(value, layout.indent, wide=layout.wide)

    def _write_array(self, old: list[Any], new: list[Any], start: int, base: str, *, wide: bool) -> str:
        members = self._source.members(start)
        layout = self._make_layout(start, base, wide=wide)
        plan: list[tuple[int | None, str]] = []
        for i, j in align(old, new):
            if j is None:
                continue
            if i is None:
                plan.append((None, self._write_fresh(new[j], layout.indent, wide=layout.wide)))
            else:
                plan.append(
                    (
                        i,
                        self._write_value(
                            old[i], new[j], members[i].value, layout.find_base(i), wide=layout.wide
                        ),
                    )
                )
        return "[" + layout.join(plan) + "]"
