"""How commands read names and numbers from their arguments."""

from __future__ import annotations

from argparse import ArgumentTypeError


def split_names(text: str) -> list[str]:
    """Split names at commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def parse_count(text: str) -> int:
    """Parse a number that is not negative."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"'{text}' is not a number from 0 on")
    return int(text)
