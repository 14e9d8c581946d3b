"""Splices comma-separated containers (JSON, TOML arrays, YAML flow) without touching the other members."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Span(Protocol):
    """One member: its start and end, and the position of its comma (-1: none)."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def comma(self) -> int: ...


class Grammar(NamedTuple):
    """How a language writes comments between members."""

    comment: re.Pattern[str]
    same_line: re.Pattern[str]
    line_comment: str


JSON = Grammar(
    re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL),
    re.compile(r"(?:[ \t]+|//[^\r\n]*|/\*.*?\*/)*+", re.DOTALL),
    "//",
)
HASH = Grammar(re.compile(r"#[^\r\n]*"), re.compile(r"(?:[ \t]+|#[^\r\n]*)*+"), "#")
_LINE_END = re.compile(r"[ \t]*[\r\n]")
_SPACE = re.compile(r"[ \t\r\n]*")


class Frame(NamedTuple):
    """A container's surroundings: the file's style and the indentation of the container's line."""

    grammar: Grammar
    newline: str
    unit: str
    base: str
    separator: str
    wide_when_empty: bool


class Layout:
    """The trivia around each member of one container.

    Content is head, then per member lead, body, pre, comma, tail, then footer. A tail is the rest of the
    member's own line; comments above a member are in its lead.
    """

    def __init__(self, text: str, start: int, end: int, items: Sequence[Span], frame: Frame) -> None:
        self.frame = frame
        self._leads: list[str] = []
        self._pres: list[str] = []
        self._tails: list[str] = []
        self._head = ""
        first = text[start : items[0].start] if items else text[start:end]
        cut = self._find_line_end(first)
        if cut is None:
            cut = 0 if items else self._find_comments_end(first)
        self._head, lead = first[:cut], first[cut:]
        self._footer = lead
        for i, item in enumerate(items):
            self._leads.append(lead)
            has_comma = item.comma >= 0
            self._pres.append(text[item.end : item.comma] if has_comma else "")
            last = i + 1 == len(items)
            rest = text[item.comma + 1 if has_comma else item.end : end if last else items[i + 1].start]
            cut = self._find_line_end(rest)
            if cut is None:
                cut = self._find_comments_end(rest) if last else 0
            self._tails.append(rest[:cut])
            lead = self._footer = rest[cut:]
        self._trailing_comma = bool(items) and items[-1].comma >= 0
        broken = [lead for lead in self._leads if _has_newline(lead)]
        if items:
            self.multiline = bool(broken)
        else:
            self.multiline = frame.wide_when_empty or _has_newline(text[start:end])
        self.wide = self.multiline or _has_newline(text[start:end])
        if broken:
            self.indent = _find_indent(broken[-1])
        else:
            self.indent = frame.base + frame.unit if self.multiline else frame.base

    def find_base(self, index: int) -> str:
        """Indentation of the line on which a member starts."""
        lead = self._leads[index]
        return _find_indent(lead) if _has_newline(lead) else self.frame.base

    def join(self, plan: list[tuple[int | None, str]]) -> str:
        """The container's content: each entry is an old member's index, or None, and its text."""
        frame = self.frame
        fresh = frame.newline + self.indent if self.multiline else self._choose_separator()
        old_first = self._leads[0] if self._leads else ""
        out: list[str] = [self._head]
        before = self._head
        seen = 0
        for at, (index, body) in enumerate(plan):
            if index is None:
                lead = fresh
                if at == 0:
                    lead = "" if not self.multiline else fresh
                    if self._leads and not old_first.strip():
                        lead = old_first
                pre = tail = ""
            else:
                lead = self._join_after_removed(seen, index, self._leads[index])
                if seen == 0 and at > 0 and not _starts_with_newline(lead):
                    lead = fresh + lead.lstrip()
                seen = index + 1
                pre, tail = self._pres[index], self._tails[index]
            comma = "," if at + 1 < len(plan) or self._trailing_comma else ""
            out += (self._break(before, lead, self.indent), body, pre, comma, tail)
            before = tail
        footer = self._footer
        for index in range(len(self._leads) - 1, seen - 1, -1):
            comments, _ = self._split_lead(self._leads[index])
            footer = comments + self._break(comments, footer, frame.base)
        if plan and self.multiline and not self._leads and not _has_newline(footer):
            footer = frame.newline + frame.base
        out.append(self._break(before, footer, frame.base))
        if not plan:
            content = "".join(out)
            return content if content.strip() else ""
        return "".join(out)

    def _choose_separator(self) -> str:
        if len(self._leads) > 1 and not self._leads[1].strip():
            return self._leads[1]
        return self.frame.separator

    def _find_line_end(self, trivia: str) -> int | None:
        match = self.frame.grammar.same_line.match(trivia)
        end = match.end() if match else 0
        return end if trivia[end : end + 1] in ("\r", "\n") else None

    def _find_comments_end(self, trivia: str) -> int:
        end = 0
        for match in self.frame.grammar.comment.finditer(trivia):
            end = match.end()
        return end

    def _split_lead(self, lead: str) -> tuple[str, str]:
        """A removed member's lead: the comments on earlier lines, and the white space after them."""
        end = 0
        for match in self.frame.grammar.comment.finditer(lead):
            if _LINE_END.match(lead, match.end()):
                end = match.end()
        space = _SPACE.match(lead, end)
        return lead[:end], space.group() if space else ""

    def _join_after_removed(self, first: int, index: int, lead: str) -> str:
        for removed in range(index - 1, first - 1, -1):
            comments, space = self._split_lead(self._leads[removed])
            lead = comments + (lead if _starts_with_newline(lead) else space + lead.lstrip())
        return lead

    def _break(self, before: str, after: str, indent: str) -> str:
        """What follows `before`, on a new line if a line comment would swallow it."""
        end = 0
        line = False
        for match in self.frame.grammar.comment.finditer(before):
            end = match.end()
            line = match.group().startswith(self.frame.grammar.line_comment)
        if line and end == len(before) and not _starts_with_newline(after):
            return self.frame.newline + indent + after.lstrip(" \t")
        return after


def _has_newline(text: str) -> bool:
    return "\n" in text or "\r" in text


def _starts_with_newline(text: str) -> bool:
    return _LINE_END.match(text) is not None


def _find_indent(lead: str) -> str:
    line = lead[max(lead.rfind("\n"), lead.rfind("\r")) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]
