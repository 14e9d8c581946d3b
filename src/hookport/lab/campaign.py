"""Many runs: which to play, several at a time, each stored when it ends so that none is lost."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import queue
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import hookport
from hookport.agents import Dialect, get, supports
from hookport.base.tree import Tree
from hookport.lab import choice, dependencies, drivers, formats, player, programs, run
from hookport.lab import scenario as scenarios
from hookport.lab.driver import UNTRUSTED, Driver
from hookport.lab.drivers import get_dialect_id
from hookport.lab.judge import ScenarioVerdict, combine_verdicts
from hookport.lab.programs import Program
from hookport.lab.results import AgentResults, ScenarioResult, Sighting, write_results
from hookport.lab.run import FinishedRun, ScenarioRun
from hookport.lab.scenario import Mode, Scenario, Sharing

Job = TypeVar("Job")
Gain = TypeVar("Gain")
# How long stopped runs have to clean up.
STOP_SECONDS = 10.0
TICK_SECONDS = 0.05
# The files of a run that a report keeps.
KEPT = ("install.txt", "spec.json", "outcome.json", "requests.jsonl", "hooks.jsonl", "payloads")
# Files of hookport's own that agents or drivers run, beside Python.
# The variables for the project's folder in a command.
PROJECT_FOLDER = re.compile(r"\$\{?\w+_PROJECT_DIR\b")
# Which programs are played: those found here, the pinned ones in the cache, or these, fetched if needed.
Take = Literal["any", "cached", "fetched"]


class Agent(NamedTuple):
    """An agent that can be run."""

    name: str
    driver: Driver
    program: Program


class Unplayed(NamedTuple):
    """A scenario that does not apply to an agent, and why."""

    agent: str
    scenario: str
    mode: Mode
    reason: str


class CampaignPlan(NamedTuple):
    """The plan: the runs, and the scenarios that cannot be played."""

    runs: tuple[ScenarioRun, ...]
    unplayed: tuple[Unplayed, ...]


def plan_runs(
    agents: Sequence[Agent], names: Sequence[str] = (), modes: Sequence[Mode] = scenarios.MODES
) -> CampaignPlan:
    """Plan every run of these agents, one agent after the other."""
    chosen = [scenarios.get(name) for name in names or scenarios.list_names()]
    runs: list[ScenarioRun] = []
    unplayed: list[Unplayed] = []
    for agent in agents:
        dialect = get(get_dialect_id(agent.driver))
        for scenario in chosen:
            # Of all pairs of agents few share a file, and nobody asked for the others.
            if scenario.installed_for and not names and not _shares_file(dialect, scenario):
                continue
            for mode in (mode for mode in modes if mode in scenario.modes):
                reason = _explain_unplayable(scenario, agent.driver, mode)
                if reason:
                    unplayed.append(Unplayed(agent.name, scenario.name, mode, reason))
                else:
                    runs += [
                        ScenarioRun(agent.name, scenario, mode, forms)
                        for forms in _group_formats(scenario, agent.driver)
                    ]
    return CampaignPlan(tuple(runs), tuple(unplayed))


def plan_quick(agents: Sequence[Agent]) -> CampaignPlan:
    """Plan the quick choice of runs, the same whichever agents are played and asked for."""
    everyone = [Agent(name, drivers.get(name), Program((), "", Path())) for name in drivers.list_names()]
    chosen = choice.choose_quick(plan_runs(everyone).runs)
    names = {agent.name for agent in agents}
    return CampaignPlan(tuple(run for run in chosen if run.driver in names), ())


def _explain_unplayable(scenario: Scenario, driver: Driver, mode: Mode) -> str:
    missing = next((program for program in scenario.programs if not shutil.which(program)), "")
    if missing:
        return f"the scenario needs `{missing}`, which is not on this machine"
    dialect = get(get_dialect_id(driver))
    if scenario.installed_for and not _shares_file(dialect, scenario):
        return f"{dialect.title} does not read the file of {scenario.installed_for}"
    if not scenario.trusted and dialect.folder_trust is None:
        return f"{dialect.title} trusts every folder"
    if not scenario.trusted and UNTRUSTED in driver.lacks:
        return driver.lacks[UNTRUSTED]
    if scenario.own and scenario.own.scope == "local" and not run.find_local_file(dialect):
        return f"{dialect.title} has no personal file in a project"
    is_homeless = not scenario.hooks and not run.find_home_files(scenario)
    if mode == "native" and is_homeless and not run.reads_projects(dialect):
        return f"{dialect.title} reads no files of a project, so its hooks are not installed natively"
    if mode == "native" and not run.reads_projects(dialect) and _starts_project_script(scenario):
        return f"{dialect.title} runs the user's hooks itself, but this hook is a script of the project"
    if scenario.capability and not supports(dialect, scenario.capability):
        return f"hooks of {dialect.title} have no {scenario.capability}"
    if scenario.own and scenario.own.observing and not run.list_observed(driver):
        return f"{dialect.title} keeps its hooks in programs that only it can run, or has no such event"
    return run.explain_missing_call(scenario, driver)


def _shares_file(dialect: Dialect, scenario: Scenario) -> bool:
    """Whether an agent reads the file in which the hooks of a scenario are installed for another agent."""
    other = get(scenario.installed_for)
    return other != dialect and scenarios.reads_file_of(dialect, other)


def _starts_project_script(scenario: Scenario) -> bool:
    """Whether a hook in the scenario's own files names the project's folder, where the home has no script."""
    return any(PROJECT_FOLDER.search(scenario.files[path]) for path in run.find_home_files(scenario))


def list_formats(scenario: Scenario) -> list[str]:
    """List the formats that a scenario applies to."""
    return [
        name
        for name in formats.list_names()
        if not any(formats.explain_refusal(formats.get(name), hook) for hook in scenario.hooks)
    ]


def _group_formats(scenario: Scenario, driver: Driver) -> list[tuple[str, ...]]:
    """Group the formats into runs."""
    if not scenario.hooks:
        return [()]
    names = list_formats(scenario)
    sharing: Sharing = scenario.ending if driver.denial_ends else scenario.formats
    if sharing == "each" or scenario.name in driver.alone:
        return [(name,) for name in names]
    return [tuple(names if sharing == "together" else names[:1])]


class Store:
    """The store of finished runs: a report with all their files, or the cache with verdicts only."""

    def __init__(self, report: Path | None = None, name: str = "prove") -> None:
        self.is_report = report is not None
        self.folder = report or programs.get_cache_folder().parent / name

    def place(self, scenario_run: ScenarioRun) -> Path:
        return self.folder / "runs" / scenario_run.driver / scenario_run.name

    def key(self, scenario_run: ScenarioRun, version: str) -> str:
        """The key of a result: the current program, and what its outcome depends on."""
        driver = drivers.get(scenario_run.driver)
        source = dependencies.compute_run_key(scenario_run.scenario, scenario_run.driver, driver)
        words = (scenario_run.driver, version, scenario_run.mode, *scenario_run.formats, source)
        return hashlib.sha256("\0".join(words).encode()).hexdigest()

    def load(self, scenario_run: ScenarioRun, version: str) -> FinishedRun | None:
        """Load the earlier result of a run, if nothing changed since."""
        try:
            tree = json.loads((self.place(scenario_run) / "verdict.json").read_text("utf-8"))
            if tree["key"] != self.key(scenario_run, version):
                return None
            verdicts = {name: _read_verdict(verdict_tree) for name, verdict_tree in tree["verdicts"].items()}
            return FinishedRun(
                scenario_run,
                verdicts,
                tree["seconds"],
                tree["events"],
                tree["isolated"],
                tuple(tree["flaky"]),
                tree["date"],
                tree["tools"],
                tree["ignored"],
                tree["fields"],
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, done: FinishedRun, version: str, root: Path) -> None:
        """Store the files that a run left in its folder."""
        place = self.place(done.run)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for name in KEPT if self.is_report else ():
            path = root / name
            if path.is_dir():
                shutil.copytree(path, place / name)
            elif path.exists():
                shutil.copyfile(path, place / name)
        tree = {
            "key": self.key(done.run, version),
            "verdicts": {name: _make_verdict_tree(verdict) for name, verdict in done.verdicts.items()},
            **{
                name: getattr(done, name)
                for name in ("seconds", "events", "isolated", "flaky", "date", "tools", "ignored", "fields")
            },
        }
        draft = place / "verdict.new"
        draft.write_text(json.dumps(tree, indent=1) + "\n", "utf-8")
        draft.replace(place / "verdict.json")


def _make_verdict_tree(verdict: ScenarioVerdict) -> dict[str, Tree]:
    return verdict._asdict()


def _read_verdict(tree: Mapping[str, Tree]) -> ScenarioVerdict:
    return ScenarioVerdict(**{**tree, "evidence": tuple(tree["evidence"])})


def play(
    runs: Sequence[ScenarioRun], agents: Sequence[Agent], store: Store, *, jobs: int = 0, fresh: bool = False
) -> Iterator[tuple[FinishedRun, bool]]:
    """Yield each run as it ends, and whether it was played now; stored runs come first.

    Closing the generator ends the current runs, without storing them.
    """
    agents_by_name = {agent.name: agent for agent in agents}
    todo: list[ScenarioRun] = []
    for scenario_run in runs:
        before = (
            None if fresh else store.load(scenario_run, agents_by_name[scenario_run.driver].program.version)
        )
        if before:
            yield before, False
        else:
            todo.append(scenario_run)
    for done in run_jobs(
        todo,
        lambda pending: _play_with_retry(pending, agents_by_name[pending.driver], store),
        jobs or os.cpu_count() or 1,
    ):
        yield done, True


def run_jobs(todo: Sequence[Job], work: Callable[[Job], Gain], jobs: int) -> Iterator[Gain]:
    """Run jobs, several at a time, and yield each result as it ends.

    Closing the generator ends the current jobs.
    """
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    ended: queue.SimpleQueue[Gain | BaseException] = queue.SimpleQueue()
    for job in todo:
        waiting.put(job)

    workers = [
        threading.Thread(target=_work_jobs, args=(waiting, ended, work), daemon=True)
        for _ in range(min(jobs, len(todo)))
    ]
    for worker in workers:
        worker.start()
    try:
        for _ in todo:
            done = ended.get()
            if isinstance(done, BaseException):
                raise done
            yield done
    finally:
        while not waiting.empty():
            waiting.get_nowait()
        deadline = time.monotonic() + STOP_SECONDS
        # A job that was installing hooks starts its agent only now.
        while any(worker.is_alive() for worker in workers) and time.monotonic() < deadline:
            player.stop_runs()
            time.sleep(TICK_SECONDS)


def _work_jobs(
    waiting: queue.SimpleQueue[Job],
    ended: queue.SimpleQueue[Gain | BaseException],
    work: Callable[[Job], Gain],
) -> None:
    while not waiting.empty():
        try:
            ended.put(work(waiting.get_nowait()))
        except queue.Empty:
            return
        except BaseException as error:  # noqa: BLE001  (told by the thread that asked)
            ended.put(error)


def _play_with_retry(scenario_run: ScenarioRun, agent: Agent, store: Store) -> FinishedRun:
    """Play a run, and repeat it if it failed; if the second try passes, it is flaky."""
    first: FinishedRun | None = None
    while True:
        with tempfile.TemporaryDirectory(prefix="hookport-prove-", ignore_cleanup_errors=True) as folder:
            root = Path(folder).resolve()
            done = run.play_scenario(
                scenario_run,
                agent.driver,
                agent.program,
                programs.get_shared_folder(scenario_run.driver, agent.driver),
                root,
            )
            failed = combine_verdicts(done.verdicts.values()) == "fail"
            if failed and first is None:
                first = done
                continue
            if first is not None and not failed:
                done = done._replace(flaky=_list_failures(first))
            store.keep(done, agent.program.version, root)
            return done


def _list_failures(done: FinishedRun) -> tuple[str, ...]:
    return tuple(
        f"{name}: {line}" if name else line
        for name, verdict in done.verdicts.items()
        if verdict.result == "fail"
        for line in verdict.evidence
    )


def collect_results(agents: Sequence[Agent], done: Iterable[FinishedRun]) -> list[AgentResults]:
    """Collect the measurements by agent."""
    by_place: dict[tuple[str, str, Mode], list[FinishedRun]] = {}
    for finished in done:
        by_place.setdefault((finished.run.driver, finished.run.scenario.name, finished.run.mode), []).append(
            finished
        )
    measured = []
    for agent in agents:
        agent_runs = {place: ones for place, ones in by_place.items() if place[0] == agent.name}
        table: dict[str, dict[str, ScenarioResult]] = {}
        for (_, name, mode), ones in agent_runs.items():
            table.setdefault(name, {})[mode] = _make_result(ones)
        every = [finished_run for ones in agent_runs.values() for finished_run in ones]
        if table:
            measured.append(_make_agent_results(agent, table, every))
    return measured


def _make_agent_results(
    agent: Agent, table: Mapping[str, Mapping[str, ScenarioResult]], done: Sequence[FinishedRun]
) -> AgentResults:
    # From scenarios with a hook on every event; in others, only some events have an entry.
    every = [run for run in done if run.run.scenario.kind == "events" and run.run.mode == "bridge"]
    return AgentResults(
        agent=get_dialect_id(agent.driver),
        driver=agent.name,
        title=agent.driver.title,
        version=agent.program.version,
        hookport=hookport.__version__,
        date=min(finished.date for finished in done),
        platform=f"{platform.system()} {platform.machine()}",
        command=f"hookport prove {agent.name}",
        isolated=bool(done) and all(finished.isolated for finished in done),
        events=_count_sightings((finished, finished.events) for finished in every),
        tools=_count_sightings((finished, finished.tools) for finished in every),
        ignored=_count_sightings((finished, finished.ignored) for finished in done),
        scenarios={name: dict(sorted(table[name].items())) for name in sorted(table)},
    )


def _count_sightings(counts: Iterable[tuple[FinishedRun, Mapping[str, int]]]) -> dict[str, Sighting]:
    """Count by native name, each in the first scenario by name in which it happened."""
    sightings: dict[str, Sighting] = {}
    for finished, times in sorted(counts, key=lambda count: count[0].run.name):
        # Only a run whose checks hold shows something.
        if combine_verdicts(finished.verdicts.values()) == "pass":
            for native, number in times.items():
                fields = tuple(finished.fields.get(native, ()))
                sightings.setdefault(native, Sighting(number, finished.run.scenario.name, fields))
    return dict(sorted(sightings.items()))


def _make_result(done: Sequence[FinishedRun]) -> ScenarioResult:
    """Make the result of a scenario in a mode from all its runs."""
    verdicts = {name: verdict for finished in done for name, verdict in finished.verdicts.items()}
    word = combine_verdicts(verdicts.values())
    first = next(verdict for verdict in verdicts.values() if verdict.result == word)
    evidence = (
        tuple(line for finished in done for line in _list_failures(finished))
        if word == "fail"
        else first.evidence
    )
    others = tuple(
        f"{name}: {verdict.reason}" for name, verdict in verdicts.items() if verdict.result != word
    )
    flaky = tuple(f"flaky, the first of two tries: {line}" for finished in done for line in finished.flaky)
    return ScenarioResult(
        word,
        round(sum(finished.seconds for finished in done), 1),
        (*evidence, *(others if word == "pass" else ()), *flaky),
        first.reason,
        first.instead,
        {name: verdict.result for name, verdict in sorted(verdicts.items()) if name},
        min(finished.date for finished in done),
    )


def find_agents(
    names: Sequence[str], *, take: Take, tell: Callable[[str], None]
) -> tuple[list[Agent], dict[str, str]]:
    """Find the agents to play, and the missing ones with the reason for the failed fetch."""
    available: list[Agent] = []
    missing: dict[str, str] = {}
    for name in names or drivers.list_names():
        driver = drivers.get(name)
        try:
            program = programs.fetch(name, driver, tell) if take == "fetched" else None
        except programs.ProgramError as error:
            missing[name] = str(error)
            continue
        program = program or (programs.find_installed(driver) if take == "any" else None)
        program = program or programs.find_cached(name, driver)
        if program:
            available.append(Agent(name, driver, program))
        else:
            missing[name] = ""
    return available, missing


def write_report(folder: Path, measured: Sequence[AgentResults], done: Iterable[FinishedRun]) -> None:
    """Write the results and one payload of each kind that an agent sent, beside the stored runs."""
    for agent_results in measured:
        write_results(folder / "results", agent_results)
        shutil.rmtree(folder / "payloads" / agent_results.driver, ignore_errors=True)
    known_shapes: set[tuple[str, str]] = set()
    for finished in done:
        payload_folder = folder / "runs" / finished.run.driver / finished.run.name / "payloads"
        for file in sorted(payload_folder.glob("*.json")):
            record = json.loads(file.read_text("utf-8"))
            shape = (finished.run.driver, f"{record['native']} {_describe_shape(record.get('payload', ''))}")
            if shape in known_shapes:
                continue
            known_shapes.add(shape)
            place = folder / "payloads" / finished.run.driver
            place.mkdir(parents=True, exist_ok=True)
            number = sum(1 for _ in place.glob(f"{record['native']}-*.json")) + 1
            (place / f"{record['native']}-{number}.json").write_text(record.get("payload", ""), "utf-8")


def _describe_shape(payload: str) -> str:
    """Describe the keys of a payload, two levels deep; payloads with equal keys are of one kind."""
    try:
        tree = json.loads(payload)
    except ValueError:
        return payload
    inner = {
        key: sorted(value) if isinstance(value, dict) else type(value).__name__ for key, value in tree.items()
    }
    return json.dumps(inner, sort_keys=True)
