"""One event from its payload to its answer: what agents call on every event.

Only the answer touches stdout. Whatever goes wrong is a failure for policy to decide, never a traceback.
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
from hookport.runtime.answer import Told, made_visible, told_of
from hookport.runtime.occasion import here, our_share, parse_payload, read_occasion
from hookport.runtime.sources import active_pauses, is_every_paused
from hookport.wire.table import wait_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookport.base.tree import Tree
    from hookport.model.runs import Event
    from hookport.runtime.occasion import Occasion
    from hookport.runtime.sources import Sources
    from hookport.wire.table import Wire


def answer_payload(
    data: bytes, native: str, sources: Sources, env: Mapping[str, str], within: float = 0.0
) -> Told:
    """What an agent is told of a payload."""
    return answer(read_occasion(parse_payload(data), native, sources, env), sources, env, within)


def answer(
    occasion: Occasion, sources: Sources, env: Mapping[str, str], within: float = 0.0, begun: float = 0.0
) -> Told:
    """Run the hooks that are for an event, say it in the agent's terms and write it down.

    `begun` is when the agent started to wait, where that is not now.
    """
    begun = begun or time.monotonic()
    agent, event = occasion.agent, occasion.event
    if occasion.failure:
        on_failure = policy.standing(sources.settings, env)
        report = engine.Report(event, Decision())
        report = _with_unasked(report, sources, env, occasion.failure, on_failure)
        report = _ended(event, report, agent, env)
    else:
        event = _placed(event, sources)
        hooks = list(sources.hooks(event))
        if sources.renew and plan.scripts_changed(hooks):
            sources = sources.renew().replace(entry=sources.entry)
            hooks = list(sources.hooks(event))
        report = _report(event, hooks, sources, _setting(occasion, event, sources, env, begun, within))
        if agent.id != sources.agent.id:
            note = f"caller: recognised as {agent.id}, the entry is for {sources.agent.id}"
            report = report.replace(notes=(note, *report.notes))
    told = _told(event, made_visible(event, report, agent), agent)
    try:
        record = records.record_of(event, told, time.monotonic() - begun)
        record[journal.INPUT_HASH] = records.hash_input(event, occasion.payload)
    except Exception:  # noqa: BLE001  (a decision that was taken reaches the agent)
        record = {"agent": agent.id, "decision": {"verdict": report.decision.verdict}}
    journal.write(record, env)
    return told


def _placed(event: Event, sources: Sources) -> Event:
    """The event with a folder it happened in, where the agent did not say."""
    cwd = event.cwd or event.root or sources.here or here()
    return event.replace(cwd=cwd, root=event.root or sources.root or cwd)


def _setting(
    occasion: Occasion, event: Event, sources: Sources, env: Mapping[str, str], begun: float, within: float
) -> engine.Setting:
    wait = wait_of(occasion.agent, event.native, within)
    setting = engine.Setting(
        occasion.agent,
        sources.wires,
        env,
        policy.standing(sources.settings, env),
        policy.on_tamper(sources.settings),
        deadline=begun + our_share(wait) if wait else None,
        done=lambda hook, result: records.write_late(event, hook, result, setting),
        project=(sources.root or os.sep) if sources.needs_approval else "",
        llm=sources.settings.get("llm", {}),
        paused=active_pauses(sources.root, env) if sources.needs_approval else {},
    )
    return setting


def _told(event: Event, report: engine.Report, agent: Wire) -> Told:
    """The answer; one that cannot be written is a deny, since what it holds would be lost."""
    try:
        return told_of(event, report, agent)
    except Exception as error:  # noqa: BLE001  (a decision that was taken reaches the agent)
        failure = f"hookport could not write the answer: {type(error).__name__}: {error}"
        if event.event in sessions.STOPS and report.decision.verdict != "deny":
            return told_of(event, report.replace(decision=Decision(system_message=failure)), agent)
        reason = report.decision.reason if report.decision.verdict == "deny" else failure
        return told_of(event, report.replace(decision=Decision("deny", reason)), agent)


def _report(
    event: Event, hooks: Sequence[plan.Planned], sources: Sources, setting: engine.Setting
) -> engine.Report:
    """The hooks' own report, or what another entry decided on the same call."""
    if event.native in setting.agent.echoes and not event.prompt:
        return engine.Report(event, Decision(), notes=("echo: it fired again for a prompt that was seen",))
    turn = None
    if sources.entry is not None and (hooks or sources.broken or event.event == "session_start"):
        # A `wrap` is for its command only, and a `dispatch` for whatever hooks there are.
        command = None if sources.needs_approval else [once.name_of(hook) for hook in hooks]
        # The bridges of two projects may be called for one event, each for the hooks of both.
        about = [sources.roots or sources.root, sorted(sources.broken), setting.on_failure, command]
        turn = once.take(event, sources.entry, hooks, about, setting.deadline, setting.env)
    if turn is None:
        return _decided(event, hooks, sources, setting)
    try:
        if turn.decision is None:
            report = _decided(event, hooks, sources, setting)
        else:
            report = _replay(event, turn, sources, setting)
        if turn.decision is None or turn.rest:
            once.keep(turn, report)
        return report
    finally:
        once.leave(turn)


def _replay(event: Event, turn: once.Turn, sources: Sources, setting: engine.Setting) -> engine.Report:
    """What another entry decided, together with the hooks that it did not ask."""
    event, decision = once.replayed(turn, event)
    by = f"entry '{turn.by}'" if turn.by else "an entry without a name"
    notes = (f"replay: decided by {by}",)
    if not turn.rest:
        return engine.Report(event, decision, notes=notes)
    report = _with_waiting(engine.run(event, turn.rest, setting), sources, setting)
    denies = report.decision.verdict == "deny" != decision.verdict
    report = report.replace(decision=merge.merged([decision, report.decision]), notes=(*notes, *report.notes))
    return _ended(event, report, setting.agent, setting.env) if denies else report


def _decided(
    event: Event, hooks: Sequence[plan.Planned], sources: Sources, setting: engine.Setting
) -> engine.Report:
    """What the hooks decide, or what was decided a moment ago on the same call."""
    agent, env = setting.agent, setting.env
    asked = _asked(event, hooks, sources, agent)
    before = sessions.said_before(event, agent, env, asked)
    if before is not None:
        return engine.Report(event, before, notes=("replay: decided on the event before it",))
    is_paused = is_every_paused(setting.paused) and not sources.roots
    if not is_paused and (lost := _lost(event, sources)):
        return engine.Report(event, lost, notes=("approval: lost",))
    if sources.needs_approval and (objection := _protected(event, sources, env)):
        denied = Decision("deny", objection)
        sessions.remember(event, event, denied, agent, env, asked)
        return engine.Report(event, denied, notes=("self-protection: no hook was asked",))
    report = engine.run(event, hooks, setting)
    if event.call is not None and event.call.known_by == "input":
        kinds = " or ".join(filter(None, (event.call.tool, *event.call.also)))
        note = f"tool: '{event.call.native}' is unknown, its input is that of {kinds}"
        report = report.replace(notes=(note, *report.notes))
    report = _with_waiting(report, sources, setting)
    is_broken = sources.broken and not is_paused
    if is_broken or any(run.why.startswith(engine.PAUSED) for run in report.runs):
        from hookport.runtime import notices

        report = notices.with_paused(report, setting)
        report = notices.with_broken(report, sources.broken, setting) if is_broken else report
    if event.native not in agent.events and not report.runs:
        report = engine.with_failure(report, f"{agent.id} has no event '{event.native}'", setting.on_failure)
    if event.event == "before_tool_execute" and not _names_tool(event):
        # No matcher on a tool can have matched, so nothing that guards one has seen it.
        report = _with_unasked(report, sources, env, "the payload names no tool", setting.on_failure)
    elif sources.unknown and not is_paused:
        report = _with_unasked(report, sources, env, sources.unknown, setting.on_failure)
    sessions.turned(event, env)
    report = _ended(event, report, agent, env)
    sessions.remember(event, report.event, report.decision, agent, env, asked)
    return report


def _asked(event: Event, hooks: Sequence[plan.Planned], sources: Sources, agent: Wire) -> list[str]:
    """What decides on a call, where the agent fires several events for it: another entry may ask others."""
    if not agent.fires_twice or event.call is None:
        return []
    where = "\0".join([*(sources.roots or [sources.root]), *sorted(sources.broken)])
    return [trust.sha256(where.encode("utf-8", "surrogatepass")), *map(once.name_of, hooks)]


def _lost(event: Event, sources: Sources) -> Decision | None:
    """A denial of all that a guard may have been for, where nobody can tell any more what was approved."""
    is_guarded = policy.guards(event.event)
    if not sources.lost or not is_guarded or policy.on_tamper(sources.settings) == policy.WARN:
        return None
    told = f"what was approved here is not here any more: {sources.lost}."
    from hookport.runtime import remedy

    return Decision("deny", f"{told} {policy.UNTIL} {remedy.for_models('trust')}")


def _names_tool(event: Event) -> bool:
    call = event.call
    name: Tree = call.native if call is not None else None
    return call is not None and isinstance(name, str) and bool(name or call.tool)


def _with_unasked(
    report: engine.Report, sources: Sources, env: Mapping[str, str], why: str, on_failure: str
) -> engine.Report:
    """What nobody can tell is a failure; guards that would have been asked otherwise deny."""
    event = report.event
    # It may be a call of any tool.
    any_ = event.replace(call=Call(known_by="")) if event.event == "before_tool_execute" else event
    asked = [run.hook.name for run in report.runs if run.matched]
    guards = [
        hook.name
        for hook in (sources.hooks(any_) if policy.guards(event.event) else ())
        if hook.blocking and not hook.is_async and hook.name not in asked
        if not (sources.needs_approval and trust.verdict(hook, sources.root or os.sep, env))
    ]
    is_unknown = bool(sources.unknown) and policy.guards(event.event)
    if on_failure == policy.CLOSED or not (guards or is_unknown):
        return engine.with_failure(report, why, on_failure)
    named = ", ".join(f"'{name}'" for name in guards)
    who = f"hook {named}" if guards else "a hook of this project"
    decision = policy.unasked(who, why, policy.on_tamper(sources.settings))
    return report.replace(decision=merge.merged([report.decision, decision]))


def _protected(event: Event, sources: Sources, env: Mapping[str, str]) -> str:
    """Why no agent may do this."""
    return protection.objects(event, sources.protected, sources.root, env)


def _ended(event: Event, report: engine.Report, agent: Wire, env: Mapping[str, str]) -> engine.Report:
    """The report without a deny that would keep the agent from stopping for ever."""
    endless = sessions.endless(event, report.decision, agent, env)
    if not endless:
        return report
    return report.replace(
        decision=Decision(system_message=endless), notes=(*report.notes, f"loop: {endless}")
    )


def _with_waiting(report: engine.Report, sources: Sources, setting: engine.Setting) -> engine.Report:
    """The report with a notice of what is not approved; mostly there is none, and nothing is imported."""
    if report.event.event != "session_start" and not any(map(engine.is_unapproved, report.runs)):
        return report
    from hookport.runtime import notices

    return notices.with_waiting(report, sources, setting)
