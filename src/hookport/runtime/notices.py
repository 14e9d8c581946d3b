"""Notices beside the decisions of hooks: about hooks that cannot run, are not approved, or are paused.

Each appears once a session. Where no message reaches a person, a call is denied once instead.
"""

from __future__ import annotations

from hookport.model.runs import Decision
from hookport.runtime import merge, policy, sessions
from hookport.runtime.engine import PAUSED, add_failure, is_unapproved
from hookport.wire.answers import reaches, takes_deny

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookport.model.runs import Event
    from hookport.runtime.engine import DispatchReport, RunSetting
    from hookport.runtime.sources import HookSources

# How many unapproved hooks a notice names.
MOST_NAMES = 5
# This denial protects nothing: it is the only notice that reaches anybody.
ONLY_ONCE = "This is a one-time notice: it does not deny the same call again."


def add_broken_notice(report: DispatchReport, broken: Sequence[str], setting: RunSetting) -> DispatchReport:
    """Report hooks that cannot run, at a session's start or on its first event; deny if failures deny."""
    report = report.replace(notes=(*report.notes, *(f"broken: {cause}" for cause in broken)))
    broken = [cause.rstrip(".") for cause in broken]
    event = report.event
    is_guarded = policy.is_guarded_event(event.event)
    new_causes = _find_new_causes(event, "broken", broken, setting, denies=is_guarded)
    if event.event == "session_start" or (setting.on_failure == policy.CLOSED and is_guarded):
        return add_failure(report, f"hooks cannot run: {'; '.join(broken)}", setting.on_failure)
    if not new_causes:
        return report
    text = f"hooks cannot run: {'; '.join(new_causes)}"
    if reaches(setting.agent, event, "message"):
        return add_failure(report, text, setting.on_failure)
    from hookport.runtime import remedy

    fix = remedy.format_for_models("doctor").partition(";")[0]
    return report.replace(decision=_add_denial(report.decision, f"{text}.", f"{fix}."))


def add_waiting_notice(report: DispatchReport, sources: HookSources, setting: RunSetting) -> DispatchReport:
    """Report unapproved hooks once a session, each by itself: at its start, or when one would have run.

    Where no message reaches a person, a call that a guard matches is denied instead, once.
    """
    event = report.event
    unrun = [run for run in report.runs if is_unapproved(run)]
    silent = [run.hook.name for run in unrun if run.hook.trust.get("quiet")]
    waits = sources.waiting if event.event == "session_start" else None
    waiting = waits(event.agent) if waits else ()
    can_tell = reaches(setting.agent, event, "message")
    guards = [run.hook.name for run in unrun if run.hook.blocking and not run.hook.is_async]
    names = list(dict.fromkeys([*waiting, *silent] if can_tell or waiting else guards))
    denies = policy.is_guarded_event(event.event) and not waiting
    fresh = _find_new_causes(event, "not approved", names, setting, denies=denies)
    if not fresh and not waiting:
        return report
    shown = ", ".join(names[:MOST_NAMES]) + (" …" if len(names) > MOST_NAMES else "")
    many = "hooks of this project do" if len(names) > 1 else "hook of this project does"
    text = f"{len(names)} {many} not run, because you have not approved the current version: {shown}."
    from hookport.runtime import remedy

    if can_tell or not denies:
        message = f"{text} Review and approve with `{remedy.format_command('trust')}`."
        return report.replace(
            decision=merge.merge_decisions([report.decision, Decision(system_message=message)])
        )
    text = text.replace("you have not", "the user has not")
    return report.replace(decision=_add_denial(report.decision, text, remedy.format_for_models("trust")))


def add_paused_notice(report: DispatchReport, setting: RunSetting) -> DispatchReport:
    """Report paused hooks once a session where messages are seen, each pause by itself."""
    paused = [run for run in report.runs if run.why.startswith(PAUSED)]
    if not paused:
        return report
    pauses = [f"{run.hook.name}{run.why.removeprefix(PAUSED)}" for run in paused]
    report = report.replace(notes=(*report.notes, *(f"paused: {pause}" for pause in pauses)))
    fresh = _find_new_causes(report.event, "paused", pauses, setting, denies=False)
    if not fresh:
        return report
    from hookport.runtime import remedy

    message = f"paused by you: {', '.join(fresh)}. End it with `{remedy.format_command('pause', '--end')}`."
    return report.replace(decision=merge.merge_decisions([report.decision, Decision(system_message=message)]))


def _find_new_causes(
    event: Event, kind: str, causes: Sequence[str], setting: RunSetting, *, denies: bool
) -> list[str]:
    """Find the causes not yet shown in this session, each by itself, if they can be shown now.

    A message shows them, or a denial: of any call, or of another event whose reason reaches somebody.
    """
    if not reaches(setting.agent, event, "message"):
        is_heard = event.call is not None or reaches(setting.agent, event, "deny")
        if not (denies and is_heard and takes_deny(setting.agent, event)):
            return []
        if setting.on_tamper == policy.WARN:
            return []
    # Each by itself: another message must not use up a hook's own. A cause that cannot be stored would deny
    # every call.
    unkept = reaches(setting.agent, event, "message")
    return [
        cause for cause in causes if sessions.is_first(event, f"{kind}: {cause}", setting.env, unkept=unkept)
    ]


def _add_denial(decision: Decision, text: str, fix: str) -> Decision:
    """Add a denial instead of a message; the next call passes."""
    return merge.merge_decisions([decision, Decision("deny", f"{text} {fix} {ONLY_ONCE}")])
