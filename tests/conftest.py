"""Options and profiles that all tests share."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from hookport.agents import list_markers
from tests import WRITES_NO_BYTECODE
from tests.sampling import SAMPLED, choose

settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fuzz", deadline=None, max_examples=10_000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# What a shell starts in its background ignores SIGINT, and under nohup SIGHUP: children would inherit that,
# while a signal that has a handler is back at its default in them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)

# The `python3` that a version manager puts on the path is a shell script that takes longer than Python does.
_python = shutil.which("python3")
if _python and Path(_python).read_bytes()[:2] == b"#!":
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.base_prefix, "bin")), os.environ["PATH"]))

# Tests approve hooks, and an agent that runs them may not.
for _marker in list_markers():
    os.environ.pop(_marker.partition("=")[0], None)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Twice as many as there are cores: much of the time is spent waiting for children."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to `make fuzz` all cases of the tests in `SAMPLED` but those that cover what all of them do."""
    groups: dict[str, list[pytest.Function]] = {}
    for item in items:
        is_left = item.get_closest_marker("long") or item.get_closest_marker("skip")
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and not is_left:
            groups.setdefault(item.nodeid.partition("[")[0].removeprefix("tests/"), []).append(item)
    for test, cases in groups.items():
        cover = SAMPLED.get(test) or SAMPLED.get(test.partition("::")[0])
        if not cover:
            continue
        chosen = choose([(case.callspec.id, values_of(case)) for case in cases], cover)
        for case in cases:
            if case.callspec.id not in chosen:
                case.add_marker("long")


def pytest_collection_finish(session: pytest.Session) -> None:
    """The code under test writes bytecode only where the environment lets it."""
    sys.dont_write_bytecode = WRITES_NO_BYTECODE


def values_of(case: pytest.Function) -> dict[str, str]:
    """The values of a case's parameters in words that are the same in every run."""
    words = {name: word(value) for name, value in case.callspec.params.items()}
    # What has no words is told by the case's own name.
    return {name: said if said is not None else case.callspec.id for name, said in words.items()}


def word(value: object) -> str | None:
    if isinstance(value, (str, int, float, bytes, type(None), timedelta)):
        return str(value)
    return str(getattr(value, "__qualname__", "")) or None


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--accept` rewrites the expected parts of vectors and transcripts with what came out."""
    parser.addoption("--accept", action="store_true", help="rewrite expected results")


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """Whether expected results are to be rewritten."""
    return bool(request.config.getoption("--accept"))
