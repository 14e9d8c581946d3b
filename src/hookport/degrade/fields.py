"""The timeout in the target's unit and limits, and fields that have no place there."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from hookport import findings as f
from hookport.degrade.work import Work, specs_of
from hookport.dialects._base import SECOND, Dialect, EventSpec, Timeout, dialect_data, says
from hookport.dialects._entries import slots
from hookport.model.hooks import NOTHING, Hook

# What is said about a hook and changes nothing in what it does, with the value that says nothing.
_WORDS: dict[str, Any] = {"name": "", "description": "", "metadata": NOTHING}


def _keep_event(work: Work) -> None:
    """The event chosen for what the hook needs stays chosen when nothing says any more what it needs."""
    target, before = work.target, specs_of(work)
    work.hook = work.hook._replace(capabilities=(), degradation=NOTHING)
    if [spec.native for spec, _ in slots(target, work.hook)] != [spec.native for spec in before]:
        own = {**dialect_data(work.hook, target.id), "event": before[0].native}
        work.hook = work.hook._replace(provider_data={**work.hook.provider_data, target.id: own})


def _rule(dialect: Dialect, hook: Hook) -> Timeout:
    return dialect.handlers[hook.handler.type].timeout


def _default(dialect: Dialect, hook: Hook, specs: list[EventSpec]) -> timedelta | None:
    own = next((spec.default_timeout for spec in specs if spec.default_timeout), None)
    return own or _rule(dialect, hook).default


def timeout(work: Work) -> bool:
    """The same time in the target's unit, within its limits."""
    hook, target = work.hook, work.target
    rule = _rule(target, hook)
    specs = specs_of(work)
    default = _default(target, hook, specs)
    timeout = hook.handler.timeout
    if timeout is None and hook.handler.type in work.source.handlers and not work.is_home:
        home = _default(work.source, hook, [spec for spec, _ in slots(work.source, hook)])
        if home and home != default and rule.unit is not None:
            known = _spell(default) if default else "not documented"
            work.note(f.TimeoutSpelled, timeout=_spell(home), source=work.source.id, default=known)
            timeout = home
    if timeout is None:
        return True
    if rule.unit is None and work.wraps:
        work.note(f.CarriedInCommand, what="timeout")
        work.options.append(f"--within={timeout / SECOND:g}")
        work.change(timeout=None)
        return True
    if rule.unit is None:
        known = f"it waits {_spell(default)}" if default else "its own limit is not documented"
        work.note(f.TimeoutDropped, timeout=_spell(timeout), default=known)
        work.change(timeout=None)
        return True
    highest = min(
        (limit for limit in (rule.maximum, *(spec.max_timeout for spec in specs)) if limit), default=None
    )
    limited = max(timeout, rule.minimum) if rule.minimum else timeout
    limited = min(limited, highest) if highest else limited
    if limited != timeout:
        work.note(f.TimeoutClamped, before=_spell(timeout), after=_spell(limited))
    whole = limited
    if rule.whole:
        whole = math.ceil(limited / rule.unit) * rule.unit
        if whole != limited:
            unit = "seconds" if rule.unit == SECOND else "milliseconds"
            work.note(f.TimeoutRounded, before=_spell(limited), after=_spell(whole), unit=unit)
    work.change(timeout=whole)
    return True


def _spell(timeout: timedelta) -> str:
    seconds = timeout / SECOND
    if seconds < 1:
        return f"{seconds * 1000:g} ms"
    return f"{seconds:g} s"


def fields(work: Work) -> bool:
    """Fields without a place in the target, and those only another dialect knows."""
    target = work.target
    type_ = work.hook.handler.type
    for attr, nothing in _WORDS.items():
        if getattr(work.hook, attr) and not says(target, attr, type_):
            work.note(f.FieldDropped, field=attr)
            work.hook = work.hook._replace(**{attr: nothing})
    if work.hook.handler.status_message and not says(target, "status_message", type_):
        work.note(f.FieldDropped, field="status_message")
        work.change(status_message="")
    if work.hook.handler.model and not says(target, "model", type_):
        work.note(f.FieldDropped, field="model")
        work.change(model="")
    if target.is_hub:
        return True
    _keep_event(work)
    others = {key: value for key, value in work.hook.provider_data.items() if key != target.id and value}
    for source, data in others.items():
        names = [name for name in data if name not in ("event", "group")] + list(data.get("group", ()))
        if names and source == work.source.id:
            work.note(f.NativeDropped, source=source, fields=", ".join(names))
    own = work.hook.provider_data.get(target.id)
    work.hook = work.hook._replace(provider_data={target.id: own} if own else NOTHING)
    return True
