"""Play real agents against a scripted model, and show what hooks really do to them.

Each run has a fresh home, a fresh project and no network but this machine's own; no account and no tokens
are needed. `pass`: the hook did what it is for. `cannot`: the agent has no way to do it, and does what its
tables say instead. `fail`: something else came of it; what was seen is shown.
Finished runs are kept: an interrupted call goes on where it stopped, until hookport or the agent changes.

With --hooks your own hooks are played: what each is for, and what it is not for, in a copy of your project.
`enforced`: it fired, and what it denied did not happen. `advisory`: it fired, and prevented nothing.
`broken`: it fired and failed. `not fired`: with the reason. Exit code 1 if a guard is not enforced or a hook
is broken.
"""

from __future__ import annotations

import json
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from hookport.console.progress import Progress
from hookport.console.terminal import Paint, format_grid, format_table, make_plain
from hookport.errors import UsageError, suggest_closest
from hookport.lab import campaign, drivers, player, results, scenario
from hookport.lab.campaign import Agent, Store
from hookport.lab.judge import combine_verdicts
from hookport.lab.results import AgentResults
from hookport.lab.run import FinishedRun

STYLES = {"pass": "kept", "cannot": "changed", "fail": "dropped"}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport prove`."""
    parser.add_argument("agents", metavar="AGENT", nargs="*", help="only these agents; all if left out")
    parser.add_argument(
        "--scenario", metavar="S", nargs="+", action="extend", default=[], help="only these scenarios"
    )
    parser.add_argument(
        "--hooks",
        metavar="SOURCE",
        help="prove your own hooks instead: a project, a file or a folder with hooks",
    )
    parser.add_argument(
        "--from", dest="dialect", metavar="DIALECT", help="the dialect of SOURCE; recognised if left out"
    )
    parser.add_argument(
        "--sample",
        metavar="TEXT",
        action="append",
        default=[],
        help="with --hooks: also play this command, or 'write: PATH', 'edit: PATH', 'read: PATH', "
        "'prompt: TEXT'; it is really done where no hook stops it, in the project of the run",
    )
    parser.add_argument(
        "--mode",
        choices=scenario.MODES,
        help="how hooks are installed; both ways if left out, with --hooks as sync chooses",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--install",
        dest="take",
        action="store_const",
        const="fetched",
        default="any",
        help="fetch the pinned version of each agent by its package's name into the cache, and play that",
    )
    which.add_argument(
        "--cached",
        dest="take",
        action="store_const",
        const="cached",
        help="play the pinned versions that were fetched before, and skip the others",
    )
    parser.add_argument("--report", metavar="DIR", type=Path, help="write everything of each run there")
    parser.add_argument("--save", action="store_true", help="keep the results in hookport's own source")
    parser.add_argument("--fresh", action="store_true", help="play again what was played before")
    parser.add_argument(
        "-j", "--jobs", metavar="N", type=int, default=0, help="runs at a time (default: cores)"
    )
    parser.add_argument("--list", action="store_true", help="list agents and scenarios, play nothing")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def run(args: Namespace) -> int:
    """Play what was asked for; exit code 1 where something failed or a named agent is not here."""
    _check_known(args.agents, drivers.list_names(), "agent")
    _check_known(args.scenario, scenario.list_names(), "scenario")
    if args.list:
        _print_list()
        return 0
    if args.jobs < 0:
        raise UsageError(f"--jobs {args.jobs} plays nothing. Give a number of runs, or leave it out.")
    _heed_signals()
    if args.report:
        _make_folder(args.report, f"--report '{args.report}'")
    if args.hooks:
        from hookport.cli import own_hooks

        with RunProgress() as progress:
            return own_hooks.run(args, progress.line, progress.show_step, _report_missing)
    if args.sample or args.dialect:
        raise UsageError("--sample and --from are about your own hooks. Say which with --hooks SOURCE.")
    return _play_scenarios(args)


def _heed_signals() -> None:
    """End as on an interrupt, with nothing left behind, whichever signal ends us; an ignored one stays so."""
    for number in player.SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def _play_scenarios(args: Namespace) -> int:
    with RunProgress() as progress:
        return _play_with_progress(args, progress)


def _play_with_progress(args: Namespace, progress: RunProgress) -> int:
    agents, missing = campaign.find_agents(args.agents, take=args.take, tell=progress.show_step)
    modes = (args.mode,) if args.mode else scenario.MODES
    plan = campaign.plan_runs(agents, args.scenario, modes)
    store = Store(args.report)
    if plan.runs:
        _make_folder(store.folder, f"the cache '{store.folder}' (HOOKPORT_CACHE_DIR)")
    done: list[FinishedRun] = []
    progress.count = len(plan.runs)
    try:
        for finished, is_new in campaign.play(plan.runs, agents, store, jobs=args.jobs, fresh=args.fresh):
            done.append(finished)
            progress.show_run(finished, is_new=is_new)
    except KeyboardInterrupt:
        progress.end()
        sys.stderr.write(f"hookport: interrupted; {len(done)} of {progress.count} runs are done and kept.")
        sys.stderr.write(" The same command goes on from there.\n")
        raise
    progress.end()
    measured = campaign.collect_results(agents, done)
    if args.report:
        campaign.write_report(args.report, measured, done)
    if args.save:
        for saved in measured:
            sys.stderr.write(f"wrote {results.save_results(saved)}\n")
    if args.json:
        tree = {
            "results": [json.loads(results.format_results(agent_results)) for agent_results in measured],
            "missing": list(missing),
        }
        sys.stdout.write(json.dumps(tree, indent=2, ensure_ascii=False) + "\n")
    else:
        print_results(measured)
    for unplayed in plan.unplayed:
        where = f"{unplayed.agent} {unplayed.scenario} {unplayed.mode}"
        sys.stderr.write(f"hookport: not played: {where}: {unplayed.reason}\n")
    if args.take == "cached":
        _report_skipped(agents, missing)
        return int(bool(results.find_failures(measured)))
    _report_missing(missing)
    return 1 if results.find_failures(measured) or not measured or (args.agents and missing) else 0


def _make_folder(folder: Path, option: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option} is no folder to write to: {error.strerror}. Give another.") from None


def _check_known(words: Sequence[str], known: list[str] | tuple[str, ...], kind: str) -> None:
    for word in words:
        if word not in known:
            raise UsageError(
                f"unknown {kind} '{word}'.{suggest_closest(word, known)} Try: hookport prove --list"
            )


def _print_list() -> None:
    paint = Paint(sys.stdout)
    rows: list[tuple[str, ...]] = [("AGENT", "NAME", "PACKAGE")]
    for name in drivers.list_names():
        driver = drivers.get(name)
        package = driver.package
        rows.append((name, driver.title, f"{package.name} {package.version} ({package.registry})"))
    sys.stdout.write(format_table(rows, paint) + "\n")
    rows = [("SCENARIO", "WHAT IT SHOWS")]
    rows += [(name, scenario.get(name).title) for name in scenario.list_names()]
    sys.stdout.write(format_table(rows, paint))


def print_results(measured: Sequence[AgentResults]) -> None:
    """Print a table for each mode, then what failed and what agents cannot do."""
    paint = Paint(sys.stdout)
    for mode in scenario.MODES:
        names = sorted(
            {
                name
                for measurement in measured
                for name, modes in measurement.scenarios.items()
                if mode in modes
            }
        )
        if not names:
            continue
        rows: list[tuple[str, ...]] = [(mode.upper(), *(measurement.driver for measurement in measured))]
        rows.append(("", *(measurement.version for measurement in measured)))
        rows += [
            (name, *(_format_cell(measurement, name, mode) for measurement in measured)) for name in names
        ]
        sys.stdout.write(format_grid(rows, paint, STYLES, heads=2) + "\n")
    for agent_results in measured:
        _print_reasons(agent_results, paint)
    for failure in results.find_failures(measured):
        where = f"{failure.driver} {failure.scenario} {failure.mode}"
        sys.stdout.write(f"{paint.fold(paint(f'{where} failed', 'error'), 2)}\n")
        for line in failure.result.evidence:
            sys.stdout.write(f"{paint.fold(f'  {make_plain(line)}', 4)}\n")
        chosen = f"--scenario {failure.scenario} --mode {failure.mode} --fresh"
        command = f"hookport prove {failure.driver} {chosen}"
        sys.stdout.write(f"{paint.fold(paint(f'  again, alone: {command}', 'note'), 4)}\n")
    if any(not measurement.isolated for measurement in measured):
        line = "agents had this machine's network: no network of their own could be made here."
        sys.stdout.write(f"{paint.fold(line, 2)}\n")


def _format_cell(agent_results: AgentResults, name: str, mode: str) -> str:
    modes = agent_results.scenarios.get(name, {})
    return modes[mode].result if mode in modes else "–"


def _print_reasons(agent_results: AgentResults, paint: Paint) -> None:
    """Print why an agent cannot, and what it does instead, once for all scenarios and modes alike."""
    reasons: dict[str, list[str]] = {}
    for name, modes in agent_results.scenarios.items():
        for result in modes.values():
            if result.result == "cannot":
                names = reasons.setdefault(f"{result.reason}: {result.instead}", [])
                names += [] if name in names else [name]
    for reason, names in reasons.items():
        sys.stdout.write(paint.fold(f"{agent_results.driver} cannot {', '.join(names)}", 2) + "\n")
        sys.stdout.write(f"{paint.fold(paint(f'  {make_plain(reason)}', 'note'), 4)}\n")


def _report_skipped(agents: Sequence[Agent], missing: Mapping[str, str]) -> None:
    played = ", ".join(f"{agent.name} {agent.program.version}" for agent in agents) or "no agent"
    sys.stderr.write(f"hookport: played {played}.\n")
    if missing:
        sys.stderr.write(f"hookport: skipped, not in the cache: {', '.join(missing)}.\n")


def _report_missing(missing: Mapping[str, str]) -> None:
    for name, reason in missing.items():
        if reason:
            sys.stderr.write(f"hookport: {name} could not be fetched: {reason}\n")
    absent = [name for name, reason in missing.items() if not reason]
    if not absent:
        return
    sys.stderr.write(f"hookport: not on this machine, so nothing is proven of: {', '.join(absent)}\n")
    sys.stderr.write("  fetch the versions that hookport was measured with: hookport prove --install\n")
    for name in absent:
        package = drivers.get(name).package
        tool = "npm install -g" if package.registry == "npm" else "pip install"
        joint = "@" if package.registry == "npm" else "=="
        sys.stderr.write(f"  or install {name} by yourself: {tool} {package.name}{joint}{package.version}\n")


class RunProgress:
    """How far it is: a line that changes on a terminal, a line for each run elsewhere."""

    def __init__(self) -> None:
        self.line = Progress("prove")
        self.count = self.number = self.failed = 0

    def __enter__(self) -> Self:
        self.line.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.line.end()

    def show_step(self, what: str) -> None:
        """Show what is fetched now; off a terminal only its beginning."""
        if self.line.is_shown:
            self.line.show(what)
        elif "," not in what:
            sys.stderr.write(f"{what}\n")

    def show_run(self, done: FinishedRun, *, is_new: bool) -> None:
        """Show a run that is over."""
        self.number += 1
        word = combine_verdicts(done.verdicts.values())
        self.failed += word == "fail"
        summary = f"{done.run.driver} {done.run.name}: {word}"
        failed = f"{self.failed} failed; " if self.failed else ""
        self.line.show(f"{failed}{summary}", self.number, self.count)
        if is_new and not self.line.is_shown:
            sys.stderr.write(f"{self.number}/{self.count} {summary} ({done.seconds:.0f} s)\n")
            sys.stderr.flush()

    def end(self) -> None:
        """Clear the line."""
        self.line.end()
