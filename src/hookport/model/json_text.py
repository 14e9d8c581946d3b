"""JSON by the library's C code without the library: importing `json` takes longer than our own modules.

Input that the C code refuses goes to `json`, which words the error; so does all input on a Python without it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hookport.base.tree import Tree

WHITESPACE = " \t\n\r"


class _Options:
    """The options of `json.loads` for the scanner."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    parse_constant = {"-Infinity": float("-inf"), "Infinity": float("inf"), "NaN": float("nan")}.__getitem__


def _refuse(value: object) -> Tree:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


try:
    import _json as _c

    _library: Tree = _c
    _scan = _library.make_scanner(_Options)
except Exception:  # noqa: BLE001  (it is no part of the language)
    _library = None


def loads(text: str) -> Tree:
    """Parse like `json.loads`."""
    if _library and isinstance(text, str):
        inner = text.strip(WHITESPACE)
        try:
            tree, end = _scan(inner, 0)
            if end == len(inner):
                return tree
        except (StopIteration, ValueError, SystemError):
            # SystemError: before Python 3.13 the C code takes its error from `json`, imported or not.
            pass
    import json

    return json.loads(text)


def dumps(
    tree: Tree,
    *,
    ensure_ascii: bool = True,
    separators: tuple[str, str] = (", ", ": "),
    default: Callable[[Any], Tree] = _refuse,
    sort_keys: bool = False,
) -> str:
    """Format like `json.dumps`."""
    if _library:
        quote = _library.encode_basestring_ascii if ensure_ascii else _library.encode_basestring
        try:
            encode = _library.make_encoder(
                markers={},
                default=default,
                encoder=quote,
                indent=None,
                key_separator=separators[1],
                item_separator=separators[0],
                sort_keys=sort_keys,
                skipkeys=False,
                allow_nan=True,
            )
            return "".join(encode(tree, 0))
        except TypeError:
            pass
    import json

    return json.dumps(
        tree, ensure_ascii=ensure_ascii, separators=separators, default=default, sort_keys=sort_keys
    )
