"""Find hooks that never run, what stops them, and how to repair that.

It examines this project and the user's own files, and starts each agent once to ask for its version. The
exit code is 1 if a hook would not run.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.cli import options
from hookport.cli.problems import print_line
from hookport.cli.report import format_inner_path
from hookport.console.document import print_document
from hookport.console.progress import Progress
from hookport.console.terminal import Paint, make_plain
from hookport.doctor import Diagnosis, DoctorReport, examine, find_world
from hookport.doctor.files import World, shorten_path, spell_count
from hookport.lab.versions import describe_unmeasured

EXAMPLES = {
    "hookport doctor": "Examine every agent",
    "hookport doctor --agent {other} --fix": "Repair what can be repaired for one agent",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport doctor`."""
    options.add_agents(parser)
    parser.add_argument(
        "--fix",
        action="store_true",
        help="Make scripts executable and rewrite hookport's own entries and plan; change nothing else",
    )
    options.add_json(parser)


class DiagnosisDocument(NamedTuple):
    """A finding about an agent, which is empty for hookport itself; `evidence` names the agent's version."""

    code: str
    severity: Literal["error", "loss", "note"]
    agent: str
    where: str
    message: str
    evidence: str
    hint: str
    file: str | None
    line: int | None
    column: int | None


class Document(NamedTuple):
    """What is wrong, and what --fix repaired.

    By agent: the calls that it asks no guard about, and whether it is newer than what was measured.
    """

    findings: tuple[DiagnosisDocument, ...]
    repaired: tuple[str, ...]
    exceptions: dict[str, tuple[str, ...]]
    unmeasured: dict[str, str]


def run(args: Namespace) -> int:
    """Examine the agents, repair with `--fix`, and print what is left."""
    env = dict(os.environ)
    cwd = str(Path.cwd())
    world = find_world(cwd, env)
    with Progress("doctor"):
        reports = examine(cwd, env, args.agents)
    repaired: list[str] = []
    if args.fix:
        from hookport.doctor.repair import repair

        repaired = [line.replace(f"{world.root}{os.sep}", "") for line in repair(reports, cwd, env)]
        for line in repaired:
            print_line("fixed", line)
        with Progress("doctor"):
            reports = examine(cwd, env, args.agents) if repaired else reports
    diagnoses = [diagnosis for report in reports for diagnosis in report.diagnoses]
    if args.json:
        documents = (
            describe_diagnosis(diagnosis, report, world)
            for report in reports
            for diagnosis in report.diagnoses
        )
        exceptions = {report.agent: report.exceptions for report in reports if report.exceptions}
        newer = {report.agent: describe_unmeasured(report.agent, report.version) for report in reports}
        newer = {agent: words for agent, words in newer.items() if words}
        print_document(Document(tuple(documents), tuple(repaired), exceptions, newer))
    else:
        paint = Paint(sys.stdout)
        sys.stdout.write("".join(_format_report(report, world, paint) for report in reports))
        if not reports:
            sys.stdout.write(f"no hooks in {make_plain(str(world.root))}, and none of the user\n")
    return int(any(diagnosis.finding.severity == "error" for diagnosis in diagnoses))


def describe_diagnosis(diagnosis: Diagnosis, report: DoctorReport, world: World) -> DiagnosisDocument:
    """Describe a diagnosis for `--json`."""
    by = f"{diagnosis.agent} {report.version}" if diagnosis.agent and report.version else ""
    evidence = diagnosis.evidence if by in diagnosis.evidence else f"{diagnosis.evidence} ({by})".strip()
    finding = diagnosis.finding
    return DiagnosisDocument(
        finding.code,
        finding.severity,
        diagnosis.agent,
        _format_place(diagnosis, world),
        finding.message,
        evidence,
        finding.hint,
        finding.file or None,
        finding.line or None,
        finding.column or None,
    )


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
    if report.exceptions:
        line = f"  it asks no guard {', '.join(report.exceptions)}: `hookport matrix {report.agent}`"
        text += f"{paint.fold(paint(line, 'note'), 4)}\n"
    newer = describe_unmeasured(report.agent, report.version)
    if newer:
        text += f"{paint.fold(paint(make_plain(f'  {newer}'), 'note'), 4)}\n"
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
