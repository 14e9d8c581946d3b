"""Many runs: which there are to do, several at a time, each kept when it is done so that none is lost."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import hookport
from hookport.agents import get
from hookport.lab import drivers, formats, player, programs, run
from hookport.lab import scenario as scenarios
from hookport.lab.driver import Driver
from hookport.lab.drivers import dialect_of
from hookport.lab.judge import Verdict, together
from hookport.lab.programs import Program
from hookport.lab.results import Result, Results, write
from hookport.lab.run import Done, Run
from hookport.lab.scenario import Mode, Scenario, Sharing

Tree = Any
Job = TypeVar("Job")
Gain = TypeVar("Gain")
# How long runs that are ended have to clean up.
STOP_SECONDS = 10.0
TICK_SECONDS = 0.05
# The scenario that shows which events fire.
EVENTS = "events"
# What is kept of a run in a report, of all that it leaves.
KEPT = ("install.txt", "spec.json", "outcome.json", "requests.jsonl", "hooks.jsonl", "payloads")
# Which programs are played: those that are found, the pinned ones in the cache, or these, fetched if need be.
Take = Literal["any", "cached", "fetched"]


class Agent(NamedTuple):
    """An agent that is there to be played."""

    name: str
    driver: Driver
    program: Program


class Unplayed(NamedTuple):
    """A scenario that an agent has no part in, and why."""

    agent: str
    scenario: str
    mode: Mode
    reason: str


class Plan(NamedTuple):
    """What is to do: the runs, and what cannot be played."""

    runs: tuple[Run, ...]
    unplayed: tuple[Unplayed, ...]


def planned(
    agents: Sequence[Agent], names: Sequence[str] = (), modes: Sequence[Mode] = scenarios.MODES
) -> Plan:
    """Every run of these agents, one agent after the other."""
    chosen = [scenarios.get(name) for name in names or scenarios.names()]
    runs: list[Run] = []
    unplayed: list[Unplayed] = []
    for agent in agents:
        for one in chosen:
            for mode in (mode for mode in modes if mode in one.modes):
                reason = _unplayable(one, agent.driver, mode)
                if reason:
                    unplayed.append(Unplayed(agent.name, one.name, mode, reason))
                else:
                    runs += [Run(agent.name, one, mode, forms) for forms in _groups(one, agent.driver)]
    return Plan(tuple(runs), tuple(unplayed))


def _unplayable(one: Scenario, driver: Driver, mode: Mode) -> str:
    missing = next((program for program in one.programs if not shutil.which(program)), "")
    if missing:
        return f"the scenario needs `{missing}`, which is not on this machine"
    dialect = get(dialect_of(driver))
    if not one.trusted and dialect.folder_trust is None:
        return f"{dialect.title} trusts every folder"
    if one.own and one.own.scope == "local" and not run.local_file(dialect):
        return f"{dialect.title} has no file of a project that is the user's alone"
    is_homeless = not one.hooks and not run.home_files(one)
    if mode == "native" and is_homeless and not run.reads_projects(dialect):
        return f"{dialect.title} reads no files of a project, so its hooks are not installed by themselves"
    return run.missing_calls(one, driver)


def parts(one: Scenario) -> list[str]:
    """The formats that have a part in a scenario."""
    return [
        name
        for name in formats.names()
        if not any(formats.refusal(formats.get(name), hook) for hook in one.hooks)
    ]


def _groups(one: Scenario, driver: Driver) -> list[tuple[str, ...]]:
    """The formats of each run."""
    if not one.hooks:
        return [()]
    found = parts(one)
    sharing: Sharing = one.ending if driver.denial_ends else one.formats
    if sharing == "each" or one.name in driver.alone:
        return [(name,) for name in found]
    return [tuple(found if sharing == "together" else found[:1])]


class Store:
    """Where finished runs are kept: in a report with all that they left, or in the cache by verdict only."""

    def __init__(self, report: Path | None = None) -> None:
        self.is_report = report is not None
        self.folder = report or programs.cache().parent / "prove"
        self._source = source_key()

    def place(self, one: Run) -> Path:
        return self.folder / "runs" / one.driver / one.name

    def key(self, one: Run, version: str) -> str:
        """What a result holds for: the agent, the scenario and hookport as they are."""
        words = (one.driver, version, one.scenario.text, one.mode, *one.formats, self._source)
        return hashlib.sha256("\0".join(words).encode()).hexdigest()

    def load(self, one: Run, version: str) -> Done | None:
        """What came of a run before, if nothing changed since."""
        try:
            tree = json.loads((self.place(one) / "verdict.json").read_text("utf-8"))
            if tree["key"] != self.key(one, version):
                return None
            verdicts = {name: _read_verdict(said) for name, said in tree["verdicts"].items()}
            return Done(
                one, verdicts, tree["seconds"], tree["events"], tree["isolated"], tuple(tree["flaky"])
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, done: Done, version: str, root: Path) -> None:
        """Keep what a run left in its folder."""
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
            "verdicts": {name: _written(one) for name, one in done.verdicts.items()},
            **{name: getattr(done, name) for name in ("seconds", "events", "isolated", "flaky")},
        }
        draft = place / "verdict.new"
        draft.write_text(json.dumps(tree, indent=1) + "\n", "utf-8")
        draft.replace(place / "verdict.json")


def _written(one: Verdict) -> dict[str, Tree]:
    return one._asdict()


def _read_verdict(tree: Mapping[str, Tree]) -> Verdict:
    return Verdict(**{**tree, "evidence": tuple(tree["evidence"])})


def source_key() -> str:
    """A hash of hookport's own source, what was measured with it aside."""
    root = Path(str(files("hookport")))
    found = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".yaml") and "results" not in path.relative_to(root).parts:
            found.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()


def play(
    runs: Sequence[Run], agents: Sequence[Agent], store: Store, *, jobs: int = 0, fresh: bool = False
) -> Iterator[tuple[Done, bool]]:
    """What comes of each run, as it ends, and whether it was played now; those kept before come first.

    Whoever stops listening ends what is under way, and nothing of that is kept.
    """
    known = {agent.name: agent for agent in agents}
    todo: list[Run] = []
    for one in runs:
        before = None if fresh else store.load(one, known[one.driver].program.version)
        if before:
            yield before, False
        else:
            todo.append(one)
    for done in several(
        todo, lambda one: _played(one, known[one.driver], store), jobs or os.cpu_count() or 1
    ):
        yield done, True


def several(todo: Sequence[Job], work: Callable[[Job], Gain], jobs: int) -> Iterator[Gain]:
    """What came of each, as they end, several at a time.

    Whoever stops listening ends what is under way.
    """
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    ended: queue.SimpleQueue[Gain | BaseException] = queue.SimpleQueue()
    for one in todo:
        waiting.put(one)

    workers = [
        threading.Thread(target=_take, args=(waiting, ended, work), daemon=True)
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
        # One that was installing hooks comes to start its agent only now.
        while any(worker.is_alive() for worker in workers) and time.monotonic() < deadline:
            player.stop()
            time.sleep(TICK_SECONDS)


def _take(
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


def _played(one: Run, agent: Agent, store: Store) -> Done:
    """Play a run, and once more where it failed; a second try that says otherwise is told."""
    first: Done | None = None
    while True:
        with tempfile.TemporaryDirectory(prefix="hookport-prove-", ignore_cleanup_errors=True) as folder:
            root = Path(folder).resolve()
            done = run.played(
                one, agent.driver, agent.program, programs.shared(one.driver, agent.driver), root
            )
            failed = together(done.verdicts.values()) == "fail"
            if failed and first is None:
                first = done
                continue
            if first is not None and not failed:
                done = done._replace(flaky=_failures(first))
            store.keep(done, agent.program.version, root)
            return done


def _failures(done: Done) -> tuple[str, ...]:
    return tuple(
        f"{name}: {line}" if name else line
        for name, verdict in done.verdicts.items()
        if verdict.result == "fail"
        for line in verdict.evidence
    )


def results(agents: Sequence[Agent], done: Iterable[Done]) -> list[Results]:
    """What was measured, by agent."""
    by_place: dict[tuple[str, str, Mode], list[Done]] = {}
    for one in done:
        by_place.setdefault((one.run.driver, one.run.scenario.name, one.run.mode), []).append(one)
    found = []
    for agent in agents:
        own = {place: ones for place, ones in by_place.items() if place[0] == agent.name}
        table: dict[str, dict[str, Result]] = {}
        for (_, name, mode), ones in own.items():
            table.setdefault(name, {})[mode] = _result(ones)
        every = [one for ones in own.values() for one in ones]
        if table:
            found.append(_of_agent(agent, table, every))
    return found


def _of_agent(agent: Agent, table: Mapping[str, Mapping[str, Result]], done: Sequence[Done]) -> Results:
    # Of the scenario that has a hook on every event; elsewhere an entry is there for some events only.
    every = (one.events for one in done if one.run.scenario.name == EVENTS and one.run.mode == "bridge")
    events = next(every, {})
    return Results(
        agent=dialect_of(agent.driver),
        driver=agent.name,
        title=agent.driver.title,
        version=agent.program.version,
        hookport=hookport.__version__,
        date=datetime.now(UTC).date().isoformat(),
        platform=f"{platform.system()} {platform.machine()}",
        command=f"hookport prove {agent.name}",
        isolated=bool(done) and all(one.isolated for one in done),
        events=dict(sorted(events.items())),
        scenarios={name: dict(sorted(table[name].items())) for name in sorted(table)},
    )


def _result(done: Sequence[Done]) -> Result:
    """The result of a scenario in a mode, from all its runs."""
    verdicts = {name: verdict for one in done for name, verdict in one.verdicts.items()}
    word = together(verdicts.values())
    first = next(verdict for verdict in verdicts.values() if verdict.result == word)
    evidence = tuple(line for one in done for line in _failures(one)) if word == "fail" else first.evidence
    others = tuple(
        f"{name}: {verdict.reason}" for name, verdict in verdicts.items() if verdict.result != word
    )
    flaky = tuple(f"flaky, the first of two tries: {line}" for one in done for line in one.flaky)
    return Result(
        word,
        round(sum(one.seconds for one in done), 1),
        (*evidence, *(others if word == "pass" else ()), *flaky),
        first.reason,
        first.instead,
        {name: verdict.result for name, verdict in sorted(verdicts.items()) if name},
    )


def found(
    names: Sequence[str], *, take: Take, tell: Callable[[str], None]
) -> tuple[list[Agent], dict[str, str]]:
    """The agents that are there; and those that are missing, with why one could not be fetched."""
    there: list[Agent] = []
    missing: dict[str, str] = {}
    for name in names or drivers.names():
        driver = drivers.get(name)
        try:
            program = programs.fetch(name, driver, tell) if take == "fetched" else None
        except programs.ProgramError as error:
            missing[name] = str(error)
            continue
        program = program or (programs.installed(driver) if take == "any" else None)
        program = program or programs.cached(name, driver)
        if program:
            there.append(Agent(name, driver, program))
        else:
            missing[name] = ""
    return there, missing


def report(folder: Path, found: Sequence[Results], done: Iterable[Done]) -> None:
    """Write the results and one payload of each kind that an agent sent, beside what is kept of each run."""
    for one in found:
        write(folder / "results", one)
        shutil.rmtree(folder / "payloads" / one.driver, ignore_errors=True)
    seen: set[tuple[str, str]] = set()
    for one_done in done:
        kept = folder / "runs" / one_done.run.driver / one_done.run.name / "payloads"
        for file in sorted(kept.glob("*.json")):
            record = json.loads(file.read_text("utf-8"))
            shape = (one_done.run.driver, f"{record['native']} {_shape(record.get('payload', ''))}")
            if shape in seen:
                continue
            seen.add(shape)
            place = folder / "payloads" / one_done.run.driver
            place.mkdir(parents=True, exist_ok=True)
            number = sum(1 for _ in place.glob(f"{record['native']}-*.json")) + 1
            (place / f"{record['native']}-{number}.json").write_text(record.get("payload", ""), "utf-8")


def _shape(payload: str) -> str:
    """The keys of a payload, two levels deep; payloads with the same are of one kind."""
    try:
        tree = json.loads(payload)
    except ValueError:
        return payload
    inner = {
        key: sorted(value) if isinstance(value, dict) else type(value).__name__ for key, value in tree.items()
    }
    return json.dumps(inner, sort_keys=True)
