"""Run hooks on one event and show what they decide.

SOURCE is a file or a folder with hooks of any dialect. The event is a payload of any agent, recognised by
what it says; with --as it is translated for that agent, and what the agent would receive is shown.
"""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookport.agents import get_wire
from hookport.cli import report
from hookport.cli.events import Asked, asked, findings_of
from hookport.console.terminal import Paint, plain, speaks_utf8
from hookport.findings import Finding
from hookport.model.runs import Answer, Decision
from hookport.project import plan_builder
from hookport.project.discovery import load
from hookport.project.settings import load_settings
from hookport.runtime import engine, policy
from hookport.runtime.answer import build_answer
from hookport.runtime.engine import DispatchReport, HookRun
from hookport.runtime.records import describe_decision, make_run_record


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport run`."""
    parser.add_argument("source", metavar="SOURCE", help="a file or folder with hooks")
    add_event(parser)
    parser.add_argument(
        "--from", dest="dialect", metavar="DIALECT", help="the dialect of SOURCE; recognised if left out"
    )
    parser.add_argument(
        "--json", action="store_true", help="print the event, the decision and every run as JSON"
    )


def add_event(parser: ArgumentParser) -> None:
    """The arguments that name an event."""
    parser.add_argument("--event", metavar="FILE", required=True, help="the agent's payload, or - for stdin")
    parser.add_argument("--as", dest="agent", metavar="AGENT", help="the agent that fires the event")
    parser.add_argument(
        "--name", metavar="EVENT", help="the native name of the event, where the payload does not say it"
    )


def run(args: Namespace) -> int:
    """Run the hooks; exit code 1 if one of them failed."""
    it = asked(args.event, args.agent, args.name)
    env = dict(os.environ)
    found = load(args.source, args.dialect, env)
    hooks = sorted(
        (plan_builder.plan_entry(one) for one in plan_builder.list_runnable(found)),
        key=lambda hook: -hook.priority,
    )
    event = it.event.replace(root=it.event.root or found.root, cwd=it.event.cwd or str(Path.cwd()))
    if not Path(event.cwd).is_dir():
        # A payload from elsewhere: the hooks run where they are.
        event = event.replace(cwd=found.root, root=found.root)
    on_failure = policy.find_failure_policy(load_settings(found.root, env), env)
    setting = engine.RunSetting(it.wire, get_wire, env, on_failure, natively=True)
    begun = time.monotonic()
    done = engine.run_hooks(event, hooks, setting)
    seconds = time.monotonic() - begun
    told = build_answer(event, done, it.wire)
    findings = [*found.findings, *plan_builder.find_left_out(found), *findings_of(done, told.notes)]
    if args.json:
        _print_json(it, done, told.answer, findings, as_agent=bool(args.agent))
    else:
        _print(it, done, seconds, told.answer if args.agent else None, findings)
    return 1 if any(one.answered.failure for one in done.runs) else report.worst(found.findings, strict=False)


def _print_json(
    it: Asked, done: DispatchReport, answer: Answer, findings: list[Finding], *, as_agent: bool
) -> None:
    tree: dict[str, object] = {
        "event": it.as_json(done.event),
        "decision": describe_decision(done.decision),
        "runs": [make_run_record(one) for one in done.runs],
        "findings": [report.as_placed_json(one) for one in findings],
    }
    if as_agent:
        tree["answer"] = answer.as_dict()
    # JSON is UTF-8 (RFC 8259, 8.1); where stdout is not, ASCII is what every reader takes for it.
    is_ascii = not speaks_utf8(sys.stdout)
    sys.stdout.write(json.dumps(tree, indent=2, ensure_ascii=is_ascii, default=str) + "\n")


def _print(
    it: Asked, done: DispatchReport, seconds: float, answer: Answer | None, findings: list[Finding]
) -> None:
    paint = Paint(sys.stdout)
    sys.stdout.write(f"{paint(it.title(), 'bold')}\n")
    for one in done.runs:
        sys.stdout.write(f"  {_line(one, paint)}\n")
    if not done.runs:
        sys.stdout.write("  no hook is for this event\n")
    sys.stdout.write(f"{verdict(done.decision, paint)}  ({seconds * 1000:.0f} ms)\n")
    if answer is not None:
        sys.stdout.write(f"{it.wire.id} receives: exit code {answer.exit_code}\n")
        for name in ("stdout", "stderr"):
            for line in getattr(answer, name).splitlines():
                sys.stdout.write(f"  {name}: {plain(line)}\n")
    if findings:
        sys.stderr.write(report.grouped(findings, Paint(sys.stderr), {}))


STYLES = {"deny": "error", "ask": "loss", "allow": "kept", "none": "note"}


def _line(run: HookRun, paint: Paint) -> str:
    if not run.matched:
        return f"{paint('not run', 'note')}  {plain(run.hook.name)}: {plain(run.why)}"
    if run.hook.is_async:
        return f"started  {plain(run.hook.name)}: it runs beside the agent"
    took = f"({run.seconds * 1000:.0f} ms)"
    if run.answered.failure:
        return f"{paint('failed', 'error')}  {plain(run.hook.name)}: {plain(run.answered.failure)}  {took}"
    said = paint(word(run.decision), STYLES[run.decision.verdict])
    return f"{said}  {plain(run.hook.name)}: {detail(run.decision)}  {took}"


def word(decision: Decision) -> str:
    """The verdict in one word a person understands."""
    return "no opinion" if decision.verdict == "none" else decision.verdict


def detail(decision: Decision) -> str:
    """What else a decision says, in one line."""
    parts = [decision.reason.splitlines()[0]] if decision.reason else []
    if decision.updated_input is not None:
        parts.append(f"rewrites the input to {json.dumps(decision.updated_input, ensure_ascii=False)}")
    if decision.context:
        parts.append(f"adds context: {decision.context.splitlines()[0]}")
    if not decision.carry_on:
        parts.append("ends the agent's loop")
    if decision.system_message:
        parts.append(decision.system_message.splitlines()[0])
    return plain("; ".join(parts)) or "nothing more"


def verdict(decision: Decision, paint: Paint) -> str:
    """The decision of all hooks."""
    text = paint(word(decision), STYLES[decision.verdict])
    return f"{text}: {detail(decision)}" if decision != Decision() else text
