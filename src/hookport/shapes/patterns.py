"""Patterns that people wrote, compiled: what is wrong with one is a word, never an exception or a warning."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> re.Pattern[str] | str:
    """The pattern, or why Python does not take it."""
    try:
        # Python warns of sets such as `[[a]`, which other engines read as it does.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)


def is_pattern(pattern: str) -> bool:
    """Whether a pattern is one."""
    return not isinstance(compile_pattern(pattern), str)
