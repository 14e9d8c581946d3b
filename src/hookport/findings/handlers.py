"""HP4xx: changes to what a hook runs, to its fields and to its output."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class WireDiffers(Kind):
    """The command reads the payload of the dialect it was written for, and gives that dialect's answers.

    The target sends another payload and obeys other answers, so a guard may not guard. Convert without
    `--bare`, or adapt the script to the target.
    """

    code = "HP401"
    severity = "loss"
    effect = "changed"
    message = "the {what} expects {source}'s payload and answers; {target} sends and obeys others"
    hint = "Adapt it to {target} before you rely on it."


class HttpToCurl(Kind):
    """The target cannot call a URL, so the converted hook calls it with `curl`.

    It posts the payload unchanged and prints the response for the agent. `curl` must be installed. When the
    call fails, the command exits with 1, which is no decision.
    """

    code = "HP402"
    severity = "loss"
    effect = "changed"
    message = "{target} has no http handler, so the hook calls the URL with curl"
    hint = "Install curl on the PATH of {target}."


class AsyncInBackground(Kind):
    """The target waits for all hooks, so the converted command puts itself in the background."""

    code = "HP403"
    severity = "note"
    effect = "changed"
    message = "the command puts itself in the background; {target} has no async hooks"


class AsyncDropped(Kind):
    """The target waits for this async hook."""

    code = "HP404"
    severity = "loss"
    effect = "changed"
    message = "{target} waits for the hook; it has no async hooks of this type"


class CarriedInCommand(Kind):
    """The target has no such field, so the converted command does its work."""

    code = "HP405"
    severity = "note"
    effect = "changed"
    message = "{what} moved into the command; {target} has no field for it"


class PlatformDropped(Kind):
    """The target has no separate command for this operating system."""

    code = "HP406"
    severity = "loss"
    effect = "changed"
    message = "the command for {platform} was dropped; {target} runs one command on every system"


class TimeoutRounded(Kind):
    """The target accepts whole units only, so the timeout was rounded up."""

    code = "HP407"
    severity = "note"
    effect = "changed"
    message = "timeout {before} became {after}: {target} accepts whole {unit}"


class TimeoutClamped(Kind):
    """The timeout is outside the range that the target allows."""

    code = "HP408"
    severity = "loss"
    effect = "changed"
    message = "timeout {before} became {after}, the limit of {target}"


class TimeoutSpelled(Kind):
    """The hook relied on its dialect's default timeout, and the target has a different default.

    The converted hook sets the timeout explicitly, so it stays the same.
    """

    code = "HP409"
    severity = "note"
    effect = "changed"
    message = "timeout {timeout} set explicitly: the default of {source}; that of {target} is {default}"


class TimeoutDropped(Kind):
    """The target has no timeout per hook."""

    code = "HP410"
    severity = "loss"
    effect = "changed"
    message = "timeout {timeout} dropped: {target} has no timeout per hook ({default})"
    hint = "Make the script end in time by itself."


class FieldDropped(Kind):
    """The target has no such field. When and how the hook runs does not depend on it."""

    code = "HP411"
    severity = "note"
    effect = "changed"
    message = "{field} dropped; {target} has no such field"


class PriorityDropped(Kind):
    """The target has no priorities: it runs hooks in the order they are written, or in parallel.

    hookport writes the hooks in the order of their priorities.
    """

    code = "HP412"
    severity = "loss"
    effect = "changed"
    message = "priority {priority} dropped; {target} has none, so the hooks are written in that order"


class NativeDropped(Kind):
    """Fields that only the source dialect has were dropped."""

    code = "HP413"
    severity = "loss"
    effect = "changed"
    message = "fields of {source} that {target} does not have were dropped: {fields}"


class OutputLost(Kind):
    """The target reads only the exit code.

    It ignores a decision printed as JSON: **a deny with exit code 0 lets the action run**. Context and
    messages are lost.
    """

    code = "HP414"
    severity = "loss"
    effect = "changed"
    message = "{target} reads only the exit code and ignores JSON answers, even a deny ({evidence})"
    hint = "Deny with exit code 2 and a reason on stderr."


class PlaceholderTranslated(Kind):
    """A placeholder in the command was replaced by the target's own."""

    code = "HP415"
    severity = "note"
    effect = "changed"
    message = "{before} became {after}"


class PlaceholderLost(Kind):
    """The target does not fill in this placeholder.

    The command does not find its file there, so a guard does not run.
    """

    code = "HP416"
    severity = "loss"
    effect = "changed"
    message = "{target} does not fill in {placeholder}: {consequence}"
    hint = "Write a path that {target} can find."


class CapabilityInferred(Kind):
    """The hook uses a capability that its manifest does not name. The message names the evidence."""

    code = "HP417"
    severity = "note"
    message = "uses {capability}: {evidence}"


class RewriteLost(Kind):
    """The hook rewrites the tool's input, which the target cannot do, and the strategy is to run it anyway.

    The tool runs with its original input.
    """

    code = "HP418"
    severity = "loss"
    effect = "changed"
    message = "WEAKER: {target} ignores the rewritten input and runs the tool with the original ({evidence})"
    hint = 'Set "degradation": {{"input_rewrite": "block"}} to block instead.'


class HandlerDropped(Kind):
    """The target has no such handler, and the strategy is to run with less: nothing is left to run."""

    code = "HP419"
    severity = "error"
    effect = "dropped"
    message = "dropped: {target} has no {type} handler, so nothing of the hook is left"
    hint = "Write it as a command."


class FieldGiven(Kind):
    """The target requires a field that the hook lacks or has in another form, so hookport filled it in."""

    code = "HP420"
    severity = "note"
    effect = "changed"
    message = "{target} requires a {field}; hookport set it to '{value}'"


class GuardPlaceholderLost(Kind):
    """A guard's command needs a placeholder that the target does not fill in: **it will not run there**."""

    code = "HP421"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST unless fixed: {target} does not fill in {placeholder}: {consequence}"
    hint = "Write a path that {target} can find."


class ContextLost(Kind):
    """In the target, the hook's output on this event does not reach the model.

    A hook that only adds context has no effect there.
    """

    code = "HP422"
    severity = "loss"
    effect = "changed"
    message = "its output does not reach the model on {event} in {target}"


class PathAnchored(Kind):
    """A relative path was anchored at the project root, because the target's working directory changes.

    Otherwise the script is not found after the agent changes its directory, and a guard does not run.
    """

    code = "HP423"
    severity = "note"
    effect = "changed"
    message = "{before} became {after}: the working directory of {target} changes"


class WindowsAsync(Kind):
    """The target waits for the Windows command; only the commands for other systems run in the background."""

    code = "HP424"
    severity = "loss"
    effect = "changed"
    message = "{target} waits for the Windows command"


class VariablesEmptied(Kind):
    """A header of a URL handler uses variables that the handler does not allow, so they stay empty.

    Without its token the server refuses the call, and a guard behind it decides nothing.
    """

    code = "HP425"
    severity = "loss"
    effect = "changed"
    message = "empty in the headers, because allowed_env_vars does not list them: {names}"
    hint = "Add them to allowed_env_vars."


class TextLost(Kind):
    """In the target, plain text from the hook on this event does not reach the model; only JSON does.

    A hook that prints context as plain text adds none until it prints the target's answer.
    """

    code = "HP426"
    severity = "loss"
    effect = "changed"
    message = "its plain text does not reach the model on {event} in {target}; only JSON does"


class Wrapped(Kind):
    """The command was written for another dialect, so `hookport wrap` runs it.

    It receives the payload of its own dialect, with that dialect's names, and its answer is translated for
    the agent. hookport must be installed where the agent runs, on the agent's PATH; a guard denies where it
    is not. `--bare` keeps the command unchanged.
    """

    code = "HP427"
    severity = "note"
    effect = "changed"
    message = "the command expects {source}'s payload, so {target} runs it through `hookport wrap`"
    hint = "Install hookport where {target} runs."


class Unwrapped(Kind):
    """The command already runs through `hookport wrap`, so the hook behind it is converted."""

    code = "HP428"
    severity = "note"
    effect = "changed"
    message = "converted the {source} hook behind `hookport wrap`"


class GuardCutShort(Kind):
    """The agent goes on without the guard's answer before the guard's own timeout ends.

    Some agents stop waiting after a fixed time, whatever a hook's timeout, and **let the call run**. Where
    hookport runs the guard, it ends it in time and answers in its place: the call runs, or is denied if
    failures deny (`on_failure: closed`). Make the guard faster and lower its timeout, or let failures deny.
    """

    code = "HP429"
    severity = "error"
    effect = "changed"
    message = "GUARD TOO SLOW: {who} goes on after {limit} without an answer, but {guard} may take {timeout}"
    hint = "Make it answer within {limit}; where hookport runs it, `on_failure: closed` denies late answers."


class OutputCut(Kind):
    """The target reads only the exit code, so the bridge passes decisions on by exit code.

    A deny is obeyed and an `ask` becomes a deny. Context, messages and other fields of the answer are lost.
    """

    code = "HP430"
    severity = "loss"
    effect = "changed"
    message = "{target} reads only the exit code: decisions hold, the rest of the answer is lost ({evidence})"
    hint = "Set `block` or `exclude` for structured_output if the hook is useless without it."


class ModelAskedHere(Kind):
    """The target has no handler that asks a model, so `hookport wrap` asks it.

    It needs a model and its key when it runs: `HOOKPORT_LLM_MODEL` and `HOOKPORT_LLM_API_KEY`. An `agent`
    hook also needs the extra `llm`. A guard whose model cannot be asked denies.
    """

    code = "HP431"
    severity = "loss"
    effect = "changed"
    message = (
        "{target} has no handler that asks a model, so `hookport wrap` asks: it needs a model and its key"
    )
    hint = "Set HOOKPORT_LLM_MODEL and HOOKPORT_LLM_API_KEY where {target} runs."
