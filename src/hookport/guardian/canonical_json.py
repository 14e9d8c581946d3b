"""JSON in the one form that a signature covers: RFC 8785, the JSON Canonicalization Scheme."""

from __future__ import annotations

import json
from decimal import Decimal
from math import isfinite

from hookport.base.tree import Tree

# Beyond it a number of JavaScript has no last digit any more.
_MOST_EXACT = 2**53 - 1


def canonicalize(tree: Tree) -> bytes:
    """Write JSON in its canonical form; ValueError for what has none."""
    return _write(tree).encode("utf-8")


def _write(tree: Tree) -> str:
    if tree is None or isinstance(tree, bool):
        return json.dumps(tree)
    if isinstance(tree, str):
        return json.dumps(tree, ensure_ascii=False)
    if isinstance(tree, (int, float)):
        return _write_number(tree)
    if isinstance(tree, dict):
        # By the code units of UTF-16, in which characters beyond U+FFFF come before some others.
        keys = sorted(tree, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_write(key)}:{_write(tree[key])}" for key in keys) + "}"
    if isinstance(tree, (list, tuple)):
        return "[" + ",".join(map(_write, tree)) + "]"
    raise ValueError(f"{type(tree).__name__} is not JSON")


def _write_number(number: float) -> str:
    """Write a number as JavaScript does: the shortest digits that mean it (ECMA-262, Number::toString)."""
    if isinstance(number, int) and abs(number) <= _MOST_EXACT:
        return str(number)
    value = float(number)
    if not isfinite(value):
        raise ValueError(f"{value} is not JSON")
    if not value:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    assert isinstance(exponent, int)  # noqa: S101  (it is finite)
    point = len(digits) + exponent
    return ("-" if sign else "") + _place_point(text, point)


def _place_point(digits: str, point: int) -> str:
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"
