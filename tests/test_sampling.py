"""What `make test` leaves to `make fuzz` is held by the cases that it runs."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from hookport.agents import list_dialects
from tests.sampling import SAMPLED, Cover, Values, choose, family_of

HERE = Path(__file__).parent
PAIRS: list[tuple[str, Values]] = [
    (f"{source}-to-{target}", {"source": source, "target": target})
    for source, target in itertools.permutations(list_dialects(), 2)
]


@pytest.mark.parametrize("test", SAMPLED)
def test_what_is_sampled_exists(test: str) -> None:
    file, _, function = test.partition("::")
    assert re.search(rf"^def {function or 'test_'}", (HERE / file).read_text("utf-8"), re.MULTILINE)


def test_each_has_every_value_families_every_combination_and_pairs_both() -> None:
    values = dict(PAIRS)
    each: tuple[Cover, ...] = ("each", "pairs")
    for cover, side in itertools.product(each, ("source", "target")):
        assert {values[case][side] for case in choose(PAIRS, cover)} == {*list_dialects()}
    parts = {part for name in list_dialects() for part in family_of(name)}
    possible = {
        pair for pair_of in values.values() for pair in itertools.product(*map(family_of, pair_of.values()))
    }
    combined: tuple[Cover, ...] = ("families", "pairs")
    for cover in combined:
        met = {
            pair
            for case in choose(PAIRS, cover)
            for pair in itertools.product(*map(family_of, values[case].values()))
        }
        assert met == possible
        assert {part for pair in met for part in pair} == parts


@pytest.mark.parametrize("cover", ["pairs", "each", "words", "families", 3])
def test_the_order_of_the_cases_changes_nothing(cover: Any) -> None:
    mixed = sorted(PAIRS, key=lambda case: case[0][::-1])
    assert choose(mixed, cover) == choose(PAIRS, cover) < {case for case, _ in PAIRS}


def test_pairs_grow_with_the_dialects_and_not_with_their_square() -> None:
    parts = {part for name in list_dialects() for part in family_of(name)}
    assert len(choose(PAIRS, "families")) <= len(parts) ** 2
    assert len(choose(PAIRS, "pairs")) <= 2 * len(list_dialects()) + len(parts) ** 2
