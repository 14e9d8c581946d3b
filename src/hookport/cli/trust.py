"""Look at what is new or changed in the hooks of this project, and approve it.

A dispatch runs a hook of a project only if its definition and the files that it runs are as you approved
them. What you approve is written to hookport.lock in the project, and remembered for you alone.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from hookport.agents import get, list_markers
from hookport.agents import list_agents as all_agents
from hookport.cli import report
from hookport.console.terminal import Paint, plain
from hookport.errors import UsageError
from hookport.findings import AgentSkips, Finding, NotRunHere
from hookport.install import agent_trust, lock, sync
from hookport.install.coverage import find_gaps, report_gaps
from hookport.install.lock import Lock
from hookport.install.review import Review, escape_controls, review
from hookport.install.targets import SCOPES, find_target
from hookport.project import environment
from hookport.project.discovery import Discovery, discover
from hookport.project.misplaced import find_misplaced
from hookport.project.ownership import is_ours
from hookport.project.plan_builder import list_enabled
from hookport.runtime import approvals, consent, trust


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport trust`."""
    parser.add_argument("--yes", action="store_true", help="approve without asking")
    parser.add_argument("--dry-run", action="store_true", help="show what is new, approve nothing")
    parser.add_argument(
        "--check", action="store_true", help="exit 1 with the list if anything is not approved; asks nothing"
    )
    parser.add_argument("--json", action="store_true", help="print the same as JSON; asks nothing")
    parser.add_argument(
        "--agents",
        action="store_true",
        help="also approve the hooks that agents keep an approval of their own for",
    )


def run(args: Namespace) -> int:
    """Show, ask, approve; exit code 1 if the user does not."""
    env = dict(os.environ)
    found = discover(str(Path.cwd()), env)
    if args.check:
        return _check(found, env, as_json=args.json)
    contents = lock.collect_texts(found, env)
    after = lock.build(found, env)
    state = approvals.find_approved_state(found.root, after, env)
    before, when = dict(state.lock), state.when
    reviews = review(found, before, after, contents, env)
    untrusted = agent_trust.list_untrusted(found.root, env)
    skipped, agents = _of_project(untrusted, found), untrusted if args.agents else []
    tree: dict[str, object] = {
        "root": found.root,
        "approved": when,
        "lock": lock.hash_lock(lock.drop_private_hooks(found, after, env)),
        "hooks": [_as_json(one) for one in reviews],
        "settings": {"approved": before.get("settings", {}), "now": after["settings"]},
        "agents": [one._asdict() for one in agents],
    }
    unread = [one.finding for one in find_misplaced(found.root, env)]
    is_same = (bool(when) or bool(before["hooks"])) and before == after and not agents
    if not args.json:
        _print(found.root, reviews, _since(when, state.how), agents)
        _print_settings(before.get("settings", {}), after["settings"])
        if found.findings or unread:
            sys.stderr.write(report.grouped([*found.findings, *unread], Paint(sys.stderr), {}))
    how = ""
    if not args.dry_run:
        how = (
            state.how or consent.ASKED
            if is_same
            else consent.ask_consent(found.root, env, list_markers(), yes=args.yes, asks=not args.json)
        )
    is_agreed = bool(how)
    if is_agreed:
        _approve(found.root, after, env, how)
        asks = not (args.json or args.yes or agents) and sys.stdin.isatty()
        agents = skipped if asks and _asked_for(skipped) else agents
        agent_trust.approve(agents, found.root, env)
    left = [*environment.find_steering(found.root), *([] if agents else _findings(skipped))]
    left += _without_entry(found, env) if is_agreed else []
    if args.json:
        tree["written"] = is_agreed
        tree["findings"] = [report.as_placed_json(one) for one in (*left, *found.findings, *unread)]
        sys.stdout.write(json.dumps(tree, indent=2, ensure_ascii=False) + "\n")
    elif is_agreed and not is_same:
        count = len(after["hooks"])
        sys.stdout.write(f"approved: {count} hook{'' if count == 1 else 's'}. {trust.LOCK} is written.\n")
        sys.stdout.write(f"for CI: {trust.VARIABLE}={tree['lock']}\n")
    elif not args.dry_run and not is_agreed:
        sys.stdout.write("nothing was approved.\n")
        return 1
    if left and not args.json:
        sys.stderr.write(report.grouped(left, Paint(sys.stderr), {}))
    # What could not be read was not approved, though the rest may be.
    return report.worst([*left, *found.findings, *unread], strict=False)


def _check(found: Discovery, env: Mapping[str, str], *, as_json: bool) -> int:
    """Whether the hooks are as approved, and the lock in the project is that of these hooks; for CI."""
    standing = lock.find_standing(found, env)
    findings = lock.check(found, env)
    if as_json:
        tree = {
            "root": found.root,
            "is_approved": standing.is_active,
            "hooks": [one._asdict() for one in standing.differences],
            "findings": [report.as_placed_json(one) for one in findings],
        }
        sys.stdout.write(json.dumps(tree, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stderr.write(report.grouped(findings, Paint(sys.stderr), {}))
        if not findings:
            sys.stdout.write("all hooks are approved.\n")
    return 1 if findings else 0


def _of_project(untrusted: list[agent_trust.AgentHook], found: Discovery) -> list[agent_trust.AgentHook]:
    """The hooks of this project, and entries of ours, that an agent skips until it trusts them itself."""
    files = {one.file for one in found.hooks}
    return [one for one in untrusted if is_ours(one.command) or one.file in files]


def _findings(skipped: list[agent_trust.AgentHook]) -> list[Finding]:
    counts = Counter((one.agent, one.file) for one in skipped)
    return [
        AgentSkips.at("", agent=agent, count=f"{count} hook{'s' * (count != 1)}")._replace(file=file)
        for (agent, file), count in counts.items()
    ]


def _without_entry(found: Discovery, env: dict[str, str]) -> list[Finding]:
    """Hooks on events for which an agent that has entries of ours has none: they need a sync."""
    left: list[Finding] = []
    for agent in all_agents():
        scopes = [
            sync.find_installed(find_target(agent, scope, found.root, env), found).installed
            for scope in SCOPES
        ]
        if any(one.ours for one in scopes):
            gaps = find_gaps(list_enabled(found), (), scopes, found.root)
            told = (finding for finding, _ in report_gaps(gaps, get(agent)))
            left += [finding for finding in told if finding.code == NotRunHere.code]
    return left


def _asked_for(skipped: list[agent_trust.AgentHook]) -> bool:
    if not skipped:
        return False
    agents = ", ".join(dict.fromkeys(one.agent for one in skipped))
    return consent.is_agreed(
        f"{agents} skips {len(skipped)} of them until it trusts them itself. Trust them there? [y/N] "
    )


def _approve(root: str, seen: Lock, env: dict[str, str], how: str) -> None:
    """Write what was looked at, unless it is not what there is any more."""
    found = discover(root, env)
    contents = lock.collect_texts(found, env)
    if lock.build(found, env) != seen:
        raise UsageError("the hooks changed while you looked at them. Nothing was approved. Look again.")
    lock.write(root, lock.drop_private_hooks(found, seen, env))
    approvals.store_approval(root, seen, contents, env, how)


def _as_json(one: Review) -> dict[str, object]:
    return {
        "what": one.difference.what,
        "id": one.difference.id,
        "name": one.difference.name,
        "runs": one.runs,
        "files": dict(one.difference.files),
        "capabilities": list(one.capabilities),
        "network": list(one.network),
        "not_covered": list(one.not_covered),
        "diff": list(one.diff),
    }


STYLES = {"new": "kept", "changed": "changed", "gone": "dropped"}


def _print_settings(before: Mapping[str, object], after: Mapping[str, object]) -> None:
    """What the project says of failures and tampering, where that is not what was approved."""
    paint = Paint(sys.stdout)
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was != now:
            sys.stdout.write(
                f"{paint('settings', 'changed')}  {name}: {was or 'unset'} → {now or 'unset'}\n\n"
            )


def _since(when: str, how: str) -> str:
    if not when:
        return "nothing of it was approved yet"
    return f"since you approved it on {when[:10]}{', unattended' * (how == consent.UNATTENDED)}"


def _print(root: str, reviews: list[Review], since: str, agents: list[agent_trust.AgentHook]) -> None:
    paint = Paint(sys.stdout)
    sys.stdout.write(f"{paint(plain(root), 'bold')}: {since}\n")
    for one in reviews:
        it = one.difference
        sys.stdout.write(
            f"\n{paint(it.what, STYLES[it.what])}  {escape_controls(it.name)}  {escape_controls(it.id)}\n"
        )
        for what, said in (("runs", one.runs), ("uses", ", ".join(one.capabilities))):
            if said:
                sys.stdout.write(f"  {what}: {plain(said)}\n")
        if one.not_covered:
            sys.stdout.write(f"  {paint('not covered', 'loss')}: {plain(', '.join(one.not_covered))}\n")
        for said in one.network:
            sys.stdout.write(f"  {paint('network', 'loss')}: {plain(said)}\n")
        for line in one.diff:
            style = "kept" if line.startswith("+") else "dropped" if line.startswith("-") else ""
            sys.stdout.write(f"    {paint(plain(line), style)}\n")
    for hook in agents:
        sys.stdout.write(f"\n{paint(hook.state, 'loss')}  {hook.agent}: {escape_controls(hook.key)}\n")
        sys.stdout.write(f"  runs: {escape_controls(hook.command)}\n")
    if not reviews and not agents:
        sys.stdout.write("  nothing is new or changed\n")
    sys.stdout.write("\n")
