"""Trees as TOML text; values first, then tables, so that no key is captured by a table above it."""

from __future__ import annotations

import json
import re
from typing import Any

from hookport.documents._document import check_new

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def dump(tree: Any) -> bytes:
    check_new(tree)
    if not isinstance(tree, dict):
        raise ValueError("the root of a TOML document must be a table")
    return dump_body((), tree).lstrip("\n").encode("utf-8")


def dump_body(path: tuple[str, ...], table: dict[str, Any]) -> str:
    """The lines of a table below its header: its values, then its tables with their headers."""
    values = [f"{dump_key(k)} = {dump_inline(v)}\n" for k, v in table.items() if not is_section(v)]
    return "".join(values) + "".join(dump_sections((*path, k), v) for k, v in table.items() if is_section(v))


def is_section(value: Any) -> bool:
    """Whether a value is written under its own headers."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) for item in value)
    return isinstance(value, dict)


def dump_sections(path: tuple[str, ...], value: Any) -> str:
    """A table or an array of tables, each header after a blank line."""
    name = ".".join(map(dump_key, path))
    if isinstance(value, list):
        return "".join(f"\n[[{name}]]\n{dump_body(path, item)}" for item in value)
    only_tables = bool(value) and all(map(is_section, value.values()))
    return ("" if only_tables else f"\n[{name}]\n") + dump_body(path, value)


def dump_key(name: str) -> str:
    return name if _BARE.fullmatch(name) else dump_inline(name)


def dump_inline(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        members = ", ".join(f"{dump_key(k)} = {dump_inline(v)}" for k, v in value.items())
        return f"{{ {members} }}" if members else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump_inline, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise ValueError("TOML cannot represent a lone surrogate")
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise ValueError(f"TOML cannot represent {'null' if value is None else type(value).__name__}")
