"""Plain YAML without PyYAML: mappings of one-line values, which is what nearly every frontmatter is.

Whatever is not certainly the same for every YAML reader is left to the full reader.
"""

from __future__ import annotations

import json
import re
from typing import Any

from hookport.formats._yaml_dump import PLAIN, WORDS

_LINE = re.compile(r"( *)([A-Za-z_][A-Za-z0-9_-]*):(?: ([^ ].*))?")
_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")
_WORDS = {"true": True, "false": False, "null": None}
_UNSURE = object()
_DEEPEST = 20


def plain_tree(text: str) -> dict[str, Any] | None:
    """The mapping that a text is, or None where the full reader must decide."""
    root: dict[str, Any] = {}
    levels: list[tuple[int, dict[str, Any]]] = [(0, root)]
    opened: tuple[dict[str, Any], str] | None = None
    if not text.isascii() or "\r" in text:
        return None
    for line in text.split("\n"):
        if not line:
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            return None
        indent, key, value = len(found[1]), found[2], found[3]
        if opened:
            parent, name = opened
            if indent <= levels[-1][0]:
                return None
            parent[name] = {}
            levels.append((indent, parent[name]))
            opened = None
        while levels and levels[-1][0] > indent:
            levels.pop()
        if not levels or levels[-1][0] != indent or key in levels[-1][1] or key.lower() in WORDS:
            return None
        if len(levels) > _DEEPEST:
            return None
        mapping = levels[-1][1]
        mapping[key] = None
        if value is None:
            opened = (mapping, key)
            continue
        mapping[key] = _value(value)
        if mapping[key] is _UNSURE:
            return None
    return root if root and opened is None else None


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if PLAIN.fullmatch(text) and text.lower() not in WORDS:
        return text
    if text[0] == '"' and text[-1] == '"' and "\\u" not in text and "\\/" not in text:
        try:
            found = json.loads(text)
        except ValueError:
            return _UNSURE
        return found if isinstance(found, str) else _UNSURE
    return _UNSURE
