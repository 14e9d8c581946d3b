"""A person's own hooks on a real agent: their project in a fresh copy, installed normally, and played.

The agent starts as often as needed: after a denial that ends its run, the next run plays the rest.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.agents import get
from hookport.lab import belongings, mcp_lab, player, programs, samples, shims, stage
from hookport.lab.belongings import Belongings
from hookport.lab.campaign import Agent, run_jobs
from hookport.lab.driver import Driver, ModelStep, Stage
from hookport.lab.drivers import get_dialect_id
from hookport.lab.firings import Firing, Watch
from hookport.lab.play import Outcome, RequestRecord
from hookport.lab.programs import Program
from hookport.lab.run import BESIDE_SECONDS, call_hookport, reads_projects
from hookport.lab.samples import Sample
from hookport.project import plan_builder
from hookport.project.discovery import HookEntry, discover, load
from hookport.runtime.plan import PlannedHook

Mode = Literal["auto", "bridge", "native"]
# The files of a run that a report keeps.
KEPT = ("install.txt", "requests.jsonl", "witness.jsonl", "payloads", "turns", "state/journal.jsonl")
# The extra time for one step with its hooks, beyond the driver's limit.
SECONDS_EACH = 5
# Tools that hooks call go offline, so that they do not try for half a minute.
OFFLINE = {"npm_config_offline": "true", "PIP_NO_INDEX": "1", "UV_OFFLINE": "1", "GIT_TERMINAL_PROMPT": "0"}


class ProofRequest(NamedTuple):
    """What to prove: the hooks of a source, with the samples that a person adds."""

    belongings: Belongings
    samples: tuple[Sample, ...] = ()
    mode: Mode = "auto"


class AgentTurn(NamedTuple):
    """One process of the agent: its prompt, and how many steps the model had for it."""

    prompt: str
    steps: int
    outcome: Outcome


class Fate(NamedTuple):
    """The outcome of a sample: whether the model asked for it, whether it happened, its result."""

    sample: Sample
    turn: int
    reached: bool
    happened: bool
    told: str = ""


class Account(NamedTuple):
    """All observations of one agent, for judging the hooks.

    `passed` has, for each hook, the last reason why the bridge did not run it; `unwatched` are hooks that the
    agent runs itself without a witness. `trouble` is why nothing could be played.
    """

    agent: str
    driver: Driver
    mode: Mode
    found: tuple[HookEntry, ...]
    hooks: tuple[PlannedHook, ...]
    firings: tuple[Firing, ...] = ()
    fates: tuple[Fate, ...] = ()
    turns: tuple[AgentTurn, ...] = ()
    passed: Mapping[int, str] = {}
    by_itself: frozenset[int] = frozenset()
    unwatched: frozenset[int] = frozenset()
    # The folder of the run, which messages do not show.
    root: str = ""
    trouble: str = ""

    @property
    def isolated(self) -> bool:
        return all(turn.outcome.isolated for turn in self.turns)


def play_agent(name: str, driver: Driver, program: Program, request: ProofRequest, root: Path) -> Account:
    """Play everything that the hooks match in an empty folder, and keep the folder."""
    lab_stage = stage.build_stage(root, program.argv, shared=programs.get_shared_folder(name, driver))
    belongings.copy_belongings(request.belongings, lab_stage.project, lab_stage.home)
    environment = {**stage.make_environment(lab_stage), **driver.environment(lab_stage)}
    found_hooks = _find_hooks(request.belongings, lab_stage, environment)
    dialect = get(get_dialect_id(driver))
    watch = Watch(dialect.id, found_hooks, lab_stage.project, environment, root.resolve() / "witness.jsonl")
    calls = samples.choose_samples(watch.planned, driver.calls, request.samples)
    if any(sample.kind == "mcp" for sample in calls):
        lab_stage = lab_stage._replace(mcp=(sys.executable, str(Path(mcp_lab.__file__))))
    driver.settle(lab_stage)
    trouble = _install_hooks(driver, lab_stage, environment, request.mode, watch)
    account = Account(
        name, driver, request.mode, found_hooks, tuple(watch.planned), root=str(root), trouble=trouble
    )
    if trouble:
        return account
    stage.commit(lab_stage, "Hooks")
    _plant(lab_stage.project, calls)
    path = shims.place_shims(
        root.resolve() / "shims", lab_stage.home, lab_stage.project, calls, environment["PATH"]
    )
    session = _Session(driver, lab_stage, watch, path)
    calls = _play_calls(session, calls)
    for sample in samples.choose_prompts(watch.planned, request.samples):
        session.play(sample.given[0], [])
    itself = frozenset(number for number in range(len(found_hooks)) if watch.is_run_by_agent(number))
    return account._replace(
        firings=tuple(session.firings),
        fates=tuple(_find_fate(session, lab_stage.project, sample) for sample in calls),
        turns=tuple(session.turns),
        passed={skipped.hook: skipped.why for skipped in watch.passed},
        by_itself=itself,
        unwatched=frozenset(watch.unwatched),
    )


def play_agents(
    agents: Sequence[Agent], request: ProofRequest, *, jobs: int = 0, report: Path | None = None
) -> Iterator[Account]:
    """Yield the observations of each agent, as it ends."""

    def work(agent: Agent) -> Account:
        with tempfile.TemporaryDirectory(prefix="hookport-prove-", ignore_cleanup_errors=True) as folder:
            root = Path(folder).resolve()
            account = play_agent(agent.name, agent.driver, agent.program, request, root)
            if report:
                keep(root, report / "hooks" / agent.name)
            return account

    return run_jobs(agents, work, jobs or os.cpu_count() or 1)


def keep(root: Path, place: Path) -> None:
    """Store the files of a run in a folder of a report."""
    shutil.rmtree(place, ignore_errors=True)
    for name in KEPT:
        path, target = root / name, place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, target)
        elif path.exists():
            shutil.copyfile(path, target)


def _find_hooks(
    source: Belongings, lab_stage: Stage, environment: Mapping[str, str]
) -> tuple[HookEntry, ...]:
    """Find the hooks of the run: those that a dispatch runs, and those that only their own agent reads."""
    dialects_by_file = {str(lab_stage.project / name): dialect for name, dialect in source.sources.items()}
    hooks = [
        hook
        for hook in plan_builder.list_runnable(discover(str(lab_stage.project), environment))
        if hook.file in dialects_by_file
    ]
    for file in sorted(dialects_by_file.keys() - {hook.file for hook in hooks}):
        hooks += plan_builder.list_runnable(load(file, dialects_by_file[file], environment))
    return tuple(hooks)


def _install_hooks(
    driver: Driver, lab_stage: Stage, environment: Mapping[str, str], mode: Mode, watch: Watch
) -> str:
    dialect = get(get_dialect_id(driver))
    in_project = reads_projects(dialect)
    # If an agent reads only the user's files, only the bridge runs a project's hooks.
    chosen = mode if in_project else "bridge"
    scope = "project" if in_project else "user"
    trouble = call_hookport(
        driver, lab_stage, environment, [["sync", "--agent", dialect.id, "--mode", chosen, "--scope", scope]]
    )
    # Before the approval: an agent may bind it to the text of a command.
    watch.place(lab_stage.project, lab_stage.home)
    return trouble or call_hookport(driver, lab_stage, environment, [["trust", "--yes", "--in-agents"]])


def _plant(project: Path, calls: Sequence[Sample]) -> None:
    """Write the files that samples need, and remove those that they write."""
    texts: dict[str, str] = {}
    for sample in calls:
        for path, text in sample.planted:
            if text not in texts.get(path, ""):
                texts[path] = texts.get(path, "") + text
    for sample in calls:
        if sample.kind == "write":
            (project / sample.path).unlink(missing_ok=True)
    for path, text in texts.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).unlink(missing_ok=True)
        (project / path).write_text(text, "utf-8")


def _play_calls(session: _Session, calls: Sequence[Sample]) -> list[Sample]:
    """Play the harmless calls, then all others, and return them as played.

    If the program of a harmless command is not seen to start, no other is either: then every command leaves
    its own mark, the harmless command too.
    """
    first = [sample for sample in calls if sample.harmless]
    session.play(stage.PROMPT, first)
    started = [sample for sample in first if sample.program]
    remaining = [sample for sample in calls if not sample.harmless]
    if not all((session.stage.project / sample.mark).exists() for sample in started):
        remaining = [
            samples.mark_command(sample) if sample.program else sample for sample in (*started, *remaining)
        ]
        first = [sample for sample in first if not sample.program]
    if remaining:
        session.play(stage.PROMPT, remaining)
    return [*first, *remaining]


class _Session:
    """The turns of one agent in one stage."""

    def __init__(self, driver: Driver, lab_stage: Stage, watch: Watch, path: str) -> None:
        self.driver, self.stage, self.watch, self.path = driver, lab_stage, watch, path
        self.turns: list[AgentTurn] = []
        self.firings: list[Firing] = []
        # For each sample, the turn and the number of its last step, once the model asked for it.
        self.reached: dict[str, tuple[int, int]] = {}
        self.rest = BESIDE_SECONDS if any(hook.is_async for hook in watch.planned) else 1

    def play(self, prompt: str, calls: Sequence[Sample]) -> None:
        """Repeat a prompt until the model has asked for everything."""
        remaining = list(calls)
        while True:
            lasts: list[int] = []
            steps: list[ModelStep] = []
            for sample in remaining:
                steps += _make_steps(self.driver, self.stage, sample)
                lasts.append(len(steps) - 1)
            outcome = self._play_turn(prompt, steps)
            served = {request.step for request in outcome.requests if request.step is not None}
            firsts = [0, *(last + 1 for last in lasts)]
            # A sample of two steps may end with its first.
            done = [number for number in range(len(remaining)) if firsts[number] in served]
            self.reached.update(
                (remaining[number].mark, (len(self.turns) - 1, lasts[number])) for number in done
            )
            remaining = [sample for number, sample in enumerate(remaining) if number not in done]
            if not remaining or not done:
                return

    def _play_turn(self, prompt: str, steps: Sequence[ModelStep]) -> Outcome:
        root = self.stage.home.parent
        folder = root / "turns" / str(len(self.turns) + 1)
        folder.mkdir(parents=True)
        patience = self.driver.patience + SECONDS_EACH * len(steps)
        spec = stage.make_spec(
            self.driver._replace(patience=patience),
            self.stage._replace(prompt=prompt),
            tuple(steps),
            settle_seconds=self.rest,
            more={"HOOKPORT_RECORD": str(root / "payloads"), "PATH": self.path, **OFFLINE},
        )
        outcome = player.play_spec(spec, folder)
        self.turns.append(AgentTurn(prompt, len(steps), outcome))
        self.firings += self.watch.new(len(self.turns) - 1)
        return outcome


def _make_steps(driver: Driver, lab_stage: Stage, sample: Sample) -> list[ModelStep]:
    """Make the steps of the model for a sample; some agents edit only what they have read."""
    calls, arguments = driver.calls, sample.given
    if sample.kind == "mcp":
        return [ModelStep((calls["mcp"](lab_stage, arguments[0], {"text": arguments[1]}),))]
    first = [calls["read"](lab_stage, sample.path)] if sample.kind == "edit" and "read" in calls else []
    return [ModelStep((call,)) for call in (*first, calls[sample.kind](lab_stage, *arguments))]


def _find_fate(session: _Session, project: Path, sample: Sample) -> Fate:
    if sample.mark not in session.reached:
        return Fate(sample, -1, reached=False, happened=False)
    turn, step = session.reached[sample.mark]
    result = find_result(session.turns[turn].outcome.requests, step)
    return Fate(sample, turn, reached=True, happened=_has_happened(project, sample, result), told=result)


def find_result(requests: Sequence[RequestRecord], step: int) -> str:
    """Find the result of a step: what the next request has beyond this one."""
    before = [request for request in requests if request.step == step]
    after = [request for request in requests if request.step == step + 1]
    if not after:
        return ""
    known = len(before[-1].results) if before else 0
    return "\n".join(result.text for result in after[0].results[known:])


def _has_happened(project: Path, sample: Sample, result: str) -> bool:
    if sample.kind == "shell":
        return (project / sample.mark).exists()
    if sample.kind == "mcp":
        return sample.mark.upper() in result
    if sample.kind == "read":
        return any(text.strip() in result for _, text in sample.planted)
    path = project / sample.path
    if sample.kind == "write":
        return path.exists()
    return path.exists() and re.search(r"\bafter\b", path.read_text("utf-8", "replace")) is not None
