"""What the agent is told of an event, in its own terms, and how that is printed."""

from __future__ import annotations

import os

from hookport.model.runs import BLOCK, Answer
from hookport.model.value import Value
from hookport.wire.answers import reaches, write_answer
from hookport.wire.texts import MOST_REASON, fit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookport.model.runs import Event
    from hookport.runtime.engine import Report
    from hookport.wire.table import Wire

# The exit code of an answer that could not be written.
UNWRITTEN = 2


class Told(Value):
    """What came of one event: the answer for the agent and the report behind it."""

    answer: Answer
    report: Report
    notes: tuple[str, ...] = ()


def told_of(event: Event, report: Report, agent: Wire) -> Told:
    """What the agent is told of a report."""
    if event.native not in agent.events:
        # No table says what is obeyed here; exit code 2 is a deny to most, and stderr is seen by somebody.
        denies = report.decision.verdict == "deny"
        text = report.decision.reason if denies else report.decision.system_message
        text = fit(text, MOST_REASON)
        told = Answer(stderr=f"{text}\n" if text else "", exit_code=BLOCK if denies else 0)
        return Told(told, report, report.notes)
    # The whole input; the table of an agent that merges it takes what changed.
    is_changed = report.decision.updated_input is not None and report.event.call is not None
    changed = report.event.call.raw if is_changed and report.event.call else None
    said, lost = write_answer(agent, event, report.decision, changed=changed)
    is_taken = not any(one.startswith("message: ") for one in lost)
    if report.decision.system_message and is_taken and not reaches(agent, event, "message"):
        lost = [*lost, f"message: no person sees it on {event.native}"]
    return Told(said, report, (*report.notes, *(f"unsaid: {one}" for one in lost)))


def made_visible(event: Event, report: Report, agent: Wire) -> Report:
    """The report with the reason of a deny as a message too, where only a message is seen by the person."""
    decision = report.decision
    is_hidden = decision.verdict == "deny" and not decision.system_message
    if not is_hidden or reaches(agent, event, "deny") or not reaches(agent, event, "message"):
        return report
    return report.replace(decision=decision.replace(system_message=decision.reason))


def tell(said: Answer) -> int:
    """Print the answer, whole, and give the exit code; a reader that went away does not matter.

    An answer that cannot be written is stricter: nearly every agent takes exit code 2 for a deny.
    """
    problem = _print(1, said.stdout)
    if problem:
        _print(2, f"{said.stderr}hookport could not write its answer ({problem}), so this is denied.\n")
        return said.exit_code or UNWRITTEN
    _print(2, said.stderr)
    return said.exit_code


def _print(number: int, text: str) -> str:
    """Write to a descriptor; why that failed, where somebody might still read it."""
    left = text.encode("utf-8", "backslashreplace")
    try:
        while left:
            left = left[os.write(number, left) :]
    except BrokenPipeError:
        return ""
    except OSError as error:
        return error.strerror or "it cannot be written"
    return ""
