"""What a failure means, for every failure there is: open (no decision) or closed (deny), never allow."""

from __future__ import annotations

from hookport.model.runs import Decision
from hookport.wires.answers import TIMED_OUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hookport.runtime.plan import Planned

OPEN, CLOSED = "open", "closed"
# The user's own word, over what files say.
VARIABLE = "HOOKPORT_ON_FAILURE"


def standing(settings: Mapping[str, Any], env: Mapping[str, str]) -> str:
    """What holds where a hook says nothing of its own; a word of the user that is none denies."""
    said = env.get(VARIABLE, "")
    if said:
        return OPEN if said == OPEN else CLOSED
    return str(settings.get("on_failure") or OPEN)


def decided(decision: Decision, hook: Planned | None, default: str) -> Decision:
    """A decision as it is, or what policy makes of a failure."""
    if not decision.failure:
        return decision
    is_unapproved = hook is not None and decision.failure.startswith("not approved: ")
    did = "was not run" if is_unapproved else "failed"
    who = f"hook '{hook.name}' {did}" if hook else "hookport could not tell what happens"
    told = f"{who}: {decision.failure}"
    if decision.reason:
        told += f" ({_short(decision.reason)})"
    if _is_closed(decision, hook, default):
        return Decision("deny", f"{told}. It is denied, because failures deny here (fail closed).")
    if hook is not None and not hook.blocking and not is_unapproved:
        return Decision()
    return Decision(system_message=f"{told}. It was not blocked (fail open).")


def _is_closed(decision: Decision, hook: Planned | None, default: str) -> bool:
    if hook is None:
        return default == CLOSED
    if decision.failure.startswith(TIMED_OUT) and hook.timeout_action:
        return hook.timeout_action == "block"
    if hook.on_failure:
        return hook.on_failure in ("block", CLOSED)
    return default == CLOSED and hook.blocking


def _short(text: str) -> str:
    """The line that says most: the first, but of a traceback of Python the last."""
    lines = text.strip().splitlines() or [""]
    line = lines[-1 if lines[0].startswith("Traceback ") else 0].strip()
    return line if len(line) <= 200 else line[:199] + "…"
