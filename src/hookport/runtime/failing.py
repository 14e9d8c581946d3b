"""What it means that we failed ourselves: nothing is decided, or it is denied in the agent's own terms."""

from __future__ import annotations

from hookport.model.runs import BLOCK, Answer, Decision, Event
from hookport.runtime import engine, policy, sessions
from hookport.runtime.answer import told_of
from hookport.runtime.main import FAILED_OPEN, GUARD, parse_arguments
from hookport.wire.events import canonical_name
from hookport.wire.texts import MOST_REASON, fit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hookport.runtime.main import HookStore


def answer_failure(error: Exception, args: list[str], env: Mapping[str, str], store: HookStore) -> Answer:
    """The answer where no hook could be asked, or none of what they said could be given."""
    closed = _is_closed(args, env, store) or _is_guard_lost(error, args, env, store)
    told = str(error) if hasattr(error, "exit_code") else f"{type(error).__name__}: {error}"
    effect = "It is denied (fail closed)." if closed else "Nothing was decided (fail open)."
    if env.get("HOOKPORT_DEBUG"):
        import traceback

        traceback.print_exc()
    message = fit(f"hookport: {told} {effect}", MOST_REASON)
    code = FAILED_OPEN if GUARD in args else 1
    return _denied(args, message, store) if closed else Answer(stderr=f"{message}\n", exit_code=code)


def _denied(args: list[str], reason: str, store: HookStore) -> Answer:
    """A deny in the agent's own terms; where even these cannot be told, by the exit code that most obey.

    A stop is not denied: nothing counts how often it was, and it must end.
    """
    native = ""
    try:
        _, (*_, agent, native), _, _ = parse_arguments(args)
        own = store.wire(agent)
        event = Event(canonical_name(own, native), agent, native)
        if event.event in sessions.STOPS:
            return Answer(stderr=f"{reason}\n", exit_code=1)
        return told_of(event, engine.Report(event, Decision("deny", reason)), own).answer
    except Exception:  # noqa: BLE001  (it may be what failed)
        return Answer(stderr=f"{reason}\n", exit_code=1 if store.is_stop(native) else BLOCK)


def _is_closed(args: list[str], env: Mapping[str, str], store: HookStore) -> bool:
    """Whether failures deny here, as far as that can still be told."""
    ours = args[: args.index("--")] if "--" in args else args
    said = " ".join(ours).replace("--on-failure ", "--on-failure=")
    for word in (policy.CLOSED, policy.OPEN):
        if f"--on-failure={word}" in said:
            return word == policy.CLOSED
    return policy.standing(_settings(env, store), env) == policy.CLOSED


def _is_guard_lost(error: Exception, args: list[str], env: Mapping[str, str], store: HookStore) -> bool:
    """Whether guards should have been asked and could not be; what people type wrong is no such thing."""
    try:
        from hookport.errors import UsageError

        if isinstance(error, UsageError) or policy.on_tamper(_settings(env, store)) == policy.WARN:
            return False
        _, (*_, agent, native), _, _ = parse_arguments(args)
        return policy.guards(canonical_name(store.wire(agent), native))
    except Exception:  # noqa: BLE001  (it may be what failed)
        return True


def _settings(env: Mapping[str, str], store: HookStore) -> Mapping[str, Any]:
    try:
        return store.settings(env)
    except Exception:  # noqa: BLE001  (it may be what failed)
        return {}
