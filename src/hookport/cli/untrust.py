"""Revoke the approval of this project's hooks: none of them runs until you approve them again."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import NamedTuple

from hookport.agents import list_markers
from hookport.cli import options
from hookport.cli.problems import print_line
from hookport.console.document import print_document
from hookport.console.terminal import make_plain
from hookport.project.discovery import find_project_root
from hookport.runtime import approvals, consent, trust

EXAMPLES = {
    "hookport untrust": "Revoke the approval of this project",
    "hookport untrust --all": "Revoke the approval of every project",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport untrust`."""
    parser.add_argument("--all", action="store_true", help="Revoke the approvals of every project")
    options.add_json(parser)


class Document(NamedTuple):
    """The projects whose approval was revoked; `inherited` is the repository whose approval still holds."""

    root: str
    revoked: tuple[str, ...]
    inherited: str | None


def run(args: Namespace) -> int:
    """Revoke the approval; exit code 1 where another one still holds."""
    env = dict(os.environ)
    root = find_project_root(str(Path.cwd()), env)
    if not consent.may_withdraw(root, env, list_markers(), asks=not args.json):
        sys.stdout.write("nothing was revoked.\n")
        return 1
    gone = approvals.remove_approval(None if args.all else root, env)
    inherited = trust.find_inherited_root(root, env)
    if args.json:
        print_document(Document(root, tuple(gone), inherited or None))
        return int(bool(inherited))
    for project in gone:
        sys.stdout.write(f"no longer approved: {make_plain(project)}\n")
    if inherited:
        print_line("error", f"{root} is a worktree of {inherited}, whose approval still holds here")
        print_line("hint", "run `hookport untrust` there")
        return 1
    if not gone:
        sys.stdout.write("nothing was approved.\n")
    return 0
