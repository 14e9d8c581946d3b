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
from datetime import UTC, datetime
from pathlib import Path

from hookport.cli import report
from hookport.cli.sync import add_agents, format_paths
from hookport.console.progress import Progress
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
    with Progress("status") as progress:
        project_status = read_status(str(Path.cwd()), dict(os.environ), args.agent, progress.show)
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
        sys.stdout.write(f"{paint.fold(paint(make_plain(pause_line), 'changed'), 2)}\n")
    if not project_status.agents:
        sys.stdout.write("no agent was found here, and nothing is installed.\n")
    for agent in project_status.agents:
        heading = make_plain(_format_heading(project_status.root, agent))
        sys.stdout.write(f"{paint.fold(paint(heading, 'bold'), 2)}\n")
        if agent.hooks:
            sys.stdout.write(_format_hooks(agent.hooks, paint))
        for finding in agent.findings:
            severity = paint(finding.severity, finding.severity)
            line = f"  {severity} {finding.code} {make_plain(finding.message)}"
            sys.stdout.write(f"{paint.fold(line, 4)}\n")
        if agent.mode:
            for note in agent.notes:
                sys.stdout.write(f"{paint.fold(paint(f'  {make_plain(note)}', 'note'), 4)}\n")
    print_unmanaged(project_status.unmanaged, project_status.root, sys.stdout.write, paint)
    for finding in (*project_status.misplaced, *project_status.unread):
        where = format_paths(project_status.root, (finding.file,))
        severity = paint(finding.severity, finding.severity)
        line = f"{make_plain(where)}: {severity} {finding.code} {make_plain(finding.message)}"
        sys.stdout.write(
            f"{paint.fold(line, 2)}\n{paint.fold(paint(f'  {make_plain(finding.hint)}', 'note'), 2)}\n"
        )


def _format_hooks(hooks: Sequence[HookState], paint: Paint) -> str:
    """Format the hooks of an agent; on a terminal what is wrong stands below them, once for all alike."""
    head = ("HOOK", "EVENT", "STATE", "DENY", "LAST RUN")
    if not paint.width:
        rows = [(*_make_row(hook, hook.fired), _format_reason(hook)) for hook in hooks]
        return format_table([(*head, ""), *rows], paint, STYLES, indent=2)
    now = datetime.now(UTC)
    rows = [_make_row(hook, format_ago(hook.fired, now)) for hook in hooks]
    reasons: dict[str, list[str]] = {}
    for hook in hooks:
        if reason := _format_reason(hook):
            reasons.setdefault(reason, []).append(hook.name)
    below = (make_plain(f"  {', '.join(names)}: {reason}") for reason, names in reasons.items())
    return format_table([head, *rows], paint, STYLES, indent=2) + "".join(
        f"{paint.fold(paint(line, 'note'), 4)}\n" for line in below
    )


def _make_row(hook: HookState, last_run: str) -> tuple[str, ...]:
    return hook.name, hook.event, hook.state, hook.level, last_run or "never"


def format_ago(time: str, now: datetime) -> str:
    """Format how long ago something was, in the largest unit that fits; the time where it cannot be read."""
    try:
        seconds = (now - datetime.fromisoformat(time)).total_seconds()
    except (ValueError, TypeError):
        return time
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit} ago"
    return "just now"


def _format_reason(hook: HookState) -> str:
    """Format the reason and the fix; nothing fixes that an agent lacks an event."""
    fix = "" if hook.fix.startswith("`hookport matrix`") else hook.fix
    return f"{hook.reason.rstrip('.')}. {fix}" if fix and hook.reason else hook.reason


def print_unmanaged(
    modules: Sequence[Module], root: str, write: Callable[[str], object], paint: Paint
) -> None:
    """Print the code modules that agents run and hookport does not manage, a line each."""
    for module in modules:
        finding = module.finding
        where = f"{module.agent}: {format_paths(root, (module.file,))}"
        line = make_plain(f"{where}: {finding.severity} {finding.code} {finding.message}")
        write(f"{paint.fold(line, 2)}\n")


def _print_approval(approval: ApprovalStanding, paint: Paint) -> None:
    """Print which approved state the project is in, what differs, and what no approval covers."""
    if approval.lost:
        wrong = paint(
            make_plain(f"what was approved is unknown: {approval.lost}; run `hookport trust`"), "dropped"
        )
        sys.stdout.write(paint.fold(f"{paint('hooks', 'bold')}: {wrong}", 2) + "\n")
    elif approval.states:
        held = "as approved" + (f", in one of {approval.states} states" if approval.states > 1 else "")
        changed = (
            ", ".join(f"{difference.name} is {difference.what}" for difference in approval.differences)
            or "settings changed"
        )
        wrong = paint(make_plain(f"not as approved: {changed}; run `hookport trust`"), "dropped")
        line = f"{paint('hooks', 'bold')}: {held if approval.is_active else wrong}"
        sys.stdout.write(f"{paint.fold(line, 2)}\n")
    for name, what in approval.not_covered.items():
        line = make_plain(f"  {name}: not covered by an approval: {', '.join(what)}")
        sys.stdout.write(f"{paint.fold(paint(line, 'note'), 4)}\n")


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
