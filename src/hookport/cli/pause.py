"""Pause one hook of this project, or all of them: a paused hook does not run and denies nothing.

A pause ends by itself, and applies to you alone. Agents cannot pause hooks. Self-protection stays active.
"""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from hookport.agents import list_markers
from hookport.console.pause import Document, add_arguments, pause
from hookport.project import plan_builder
from hookport.project.discovery import discover

__all__ = ["Document", "add_arguments", "run"]

EXAMPLES = {
    "hookport pause": "Pause every hook for 30 minutes",
    "hookport pause no-force-push --for 2h": "Pause one hook for two hours",
    "hookport pause --end": "End every pause",
}


def run(args: Namespace) -> int:
    """Pause hooks or end a pause; exit code 1 if the user declines."""
    env = dict(os.environ)
    project = discover(str(Path.cwd()), env)
    names = () if args.end else sorted({hook.name for hook in plan_builder.judge_entries(project, env)})
    return pause(args, project.root, names, list_markers(), env)
