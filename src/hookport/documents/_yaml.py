"""YAML documents by the 1.2 core schema; every node keeps its marks, and tags and bombs are refused."""

from __future__ import annotations

import re
from typing import Any

from hookport.documents._document import (
    MAX_DEPTH,
    TOO_DEEP,
    Document,
    Duplicate,
    Path,
    SyntaxProblem,
    decode,
    find_line_column,
    is_same_tree,
    make_problem,
)
from hookport.documents._yaml_plain import parse_plain

# Nodes and characters that aliases may add to a document.
_ALIAS_BUDGET = 1_000_000
_MAX_DIGITS = 4000

# Compiling the whole set takes milliseconds, so it is done for texts that need it.
_FORBIDDEN_ASCII = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_FORBIDDEN = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\ufeff"
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOL = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INT = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0(?:o[0-7]+|x[0-9a-fA-F]+)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_NAN = frozenset((".nan", ".NaN", ".NAN"))
_TAG = "tag:yaml.org,2002:"


class Node:
    """A value in the text: a scalar, a mapping (`keys` and `items`), a sequence or an alias."""

    __slots__ = ("end", "flow", "height", "items", "keys", "kind", "size", "start", "value")

    def __init__(self, kind: str, start: int, end: int, value: Any, *, flow: bool = False) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.flow = flow
        self.value = value
        self.keys: list[Node] = []
        self.items: list[Node] = []
        self.size = 1
        self.height = int(kind in ("map", "seq"))

    def target(self) -> Node:
        node = self
        while node.kind == "alias":
            node = node.value
        return node

    def tree(self) -> Any:
        """A fresh tree; aliases are copied, so that a change in one place stays there."""
        if self.kind == "map":
            return {key.value: item.tree() for key, item in zip(self.keys, self.items, strict=True)}
        if self.kind == "seq":
            return [item.tree() for item in self.items]
        return self.value.tree() if self.kind == "alias" else self.value


class YamlSource:
    """A YAML text and its node tree; `root` is None when the text holds no value."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._root: Node | None = None
        self._duplicates: list[tuple[Path, int]] = []
        self._plain = parse_plain(text)
        self._composed = False
        if self._plain is None:
            self._compose()

    def _compose(self) -> None:
        if not self._composed:
            self._composed = True
            _Composer(self).compose()

    @property
    def root(self) -> Node | None:
        self._compose()
        return self._root

    @root.setter
    def root(self, node: Node | None) -> None:
        self._root = node

    @property
    def duplicate_keys(self) -> list[tuple[Path, int]]:
        self._compose()
        return self._duplicates

    def add_duplicate(self, duplicate: tuple[Path, int]) -> None:
        self._duplicates.append(duplicate)

    def tree(self) -> Any:
        if self._plain is not None:
            return _copy_tree(self._plain)
        return None if self.root is None else self.root.tree()

    def offset(self, path: Path) -> int:
        if self.root is None:
            return 0
        node, start = self.root, self.root.start
        for step in path:
            node = node.target()
            if isinstance(step, str) and node.kind == "map":
                matches = [i for i, key in zip(node.items, node.keys, strict=True) if key.value == step]
                if not matches:
                    break
                node = matches[-1]
            elif isinstance(step, int) and node.kind == "seq" and 0 <= step < len(node.items):
                node = node.items[step]
            else:
                break
            start = node.start
        return start


def _copy_tree(tree: Any) -> Any:
    return {key: _copy_tree(value) for key, value in tree.items()} if isinstance(tree, dict) else tree


class YamlDocument(Document):
    """A YAML file of one document."""

    def __init__(self, data: bytes, bom: bytes, source: YamlSource) -> None:
        super().__init__("yaml", data, source.tree())
        self._bom = bom
        self._source = source

    @property
    def duplicates(self) -> list[Duplicate]:
        text = self._source.text
        return [Duplicate(p, *find_line_column(text, at)) for p, at in self._source.duplicate_keys]

    def position(self, path: Path) -> tuple[int, int]:
        return find_line_column(self._source.text, self._source.offset(path))

    def rewrite(self, tree: Any) -> bytes:
        if is_same_tree(self._source.tree(), tree):
            return self.data
        from hookport.documents._yaml_edit import rewrite

        return self._bom + rewrite(self._source, tree).encode("utf-8")


def parse(data: bytes) -> Document:
    bom, text = decode(data)
    return YamlDocument(data, bom, YamlSource(text))


def resolve(text: str) -> Any:
    """A plain scalar's value; only the words of the 1.2 core schema are not strings."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.fullmatch(text):
        return float(text)
    infinite = _INFINITE.fullmatch(text)
    if infinite:
        return float(infinite.group(1) + "inf")
    return float("nan") if text in _NAN else text


class _Composer:
    """Builds nodes from parser events without recursion, so that depth can be bounded."""

    def __init__(self, source: YamlSource) -> None:
        self._source = source
        self._text = source.text
        self._anchors: dict[str, Node] = {}
        self._open: list[Node] = []
        self._paths: list[Path] = []
        self._key: Node | None = None
        self._aliased = 0

    def compose(self) -> None:
        pattern = _FORBIDDEN_ASCII if self._text.isascii() else re.compile(_FORBIDDEN)
        forbidden = pattern.search(self._text)
        if forbidden:
            code = ord(forbidden.group())
            raise self._make_problem(forbidden.start(), f"character U+{code:04X} is not allowed in YAML")
        import yaml

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        documents = 0
        try:
            event: Any  # the stubs disagree between releases on whether an event's mark may be missing
            for event in yaml.parse(self._text, Loader=loader):
                name = type(event).__name__
                if name == "DocumentStartEvent":
                    documents += 1
                    if documents > 1:
                        raise self._make_problem(
                            event.start_mark.index, "expected one YAML document, found a second"
                        )
                elif name in ("MappingEndEvent", "SequenceEndEvent"):
                    self._close(event)
                elif name in ("ScalarEvent", "AliasEvent", "MappingStartEvent", "SequenceStartEvent"):
                    self._add(self._make_node(name, event))
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            message = ", ".join(m for m in (error.context, error.problem) if m)
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            raise SyntaxProblem(line, column, message or "not valid YAML") from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise SyntaxProblem(1, 1, f"not valid YAML: {error}") from None

    def _make_problem(self, offset: int, message: str) -> SyntaxProblem:
        return make_problem(self._text, offset, message)

    def _make_node(self, name: str, event: Any) -> Node:
        start, end = event.start_mark.index, event.end_mark.index
        if name == "AliasEvent":
            anchor = self._anchors.get(event.anchor)
            if anchor is None:
                raise self._make_problem(start, f"undefined alias '{event.anchor}'")
            if anchor in self._open:
                raise self._make_problem(start, f"alias '{event.anchor}' contains itself")
            node = Node("alias", start, end, anchor, flow=True)
            node.size, node.height = anchor.size, anchor.height
            self._aliased += anchor.size
            if self._aliased > _ALIAS_BUDGET:
                raise self._make_problem(start, "aliases make this document too large")
            return node
        if name == "ScalarEvent":
            node = self._make_scalar(event, start, end)
        else:
            kind = "map" if name == "MappingStartEvent" else "seq"
            if event.tag not in (None, "!", _TAG + kind):
                raise self._make_problem(start, f"tag '{event.tag}' is not supported")
            node = Node(kind, start, end, None, flow=bool(event.flow_style))
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _make_scalar(self, event: Any, start: int, end: int) -> Node:
        value: Any = event.value
        if event.tag not in (None, "!", _TAG + "str"):
            raise self._make_problem(start, f"tag '{event.tag}' is not supported")
        if not event.style and event.tag is None:
            if len(value) > _MAX_DIGITS and (_INT.fullmatch(value) or _BASED.fullmatch(value)):
                raise self._make_problem(start, "a number has too many digits")
            value = resolve(value)
        if event.style in ("|", ">"):
            end = start + len(self._text[start:end].rstrip(" \t\r\n"))
        node = Node("scalar", start, end, value)
        node.size += len(event.value)
        return node

    def _add(self, node: Node) -> None:
        path: Path = ()
        if self._open:
            parent = self._open[-1]
            if parent.kind == "map" and self._key is None:
                self._take_key(parent, node)
                return
            step: str | int = len(parent.items)
            if self._key is not None:
                step = self._key.value
                parent.keys.append(self._key)
                self._key = None
            parent.items.append(node)
            path = (*self._paths[-1], step)
        else:
            self._source.root = node
        if len(self._open) + node.height > MAX_DEPTH:
            raise self._make_problem(node.start, TOO_DEEP)
        if node.kind in ("map", "seq"):
            self._open.append(node)
            self._paths.append(path)
        else:
            self._measure(node)

    def _take_key(self, parent: Node, node: Node) -> None:
        if node.kind != "scalar" or not isinstance(node.value, str):
            shown = self._text[node.start : node.end]
            if node.kind != "scalar" or not shown or len(shown) > 40:
                raise self._make_problem(node.start, "a key must be a string")
            raise self._make_problem(node.start, f"the key {shown} is not a string; put it in quotes")
        if parent.value is None:
            parent.value = set()
        if node.value in parent.value:
            self._source.add_duplicate(((*self._paths[-1], node.value), node.start))
        parent.value.add(node.value)
        self._key = node

    def _close(self, event: Any) -> None:
        node = self._open.pop()
        self._paths.pop()
        if node.flow:
            node.end = event.end_mark.index
        elif node.items:
            node.end = max(node.items[-1].end, node.keys[-1].end if node.keys else 0)
        node.value = None
        self._measure(node)

    def _measure(self, node: Node) -> None:
        if self._open:
            parent = self._open[-1]
            parent.size += node.size
            parent.height = max(parent.height, node.height + 1)
