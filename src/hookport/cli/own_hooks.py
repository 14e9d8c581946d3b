"""`hookport prove --hooks`: what a person's own hooks did to each agent, in a table and in sentences."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hookport.cli import report
from hookport.cli.agent_tables import format_level
from hookport.cli.problems import print_line
from hookport.cli.prove import ProofDocument, ProofsDocument, ProvenAgent
from hookport.cli.status import print_unmanaged
from hookport.console.document import VERSION, as_tree, print_document
from hookport.console.progress import Progress
from hookport.console.terminal import Paint, format_grid, make_plain
from hookport.errors import UsageError
from hookport.lab import belongings, campaign, enforcement, own, samples
from hookport.lab.belongings import Belongings
from hookport.lab.campaign import Agent
from hookport.lab.enforcement import Proof
from hookport.lab.own import Account, ProofRequest

STYLES = {"enforced": "kept", "advisory": "changed", "not fired": "dropped", "broken": "dropped"}


def run(
    args: Namespace,
    progress: Progress,
    tell: Callable[[str], None],
    tell_missing: Callable[[Mapping[str, str]], None],
) -> int:
    """Prove the hooks of a source; exit code 1 where a guard is not enforced or a hook is broken."""
    if args.scenario or args.save:
        which = "--scenario" if args.scenario else "--save"
        raise UsageError(f"--hooks cannot be used with {which}")
    added = tuple(map(samples.parse_sample, args.sample))
    gathered = belongings.gather_belongings(Path(args.hooks), args.dialect, dict(os.environ))
    with progress.cleared():
        _report_source(gathered)
    agents, missing = campaign.find_agents(args.agents, take=args.take, tell=tell)
    accounts: dict[str, Account] = {}
    request = ProofRequest(gathered, added, args.mode or "auto")
    paint = Paint(sys.stderr)
    if agents:
        with progress.cleared():
            line = f"running {', '.join(agent.name for agent in agents)}"
            sys.stderr.write(f"{paint.fold(line, 2)}\n")
    progress.show("", 0, len(agents))
    for number, account in enumerate(own.play_agents(agents, request, jobs=args.jobs, report=args.report), 1):
        accounts[account.agent] = account
        counts = _count_words(enforcement.make_proofs(account))
        progress.show(account.agent, number)
        with progress.cleared():
            sys.stderr.write(f"{number}/{len(agents)} {account.agent}: {counts}\n")
    progress.end()
    ordered = [accounts[agent.name] for agent in agents]
    proofs = [proof for account in ordered for proof in enforcement.make_proofs(account)]
    document = make_document(args, ordered, proofs, agents, missing)
    if args.report:
        args.report.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"version": VERSION, **as_tree(document)}, indent=2)
        (args.report / "hooks.json").write_text(f"{text}\n", "utf-8")
    if args.json:
        print_document(document)
    else:
        _print_results(ordered, agents)
    if args.agents or not agents:
        tell_missing(missing)
    elif missing:
        print_line("note", f"not on this machine, so nothing is proven of: {', '.join(missing)}")
    return 1 if not agents or (args.agents and missing) or any(not proof.held for proof in proofs) else 0


def _report_source(gathered: Belongings) -> None:
    """Report findings of the source, and what of it is not in the run."""
    if gathered.found.findings:
        sys.stderr.write(report.format_findings(list(gathered.found.findings), Paint(sys.stderr), {}))
    print_unmanaged(gathered.found.unmanaged, gathered.found.root, sys.stderr.write, Paint(sys.stderr))
    if gathered.left_out:
        shown = "; ".join(gathered.left_out[:8]) + (" …" if len(gathered.left_out) > 8 else "")
        print_line("note", f"not copied into the run: {shown}")


def _count_words(proofs: Sequence[Proof]) -> str:
    levels = [format_level(proof.word, proof.exceptions) for proof in proofs]
    ordered = sorted(proofs, key=lambda proof: tuple(STYLES).index(proof.word))
    unique = dict.fromkeys(format_level(proof.word, proof.exceptions) for proof in ordered)
    return "; ".join(f"{levels.count(level)} {level}" for level in unique) or "no hooks"


def _name_hooks(accounts: Sequence[Account]) -> list[str]:
    """Name the hooks uniquely: two of one name get their place."""
    hooks = accounts[0].hooks if accounts else ()
    names = [hook.name for hook in hooks]
    return [
        f"{hook.name} ({hook.place})" if names.count(hook.name) > 1 and hook.place else hook.name
        for hook in hooks
    ]


def make_document(
    args: Namespace,
    accounts: Sequence[Account],
    proofs: Sequence[Proof],
    agents: Sequence[Agent],
    missing: Mapping[str, str],
) -> ProofsDocument:
    """Make the document of `--json`."""
    names = _name_hooks(accounts)
    proven = (
        ProvenAgent(
            account.agent,
            agent.program.version,
            account.isolated,
            round(sum(turn.outcome.seconds for turn in account.turns), 1),
            tuple(
                ProofDocument(name, hook.event, *proof[1:])
                for name, hook, proof in zip(
                    names, account.hooks, enforcement.make_proofs(account), strict=True
                )
            ),
        )
        for account, agent in zip(accounts, agents, strict=True)
    )
    holds = bool(proofs) and all(proof.held for proof in proofs)
    return ProofsDocument(str(args.hooks), holds, tuple(proven), tuple(missing))


def _print_results(accounts: Sequence[Account], agents: Sequence[Agent]) -> None:
    """Print the table, then the results of each hook, then what does not hold."""
    paint = Paint(sys.stdout)
    if not accounts:
        return
    names = _name_hooks(accounts)
    by_agent = [enforcement.make_proofs(account) for account in accounts]
    rows: list[tuple[str, ...]] = [("HOOK", *(agent.name for agent in agents))]
    rows.append(("", *(agent.program.version for agent in agents)))
    levels = [[format_level(proof.word, proof.exceptions) for proof in some] for some in by_agent]
    rows += [(name, *(some[number] for some in levels)) for number, name in enumerate(names)]
    styles = {
        format_level(proof.word, proof.exceptions): STYLES[proof.word] for some in by_agent for proof in some
    }
    sys.stdout.write(format_grid(rows, paint, styles, heads=2))
    for number, name in enumerate(names):
        event = accounts[0].hooks[number].event
        title = f"{paint(make_plain(name), 'bold')} {paint(f'({event})', 'note')}"
        sys.stdout.write(f"\n{paint.fold(title, 2)}\n")
        _print_hook([some[number] for some in by_agent], paint)
    _print_lost(names, by_agent, paint)
    for account in accounts:
        for line in _find_unfinished(account):
            sys.stdout.write(f"{paint.fold(f'{account.agent}: {make_plain(line)}', 2)}\n")
    if any(not account.isolated for account in accounts):
        line = "agents used this machine's network: they could not be isolated from it."
        sys.stdout.write(f"{paint.fold(line, 2)}\n")


def _print_hook(proofs: Sequence[Proof], paint: Paint) -> None:
    """Print the results of one hook; agents with the same result share a line."""
    for proof, who in _group_proofs(proofs):
        level = ", except ".join(filter(None, (proof.word, ", ".join(proof.exceptions))))
        line = f"  {', '.join(who)}: {paint(level, STYLES[proof.word])}: {make_plain(proof.because)}"
        sys.stdout.write(f"{paint.fold(line, 4)}\n")
        lists = {"denied": proof.denied, "let pass": proof.passed} if proof.guards else {}
        lines = [f"{label}: {_quote_texts(some)}" for label, some in lists.items() if some]
        for note in (*lines, *proof.notes):
            sys.stdout.write(f"{paint.fold(paint(f'    {make_plain(note)}', 'note'), 6)}\n")


def _quote_texts(texts: Sequence[str]) -> str:
    return ", ".join(f"`{text}`" for text in texts)


def _print_lost(names: Sequence[str], by_agent: Sequence[Sequence[Proof]], paint: Paint) -> None:
    """Print where a hook does not serve its purpose, and why."""
    lost = [
        (name, proof, who)
        for number, name in enumerate(names)
        for proof, who in _group_proofs([some[number] for some in by_agent if not some[number].held])
    ]
    sys.stdout.write("\n" if lost else "")
    for name, proof, who in lost:
        what = "is broken" if proof.word == "broken" else "is not enforced"
        heading = paint(make_plain(f"'{name}' {what} in {', '.join(who)}"), "error")
        sys.stdout.write(f"{paint.fold(f'{heading}: {make_plain(proof.because)}', 2)}\n")


def _find_unfinished(account: Account) -> list[str]:
    """Find what a run leaves open, and why."""
    late = [turn.outcome.seconds for turn in account.turns if turn.outcome.timed_out]
    reasons = [f"it was stopped after {seconds:.0f} s" for seconds in late]
    reasons += [turn.outcome.trouble for turn in account.turns if turn.outcome.trouble]
    missed = [fate.sample.about for fate in account.fates if not fate.reached]
    if missed and not account.trouble:
        reasons.append(f"it ended before the model could request: {_quote_texts(missed)}")
    refused = [] if account.trouble else enforcement.find_refused(account)
    if refused:
        reasons.append(f"its own rules stopped: {_quote_texts(refused)}")
    return reasons


def _group_proofs(proofs: Sequence[Proof]) -> list[tuple[Proof, list[str]]]:
    groups: dict[tuple[object, ...], tuple[Proof, list[str]]] = {}
    for proof in proofs:
        same = (proof.word, proof.because, proof.denied, proof.passed, proof.notes, proof.exceptions)
        groups.setdefault(same, (proof, []))[1].append(proof.agent)
    return list(groups.values())
