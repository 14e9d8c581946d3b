"""Commands run through `hookport wrap`, so that a script hears and says what it was written for."""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import NamedTuple

from hookport.dialects import Dialect, get
from hookport.dialects._base import dialect_data
from hookport.dialects._entries import slots
from hookport.dialects._wiring import wire
from hookport.model.hooks import NOTHING, Hook
from hookport.wires.table import Wire, table_of

PROGRAM = "hookport"
MISSING = f"{PROGRAM} is not installed, so this guard cannot run"
_WRAPPED = re.compile(
    r"""(?:\[ -[nz] "[${}\w-]+" \](?: && \[ -[nz] "[${}\w-]+" \])* \|\| exit 0; )?"""
    r"""(?:[^\n{};]* \|\| \{ .*?; exit \d+; \}; )?"""
    rf"""(?:{PROGRAM}|[^\n;|&]*bridge\.pyz?["']?) wrap (?P<dialect>[\w-]+) [\w-]+ (?:'[^']*'|[^ ]+)"""
    r"""(?: --for=(?P<event>'[^']*'|[^ ]+)| --[\w-]+(?:=[^ ]*)?)* -- (?P<command>'.*')""",
    re.DOTALL,
)


class Bridge(NamedTuple):
    """How a command starts the bridge: words of the shell, a test that it is there, and for PowerShell.

    `entry` is what an installed entry calls itself; a converted file has none.
    """

    call: str = PROGRAM
    there: str = f"command -v {PROGRAM} >/dev/null 2>&1"
    windows: str = PROGRAM
    entry: str = ""


ON_PATH = Bridge()


def agree(source: Dialect, target: Dialect, event: str) -> bool:
    """Whether a script of one dialect hears and says the same in the other."""
    return _agree(source.id, target.id, event)


@cache
def _agree(source: str, target: str, event: str) -> bool:
    one, other = wire(source), wire(target)
    return (
        (one.keys, one.inputs, one.said, one.names) == (other.keys, other.inputs, other.said, other.names)
        and _read(one, event) == _read(other, event)
        and set(one.env) <= set(other.env)
    )


def _read(own: Wire, event: str) -> object:
    natives = [native for _, native in own.natives.get(event, ())] or [event]
    return [table_of(own.reads, native, event) for native in natives]


def wrapped(
    command: str, words: tuple[str, str, str], options: list[str], missing: str, bridge: Bridge = ON_PATH
) -> str:
    """The command behind the bridge; `missing` is what runs where there is none, empty for nothing.

    Variables that the bridge sets are spelled in braces with a default, so that only the shell fills them in
    (GM5) and an agent that knows nothing of them runs the command all the same.
    """
    for name in wire(words[0]).env:
        command = re.sub(rf"\$(?:{name}\b|\{{{name}\}})", f"${{{name}-}}", command)
    call = " ".join([bridge.call, "wrap", *words, *options, "--", _word(command)])
    return f"{bridge.there} || {{ {missing}; }}; {call}" if missing else call


def unwrapped(hook: Hook) -> Hook:
    """A hook whose command is behind the bridge already, as the hook that is there."""
    found = _WRAPPED.fullmatch(hook.handler.command)
    if not found or hook.handler.platform != NOTHING:
        return hook
    words = shlex.split(found["command"])
    if len(words) != 1:
        return hook
    source = get(found["dialect"])
    inner = hook._replace(dialect=source.id, handler=hook.handler._replace(command=words[0]))
    event = shlex.split(found["event"])[0] if found["event"] else ""
    if not event or [spec.native for spec, _ in slots(source, inner)] == [event]:
        return inner
    own = {**dialect_data(hook, source.id), "event": event}
    return inner._replace(provider_data={**hook.provider_data, source.id: own})


def _word(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
