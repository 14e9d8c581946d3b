"""Find hooks that would never fire: what keeps each agent from running them, the evidence, and the way out.

It looks at this project and at the user's own files, and starts each agent once to ask for its version.
The exit code is 1 if a hook would not fire.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookport.agents import get, list_agents
from hookport.cli.report import format_inner_path
from hookport.console.progress import Progress
from hookport.console.terminal import Paint, make_plain
from hookport.doctor import Diagnosis, DoctorReport, examine, find_world
from hookport.doctor.files import World, shorten_path, spell_count
from hookport.errors import UsageError, suggest_closest


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport doctor`."""
    parser.add_argument(
        "--agent",
        metavar="AGENT",
        action="append",
        default=[],
        help="look at this agent only; may be given several times",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="make scripts executable, and write hookport's own entries and plan anew; change nothing else",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(args: Namespace) -> int:
    """Examine the agents, repair with `--fix`, and print what is left."""
    for name in args.agent:
        if get(name).kind != "agent":
            raise UsageError(f"'{name}' is no agent.{suggest_closest(name, list_agents())}")
    env = dict(os.environ)
    cwd = str(Path.cwd())
    world = find_world(cwd, env)
    with Progress("doctor"):
        reports = examine(cwd, env, args.agent)
    if args.fix:
        from hookport.doctor.repair import repair

        done = repair(reports, cwd, env)
        for line in done:
            sys.stderr.write(f"hookport: {make_plain(line.replace(f'{world.root}{os.sep}', ''))}\n")
        with Progress("doctor"):
            reports = examine(cwd, env, args.agent) if done else reports
    diagnoses = [diagnosis for report in reports for diagnosis in report.diagnoses]
    if args.json:
        objects = [as_json(diagnosis, report, world) for report in reports for diagnosis in report.diagnoses]
        sys.stdout.write(json.dumps(objects, indent=2, ensure_ascii=False) + "\n")
    else:
        paint = Paint(sys.stdout)
        sys.stdout.write("".join(_format_report(report, world, paint) for report in reports))
        if not reports:
            sys.stdout.write(
                f"there are no hooks of any agent in {make_plain(str(world.root))}, nor of the user\n"
            )
    return int(any(diagnosis.finding.severity == "error" for diagnosis in diagnoses))


def as_json(diagnosis: Diagnosis, report: DoctorReport, world: World) -> dict[str, str]:
    """A diagnosis as `--json` prints it; the evidence names the version of the agent."""
    by = f"{diagnosis.agent} {report.version}" if diagnosis.agent and report.version else ""
    evidence = diagnosis.evidence if by in diagnosis.evidence else f"{diagnosis.evidence} ({by})".strip()
    return {
        "code": diagnosis.finding.code,
        "severity": diagnosis.finding.severity,
        "agent": diagnosis.agent,
        "where": _format_place(diagnosis, world),
        "message": diagnosis.finding.message,
        "evidence": evidence,
        "fix": diagnosis.finding.hint,
    }


def _format_place(diagnosis: Diagnosis, world: World) -> str:
    finding = diagnosis.finding
    file = shorten_path(finding.file, world) if finding.file else ""
    if file and finding.line:
        file += f":{finding.line}:{finding.column}"
    return ": ".join(
        part for part in (file, format_inner_path(finding) if finding.file else finding.where) if part
    )


def summarize_report(report: DoctorReport) -> str:
    """Summarize an agent in one line: `codex 0.166.0: 3 hooks, 1 would not fire`."""
    parts = [spell_count(report.hooks)]
    if report.dead:
        parts.append(f"{report.dead} would not fire")
    if report.files_dropped:
        parts.append(f"{spell_count(report.files_dropped, 'file')} with hooks not read")
    if not report.diagnoses:
        parts.append("nothing found")
    return f"{report.agent or 'hookport'}{f' {report.version}' * bool(report.version)}: {', '.join(parts)}"


def _format_report(report: DoctorReport, world: World, paint: Paint) -> str:
    text = f"{paint.fold(paint(make_plain(summarize_report(report)), 'bold'), 2)}\n"
    for diagnosis in report.diagnoses:
        severity = paint(f"{diagnosis.finding.severity:5}", diagnosis.finding.severity)
        where = _format_place(diagnosis, world)
        message = make_plain(f"{where}: " * bool(where) + diagnosis.finding.message)
        text += f"{paint.fold(f'  {severity} {diagnosis.finding.code} {message}', 8)}\n"
        if diagnosis.evidence and diagnosis.finding.severity != "note":
            text += _fold_note(f"evidence: {diagnosis.evidence}", paint)
        if diagnosis.finding.hint:
            text += _fold_note(f"fix: {diagnosis.finding.hint}", paint)
    return text


def _fold_note(text: str, paint: Paint) -> str:
    return paint.fold(f"        {paint(make_plain(text), 'note')}", 10) + "\n"
