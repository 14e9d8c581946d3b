"""Compares a case's expectations with its outcome: every difference, with its path."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hookport.agents import get_wire
from hookport.base.tree import Tree
from hookport.model.runs import Decision
from hookport.testing.run import CaseRun
from hookport.testing.suite import Case, Expected
from hookport.wire.events import read_input

_MISSING = object()


class Difference(NamedTuple):
    """One expectation that does not hold; `got` is empty if the message is complete without it."""

    field: str
    message: str
    expected: str = ""
    got: str = ""


def find_differences(case: Case, got: CaseRun) -> list[Difference]:
    """Find every difference from what the case expects."""
    if got.late:
        return [Difference("timeout", got.late)]
    expected = case.expected
    differing = [
        *_compare_failures(expected, got),
        *_compare_output(expected, got),
        *_compare_decision(expected, got),
    ]
    if expected.updated_input is not None:
        differing += _compare_input(case, got)
    return differing


def _compare_failures(expected: Expected, got: CaseRun) -> Iterator[Difference]:
    failures = "\n".join(got.failures)
    for text in expected.failure_contains:
        if text not in failures:
            yield _describe_absence("failure-contains", text, "what failed", failures or "nothing failed")
    if expected.failure_contains:
        return
    # A crashed script also has no opinion; the decision alone does not distinguish the two.
    is_about_decision = bool(expected.decision) and expected.exit_code is None
    for run in got.runs:
        result = run.result
        # An author chooses an exit code, but no other way in which a process ends.
        if run.failure and (result is None or result.outcome != "completed"):
            yield Difference("failure", f"hook '{run.name}' failed: {run.failure}")
        elif run.failure and is_about_decision:
            advice = "If that is intended, expect it with exit-code or failure-contains"
            yield Difference("failure", f"hook '{run.name}' failed: {run.failure}. {advice}")


def _compare_output(expected: Expected, got: CaseRun) -> Iterator[Difference]:
    is_about_output = (
        expected.exit_code is not None or expected.stderr_contains or expected.stdout_json is not None
    )
    if is_about_output and not got.results:
        reasons = "; ".join(f"{run.name}: {run.why}" for run in got.runs if not run.matched)
        yield Difference("hook", f"no hook ran{f' ({reasons})' if reasons else ''}, so there is no output")
        return
    if expected.exit_code is not None and expected.exit_code != got.exit_code:
        code = "none" if got.exit_code is None else str(got.exit_code)
        yield _describe_difference("exit-code", str(expected.exit_code), code)
    for text in expected.stderr_contains:
        if text not in got.stderr:
            yield _describe_absence("stderr-contains", text, "stderr", got.stderr)
    if expected.stdout_json is not None:
        yield from _compare_stdout(expected.stdout_json, [result.stdout for result in got.results])
    for text in expected.not_contains:
        for stream, printed in (("stdout", got.stdout), ("stderr", got.stderr)):
            if text in printed:
                line = next(
                    line for line in printed.splitlines() or [printed] if text in line or "\n" in text
                )
                yield Difference("not-contains", f"{_quote(text)} is in {stream}", "", line)


def _compare_stdout(expected: Tree, printed: list[str]) -> list[Difference]:
    """Compare with each hook's stdout; return the fewest differences."""
    candidates: list[list[Difference]] = []
    for text in printed:
        try:
            tree = json.loads(text)
        except (ValueError, RecursionError):
            fault = "is not JSON" if text.strip() else "is empty"
            shown = json.dumps(expected, indent=2, ensure_ascii=False)
            candidates.append([Difference("stdout-json", f"stdout {fault}", shown, text.strip())])
        else:
            candidates.append(list(compare_tree(expected, tree, "stdout-json")))
    return min(candidates, key=len)


def _compare_decision(expected: Expected, got: CaseRun) -> Iterator[Difference]:
    decision = got.decision
    if expected.decision and expected.decision != decision.verdict:
        why = _explain_decision(decision, got)
        text_given = f"expected {expected.decision}, got {decision.verdict}"
        yield Difference(
            "decision", f"{text_given} ({why})" if why else text_given, expected.decision, decision.verdict
        )
    for field, texts, text_given in (
        ("reason-contains", expected.reason_contains, decision.reason),
        ("context-contains", expected.context_contains, decision.context),
    ):
        for text in texts:
            if text not in text_given:
                yield _describe_absence(field, text, f"the {field.partition('-')[0]}", text_given)


def _explain_decision(decision: Decision, got: CaseRun) -> str:
    """The reason of a decision in one line, if there is one."""
    unmatched = [f"{run.name} did not run: {run.why}" for run in got.runs if not run.matched]
    return (decision.reason or decision.system_message or "; ".join(unmatched)).partition("\n")[0]


def _compare_input(case: Case, got: CaseRun) -> Iterable[Difference]:
    changed = got.decision.updated_input
    expected = case.expected.updated_input or {}
    if changed is None:
        shown = json.dumps(expected, indent=2, ensure_ascii=False)
        return [Difference("updated-input", "the hook did not rewrite the input", shown)]
    if got.dialect:
        # With the names of the hook's own dialect or with the canonical names.
        expected = read_input(get_wire(got.dialect), *got.tool, expected)
    return compare_tree(expected, changed, "updated-input")


def compare_tree(expected: Tree, got: Tree, path: str) -> Iterator[Difference]:
    """Match deeply and partially: objects may have more keys, the rest is equal."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key, value in expected.items():
            yield from compare_tree(value, got.get(key, _MISSING), f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            yield _describe_difference(path, f"{len(expected)} elements", f"{len(got)}: {_dump_json(got)}")
        else:
            for number, (expected_value, got_value) in enumerate(zip(expected, got, strict=True)):
                yield from compare_tree(expected_value, got_value, f"{path}[{number}]")
    elif isinstance(expected, bool) != isinstance(got, bool) or expected != got:
        yield _describe_difference(
            path, _dump_json(expected), "nothing" if got is _MISSING else _dump_json(got)
        )


def _dump_json(tree: Tree) -> str:
    return json.dumps(tree, ensure_ascii=False, default=str)


def _describe_difference(field: str, expected: str, got: str) -> Difference:
    if "\n" in expected + got or len(expected) + len(got) > 80:
        return Difference(field, "differs", expected, got)
    return Difference(field, f"expected {expected}, got {got}", expected, got)


def _describe_absence(field: str, text: str, where: str, got: str) -> Difference:
    return Difference(field, f"{_quote(text)} is not in {where}", text, got)


def _quote(text: str) -> str:
    return f"'{text}'"
