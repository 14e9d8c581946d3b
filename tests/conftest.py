"""Options and profiles that all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from hookport.dialects import markers

settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fuzz", deadline=None, max_examples=10_000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# Tests approve hooks, and an agent that runs them may not.
for _marker in markers():
    os.environ.pop(_marker.partition("=")[0], None)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Half as many again as there are cores: much of the time is spent waiting for children."""
    cores = os.cpu_count() or 1
    return cores + (cores + 1) // 2


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--accept` rewrites the expected parts of vectors and transcripts with what came out."""
    parser.addoption("--accept", action="store_true", help="rewrite expected results")


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """Whether expected results are to be rewritten."""
    return bool(request.config.getoption("--accept"))
