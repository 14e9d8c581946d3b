"""What `make test` leaves to `make fuzz` is held by the cases that it runs."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from hookport.agents import list_dialects
from tests.sampling import SAMPLED, Values, choose, family_of

HERE = Path(__file__).parent
PAIRS: list[tuple[str, Values]] = [
    (f"{source}-to-{target}", {"source": source, "target": target})
    for source, target in itertools.permutations(list_dialects(), 2)
]


@pytest.mark.parametrize("test", SAMPLED)
def test_what_is_sampled_exists(test: str) -> None:
    file, _, function = test.partition("::")
    assert re.search(rf"^def {function or 'test_'}", (HERE / file).read_text("utf-8"), re.MULTILINE)


def test_pairs_have_every_dialect_on_both_sides_with_each_layout_and_form_of_answer() -> None:
    chosen = choose(PAIRS, "pairs")
    for this, other in (("source", "target"), ("target", "source")):
        met = {
            (values[this], part)
            for case, values in PAIRS
            if case in chosen
            for part in family_of(values[other])
        }
        possible = {(values[this], part) for _, values in PAIRS for part in family_of(values[other])}
        assert met == possible


def test_each_has_every_value_and_families_every_combination_of_them() -> None:
    values = dict(PAIRS)
    for side in ("source", "target"):
        assert {values[case][side] for case in choose(PAIRS, "each")} == {*list_dialects()}
    parts = {part for name in list_dialects() for part in family_of(name)}
    met = {
        pair
        for case in choose(PAIRS, "families")
        for pair in itertools.product(*map(family_of, values[case].values()))
    }
    possible = {
        pair for pair_of in values.values() for pair in itertools.product(*map(family_of, pair_of.values()))
    }
    assert met == possible
    assert {part for pair in met for part in pair} == parts


@pytest.mark.parametrize("cover", ["pairs", "each", "words", "families", 3])
def test_the_order_of_the_cases_changes_nothing(cover: Any) -> None:
    mixed = sorted(PAIRS, key=lambda case: case[0][::-1])
    assert choose(mixed, cover) == choose(PAIRS, cover) < {case for case, _ in PAIRS}


def test_pairs_grow_with_the_dialects_and_not_with_their_square() -> None:
    few = len(choose(PAIRS, "pairs"))
    parts = {part for name in list_dialects() for part in family_of(name)}
    assert few <= 2 * len(list_dialects()) * len(parts)
    assert len(choose(PAIRS, "families")) <= len(parts) ** 2
