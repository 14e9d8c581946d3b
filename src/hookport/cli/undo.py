"""Take back what the last `sync` or `unsync` wrote: every file gets its exact former bytes.

Called again, it takes back the run before that, up to 20 runs. A file that was changed since is not touched,
and neither are the others of that run.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from datetime import datetime

from hookport.cli.difference import difference
from hookport.cli.terminal import Paint
from hookport.install import files, ledger


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport undo`."""
    parser.add_argument("--dry-run", action="store_true", help="show what would be taken back, write nothing")


def run(args: Namespace) -> int:
    """Take back the last run and name its files."""
    runs = ledger.runs(os.environ)
    changes = files.undo(os.environ, dry_run=args.dry_run)
    if not runs:
        sys.stderr.write("hookport: there is nothing to take back: no run is in the ledger.\n")
        return 0
    last = runs[-1]
    name = f"`hookport {last.what}` of {_when(last.time)}"
    if not changes:
        sys.stderr.write(f"hookport: {name} left nothing to take back: all its files are as they were.\n")
        return 0
    sys.stdout.write(f"{name} {'would be' if args.dry_run else 'is'} taken back:\n")
    paint = Paint(sys.stdout)
    for change in changes:
        did = "removed" if change.after is None else "restored"
        sys.stdout.write(f"  {did:8}  {change.path}\n")
    if args.dry_run:
        for change in changes:
            sys.stdout.write(difference(change, paint))
    return 0


def _when(time: str) -> str:
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return time
