"""HP6xx: results of a conversion or of a test of hooks."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class NothingLeft(Kind):
    """No hook of the manifest can be written for the target, so no file is written."""

    code = "HP601"
    severity = "loss"
    message = "no hook is left for {target}, so no file is written"


class TargetNote(Kind):
    """A step or fact that matters before the written file works in the target."""

    code = "HP602"
    severity = "note"
    message = "{note}"


class HookUntested(Kind):
    """No test case runs this hook, so the tests would pass without it.

    A case that names the event runs a hook only if its matcher matches. Without `agents` a case runs the hook
    on any payload, but a payload that does not match does not count: no agent would run the hook on it.
    """

    code = "HP603"
    severity = "loss"
    message = "no case runs hook '{name}' on {event}{why}"
    hint = "Add a case that it must stop or change, and a case that it must let pass."


class NothingExpected(Kind):
    """A case expects nothing, so it passes whatever the hook decides.

    It fails only if the hook cannot start, crashes or takes too long.
    """

    code = "HP604"
    severity = "loss"
    message = "case '{case}' expects nothing, so it passes whatever the hook decides"
    hint = "Add `expected`, at least `decision`."


class NothingPasses(Kind):
    """No test case shows that this guard lets anything pass: one that always denies passes the same tests.

    People switch off a guard that stops too much. A case counts if the hook runs in it and the case expects
    something that a deny would not give: `decision` of `none` or `allow`, `exit-code`, `stdout-json`,
    `updated-input`, `context-contains` or a snapshot.
    """

    code = "HP605"
    severity = "loss"
    message = "no case needs hook '{name}' to let anything pass; an always-deny hook would pass these tests"
    hint = "Add a case with harmless input and `decision: none`."


class NothingStopped(Kind):
    """No test case shows that this hook stops anything: a hook that never objects passes the same tests.

    This applies to hooks that may block, on events before an action.
    """

    code = "HP606"
    severity = "loss"
    message = "no case needs hook '{name}' to stop anything; a hook that never objects would pass these tests"
    hint = "Add a case that it must stop, with `decision: deny`."


class NothingRan(Kind):
    """No hook ran in this case, so it passes whatever the hooks do.

    That is correct for a case that shows that a matcher does not match. Give the hook its own cases too.
    """

    code = "HP607"
    severity = "note"
    message = "no hook runs in case '{case}'{agents}: {why}"
