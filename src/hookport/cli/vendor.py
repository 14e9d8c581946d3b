"""Write `bridge.pyz` and its plan into this project, for those who have no hookport.

`python3 .hookport/bridge.pyz` then answers agents with the hooks of the project, and needs only Python.
Commit both files. `hookport sync --vendor` does the same and lets the agents' entries call it.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import NamedTuple

from hookport.cli import options, report
from hookport.cli.output import FileDocument, FindingDocument, describe_change, describe_finding
from hookport.console.document import print_document
from hookport.console.progress import Progress
from hookport.console.terminal import Paint
from hookport.install import files
from hookport.project.discovery import find_project_root
from hookport.vendor import writer

EXAMPLES = {
    "hookport vendor": "Write both files",
    "hookport vendor --check": "Fail in CI where one of them is stale",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport vendor`."""
    parser.add_argument(
        "--check", action="store_true", help="Write nothing and exit with 1 if something would change"
    )
    options.add_dry_run(parser)
    options.add_json(parser)


class Document(NamedTuple):
    """The files that changed or would change; the findings name hooks that the bridge cannot run."""

    root: str
    files: tuple[FileDocument, ...]
    findings: tuple[FindingDocument, ...]
    written: bool


def run(args: Namespace) -> int:
    """Write or check both files."""
    env = dict(os.environ)
    root = find_project_root(str(Path.cwd()), env)
    if args.check:
        return _check(root, is_json=args.json)
    with Progress("vendor"):
        changes = writer.plan_changes(root)
        if not args.dry_run:
            files.apply(changes, env, what="vendor", root=root)
    left_out = writer.find_left_out(root)
    if args.json:
        written = bool(changes) and not args.dry_run
        described = tuple(map(describe_change, changes)), tuple(map(describe_finding, left_out))
        print_document(Document(root, *described, written))
        return 0
    word = "would write" if args.dry_run else "wrote"
    for change in changes:
        sys.stdout.write(f"{word} {Path(change.path).relative_to(root).as_posix()}\n")
    if not changes:
        sys.stdout.write("both files are up to date.\n")
    elif not args.dry_run:
        sys.stdout.write(
            "Next: run `hookport trust`, which adds their hashes to hookport.lock, and commit all.\n"
        )
    if left_out:
        sys.stderr.write(report.format_findings(left_out, Paint(sys.stderr), {}))
    return 0


def _check(root: str, *, is_json: bool) -> int:
    """Report files that this version would write otherwise."""
    with Progress("vendor --check"):
        findings = writer.check(root)
    code = report.compute_exit_code(findings, strict=True)
    if is_json:
        print_document(Document(root, (), tuple(map(describe_finding, findings)), written=False))
        return code
    if findings:
        sys.stderr.write(report.format_findings(findings, Paint(sys.stderr), {}))
    if not any(finding.severity == "error" for finding in findings):
        sys.stdout.write("bridge.pyz and its plan are up to date.\n")
    return code
