"""How commands read names and numbers from their arguments."""

from __future__ import annotations

from argparse import ArgumentTypeError


def split_names(text: str) -> list[str]:
    """Split names at commas; at least one, so that an empty variable does not stand for all of them."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ArgumentTypeError("no name given")
    return names


def parse_count(text: str) -> int:
    """Parse a number that is not negative."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"'{text}' is not a number from 0 on")
    return int(text)
