"""What a passing suite does not prove: hooks that no case ran, and hooks that no case could fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hookport import findings as f
from hookport.agents import get_wire
from hookport.errors import HookportError
from hookport.findings import Finding
from hookport.runtime import policy
from hookport.runtime.plan import PlannedHook
from hookport.testing.bench import Bench, CopyPool
from hookport.testing.run import STOPPED, CaseRun, Package, name_place
from hookport.testing.session import TaskResult
from hookport.testing.suite import Case, Expected

# The column of cases without agents: the hook by itself.
ALONE = "alone"
TESTED, UNTESTED, LACKING = "tested", "untested", "no such event"


class HookCoverage(NamedTuple):
    """What a suite's cases show about one hook; `cells` has a word for each agent that they name."""

    place: str
    name: str
    event: str
    is_guard: bool
    cells: dict[str, str]
    # Its cases, and those that only a hook that stops, or only a hook that lets pass, can pass.
    considered: tuple[str, ...] = ()
    stopping: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    # Why it did not match a case of its event.
    why: str = ""

    @property
    def is_tested(self) -> bool:
        return TESTED in self.cells.values()


class Coverage(NamedTuple):
    """What a suite shows about its package's hooks, and what it does not."""

    folder: Path
    shown: str
    hooks: tuple[HookCoverage, ...]
    findings: tuple[Finding, ...]

    @property
    def counts(self) -> tuple[int, int]:
        """The tested cells, and all cells."""
        words = [word for hook in self.hooks for word in hook.cells.values() if word != LACKING]
        return words.count(TESTED), len(words)

    def as_json(self) -> dict[str, object]:
        """The coverage in the form of `--json`."""
        tested, total = self.counts
        return {
            "suite": self.shown,
            "percent": compute_percent(tested, total),
            "hooks": [
                {
                    "hook": hook.name,
                    "place": hook.place,
                    "event": hook.event,
                    "agents": hook.cells,
                    "stopped_in": list(hook.stopping),
                    "passes_in": list(hook.passing),
                }
                for hook in self.hooks
            ],
        }


def measure(results: Sequence[TaskResult]) -> list[Coverage]:
    """The coverage of suites, all of whose cases ran."""
    measured = []
    with CopyPool() as pool:
        for folder in dict.fromkeys(result.task.folder for result in results):
            of_suite = [result for result in results if result.task.folder == folder]
            package = next((result.task.package for result in of_suite if result.task.package), None)
            if package is not None and (hooks := _list_hooks(pool, package)):
                measured.append(_measure_suite(folder, of_suite, hooks))
    return measured


def _list_hooks(pool: CopyPool, package: Package) -> list[tuple[str, PlannedHook]]:
    def listed(bench: Bench) -> list[tuple[str, PlannedHook]]:
        return [(name_place(hook, bench), hook) for hook in bench.hooks]

    try:
        (hooks,) = pool.run_apart(package.origin, package.config.env, [listed])
    except (HookportError, OSError):
        return []
    return hooks


def _measure_suite(
    folder: Path, results: Sequence[TaskResult], hooks: Sequence[tuple[str, PlannedHook]]
) -> Coverage:
    columns = list(
        dict.fromkeys(result.task.agent or ALONE for result in results if isinstance(result.task.entry, Case))
    )
    covered = tuple(_measure_hook(place, hook, results, columns) for place, hook in hooks)
    shown = results[0].task.show_path(folder)
    return Coverage(folder, shown, covered, tuple(_find_doubts(shown, covered, results)))


def _measure_hook(
    place: str, hook: PlannedHook, results: Sequence[TaskResult], columns: Sequence[str]
) -> HookCoverage:
    considered = [
        (result, run) for result in results if result.got for run in result.got.runs if run.place == place
    ]
    ran = [result for result, run in considered if run.matched and run.result is not None]
    telling = [
        result for result in ran if result.status == "passed" and _get_case(result).expected != Expected()
    ]
    tested = {result.task.agent or ALONE for result in telling}
    stopped = [result for result in telling if result.got and result.got.decision.verdict in STOPPED]
    passed = [result for result in telling if result not in stopped]
    return HookCoverage(
        place,
        hook.name,
        hook.native or hook.event,
        is_guard=hook.blocking and not hook.is_async and policy.is_guarded_event(hook.event),
        cells={
            column: TESTED if column in tested else UNTESTED if _can_fire(column, hook) else LACKING
            for column in columns
        },
        considered=_list_names(result for result, _ in considered),
        stopping=_list_names(result for result in stopped if _would_miss_deny(_get_case(result).expected)),
        passing=_list_names(result for result in passed if _would_mind_deny(_get_case(result).expected)),
        why=next((run.why for _, run in considered if not run.matched), ""),
    )


def _get_case(result: TaskResult) -> Case:
    assert isinstance(result.task.entry, Case)  # noqa: S101  (what ran was read)
    return result.task.entry


def _list_names(results: Iterable[TaskResult]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(result.task.name for result in results))


def _can_fire(column: str, hook: PlannedHook) -> bool:
    return column == ALONE or hook.event in get_wire(column).events.values()


def _would_mind_deny(expected: Expected) -> bool:
    """Whether a hook that always denies fails the case, given that it passes with one that did not."""
    is_about_output = expected.exit_code is not None or expected.stdout_json is not None
    is_about_effect = expected.updated_input is not None or bool(expected.context_contains)
    return is_about_output or is_about_effect or bool(expected.decision or expected.snapshot)


def _would_miss_deny(expected: Expected) -> bool:
    """Whether a hook that never objects fails the case, given that it passes with one that did."""
    is_about_text = bool(expected.stderr_contains or expected.reason_contains or expected.snapshot)
    is_about_output = expected.exit_code is not None or expected.stdout_json is not None
    return is_about_text or is_about_output or bool(expected.decision)


def _find_doubts(
    shown: str, hooks: Sequence[HookCoverage], results: Sequence[TaskResult]
) -> Iterator[Finding]:
    """Findings about false confidence in the suite."""
    for hook in hooks:
        if not hook.is_tested:
            yield f.HookUntested.at(shown, name=hook.name, event=hook.event, why=_explain_untested(hook))
            continue
        if hook.is_guard and not hook.passing:
            yield f.NothingPasses.at(shown, name=hook.name)
        if hook.is_guard and not hook.stopping:
            yield f.NothingStopped.at(shown, name=hook.name)
    for same in _group_by_case(results):
        yield from _find_case_doubts(same)


def _explain_untested(hook: HookCoverage) -> str:
    number = len(hook.considered)
    if not number:
        return ""
    if hook.why:
        return f": it matches in none of {number} case{'s' if number > 1 else ''} ({hook.why})"
    return f": none of {number} case{'s' if number > 1 else ''} passes with an expectation"


def _group_by_case(results: Iterable[TaskResult]) -> list[list[TaskResult]]:
    together: dict[Path, list[TaskResult]] = {}
    for result in results:
        if isinstance(result.task.entry, Case):
            together.setdefault(result.task.entry.file, []).append(result)
    return list(together.values())


def _find_case_doubts(results: Sequence[TaskResult]) -> Iterator[Finding]:
    case, first = _get_case(results[0]), results[0].task
    where = first.show_path(case.file)
    if case.expected == Expected():
        yield f.NothingExpected.at(where, case=case.name)
    idle = [
        result for result in results if result.status == "passed" and result.got and not _has_run(result.got)
    ]
    if idle and idle[0].got:
        why = next((run.why for run in idle[0].got.runs if not run.matched), "no hook is for its event")
        agents = ", ".join(result.task.agent for result in idle if result.task.agent)
        yield f.NothingRan.at(where, case=case.name, agents=agents and f" for {agents}", why=why)


def _has_run(got: CaseRun) -> bool:
    return any(run.matched and run.result is not None for run in got.runs)


def compute_percent(tested: int, total: int) -> float:
    """The share of tested cells, rounded down, so that 100 means all."""
    return int(1000 * tested / total) / 10 if total else 0.0


def describe_coverage(coverage: Coverage) -> list[str]:
    """Describe the coverage for people: hook by event by agent."""
    tested, total = coverage.counts
    number = sum(hook.is_tested for hook in coverage.hooks)
    percent = compute_percent(tested, total)
    texts = [f"coverage of {coverage.shown}: {percent:g} % ({number} of {len(coverage.hooks)} hooks tested)"]
    width = max(len(hook.name) for hook in coverage.hooks)
    events = max(len(hook.event) for hook in coverage.hooks)
    for hook in coverage.hooks:
        texts.append(f"  {hook.name:{width}}  {hook.event:{events}}  {_describe(hook)}")
        missing = [agent for agent, word in hook.cells.items() if word == UNTESTED and agent != ALONE]
        if hook.is_tested and missing:
            texts.append(f"  {'':{width}}  {'':{events}}  not for {', '.join(missing)}")
    return texts


def _describe(hook: HookCoverage) -> str:
    if not hook.is_tested:
        return "untested"
    agents = [word for agent, word in hook.cells.items() if agent != ALONE and word != LACKING]
    by_agent = f"for {agents.count(TESTED)} of {len(agents)} agents, " if agents else ""
    return f"tested {by_agent}stops in {len(hook.stopping)}, passes in {len(hook.passing)} cases"
