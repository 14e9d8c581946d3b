"""Take everything that `sync` installed out of the agents' files again.

A file that nobody edited since gets its exact former bytes, and one that hookport made is removed; out of any
other only hookport's entries are cut. `hookport undo` takes the run back.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookport.cli import report
from hookport.cli.difference import difference
from hookport.cli.sync import add_agents, shown
from hookport.cli.terminal import Paint
from hookport.install import sync
from hookport.install.sync import Plan


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport unsync`."""
    add_agents(parser)
    parser.add_argument(
        "--scope", choices=("project", "user"), help="only those of this project, or the user's"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the differences, write nothing")


def run(args: Namespace) -> int:
    """Plan the edits, show or write them, and name the files."""
    env, cwd = dict(os.environ), str(Path.cwd())

    def make() -> Plan:
        return sync.removal(cwd, env, args.agent, args.scope)

    plan = make() if args.dry_run else sync.apply(make, env, what="unsync", ends=True)
    if not plan.changes:
        sys.stdout.write("nothing of hookport is in the files of these agents.\n")
    paint = Paint(sys.stdout)
    for change in plan.changes:
        did = "removed" if change.after is None else "cleaned"
        sys.stdout.write(f"{'would be ' if args.dry_run else ''}{did}  {shown(plan.root, change.path)}\n")
        if args.dry_run:
            sys.stdout.write(difference(change, paint))
    findings = [one for agent in plan.agents for one in agent.findings]
    if findings:
        sys.stderr.write(report.grouped(findings, Paint(sys.stderr), {}))
    return report.worst(findings, strict=False)
