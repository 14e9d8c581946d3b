"""Plain YAML without PyYAML: mappings of one-line values, which nearly every frontmatter is.

The full parser reads every text that readers of YAML might read differently.
"""

from __future__ import annotations

import json
import re
from typing import Any

from hookport.documents._yaml_dump import PLAIN, WORDS

_LINE = re.compile(r"( *)([A-Za-z_][A-Za-z0-9_-]*):(?: ([^ ].*))?")
_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")
_WORDS = {"true": True, "false": False, "null": None}
_UNSURE = object()
_DEEPEST = 20


def parse_plain(text: str) -> dict[str, Any] | None:
    """Read a text as a mapping; None if the full parser must decide."""
    root: dict[str, Any] = {}
    levels: list[tuple[int, dict[str, Any]]] = [(0, root)]
    opened = ""
    if not text.isascii() or "\r" in text:
        return None
    for line in filter(None, text.split("\n")):
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        indent, key, value = len(match[1]), match[2], match[3]
        mapping = _find_mapping(levels, indent, opened)
        if mapping is None or key in mapping or key.lower() in WORDS:
            return None
        mapping[key] = None if value is None else _parse_value(value)
        if mapping[key] is _UNSURE:
            return None
        opened = key if value is None else ""
    return root if root and not opened else None


def _find_mapping(
    levels: list[tuple[int, dict[str, Any]]], indent: int, opened: str
) -> dict[str, Any] | None:
    """Find the mapping that a line belongs to, if any; `opened` is an earlier key without a value."""
    if opened:
        outer, mapping = levels[-1]
        if indent <= outer:
            return None
        mapping[opened] = {}
        levels.append((indent, mapping[opened]))
    while levels and levels[-1][0] > indent:
        levels.pop()
    fits = levels and levels[-1][0] == indent and len(levels) <= _DEEPEST
    return levels[-1][1] if fits else None


def _parse_value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if PLAIN.fullmatch(text) and text.lower() not in WORDS:
        return text
    if text[0] == '"' and text[-1] == '"' and "\\u" not in text and "\\/" not in text:
        try:
            value = json.loads(text)
        except ValueError:
            return _UNSURE
        return value if isinstance(value, str) else _UNSURE
    return _UNSURE
