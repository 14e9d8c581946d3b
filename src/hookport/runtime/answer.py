"""The answer to an event in the agent's own terms, and how it is printed."""

from __future__ import annotations

import os

from hookport.model.runs import BLOCK, Answer
from hookport.model.value import Value
from hookport.wire.answers import reaches, write_answer
from hookport.wire.texts import MOST_REASON, fit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookport.model.runs import Event
    from hookport.runtime.engine import DispatchReport
    from hookport.wire.table import Wire

# The exit code of an answer that could not be written.
UNWRITTEN = 2


class DispatchResult(Value):
    """The outcome of one event: the answer for the agent and the report behind it."""

    answer: Answer
    report: DispatchReport
    notes: tuple[str, ...] = ()


def build_answer(event: Event, report: DispatchReport, agent: Wire) -> DispatchResult:
    """Translate a report into the agent's answer."""
    if event.native not in agent.events:
        # No table covers this event. Most agents treat exit code 2 as a deny and show stderr.
        denies = report.decision.verdict == "deny"
        text = report.decision.reason if denies else report.decision.system_message
        text = fit(text, MOST_REASON)
        bare_answer = Answer(stderr=f"{text}\n" if text else "", exit_code=BLOCK if denies else 0)
        return DispatchResult(bare_answer, report, report.notes)
    # The whole input; the table of an agent that merges inputs sends only what changed.
    is_changed = report.decision.updated_input is not None and report.event.call is not None
    changed = report.event.call.raw if is_changed and report.event.call else None
    answer, lost = write_answer(agent, event, report.decision, changed=changed)
    is_taken = not any(loss.startswith("message: ") for loss in lost)
    if report.decision.system_message and is_taken and not reaches(agent, event, "message"):
        lost = [*lost, f"message: no person sees it on {event.native}"]
    return DispatchResult(answer, report, (*report.notes, *(f"unsaid: {loss}" for loss in lost)))


def show_denial_reason(event: Event, report: DispatchReport, agent: Wire) -> DispatchReport:
    """Add the reason of a deny as a message, where a person sees only messages."""
    decision = report.decision
    is_hidden = decision.verdict == "deny" and not decision.system_message
    if not is_hidden or reaches(agent, event, "deny") or not reaches(agent, event, "message"):
        return report
    return report.replace(decision=decision.replace(system_message=decision.reason))


def print_answer(answer: Answer) -> int:
    """Print the whole answer and return the exit code; a reader that has gone away is no failure.

    An answer that cannot be written is stricter: nearly every agent treats exit code 2 as a deny.
    """
    problem = _write_text(1, answer.stdout)
    if problem:
        _write_text(
            2, f"{answer.stderr}hookport could not write its answer ({problem}), so this is denied.\n"
        )
        return answer.exit_code or UNWRITTEN
    _write_text(2, answer.stderr)
    return answer.exit_code


def _write_text(number: int, text: str) -> str:
    """Write to a descriptor; return why that failed, if anybody may still read it."""
    left = text.encode("utf-8", "backslashreplace")
    try:
        while left:
            left = left[os.write(number, left) :]
    except BrokenPipeError:
        return ""
    except OSError as error:
        return error.strerror or "it cannot be written"
    return ""
