"""Words quoted for a POSIX shell, without `shlex`, whose import is too slow for a dispatch."""

from __future__ import annotations

PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")


def quote(word: str) -> str:
    """Quote a word, so that it is neither a keyword nor an assignment."""
    return "'" + word.replace("'", "'\"'\"'") + "'"


def quote_if_needed(word: str) -> str:
    """Quote like `shlex.quote`, for texts that people read."""
    return word if word and PLAIN.issuperset(word) else quote(word)
