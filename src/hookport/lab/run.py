"""One run from an empty folder to a verdict: hooks written, installed by the real `hookport`, and played."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect, find_event_specs, get, get_wire
from hookport.agents import list_agents as all_agents
from hookport.base.tree import Tree
from hookport.convert import edit, pipeline
from hookport.lab import formats, judge, mcp_lab, player, stage
from hookport.lab.driver import Call, Driver, Stage, Step
from hookport.lab.drivers import dialect_of
from hookport.lab.formats import File, Format, World
from hookport.lab.judge import Given, Seen, Verdict
from hookport.lab.programs import Program
from hookport.lab.scenario import STEPS, Hook, Mode, Own, Scenario, filled, is_of_format
from hookport.model.runs import Decision, Event
from hookport.project.places import list_sites
from hookport.shapes.dialect import find_event
from hookport.wire.answers import write_answer

# How long `hookport sync` and the like may take on a machine that is busy.
INSTALL_SECONDS = 120
# How long hooks that nobody waits for have to come up after the agent has ended.
BESIDE_SECONDS = 10
OWN, OWN_EVENT = "own", "before_tool_execute"


class Run(NamedTuple):
    """One process of an agent: a scenario in a mode, with the formats that are proven in it."""

    driver: str
    scenario: Scenario
    mode: Mode
    formats: tuple[str, ...]

    @property
    def name(self) -> str:
        """As a person writes it; the format is named where there is a run for each."""
        part = f"-{self.formats[0]}" if self.is_part else ""
        return f"{self.scenario.name}-{self.mode}{part}"

    @property
    def is_part(self) -> bool:
        return len(self.formats) == 1 and self.scenario.formats != "one"


class Done(NamedTuple):
    """What a run gave: a verdict for each format, and what was seen on the way.

    `events` counts the native events that the bridge got; `flaky` is what the first of two tries said, where
    the second said otherwise.
    """

    run: Run
    verdicts: Mapping[str, Verdict]
    seconds: float = 0
    events: Mapping[str, int] = {}
    isolated: bool = False
    flaky: tuple[str, ...] = ()


def played(run: Run, driver: Driver, program: Program, shared: Path, root: Path) -> Done:
    """Play a run in an empty folder, in which everything is left to be looked at."""
    world = World(_scope(driver, run.mode), root / "home", root / "hooks.jsonl")
    written = _hook_files(run, world)
    project = _project_files(run)
    if world.scope == "project":
        project.update({file.path: file.text for file in written})
    else:
        # Hooks of a scenario's own files are the user's too.
        moved = home_files(run.scenario)
        written += [File(moved[path], project.pop(path)) for path in moved if path in project]
    word = run.formats[0] if run.formats else ""
    made = stage.staged(
        root,
        program.argv,
        shared=shared,
        prompt=filled(run.scenario.prompt, word),
        files=project,
        within=run.scenario.cwd,
    )
    made = made._replace(trusted=run.scenario.trusted)
    if run.scenario.uses_mcp:
        made = made._replace(mcp=(sys.executable, str(Path(mcp_lab.__file__))))
    driver.settle(made)
    if world.scope == "user":
        write(made.home, written)
    if run.scenario.own:
        write_own(made, get(dialect_of(driver)), run.scenario, world)
    environment = {**stage.environment(made), **driver.environment(made)}
    trouble = _installed(run, driver, made, environment)
    if run.scenario.tampered:
        _tamper(made.project, written)
    recorded = root / "payloads"
    more = {"HOOKPORT_RECORD": str(recorded)}
    rest = BESIDE_SECONDS if any(hook.is_async for hook in run.scenario.hooks) else 1
    spec = stage.spec(driver, made, _steps(run, driver, made), settle_seconds=rest, more=more)
    outcome = player.played(spec, root)
    if trouble and not outcome.trouble:
        outcome = outcome._replace(trouble=trouble)
    seen = Seen(outcome, made.project, made.home, _records(world.records), _events(recorded))
    given = Given(run.scenario, driver)
    verdicts = {form: judge.judged(given, form, seen) for form in run.formats or ("",)}
    return Done(run, verdicts, outcome.seconds, seen.events, outcome.isolated)


def _tamper(project: Path, written: Sequence[File]) -> None:
    """Add a line to every script, as whoever disarms a guard would."""
    for file in written:
        if file.text.startswith("#!") or file.path.endswith(".py"):
            with (project / file.path).open("a", encoding="utf-8") as script:
                script.write("\n# another line\n")


def _scope(driver: Driver, mode: Mode) -> formats.Scope:
    """Whose hooks are proven: hooks by themselves are the user's where an agent reads no project's files."""
    return "user" if mode == "native" and not reads_projects(get(dialect_of(driver))) else "project"


def reads_projects(dialect: Dialect) -> bool:
    return any(place.scope in ("project", "local") for place in dialect.locations)


def hooks_of(scenario: Scenario, form: Format) -> list[Hook]:
    """The hooks of a scenario under the names that they have in a format."""
    named = [hook._replace(name=f"{hook.name}-{form.name}") for hook in scenario.hooks]
    return [filled(hook, form.name) for hook in named]


def _hook_files(run: Run, world: World) -> list[File]:
    forms = [formats.get(name) for name in run.formats]
    return [file for form in forms for file in formats.write(form, hooks_of(run.scenario, form), world)]


def home_files(scenario: Scenario) -> dict[str, str]:
    """The files of a scenario that stand where a project has hooks, with where a home has them."""
    found: dict[str, str] = {}
    for here, there in _homes():
        found.update({path: there + path[len(here) :] for path in scenario.files if path.startswith(here)})
    return found


def _homes() -> Iterator[tuple[str, str]]:
    """The folders of a project with hooks, each with the folder of a home that has the same files."""
    users = [site for site in list_sites() if site.scope == "user"]
    for mine in (site for site in list_sites() if site.scope == "project"):
        here, name = _folder(mine.path)
        for yours in (site for site in users if any(one in site.dialects for one in mine.dialects)):
            there, other = _folder(yours.path.removeprefix("~/"))
            if here and name == other:
                yield here, there


def _folder(place: str) -> tuple[str, str]:
    """A place as a folder and what is looked for in it."""
    folder = place.partition("*")[0].rpartition("/")[0]
    return (f"{folder}/", place[len(folder) + 1 :]) if folder else ("", place)


def _project_files(run: Run) -> dict[str, str]:
    """The files of a scenario, those of a format once for each."""
    found: dict[str, str] = {}
    for path, text in run.scenario.files.items():
        for word in run.formats if is_of_format((path, text)) else ("",):
            found[filled(path, word)] = filled(text, word)
    return found


def _steps(run: Run, driver: Driver, made: Stage) -> tuple[Step, ...]:
    """What the model does, in the agent's own calls; a step of a format once for each.

    Steps of a format that follow one another stay together, so that a file is read before its edit.
    """
    ordered = [
        filled(step, word)
        for is_own, group in groupby(run.scenario.steps, lambda step: is_of_format(step[1]))
        for steps in [list(group)]
        for word in (run.formats if is_own else ("",))
        for step in steps
    ]
    return tuple(
        Step(text=given) if kind == "say" else Step((_call(driver, made, kind, given),))
        for kind, given in ordered
        if kind == "say" or kind in driver.calls
    )


def _call(driver: Driver, made: Stage, kind: str, given: Tree) -> Call:
    arguments = [given[key] for key in STEPS[kind]] if STEPS[kind] else [given]
    return driver.calls[kind](made, *arguments)


def missing_calls(scenario: Scenario, driver: Driver) -> str:
    """Why the driver cannot play a scenario: it has no call for a step; to read first is only a courtesy."""
    for kind, _ in scenario.steps:
        if kind not in ("say", "read") and kind not in driver.calls:
            return driver.lacks.get(f"calls.{kind}", f"no tool of {driver.title} is known for '{kind}'")
    return ""


def _installed(run: Run, driver: Driver, made: Stage, environment: dict[str, str]) -> str:
    """Install the hooks of a scenario as a user does; what went wrong, or nothing."""
    dialect = get(dialect_of(driver))
    scopes = {"both": ("project", "user")}.get(run.scenario.scope, (run.scenario.scope,))
    if not reads_projects(dialect):
        scopes = ("user",)
    agents = ["--agent", *dict.fromkeys([dialect.id, *(_readers() if run.scenario.adopt else ())])]
    adopt = ["--adopt"] if run.scenario.adopt else []
    commands = [["sync", *agents, "--mode", run.mode, "--scope", scope, *adopt] for scope in scopes]
    commands.append(["trust", "--yes", "--agents"])
    if not run.scenario.approved:
        # The agent's own approval of our entries stays.
        commands.append(["untrust"])
    return told(driver, made, environment, commands)


def _readers() -> list[str]:
    """The agents that read another agent's file, and whose hooks find a variable that shows it."""
    return [name for name in all_agents() if get(name).also_reads and "$root" in get_wire(name).env.values()]


def told(
    driver: Driver, made: Stage, environment: Mapping[str, str], commands: Sequence[Sequence[str]]
) -> str:
    """Call the real `hookport` in the project, once for each command; what went wrong, or nothing."""
    # An agent that keeps approvals of its own is asked for them, so its program must be found.
    bin_folder = made.home.parent / "programs"
    bin_folder.mkdir(exist_ok=True)
    shim = bin_folder / driver.program
    shim.write_text(f'#!/bin/sh\nexec {shlex.join(made.program)} "$@"\n', "utf-8")
    shim.chmod(0o755)
    own = {**environment, "PATH": f"{bin_folder}:{environment['PATH']}"}
    said: list[str] = []
    trouble = ""
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "hookport", *command],
            cwd=made.project,
            env={**own, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_SECONDS,
            stdin=subprocess.DEVNULL,
        )
        said.append(f"$ hookport {shlex.join(command)}\n{done.stdout}{done.stderr}=> {done.returncode}\n")
        # 1 is a finding that a person must see, with everything written.
        if done.returncode not in (0, 1):
            last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it said nothing"]
            trouble = trouble or f"`hookport {shlex.join(command)}` failed: {last[0]}"
    with (made.home.parent / "install.txt").open("a", encoding="utf-8") as file:
        file.write("\n".join(said))
    return trouble


def write(folder: Path, wanted: Sequence[File]) -> None:
    for file in wanted:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, "utf-8")
        if file.text.startswith("#!") or file.path.endswith(".py"):
            path.chmod(0o755)


# Cline runs no file that begins with `#!/usr/bin/env -S` (measured, 3.0.65).
OWN_SCRIPT = """#!/usr/bin/env python3
import json, subprocess, sys

payload = sys.stdin.read()
acts = bool({when!r}) and {when!r} in payload
with open({records!r}, "a") as file:
    file.write(json.dumps({{"hook": {name!r}, "acts": acts, "stdin": payload}}) + "\\n")
stdout, stderr, code = {denied!r} if acts else {passed!r}
if acts and {child}:
    subprocess.Popen(["sleep", "{child}"])
sys.stdout.write(stdout)
sys.stderr.write(stderr)
sys.exit(code)
"""
# What a hook gets that leaves a child behind: an agent that waits for the child has no answer in time.
SHORT_SECONDS = 5


def _own_script(dialect: Dialect, own: Own, records: Path) -> str:
    """A program that answers in the words that the agent obeys, as if only that agent were known."""
    native = find_event_specs(dialect, OWN_EVENT)[0].native
    event = Event(OWN_EVENT, dialect.id, native)
    answers = [
        write_answer(dialect.wire, event, decision)[0]
        for decision in (Decision("deny", own.reason), Decision())
    ]
    denied, passed = ((answer.stdout, answer.stderr, answer.exit_code) for answer in answers)
    words = {"when": own.when, "child": own.child, "records": str(records), "name": OWN}
    return OWN_SCRIPT.format(**words, denied=denied, passed=passed)


def write_own(made: Stage, dialect: Dialect, scenario: Scenario, world: World) -> None:
    """A hook of the user's own in the agent's words and file, among what stands there already."""
    form = formats.get(formats.names()[0])
    own = scenario.own or Own()
    script = made.home / "own.py"
    write(made.home, [File(script.name, _own_script(dialect, own, world.records))])
    handler: dict[str, Tree] = {"type": "command", "command": str(script)}
    if own.child:
        handler["timeout"] = SHORT_SECONDS
    hook: dict[str, Tree] = {"name": OWN, "event": OWN_EVENT, "matcher": "shell", "handler": handler}
    if own.when:
        hook["blocking"] = True
    manifest = json.dumps({**form.beside, "hooks": [hook]})
    reading = pipeline.read({form.places["project"].file: manifest.encode()}, get(form.name))
    for file in pipeline.convert(reading, dialect, bare=True).files:
        place = local_file(dialect) if own.scope == "local" else file.path
        path = _own_place(made, dialect, place, is_alone=scenario.scope == "user")
        # Where an event is a file, the hook is that file.
        data = script.read_bytes() if find_event(dialect, path.name) else file.text.encode()
        if path.exists():
            there = pipeline.read({file.path: path.read_bytes()}, dialect)
            added = pipeline.read({file.path: data}, dialect).decoded.manifest.hooks
            data = edit.encode(there, (*there.decoded.manifest.hooks, *added))[file.path]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if data.startswith(b"#!"):
            path.chmod(0o755)


def local_file(dialect: Dialect) -> str:
    """The file of a project that is the user's alone; empty where the agent has none."""
    return next((place.path for place in dialect.locations if place.scope == "local"), "")


def _own_place(made: Stage, dialect: Dialect, path: str, *, is_alone: bool) -> Path:
    """Where a user has a hook: not in a file that is hookport's by its name or by its event.

    `is_alone`: hookport writes none of the project's files.
    """
    if path.startswith("~/"):
        return made.home / path[2:]
    name = Path(path).name
    if find_event(dialect, name) and not is_alone:
        folder = next(place.path for place in dialect.locations if place.scope == "user")
        return made.home / folder.removeprefix("~/").replace("*", name)
    return made.project / path.replace("hookport.", f"{OWN}.")


def _records(path: Path) -> list[dict[str, Tree]]:
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def _events(folder: Path) -> dict[str, int]:
    """How often each native event came to the bridge."""
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    natives = [json.loads(file.read_text("utf-8"))["native"] for file in files]
    return dict(sorted(Counter(natives).items()))
