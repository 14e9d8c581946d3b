"""The meaning of every failure: open (no decision) or closed (deny), never allow."""

from __future__ import annotations

from hookport.model.runs import Decision
from hookport.wire.answers import NOT_STARTED, TIMED_OUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hookport.runtime.plan import PlannedHook

OPEN, CLOSED = "open", "closed"
# The caller decides what a failure means.
LATER = "later"
# The policy for a blocking hook that was approved and is missing, changed or never started.
DENY, WARN = "deny", "warn"
# The values of settings, the strict one first, and their defaults.
WORDS = {"on_failure": (CLOSED, OPEN), "on_tamper": (DENY, WARN)}
DEFAULTS = {"on_failure": OPEN, "on_tamper": DENY}
UNTIL = "It is denied until the user reviews and approves the change."
# The user's own setting, which overrides files.
VARIABLE = "HOOKPORT_ON_FAILURE"


def find_failure_policy(settings: Mapping[str, Any], env: Mapping[str, str]) -> str:
    """Find the policy for failures unless a hook sets it; an unknown value of the user denies."""
    word = env.get(VARIABLE, "")
    if word:
        return OPEN if word == OPEN else CLOSED
    return str(settings.get("on_failure") or OPEN)


def find_tamper_policy(settings: Mapping[str, Any]) -> str:
    """Find the policy for guards that were tampered with or never ran: deny, unless settings differ."""
    return WARN if settings.get("on_tamper") == WARN else DENY


def is_guarded_event(event: str) -> bool:
    """Whether an event comes before an action that can still be denied."""
    return event.startswith(("before_", "permission_request"))


def is_guard_lost(event: str, settings: Mapping[str, Any]) -> bool:
    """Whether an error of ours on an event denies, since guards should have run and could not."""
    return find_tamper_policy(settings) != WARN and is_guarded_event(event)


def decide_unasked(who: str, why: str, on_tamper: str) -> Decision:
    """Decide for guards that could not run."""
    failure = f"{who} could not run: {why.rstrip('.')}"
    if on_tamper == WARN:
        return Decision(system_message=f"{failure}. It was not blocked (on_tamper is warn).")
    return Decision("deny", f"{failure}. It is denied, because a guard that cannot run denies.")


def decide(decision: Decision, hook: PlannedHook | None, default: str, on_tamper: str = DENY) -> Decision:
    """Return a decision unchanged, or the policy's decision on a failure."""
    if not decision.failure:
        return decision
    if default == LATER:
        return Decision()
    if hook is not None and hook.blocking and decision.failure.startswith(NOT_STARTED):
        return decide_unasked(
            f"hook '{hook.name}'", decision.failure.removeprefix(f"{NOT_STARTED}: "), on_tamper
        )
    is_unapproved = hook is not None and decision.failure.startswith("not approved: ")
    if hook is not None and is_unapproved and on_tamper == DENY and is_tampered(hook):
        from hookport.runtime.trust import find_cause

        message = f"hook '{hook.name}' is not as the user approved it: {find_cause(decision.failure)}."
        from hookport.runtime import remedy

        return Decision("deny", f"{message} {UNTIL} {remedy.format_for_models('trust', root=hook.root)}")
    did = "was not run" if is_unapproved else "failed"
    who = f"hook '{hook.name}' {did}" if hook else "hookport could not identify the event"
    message = f"{who}: {decision.failure}"
    if decision.reason:
        message += f" ({_shorten(decision.reason)})"
    if _is_closed(decision, hook, default):
        return Decision("deny", f"{message}. It is denied, because failures deny here (fail closed).")
    if hook is not None and not hook.blocking and not is_unapproved:
        return Decision()
    return Decision(system_message=f"{message}. It was not blocked (fail open).")


def is_tampered(hook: PlannedHook) -> bool:
    """Whether a hook that is not approved now was approved, and could have prevented the action."""
    return bool(hook.trust.get("was_approved")) and hook.blocking and is_guarded_event(hook.event)


def _is_closed(decision: Decision, hook: PlannedHook | None, default: str) -> bool:
    if hook is None:
        return default == CLOSED
    if decision.failure.startswith(TIMED_OUT) and hook.timeout_action:
        return hook.timeout_action == "block"
    if hook.on_failure:
        return hook.on_failure in ("block", CLOSED)
    return default == CLOSED and hook.blocking


def _shorten(text: str) -> str:
    """Shorten to the most informative line: the first, or the last of a Python traceback."""
    lines = text.strip().splitlines() or [""]
    line = lines[-1 if lines[0].startswith("Traceback ") else 0].strip()
    return line if len(line) <= 200 else line[:199] + "…"
