"""One event through all hooks that are for it: each sees the input as rewritten, all decide together."""

from __future__ import annotations

import os
import sys
import time

from hookport.model._json import dumps, loads
from hookport.model._value import Value
from hookport.model.runs import Decision, RunResult
from hookport.runtime import journal, merge, policy, trust
from hookport.runtime.select import match
from hookport.wires import recognition
from hookport.wires.answers import read_answer
from hookport.wires.events import (
    changed_input,
    native_for,
    placeholders,
    rewritten,
    tool_name,
    with_part,
    write_event,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from hookport.model.runs import Call, Event
    from hookport.runtime.plan import Planned
    from hookport.wires.table import Wire

    Tree = Any

# A hook is run for each thing that a patch or a batch does, up to this many.
MOST_PARTS = 200
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


class Setting(Value):
    """What a run needs besides the event and the hooks."""

    agent: Wire
    wires: Callable[[str], Wire]
    env: Mapping[str, str]
    on_failure: str = policy.OPEN
    # When the agent stops waiting, on the monotonic clock.
    deadline: float | None = None
    # Called in the process that waits for an async hook.
    done: Callable[[Planned, RunResult], None] | None = None
    # Where hooks of a project need its user's approval: its root.
    project: str = ""


def run(event: Event, hooks: Iterable[Planned], setting: Setting) -> Report:
    """Run the hooks in order on the event."""
    runs: list[Run] = []
    stopped: set[str] = set()
    for hook in hooks:
        if hook.dialect in stopped:
            runs.append(Run(hook, matched=False, why="a hook of the same format denied before it"))
            continue
        try:
            wire = setting.wires(hook.dialect)
            done, event = _run(hook, wire, event, setting)
        except Exception as error:  # noqa: BLE001  (what we stumble over with one hook must not undo a deny of others)
            runs.append(_stumbled(hook, error, setting))
            continue
        runs.append(done)
        if done.decision.verdict == "deny" and wire.stops_at_deny:
            stopped.add(hook.dialect)
    decision = merge.merged(one.decision for one in runs)
    notes = tuple(note for one in runs for note in one.notes)
    return Report(event, decision, tuple(runs), notes)


def _stumbled(hook: Planned, error: Exception, setting: Setting) -> Run:
    answered = Decision(failure=f"hookport could not run it: {type(error).__name__}: {error}")
    decision = policy.decided(answered, hook, setting.on_failure)
    return Run(hook, matched=True, why="it may have been for this", decision=decision, answered=answered)


def _unapproved(hook: Planned, why: str, objection: str, setting: Setting) -> Run:
    """A hook that is not run; what is known to be so until the user acts is not said on every event."""
    answered = Decision(failure=objection)
    decision = policy.decided(answered, hook, setting.on_failure)
    if hook.trust.get("quiet") and decision.verdict != "deny":
        decision = Decision()
    return Run(hook, matched=True, why=why, decision=decision, answered=answered)


def explain(event: Event, hooks: Iterable[Planned], setting: Setting) -> list[Run]:
    """Whether each hook would run, and why; nothing is run."""
    found = []
    for hook in hooks:
        targets, why, notes = _targets(hook, setting.wires(hook.dialect), event)
        found.append(Run(hook, matched=bool(targets), why=why, notes=notes))
    return found


def matches(hook: Planned, wire: Wire, event: Event) -> bool:
    """Whether a hook is for an event."""
    return bool(_targets(hook, wire, event)[0])


def _targets(hook: Planned, wire: Wire, event: Event) -> tuple[list[int], str, tuple[str, ...]]:
    """Which of the calls of an event the hook runs on (-1: the event as a whole), and why."""
    call = event.call
    is_split = call is not None and call.parts and wire.id != event.agent
    calls = list(enumerate(call.parts)) if call is not None and is_split else [(-1, call)]
    matches = [(number, match(hook, event, one, wire)) for number, one in calls]
    found = [(number, one) for number, one in matches if one.matches]
    told = found or matches
    notes = tuple(f"doubt: {one.doubt}" for _, one in found if one.doubt)
    return [number for number, _ in found], told[0][1].why, notes


def _run(hook: Planned, wire: Wire, event: Event, setting: Setting) -> tuple[Run, Event]:
    targets, why, notes = _targets(hook, wire, event)
    if not targets:
        return Run(hook, matched=False, why=why), event
    if setting.project:
        if trust.gives_way(hook):
            return Run(hook, matched=False, why="a hook of the project takes its place"), event
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
    for number in targets:
        call = event.call
        one = call.parts[number] if call is not None and number >= 0 else call
        shown = event.replace(call=one)
        result = _execute(hook, wire, shown, setting)
        answered = read(hook, wire, shown, result)
        if answered.noise:
            notes += ("noise: it prints other text beside its answer",)
        decision = policy.decided(answered, hook, setting.on_failure)
        if answered.updated_input is not None and call is not None and one is not None:
            event = event.replace(call=_rewritten(setting.agent, event, number, answered))
            decision = decision.replace(updated_input=event.call.input if event.call else None)
        decisions.append(decision)
        answers.append(answered)
        if decision.verdict == "deny":
            break
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


def read(hook: Planned, wire: Wire, event: Event, result: RunResult | None) -> Decision:
    """The answer by the rules of the hook's own dialect, with the input in canonical names."""
    if result is None:
        return Decision()
    if hook.type != "command" and result.exit_code:
        # What an exit code means is about commands; the answer of a server that fails is not asked.
        return Decision(failure=result.detail)
    if hook.type in ("prompt", "agent") and result.exit_code == 0:
        return _judged(result.stdout)
    native = hook.native or native_for(wire, event)
    answered = read_answer(wire, result, native=native, canonical=event.event, blocking=hook.blocking)
    if answered.verdict == "allow" and not wire.lifts:
        answered = answered.replace(verdict="none", reason="")
    call = event.call
    if answered.updated_input is None or call is None:
        return answered.replace(updated_input=None)
    is_own = wire.id == event.agent
    name = call.native if is_own else tool_name(wire, call, native)
    changed = changed_input(wire, call, name, answered.updated_input, is_own=is_own)
    if changed is None and answered.verdict != "deny":
        wanted = dumps(answered.updated_input, ensure_ascii=False)
        reason = f"a hook wants other input, which is not one call of this tool: {wanted}"
        return answered.replace(verdict="deny", reason=reason, updated_input=None)
    return answered.replace(updated_input=changed)


def _judged(answer: str) -> Decision:
    """What a model decided: `execute.llm` prints canonical words, whatever the hook's dialect."""
    said = loads(answer or "{}")
    return Decision(
        "deny" if said.get("decision") == "deny" else "none",
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


def _execute(hook: Planned, wire: Wire, event: Event, setting: Setting) -> RunResult | None:
    """Run the handler; None for one that is not waited for."""
    if hook.unable:
        return RunResult("spawn_error", detail=hook.unable)
    seconds = hook.timeout_seconds
    if setting.deadline is not None:
        left = setting.deadline - time.monotonic()
        if left <= 0:
            return RunResult("timeout", detail="the agent waits no longer for its hooks")
        seconds = min(seconds, left)
    told = write_event(wire, event, hook.native)
    body = dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return execute(hook, wire, event, body, seconds, setting)


def execute(
    hook: Planned, wire: Wire, event: Event, body: bytes, seconds: float, setting: Setting
) -> RunResult | None:
    """Run the handler on these bytes; None for one that is not waited for."""
    if hook.type == "command":
        return _command(hook, wire, event, body, seconds, setting)
    if not hook.is_async:
        return _call(hook, event, body, seconds, setting)
    from hookport.runtime.execute import process

    own = hook.timeout_seconds
    process.start_call(lambda: _call(hook, event, body, own, setting), _finished(hook, setting))
    return None


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

        if hook.type == "prompt":
            return llm.ask(
                hook.prompt,
                body,
                model=hook.model,
                env=setting.env,
                timeout_seconds=seconds,
                stopping=event.event in ("agent_stop", "subagent_stop"),
            )
        root = event.root or event.cwd
        return llm.work(
            hook.prompt, body, model=hook.model, env=setting.env, timeout_seconds=seconds, root=root
        )
    return RunResult("spawn_error", detail=f"only its own agent can run a handler of type {hook.type}")


def _there(*folders: str) -> str:
    """The first folder that is there: a guard runs also where the agent's own folder is gone."""
    return next(filter(os.path.isdir, folders), os.curdir)


def _command(
    hook: Planned, wire: Wire, event: Event, body: bytes, seconds: float, setting: Setting
) -> RunResult | None:
    from hookport.runtime.execute import process

    command = hook.platform.get(PLATFORMS.get(sys.platform, ""), "") or hook.command
    if not command:
        return RunResult("completed", 0, detail=f"it has no command for {sys.platform}")
    root = event.root or event.cwd
    places = {"root": root, "cwd": event.cwd or root}
    cwd = os.path.join(root, hook.cwd) if hook.cwd else _there(places[wire.starts_in], *places.values())
    env = {**setting.env, **placeholders(wire, event, hook.package or root), **hook.env}
    env.update(HOOKPORT_AGENT=event.agent, HOOKPORT_EVENT=event.event)
    native = hook.native or (event.native if wire.id == event.agent else native_for(wire, event))
    env[recognition.VARIABLE] = recognition.sealed(body, wire.id, native)
    if hook.under:
        # What Python compiled beside the scripts was not approved: it is read from elsewhere.
        env["PYTHONPYCACHEPREFIX"] = os.path.join(journal.folder(setting.env) or os.devnull, "pycache")
    if wire.file_placeholder and wire.file_placeholder in command:
        from hookport.runtime import placeholder

        env[placeholder.FILE] = placeholder.value(event.call.input.get("path") if event.call else None)
        command = placeholder.with_file(command, wire.file_placeholder)
    if not hook.is_async:
        return process.run(command, stdin=body, cwd=cwd, env=env, timeout_seconds=seconds)
    process.start(
        command,
        stdin=body,
        cwd=cwd,
        env=env,
        timeout_seconds=hook.timeout_seconds,
        done=_finished(hook, setting),
    )
    return None
