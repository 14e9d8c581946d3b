"""Show for each agent and hook whether it is installed, whether its deny holds there, and when it last ran.

`installed`: the entry is there as it should be; `drifted`: it is another one; `missing`: there is none;
`by itself`: the agent reads the file that the hook is in. `enforced`: a deny holds; `advisory`: the hook runs
and cannot block; `unavailable`: the agent never fires it.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookport.cli import report
from hookport.cli.sync import Progress, add_agents, listed
from hookport.cli.terminal import Paint, table
from hookport.install.status import AgentState, Status, status

STYLES = {
    "installed": "kept",
    "by itself": "kept",
    "enforced": "kept",
    "drifted": "changed",
    "advisory": "changed",
    "missing": "dropped",
    "unavailable": "dropped",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport status`."""
    add_agents(parser)
    parser.add_argument("--json", action="store_true", help="print the same as JSON")


def run(args: Namespace) -> int:
    """Print the state of every agent."""
    progress = Progress("status")
    found = status(str(Path.cwd()), dict(os.environ), args.agent, progress)
    progress.end()
    if args.json:
        sys.stdout.write(json.dumps(_as_json(found), indent=2, ensure_ascii=False) + "\n")
    else:
        _show(found)
    return 0


def _as_json(found: Status) -> dict[str, object]:
    return {
        "root": found.root,
        "agents": [
            {
                **one._asdict(),
                "files": list(one.files),
                "hooks": [hook._asdict() for hook in one.hooks],
                "notes": list(one.notes),
                "findings": [report.as_placed_json(finding) for finding in one.findings],
            }
            for one in found.agents
        ],
    }


def _show(found: Status) -> None:
    paint = Paint(sys.stdout)
    if not found.agents:
        sys.stdout.write("no agent was found here, and nothing is installed.\n")
    for one in found.agents:
        sys.stdout.write(f"{paint(_head(found.root, one), 'bold')}\n")
        rows: list[tuple[str, ...]] = [("  HOOK", "EVENT", "STATE", "DENY", "LAST RUN", "")]
        rows += [
            (f"  {hook.name}", hook.event, hook.state, hook.level, hook.fired or "never", hook.reason)
            for hook in one.hooks
        ]
        if one.hooks:
            sys.stdout.write(table(rows, paint, STYLES))
        for finding in one.findings:
            sys.stdout.write(
                f"  {paint(finding.severity, finding.severity)} {finding.code} {finding.message}\n"
            )
        if one.mode:
            for note in one.notes:
                sys.stdout.write(paint(f"  {note}\n", "note"))


def _head(root: str, one: AgentState) -> str:
    parts = [
        one.agent,
        one.mode or "nothing installed",
        one.state if one.mode else "",
        listed(root, one.files),
    ]
    return "  ".join(part for part in parts if part)
