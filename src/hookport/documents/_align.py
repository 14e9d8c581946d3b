"""Which old items a new list keeps; equal items are matched first, then similar ones."""

from __future__ import annotations

import json
from typing import Any

from hookport.documents._document import is_same_tree

# Above this many cells exact alignment would be slow, so a single forward pass is used.
_EXACT_CELLS = 40_000
_EQUAL = 1000.0

Pairs = list[tuple[int | None, int | None]]


def align(old: list[Any], new: list[Any]) -> Pairs:
    """Return pairs (old index, new index) in order; None on one side is a removal or an addition."""
    head = 0
    while head < min(len(old), len(new)) and is_same_tree(old[head], new[head]):
        head += 1
    tail = 0
    limit = min(len(old), len(new)) - head
    while tail < limit and is_same_tree(old[-1 - tail], new[-1 - tail]):
        tail += 1
    old_rest, new_rest = old[head : len(old) - tail], new[head : len(new) - tail]
    exact = len(old_rest) * len(new_rest) <= _EXACT_CELLS
    middle = _pair_exact(old_rest, new_rest) if exact else _pair_forward(old_rest, new_rest)
    pairs: Pairs = [(i, i) for i in range(head)]
    pairs += [(None if i is None else head + i, None if j is None else head + j) for i, j in middle]
    pairs += [(len(old) - k, len(new) - k) for k in range(tail, 0, -1)]
    return pairs


def anchor_additions(old: dict[str, int], new: dict[str, Any]) -> dict[int, list[str]]:
    """Group added keys by the index of the kept member they follow (-1: before every member)."""
    after: dict[int, list[str]] = {}
    anchor = -1
    for key in new:
        if key in old:
            anchor = old[key]
        else:
            after.setdefault(anchor, []).append(key)
    return after


def _fingerprint(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def _measure_likeness(old: Any, new: Any) -> float:
    if isinstance(old, dict) and isinstance(new, dict):
        shared = sum(1 for key in old if key in new and is_same_tree(old[key], new[key]))
        common = sum(1 for key in old if key in new)
        return 1 + (2 * shared + common) / (1 + max(len(old), len(new)))
    if isinstance(old, list) and isinstance(new, list):
        shared = sum(map(is_same_tree, old, new))
        return 1 + shared / (1 + max(len(old), len(new)))
    if isinstance(old, (dict, list)) or isinstance(new, (dict, list)):
        return 0.25
    return 0.5


def _pair_exact(old: list[Any], new: list[Any]) -> Pairs:
    rows, columns = len(old), len(new)
    old_prints, new_prints = [_fingerprint(v) for v in old], [_fingerprint(v) for v in new]
    score = [
        [
            _EQUAL if old_prints[i] == new_prints[j] else _measure_likeness(old[i], new[j])
            for j in range(columns)
        ]
        for i in range(rows)
    ]
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            best[i][j] = max(best[i + 1][j + 1] + score[i][j], best[i + 1][j], best[i][j + 1])
    pairs: Pairs = []
    i = j = 0
    while i < rows and j < columns:
        if best[i][j] == best[i + 1][j + 1] + score[i][j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            pairs.append((i, None))
            i += 1
        else:
            pairs.append((None, j))
            j += 1
    pairs += [(k, None) for k in range(i, rows)]
    pairs += [(None, k) for k in range(j, columns)]
    return pairs


def _pair_forward(old: list[Any], new: list[Any]) -> Pairs:
    places: dict[str, list[int]] = {}
    for i in range(len(old) - 1, -1, -1):
        places.setdefault(_fingerprint(old[i]), []).append(i)
    pairs: Pairs = []
    cursor = 0
    waiting: list[int] = []
    for j, value in enumerate(new):
        stack = places.get(_fingerprint(value), [])
        while stack and stack[-1] < cursor:
            stack.pop()
        if not stack:
            waiting.append(j)
            continue
        old_index = stack.pop()
        pairs += _pair_by_index(range(cursor, old_index), waiting)
        pairs.append((old_index, j))
        cursor, waiting = old_index + 1, []
    return pairs + _pair_by_index(range(cursor, len(old)), waiting)


def _pair_by_index(old: range, new: list[int]) -> Pairs:
    paired: Pairs = list(zip(old, new, strict=False))
    rest_old: Pairs = [(i, None) for i in old[len(new) :]]
    rest_new: Pairs = [(None, j) for j in new[len(old) :]]
    return paired + rest_old + rest_new
