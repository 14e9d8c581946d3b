"""What a hook loses in an agent although it runs there: a guard's time, and what it tells the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hookport import findings as f
from hookport.degrade.context import may_tell, unread
from hookport.dialects._entries import slots
from hookport.dialects._limits import too_slow
from hookport.findings import Finding
from hookport.install.entries import needs_entry, planned_blocking
from hookport.install.targets import Target
from hookport.model.hooks import NOTHING
from hookport.planning import name_of
from hookport.project import sources
from hookport.project.discovery import Found


def shortfalls(target: Target, found: Iterable[Found]) -> Iterator[Finding]:
    """One finding of a kind for each hook that the agent runs, by itself or through hookport."""
    for one in found:
        for finding in (_slow(target, one), _unread(target, one)):
            if finding is not None:
                yield finding._replace(file=one.file)


def _slow(target: Target, one: Found) -> Finding | None:
    """A guard for which the agent does not wait long enough."""
    dialect, hook = target.dialect, one.hook
    is_own = hook.dialect == dialect.id
    specs = [spec for spec, _ in slots(dialect, hook if is_own else hook._replace(provider_data=NOTHING))]
    guard = hook._replace(name=name_of(one), blocking=planned_blocking(hook))
    slow = too_slow(dialect, guard, specs)
    return f.GuardCutShort.at(one.place, None, **slow) if slow else None


def _unread(target: Target, one: Found) -> Finding | None:
    """A hook that tells the model something, which the agent does not pass on."""
    hook = one.hook
    reason = unread(target.dialect, hook) if needs_entry(target, one) else ""
    texts = (
        hook.handler.command,
        *hook.handler.platform.values(),
        *filter(None, map(sources.script_text, one.scripts)),
    )
    if not reason or not may_tell(hook, texts):
        return None
    return f.ContextUnread.at(one.place, agent=target.agent, name=name_of(one), reason=reason)
