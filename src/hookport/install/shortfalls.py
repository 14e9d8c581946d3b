"""What a hook loses in an agent that runs it: time, fields, and its messages to the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from hookport import findings as f
from hookport.agents import get, get_wire
from hookport.convert.degrade.answers import find_lost_fields
from hookport.convert.degrade.context import explain_unread_context, may_add_context
from hookport.findings import Finding
from hookport.install.entries import may_block, needs_entry
from hookport.install.targets import Target
from hookport.model.hooks import NOTHING
from hookport.project import sources
from hookport.project.discovery import HookEntry
from hookport.project.plan_builder import name_entry
from hookport.runtime.surroundings import can_copy, is_kept
from hookport.shapes.entries import find_slots
from hookport.shapes.limits import describe_slow_guard
from hookport.wire.events import list_places
from hookport.wire.table import Wire

# Fields that hooks decide by, and whose names have no other meaning.
READ = ("permission_mode", "transcript", "agent_transcript", "final_message")


def find_shortfalls(target: Target, hooks: Iterable[HookEntry]) -> Iterator[Finding]:
    """One finding of a kind for each hook that the agent runs, itself or through hookport."""
    for hook in hooks:
        for finding in (
            _find_short_wait(target, hook),
            _find_unread_context(target, hook),
            *_find_unsent(target, hook),
        ):
            if finding is not None:
                yield finding._replace(file=hook.file)


def _find_short_wait(target: Target, found_hook: HookEntry) -> Finding | None:
    """The finding of a guard that the agent does not wait for long enough."""
    dialect, hook = target.dialect, found_hook.hook
    is_own = hook.dialect == dialect.id
    if (
        is_own and dialect.shape.in_place and not found_hook.place
    ):  # the script itself, for which no file sets a timeout
        return None
    specs = [
        spec for spec, _ in find_slots(dialect, hook if is_own else hook._replace(provider_data=NOTHING))
    ]
    guard = hook._replace(name=name_entry(found_hook), blocking=may_block(hook))
    slow = describe_slow_guard(dialect, guard, specs)
    return f.GuardCutShort.at(found_hook.place, None, **slow) if slow else None


def _find_unread_context(target: Target, found_hook: HookEntry) -> Finding | None:
    """The finding of a hook whose messages the agent does not pass on to the model."""
    hook = found_hook.hook
    reason = explain_unread_context(target.dialect, hook) if needs_entry(target, found_hook) else ""
    if not reason or not may_add_context(hook, _collect_texts(target, found_hook)):
        return None
    return f.ContextUnread.at(
        found_hook.place, agent=target.agent, name=name_entry(found_hook), reason=reason
    )


def _collect_texts(target: Target, hook: HookEntry) -> tuple[str, ...]:
    """The text of a hook: its command on every system, and the scripts it runs."""
    handler = hook.hook.handler
    scripts_run = sources.read_scripts(
        Path(target.root), (hook.hook,), get(hook.hook.dialect), Path(hook.package)
    )
    run = (text for texts in scripts_run.values() for text in texts.values())
    scripts = filter(None, map(sources.read_script, hook.scripts))
    return tuple(dict.fromkeys((handler.command, *handler.platform.values(), *scripts, *run)))


def _find_unsent(target: Target, hook: HookEntry) -> Iterator[Finding]:
    """Fields of its payload and its answers that the agent lacks, and variables for its shell."""
    if hook.hook.dialect == target.agent or not needs_entry(target, hook):
        return
    hook_wire, agent = get_wire(hook.hook.dialect), get_wire(target.agent)
    fired = [native for _, native in agent.natives.get(hook.hook.event, ())]
    if not fired:
        return
    text = "\n".join(_collect_texts(target, hook))
    if lost := find_lost_fields(hook_wire, agent, hook.hook.event, fired, text):
        yield f.AnswerFieldLost.at(hook.place, fields=", ".join(lost), target=target.agent)
    natives = [native for _, native in hook_wire.natives.get(hook.hook.event, ())]
    for name in READ:
        fields = [place for native in natives for place in list_places(hook_wire, native, name)]
        field = next((field for field in fields if re.search(rf"\b{field}\b", text)), "")
        is_found = name == "transcript" and is_kept(agent) and can_copy(hook_wire, agent)
        if field and not is_found and not any(list_places(agent, native, name) for native in fired):
            when = (
                f" on {hook.hook.event}"
                if any(name in row.get("keys", ()) for row in agent.by_event.values())
                else ""
            )
            yield f.FieldUnsent.at(
                hook.place, agent=target.agent, name=name_entry(hook), field=field, when=when
            )
        elif field and name == "transcript" and _has_other_transcript(hook_wire, agent):
            yield f.TranscriptDiffers.at(hook.place, agent=target.agent, name=name_entry(hook))
    for variable in sorted(
        _find_shell_variables(hook_wire, natives) - _find_shell_variables(agent, agent.by_event)
    ):
        if re.search(rf"\b{variable}\b", text):
            yield f.ShellVariablesUnread.at(
                hook.place, agent=target.agent, name=name_entry(hook), variable=variable
            )


def _find_shell_variables(table: Wire, natives: Iterable[str]) -> set[str]:
    """The variables that name a file for the shell, on these events."""
    rows = (row for native in natives for row in table.by_event.get(native, {}).get("env", {}).items())
    return {variable for variable, word in rows if word == "$env_file"}


def _has_other_transcript(table: Wire, agent: Wire) -> bool:
    """Whether the agent's transcript differs from what a script expects, and gets no copy."""
    expected = [shape["form"] for shape in table.transcript] or ([table.id] if table.fires else [])
    written = [shape["form"] for shape in agent.transcript] or [agent.id]
    return bool(expected) and not set(expected) >= set(written) and not can_copy(table, agent)
