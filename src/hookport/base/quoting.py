"""Words as a POSIX shell reads them; `shlex` takes longer to import than a dispatch has time for."""

from __future__ import annotations

PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")


def quote(word: str, *, always: bool = False) -> str:
    """The same as `shlex.quote`; always in quotes, a word is neither a keyword nor an assignment."""
    is_plain = word and PLAIN.issuperset(word) and not always
    return word if is_plain else "'" + word.replace("'", "'\"'\"'") + "'"
