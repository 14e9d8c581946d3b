"""One handler on one event: how it starts, and its answer in canonical names."""

from __future__ import annotations

import os
import sys
import time

from hookport.model.json_text import dumps, loads
from hookport.model.runs import Decision, RunResult
from hookport.model.value import Value
from hookport.runtime import journal, policy, surroundings
from hookport.runtime.select import find_native_event
from hookport.wire import recognition
from hookport.wire.answers import NOT_STARTED
from hookport.wire.answers import read_answer as read_said
from hookport.wire.events import choose_native, name_tool, write_event
from hookport.wire.table import FILE_PLACEHOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from hookport.base.tree import Tree
    from hookport.model.runs import Event
    from hookport.runtime.engine import RunSetting
    from hookport.runtime.plan import PlannedHook
    from hookport.wire.table import Wire


# The exit code of a shell that may not execute a file (POSIX, 2.8.2).
REFUSED = 126
PLATFORMS = {"win32": "windows", "darwin": "osx", "linux": "linux"}


class Job(Value):
    """One execution of a handler: a command, a function to call, or an existing result."""

    command: Mapping[str, Any] = {}
    call: Callable[[], RunResult] | None = None
    result: RunResult | None = None
    # What its user should know besides, for the journal.
    notes: tuple[str, ...] = ()

    def __call__(self) -> RunResult | None:
        """Run it now, and wait for it."""
        if self.call is not None:
            return self.call()
        if not self.command:
            return self.result
        from hookport.runtime.execute import process

        return process.run(**self.command)


def read_result(
    hook: PlannedHook, wire: Wire, event: Event, result: RunResult | None, *, natively: bool = False
) -> Decision:
    """Read a hook's answer, or that it never started."""
    return _explain_unstarted(read_answer(hook, wire, event, result, natively=natively), hook, result)


def _explain_unstarted(answered: Decision, hook: PlannedHook, result: RunResult | None) -> Decision:
    """Explain that an approved script never started because it is no longer executable."""
    is_refused = result is not None and (result.exit_code == REFUSED or result.outcome == "spawn_error")
    if not answered.failure or not is_refused:
        return answered
    for path in hook.trust.get("files", ()):
        name = os.path.basename(path)
        if name in hook.command and os.path.isfile(path) and not os.access(path, os.X_OK):
            return answered.replace(failure=f"{NOT_STARTED}: {name} is not executable. Try: chmod +x {path}")
    return answered


def read_answer(
    hook: PlannedHook, wire: Wire, event: Event, result: RunResult | None, *, natively: bool = False
) -> Decision:
    """Read an answer by the rules of the hook's own dialect, with the input in canonical names.

    The bridge reads it leniently; with `natively` it is read as the agent of that dialect does.
    """
    if result is None:
        return Decision()
    if hook.type != "command" and result.exit_code:
        # Exit codes are for commands; the body of a failed HTTP answer does not count.
        return Decision(failure=result.detail)
    if hook.type in ("prompt", "agent") and result.exit_code == 0:
        return _read_model_answer(result.stdout)
    native = hook.native or choose_native(wire, event)
    if natively:
        from hookport.wire.obeyed import decide_natively

        closed = hook.on_failure in ("block", policy.CLOSED)
        answered = decide_natively(wire, result, native=native, canonical=event.event, closed=closed)
    else:
        answered = read_said(wire, result, native=native, canonical=event.event, blocking=hook.blocking)
    if answered.verdict == "allow" and not wire.lifts:
        answered = answered.replace(verdict="none", reason="")
    call = event.call
    if not answered.updated_input or call is None:
        return answered.replace(updated_input=None)
    from hookport.wire.rewrites import change_input

    is_own = wire.id == event.agent
    name = call.native if is_own else name_tool(wire, call, native)
    changed = change_input(wire, call, name, answered.updated_input, is_own=is_own)
    if changed is None and answered.verdict != "deny":
        new_input = dumps(answered.updated_input, ensure_ascii=False)
        reason = f"a hook's new input is not one call of this tool: {new_input}"
        return answered.replace(verdict="deny", reason=reason, updated_input=None)
    return answered.replace(updated_input=changed or None)


def _read_model_answer(answer: str) -> Decision:
    """Read a model's decision: `execute.llm` prints canonical words, whatever the hook's dialect."""
    tree = loads(answer or "{}")
    verdict = tree.get("decision")
    return Decision(
        verdict if verdict in ("deny", "ask") else "none",
        tree.get("reason", ""),
        tree.get("context", ""),
        carry_on=tree.get("continue") is not False,
        system_message=tree.get("system_message", ""),
    )


def make_event_job(hook: PlannedHook, wire: Wire, event: Event, setting: RunSetting) -> Job:
    """Make the job of a hook for an event, or a job with the reason why it does not run."""
    if hook.unable:
        return Job(result=RunResult("not_started", detail=hook.unable))
    notes: tuple[str, ...] = ()
    if needs := surroundings.find_transcript_needs(
        hook, wire, event, find_native_event(hook, wire, event), setting.agent, setting.env
    ):
        from hookport.runtime import transcripts

        event, notes = transcripts.add_transcript(
            needs, wire, event, setting.agent, setting.env, setting.deadline
        )
    seconds = hook.timeout_seconds
    if setting.deadline is not None:
        seconds_left = setting.deadline - time.monotonic()
        if seconds_left <= 0:
            return Job(result=RunResult("not_started", detail="the agent no longer waits for its hooks"))
        seconds = min(seconds, seconds_left)
    placed = event.replace(root=hook.root) if hook.root else event
    # A hook of the agent's own format gets the payload with the agent's own root.
    payload = write_event(wire, event if wire.id == event.agent else placed, hook.native)
    # Half of a surrogate pair has no UTF-8; `\\udc80` is JSON's escape for it.
    body = dumps(payload, ensure_ascii=False).encode("utf-8", "backslashreplace")
    job = make_job(hook, wire, placed, body, seconds, setting)
    return job.replace(notes=notes) if notes else job


def execute(
    hook: PlannedHook, wire: Wire, event: Event, body: bytes, seconds: float, setting: RunSetting
) -> RunResult | None:
    """Run the handler on these bytes; None if nobody waits for it."""
    return make_job(hook, wire, event, body, seconds, setting)()


def make_job(
    hook: PlannedHook, wire: Wire, event: Event, body: bytes, seconds: float, setting: RunSetting
) -> Job:
    """Make the job that runs the handler on these bytes."""
    if hook.type == "command":
        return _make_command_job(hook, wire, event, body, seconds, setting)
    if not hook.is_async:
        return Job(call=lambda: _call_service(hook, event, body, seconds, setting))
    if setting.executor is not None:
        setting.executor.start_beside(hook, wire, event, body, setting)
        return Job()
    from hookport.runtime.execute import process

    full_seconds = hook.timeout_seconds
    process.start_call(
        lambda: _call_service(hook, event, body, full_seconds, setting), _make_callback(hook, setting)
    )
    return Job()


def _make_callback(hook: PlannedHook, setting: RunSetting) -> Callable[[RunResult], None] | None:
    done = setting.done
    return (lambda result: done(hook, result)) if done else None


def _call_service(
    hook: PlannedHook, event: Event, body: bytes, seconds: float, setting: RunSetting
) -> RunResult:
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

        env = llm.apply_settings(setting.llm, setting.env)
        if hook.type == "prompt":
            return llm.ask(
                hook.prompt,
                body,
                model=hook.model,
                env=env,
                timeout_seconds=seconds,
                stopping=event.event in ("agent_stop", "subagent_stop"),
            )
        return llm.work(
            hook.prompt,
            body,
            model=hook.model,
            env=env,
            timeout_seconds=seconds,
            root=event.root or event.cwd,
            kind=setting.executor.kind if setting.executor else None,
        )
    return RunResult("spawn_error", detail=f"only its own agent can run a handler of type {hook.type}")


def _find_folder(*folders: str) -> str:
    """Find the first folder that exists: a guard runs even where the agent's own folder is gone."""
    return next(filter(os.path.isdir, folders), os.curdir)


def _make_command_job(
    hook: PlannedHook, wire: Wire, event: Event, body: bytes, seconds: float, setting: RunSetting
) -> Job:
    command = hook.platform.get(PLATFORMS.get(sys.platform, ""), "") or hook.command
    if not command:
        return Job(result=RunResult("completed", 0, detail=f"it has no command for {sys.platform}"))
    root = event.root or event.cwd
    is_elsewhere = bool(hook.root) and not os.path.join(event.cwd, "").startswith(os.path.join(root, ""))
    package = os.path.join(root, hook.package) if hook.package else root
    places = {"package": package, "root": root, "cwd": root if is_elsewhere else event.cwd or root}
    cwd = os.path.join(root, hook.cwd) if hook.cwd else _find_folder(places[wire.starts_in], *places.values())
    native = find_native_event(hook, wire, event)
    env = {**setting.env, **surroundings.make_variables(hook, wire, event, native, setting.env), **hook.env}
    env.update(HOOKPORT_AGENT=event.agent, HOOKPORT_EVENT=event.event)
    if original := event.facts.get("original_transcript"):
        env["HOOKPORT_TRANSCRIPT"] = str(original)
    env[recognition.VARIABLE] = recognition.seal_payload(body, wire.id, native)
    if hook.under or hook.beside:
        # Bytecode beside the scripts was not approved, so Python reads it from elsewhere.
        env["PYTHONPYCACHEPREFIX"] = os.path.join(
            journal.find_state_folder(setting.env) or os.devnull, "pycache"
        )
    if "file placeholder" in wire.traits and FILE_PLACEHOLDER in command:
        from hookport.runtime import placeholder

        env[placeholder.FILE] = placeholder.format_value(event.call.input.get("path") if event.call else None)
        command = placeholder.insert_variable(command, FILE_PLACEHOLDER)
    arguments: dict[str, Tree] = {"command": command, "stdin": body, "cwd": cwd, "env": env}
    if not hook.is_async:
        kind = {"kind": setting.executor.kind} if setting.executor else {}
        return Job(command={**arguments, **kind, "timeout_seconds": seconds})
    if setting.executor is not None:
        setting.executor.start_beside(hook, wire, event, body, setting)
        return Job()
    from hookport.runtime.execute import process

    process.start(**arguments, timeout_seconds=hook.timeout_seconds, done=_make_callback(hook, setting))
    return Job()
