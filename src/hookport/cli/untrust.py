"""Take back the approval of this project's hooks: none of them runs until you approve them again."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookport.install import lock
from hookport.project.discovery import project_root


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport untrust`."""
    parser.add_argument("--all", action="store_true", help="of all projects")


def run(args: Namespace) -> int:
    """Forget what was approved."""
    env = dict(os.environ)
    gone = lock.forget(None if args.all else project_root(str(Path.cwd()), env), env)
    for root in gone:
        sys.stdout.write(f"no longer approved: {root}\n")
    if not gone:
        sys.stdout.write("nothing was approved.\n")
    return 0
