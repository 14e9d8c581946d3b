"""The journal's record of an event and of each of its hooks."""

from __future__ import annotations

from hookport.model.json_text import dumps
from hookport.model.runs import Decision
from hookport.runtime import journal, trust
from hookport.runtime.engine import HookRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookport.base.tree import Tree
    from hookport.model.runs import Event, RunResult
    from hookport.runtime.answer import DispatchResult
    from hookport.runtime.engine import RunSetting
    from hookport.runtime.plan import PlannedHook


STDERR_TAIL = 500
# The journal's fields of every event.
HEADING = ("agent", "event", "native", "session", "cwd", "root")


def make_record(event: Event, result: DispatchResult, seconds: float) -> dict[str, Tree]:
    """Make the journal's record of an event."""
    report, call = result.report, event.call
    about = (
        {"tool": call.tool or call.mcp_tool, "native_tool": call.native, "input": call.input} if call else {}
    )
    return {
        **{name: getattr(event, name) for name in HEADING},
        **about,
        "decision": describe_decision(report.decision),
        "hooks": [make_run_record(run) for run in report.runs],
        "seconds": round(seconds, 4),
        "notes": list(result.notes),
        "answer": {"exit_code": result.answer.exit_code},
    }


def hash_input(event: Event, payload: bytes) -> str:
    """Hash the event's subject, so that an auditor recognises it where the text is redacted.

    That is the tool's input as the agent sent it (JSON, sorted keys, no blanks), the prompt, or the payload.
    """
    try:
        raw = event.call.raw if event.call is not None else None
        text = dumps(raw, sort_keys=True, ensure_ascii=False, separators=(",", ":")) if raw else event.prompt
        data = text.encode("utf-8", "surrogatepass")
    except (ValueError, TypeError, RecursionError):
        data = b""
    return trust.sha256(data or payload)


def make_run_record(run: HookRun) -> dict[str, Tree]:
    """Make the record of one hook's run for the journal and `--json`."""
    record: dict[str, Tree] = {"hook": run.hook.name, "source": run.hook.file, "place": run.hook.place}
    record |= {"matched": run.matched, "why": run.why}
    if not run.matched:
        return record
    record |= {"decision": describe_decision(run.decision), "seconds": round(run.seconds, 4)}
    if run.hook.is_async:
        record["async"] = True
    if run.answered.failure:
        record["failure"] = run.answered.failure
    if run.result is not None:
        record |= {"outcome": run.result.outcome, "exit": run.result.exit_code}
        record["stderr"] = run.result.stderr[-STDERR_TAIL:]
    return record


def describe_decision(decision: Decision) -> dict[str, Tree]:
    """Describe a decision by the fields that are set."""
    fields = decision.as_dict()
    return {
        "verdict": decision.verdict,
        **{
            key: value
            for key, value in fields.items()
            if value != getattr(Decision, key) and key != "verdict"
        },
    }


def write_late_record(event: Event, hook: PlannedHook, result: RunResult, setting: RunSetting) -> None:
    """Write the journal's record of an async hook, after it ends."""
    from hookport.runtime.handlers import read_answer

    answered = read_answer(hook, setting.wires(hook.dialect), event, result)
    run = HookRun(
        hook,
        matched=True,
        why="it ran beside the agent",
        answered=answered,
        result=result,
        seconds=result.seconds,
    )
    record = {
        **{name: getattr(event, name) for name in HEADING},
        "decision": describe_decision(Decision()),
        "hooks": [make_run_record(run)],
        "seconds": round(result.seconds, 4),
        "notes": ["async: over"],
    }
    journal.write(record, setting.env)
