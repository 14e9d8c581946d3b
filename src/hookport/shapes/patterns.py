"""Compile patterns that people wrote: an error is returned as text, never raised or warned."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import lru_cache

from hookport.findings import Finding, MatcherDropped
from hookport.model.hooks import Hook

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


def drop_patterns_unlike_rust(target: str) -> Callable[[list[Hook]], tuple[list[Hook], list[Finding]]]:
    """The last step before encoding for an agent whose engine takes what Rust's takes, as Go's does.

    Another pattern never matches there, or keeps the agent from loading its file, so it is dropped.
    """

    def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
        findings: list[Finding] = []
        adjusted: list[Hook] = []
        for number, hook in enumerate(hooks):
            patterns = [term.value for term in hook.matcher if term.kind == "pattern"]
            lost = [pattern for pattern in patterns if not is_rust_pattern(pattern)]
            if lost:
                findings.append(MatcherDropped.at("", number, target=target, matcher="|".join(lost)))
            adjusted.append(hook._replace(matcher=()) if lost else hook)
        return adjusted, findings

    return adjust
