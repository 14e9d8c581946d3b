"""HP6xx: what a conversion or a test of hooks came to."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class NothingLeft(Kind):
    """Nothing of the manifest can be said in the target, so no file is written for it."""

    code = "HP601"
    severity = "loss"
    message = "no hook is left for {target}, so there is no file"


class TargetNote(Kind):
    """Something a person must know before the written file works in the target."""

    code = "HP602"
    severity = "note"
    message = "{note}"


class HookUntested(Kind):
    """No case of a suite ran this hook, so its tests would pass without it.

    A case that names the event runs a hook only if its matcher fits. Without `agents` a case runs the hook on
    any payload, but one that the matcher does not fit does not count: no agent would run the hook on it.
    """

    code = "HP603"
    severity = "loss"
    message = "no case runs hook '{name}' on {event}{why}"
    hint = "Add a case that it must stop or change, and one that it must let pass."


class NothingExpected(Kind):
    """A case expects nothing, so it passes whatever the hook decides.

    It fails only if the hook cannot start, crashes or takes too long.
    """

    code = "HP604"
    severity = "loss"
    message = "case '{case}' expects nothing, so it passes whatever the hook decides"
    hint = "Add `expected`, at least `decision`."


class NothingPasses(Kind):
    """No case shows that this guard lets anything pass: one that always denies would pass the same tests.

    A guard that stops too much is switched off by those it stops. A case counts if the hook ran in it and the
    case expects something that a deny would not give: `decision` of `none` or `allow`, `exit-code`,
    `stdout-json`, `updated-input`, `context-contains` or a snapshot.
    """

    code = "HP605"
    severity = "loss"
    message = "no case needs hook '{name}' to let anything pass; an always-deny hook would pass these tests"
    hint = "Add a case with harmless input and `decision: none`."


class NothingStopped(Kind):
    """No case shows that this hook stops anything: one that never objects would pass the same tests.

    It is reported for hooks that may block, on events before something happens.
    """

    code = "HP606"
    severity = "loss"
    message = "no case needs hook '{name}' to stop anything; a hook that never objects would pass these tests"
    hint = "Add a case with what it must stop and `decision: deny`."


class NothingRan(Kind):
    """No hook ran in this case, so it passes whatever the hooks do.

    That is right for a case that shows that a matcher does not fit. Give the hook its own cases besides.
    """

    code = "HP607"
    severity = "note"
    message = "no hook runs in case '{case}'{agents}: {why}"
