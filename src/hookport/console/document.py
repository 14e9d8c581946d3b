"""JSON that commands print: one object with the version of its form."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from hookport.base.tree import Tree
from hookport.console.terminal import takes_utf8

# Of every document; a key that is removed or means something else makes it 2.
VERSION = 1


def print_document(document: object) -> None:
    """Print a document with its version; JSON is UTF-8 (RFC 8259, 8.1), or ASCII where stdout is not."""
    tree = {"version": VERSION, **as_tree(document)}
    text = json.dumps(tree, indent=2, ensure_ascii=not takes_utf8(sys.stdout), default=str)
    sys.stdout.write(f"{text}\n")


def as_tree(value: Tree) -> Tree:
    """Make a tree of objects and lists: a named tuple is an object."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: as_tree(part) for key, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {key: as_tree(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_tree(part) for part in value]
    return str(value) if isinstance(value, Path) else value
