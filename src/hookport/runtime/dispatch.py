"""One event from its payload to its answer: what agents call on every event.

Only the answer touches stdout. Every error is a failure for policy to decide, never a traceback.
"""

from __future__ import annotations

import os
import time

from hookport.model.runs import Call, Decision
from hookport.runtime import (
    engine,
    journal,
    merge,
    once,
    plan,
    policy,
    protection,
    records,
    sessions,
    trust,
)
from hookport.runtime.answer import DispatchResult, build_answer, show_denial_reason
from hookport.runtime.occasion import find_start_folder, limit_wait, parse_payload, read_occasion
from hookport.runtime.sources import is_every_paused, load_pauses
from hookport.wire.spellings import has_mark
from hookport.wire.table import find_wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookport.base.tree import Tree
    from hookport.model.runs import Event
    from hookport.runtime.execute.hosted import HostExecutor
    from hookport.runtime.occasion import Occasion
    from hookport.runtime.sources import HookSources
    from hookport.wire.table import Wire


def answer_payload(
    data: bytes, native: str, sources: HookSources, env: Mapping[str, str], within: float = 0.0
) -> DispatchResult:
    """Answer a payload."""
    return answer_event(read_occasion(parse_payload(data), native, sources, env), sources, env, within)


def answer_event(
    occasion: Occasion,
    sources: HookSources,
    env: Mapping[str, str],
    within: float = 0.0,
    begun: float = 0.0,
    executor: HostExecutor | None = None,
) -> DispatchResult:
    """Run the hooks of an event, answer in the agent's terms and write the journal.

    `begun` is when the agent started to wait, where that is not now. `executor` starts commands in a process
    that is not ours.
    """
    begun = begun or time.monotonic()
    agent, event = occasion.agent, occasion.event
    if occasion.failure:
        on_failure = policy.find_failure_policy(sources.settings, env)
        report = engine.DispatchReport(event, Decision())
        report = _add_unasked_guards(report, sources, env, occasion.failure, on_failure)
        report = _limit_stops(event, report, agent, env)
    else:
        event = _fill_folders(event, sources)
        hooks = list(sources.hooks(event))
        if sources.renew and plan.has_changed_scripts(hooks):
            sources = sources.renew().replace(entry=sources.entry)
            hooks = list(sources.hooks(event))
        setting = _make_setting(occasion, event, sources, env, begun, within).replace(executor=executor)
        report = _run_or_replay(event, hooks, sources, setting)
        if agent.id != sources.agent.id:
            note = f"caller: recognised as {agent.id}, the entry is for {sources.agent.id}"
            report = report.replace(notes=(note, *report.notes))
    result = _build_answer(event, show_denial_reason(event, report, agent), agent)
    try:
        record = records.make_record(event, result, time.monotonic() - begun)
        record[journal.INPUT_HASH] = records.hash_input(event, occasion.payload)
    except Exception:  # noqa: BLE001  (a decision that was taken reaches the agent)
        record = {"agent": agent.id, "decision": {"verdict": report.decision.verdict}}
    journal.write(record, env)
    return result


def _fill_folders(event: Event, sources: HookSources) -> Event:
    """Fill in the folders of an event where the agent did not send them."""
    cwd = event.cwd or event.root or sources.agent_folder or find_start_folder()
    return event.replace(cwd=cwd, root=event.root or sources.root or cwd)


def _make_setting(
    occasion: Occasion,
    event: Event,
    sources: HookSources,
    env: Mapping[str, str],
    begun: float,
    within: float,
) -> engine.RunSetting:
    wait = find_wait(occasion.agent, event.native, within)
    setting = engine.RunSetting(
        occasion.agent,
        sources.wires,
        env,
        policy.find_failure_policy(sources.settings, env),
        policy.find_tamper_policy(sources.settings),
        deadline=begun + limit_wait(wait) if wait else None,
        done=lambda hook, result: records.write_late_record(event, hook, result, setting),
        project=(sources.root or os.sep) if sources.needs_approval else "",
        llm=sources.settings.get("llm", {}),
        paused=load_pauses(sources.root, env) if sources.needs_approval else {},
    )
    return setting


def _build_answer(event: Event, report: engine.DispatchReport, agent: Wire) -> DispatchResult:
    """Build the answer; one that cannot be written becomes a deny, since its content would be lost."""
    try:
        return build_answer(event, report, agent)
    except Exception as error:  # noqa: BLE001  (a decision that was taken reaches the agent)
        failure = f"hookport could not write the answer: {type(error).__name__}: {error}"
        if event.event in sessions.STOPS and report.decision.verdict != "deny":
            return build_answer(event, report.replace(decision=Decision(system_message=failure)), agent)
        reason = report.decision.reason if report.decision.verdict == "deny" else failure
        return build_answer(event, report.replace(decision=Decision("deny", reason)), agent)


def _is_echo(agent: Wire, event: Event) -> bool:
    """Whether an event fired again although nothing new happened."""
    marks = agent.by_event.get(event.native, {}).get("echoes")
    if isinstance(marks, (list, tuple)):
        return any(has_mark(event.extra, mark) for mark in marks)
    return bool(marks) and not event.prompt


def _run_or_replay(
    event: Event, hooks: Sequence[plan.PlannedHook], sources: HookSources, setting: engine.RunSetting
) -> engine.DispatchReport:
    """Run the hooks, or replay what another entry decided on the same call."""
    if _is_echo(setting.agent, event):
        return engine.DispatchReport(event, Decision(), notes=("echo: duplicate event for the same prompt",))
    turn = None
    if sources.entry is not None and (hooks or sources.broken or event.event == "session_start"):
        # A `wrap` runs its command only; a `dispatch` runs all matching hooks.
        command = None if sources.needs_approval else [once.hash_hook(hook) for hook in hooks]
        # The bridges of two projects may be called for one event, each for the hooks of both.
        about = [sources.roots or sources.root, sorted(sources.broken), setting.on_failure, command]
        turn = once.take_turn(event, sources.entry, hooks, about, setting.deadline, setting.env)
    if turn is None:
        return _decide(event, hooks, sources, setting)
    try:
        if turn.decision is None:
            report = _decide(event, hooks, sources, setting)
        else:
            report = _replay(event, turn, sources, setting)
        if turn.decision is None or turn.rest:
            once.keep_decision(turn, report)
        return report
    finally:
        once.release_turn(turn)


def _replay(
    event: Event, turn: once.EntryTurn, sources: HookSources, setting: engine.RunSetting
) -> engine.DispatchReport:
    """Replay another entry's decision, together with the hooks that it did not run."""
    event, decision = once.replay_decision(turn, event)
    by = f"entry '{turn.by}'" if turn.by else "an entry without a name"
    notes = (f"replay: decided by {by}",)
    if not turn.rest:
        return engine.DispatchReport(event, decision, notes=notes)
    report = _add_waiting_notice(engine.run_hooks(event, turn.rest, setting), sources, setting)
    denies = report.decision.verdict == "deny" != decision.verdict
    report = report.replace(
        decision=merge.merge_decisions([decision, report.decision]), notes=(*notes, *report.notes)
    )
    return _limit_stops(event, report, setting.agent, setting.env) if denies else report


def _decide(
    event: Event, hooks: Sequence[plan.PlannedHook], sources: HookSources, setting: engine.RunSetting
) -> engine.DispatchReport:
    """Let the hooks decide, or repeat a recent decision on the same call."""
    agent, env = setting.agent, setting.env
    deciders = _identify_deciders(event, hooks, sources, agent)
    before = sessions.find_decision(event, agent, env, deciders)
    if before is not None:
        return engine.DispatchReport(
            event, before, notes=("replay: decided on an earlier event of this call",)
        )
    is_paused = is_every_paused(setting.paused) and not sources.roots
    if not is_paused and (lost := _deny_lost_approval(event, sources)):
        return engine.DispatchReport(event, lost, notes=("approval: lost",))
    if sources.needs_approval and (objection := _object_to_call(event, sources, env)):
        denied = Decision("deny", objection)
        sessions.keep_decision(event, event, denied, agent, env, deciders)
        return engine.DispatchReport(event, denied, notes=("self-protection: no hook ran",))
    report = engine.run_hooks(event, hooks, setting)
    if event.call is not None and event.call.known_by == "input":
        kinds = " or ".join(filter(None, (event.call.tool, *event.call.also)))
        note = f"tool: unknown tool '{event.call.native}'; its input fits {kinds}"
        report = report.replace(notes=(note, *report.notes))
    report = _add_waiting_notice(report, sources, setting)
    is_broken = sources.broken and not is_paused
    if is_broken or any(run.why.startswith(engine.PAUSED) for run in report.runs):
        from hookport.runtime import notices

        report = notices.add_paused_notice(report, setting)
        report = notices.add_broken_notice(report, sources.broken, setting) if is_broken else report
    if event.native not in agent.events and not report.runs:
        report = engine.add_failure(report, f"{agent.id} has no event '{event.native}'", setting.on_failure)
    if event.event == "before_tool_execute" and not _names_tool(event):
        # No tool matcher can have matched, so no guard of a tool has seen the call.
        report = _add_unasked_guards(report, sources, env, "the payload names no tool", setting.on_failure)
    elif sources.unknown and not is_paused:
        report = _add_unasked_guards(report, sources, env, sources.unknown, setting.on_failure)
    sessions.reset_stops(event, env)
    report = _limit_stops(event, report, agent, env)
    sessions.keep_decision(event, report.event, report.decision, agent, env, deciders)
    return report


def _identify_deciders(
    event: Event, hooks: Sequence[plan.PlannedHook], sources: HookSources, agent: Wire
) -> list[str]:
    """Identify what decides on a call for which the agent fires several events: entries may differ."""
    if "fires twice" not in agent.traits or event.call is None:
        return []
    roots_text = "\0".join([*(sources.roots or [sources.root]), *sorted(sources.broken)])
    return [trust.sha256(roots_text.encode("utf-8", "surrogatepass")), *map(once.hash_hook, hooks)]


def _deny_lost_approval(event: Event, sources: HookSources) -> Decision | None:
    """Deny everything that a guard may have covered, because the approvals are unknown."""
    is_guarded = policy.is_guarded_event(event.event)
    if not sources.lost or not is_guarded or policy.find_tamper_policy(sources.settings) == policy.WARN:
        return None
    reason = f"the approvals of this project are not available: {sources.lost}."
    from hookport.runtime import remedy

    return Decision("deny", f"{reason} {policy.UNTIL} {remedy.format_for_models('trust')}")


def _names_tool(event: Event) -> bool:
    call = event.call
    name: Tree = call.native if call is not None else None
    return call is not None and isinstance(name, str) and bool(name or call.tool)


def _add_unasked_guards(
    report: engine.DispatchReport, sources: HookSources, env: Mapping[str, str], why: str, on_failure: str
) -> engine.DispatchReport:
    """Add a failure for an unknown event or tool; guards that would otherwise have run deny."""
    event = report.event
    # It may be a call of any tool.
    any_ = event.replace(call=Call(known_by="")) if event.event == "before_tool_execute" else event
    run_names = [run.hook.name for run in report.runs if run.matched]
    guards = [
        hook.name
        for hook in (sources.hooks(any_) if policy.is_guarded_event(event.event) else ())
        if hook.blocking and not hook.is_async and hook.name not in run_names
        if not (sources.needs_approval and trust.find_hook_objection(hook, sources.root or os.sep, env))
    ]
    is_unknown = bool(sources.unknown) and policy.is_guarded_event(event.event)
    if on_failure == policy.CLOSED or not (guards or is_unknown):
        return engine.add_failure(report, why, on_failure)
    named = ", ".join(f"'{name}'" for name in guards)
    who = f"hook {named}" if guards else "a hook of this project"
    decision = policy.decide_unasked(who, why, policy.find_tamper_policy(sources.settings))
    return report.replace(decision=merge.merge_decisions([report.decision, decision]))


def _object_to_call(event: Event, sources: HookSources, env: Mapping[str, str]) -> str:
    """Explain why no agent may make this call; empty if it may."""
    return protection.object_to_event(event, sources.protected, sources.root, env)


def _limit_stops(
    event: Event, report: engine.DispatchReport, agent: Wire, env: Mapping[str, str]
) -> engine.DispatchReport:
    """Drop a deny that would keep the agent from ever stopping."""
    endless = sessions.explain_dropped_deny(event, report.decision, agent, env)
    if not endless:
        return report
    return report.replace(
        decision=Decision(system_message=endless), notes=(*report.notes, f"loop: {endless}")
    )


def _add_waiting_notice(
    report: engine.DispatchReport, sources: HookSources, setting: engine.RunSetting
) -> engine.DispatchReport:
    """Add a notice about unapproved hooks; without any, nothing is imported."""
    if report.event.event != "session_start" and not any(map(engine.is_unapproved, report.runs)):
        return report
    from hookport.runtime import notices

    return notices.add_waiting_notice(report, sources, setting)
