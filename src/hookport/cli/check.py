"""Check hooks for mistakes before an agent finds them by not running them.

Folders are searched for hooks of every dialect. The exit code is 1 for a finding at error level, and 2 if a
file cannot be read.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import NamedTuple

from hookport import __version__
from hookport.agents import get
from hookport.cli import options, report
from hookport.cli.convert import make_title
from hookport.cli.output import FindingDocument, describe_finding
from hookport.cli.problems import print_line
from hookport.console.document import print_document
from hookport.console.progress import Progress
from hookport.console.terminal import Paint
from hookport.convert import checks
from hookport.convert.checks.places import locate_finding
from hookport.convert.checks.scripts import check_scripts
from hookport.convert.degrade.wrapping import unwrap_hook
from hookport.convert.pipeline import Reading
from hookport.doctor.checkup import check_health, find_strays
from hookport.errors import InputError, Problem, spell_path
from hookport.findings import Finding, Misplaced, OtherSettings, UnreadableFile
from hookport.project import environment, sources
from hookport.project.answers import check_answers

FORMATS = ("text", "sarif", "github")


EXAMPLES = {
    "hookport check": "Check every hook in this folder",
    "hookport check .claude/settings.json --strict": "Fail on anything that another agent would lose",
    "hookport check --format github": "Annotate the lines of a pull request in GitHub Actions",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport check`."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        type=Path,
        help="File or folder with hooks; this folder if left out",
    )
    options.add_from(parser)
    parser.add_argument(
        "--format", metavar="FORMAT", choices=FORMATS, default="text", help="How to print the findings"
    )
    options.add_strict(parser)
    options.add_json(parser)


class Document(NamedTuple):
    """The findings; a file that cannot be read is one of them."""

    findings: tuple[FindingDocument, ...]


def run(args: Namespace) -> int:
    """Check every path; one that cannot be read does not keep the others from being checked."""
    with Progress("check") as progress:
        return _check_paths(args, progress)


def _check_paths(args: Namespace, progress: Progress) -> int:
    if args.dialect:
        get(args.dialect)
    findings: list[Finding] = []
    problems: list[Problem] = []
    text = ""
    paint = Paint(sys.stdout)
    paths = args.paths or [Path()]
    for path in paths:
        strays = [_name_by_path(stray.finding, path) for stray in find_strays(path, os.environ)]
        findings += strays
        try:
            hook_sources, unread = sources.find_all(path, args.dialect)
        except InputError as error:
            text += report.format_findings(strays, paint, {})
            # A folder whose hooks all stand elsewhere has some; so has a file at a place that is not read.
            is_explained = path.is_dir() or any(stray.code != Misplaced.code for stray in strays)
            problems += () if strays and is_explained else error.problems
            continue
        problems += unread
        for number, source in enumerate(hook_sources):
            progress.show(", ".join(source.files), number, len(hook_sources))
            readings, refused = _read_source(source)
            problems += refused
            for reading in readings:
                reading_findings = _check_reading(reading, source)
                findings += reading_findings
                hooks = reading.decoded.manifest.hooks
                titles = {at: make_title(hook) for at, hook in enumerate(hooks)}
                count = f"{len(hooks)} hook{'s' * (len(hooks) != 1)}"
                noticed = f"{len(reading_findings) or 'no'} finding{'s' * (len(reading_findings) != 1)}"
                text += paint.fold(f"{path}: {count} of {source.dialect.id}, {noticed}", 2) + "\n"
                text += report.format_findings(reading_findings, paint, titles, _find_heads(reading))
        text += report.format_findings(strays, paint, {})
    steered = [
        finding for root in filter(Path.is_dir, paths) for finding in environment.find_steering(str(root))
    ]
    findings += steered
    text += report.format_findings(steered, paint, {})
    all_findings = [*map(_make_unreadable_finding, problems), *findings]
    progress.end()
    if args.json:
        print_document(Document(tuple(map(describe_finding, all_findings))))
    elif args.format == "text":
        sys.stdout.write(text)
    elif args.format == "sarif":
        sys.stdout.write(report.format_sarif(all_findings, __version__))
    else:
        sys.stdout.write(report.format_github(all_findings))
    for problem in problems:
        print_line("error", str(problem))
    return InputError.exit_code if problems else report.compute_exit_code(findings, strict=args.strict)


def _read_source(source: sources.HookSource) -> tuple[list[Reading], list[Problem]]:
    """Read the files of a source together, or each by itself where one cannot be read."""
    try:
        return [sources.read(source)], []
    except InputError as error:
        if len(source.files) == 1 or source.dialect.shape.companions:
            return [], list(error.problems)
    readings: list[Reading] = []
    problems: list[Problem] = []
    for name, data in source.files.items():
        try:
            readings.append(sources.read(source._replace(files={name: data})))
        except InputError as error:
            problems += error.problems
    return readings, problems


def _check_reading(reading: Reading, source: sources.HookSource) -> list[Finding]:
    """Check the hooks of a reading; other settings matter only beside hooks."""
    findings = [
        *reading.decoded.findings,
        *checks.check(reading),
        *check_scripts(reading, source.root, unwrap_hook),
        *check_answers(reading, source.root),
    ]
    findings += check_health(reading, source.root, os.environ, findings)
    placed_ = [locate_finding(finding, reading) for finding in findings]
    if reading.decoded.manifest.hooks:
        return placed_
    return [finding for finding in placed_ if finding.code != OtherSettings.code]


def _name_by_path(finding: Finding, path: Path) -> Finding:
    """Name the file of a finding relative to the path on the command line."""
    full = Path(os.path.abspath(path))  # noqa: PTH100  (links stay)
    below = Path(finding.file).relative_to(full) if full.is_dir() else None
    return finding._replace(file=str(path / below if below else path))


def _find_heads(reading: Reading) -> dict[int, report.Head]:
    """Find the place of each hook."""
    heads: dict[int, report.Head] = {}
    for number, (file, path) in enumerate(reading.decoded.places):
        document = reading.documents.get(file)
        line, column = document.position(path) if document else (0, 0)
        heads[number] = report.Head(spell_path(path), file, line, column)
    return heads


def _make_unreadable_finding(problem: Problem) -> Finding:
    finding = UnreadableFile.at(spell_path(problem.path), message=problem.message)
    return finding._replace(file=problem.file, line=problem.line, column=problem.column)
