"""HP4xx: what becomes of what a hook runs, of its fields and of its output."""

from __future__ import annotations

from hookport.findings.kinds import Kind


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


class GuardPlaceholderLost(Kind):
    """A guard's command starts at a root that the target does not fill in: **it will not run there**."""

    code = "HP421"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST unless fixed: {target} does not fill in {placeholder}: {consequence}"
    hint = "Write a path that {target} can find."


class ContextLost(Kind):
    """What the hook prints does not reach the model on this event in the target.

    A hook that only adds context does nothing there.
    """

    code = "HP422"
    severity = "loss"
    effect = "changed"
    message = "nothing it prints reaches the model on {event} in {target}"


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


class TextLost(Kind):
    """Plain text that the hook prints on this event does not reach the model in the target, JSON does.

    A hook that adds context by printing it adds none there until it prints the target's answer.
    """

    code = "HP426"
    severity = "loss"
    effect = "changed"
    message = "plain text it prints does not reach the model on {event} in {target}, only its JSON does"


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
