"""Context for the model: whether a hook may add some, and whether an agent passes it on."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hookport.agents import Dialect, EventSpec, get_wire
from hookport.convert.degrade.capabilities import denies
from hookport.model.hooks import NOTHING, Hook
from hookport.model.runs import Decision, Event
from hookport.shapes.entries import find_slots
from hookport.wire.answers import write_answer
from hookport.wire.table import Wire, find_table

# Events on which a hook usually adds context.
CONTEXT_EVENTS = ("session_start", "before_prompt")


def may_add_context(hook: Hook, texts: Iterable[str]) -> bool:
    """Whether a hook may add context for the model; `texts` are its command and its scripts.

    It does if it names the field for that. Any script may print plain text, so every hook may at a session's
    start and on a prompt, except a guard that shows nothing but its deny.
    """
    if hook.handler.is_async or hook.handler.type in ("prompt", "agent"):
        return False
    agent_wire = get_wire(hook.dialect)
    natives = [native for _, native in agent_wire.natives.get(hook.event, ())] or [hook.event]
    tables = [find_table(agent_wire.reads, native, hook.event) for native in natives]
    places = {place.rpartition(".")[2] for table in tables for place in table.get("context") or ()}
    if not places and not any(table.get("text") == "context" for table in tables):
        return False
    text = "\n".join(texts)
    if any(re.search(rf"""(?<!\w){place}\\?["']?\s*[:=(]""", text) for place in places):
        return True
    return hook.event in CONTEXT_EVENTS and not (hook.blocking and denies(text))


def explain_unread_context(target: Dialect, hook: Hook) -> str:
    """Explain why an agent drops a hook's context on its event; empty if it does not, or lacks the event."""
    specs = [spec for spec, _ in find_slots(target, hook._replace(provider_data=NOTHING))]
    return next(filter(None, (_explain_unread(target, spec, hook.event) for spec in specs)), "")


def _explain_unread(target: Dialect, spec: EventSpec, event: str) -> str:
    agent_wire = get_wire(target.id)
    products = (agent_wire.answers, *agent_wire.answers_of.values())
    takes = [
        _takes_context(agent_wire.replace(answers=answers, answers_of={}), spec, event)
        for answers in products
    ]
    if spec.hears == "nothing" or not any(takes):
        return f"{target.title} takes no context on {spec.native}"
    if spec.hears == "late":
        return f"{target.title} asks the model again without waiting for hooks on {spec.native}"
    if not all(takes):
        return f"only one of its products takes context on {spec.native}"
    return f"{spec.native} does not fire {spec.unfired}" if spec.unfired and event in CONTEXT_EVENTS else ""


def _takes_context(agent_wire: Wire, spec: EventSpec, event: str) -> bool:
    """Whether an agent's answer has a field for context."""
    _, lost = write_answer(agent_wire, Event(event, agent_wire.id, spec.native), Decision(context="context"))
    return not lost
