"""What a hook loses in an agent although it runs there: time, fields, and what it tells the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from hookport import findings as f
from hookport.agents import get, get_wire
from hookport.convert.degrade.answers import find_lost_fields
from hookport.convert.degrade.context import explain_unread_context, may_add_context
from hookport.findings import Finding
from hookport.install.entries import needs_entry, planned_blocking
from hookport.install.targets import Target
from hookport.model.hooks import NOTHING
from hookport.project import sources
from hookport.project.discovery import HookEntry
from hookport.project.plan_builder import name_entry
from hookport.runtime.surroundings import WRITTEN
from hookport.shapes.entries import find_slots
from hookport.shapes.limits import describe_slow_guard
from hookport.wire.events import list_places
from hookport.wire.table import Wire

# Fields that hooks decide by, and whose names mean nothing else.
READ = ("permission_mode", "transcript", "agent_transcript", "final_message")


def shortfalls(target: Target, found: Iterable[HookEntry]) -> Iterator[Finding]:
    """One finding of a kind for each hook that the agent runs, by itself or through hookport."""
    for one in found:
        for finding in (_slow(target, one), _unread(target, one), *_unsent(target, one)):
            if finding is not None:
                yield finding._replace(file=one.file)


def _slow(target: Target, one: HookEntry) -> Finding | None:
    """A guard for which the agent does not wait long enough."""
    dialect, hook = target.dialect, one.hook
    is_own = hook.dialect == dialect.id
    if (
        is_own and dialect.shape.in_place and not one.place
    ):  # the script itself, of which no file gives a time
        return None
    specs = [
        spec for spec, _ in find_slots(dialect, hook if is_own else hook._replace(provider_data=NOTHING))
    ]
    guard = hook._replace(name=name_entry(one), blocking=planned_blocking(hook))
    slow = describe_slow_guard(dialect, guard, specs)
    return f.GuardCutShort.at(one.place, None, **slow) if slow else None


def _unread(target: Target, one: HookEntry) -> Finding | None:
    """A hook that tells the model something, which the agent does not pass on."""
    hook = one.hook
    reason = explain_unread_context(target.dialect, hook) if needs_entry(target, one) else ""
    if not reason or not may_add_context(hook, _texts(target, one)):
        return None
    return f.ContextUnread.at(one.place, agent=target.agent, name=name_entry(one), reason=reason)


def _texts(target: Target, one: HookEntry) -> tuple[str, ...]:
    """What a hook is written as: its command on every system, and the scripts it runs."""
    handler = one.hook.handler
    found = sources.read_scripts(Path(target.root), (one.hook,), get(one.hook.dialect), Path(one.package))
    run = (text for texts in found.values() for text in texts.values())
    scripts = filter(None, map(sources.read_script, one.scripts))
    return tuple(dict.fromkeys((handler.command, *handler.platform.values(), *scripts, *run)))


def _unsent(target: Target, one: HookEntry) -> Iterator[Finding]:
    """Fields of its payload and its answers that the agent lacks, and variables for its shell."""
    if one.hook.dialect == target.agent or not needs_entry(target, one):
        return
    own, agent = get_wire(one.hook.dialect), get_wire(target.agent)
    fired = [native for _, native in agent.natives.get(one.hook.event, ())]
    if not fired:
        return
    text = "\n".join(_texts(target, one))
    if lost := find_lost_fields(own, agent, one.hook.event, fired, text):
        yield f.AnswerFieldLost.at(one.place, fields=", ".join(lost), target=target.agent)
    natives = [native for _, native in own.natives.get(one.hook.event, ())]
    for name in READ:
        fields = [place for native in natives for place in list_places(own, native, name)]
        field = next((field for field in fields if re.search(rf"\b{field}\b", text)), "")
        if field and not any(list_places(agent, native, name) for native in fired):
            when = f" on {one.hook.event}" if any(name in keys for keys in agent.keys_of.values()) else ""
            yield f.FieldUnsent.at(
                one.place, agent=target.agent, name=name_entry(one), field=field, when=when
            )
        elif field and name == "transcript" and _differs(own, agent):
            yield f.TranscriptDiffers.at(one.place, agent=target.agent, name=name_entry(one))
    for variable in sorted(_for_shells(own, natives) - _for_shells(agent, agent.env_of)):
        if re.search(rf"\b{variable}\b", text):
            yield f.ShellVariablesUnread.at(
                one.place, agent=target.agent, name=name_entry(one), variable=variable
            )


def _for_shells(own: Wire, natives: Iterable[str]) -> set[str]:
    """The variables that name a file for the shell, on these events."""
    rows = (row for native in natives for row in own.env_of.get(native, {}).items())
    return {variable for variable, word in rows if word == "$env_file"}


def _differs(own: Wire, agent: Wire) -> bool:
    """Whether the agent's transcript is not what a script expects, and no copy of it is made."""
    expected = own.transcript or (own.id if own.fires else "")
    is_copied = expected == WRITTEN and agent.transcript
    return bool(expected) and expected != (agent.transcript or agent.id) and not is_copied
