"""Show for each agent and hook whether it is installed, whether its deny holds there, and when it last ran.

STATE is `installed`, `drifted` (the entry was changed), `missing`, or `by itself` (the agent reads the file
that the hook is in). DENY is `enforced`, `advisory` (the hook runs and cannot block), `failing` (it cannot
start, or failed on its last runs) or `unavailable` (it never runs there). `enforced, except in sub-agents`:
the agent asks no hook about these calls; `hookport matrix AGENT` says more.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from hookport.cli import options
from hookport.cli.agent_tables import format_level
from hookport.cli.output import FindingDocument, describe_finding
from hookport.cli.sync import format_paths
from hookport.console.document import print_document
from hookport.console.progress import Progress
from hookport.console.terminal import Paint, format_table, make_plain
from hookport.doctor.status import AgentState, HookState, Status, read_status
from hookport.findings import NotSynced
from hookport.install.lock import ApprovalStanding, LockDifference, What
from hookport.install.targets import Scope
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


EXAMPLES = {
    "hookport status": "Show every detected agent",
    "hookport status --agent {agent},{third}": "Show two agents",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport status`."""
    options.add_agents(parser)
    options.add_json(parser)


class DifferenceDocument(NamedTuple):
    """A hook that is not as approved; `files` has those of its files that differ."""

    what: What
    id: str
    name: str
    is_redefined: bool
    files: dict[str, What]


class ApprovalDocument(NamedTuple):
    """How the hooks stand to what was approved; `lost` is why that is unknown."""

    states: int
    is_active: bool
    approved: str
    differences: tuple[DifferenceDocument, ...]
    not_covered: dict[str, tuple[str, ...]]
    lost: str


class AgentDocument(NamedTuple):
    """An agent: hookport's entries in its files, and its hooks."""

    agent: str
    title: str
    shown: str
    scope: Scope
    mode: str
    state: str
    files: tuple[str, ...]
    hooks: tuple[HookState, ...]
    notes: tuple[str, ...]
    findings: tuple[FindingDocument, ...]


class Document(NamedTuple):
    """The project; `paused` has the end of each pause by the name of the hook, `*` for every hook."""

    root: str
    approval: ApprovalDocument
    paused: dict[str, str]
    agents: tuple[AgentDocument, ...]
    unmanaged: tuple[Module, ...]
    misplaced: tuple[FindingDocument, ...]
    unread: tuple[FindingDocument, ...]


def run(args: Namespace) -> int:
    """Print the state of every agent; exit code 1 where a settings file cannot be read."""
    with Progress("status") as progress:
        project_status = read_status(str(Path.cwd()), dict(os.environ), args.agents, progress.show)
    if args.json:
        print_document(make_document(project_status))
    else:
        _print_status(project_status)
    return int(any(map(_is_refused, project_status.agents)))


def make_document(project_status: Status) -> Document:
    """Make the document of `--json`."""
    approval = project_status.approval
    return Document(
        project_status.root,
        ApprovalDocument(
            approval.states,
            approval.is_active,
            approval.approved,
            tuple(map(describe_difference, approval.differences)),
            dict(approval.not_covered),
            approval.lost,
        ),
        {name: format_time(until) for name, until in project_status.paused.items()},
        tuple(map(_describe_agent, project_status.agents)),
        project_status.unmanaged,
        tuple(map(describe_finding, project_status.misplaced)),
        tuple(map(describe_finding, project_status.unread)),
    )


def describe_difference(difference: LockDifference) -> DifferenceDocument:
    """Describe for `--json` how a hook differs from what was approved."""
    return DifferenceDocument(*difference._replace(files=())[:-1], dict(difference.files))


def _describe_agent(agent: AgentState) -> AgentDocument:
    return AgentDocument(*agent[:-1], tuple(map(describe_finding, agent.findings)))


def _print_status(project_status: Status) -> None:
    paint = Paint(sys.stdout)
    _print_approval(project_status.approval, paint)
    for name, until in project_status.paused.items():
        what = "every hook" if name == pauses.EVERY else name
        pause_line = f"paused: {what} until {pauses.format_time(until)}; `hookport pause --end` ends it"
        sys.stdout.write(f"{paint.fold(paint(make_plain(pause_line), 'changed'), 2)}\n")
    if not project_status.agents:
        sys.stdout.write("no agents found, and nothing is installed.\n")
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
    styles = {**STYLES, **{format_level(hook.level, hook.exceptions): STYLES[hook.level] for hook in hooks}}
    if not paint.width:
        rows = [(*_make_row(hook, hook.fired), _format_reason(hook)) for hook in hooks]
        return format_table([(*head, ""), *rows], paint, styles, indent=2)
    now = datetime.now(UTC)
    rows = [_make_row(hook, format_ago(hook.fired, now)) for hook in hooks]
    reasons: dict[str, list[str]] = {}
    for hook in hooks:
        if reason := _format_reason(hook):
            reasons.setdefault(reason, []).append(hook.name)
    below = (make_plain(f"  {', '.join(names)}: {reason}") for reason, names in reasons.items())
    return format_table([head, *rows], paint, styles, indent=2) + "".join(
        f"{paint.fold(paint(line, 'note'), 4)}\n" for line in below
    )


def _make_row(hook: HookState, last_run: str) -> tuple[str, ...]:
    level = format_level(hook.level, hook.exceptions)
    return hook.name, hook.event, hook.state, level, last_run or "never"


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
    if hook.exceptions:
        return f"except {', '.join(hook.exceptions)}"
    return f"{hook.reason.rstrip('.')}. {hook.fix}" if hook.fix and hook.reason else hook.reason


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
