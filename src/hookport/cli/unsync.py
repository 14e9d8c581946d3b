"""Remove everything that `sync` installed into the agents' files of this project.

Entries in the user's own files serve every project: `--scope user` removes those, `--scope all` both. A file
that nobody edited since gets its exact former bytes back, and one that hookport created is removed; from any
other file only hookport's entries are removed. `hookport undo` reverts the run.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import NamedTuple

from hookport.agents import list_markers
from hookport.cli import options, report
from hookport.cli.difference import format_difference
from hookport.cli.output import FileDocument, FindingDocument, describe_change, describe_finding
from hookport.cli.problems import print_line
from hookport.cli.sync import format_path
from hookport.console.document import print_document
from hookport.console.terminal import Paint, make_plain
from hookport.install import files, sync
from hookport.install.sync import SyncPlan
from hookport.project.discovery import find_project_root
from hookport.runtime import consent

EXAMPLES = {
    "hookport unsync --dry-run": "Show what would change",
    "hookport unsync --agent {other}": "Remove the entries from one agent",
    "hookport unsync --scope all": "Remove them from the project and the user's files",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport unsync`."""
    options.add_agents(parser)
    parser.add_argument(
        "--scope",
        metavar="SCOPE",
        choices=("project", "user", "all"),
        default="project",
        help="Whose files to edit",
    )
    options.add_dry_run(parser)
    options.add_json(parser)


class Document(NamedTuple):
    """The files that changed or would change; `kept` are the user's files that still have entries."""

    root: str
    files: tuple[FileDocument, ...]
    kept: tuple[str, ...]
    findings: tuple[FindingDocument, ...]
    written: bool


def run(args: Namespace) -> int:
    """Plan the edits, show or write them, and name the files."""
    env, cwd = dict(os.environ), str(Path.cwd())
    root = find_project_root(cwd, env)
    if not args.dry_run and not consent.may_withdraw(root, env, list_markers(), "unsync", asks=not args.json):
        sys.stdout.write("nothing was removed.\n")
        return 1
    scope = None if args.scope == "all" else args.scope

    def make() -> SyncPlan:
        return sync.plan_removal(cwd, env, args.agents, scope)

    files.settle(env)
    plan = make() if args.dry_run else sync.apply(make, env, what="unsync", ends=True)
    findings = [finding for agent in plan.agents for finding in agent.findings]
    user_plan = sync.plan_removal(cwd, env, args.agents, "user") if args.scope == "project" else None
    if args.json:
        kept = tuple(change.path for change in user_plan.changes) if user_plan else ()
        written = bool(plan.changes) and not args.dry_run
        files_ = tuple(map(describe_change, plan.changes))
        print_document(Document(plan.root, files_, kept, tuple(map(describe_finding, findings)), written))
        return report.compute_exit_code(findings, strict=False)
    if not plan.changes:
        whose = {"project": "this project", "user": "the user"}.get(args.scope, "these agents")
        sys.stdout.write(f"no entries of hookport in the files of {whose}.\n")
    paint = Paint(sys.stdout)
    for change in plan.changes:
        did = "removed" if change.after is None else "cleaned"
        sys.stdout.write(
            f"{'would be ' if args.dry_run else ''}{did}  {make_plain(format_path(plan.root, change.path))}\n"
        )
        # A removed file has hookport's entries only.
        if args.dry_run and change.after is not None:
            sys.stdout.write(format_difference(change, paint))
    if user_plan:
        _report_user_entries(user_plan)
    if findings:
        sys.stderr.write(report.format_findings(findings, Paint(sys.stderr), {}))
    return report.compute_exit_code(findings, strict=False)


def _report_user_entries(plan: SyncPlan) -> None:
    """Report the entries that stay, since they serve every project."""
    if plan.changes:
        paths = ", ".join(format_path(plan.root, change.path) for change in plan.changes)
        print_line("note", f"entries in the user's own files serve every project and stay: {paths}")
        print_line("hint", "`hookport unsync --scope user` removes them")
