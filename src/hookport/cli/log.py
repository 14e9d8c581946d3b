"""Show what hooks decided: one line for each event of the journal, newest last.

Below an event stands what went wrong there; with --hook, what those hooks did or why they did not run.
Events of all projects are shown, each with its project; --project selects one. Times are local. Secrets were
taken out before the journal was written. In a pipe an event is one line and nothing is cut.
"""

from __future__ import annotations

from argparse import Namespace

from hookport.console.log import add_arguments, show_log

__all__ = ["add_arguments", "run"]


def run(args: Namespace) -> int:
    """Run `show_log`, after checking the name of the agent."""
    if args.agent:
        from hookport.agents import get

        get(args.agent)
    return show_log(args)
