"""Cases run: the hook alone on its fixture, or through the bridge as each agent would call it."""

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
from hookport.testing.package import Meant, Origin, meant
from hookport.testing.scripted import serve_answers
from hookport.testing.suite import PLACE, Case, Config, overridden, texts_changed
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

# Behind the dialect of a hook that no agent waits for: what it says decides nothing.
UNHEARD = " unheard"
# Tests ask no real model: "no LLM calls, no agent sandbox, CI-safe".
ASKS_MODEL = ("prompt", "agent")
# Verdicts that keep an agent from going on by itself.
STOPPED = ("deny", "ask")
UNFIT = "no agent would run it on this"
NO_MODEL = "the hook asks a model; script what it says with `model-answer`"


class Package(NamedTuple):
    """The hooks under test and what holds for all their cases."""

    folder: Path
    origin: Origin
    config: Config = Config()


class Ran(NamedTuple):
    """One hook of a case: whether it was for the event, and what came of it."""

    name: str
    matched: bool
    why: str
    result: RunResult | None = None
    failure: str = ""
    # Where the hook stands: the file and the place in it.
    place: str = ""


class Got(NamedTuple):
    """What came of an event: what the hooks printed and decided, and what the agent would receive.

    `reason` tells why there is nothing to compare, `late` that the case took longer than it may. Paths of the
    copy are `${PACKAGE_ROOT}` in all texts.
    """

    decision: Decision = Decision()
    runs: tuple[Ran, ...] = ()
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
        """Of several hooks, a block counts most, then any other error."""
        codes = [one.exit_code for one in self.results if one.exit_code is not None]
        return BLOCK if BLOCK in codes else next(filter(None, codes), codes[0] if codes else None)

    @property
    def stdout(self) -> str:
        return "".join(one.stdout for one in self.results)

    @property
    def stderr(self) -> str:
        return "".join(one.stderr for one in self.results)

    @property
    def failures(self) -> list[str]:
        return [f"hook '{run.name}': {run.failure}" for run in self.runs if run.failure]


def run_case(place: Bench, package: Package, case: Case, agent: str = "") -> Got:
    """What comes of a case, for the hook alone or for an agent; UsageError where it cannot be run."""
    found = meant(place.hooks, case.event, case.hook_index)
    if case.answers:
        with serve_answers(case.answers) as variables:
            return _run_meant(place._replace(env={**place.env, **variables}), package, case, found, agent)
    asking = [hook for hook in found.hooks if hook.type in ASKS_MODEL]
    if len(asking) == len(found.hooks):
        return Got(agent=agent, reason=NO_MODEL)
    found = found._replace(hooks=tuple(hook for hook in found.hooks if hook not in asking))
    return _run_meant(place, package, case, found, agent)


def _run_meant(place: Bench, package: Package, case: Case, found: Meant, agent: str) -> Got:
    event, payload = _event(case, found, place)
    if agent:
        return _bridged(place, found.hooks, event, agent, package.config.timeout_seconds)
    return _alone(place, found, event, payload, package.config.timeout_seconds)


def event_of(place: Bench, case: Case) -> Event:
    """The event that a case is about."""
    return _event(case, meant(place.hooks, case.event, case.hook_index), place)[0]


def _event(case: Case, found: Meant, place: Bench) -> tuple[Event, dict[str, Tree] | None]:
    """The event of a case, and the payload as it was written where that is what the hooks read."""
    own = found.hooks[0].dialect
    base = dict(case.fixture) if case.fixture is not None else None
    dialect = case.dialect or (_written_in(base, own, found.event) if base is not None else own)
    it = get_wire(dialect)
    native = _native(it, found, case.event, base or {})
    if base is None:
        base = write_event(it, Event(found.event, dialect, native))
    payload = texts_changed(overridden(base, case.overrides), lambda text: text.replace(PLACE, place.root))
    event = read_event(it, payload, native)
    cwd = event.cwd if event.cwd.startswith(place.root) and Path(event.cwd).is_dir() else place.root
    return event.replace(event=found.event, cwd=cwd, root=place.root), payload if dialect == own else None


def _written_in(payload: Mapping[str, Tree], own: str, event: str) -> str:
    """The dialect of a fixture: the hook's own, unless another's payload is what it must be."""
    found = recognise_payload(payload)
    if not found or any(dialect == own for dialect, _ in found):
        return own
    dialect, native = found[0]
    return dialect if get_wire(dialect).events[native] == event else own


def _native(it: Wire, found: Meant, event: str, payload: Mapping[str, Tree]) -> str:
    """The name of the event in the dialect of the fixture."""
    if it.events.get(event) == found.event:
        return event
    said = find_native_name(it, payload)
    if it.events.get(said) == found.event:
        return said
    hook = found.hooks[0]
    return (
        hook.native if hook.native and hook.dialect == it.id else choose_native(it, Event(found.event, it.id))
    )


def _alone(place: Bench, found: Meant, event: Event, payload: dict[str, Tree] | None, seconds: float) -> Got:
    """Every hook of the group on the payload as it is, whatever its matcher."""
    begun = time.monotonic()
    setting = _setting(place, get_wire(event.agent))
    runs: list[Ran] = []
    decisions: list[Decision] = []
    late = ""
    notes: list[str] = []
    for hook in found.hooks:
        own = get_wire(hook.dialect)
        tree = payload if payload is not None else write_event(own, event, hook.native)
        body = json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogatepass")
        left = seconds - (time.monotonic() - begun)
        result = _executed(hook.replace(is_async=False), own, event, body, left, setting)
        late = late or _late(result, hook, left, seconds)
        fits = match_hook(hook, event, event.call, own)
        natively = engine.is_native(hook, setting.replace(agent=own, natively=True))
        answered = read_answer(hook, own, event, result, natively=natively)
        if not fits.matches:
            notes.append(f"{UNFIT}: {fits.why}")
        elif natively:
            decisions.append(answered.replace(failure=""))
        elif not hook.is_async:
            decisions.append(policy.decide(answered, hook, setting.on_failure))
        result = _named(result, place) or result
        runs.append(Ran(hook.name, fits.matches, fits.why, result, answered.failure, place_of(hook, place)))
    return Got(
        decision=_named_decision(merge.merge_decisions(decisions), place),
        runs=tuple(runs),
        native=event.native,
        payload=place.named(json.dumps(payload, ensure_ascii=False)) if payload is not None else "",
        notes=tuple(notes),
        late=late,
        seconds=time.monotonic() - begun,
        dialect=found.hooks[0].dialect,
        tool=_tool(found.hooks[0], event),
    )


def _executed(
    hook: PlannedHook, own: Wire, event: Event, body: bytes, left: float, setting: engine.RunSetting
) -> RunResult:
    if left <= 0:
        return RunResult("timeout", detail="there was no time left for it")
    if hook.unable:
        return RunResult("spawn_error", detail=hook.unable)
    result = execute(hook, own, event, body, min(left, hook.timeout_seconds), setting)
    return result if result is not None else RunResult("completed", 0)


def _late(result: RunResult | None, hook: PlannedHook, left: float, seconds: float) -> str:
    """Whether it was the case's own time that ran out, not the hook's."""
    if result is None or result.outcome != "timeout" or hook.timeout_seconds < left:
        return ""
    return f"took longer than the {seconds:g} s that a case may take, and was stopped"


def _bridged(place: Bench, hooks: Sequence[PlannedHook], event: Event, agent: str, seconds: float) -> Got:
    """The event as the agent fires it, through all that `hookport dispatch` does."""
    own = get_wire(agent)
    native = event.native if agent == event.agent else find_fired_native(own, event)
    if not native:
        about = f" on {event.call.tool or event.call.native}" if event.call else ""
        return Got(agent=agent, reason=f"no event like {event.event}{about}")
    begun = time.monotonic()
    payload = write_event(own, event.replace(root=place.root))
    if event.call and event.call.tool in TOOLS and not _is_known(read_event(own, payload, native)):
        return Got(agent=agent, reason=f"no tool like {event.call.tool}")
    if all(hook.dialect == agent for hook in hooks) and own.obeys:
        return _by_itself(place, hooks, read_event(own, payload, native), own, seconds)
    body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass")
    wait = find_wait(own, native)
    # Of the time that an agent waits, a dispatch leaves a margin; a case has all of its own.
    mine = min(seconds + MARGIN_SECONDS, seconds / (1 - MARGIN_SHARE))
    ordered = sorted(hooks, key=lambda hook: -hook.priority)
    sources = HookSources(
        own,
        _wires,
        lambda _event: [_heard(hook) for hook in ordered],
        # A case may leave out what every payload of an agent has, such as the tool.
        {**place.settings, "on_tamper": policy.WARN},
        place.root,
        agent_folder=place.root,
    )
    told = dispatch.answer_payload(body, native, sources, place.env, min(mine, wait or mine))
    runs = _list_runs(told.report, place)
    late = ""
    if not wait or mine < wait:
        late = next(
            filter(None, (_late(one.result, one.hook, seconds, seconds) for one in told.report.runs)), ""
        )
    said = told.answer
    return Got(
        decision=_named_decision(told.report.decision, place),
        runs=runs,
        agent=agent,
        native=native,
        payload=place.named(json.dumps(payload, ensure_ascii=False)),
        answer=Answer(place.named(said.stdout), place.named(said.stderr), said.exit_code),
        notes=tuple(map(place.named, told.notes)),
        late=late,
        seconds=time.monotonic() - begun,
        dialect=hooks[0].dialect,
        tool=_tool(hooks[0], event),
    )


def _by_itself(place: Bench, hooks: Sequence[PlannedHook], event: Event, own: Wire, seconds: float) -> Got:
    """The event as an agent fires it whose own hooks these are: no bridge is between them."""
    begun = time.monotonic()
    event = event.replace(cwd=event.cwd or place.root, root=place.root)
    setting = engine.RunSetting(own, _wires, place.env, natively=True, deadline=begun + seconds)
    report = engine.run_hooks(event, [_heard(hook) for hook in hooks], setting)
    late = filter(None, (_late(one.result, one.hook, seconds, seconds) for one in report.runs))
    got = Got(
        decision=_named_decision(report.decision, place),
        runs=_list_runs(report, place),
        agent=own.id,
        native=event.native,
        payload=place.named(json.dumps(write_event(own, event), ensure_ascii=False)),
        notes=tuple(map(place.named, report.notes)),
        late=next(late, ""),
        seconds=time.monotonic() - begun,
        dialect=own.id,
        tool=_tool(hooks[0], event),
    )
    return got._replace(answer=Answer(got.stdout, got.stderr, got.exit_code or 0))


def _list_runs(report: engine.DispatchReport, place: Bench) -> tuple[Ran, ...]:
    return tuple(
        Ran(
            one.hook.name,
            one.matched,
            one.why,
            _named(one.result, place),
            one.answered.failure,
            place_of(one.hook, place),
        )
        for one in report.runs
    )


def place_of(hook: PlannedHook, place: Bench) -> str:
    """Where a hook stands, the same in every copy."""
    return f"{place.named(hook.file)}: {hook.place}"


def _is_known(event: Event) -> bool:
    """Whether the agent names the tool by a word of the vocabulary, or calls that it stands for."""
    call = event.call
    return call is None or (call.known_by == "name" and (call.tool in TOOLS or bool(call.parts)))


def _tool(hook: PlannedHook, event: Event) -> tuple[str, str]:
    call = event.call
    return (call.tool, name_tool(get_wire(hook.dialect), call, hook.native)) if call else ("", "")


def _heard(hook: PlannedHook) -> PlannedHook:
    """A hook that is waited for, so that nothing of a case goes on after it."""
    return hook.replace(is_async=False, dialect=hook.dialect + UNHEARD) if hook.is_async else hook


def _wires(name: str) -> Wire:
    own = get_wire(name.removesuffix(UNHEARD))
    return own.replace(reads={}) if name.endswith(UNHEARD) else own


def _setting(place: Bench, agent: Wire) -> engine.RunSetting:
    return engine.RunSetting(
        agent, get_wire, place.env, policy.find_failure_policy(place.settings, place.env)
    )


def _named(result: RunResult | None, place: Bench) -> RunResult | None:
    if result is None:
        return None
    return result.replace(
        stdout=place.named(result.stdout),
        stderr=place.named(result.stderr),
        detail=place.named(result.detail),
    )


def _named_decision(decision: Decision, place: Bench) -> Decision:
    changed = {
        name: texts_changed(value, place.named)
        for name, value in decision.as_dict().items()
        if isinstance(value, (str, dict, list)) and name != "verdict"
    }
    return decision.replace(**changed)
