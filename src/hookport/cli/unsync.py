"""Take everything that `sync` installed out of the agents' files in this project again.

Entries in the user's own files serve every project: `--scope user` takes out those, `--scope all` both.
A file that nobody edited since gets its exact former bytes, and one that hookport made is removed; out of any
other only hookport's entries are cut. `hookport undo` takes the run back.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookport.agents import list_markers
from hookport.cli import report
from hookport.cli.difference import format_difference
from hookport.cli.sync import add_agents, format_path
from hookport.console.terminal import Paint, make_plain
from hookport.install import files, sync
from hookport.install.sync import SyncPlan
from hookport.project.discovery import find_project_root
from hookport.runtime import consent


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport unsync`."""
    add_agents(parser)
    parser.add_argument(
        "--scope",
        choices=("project", "user", "all"),
        default="project",
        help="whose files (default: project)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show the differences, write nothing")


def run(args: Namespace) -> int:
    """Plan the edits, show or write them, and name the files."""
    env, cwd = dict(os.environ), str(Path.cwd())
    root = find_project_root(cwd, env)
    if not args.dry_run and not consent.may_withdraw(root, env, list_markers(), "unsync"):
        sys.stdout.write("nothing was removed.\n")
        return 1
    scope = None if args.scope == "all" else args.scope

    def make() -> SyncPlan:
        return sync.plan_removal(cwd, env, args.agent, scope)

    files.settle(env)
    plan = make() if args.dry_run else sync.apply(make, env, what="unsync", ends=True)
    if not plan.changes:
        whose = {"project": "this project", "user": "the user"}.get(args.scope, "these agents")
        sys.stdout.write(f"nothing of hookport is in the files of {whose}.\n")
    paint = Paint(sys.stdout)
    for change in plan.changes:
        did = "removed" if change.after is None else "cleaned"
        sys.stdout.write(
            f"{'would be ' if args.dry_run else ''}{did}  {make_plain(format_path(plan.root, change.path))}\n"
        )
        if args.dry_run:
            sys.stdout.write(format_difference(change, paint))
    if args.scope == "project":
        _report_user_entries(sync.plan_removal(cwd, env, args.agent, "user"))
    findings = [finding for agent in plan.agents for finding in agent.findings]
    if findings:
        sys.stderr.write(report.format_findings(findings, Paint(sys.stderr), {}))
    return report.compute_exit_code(findings, strict=False)


def _report_user_entries(plan: SyncPlan) -> None:
    """Report the entries that stay, since they serve every project."""
    if plan.changes:
        paths = ", ".join(format_path(plan.root, change.path) for change in plan.changes)
        sys.stderr.write(
            f"hookport: entries in the user's own files serve every project and stay: {make_plain(paths)}\n"
        )
        sys.stderr.write("hint: `hookport unsync --scope user` takes them out.\n")
