"""Run hook commands in a program of somebody else: nothing of its process changes.

Commands start by `subprocess`: no `chdir`, no signal and no fork without exec. A hook that is not waited for
gets a process of its own that keeps its deadline and writes its record, also when the host has ended.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

from hookport.base.tree import Tree
from hookport.model.runs import Call, Event, RunResult
from hookport.model.value import Value
from hookport.runtime.engine import RunSetting
from hookport.runtime.execute.process import (
    SHELL,
    Child,
    StartError,
    explain_folder_error,
    explain_start_error,
    find_program,
)
from hookport.runtime.plan import PlannedHook
from hookport.wire.table import Wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookport.runtime.execute.process import Steps

# The search path is ours, not that of the host's folder: it may have a json.py of its own.
_BESIDE = """\
import json, sys
order = json.load(sys.stdin)
sys.path[:] = order["path"]
from hookport.runtime.execute.hosted import run_beside
run_beside(order)
"""
# The shell ends at once, so that the host has no child to wait for; a program in the background would get no
# stdin unless it is named.
_IN_BACKGROUND = 'exec 3<&0; "$@" <&3 3<&- &'
_running: set[HostedChild] = set()
# Held while a child starts. A fork of the host waits for it: a copy of the pipe by which `subprocess` learns
# that a program has started would keep it waiting until the copy ends.
_starting = threading.Lock()


class HostExecutor(Value):
    """How the hooks of one event run in a host: `stop` becomes readable when nobody waits any more."""

    stop: int = -1

    @property
    def kind(self) -> type[Child]:
        """What a command is started as."""
        return HostedChild

    def start_beside(
        self, hook: PlannedHook, wire: Wire, event: Event, body: bytes, setting: RunSetting
    ) -> None:
        """Start a hook that is not waited for; one that does not start is recorded."""
        order = {
            "path": [place for place in sys.path if place],
            "hook": hook.replace(is_async=False).as_dict(),
            "wire": wire.as_dict(),
            "event": _spell_event(event),
            "body": body.decode("latin-1"),
            "env": dict(setting.env),
            "llm": dict(setting.llm),
        }
        with tempfile.TemporaryFile() as file:
            file.write(json.dumps(order, default=list).encode())
            file.seek(0)
            problem = _start_in_background(file)
        if problem and setting.done is not None:
            setting.done(hook, RunResult("not_started", detail=problem))


def _start_in_background(file: IO[bytes]) -> str:
    """Start the process that runs the order of a file; why that failed, or empty."""
    if not sys.executable:
        return "there is no Python to run it beside the host (sys.executable is empty)"
    words = [sys.executable, "-P", "-c", _BESIDE]
    silent: dict[str, Any] = {"stdin": file, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        if os.name == "nt":
            subprocess.Popen(words, **silent, creationflags=getattr(subprocess, "DETACHED_PROCESS", 0))
        else:
            command = [SHELL, "-c", _IN_BACKGROUND, SHELL, *words]
            with _starting:
                subprocess.run(command, **silent, start_new_session=True, cwd=os.sep, check=False)
    except (OSError, ValueError) as error:
        return f"the system cannot start a process: {error}"
    return ""


def run_beside(order: Mapping[str, Tree]) -> None:
    """Run the hook of an order to its end, in a process of its own, and write its record."""
    from hookport.runtime import handlers, records

    hook, wire = PlannedHook(**order["hook"]), Wire(**order["wire"])
    event, env = _read_event(order["event"]), order["env"]
    setting = RunSetting(wire, lambda _name: wire, env, llm=order["llm"])
    body = order["body"].encode("latin-1")
    result = handlers.execute(hook, wire, event, body, hook.timeout_seconds, setting)
    if result is not None:
        records.write_late_record(event, hook.replace(is_async=True), result, setting)


def _spell_event(event: Event) -> dict[str, Tree]:
    return {**event.as_dict(), "call": _spell_call(event.call) if event.call else None}


def _spell_call(call: Call) -> dict[str, Tree]:
    return {**call.as_dict(), "parts": [_spell_call(part) for part in call.parts]}


def _read_event(tree: Mapping[str, Tree]) -> Event:
    absent = tuple(map(tuple, tree["absent"]))
    return Event(**{**tree, "absent": absent, "call": _read_call(tree["call"]) if tree["call"] else None})


def _read_call(tree: Mapping[str, Tree]) -> Call:
    return Call(**{**tree, "also": tuple(tree["also"]), "parts": tuple(map(_read_call, tree["parts"]))})


class HostedChild(Child):
    """One hook process of a host; its thread is interrupted by nobody, so no signal has to wait."""

    shields_start = False

    def start(self, argv: list[str], cwd: str, env: Mapping[str, str]) -> None:
        """Make the pipes and start the program, with no fork of the host in between."""
        with _starting:
            super().start(argv, cwd, env)

    def spawn(self, argv: list[str], cwd: str, env: Mapping[str, str], streams: tuple[int, int, int]) -> int:
        """Start the program as `Child` does."""
        if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
            raise StartError("the host ignores SIGCHLD, so exit codes would be lost", "not_started")
        path = find_program(argv[0], env.get("PATH", os.defpath))
        stdin, stdout, stderr = streams
        try:
            child = subprocess.Popen(
                argv,
                executable=path,
                cwd=cwd,
                env=dict(env),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                process_group=0,
            )
        except OSError as error:
            if error.filename == cwd:
                raise explain_folder_error(error, cwd) from error
            raise explain_start_error(error, path, path) from error
        # It is ours to wait for.
        child.returncode = 0
        return child.pid

    def steps(self, *args: Any, **options: Any) -> Steps:  # noqa: ANN401  (those of `Child`)
        """The steps of `Child`; a fork of the host meanwhile closes our pipes in the copy."""
        _running.add(self)
        try:
            return (yield from super().steps(*args, **options))
        finally:
            _running.discard(self)


def _close_in_copy() -> None:
    """Close the pipes of running hooks in a fork of the host: a hook would wait for the end of its stdin."""
    _starting.release()
    for child in list(_running):
        for descriptor in child.open:
            with suppress(OSError):
                os.close(descriptor)
    _running.clear()


def _end_running() -> None:
    """End the hooks that a host waits for when it ends: nobody would keep their deadline."""
    for child in list(_running):
        if child.pid:
            with suppress(OSError):
                os.killpg(child.pid, signal.SIGKILL)


atexit.register(_end_running)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_close_in_copy
    )
