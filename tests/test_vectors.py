"""Every case of every vector file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import vectors

CASES = [
    pytest.param(path, number, id=f"{path.stem}-{case['name']}")
    for path in sorted(vectors.FOLDER.glob("*.yaml"))
    for number, case in enumerate(vectors.load(path))
]


@pytest.mark.parametrize(("path", "number"), CASES)
def test_case(path: Path, number: int, *, accept: bool) -> None:
    """What comes out is what the case says."""
    cases = vectors.load(path)
    got = vectors.run(path.stem, cases[number])
    if accept and got != cases[number]:
        cases[number] = got
        vectors.save(path, cases)
        return
    assert got == cases[number]
