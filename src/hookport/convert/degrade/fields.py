"""The timeout in the target's unit and limits, and fields that the target lacks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from hookport import findings as f
from hookport.convert.degrade.work import Work, list_specs
from hookport.model.hooks import NOTHING, Hook
from hookport.shapes.dialect import SECOND, Dialect, EventSpec, Timeout, Tree, get_dialect_data, has_field
from hookport.shapes.entries import find_slots
from hookport.shapes.limits import describe_slow_guard, find_longest_wait, spell

# Fields that describe a hook without changing its behaviour, with their empty values.
_WORDS: dict[str, Any] = {"name": "", "description": "", "metadata": NOTHING}


def _keep_event(work: Work) -> None:
    """Keep the event chosen by the hook's capabilities when these are removed."""
    target, before = work.target, list_specs(work)
    work.hook = work.hook._replace(capabilities=(), degradation=NOTHING)
    if [spec.native for spec, _ in find_slots(target, work.hook)] != [spec.native for spec in before]:
        target_data = {**get_dialect_data(work.hook, target.id), "event": before[0].native}
        work.hook = work.hook._replace(provider_data={**work.hook.provider_data, target.id: target_data})


def _find_timeout_rule(dialect: Dialect, hook: Hook) -> Timeout:
    return dialect.handlers[hook.handler.type].timeout


def _find_default(dialect: Dialect, hook: Hook, specs: list[EventSpec]) -> timedelta | None:
    event_default = next((spec.default_timeout for spec in specs if spec.default_timeout), None)
    return event_default or _find_timeout_rule(dialect, hook).default


def degrade_timeout(work: Work) -> bool:
    """Convert the timeout to the target's unit and limits."""
    hook, target = work.hook, work.target
    rule = _find_timeout_rule(target, hook)
    specs = list_specs(work)
    default = _find_default(target, hook, specs)
    timeout = hook.handler.timeout
    if timeout is None and hook.handler.type in work.source.handlers and not work.is_home:
        home = _find_default(work.source, hook, [spec for spec, _ in find_slots(work.source, hook)])
        if home and home != default and rule.unit is not None:
            default_words = spell(default) if default else "not documented"
            work.note(f.TimeoutSpelled, timeout=spell(home), source=work.source.id, default=default_words)
            timeout = home
    if timeout is None:
        return True
    if rule.unit is None and work.wraps:
        work.note(f.CarriedInCommand, what="timeout")
        work.options.append(f"--within={timeout / SECOND:g}")
        work.change(timeout=None)
        return True
    if rule.unit is None:
        default_words = f"it waits {spell(default)}" if default else "its own limit is not documented"
        work.note(f.TimeoutDropped, timeout=spell(timeout), default=default_words)
        work.change(timeout=None)
        return True
    limited = _limit_timeout(work, rule, timeout, specs)
    rounded = limited
    if rule.whole:
        rounded = math.ceil(limited / rule.unit) * rule.unit
        if rounded != limited:
            unit = "seconds" if rule.unit == SECOND else "milliseconds"
            work.note(f.TimeoutRounded, before=spell(limited), after=spell(rounded), unit=unit)
    work.change(timeout=rounded)
    return True


def _limit_timeout(work: Work, rule: Timeout, timeout: timedelta, specs: list[EventSpec]) -> timedelta:
    """Limit the timeout to the target's range; a guard that asks for more is too slow there."""
    hook, target = work.hook, work.target
    most = find_longest_wait(target, specs, hook.handler.type)
    limited = max(timeout, rule.minimum or timeout)
    limited = min(limited, most or limited)
    if slow := describe_slow_guard(target, hook, specs, hook.handler.type):
        work.findings.append(f.GuardCutShort.at(work.where, work.index, **slow))
    elif limited != timeout:
        work.note(f.TimeoutClamped, before=spell(timeout), after=spell(limited))
    elif rule.shorter and limited > rule.shorter[1]:
        product, after = f"{target.id} in {rule.shorter[0]}", spell(rule.shorter[1])
        clamped = f.TimeoutClamped.at(
            work.where, work.index, target=product, before=spell(limited), after=after
        )
        work.findings.append(clamped)
    return limited


def degrade_fields(work: Work) -> bool:
    """Drop fields that the target lacks, and fields of another dialect."""
    target = work.target
    type_ = work.hook.handler.type
    for attr, nothing in _WORDS.items():
        if getattr(work.hook, attr) and not has_field(target, attr, type_):
            work.note(f.FieldDropped, field=attr)
            work.hook = work.hook._replace(**{attr: nothing})
    if work.hook.handler.status_message and not has_field(target, "status_message", type_):
        work.note(f.FieldDropped, field="status_message")
        work.change(status_message="")
    if work.hook.handler.model and not has_field(target, "model", type_):
        work.note(f.FieldDropped, field="model")
        work.change(model="")
    if target.is_hub:
        return True
    _keep_event(work)
    other_data = {key: value for key, value in work.hook.provider_data.items() if key != target.id and value}
    for source, data in other_data.items():
        names = _list_native_fields(data)
        if names and source == work.source.id:
            work.note(f.NativeDropped, source=source, fields=", ".join(names))
    target_data = work.hook.provider_data.get(target.id)
    work.hook = work.hook._replace(provider_data={target.id: target_data} if target_data else NOTHING)
    return True


def _list_native_fields(data: Mapping[str, Tree]) -> list[str]:
    """The dialect's own fields of a hook."""
    inner = [data.get(part) for part in ("group", "keys")]
    names = [name for name in data if name not in ("event", "group", "keys", "written_matcher")]
    return names + [str(name) for part in inner if isinstance(part, Mapping) for name in part]
