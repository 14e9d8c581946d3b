"""Write `bridge.pyz` and its plan into this project, for those who have no hookport.

`python3 .hookport/bridge.pyz` then answers agents with the hooks of the project, and needs nothing installed.
Commit both files. `hookport sync --vendor` does the same and lets the agents' entries call it.
With --check nothing is written: the exit code is 1 where a file is not what this version makes.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookport.cli import report
from hookport.console.progress import Progress
from hookport.console.terminal import Paint
from hookport.install import files
from hookport.project.discovery import find_project_root
from hookport.vendor import writer


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport vendor`."""
    parser.add_argument("--check", action="store_true", help="only say whether both files are right")


def run(args: Namespace) -> int:
    """Write or check both files."""
    env = dict(os.environ)
    root = find_project_root(str(Path.cwd()), env)
    if args.check:
        with Progress("vendor --check"):
            findings = writer.check(root)
        if findings:
            sys.stderr.write(report.format_findings(findings, Paint(sys.stderr), {}))
        if not any(finding.severity == "error" for finding in findings):
            sys.stdout.write("bridge.pyz and its plan are what this version makes.\n")
        return report.compute_exit_code(findings, strict=True)
    with Progress("vendor"):
        changes = writer.plan_changes(root)
        files.apply(changes, env, what="vendor", root=root)
    for change in changes:
        sys.stdout.write(f"wrote {Path(change.path).relative_to(root).as_posix()}\n")
    if changes:
        sys.stdout.write("Run `hookport trust`, which puts their hashes in hookport.lock, and commit all.\n")
    else:
        sys.stdout.write("Both files are as they should be; nothing was written.\n")
    left_out = writer.find_left_out(root)
    if left_out:
        sys.stderr.write(report.format_findings(left_out, Paint(sys.stderr), {}))
    return 0
