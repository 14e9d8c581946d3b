"""Every case of every vector file."""

from __future__ import annotations

import pytest

from tests import vectors

CASES = [
    pytest.param(dialect, number, id=f"{dialect}-{case['name']}")
    for dialect in vectors.FILES
    for number, case in enumerate(vectors.cases_of(dialect))
]


@pytest.mark.parametrize(("dialect", "number"), CASES)
def test_case(dialect: str, number: int, *, accept: bool) -> None:
    """What comes out is what the case says."""
    cases = vectors.cases_of(dialect)
    got = vectors.run(dialect, cases[number])
    if accept and got != cases[number]:
        cases[number] = got
        vectors.save(vectors.FILES[dialect], cases)
        return
    assert got == cases[number]
