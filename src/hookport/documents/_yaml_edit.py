"""Edits of YAML text; a value that cannot be spliced is rewritten, as small as possible."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookport.documents._align import align, anchor_additions
from hookport.documents._document import (
    MAX_DEPTH,
    RewriteFailed,
    SyntaxProblem,
    check_new,
    detect_newline,
    is_same_tree,
)
from hookport.documents._layout import HASH, Frame, Layout
from hookport.documents._splice import Splices
from hookport.documents._yaml import Node, YamlSource
from hookport.documents._yaml_dump import dump_after_key, dump_block, dump_flow, dump_scalar

_TRIVIA = re.compile(r"(?:[ \t\r\n]++|(?<![^ \t\r\n])#[^\r\n]*+)*+")
_COLON = re.compile(r"[ \t]*+:")
_LINE_REST = re.compile(r"[^\r\n]*")
_LINE_BREAK = re.compile(r"\r\n|\n|\r")


class _TooIntricateError(Exception):
    """The marks do not show enough of the text for a splice."""


class Slot(NamedTuple):
    """The position of a value: after a key's colon, after a dash, at the root, or in flow style."""

    kind: str
    after: int
    column: int


class Pair(NamedTuple):
    """A member of a flow collection."""

    start: int
    end: int
    comma: int


def rewrite(source: YamlSource, tree: Any) -> str:
    """Edit the text so that its value becomes `tree`."""
    check_new(tree)
    deepest = 0 if source.root is None else min(source.root.height, 8)
    for level in (MAX_DEPTH, *range(deepest, -1, -1)):
        try:
            text = _YamlEditor(source, level).document(tree)
            if is_same_tree(YamlSource(text).tree(), tree):
                return text
        except (_TooIntricateError, SyntaxProblem):
            pass
    newline = detect_newline(source.text)
    text = (dump_block(tree, 0, 2) + "\n").replace("\n", newline)
    try:
        if is_same_tree(YamlSource(text).tree(), tree):
            return text
    except SyntaxProblem:
        pass
    raise RewriteFailed("the edited YAML does not read back as the intended tree")


class _YamlEditor:
    """One attempt; containers at `level` and below are rewritten instead of spliced."""

    def __init__(self, source: YamlSource, level: int) -> None:
        self._source = source
        self._text = source.text
        self._level = level
        self._splices = Splices()
        self._newline = detect_newline(source.text)
        self._has_returns = "\r" in source.text
        self._unit, self._offset = self._measure_indentation()

    def document(self, new: Any) -> str:
        root = self._source.root
        if root is None or (root.start == root.end):
            text = self._text
            if text and not text.endswith(("\n", "\r")):
                text += self._newline
            return text + self._convert_newlines(dump_block(new, 0, self._unit)) + self._newline
        self._change_value(root, new, Slot("root", root.start, 0), 0)
        return self._splices.apply(self._text)

    def _convert_newlines(self, text: str) -> str:
        return text.replace("\n", self._newline)

    def _find_column(self, at: int) -> int:
        start = self._text.rfind("\n", 0, at)
        if self._has_returns:
            start = max(start, self._text.rfind("\r", 0, at))
        return at - start - 1

    def _find_line_start(self, at: int) -> int:
        return at - self._find_column(at)

    def _find_line_end(self, at: int) -> int:
        match = _LINE_REST.match(self._text, at)
        return match.end() if match else at

    def _find_next_line(self, at: int) -> int:
        end = self._find_line_end(at)
        match = _LINE_BREAK.match(self._text, end)
        return match.end() if match else end

    def _starts_line(self, at: int) -> bool:
        return not self._text[self._find_line_start(at) : at].strip(" ")

    def _measure_indentation(self) -> tuple[int, int]:
        unit = offset = -1
        for parent in _list_nodes(self._source.root):
            if parent.kind != "map" or parent.flow or not parent.keys:
                continue
            column = self._find_column(parent.keys[0].start)
            for item in parent.items:
                if item.flow or not item.items or not self._starts_line(item.start):
                    continue
                deeper = self._find_column(item.start) - column
                if item.kind == "map" and unit < 0 and deeper > 0:
                    unit = deeper
                elif item.kind == "seq" and offset < 0 <= deeper:
                    offset = deeper
            if unit >= 0 and offset >= 0:
                break
        unit = unit if unit > 0 else 2
        return unit, offset if offset >= 0 else unit

    def _change_value(self, node: Node, new: Any, slot: Slot, depth: int) -> None:
        if is_same_tree(node.tree(), new):
            return
        if node.flow and node.kind != "alias" and isinstance(new, (dict, list)):
            indent = " " * (self._find_column(self._find_text_start(node.start)))
            self._splices.replace(node.start, node.end, self._write_flow(node, new, indent, depth))
        elif depth >= self._level or not new:
            self._put(node, new, slot)
        elif node.kind == "map" and isinstance(new, dict):
            self._change_mapping(node, new, slot, depth)
        elif node.kind == "seq" and isinstance(new, list):
            self._change_sequence(node, new, slot, depth)
        else:
            self._put(node, new, slot)

    def _find_text_start(self, at: int) -> int:
        start = self._find_line_start(at)
        return start + len(self._text[start:at]) - len(self._text[start:at].lstrip(" "))

    def _put(self, node: Node, new: Any, slot: Slot) -> None:
        is_block = isinstance(new, (dict, list)) and bool(new)
        if slot.kind == "root":
            text = dump_block(new, 0, self._unit, sequence_offset=self._offset)
            lead = self._text[self._find_line_start(node.start) : node.start]
            if is_block and lead.strip():
                text = "\n" + text
            self._splices.replace(node.start, node.end, self._convert_newlines(text))
            return
        if slot.kind == "dash":
            text = " " + dump_block(new, slot.column, self._unit, sequence_offset=self._offset)
        else:
            text = dump_after_key(new, slot.column, self._unit, self._offset)
        at = end = max(node.end, slot.after)
        if node.start < node.end:
            at = slot.after
            gap = self._text[at : node.start]
            if gap and not is_block and not gap.strip(" "):  # what aligns the value stays
                at, text = node.start, text.removeprefix(" ")
        elif is_block and slot.kind == "key":
            at = end = self._find_line_end(end)
        self._splices.replace(at, end, self._convert_newlines(text))

    def _change_mapping(self, node: Node, new: dict[str, Any], slot: Slot, depth: int) -> None:
        last = {key.value: at for at, key in enumerate(node.keys)}
        if not any(key in last for key in new):
            self._put(node, new, slot)
            return
        if self._text[node.start] in "&!":
            raise _TooIntricateError
        column = self._find_column(node.keys[0].start)
        spans: list[tuple[int, int]] = []
        for at, (key, item) in enumerate(zip(node.keys, node.items, strict=True)):
            colon = _COLON.match(self._text, key.end)
            if colon is None:
                raise _TooIntricateError
            spans.append((key.start, max(item.end, colon.end())))
            if last[key.value] == at and key.value in new:
                inner = Slot("key", colon.end(), column)
                self._change_value(item, new[key.value], inner, depth + 1)
        kept = [key.value in new for key in node.keys]
        fresh = {
            at: [
                f"{dump_scalar(key)}:{dump_after_key(new[key], column, self._unit, self._offset)}"
                for key in keys
            ]
            for at, keys in anchor_additions(last, new).items()
        }
        self._change_members(spans, kept, fresh, column)

    def _change_sequence(self, node: Node, new: list[Any], slot: Slot, depth: int) -> None:
        dashes = self._find_dashes(node)
        column = self._find_column(dashes[0])
        pairs = align(node.tree(), new)
        kept = [False] * len(dashes)
        fresh: dict[int, list[str]] = {}
        anchor = -1
        for i, j in pairs:
            if i is None and j is not None:
                text = "- " + dump_block(new[j], column + 2, self._unit, sequence_offset=self._offset)
                fresh.setdefault(anchor, []).append(text)
            elif i is not None and j is not None:
                kept[i] = True
                anchor = i
                inner = Slot("dash", dashes[i] + 1, column + 2)
                self._change_value(node.items[i], new[j], inner, depth + 1)
        if not any(kept):
            self._put(node, new, slot)
            return
        spans = [(d, max(item.end, d + 1)) for d, item in zip(dashes, node.items, strict=True)]
        self._change_members(spans, kept, fresh, column)

    def _find_dashes(self, node: Node) -> list[int]:
        dashes: list[int] = []
        at = node.start
        for item in node.items:
            trivia = _TRIVIA.match(self._text, at)
            at = trivia.end() if trivia else at
            if self._text[at : at + 1] != "-":
                raise _TooIntricateError
            dashes.append(at)
            at = max(item.end, at + 1)
        return dashes

    def _change_members(
        self,
        spans: list[tuple[int, int]],
        kept: list[bool],
        fresh: dict[int, list[str]],
        column: int,
    ) -> None:
        margin = self._newline + " " * column
        first = spans[0][0]
        inline = not self._starts_line(first)
        for at, (start, end) in enumerate(spans):
            if kept[at]:
                continue
            if at == 0 and inline:
                follower = spans[kept.index(True)][0]
                between = self._text[self._find_line_end(end) : spans[1][0]]
                if "#" in between:
                    bare = len(self._text[:start].rstrip(" "))
                    self._splices.cut(bare, self._find_line_end(end))
                else:
                    self._splices.cut(start, follower)
            else:
                self._cut_lines(start, end)
        for anchor, texts in sorted(fresh.items()):
            for text in map(self._convert_newlines, texts):
                if anchor >= 0:
                    self._splices.insert(self._find_line_end(spans[anchor][1]), margin + text)
                elif inline:
                    self._splices.insert(first, text + margin)
                else:
                    line = " " * column + text + self._newline
                    self._splices.insert(self._find_line_start(first), line)

    def _cut_lines(self, start: int, end: int) -> None:
        start, stop = self._find_line_start(start), self._find_next_line(end)
        if stop == len(self._text) and not self._text.endswith(("\n", "\r")) and start:
            start = self._find_line_end_before(start)
        self._splices.cut(start, stop)

    def _find_line_end_before(self, start: int) -> int:
        return start - 2 if self._text[start - 2 : start] == "\r\n" else start - 1

    def _write_flow(self, node: Node, new: Any, base: str, depth: int) -> str:
        old = node.tree()
        if is_same_tree(old, new):
            return self._text[node.start : node.end]
        container = node.kind == "map" and isinstance(new, dict)
        container = container or (node.kind == "seq" and isinstance(new, list))
        if depth >= self._level or not container or self._text[node.start] not in "[{":
            return dump_flow(new)
        frame = Frame(HASH, self._newline, " " * self._unit, base, " ", wide_when_empty=False)
        spans = self._find_flow_spans(node)
        layout = Layout(self._text, node.start + 1, node.end - 1, spans, frame)
        plan: list[tuple[int | None, str]] = []
        if node.kind == "seq":
            for i, j in align(old, new):
                if j is not None and i is None:
                    plan.append((None, dump_flow(new[j])))
                elif j is not None and i is not None:
                    inner = self._write_flow(node.items[i], new[j], layout.find_base(i), depth + 1)
                    plan.append((i, inner))
            return "[" + layout.join(plan) + "]"
        last = {key.value: at for at, key in enumerate(node.keys)}
        after = anchor_additions(last, new)
        for at in range(-1, len(spans)):
            if at >= 0 and node.keys[at].value in new:
                is_last = last[node.keys[at].value] == at
                value = new[node.keys[at].value] if is_last else node.items[at].tree()
                plan.append((at, self._write_flow_pair(node, at, value, layout.find_base(at), depth)))
            plan += [(None, f"{dump_scalar(key)}: {dump_flow(new[key])}") for key in after.get(at, ())]
        return "{" + layout.join(plan) + "}"

    def _write_flow_pair(self, node: Node, at: int, value: Any, base: str, depth: int) -> str:
        key, item = node.keys[at], node.items[at]
        if is_same_tree(item.tree(), value):
            return self._text[key.start : max(item.end, key.end)]
        if item.start == item.end:
            return f"{self._text[key.start : key.end]}: {dump_flow(value)}"
        return self._text[key.start : item.start] + self._write_flow(item, value, base, depth + 1)

    def _find_flow_spans(self, node: Node) -> list[Pair]:
        spans: list[Pair] = []
        for at, item in enumerate(node.items):
            start = node.keys[at].start if node.keys else item.start
            end = max(item.end, node.keys[at].end if node.keys else 0)
            trivia = _TRIVIA.match(self._text, end)
            comma = trivia.end() if trivia else end
            spans.append(Pair(start, end, comma if self._text[comma] == "," else -1))
        return spans


def _list_nodes(root: Node | None) -> Iterator[Node]:
    todo = [] if root is None else [root]
    while todo:
        node = todo.pop()
        yield node
        todo += reversed(node.items)
