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
from hookport.cli.sync import AgentProgress, add_agents, format_paths
from hookport.console.terminal import Paint, format_table, make_plain
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
    progress = AgentProgress("status")
    project_status = read_status(str(Path.cwd()), dict(os.environ), args.agent, progress)
    progress.end()
    if args.json:
        sys.stdout.write(json.dumps(_as_json(project_status), indent=2, ensure_ascii=False) + "\n")
    else:
        _print_status(project_status)
    return int(any(map(_is_refused, project_status.agents)))


def _as_json(project_status: Status) -> dict[str, object]:
    return {
        "root": project_status.root,
        "approval": {
            **project_status.approval._asdict(),
            "differences": [difference._asdict() for difference in project_status.approval.differences],
        },
        "paused": {name: format_time(until) for name, until in project_status.paused.items()},
        "agents": [
            {
                **agent._asdict(),
                "files": list(agent.files),
                "hooks": [hook._asdict() for hook in agent.hooks],
                "notes": list(agent.notes),
                "findings": [report.as_placed_json(finding) for finding in agent.findings],
            }
            for agent in project_status.agents
        ],
        "unmanaged": [module._asdict() for module in project_status.unmanaged],
        "misplaced": [report.as_placed_json(finding) for finding in project_status.misplaced],
        "unread": [report.as_placed_json(finding) for finding in project_status.unread],
    }


def _print_status(project_status: Status) -> None:
    paint = Paint(sys.stdout)
    _print_approval(project_status.approval, paint)
    for name, until in project_status.paused.items():
        what = "every hook" if name == pauses.EVERY else name
        pause_line = f"paused: {what} until {pauses.format_time(until)}; `hookport pause --end` ends it"
        sys.stdout.write(paint(make_plain(pause_line), "changed") + "\n")
    if not project_status.agents:
        sys.stdout.write("no agent was found here, and nothing is installed.\n")
    for agent in project_status.agents:
        sys.stdout.write(f"{paint(make_plain(_format_heading(project_status.root, agent)), 'bold')}\n")
        rows: list[tuple[str, ...]] = [("  HOOK", "EVENT", "STATE", "DENY", "LAST RUN", "")]
        rows += [
            (
                f"  {hook.name}",
                hook.event,
                hook.state,
                hook.level,
                hook.fired or "never",
                _format_reason(hook),
            )
            for hook in agent.hooks
        ]
        if agent.hooks:
            sys.stdout.write(format_table(rows, paint, STYLES))
        for finding in agent.findings:
            severity = paint(finding.severity, finding.severity)
            sys.stdout.write(f"  {severity} {finding.code} {make_plain(finding.message)}\n")
        if agent.mode:
            for note in agent.notes:
                sys.stdout.write(paint(f"  {make_plain(note)}", "note") + "\n")
    print_unmanaged(project_status.unmanaged, project_status.root, sys.stdout.write)
    for finding in (*project_status.misplaced, *project_status.unread):
        where = format_paths(project_status.root, (finding.file,))
        severity = paint(finding.severity, finding.severity)
        sys.stdout.write(f"{make_plain(where)}: {severity} {finding.code} {make_plain(finding.message)}\n")
        sys.stdout.write(paint(f"  {make_plain(finding.hint)}", "note") + "\n")


def _format_reason(hook: HookState) -> str:
    """Format the reason and the fix; nothing fixes that an agent lacks an event."""
    fix = "" if hook.fix.startswith("`hookport matrix`") else hook.fix
    return f"{hook.reason.rstrip('.')}. {fix}" if fix and hook.reason else hook.reason


def print_unmanaged(modules: Sequence[Module], root: str, write: Callable[[str], object]) -> None:
    """Print the code modules that agents run and hookport does not manage, a line each."""
    for module in modules:
        finding = module.finding
        where = f"{module.agent}: {format_paths(root, (module.file,))}"
        write(make_plain(f"{where}: {finding.severity} {finding.code} {finding.message}") + "\n")


def _print_approval(approval: ApprovalStanding, paint: Paint) -> None:
    """Print which approved state the project is in, what differs, and what no approval covers."""
    if approval.lost:
        wrong = paint(
            make_plain(f"what was approved is unknown: {approval.lost}; run `hookport trust`"), "dropped"
        )
        sys.stdout.write(f"{paint('hooks', 'bold')}: {wrong}\n")
    elif approval.states:
        held = "as approved" + (f", in one of {approval.states} states" if approval.states > 1 else "")
        changed = (
            ", ".join(f"{difference.name} is {difference.what}" for difference in approval.differences)
            or "settings changed"
        )
        wrong = paint(make_plain(f"not as approved: {changed}; run `hookport trust`"), "dropped")
        sys.stdout.write(f"{paint('hooks', 'bold')}: {held if approval.is_active else wrong}\n")
    for name, what in approval.not_covered.items():
        line = make_plain(f"  {name}: not covered by an approval: {', '.join(what)}")
        sys.stdout.write(paint(line, "note") + "\n")


def _is_refused(agent: AgentState) -> bool:
    return any(finding.code == NotSynced.code for finding in agent.findings)


def _format_heading(root: str, agent: AgentState) -> str:
    parts = [
        agent.agent,
        agent.mode or ("unknown" if _is_refused(agent) else "nothing installed"),
        agent.state if agent.mode else "",
        format_paths(root, agent.files),
    ]
    return "  ".join(part for part in parts if part)
