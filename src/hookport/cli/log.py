"""Show what hooks decided: one line for each event of the journal, newest last.

Lines below an event say what failed there; with --hook, what those hooks did or why they did not run. Events
of all projects are shown, each with its project; --project selects one. Times are local. Secrets were removed
before the journal was written. In a pipe an event is one line and nothing is cut.
"""

from __future__ import annotations

from argparse import Namespace
from typing import TypedDict

from hookport.base.tree import Tree
from hookport.cli.options import parse_agent
from hookport.cli.output import DecisionDocument, RunDocument
from hookport.console.log import add_arguments, show_log

__all__ = ["add_arguments", "run"]

EXAMPLES = {
    "hookport log": "Show the last 50 events",
    "hookport log --denied --since 2h": "Show what was denied in the last two hours",
    "hookport log --agent {third},{other} --follow": "Wait for events of two agents",
}


class ExitDocument(TypedDict):
    """What the agent received, without the texts."""

    exit_code: int


class Document(TypedDict, total=False):
    """One line of the journal; a key is there if the event has it, `time` always."""

    time: str
    agent: str
    event: str
    native: str
    session: str
    cwd: str
    root: str
    tool: str
    native_tool: str
    input: dict[str, Tree]
    input_sha256: str
    decision: DecisionDocument
    hooks: list[RunDocument]
    seconds: float
    notes: list[str]
    answer: ExitDocument


def run(args: Namespace) -> int:
    """Run `show_log`, after checking the names of the agents."""
    for name in args.agents:
        parse_agent(name)
    return show_log(args)
