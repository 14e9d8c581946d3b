"""What a case expects against what came of it: every difference, with the path to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hookport.agents import get_wire
from hookport.base.tree import Tree
from hookport.model.runs import Decision
from hookport.testing.run import Got
from hookport.testing.suite import Case, Expected
from hookport.wire.events import read_input

_MISSING = object()


class Difference(NamedTuple):
    """One expectation that does not hold; `got` is empty where the message says all."""

    field: str
    message: str
    expected: str = ""
    got: str = ""


def differences(case: Case, got: Got) -> list[Difference]:
    """Everything that is not as the case expects."""
    if got.late:
        return [Difference("timeout", got.late)]
    wanted = case.expected
    found = [*_failures(wanted, got), *_output(wanted, got), *_decision(wanted, got)]
    if wanted.updated_input is not None:
        found += _input(case, got)
    return found


def _failures(wanted: Expected, got: Got) -> Iterator[Difference]:
    failures = "\n".join(got.failures)
    for text in wanted.failure_contains:
        if text not in failures:
            yield _absent("failure-contains", text, "what failed", failures or "nothing failed")
    if wanted.failure_contains:
        return
    # A script that crashed has no opinion either: a decision alone does not tell it from one that has none.
    is_about_decision = bool(wanted.decision) and wanted.exit_code is None
    for run in got.runs:
        result = run.result
        # An exit code is the author's word; how else a process ends is nobody's.
        if run.failure and (result is None or result.outcome != "completed"):
            yield Difference("failure", f"hook '{run.name}' failed: {run.failure}")
        elif run.failure and is_about_decision:
            meant = "If that is meant, expect it with exit-code or failure-contains"
            yield Difference("failure", f"hook '{run.name}' failed: {run.failure}. {meant}")


def _output(wanted: Expected, got: Got) -> Iterator[Difference]:
    is_about_output = wanted.exit_code is not None or wanted.stderr_contains or wanted.stdout_json is not None
    if is_about_output and not got.results:
        why = "; ".join(f"{run.name}: {run.why}" for run in got.runs if not run.matched)
        yield Difference("hook", f"no hook ran{f' ({why})' if why else ''}, so there is no output")
        return
    if wanted.exit_code is not None and wanted.exit_code != got.exit_code:
        code = "none" if got.exit_code is None else str(got.exit_code)
        yield _differs("exit-code", str(wanted.exit_code), code)
    for text in wanted.stderr_contains:
        if text not in got.stderr:
            yield _absent("stderr-contains", text, "stderr", got.stderr)
    if wanted.stdout_json is not None:
        yield from _stdout(wanted.stdout_json, [one.stdout for one in got.results])
    for text in wanted.not_contains:
        for stream, printed in (("stdout", got.stdout), ("stderr", got.stderr)):
            if text in printed:
                line = next(
                    line for line in printed.splitlines() or [printed] if text in line or "\n" in text
                )
                yield Difference("not-contains", f"{_quoted(text)} is in {stream}", "", line)


def _stdout(wanted: Tree, printed: list[str]) -> list[Difference]:
    """The differences to what one of the hooks printed; of several the one that is nearest."""
    found: list[list[Difference]] = []
    for text in printed:
        try:
            tree = json.loads(text)
        except (ValueError, RecursionError):
            what = "is not JSON" if text.strip() else "is empty"
            shown = json.dumps(wanted, indent=2, ensure_ascii=False)
            found.append([Difference("stdout-json", f"stdout {what}", shown, text.strip())])
        else:
            found.append(list(partial(wanted, tree, "stdout-json")))
    return min(found, key=len)


def _decision(wanted: Expected, got: Got) -> Iterator[Difference]:
    decision = got.decision
    if wanted.decision and wanted.decision != decision.verdict:
        why = _told(decision, got)
        said = f"expected {wanted.decision}, got {decision.verdict}"
        yield Difference("decision", f"{said} ({why})" if why else said, wanted.decision, decision.verdict)
    for field, texts, said in (
        ("reason-contains", wanted.reason_contains, decision.reason),
        ("context-contains", wanted.context_contains, decision.context),
    ):
        for text in texts:
            if text not in said:
                yield _absent(field, text, f"the {field.partition('-')[0]}", said)


def _told(decision: Decision, got: Got) -> str:
    """Why it was decided so, as far as anything says, in one line."""
    unmatched = [f"{run.name} did not run: {run.why}" for run in got.runs if not run.matched]
    return (decision.reason or decision.system_message or "; ".join(unmatched)).partition("\n")[0]


def _input(case: Case, got: Got) -> Iterable[Difference]:
    changed = got.decision.updated_input
    wanted = case.expected.updated_input or {}
    if changed is None:
        shown = json.dumps(wanted, indent=2, ensure_ascii=False)
        return [Difference("updated-input", "the input was not rewritten", shown)]
    if got.dialect:
        # Written with the names of the hook's own dialect or with the canonical ones.
        wanted = read_input(get_wire(got.dialect), *got.tool, wanted)
    return partial(wanted, changed, "updated-input")


def partial(wanted: Tree, got: Tree, path: str) -> Iterator[Difference]:
    """A deep partial match: objects may have more keys, lists have as many elements, the rest is equal."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key, value in wanted.items():
            yield from partial(value, got.get(key, _MISSING), f"{path}.{key}")
    elif isinstance(wanted, list) and isinstance(got, list):
        if len(wanted) != len(got):
            yield _differs(path, f"{len(wanted)} elements", f"{len(got)}: {_json(got)}")
        else:
            for number, (one, other) in enumerate(zip(wanted, got, strict=True)):
                yield from partial(one, other, f"{path}[{number}]")
    elif isinstance(wanted, bool) != isinstance(got, bool) or wanted != got:
        yield _differs(path, _json(wanted), "nothing" if got is _MISSING else _json(got))


def _json(tree: Tree) -> str:
    return json.dumps(tree, ensure_ascii=False, default=str)


def _differs(field: str, wanted: str, got: str) -> Difference:
    if "\n" in wanted + got or len(wanted) + len(got) > 80:
        return Difference(field, "is not as expected", wanted, got)
    return Difference(field, f"expected {wanted}, got {got}", wanted, got)


def _absent(field: str, text: str, where: str, got: str) -> Difference:
    return Difference(field, f"{_quoted(text)} is not in {where}", text, got)


def _quoted(text: str) -> str:
    return f"'{text}'"
