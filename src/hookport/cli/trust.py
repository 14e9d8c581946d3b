"""Review what is new or changed in the hooks of this project, and approve it.

A hook of a project runs only if its definition and the files that it runs are as you approved them. The
approval is written to hookport.lock in the project, and remembered for you alone.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.agents import get, list_markers
from hookport.agents import list_agents as all_agents
from hookport.base.tree import Tree
from hookport.cli import options, report
from hookport.cli.output import FindingDocument, describe_finding
from hookport.console.document import print_document
from hookport.console.terminal import Paint, make_plain
from hookport.findings import AgentSkips, Finding, NotRunHere
from hookport.install import agent_trust, lock, sync
from hookport.install.coverage import find_gaps, report_gaps
from hookport.install.lock import What
from hookport.install.review import Review, escape_controls, review
from hookport.install.targets import SCOPES, find_target
from hookport.project import environment
from hookport.project.discovery import Discovery, discover
from hookport.project.misplaced import find_misplaced
from hookport.project.ownership import is_ours
from hookport.project.plan_builder import list_enabled
from hookport.runtime import approvals, consent, trust

EXAMPLES = {
    "hookport trust --dry-run": "Show what is new or changed",
    "hookport trust": "Review the hooks and approve them",
    "hookport trust --check": "Fail in CI where a hook is not approved",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport trust`."""
    parser.add_argument(
        "--check", action="store_true", help="Ask nothing and exit with 1 if something is not approved"
    )
    parser.add_argument(
        "--in-agents",
        action="store_true",
        help="Also approve, in the agents' own files, hooks that they skip until approved",
    )
    options.add_yes(parser)
    options.add_dry_run(parser)
    options.add_json(parser)


class HookDocument(NamedTuple):
    """A hook that is new, changed or gone, and what it reaches."""

    what: What
    id: str
    name: str
    runs: str
    files: dict[str, What]
    capabilities: tuple[str, ...]
    network: tuple[str, ...]
    not_covered: tuple[str, ...]
    diff: tuple[str, ...]


class SettingsDocument(NamedTuple):
    """The project's settings as approved and as they are."""

    approved: dict[str, Tree]
    now: dict[str, Tree]


class Document(NamedTuple):
    """What differs from the approval; `approved` is its date and `lock` the hash that CI compares."""

    root: str
    is_approved: bool
    approved: str
    lock: str
    hooks: tuple[HookDocument, ...]
    settings: SettingsDocument
    agents: tuple[agent_trust.AgentHook, ...]
    written: bool
    findings: tuple[FindingDocument, ...]


def run(args: Namespace) -> int:
    """Show, ask, approve; exit code 1 if the user declines."""
    env = dict(os.environ)
    discovery = discover(str(Path.cwd()), env)
    if args.check:
        return _check_approval(discovery, env, as_json=args.json)
    contents = lock.collect_texts(discovery, env)
    after = lock.build(discovery, env)
    state = approvals.find_approved_state(discovery.root, after, env)
    before, when = dict(state.lock), state.when
    reviews = review(discovery, before, after, contents, env)
    hash_ = lock.hash_lock(lock.drop_private_hooks(discovery, after, env))
    untrusted = agent_trust.list_untrusted(discovery.root, env)
    skipped, agents = _select_project_hooks(untrusted, discovery), untrusted if args.in_agents else []
    unread = [misplaced.finding for misplaced in find_misplaced(discovery.root, env)]
    is_same = (bool(when) or bool(before["hooks"])) and before == after and not agents
    if not args.json:
        _print_reviews(discovery.root, reviews, _format_since(when, state.how), agents)
        _print_settings(before.get("settings", {}), after["settings"])
        if discovery.findings or unread:
            sys.stderr.write(report.format_findings([*discovery.findings, *unread], Paint(sys.stderr), {}))
    how = ""
    if not args.dry_run:
        how = (
            state.how or consent.ASKED
            if is_same
            else consent.ask_consent(discovery.root, env, list_markers(), yes=args.yes, asks=not args.json)
        )
    is_agreed = bool(how)
    if is_agreed:
        lock.approve(discovery.root, after, env, how)
        asks = not (args.json or args.yes or agents) and sys.stdin.isatty()
        agents = skipped if asks and _is_agent_trust_agreed(skipped) else agents
        agent_trust.approve(agents, discovery.root, env)
    remaining = [
        *environment.find_steering(discovery.root),
        *([] if agents else _make_skip_findings(skipped)),
    ]
    remaining += _find_missing_entries(discovery, env) if is_agreed else []
    if args.json:
        print_document(
            Document(
                discovery.root,
                is_agreed or is_same,
                when,
                hash_,
                tuple(map(_describe_review, reviews)),
                SettingsDocument(before.get("settings", {}), after["settings"]),
                tuple(agents),
                is_agreed,
                tuple(map(describe_finding, (*remaining, *discovery.findings, *unread))),
            )
        )
    elif is_agreed and not is_same:
        count = len(after["hooks"])
        sys.stdout.write(f"approved {count} hook{'' if count == 1 else 's'}; wrote {trust.LOCK}.\n")
        sys.stdout.write(f"for CI: {trust.VARIABLE}={hash_}\n")
    elif not args.dry_run and not is_agreed:
        sys.stdout.write("nothing was approved.\n")
        return 1
    if remaining and not args.json:
        sys.stderr.write(report.format_findings(remaining, Paint(sys.stderr), {}))
    # What could not be read was not approved, though the rest may be.
    return report.compute_exit_code([*remaining, *discovery.findings, *unread], strict=False)


def _check_approval(discovery: Discovery, env: Mapping[str, str], *, as_json: bool) -> int:
    """Whether the hooks are as approved, and the lock in the project is that of these hooks; for CI."""
    standing = lock.find_standing(discovery, env)
    findings = lock.check(discovery, env)
    if as_json:
        after = lock.build(discovery, env)
        before = dict(approvals.find_approved_state(discovery.root, after, env).lock)
        contents = lock.collect_texts(discovery, env)
        print_document(
            Document(
                discovery.root,
                standing.is_active,
                standing.approved,
                lock.hash_lock(lock.drop_private_hooks(discovery, after, env)),
                tuple(map(_describe_review, review(discovery, before, after, contents, env))),
                SettingsDocument(before.get("settings", {}), after["settings"]),
                (),
                written=False,
                findings=tuple(map(describe_finding, findings)),
            )
        )
    else:
        sys.stderr.write(report.format_findings(findings, Paint(sys.stderr), {}))
        if not findings:
            sys.stdout.write("all hooks are approved.\n")
    return 1 if findings else 0


def _select_project_hooks(
    untrusted: list[agent_trust.AgentHook], discovery: Discovery
) -> list[agent_trust.AgentHook]:
    """Select this project's hooks and hookport's entries that an agent skips until it trusts them itself."""
    files = {hook.file for hook in discovery.hooks}
    return [agent_hook for agent_hook in untrusted if is_ours(agent_hook.command) or agent_hook.file in files]


def _make_skip_findings(skipped: list[agent_trust.AgentHook]) -> list[Finding]:
    counts = Counter((agent_hook.agent, agent_hook.file) for agent_hook in skipped)
    return [
        AgentSkips.at("", agent=agent, count=f"{count} hook{'s' * (count != 1)}")._replace(file=file)
        for (agent, file), count in counts.items()
    ]


def _find_missing_entries(discovery: Discovery, env: dict[str, str]) -> list[Finding]:
    """Find hooks on events without an entry, in agents with hookport's entries: they need a sync."""
    missing_entries: list[Finding] = []
    for agent in all_agents():
        targets = [find_target(agent, scope, discovery.root, env) for scope in SCOPES]
        if any(sync.read_our_entries(target, path) for target in targets for path in target.list_files()):
            scopes = [sync.find_installed(target, discovery).installed for target in targets]
            gaps = find_gaps(list_enabled(discovery), (), scopes, discovery.root)
            gap_findings = (finding for finding, _ in report_gaps(gaps, get(agent)))
            missing_entries += [finding for finding in gap_findings if finding.code == NotRunHere.code]
    return missing_entries


def _is_agent_trust_agreed(skipped: list[agent_trust.AgentHook]) -> bool:
    if not skipped:
        return False
    agents = ", ".join(dict.fromkeys(agent_hook.agent for agent_hook in skipped))
    return consent.is_agreed(
        f"{agents} skips {len(skipped)} of them until it trusts them itself. Trust them there? [y/N] "
    )


def _describe_review(hook_review: Review) -> HookDocument:
    return HookDocument(
        hook_review.difference.what,
        hook_review.difference.id,
        hook_review.difference.name,
        hook_review.runs,
        dict(hook_review.difference.files),
        hook_review.capabilities,
        hook_review.network,
        hook_review.not_covered,
        hook_review.diff,
    )


STYLES = {"new": "kept", "changed": "changed", "gone": "dropped"}


def _print_settings(before: Mapping[str, object], after: Mapping[str, object]) -> None:
    """Print the project's settings that differ from the approved ones."""
    paint = Paint(sys.stdout)
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was != now:
            line = f"{paint('settings', 'changed')}  {name}: {was or 'unset'} → {now or 'unset'}"
            sys.stdout.write(f"{paint.fold(line, 2)}\n\n")


def _format_since(when: str, how: str) -> str:
    if not when:
        return "not approved yet"
    return f"since you approved it on {when[:10]}{', unattended' * (how == consent.UNATTENDED)}"


def _print_reviews(root: str, reviews: list[Review], since: str, agents: list[agent_trust.AgentHook]) -> None:
    paint = Paint(sys.stdout)
    sys.stdout.write(paint.fold(f"{paint(make_plain(root), 'bold')}: {since}", 2) + "\n")
    for hook_review in reviews:
        difference = hook_review.difference
        word = paint(difference.what, STYLES[difference.what])
        line = f"{word}  {escape_controls(difference.name)}  {escape_controls(difference.id)}"
        sys.stdout.write(f"\n{paint.fold(line, 2)}\n")
        for label, text in (("runs", hook_review.runs), ("uses", ", ".join(hook_review.capabilities))):
            if text:
                sys.stdout.write(f"{paint.fold(f'  {label}: {make_plain(text)}', 4)}\n")
        if hook_review.not_covered:
            line = f"  {paint('not covered', 'loss')}: {make_plain(', '.join(hook_review.not_covered))}"
            sys.stdout.write(f"{paint.fold(line, 4)}\n")
        for text in hook_review.network:
            line = f"  {paint('network', 'loss')}: {make_plain(text)}"
            sys.stdout.write(f"{paint.fold(line, 4)}\n")
        for line in hook_review.diff:
            style = "kept" if line.startswith("+") else "dropped" if line.startswith("-") else ""
            sys.stdout.write(f"{paint.fold(f'    {paint(make_plain(line), style)}', 6)}\n")
    for hook in agents:
        line = f"{paint(hook.state, 'loss')}  {hook.agent}: {escape_controls(hook.key)}"
        sys.stdout.write(f"\n{paint.fold(line, 2)}\n")
        sys.stdout.write(f"{paint.fold(f'  runs: {escape_controls(hook.command)}', 4)}\n")
    if not reviews and not agents:
        sys.stdout.write("  nothing is new or changed\n")
    sys.stdout.write("\n")
