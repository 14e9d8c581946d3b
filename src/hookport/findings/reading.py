"""HP1xx: errors found while reading a file of hooks."""

from __future__ import annotations

import re

from hookport.errors import correct_slip
from hookport.findings.kinds import Finding, Kind


class UnreadableFile(Kind):
    """The file cannot be read, or is not a valid file of its dialect.

    No agent runs the hooks of such a file, and hookport checked none of them.
    """

    code = "HP100"
    severity = "error"
    message = "{message}"
    hint = "Correct the file; none of its hooks was checked."


class DraftSpec(Kind):
    """The manifest names the public draft `hooks/0.1` of the Hook Interchange Format.

    hookport reads it by the rules of 1.0, which kept everything that the draft defined about manifests, and
    reads `darwin` as `osx`. Write `"spec": "hooks/1.0"` to name the released format.
    """

    code = "HP101"
    severity = "note"
    message = 'read as {spec}: the manifest says "{found}", the public draft'
    hint = 'Write "spec": "{spec}".'


class UnknownEvent(Kind):
    """The dialect has no such event.

    hookport keeps the hook under this name for its own dialect and drops it for every other, because its
    meaning is unknown. A near miss of one of the dialect's names is an error: it is mistyped, and the hook
    never runs. In a plugin format the hook never runs at all, because unknown events must be ignored.
    """

    code = "HP102"
    severity = "loss"
    message = "unknown event '{event}' for {dialect}.{guess}"

    @classmethod
    def at(cls, where: str, hook: int | None = None, **words: object) -> Finding:
        """Return the finding, as an error if the name is a slip of a known one: such a hook never runs."""
        finding = super().at(where, hook, **words)
        mistyped = correct_slip(str(words["event"]), re.findall("'(.+?)'", str(words["guess"])))
        return finding._replace(severity="error") if mistyped else finding

    hint = "Correct the name; `hookport matrix --agent {dialect}` lists the events."


class UnknownTool(Kind):
    """A matcher names a tool that is neither in its dialect's table nor in the tool vocabulary.

    The name stays unchanged, because agents add tools all the time, but it cannot be translated: in another
    agent it matches only a tool of exactly that name. If the agent has no such tool, this part of the matcher
    never matches, and a guard misses the calls it was meant for.
    """

    code = "HP103"
    severity = "loss"
    message = "unknown tool '{tool}'; kept unchanged.{guess}"
    hint = "Correct it if mistyped; only names of the tool vocabulary are translated."


class OtherSettings(Kind):
    """The file has settings that are not hooks.

    They stay in the source file and are not converted.
    """

    code = "HP104"
    severity = "note"
    message = "not hooks, so not converted: {keys}"


class DisabledHook(Kind):
    """The hook is switched off in its source.

    A target without such a switch would run it, so the hook is dropped there.
    """

    code = "HP105"
    severity = "loss"
    effect = "dropped"
    message = "dropped: it is switched off, and {target} cannot switch off a single hook"
    hint = "Enable it, or delete it."


class DuplicateKey(Kind):
    """A key appears twice in one object.

    The agent reads only one of the two, usually the last, and ignores the other.
    """

    code = "HP106"
    severity = "loss"
    message = "duplicate key '{key}'; only the last counts"
    hint = "Merge the two."


class IgnoredMatcher(Kind):
    """The agent ignores matchers on this event, or all matchers.

    The hook runs every time, whatever the matcher.
    """

    code = "HP107"
    severity = "loss"
    message = "{dialect} ignores the matcher '{matcher}' here: the hook runs every time"
    hint = "Filter in the script."


class NeverRuns(Kind):
    """A hook, or a whole file of hooks, is written where or how its own agent never runs it.

    The agent does not report this, and a guard that never runs looks exactly like a guard that approves. The
    hook is converted unchanged, so it runs in the target.
    """

    code = "HP108"
    severity = "error"
    message = "{dialect} never runs {what}: {reason}"
    hint = "{way}"


class RunsOnce(Kind):
    """The same hook is in several settings files, and the agent runs it once.

    hookport reads it once. A copy in a plugin would run again.
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
    hint = "Use a name of the capability registry, with block, warn or exclude."


class FieldMissing(Kind):
    """A required field is missing, but the hook works without it.

    hookport runs the hook anyway, so that a guard without a description is still a guard. Another program
    that reads the file may refuse it.
    """

    code = "HP111"
    severity = "loss"
    message = "'{field}' is missing; the hook runs anyway"
    hint = "Add it: other programs may refuse the hook."


class FieldUnread(Kind):
    """A field is empty or has a value of the wrong kind, but the hook works without it.

    hookport runs the hook as if the field were missing, so that a guard beside a slip is still a guard.
    Another program that reads the file may refuse it.
    """

    code = "HP112"
    severity = "loss"
    message = "'{field}' {fault}; the hook runs without it"
    hint = "Correct or remove it: other programs may refuse the hook."
