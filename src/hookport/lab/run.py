"""One run from an empty folder to a verdict: hooks written, installed by the real `hookport`, and played."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect, EventSpec, find_event_specs, get, get_wire
from hookport.agents import list_agents as all_agents
from hookport.base.tree import Tree
from hookport.convert import edit, pipeline
from hookport.lab import formats, judge, mcp_lab, player, stage
from hookport.lab.driver import Driver, ModelCall, ModelStep, Stage
from hookport.lab.drivers import get_dialect_id
from hookport.lab.formats import Format, FormatFile, LabWorld
from hookport.lab.judge import PlayedScenario, RunEvidence, ScenarioVerdict
from hookport.lab.programs import Program
from hookport.lab.scenario import STEPS, Mode, OwnHook, Scenario, ScenarioHook, fill_format, is_of_format
from hookport.model.events import EVENTS
from hookport.model.runs import Decision, Event
from hookport.project.places import list_sites
from hookport.shapes.dialect import find_event, list_locations
from hookport.wire.answers import write_answer
from hookport.wire.events import read_event

# How long `hookport sync` and similar commands may take on a busy machine.
INSTALL_SECONDS = 120
# How long async hooks have to start after the agent has ended.
BESIDE_SECONDS = 10
# How full the context of a model is that says so, in percent.
FULL_PERCENT = 96
# The prompt of a sub-agent, by which the model recognises its conversation.
TASK = "Run the commands of the task: {commands}."
OWN, OWN_EVENT = "own", "before_tool_execute"


class ScenarioRun(NamedTuple):
    """One process of an agent: a scenario in a mode, with the formats it proves."""

    driver: str
    scenario: Scenario
    mode: Mode
    formats: tuple[str, ...]

    @property
    def name(self) -> str:
        """Format the run as a person writes it, with the format if each has its own run."""
        part = f"-{self.formats[0]}" if self.is_part else ""
        return f"{self.scenario.name}-{self.mode}{part}"

    @property
    def is_part(self) -> bool:
        return len(self.formats) == 1 and self.scenario.formats != "one"


class FinishedRun(NamedTuple):
    """What a run gave: a verdict for each format, and the observations.

    `events` counts the native events that the bridge got, `tools` the agent's tools that it was asked about
    before they ran, and `ignored` the native events on which the agent ignored a deny. `flaky` is the first
    of two tries, if the second differed; `date` is the day on which it was played; `fields` are the keys of
    each native event's payloads.
    """

    run: ScenarioRun
    verdicts: Mapping[str, ScenarioVerdict]
    seconds: float = 0
    events: Mapping[str, int] = {}
    isolated: bool = False
    flaky: tuple[str, ...] = ()
    date: str = ""
    tools: Mapping[str, int] = {}
    ignored: Mapping[str, int] = {}
    fields: Mapping[str, Sequence[str]] = {}


def play_scenario(
    run: ScenarioRun, driver: Driver, program: Program, shared: Path, root: Path
) -> FinishedRun:
    """Play a run in an empty folder, and keep the folder."""
    world = LabWorld(_choose_scope(driver, run.mode), root / "home", root / "hooks.jsonl")
    written = _make_hook_files(run, world)
    project = _make_project_files(run)
    if world.scope == "project":
        project.update({file.path: file.text for file in written})
    else:
        # Hooks in a scenario's own files are also the user's.
        moved = find_home_files(run.scenario)
        written += [FormatFile(moved[path], project.pop(path)) for path in moved if path in project]
    word = run.formats[0] if run.formats else ""
    lab_stage = stage.build_stage(
        root,
        program.argv,
        shared=shared,
        prompt=fill_format(run.scenario.prompt, word),
        files=project,
        within=run.scenario.cwd,
    )
    lab_stage = lab_stage._replace(trusted=run.scenario.trusted)
    if run.scenario.uses_mcp:
        lab_stage = lab_stage._replace(mcp=(sys.executable, str(Path(mcp_lab.__file__))))
    driver.settle(lab_stage)
    way = driver.ways.get(run.scenario.way or run.scenario.name)
    if way:
        driver = driver._replace(command=way.command or driver.command)
        if way.settle:
            way.settle(lab_stage)
    if world.scope == "user":
        write_files(lab_stage.home, written)
    if run.scenario.own and run.scenario.own.observing:
        write_observing_hooks(lab_stage, driver, run.scenario.own, world)
    elif run.scenario.own:
        write_own_hook(lab_stage, get(get_dialect_id(driver)), run.scenario, world)
    environment = {**stage.make_environment(lab_stage), **driver.environment(lab_stage)}
    trouble = _install_hooks(run, driver, lab_stage, environment)
    if run.scenario.tampered:
        _tamper(lab_stage.project, written)
    recorded = root / "payloads"
    more = {"HOOKPORT_RECORD": str(recorded)}
    rest = BESIDE_SECONDS if any(hook.is_async for hook in run.scenario.hooks) else 1
    spec = stage.make_spec(
        driver, lab_stage, _make_steps(run, driver, lab_stage), settle_seconds=rest, more=more
    )
    outcome = player.play_spec(spec, root)
    if trouble and not outcome.trouble:
        outcome = outcome._replace(trouble=trouble)
    evidence = RunEvidence(
        outcome,
        lab_stage.project,
        lab_stage.home,
        _read_records(world.records),
        _count_events(recorded),
        _count_tools(recorded, get_dialect_id(driver)),
    )
    playing = PlayedScenario(run.scenario, driver)
    verdicts = {form: judge.judge_format(playing, form, evidence) for form in run.formats or ("",)}
    today = datetime.now(UTC).date().isoformat()
    return FinishedRun(
        run,
        verdicts,
        outcome.seconds,
        evidence.events,
        outcome.isolated,
        date=today,
        tools=evidence.tools,
        ignored=dict(Counter(record["event"] for record in evidence.records if "event" in record)),
        fields=_list_fields(recorded),
    )


def _tamper(project: Path, written: Sequence[FormatFile]) -> None:
    """Add a line to every script, like someone who disarms a guard."""
    for file in written:
        if file.text.startswith("#!") or file.path.endswith(".py"):
            with (project / file.path).open("a", encoding="utf-8") as script:
                script.write("\n# another line\n")


def _choose_scope(driver: Driver, mode: Mode) -> formats.Scope:
    """Choose the scope of the proven hooks: the user's for native hooks of an agent without project files."""
    return "user" if mode == "native" and not reads_projects(get(get_dialect_id(driver))) else "project"


def reads_projects(dialect: Dialect) -> bool:
    return any(place.scope in ("project", "local") for place in dialect.locations)


def make_hooks(scenario: Scenario, form: Format) -> list[ScenarioHook]:
    """Make the hooks of a scenario under their names in a format."""
    named = [hook._replace(name=f"{hook.name}-{form.name}") for hook in scenario.hooks]
    return [fill_format(hook, form.name) for hook in named]


def _make_hook_files(run: ScenarioRun, world: LabWorld) -> list[FormatFile]:
    forms = [formats.get(name) for name in run.formats]
    return [
        file for form in forms for file in formats.make_files(form, make_hooks(run.scenario, form), world)
    ]


def find_home_files(scenario: Scenario) -> dict[str, str]:
    """Find the files of a scenario at a project's places for hooks, with the home's places."""
    paths: dict[str, str] = {}
    # Of two folders, one in the other, the inner one counts.
    for project_folder, home_folder in sorted(_pair_homes(), key=lambda pair: len(pair[0])):
        paths.update(
            {
                path: home_folder + path[len(project_folder) :]
                for path in scenario.files
                if path.startswith(project_folder)
            }
        )
    return paths


def _pair_homes() -> Iterator[tuple[str, str]]:
    """Pair each project folder with hooks with the home folder that has the same files."""
    users = [site for site in list_sites() if site.scope == "user"]
    for mine in (site for site in list_sites() if site.scope == "project"):
        project_folder, name = _split_place(mine.path)
        for yours in (site for site in users if any(dialect in site.dialects for dialect in mine.dialects)):
            home_folder, other = _split_place(yours.path.removeprefix("~/"))
            if project_folder and name == other:
                yield project_folder, home_folder


def _split_place(place: str) -> tuple[str, str]:
    """Split a place into a folder and the pattern in it."""
    folder = place.partition("*")[0].rpartition("/")[0]
    return (f"{folder}/", place[len(folder) + 1 :]) if folder else ("", place)


def _make_project_files(run: ScenarioRun) -> dict[str, str]:
    """Make the files of a scenario, those of a format once for each."""
    texts: dict[str, str] = {}
    for path, text in run.scenario.files.items():
        for word in run.formats if is_of_format((path, text)) else ("",):
            texts[fill_format(path, word)] = fill_format(text, word)
    return texts


def _make_steps(run: ScenarioRun, driver: Driver, lab_stage: Stage) -> tuple[ModelStep, ...]:
    """Make the steps of the model, in the agent's own calls; a step of a format once for each.

    Steps of a format that follow one another stay together, so that a file is read before its edit.
    """
    ordered = [
        fill_format(step, word)
        for is_own, group in groupby(run.scenario.steps, lambda step: is_of_format(step[1]))
        for steps in [list(group)]
        for word in (run.formats if is_own else ("",))
        for step in steps
    ]
    return tuple(
        step for kind, value in ordered for step in _make_model_steps(driver, lab_stage, kind, value)
    )


def _make_model_steps(driver: Driver, lab_stage: Stage, kind: str, value: Tree) -> Iterator[ModelStep]:
    """Make the model's answers for one step of a scenario; none for a call that the agent lacks."""
    if kind == "say":
        yield ModelStep(text=value)
    elif kind == "fail":
        yield ModelStep(status=int(value))
    elif kind == "full":
        tokens = driver.window * FULL_PERCENT // 100
        yield ModelStep((_make_call(driver, lab_stage, "shell", value),), tokens=tokens)
    elif kind == "agent":
        yield ModelStep((dict(driver.further)[kind](lab_stage),))
    elif kind == "further":
        yield from (ModelStep((make_call(lab_stage),)) for _, make_call in driver.further)
    elif kind == "delegate" and kind in driver.calls:
        task = TASK.format(commands=" and ".join(value))
        inner = tuple(ModelStep((_make_call(driver, lab_stage, "shell", line),)) for line in value)
        yield ModelStep((driver.calls[kind](lab_stage, task),), task=task, inner=inner)
    elif kind == "other_shell" and kind in driver.calls and driver.opening:
        yield ModelStep((driver.opening(lab_stage),))
        yield ModelStep((_make_call(driver, lab_stage, kind, value),))
    elif kind in driver.calls:
        yield ModelStep((_make_call(driver, lab_stage, kind, value),))


def _make_call(driver: Driver, lab_stage: Stage, kind: str, value: Tree) -> ModelCall:
    arguments = [value[key] for key in STEPS[kind]] if STEPS[kind] else [value]
    return driver.calls[kind](lab_stage, *arguments)


def explain_missing_call(scenario: Scenario, driver: Driver) -> str:
    """Explain why the driver cannot play a scenario: it has no call for a step; `read` is optional."""
    if scenario.way and scenario.way not in driver.ways:
        default = f"no way of running {driver.title} is known that is '{scenario.way}'"
        return driver.lacks.get(f"ways.{scenario.way}", default)
    if any(kind == "further" for kind, _ in scenario.steps) and not driver.further:
        return f"no further tools of {driver.title} are known"
    if any(kind == "agent" for kind, _ in scenario.steps) and "agent" not in dict(driver.further):
        return driver.lacks.get("calls.agent", f"{driver.title} has no known tool that starts a subagent")
    for kind, _ in scenario.steps:
        if kind not in ("say", "read", "agent", "full", "fail", "further") and kind not in driver.calls:
            return driver.lacks.get(f"calls.{kind}", f"{driver.title} has no known tool for '{kind}'")
    return ""


def _install_hooks(run: ScenarioRun, driver: Driver, lab_stage: Stage, environment: dict[str, str]) -> str:
    """Install the hooks of a scenario as a user does; return the trouble, or nothing."""
    dialect = get(get_dialect_id(driver))
    scopes = {"both": ("project", "user")}.get(run.scenario.scope, (run.scenario.scope,))
    if not reads_projects(dialect):
        scopes = ("user",)
    targets = [run.scenario.installed_for or dialect.id]
    targets += [dialect.id] if run.scenario.beside else []
    targets += _list_readers() if run.scenario.adopt else []
    agents = ["--agent", *dict.fromkeys(targets)]
    adopt = ["--adopt"] if run.scenario.adopt else []
    commands = [["sync", *agents, "--mode", run.mode, "--scope", scope, *adopt] for scope in scopes]
    commands.append(["trust", "--yes", "--in-agents"])
    if not run.scenario.approved:
        # The agent's own approval of our entries stays.
        commands.append(["untrust"])
    return call_hookport(driver, lab_stage, environment, commands)


def _list_readers() -> list[str]:
    """List the agents that read another agent's file and set a variable that identifies them."""
    return [
        name
        for name in all_agents()
        if list_locations(get(name), "also read") and "$root" in get_wire(name).env.values()
    ]


def call_hookport(
    driver: Driver, lab_stage: Stage, environment: Mapping[str, str], commands: Sequence[Sequence[str]]
) -> str:
    """Call the real `hookport` in the project, once for each command; return the trouble, or nothing."""
    # An agent with its own approvals is asked for them, so its program must be on PATH.
    bin_folder = lab_stage.home.parent / "programs"
    bin_folder.mkdir(exist_ok=True)
    shim = bin_folder / driver.program
    shim.write_text(f'#!/bin/sh\nexec {shlex.join(lab_stage.program)} "$@"\n', "utf-8")
    shim.chmod(0o755)
    call_environment = {**environment, "PATH": f"{bin_folder}:{environment['PATH']}"}
    transcript: list[str] = []
    trouble = ""
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "hookport", *command],
            cwd=lab_stage.project,
            env={**call_environment, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_SECONDS,
            stdin=subprocess.DEVNULL,
        )
        transcript.append(
            f"$ hookport {shlex.join(command)}\n{done.stdout}{done.stderr}=> {done.returncode}\n"
        )
        # 1 means a finding that a person must see; everything is written.
        if done.returncode not in (0, 1):
            last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it said nothing"]
            trouble = trouble or f"`hookport {shlex.join(command)}` failed: {last[0]}"
    with (lab_stage.home.parent / "install.txt").open("a", encoding="utf-8") as file:
        file.write("\n".join(transcript))
    return trouble


def write_files(folder: Path, hook_files: Sequence[FormatFile]) -> None:
    for file in hook_files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, "utf-8")
        if file.text.startswith("#!") or file.path.endswith(".py"):
            path.chmod(0o755)


# Cline runs no file that starts with `#!/usr/bin/env -S` (measured, 3.0.65).
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
# The timeout of a hook that leaves a child behind: an agent that waits for the child gets no answer in time.
SHORT_SECONDS = 5


def _make_own_script(dialect: Dialect, own_hook: OwnHook, records: Path) -> str:
    """Make a program that answers in the agent's own dialect, as if no other agent existed."""
    native = find_event_specs(dialect, OWN_EVENT)[0].native
    event = Event(OWN_EVENT, dialect.id, native)
    answers = [
        write_answer(dialect.wire, event, decision)[0]
        for decision in (Decision("deny", own_hook.reason), Decision())
    ]
    denied, passed = ((answer.stdout, answer.stderr, answer.exit_code) for answer in answers)
    words = {"when": own_hook.when, "child": own_hook.child, "records": str(records), "name": OWN}
    return OWN_SCRIPT.format(**words, denied=denied, passed=passed)


def write_own_hook(lab_stage: Stage, dialect: Dialect, scenario: Scenario, world: LabWorld) -> None:
    """Write the user's own hook in the agent's dialect and file, beside the file's other content."""
    form = formats.get(formats.list_names()[0])
    own_hook = scenario.own or OwnHook()
    script = lab_stage.home / "own.py"
    write_files(lab_stage.home, [FormatFile(script.name, _make_own_script(dialect, own_hook, world.records))])
    handler: dict[str, Tree] = {"type": "command", "command": str(script)}
    if own_hook.child:
        handler["timeout"] = SHORT_SECONDS
    hook: dict[str, Tree] = {"name": OWN, "event": OWN_EVENT, "matcher": "shell", "handler": handler}
    if own_hook.when:
        hook["blocking"] = True
    manifest = json.dumps({**form.beside, "hooks": [hook]})
    reading = pipeline.read({form.places["project"].file: manifest.encode()}, get(form.name))
    for file in pipeline.convert(reading, dialect, bare=True).files:
        place = find_local_file(dialect) if own_hook.scope == "local" else file.path
        path = _choose_own_place(lab_stage, dialect, place, is_alone=scenario.scope == "user")
        # If an event is a file, the hook is that file.
        data = script.read_bytes() if find_event(dialect, path.name) else file.text.encode()
        _add_hooks(path, file.path, data, dialect)


# It denies whatever it sees.
DENYING_SCRIPT = """#!/usr/bin/env python3
import json, sys

payload = sys.stdin.read()
with open({records!r}, "a") as file:
    file.write(json.dumps({{"hook": {name!r}, "acts": True, "event": {native!r}, "stdin": payload}}) + "\\n")
stdout, stderr, code = {denied!r}
sys.stdout.write(stdout)
sys.stderr.write(stderr)
sys.exit(code)
"""


def list_observed(driver: Driver) -> list[EventSpec]:
    """List the events on which, by its table, a hook of the agent can only watch; none if it is a program.

    Without those of which the driver says what a deny does there instead.
    """
    dialect = get(get_dialect_id(driver))
    if any(place.path.endswith((".ts", ".js")) for place in dialect.locations):
        return []
    return [
        spec
        for event in EVENTS
        for spec in find_event_specs(dialect, event)
        if spec.blocks == "observe" and f"{event}.block" not in driver.lacks
    ]


def write_observing_hooks(lab_stage: Stage, driver: Driver, own_hook: OwnHook, world: LabWorld) -> None:
    """Write hooks into the agent's own file that deny on every event on which a hook can only watch."""
    dialect = get(get_dialect_id(driver))
    form = formats.get(formats.list_names()[0])
    guarded = find_event_specs(dialect, OWN_EVENT)[0]
    answer = write_answer(
        dialect.wire, Event(OWN_EVENT, dialect.id, guarded.native), Decision("deny", own_hook.reason)
    )[0]
    denied = (answer.stdout, answer.stderr, answer.exit_code)
    if guarded.exits != "none":
        denied = ("", own_hook.reason, 2)
    hooks: list[Tree] = []
    scripts: dict[str, Path] = {}
    for spec in list_observed(driver):
        script = lab_stage.home / f"{OWN}-{spec.canonical}.py"
        words = {"records": str(world.records), "name": OWN, "native": spec.native, "denied": denied}
        write_files(lab_stage.home, [FormatFile(script.name, DENYING_SCRIPT.format(**words))])
        scripts[spec.native] = script
        handler = {"type": "command", "command": str(script)}
        hooks.append({"name": f"{OWN}-{spec.canonical}", "event": spec.canonical, "handler": handler})
    manifest = json.dumps({**form.beside, "hooks": hooks})
    reading = pipeline.read({form.places["project"].file: manifest.encode()}, get(form.name))
    for file in pipeline.convert(reading, dialect, bare=True).files:
        path = _choose_own_place(lab_stage, dialect, file.path, is_alone=False)
        event = find_event(dialect, path.name)
        # If an event is a file, the hook is that file.
        data = scripts[event.native].read_bytes() if event else file.text.encode()
        _add_hooks(path, file.path, data, dialect)


def _add_hooks(path: Path, place: str, data: bytes, dialect: Dialect) -> None:
    """Write hooks into a file of the agent, beside the file's other content."""
    if path.exists():
        existing = pipeline.read({place: path.read_bytes()}, dialect)
        added = pipeline.read({place: data}, dialect).decoded.manifest.hooks
        data = edit.encode(existing, (*existing.decoded.manifest.hooks, *added))[place]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if data.startswith(b"#!"):
        path.chmod(0o755)


def find_local_file(dialect: Dialect) -> str:
    """Find the agent's personal file in a project; empty if it has none."""
    return next((place.path for place in dialect.locations if place.scope == "local"), "")


def _choose_own_place(lab_stage: Stage, dialect: Dialect, path: str, *, is_alone: bool) -> Path:
    """Choose the file of a user's hook: not a file of hookport, by its name or by its event.

    `is_alone`: hookport writes none of the project's files.
    """
    if path.startswith("~/"):
        return lab_stage.home / path[2:]
    name = Path(path).name
    if find_event(dialect, name) and not is_alone:
        folder = next(place.path for place in dialect.locations if place.scope == "user")
        return lab_stage.home / folder.removeprefix("~/").replace("*", name)
    return lab_stage.project / path.replace("hookport.", f"{OWN}.")


def _read_records(path: Path) -> list[dict[str, Tree]]:
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def _count_events(folder: Path) -> dict[str, int]:
    """Count how often the bridge got each native event."""
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    natives = [json.loads(file.read_text("utf-8"))["native"] for file in files]
    return dict(sorted(Counter(natives).items()))


def _count_tools(folder: Path, agent: str) -> dict[str, int]:
    """Count how often the bridge was asked about each of the agent's own tools, by native name."""
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    records = [json.loads(file.read_text("utf-8")) for file in files]
    natives: Counter[str] = Counter()
    for record in records:
        event = read_event(get_wire(agent), _parse_payload(record), record["native"])
        if event.event == OWN_EVENT and event.call and not event.call.mcp_tool:
            natives[event.call.native] += 1
    return dict(sorted(natives.items()))


def _list_fields(folder: Path) -> dict[str, list[str]]:
    """List the keys of each native event's payloads."""
    fields: dict[str, set[str]] = {}
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        record = json.loads(file.read_text("utf-8"))
        fields.setdefault(record["native"], set()).update(_parse_payload(record))
    return {native: sorted(keys) for native, keys in sorted(fields.items())}


def _parse_payload(record: Mapping[str, Tree]) -> Mapping[str, Tree]:
    try:
        payload = json.loads(record.get("payload", ""))
    except ValueError:
        return {}
    return payload if isinstance(payload, dict) else {}
