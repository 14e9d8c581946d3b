"""Run real agents against a scripted model, and show what hooks do in them.

Each run has a fresh home, a fresh project and no network but this machine's own, and needs no account and no
tokens. `pass`: the hook did what it is for. `cannot`: the agent has no way to do it, and does what its tables
say instead. `fail`: anything else, with the evidence. Finished runs are kept: an interrupted call continues
where it stopped. A run is played again when its agent, its scenario or what all runs share changes.

With --hooks your own hooks are proven in a copy of your project, on calls that they guard against and on
others. `enforced`: it ran, and what it denied did not happen; `except` names calls that the agent asks no
hook about. `advisory`: it ran, and prevented nothing.
`broken`: it ran and failed. `not fired`: with the reason. The exit code is 1 if a guard is not enforced or a
hook is broken.
"""

from __future__ import annotations

import json
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, NotRequired, Self, TypedDict

from hookport.cli import options
from hookport.cli.problems import print_line
from hookport.console.arguments import split_names
from hookport.console.document import print_document
from hookport.console.progress import Progress
from hookport.console.terminal import Paint, format_grid, format_table, make_plain
from hookport.errors import UsageError, suggest_closest
from hookport.lab import campaign, drivers, newest, player, results, scenario
from hookport.lab.campaign import Agent, Store
from hookport.lab.enforcement import Word
from hookport.lab.judge import combine_verdicts
from hookport.lab.newest import Change
from hookport.lab.results import AgentResults
from hookport.lab.run import FinishedRun, ScenarioRun

STYLES = {"pass": "kept", "cannot": "changed", "fail": "dropped"}


EXAMPLES = {
    "hookport prove --hooks . --install": "Prove the hooks of this project in every agent",
    "hookport prove --agent {third} --scenario peers-guard": "Run one scenario in one agent",
    "hookport prove --quick --install": "Run a choice that covers every agent and scenario",
    "hookport prove --latest {third}": "Compare the newest release with the measured one",
    "hookport prove --list": "List agents and scenarios",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport prove`."""
    parser.add_argument("names", metavar="AGENT", nargs="*", help="Same as --agent AGENT")
    parser.add_argument(
        "--agent",
        dest="agents",
        metavar="AGENT",
        type=split_names,
        action="extend",
        default=[],
        help="Only these agents; several with commas or by repeating the option",
    )
    parser.add_argument(
        "--scenario",
        metavar="SCENARIO",
        type=split_names,
        action="extend",
        default=[],
        help="Only these scenarios; several with commas or by repeating the option",
    )
    parser.add_argument(
        "--hooks", metavar="PATH", help="Prove the hooks of a project, file or folder instead"
    )
    options.add_from(parser)
    parser.add_argument(
        "--sample",
        metavar="TEXT",
        action="append",
        default=[],
        help="With --hooks: also try this command, or `write: PATH`, `edit: PATH`, `read: PATH`, "
        "`prompt: TEXT`; what no hook stops is really done, in the project of the run",
    )
    parser.add_argument(
        "--mode",
        metavar="MODE",
        choices=scenario.MODES,
        help="How hooks are installed; both ways if left out, with --hooks as sync chooses",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--install",
        dest="take",
        action="store_const",
        const="fetched",
        default="any",
        help="Fetch the pinned version of each agent into the cache, and run that",
    )
    which.add_argument(
        "--cached",
        dest="take",
        action="store_const",
        const="cached",
        help="Run pinned versions that were fetched before, and skip the others",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="Play a choice: every scenario in some agent, and a scenario of each class in every agent",
    )
    parser.add_argument(
        "--latest",
        action="store_true",
        help="Fetch the newest release of each agent, play the quick choice, and print what changed since "
        "the measured version; exit code 1 if something did",
    )
    parser.add_argument("--fresh", action="store_true", help="Repeat runs that are finished")
    options.add_jobs(parser, "Runs")
    parser.add_argument("--report", metavar="DIR", type=Path, help="Write everything of each run there")
    parser.add_argument("--save", action="store_true", help="Keep the results in hookport's own source")
    parser.add_argument("--list", action="store_true", help="List agents and scenarios, and run nothing")
    options.add_json(parser)


class ScenarioDocument(TypedDict):
    """The result of a scenario in one mode; a key that would be empty is left out."""

    result: Literal["pass", "fail", "cannot"]
    seconds: float
    evidence: NotRequired[list[str]]
    reason: NotRequired[str]
    instead: NotRequired[str]
    parts: NotRequired[dict[str, str]]
    date: NotRequired[str]


class FiredDocument(TypedDict):
    """How often an event fired, in which scenario, and its payloads' keys; left out where none were kept."""

    fired: int
    scenario: str
    fields: NotRequired[list[str]]


class SeenDocument(TypedDict):
    """How often hooks saw a tool before it ran, and in which scenario."""

    seen: int
    scenario: str


class IgnoredDocument(TypedDict):
    """How often a hook denied on an event without an effect, and in which scenario."""

    denied: int
    scenario: str


class AgentDocument(TypedDict):
    """What was measured on one version of an agent; events by native name, scenarios by name and mode."""

    agent: str
    driver: str
    title: str
    version: str
    hookport: str
    date: str
    platform: str
    command: str
    isolated: bool
    events: dict[str, FiredDocument]
    tools: dict[str, SeenDocument]
    ignored: dict[str, IgnoredDocument]
    scenarios: dict[str, dict[str, ScenarioDocument]]


class ScenariosDocument(NamedTuple):
    """Without --hooks and --list: the results by agent, and the agents that are not on this machine."""

    results: tuple[AgentDocument, ...]
    missing: tuple[str, ...]


class ListedAgent(NamedTuple):
    """An agent and the package with its measured version."""

    name: str
    title: str
    package: str
    version: str
    registry: str


class ListedScenario(NamedTuple):
    """A scenario."""

    name: str
    title: str


class ListDocument(NamedTuple):
    """With --list: what can be run."""

    agents: tuple[ListedAgent, ...]
    scenarios: tuple[ListedScenario, ...]


class ProofDocument(NamedTuple):
    """What a hook did in an agent; `held`: it served its purpose."""

    hook: str
    event: str
    agent: str
    word: Word
    because: str
    held: bool
    guards: bool
    fired: int
    denied: tuple[str, ...]
    passed: tuple[str, ...]
    notes: tuple[str, ...]
    exceptions: tuple[str, ...]


class ProvenAgent(NamedTuple):
    """The hooks in one version of an agent; `isolated`: it had no network but this machine's own."""

    agent: str
    version: str
    isolated: bool
    seconds: float
    hooks: tuple[ProofDocument, ...]


class ProofsDocument(NamedTuple):
    """With --hooks: whether all hooks served their purpose, and what each did in each agent."""

    source: str
    holds: bool
    agents: tuple[ProvenAgent, ...]
    missing: tuple[str, ...]


class LatestAgent(NamedTuple):
    """The newest release of an agent, and what changed in it since the measured version.

    `played` is false where the measured version is the newest one.
    """

    agent: str
    measured: str
    newest: str
    played: bool
    changes: tuple[Change, ...]


class LatestDocument(NamedTuple):
    """With --latest: each agent, and those whose newest release could not be fetched, with the reason."""

    latest: tuple[LatestAgent, ...]
    missing: dict[str, str]


Document = ScenariosDocument | ListDocument | ProofsDocument | LatestDocument


def run(args: Namespace) -> int:
    """Play what was asked for; exit code 1 where something failed or a named agent is not here."""
    args.agents += args.names
    _check_known(args.agents, drivers.list_names(), "agent")
    _check_known(args.scenario, scenario.list_names(), "scenario")
    if args.list:
        if args.json:
            print_document(make_list())
        else:
            _print_list()
        return 0
    _heed_signals()
    if args.report:
        _make_folder(args.report, f"--report '{args.report}'")
    if args.latest and (args.hooks or args.save or args.take != "any"):
        raise UsageError(
            "--latest fetches and compares the newest releases, and keeps no results",
            hint="hookport prove --latest",
        )
    if args.quick and (args.hooks or args.scenario or args.mode):
        raise UsageError("--quick chooses the scenarios and modes itself", hint="hookport prove --quick")
    if args.hooks:
        from hookport.cli import own_hooks

        with RunProgress() as progress:
            return own_hooks.run(args, progress.line, progress.show_step, _report_missing)
    if args.sample or args.dialect:
        raise UsageError("--sample and --from need --hooks", hint="hookport prove --hooks PATH")
    return _play_latest(args) if args.latest else _play_scenarios(args)


def _play_latest(args: Namespace) -> int:
    """Play the newest releases, and print what changed; exit code 1 if something did, or was not fetched."""
    with RunProgress() as progress:
        releases, missing = newest.find_newest(args.agents, progress.show_step)
        agents = [release.agent for release in releases if release.agent]
        modes = (args.mode,) if args.mode else scenario.MODES
        plan = (
            campaign.plan_runs(agents, args.scenario, modes) if args.scenario else campaign.plan_quick(agents)
        )
        done = _play_runs(args, progress, plan.runs, agents, Store(args.report, "prove-latest"))
    measured = {measurement.driver: measurement for measurement in results.load_results()}
    played = {measurement.driver: measurement for measurement in campaign.collect_results(agents, done)}
    latest = tuple(
        LatestAgent(
            release.name,
            measured[release.name].version if release.name in measured else release.measured,
            release.newest,
            release.name in played,
            tuple(newest.compare_results(measured[release.name], played[release.name]))
            if release.name in played and release.name in measured
            else (),
        )
        for release in releases
    )
    if args.json:
        print_document(LatestDocument(latest, missing))
    else:
        _print_latest(latest)
        for name, reason in missing.items():
            print_line("error", f"{name}: {reason}")
    return int(bool(missing) or any(release.changes for release in latest))


def _print_latest(latest: Sequence[LatestAgent]) -> None:
    paint = Paint(sys.stdout)
    for release in latest:
        if not release.played:
            sys.stdout.write(f"{release.agent} {release.newest} is the newest release\n")
            continue
        count = f"{len(release.changes)} change{'s' * (len(release.changes) != 1)}"
        line = f"{release.agent} {release.measured} → {release.newest}: {count}"
        sys.stdout.write(f"{paint.fold(paint(line, 'bold'), 2)}\n")
        for change in release.changes:
            words = make_plain(f"{change.what}: {change.before} → {change.now}")
            sys.stdout.write(f"{paint.fold(f'  {change.kind}  {words}', 4)}\n")


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
    plan = campaign.plan_quick(agents) if args.quick else campaign.plan_runs(agents, args.scenario, modes)
    store = Store(args.report)
    if plan.runs:
        _make_folder(store.folder, f"the cache '{store.folder}' (HOOKPORT_CACHE_DIR)")
    done = _play_runs(args, progress, plan.runs, agents, store)
    measured = campaign.collect_results(agents, done)
    if args.report:
        campaign.write_report(args.report, measured, done)
    if args.save:
        for saved in measured:
            sys.stderr.write(f"wrote {results.save_results(saved)}\n")
    if args.json:
        trees = tuple(json.loads(results.format_results(agent_results)) for agent_results in measured)
        print_document(ScenariosDocument(trees, tuple(missing)))
    else:
        print_results(measured)
    for unplayed in plan.unplayed:
        where = f"{unplayed.agent} {unplayed.scenario} {unplayed.mode}"
        print_line("note", f"not run: {where}: {unplayed.reason}")
    if args.take == "cached":
        _report_skipped(agents, missing)
        return int(bool(results.find_failures(measured)))
    _report_missing(missing)
    return 1 if results.find_failures(measured) or not measured or (args.agents and missing) else 0


def _play_runs(
    args: Namespace,
    progress: RunProgress,
    runs: Sequence[ScenarioRun],
    agents: Sequence[Agent],
    store: Store,
) -> list[FinishedRun]:
    """Play runs, and show each; an interruption says how many are kept."""
    done: list[FinishedRun] = []
    progress.count = len(runs)
    try:
        for finished, is_new in campaign.play(runs, agents, store, jobs=args.jobs, fresh=args.fresh):
            done.append(finished)
            progress.show_run(finished, is_new=is_new)
    except KeyboardInterrupt:
        progress.end()
        count = f"{len(done)} of {progress.count} runs"
        print_line("error", f"interrupted; {count} are done and kept. The same command continues from there.")
        raise
    progress.end()
    return done


def _make_folder(folder: Path, option: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option}: cannot write to this folder: {error.strerror}") from None


def _check_known(words: Sequence[str], known: list[str] | tuple[str, ...], kind: str) -> None:
    for word in words:
        if word not in known:
            raise UsageError(
                f"unknown {kind} '{word}'.{suggest_closest(word, known)}", hint="hookport prove --list"
            )


def make_list() -> ListDocument:
    """Make the document of `--list --json`."""
    packages = ((name, drivers.get(name)) for name in drivers.list_names())
    return ListDocument(
        tuple(
            ListedAgent(
                name, driver.title, driver.package.name, driver.package.version, driver.package.registry
            )
            for name, driver in packages
        ),
        tuple(ListedScenario(name, scenario.get(name).title) for name in scenario.list_names()),
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
        line = "agents used this machine's network: they could not be isolated from it."
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
    print_line("note", f"ran {played}.")
    if missing:
        print_line("note", f"skipped, not in the cache: {', '.join(missing)}.")


def _report_missing(missing: Mapping[str, str]) -> None:
    for name, reason in missing.items():
        if reason:
            print_line("error", f"{name} could not be fetched: {reason}")
    absent = [name for name, reason in missing.items() if not reason]
    if not absent:
        return
    print_line("note", f"not on this machine, so nothing is proven of: {', '.join(absent)}")
    print_line("hint", "`hookport prove --install` fetches the versions that hookport was measured with")
    for name in absent:
        package = drivers.get(name).package
        tool = "npm install -g" if package.registry == "npm" else "pip install"
        joint = "@" if package.registry == "npm" else "=="
        sys.stderr.write(f"  or install {name} yourself: {tool} {package.name}{joint}{package.version}\n")


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
