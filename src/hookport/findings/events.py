"""HP2xx: what becomes of a hook whose event, or whose answer, the target takes otherwise."""

from __future__ import annotations

from hookport.findings.kinds import Kind


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


class GuardPartialCover(Kind):
    """The guard is for every tool, and the target shows hooks only some: **the others are not guarded**."""

    code = "HP220"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST for other tools: covers only {tools}, {target} shows hooks no other tool"
    hint = "Guard the rest another way in {target}."


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
