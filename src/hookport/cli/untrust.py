"""Take back the approval of this project's hooks: none of them runs until you approve them again."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookport.agents import list_markers
from hookport.console.terminal import make_plain
from hookport.project.discovery import find_project_root
from hookport.runtime import approvals, consent, trust


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport untrust`."""
    parser.add_argument("--all", action="store_true", help="of all projects")


def run(args: Namespace) -> int:
    """Forget what was approved."""
    env = dict(os.environ)
    root = find_project_root(str(Path.cwd()), env)
    if not consent.may_withdraw(root, env, list_markers()):
        sys.stdout.write("nothing was taken back.\n")
        return 1
    gone = approvals.remove_approval(None if args.all else root, env)
    for project in gone:
        sys.stdout.write(f"no longer approved: {make_plain(project)}\n")
    inherited = trust.find_inherited_root(root, env)
    if inherited:
        sys.stderr.write(
            f"hookport: {root} is a worktree of {inherited}, whose approval still holds here.\n"
            "hint: run `hookport untrust` there.\n"
        )
        return 1
    if not gone:
        sys.stdout.write("nothing was approved.\n")
    return 0
