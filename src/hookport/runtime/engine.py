"""One event through all hooks that are for it: each sees the input as rewritten, all decide together."""

from __future__ import annotations

import os
import sys
import time

from hookport.model._json import dumps, loads
from hookport.model._value import Value
from hookport.model.runs import Decision, RunResult
from hookport.runtime import journal, merge, policy, surroundings, trust
from hookport.runtime.select import match
from hookport.wire import recognition
from hookport.wire.answers import NOT_STARTED, read_answer
from hookport.wire.events import (
    changed_input,
    native_for,
    rewritten,
    taken_for,
    tool_name,
    with_part,
    write_event,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
    from typing import Any

    from hookport.model.runs import Call, Event
    from hookport.runtime.plan import Planned
    from hookport.wire.table import Wire

    Tree = Any
    Work = Generator["Job", RunResult | None, None]

# A hook is run for each thing that a patch or a batch does, up to this many.
MOST_PARTS = 200
# The exit code of a shell that may not execute a file (POSIX, 2.8.2).
REFUSED = 126
# Why a hook did not run that its user paused.
PAUSED = "paused by its user"
PLATFORMS = {"win32": "windows", "darwin": "osx", "linux": "linux"}


class Run(Value):
    """What one hook did on one event."""

    hook: Planned
    matched: bool
    why: str
    # What it decided, policy included; what it was before policy; how its process ended.
    decision: Decision = Decision()
    answered: Decision = Decision()
    result: RunResult | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class Report(Value):
    """The event with its call as rewritten, what all hooks decided, and each hook's run."""

    event: Event
    decision: Decision
    runs: tuple[Run, ...] = ()
    notes: tuple[str, ...] = ()


class Job(Value):
    """One execution of a handler: a command, something to call, or what it gave already."""

    command: Mapping[str, Any] = {}
    call: Callable[[], RunResult] | None = None
    result: RunResult | None = None

    def __call__(self) -> RunResult | None:
        """Do it now, and wait for it."""
        if self.call is not None:
            return self.call()
        if not self.command:
            return self.result
        from hookport.runtime.execute import process

        return process.run(**self.command)


class Setting(Value):
    """What a run needs besides the event and the hooks."""

    agent: Wire
    wires: Callable[[str], Wire]
    env: Mapping[str, str]
    on_failure: str = policy.OPEN
    on_tamper: str = policy.DENY
    # When the agent stops waiting, on the monotonic clock.
    deadline: float | None = None
    # Called in the process that waits for an async hook.
    done: Callable[[Planned, RunResult], None] | None = None
    # Where hooks of a project need its user's approval: its root.
    project: str = ""
    # Hooks that the user paused, and until when (see `pauses`).
    paused: Mapping[str, float] = {}
    # The model that hooks ask, as approved settings say.
    llm: Mapping[str, str] = {}
    # Hooks of the agent's own dialect are run by the agent itself, so its own rule reads their answers.
    natively: bool = False


def run(event: Event, hooks: Iterable[Planned], setting: Setting) -> Report:
    """Run the hooks on the event, side by side where none needs what another one makes of it.

    What they decide is put together in their order, whichever ends first. A hook that rewrites the input is
    waited for by those after it; where nobody expected the rewrite, those after it are asked again.
    """
    rest, copies = _without_copies(event, list(hooks), setting)
    runs: list[Run] = []
    while rest:
        batch = rest[: next((number for number, hook in enumerate(rest, 1) if hook.rewrites), len(rest))]
        stopped = {one.hook.dialect for one in runs if _stops(one, setting)}
        done = _side_by_side(event, batch, stopped, setting)
        for number in range(len(batch)):
            one, after = done[number]
            runs.append(one)
            if after is not event:
                event, batch = after, batch[: number + 1]
                break
        rest = rest[len(batch) :]
    decision = merge.merged(one.decision for one in runs)
    if setting.natively and all(is_native(one.hook, setting) for one in runs):
        from hookport.wire.obeyed import taken_of_several

        decision = taken_of_several(setting.agent, [one.decision for one in runs], decision)
    notes = tuple(note for one in runs for note in one.notes)
    return Report(event, decision, (*runs, *copies), notes)


def _without_copies(event: Event, hooks: list[Planned], setting: Setting) -> tuple[list[Planned], list[Run]]:
    """The hooks of which one is to run for an event, and the runs of their copies, which are spared.

    Copies are what their own agent runs once, and what files for several agents start alike. One that may not
    run takes no other's place, and is not spared: it may have to deny.
    """
    rest, spared = _spare(event, hooks, setting, lambda hook: hook.once, _by_time, _repeats)
    by_agent = _for_agent(event.agent)
    rest, more = _spare(event, rest, setting, lambda hook: hook.does, by_agent, _is_other_agents)
    return rest, [*spared, *more]


def _spare(
    event: Event,
    hooks: list[Planned],
    setting: Setting,
    name: Callable[[Planned], str],
    rank: Callable[[Planned], Tree],
    replaces: Callable[[Planned, Planned], str],
) -> tuple[list[Planned], list[Run]]:
    """The hooks without those that another one of the same name, which ranks before them, stands for."""
    # The same words are another hook in another project.
    names = [(hook.root, name(hook)) for hook in hooks if name(hook)]
    if len(set(names)) == len(names):
        return hooks, []
    groups: dict[tuple[str, str], list[Planned]] = {}
    for hook in hooks:
        key = (hook.root, name(hook))
        if key[1] and names.count(key) > 1 and _may_run(hook, setting):
            groups.setdefault(key, []).append(hook)
    spared: dict[int, Run] = {}
    for group in groups.values():
        kept: list[tuple[Planned, set[int]]] = []
        for hook in sorted(group, key=rank):
            targets = _numbers(hook, event, setting)
            whys = [replaces(one, hook) for one, done in kept if _covers(done, targets, event)]
            why = next(filter(None, whys), "") if targets else ""
            if why:
                spared[id(hook)] = Run(hook, matched=False, why=why)
            else:
                kept.append((hook, targets))
    return [hook for hook in hooks if id(hook) not in spared], list(spared.values())


def _by_time(hook: Planned) -> Tree:
    """Of copies in one agent's files, the one that has the most time stays."""
    return -hook.timeout_seconds


def _for_agent(agent: str) -> Callable[[Planned], Tree]:
    """Of copies for several agents, what was written for this one stays; else the strictest."""

    def rank(hook: Planned) -> Tree:
        is_link = os.path.islink(hook.file)
        lenient = (hook.is_async, not hook.blocking, hook.on_failure != "block", -hook.timeout_seconds)
        return (hook.dialect != agent, *lenient, is_link)

    return rank


def _repeats(one: Planned, hook: Planned) -> str:
    return f"{hook.dialect} runs the same hook once, and it stands in {one.file} too"


def _is_other_agents(one: Planned, hook: Planned) -> str:
    is_link = one.file != hook.file and os.path.realpath(one.file) == os.path.realpath(hook.file)
    if (one.dialect == hook.dialect and not is_link) or not is_as_strict(one, hook):
        return ""
    return f"{one.file} starts the same script, and a copy of it runs once"


def is_as_strict(one: Planned, hook: Planned) -> bool:
    """Whether what another hook may deny, this one may deny too."""
    return (one.blocking and not one.is_async) or hook.is_async or not hook.blocking


def _numbers(hook: Planned, event: Event, setting: Setting) -> set[int]:
    try:
        wire = setting.wires(hook.dialect)
    except Exception:  # noqa: BLE001  (a dialect that is not known is told when its hook is run)
        return set()
    return {number for number, _ in _targets(hook, wire, event)[0]}


def _covers(done: set[int], targets: set[int], event: Event) -> bool:
    """Whether a hook that ran on some things of a call has seen others; -1 is the call as a whole."""
    parts = set(range(len(event.call.parts))) if event.call is not None else set()
    return -1 in done or targets <= done or (bool(parts) and parts <= done)


def _may_run(hook: Planned, setting: Setting) -> bool:
    known = trust.judged(hook, setting.project, setting.env) if setting.project else hook
    return not trust.gives_way(hook) and not (known.trust and trust.objection(known.trust))


def _stops(run: Run, setting: Setting) -> bool:
    """Whether a run ends those of the hooks of the same format after it."""
    return run.decision.verdict == "deny" and _takes_turns(run.hook, setting)


def _side_by_side(
    event: Event, hooks: Sequence[Planned], stopped: set[str], setting: Setting
) -> dict[int, tuple[Run, Event]]:
    """Each hook's run by its number, with the event as it rewrote it, up to the first that did.

    Hooks of a format that stops at a deny take turns.
    """
    lanes: dict[Tree, list[int]] = {}
    for number, hook in enumerate(hooks):
        lanes.setdefault(hook.dialect if _takes_turns(hook, setting) else number, []).append(number)
    # Those that may deny first: what is short is the agent's patience.
    order = sorted(lanes.values(), key=lambda lane: not any(hooks[number].blocking for number in lane))
    done: dict[int, tuple[Run, Event]] = {}
    work = [
        _lane([(number, hooks[number]) for number in lane], event, stopped, setting, done) for lane in order
    ]
    if len(work) == 1 or os.name == "nt":
        for one in work:
            _alone(one)
    else:
        from hookport.runtime.execute import parallel

        parallel.run(work)
    return done


def _takes_turns(hook: Planned, setting: Setting) -> bool:
    try:
        return setting.wires(hook.dialect).stops_at_deny
    except Exception:  # noqa: BLE001  (a dialect that is not known is told when its hook is run)
        return False


def _lane(
    hooks: Sequence[tuple[int, Planned]],
    event: Event,
    stopped: set[str],
    setting: Setting,
    done: dict[int, tuple[Run, Event]],
) -> Work:
    """Hooks one after the other; it gives what is to be executed and takes the result."""
    for number, hook in hooks:
        if hook.dialect in stopped:
            why = "a hook of the same format denied before it"
            done[number] = Run(hook, matched=False, why=why), event
            continue
        try:
            run, after = yield from _run(hook, setting.wires(hook.dialect), event, setting)
        except Exception as error:  # noqa: BLE001  (what we stumble over with one hook must not undo a deny of others)
            run, after = _stumbled(hook, error, setting), event
        done[number] = run, after
        if _stops(run, setting):
            stopped = {*stopped, hook.dialect}
        if after is not event:  # those after it are asked about that
            return


def _alone(work: Work) -> None:
    result = None
    try:
        while True:
            result = work.send(result)()
    except StopIteration:
        return


def _stumbled(hook: Planned, error: Exception, setting: Setting) -> Run:
    answered = Decision(failure=f"{NOT_STARTED}: {type(error).__name__}: {error}")
    decision = policy.decided(answered, hook, setting.on_failure, setting.on_tamper)
    return Run(hook, matched=True, why="it may have been for this", decision=decision, answered=answered)


def _unapproved(hook: Planned, why: str, objection: str, setting: Setting) -> Run:
    """A hook that is not run; what is known to be so until the user acts is not said on every event."""
    answered = Decision(failure=objection)
    decision = policy.decided(answered, hook, setting.on_failure, setting.on_tamper)
    if hook.trust.get("quiet") and decision.verdict != "deny":
        decision = Decision()
    return Run(hook, matched=True, why=why, decision=decision, answered=answered)


def explain(event: Event, hooks: Iterable[Planned], setting: Setting) -> list[Run]:
    """Whether each hook would run, and why; nothing is run."""
    given = list(hooks)
    spared = {id(run.hook): run for run in _without_copies(event, given, setting)[1]}
    found = []
    for hook in given:
        if id(hook) in spared:
            found.append(spared[id(hook)])
            continue
        targets, why, notes = _targets(hook, setting.wires(hook.dialect), event)
        found.append(Run(hook, matched=bool(targets), why=why, notes=notes))
    return found


def matches(hook: Planned, wire: Wire, event: Event) -> bool:
    """Whether a hook is for an event."""
    return bool(_targets(hook, wire, event)[0])


def _targets(hook: Planned, wire: Wire, event: Event) -> tuple[list[tuple[int, str]], str, tuple[str, ...]]:
    """Which of the calls of an event the hook runs on (-1: the event as a whole), by which word, and why."""
    call = event.call
    is_split = call is not None and call.parts and wire.id != event.agent
    calls = list(enumerate(call.parts)) if call is not None and is_split else [(-1, call)]
    matches = [(number, match(hook, event, one, wire)) for number, one in calls]
    found = [(number, one) for number, one in matches if one.matches]
    told = found or matches
    notes = tuple(f"doubt: {one.doubt}" for _, one in found if one.doubt)
    return [(number, one.word) for number, one in found], told[0][1].why, notes


def _run(
    hook: Planned, wire: Wire, event: Event, setting: Setting
) -> Generator[Job, RunResult | None, tuple[Run, Event]]:
    targets, why, notes = _targets(hook, wire, event)
    if not targets:
        return Run(hook, matched=False, why=why), event
    if aside := _set_aside(hook, setting):
        return Run(hook, matched=False, why=aside), event
    if setting.project:
        hook = trust.judged(hook, setting.project, setting.env)
        if objection := trust.verdict(hook, setting.project, setting.env):
            return _unapproved(hook, why, objection, setting), event
    if len(targets) > MOST_PARTS:
        # Run for each, the hook might still be at it when the agent no longer waits.
        count = len(targets)
        reason = f"one call does {count} things that hook '{hook.name}' looks at. Do at most {MOST_PARTS}."
        return Run(hook, matched=True, why=why, decision=Decision("deny", reason)), event
    begun = time.monotonic()
    decisions: list[Decision] = []
    answers: list[Decision] = []
    result: RunResult | None = None
    for number, word in targets:
        call = event.call
        one = _shown(setting.agent, call, number, word)
        shown = event.replace(call=one)
        result = yield _job(hook, wire, shown, setting)
        answered = _unstarted(
            read(hook, wire, shown, result, natively=is_native(hook, setting)), hook, result
        )
        if answered.noise:
            notes += ("noise: it prints other text beside its answer",)
        decision = _policed(answered, hook, setting)
        if answered.updated_input is not None and call is not None and one is not None:
            event = event.replace(call=_rewritten(setting.agent, event, number, answered))
            decision = decision.replace(updated_input=event.call.input if event.call else None)
        decisions.append(decision)
        answers.append(answered)
        if decision.verdict == "deny":
            break
    unread = surroundings.unread(wire, event, _native(hook, wire, event), setting.env)
    notes += (f"variables: no shell of the agent reads {unread}",) if unread else ()
    failures = [one for one in answers if one.failure]
    done = Run(
        hook,
        matched=True,
        why=why,
        decision=merge.merged(decisions),
        answered=failures[0] if failures else merge.merged(answers),
        result=result,
        seconds=time.monotonic() - begun,
        notes=notes,
    )
    return done, event


def _unstarted(answered: Decision, hook: Planned, result: RunResult | None) -> Decision:
    """An answer, or that an approved script never started because it may no longer be executed."""
    is_refused = result is not None and (result.exit_code == REFUSED or result.outcome == "spawn_error")
    if not answered.failure or not is_refused:
        return answered
    for path in hook.trust.get("files", ()):
        name = os.path.basename(path)
        if name in hook.command and os.path.isfile(path) and not os.access(path, os.X_OK):
            return answered.replace(failure=f"{NOT_STARTED}: {name} is not executable. Try: chmod +x {path}")
    return answered


def _set_aside(hook: Planned, setting: Setting) -> str:
    """Why a hook does not run although it is for the event, by its user's will; empty where it does."""
    if setting.paused or hook.root:
        from hookport.runtime import pauses

        # A pause is of one project.
        paused = pauses.active(hook.root, setting.env) if hook.root else setting.paused
        if over := pauses.until(paused, hook.name):
            return f"{PAUSED} until {pauses.clock(over)}"
    return "a hook of the project takes its place" if setting.project and trust.gives_way(hook) else ""


def _shown(agent: Wire, call: Call | None, number: int, word: str) -> Call | None:
    """What a hook is shown of a call: a part of it or all; of several kinds it may be, the hook's own."""
    one = call.parts[number] if call is not None and number >= 0 else call
    is_other = one is not None and one.known_by == "input" and word not in ("", one.tool)
    return taken_for(agent, one, word) if one is not None and is_other else one


def _policed(answered: Decision, hook: Planned, setting: Setting) -> Decision:
    """An answer with what a failure means; to an agent that ran the hook itself, its rule has said it."""
    if is_native(hook, setting):
        return answered.replace(failure="")
    return policy.decided(answered, hook, setting.on_failure, setting.on_tamper)


def is_native(hook: Planned, setting: Setting) -> bool:
    """Whether the agent runs a hook by itself, without the bridge."""
    is_own = hook.dialect == setting.agent.id and hook.type == "command" and not hook.is_async
    return setting.natively and is_own and bool(setting.agent.obeys)


def read(
    hook: Planned, wire: Wire, event: Event, result: RunResult | None, *, natively: bool = False
) -> Decision:
    """The answer by the rules of the hook's own dialect, with the input in canonical names.

    The bridge reads it leniently; `natively` is as the agent of that dialect reads it.
    """
    if result is None:
        return Decision()
    if hook.type != "command" and result.exit_code:
        # What an exit code means is about commands; the answer of a server that fails is not asked.
        return Decision(failure=result.detail)
    if hook.type in ("prompt", "agent") and result.exit_code == 0:
        return _judged(result.stdout)
    native = hook.native or native_for(wire, event)
    if natively:
        from hookport.wire.obeyed import obeys_natively

        closed = hook.on_failure in ("block", policy.CLOSED)
        answered = obeys_natively(wire, result, native=native, canonical=event.event, closed=closed)
    else:
        answered = read_answer(wire, result, native=native, canonical=event.event, blocking=hook.blocking)
    if answered.verdict == "allow" and not wire.lifts:
        answered = answered.replace(verdict="none", reason="")
    call = event.call
    if not answered.updated_input or call is None:
        return answered.replace(updated_input=None)
    is_own = wire.id == event.agent
    name = call.native if is_own else tool_name(wire, call, native)
    changed = changed_input(wire, call, name, answered.updated_input, is_own=is_own)
    if changed is None and answered.verdict != "deny":
        wanted = dumps(answered.updated_input, ensure_ascii=False)
        reason = f"a hook wants other input, which is not one call of this tool: {wanted}"
        return answered.replace(verdict="deny", reason=reason, updated_input=None)
    return answered.replace(updated_input=changed or None)


def _judged(answer: str) -> Decision:
    """What a model decided: `execute.llm` prints canonical words, whatever the hook's dialect."""
    said = loads(answer or "{}")
    verdict = said.get("decision")
    return Decision(
        verdict if verdict in ("deny", "ask") else "none",
        said.get("reason", ""),
        said.get("context", ""),
        carry_on=said.get("continue") is not False,
        system_message=said.get("system_message", ""),
    )


def _rewritten(agent: Wire, event: Event, number: int, answered: Decision) -> Call:
    call, changed = event.call, answered.updated_input or {}
    assert call is not None  # noqa: S101  (a rewrite is of a call)
    if number >= 0:
        return with_part(agent, call, number, changed)
    return rewritten(agent, call, changed)


def _job(hook: Planned, wire: Wire, event: Event, setting: Setting) -> Job:
    """What is to be executed for a hook on an event, or why it is not."""
    if hook.unable:
        return Job(result=RunResult("not_started", detail=hook.unable))
    seconds = hook.timeout_seconds
    if setting.deadline is not None:
        left = setting.deadline - time.monotonic()
        if left <= 0:
            return Job(result=RunResult("not_started", detail="the agent waits no longer for its hooks"))
        seconds = min(seconds, left)
    if wanted := surroundings.wanted(hook, wire, event, _native(hook, wire, event), setting.agent):
        from hookport.runtime import transcripts

        event = transcripts.shown(wanted, wire, event, setting.agent, setting.env)
    placed = event.replace(root=hook.root) if hook.root else event
    # To a hook of its own format an agent says what it said.
    told = write_event(wire, event if wire.id == event.agent else placed, hook.native)
    # Half of a surrogate pair has no UTF-8; `\\udc80` is the escape that JSON has for it.
    body = dumps(told, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return job(hook, wire, placed, body, seconds, setting)


def execute(
    hook: Planned, wire: Wire, event: Event, body: bytes, seconds: float, setting: Setting
) -> RunResult | None:
    """Run the handler on these bytes; None for one that is not waited for."""
    return job(hook, wire, event, body, seconds, setting)()


def job(hook: Planned, wire: Wire, event: Event, body: bytes, seconds: float, setting: Setting) -> Job:
    """How the handler runs on these bytes."""
    if hook.type == "command":
        return _command(hook, wire, event, body, seconds, setting)
    if not hook.is_async:
        return Job(call=lambda: _call(hook, event, body, seconds, setting))
    from hookport.runtime.execute import process

    own = hook.timeout_seconds
    process.start_call(lambda: _call(hook, event, body, own, setting), _finished(hook, setting))
    return Job()


def _finished(hook: Planned, setting: Setting) -> Callable[[RunResult], None] | None:
    done = setting.done
    return (lambda result: done(hook, result)) if done else None


def _call(hook: Planned, event: Event, body: bytes, seconds: float, setting: Setting) -> RunResult:
    """Ask a URL or a model."""
    if hook.type == "http":
        from hookport.runtime.execute import http

        return http.post(
            hook.url,
            body,
            headers=hook.headers,
            allowed_env=hook.allowed_env,
            env=setting.env,
            timeout_seconds=seconds,
        )
    if hook.type in ("prompt", "agent"):
        from hookport.runtime.execute import llm

        env = llm.settle(setting.llm, setting.env)
        if hook.type == "prompt":
            return llm.ask(
                hook.prompt,
                body,
                model=hook.model,
                env=env,
                timeout_seconds=seconds,
                stopping=event.event in ("agent_stop", "subagent_stop"),
            )
        root = event.root or event.cwd
        return llm.work(hook.prompt, body, model=hook.model, env=env, timeout_seconds=seconds, root=root)
    return RunResult("spawn_error", detail=f"only its own agent can run a handler of type {hook.type}")


def _native(hook: Planned, wire: Wire, event: Event) -> str:
    return hook.native or (event.native if wire.id == event.agent else native_for(wire, event))


def _there(*folders: str) -> str:
    """The first folder that is there: a guard runs also where the agent's own folder is gone."""
    return next(filter(os.path.isdir, folders), os.curdir)


def _command(hook: Planned, wire: Wire, event: Event, body: bytes, seconds: float, setting: Setting) -> Job:
    command = hook.platform.get(PLATFORMS.get(sys.platform, ""), "") or hook.command
    if not command:
        return Job(result=RunResult("completed", 0, detail=f"it has no command for {sys.platform}"))
    root = event.root or event.cwd
    is_elsewhere = bool(hook.root) and not os.path.join(event.cwd, "").startswith(os.path.join(root, ""))
    package = os.path.join(root, hook.package) if hook.package else root
    places = {"package": package, "root": root, "cwd": root if is_elsewhere else event.cwd or root}
    cwd = os.path.join(root, hook.cwd) if hook.cwd else _there(places[wire.starts_in], *places.values())
    native = _native(hook, wire, event)
    env = {**setting.env, **surroundings.surroundings(hook, wire, event, native, setting.env), **hook.env}
    env.update(HOOKPORT_AGENT=event.agent, HOOKPORT_EVENT=event.event)
    env[recognition.VARIABLE] = recognition.sealed(body, wire.id, native)
    if hook.under or hook.beside:
        # What Python compiled beside the scripts was not approved: it is read from elsewhere.
        env["PYTHONPYCACHEPREFIX"] = os.path.join(journal.folder(setting.env) or os.devnull, "pycache")
    if wire.file_placeholder and wire.file_placeholder in command:
        from hookport.runtime import placeholder

        env[placeholder.FILE] = placeholder.value(event.call.input.get("path") if event.call else None)
        command = placeholder.with_file(command, wire.file_placeholder)
    given: dict[str, Tree] = {"command": command, "stdin": body, "cwd": cwd, "env": env}
    if not hook.is_async:
        return Job(command={**given, "timeout_seconds": seconds})
    from hookport.runtime.execute import process

    process.start(**given, timeout_seconds=hook.timeout_seconds, done=_finished(hook, setting))
    return Job()
