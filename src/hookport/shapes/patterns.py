"""Compile patterns that people wrote: an error is returned as text, never raised or warned."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

# Rust regular expressions have neither look-around nor references to groups (crate regex).
NOT_RUST = re.compile(r"\(\?<?[=!]|\(\?P=|\\[1-9]")


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> re.Pattern[str] | str:
    """The compiled pattern, or why Python refuses it."""
    try:
        # Python warns of sets such as `[[a]`, which other engines read as it does.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)


def is_pattern(pattern: str) -> bool:
    """Whether Python accepts the pattern."""
    return not isinstance(compile_pattern(pattern), str)


def is_rust_pattern(pattern: str) -> bool:
    """Whether agents that are written in Rust accept the pattern too."""
    return is_pattern(pattern) and not NOT_RUST.search(pattern)
