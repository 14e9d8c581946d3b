"""Object literals in a script's text: JSON, and as shells, Python, JavaScript and jq spell it.

`FILLED` replaces values that the running script fills in; an object that cannot be parsed to its end is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from hookport.base.tree import Tree

# A deeper or longer object is not a hook's answer.
DEEPEST = 5
LONGEST = 2000
# How many braces are checked in one text.
MOST_BRACES = 1000
KEY = re.compile(r"[A-Za-z_$][\w$]*")
QUOTE = re.compile(r"""(\\*)(["'`])""")
WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?![\w.])")
# Blanks, and line ends as `printf` spells them.
BLANK = re.compile(r"(?:\s|\\n|\\\n)+")
# A computed text: a variable, a format, a template.
PUT_TOGETHER = re.compile(r"[$`]|%[sdqbr]|\{\w*\}")


class UnknownValue(NamedTuple):
    """A value that only the running script knows; `is_text`: it is in quotes."""

    is_text: bool = False


class Literal(NamedTuple):
    """An object in a text, with its start and end."""

    tree: dict[str, Tree]
    start: int
    end: int


class _EndError(Exception):
    """The text is not an object, or an unsupported one."""


def find_objects(text: str) -> Iterator[Literal]:
    """Every object of a text that is not inside another one, in order."""
    ends = 0
    for brace in islice(re.finditer(r"\{", text), MOST_BRACES):
        at = brace.start()
        if at < ends:
            continue
        try:
            tree, end = _parse_object(text, at, 0)
        except _EndError:
            continue
        # Code in braces looks like an object of names alone.
        if not all(isinstance(value, UnknownValue) for value in tree.values()):
            yield Literal(tree, at, end)
            ends = end


def _parse_object(text: str, at: int, depth: int) -> tuple[dict[str, Tree], int]:
    if depth > DEEPEST:
        raise _EndError
    tree: dict[str, Tree] = {}
    start, at = at, _skip_blanks(text, at + 1)
    while not text.startswith("}", at):
        key, at = _parse_key(text, at)
        at = _skip_blanks(text, at)
        if text.startswith(":", at):
            tree[key], at = _parse_value(text, _skip_blanks(text, at + 1), depth)
        elif text[at : at + 1] in (",", "}"):
            tree[key] = UnknownValue()
        else:
            raise _EndError
        at = _skip_blanks(text, at)
        if text.startswith(",", at):
            at = _skip_blanks(text, at + 1)
        elif not text.startswith("}", at):
            raise _EndError
        if at - start > LONGEST:
            raise _EndError
    return tree, at + 1


def _skip_blanks(text: str, at: int) -> int:
    blank = BLANK.match(text, at)
    return blank.end() if blank else at


def _parse_key(text: str, at: int) -> tuple[str, int]:
    if QUOTE.match(text, at):
        key, end = _parse_string(text, at)
        if not isinstance(key, str):
            raise _EndError
        return key, end
    word = KEY.match(text, at)
    if not word:
        raise _EndError
    return word[0], word.end()


def _parse_string(text: str, at: int) -> tuple[Tree, int]:
    """Read a quoted text and its end; a quote after as many backslashes as the first closes it."""
    opening = QUOTE.match(text, at)
    if not opening:
        raise _EndError
    slashes, quote = opening[1], opening[2]
    at = start = opening.end()
    while closing := QUOTE.search(text, at):
        if closing[2] == quote and len(closing[1]) == len(slashes):
            inside = text[start : closing.start()]
            return (UnknownValue(is_text=True) if PUT_TOGETHER.search(inside) else inside), closing.end()
        inside = text[start : closing.start()]
        if len(inside) > LONGEST or ("\n" in inside and quote != "`"):
            break
        at = closing.end()
    raise _EndError


def _parse_value(text: str, at: int, depth: int) -> tuple[Tree, int]:
    """Read the value that starts here; several literals up to the next comma count as filled in."""
    start = at
    value: Tree = UnknownValue()
    try:
        value, at = _parse_plain(text, at, depth)
    except _EndError:
        at = start
    end = _skip_blanks(text, at)
    if at > start and text[end : end + 1] in (",", "}", "]"):
        return value, end
    is_text = at > start and isinstance(value, (str, UnknownValue)) and QUOTE.match(text, start) is not None
    return UnknownValue(is_text=is_text), _find_expression_end(text, start)


def _parse_plain(text: str, at: int, depth: int) -> tuple[Tree, int]:
    if text.startswith("{", at):
        return _parse_object(text, at, depth + 1)
    if text.startswith("[", at):
        return _parse_list(text, at, depth + 1)
    if QUOTE.match(text, at):
        return _parse_string(text, at)
    if number := NUMBER.match(text, at):
        return (float(number[0]) if "." in number[0] else int(number[0])), number.end()
    word = KEY.match(text, at)
    if word and word[0] in WORDS:
        return WORDS[word[0]], word.end()
    raise _EndError


def _parse_list(text: str, at: int, depth: int) -> tuple[list[Tree], int]:
    if depth > DEEPEST:
        raise _EndError
    values: list[Tree] = []
    at = _skip_blanks(text, at + 1)
    while not text.startswith("]", at):
        value, at = _parse_value(text, at, depth)
        values.append(value)
        at = _skip_blanks(text, at)
        if text.startswith(",", at):
            at = _skip_blanks(text, at + 1)
        elif not text.startswith("]", at):
            raise _EndError
    return values, at + 1


def _find_expression_end(text: str, at: int) -> int:
    """Find the end of an expression: a comma, or a bracket that it did not open."""
    opened = 0
    limit = min(len(text), at + LONGEST)
    while at < limit:
        char = text[at]
        if QUOTE.match(text, at):
            try:
                at = _parse_string(text, at)[1]
                continue
            except _EndError:
                pass
        if char in "([{":
            opened += 1
        elif char in ")]}":
            if not opened:
                return at
            opened -= 1
        elif char == "," and not opened:
            return at
        at += 1
    raise _EndError
