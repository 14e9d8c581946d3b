"""Let a hook of this project rest for a while, or all of them: none is asked, and nothing is denied for it.

It is over by itself, and kept for you alone. Agents may not do it. Self-protection stays.
"""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from hookport.agents import list_markers
from hookport.console.pause import add_arguments, pause
from hookport.project import plan_builder
from hookport.project.discovery import discover

__all__ = ["add_arguments", "run"]


def run(args: Namespace) -> int:
    """Pause hooks, or end that; exit code 1 if the user does not want to."""
    env = dict(os.environ)
    project = discover(str(Path.cwd()), env)
    names = () if args.end else sorted({hook.name for hook in plan_builder.judge_entries(project, env)})
    return pause(args, project.root, names, list_markers(), env)
