"""The texts of the source speak plain technical English: active voice, the field's own words."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookport.findings import KINDS
from hookport.findings.kinds import Kind

SOURCE = Path(__file__).parent.parent / "src" / "hookport"
MODULES = sorted(SOURCE.rglob("*.py"))
# Each phrase reads as if translated, with the words to use instead.
BANNED = {
    r"\bhears\b": "receives, or expects",
    r"\b(?:is|are|was|were|be) told\b(?! apart)": "gets, receives, sees",
    r"\btells of\b": "reports",
    r"\bwithout a word\b(?! on)": "silently",
    r"\ball the same\b": "anyway",
    r"\bas it is now\b": "the current ...",
    r"\bis not there\b|\bis there already\b|\bare there already\b": "does not exist, exists",
    r"\blooked at\b": "checked",
    r"\banew\b": "re- with a verb: rebuilds, rewrites",
    r"\btaken apart\b": "parsed, split",
    r"\btaken for\b": "read as, treated as",
    r"\bstands? (?:there|where|twice)\b": "is, appears",
    r"\bhas its place\b": "belongs",
    r"\bis no (?:file|hook|lock|record|object|text|path|regular|tool|time|agent)\b": "is not a ...",
    r"\bno \w+ (?:that )?we know\b": "unknown ...",
    r"\bgets? the \w+ as it is\b": "unchanged",
}
# Words that open a sentence only if its subject is missing.
OPENERS = re.compile(
    r"(?:Looked|Asked|Told|Said|Heard|Found|Taken|Made|Given|Kept|Left) (?:at|by|for|in|of|out)\b"
)
# A message is a literal of several words; a template of code or a pattern has other signs.
LEAST_WORDS = 4


def find_banned(text: str) -> str:
    """Name the banned phrase of a text, with the words to use; empty if the text has none."""
    flat = " ".join(text.split())
    for phrase, better in BANNED.items():
        if match := re.search(phrase, flat, re.IGNORECASE):
            return f"'{match[0]}' in '{flat[max(0, match.start() - 40) : match.end() + 40]}': {better}"
    return ""


def list_docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every docstring."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), text


def list_messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every literal that reads as a sentence or a part of one."""
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            words = re.findall(r"[a-z']+", node.value)
            if len(words) >= LEAST_WORDS and "\\" not in node.value:
                yield node.lineno, node.value


def list_comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every comment; the lines of a block are joined."""
    block: list[str] = []
    start = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last + 1:
                if block:
                    yield start, " ".join(block)
                block, start = [], token.start[0]
            block.append(token.string.lstrip("# "))
            last = token.start[0]
    if block:
        yield start, " ".join(block)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_has_no_banned_phrase(path: Path) -> None:
    """Docstrings, messages and comments."""
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    texts = [*list_docstrings(tree), *list_messages(tree), *list_comments(source)]
    faults = [f"{path}:{line}: {fault}" for line, text in texts if (fault := find_banned(text))]
    faults += [
        f"{path}:{line}: no subject in '{text.splitlines()[0]}'"
        for line, text in texts
        if OPENERS.match(text)
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.code)
def test_a_finding_is_short_and_ends_as_a_sentence(kind: type[Kind]) -> None:
    """The message starts in lower case, unless a word is emphasised; hint and page end with a full stop."""
    summary = (kind.__doc__ or "").splitlines()[0]
    assert summary.endswith("."), summary
    assert not kind.hint or kind.hint.endswith((".", "{fix}", "{way}", "`", "{script}", "}")), kind.hint
    assert len(kind.message) <= 140, kind.message
    assert not kind.message[:1].isupper() or kind.message.split()[0].isupper(), kind.message


def test_the_banned_phrases_are_found() -> None:
    """A check that finds nothing proves nothing."""
    assert (
        find_banned("the hook is told no path")
        == "'is told' in 'the hook is told no path': gets, receives, sees"
    )
    assert find_banned("the hook gets no path") == ""
    assert OPENERS.match("Looked at are the paths of write and edit tools.")
