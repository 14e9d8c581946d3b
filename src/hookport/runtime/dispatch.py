"""What agents call on every event: their payload in on stdin, the answer that they obey out.

Only the answer touches stdout. Whatever goes wrong is a failure for policy to decide, never a traceback.
"""

from __future__ import annotations

import os
import time

from hookport.model._json import loads
from hookport.model._value import Value
from hookport.model.runs import BLOCK, Answer, Decision, Event
from hookport.runtime import engine, journal, merge, once, plan, policy, protection, sessions
from hookport.wires import recognition
from hookport.wires.answers import write_answer
from hookport.wires.events import canonical_name, native_name, read_event
from hookport.wires.table import wait_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from hookport.model.runs import RunResult
    from hookport.wires.table import Wire

    Tree = Any

# No agent sends more; what is larger is not read and is a failure.
MOST_BYTES = 32 << 20
# Of the time an agent waits for a hook, this much is left for its own overhead and for ending the hook.
LONGEST_WAIT = 30.0  # for a payload, which agents write at once
QUIET_MS = 100.0
MARGIN_SECONDS, MARGIN_SHARE = 1.0, 0.2
STDERR_TAIL = 500
# Of hooks that are not approved, as many are named.
MOST_NAMES = 5
# What the journal's lines have of every event.
HEADING = ("agent", "event", "native", "session", "cwd")


class Sources(Value):
    """Where hooks and wires come from: a plan, and the dialects for what it does not have."""

    agent: Wire
    wires: Callable[[str], Wire]
    hooks: Callable[[Event], Iterable[plan.Planned]]
    settings: Mapping[str, Any] = {}
    root: str = ""
    # Hooks that cannot run, in words.
    broken: tuple[str, ...] = ()
    # Whether hooks of the project need its user's approval, and which have none.
    needs_approval: bool = False
    waiting: Callable[[str], Sequence[str]] | None = None
    # What no agent may change.
    protected: Callable[[], Sequence[str]] = tuple
    # The folder that the agent works in, where that is not ours.
    here: str = ""
    # What the agent's entry calls itself that started us; None where no other one is started for a call.
    entry: str | None = None
    # Every agent that may be the one who calls, with the variables that it alone sets.
    callers: Mapping[str, Sequence[str]] = {}


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
        same = [
            one
            for one in itself
            if one.does == hook.does and one.dialect == event.agent and not one.is_async and one.blocking
        ]
        return any(engine.matches(one, wires(one.dialect), event) for one in same)

    return Sources(
        wires(agent),
        wires,
        hooks,
        header["settings"],
        header["root"],
        tuple(header["broken"]),
        needs_approval=True,
        waiting=lambda agent: [name for name, by in header["waiting"] if not is_loaded(by, agent)],
        protected=found.protected,
        callers=header["callers"],
    )


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
    tree = tree_of(payload)
    if isinstance(tree, str):
        # A stop that nobody says is the first may be one of a row.
        event = Event(canonical_name(agent, native), agent.id, native, stop_active=True)
        report = engine.Report(event, policy.decided(Decision(failure=tree), None, on_failure))
        report = _ended(event, report, agent, env)
    else:
        agent, native = caller(sources, tree, native, env)
        event = _placed(event_of(agent, tree, native), sources)
        wait = wait_of(agent, event.native, within)
        setting = engine.Setting(
            agent,
            sources.wires,
            env,
            on_failure,
            deadline=begun + _waited(wait) if wait else None,
            done=lambda hook, result: _late(event, hook, result, setting),
            project=(sources.root or os.sep) if sources.needs_approval else "",
        )
        report = _report(event, sources, setting)
        if agent.id != sources.agent.id:
            note = f"caller: recognised as {agent.id}, the entry is for {sources.agent.id}"
            report = report.replace(notes=(note, *report.notes))
    told = told_of(event, report, agent)
    journal.write(_record(event, told, time.monotonic() - begun), env)
    return told


def _report(event: Event, sources: Sources, setting: engine.Setting) -> engine.Report:
    """The hooks' own report, or what another entry decided on the same call."""
    if event.native in setting.agent.echoes and not event.prompt:
        return engine.Report(event, Decision(), notes=("echo: it fired again for a prompt that was seen",))
    hooks = list(sources.hooks(event))
    turn = None
    if sources.entry is not None and (hooks or sources.broken or event.event == "session_start"):
        # A `wrap` is for its command only, and a `dispatch` for whatever hooks there are.
        command = None if sources.needs_approval else [once.name_of(hook) for hook in hooks]
        about = [sources.root, sources.broken, setting.on_failure, command]
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
    report = _with_waiting(engine.run(event, turn.rest, setting), sources, setting.env)
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
    if sources.needs_approval and (objection := _protected(event, sources, env)):
        denied = Decision("deny", objection)
        sessions.remember(event, event, denied, agent, env)
        return engine.Report(event, denied, notes=("self-protection: no hook was asked",))
    report = engine.run(event, hooks, setting)
    if event.call is not None and event.call.known_by == "input":
        kinds = " or ".join(filter(None, (event.call.tool, *event.call.also)))
        note = f"tool: '{event.call.native}' is unknown, its input is that of {kinds}"
        report = report.replace(notes=(note, *report.notes))
    report = _with_waiting(report, sources, env)
    if sources.broken:
        report = _with_broken(report, sources.broken, setting.on_failure)
    if event.native not in agent.events and not report.runs:
        report = _with_failure(report, f"{agent.id} has no event '{event.native}'", setting.on_failure)
    if event.event == "before_tool_execute" and not _names_tool(event):
        # No matcher on a tool can have matched, so nothing that guards one has seen it.
        report = _with_failure(report, "the payload names no tool", setting.on_failure)
    sessions.turned(event, env)
    report = _ended(event, report, agent, env)
    sessions.remember(event, report.event, report.decision, agent, env)
    return report


def _names_tool(event: Event) -> bool:
    return event.call is not None and bool(event.call.native or event.call.tool)


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


def _with_broken(report: engine.Report, broken: Sequence[str], on_failure: str) -> engine.Report:
    """Hooks that cannot run are said when a session begins; where failures deny, they deny."""
    report = report.replace(notes=(*report.notes, *(f"broken: {one}" for one in broken)))
    event = report.event.event
    is_guarded = event.startswith(("before_", "permission_request"))
    if event != "session_start" and not (on_failure == policy.CLOSED and is_guarded):
        return report
    return _with_failure(report, f"hooks cannot run: {'; '.join(broken)}", on_failure)


def _with_waiting(report: engine.Report, sources: Sources, env: Mapping[str, str]) -> engine.Report:
    """What is not approved is told once a session: when it begins, or when a hook would have run."""
    event = report.event
    silent = [one for one in report.runs if one.hook.trust.get("quiet") and one.decision.verdict != "deny"]
    unrun = [one.hook.name for one in silent if one.answered.failure]
    waits = sources.waiting if event.event == "session_start" else None
    waiting = waits(event.agent) if waits else ()
    names = list(dict.fromkeys([*waiting, *unrun]))
    if not names or (not sessions.is_first(event, "not approved", env) and not waiting):
        return report
    shown = ", ".join(names[:MOST_NAMES]) + (" …" if len(names) > MOST_NAMES else "")
    many = "hooks of this project do" if len(names) > 1 else "hook of this project does"
    told = (
        f"{len(names)} {many} not run, because you have not approved what is there now: {shown}. "
        "Look at it and approve it with `hookport trust`."
    )
    return report.replace(decision=merge.merged([report.decision, Decision(system_message=told)]))


def _with_failure(report: engine.Report, failure: str, on_failure: str) -> engine.Report:
    failed = policy.decided(Decision(failure=failure), None, on_failure)
    return report.replace(decision=merge.merged([report.decision, failed]))


def told_of(event: Event, report: engine.Report, agent: Wire) -> Told:
    """What the agent is told of a report."""
    if event.native not in agent.events:
        # No table says what is obeyed here; exit code 2 is a deny to most, and stderr is seen by somebody.
        denies = report.decision.verdict == "deny"
        text = report.decision.reason if denies else report.decision.system_message
        told = Answer(stderr=f"{text}\n" if text else "", exit_code=BLOCK if denies else 0)
        return Told(told, report, report.notes)
    # The whole input; the table of an agent that merges it takes what changed.
    is_changed = report.decision.updated_input is not None and report.event.call is not None
    changed = report.event.call.raw if is_changed and report.event.call else None
    said, lost = write_answer(agent, event, report.decision, changed=changed)
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
    """Print the answer, whole, and give the exit code; a reader that went away does not matter."""
    for number, text in ((1, said.stdout), (2, said.stderr)):
        left = text.encode("utf-8", "surrogateescape")
        try:
            while left:
                left = left[os.write(number, left) :]
        except OSError:
            continue
    return said.exit_code
