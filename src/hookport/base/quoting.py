"""Words as a POSIX shell reads them; `shlex` takes longer to import than a dispatch has time for."""

from __future__ import annotations

PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")


def quote(word: str) -> str:
    """A word in quotes, so that it is neither a keyword nor an assignment."""
    return "'" + word.replace("'", "'\"'\"'") + "'"


def quote_if_needed(word: str) -> str:
    """The same as `shlex.quote`, for what people read."""
    return word if word and PLAIN.issuperset(word) else quote(word)
