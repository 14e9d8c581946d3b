"""Which cases `make test` runs of tests whose cases grow with the agents, or start many processes.

The choice follows from the dialects' tables and the names of the cases: it is the same in every run and for
everybody, and a new agent comes into it by itself. `make fuzz` runs every case.
"""

from __future__ import annotations

import heapq
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

from hookport import documents
from hookport.agents import get, get_wire, list_dialects
from hookport.wire.table import find_table
from tests.oracle import SEATS

# What the chosen cases cover together. `each`: every value. `families`: every layout of files and every form
# of answer of one dialect with each of another, however many dialects there are. `pairs`: both of these, so
# their number grows with the dialects and not with its square. `words`: every dialect that a value begins
# with, and every other word of it. A number: one case in so many.
Cover = Literal["pairs", "each", "words", "families"] | int
# The values of a case's parameters, by the parameters' names.
Values = Mapping[str, str]
Covered = set[tuple[str, ...]]


class Family(NamedTuple):
    """What a dialect shares with others: how its files are laid out, and how it is answered with a deny."""

    layout: str
    answer: str


@cache
def family_of(dialect: str) -> Family:
    """The family that the tables of a dialect put it in."""
    shape, specs = get(dialect).shape, get(dialect).events
    order = "scripts" if shape.in_place else "by event" if shape.by_event else "list"
    layout = f"{documents.detect_kind(get(dialect).locations[0].path)} {order}"
    spec = next((spec for spec in specs if spec.canonical == "before_tool_execute"), specs[0])
    tree = find_table(get_wire(dialect).answers, spec.native, spec.canonical).get("deny", {}).get("json", {})
    return Family(layout, "nested" if "hookSpecificOutput" in tree else "flat" if tree else "exit code")


@cache
def dialect_of(value: str) -> str:
    """The dialect that a value is, or that its name begins with; empty where it names none."""
    if value in SEATS:
        return SEATS[value].agent
    return max((name for name in list_dialects() if f"{value}-".startswith(f"{name}-")), key=len, default="")


def split_words(value: str) -> list[str]:
    dialect = dialect_of(value)
    return [dialect, *value.removeprefix(dialect).split("-")[1:]] if dialect else [value]


def list_traits(value: str) -> list[str]:
    """What is combined of a value: the layout and the form of answer of a dialect, else the value itself."""
    return [*family_of(dialect_of(value))] if dialect_of(value) else [value]


def list_covered(values: Values, cover: str) -> Covered:
    """What a case with these values covers."""
    if cover == "each":
        return {*values.items()}
    if cover == "words":
        return {(name, word) for name, value in values.items() for word in split_words(value)}
    traits = [(name, trait) for name, value in values.items() for trait in list_traits(value)]
    combined = {(*first, *second) for first in traits for second in traits if first[0] < second[0]}
    return {*traits, *combined, *(values.items() if cover == "pairs" else ())}


def choose(cases: Sequence[tuple[str, Values]], cover: Cover) -> set[str]:
    """The ids of few cases that together cover what all do: always that which adds most, ties by name."""
    if isinstance(cover, int):
        numbers = {case: zlib.crc32(case.encode()) for case, _ in cases}
        first = min(numbers, key=lambda case: numbers[case])
        return {case for case, number in numbers.items() if number % cover == 0} | {first}
    covered = {case: list_covered(values, cover) for case, values in cases}
    left: Covered = set().union(*covered.values())
    queue = [(-len(what), zlib.crc32(case.encode()), case) for case, what in covered.items()]
    heapq.heapify(queue)
    chosen: set[str] = set()
    while left:
        _, order, case = heapq.heappop(queue)
        candidate = (-len(covered[case] & left), order, case)
        if queue and candidate > queue[0]:
            heapq.heappush(queue, candidate)
            continue
        chosen.add(case)
        left -= covered[case]
    return chosen


# How the cases are chosen of a test, or of all tests of a file.
SAMPLED: Mapping[str, Cover] = {
    "test_adoption.py": "families",
    "test_adoption.py::test_where_our_entry_would_not_run_it_an_adopted_command_runs": 4,
    "test_agreement.py": 8,
    "test_bridge_failures.py::test_a_deny_arrives_whatever_its_text": "each",
    "test_bridge_failures.py::test_approvals_that_cannot_be_read_deny_where_something_was_approved": 3,
    "test_bridge_failures.py::test_every_decision_arrives_whole_and_small": "families",
    "test_cases.py::test_hooks_that_ask_a_model_get_a_scripted_answer": 2,
    "test_cases_mutate.py::test_what_is_said_to_have_the_same_effect_has_it": 3,
    "test_causes.py": 4,
    "test_channels.py": "families",
    "test_copies.py::test_a_script_that_manifests_of_several_agents_start_runs_once": 3,
    "test_copies.py::test_links_from_every_other_place_run_once_everywhere": 8,
    "test_corpus.py::test_every_way_to_name_a_file_gives_the_same_right_answer": 12,
    "test_corpus.py::test_nothing_in_a_file_makes_it_another_dialects_than_that_of_its_place": "families",
    "test_coverage.py::test_an_impossible_name_costs_no_other_hook": "each",
    "test_coverage.py::test_every_command_agrees_on_who_runs_a_hook": 12,
    "test_coverage.py::test_the_bridge_runs_what_the_agent_does_not_load": 24,
    "test_covered.py::test_what_disarms_a_guard_is_covered_or_said": 5,
    "test_doctor_probe.py::test_an_entry_that_does_not_reach_a_hook_is_found": "each",
    "test_examples.py::test_every_case_passes_for_every_agent": 3,
    "test_install_doctor.py::test_an_unapproved_hook_of_another_agents_file_is_an_error": "families",
    "test_install_sync.py::test_a_second_sync_writes_nothing_and_all_can_be_taken_back": "families",
    "test_installs.py::test_a_file_that_cannot_be_read_is_refused_and_untouched": "words",
    "test_installs.py::test_adopted_commands_are_a_splice_and_unsync_and_undo_restore_the_bytes": "families",
    "test_installs.py::test_all_agents_at_once_are_taken_back_to_the_byte": 6,
    "test_installs.py::test_sync_adds_ours_once_and_unsync_and_undo_restore_the_bytes": "words",
    "test_installs.py::test_unsync_keeps_a_hook_that_a_person_added_meanwhile": 10,
    "test_installs.py::test_unsync_keeps_what_a_person_changed_meanwhile": 10,
    "test_limits.py::test_context_is_passed_on_or_its_loss_is_told": "families",
    "test_matrix.py::test_nothing_is_lost_in_silence": "pairs",
    "test_mcp_matchers.py::test_a_converted_matcher_never_matches_less": "pairs",
    "test_mcp_matchers.py::test_the_bridge_never_matches_less": "pairs",
    "test_once.py": "families",
    "test_own_output.py": "families",
    "test_round_trip.py::test_a_file_of_the_corpus_can_be_said_in_every_dialect": 4,
    "test_round_trip.py::test_a_file_of_the_corpus_means_the_same_when_it_comes_back": 4,
    "test_runtime_dispatch.py::test_a_payload_that_cannot_be_read": "each",
    "test_runtime_matrix.py": "each",
    "test_runtime_redaction.py::test_it_takes_no_more_than_linear_time": 6,
    "test_sdk.py::test_every_agent_is_told_in_its_own_terms": "families",
    "test_sdk.py::test_every_captured_payload_is_answered": 8,
    "test_serve_stdio.py::test_a_host_that_cannot_be_made_is_told_why": 3,
    "test_serve_stdio.py::test_an_error_is_an_answer": 3,
    "test_setups.py::test_what_a_script_may_do_without_is_not_missed": 3,
    "test_setups.py::test_what_is_wrong_is_found_and_the_fix_is_named": 5,
    "test_terminal.py::test_a_stream_that_the_caller_closed_is_no_bug": "each",
    "test_terminal.py::test_no_command_prints_what_steers_a_terminal": 3,
    "test_unknown_tools.py": "pairs",
    "test_variables.py::test_an_installed_command_has_defaults": "families",
    "test_wrapping.py::test_a_condition_is_kept_by_every_agent": "families",
    "test_wrapping.py::test_a_matcher_that_cannot_be_read_matches": "each",
    "test_wrapping.py::test_a_matcher_that_the_target_drops_by_its_own_rules_is_kept": "each",
    "test_wrapping.py::test_a_model_guards_every_agent": "families",
    "test_wrapping.py::test_a_url_guards_every_agent": "families",
}
