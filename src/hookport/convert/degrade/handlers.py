"""What runs: handlers that the target lacks, answers that it ignores, payloads that it does not send."""

from __future__ import annotations

import re

from hookport import findings as f
from hookport.agents import get_wire
from hookport.base.quoting import quote
from hookport.convert.degrade.work import (
    Work,
    apply_strategy,
    change_commands,
    choose_strategy,
    list_specs,
    quote_powershell,
    write_deny_command,
)
from hookport.convert.degrade.wrapping import MISSING, ON_PATH, agree, quote_literal, wrap_command
from hookport.model.hooks import Handler
from hookport.model.runs import ANY_EVENT
from hookport.runtime.surroundings import can_copy, is_kept
from hookport.shapes.dialect import SECOND, has_field
from hookport.shapes.entries import quote_shell_word
from hookport.wire.events import list_places
from hookport.wire.table import find_table


def degrade_handler(work: Work) -> bool:
    """Keep a handler that the target has on this event, or apply the capability's strategy."""
    type_ = work.hook.handler.type
    allowed = all(not spec.types or type_ in spec.types for spec in list_specs(work))
    spec = work.target.handlers.get(type_)
    allowed = allowed and bool(spec and (spec.decides or not work.hook.blocking))
    # Its payload and answer would be the target's; behind the bridge they are its own dialect's.
    by_bridge = work.needs_bridge or (type_ == "http" and not agrees_with_target(work))
    is_foreign = type_ != "command" and work.can_wrap and by_bridge
    if (
        spec
        and allowed
        and not is_foreign
        and work.hook.handler.url.startswith(spec.url_start)
        and (type_ != "native" or work.is_home)
    ):
        work.is_settled = True
        return True
    if type_ == "http" and choose_strategy(work, "http_handler") == "warn":
        work.note(f.HttpToCurl)
        _note_variables(work)
        closed = any(spec.exits == "any" for spec in list_specs(work))
        work.hook = work.hook._replace(handler=_write_curl(work.hook.handler, failed=0 if closed else 1))
        work.is_url = True
        return True
    if type_ == "native":
        return _drop_handler(work)
    if type_ in ("prompt", "agent") and work.can_wrap and "llm_evaluated" not in work.hook.degradation:
        return _ask_by_bridge(work)
    return apply_strategy(work, "http_handler" if type_ == "http" else "llm_evaluated", _drop_handler)


def _ask_by_bridge(work: Work) -> bool:
    """Let the bridge ask the model; if it cannot, a guard denies, except on a stop, which must end."""
    handler = work.hook.handler
    work.note(f.ModelAskedHere)
    work.needs_bridge = True
    work.is_prompt = True
    work.options.append(f"--type={handler.type}")
    if handler.model:
        work.options.append(f"--model={quote_literal(handler.model)}")
    closed = work.hook.blocking and all(spec.blocks == "prevent" for spec in list_specs(work))
    prompt_command = handler._replace(type="command", command=handler.prompt, prompt="", model="")
    work.hook = work.hook._replace(
        handler=prompt_command._replace(on_failure="block") if closed else prompt_command
    )
    return True


def agrees_with_target(work: Work) -> bool:
    """Whether the target talks to the handler like its own dialect, without a bridge."""
    return not work.needs_bridge and (work.is_home or agree(work.source, work.target, work.hook.event))


def degrade_command(work: Work) -> bool:
    """Limit a hook to the platforms of its commands, as far as the target can."""
    handler = work.hook.handler
    if (
        handler.type != "command"
        or handler.command
        or "command" not in work.target.handlers["command"].required
    ):
        return True
    if all(name == "windows" and not has_field(work.target, name) for name in handler.platform):
        work.note(f.HandlerDropped, type="Windows")
        return False
    work.note(f.FieldGiven, field="command", value=":")
    work.change(command=":")
    return True


def _drop_handler(work: Work) -> bool:
    work.note(f.HandlerDropped, type=work.hook.handler.type)
    return False


def _note_variables(work: Work) -> None:
    """Leave variables in headers empty if not allowed, as in the source's own handler."""
    handler = work.hook.handler
    named = {name for value in handler.headers.values() for name in re.findall(r"\$\{?([A-Za-z_]\w*)", value)}
    lost = sorted(named - set(handler.allowed_env))
    if lost:
        work.note(f.VariablesEmptied, names=", ".join(lost))


def _write_curl(handler: Handler, *, failed: int) -> Handler:
    """Write the call as a command: the payload on stdin is the body; a failed call is no decision."""
    words = ["curl", "-gfsS", "-X", "POST"]
    if handler.timeout is not None:
        words += ["--max-time", f"{handler.timeout / SECOND:.3f}".rstrip("0").rstrip(".")]
    words += ["-H", quote("Content-Type: application/json")]
    for name, value in handler.headers.items():
        words += ["-H", _write_header(f"{name}: {value}", handler.allowed_env)]
    command = " ".join([*words, "--data-binary", "@-", "--url", quote(handler.url)]) + f" || exit {failed}"
    return Handler(
        command=command,
        timeout=handler.timeout,
        is_async=handler.is_async,
        on_failure=handler.on_failure,
        timeout_action=handler.timeout_action,
        status_message=handler.status_message,
    )


def _write_header(text: str, allowed: tuple[str, ...]) -> str:
    """Write a header as one shell word, in which only allowed variables are expanded."""
    parts = re.split(r"(\$\{[A-Za-z_]\w*\}|\$[A-Za-z_]\w*)", text)
    word = ""
    for number, part in enumerate(parts):
        if number % 2:
            name = part.strip("${}")
            word += f'"${{{name}-}}"' if name in allowed else ""
        elif part:
            word += quote(part)
    return word or "''"


def degrade_rewrite(work: Work) -> bool:
    """Block a rewrite that the target ignores, unless configured otherwise."""
    if "input_rewrite" not in work.used:
        return True
    named = {*work.hook.degradation, *work.hook.capabilities}
    if "input_rewrite" not in named:
        work.note(f.CapabilityInferred, capability="input_rewrite", evidence=work.used["input_rewrite"])
        work.hook = work.hook._replace(capabilities=(*work.hook.capabilities, "input_rewrite"))
    if all(spec.rewrites for spec in list_specs(work)):
        return True

    def warn(work: Work) -> bool:
        work.note(f.RewriteLost, evidence=work.used["input_rewrite"])
        return True

    return apply_strategy(work, "input_rewrite", warn)


def degrade_output(work: Work) -> bool:
    if work.target.reads_output or "structured_output" not in work.used:
        return True
    named = {*work.hook.degradation, *work.hook.capabilities}
    if work.wraps and "structured_output" not in named:
        return True  # the bridge passes a printed deny on as the exit code

    def warn(work: Work) -> bool:
        kind = f.OutputCut if work.wraps else f.OutputLost
        work.note(kind, evidence=work.used["structured_output"])
        return True

    return apply_strategy(work, "structured_output", warn)


def degrade_wire(work: Work) -> bool:
    """Run a command of another dialect through the bridge, or report it."""
    if (work.is_home and not work.needs_bridge) or work.target.is_hub:
        return True
    if work.wraps:
        _wrap(work)
    elif work.hook.handler.type in ("command", "http") and not agree(
        work.source, work.target, work.hook.event
    ):
        work.note(f.WireDiffers, source=work.source.id, what=work.hook.handler.type)
        if work.hook.blocking and (work.is_url or work.hook.handler.type == "http"):
            work.note(f.AnswerIgnored, source=work.source.id, evidence="a URL can deny only by its answer")
        elif work.hook.blocking and work.by_answer and not work.by_answer & set(work.target.obeys):
            evidence = f"no exit code 2 in its script, only {' and '.join(sorted(work.by_answer))}"
            work.note(f.AnswerIgnored, source=work.source.id, evidence=evidence)
        _note_approvals(work)
    _note_transcript(work)
    for spec in list_specs(work):
        if spec.hears == "nothing" and work.hook.event in ("session_start", "before_prompt"):
            work.note(f.ContextLost, event=spec.native)
        if (
            spec.hears == "json"
            and work.hook.event in ("session_start", "before_prompt")
            and not work.is_wrapped
        ):
            work.note(f.TextLost, event=spec.native)
    work.hook = work.hook._replace(dialect=work.target.id)
    return True


def _note_transcript(work: Work) -> None:
    """Report a transcript that the target does not have, or that a script cannot read without the bridge."""
    wire = get_wire(work.target.id)
    # `sync` reports it for every hook, converted or not.
    if not work.transcript_field or (work.bridge and work.bridge.entry):
        return
    name = work.hook.name or work.hook.handler.command
    is_sent = any(list_places(wire, spec.native, "transcript") for spec in list_specs(work))
    if not is_sent and not (work.is_wrapped and is_kept(wire)):
        work.note(f.FieldUnsent, agent=work.target.id, name=name, field=work.transcript_field, when="")
    elif not work.is_wrapped and can_copy(get_wire(work.source.id), wire):
        work.note(f.TranscriptDiffers, agent=work.target.id, name=name)


def _note_approvals(work: Work) -> None:
    """Report a hook for which silence is no opinion, on events where the target takes it for an allow."""
    target_wire = get_wire(work.target.id)
    for spec in list_specs(work):
        exits = find_table(target_wire.obeys, spec.native, spec.canonical).get("exits", {})
        if exits.get("0") == "allow":
            work.note(f.SilenceApproves, event=spec.native)


def _wrap(work: Work) -> None:
    specs, timeout = list_specs(work), work.hook.handler.timeout
    event = specs[0].native if len(specs) == 1 else ANY_EVENT
    options = [*work.options]
    if work.written:
        options.append(f"--for={quote_shell_word(work.written)}")
    if timeout is not None:
        options.append(f"--within={timeout / SECOND:g}")
    bridge = work.bridge or ON_PATH
    if bridge.entry:
        options.append(f"--entry={bridge.entry}")
    words = (work.source.id, work.target.id, quote_shell_word(event))
    missing = ""
    is_kept = any(finding.code == f.KeptFromBlocking.code for finding in work.findings)
    # An agent whose stop is always denied would never end.
    if work.hook.blocking and not is_kept and all(spec.blocks == "prevent" for spec in specs):
        missing = write_deny_command(work.target, MISSING, specs[0].deny_answer)
        missing += "" if missing.endswith("exit 2") else "; exit 0"
    windows_bridge = bridge._replace(call=bridge.windows)
    change_commands(
        work,
        lambda command: wrap_command(command, words, options, missing, bridge),
        lambda command: wrap_command(
            f"powershell -NoProfile -Command {quote_powershell(command)}", words, options, "", windows_bridge
        ),
    )
    work.is_wrapped = True
    work.note(f.Wrapped, source=work.source.id)
