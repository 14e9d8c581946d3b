"""A text that a pattern matches, made from the pattern; none if one pass over the pattern is not enough."""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

Node = Any
LONGEST = 200
# The characters that represent a class, in order of preference.
SIGNS = "xa01A_ -./"
CATEGORIES = {
    kinds.CATEGORY_DIGIT: "1",
    kinds.CATEGORY_NOT_DIGIT: "x",
    kinds.CATEGORY_SPACE: " ",
    kinds.CATEGORY_NOT_SPACE: "x",
    kinds.CATEGORY_WORD: "x",
    kinds.CATEGORY_NOT_WORD: " ",
}


def make_likeness(pattern: str) -> str:
    """Make a short text that the pattern matches; empty if none can be made."""
    try:
        text = "".join(map(_make_text, parser.parse(pattern)))
        return text if len(text) <= LONGEST and text.isprintable() and re.search(pattern, text) else ""
    except (re.error, RecursionError, KeyError, OverflowError):
        return ""


def _join_nodes(nodes: Iterable[Node]) -> str:
    return "".join(map(_make_text, nodes))


def _make_text(node: Node) -> str:
    kind, value = node
    if kind is kinds.LITERAL:
        return chr(value)
    if kind is kinds.NOT_LITERAL:
        return next(sign for sign in SIGNS if ord(sign) != value)
    if kind is kinds.ANY:
        return "x"
    if kind is kinds.IN:
        return _choose_sign(value)
    if kind is kinds.BRANCH:
        return _join_nodes(value[1][0])
    if kind is kinds.SUBPATTERN:
        return _join_nodes(value[-1])
    if kind is kinds.ATOMIC_GROUP:
        return _join_nodes(value)
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
        least, most, inner = value
        return _join_nodes(inner) * min(max(int(least), 0 if least == 0 else 1), int(most), LONGEST)
    # Positions and lookaround are left to the later search.
    return ""


def _choose_sign(nodes: Iterable[Node]) -> str:
    inside = list(nodes)
    if inside[0][0] is kinds.NEGATE:
        banned = re.compile("[" + "".join(map(_escape_part, inside[1:])) + "]")
        return next((sign for sign in SIGNS if not banned.match(sign)), "")
    kind, first = inside[0]
    if kind is kinds.CATEGORY:
        return CATEGORIES[first]
    return chr(first[0] if kind is kinds.RANGE else first)


def _escape_part(node: Node) -> str:
    """Write a part of a character class as between brackets."""
    kind, value = node
    if kind is kinds.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    if kind is kinds.CATEGORY:
        return {
            kinds.CATEGORY_DIGIT: r"\d",
            kinds.CATEGORY_NOT_DIGIT: r"\D",
            kinds.CATEGORY_SPACE: r"\s",
            kinds.CATEGORY_NOT_SPACE: r"\S",
            kinds.CATEGORY_WORD: r"\w",
            kinds.CATEGORY_NOT_WORD: r"\W",
        }[value]
    return re.escape(chr(value))
