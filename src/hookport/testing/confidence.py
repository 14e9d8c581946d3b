"""What a suite that passes does not show: hooks that no case ran, and hooks that no case could fail."""

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
from hookport.testing.bench import Bench, Stock
from hookport.testing.run import STOPPED, Got, Package, place_of
from hookport.testing.session import Result
from hookport.testing.suite import Case, Expected

# The column of cases without agents: the hook by itself.
ALONE = "alone"
TESTED, UNTESTED, LACKING = "tested", "untested", "no such event"


class HookCoverage(NamedTuple):
    """What the cases of a suite show of one hook; `cells` has a word for each agent that they name."""

    place: str
    name: str
    event: str
    is_guard: bool
    cells: dict[str, str]
    # The cases that were for it, and those that only a hook which stops or which lets pass can pass.
    considered: tuple[str, ...] = ()
    stopping: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    # Why it did not match, where it was asked.
    why: str = ""

    @property
    def is_tested(self) -> bool:
        return TESTED in self.cells.values()


class Coverage(NamedTuple):
    """What a suite shows of the hooks of its package, and what it does not show."""

    folder: Path
    shown: str
    hooks: tuple[HookCoverage, ...]
    findings: tuple[Finding, ...]

    @property
    def counts(self) -> tuple[int, int]:
        """The cells that are tested, and all that could be."""
        words = [word for hook in self.hooks for word in hook.cells.values() if word != LACKING]
        return words.count(TESTED), len(words)

    def as_json(self) -> dict[str, object]:
        """The coverage as `--json` prints it."""
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


def measure(results: Sequence[Result]) -> list[Coverage]:
    """What the suites of these results show, all of whose cases ran."""
    measured = []
    with Stock() as stock:
        for folder in dict.fromkeys(one.task.folder for one in results):
            of_suite = [one for one in results if one.task.folder == folder]
            package = next((one.task.package for one in of_suite if one.task.package), None)
            if package is not None and (hooks := _list_hooks(stock, package)):
                measured.append(_measure_suite(folder, of_suite, hooks))
    return measured


def _list_hooks(stock: Stock, package: Package) -> list[tuple[str, PlannedHook]]:
    def listed(place: Bench) -> list[tuple[str, PlannedHook]]:
        return [(place_of(hook, place), hook) for hook in place.hooks]

    try:
        (hooks,) = stock.run_apart(package.origin, package.config.env, [listed])
    except (HookportError, OSError):
        return []
    return hooks


def _measure_suite(
    folder: Path, results: Sequence[Result], hooks: Sequence[tuple[str, PlannedHook]]
) -> Coverage:
    columns = list(
        dict.fromkeys(one.task.agent or ALONE for one in results if isinstance(one.task.entry, Case))
    )
    covered = tuple(_measure_hook(place, hook, results, columns) for place, hook in hooks)
    shown = results[0].task.shown(folder)
    return Coverage(folder, shown, covered, tuple(_doubt(shown, covered, results)))


def _measure_hook(
    place: str, hook: PlannedHook, results: Sequence[Result], columns: Sequence[str]
) -> HookCoverage:
    asked = [(one, run) for one in results if one.got for run in one.got.runs if run.place == place]
    ran = [one for one, run in asked if run.matched and run.result is not None]
    telling = [one for one in ran if one.status == "passed" and _case(one).expected != Expected()]
    tested = {one.task.agent or ALONE for one in telling}
    stopped = [one for one in telling if one.got and one.got.decision.verdict in STOPPED]
    passed = [one for one in telling if one not in stopped]
    return HookCoverage(
        place,
        hook.name,
        hook.native or hook.event,
        is_guard=hook.blocking and not hook.is_async and policy.is_guarded_event(hook.event),
        cells={
            column: TESTED if column in tested else UNTESTED if _fires(column, hook) else LACKING
            for column in columns
        },
        considered=_names(one for one, _ in asked),
        stopping=_names(one for one in stopped if _would_miss_deny(_case(one).expected)),
        passing=_names(one for one in passed if _would_mind_deny(_case(one).expected)),
        why=next((run.why for _, run in asked if not run.matched), ""),
    )


def _case(result: Result) -> Case:
    assert isinstance(result.task.entry, Case)  # noqa: S101  (what ran was read)
    return result.task.entry


def _names(results: Iterable[Result]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.task.name for one in results))


def _fires(column: str, hook: PlannedHook) -> bool:
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


def _doubt(shown: str, hooks: Sequence[HookCoverage], results: Sequence[Result]) -> Iterator[Finding]:
    """Where the suite gives false confidence."""
    for hook in hooks:
        if not hook.is_tested:
            yield f.HookUntested.at(shown, name=hook.name, event=hook.event, why=_explain_untested(hook))
            continue
        if hook.is_guard and not hook.passing:
            yield f.NothingPasses.at(shown, name=hook.name)
        if hook.is_guard and not hook.stopping:
            yield f.NothingStopped.at(shown, name=hook.name)
    for same in _by_case(results):
        yield from _doubt_case(same)


def _explain_untested(hook: HookCoverage) -> str:
    number = len(hook.considered)
    if not number:
        return ""
    if hook.why:
        return f": it matches in none of {number} case{'s' if number > 1 else ''} ({hook.why})"
    return f": none of {number} case{'s' if number > 1 else ''} passes and expects something"


def _by_case(results: Iterable[Result]) -> list[list[Result]]:
    together: dict[Path, list[Result]] = {}
    for one in results:
        if isinstance(one.task.entry, Case):
            together.setdefault(one.task.entry.file, []).append(one)
    return list(together.values())


def _doubt_case(results: Sequence[Result]) -> Iterator[Finding]:
    case, first = _case(results[0]), results[0].task
    where = first.shown(case.file)
    if case.expected == Expected():
        yield f.NothingExpected.at(where, case=case.name)
    idle = [one for one in results if one.status == "passed" and one.got and not _has_run(one.got)]
    if idle and idle[0].got:
        why = next((run.why for run in idle[0].got.runs if not run.matched), "there is none for its event")
        agents = ", ".join(one.task.agent for one in idle if one.task.agent)
        yield f.NothingRan.at(where, case=case.name, agents=agents and f" for {agents}", why=why)


def _has_run(got: Got) -> bool:
    return any(run.matched and run.result is not None for run in got.runs)


def compute_percent(tested: int, total: int) -> float:
    """The share of cells that are tested, rounded down, so that 100 is all of them."""
    return int(1000 * tested / total) / 10 if total else 0.0


def lines(it: Coverage) -> list[str]:
    """Hook by event by agent, as people read it."""
    tested, total = it.counts
    number = sum(hook.is_tested for hook in it.hooks)
    percent = compute_percent(tested, total)
    told = [f"coverage of {it.shown}: {percent:g} % ({number} of {len(it.hooks)} hooks tested)"]
    width = max(len(hook.name) for hook in it.hooks)
    events = max(len(hook.event) for hook in it.hooks)
    for hook in it.hooks:
        told.append(f"  {hook.name:{width}}  {hook.event:{events}}  {_describe(hook)}")
        missing = [agent for agent, word in hook.cells.items() if word == UNTESTED and agent != ALONE]
        if hook.is_tested and missing:
            told.append(f"  {'':{width}}  {'':{events}}  not for {', '.join(missing)}")
    return told


def _describe(hook: HookCoverage) -> str:
    if not hook.is_tested:
        return "untested"
    agents = [word for agent, word in hook.cells.items() if agent != ALONE and word != LACKING]
    by_agent = f"for {agents.count(TESTED)} of {len(agents)} agents, " if agents else ""
    return f"tested {by_agent}stops in {len(hook.stopping)}, passes in {len(hook.passing)} cases"
