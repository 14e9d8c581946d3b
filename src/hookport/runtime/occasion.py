"""The input of one call of hookport, read once: the payload on stdin, the calling agent, and the event."""

from __future__ import annotations

import os
import time

from hookport.model.json_text import loads
from hookport.model.runs import Event
from hookport.model.value import Value
from hookport.wire import recognition
from hookport.wire.events import find_native_name, get_canonical_name, read_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookport.base.tree import Tree
    from hookport.runtime.sources import HookSources
    from hookport.wire.table import Wire


# No agent sends more; a larger payload is a failure.
MOST_BYTES = 32 << 20
# The part of the agent's waiting time that is left for its own overhead and for ending the hook.
LONGEST_WAIT = 30.0  # for a payload, which agents write at once
QUIET_MS = 100.0
MARGIN_SECONDS, MARGIN_SHARE = 1.0, 0.2


class Payload(Value):
    """The bytes of a payload, and its object, or why it has none."""

    data: bytes
    tree: Tree


class Occasion(Value):
    """One call of hookport: its payload, the calling agent, and its event.

    `failure` explains why the payload cannot be read. The event then has only a name.
    """

    payload: bytes
    tree: Mapping[str, Tree]
    agent: Wire
    native: str
    event: Event
    failure: str = ""


def read_occasion(payload: Payload, native: str, sources: HookSources, env: Mapping[str, str]) -> Occasion:
    """Read the event of a payload, from the agent that the entry names or that was recognised."""
    agent, tree = sources.agent, payload.tree
    if isinstance(tree, str):
        # Without a readable payload, a stop may be one of several in a row.
        event = Event(get_canonical_name(agent, native), agent.id, native, stop_active=True)
        return Occasion(payload.data, {}, agent, native, event, tree)
    agent, native = _recognise_caller(sources, tree, native, env)
    return Occasion(payload.data, tree, agent, native, identify_event(agent, tree, native))


def _recognise_caller(
    sources: HookSources, tree: Mapping[str, Tree], native: str, env: Mapping[str, str]
) -> tuple[Wire, str]:
    """Return (wire, native event) of the caller: the agent that the entry names, or the recognised one."""
    agent = sources.agent
    if not sources.callers or not recognition.is_strange(agent, tree, native, env, sources.callers):
        return agent, native
    wires = {name: sources.wires(name) for name in sources.callers}
    return recognition.find_caller(agent, tree, native, env, wires, sources.callers) or (agent, native)


def identify_event(agent: Wire, tree: Mapping[str, Tree], native: str) -> Event:
    """Identify the event; if the agent has none of that name, the payload decides."""
    return read_event(
        agent, tree, native if native in agent.events else find_native_name(agent, tree) or native
    )


def parse_object(payload: bytes) -> Tree:
    """Parse the payload as an object, or return why it is not one."""
    if len(payload) > MOST_BYTES:
        return f"the payload is larger than {MOST_BYTES >> 20} MiB"
    try:
        tree = loads(payload.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        return f"the payload is not JSON: {error}" if payload.strip() else "no payload on stdin"
    return tree if isinstance(tree, dict) else "the payload is not a JSON object"


def read_payload(within: float) -> Payload:
    """Read all of stdin, or of a payload that is too large just enough to notice.

    A caller that keeps stdin open is not waited for: a whole object with nothing after it is complete, and an
    object that is not complete in time is an unreadable payload.
    """
    read = bytearray()
    until = time.monotonic() + limit_wait(min(within or LONGEST_WAIT, LONGEST_WAIT))
    while True:
        if whole := _find_whole_object(read):
            return whole
        part = os.read(0, 1 << 20) if _has_more(until) else b""
        if not part:
            return parse_payload(bytes(read))
        if len(read) <= MOST_BYTES:
            read += part


def parse_payload(data: bytes) -> Payload:
    """Make a payload with its object."""
    return Payload(data, parse_object(data))


def _find_whole_object(read: bytearray) -> Payload | None:
    """Return the payload read so far, if it is an object and nothing follows for now."""
    if os.name == "nt" or not read.endswith((b"}", b"}\n")) or _poll_stdin(QUIET_MS):
        return None
    payload = parse_payload(bytes(read))
    return payload if isinstance(payload.tree, dict) else None


def _has_more(until: float) -> bool:
    """Whether more data, or the end of stdin, arrives in time."""
    return os.name == "nt" or _poll_stdin(max(0.0, until - time.monotonic()) * 1000)


def _poll_stdin(milliseconds: float) -> bool:
    import select

    poll = select.poll()
    poll.register(0, select.POLLIN)
    return bool(poll.poll(milliseconds))


def limit_wait(wait: float) -> float:
    """Limit the agent's waiting time to our share."""
    return wait - min(MARGIN_SECONDS, wait * MARGIN_SHARE)


def find_start_folder() -> str:
    """Find our start folder."""
    try:
        return os.getcwd()
    except FileNotFoundError:  # removed while the agent is in it
        return os.sep
