"""Removes what we wrote into a file that was edited since: the other edits stay, to the byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

# Words, spaces, line ends and signs: fine enough for a file of one line.
_TOKEN = re.compile(rb"[\w.$-]+|[ \t]+|\r?\n|[\x80-\xff]+|.", re.DOTALL)
# Comparing takes quadratic time in the worst case; beyond this, whole lines are compared, then nothing.
_MOST_PARTS = 4000


class _Hunk(NamedTuple):
    """A range of one text and its range in another."""

    start: int
    end: int
    there: int
    there_end: int


def take_back(original: bytes, written: bytes, current: bytes) -> bytes | None:
    """The current text without the changes between the first two; None if an edit is amid them.

    An edit that touches them stays, so the caller checks the result before writing it.
    """
    if current == written:
        return original
    ours = list(_find_hunks(written, original))
    # An added line among equal neighbours can be located in two ways, one of which may not touch ours.
    candidates = (
        _merge_edits(original, current, ours, list(_find_hunks(written, current, late=late)))
        for late in (True, False)
    )
    return next((text for text in candidates if text is not None), None)


def _merge_edits(original: bytes, current: bytes, ours: list[_Hunk], edits: list[_Hunk]) -> bytes | None:
    out: list[bytes] = []
    at = 0
    for hunk in ours:
        moved = 0
        for edit in edits:
            if edit.end <= hunk.start < hunk.end or edit.end < hunk.start:
                moved = edit.there_end - edit.end
            elif edit.start < hunk.end or edit.start == hunk.start:
                return None
        out += [current[at : hunk.start + moved], original[hunk.there : hunk.there_end]]
        at = hunk.end + moved
    return b"".join([*out, current[at:]])


def _find_hunks(old: bytes, new: bytes, *, late: bool = True) -> Iterator[_Hunk]:
    """Where two texts differ, in order; as late or as early as possible."""
    head = _count_alike_bytes(old, new) if late else 0
    tail = _count_alike_bytes(old[head:][::-1], new[head:][::-1])
    head = head or _count_alike_bytes(old[: len(old) - tail], new[: len(new) - tail])
    middle, other_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    parts, other_parts = _TOKEN.findall(middle), _TOKEN.findall(other_middle)
    if max(len(parts), len(other_parts)) > _MOST_PARTS:
        parts, other_parts = middle.splitlines(keepends=True), other_middle.splitlines(keepends=True)
    if max(len(parts), len(other_parts)) > _MOST_PARTS:
        parts, other_parts = [middle], [other_middle]
    starts, ends = _find_offsets(parts, head), _find_offsets(other_parts, head)
    for kind, start, end, at, to in SequenceMatcher(None, parts, other_parts, autojunk=False).get_opcodes():
        if kind != "equal":
            yield _Hunk(starts[start], starts[end], ends[at], ends[to])


def _find_offsets(parts: list[bytes], start: int) -> list[int]:
    offsets = [start]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return offsets


def _count_alike_bytes(old: bytes, new: bytes) -> int:
    """How many bytes two texts share at their start."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        half = (low + high + 1) // 2
        if old[low:half] == new[low:half]:
            low = half
        else:
            high = half - 1
    return low
