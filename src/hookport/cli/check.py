"""Find what is wrong with hooks before an agent finds it by not running them.

Each PATH is a file or a folder; folders are searched for hooks of every dialect.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookport import __version__, checks
from hookport.checks.places import placed
from hookport.checks.scripts import check_scripts
from hookport.cli import report
from hookport.cli.convert import title
from hookport.cli.terminal import Paint
from hookport.convert import Reading
from hookport.dialects import get
from hookport.errors import InputError, Problem, spell_path
from hookport.findings import Finding, UnreadableFile
from hookport.project import sources

FORMATS = ("text", "json", "sarif", "github")


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport check`."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="a file with hooks, or a folder to look in"
    )
    parser.add_argument(
        "--dialect", metavar="DIALECT", help="the dialect of the files; recognised if left out"
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="how to print the findings (default: text)"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 on any loss, not only on errors")


def run(args: Namespace) -> int:
    """Check every path; one that cannot be read does not keep the others from being checked."""
    if args.dialect:
        get(args.dialect)
    findings: list[Finding] = []
    problems: list[Problem] = []
    text = ""
    paint = Paint(sys.stdout)
    for path in args.paths:
        try:
            found, unread = sources.find_all(path, args.dialect)
        except InputError as error:
            problems += error.problems
            continue
        problems += unread
        for source in found:
            try:
                reading = sources.read(source)
            except InputError as error:
                problems += error.problems
                continue
            here = [
                *reading.decoded.findings,
                *checks.check(reading),
                *check_scripts(reading, source.root),
            ]
            here = [placed(finding, reading) for finding in here]
            findings += here
            hooks = reading.decoded.manifest.hooks
            titles = {number: title(hook) for number, hook in enumerate(hooks)}
            count = f"{len(hooks)} hook{'s' * (len(hooks) != 1)}"
            noticed = f"{len(here) or 'no'} finding{'s' * (len(here) != 1)}"
            text += f"{path}: {count} of {source.dialect.id}, {noticed}\n"
            text += report.grouped(here, paint, titles, _heads(reading))
    told = [*map(_unreadable, problems), *findings]
    if args.format == "text":
        sys.stdout.write(text)
    elif args.format == "json":
        objects = [report.as_placed_json(finding) for finding in told]
        sys.stdout.write(json.dumps(objects, indent=2, ensure_ascii=False) + "\n")
    elif args.format == "sarif":
        sys.stdout.write(report.sarif(told, __version__))
    else:
        sys.stdout.write(report.github(told))
    for problem in problems:
        sys.stderr.write(f"hookport: {problem}\n")
    return InputError.exit_code if problems else report.worst(findings, strict=args.strict)


def _heads(reading: Reading) -> dict[int, report.Head]:
    """Where each hook stands."""
    heads: dict[int, report.Head] = {}
    for number, (file, path) in enumerate(reading.decoded.places):
        document = reading.documents.get(file)
        line, column = document.position(path) if document else (0, 0)
        heads[number] = report.Head(spell_path(path), file, line, column)
    return heads


def _unreadable(problem: Problem) -> Finding:
    finding = UnreadableFile.at(spell_path(problem.path), message=problem.message)
    return finding._replace(file=problem.file, line=problem.line, column=problem.column)
