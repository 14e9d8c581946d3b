"""Options and profiles that all tests share."""

from __future__ import annotations

import os
import zlib

import pytest
from hypothesis import HealthCheck, settings

from hookport.agents import markers

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


# Of tests whose cases grow with the agents, or start many processes, `make test` runs one case in as many as
# this says, and those that show a parameter's value for the first time; `make fuzz` runs the rest.
SAMPLED = {
    "test_adoption.py": 3,
    "test_agreement.py": 4,
    "test_causes.py": 3,
    "test_copies.py": 4,
    "test_corpus.py::test_every_way_to_name_a_file_gives_the_same_right_answer": 5,
    "test_corpus.py::test_nothing_in_a_file_makes_it_another_dialects_than_that_of_its_place": 3,
    "test_coverage.py::test_the_bridge_runs_what_the_agent_does_not_load": 4,
    "test_covered.py::test_what_disarms_a_guard_is_covered_or_said": 4,
    "test_installs.py::test_adopted_commands_are_a_splice_and_unsync_and_undo_restore_the_bytes": 6,
    "test_installs.py::test_all_agents_at_once_are_taken_back_to_the_byte": 3,
    "test_installs.py::test_sync_adds_ours_once_and_unsync_and_undo_restore_the_bytes": 5,
    "test_installs.py::test_unsync_keeps_a_hook_that_a_person_added_meanwhile": 3,
    "test_installs.py::test_unsync_keeps_what_a_person_changed_meanwhile": 3,
    "test_limits.py::test_context_is_passed_on_or_its_loss_is_told": 3,
    "test_matrix.py::test_nothing_is_lost_in_silence": 5,
    "test_once.py": 3,
    "test_own_output.py": 6,
    "test_runtime_matrix.py": 5,
    "test_runtime_redaction.py::test_it_takes_no_more_than_linear_time": 4,
    "test_sdk.py::test_every_captured_payload_is_answered": 3,
    "test_wrapping.py::test_a_condition_is_kept_by_every_agent": 3,
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave all but a sample of the cases that `SAMPLED` names to `make fuzz`; the same ones in every run."""
    shown: dict[str, set[tuple[str, str]]] = {}
    for item in items:
        test = item.nodeid.partition("[")[0].removeprefix("tests/")
        share = SAMPLED.get(test) or SAMPLED.get(test.partition("::")[0])
        cases = getattr(item, "callspec", None)
        if not share or cases is None:
            continue
        values = (
            {(name, str(value)) for name, value in cases.indices.items()} if len(cases.indices) > 1 else set()
        )
        is_new = not values <= shown.setdefault(test, set())
        if is_new or zlib.crc32(cases.id.encode()) % share == 0:
            shown[test] |= values
        else:
            item.add_marker("long")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--accept` rewrites the expected parts of vectors and transcripts with what came out."""
    parser.addoption("--accept", action="store_true", help="rewrite expected results")


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """Whether expected results are to be rewritten."""
    return bool(request.config.getoption("--accept"))
