"""What a person is told beside what hooks decide: of hooks that cannot run, are not approved, or are paused.

Each is told once a session. Where no message reaches a person, a call is denied once instead.
"""

from __future__ import annotations

from hookport.model.runs import Decision
from hookport.runtime import merge, policy, sessions
from hookport.runtime.engine import PAUSED, is_unapproved, with_failure
from hookport.wire.answers import reaches, takes_deny

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookport.model.runs import Event
    from hookport.runtime.engine import Report, Setting
    from hookport.runtime.sources import Sources

# Of hooks that are not approved, as many are named.
MOST_NAMES = 5
# A denial that protects nothing: there is no other way to tell anybody.
ONLY_ONCE = "This is a notice, given once: the same call is not denied again for it."


def with_broken(report: Report, broken: Sequence[str], setting: Setting) -> Report:
    """Hooks that cannot run are told when a session begins, or on its first event; closed, they deny."""
    report = report.replace(notes=(*report.notes, *(f"broken: {one}" for one in broken)))
    broken = [one.rstrip(".") for one in broken]
    event = report.event
    is_guarded = policy.guards(event.event)
    told = _untold(event, "broken", broken, setting, denies=is_guarded)
    if event.event == "session_start" or (setting.on_failure == policy.CLOSED and is_guarded):
        return with_failure(report, f"hooks cannot run: {'; '.join(broken)}", setting.on_failure)
    if not told:
        return report
    text = f"hooks cannot run: {'; '.join(told)}"
    if reaches(setting.agent, event, "message"):
        return with_failure(report, text, setting.on_failure)
    from hookport.runtime import remedy

    fix = remedy.for_models("doctor").partition(";")[0]
    return report.replace(decision=_notice(report.decision, f"{text}.", f"{fix}."))


def with_waiting(report: Report, sources: Sources, setting: Setting) -> Report:
    """What is not approved is told once a session, each hook by itself: when it begins, or would have run.

    Where no message reaches a person, a call that a guard was for is denied instead: once, as a notice.
    """
    event = report.event
    unrun = [one for one in report.runs if is_unapproved(one)]
    silent = [one.hook.name for one in unrun if one.hook.trust.get("quiet")]
    waits = sources.waiting if event.event == "session_start" else None
    waiting = waits(event.agent) if waits else ()
    can_tell = reaches(setting.agent, event, "message")
    guards = [one.hook.name for one in unrun if one.hook.blocking and not one.hook.is_async]
    names = list(dict.fromkeys([*waiting, *silent] if can_tell or waiting else guards))
    denies = policy.guards(event.event) and not waiting
    fresh = _untold(event, "not approved", names, setting, denies=denies)
    if not fresh and not waiting:
        return report
    shown = ", ".join(names[:MOST_NAMES]) + (" …" if len(names) > MOST_NAMES else "")
    many = "hooks of this project do" if len(names) > 1 else "hook of this project does"
    told = f"{len(names)} {many} not run, because you have not approved what is there now: {shown}."
    from hookport.runtime import remedy

    if can_tell or not denies:
        message = f"{told} Look at it and approve it with `{remedy.command('trust')}`."
        return report.replace(decision=merge.merged([report.decision, Decision(system_message=message)]))
    told = told.replace("you have not", "the user has not")
    return report.replace(decision=_notice(report.decision, told, remedy.for_models("trust")))


def with_paused(report: Report, setting: Setting) -> Report:
    """Paused hooks are told once a session where a message is seen; each pause by itself."""
    paused = [run for run in report.runs if run.why.startswith(PAUSED)]
    if not paused:
        return report
    told = [f"{run.hook.name}{run.why.removeprefix(PAUSED)}" for run in paused]
    report = report.replace(notes=(*report.notes, *(f"paused: {one}" for one in told)))
    fresh = _untold(report.event, "paused", told, setting, denies=False)
    if not fresh:
        return report
    from hookport.runtime import remedy

    message = f"paused by you: {', '.join(fresh)}. End it with `{remedy.command('pause', '--end')}`."
    return report.replace(decision=merge.merged([report.decision, Decision(system_message=message)]))


def _untold(event: Event, kind: str, causes: Sequence[str], setting: Setting, *, denies: bool) -> list[str]:
    """The causes that nobody in this session was told, each by itself, where somebody can be told now.

    That is by a message, or by a denial: of a call always, of anything else where its reason is seen.
    """
    if not reaches(setting.agent, event, "message"):
        is_heard = event.call is not None or reaches(setting.agent, event, "deny")
        if not (denies and is_heard and takes_deny(setting.agent, event)):
            return []
        if setting.on_tamper == policy.WARN:
            return []
    # Each by itself: another message must not use up that of a hook. What cannot be remembered would deny
    # every call.
    unkept = reaches(setting.agent, event, "message")
    return [one for one in causes if sessions.is_first(event, f"{kind}: {one}", setting.env, unkept=unkept)]


def _notice(decision: Decision, told: str, fix: str) -> Decision:
    """A denial that stands for a message; the next call is let through."""
    return merge.merged([decision, Decision("deny", f"{told} {fix} {ONLY_ONCE}")])
