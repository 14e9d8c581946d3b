"""Trees as YAML text; a string stays unquoted only if every reader reads it as that string."""

from __future__ import annotations

import json
import re
from typing import Any

from hookport.documents._document import check_new

PLAIN = re.compile(r"(?:\.?/)?[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"))
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def dump(tree: Any) -> bytes:
    check_new(tree)
    return (dump_block(tree, 0, 2) + "\n").encode("utf-8")


def dump_block(value: Any, indent: int, unit: int, *, sequence_offset: int | None = None) -> str:
    """A value in block style whose first line is already placed at column `indent`.

    `sequence_offset` is how far a list is indented under its key (by default, one unit).
    """
    offset = unit if sequence_offset is None else sequence_offset
    margin = "\n" + " " * indent
    if isinstance(value, dict) and value:
        return margin.join(
            f"{dump_scalar(key)}:{dump_after_key(item, indent, unit, offset)}" for key, item in value.items()
        )
    if isinstance(value, list) and value:
        return margin.join(
            "- " + dump_block(item, indent + 2, unit, sequence_offset=offset) for item in value
        )
    return dump_flow(value)


def dump_after_key(value: Any, indent: int, unit: int, sequence_offset: int) -> str:
    """What follows the colon of a key at column `indent`."""
    if not (isinstance(value, (dict, list)) and value):
        return " " + dump_flow(value)
    inner = indent + (sequence_offset if isinstance(value, list) else unit)
    return "\n" + " " * inner + dump_block(value, inner, unit, sequence_offset=sequence_offset)


def dump_flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dump_scalar(k)}: {dump_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump_flow, value)) + "]"
    return dump_scalar(value)


def dump_scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}.get(repr(value), repr(value))
    if not isinstance(value, str):
        raise ValueError(f"YAML cannot represent a {type(value).__name__}")
    if PLAIN.fullmatch(value) and value.lower() not in WORDS:
        return value
    if _SURROGATE.search(value):
        raise ValueError("YAML cannot represent a lone surrogate")
    quoted = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)
