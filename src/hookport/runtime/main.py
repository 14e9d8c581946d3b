"""Entry point of `dispatch` and `wrap`. Agents start it on every event, so it imports only what they need."""

from __future__ import annotations

import os
import sys
import time

from hookport.model.runs import ANY_EVENT, BLOCK, Answer, Decision, Event
from hookport.runtime import dispatch, engine, occasion, policy, sessions
from hookport.runtime.answer import build_answer, print_answer
from hookport.runtime.sources import make_sources
from hookport.wire.events import get_canonical_name
from hookport.wire.texts import MOST_REASON, fit

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Mapping, Sequence
    from types import FrameType
    from typing import Any, Protocol

    from hookport.runtime.covering import EntryFile
    from hookport.runtime.occasion import Occasion
    from hookport.runtime.plan import DispatchPlan, PlannedHook
    from hookport.runtime.recording import Recording
    from hookport.runtime.sources import HookSources
    from hookport.wire.table import Wire

    class HookStore(Protocol):
        """The source of hooks, wires and settings: an installed hookport, or the bridge in a project."""

        def wire(self, name: str) -> Wire:
            """Load the wire of a dialect that no plan has."""

        def is_stop(self, native: str) -> bool:
            """Whether an event of an agent without a wire is named like a stop."""

        def read_settings(self, env: Mapping[str, str]) -> Mapping[str, Any]:
            """Read the settings of the project and of the user."""

        def load_tables(self, env: Mapping[str, str]) -> DispatchPlan:
            """Load the plan with all wires and no hook, for `wrap`."""

        def find_coverage(
            self, name: str, file: str, env: Mapping[str, str]
        ) -> tuple[Sequence[PlannedHook], EntryFile]:
            """Find every hook that may run, and the file of our entries for an agent."""

        def find_sources(self, agent: str, env: Mapping[str, str], entry: str) -> HookSources:
            """Find the hooks before the event is known."""

        def follow_event(
            self, sources: HookSources, occasion: Occasion, env: Mapping[str, str], entry: str
        ) -> HookSources:
            """Find the hooks of every project that the event belongs to."""
else:
    import _signal as signal  # `signal` makes enums of them

USAGE = {
    "dispatch": "AGENT EVENT [--within SECONDS] [--on-failure open|closed] [--entry NAME] [--record DIR]",
    "wrap": "SCRIPT-DIALECT AGENT EVENT [--within SECONDS] [--on-failure open|closed] "
    "[--on-timeout open|closed] [--async] [--observe] [--for SCRIPT-EVENT] [--if RULE] [--matcher TERMS] "
    "[--matcher-of WORD] [--pattern REGEX] [--pattern-of FIELD] [--type prompt|agent] [--model NAME] "
    "[--entry NAME] [--record DIR] -- COMMAND",
}
# Each option with its values; empty for a number, None for any text, where an empty text means unset.
OPTIONS: dict[str, tuple[str, ...] | None] = {
    "--within": (),
    "--on-failure": (policy.OPEN, policy.CLOSED),
    "--on-timeout": (policy.OPEN, policy.CLOSED),
    "--for": None,
    "--if": None,
    "--matcher": None,
    "--matcher-of": None,
    "--pattern": None,
    "--pattern-of": None,
    "--type": ("command", "prompt", "agent"),
    "--model": None,
    "--entry": None,
    "--record": None,
}
# A command in another agent's file calls this to ask whether an entry of ours runs it there.
COVERS = "covers"
RECORD = "HOOKPORT_RECORD"
# How long the caller waits, in seconds, if the entry cannot pass it; our hooks do not inherit it.
WITHIN = "HOOKPORT_WITHIN"
# Set by an entry that treats any unknown exit code as a deny; a failure that passes has its own code.
GUARD, FAILED_OPEN = "--guard", 3
# Set by an entry that needs proof that we ran: this replaces exit code 0, because an emptied archive and a
# program that does nothing also end with 0.
ALIVE, IS_ALIVE = "--alive", 4
FLAGS = ("--async", "--observe", GUARD, ALIVE)
TERMINATED = 143
# The key that marks the payload of a `runtime.probe` event.
PROBE = b'"hookport_probe"'
# The deepest nesting of a payload; Python gives up at 1,000, and a deeper call would pass unseen.
DEEPEST = 4_000


def main(args: list[str], store: HookStore) -> int:
    """Answer one event; an error goes to stderr, and denies if failures deny."""
    env = dict(os.environ)
    sys.setrecursionlimit(DEEPEST)
    if args[:1] == [COVERS]:
        return _check_coverage(args[1:], env, store)
    code = _answer_agent(args, env, store)
    return IS_ALIVE if code == 0 and args[:1] == ["dispatch"] and ALIVE in args else code


def _answer_agent(args: list[str], env: dict[str, str], store: HookStore) -> int:
    _exit_on_signals()
    recordings: list[Recording] = []
    answer = None
    try:
        answer = _answer_event(args, env, store, recordings)
        return print_answer(answer)
    except Exception as error:  # noqa: BLE001  (no traceback may reach an agent)
        answer = _answer_failure(error, args, env, store)
        return print_answer(answer)
    finally:
        for recording in recordings:
            recording.write(answer, env)


def _check_coverage(words: list[str], env: Mapping[str, str], store: HookStore) -> int:
    """Return 0 if an entry of ours runs the calling hook; on any error the hook runs itself."""
    try:
        from hookport.runtime import covering

        name, file, digest = words
        hooks, entry = store.find_coverage(name, file, env)
        hooks = [hook for hook in hooks if covering.hash_command(hook.command) == digest]
        return int(not covering.is_covered(hooks, entry, env))
    except Exception:  # noqa: BLE001  (a guard must not be lost to it)
        return 1


def _answer_failure(error: Exception, args: list[str], env: Mapping[str, str], store: HookStore) -> Answer:
    """Answer if no hook could run, or if their answer could not be passed on."""
    closed = _is_closed(args, env, store) or _is_guard_lost(error, args, env, store)
    problem = str(error) if hasattr(error, "exit_code") else f"{type(error).__name__}: {error}"
    effect = "It is denied (fail closed)." if closed else "Nothing was decided (fail open)."
    if env.get("HOOKPORT_DEBUG"):
        import traceback

        traceback.print_exc()
    message = fit(f"hookport: {problem} {effect}", MOST_REASON)
    code = FAILED_OPEN if GUARD in args else 1
    return _deny(args, message, store) if closed else Answer(stderr=f"{message}\n", exit_code=code)


def _deny(args: list[str], reason: str, store: HookStore) -> Answer:
    """Deny in the agent's own form; if that is unknown, by the exit code that most agents obey.

    A stop is never denied: nothing counts the denials, and the agent must be able to end.
    """
    native = ""
    try:
        _, (*_, agent, native), _, _ = parse_arguments(args)
        wire = store.wire(agent)
        event = Event(get_canonical_name(wire, native), agent, native)
        if event.event in sessions.STOPS:
            return Answer(stderr=f"{reason}\n", exit_code=1)
        return build_answer(event, engine.DispatchReport(event, Decision("deny", reason)), wire).answer
    except Exception:  # noqa: BLE001  (it may be what failed)
        return Answer(stderr=f"{reason}\n", exit_code=1 if store.is_stop(native) else BLOCK)


def _is_closed(args: list[str], env: Mapping[str, str], store: HookStore) -> bool:
    """Whether failures deny here, as far as still known."""
    ours = args[: args.index("--")] if "--" in args else args
    text = " ".join(ours).replace("--on-failure ", "--on-failure=")
    for word in (policy.CLOSED, policy.OPEN):
        if f"--on-failure={word}" in text:
            return word == policy.CLOSED
    return policy.find_failure_policy(_read_settings(env, store), env) == policy.CLOSED


def _is_guard_lost(error: Exception, args: list[str], env: Mapping[str, str], store: HookStore) -> bool:
    """Whether guards should have run and could not; a mistyped command does not count."""
    try:
        from hookport.errors import UsageError

        if isinstance(error, UsageError):
            return False
        settings = _read_settings(env, store)
        if policy.find_tamper_policy(settings) == policy.WARN:
            return False
        _, (*_, agent, native), _, _ = parse_arguments(args)
        return policy.is_guard_lost(get_canonical_name(store.wire(agent), native), settings)
    except Exception:  # noqa: BLE001  (it may be what failed)
        return True


def _read_settings(env: Mapping[str, str], store: HookStore) -> Mapping[str, Any]:
    try:
        return store.read_settings(env)
    except Exception:  # noqa: BLE001  (it may be what failed)
        return {}


def _answer_event(
    args: list[str], env: dict[str, str], store: HookStore, recordings: list[Recording]
) -> Answer:
    command, words, options, inner = parse_arguments(args)
    entry = options.get("--entry", "")
    waits = (options.get("--within", ""), env.pop(WITHIN, ""))
    within = min((float(seconds) for seconds in waits if _is_valid_value(seconds, ())), default=0.0)
    if options.get("--on-failure") and command == "dispatch":
        env[policy.VARIABLE] = options["--on-failure"]
    begun = time.monotonic()
    payload = occasion.read_payload(within)
    *words, agent, native = words
    native = "" if native == ANY_EVENT else native
    if folder := options.get("--record") or env.get(RECORD):
        from hookport.runtime.recording import Recording

        recordings.append(Recording(folder, args, agent, native, payload.data))
    if command == "wrap":
        sources = make_sources(store.load_tables(env), agent, store.wire)
        from hookport.runtime.wrapping import wrap_command

        sources = wrap_command(words[0], inner, options, sources, env)
    else:
        sources = store.find_sources(agent, env, entry)
    event = occasion.read_occasion(payload, native, sources, env)
    if command == "dispatch":
        sources = store.follow_event(sources, event, env, entry)
        if PROBE in payload.data:
            from hookport.runtime import probe

            probed = probe.answer_probe(event, native, sources, env)
            if probed is not None:
                return probed
    if sources.entry is None:
        sources = sources.replace(entry=entry)
    result = dispatch.answer_event(event, sources, env, within, begun)
    for recording in recordings:
        recording.result = result
    return result.answer


def parse_arguments(args: list[str]) -> tuple[str, list[str], dict[str, str], list[str]]:
    """Split arguments into (command, words, options, everything after `--`)."""
    command, rest = args[0] if args else "", list(args[1:])
    if command not in USAGE:
        raise _make_usage_error(f"unknown command '{command}'. Try: `{_format_usage('dispatch')}`.")
    inner: list[str] = []
    if "--" in rest:
        split = rest.index("--")
        rest, inner = rest[:split], rest[split + 1 :]
    words: list[str] = []
    options: dict[str, str] = {}
    while rest:
        word = rest.pop(0)
        name, has_value, value = word.partition("=")
        if not word.startswith("--"):
            words.append(word)
        elif word in FLAGS:
            options[word] = "yes"
        elif name in OPTIONS and (has_value or rest):
            value = value if has_value else rest.pop(0)
            if not _is_valid_value(value, OPTIONS[name]):
                raise _make_usage_error(f"{name} cannot be '{value}'. Try: `{_format_usage(command)}`.")
            if value:
                options[name] = value
        else:
            raise _make_usage_error(f"unknown option '{name}'. Try: `{_format_usage(command)}`.")
    if len(words) != (2 if command == "dispatch" else 3) or (command == "wrap" and not inner):
        raise _make_usage_error(f"wrong arguments. Try: `{_format_usage(command)}`.")
    return command, words, options, inner


def _is_valid_value(value: str, words: tuple[str, ...] | None) -> bool:
    if words is None:
        return True
    if words:
        return value in words
    return value.replace(".", "", 1).isdigit() and float(value) > 0


def _format_usage(command: str) -> str:
    from hookport.runtime import remedy

    return remedy.format_command(command, USAGE[command])


def _make_usage_error(message: str) -> Exception:
    from hookport.errors import UsageError

    return UsageError(message)


def _exit_on_signals() -> None:
    """Exit when an agent gives up and ends us, so that no hook process stays behind."""

    def leave(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), leave)
