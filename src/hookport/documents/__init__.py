"""Text to tree and back; an edit leaves the rest of the text untouched."""

from __future__ import annotations

from typing import Any

from hookport.documents._align import align
from hookport.documents._document import Document, Duplicate, Path, RewriteFailed, SyntaxProblem, is_same_tree

__all__ = [
    "KINDS",
    "Document",
    "Duplicate",
    "Path",
    "RewriteFailed",
    "SyntaxProblem",
    "align",
    "detect_kind",
    "dump",
    "is_same_tree",
    "parse",
]

KINDS = ("json", "jsonc", "toml", "yaml", "frontmatter", "text")

_KIND_BY_SUFFIX = {
    "json": "json",
    "jsonc": "jsonc",
    "toml": "toml",
    "yaml": "yaml",
    "yml": "yaml",
    "md": "frontmatter",
}


def detect_kind(path: str) -> str:
    """The kind of a file, judged by its name alone."""
    name = path.replace("\\", "/").rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    return _KIND_BY_SUFFIX.get(suffix.lower(), "text") if dot and stem else "text"


def parse(data: bytes, kind: str) -> Document:
    """Read a document; raise SyntaxProblem, with the place, if the bytes are not of this kind."""
    if kind in ("json", "jsonc"):
        from hookport.documents import _json

        return _json.parse(data, kind)
    if kind == "toml":
        from hookport.documents import _toml

        return _toml.parse(data)
    if kind == "yaml":
        from hookport.documents import _yaml

        return _yaml.parse(data)
    if kind == "frontmatter":
        from hookport.documents import _frontmatter

        return _frontmatter.parse(data)
    if kind == "text":
        from hookport.documents import _text

        return _text.parse(data)
    raise _refuse_kind(kind)


def dump(tree: Any, kind: str) -> bytes:
    """Write a new document; raise ValueError if this kind cannot represent the tree."""
    if kind in ("json", "jsonc"):
        from hookport.documents import _json

        return _json.dump(tree)
    if kind == "toml":
        from hookport.documents import _toml_dump

        return _toml_dump.dump(tree)
    if kind == "yaml":
        from hookport.documents import _yaml_dump

        return _yaml_dump.dump(tree)
    if kind == "frontmatter":
        from hookport.documents import _frontmatter

        return _frontmatter.dump(tree)
    if kind == "text":
        from hookport.documents import _text

        return _text.dump(tree)
    raise _refuse_kind(kind)


def _refuse_kind(kind: str) -> ValueError:
    return ValueError(f"unknown kind '{kind}'. Known kinds: {', '.join(KINDS)}.")
