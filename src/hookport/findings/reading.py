"""HP1xx: what is wrong with a file of hooks, or in it, as it is read."""

from __future__ import annotations

import re

from hookport.errors import correct_slip
from hookport.findings.kinds import Finding, Kind


class UnreadableFile(Kind):
    """The file cannot be read, or does not say what a file of its dialect must say.

    No agent runs the hooks of such a file, and none of them was checked.
    """

    code = "HP100"
    severity = "error"
    message = "{message}"
    hint = "Correct the file; none of its hooks was checked."


class DraftSpec(Kind):
    """The manifest names the public draft `hooks/0.1` of the Hook Interchange Format.

    It is read by the rules of 1.0, which kept everything the draft said about manifests; `darwin` is read
    as `osx`. Write `"spec": "hooks/1.0"` to say that you mean the released format.
    """

    code = "HP101"
    severity = "note"
    message = 'read as {spec}: the manifest says "{found}", the public draft'
    hint = 'Write "spec": "{spec}".'


class UnknownEvent(Kind):
    """The event is in no table of the dialect it is written in.

    The hook is kept under its own name for this dialect and dropped for every other, because nobody knows
    when it should run there. A name that is nearly one of the dialect's is an error: it is mistyped, and the
    hook never runs. A plugin format says that unknown events must be ignored, so there it never
    runs at all.
    """

    code = "HP102"
    severity = "loss"
    message = "unknown event '{event}' for {dialect}.{guess}"

    @classmethod
    def at(cls, where: str, hook: int | None = None, **words: object) -> Finding:
        """A name that is one of the dialect's but for a slip is an error: the hook surely never runs."""
        finding = super().at(where, hook, **words)
        mistyped = correct_slip(str(words["event"]), re.findall("'(.+?)'", str(words["guess"])))
        return finding._replace(severity="error") if mistyped else finding

    hint = "Correct the name; `hookport matrix --agent {dialect}` lists the events."


class UnknownTool(Kind):
    """A matcher names a tool that is in no table of its dialect or not in the tool vocabulary.

    The word is passed through as it is, since new tools appear all the time, but it cannot be translated:
    in another agent it will match only a tool of exactly that name. If the agent has no such tool, this
    part of the matcher never matches, and a guard does not see the calls it was meant for.
    """

    code = "HP103"
    severity = "loss"
    message = "unknown tool '{tool}', passed through as it is.{guess}"
    hint = "Correct it if it is a slip; only words of the tool vocabulary are translated."


class OtherSettings(Kind):
    """The file holds settings that are not hooks.

    They stay in the source file and are not converted.
    """

    code = "HP104"
    severity = "note"
    message = "not hooks, so not converted: {keys}"


class DisabledHook(Kind):
    """The hook is switched off where it was read.

    A target that has no such switch would run it, so it is left out there.
    """

    code = "HP105"
    severity = "loss"
    effect = "dropped"
    message = "left out: it is switched off, and {target} has no switch for one hook"
    hint = "Enable it, or delete it."


class DuplicateKey(Kind):
    """A key stands twice in one object.

    The agent reads only one of the two, usually the last, so half of what is written never happens.
    """

    code = "HP106"
    severity = "loss"
    message = "the key '{key}' stands twice; only the last one counts"
    hint = "Merge the two."


class IgnoredMatcher(Kind):
    """The agent does not look at a matcher on this event, or not at any matcher.

    The hook runs every time, also when the matcher says otherwise.
    """

    code = "HP107"
    severity = "loss"
    message = "{dialect} ignores the matcher '{matcher}' here: the hook runs every time"
    hint = "Filter in the script."


class NeverRuns(Kind):
    """A hook, or all hooks of a file, are written where or how their own agent never runs them.

    The agent says nothing, and a guard that never runs looks exactly like a guard that approves. The hook
    is converted as it is written, so it runs in the target.
    """

    code = "HP108"
    severity = "error"
    message = "{dialect} never runs {what}: {reason}"
    hint = "{way}"


class RunsOnce(Kind):
    """The same hook stands in several settings files, and the agent runs it once.

    It is read once. A copy in a plugin would run again.
    """

    code = "HP109"
    severity = "note"
    message = "the same hook as in {file}; {dialect} runs it once"


class UnknownDegradation(Kind):
    """`degradation` names a capability or a strategy that the format does not have.

    An unknown capability is kept and changes nothing. With an unknown strategy the capability is treated as
    `block`, so that nothing passes unprotected.
    """

    code = "HP110"
    severity = "loss"
    message = "unknown {what} '{word}' in degradation.{guess}"
    hint = "Use the words of the capability registry, and block, warn or exclude."


class FieldMissing(Kind):
    """A field that the format requires is missing, and nothing in what the hook does depends on it.

    hookport runs the hook all the same, so that a guard without a description is still a guard. Another
    program that reads the file may refuse it.
    """

    code = "HP111"
    severity = "loss"
    message = "'{field}' is missing; the hook runs all the same"
    hint = "Add it: other programs may refuse the hook."


class FieldUnread(Kind):
    """A field has no value, or one of the wrong kind, and the hook can run without it.

    hookport runs the hook as if the field were not there, so that a guard with a slip beside it is still a
    guard. Another program that reads the file may refuse it.
    """

    code = "HP112"
    severity = "loss"
    message = "'{field}' {fault}; the hook runs without it"
    hint = "Correct it, or take it out: other programs may refuse the hook."
