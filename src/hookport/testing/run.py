"""Runs cases: the hook alone on its fixture, or through the bridge as each agent would call it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.agents import get_wire, recognise_payload
from hookport.base.tree import Tree
from hookport.model.runs import BLOCK, Answer, Decision, Event, RunResult
from hookport.model.tools import TOOLS
from hookport.runtime import dispatch, engine, merge, policy
from hookport.runtime.handlers import execute, read_answer
from hookport.runtime.occasion import MARGIN_SECONDS, MARGIN_SHARE
from hookport.runtime.plan import PlannedHook
from hookport.runtime.select import match_hook
from hookport.runtime.sources import HookSources
from hookport.testing.bench import Bench
from hookport.testing.package import CaseHooks, PackageOrigin, select_hooks
from hookport.testing.scripted import serve_answers
from hookport.testing.suite import PACKAGE_ROOT, Case, Config, apply_overrides, change_texts
from hookport.wire.events import (
    choose_native,
    find_fired_native,
    find_native_name,
    name_tool,
    read_event,
    write_event,
)
from hookport.wire.table import Wire, find_wait

Status = Literal["passed", "failed", "not applicable"]

# The suffix of an async hook's dialect: no agent waits for it, so its answer decides nothing.
NOT_AWAITED = " unheard"
# Tests ask no real model: "no LLM calls, no agent sandbox, CI-safe".
ASKS_MODEL = ("prompt", "agent")
# Verdicts that keep an agent from continuing alone.
STOPPED = ("deny", "ask")
UNFIT = "no agent would run it on this payload"
NO_MODEL = "the hook asks a model; script its answer with `model-answer`"


class Package(NamedTuple):
    """The hooks under test and the settings of all their cases."""

    folder: Path
    origin: PackageOrigin
    config: Config = Config()


class HookRun(NamedTuple):
    """One hook in a run: whether it matched the event, and its result."""

    name: str
    matched: bool
    why: str
    result: RunResult | None = None
    failure: str = ""
    # The hook's file and its place in it.
    place: str = ""


class CaseRun(NamedTuple):
    """One run of a case: what the hooks printed and decided, and the answer that the agent would receive.

    `reason` is why there is nothing to compare; `late`: the case exceeded its time. All texts have
    `${PACKAGE_ROOT}` instead of the copy's path.
    """

    decision: Decision = Decision()
    runs: tuple[HookRun, ...] = ()
    agent: str = ""
    native: str = ""
    payload: str = ""
    answer: Answer | None = None
    notes: tuple[str, ...] = ()
    reason: str = ""
    late: str = ""
    seconds: float = 0.0
    # The hook's dialect, and the tool by its canonical name and by that dialect's.
    dialect: str = ""
    tool: tuple[str, str] = ("", "")

    @property
    def results(self) -> list[RunResult]:
        return [run.result for run in self.runs if run.result is not None]

    @property
    def exit_code(self) -> int | None:
        """The exit code of several hooks: a block counts most, then any other error."""
        codes = [result.exit_code for result in self.results if result.exit_code is not None]
        return BLOCK if BLOCK in codes else next(filter(None, codes), codes[0] if codes else None)

    @property
    def stdout(self) -> str:
        return "".join(result.stdout for result in self.results)

    @property
    def stderr(self) -> str:
        return "".join(result.stderr for result in self.results)

    @property
    def failures(self) -> list[str]:
        return [f"hook '{run.name}': {run.failure}" for run in self.runs if run.failure]


def run_case(bench: Bench, package: Package, case: Case, agent: str = "") -> CaseRun:
    """Run a case for the hook alone or for an agent; UsageError if it cannot run."""
    selected = select_hooks(bench.hooks, case.event, case.hook_index)
    if case.answers:
        with serve_answers(case.answers) as variables:
            return _run_selected(
                bench._replace(env={**bench.env, **variables}), package, case, selected, agent
            )
    asking = [hook for hook in selected.hooks if hook.type in ASKS_MODEL]
    if len(asking) == len(selected.hooks):
        return CaseRun(agent=agent, reason=NO_MODEL)
    selected = selected._replace(hooks=tuple(hook for hook in selected.hooks if hook not in asking))
    return _run_selected(bench, package, case, selected, agent)


def _run_selected(bench: Bench, package: Package, case: Case, selected: CaseHooks, agent: str) -> CaseRun:
    event, payload = _read_event(case, selected, bench)
    if agent:
        return _run_bridged(bench, selected.hooks, event, agent, package.config.timeout_seconds)
    return _run_alone(bench, selected, event, payload, package.config.timeout_seconds)


def read_case_event(bench: Bench, case: Case) -> Event:
    """Read the event of a case."""
    return _read_event(case, select_hooks(bench.hooks, case.event, case.hook_index), bench)[0]


def _read_event(case: Case, selected: CaseHooks, bench: Bench) -> tuple[Event, dict[str, Tree] | None]:
    """Read the event of a case, and its payload if the hooks read it as written."""
    hook_dialect = selected.hooks[0].dialect
    base = dict(case.fixture) if case.fixture is not None else None
    dialect = case.dialect or (
        _find_dialect(base, hook_dialect, selected.event) if base is not None else hook_dialect
    )
    fixture_wire = get_wire(dialect)
    native = _find_native(fixture_wire, selected, case.event, base or {})
    if base is None:
        base = write_event(fixture_wire, Event(selected.event, dialect, native))
    payload = change_texts(
        apply_overrides(base, case.overrides), lambda text: text.replace(PACKAGE_ROOT, bench.root)
    )
    event = read_event(fixture_wire, payload, native)
    cwd = event.cwd if event.cwd.startswith(bench.root) and Path(event.cwd).is_dir() else bench.root
    return event.replace(
        event=selected.event, cwd=cwd, root=bench.root
    ), payload if dialect == hook_dialect else None


def _find_dialect(payload: Mapping[str, Tree], hook_dialect: str, event: str) -> str:
    """The dialect of a fixture: the hook's own, unless only another dialect has such a payload."""
    candidates = recognise_payload(payload)
    if not candidates or any(dialect == hook_dialect for dialect, _ in candidates):
        return hook_dialect
    dialect, native = candidates[0]
    return dialect if get_wire(dialect).events[native] == event else hook_dialect


def _find_native(fixture_wire: Wire, selected: CaseHooks, event: str, payload: Mapping[str, Tree]) -> str:
    """The event's name in the fixture's dialect."""
    if fixture_wire.events.get(event) == selected.event:
        return event
    native = find_native_name(fixture_wire, payload)
    if fixture_wire.events.get(native) == selected.event:
        return native
    hook = selected.hooks[0]
    return (
        hook.native
        if hook.native and hook.dialect == fixture_wire.id
        else choose_native(fixture_wire, Event(selected.event, fixture_wire.id))
    )


def _run_alone(
    bench: Bench, selected: CaseHooks, event: Event, payload: dict[str, Tree] | None, seconds: float
) -> CaseRun:
    """Run every hook of the group on the unchanged payload, whatever its matcher."""
    started = time.monotonic()
    setting = _make_setting(bench, get_wire(event.agent))
    runs: list[HookRun] = []
    decisions: list[Decision] = []
    late = ""
    notes: list[str] = []
    for hook in selected.hooks:
        hook_wire = get_wire(hook.dialect)
        tree = payload if payload is not None else write_event(hook_wire, event, hook.native)
        body = json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogatepass")
        remaining = seconds - (time.monotonic() - started)
        result = _execute(hook.replace(is_async=False), hook_wire, event, body, remaining, setting)
        late = late or _explain_late(result, hook, remaining, seconds)
        fits = match_hook(hook, event, event.call, hook_wire)
        natively = engine.is_native(hook, setting.replace(agent=hook_wire, natively=True))
        answered = read_answer(hook, hook_wire, event, result, natively=natively)
        if not fits.matches:
            notes.append(f"{UNFIT}: {fits.why}")
        elif natively:
            decisions.append(answered.replace(failure=""))
        elif not hook.is_async:
            decisions.append(policy.decide(answered, hook, setting.on_failure))
        result = _hide_paths(result, bench) or result
        runs.append(
            HookRun(hook.name, fits.matches, fits.why, result, answered.failure, name_place(hook, bench))
        )
    return CaseRun(
        decision=_hide_decision_paths(merge.merge_decisions(decisions), bench),
        runs=tuple(runs),
        native=event.native,
        payload=bench.hide_paths(json.dumps(payload, ensure_ascii=False)) if payload is not None else "",
        notes=tuple(notes),
        late=late,
        seconds=time.monotonic() - started,
        dialect=selected.hooks[0].dialect,
        tool=_name_tool(selected.hooks[0], event),
    )


def _execute(
    hook: PlannedHook,
    hook_wire: Wire,
    event: Event,
    body: bytes,
    remaining: float,
    setting: engine.RunSetting,
) -> RunResult:
    if remaining <= 0:
        return RunResult("timeout", detail="no time left for it")
    if hook.unable:
        return RunResult("spawn_error", detail=hook.unable)
    result = execute(hook, hook_wire, event, body, min(remaining, hook.timeout_seconds), setting)
    return result if result is not None else RunResult("completed", 0)


def _explain_late(result: RunResult | None, hook: PlannedHook, remaining: float, seconds: float) -> str:
    """A message if the case's time ended before the hook's timeout; else empty."""
    if result is None or result.outcome != "timeout" or hook.timeout_seconds < remaining:
        return ""
    return f"took longer than a case's limit of {seconds:g} s, and was stopped"


def _run_bridged(
    bench: Bench, hooks: Sequence[PlannedHook], event: Event, agent: str, seconds: float
) -> CaseRun:
    """Run the event as the agent fires it, through the whole of `hookport dispatch`."""
    agent_wire = get_wire(agent)
    native = event.native if agent == event.agent else find_fired_native(agent_wire, event)
    if not native:
        about = f" on {event.call.tool or event.call.native}" if event.call else ""
        return CaseRun(agent=agent, reason=f"no event like {event.event}{about}")
    started = time.monotonic()
    payload = write_event(agent_wire, event.replace(root=bench.root))
    if event.call and event.call.tool in TOOLS and not _is_known(read_event(agent_wire, payload, native)):
        return CaseRun(agent=agent, reason=f"no tool like {event.call.tool}")
    if all(hook.dialect == agent for hook in hooks) and agent_wire.obeys:
        return _run_natively(bench, hooks, read_event(agent_wire, payload, native), agent_wire, seconds)
    body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass")
    wait = find_wait(agent_wire, native)
    # A dispatch keeps a margin of the agent's waiting time; a case uses all of its time.
    case_seconds = min(seconds + MARGIN_SECONDS, seconds / (1 - MARGIN_SHARE))
    ordered = sorted(hooks, key=lambda hook: -hook.priority)
    sources = HookSources(
        agent_wire,
        _find_wire,
        lambda _event: [_make_awaited(hook) for hook in ordered],
        # A case may omit a field that every payload of an agent has, such as the tool.
        {**bench.settings, "on_tamper": policy.WARN},
        bench.root,
        agent_folder=bench.root,
    )
    dispatched = dispatch.answer_payload(
        body, native, sources, bench.env, min(case_seconds, wait or case_seconds)
    )
    runs = _list_runs(dispatched.report, bench)
    late = ""
    if not wait or case_seconds < wait:
        late = next(
            filter(
                None,
                (_explain_late(run.result, run.hook, seconds, seconds) for run in dispatched.report.runs),
            ),
            "",
        )
    answer = dispatched.answer
    return CaseRun(
        decision=_hide_decision_paths(dispatched.report.decision, bench),
        runs=runs,
        agent=agent,
        native=native,
        payload=bench.hide_paths(json.dumps(payload, ensure_ascii=False)),
        answer=Answer(bench.hide_paths(answer.stdout), bench.hide_paths(answer.stderr), answer.exit_code),
        notes=tuple(map(bench.hide_paths, dispatched.notes)),
        late=late,
        seconds=time.monotonic() - started,
        dialect=hooks[0].dialect,
        tool=_name_tool(hooks[0], event),
    )


def _run_natively(
    bench: Bench, hooks: Sequence[PlannedHook], event: Event, agent_wire: Wire, seconds: float
) -> CaseRun:
    """Run the event as fired by the hooks' own agent, without the bridge."""
    started = time.monotonic()
    event = event.replace(cwd=event.cwd or bench.root, root=bench.root)
    setting = engine.RunSetting(agent_wire, _find_wire, bench.env, natively=True, deadline=started + seconds)
    report = engine.run_hooks(event, [_make_awaited(hook) for hook in hooks], setting)
    late = filter(None, (_explain_late(run.result, run.hook, seconds, seconds) for run in report.runs))
    got = CaseRun(
        decision=_hide_decision_paths(report.decision, bench),
        runs=_list_runs(report, bench),
        agent=agent_wire.id,
        native=event.native,
        payload=bench.hide_paths(json.dumps(write_event(agent_wire, event), ensure_ascii=False)),
        notes=tuple(map(bench.hide_paths, report.notes)),
        late=next(late, ""),
        seconds=time.monotonic() - started,
        dialect=agent_wire.id,
        tool=_name_tool(hooks[0], event),
    )
    return got._replace(answer=Answer(got.stdout, got.stderr, got.exit_code or 0))


def _list_runs(report: engine.DispatchReport, bench: Bench) -> tuple[HookRun, ...]:
    return tuple(
        HookRun(
            run.hook.name,
            run.matched,
            run.why,
            _hide_paths(run.result, bench),
            run.answered.failure,
            name_place(run.hook, bench),
        )
        for run in report.runs
    )


def name_place(hook: PlannedHook, bench: Bench) -> str:
    """The place of a hook, the same in every copy."""
    return f"{bench.hide_paths(hook.file)}: {hook.place}"


def _is_known(event: Event) -> bool:
    """Whether the agent has the canonical tool, or tools that it stands for."""
    call = event.call
    return call is None or (call.known_by == "name" and (call.tool in TOOLS or bool(call.parts)))


def _name_tool(hook: PlannedHook, event: Event) -> tuple[str, str]:
    call = event.call
    return (call.tool, name_tool(get_wire(hook.dialect), call, hook.native)) if call else ("", "")


def _make_awaited(hook: PlannedHook) -> PlannedHook:
    """Make a hook synchronous, so that nothing of a case outlives it."""
    return hook.replace(is_async=False, dialect=hook.dialect + NOT_AWAITED) if hook.is_async else hook


def _find_wire(name: str) -> Wire:
    hook_wire = get_wire(name.removesuffix(NOT_AWAITED))
    return hook_wire.replace(reads={}) if name.endswith(NOT_AWAITED) else hook_wire


def _make_setting(bench: Bench, agent: Wire) -> engine.RunSetting:
    return engine.RunSetting(
        agent, get_wire, bench.env, policy.find_failure_policy(bench.settings, bench.env)
    )


def _hide_paths(result: RunResult | None, bench: Bench) -> RunResult | None:
    if result is None:
        return None
    return result.replace(
        stdout=bench.hide_paths(result.stdout),
        stderr=bench.hide_paths(result.stderr),
        detail=bench.hide_paths(result.detail),
    )


def _hide_decision_paths(decision: Decision, bench: Bench) -> Decision:
    changed = {
        name: change_texts(value, bench.hide_paths)
        for name, value in decision.as_dict().items()
        if isinstance(value, (str, dict, list)) and name != "verdict"
    }
    return decision.replace(**changed)
