"""One event of a host, from what the host sent to its outcome, by the same way as a dispatch.

Every event has a thread of its own: a signal interrupts none of its steps, and no search for a pattern sets
an alarm, since both happen in the main thread only.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Literal, Required, TypedDict

from hookport import documents, project, runtime, shell, wire
from hookport.base.folders import CACHE, STATE
from hookport.errors import suggest_closest
from hookport.host.events import (
    HostEvent,
    check_environment,
    check_event,
    check_folder,
    check_seconds,
    make_occasion,
)
from hookport.host.outcome import Outcome, make_failed_outcome, make_outcome
from hookport.host.tools import Tools, ToolTable
from hookport.model.runs import Decision
from hookport.project.installed import InstalledHooks
from hookport.project.settings import load_settings
from hookport.runtime import dispatch, policy, trust
from hookport.runtime.execute.hosted import HostExecutor
from hookport.runtime.main import WITHIN
from hookport.runtime.plan import DispatchPlan
from hookport.runtime.sessions import STOPS
from hookport.runtime.sources import find_repository
from hookport.wire.table import Wire

# Plans made in another of these surroundings are others.
_SURROUNDINGS = (
    *STATE[:2],
    *CACHE[:2],
    "HOME",
    "USERPROFILE",
    "LOCALAPPDATA",
    "XDG_CONFIG_HOME",
    trust.VARIABLE,
)
LONGEST_NAME = 100
LOOK_UP_SECONDS = 0.2
# It runs in a process of its own, with libraries that may be missing here.
_IN_CHILD = "hookport.runtime.execute._conversation"
_FRESH = ("session_start", "before_prompt")


class HostHooks(InstalledHooks):
    """The installed hooks of a host, whose wire is in no plan and among no dialects."""

    def __init__(self, agent: Wire, start: str, kept: dict[str, DispatchPlan], turn: threading.Lock) -> None:
        super().__init__(start, kept)
        self._agent, self._turn = agent, turn

    def wire(self, name: str) -> Wire:
        """The wire of a dialect, or that of the host."""
        return self._agent if name == self._agent.id else super().wire(name)

    def _plan(self, folder: str, env: Mapping[str, str]) -> DispatchPlan:
        """The plan of a folder: one thread makes it, those that need it too wait."""
        with self._turn:
            return super()._plan(folder, env)


class Engine:
    """What a host has for all its events; threads and event loops may use one at once."""

    def __init__(
        self,
        root: str,
        tools: ToolTable,
        env: Mapping[str, str],
        session: str,
        timeout: float,
    ) -> None:
        self.root, self.tools, self.env = root, tools, env
        self.session, self.timeout = session, timeout
        self._kept: dict[tuple[str | None, ...], dict[str, DispatchPlan]] = {}
        self._stopped: dict[tuple[str, str], bool] = {}
        self._turn = (os.getpid(), threading.Lock())

    def begin(self, name: str, fields: Mapping[str, Any]) -> EventRun:
        """Check an event and let its hooks run in a thread of its own."""
        event = check_event(name, fields, self.root, self.session, self.timeout)
        # What was too deep or too large to be copied goes back as it came.
        given = event.fields["input"] if "input" in event.fields else dict(fields.get("input", {}))
        return EventRun(lambda run: self._answer(event, given, run))

    def _answer(self, event: HostEvent, given: dict[str, Any], run: EventRun) -> Outcome:
        begun = time.monotonic()
        env = {**self.env, **event.env}
        result = event.fields.get("result")
        place = ""
        try:
            place = find_repository(self.root)
            key = (event.session, str(event.fields.get("subagent", "")))
            occasion = make_occasion(event, self.tools, place, stop_active=key in self._stopped)
            hooks = HostHooks(self.tools.wire, place, self._keep_plans(env), self._get_turn())
            sources = hooks.find_sources(self.tools.wire.id, env, "")
            sources = hooks.follow_event(sources, occasion, env, "")
            executor = HostExecutor(run.stop)
            done = dispatch.answer_event(occasion, sources, env, event.timeout, begun, executor)
            self._remember_stop(event, key, done.report.decision)
            return make_outcome(done.report, given, result, done.notes)
        except Exception as error:  # noqa: BLE001  (a failure of ours is a failure, and policy decides it)
            return make_failed_outcome(
                event.name, _decide_crash(error, event.name, place, env), given, result
            )

    def _keep_plans(self, env: Mapping[str, str]) -> dict[str, DispatchPlan]:
        return self._kept.setdefault(tuple(map(env.get, _SURROUNDINGS)), {})

    def _get_turn(self) -> threading.Lock:
        """The lock of plans; in a fork of the host another one, since nobody there gives back the copy."""
        if self._turn[0] != os.getpid():
            self._turn = (os.getpid(), threading.Lock())
        return self._turn[1]

    def _remember_stop(self, event: HostEvent, key: tuple[str, str], decision: Decision) -> None:
        """Remember which agents go on only because a hook kept them from stopping."""
        if event.name in STOPS and decision.verdict == "deny":
            self._stopped[key] = True
        elif event.name in (*STOPS, *_FRESH):
            self._stopped.pop(key, None)


class HostOptions(TypedDict, total=False):
    """What a host is made of.

    `agent` is what hooks and the journal call the agent. `tools` says what the agent's tools are: a word of
    the tool vocabulary, a `Tool` where arguments have unusual names, an `McpTool`, or None for one that runs
    nothing, changes nothing and fetches nothing. `env` is the environment of hooks, by default a copy of the
    process's. `on_failure` (`open` or `closed`) overrides the settings. `session` is the id of the
    conversation, by default a new one. `timeout` limits each event, in seconds; 0 leaves that to each hook.
    """

    agent: Required[str]
    tools: Tools
    env: Mapping[str, str]
    on_failure: Literal["open", "closed"]
    session: str
    timeout: float


def make_engine(root: str | os.PathLike[str], options: HostOptions) -> Engine:
    """Check what a host is made of; ValueError or TypeError says what is wrong."""
    if unknown := sorted(options.keys() - HostOptions.__annotations__.keys()):
        guess = suggest_closest(unknown[0], tuple(HostOptions.__annotations__))
        raise TypeError(f"a host has no option '{unknown[0]}'.{guess}")
    folder, agent = os.path.realpath(check_folder(root, "root")), options.get("agent", "")
    if not Path(folder).is_dir():
        raise NotADirectoryError(f"root: {folder} is not a folder, so there are no hooks to guard this host")
    if not _is_name(agent):
        raise ValueError(f"agent is {agent!r}; it must be a name of 1 to 100 printable characters")
    variables = check_environment(options.get("env", os.environ.copy()))
    variables.pop(WITHIN, None)
    if "on_failure" in options:
        on_failure = options["on_failure"]
        if on_failure not in (policy.OPEN, policy.CLOSED):
            raise ValueError(f"on_failure is {on_failure!r}; it must be 'open' or 'closed'")
        variables[policy.VARIABLE] = on_failure
    _load_all()
    session, timeout = options.get("session", ""), check_seconds(options.get("timeout", 0.0))
    if not isinstance(session, str):
        raise TypeError(f"session is {type(session).__name__}; it must be a text")
    tools = ToolTable(agent, options.get("tools", {}))
    return Engine(folder, tools, variables, session or os.urandom(16).hex(), timeout)


@cache
def _load_all() -> None:
    """Import all that an event may need: a fork of the host while a thread imports could never import it."""
    for package in (documents, project, runtime, shell, wire):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if module.name != _IN_CHILD:
                import_module(module.name)


def _is_name(agent: object) -> bool:
    return isinstance(agent, str) and agent.isprintable() and 0 < len(agent) <= LONGEST_NAME


def _decide_crash(error: Exception, event: str, root: str, env: Mapping[str, str]) -> Decision:
    """Decide where hookport itself failed, as a dispatch does; a stop must end."""
    try:
        settings: Mapping[str, Any] = load_settings(root, env)
    except Exception:  # noqa: BLE001  (it may be what failed)
        settings = {}
    closed = policy.find_failure_policy(settings, env) == policy.CLOSED or policy.is_guard_lost(
        event, settings
    )
    problem = str(error) if hasattr(error, "exit_code") else f"{type(error).__name__}: {error}"
    if closed and event not in STOPS:
        return Decision("deny", f"hookport: {problem} It is denied (fail closed).")
    return Decision(system_message=f"hookport: {problem} Nothing was decided (fail open).")


class EventRun:
    """The thread of one event: it can be waited for, told of its end, and stopped."""

    def __init__(self, answer: Callable[[EventRun], Outcome]) -> None:
        self._answer = answer
        self._outcome: Outcome | None = None
        self._error: BaseException | None = None
        self._told: list[Callable[[], object]] = []
        try:
            self.stop, self._stopper = os.pipe()
        except OSError:  # out of descriptors: hooks will not start either, and guards that do not start deny
            self.stop = self._stopper = -1
        self._over = threading.Event()
        # Whoever learns of the end or stops the run must not meet it halfway.
        self._turn = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="hookport", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._outcome = self._answer(self)
        except BaseException as error:  # noqa: BLE001  (it is raised where somebody waits)
            self._error = error
        with self._turn:
            for descriptor in {self.stop, self._stopper} - {-1}:
                os.close(descriptor)
            self._over.set()
            told, self._told = self._told, []
        for call in told:
            call()

    def cancel(self) -> None:
        """Stop the hooks that run: nobody waits for their answer any more."""
        with self._turn:
            if not self._over.is_set() and self._stopper >= 0:
                os.write(self._stopper, b".")

    def when_over(self, call: Callable[[], object]) -> None:
        """Call something from the thread when the event is over, or now if it is."""
        with self._turn:
            if not self._over.is_set():
                self._told.append(call)
                return
        call()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the event is over; whether it is.

        The system may deliver a signal to another thread than the main one. That one then handles it when it
        looks up, so it does so now and then.
        """
        if seconds is not None:
            return self._over.wait(seconds)
        while not self._over.wait(LOOK_UP_SECONDS):
            pass
        return True

    def get_outcome(self) -> Outcome:
        """The outcome of an event that is over."""
        if self._error is not None:
            raise self._error
        assert self._outcome is not None  # noqa: S101  (it is over)
        return self._outcome
