"""Why a text is not JSON: the first error, with its place."""

from __future__ import annotations

import re

from hookport.documents._document import MAX_DEPTH, TOO_DEEP, SyntaxProblem, make_problem

_SPACE = re.compile(r"[ \t\r\n]*+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][-+]?\d++)?(?![\w.+-])", re.ASCII)
_WORD = re.compile(r"[-+.\w]+")
_LINE_COMMENT = re.compile(r"//[^\r\n]*+")
_STRING_PART = re.compile(r'[^"\\\x00-\x1f]*+')
_HEX = re.compile(r"[0-9a-fA-F]{4}")
# The interpreter's default limit on the digits of an integer.
_MAX_DIGITS = 4300


class _Stop(Exception):  # noqa: N818 - it ends the reading, and never leaves this module
    def __init__(self, offset: int, message: str) -> None:
        self.offset = offset
        self.message = message


class _Open:
    """A container being read: its bracket, and the last key or the number of items so far."""

    __slots__ = ("bracket", "count", "key")

    def __init__(self, bracket: str) -> None:
        self.bracket = bracket
        self.key = ""
        self.count = 0

    @property
    def close(self) -> str:
        return "}" if self.bracket == "{" else "]"

    @property
    def last(self) -> str:
        return self.key if self.bracket == "{" else f"item {self.count}"


def explain(text: str, *, allow_comments: bool) -> SyntaxProblem:
    """Find the first error in a text that the JSON parser refused."""
    try:
        _Reader(text, allow_comments=allow_comments).read()
    except _Stop as stop:
        return make_problem(text, stop.offset, stop.message)
    return make_problem(text, 0, "not valid JSON")


class _Reader:
    def __init__(self, text: str, *, allow_comments: bool) -> None:
        self._text = text
        self._allow_comments = allow_comments
        self._at = 0

    def read(self) -> None:
        stack: list[_Open] = []
        self._skip()
        if self._at == len(self._text):
            raise _Stop(self._at, "the file is empty, expected a value")
        self._read_value(stack)
        while stack:
            self._skip()
            inside = stack[-1]
            char = self._peek()
            if inside.count and char != inside.close:
                if char != ",":
                    raise _Stop(self._at, f"expected ',' or '{inside.close}' after {inside.last}")
                comma = self._at
                self._at += 1
                self._skip()
                char = self._peek()
                if char == inside.close and not self._allow_comments:
                    raise _Stop(comma, "a trailing comma is not allowed in strict JSON")
            if char == inside.close:
                self._at += 1
                stack.pop()
                continue
            if inside.bracket == "{":
                self._read_key(inside)
            inside.count += 1
            self._read_value(stack)
        self._skip()
        if self._at < len(self._text):
            raise _Stop(self._at, "unexpected text after the end of the document")

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self) -> None:
        text = self._text
        while True:
            match = _SPACE.match(text, self._at)
            self._at = match.end() if match else self._at
            start = self._at
            if text.startswith("//", start):
                match = _LINE_COMMENT.match(text, start)
                self._at = match.end() if match else start
            elif text.startswith("/*", start):
                end = text.find("*/", start + 2)
                if end < 0:
                    raise _Stop(start, "this comment has no closing '*/'")
                self._at = end + 2
            else:
                return
            if not self._allow_comments:
                raise _Stop(start, "comments are not allowed in strict JSON")

    def _read_key(self, inside: _Open) -> None:
        start = self._at
        if self._peek() != '"':
            expected = "a key in double quotes" + ("" if inside.count else " or '}'")
            raise _Stop(start, f"expected {expected}")
        self._read_string()
        inside.key = self._text[start : self._at]
        self._skip()
        if self._peek() != ":":
            raise _Stop(self._at, f"expected ':' after {inside.key}")
        self._at += 1
        self._skip()

    def _read_value(self, stack: list[_Open]) -> None:
        start = self._at
        char = self._peek()
        if char and char in "[{":
            stack.append(_Open(char))
            if len(stack) > MAX_DEPTH:
                raise _Stop(start, TOO_DEEP)
            self._at += 1
            return
        if char == '"':
            self._read_string()
            return
        word = _WORD.match(self._text, start)
        if word is None:
            raise _Stop(start, f"expected a value{_describe_next(stack)}")
        self._at = word.end()
        if word.group() in ("true", "false", "null"):
            return
        if not _NUMBER.fullmatch(word.group()):
            shown = word.group() if len(word.group()) <= 40 else word.group()[:40] + "…"
            raise _Stop(start, f"'{shown}' is not a JSON value")
        if len(word.group()) > _MAX_DIGITS:
            raise _Stop(start, "a number has too many digits")

    def _read_string(self) -> None:
        text, start = self._text, self._at
        at = start + 1
        while True:
            match = _STRING_PART.match(text, at)
            at = match.end() if match else at
            char = text[at : at + 1]
            if char == '"':
                self._at = at + 1
                return
            if char in ("", "\n", "\r"):
                raise _Stop(start, "this string has no closing quote")
            if char != "\\":
                raise _Stop(at, f"control character U+{ord(char):04X} must be escaped in a string")
            escape = text[at + 1 : at + 2]
            if escape == "u":
                if not _HEX.match(text, at + 2):
                    raise _Stop(at, "'\\u' needs four hexadecimal digits")
                at += 6
            elif escape and escape in '"\\/bfnrt':
                at += 2
            else:
                raise _Stop(at, f"'\\{escape}' is not a valid escape in a string")


def _describe_next(stack: list[_Open]) -> str:
    if not stack:
        return ""
    return f" for {stack[-1].key}" if stack[-1].bracket == "{" else " or ']'"
