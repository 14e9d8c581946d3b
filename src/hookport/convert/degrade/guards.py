"""Whether a hook still runs and still blocks: a guard stays a guard, becomes stricter, or is an error."""

from __future__ import annotations

from hookport import findings as f
from hookport.base.quoting import quote
from hookport.convert.degrade.commands import close_command
from hookport.convert.degrade.work import Work, change_commands, list_specs
from hookport.model.events import AFTER_OF, split_native
from hookport.shapes.dialect import NO_OPINION, EventSpec, find_event_specs, find_quirk, has_field
from hookport.shapes.entries import find_slots


def degrade_event(work: Work) -> bool:
    """Choose the target's event, or a later one, or drop the hook."""
    hook = work.hook
    if not hook.enabled and not has_field(work.target, "enabled"):
        work.note(f.DisabledHook)
        return False
    native = split_native(hook.event)
    if (native and native[0] == work.target.id) or work.target.is_hub:
        return True
    if find_event_specs(work.target, hook.event):
        return True
    after = AFTER_OF.get(hook.event)
    if after and not hook.blocking and find_event_specs(work.target, after):
        work.note(f.TimingShift, event=hook.event, after=after)
        work.hook = hook._replace(event=after)
        return True
    name = native[1] if native else hook.event
    reason = work.target.lacks.get(hook.event, "")
    kind = f.GuardDropped if hook.blocking else f.EventDropped
    work.note(kind, event=name, reason=f" ({reason})" if reason and "no such event" not in reason else "")
    return False


def degrade_blocking(work: Work) -> bool:
    """Keep a guard a guard or report it; keep other hooks from blocking."""
    if work.target.is_hub:
        return True
    specs = list_specs(work)
    handler = work.hook.handler
    decides = work.target.handlers[handler.type].decides and not handler.is_async
    deaf = [spec.native for spec in specs if spec.blocks == "observe" or not decides]
    if work.hook.blocking and deaf:
        _note_deaf_events(work, deaf)
    if work.hook.blocking and (work.is_replaced or not work.is_home):
        _note_needs(work, [spec for spec in specs if spec.native not in deaf])
    if has_field(work.target, "blocking"):
        return True
    if work.hook.blocking and len(deaf) == len(specs):
        work.hook = work.hook._replace(blocking=False)
    elif not work.hook.blocking and len(deaf) < len(specs):
        _keep_from_blocking(work)
    return True


def _note_deaf_events(work: Work, deaf: list[str]) -> None:
    """Report a guard on events that ignore denies: lost, unless it never prevented anything."""
    hook = work.hook
    listened = [spec.blocks for spec, _ in find_slots(work.source, hook)]
    # If the source does not document whether it blocks, the hook counts as a guard.
    if not listened or any(blocks != "observe" for blocks in listened):
        work.note(f.GuardObserves, event=", ".join(deaf))
        return
    work.note(f.FieldDropped, field=f"blocking (nothing can be prevented on {hook.event})")
    if len(deaf) == len(list_specs(work)):
        work.hook = hook._replace(blocking=False)


def _note_needs(work: Work, specs: list[EventSpec]) -> None:
    """Report what a guard on these events needs, and which products obey it."""
    for spec in specs:
        if spec.partly:
            work.note(f.GuardPartly, event=spec.native, partly=spec.partly)
        if not work.is_replaced and not work.wraps and work.hook.handler.type == "command":
            _note_exit_code(work, spec)


def _keep_from_blocking(work: Work) -> None:
    """Wrap a hook that must not block, on events that can, so that it never reports a block."""
    type_ = work.hook.handler.type
    if work.wraps:
        work.note(f.KeptFromBlocking)
        work.options.append("--observe")
    elif type_ == "command":
        work.note(f.KeptFromBlocking)
        change_commands(
            work,
            lambda command: f"( {close_command(command)}) || true",
            lambda command: f"& {{ {command} }}; exit 0",
        )
    else:
        work.note(f.MayBlockNow, type=type_, event=", ".join(spec.native for spec in list_specs(work)))
    work.hook = work.hook._replace(blocking=True)


def _note_exit_code(work: Work, spec: EventSpec) -> None:
    """Report what exit code 2 needs in the target."""
    if spec.exits == "none":
        # A hook that fails closed blocks with every exit code except 0.
        if work.hook.handler.on_failure != "block" or not _can_fail_closed(work):
            work.note(f.ExitIgnored, event=spec.native)
    elif work.target.deny_reason == "needed":
        work.note(f.ReasonNeeded)
    elif work.target.deny_reason == "lost":
        work.note(f.ReasonLost)


def degrade_failure(work: Work) -> bool:
    """Make a hook that blocks on failure do so in the target too."""
    handler = work.hook.handler
    closed = handler.on_failure == "block"
    specs = list_specs(work)
    always = bool(specs) and all(spec.exits == "any" for spec in specs)
    if work.wraps:
        return _wrap_failure(work, always=always and work.hook.blocking)
    if always and handler.type == "command" and work.hook.blocking:
        return _settle_closed_failure(work)
    if closed and not _can_fail_closed(work):
        work.note(f.FailsOpen, failure="fails or times out")
        work.change(on_failure="")
    if closed and not work.is_home:
        _speak_up(work)
    if not handler.timeout_action or has_field(work.target, "timeout_action", handler.type):
        return True
    if handler.timeout_action == "block" and work.hook.blocking:
        if _can_fail_closed(work):
            work.note(f.FailsClosed)
            work.change(on_failure="block")
            _speak_up(work)
        elif not closed:
            work.note(f.FailsOpen, failure="times out")
    else:
        work.note(f.FieldDropped, field="timeout_action")
    work.change(timeout_action="")
    return True


def _wrap_failure(work: Work, *, always: bool) -> bool:
    """Let the bridge answer for a failing command, in time; the target's own field stays beside it."""
    handler = work.hook.handler
    if handler.on_failure or handler.timeout_action or always:
        work.note(f.CarriedInCommand, what="what a failure means")
    if handler.on_failure == "block" and work.hook.blocking:
        work.options.append("--on-failure=closed")
    if handler.timeout_action and work.hook.blocking:
        work.options.append(f"--on-timeout={'closed' if handler.timeout_action == 'block' else 'open'}")
    on_failure = handler.on_failure if _can_fail_closed(work) else ""
    work.change(on_failure="block" if always else on_failure, timeout_action="")
    return True


def _speak_up(work: Work) -> None:
    """Make a hook without an opinion answer, if the target treats silence as a failure."""
    answer = find_quirk(work.target, NO_OPINION)
    if not answer or work.hook.handler.type != "command" or work.hook.handler.on_failure != "block":
        return
    work.note(f.CarriedInCommand, what="having no opinion")
    change_commands(
        work,
        lambda command: (
            f"out=$( {close_command(command)}); code=$?; "
            f'[ -n "${{out-}}" ] || out={quote(answer)}; printf \'%s\\n\' "${{out-}}"; exit ${{code-}}'
        ),
    )


def _can_fail_closed(work: Work) -> bool:
    """Whether the target has a field for it and obeys it on this event."""
    return has_field(work.target, "on_failure", work.hook.handler.type) and all(
        spec.blocks == "prevent" for spec in list_specs(work)
    )


def _settle_closed_failure(work: Work) -> bool:
    """Report a target that blocks on every failure, but never on a timeout."""
    handler = work.hook.handler
    zero = (f.KeptFromBlocking.code, f.AsyncInBackground.code, f.HttpToCurl.code)
    harmless = any(finding.code in zero for finding in work.findings)
    if handler.on_failure == "block" or handler.timeout_action == "block":
        if not work.is_home:
            work.note(f.FailsOpen, failure="times out")
    elif not harmless and not work.is_home:
        work.note(f.FailsClosed)
    if handler.timeout_action == "warn":
        work.note(f.FieldDropped, field="timeout_action")
    work.change(on_failure="block", timeout_action="")
    return True
