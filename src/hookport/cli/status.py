"""Show for each agent and hook whether it is installed, whether its deny holds there, and when it last ran.

`installed`: the entry is there as it should be; `drifted`: it is another one; `missing`: there is none;
`by itself`: the agent reads the file that the hook is in. `enforced`: a deny holds; `advisory`: the hook runs
and cannot block; `failing`: it cannot start, or failed on its last runs; `unavailable`: it never runs there.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from hookport.cli import report
from hookport.cli.sync import Progress, add_agents, listed
from hookport.console.terminal import Paint, plain, table
from hookport.doctor.status import AgentState, HookState, Status, read_status
from hookport.findings import NotSynced
from hookport.install.lock import ApprovalStanding
from hookport.project.discovery import Module
from hookport.runtime import pauses
from hookport.wire.spellings import format_time

STYLES = {
    "installed": "kept",
    "by itself": "kept",
    "enforced": "kept",
    "drifted": "changed",
    "advisory": "changed",
    "failing": "dropped",
    "missing": "dropped",
    "unavailable": "dropped",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport status`."""
    add_agents(parser)
    parser.add_argument("--json", action="store_true", help="print the same as JSON")


def run(args: Namespace) -> int:
    """Print the state of every agent; exit code 1 where a settings file cannot be read."""
    progress = Progress("status")
    found = read_status(str(Path.cwd()), dict(os.environ), args.agent, progress)
    progress.end()
    if args.json:
        sys.stdout.write(json.dumps(_as_json(found), indent=2, ensure_ascii=False) + "\n")
    else:
        _show(found)
    return int(any(map(_is_refused, found.agents)))


def _as_json(found: Status) -> dict[str, object]:
    return {
        "root": found.root,
        "approval": {
            **found.approval._asdict(),
            "differences": [one._asdict() for one in found.approval.differences],
        },
        "paused": {name: format_time(until) for name, until in found.paused.items()},
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
        "unmanaged": [one._asdict() for one in found.unmanaged],
        "misplaced": [report.as_placed_json(one) for one in found.misplaced],
        "unread": [report.as_placed_json(one) for one in found.unread],
    }


def _show(found: Status) -> None:
    paint = Paint(sys.stdout)
    _show_approval(found.approval, paint)
    for name, until in found.paused.items():
        what = "every hook" if name == pauses.EVERY else name
        told = f"paused: {what} until {pauses.format_time(until)}; `hookport pause --end` ends it"
        sys.stdout.write(paint(plain(told), "changed") + "\n")
    if not found.agents:
        sys.stdout.write("no agent was found here, and nothing is installed.\n")
    for one in found.agents:
        sys.stdout.write(f"{paint(plain(_head(found.root, one)), 'bold')}\n")
        rows: list[tuple[str, ...]] = [("  HOOK", "EVENT", "STATE", "DENY", "LAST RUN", "")]
        rows += [
            (f"  {hook.name}", hook.event, hook.state, hook.level, hook.fired or "never", _why(hook))
            for hook in one.hooks
        ]
        if one.hooks:
            sys.stdout.write(table(rows, paint, STYLES))
        for finding in one.findings:
            sys.stdout.write(
                f"  {paint(finding.severity, finding.severity)} {finding.code} {plain(finding.message)}\n"
            )
        if one.mode:
            for note in one.notes:
                sys.stdout.write(paint(f"  {plain(note)}", "note") + "\n")
    show_unmanaged(found.unmanaged, found.root, sys.stdout.write)
    for finding in (*found.misplaced, *found.unread):
        where = listed(found.root, (finding.file,))
        severity = paint(finding.severity, finding.severity)
        sys.stdout.write(f"{plain(where)}: {severity} {finding.code} {plain(finding.message)}\n")
        sys.stdout.write(paint(f"  {plain(finding.hint)}", "note") + "\n")


def _why(hook: HookState) -> str:
    """The reason and the fix; that an agent lacks an event nothing fixes."""
    fix = "" if hook.fix.startswith("`hookport matrix`") else hook.fix
    return f"{hook.reason.rstrip('.')}. {fix}" if fix and hook.reason else hook.reason


def show_unmanaged(modules: Sequence[Module], root: str, write: Callable[[str], object]) -> None:
    """The modules of code that agents run and hookport does not manage, a line each."""
    for one in modules:
        finding = one.finding
        where = f"{one.agent}: {listed(root, (one.file,))}"
        write(plain(f"{where}: {finding.severity} {finding.code} {finding.message}") + "\n")


def _show_approval(approval: ApprovalStanding, paint: Paint) -> None:
    """Which approved state the project is in, what is not as in it, and what no approval covers."""
    if approval.lost:
        wrong = paint(
            plain(f"what was approved is unknown: {approval.lost}; run `hookport trust`"), "dropped"
        )
        sys.stdout.write(f"{paint('hooks', 'bold')}: {wrong}\n")
    elif approval.states:
        held = "as approved" + (f", in one of {approval.states} states" if approval.states > 1 else "")
        changed = ", ".join(f"{one.name} is {one.what}" for one in approval.differences) or "settings changed"
        wrong = paint(plain(f"not as approved: {changed}; run `hookport trust`"), "dropped")
        sys.stdout.write(f"{paint('hooks', 'bold')}: {held if approval.is_active else wrong}\n")
    for name, what in approval.not_covered.items():
        told = plain(f"  {name}: not covered by an approval: {', '.join(what)}")
        sys.stdout.write(paint(told, "note") + "\n")


def _is_refused(one: AgentState) -> bool:
    return any(finding.code == NotSynced.code for finding in one.findings)


def _head(root: str, one: AgentState) -> str:
    parts = [
        one.agent,
        one.mode or ("unknown" if _is_refused(one) else "nothing installed"),
        one.state if one.mode else "",
        listed(root, one.files),
    ]
    return "  ".join(part for part in parts if part)
