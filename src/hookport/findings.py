"""Every finding hookport can report: one code each, and the docstring is its page in the documentation.

A finding is a loss, a warning or an error that a person must be able to see. `effect` says what became of
the hook: `kept` (it means the same), `changed` (written another way, or with less), `stricter` (it blocks
more than before) or `dropped`.
"""

from __future__ import annotations

import re
from typing import ClassVar, Literal, NamedTuple

from hookport.errors import slip

Severity = Literal["note", "loss", "error"]
Effect = Literal["kept", "changed", "stricter", "dropped"]

SEVERITIES: tuple[Severity, ...] = ("note", "loss", "error")
EFFECTS: tuple[Effect, ...] = ("kept", "changed", "stricter", "dropped")


class Finding(NamedTuple):
    """One finding at one place; `hook` is the index of the hook it is about, if it is about one."""

    code: str
    severity: Severity
    where: str
    message: str
    hint: str = ""
    effect: Effect = "kept"
    hook: int | None = None
    file: str = ""
    line: int = 0
    column: int = 0


class Kind:
    """What all findings of one code share."""

    code: ClassVar[str]
    severity: ClassVar[Severity]
    effect: ClassVar[Effect] = "kept"
    message: ClassVar[str]
    hint: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if cls.code in KINDS:
            raise TypeError(f"{cls.code} is {KINDS[cls.code].__name__} already")
        KINDS[cls.code] = cls

    @classmethod
    def at(cls, where: str, hook: int | None = None, **words: object) -> Finding:
        """The finding of this kind at one place."""
        return Finding(
            cls.code,
            cls.severity,
            where,
            cls.message.format(**words),
            cls.hint.format(**words),
            cls.effect,
            hook,
        )


KINDS: dict[str, type[Kind]] = {}


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
    effect = "kept"
    message = "unknown event '{event}' for {dialect}.{guess}"

    @classmethod
    def at(cls, where: str, hook: int | None = None, **words: object) -> Finding:
        """A name that is one of the dialect's but for a slip is an error: the hook surely never runs."""
        finding = super().at(where, hook, **words)
        mistyped = slip(str(words["event"]), re.findall("'(.+?)'", str(words["guess"])))
        return finding._replace(severity="error") if mistyped else finding

    hint = "Correct the name; `hookport matrix --agent {dialect}` lists the events."


class UnknownDegradation(Kind):
    """`degradation` names a capability or a strategy that the format does not have.

    An unknown capability is kept and changes nothing. With an unknown strategy the capability is treated as
    `block`, so that nothing passes unprotected.
    """

    code = "HP110"
    severity = "loss"
    effect = "kept"
    message = "unknown {what} '{word}' in degradation.{guess}"
    hint = "Use the words of the capability registry, and block, warn or exclude."


class UnknownTool(Kind):
    """A matcher names a tool that is in no table of its dialect or not in the tool vocabulary.

    The word is passed through as it is, since new tools appear all the time, but it cannot be translated:
    in another agent it will match only a tool of exactly that name. If the agent has no such tool, this
    part of the matcher never matches, and a guard does not see the calls it was meant for.
    """

    code = "HP103"
    severity = "loss"
    effect = "kept"
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


class FieldMissing(Kind):
    """A field that the format requires is missing, and nothing in what the hook does depends on it.

    hookport runs the hook all the same, so that a guard without a description is still a guard. Another
    program that reads the file may refuse it.
    """

    code = "HP111"
    severity = "loss"
    effect = "kept"
    message = "'{field}' is missing; the hook runs all the same"
    hint = "Add it: other programs may refuse the hook."


class FieldUnread(Kind):
    """A field has no value, or one of the wrong kind, and the hook can run without it.

    hookport runs the hook as if the field were not there, so that a guard with a slip beside it is still a
    guard. Another program that reads the file may refuse it.
    """

    code = "HP112"
    severity = "loss"
    effect = "kept"
    message = "'{field}' {fault}; the hook runs without it"
    hint = "Correct it, or take it out: other programs may refuse the hook."


class EventDropped(Kind):
    """The target has no event like this one, so the hook is left out.

    The hook only watched, so no guard is lost; what it did is.
    """

    code = "HP201"
    severity = "loss"
    effect = "dropped"
    message = "dropped, {target} has no {event} event{reason}"
    hint = "Use --strict to stop instead."


class GuardDropped(Kind):
    """The hook may block, and the target has no event where it could: **the guard is gone there**.

    A hook that does not run looks exactly like a hook that approves. Do not rely on this hook in that
    agent; guard the action another way (the agent's own permissions, a sandbox), or leave the agent out.
    """

    code = "HP202"
    severity = "error"
    effect = "dropped"
    message = "GUARD LOST: dropped, {target} has no {event} event{reason}; nothing is blocked there"
    hint = "Guard it another way in {target}, or take `blocking` away if it need not block."


class GuardObserves(Kind):
    """The hook may block, and the target only lets hooks watch this event: **it runs and cannot prevent**.

    The hook is converted, because it may still log or notify, but its deny has no effect.
    """

    code = "HP203"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST: {target} runs the hook on {event} and ignores its deny"
    hint = "Guard it another way in {target}, or take `blocking` away if it need not block."


class TimingShift(Kind):
    """A hook that should run before something runs after it in the target.

    The target has no such before-event. What the hook sees has already happened; nothing can be prevented.
    """

    code = "HP204"
    severity = "loss"
    effect = "changed"
    message = "TOO LATE: {target} has no {event} event, the hook runs on {after}, after the fact"
    hint = "Use --strict to stop instead."


class KeptFromBlocking(Kind):
    """The hook must not block, but any hook on this event can block in the target by its exit code.

    Its command was wrapped so that every exit code becomes 0.
    """

    code = "HP205"
    severity = "note"
    effect = "changed"
    message = "wrapped with `|| true`: the hook must not block, and {target} would obey its exit code"


class BlockedInstead(Kind):
    """The target cannot do what the hook does, and the strategy for that is `block`.

    The converted hook denies every matching action and gives the reason, instead of letting it pass
    without the protection. For a rewrite this is the default, since an unsanitised input would get through.
    Set another strategy in `degradation` if the feature is not a protection.
    """

    code = "HP206"
    severity = "loss"
    effect = "stricter"
    message = "STRICTER: blocks every matching action, {target} lacks {capability} ({evidence})"
    hint = 'Set "degradation": {{"{capability}": "warn"}} if the hook may run without it.'


class Excluded(Kind):
    """The target cannot do what the hook does, and the strategy for that is `exclude`.

    The hook only watched, so no guard is lost.
    """

    code = "HP207"
    severity = "loss"
    effect = "dropped"
    message = "left out, {target} lacks {capability} ({evidence})"
    hint = 'Set another strategy in "degradation" to have it block or run with less.'


class GuardExcluded(Kind):
    """A hook that may block is left out by the strategy `exclude`: **the guard is gone there**.

    The target cannot do what the hook does (a prompt or an agent as handler, for example).
    """

    code = "HP208"
    severity = "error"
    effect = "dropped"
    message = "GUARD LOST: left out, {target} lacks {capability} ({evidence}); nothing is blocked there"
    hint = 'Set "degradation": {{"{capability}": "block"}} to block instead.'


class FailsOpen(Kind):
    """The hook blocks when it fails or times out, and the target lets the action run then.

    The guard holds while it works and no longer when it crashes.
    """

    code = "HP209"
    severity = "loss"
    effect = "changed"
    message = "WEAKER: {target} lets the action run when the hook {failure}"
    hint = "Make the script itself deny on every failure, well within its timeout."


class CannotBlockHere(Kind):
    """The strategy says block, and the target gives hooks on this event no way to block."""

    code = "HP210"
    severity = "error"
    effect = "dropped"
    message = "GUARD LOST: {target} lacks {capability} ({evidence}) and hooks cannot block on {event}"
    hint = "Guard it another way in {target}."


class MayBlockNow(Kind):
    """The hook should only watch, and in the target a handler of its type may block on this event.

    A command is wrapped so that it cannot; for another type there is no such way.
    """

    code = "HP211"
    severity = "loss"
    effect = "stricter"
    message = "STRICTER: {target} lets a {type} hook block on {event}, and this one should only watch"
    hint = "Let it approve everything, or write it as a command."


class FailsClosed(Kind):
    """The target blocks when the hook fails, and where it was written for a failure is no decision.

    A script that cannot start, or ends with an error of its own, blocks every matching action there.
    """

    code = "HP212"
    severity = "note"
    effect = "stricter"
    message = "STRICTER: {target} blocks when the hook fails, with any exit code but 0"
    hint = "Let the script exit with 0 when it has no decision."


class GuardPartly(Kind):
    """The hook may block, and only some products that read its file obey it: **elsewhere it cannot prevent**.

    The hook is converted, and guards where the message says.
    """

    code = "HP215"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST in part: on {event} of {target}, {partly}"
    hint = "Guard it another way in the other products, or take `blocking` away if it need not block."


class MatcherWidened(Kind):
    """The target cannot tell some tools apart, so the hook also runs on others.

    A guard becomes stricter by this; a hook that only reacts runs more often.
    """

    code = "HP301"
    severity = "loss"
    effect = "changed"
    message = "runs on more than before: {extra} too, {target} does not tell them apart"
    hint = "Filter in the script if that is too much."


class MatcherDropped(Kind):
    """The target has no matcher on this event, so the hook runs every time."""

    code = "HP302"
    severity = "loss"
    effect = "changed"
    message = "runs every time: {target} has no matcher here, '{matcher}' was dropped"
    hint = "Filter in the script."


class PatternExpanded(Kind):
    """A regular expression on tool names was replaced by the tools it matches.

    Names differ between agents, so the expression itself would match other tools, or none.
    """

    code = "HP303"
    severity = "note"
    effect = "changed"
    message = "the pattern '{pattern}' became the tools it matches: {tools}"


class PatternPassed(Kind):
    """A regular expression on tool names matches no tool we know, and is written as it is.

    Names differ between agents: whether it matches anything in the target is not known.
    """

    code = "HP304"
    severity = "loss"
    effect = "changed"
    message = "the pattern '{pattern}' matches no known tool; {target} gets it as it is"
    hint = "Name the tools instead of a pattern."


class ContentDropped(Kind):
    """The hook runs only on certain content of the tool's input, and the target cannot say that.

    The hook runs on every call of its tools. A script that blocks without looking at its input would
    block them all.
    """

    code = "HP305"
    severity = "loss"
    effect = "stricter"
    message = "runs on every call: {target} cannot filter by content, '{pattern}' was dropped"
    hint = "Let the script look at its input too."


class ConditionDropped(Kind):
    """The hook runs only on calls that a permission rule is for, and the target cannot say that.

    The hook runs on every call of its tools. Converted without `--bare`, the command tests the rule itself.
    """

    code = "HP316"
    severity = "loss"
    effect = "stricter"
    message = "runs on every call: {target} has no permission rules for hooks, '{rule}' was dropped"
    hint = "Let the script look at its input too."


class ToolMissing(Kind):
    """The target has no such tool, or does not show it to hooks; that part of the matcher is left out."""

    code = "HP306"
    severity = "loss"
    effect = "changed"
    message = "not seen in {target}: it shows hooks no {tool} tool"


class GuardToolMissing(Kind):
    """The hook may block a tool that the target does not show to hooks: **that call is not guarded**."""

    code = "HP307"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST for {tool}: {target} does not show that tool to hooks"
    hint = "Guard it another way in {target}."


class NoToolLeft(Kind):
    """None of the tools the hook is for exists in the target, so the hook is left out."""

    code = "HP308"
    severity = "loss"
    effect = "dropped"
    message = "dropped, {target} shows hooks none of its tools: {tools}"


class PartialCover(Kind):
    """The hook is for every tool, and the target shows only some tools to hooks."""

    code = "HP309"
    severity = "loss"
    effect = "changed"
    message = "covers only {tools}: {target} shows hooks no other tool"
    hint = "Do not rely on it for anything else in {target}."


class WordPassed(Kind):
    """A tool's name is not in the vocabulary, so it is written for the target as it is.

    It matches there only if the target has a tool of exactly that name.
    """

    code = "HP310"
    severity = "loss"
    effect = "changed"
    message = "'{tool}' is no tool we know; {target} gets the name as it is"


class ServerWidened(Kind):
    """The target cannot name the MCP server in a matcher."""

    code = "HP311"
    severity = "loss"
    effect = "changed"
    message = "runs for every MCP server: {target} cannot name one, '{server}' was dropped"


class McpPatternWidened(Kind):
    """A regular expression on MCP tools was replaced by the servers, or all MCP tools, that it is about.

    Agents spell a server and its tool differently, and some do not say the server. The expression itself
    would match nothing there, so the hook runs on more tools than it did.
    """

    code = "HP315"
    severity = "loss"
    effect = "changed"
    message = "the pattern '{pattern}' became {tools}: {target} spells MCP tools otherwise"
    hint = "Name the tools instead of a pattern, or let the bridge match it: `hookport sync`."


class SplitMatcher(Kind):
    """One hook became several entries, because the target takes one value per matcher."""

    code = "HP312"
    severity = "note"
    effect = "changed"
    message = "written once per value: {target} takes one value here ({values})"


class WrittenTogether(Kind):
    """Two hooks that differ only in their matchers are one hook in the target."""

    code = "HP313"
    severity = "note"
    effect = "changed"
    message = "written together with {other}: the two differ only in their matchers"


class Wrapped(Kind):
    """The command is run by `hookport wrap`, since it was written for another dialect.

    It is handed the payload it knows, with the names of its own dialect, and what it answers is said in the
    agent's terms. hookport must be installed where the agent runs, on the PATH that the agent has; a guard
    denies where it is not. `--bare` leaves the command as it is.
    """

    code = "HP427"
    severity = "note"
    effect = "changed"
    message = "the command speaks {source}, so {target} runs it by `hookport wrap`"
    hint = "Install hookport where {target} runs."


class Unwrapped(Kind):
    """The command is behind `hookport wrap` already, so the hook is taken for the one that is there."""

    code = "HP428"
    severity = "note"
    effect = "changed"
    message = "the command behind `hookport wrap` is converted as the {source} hook it is"


class WireDiffers(Kind):
    """The command reads the payload and gives the answers of the dialect it was written for.

    The target hands it another payload and obeys other answers, so a guard may not guard. Convert it without
    `--bare`, or adapt the script to the target.
    """

    code = "HP401"
    severity = "loss"
    effect = "changed"
    message = (
        "the {what} speaks {source}, {target} does not: it sends another payload and obeys other answers"
    )
    hint = "Adapt it to {target} before you rely on it."


class HttpToCurl(Kind):
    """The target cannot call a URL by itself, so the hook calls it with `curl`.

    The payload is posted as it comes, the answer is printed for the agent. `curl` must be installed. When
    the call fails the command exits with 1, which is no decision.
    """

    code = "HP402"
    severity = "loss"
    effect = "changed"
    message = "{target} has no http handler: the hook calls the URL with curl"
    hint = "curl must be on the PATH of {target}."


class AsyncInBackground(Kind):
    """The target waits for its hooks, so the command starts itself in the background."""

    code = "HP403"
    severity = "note"
    effect = "changed"
    message = "starts in the background by its own command, {target} has no async hooks"


class AsyncDropped(Kind):
    """The target waits for this hook, although nobody needs its answer."""

    code = "HP404"
    severity = "loss"
    effect = "changed"
    message = "{target} waits for the hook: it has no async hooks of this type"


class CarriedInCommand(Kind):
    """The target has no field for this, so it is said in the command itself."""

    code = "HP405"
    severity = "note"
    effect = "changed"
    message = "{what} moved into the command, {target} has no field for it"


class PlatformDropped(Kind):
    """The command for one operating system has no place in the target."""

    code = "HP406"
    severity = "loss"
    effect = "changed"
    message = "the command for {platform} was dropped, {target} runs one command everywhere"


class TimeoutRounded(Kind):
    """The target takes whole units only; the time was rounded up."""

    code = "HP407"
    severity = "note"
    effect = "changed"
    message = "timeout {before} became {after}: {target} takes whole {unit}"


class TimeoutClamped(Kind):
    """The target does not allow so long or so short a timeout."""

    code = "HP408"
    severity = "loss"
    effect = "changed"
    message = "timeout {before} became {after}, the limit of {target}"


class GuardCutShort(Kind):
    """The agent goes on without the guard's answer before the guard's own timeout is over.

    Some agents stop waiting after a fixed time, whatever timeout a hook has, and **let the call run**. Where
    hookport runs the guard, it ends it in time and answers in its place: the call runs, or is denied where
    failures deny (`on_failure: closed`). Make the guard answer in less time and lower its timeout, or let
    failures deny.
    """

    code = "HP429"
    severity = "error"
    effect = "changed"
    message = "GUARD TOO SLOW: {who} goes on after {limit} without an answer, and {guard} may take {timeout}"
    hint = "Make it answer within {limit}; where hookport runs it, `on_failure: closed` denies what is late."


class TimeoutSpelled(Kind):
    """The hook relied on its dialect's default timeout; the target's default is another one.

    The time is written out so that it stays the same.
    """

    code = "HP409"
    severity = "note"
    effect = "changed"
    message = "timeout {timeout} written out, the default of {source}; that of {target} is {default}"


class TimeoutDropped(Kind):
    """The target has no timeout for one hook."""

    code = "HP410"
    severity = "loss"
    effect = "changed"
    message = "timeout {timeout} dropped: {target} has no timeout per hook ({default})"
    hint = "Let the script end in time by itself."


class FieldDropped(Kind):
    """The target has no field for this, and nothing about when or how the hook runs depends on it."""

    code = "HP411"
    severity = "note"
    effect = "changed"
    message = "{field} dropped, {target} has no field for it"


class PriorityDropped(Kind):
    """The target has no priorities: hooks run in the order they are written, or all at once.

    The hooks are written in the order of their priorities.
    """

    code = "HP412"
    severity = "loss"
    effect = "changed"
    message = "priority {priority} dropped, {target} has none; the hooks are written in that order"


class NativeDropped(Kind):
    """Fields that only the dialect of the source knows were left out."""

    code = "HP413"
    severity = "loss"
    effect = "changed"
    message = "fields of {source} that {target} does not have were dropped: {fields}"


class OutputLost(Kind):
    """The target reads nothing but the exit code.

    A decision printed as JSON is not obeyed there, **a deny with exit code 0 lets the action run**, and
    context or messages are lost.
    """

    code = "HP414"
    severity = "loss"
    effect = "changed"
    message = "{target} reads only the exit code: JSON answers, also a deny, are not obeyed ({evidence})"
    hint = "Deny with exit code 2 and a reason on stderr."


class OutputCut(Kind):
    """The target reads nothing but the exit code; the bridge says decisions by it.

    A deny is obeyed and an `ask` becomes a deny. Context, messages and other fields of the answer are lost.
    """

    code = "HP430"
    severity = "loss"
    effect = "changed"
    message = (
        "{target} reads only the exit code: decisions are kept, the rest of an answer is lost ({evidence})"
    )
    hint = "Choose `block` or `exclude` for structured_output if the hook is useless without it."


class PlaceholderTranslated(Kind):
    """A placeholder in the command was replaced by the one the target understands."""

    code = "HP415"
    severity = "note"
    effect = "changed"
    message = "{before} became {after}"


class PlaceholderLost(Kind):
    """The target does not fill in this placeholder.

    The command will not find its file there, so a guard does not run.
    """

    code = "HP416"
    severity = "loss"
    effect = "changed"
    message = "{target} does not fill in {placeholder}: {consequence}"
    hint = "Write a path that {target} can find."


class GuardPlaceholderLost(Kind):
    """A guard's command starts at a root that the target does not fill in: **it will not run there**."""

    code = "HP421"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST unless fixed: {target} does not fill in {placeholder}: {consequence}"
    hint = "Write a path that {target} can find."


class CapabilityInferred(Kind):
    """The hook uses a feature that its manifest does not name; this says what gave it away."""

    code = "HP417"
    severity = "note"
    message = "uses {capability}: {evidence}"


class RewriteLost(Kind):
    """The hook rewrites the tool's input, the target cannot, and the author asked to run it all the same.

    The tool runs with the input as it was.
    """

    code = "HP418"
    severity = "loss"
    effect = "changed"
    message = "WEAKER: {target} ignores the rewritten input, the tool runs with the original ({evidence})"
    hint = 'Set "degradation": {{"input_rewrite": "block"}} to block instead.'


class HandlerDropped(Kind):
    """The handler has no form in the target and the author asked to run it with less: nothing is left."""

    code = "HP419"
    severity = "error"
    effect = "dropped"
    message = "dropped: {target} has no {type} handler and nothing of the hook would be left"
    hint = "Write it as a command."


class FieldGiven(Kind):
    """The target needs a field that the hook does not have, or not in this form; hookport filled it in."""

    code = "HP420"
    severity = "note"
    effect = "changed"
    message = "{target} needs a {field}, so it got one: '{value}'"


class ExitIgnored(Kind):
    """The hook may block, and on this event the target obeys only a JSON answer: **exit code 2 is ignored**.

    A script that denies with exit code 2 lets everything through there until it is adapted.
    """

    code = "HP216"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST unless adapted: {target} ignores exit code 2 on {event}, only its own JSON blocks"
    hint = "Let the script print {target}'s answer."


class AnswerIgnored(Kind):
    """The guard denies by what it prints, and the target does not obey that form: **the deny is lost**.

    A URL can deny only by its answer, and a script without exit code 2 only by what it prints. Both speak
    the dialect they were written for.
    """

    code = "HP217"
    severity = "error"
    effect = "changed"
    message = (
        "GUARD LOST unless adapted: it denies by its answer in the terms of {source}, "
        "{target} does not obey it ({evidence})"
    )
    hint = "Deny with exit code 2 and a reason on stderr, or answer in the terms of {target}."


class AllowUndoes(Kind):
    """Several guards share an event, and in the target the allow of one undoes the deny of another."""

    code = "HP218"
    severity = "loss"
    effect = "changed"
    message = "WEAKER beside other hooks on {event}: {how}"
    hint = "Let only one hook on this event answer with allow, or none."


class ReasonNeeded(Kind):
    """Exit code 2 alone does not block in the target: the hook must also write a reason to stderr."""

    code = "HP219"
    severity = "note"
    message = "give a reason: {target} does not obey exit code 2 without a word on stderr"


class ReasonLost(Kind):
    """Exit code 2 blocks in the target, and what the hook writes to stderr does not reach the model.

    The model learns that it was blocked and not why, until the script prints the target's own answer.
    """

    code = "HP221"
    severity = "note"
    message = "the reason on stderr does not reach the model in {target}, only one in its JSON answer does"


class AnswerFieldLost(Kind):
    """The script's answer has a field that the target does not take.

    The rest of the answer counts. The bridge notes the field in the journal whenever it is lost.
    """

    code = "HP222"
    severity = "loss"
    effect = "changed"
    message = "its answer's {fields} has no effect in {target}"


class StandsThere(Kind):
    """The hook is a script that the target runs in its own place, and a file for it would have that place.

    Nothing is written for it, so the script stays as it is. Where the script itself is missing, as in another
    project, copy it to its place.
    """

    code = "HP223"
    severity = "loss"
    effect = "dropped"
    message = "not written: {target} runs the script {script} by itself, in its own place"
    hint = "Copy the script itself to where it is not yet."


class GuardPartialCover(Kind):
    """The guard is for every tool, and the target shows hooks only some: **the others are not guarded**."""

    code = "HP220"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST for other tools: covers only {tools}, {target} shows hooks no other tool"
    hint = "Guard the rest another way in {target}."


class McpRenamed(Kind):
    """The target writes the names of MCP tools with other characters."""

    code = "HP314"
    severity = "note"
    effect = "changed"
    message = "the MCP tool {before} is called {after} in {target}"


class MatcherRespelled(Kind):
    """The interchange format has one word for several tools of the agent, or of several spellings of them.

    Converted back, the matcher names all of them, so the hook may also run on others than before.
    """

    code = "HP317"
    severity = "note"
    effect = "changed"
    message = "the matcher '{matcher}' is '{written}' when it is converted back to {dialect}"


class AlwaysRuns(Kind):
    """The hook stands in the frontmatter of a subagent or a skill, and runs only while that is active.

    No other file can say that: converted, the hook runs all the time. A guard becomes stricter by this.
    """

    code = "HP318"
    severity = "loss"
    effect = "changed"
    message = "runs all the time in {target}, and only while its subagent or skill is active before"
    hint = "Leave the hook out if that is too much."


class ModelAskedHere(Kind):
    """The target has no handler that asks a model, so `hookport wrap` asks it.

    It needs a model and its key when it runs: `HOOKPORT_LLM_MODEL` and `HOOKPORT_LLM_API_KEY`; an `agent`
    hook needs the extra `llm` too. A guard whose model cannot be asked denies.
    """

    code = "HP431"
    severity = "loss"
    effect = "changed"
    message = (
        "{target} has no handler that asks a model, so `hookport wrap` asks: it needs a model and its key"
    )
    hint = "Set HOOKPORT_LLM_MODEL and HOOKPORT_LLM_API_KEY where {target} runs."


class ContextLost(Kind):
    """What the hook prints does not reach the model on this event in the target.

    A hook that only adds context does nothing there.
    """

    code = "HP422"
    severity = "loss"
    effect = "changed"
    message = "nothing it prints reaches the model on {event} in {target}"


class TextLost(Kind):
    """Plain text that the hook prints on this event does not reach the model in the target, JSON does.

    A hook that adds context by printing it adds none there until it prints the target's answer.
    """

    code = "HP426"
    severity = "loss"
    effect = "changed"
    message = "plain text it prints does not reach the model on {event} in {target}, only its JSON does"


class PathAnchored(Kind):
    """A relative path was written from the project's root, because the target's working directory moves.

    Otherwise the script is not found after the agent changed its directory, and a guard does not run.
    """

    code = "HP423"
    severity = "note"
    effect = "changed"
    message = "{before} became {after}: the working directory of {target} moves"


class WindowsAsync(Kind):
    """The command for Windows is waited for; only those for other systems start in the background."""

    code = "HP424"
    severity = "loss"
    effect = "changed"
    message = "{target} waits for the command for Windows"


class VariablesEmptied(Kind):
    """A header of a URL handler names variables that the handler does not allow, so they stay empty.

    A token that is missing makes the server refuse the call, and a guard behind it decides nothing.
    """

    code = "HP425"
    severity = "loss"
    effect = "changed"
    message = "left empty in the headers, because allowed_env_vars does not name them: {names}"
    hint = "List them in allowed_env_vars."


class NoKnownTool(Kind):
    """The matcher matches no tool the agent has, so the hook never runs.

    A guard that never runs looks exactly like a guard that approves. Usual causes: another agent's name for
    the tool, upper for lower case, a permission rule (`Bash(git *)`) in place of a name, an MCP server
    without its tools (`mcp__github` for `mcp__github__.*`), or a text that is no regular expression, as `*`
    is where the agent does not read it as everything. Write the name that is suggested.
    """

    code = "HP501"
    severity = "error"
    message = "the matcher '{matcher}' matches no tool of {dialect}: the hook never runs.{guess}"
    hint = "`hookport matrix --agent {dialect}` lists the tools."


class SuspiciousTimeout(Kind):
    """The timeout makes sense only in another unit.

    Some agents count seconds, others milliseconds. A guard killed after 30 milliseconds lets everything
    through; one that may take eight hours blocks the agent. Write the number in the agent's own unit.
    """

    code = "HP502"
    severity = "error"
    message = "{value} is {meaning}; {dialect} counts {unit}. Did you mean {guess}?"


class ScriptMissing(Kind):
    """The command names a script that is not there.

    The hook cannot start, and nearly every agent lets the action run then: nothing is blocked. Create the
    script, correct the path, or start the path at the project's root if the agent runs hooks elsewhere.
    """

    code = "HP503"
    severity = "error"
    message = "the script {script} does not exist"
    hint = "Create it, or correct the path."


class ScriptNotExecutable(Kind):
    """The command runs a script directly, and the script is not executable.

    The hook cannot start, so a guard guards nothing. Make it executable (and `git update-index --chmod=+x`
    so that others get it so), or name the interpreter in the command.
    """

    code = "HP504"
    severity = "error"
    message = "the script {script} is not executable"
    hint = "Try: chmod +x {script}"


class NoShebang(Kind):
    """The script has no first line that says what runs it.

    Whether and by what it is run then depends on who starts it: one shell runs it, another program refuses
    it. Start it with a shebang line, or name the interpreter in the command.
    """

    code = "HP505"
    severity = "loss"
    message = "the script {script} has no shebang line"
    hint = "Start it with `#!/usr/bin/env bash`, or what runs it."


class BlocksNothing(Kind):
    """The hook is meant to block on an event that has already happened or that hooks only watch.

    It runs, its deny is ignored, and nothing is prevented. Move it to the event that comes before the
    action (`before_tool_execute`, `before_prompt`), or take `blocking` away if it only watches.
    """

    code = "HP506"
    severity = "error"
    message = "the hook is blocking, and {event} can only be watched{where_}"
    hint = "Use an event that comes before the action, or take `blocking` away."


class DuplicateHook(Kind):
    """The same hook stands twice for the same event, with matchers that can both match.

    Most agents run it twice: twice the time, twice the log lines, two notifications. Delete one, or make
    the matchers exclude each other.
    """

    code = "HP507"
    severity = "loss"
    message = "the same hook as {other}"
    hint = "Delete one."


class PackageRootUnused(Kind):
    """A plugin's script is named by a path that does not start at the plugin's root.

    The plugin is installed somewhere else on every machine, so the path does not lead to the script.
    """

    code = "HP508"
    severity = "loss"
    message = "the command does not use {placeholder} for {script}"
    hint = "Write {placeholder}/{script}"


class PriorityRange(Kind):
    """A value lies outside the range its format allows.

    A reader of the format may refuse the hook or put it in another order. Write a value within the range.
    """

    code = "HP509"
    severity = "loss"
    message = "{field} {value} is outside {lowest} to {highest}"


class TimeoutNever(Kind):
    """The agent stops reading its whole configuration, or drops the hook, when it meets this value.

    One timeout that is no whole number, too small or too large can so switch off every guard in the file,
    mostly without a message.
    """

    code = "HP510"
    severity = "error"
    message = "{dialect} refuses the timeout {value}: {rule}"
    hint = "Write a time that it takes; one bad value may cost every hook of the file."


class TimeoutCapped(Kind):
    """The agent waits less on this event than the hook asks for.

    It accepts the number and stops the hook at its own limit all the same, so that work which needs longer
    is never finished. Do less in the hook, or start the long part in the background.
    """

    code = "HP511"
    severity = "loss"
    message = "{dialect} waits at most {limit} on {event}, not {value}"
    hint = "Do less in the hook, or start the long part in the background."


class UnknownCapability(Kind):
    """A name in `capabilities` is none of the capability registry.

    Nothing is looked up for it, so a target that lacks what was meant gets the hook without a word and
    without the strategy that was wanted. Correct the name: `hookport matrix` lists the
    capabilities.
    """

    code = "HP512"
    severity = "loss"
    message = "unknown capability '{capability}', no target is checked for it.{guess}"
    hint = "Use a name of the capability registry."


class WrongEscape(Kind):
    r"""A backslash stands in double quotes before a character that YAML does not escape, as in `"\.py$"`.

    YAML readers refuse such a file. hookport reads the backslash as it stands, since patterns are written so
    in the examples of the format itself; other readers may not.
    """

    code = "HP513"
    severity = "loss"
    message = "YAML has no such escape; the backslash was read as it stands"
    hint = "Write the pattern in single quotes."


class DenyNotObeyed(Kind):
    """The script denies in a form that its own agent does not obey, so the action runs.

    Agents drop answers without a word: Claude Code a nested one without `hookEventName`, Codex one with a key
    too many, Gemini CLI a `permissionDecision`. Through the bridge the deny holds, since hookport reads what
    was meant; run by the agent itself it does not. `docs/agents/` has what each agent obeys; exit code 2 with
    the reason on stderr holds in most.
    """

    code = "HP514"
    severity = "loss"
    message = "{agent} does not obey this deny: {why}"
    hint = "Exit with 2 and the reason on stderr, or print the answer that the agent's page shows."


class RuleNeverHolds(Kind):
    """The permission rule in `if` is one that no call can be for, so the hook never runs.

    A guard that never runs looks exactly like a guard that approves. Usual causes: a bracket that is missing
    (`Bash(git push`), several rules in one (`Bash(a *)|Bash(b *)`), a blank at the end, the name of a field
    (`Bash(command:git *)`), a tool that the matcher leaves out. Agents say nothing of such a rule; Claude
    Code runs the hook for command lines only that it cannot take apart.
    """

    code = "HP515"
    severity = "error"
    message = "the rule '{rule}' matches no call, so the hook does not run: {why}"
    hint = "Write one rule such as 'Bash(git push *)', or leave 'if' out."


class RuleNotFired(Kind):
    """The permission rule in `if` is documented, and the agent was seen not to run a hook by it.

    Through the bridge such a rule holds as it is documented. Where the agent runs the hook itself, the hook
    does not run.
    """

    code = "HP516"
    severity = "loss"
    message = "a hook with the rule '{rule}' does not run by itself: {why}"
    hint = "Leave 'if' out and look at the call in the script, or let `hookport sync --mode bridge` run it."


class WindowsLineEnds(Kind):
    """The script was saved with Windows line endings (CRLF), which its interpreter takes for text.

    In a first line the kernel looks for a program whose name ends in a carriage return, and the shell reports
    the *script* as "not found". In a shell script the carriage return becomes part of the last word of every
    line: `exit 2` exits with another code. `git config core.autocrlf` or a missing `.gitattributes`
    (`*.sh text eol=lf`) are the usual causes.
    """

    code = "HP517"
    severity = "error"
    message = "{script} has Windows line endings, so {consequence}"
    hint = "Run `{command}`."


class ScriptSyntax(Kind):
    """The script does not parse, so it fails on every call.

    hookport asks the interpreter for a syntax check (`sh -n`, `node --check`, or Python's compiler), which
    runs nothing of the script.
    """

    code = "HP518"
    severity = "error"
    message = "{script} does not parse: {why}"
    hint = "Correct it; `{command}` checks it."


class MarkBeforeShebang(Kind):
    """The script starts with a byte order mark, so its first line is no shebang line.

    An editor on Windows adds the three bytes EF BB BF. The kernel then does not know what runs the script;
    a shell may run it as its own script, whatever language it is in.
    """

    code = "HP519"
    severity = "error"
    message = "{script} starts with a byte order mark, so its shebang line is not read"
    hint = "Run `{command}`."


class ShebangWords(Kind):
    """The first line gives `env` several words, and Linux passes them as one.

    `#!/usr/bin/env python3 -u` looks for a program named `python3 -u`. `env -S` splits the words.
    """

    code = "HP520"
    severity = "error"
    message = "{script}: the shebang line asks `env` for one program named '{words}'"
    hint = "Write `#!/usr/bin/env -S {words}`."


class CommandBroken(Kind):
    """The shell does not parse the command, so it runs nothing of it.

    In a settings file quotes stand within quotes; one that is not closed costs the whole command.
    """

    code = "HP524"
    severity = "error"
    message = "the shell does not parse the command: {why}"
    hint = "Correct it; `sh -n -c COMMAND` checks it."


class WordNotExpanded(Kind):
    """The shell does not look where the command means: a variable, `~` or a folder is not what it seems.

    A variable that nothing sets is empty, `~` within quotes and a variable within single quotes stay as they
    are, and a backslash is dropped. The agent reports that the script was not found, if it reports anything.
    """

    code = "HP525"
    severity = "error"
    message = "the shell looks for '{path}': {why}"
    hint = "{fix}"


class AddressRefused(Kind):
    """No event is ever sent to this address.

    Events hold commands, prompts and paths. They go to `https://` addresses, or by plain `http://` to this
    machine. A user or password in an address would end up in logs; headers may name environment variables.
    """

    code = "HP521"
    severity = "error"
    message = "no event is ever sent to {url}: {why}"
    hint = "{fix}"


class ModelNotSet(Kind):
    """The hook asks a language model, and hookport has no model, no key or no library to ask it with.

    The hook fails on every call, so unless failures deny (`on_failure: closed`) it guards nothing. An agent
    that runs such hooks itself uses its own model; this is about agents where hookport runs it.
    """

    code = "HP522"
    severity = "error"
    message = "this hook asks a language model: {why}"
    hint = "{fix}"


class KeepsFailing(Kind):
    """The hook failed on its last runs, by the journal.

    It was installed, its event came, and it did not answer: what it guards was decided by the failure policy.
    `hookport log` shows each run.
    """

    code = "HP523"
    severity = "error"
    message = "failing since {since} ({count}): {why}"
    hint = "{fix}"


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


class SourceBroken(Kind):
    """A file or a folder with hooks to run cannot be read, or does not say what it must.

    **None of its hooks runs**, so a guard in it guards nothing. The hooks of other files run as before.
    """

    code = "HP701"
    severity = "error"
    effect = "dropped"
    message = "{message}"
    hint = "Correct it: until then none of its hooks runs."


class HookOverridden(Kind):
    """A hook or a plugin of the user does not run, because the project has one of the same name.

    The formats want it so. Give one of them another name if both are to run.
    """

    code = "HP702"
    severity = "note"
    effect = "dropped"
    message = "the user's {what} '{name}' does not run here: {other} has that name too and overrides it"
    hint = "Rename one of them if both are to run."


class NameTaken(Kind):
    """Two hooks or two plugins of one level have the same name.

    Both run, so that no guard is lost. In reports they look like one.
    """

    code = "HP703"
    severity = "note"
    message = "the {what} '{name}' has the name of {other}; both run"
    hint = "Rename one of them."


class EntryMissing(Kind):
    """A HOOK.md folder has no script, so **the hook does not run**.

    The script is `scripts/run`, or `scripts/run` with an ending; a link that leads nowhere is none.
    """

    code = "HP704"
    severity = "error"
    effect = "dropped"
    message = "the hook '{name}' does not run: {folder} has no script named run"
    hint = "Create {folder}/run.sh and make it executable."


class SeveralEntries(Kind):
    """A HOOK.md folder has several scripts that could be the one to run.

    Those that can be started come first, then `run`, `run.sh` and `run.py` in this order, then the others
    by name.
    """

    code = "HP705"
    severity = "loss"
    message = "of the scripts {scripts} only {chosen} runs"
    hint = "Keep one of them, or give the others names that do not start with `run`."


class EntryNotExecutable(Kind):
    """The script of a HOOK.md folder is not executable; it is run by what its shebang or its ending names.

    Other programs that read such folders may not do so, and the hook does not run there.
    """

    code = "HP706"
    severity = "note"
    message = "{script} is not executable, so it is run with `{interpreter}`"
    hint = "Try: chmod +x {script}"


class EntryCannotStart(Kind):
    """The script of a HOOK.md folder is not executable, and nothing says what could run it.

    The hook is kept and fails each time, so what happens then is up to what was chosen for failures: unless
    that is to block, a guard guards nothing.
    """

    code = "HP707"
    severity = "error"
    message = "{script} is not executable, and neither a shebang line nor its ending says what runs it"
    hint = "Try: chmod +x {script}"


class NoHookFile(Kind):
    """A folder among the HOOK.md folders has no HOOK.md, so there is no hook in it.

    The name counts with its capital letters.
    """

    code = "HP708"
    severity = "note"
    message = "the folder has no HOOK.md, so no hook of it runs"
    hint = "Write a HOOK.md, or move the folder elsewhere."


class FolderPassedOver(Kind):
    """A folder inside the project has hooks of its own, and they do not run from there.

    The project is the whole repository, so that its guards hold in every folder of it. Hooks that are to run
    stand at its root.
    """

    code = "HP709"
    severity = "error"
    message = "the hooks at {places} are not run by hookport: the project's root is {root}"
    hint = "Move them to the root if they are to run."


class BadSettings(Kind):
    """hookport's own settings file says something that it does not know.

    `.hookport/config.json` of a project and `hookport/config.json` of a user may say what a failure of a hook
    means, `{"on_failure": "open"}` or `"closed"`, and what it means that a guard was never asked,
    `{"on_tamper": "deny"}` or `"warn"`. As long as one of the files cannot be read, both deny.
    `{"llm": {"model": "anthropic:NAME", "key_variable": "TEAM_KEY", "base_url": "..."}}` names the model that
    hooks ask.
    """

    code = "HP710"
    severity = "error"
    effect = "stricter"
    message = "hookport's settings cannot be used: {why}"
    hint = 'Write {{"on_failure": "closed"}} or {{"on_failure": "open"}}; until then, failures deny.'


class HookDisabled(Kind):
    """The hook is switched off where it is written down, so it does not run."""

    code = "HP711"
    severity = "note"
    message = "hook '{name}' is switched off, so it does not run"
    hint = "Switch it on in its file if it should run."


class HookSwitchedOff(Kind):
    """A setting of the agent that the hook is written for switches it off, so hookport runs it nowhere.

    The setting may stand in another file than the hook: `disableAllHooks` in `.claude/settings.local.json`
    switches off the hooks of `.claude/settings.json` too. A setting in the user's own files counts at once.
    One in a file of the project does not switch off hooks of the user, and where it appears after a guard was
    approved, what the guard would have seen is denied until `hookport trust` approves the change.
    """

    code = "HP725"
    severity = "loss"
    effect = "dropped"
    message = "hook '{name}' does not run in any agent: {by} switches it off"
    hint = "{fix}"


class BridgeEntry(Kind):
    """The entry makes its agent call hookport, so it is no hook of its own.

    The hooks behind it are found where they are written down. Run as a hook, it would run them again.
    """

    code = "HP712"
    severity = "note"
    message = "this entry calls hookport, so it is not run as a hook"


class NotManaged(Kind):
    """A module of code that the agent loads by itself, such as a plugin of OpenCode or an extension of pi.

    It may well be a guard, and hookport knows nothing of it: modules are neither run nor converted, no other
    agent runs them, and no approval covers them.
    """

    code = "HP713"
    severity = "note"
    message = "not managed by hookport: a module of code that only {agent} runs"
    hint = "Write what it does as a command to have it in every agent: `hookport new`."


class NotRead(Kind):
    """The file stands at an agent's own place and holds hooks, and hookport does not read hooks there.

    Such are the manifests of some agents' plugins, extensions in a project, and the files of agents that
    hookport has no dialect for. The agent may run them; hookport neither checks nor approves them, and brings
    them to no other agent.
    """

    code = "HP715"
    severity = "error"
    effect = "dropped"
    message = "holds hooks of {agent} that hookport does not read, so no other agent runs them"
    hint = "Write them once more where hookport reads them: `hookport new`."


class PluginRefused(Kind):
    """The agent refuses the whole plugin for the way in which its manifest names a file of hooks.

    Claude Code 2.1.325 takes only paths that start with `./`; of another it loads nothing of the plugin.
    """

    code = "HP716"
    severity = "error"
    effect = "dropped"
    message = "{agent} refuses this plugin: '{path}' does not start with '{start}'"
    hint = "Write '{start}{path}'."


class Misplaced(Kind):
    """The file has hooks, and stands where nothing reads it.

    Each agent reads fixed files: a right file in a wrong folder, or under the name that another agent uses,
    is ignored without a word. hookport looks at the agents' folders for files whose content is hooks.
    """

    code = "HP726"
    severity = "error"
    effect = "dropped"
    message = "nothing reads this file, so its {count} never run{s}: {reader} reads {place}"
    hint = "{fix}"


class MatcherUndecided(Kind):
    """It could not be decided whether the hook is for this event, so it ran.

    Its pattern took too long or is none, or the agent does not say what the matcher asks for, or neither name
    nor input tells what the tool does. A guard that runs once too often is better than one that is left out.
    """

    code = "HP720"
    severity = "loss"
    effect = "stricter"
    message = "{text}; the hook ran"
    hint = "Write the matcher so that it can be decided; `hookport why` shows what it is tested against."


class NoisyAnswer(Kind):
    """The hook printed other text beside its answer.

    hookport found the answer and used it. Agents that read the hook themselves lose such an answer: a guard
    that prints a log line before its JSON guards nothing there.
    """

    code = "HP721"
    severity = "loss"
    message = "{text}"
    hint = "Print log lines on stderr."


class HookFailed(Kind):
    """The hook did not answer: it could not start, ran out of time, died, or its answer cannot be read.

    Policy decides what that means: open (nothing is decided, the default) or closed (it is denied), for one
    hook with `on_failure`, for all with hookport's settings or HOOKPORT_ON_FAILURE.
    """

    code = "HP722"
    severity = "error"
    message = "hook '{name}' failed: {why}"
    hint = "Correct the hook; set on_failure to closed where a failure must deny."


class AnswerUnsaid(Kind):
    """The agent cannot be told all of what the hooks decided.

    What it is told instead is stricter, or the missing part is no decision.
    """

    code = "HP723"
    severity = "loss"
    effect = "stricter"
    message = "{text}"
    hint = "`hookport matrix` shows what each agent can be told."


class StopLoopEnded(Kind):
    """A stop hook kept the agent going too many times in a row, and the agent has no end of its own.

    The agent was let stop. The limit is 8, or HOOKPORT_STOP_LIMIT.
    """

    code = "HP724"
    severity = "loss"
    message = "{text}"
    hint = "Let the stop hook give up by itself, for example when stop_hook_active is true."


class LedgerBroken(Kind):
    """A file of hookport's ledger cannot be read.

    The ledger remembers what hookport wrote into the agents' files. What this one file remembers is lost: its
    run cannot be taken back, or the exact former bytes of its file are not known. The entries themselves are
    still known by the command they run.
    """

    code = "HP800"
    severity = "error"
    message = "the ledger cannot be read here: {why}"
    hint = "Remove this file from the ledger; `hookport unsync` still takes the entries out."


class BridgeMissing(Kind):
    """A file that the agents' entries call is not there, so they run no hook, or deny every call."""

    code = "HP860"
    severity = "error"
    message = "it is not there"
    hint = "`hookport vendor` writes it."


class BridgeDiffers(Kind):
    """The bridge in the project is not the one that this version of hookport builds.

    Every build of one version has the same bytes, so either the versions differ or somebody changed the file.
    """

    code = "HP861"
    severity = "error"
    message = "it is not what hookport {version} builds: {why}"
    hint = "`hookport vendor` writes it anew; find out first who changed it."


class BridgeStale(Kind):
    """The plan beside the bridge was not made from the hooks as they are now.

    The bridge says so when it runs, and what changed is a failure of the hooks concerned.
    """

    code = "HP862"
    severity = "error"
    message = "the plan is stale: {why}"
    hint = "`hookport vendor` or `hookport sync --vendor` makes it anew."


class BridgeUnlocked(Kind):
    """The lock has another hash of the file, or none, so nobody who approved the lock approved the file."""

    code = "HP863"
    severity = "error"
    message = "the lock does not have the hash of {name}"
    hint = "`hookport trust` shows what is new and writes the lock."


class PersonalHooks(Kind):
    """The file is kept out of the repository, so its hooks are not in the plan that is committed."""

    code = "HP864"
    severity = "note"
    message = "its hooks are not in the plan, since the file is for one machine only"
    hint = "Move them to a file that is committed if they are for everybody."


class BridgeLacks(Kind):
    """The entry names a dialect that the bridge it calls does not know.

    The dialect is one of another package. The plan beside a project's bridge carries it if it was made where
    that package is installed. Without it every call is a failure, and runs unless failures deny.
    """

    code = "HP865"
    severity = "error"
    message = "this entry calls {bridge} for '{dialect}', which it does not know"
    hint = "Install the package of '{dialect}', then run `hookport sync{option}`."


class BridgeNeeds(Kind):
    """The plan beside the bridge has hooks of a dialect that is not installed here.

    Made here, it would lose these hooks, so it is left as it is; and nobody can tell whether it is right.
    """

    code = "HP866"
    severity = "error"
    message = "the plan cannot be made or checked without {dialects}, which is not installed here"
    hint = "Install the package of {dialects}; or remove the plan, and its hooks with it."


class BridgeUnchecked(Kind):
    """The plan beside the bridge has the tables of a dialect that is not installed here, and no hook of it.

    They stay in the plan as they are, for the teammates whose agent speaks it.
    """

    code = "HP867"
    severity = "note"
    message = "the tables of {dialects} are kept unchecked, because {dialects} is not installed here"


class FolderUntrusted(Kind):
    """The agent does not trust the folder, and runs no hook there before it does.

    Most agents say nothing about it. Where hooks were seen to run all the same, it is a loss, else an error.
    """

    code = "HP870"
    severity = "error"
    message = "{dialect} does not trust this folder: {count} would not fire"
    hint = "{fix}"


class HookUntrusted(Kind):
    """The agent trusts hooks one by one, and not this one yet, or it was switched off there.

    The hook is skipped without a word. A hook that moved to another place of its file is a new one.
    """

    code = "HP871"
    severity = "error"
    message = "{dialect} skips this hook: {why}"
    hint = "{fix}"


class HooksOff(Kind):
    """A setting keeps all hooks from running: a switch, a feature that is off, or a policy of the machine."""

    code = "HP872"
    severity = "error"
    message = "{count} would not fire in {dialect}: {what}"
    hint = "{fix}"


class FileDropped(Kind):
    """The agent gives up on the whole file because of one thing in it.

    One entry that is not as it must be, or a syntax error, costs all hooks of the file.
    """

    code = "HP873"
    severity = "error"
    message = "no hook of this file runs in {dialect}: {message}"
    hint = "Correct it; `hookport check` shows more."


class FileShadowed(Kind):
    """The agent does not read this file because another one is there."""

    code = "HP874"
    severity = "error"
    message = "{dialect} does not read this file while {other} is there: {count} would not fire"
    hint = "Move the hooks to {other}."


class WrongScope(Kind):
    """The hooks stand where the agent does not look."""

    code = "HP875"
    severity = "error"
    message = "{dialect} does not read this file: {why}"
    hint = "Move the hooks to {place}."


class ProgramMissing(Kind):
    """The program that the hook is run with is not on this machine.

    An agent that was started from a desktop may have a shorter PATH than a terminal, so that even a program
    that is found here may be missing there; an absolute path is found always.
    """

    code = "HP876"
    severity = "error"
    message = "'{program}' is not on this machine, so this hook cannot start"
    hint = "Install {program}, or name another program."


class RelativeScript(Kind):
    """The script is named from the folder that the agent is in, and found in the project's root only."""

    code = "HP877"
    severity = "loss"
    message = "'{script}' is found only while {dialect} works in the project's root"
    hint = "Write {root}/{name} instead."


class RunsTwice(Kind):
    """The agent reads the same hook in two places and runs it twice.

    Some agents also read the files of others. A hook that counts, commits or notifies does so twice.
    """

    code = "HP878"
    severity = "loss"
    message = "{dialect} runs this hook twice: it stands in {other} too"
    hint = "Keep one of the two."


class TimeoutTooShort(Kind):
    """The hook was cut off lately, or takes longer than it may: its answer comes too late.

    Nearly every agent goes on when a hook runs out of time, so that a guard guards nothing.
    """

    code = "HP879"
    severity = "error"
    message = "the timeout is {limit}, and of the last {count} runs 95 % ended within {taken}{cut}"
    hint = "Allow it more time, or make it faster."


class EventNotThere(Kind):
    """The installed version of the agent does not have the event: the hook waits for ever."""

    code = "HP880"
    severity = "error"
    message = "{dialect} {version} has no event '{event}'{since}"
    hint = "Use another event, or another version of the agent."


class EventUnfired(Kind):
    """The event does not fire in one way of running the agent, such as without a terminal."""

    code = "HP881"
    severity = "loss"
    message = "'{event}' does not fire {when}"
    hint = "Do not rely on it there."


class BridgeBroken(Kind):
    """The entry calls hookport, and what it calls is gone: hookport or its interpreter was moved."""

    code = "HP882"
    severity = "error"
    message = "this entry calls hookport by {path}, which is not there"
    hint = "`hookport doctor --fix` or `hookport sync` writes it anew."


class EntrySilent(Kind):
    """An event was sent through the entry, as the agent would, and what came back is not hookport's answer.

    The event is made up by `hookport doctor`: one hook of its own runs, which denies, and the answer must be
    that deny in the agent's own terms. No hook of yours runs and nothing is written to the journal. Only
    entries that hookport wrote on this machine, or would write now, are tried; a bridge that the project
    brings along is tried once it is approved.
    """

    code = "HP894"
    severity = "error"
    message = "an event through this entry of {dialect} does not reach a hook: {why}"
    hint = (
        "Run `hookport sync` with a hookport that works; `python3 -m pip install --force-reinstall hookport`."
    )


class BridgeForeign(Kind):
    """The entry makes hookport answer in the words of another agent than the one that runs it."""

    code = "HP883"
    severity = "error"
    message = "{dialect} runs this entry, which answers as {other} expects"
    hint = "`hookport sync --agent {dialect}` writes the right one."


class NeverFired(Kind):
    """The event fired and its tool matched, and the hook did not run, by what the journal remembers.

    The journal knows the events that agents sent to hookport.
    """

    code = "HP884"
    severity = "loss"
    message = "it did not run on any of the last {count} events of its kind"
    hint = "`hookport why` shows what each hook is tested against."


class NoBridge(Kind):
    """hookport has hooks to run, and no agent here calls it."""

    code = "HP885"
    severity = "error"
    message = "no agent here calls hookport: {count} would not fire"
    hint = "Install them with `hookport sync`."


class StateNotKept(Kind):
    """hookport cannot write to its own folder: no journal is kept, and plans are made for each event."""

    code = "HP886"
    severity = "loss"
    message = "neither journal nor plans are kept: {why}"
    hint = "Make the folder writable, or name another with HOOKPORT_STATE_DIR."


class PlanStale(Kind):
    """The compiled plan is not of the hooks as they are now; the next event makes it anew."""

    code = "HP887"
    severity = "note"
    message = "the plan of this folder is old: {why}"
    hint = "Nothing to do; `hookport doctor --fix` makes it now."


class TrustUnseen(Kind):
    """The agent runs hooks only where it was told to trust the folder, and nobody else can see whether."""

    code = "HP888"
    severity = "note"
    message = (
        "{dialect} runs the hooks of a project only in a folder it trusts, which cannot be seen from here"
    )
    hint = "{fix}"


class CodeChanged(Kind):
    """The code that hookport generated for the agent was cut or changed, so that it may not load.

    An agent that loads code skips what does not load, mostly without a word.
    """

    code = "HP889"
    severity = "error"
    message = "this file is not as hookport generates it, and may not load"
    hint = "`hookport sync` or `hookport convert` writes it anew."


class ToolGone(Kind):
    """The matcher names only tools that the installed version of the agent has no more."""

    code = "HP890"
    severity = "error"
    message = "the matcher '{matcher}' matches nothing: {dialect} {version} has no {tools} any more"
    hint = "Match the tool that does it now, often the shell."


class DialectUnusable(Kind):
    """A package adds a dialect that cannot be used, so hookport does without it."""

    code = "HP892"
    severity = "error"
    message = "dialect '{name}' of another package cannot be used: {why}"
    hint = "Upgrade or remove the package."


class ReadElsewhere(Kind):
    """A file in a folder below the project's root, which the agent does not read."""

    code = "HP891"
    severity = "error"
    message = "{dialect} reads the files of a project at its root only, {root}: {count} would not fire"
    hint = "Move the hooks there."


class EntryTwice(Kind):
    """Entries of ours are in two places that the agent reads, so each hook runs twice.

    Of two entries that call the bridge, one in the project's file and one in the user's, only the first runs
    the hooks of a call. Two in files of one scope both do, and so does an entry for one hook beside one for
    all.
    """

    code = "HP811"
    severity = "loss"
    message = "{agent} reads entries of hookport here and in {other}: hooks run twice"
    hint = "Take one of them out: `hookport unsync --scope user` or `--scope project`."


class NoPlaceThere(Kind):
    """The agent reads no hooks of this scope: some read only those of a project, or only those of a user."""

    code = "HP812"
    severity = "error"
    message = "{agent} reads no hooks of a {scope}, so nothing was installed for it"
    hint = "Use `--scope {other} --mode bridge`: it finds the hooks of both."


class NotRunHere(Kind):
    """The hook does not run in an agent that is used here.

    Neither does the agent load the file that the hook is in, nor does an entry of hookport run it there. What
    does not run looks exactly like what approves, so this is an error also where the hook only watches.
    """

    code = "HP830"
    severity = "error"
    effect = "dropped"
    message = "{names} {verb} not run in {agent}: {reason}"
    hint = "{fix}"


class AgentSkips(Kind):
    """The hooks are approved here, and the agent skips them: it wants an approval of its own.

    It says nothing of it when it runs without a person. `hookport trust --agents` writes that approval too.
    """

    code = "HP831"
    severity = "error"
    message = "{agent} skips {count} until it trusts them itself"
    hint = "Run `hookport trust --agents`."


class NeverFires(Kind):
    """The agent has no event for the hook, so no entry can make it run there."""

    code = "HP813"
    severity = "error"
    effect = "dropped"
    message = "{names} never {verb} in {agent}: {reason}"
    hint = "`hookport matrix` shows which agents have the event."


class OnlyAdvises(Kind):
    """The hook runs, and its deny does not hold: the agent does not listen on that event."""

    code = "HP814"
    severity = "loss"
    effect = "changed"
    message = "'{name}' cannot block in {agent}: {reason}"
    hint = "`hookport matrix` shows where each agent can be stopped."


class OnlyByBridge(Kind):
    """The hook is no command, and only the bridge can run it for every agent and know it again."""

    code = "HP815"
    severity = "loss"
    effect = "dropped"
    message = "'{name}' was not installed for {agent}: natively only commands are, and it is of type {type}"
    hint = "Use `--mode bridge`."


class ContextUnread(Kind):
    """The hook may tell the model something, and the agent passes on nothing that a hook prints there.

    The hook runs, and what it prints is lost: on a prompt, when a session begins, or after a tool. A guard on
    the same event still denies where the agent obeys one.
    """

    code = "HP824"
    severity = "loss"
    effect = "changed"
    message = "the context that '{name}' adds does not reach the model in {agent}: {reason}"
    hint = "`hookport matrix` shows where each agent can be told something."


class FieldUnsent(Kind):
    """The hook reads a field of its payload that the agent does not send, and finds a constant there.

    A guard that acts only in one permission mode, or on what the transcript says, has nothing to go by in
    such an agent. Where hookport knows nothing it fills in what scripts of the hook's format expect: the mode
    `default`, and no transcript.
    """

    code = "HP826"
    severity = "loss"
    effect = "changed"
    message = "'{name}' reads {field}, which {agent} does not send{when}"
    hint = "Let the hook decide without {field}, or as it would in the strictest case."


class TranscriptDiffers(Kind):
    """The hook reads the transcript, and the agent's has another form than the hook expects.

    hookport writes a copy in Claude Code's form for hooks that expect that one, of the transcripts whose form
    it knows. Any other hook is given the agent's own file, and finds other records in it.
    """

    code = "HP828"
    severity = "loss"
    effect = "changed"
    message = "the transcript of {agent} has another form than '{name}' expects"
    hint = "Let the hook read what its payload says, such as the last message, instead of the file."


class ShellVariablesUnread(Kind):
    """The hook sets variables for the agent's shell, in a file that only its own agent reads.

    The file is there and the hook can write to it, so it does not fail. No command that the agent runs has
    the variables.
    """

    code = "HP827"
    severity = "loss"
    effect = "changed"
    message = "the variables that '{name}' writes to ${variable} do not reach the commands of {agent}"
    hint = "Set them where the agent's shell finds them, such as the profile of your shell."


class NotSynced(Kind):
    """The agent's file cannot be edited without a risk to what is in it, so it was left as it is."""

    code = "HP816"
    severity = "error"
    effect = "dropped"
    message = "{message}. Nothing was written for {agent}"
    hint = "Correct the file and run `hookport sync` again."


class Drifted(Kind):
    """The entries in the agent's file are not those that its hooks need now."""

    code = "HP817"
    severity = "error"
    message = "the entries for {agent} are {state}"
    hint = "Run `hookport sync`."


class OfThisMachine(Kind):
    """The entries name the Python of this machine, and the file belongs to the project.

    On another machine the path leads nowhere: guards deny there, and the other hooks do not run.
    """

    code = "HP818"
    severity = "note"
    message = "the entries name the Python of this machine; for those who share the project, use --vendor"


class NotApproved(Kind):
    """The bridge runs a hook of a project only as its user approved it, and these were not approved yet.

    Until then the agent is told so in its own words, and the hooks do not run.
    """

    code = "HP820"
    severity = "loss"
    message = "not run before you approve them: {names}"
    hint = "Look at them and approve them with `hookport trust`."


class NotAsApproved(Kind):
    """A hook is new, changed or gone since it was approved, or since `hookport.lock` was written.

    A blocking hook that was approved and is changed or gone denies every call that it would have seen. Where
    nobody's own approval is known, as in CI, the lock in the project stands for it.
    """

    code = "HP840"
    severity = "error"
    message = "{name} is {what} since {since}"
    hint = "Look at it and approve it with `hookport trust`; commit hookport.lock."


class NotCovered(Kind):
    """An approval does not cover everything that a hook runs or reads, as far as hookport can tell.

    Such a file may change, and the hook with it, without anybody being asked: a program on the PATH, a
    package, a file that the hook itself writes, a path that is computed. A project can name files with
    `covers` in the hook's own file or in `.hookport/config.json`.
    """

    code = "HP843"
    severity = "note"
    message = "hook '{name}': not covered by an approval: {what}"
    hint = "Name files that matter with `covers` in the hook's file or in .hookport/config.json."


class ApprovedGone(Kind):
    """A hook that was approved is not there any more, so every call that it would have seen is denied.

    Only the user can say that it is meant to be gone: `hookport trust` shows it and asks.
    """

    code = "HP841"
    severity = "error"
    message = "hook '{name}' was approved and does not run: {why}"
    hint = "Bring it back, or run `hookport trust` if it is meant to be gone."


class HookPaused(Kind):
    """A hook does not run, because its user paused it with `hookport pause`; that is over by itself."""

    code = "HP842"
    severity = "loss"
    message = "{what} is paused until {until}, and denies nothing meanwhile"
    hint = "`hookport pause --end` ends it."


class NotGuarded(Kind):
    """Hooks that are installed by themselves are run by the agent as they are.

    Approval and self-protection are the bridge's: a script that changes runs changed, and an agent may edit
    it. Only the bridge (`--mode bridge`) runs a project's hooks as they were approved.
    """

    code = "HP821"
    severity = "note"
    message = "installed by itself, so neither approval nor self-protection holds: {agents}"
    hint = "Use --mode bridge where that matters."


class RunsBesides(Kind):
    """The agent reads the file that the hook is in, and does less with it there than the hook is for.

    Other agents' files are read with other tool names, fields and answers: a guard on files or MCP tools may
    not recognise what it is asked about, or is never asked. So the hook is installed as well. Where the agent
    runs it by itself too, it runs twice, and the stricter answer counts.

    `hookport sync --adopt` ends that. It puts a test before the command in the file: where the agent runs it
    and an installed entry of hookport runs the same hook there, the command ends at once. Where the entry is
    missing, was changed or starts a hookport that is gone, and where the hook is not approved, the command
    runs as it did, so the test makes no guard weaker. `hookport unsync` and `hookport undo` take it out.
    """

    code = "HP822"
    severity = "loss"
    message = (
        "{agent} also reads {file}, where this hook has less effect; installed anyway, so it may run twice"
    )
    hint = "{fix}"


class CopyRuns(Kind):
    """The hook starts the same script as one in another agent's file, and each has its own entry.

    In native mode an agent runs every entry, so that the script runs twice for one call. The bridge knows
    copies and runs the one that was written for the agent, or the strictest.
    """

    code = "HP832"
    severity = "loss"
    message = "'{name}' starts the same script as {other}, and {agent} runs both"
    hint = "Run `hookport sync --agent {agent} --mode bridge`."


class ServesNoMore(Kind):
    """Entries of the bridge in the user's own file run the hooks of every project, each by itself does not.

    Where they are replaced, hooks of other projects no longer run in folders below a project's root, in
    folders that the agent does not trust, and in agents that read no hooks of a project.
    """

    code = "HP833"
    severity = "loss"
    message = "the entries of {agent} that ran the hooks of every project are replaced"
    hint = "Run `hookport sync --agent {agent} --scope user --mode bridge` to bring them back."


class RunsWider(Kind):
    """The agent reads the file that the hook is in, and has no `if`: it runs the hook on every call there.

    The installed entry keeps to the rule, and the stricter answer counts: a guard denies more than it is for.
    `hookport sync --adopt` leaves the hook to the entry, as for HP822.
    """

    code = "HP829"
    severity = "loss"
    message = "{agent} also reads {file} and has no `if`, so this hook runs on every call of its tools there"
    hint = "{fix}"


class OnlyAtStart(Kind):
    """The agent reads a project's hooks only in the folder that it is started in.

    Started in a folder below the project's root, it finds no hook of the project, and says nothing of it. A
    user's entries are read wherever it is started, and the bridge finds the project's hooks from any folder.
    """

    code = "HP823"
    severity = "note"
    message = "{agent} runs these hooks only where it is started in the project's root, not in a folder below"
    hint = "`hookport sync --scope user --mode bridge` holds in every folder; `hookport unsync` first."


class PackageUnseen(Kind):
    """The entries run in a Python that does not see the package of the dialect.

    They see the packages that are installed with hookport. They ignore PYTHONPATH and the user's packages,
    so that no project can put code in their place.
    """

    code = "HP825"
    severity = "error"
    message = "entries cannot use '{dialect}': its package is in {folder}, which they do not see"
    hint = "Install the package where hookport is installed, or use `hookport sync --vendor`."


class TwoAgentsRead(Kind):
    """Another agent reads the file too, and nothing tells the two apart: the hooks run there as well."""

    code = "HP819"
    severity = "loss"
    message = "{other} reads this file of {agent} too, and a hook cannot tell which of the two runs it"
    hint = "Install for one of the two, or switch the file off in the settings of {other}."


class EnvironmentSteered(Kind):
    """A file of the project sets a variable that tells hookport where approvals, plans or settings are.

    Agents and shells put these files into the environment that hooks are started in. Folders inside a project
    are refused whatever the variable says, but a variable can still switch a policy off or name a folder
    elsewhere. Only the person who uses the machine should set it, in their own shell.
    """

    code = "HP893"
    severity = "error"
    message = (
        "'{name}' is set here for everybody who works in this project, and steers what hookport believes"
    )
    hint = "Remove it from this file; set it in your own shell if you need it."
