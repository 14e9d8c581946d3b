"""What a regular expression may match if parts of the text are unknown; in doubt it matches.

The structure comes from Python's own parser; an unsupported construct counts as a match.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    Node = tuple[Any, Any]

_SIGNS = "_-. :@/+~$"
_MOST_CHOICES = 64
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_PRINTABLE = "".join(map(chr, range(33, 127)))
_CATEGORIES: Mapping[str, Callable[[str], bool]] = {
    "DIGIT": str.isdigit,
    "SPACE": str.isspace,
    "WORD": lambda char: char.isalnum() or char == "_",
}


class Unknown:
    """A part of a text: any number of characters; `without`: a character that it does not contain."""

    __slots__ = ("without",)

    def __init__(self, without: str = "") -> None:
        self.without = without


class Sign:
    """A character of a text that is neither a letter nor a digit."""

    __slots__ = ()


# (number of the piece, how much of the excluded text was just read)
Spot = tuple[int, int]


def may_match(pattern: str, text: Sequence[object], excluded: Iterable[str] = ()) -> bool:
    """Whether the pattern is found in a text with unknown parts.

    `others` are texts that the unknown parts do not contain: an alternative that matches one of them is not
    about this text, unless it matches without guessing.
    """
    tree = _parse(pattern)
    if tree is None:
        return True
    nodes, is_folded = tree
    alternatives = _list_choices(nodes)
    if alternatives is None:
        return _is_found(nodes, text, is_folded)
    names = tuple(excluded)
    return any(
        _is_found(alternative, text, is_folded)
        and not any(_is_found(alternative, name, is_folded) for name in names)
        for alternative in alternatives
    )


def each_may_match(pattern: str, text: Sequence[object]) -> bool:
    """Whether every alternative of a pattern may match a text with unknown parts."""
    tree = _parse(pattern)
    alternatives = _list_choices(tree[0]) if tree else None
    return alternatives is not None and all(
        _is_found(alternative, text, tree[1]) for alternative in alternatives if tree
    )


def matches_all(pattern: str, *, is_full: bool = False) -> bool:
    """Whether a pattern matches every name; with `is_full` it must match the whole name."""
    tree = _parse(pattern)
    alternatives = _list_choices(tree[0]) if tree else None
    return any(_is_universal(alternative, is_full=is_full) for alternative in alternatives or ())


def find_beginnings(pattern: str) -> list[tuple[str, bool, bool]]:
    """Return (literal text, whether a name begins there, whether it ends there) of each known alternative."""
    tree = _parse(pattern)
    alternatives = _list_choices(tree[0]) if tree and not tree[1] else None
    return [_find_beginning(alternative) for alternative in alternatives or ()]


def _find_beginning(nodes: list[Node]) -> tuple[str, bool, bool]:
    is_start = bool(nodes) and _is_at(nodes[0], "AT_BEGINNING")
    rest = nodes[is_start:]
    literal = [chr(value) for op, value in takewhile(lambda node: node[0].name == "LITERAL", rest)]
    after = rest[len(literal) :]
    return "".join(literal), is_start, len(after) == 1 and _is_at(after[0], "AT_END")


def _is_at(node: Node, mark: str) -> bool:
    return node[0].name == "AT" and str(node[1].name).startswith(mark)


@lru_cache(maxsize=256)
def _parse(pattern: str) -> tuple[list[Node], bool] | None:
    """The nodes, and whether case is ignored; None if Python cannot parse the pattern."""
    import warnings

    parser = getattr(re, "_parser", None)
    ported = re.sub(r"\(\?<(?![=!])", "(?P<", pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parser.parse(ported, 0) if parser else None
    except (re.error, ValueError, OverflowError, RecursionError):
        return None
    if tree is None:
        return None
    return list(tree), bool(tree.state.flags & re.IGNORECASE) or "(?i" in pattern


def _list_choices(nodes: Iterable[Node]) -> list[list[Node]] | None:
    """List the alternative sequences of a pattern; None if too many."""
    sequences: list[list[Node]] = [[]]
    for op, value in nodes:
        parts: list[list[Node]] | None
        if op.name == "SUBPATTERN":
            parts = _list_choices(value[-1])
        elif op.name == "ATOMIC_GROUP":
            parts = _list_choices(value)
        elif op.name == "BRANCH":
            inner = [_list_choices(branch) for branch in value[1]]
            parts = None if None in inner else [sequence for choices in inner for sequence in choices or ()]
        else:
            parts = [[(op, value)]]
        if parts is None or len(sequences) * len(parts) > _MOST_CHOICES:
            return None
        sequences = [[*before, *after] for before in sequences for after in parts]
    return sequences


def _is_found(nodes: Iterable[Node], text: Sequence[object], is_folded: bool) -> bool:  # noqa: FBT001 (a fact of the pattern)
    return bool(_find_ends(nodes, text, {(place, 0) for place in range(len(text) + 1)}, is_folded))


def _find_ends(
    nodes: Iterable[Node],
    text: Sequence[object],
    starts: set[Spot],
    is_folded: bool,  # noqa: FBT001
) -> set[Spot]:
    """Find where in the text the nodes may end."""
    spots = _skip_unknown(text, starts)
    for op, value in nodes:
        name = op.name
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            spots = _match_character((op, value), text, spots, is_folded)
        elif name in _REPEATS:
            spots = _match_repeat(value, text, spots, is_folded)
        elif name == "BRANCH":
            spots = {end for branch in value[1] for end in _find_ends(branch, text, spots, is_folded)}
        elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
            spots = _find_ends(value[-1] if name == "SUBPATTERN" else value, text, spots, is_folded)
        elif name == "AT":
            spots = _match_anchor(value.name, text, spots)
        elif name not in ("ASSERT", "ASSERT_NOT") and spots:
            # A group reference, or syntax of a later Python: it may match anything.
            spots = {(place, 0) for place in range(min(spots)[0], len(text) + 1)}
        spots = _skip_unknown(text, spots)
        if not spots:
            break
    return spots


def _skip_unknown(text: Sequence[object], spots: set[Spot]) -> set[Spot]:
    """Return the spots, and those after unknown parts, which may be empty."""
    reached = set(spots)
    behind = {(place + 1, 0) for place, _ in spots if place < len(text) and isinstance(text[place], Unknown)}
    return reached | _skip_unknown(text, behind) if behind - reached else reached


def _match_anchor(name: str, text: Sequence[object], spots: set[Spot]) -> set[Spot]:
    if name.startswith("AT_BEGINNING"):
        return spots & _skip_unknown(text, {(0, 0)})
    if name.startswith("AT_END"):
        return spots & {(len(text), 0)}
    return spots


def _match_character(node: Node, text: Sequence[object], spots: set[Spot], is_folded: bool) -> set[Spot]:  # noqa: FBT001
    reached: set[Spot] = set()
    for place, read in spots:
        piece = text[place] if place < len(text) else None
        if isinstance(piece, Unknown):
            sign = piece.without[:1]
            if any(char != sign and _takes(node, char, is_folded) for char in _PRINTABLE + "é"):
                reached.add((place, 0))
            if sign and read + 1 < len(piece.without) and _takes(node, sign, is_folded):
                reached.add((place, read + 1))
        elif isinstance(piece, Sign):
            reached |= {(place + 1, 0) for sign in _SIGNS if _takes(node, sign, is_folded)}
        elif piece is not None and _takes(node, str(piece), is_folded):
            reached.add((place + 1, 0))
    return reached


def _match_repeat(
    value: tuple[int, int, Any],
    text: Sequence[object],
    spots: set[Spot],
    is_folded: bool,  # noqa: FBT001
) -> set[Spot]:
    least, most, body = value
    latest = spots
    # More rounds than spots change nothing.
    rounds = 3 * (len(text) + 1)
    for _ in range(min(int(least), rounds)):
        latest = _find_ends(body, text, latest, is_folded)
    reached = set(latest)
    for _ in range(min(int(most) - int(least), rounds)):
        latest = _find_ends(body, text, latest, is_folded) - reached
        if not latest:
            break
        reached |= latest
    return reached


def _takes(node: Node, char: str, is_folded: bool) -> bool:  # noqa: FBT001
    if is_folded:
        return any(_takes(node, variant, is_folded=False) for variant in {char, char.lower(), char.upper()})
    name, value = node[0].name, node[1]
    if name == "ANY":
        return True
    if name in ("LITERAL", "NOT_LITERAL"):
        return bool((ord(char) == value) == (name == "LITERAL"))
    is_listed = any(_has_character(op.name, item, char) for op, item in value if op.name != "NEGATE")
    return is_listed != any(op.name == "NEGATE" for op, _ in value)


def _has_character(name: str, item: Any, char: str) -> bool:  # noqa: ANN401 (what the parser gives)
    if name == "LITERAL":
        return bool(ord(char) == item)
    if name == "RANGE":
        return bool(item[0] <= ord(char) <= item[1])
    _, _, kind = item.name.rpartition("_")
    return bool(_CATEGORIES[kind](char)) != ("_NOT_" in item.name)


def _is_universal(nodes: list[Node], *, is_full: bool) -> bool:
    """Whether nodes match in every name with a letter, whatever it is."""
    rest = [node for node in nodes if node[0].name != "AT"]
    marks = [node[1].name for node in nodes if node[0].name == "AT"]
    at_start = is_full or (bool(nodes) and nodes[0][0].name == "AT")
    at_end = is_full or (bool(rest) and nodes[-1][0].name == "AT")
    if len(marks) > 2 or not all(mark.startswith(("AT_BEGINNING", "AT_END")) for mark in marks):
        return False
    if not rest:
        return not is_full and len(marks) < 2
    shapes = [_describe_node(node) for node in rest]
    if None in shapes:
        return False
    known = [shape for shape in shapes if shape]
    if sum(least for least, _, _ in known) > 1:
        return False
    if at_start and at_end:
        return any(most > 1000 and takes == "all" for _, most, takes in known)
    if at_start or at_end:
        return all(least == 0 or takes in ("all", "letters") for least, _, takes in known)
    return True


def _describe_node(node: Node) -> tuple[int, int, str] | None:
    """Return (least, most, `all` or `letters`) of a node that matches any letter; None for any other."""
    least, most = 1, 1
    if node[0].name in _REPEATS:
        least, most, body = int(node[1][0]), int(node[1][1]), list(node[1][2])
        flat = _list_choices(body)
        if not flat or len(flat) != 1 or len(flat[0]) != 1:
            return (0, most, "none") if least == 0 else None
        node = flat[0][0]
    if node[0].name not in ("ANY", "IN", "NOT_LITERAL"):
        return (0, most, "none") if least == 0 else None
    if all(_takes(node, char, is_folded=False) for char in _PRINTABLE):
        return least, most, "all"
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if all(_takes(node, char, is_folded=False) for char in letters):
        return least, most, "letters"
    return (0, most, "none") if least == 0 else None
