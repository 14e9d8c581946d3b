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
from pathlib import Path

from hookport.cli import report
from hookport.cli.terminal import Paint
from hookport.errors import UsageError
from hookport.findings import AgentSkips, Finding
from hookport.install import agent_trust, lock
from hookport.install.lock import Lock
from hookport.install.review import Review, review, shown
from hookport.planning import is_ours
from hookport.project.discovery import Discovery, discover
from hookport.runtime import trust


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport trust`."""
    parser.add_argument("--yes", action="store_true", help="approve without asking")
    parser.add_argument("--dry-run", action="store_true", help="show what is new, approve nothing")
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
    contents = lock.texts(found, env)
    after = lock.build(found, env)
    before, when = lock.approved(found.root, env)
    reviews = review(found, before, after, contents, env)
    untrusted = agent_trust.untrusted(found.root, env)
    skipped, agents = _of_project(untrusted, found), untrusted if args.agents else []
    tree: dict[str, object] = {
        "root": found.root,
        "approved": when,
        "lock": lock.digest(after),
        "hooks": [_as_json(one) for one in reviews],
        "agents": [one._asdict() for one in agents],
    }
    is_same = bool(when) and before == after and not agents
    if not args.json:
        _print(found.root, reviews, when, agents)
        if found.findings:
            sys.stderr.write(report.grouped(found.findings, Paint(sys.stderr), {}))
    is_agreed = not args.dry_run and (is_same or args.yes or (not args.json and _asked()))
    if not args.dry_run and args.json and not args.yes and not is_same:
        raise UsageError("nothing was approved: --json asks nothing. Say --yes or --dry-run.")
    if is_agreed:
        _approve(found.root, after, env)
        asks = not (args.json or args.yes or agents) and sys.stdin.isatty()
        agents = skipped if asks and _asked_for(skipped) else agents
        agent_trust.approve(agents, env)
    left = [] if agents else _findings(skipped)
    if args.json:
        tree["written"] = is_agreed
        tree["findings"] = [report.as_placed_json(one) for one in left]
        sys.stdout.write(json.dumps(tree, indent=2, ensure_ascii=False) + "\n")
    elif is_agreed and not is_same:
        count = len(after["hooks"])
        sys.stdout.write(f"approved: {count} hook{'' if count == 1 else 's'}. {trust.LOCK} is written.\n")
        sys.stdout.write(f"for CI: {trust.VARIABLE}={lock.digest(after)}\n")
    elif not args.dry_run and not is_agreed:
        sys.stdout.write("nothing was approved.\n")
        return 1
    if left and not args.json:
        sys.stderr.write(report.grouped(left, Paint(sys.stderr), {}))
    return report.worst(left, strict=False)


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


def _asked_for(skipped: list[agent_trust.AgentHook]) -> bool:
    if not skipped:
        return False
    agents = ", ".join(dict.fromkeys(one.agent for one in skipped))
    sys.stdout.write(
        f"{agents} skips {len(skipped)} of them until it trusts them itself. Trust them there? [y/N] "
    )
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _approve(root: str, seen: Lock, env: dict[str, str]) -> None:
    """Write what was looked at, unless it is not what there is any more."""
    found = discover(root, env)
    contents = lock.texts(found, env)
    if lock.build(found, env) != seen:
        raise UsageError("the hooks changed while you looked at them. Nothing was approved. Look again.")
    lock.write(root, seen)
    lock.approve(root, seen, contents, env)


def _asked() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nothing was approved: there is no terminal to ask on. Say --yes or --dry-run.")
    sys.stdout.write("Approve these hooks? They run with your rights. [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _as_json(one: Review) -> dict[str, object]:
    return {
        "what": one.difference.what,
        "id": one.difference.id,
        "name": one.difference.name,
        "runs": one.runs,
        "files": dict(one.difference.files),
        "capabilities": list(one.capabilities),
        "network": list(one.network),
        "diff": list(one.diff),
    }


STYLES = {"new": "kept", "changed": "changed", "gone": "dropped"}


def _print(root: str, reviews: list[Review], when: str, agents: list[agent_trust.AgentHook]) -> None:
    paint = Paint(sys.stdout)
    since = f"since you approved it on {when[:10]}" if when else "nothing of it was approved yet"
    sys.stdout.write(f"{paint(root, 'bold')}: {since}\n")
    for one in reviews:
        it = one.difference
        sys.stdout.write(f"\n{paint(it.what, STYLES[it.what])}  {shown(it.name)}  {shown(it.id)}\n")
        for what, said in (("runs", one.runs), ("uses", ", ".join(one.capabilities))):
            if said:
                sys.stdout.write(f"  {what}: {said}\n")
        for said in one.network:
            sys.stdout.write(f"  {paint('network', 'loss')}: {said}\n")
        for line in one.diff:
            style = "kept" if line.startswith("+") else "dropped" if line.startswith("-") else ""
            sys.stdout.write(f"    {paint(line, style)}\n")
    for hook in agents:
        sys.stdout.write(f"\n{paint(hook.state, 'loss')}  {hook.agent}: {shown(hook.key)}\n")
        sys.stdout.write(f"  runs: {shown(hook.command)}\n")
    if not reviews and not agents:
        sys.stdout.write("  nothing is new or changed\n")
    sys.stdout.write("\n")
