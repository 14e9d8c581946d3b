"""Install hooks of this project, or of the user, into the settings of the detected agents.

An agent is detected by its configuration folder or its program. `--mode native` writes each hook by itself,
behind the bridge where the agent's format differs; `bridge` writes one entry for each event, which finds the
hooks when it fires, so that only a hook on a new event needs another sync; `auto` chooses native where
nothing differs, otherwise bridge.

The rest of each file is left untouched; `hookport undo` reverts the run.

Some agents also read another agent's file, and may run a hook in it a second time. With --adopt its command
gets a test in front, which ends it where an entry of hookport runs the hook in that agent.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import NamedTuple

from hookport import doctor
from hookport import findings as f
from hookport.base.paths import spell_path
from hookport.cli import options, report
from hookport.cli.difference import format_difference
from hookport.cli.output import FileDocument, FindingDocument, describe_change, describe_finding
from hookport.console.document import print_document
from hookport.console.progress import Progress
from hookport.console.terminal import Paint, format_table, make_plain
from hookport.doctor.order import STARTS, find_gate
from hookport.findings import Finding
from hookport.install import lock, sync
from hookport.install.sync import AgentPlan, State, SyncPlan, SyncRequest
from hookport.install.targets import Scope
from hookport.project.discovery import discover

STYLES = {
    "written": "changed",
    "would write": "changed",
    "up to date": "kept",
    "drifted": "dropped",
    "missing": "dropped",
    "refused": "error",
}


EXAMPLES = {
    "hookport sync --dry-run": "Show what would change",
    "hookport sync --agent {agent},{third}": "Install into two agents",
    "hookport sync --check": "Fail in CI where an entry is missing or drifted",
    "hookport sync --scope user": "Install the user's own hooks for every project",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport sync`."""
    options.add_agents(parser)
    parser.add_argument(
        "--scope", metavar="SCOPE", choices=("project", "user"), default="project", help="Whose files to edit"
    )
    parser.add_argument(
        "--mode",
        metavar="MODE",
        choices=("auto", "native", "bridge"),
        default="auto",
        help="How to write the hooks",
    )
    parser.add_argument(
        "--vendor", action="store_true", help="Add the bridge to the project and let the entries call it"
    )
    parser.add_argument(
        "--adopt",
        action="store_true",
        help="Test the caller in front of commands that another agent reads too, so that they run once",
    )
    parser.add_argument(
        "--check", action="store_true", help="Write nothing and exit with 1 if something would change"
    )
    options.add_dry_run(parser)
    options.add_json(parser)


class AgentDocument(NamedTuple):
    """One agent; `state` is what was installed before the run, `reason` why in this mode."""

    agent: str
    scope: Scope
    mode: str
    state: State
    reason: str
    paths: tuple[str, ...]
    findings: tuple[FindingDocument, ...]


class Document(NamedTuple):
    """The agents, the files that changed or would change, and findings about the whole project."""

    root: str
    agents: tuple[AgentDocument, ...]
    files: tuple[FileDocument, ...]
    findings: tuple[FindingDocument, ...]
    written: bool


def run(args: Namespace) -> int:
    """Plan the edits, show or write them, and print the state of each agent."""
    env, cwd = dict(os.environ), str(Path.cwd())
    wish = SyncRequest(tuple(args.agents), args.scope, args.mode, args.vendor, args.adopt)
    is_dry = args.dry_run or args.check
    with Progress("sync") as progress:

        def make() -> SyncPlan:
            sync_plan = sync.plan_sync(cwd, env, wish, progress.show)
            progress.show("writing", 0, 0)
            return sync_plan

        plan = make() if is_dry else sync.apply(make, env, what="sync")
    if not args.json:
        word = "would write" if args.dry_run else "written"
        _print_plan(plan, word, drifts=args.check and not args.dry_run)
    if args.dry_run and not args.json:
        paint = Paint(sys.stdout)
        for change in plan.changes:
            sys.stdout.write(format_difference(change, paint))
    more = list(plan.findings)
    if args.check:
        drifted = find_drift(plan)
        if args.adopt:
            drifted = [finding._replace(hint="Run `hookport sync --adopt`.") for finding in drifted]
        more += [*drifted, *sync.find_unknown_dialects(plan, env), *lock.check(discover(cwd, env), env)]
        with Progress("sync --check"):
            more += find_failing_hooks(cwd, env, [agent.agent for agent in plan.agents])
    findings = [*plan.findings, *(finding for agent in plan.agents for finding in agent.findings)]
    findings += more[len(plan.findings) :]
    if args.json:
        print_document(make_document(plan, more, is_dry=is_dry))
    elif findings:
        sys.stderr.write(report.format_findings(findings, Paint(sys.stderr), {}))
    return report.compute_exit_code(findings, strict=False)


def make_document(plan: SyncPlan, findings: list[Finding], *, is_dry: bool) -> Document:
    """Make the document of `--json`."""
    return Document(
        plan.root,
        tuple(
            AgentDocument(
                agent.agent,
                agent.scope,
                agent.mode,
                agent.state,
                agent.why,
                agent.paths,
                tuple(map(describe_finding, agent.findings)),
            )
            for agent in plan.agents
        ),
        tuple(map(describe_change, plan.changes)),
        tuple(map(describe_finding, findings)),
        written=bool(plan.changes) and not is_dry,
    )


def find_failing_hooks(cwd: str, env: dict[str, str], names: list[str]) -> list[Finding]:
    """Find installed hooks that cannot work."""
    diagnoses = [
        diagnosis
        for agent_report in doctor.examine(cwd, env, names, is_quick=True)
        for diagnosis in agent_report.diagnoses
    ]
    wrong = [
        diagnosis.finding
        for diagnosis in diagnoses
        if diagnosis.finding.severity == "error" and diagnosis.dead
    ]
    return list(
        {
            (finding.file, finding.where, finding.code): finding
            for finding in wrong
            if find_gate(finding.code, "") == STARTS
        }.values()
    )


def find_drift(plan: SyncPlan) -> list[Finding]:
    """Find the agents whose entries are not as they should be, for `--check`."""
    drifted = [
        f.Drifted.at("", agent=agent.agent, state=agent.state)._replace(file=change.path)
        for agent in plan.agents
        for change in agent.changes
    ]
    known = {change.path for agent in plan.agents for change in agent.changes}
    rest = [change.path for change in plan.changes if change.path not in known]
    return drifted + [
        f.Drifted.at("", agent="this project", state="drifted")._replace(file=path) for path in rest
    ]


def _print_plan(plan: SyncPlan, word: str, *, drifts: bool) -> None:
    if not plan.agents:
        sys.stdout.write(
            "no agents found: no configuration folder here and no agent on PATH.\n"
            "hint: name one: hookport sync --agent AGENT\n"
        )
        return
    rows: list[tuple[str, ...]] = [("AGENT", "MODE", "STATE", "FILES")]
    rows += [_make_row(plan.root, agent_plan, word, drifts=drifts) for agent_plan in plan.agents]
    paint = Paint(sys.stdout)
    sys.stdout.write(format_table(rows, paint, STYLES))
    whys: dict[str, list[str]] = {}
    for agent in plan.agents:
        if agent.why:
            whys.setdefault(f"{agent.mode or 'nothing'}: {agent.why}", []).append(agent.agent)
    for why, agents in whys.items():
        sys.stdout.write(paint.fold(paint(f"{', '.join(agents)}: {make_plain(why)}", "note"), 2) + "\n")


def _make_row(root: str, agent_plan: AgentPlan, word: str, *, drifts: bool) -> tuple[str, ...]:
    state = "up to date"
    if any(finding.code == f.NotSynced.code for finding in agent_plan.findings):
        state = "refused"
    elif agent_plan.changes:
        state = agent_plan.state if drifts else word
    elif agent_plan.state == "absent":
        state = "nothing to do"
    return agent_plan.agent, agent_plan.mode or "–", state, format_paths(root, agent_plan.paths) or "–"


def format_paths(root: str, paths: tuple[str, ...]) -> str:
    """Format paths for a person; of many in one folder, the folder."""
    folders = {str(Path(path).parent) for path in paths}
    if len(paths) > 2 and len(folders) == 1:
        return f"{format_path(root, folders.pop())}: {len(paths)} files"
    return ", ".join(format_path(root, path) for path in paths)


def format_path(root: str, path: str) -> str:
    """Format a path for a person: relative to the project, or from the home."""
    return spell_path(path, root, os.environ)
