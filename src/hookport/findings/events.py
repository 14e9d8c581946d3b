"""HP2xx: hooks whose event or answer the target treats differently."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class EventDropped(Kind):
    """The target has no such event, so the hook is dropped.

    The hook only watched, so no guard is lost.
    """

    code = "HP201"
    severity = "loss"
    effect = "dropped"
    message = "dropped, {target} has no {event} event{reason}"
    hint = "Use --strict to stop with an error instead."


class GuardDropped(Kind):
    """The hook may block, but the target has no event on which it could: **the guard is lost there**.

    A hook that does not run looks exactly like a hook that approves. Do not rely on this hook in that agent.
    Guard the action another way (the agent's own permissions, a sandbox), or do not use the agent.
    """

    code = "HP202"
    severity = "error"
    effect = "dropped"
    message = "GUARD LOST: dropped, {target} has no {event} event{reason}; nothing is blocked there"
    hint = "Guard it another way in {target}, or remove `blocking` if it need not block."


class GuardObserves(Kind):
    """The hook may block, but the target only lets hooks watch this event: **it runs and cannot prevent**.

    The hook is converted, because it may still log or notify. Its deny has no effect.
    """

    code = "HP203"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST: {target} runs the hook on {event} and ignores its deny"
    hint = "Guard it another way in {target}, or remove `blocking` if it need not block."


class TimingShift(Kind):
    """A hook written to run before an action runs after it in the target.

    The target has no such event before the action. The action has already happened, so the hook cannot
    prevent it.
    """

    code = "HP204"
    severity = "loss"
    effect = "changed"
    message = "TOO LATE: {target} has no {event} event, the hook runs on {after}, after the fact"
    hint = "Use --strict to stop with an error instead."


class KeptFromBlocking(Kind):
    """The hook must not block, but in the target the exit code of any hook on this event can block.

    The converted command always exits with 0.
    """

    code = "HP205"
    severity = "note"
    effect = "changed"
    message = "wrapped with `|| true`: {target} would obey the exit code of a hook that must not block"


class BlockedInstead(Kind):
    """The target lacks a capability of the hook, and the strategy for it is `block`.

    The converted hook denies every matching action with a reason, instead of letting it pass unprotected.
    For a rewrite this is the default, because an unsanitised input would get through. Set another strategy
    in `degradation` if the feature is not a protection.
    """

    code = "HP206"
    severity = "loss"
    effect = "stricter"
    message = "STRICTER: blocks every matching action; {target} lacks {capability} ({evidence})"
    hint = 'Set "degradation": {{"{capability}": "warn"}} if the hook may run without it.'


class Excluded(Kind):
    """The target lacks a capability of the hook, and the strategy for it is `exclude`.

    The hook only watched, so no guard is lost.
    """

    code = "HP207"
    severity = "loss"
    effect = "dropped"
    message = "dropped, {target} lacks {capability} ({evidence})"
    hint = 'Set another strategy in "degradation" to block, or to run without the capability.'


class GuardExcluded(Kind):
    """A hook that may block is dropped by the strategy `exclude`: **the guard is lost there**.

    The target lacks a capability of the hook, for example a prompt or an agent as handler.
    """

    code = "HP208"
    severity = "error"
    effect = "dropped"
    message = "GUARD LOST: dropped, {target} lacks {capability} ({evidence}); nothing is blocked there"
    hint = 'Set "degradation": {{"{capability}": "block"}} to block instead.'


class FailsOpen(Kind):
    """The hook blocks when it fails or times out, but the target lets the action run then.

    The guard works while it succeeds. When it crashes, the action runs.
    """

    code = "HP209"
    severity = "loss"
    effect = "changed"
    message = "WEAKER: {target} lets the action run when the hook {failure}"
    hint = "Make the script itself deny on every failure, well within its timeout."


class CannotBlockHere(Kind):
    """The strategy is `block`, but hooks on this event cannot block in the target."""

    code = "HP210"
    severity = "error"
    effect = "dropped"
    message = "GUARD LOST: {target} lacks {capability} ({evidence}) and hooks cannot block on {event}"
    hint = "Guard it another way in {target}."


class MayBlockNow(Kind):
    """The hook should only watch, but in the target a handler of its type may block on this event.

    hookport wraps commands so that they cannot block. It cannot do this for other types.
    """

    code = "HP211"
    severity = "loss"
    effect = "stricter"
    message = "STRICTER: {target} lets a {type} hook block on {event}, and this one should only watch"
    hint = "Make it approve everything, or write it as a command."


class FailsClosed(Kind):
    """The target treats a failing hook as a block; the source dialect treats it as no decision.

    A script that cannot start, or exits with an error of its own, blocks every matching action there.
    """

    code = "HP212"
    severity = "note"
    effect = "stricter"
    message = "STRICTER: {target} blocks when the hook fails, with any exit code but 0"
    hint = "Make the script exit with 0 when it has no decision."


class GuardPartly(Kind):
    """Only some products that read the file let the hook block: **in the others it cannot prevent**.

    The hook is converted, and guards in the products that the message names.
    """

    code = "HP215"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST in part: on {event} of {target}, {partly}"
    hint = "Guard it another way in the other products, or remove `blocking` if it need not block."


class ExitIgnored(Kind):
    """The hook may block, but on this event the target obeys only a JSON answer: **exit code 2 is ignored**.

    A script that denies with exit code 2 lets everything through until you adapt it.
    """

    code = "HP216"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST unless adapted: {target} ignores exit code 2 on {event}, only its own JSON blocks"
    hint = "Make the script print {target}'s answer."


class AnswerIgnored(Kind):
    """The guard denies with printed output, but the target does not obey that form: **the deny is lost**.

    A URL, or a script that does not exit with 2, can deny only with its printed answer. It answers in the
    dialect it was written for.
    """

    code = "HP217"
    severity = "error"
    effect = "changed"
    message = (
        "GUARD LOST unless adapted: it denies with {source}'s answer, "
        "which {target} does not obey ({evidence})"
    )
    hint = "Deny with exit code 2 and a reason on stderr, or print {target}'s answer."


class AllowUndoes(Kind):
    """Several guards share an event, and in the target one guard's allow overrides another's deny."""

    code = "HP218"
    severity = "loss"
    effect = "changed"
    message = "WEAKER beside other hooks on {event}: {how}"
    hint = "Make at most one hook on this event answer with allow."


class ReasonNeeded(Kind):
    """Exit code 2 does not block in the target unless the hook also writes a reason to stderr."""

    code = "HP219"
    severity = "note"
    message = "{target} obeys exit code 2 only with a reason on stderr"


class GuardPartialCover(Kind):
    """The guard covers every tool, but the target shows hooks only some: **the others are not guarded**."""

    code = "HP220"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST for other tools: covers only {tools}, {target} shows hooks no other tool"
    hint = "Guard the rest another way in {target}."


class ReasonLost(Kind):
    """Exit code 2 blocks in the target, but the hook's stderr does not reach the model.

    The model learns that the action was blocked, but not why, unless the script prints the target's answer.
    """

    code = "HP221"
    severity = "note"
    message = "in {target} a reason on stderr does not reach the model, only a reason in a JSON answer does"


class AnswerFieldLost(Kind):
    """The script's answer has a field that the target does not support.

    The rest of the answer takes effect. The bridge notes each lost field in the journal.
    """

    code = "HP222"
    severity = "loss"
    effect = "changed"
    message = "{fields} in its answer has no effect in {target}"


class StandsThere(Kind):
    """The hook is a script that the target runs at its own path, and a written file would replace it.

    hookport writes nothing, so the script keeps its content. Where the script itself is missing, as in
    another project, copy it to that path.
    """

    code = "HP223"
    severity = "loss"
    effect = "dropped"
    message = "not written: {target} runs the script {script} itself, at its own path"
    hint = "Copy the script to the projects that lack it."


class SilenceApproves(Kind):
    """In the target, exit code 0 approves the call, also without output: **a hook that watches approves**.

    In most agents a hook without an opinion ends with exit code 0. Behind the bridge, no opinion stays none.
    """

    code = "HP224"
    severity = "error"
    effect = "changed"
    message = "on {event} in {target}, exit code 0 approves the call, also without output"
    hint = "Convert without `--bare`, or end with exit code 1 where the hook has no opinion."
