"""One event through all functions that are for it: each sees the input as rewritten, all decide together.

The rules are those of the runtime: what a patch or a batch does is shown to a function one by one.
"""

from __future__ import annotations

import os

from hookport.model._value import Value
from hookport.model.runs import BLOCK, Decision
from hookport.runtime import merge, policy
from hookport.runtime.select import match
from hookport.sdk.events import Event
from hookport.wire.events import edited_input, rewritten, with_part
from hookport.wire.table import Wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from hookport.model.runs import Call
    from hookport.model.runs import Event as Happened
    from hookport.sdk.hooks import Bound, Function

LONGEST_ERROR = 300
DEBUG = "HOOKPORT_DEBUG"
ANSWERS = "allow(), deny(…), ask(…), context(…), rewrite(…) or nothing"
# A function's own names are those of the vocabulary.
PLAIN = Wire()


class UnansweredError(Exception):
    """A function that gave no answer to trust, in one line."""


class Origin(Value):
    """Where an event comes from: the payload as it came, and the agent that fired it."""

    raw: Mapping[str, Any]
    agent: str


class Outcome:
    """What all functions decided, the event with its input as rewritten, and what went wrong.

    `failures` are (function's hook, failure); what they mean is not decided yet.
    """

    __slots__ = ("decisions", "event", "failures")

    def __init__(self, event: Happened) -> None:
        self.event = event
        self.decisions: list[Decision] = []
        self.failures: list[tuple[Bound, str]] = []

    def judged(self, on_failure: str = "", default: str = policy.OPEN) -> list[Decision]:
        """What policy makes of each failure."""
        return [
            policy.decided(Decision(failure=failure), one.hook.replace(on_failure=on_failure), default)
            for one, failure in self.failures
        ]

    def merged(self, judged: Iterable[Decision] = ()) -> Decision:
        """The decision of all."""
        return merge.merged([*self.decisions, *judged])


def decide(
    event: Happened, hooks: Iterable[Bound], agent: Wire, origin: Origin, *, catches: bool = True
) -> Outcome:
    """Ask every function that is for the event, in order; without `catches`, what one raises is raised."""
    found = Outcome(event)
    for one in hooks:
        for number in _targets(one, found.event):
            call = found.event.call
            part = call.parts[number] if call is not None and number >= 0 else call
            shown = Event(found.event.replace(call=part), origin.raw, origin.agent)
            try:
                answer = _asked(one.function, shown)
            except Exception as error:
                if not catches:
                    raise
                if os.environ.get(DEBUG):
                    import traceback

                    traceback.print_exception(error)
                found.failures.append((one, told(error, one)))
                continue
            if answer.updated_input is not None:
                if call is None or part is None:
                    failure = f"it rewrites the input of a tool, and {event.event} has none here"
                    found.failures.append((one, failure))
                    found.decisions.append(answer.replace(updated_input=None))
                    continue
                found.event, answer = _rewritten(agent, found.event, number, part, answer)
            found.decisions.append(answer)
            if answer.verdict == "deny":
                break
    return found


def _rewritten(
    agent: Wire, event: Happened, number: int, part: Call, answer: Decision
) -> tuple[Happened, Decision]:
    """The event with the input that an answer wants, and the answer with that input whole."""
    changed = edited_input(part, answer.updated_input or {})
    if changed is None:
        reason = "a hook wants other input, which is not one call of this tool"
        return event, answer.replace(verdict="deny", reason=reason, updated_input=None)
    if changed == part.input or event.call is None:
        return event, answer.replace(updated_input=None)
    new = (
        with_part(agent, event.call, number, changed)
        if number >= 0
        else rewritten(agent, event.call, changed)
    )
    return event.replace(call=new), answer.replace(updated_input=new.input)


def _targets(one: Bound, event: Happened) -> list[int]:
    """The numbers of what a call does that a function is for; -1 is the event as a whole."""
    call = event.call
    calls = list(enumerate(call.parts)) if call is not None and call.parts else [(-1, call)]
    return [number for number, part in calls if match(one.hook, event, part, PLAIN).matches]


def _asked(function: Function, event: Event) -> Decision:
    try:
        answer = function(event)
        if answer is None or isinstance(answer, Decision):
            return answer or Decision()
        is_list = hasattr(answer, "__iter__") and not isinstance(answer, (str, dict))
        answers: list[object] = list(answer) if is_list else [answer]
    except SystemExit as left:
        if left.code == BLOCK:  # what a script says that denies
            return Decision("deny", "a hook left with exit code 2")
        raise UnansweredError(f"it called exit({left.code!r}). Return {ANSWERS} instead") from left
    decisions = [one for one in answers if isinstance(one, Decision)]
    for one in answers:
        if not isinstance(one, Decision):
            close = getattr(one, "close", None)
            if close:  # a coroutine that nobody awaits
                close()
            what = f"the {type(one).__name__} {getattr(one, '__name__', '')}".rstrip()
            raise UnansweredError(f"it returned {what}. Return {ANSWERS}")
    return _one(decisions)


def _one(answers: list[Decision]) -> Decision:
    """Several answers of one function, which all speak of the same input."""
    changes = [one.updated_input for one in answers if one.updated_input is not None]
    merged = merge.merged(answers)
    return (
        merged.replace(updated_input={key: one[key] for one in changes for key in one}) if changes else merged
    )


def told(error: BaseException, one: Bound | None = None) -> str:
    """What was raised and where, in one line."""
    file = one.hook.file if one else ""
    place, trace = "", error.__traceback__
    while trace is not None:
        here = trace.tb_frame.f_code.co_filename
        if not file or here == file or not place:
            place = f"{os.path.basename(here)}:{trace.tb_lineno}"
        trace = trace.tb_next
    said = " ".join(str(error).split())
    if len(said) > LONGEST_ERROR:
        said = said[: LONGEST_ERROR - 1] + "…"
    if isinstance(error, UnansweredError):
        code = getattr(one.function, "__code__", None) if one else None
        return f"{said} ({os.path.basename(file)}:{code.co_firstlineno})" if code else said
    name = type(error).__name__
    return f"{name}: {said} ({place})" if said else f"{name} ({place})"
