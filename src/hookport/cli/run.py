"""Run hooks on one event and show what they decide.

The event is an agent's payload, whose form is detected. With --agent the event is translated for that agent,
and the output shows what the agent would receive. The exit code is 1 if a hook fails.
"""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import NamedTuple, cast

from hookport.agents import get_wire
from hookport.cli import options, report
from hookport.cli.events import NamedEvent, collect_findings, read_named_event
from hookport.cli.output import (
    AnswerDocument,
    DecisionDocument,
    EventDocument,
    FindingDocument,
    RunDocument,
    describe_finding,
)
from hookport.console.document import print_document
from hookport.console.terminal import Paint, make_plain
from hookport.findings import Finding
from hookport.model.runs import Answer, Decision
from hookport.project import plan_builder
from hookport.project.discovery import load
from hookport.project.settings import load_settings
from hookport.runtime import engine, policy
from hookport.runtime.answer import build_answer
from hookport.runtime.engine import DispatchReport, HookRun
from hookport.runtime.records import describe_decision, make_run_record

EXAMPLES = {
    "hookport run .claude/settings.json --payload event.json": "Run the hooks on a payload in a file",
    "hookport run . --payload - --agent {other} < event.json": "Show what another agent would receive",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport run`."""
    parser.add_argument("source", metavar="PATH", help="File or folder with hooks")
    options.add_from(parser)
    parser.add_argument(
        "--payload",
        metavar="FILE",
        required=True,
        help="Payload of an event as an agent sends it; - for stdin",
    )
    parser.add_argument(
        "--agent", metavar="AGENT", help="Agent that fires the event; detected from the payload if left out"
    )
    add_event_name(parser)
    options.add_json(parser)


def add_event_name(parser: ArgumentParser) -> None:
    """Add `--event`, for payloads that do not have the name."""
    parser.add_argument(
        "--event",
        metavar="EVENT",
        help="Native name of the event, for a payload that does not have it",
    )


class Document(NamedTuple):
    """The event, what all hooks decided, each run, and what the agent receives: null without --agent."""

    event: EventDocument
    decision: DecisionDocument
    runs: tuple[RunDocument, ...]
    findings: tuple[FindingDocument, ...]
    answer: AnswerDocument | None


def run(args: Namespace) -> int:
    """Run the hooks; exit code 1 if one of them failed."""
    named_event = read_named_event(args.payload, args.agent, args.event)
    env = dict(os.environ)
    discovery = load(args.source, args.dialect, env)
    hooks = sorted(
        (plan_builder.plan_entry(hook) for hook in plan_builder.list_runnable(discovery)),
        key=lambda hook: -hook.priority,
    )
    event = named_event.event.replace(
        root=named_event.event.root or discovery.root, cwd=named_event.event.cwd or str(Path.cwd())
    )
    if not Path(event.cwd).is_dir():
        # A payload from elsewhere: the hooks run where they are.
        event = event.replace(cwd=discovery.root, root=discovery.root)
    on_failure = policy.find_failure_policy(load_settings(discovery.root, env), env)
    setting = engine.RunSetting(named_event.wire, get_wire, env, on_failure, natively=True)
    begun = time.monotonic()
    done = engine.run_hooks(event, hooks, setting)
    seconds = time.monotonic() - begun
    outcome = build_answer(event, done, named_event.wire)
    findings = [
        *discovery.findings,
        *plan_builder.find_left_out(discovery),
        *collect_findings(done, outcome.notes),
    ]
    if args.json:
        answer = outcome.answer if args.agent else None
        print_document(make_document(named_event, done, answer, findings))
    else:
        _print_report(named_event, done, seconds, outcome.answer if args.agent else None, findings)
    return (
        1
        if any(hook_run.answered.failure for hook_run in done.runs)
        else report.compute_exit_code(discovery.findings, strict=False)
    )


def make_document(
    named_event: NamedEvent, done: DispatchReport, answer: Answer | None, findings: list[Finding]
) -> Document:
    """Make the document of `--json`."""
    return Document(
        named_event.describe(done.event),
        cast("DecisionDocument", describe_decision(done.decision)),
        tuple(cast("RunDocument", make_run_record(hook_run)) for hook_run in done.runs),
        tuple(map(describe_finding, findings)),
        cast("AnswerDocument", answer.as_dict()) if answer else None,
    )


def _print_report(
    named_event: NamedEvent,
    done: DispatchReport,
    seconds: float,
    answer: Answer | None,
    findings: list[Finding],
) -> None:
    paint = Paint(sys.stdout)
    sys.stdout.write(f"{paint.fold(paint(named_event.title(), 'bold'), 2)}\n")
    for hook_run in done.runs:
        sys.stdout.write(f"{paint.fold(f'  {_format_run(hook_run, paint)}', 4)}\n")
    if not done.runs:
        sys.stdout.write("  no hook matches this event\n")
    verdict = format_verdict(done.decision, paint)
    sys.stdout.write(paint.fold(f"{verdict}  ({seconds * 1000:.0f} ms)", 2) + "\n")
    if answer is not None:
        sys.stdout.write(f"{named_event.wire.id} receives: exit code {answer.exit_code}\n")
        for name in ("stdout", "stderr"):
            for line in getattr(answer, name).splitlines():
                sys.stdout.write(f"{paint.fold(f'  {name}: {make_plain(line)}', 4)}\n")
    if findings:
        sys.stderr.write(report.format_findings(findings, Paint(sys.stderr), {}))


STYLES = {"deny": "error", "ask": "loss", "allow": "kept", "none": "note"}


def _format_run(run: HookRun, paint: Paint) -> str:
    if not run.matched:
        return f"{paint('not run', 'note')}  {make_plain(run.hook.name)}: {make_plain(run.why)}"
    if run.hook.is_async:
        return f"started  {make_plain(run.hook.name)}: it runs in the background"
    took = f"({run.seconds * 1000:.0f} ms)"
    if run.answered.failure:
        failure = make_plain(run.answered.failure)
        return f"{paint('failed', 'error')}  {make_plain(run.hook.name)}: {failure}  {took}"
    verdict_text = paint(name_verdict(run.decision), STYLES[run.decision.verdict])
    return f"{verdict_text}  {make_plain(run.hook.name)}: {format_detail(run.decision)}  {took}"


def name_verdict(decision: Decision) -> str:
    """Name the verdict in one word for a person."""
    return "no opinion" if decision.verdict == "none" else decision.verdict


def format_detail(decision: Decision) -> str:
    """Format the rest of a decision in one line."""
    parts = [decision.reason.splitlines()[0]] if decision.reason else []
    if decision.updated_input is not None:
        parts.append(f"rewrites the input to {json.dumps(decision.updated_input, ensure_ascii=False)}")
    if decision.context:
        parts.append(f"adds context: {decision.context.splitlines()[0]}")
    if not decision.carry_on:
        parts.append("ends the agent's loop")
    if decision.system_message:
        parts.append(decision.system_message.splitlines()[0])
    return make_plain("; ".join(parts)) or "nothing more"


def format_verdict(decision: Decision, paint: Paint) -> str:
    """Format the decision of all hooks."""
    text = paint(name_verdict(decision), STYLES[decision.verdict])
    return f"{text}: {format_detail(decision)}" if decision != Decision() else text
