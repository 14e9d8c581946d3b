"""Take back the last `sync`, `unsync` or `vendor` of this project: its files get their exact former bytes.

Called again, it takes back the run before that, up to 20 runs. Runs that were made from other projects are
left alone, whatever files they wrote. A file that was changed since is not touched, and neither are the
others of that run.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from datetime import datetime
from pathlib import Path

from hookport.agents import list_markers
from hookport.cli.difference import format_difference
from hookport.console.terminal import Paint
from hookport.errors import UsageError
from hookport.install import files
from hookport.install.ledger import LedgerRun
from hookport.project.contents import Change
from hookport.project.discovery import find_project_root
from hookport.runtime import consent


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport undo`."""
    parser.add_argument(
        "--all", action="store_true", help="take back the last run of any project; asks before it does"
    )
    parser.add_argument("--yes", action="store_true", help="with --all: do not ask")
    parser.add_argument("--dry-run", action="store_true", help="show what would be taken back, write nothing")
    parser.add_argument("--json", action="store_true", help="print the same as JSON; asks nothing")


def run(args: Namespace) -> int:
    """Take back the last run and name its files."""
    env = dict(os.environ)
    project = find_project_root(str(Path.cwd()), env)
    root = None if args.all else project
    last = files.find_last_run(env, root)
    if last is None:
        return _report_nothing(project, args, env)
    if not args.dry_run and not consent.may_withdraw(project, env, list_markers(), "undo"):
        sys.stdout.write("nothing was taken back.\n")
        return 1
    if not args.all or args.yes or args.dry_run:
        changes = files.undo(env, root, number=last.number, dry_run=args.dry_run)
    else:
        changes = files.undo(env, root, number=last.number, dry_run=True)
        if changes and not _is_agreed(last, changes, args):
            sys.stdout.write("nothing was taken back.\n")
            return 1
        changes = files.undo(env, root, number=last.number)
    if args.json:
        _print_json(project, last, changes, written=not args.dry_run)
    elif not changes:
        message = f"{_name_run(last, project)} left nothing to take back: all its files are as they were."
        sys.stderr.write(f"hookport: {message}\n")
    else:
        sys.stdout.write(f"{_name_run(last, project)} {'would be' if args.dry_run else 'is'} taken back:\n")
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
        sys.stderr.write("hookport: there is nothing to take back: no run is in the ledger.\n")
    else:
        sys.stderr.write(f"hookport: there is nothing to take back in {project}.\n")
        place = f"`hookport undo` in {last_run.root}, or " if last_run.root else ""
        name = _name_run(last_run, project)
        hint = f"hint: the last run was {name}. To take it back: {place}`hookport undo --all`."
        sys.stderr.write(f"{hint}\n")
    return 0


def _is_agreed(last: LedgerRun, changes: list[Change], args: Namespace) -> bool:
    if args.json or not sys.stdin.isatty():
        why = "--json asks nothing" if args.json else "there is no terminal to ask on"
        raise UsageError(f"nothing was taken back: {why}. Say --yes or --dry-run.")
    sys.stdout.write(
        f"{_name_run(last, '')} would be taken back:\n{_list_changes(changes)}Take it back? [y/N] "
    )
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _name_run(last: LedgerRun, project: str) -> str:
    where = f" in {last.root}" if last.root not in ("", project) else ""
    return f"`hookport {last.what}` of {_format_time(last.time)}{where}"


def _list_changes(changes: list[Change]) -> str:
    return "".join(f"  {_name_effect(change):8}  {change.path}\n" for change in changes)


def _name_effect(change: Change) -> str:
    return "removed" if change.after is None else "restored"


def _print_json(project: str, last: LedgerRun | None, changes: list[Change], *, written: bool) -> None:
    tree = {
        "root": project,
        "run": {"what": last.what, "time": last.time, "root": last.root} if last else None,
        "files": [{"path": change.path, "did": _name_effect(change)} for change in changes],
        "written": written and bool(changes),
    }
    sys.stdout.write(json.dumps(tree, indent=2, ensure_ascii=False) + "\n")


def _format_time(time: str) -> str:
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return time
