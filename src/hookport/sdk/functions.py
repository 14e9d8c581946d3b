"""Hooks that are Python functions: the engine runs each as the handler of a planned hook.

A function receives the parts of a patch or a batch one by one. The caller decides what a failure means.
"""

from __future__ import annotations

import os

from hookport.model.runs import BLOCK, Decision
from hookport.model.value import Value
from hookport.runtime import engine, merge, policy
from hookport.sdk.events import Event
from hookport.wire.rewrites import edit_input
from hookport.wire.table import Wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from hookport.model.runs import Event as CanonicalEvent
    from hookport.sdk.hooks import Bound, Function

LONGEST_ERROR = 300
DEBUG = "HOOKPORT_DEBUG"
ANSWERS = "allow(), deny(…), ask(…), context(…), rewrite(…) or nothing"
# A function uses the canonical names.
PLAIN = Wire()


class UnansweredError(Exception):
    """A function without a valid answer, in one line."""


class EventOrigin(Value):
    """The origin of an event: the unchanged payload, and the agent that fired it."""

    raw: Mapping[str, Any]
    agent: str


def run_functions(
    event: CanonicalEvent,
    functions: Iterable[Bound],
    agent: Wire,
    origin: EventOrigin,
    *,
    catches: bool = True,
) -> engine.DispatchReport:
    """Run every function for the event, in order; without `catches`, an exception is raised.

    The report contains failures unchanged: `judge_failures` turns them into decisions.
    """
    raised: list[Exception] = []
    hooks, handlers = [], {}
    for number, bound in enumerate(functions):
        # In turn: each sees the input as the one before rewrote it.
        hooks.append(bound.hook.replace(id=str(number), rewrites=True))
        handlers[str(number)] = _make_handler(bound, origin, agent, raised, catches=catches)
    setting = engine.RunSetting(agent, lambda _name: PLAIN, {}, policy.LATER, functions=handlers)
    report = engine.run_hooks(event, hooks, setting)
    if raised and not catches:
        raise raised[0]
    return report


def judge_failures(
    report: engine.DispatchReport, on_failure: str = "", default: str = policy.OPEN
) -> list[Decision]:
    """Turn each failure into a decision by policy."""
    return [
        policy.decide(run.answered, run.hook.replace(on_failure=on_failure), default)
        for run in report.runs
        if run.answered.failure
    ]


def _make_handler(
    bound: Bound, origin: EventOrigin, wire: Wire, raised: list[Exception], *, catches: bool
) -> Callable[[CanonicalEvent], list[Decision]]:
    """Make the engine's handler for a function; without `catches`, no function runs after one that raised."""

    def handler(event: CanonicalEvent) -> list[Decision]:
        if raised and not catches:
            return []
        try:
            answer = _ask_function(bound.function, Event(event, origin.raw, origin.agent, wire))
        except Exception as error:  # noqa: BLE001  (whatever a function raises is a failure of its own)
            if catches and os.environ.get(DEBUG):
                import traceback

                traceback.print_exception(error)
            raised.append(error)
            return [Decision(failure=describe_error(error, bound))]
        return _complete_input(answer, event)

    return handler


def _complete_input(answer: Decision, event: CanonicalEvent) -> list[Decision]:
    """Complete the rewritten input of an answer; a rewrite without a call is also a failure."""
    changes, call = answer.updated_input, event.call
    if changes is None:
        return [answer]
    answer = answer.replace(updated_input=None)
    if call is None:
        return [answer, Decision(failure=f"it rewrites a tool's input, but {event.event} has none here")]
    edited = edit_input(call, changes)
    if edited is None:
        reason = "a hook's new input is not one call of this tool"
        return [answer.replace(verdict="deny", reason=reason)]
    return [answer if edited == call.input else answer.replace(updated_input=edited)]


def _ask_function(function: Function, event: Event) -> Decision:
    try:
        answer = function(event)
        if answer is None or isinstance(answer, Decision):
            return answer or Decision()
        is_list = hasattr(answer, "__iter__") and not isinstance(answer, (str, dict))
        answers: list[object] = list(answer) if is_list else [answer]
    except SystemExit as exited:
        if exited.code == BLOCK:  # the exit code of a script that denies
            return Decision("deny", "a hook exited with code 2")
        raise UnansweredError(f"it called exit({exited.code!r}). Return {ANSWERS} instead") from exited
    decisions = [part for part in answers if isinstance(part, Decision)]
    for answer_part in answers:
        if not isinstance(answer_part, Decision):
            close = getattr(answer_part, "close", None)
            if close:  # a coroutine that nobody awaits
                close()
            what = f"the {type(answer_part).__name__} {getattr(answer_part, '__name__', '')}".rstrip()
            raise UnansweredError(f"it returned {what}. Return {ANSWERS}")
    return _merge_answers(decisions)


def _merge_answers(answers: list[Decision]) -> Decision:
    """Merge the answers of one function; each rewrites the same input."""
    changes = [answer.updated_input for answer in answers if answer.updated_input is not None]
    merged = merge.merge_decisions(answers)
    return (
        merged.replace(updated_input={key: changed[key] for changed in changes for key in changed})
        if changes
        else merged
    )


def describe_error(error: BaseException, bound: Bound | None = None) -> str:
    """Describe an exception and its place, in one line."""
    file = bound.hook.file if bound else ""
    place, trace = "", error.__traceback__
    while trace is not None:
        file_here = trace.tb_frame.f_code.co_filename
        if not file or file_here == file or not place:
            place = f"{os.path.basename(file_here)}:{trace.tb_lineno}"
        trace = trace.tb_next
    text = " ".join(str(error).split())
    if len(text) > LONGEST_ERROR:
        text = text[: LONGEST_ERROR - 1] + "…"
    if isinstance(error, UnansweredError):
        code = getattr(bound.function, "__code__", None) if bound else None
        return f"{text} ({os.path.basename(file)}:{code.co_firstlineno})" if code else text
    name = type(error).__name__
    return f"{name}: {text} ({place})" if text else f"{name} ({place})"
