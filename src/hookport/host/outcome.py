"""What a host gets back for an event: the decision of all hooks, and what each of them did."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from hookport.model.runs import Decision
from hookport.runtime.engine import DispatchReport, HookRun, is_unapproved
from hookport.runtime.policy import is_guarded_event
from hookport.runtime.sessions import STOPS
from hookport.wire.answers import NO_REASON
from hookport.wire.texts import MOST_CONTEXT, MOST_MESSAGE, MOST_REASON, fit

Verdict = Literal["none", "allow", "ask", "deny"]
Status = Literal["ran", "failed", "skipped", "unapproved", "started"]


@dataclass(frozen=True, slots=True)
class Run:
    """What one hook did on the event, after its failure was judged by policy.

    `status` is `ran`, `failed` (see `failure`), `skipped` (it did not match; see `why`), `unapproved` (the
    user has not approved it) or `started` (it runs beside the agent, and nobody waits for it).
    """

    hook: str
    status: Status
    why: str
    verdict: Verdict = "none"
    reason: str = ""
    failure: str = ""
    exit_code: int | None = None
    stderr: str = ""
    seconds: float = 0.0
    file: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The decision on one event.

    `none` is no opinion: the host decides as it would without hooks. `input` is the tool's input to use, in
    the host's own names, rewritten if a hook asks for it; `result` is the same for a tool's result. `context`
    is for the model, `message` for the person. `carry_on` is false where a hook ends the agent's loop.
    """

    event: str
    verdict: Verdict = "none"
    reason: str = ""
    input: dict[str, Any] = field(default_factory=dict)
    context: str = ""
    message: str = ""
    result: Any = None
    carry_on: bool = True
    suppress_output: bool = False
    runs: tuple[Run, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def unapproved(self) -> tuple[str, ...]:
        """The hooks that would have run if the user had approved them."""
        return tuple(run.hook for run in self.runs if run.status == "unapproved")

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return {
            **_list_fields(self),
            "runs": [_list_fields(run) for run in self.runs],
            "notes": [*self.notes],
        }


def _list_fields(value: Run | Outcome) -> dict[str, Any]:
    return {each.name: getattr(value, each.name) for each in fields(value)}


def make_outcome(
    report: DispatchReport, given: dict[str, Any], result: object, notes: tuple[str, ...] = ()
) -> Outcome:
    """Make the outcome of a report; `given` and `result` are what the host sent."""
    decision, call = report.decision, report.event.call
    is_rewritten = decision.updated_input is not None and call is not None
    replaced = decision.replaced_result
    verdict, reason = _find_verdict(report.event.event, decision), fit(decision.reason, MOST_REASON)
    return Outcome(
        event=report.event.event,
        verdict=verdict,
        reason=reason if verdict != "deny" or reason.strip() else NO_REASON,
        input=call.raw if is_rewritten and call is not None else given,
        context=fit(decision.context, MOST_CONTEXT),
        message=fit(decision.system_message, MOST_MESSAGE),
        result=result if replaced is None else replaced,
        carry_on=decision.carry_on,
        suppress_output=decision.suppress_output,
        runs=tuple(map(_make_run, report.runs)),
        notes=notes,
    )


def _find_verdict(event: str, decision: Decision) -> Verdict:
    """The verdict, so that who looks at nothing else does not go on where a hook ends the agent."""
    if decision.carry_on:
        return decision.verdict
    if event in STOPS:
        return "none"
    return "deny" if is_guarded_event(event) else decision.verdict


def make_failed_outcome(event: str, decision: Decision, given: dict[str, Any], result: object) -> Outcome:
    """Make the outcome of an event that hookport could not handle."""
    return Outcome(
        event=event,
        verdict=decision.verdict,
        reason=decision.reason,
        input=given,
        message=decision.system_message,
        result=result,
        notes=(f"hookport: {decision.reason or decision.system_message}",),
    )


def _make_run(run: HookRun) -> Run:
    return Run(
        hook=run.hook.name,
        status=_find_status(run),
        why=run.why,
        verdict=run.decision.verdict,
        reason=run.decision.reason,
        failure=run.answered.failure,
        exit_code=run.result.exit_code if run.result else None,
        stderr=run.result.stderr if run.result else "",
        seconds=run.seconds,
        file=run.hook.file,
    )


def _find_status(run: HookRun) -> Status:
    if not run.matched:
        return "skipped"
    if is_unapproved(run):
        return "unapproved"
    if run.answered.failure:
        return "failed"
    return "started" if run.hook.is_async else "ran"
