"""What agents call on every event: their payload in on stdin, the answer that they obey out.

Only the answer touches stdout. Whatever goes wrong is a failure for policy to decide, never a traceback.
"""

from __future__ import annotations

import os
import time

from hookport.model._json import dumps, loads
from hookport.model._value import Value
from hookport.model.runs import BLOCK, Answer, Call, Decision, Event
from hookport.runtime import (
    engine,
    journal,
    merge,
    once,
    plan,
    policy,
    protection,
    sessions,
    trust,
)
from hookport.wire import recognition
from hookport.wire.answers import reaches, takes_deny, write_answer
from hookport.wire.events import canonical_name, native_name, read_event
from hookport.wire.table import wait_of
from hookport.wire.texts import MOST_REASON, fit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from hookport.model.runs import RunResult
    from hookport.wire.table import Wire

    Tree = Any

# No agent sends more; what is larger is not read and is a failure.
MOST_BYTES = 32 << 20
# Of the time an agent waits for a hook, this much is left for its own overhead and for ending the hook.
LONGEST_WAIT = 30.0  # for a payload, which agents write at once
QUIET_MS = 100.0
MARGIN_SECONDS, MARGIN_SHARE = 1.0, 0.2
STDERR_TAIL = 500
# The exit code of an answer that could not be written.
UNWRITTEN = 2
# Of hooks that are not approved, as many are named.
MOST_NAMES = 5
# A denial that protects nothing: there is no other way to tell anybody.
ONLY_ONCE = "This is a notice, given once: the same call is not denied again for it."
# What the journal's lines have of every event.
HEADING = ("agent", "event", "native", "session", "cwd")


class Read(Value):
    """A payload as it was read to find the project: for this agent and this event, it need not be again."""

    payload: bytes
    tree: Mapping[str, Tree]
    agent: Wire
    native: str
    event: Event


class Sources(Value):
    """Where hooks and wires come from: a plan, and the dialects for what it does not have."""

    agent: Wire
    wires: Callable[[str], Wire]
    hooks: Callable[[Event], Iterable[plan.Planned]]
    settings: Mapping[str, Any] = {}
    root: str = ""
    # Hooks that cannot run, in words; and why nobody can tell which hooks there are.
    broken: tuple[str, ...] = ()
    unknown: str = ""
    # Why nobody can tell any more what was approved, in words.
    lost: str = ""
    # Whether hooks of the project need its user's approval, and which have none.
    needs_approval: bool = False
    waiting: Callable[[str], Sequence[str]] | None = None
    # Of hooks of several projects the root of each.
    roots: Sequence[str] = ()
    # What no agent may change.
    protected: Callable[[], Sequence[str]] = tuple
    # The folder that the agent works in, where that is not ours.
    here: str = ""
    # What the agent's entry calls itself that started us; None where no other one is started for a call.
    entry: str | None = None
    # Every agent that may be the one who calls, with the variables that it alone sets.
    callers: Mapping[str, Sequence[str]] = {}
    read: Read | None = None


class Told(Value):
    """What came of one event: the answer for the agent and the report behind it."""

    answer: Answer
    report: engine.Report
    notes: tuple[str, ...] = ()


def of_plan(
    found: plan.Plan, agent: str, fallback: Callable[[str], Wire], caller: plan.CalledFrom = plan.NOBODY
) -> Sources:
    """The hooks of a plan, but those whose file the firing agent loads by itself."""

    def wires(name: str) -> Wire:
        return found.wire(name) or fallback(name)

    header = found.header
    # A plan that the project brought along: its word for what is approved is worth nothing.
    is_foreign = "contents" in header

    def hooks(event: Event) -> Iterable[plan.Planned]:
        all_ = found.hooks(event.event, tools_of(event))
        if is_foreign:
            all_ = [hook.replace(scope="project", trust={}, rivals=()) for hook in all_]
        itself = [hook for hook in all_ if is_loaded(hook.loaded_by, event.agent)]
        return [hook for hook in all_ if hook not in itself and not is_copy(hook, itself, event)]

    def is_loaded(loaded_by: Mapping[str, Sequence[Any]], agent: str) -> bool:
        return plan.is_loaded_by(loaded_by, agent, header["root"], caller)

    def is_copy(hook: plan.Planned, itself: list[plan.Planned], event: Event) -> bool:
        """Whether the agent runs the same command by itself on this event, from a file of its own."""
        same = [one for one in itself if one.does == hook.does and engine.is_as_strict(one, hook)]
        return any(engine.matches(one, wires(one.dialect), event) for one in same)

    return Sources(
        wires(agent),
        wires,
        hooks,
        header["settings"],
        header["root"],
        tuple(header["broken"]),
        lost=header["lost"],
        needs_approval=True,
        waiting=lambda agent: [name for name, by in header["waiting"] if not is_loaded(by, agent)],
        protected=found.protected,
        callers=header["callers"],
    )


def joined(sources: Sources, others: Sequence[Sources], env: Mapping[str, str]) -> Sources:
    """The hooks of several projects for one event, each once and with its own root; the strictest word holds.

    The first has those of the user, and says what the agents obey.
    """
    every = [_at_rest(one, env) for one in (sources, *others)]

    def hooks(event: Event) -> Iterable[plan.Planned]:
        found = list(sources.hooks(event))
        known = {(hook.file, hook.place) for hook in found}
        for other in others:
            more = [hook for hook in other.hooks(event) if (hook.file, hook.place) not in known]
            found += [hook.replace(root=other.root) for hook in more if hook.scope == "project"]
            known |= {(hook.file, hook.place) for hook in more}
        return sorted(found, key=lambda hook: -hook.priority)

    def waiting(agent: str) -> Sequence[str]:
        return [name for one in every if one.waiting for name in one.waiting(agent)]

    def protected() -> Sequence[str]:
        theirs = [os.path.join(one.root, path) for one in others for path in one.protected()]
        return [*sources.protected(), *theirs]

    def wires(name: str) -> Wire:
        """A wire of any of the projects: each may have dialects of its own."""
        from hookport.errors import HookportError

        for one in every[:-1]:
            try:
                return one.wires(name)
            except HookportError:
                continue
        return every[-1].wires(name)

    strict = {
        name: word
        for name, (word, _) in policy.WORDS.items()
        if any(one.settings.get(name, policy.DEFAULTS[name]) == word for one in every)
    }
    return sources.replace(
        wires=wires,
        hooks=hooks,
        settings={**sources.settings, **strict},
        broken=tuple(dict.fromkeys(line for one in every for line in one.broken)),
        lost=next((one.lost for one in every if one.lost), ""),
        unknown=next((one.unknown for one in every if one.unknown), ""),
        roots=sorted(one.root for one in every),
        waiting=waiting,
        protected=protected,
    )


def _at_rest(sources: Sources, env: Mapping[str, str]) -> Sources:
    """What a project says of its hooks, where its user did not pause all of them."""
    if _is_paused(_paused(sources.root, env)):
        return sources.replace(broken=(), lost="", unknown="")
    return sources


def caller(
    sources: Sources, tree: Mapping[str, Tree], native: str, env: Mapping[str, str]
) -> tuple[Wire, str]:
    """(wire, native event) of who calls: the agent that the entry names, or what it turns out to be."""
    agent = sources.agent
    if not sources.callers or not recognition.is_strange(agent, tree, native, env, sources.callers):
        return agent, native
    wires = {name: sources.wires(name) for name in sources.callers}
    return recognition.caller(agent, tree, native, env, wires, sources.callers) or (agent, native)


def tools_of(event: Event) -> list[str] | None:
    """Every canonical tool that a call, or a thing it does, may be; of one without a word its own name.

    None where nothing tells what the tool is.
    """
    call = event.call
    if call is not None and not call.known_by:
        return None
    calls = () if call is None else (call, *call.parts)
    return list(dict.fromkeys(tool for one in calls for tool in (one.tool or one.native, *one.also) if tool))


def answer(
    payload: bytes,
    native: str,
    sources: Sources,
    env: Mapping[str, str],
    within: float = 0.0,
    begun: float = 0.0,
) -> Told:
    """Read the payload, run the hooks, say it in the agent's terms and write it down.

    `begun` is when the agent started to wait, where that is not now.
    """
    begun = begun or time.monotonic()
    agent = sources.agent
    on_failure = policy.standing(sources.settings, env)
    read = sources.read if sources.read and sources.read.payload is payload else None
    tree = read.tree if read else tree_of(payload)
    if isinstance(tree, str):
        # A stop that nobody says is the first may be one of a row.
        event = Event(canonical_name(agent, native), agent.id, native, stop_active=True)
        report = _with_unasked(engine.Report(event, Decision()), sources, env, tree, on_failure)
        report = _ended(event, report, agent, env)
    else:
        agent, native = caller(sources, tree, native, env)
        is_read = read and read.agent is agent and read.native == native
        event = _placed(read.event if read and is_read else event_of(agent, tree, native), sources)
        wait = wait_of(agent, event.native, within)
        setting = engine.Setting(
            agent,
            sources.wires,
            env,
            on_failure,
            policy.on_tamper(sources.settings),
            deadline=begun + _waited(wait) if wait else None,
            done=lambda hook, result: _late(event, hook, result, setting),
            project=(sources.root or os.sep) if sources.needs_approval else "",
            llm=sources.settings.get("llm", {}),
            paused=_paused(sources.root, env) if sources.needs_approval else {},
        )
        report = _report(event, sources, setting)
        if agent.id != sources.agent.id:
            note = f"caller: recognised as {agent.id}, the entry is for {sources.agent.id}"
            report = report.replace(notes=(note, *report.notes))
    told = _told(event, _visible(event, report, agent), agent)
    try:
        record = _record(event, told, time.monotonic() - begun)
        record[journal.INPUT_HASH] = _hash_input(event, payload)
    except Exception:  # noqa: BLE001  (a decision that was taken reaches the agent)
        record = {"agent": agent.id, "decision": {"verdict": report.decision.verdict}}
    journal.write(record, env)
    return told


def _visible(event: Event, report: engine.Report, agent: Wire) -> engine.Report:
    """The report with the reason of a deny as a message too, where only a message is seen by the person."""
    decision = report.decision
    is_hidden = decision.verdict == "deny" and not decision.system_message
    if not is_hidden or reaches(agent, event, "deny") or not reaches(agent, event, "message"):
        return report
    return report.replace(decision=decision.replace(system_message=decision.reason))


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


def _report(event: Event, sources: Sources, setting: engine.Setting) -> engine.Report:
    """The hooks' own report, or what another entry decided on the same call."""
    if event.native in setting.agent.echoes and not event.prompt:
        return engine.Report(event, Decision(), notes=("echo: it fired again for a prompt that was seen",))
    hooks = list(sources.hooks(event))
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
    before = sessions.said_before(event, agent, env)
    if before is not None:
        return engine.Report(event, before, notes=("replay: decided on the event before it",))
    is_paused = _is_paused(setting.paused) and not sources.roots
    if not is_paused and (lost := _lost(event, sources)):
        return engine.Report(event, lost, notes=("approval: lost",))
    if sources.needs_approval and (objection := _protected(event, sources, env)):
        denied = Decision("deny", objection)
        sessions.remember(event, event, denied, agent, env)
        return engine.Report(event, denied, notes=("self-protection: no hook was asked",))
    report = engine.run(event, hooks, setting)
    if event.call is not None and event.call.known_by == "input":
        kinds = " or ".join(filter(None, (event.call.tool, *event.call.also)))
        note = f"tool: '{event.call.native}' is unknown, its input is that of {kinds}"
        report = report.replace(notes=(note, *report.notes))
    report = _with_paused(_with_waiting(report, sources, setting), setting)
    if sources.broken and not is_paused:
        report = _with_broken(report, sources.broken, setting)
    if event.native not in agent.events and not report.runs:
        report = _with_failure(report, f"{agent.id} has no event '{event.native}'", setting.on_failure)
    if event.event == "before_tool_execute" and not _names_tool(event):
        # No matcher on a tool can have matched, so nothing that guards one has seen it.
        report = _with_unasked(report, sources, env, "the payload names no tool", setting.on_failure)
    elif sources.unknown and not is_paused:
        report = _with_unasked(report, sources, env, sources.unknown, setting.on_failure)
    sessions.turned(event, env)
    report = _ended(event, report, agent, env)
    sessions.remember(event, report.event, report.decision, agent, env)
    return report


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
        return _with_failure(report, why, on_failure)
    named = ", ".join(f"'{name}'" for name in guards)
    who = f"hook {named}" if guards else "a hook of this project"
    decision = policy.unasked(who, why, policy.on_tamper(sources.settings))
    return report.replace(decision=merge.merged([report.decision, decision]))


def _protected(event: Event, sources: Sources, env: Mapping[str, str]) -> str:
    """Why no agent may do this; what goes wrong with looking is no reason to stop it."""
    try:
        return protection.objects(event, sources.protected, sources.root, env)
    except (OSError, ValueError, RecursionError):
        return ""


def _ended(event: Event, report: engine.Report, agent: Wire, env: Mapping[str, str]) -> engine.Report:
    """The report without a deny that would keep the agent from stopping for ever."""
    endless = sessions.endless(event, report.decision, agent, env)
    if not endless:
        return report
    return report.replace(
        decision=Decision(system_message=endless), notes=(*report.notes, f"loop: {endless}")
    )


def _with_broken(report: engine.Report, broken: Sequence[str], setting: engine.Setting) -> engine.Report:
    """Hooks that cannot run are told when a session begins, or on its first event; closed, they deny."""
    report = report.replace(notes=(*report.notes, *(f"broken: {one}" for one in broken)))
    broken = [one.rstrip(".") for one in broken]
    event = report.event
    is_guarded = policy.guards(event.event)
    told = _untold(event, "broken", broken, setting, denies=is_guarded)
    if event.event == "session_start" or (setting.on_failure == policy.CLOSED and is_guarded):
        return _with_failure(report, f"hooks cannot run: {'; '.join(broken)}", setting.on_failure)
    if not told:
        return report
    text = f"hooks cannot run: {'; '.join(told)}"
    if reaches(setting.agent, event, "message"):
        return _with_failure(report, text, setting.on_failure)
    from hookport.runtime import remedy

    fix = remedy.for_models("doctor").partition(";")[0]
    return report.replace(decision=_notice(report.decision, f"{text}.", f"{fix}."))


def _with_waiting(report: engine.Report, sources: Sources, setting: engine.Setting) -> engine.Report:
    """What is not approved is told once a session, each hook by itself: when it begins, or would have run.

    Where no message reaches a person, a call that a guard was for is denied instead: once, as a notice.
    """
    event = report.event
    unrun = [one for one in report.runs if _is_unapproved(one)]
    silent = [one.hook.name for one in unrun if one.hook.trust.get("quiet")]
    waits = sources.waiting if event.event == "session_start" else None
    waiting = waits(event.agent) if waits else ()
    can_tell = reaches(setting.agent, event, "message")
    guards = [one.hook.name for one in unrun if one.hook.blocking and not one.hook.is_async]
    names = list(dict.fromkeys([*waiting, *silent] if can_tell or waiting else guards))
    denies = policy.guards(event.event) and not waiting
    fresh = _untold(event, "not approved", names, setting, denies=denies)
    if not fresh and not waiting:
        return report
    shown = ", ".join(names[:MOST_NAMES]) + (" …" if len(names) > MOST_NAMES else "")
    many = "hooks of this project do" if len(names) > 1 else "hook of this project does"
    told = f"{len(names)} {many} not run, because you have not approved what is there now: {shown}."
    from hookport.runtime import remedy

    if can_tell or not denies:
        message = f"{told} Look at it and approve it with `{remedy.command('trust')}`."
        return report.replace(decision=merge.merged([report.decision, Decision(system_message=message)]))
    told = told.replace("you have not", "the user has not")
    return report.replace(decision=_notice(report.decision, told, remedy.for_models("trust")))


def _paused(root: str, env: Mapping[str, str]) -> Mapping[str, float]:
    """The hooks that the user paused; mostly there is no pause, and what reads one is not loaded."""
    if not os.path.isdir(os.path.join(journal.folder(env), journal.PAUSES)):
        return {}
    from hookport.runtime import pauses

    return pauses.active(root, env)


def _is_paused(paused: Mapping[str, float]) -> bool:
    """Whether the user paused every hook."""
    if not paused:
        return False
    from hookport.runtime import pauses

    return pauses.EVERY in paused


def _with_paused(report: engine.Report, setting: engine.Setting) -> engine.Report:
    """Paused hooks are told once a session where a message is seen; each pause by itself."""
    paused = [run for run in report.runs if run.why.startswith(engine.PAUSED)]
    if not paused:
        return report
    told = [f"{run.hook.name}{run.why.removeprefix(engine.PAUSED)}" for run in paused]
    report = report.replace(notes=(*report.notes, *(f"paused: {one}" for one in told)))
    fresh = _untold(report.event, "paused", told, setting, denies=False)
    if not fresh:
        return report
    from hookport.runtime import remedy

    message = f"paused by you: {', '.join(fresh)}. End it with `{remedy.command('pause', '--end')}`."
    return report.replace(decision=merge.merged([report.decision, Decision(system_message=message)]))


def _is_unapproved(run: engine.Run) -> bool:
    return run.answered.failure.startswith(trust.NOT_APPROVED) and run.decision.verdict != "deny"


def _untold(
    event: Event, kind: str, causes: Sequence[str], setting: engine.Setting, *, denies: bool
) -> list[str]:
    """The causes that nobody in this session was told, each by itself, where somebody can be told now.

    That is by a message, or by a denial: of a call always, of anything else where its reason is seen.
    """
    if not reaches(setting.agent, event, "message"):
        is_heard = event.call is not None or reaches(setting.agent, event, "deny")
        if not (denies and is_heard and takes_deny(setting.agent, event)):
            return []
        if setting.on_tamper == policy.WARN:
            return []
    # Each by itself: another message must not use up that of a hook. What cannot be remembered would deny
    # every call.
    unkept = reaches(setting.agent, event, "message")
    return [one for one in causes if sessions.is_first(event, f"{kind}: {one}", setting.env, unkept=unkept)]


def _notice(decision: Decision, told: str, fix: str) -> Decision:
    """A denial that stands for a message; the next call is let through."""
    return merge.merged([decision, Decision("deny", f"{told} {fix} {ONLY_ONCE}")])


def _with_failure(report: engine.Report, failure: str, on_failure: str) -> engine.Report:
    failed = policy.decided(Decision(failure=failure), None, on_failure)
    return report.replace(decision=merge.merged([report.decision, failed]))


def told_of(event: Event, report: engine.Report, agent: Wire) -> Told:
    """What the agent is told of a report."""
    if event.native not in agent.events:
        # No table says what is obeyed here; exit code 2 is a deny to most, and stderr is seen by somebody.
        denies = report.decision.verdict == "deny"
        text = report.decision.reason if denies else report.decision.system_message
        text = fit(text, MOST_REASON)
        told = Answer(stderr=f"{text}\n" if text else "", exit_code=BLOCK if denies else 0)
        return Told(told, report, report.notes)
    # The whole input; the table of an agent that merges it takes what changed.
    is_changed = report.decision.updated_input is not None and report.event.call is not None
    changed = report.event.call.raw if is_changed and report.event.call else None
    said, lost = write_answer(agent, event, report.decision, changed=changed)
    is_taken = not any(one.startswith("message: ") for one in lost)
    if report.decision.system_message and is_taken and not reaches(agent, event, "message"):
        lost = [*lost, f"message: no person sees it on {event.native}"]
    return Told(said, report, (*report.notes, *(f"unsaid: {one}" for one in lost)))


def event_of(agent: Wire, tree: Mapping[str, Tree], native: str) -> Event:
    """What happened; where the agent has no event of the name that it was started with, the payload tells."""
    return read_event(agent, tree, native if native in agent.events else native_name(agent, tree) or native)


def tree_of(payload: bytes) -> Tree:
    """The payload as an object, or why it is none."""
    if len(payload) > MOST_BYTES:
        return f"the payload is larger than {MOST_BYTES >> 20} MiB"
    try:
        tree = loads(payload.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        return f"the payload is not JSON: {error}" if payload.strip() else "there is no payload on stdin"
    return tree if isinstance(tree, dict) else "the payload is not a JSON object"


def here() -> str:
    """The folder that we were started in."""
    try:
        return os.getcwd()
    except FileNotFoundError:  # removed while the agent is in it
        return os.sep


def _placed(event: Event, sources: Sources) -> Event:
    """The event with a folder it happened in, where the agent did not say."""
    cwd = event.cwd or event.root or sources.here or here()
    return event.replace(cwd=cwd, root=event.root or sources.root or cwd)


def _record(event: Event, told: Told, seconds: float) -> dict[str, Tree]:
    """The journal's line."""
    report, call = told.report, event.call
    about = (
        {"tool": call.tool or call.mcp_tool, "native_tool": call.native, "input": call.input} if call else {}
    )
    return {
        **{name: getattr(event, name) for name in HEADING},
        **about,
        "decision": said(report.decision),
        "hooks": [as_record(run) for run in report.runs],
        "seconds": round(seconds, 4),
        "notes": list(told.notes),
        "answer": {"exit_code": told.answer.exit_code},
    }


def _hash_input(event: Event, payload: bytes) -> str:
    """The SHA-256 of what the event is about, so that an auditor knows it again where the words are redacted.

    That is the tool's input as the agent sent it (JSON, sorted keys, no blanks), the prompt, or the payload.
    """
    try:
        raw = event.call.raw if event.call is not None else None
        text = dumps(raw, sort_keys=True, ensure_ascii=False, separators=(",", ":")) if raw else event.prompt
        data = text.encode("utf-8", "surrogatepass")
    except (ValueError, TypeError, RecursionError):
        data = b""
    return trust.sha256(data or payload)


def as_record(run: engine.Run) -> dict[str, Tree]:
    """One hook's run as the journal and `--json` show it."""
    record: dict[str, Tree] = {"hook": run.hook.name, "source": run.hook.file, "place": run.hook.place}
    record |= {"matched": run.matched, "why": run.why}
    if not run.matched:
        return record
    record |= {"decision": said(run.decision), "seconds": round(run.seconds, 4)}
    if run.hook.is_async:
        record["async"] = True
    if run.answered.failure:
        record["failure"] = run.answered.failure
    if run.result is not None:
        record |= {"outcome": run.result.outcome, "exit": run.result.exit_code}
        record["stderr"] = run.result.stderr[-STDERR_TAIL:]
    return record


def said(decision: Decision) -> dict[str, Tree]:
    """A decision without what it does not say."""
    fields = decision.as_dict()
    return {
        "verdict": decision.verdict,
        **{
            key: value
            for key, value in fields.items()
            if value != getattr(Decision, key) and key != "verdict"
        },
    }


def _late(event: Event, hook: plan.Planned, result: RunResult, setting: engine.Setting) -> None:
    """The journal's line of an async hook, written when it is over."""
    answered = engine.read(hook, setting.wires(hook.dialect), event, result)
    run = engine.Run(
        hook,
        matched=True,
        why="it ran beside the agent",
        answered=answered,
        result=result,
        seconds=result.seconds,
    )
    record = {
        **{name: getattr(event, name) for name in HEADING},
        "decision": said(Decision()),
        "hooks": [as_record(run)],
        "seconds": round(result.seconds, 4),
        "notes": ["async: over"],
    }
    journal.write(record, setting.env)


def read_stdin(within: float) -> bytes:
    """All of stdin; of what is too large no more than shows it.

    Who leaves it open is not waited for: a whole object after which nothing comes is all, and what did not
    come in time is a payload that cannot be read.
    """
    read = bytearray()
    until = time.monotonic() + _waited(min(within or LONGEST_WAIT, LONGEST_WAIT))
    while _comes(read, until):
        part = os.read(0, 1 << 20)
        if not part:
            break
        if len(read) <= MOST_BYTES:
            read += part
    return bytes(read)


def _comes(read: bytearray, until: float) -> bool:
    """Whether there is more to read, or the end of it."""
    if os.name == "nt":
        return True
    import select

    poll = select.poll()
    poll.register(0, select.POLLIN)
    if read.endswith((b"}", b"}\n")) and not poll.poll(QUIET_MS) and isinstance(tree_of(bytes(read)), dict):
        return False
    return bool(poll.poll(max(0.0, until - time.monotonic()) * 1000))


def _waited(wait: float) -> float:
    """How much of the time that an agent waits is ours."""
    return wait - min(MARGIN_SECONDS, wait * MARGIN_SHARE)


def tell(said: Answer) -> int:
    """Print the answer, whole, and give the exit code; a reader that went away does not matter.

    An answer that cannot be written is stricter: nearly every agent takes exit code 2 for a deny.
    """
    problem = _print(1, said.stdout)
    if problem:
        _print(2, f"{said.stderr}hookport could not write its answer ({problem}), so this is denied.\n")
        return said.exit_code or UNWRITTEN
    _print(2, said.stderr)
    return said.exit_code


def _print(number: int, text: str) -> str:
    """Write to a descriptor; why that failed, where somebody might still read it."""
    left = text.encode("utf-8", "backslashreplace")
    try:
        while left:
            left = left[os.write(number, left) :]
    except BrokenPipeError:
        return ""
    except OSError as error:
        return error.strerror or "it cannot be written"
    return ""
