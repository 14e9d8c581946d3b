"""What every kind of document shares: its interface, its errors, strict equality and bounds."""

from __future__ import annotations

from typing import Any, NamedTuple

Path = tuple[str | int, ...]

# Deeper trees than this are refused, so that recursive code never meets the interpreter's limit.
MAX_DEPTH = 100
# CPython refuses to print integers above 4300 decimal digits; 14,000 bits stay below that.
MAX_INT_BITS = 14_000

BOM = b"\xef\xbb\xbf"


class SyntaxProblem(Exception):  # noqa: N818 - the user sees a problem, not an error of ours
    """Bytes that are not a document of the expected kind, with line and column from 1."""

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(f"{line}:{column}: {message}")
        self.line = line
        self.column = column
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.line, self.column, self.message)


class RewriteFailed(RuntimeError):  # noqa: N818 - the same family of names
    """A rewrite that does not read back as the intended tree; its bytes are withheld."""


class Duplicate(NamedTuple):
    """A repeated key of an object: the path, and the place of the later key."""

    path: Path
    line: int
    column: int


class Document:
    """A parsed file: its bytes, its tree, and how to write a changed tree back."""

    kind: str
    data: bytes
    tree: Any

    def __init__(self, kind: str, data: bytes, tree: Any) -> None:
        self.kind = kind
        self.data = data
        self.tree = tree

    @property
    def duplicates(self) -> list[Duplicate]:
        """Every repeated key, in file order."""
        return []

    # Places where the text was read as intended, although its format refuses it.
    repairs: list[tuple[int, int]] = []  # noqa: RUF012  (replaced, never changed)

    def position(self, path: Path) -> tuple[int, int]:
        """Line and column of the value at path, or of its nearest existing ancestor."""
        raise NotImplementedError

    def rewrite(self, tree: Any) -> bytes:
        """Splice the differing members of a tree into the document's bytes.

        The comparison is with the file's own content, so a caller may change `tree` in place.
        """
        raise NotImplementedError


def decode(data: bytes) -> tuple[bytes, str]:
    """Split off the byte order mark, if any, from the text."""
    bom = BOM if data.startswith(BOM) else b""
    try:
        return bom, data[len(bom) :].decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[len(bom) : len(bom) + error.start].decode("utf-8")
        bad = data[len(bom) + error.start]
        raise make_problem(before, len(before), f"byte 0x{bad:02x} is not valid UTF-8") from None


def find_line_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1; LF, CRLF and a lone CR end a line."""
    before = text[:offset]
    line = before.count("\n") + before.count("\r") - before.count("\r\n") + 1
    return line, offset - max(before.rfind("\n"), before.rfind("\r"))


def make_problem(text: str, offset: int, message: str) -> SyntaxProblem:
    return SyntaxProblem(*find_line_column(text, offset), message)


def detect_newline(text: str) -> str:
    for at, char in enumerate(text):
        if char == "\n":
            return "\n"
        if char == "\r":
            return "\r\n" if text[at + 1 : at + 2] == "\n" else "\r"
    return "\n"


def is_same_tree(old: Any, new: Any) -> bool:
    """Equality that distinguishes true, 1 and 1.0, treats NaN as equal, and ignores key order."""
    if old is new:
        return True
    if isinstance(old, dict):
        return (
            isinstance(new, dict)
            and len(old) == len(new)
            and all(key in new and is_same_tree(value, new[key]) for key, value in old.items())
        )
    if isinstance(old, list):
        return isinstance(new, list) and len(old) == len(new) and all(map(is_same_tree, old, new))
    if type(old) is not type(new):
        return False
    if isinstance(old, (str, int)):
        return bool(old == new)
    return repr(old) == repr(new)


def find_out_of_bounds(tree: Any) -> str | None:
    """Explain why a tree is too deep or a number too long; empty if neither."""
    level = [tree]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        nested = False
        for value in level:
            if isinstance(value, dict):
                nested = True
                below += value.values()
            elif isinstance(value, list):
                nested = True
                below += value
            elif isinstance(value, int) and value.bit_length() > MAX_INT_BITS:
                return "a number has too many digits"
        if not nested:
            return None
        level = below
    return TOO_DEEP


TOO_DEEP = f"nested too deeply (more than {MAX_DEPTH} levels)"


def check_new(tree: Any) -> None:
    """Refuse to write a tree that cannot be read back."""
    reason = find_out_of_bounds(tree)
    if reason:
        raise ValueError(f"cannot write this tree: {reason}")
