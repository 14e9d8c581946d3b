"""Revert the last `sync`, `unsync` or `vendor` of this project: its files get their exact former bytes back.

Run it again to revert the run before that, up to 20 runs. Runs from other projects are left alone, whichever
files they wrote. If a file was changed since, nothing of that run is reverted.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.agents import list_markers
from hookport.cli import options
from hookport.cli.difference import format_difference
from hookport.cli.output import FileDocument
from hookport.cli.problems import print_line
from hookport.console.document import print_document
from hookport.console.terminal import Paint
from hookport.errors import UsageError
from hookport.install import files
from hookport.install.ledger import LedgerRun
from hookport.project.contents import Change
from hookport.project.discovery import find_project_root
from hookport.runtime import consent

EXAMPLES = {
    "hookport undo --dry-run": "Show what would change",
    "hookport undo": "Revert the last run of this project",
    "hookport undo --all --yes": "Revert the last run of any project without asking",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport undo`."""
    parser.add_argument("--all", action="store_true", help="Revert the last run of any project; asks first")
    options.add_yes(parser)
    options.add_dry_run(parser)
    options.add_json(parser)


class RunDocument(NamedTuple):
    """A run of a command that wrote files; `root` is the project that it was started in."""

    what: str
    time: str
    root: str


class Document(NamedTuple):
    """The run that was reverted, null if there is none, and its files."""

    root: str
    run: RunDocument | None
    files: tuple[FileDocument, ...]
    written: bool


def run(args: Namespace) -> int:
    """Revert the last run and name its files."""
    env = dict(os.environ)
    project = find_project_root(str(Path.cwd()), env)
    root = None if args.all else project
    last = files.find_last_run(env, root)
    if last is None:
        return _report_nothing(project, args, env)
    if not args.dry_run and not consent.may_withdraw(
        project, env, list_markers(), "undo", asks=not args.json
    ):
        sys.stdout.write("nothing was reverted.\n")
        return 1
    if not args.all or args.yes or args.dry_run:
        changes = files.undo(env, root, number=last.number, dry_run=args.dry_run)
    else:
        changes = files.undo(env, root, number=last.number, dry_run=True)
        if changes and not _is_agreed(last, changes, args):
            sys.stdout.write("nothing was reverted.\n")
            return 1
        changes = files.undo(env, root, number=last.number)
    if args.json:
        _print_json(project, last, changes, written=not args.dry_run)
    elif not changes:
        message = f"nothing to revert: the files of {_name_run(last, project)} are as they were before it"
        print_line("note", message)
    else:
        sys.stdout.write(f"{_name_run(last, project)} {'would be' if args.dry_run else 'is'} reverted:\n")
        sys.stdout.write(_list_changes(changes))
        if args.dry_run:
            paint = Paint(sys.stdout)
            sys.stdout.write("".join(format_difference(change, paint) for change in changes))
    return 0


def _report_nothing(project: str, args: Namespace, env: dict[str, str]) -> int:
    """Report that no run of this project exists, and where the last run was."""
    last_run = None if args.all else files.find_last_run(env)
    if args.json:
        _print_json(project, None, [], written=False)
    elif last_run is None:
        print_line("note", "nothing to revert: the ledger has no run")
    else:
        print_line("note", f"nothing to revert in {project}")
        place = f"`hookport undo` in {last_run.root}, or " if last_run.root else ""
        name = _name_run(last_run, project)
        print_line("hint", f"the last run was {name}; to revert it: {place}`hookport undo --all`")
    return 0


def _is_agreed(last: LedgerRun, changes: list[Change], args: Namespace) -> bool:
    if args.json or not sys.stdin.isatty():
        why = "--json cannot ask" if args.json else "there is no terminal to ask on"
        raise UsageError(f"nothing was reverted: {why}", hint="use --yes or --dry-run")
    sys.stdout.write(f"{_name_run(last, '')} would be reverted:\n{_list_changes(changes)}Revert it? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _name_run(last: LedgerRun, project: str) -> str:
    where = f" in {last.root}" if last.root not in ("", project) else ""
    return f"`hookport {last.what}` of {_format_time(last.time)}{where}"


def _list_changes(changes: list[Change]) -> str:
    return "".join(f"  {_name_effect(change):8}  {change.path}\n" for change in changes)


def _name_effect(change: Change) -> Literal["removed", "restored"]:
    return "removed" if change.after is None else "restored"


def _print_json(project: str, last: LedgerRun | None, changes: list[Change], *, written: bool) -> None:
    run_ = RunDocument(last.what, last.time, last.root) if last else None
    reverted = tuple(FileDocument(change.path, _name_effect(change)) for change in changes)
    print_document(Document(project, run_, reverted, written and bool(changes)))


def _format_time(time: str) -> str:
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return time
