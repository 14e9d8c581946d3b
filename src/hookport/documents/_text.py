"""Plain text documents; the tree is the text itself, byte order mark included."""

from __future__ import annotations

from typing import Any

from hookport.documents._document import Document, Path, make_problem


class TextDocument(Document):
    """A file that is only text."""

    def position(self, path: Path) -> tuple[int, int]:  # noqa: ARG002 - a text has one place
        return 1, 1

    def rewrite(self, tree: Any) -> bytes:
        return dump(tree)


def parse(data: bytes) -> Document:
    try:
        return TextDocument("text", data, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        message = f"byte 0x{data[error.start]:02x} is not valid UTF-8"
        raise make_problem(before, len(before), message) from None


def dump(tree: Any) -> bytes:
    if not isinstance(tree, str):
        raise ValueError("a text document must be a string")
    return tree.encode("utf-8")
