"""Options and profiles that all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fuzz", deadline=None, max_examples=10_000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--accept` rewrites the expected parts of vectors and transcripts with what came out."""
    parser.addoption("--accept", action="store_true", help="rewrite expected results")


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """Whether expected results are to be rewritten."""
    return bool(request.config.getoption("--accept"))
