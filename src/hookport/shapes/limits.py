"""How long an agent waits for a hook at most, and which guards need longer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from hookport.model.hooks import Hook
from hookport.shapes.dialect import SECOND, Dialect, EventSpec


def find_longest_wait(
    dialect: Dialect, specs: Iterable[EventSpec], type_: str = "command"
) -> timedelta | None:
    """How long the agent waits on these events at most, whatever the hook's timeout."""
    handler = dialect.handlers.get(type_)
    limits = [handler.timeout.maximum if handler else None, *(spec.max_timeout for spec in specs)]
    return min((limit for limit in limits if limit is not None), default=None)


def describe_slow_guard(
    target: Dialect,
    hook: Hook,
    specs: Sequence[EventSpec],
    type_: str = "command",
) -> dict[str, str]:
    """The values for a finding about an agent that waits less than the guard's timeout; empty if none does.

    A guard without a timeout gets none, although its dialect may wait long.
    """
    timeout = hook.handler.timeout
    guarded = [spec for spec in specs if spec.blocks != "observe"]
    if target.kind != "agent" or not guarded or timeout is None or not hook.blocking or hook.handler.is_async:
        return {}
    handler = target.handlers.get(type_)
    shorter = handler.timeout.shorter if handler else None
    waits = [(target.title, limit) for limit in [find_longest_wait(target, guarded, type_)] if limit]
    waits += [(f"{target.title} in {shorter[0]}", shorter[1])] if shorter else []
    who, limit = min(waits, key=lambda wait: wait[1], default=("", timeout))
    if timeout <= limit:
        return {}
    guard = f"'{hook.name}'" if hook.name else "this guard"
    return {"who": who, "limit": spell(limit), "guard": guard, "timeout": spell(timeout)}


def spell(timeout: timedelta) -> str:
    """Format a time in seconds, or in milliseconds if less than one."""
    seconds = timeout / SECOND
    if seconds < 1:
        return f"{seconds * 1000:g} ms"
    return f"{seconds:g} s"
