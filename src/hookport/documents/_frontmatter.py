"""Markdown that opens with YAML between two `---` lines; an edit of one part leaves the other untouched."""

from __future__ import annotations

import re
from typing import Any

from hookport.documents import _yaml
from hookport.documents._document import (
    Document,
    Duplicate,
    Path,
    RewriteFailed,
    SyntaxProblem,
    decode,
    detect_newline,
    find_line_column,
    is_same_tree,
    make_problem,
)

_OPEN = re.compile(r"---[ \t]*(?:\r\n|\n|\r)")
_CLOSE = re.compile(r"(?:(?<=\n)|(?<=\r)(?!\n))---[ \t]*(?:\r\n|\n|\r|\Z)")


# In double quotes YAML has these escapes and no other. A backslash before another character is meant
# literally: the examples of the HOOK.md specification write patterns such as "\\.py$" this way.
_QUOTED = re.compile(r'(?<=: )"(?:[^"\\\r\n]|\\[^\r\n])*"')
_WRONG_ESCAPE = re.compile(r"""(\\[0abtnvfre "/\\N_LPxuU\t])|\\(.)""")


def _find_wrong_escapes(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [
        find_line_column(text, quoted.start() + match.start())
        for quoted in _QUOTED.finditer(text, start, end)
        for match in _WRONG_ESCAPE.finditer(quoted[0])
        if match[2]
    ]


def _repair_escapes(text: str) -> str:
    """Add a backslash before each backslash that YAML would refuse."""
    return _QUOTED.sub(lambda quoted: _WRONG_ESCAPE.sub(lambda e: e[1] or f"\\\\{e[2]}", quoted[0]), text)


class FrontmatterDocument(Document):
    """A Markdown file with frontmatter; its tree has the keys `frontmatter` and `body`."""

    def __init__(self, data: bytes, bom: bytes, text: str, opened: int, closed: re.Match[str]) -> None:
        inner = text[opened : closed.start()]
        self.repairs = _find_wrong_escapes(text, opened, closed.start())
        try:
            self._source = _yaml.YamlSource(_repair_escapes(inner) if self.repairs else inner)
        except SyntaxProblem as error:
            raise SyntaxProblem(*self._undo_repairs(error.line + 1, error.column), error.message) from None
        metadata = self._source.tree()
        if metadata is not None and not isinstance(metadata, dict):
            raise make_problem(text, opened, "the frontmatter must be a mapping of keys to values")
        self._bom = bom
        self._text = text
        self._opened = opened
        self._closed = closed
        super().__init__("frontmatter", data, self._content())

    def _content(self) -> dict[str, Any]:
        return {
            "frontmatter": self._source.tree() or {},
            "body": self._text[self._closed.end() :],
        }

    @property
    def duplicates(self) -> list[Duplicate]:
        return [
            Duplicate(("frontmatter", *path), *self._place(at)) for path, at in self._source.duplicate_keys
        ]

    def position(self, path: Path) -> tuple[int, int]:
        if not path or path[0] not in ("frontmatter", "body"):
            return 1, 1
        if path[0] == "body":
            return find_line_column(self._text, self._closed.end())
        return self._place(self._source.offset(path[1:]))

    def _place(self, offset: int) -> tuple[int, int]:
        line, column = find_line_column(self._source.text, offset)
        return self._undo_repairs(line + 1, column)

    def _undo_repairs(self, line: int, column: int) -> tuple[int, int]:
        """Map a place in the repaired text, with its added backslashes, to its place in the file."""
        repaired = [at for number, at in self.repairs if number == line]
        return line, column - sum(at + before < column for before, at in enumerate(repaired))

    def rewrite(self, tree: Any) -> bytes:
        content = self._content()
        if is_same_tree(content, tree):
            return self.data
        metadata, body = _split_tree(tree)
        inner = self._text[self._opened : self._closed.start()]
        closing = self._closed.group()
        newline = detect_newline(self._text)
        if not is_same_tree(content["frontmatter"], metadata):
            from hookport.documents._yaml_edit import rewrite

            inner = rewrite(self._source, metadata)
            if inner and not inner.endswith(("\n", "\r")):
                inner += newline
        if body and not closing.endswith(("\n", "\r")):
            closing += newline
        text = self._text[: self._opened] + inner + closing + body
        result = self._bom + text.encode("utf-8")
        if not is_same_tree(parse(result).tree, tree):
            raise RewriteFailed("the edited frontmatter does not read back as the intended tree")
        return result


def parse(data: bytes) -> Document:
    bom, text = decode(data)
    opened = _OPEN.match(text)
    if opened is None:
        raise SyntaxProblem(1, 1, "expected frontmatter: the first line must be '---'")
    closed = _CLOSE.search(text, opened.end())
    if closed is None:
        raise SyntaxProblem(1, 1, "the frontmatter has no closing '---' line")
    return FrontmatterDocument(data, bom, text, opened.end(), closed)


def dump(tree: Any) -> bytes:
    from hookport.documents._yaml_dump import dump as dump_yaml

    metadata, body = _split_tree(tree)
    inner = dump_yaml(metadata) if metadata else b""
    return b"---\n" + inner + b"---\n" + body.encode("utf-8")


def _split_tree(tree: Any) -> tuple[dict[str, Any], str]:
    if not isinstance(tree, dict) or set(tree) != {"frontmatter", "body"}:
        raise ValueError("a frontmatter document has the keys 'frontmatter' and 'body'")
    metadata, body = tree["frontmatter"], tree["body"]
    if not isinstance(metadata, dict) or not isinstance(body, str):
        raise ValueError("'frontmatter' must be a mapping and 'body' a string")
    return metadata, body
