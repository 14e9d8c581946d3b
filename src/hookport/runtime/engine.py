"""One event through all matching hooks: each sees the input as rewritten, all decide together."""

from __future__ import annotations

import os
import sys
import time

from hookport.model.runs import Decision, RunResult
from hookport.model.value import Value
from hookport.runtime import merge, policy, surroundings, trust
from hookport.runtime.select import find_native_event, find_targets
from hookport.wire.answers import NOT_STARTED
from hookport.wire.events import recast_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from hookport.base.tree import Tree
    from hookport.model.runs import Call, Event
    from hookport.runtime.execute.hosted import HostExecutor
    from hookport.runtime.handlers import Job
    from hookport.runtime.plan import PlannedHook
    from hookport.wire.table import Wire

    Work = Generator[Job, RunResult | None, None]

# A hook runs for each part of a patch or a batch, up to this many.
MOST_PARTS = 200
# Why a paused hook did not run.
PAUSED = "paused by its user"


class HookRun(Value):
    """What one hook did on one event."""

    hook: PlannedHook
    matched: bool
    why: str
    # Its decision, policy included; its answer before policy; how its process ended.
    decision: Decision = Decision()
    answered: Decision = Decision()
    result: RunResult | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class DispatchReport(Value):
    """The event with its call as rewritten, the decision of all hooks, and each hook's run."""

    event: Event
    decision: Decision
    runs: tuple[HookRun, ...] = ()
    notes: tuple[str, ...] = ()


class RunSetting(Value):
    """The setting of a run, besides the event and the hooks."""

    agent: Wire
    wires: Callable[[str], Wire]
    env: Mapping[str, str]
    on_failure: str = policy.OPEN
    on_tamper: str = policy.DENY
    # When the agent stops waiting, on the monotonic clock.
    deadline: float | None = None
    # Called in the process that waits for an async hook.
    done: Callable[[PlannedHook, RunResult], None] | None = None
    # The project's root, if its hooks need the user's approval.
    project: str = ""
    # Hooks that the user paused, and until when (see `pauses`).
    paused: Mapping[str, float] = {}
    # The model that hooks ask, from approved settings.
    llm: Mapping[str, str] = {}
    # The agent itself runs hooks of its own dialect, so its own rule reads their answers.
    natively: bool = False
    # Handlers that are functions, by the ids of their hooks; their rewrites contain the whole input.
    functions: Mapping[str, Callable[[Event], Sequence[Decision]]] = {}
    # How commands are started where the process is another program's; None where it is ours.
    executor: HostExecutor | None = None


def run_hooks(event: Event, hooks: Iterable[PlannedHook], setting: RunSetting) -> DispatchReport:
    """Run the hooks on the event, in parallel if none needs the rewrite of an earlier one.

    Their decisions are merged in order, whichever ends first. Hooks after one that rewrites the input wait
    for it. After an unexpected rewrite, the later hooks run again.
    """
    rest, copies = _drop_copies(event, list(hooks), setting)
    runs: list[HookRun] = []
    while rest:
        batch = rest[: next((number for number, hook in enumerate(rest, 1) if hook.rewrites), len(rest))]
        stopped = {run.hook.dialect for run in runs if _stops(run, setting)}
        done = _run_side_by_side(event, batch, stopped, setting)
        for number in range(len(batch)):
            hook_run, after = done[number]
            runs.append(hook_run)
            if after is not event:
                event, batch = after, batch[: number + 1]
                break
        rest = rest[len(batch) :]
    decision = merge.merge_decisions(run.decision for run in runs)
    if setting.natively and all(is_native(run.hook, setting) for run in runs):
        from hookport.wire.obeyed import merge_natively

        decision = merge_natively(setting.agent, [run.decision for run in runs], decision)
    notes = tuple(note for run in runs for note in run.notes)
    return DispatchReport(event, decision, (*runs, *copies), notes)


def _drop_copies(
    event: Event, hooks: list[PlannedHook], setting: RunSetting
) -> tuple[list[PlannedHook], list[HookRun]]:
    """Drop copies: return the hooks to run for an event, and the runs of the skipped copies."""
    if not any(map(_has_repeats, ([hook.once for hook in hooks], [hook.does for hook in hooks]))):
        return hooks, []
    from hookport.runtime import copies

    rest, spared = copies.drop_copies(event, hooks, setting)
    return rest, [HookRun(hook, matched=False, why=why) for hook, why in spared]


def _has_repeats(names: list[str]) -> bool:
    present = list(filter(None, names))
    return len(set(present)) < len(present)


def _stops(run: HookRun, setting: RunSetting) -> bool:
    """Whether a run stops the later hooks of the same format."""
    return run.decision.verdict == "deny" and _takes_turns(run.hook, setting)


def _run_side_by_side(
    event: Event, hooks: Sequence[PlannedHook], stopped: set[str], setting: RunSetting
) -> dict[int, tuple[HookRun, Event]]:
    """Run hooks in parallel; return each run by number, with its rewritten event, up to the first rewrite.

    Hooks of a format that stops at a deny run in turn.
    """
    lanes: dict[Tree, list[int]] = {}
    for number, hook in enumerate(hooks):
        lanes.setdefault(hook.dialect if _takes_turns(hook, setting) else number, []).append(number)
    # Hooks that may deny start first, because the agent waits only so long.
    order = sorted(lanes.values(), key=lambda lane: not any(hooks[number].blocking for number in lane))
    done: dict[int, tuple[HookRun, Event]] = {}
    work = [
        _run_in_turn([(number, hooks[number]) for number in lane], event, stopped, setting, done)
        for lane in order
    ]
    executor = setting.executor
    if (len(work) == 1 and executor is None) or os.name == "nt":
        for task in work:
            _run_alone(task)
    else:
        from hookport.runtime.execute import parallel

        parallel.run(work, executor.stop if executor else -1)
    return done


def _takes_turns(hook: PlannedHook, setting: RunSetting) -> bool:
    try:
        return "stops at deny" in setting.wires(hook.dialect).traits
    except Exception:  # noqa: BLE001  (an unknown dialect is reported when its hook runs)
        return False


def _run_in_turn(
    hooks: Sequence[tuple[int, PlannedHook]],
    event: Event,
    stopped: set[str],
    setting: RunSetting,
    done: dict[int, tuple[HookRun, Event]],
) -> Work:
    """Run hooks one after the other: yield each job and receive its result."""
    for number, hook in hooks:
        if hook.dialect in stopped:
            why = "an earlier hook of the same format denied"
            done[number] = HookRun(hook, matched=False, why=why), event
            continue
        try:
            run, after = yield from _run_hook(hook, setting.wires(hook.dialect), event, setting)
        except Exception as error:  # noqa: BLE001  (what we stumble over with one hook must not undo a deny of others)
            run, after = _report_crash(hook, error, setting), event
        done[number] = run, after
        if _stops(run, setting):
            stopped = {*stopped, hook.dialect}
        if after is not event:  # the hooks after it get the new event
            return


def _run_alone(work: Work) -> None:
    result = None
    try:
        while True:
            result = work.send(result)()
    except StopIteration:
        return


def _report_crash(hook: PlannedHook, error: Exception, setting: RunSetting) -> HookRun:
    answered = Decision(failure=f"{NOT_STARTED}: {type(error).__name__}: {error}")
    decision = policy.decide(answered, hook, setting.on_failure, setting.on_tamper)
    return HookRun(hook, matched=True, why="it may match this event", decision=decision, answered=answered)


def _report_unapproved(hook: PlannedHook, why: str, objection: str, setting: RunSetting) -> HookRun:
    """Report a hook that does not run; a lasting cause is not repeated on every event."""
    answered = Decision(failure=objection)
    decision = policy.decide(answered, hook, setting.on_failure, setting.on_tamper)
    if hook.trust.get("quiet") and decision.verdict != "deny":
        decision = Decision()
    return HookRun(hook, matched=True, why=why, decision=decision, answered=answered)


def explain_hooks(event: Event, hooks: Iterable[PlannedHook], setting: RunSetting) -> list[HookRun]:
    """Explain whether each hook would run, and why, without running any."""
    planned = list(hooks)
    spared = {id(run.hook): run for run in _drop_copies(event, planned, setting)[1]}
    runs = []
    for hook in planned:
        if id(hook) in spared:
            runs.append(spared[id(hook)])
            continue
        targets, why, notes = find_targets(hook, setting.wires(hook.dialect), event)
        runs.append(HookRun(hook, matched=bool(targets), why=why, notes=notes))
    return runs


def _run_hook(
    hook: PlannedHook, wire: Wire, event: Event, setting: RunSetting
) -> Generator[Job, RunResult | None, tuple[HookRun, Event]]:
    targets, why, notes = find_targets(hook, wire, event)
    if not targets:
        return HookRun(hook, matched=False, why=why), event
    if aside := _explain_set_aside(hook, setting):
        return HookRun(hook, matched=False, why=aside), event
    hook = trust.judge_hook(hook, setting.project, setting.env) if setting.project else hook
    if objection := _find_objection(hook, setting):
        return _report_unapproved(hook, why, objection, setting), event
    if len(targets) > MOST_PARTS and hook.id not in setting.functions:
        # Running for each part, the hook might not finish before the agent stops waiting.
        count = len(targets)
        reason = f"one call has {count} parts that hook '{hook.name}' checks. Use at most {MOST_PARTS}."
        return HookRun(hook, matched=True, why=why, decision=Decision("deny", reason)), event
    begun = time.monotonic()
    decisions: list[Decision] = []
    answers: list[Decision] = []
    result: RunResult | None = None
    for number, word in targets:
        call = event.call
        shown = event.replace(call=_select_call(setting.agent, call, number, word))
        handler_answers, result, more_notes = yield from _ask_handler(hook, wire, shown, setting)
        notes += tuple(note for note in more_notes if note not in notes)
        notes += tuple(
            "noise: it prints other text beside its answer" for answer in handler_answers if answer.noise
        )
        for answered in handler_answers:
            decision = _apply_policy(answered, hook, setting)
            if answered.updated_input is not None and call is not None:
                event = event.replace(call=_rewrite_call(setting.agent, event, number, answered))
                decision = decision.replace(updated_input=event.call.input if event.call else None)
            decisions.append(decision)
            answers.append(answered)
        if any(decision.verdict == "deny" for decision in decisions):
            break
    notes += _note_unread_variables(hook, wire, event, setting)
    failures = [answer for answer in answers if answer.failure]
    if failures and (objection := _find_objection(hook, setting)):
        # It was changed after the check: what failed is not what was approved.
        return _report_unapproved(hook, why, objection, setting), event
    done = HookRun(
        hook,
        matched=True,
        why=why,
        decision=merge.merge_decisions(decisions),
        answered=failures[0] if failures else merge.merge_decisions(answers),
        result=result,
        seconds=time.monotonic() - begun,
        notes=notes,
    )
    return done, event


def _find_objection(hook: PlannedHook, setting: RunSetting) -> str:
    return trust.find_hook_objection(hook, setting.project, setting.env) if setting.project else ""


def _ask_handler(
    hook: PlannedHook, wire: Wire, event: Event, setting: RunSetting
) -> Generator[Job, RunResult | None, tuple[Sequence[Decision], RunResult | None, tuple[str, ...]]]:
    """Return a handler's answer, with notes: a function answers at once, others through a job's result."""
    if function := setting.functions.get(hook.id):
        return function(event), None, ()
    if quick := sys.modules.get("hookport.loading"):
        quick.load(quick.RUNNING)
    from hookport.runtime import handlers

    job = handlers.make_event_job(hook, wire, event, setting)
    result = yield job
    answered = handlers.read_result(hook, wire, event, result, natively=is_native(hook, setting))
    return [answered], result, job.notes


def _note_unread_variables(
    hook: PlannedHook, wire: Wire, event: Event, setting: RunSetting
) -> tuple[str, ...]:
    """Note the variables that a hook sets for the agent's shells and that no shell reads."""
    if hook.id in setting.functions:
        return ()
    unread = surroundings.find_unread_variables(
        wire, event, find_native_event(hook, wire, event), setting.env
    )
    return (f"variables: no shell of the agent reads {unread}",) if unread else ()


def _explain_set_aside(hook: PlannedHook, setting: RunSetting) -> str:
    """Explain why the user keeps a matching hook from running; empty if it runs."""
    if setting.paused or hook.root:
        from hookport.runtime import pauses

        # A pause belongs to one project.
        paused = pauses.find_pauses(hook.root, setting.env) if hook.root else setting.paused
        if over := pauses.find_pause_end(paused, hook.name):
            return f"{PAUSED} until {pauses.format_time(over)}"
    return "a hook of the project overrides it" if setting.project and trust.is_overridden(hook) else ""


def _select_call(agent: Wire, call: Call | None, number: int, word: str) -> Call | None:
    """Select what a hook sees of a call: a part or all; the hook's own kind, if several are possible."""
    part = call.parts[number] if call is not None and number >= 0 else call
    is_other = part is not None and part.known_by == "input" and word not in ("", part.tool)
    return recast_call(agent, part, word) if part is not None and is_other else part


def _apply_policy(answered: Decision, hook: PlannedHook, setting: RunSetting) -> Decision:
    """Apply policy to a failure; an agent that runs the hook itself applies its own rule."""
    if is_native(hook, setting):
        return answered.replace(failure="")
    return policy.decide(answered, hook, setting.on_failure, setting.on_tamper)


def is_native(hook: PlannedHook, setting: RunSetting) -> bool:
    """Whether the agent runs a hook itself, without the bridge."""
    is_own = hook.dialect == setting.agent.id and hook.type == "command" and not hook.is_async
    return setting.natively and is_own and bool(setting.agent.obeys)


def _rewrite_call(agent: Wire, event: Event, number: int, answered: Decision) -> Call:
    from hookport.wire.rewrites import rewrite_call, rewrite_part

    call, changed = event.call, answered.updated_input or {}
    assert call is not None  # noqa: S101  (a rewrite is of a call)
    if number >= 0:
        return rewrite_part(agent, call, number, changed)
    return rewrite_call(agent, call, changed)


def is_unapproved(run: HookRun) -> bool:
    """Whether a hook did not run because its user has not approved it."""
    return run.answered.failure.startswith(trust.NOT_APPROVED) and run.decision.verdict != "deny"


def add_failure(report: DispatchReport, failure: str, on_failure: str) -> DispatchReport:
    """Add to the report the policy's decision on a failure outside hooks."""
    failed = policy.decide(Decision(failure=failure), None, on_failure)
    return report.replace(decision=merge.merge_decisions([report.decision, failed]))
