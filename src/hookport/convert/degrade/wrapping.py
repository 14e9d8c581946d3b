"""Commands that run through `hookport wrap`, so that a script gets the payload it was written for."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from hookport.agents import Dialect, get, get_wire
from hookport.model.hooks import HANDLER_TYPES, NOTHING, Handler, Hook, Term
from hookport.runtime import select
from hookport.shapes.dialect import SECOND, get_dialect_data
from hookport.shapes.entries import find_slots
from hookport.wire.table import Wire, find_table

PROGRAM = "hookport"
MISSING = f"{PROGRAM} is not installed, so this guard cannot run"
# The test for the agent that may precede an entry, if several agents read its file.
_TEST = r"""\[ -[nz] "[${}\w-]+" \]"""
# It ends if a file with our entries of that agent mentions us, too.
_COVERED = rf""" \|\| ! grep -qs {PROGRAM}(?: "[^"\n]*")+"""
AGENT_TESTS = rf"""(?P<tests>{_TEST}(?: (?:&&|\|\|) {_TEST})*)(?:{_COVERED})? \|\| exit 0; """
_WRAPPED = re.compile(
    rf"""(?:{AGENT_TESTS})?"""
    r"""(?:[^\n{};]* \|\| \{ .*?; exit \d+; \}; )?"""
    rf"""(?:{PROGRAM}|[^\n;|&]*bridge\.pyz?["']?) wrap (?P<dialect>[\w-]+) [\w-]+ (?:'[^']*'|[^ ]+)"""
    r"""(?P<options>.*) -- (?P<command>'.*')""",
    re.DOTALL,
)


class BridgeCall(NamedTuple):
    """How a command starts the bridge: shell words, a test that it exists, and words for PowerShell.

    `entry` is the name of an installed entry; a converted file has none.
    """

    call: str = PROGRAM
    there: str = f"command -v {PROGRAM} >/dev/null 2>&1"
    windows: str = PROGRAM
    entry: str = ""


ON_PATH = BridgeCall()


def agree(source: Dialect, target: Dialect, event: str) -> bool:
    """Whether a script's payload and answer are the same in both dialects."""
    return _agree(source.id, target.id, event)


@cache
def _agree(source: str, target: str, event: str) -> bool:
    source_wire, target_wire = get_wire(source), get_wire(target)
    return (
        (source_wire.keys, source_wire.inputs, source_wire.said, source_wire.names)
        == (target_wire.keys, target_wire.inputs, target_wire.said, target_wire.names)
        and _list_tables(source_wire, event) == _list_tables(target_wire, event)
        and set(source_wire.env) <= set(target_wire.env)
    )


def _list_tables(agent_wire: Wire, event: str) -> object:
    natives = [native for _, native in agent_wire.natives.get(event, ())] or [event]
    return [find_table(agent_wire.reads, native, event) for native in natives]


def wrap_command(
    command: str, words: tuple[str, str, str], options: list[str], missing: str, bridge: BridgeCall = ON_PATH
) -> str:
    """The command behind the bridge; `missing` runs if the bridge is missing, or nothing if empty.

    Variables that the bridge sets are spelled in braces with a default, so that only the shell expands them
    (GM5), and an agent that does not know them still runs the command.
    """
    is_prompt = any(option.startswith("--type=") for option in options)
    for name in () if is_prompt else get_wire(words[0]).env:
        command = re.sub(rf"\$(?:{name}\b|\{{{name}\}})", f"${{{name}-}}", command)
    inner = _split_names(quote_literal(command)) if is_prompt else quote_literal(command)
    call = " ".join([bridge.call, "wrap", *words, *options, "--", inner])
    return f"{bridge.there} || {{ {missing}; }}; {call}" if missing else call


def unwrap_hook(hook: Hook) -> Hook:
    """The hook behind an entry that runs through the bridge; any other hook unchanged."""
    match = _WRAPPED.fullmatch(hook.handler.command)
    if not match or hook.handler.platform != NOTHING:
        return hook
    words, options = _split(match["command"]), _split(match["options"])
    if len(words) != 1 or any(not option.startswith("--") for option in options):
        return hook
    option_values = dict(option.removeprefix("--").partition("=")[::2] for option in options)
    source = get(match["dialect"])
    # If every failure of an entry blocks, `on_failure` is not the inner hook's own.
    always = hook.blocking and all(spec.exits == "any" for spec, _ in find_slots(get(hook.dialect), hook))
    on_failure = "" if always else hook.handler.on_failure
    inner = hook._replace(
        dialect=source.id,
        handler=_make_inner_handler(hook.handler, words[0], option_values, on_failure),
        matcher=_parse_terms(option_values["matcher"]) if "matcher" in option_values else hook.matcher,
        content=option_values.get("pattern", hook.content),
        condition=option_values.get("if", hook.condition),
        blocking=hook.blocking and not {"observe", "async"} & option_values.keys(),
    )
    event = option_values.get("for", "")
    if not event or [spec.native for spec, _ in find_slots(source, inner)] == [event]:
        return inner
    source_data = {**get_dialect_data(hook, source.id), "event": event}
    return inner._replace(provider_data={**hook.provider_data, source.id: source_data})


def spell_matcher_option(matcher: Sequence[Term]) -> str:
    """Format a matcher for `hookport wrap`: its terms in JSON."""
    return json.dumps([list(term) for term in matcher], ensure_ascii=False, separators=(",", ":"))


def _parse_terms(text: str) -> tuple[Term, ...]:
    """Read such a matcher; an invalid one matches everything."""
    return tuple(Term(kind, value, tool) for kind, value, tool in select.parse_terms(text))  # type: ignore[arg-type]


@lru_cache(4096)
def _split(text: str) -> tuple[str, ...]:
    """The words of a command; cached, because every question about an entry parses it."""
    return tuple(shlex.split(text))


def _make_inner_handler(
    handler: Handler, command: str, options: Mapping[str, str], on_failure: str
) -> Handler:
    """The handler that the bridge runs with these options; `on_failure` comes from its entry."""
    timeout, late = handler.timeout, options.get("on-timeout", "")
    if timeout is None and "within" in options:
        timeout = float(options["within"]) * SECOND
    type_ = next(
        (handler_type for handler_type in HANDLER_TYPES if handler_type == options.get("type")), handler.type
    )
    return handler._replace(
        type=type_,
        command=command if type_ == "command" else "",
        prompt=command if type_ != "command" else "",
        model=options.get("model", handler.model),
        timeout=timeout,
        is_async=handler.is_async or "async" in options,
        on_failure="block" if options.get("on-failure") == "closed" else on_failure,
        timeout_action={"closed": "block", "open": "warn"}.get(late, handler.timeout_action),
    )


def _split_names(word: str) -> str:
    """Quote a word without naming a variable: some agents drop a command that names an unset variable."""
    return re.sub(r"\$(?=\w)", r"'\\$'", word)


def quote_literal(text: str) -> str:
    """Quote a text as one shell word without expansions."""
    return "'" + text.replace("'", "'\\''") + "'"
