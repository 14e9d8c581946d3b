"""Scenarios and formats of `hookport prove`: what is refused, and what each format's hooks mean."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from hookport import agents
from hookport.agents import find_event_specs
from hookport.errors import InputError, UsageError
from hookport.lab import campaign, drivers, formats, scenario, stage
from hookport.lab.formats import LabWorld
from hookport.lab.programs import Program
from hookport.lab.run import (
    find_home_files,
    list_observed,
    make_hooks,
    reads_projects,
    write_files,
    write_observing_hooks,
    write_own_hook,
)
from hookport.lab.scenario import fill_format
from hookport.model.events import EVENTS
from hookport.model.runs import RunResult
from hookport.project.discovery import discover
from hookport.wire.answers import read_answer
from tests import forks

MINIMAL = {"title": "t", "steps": [], "expect": []}
HOOK = {"name": "guard", "event": "before_tool_execute", "answer": "deny"}


@pytest.mark.parametrize("name", scenario.list_names())
def test_every_scenario_is_read_and_some_format_can_write_it(name: str) -> None:
    one = scenario.get(name)
    assert one.title
    assert one.expect
    assert not one.hooks or campaign.list_formats(one)


@pytest.mark.parametrize(
    ("tree", "problems"),
    [
        ({}, ["'title' is missing", "'steps' is missing", "'expect' is missing"]),
        ({**MINIMAL, "title": 3}, ["title: must be a string"]),
        ({**MINIMAL, "stepz": []}, ["stepz: unknown field. Did you mean 'steps'?"]),
        ({**MINIMAL, "approved": "yes"}, ["approved: must be true or false"]),
        (
            {**MINIMAL, "modes": ["bridg"]},
            ["modes[0]: unknown word 'bridg'. Did you mean 'bridge'? Known: bridge, native"],
        ),
        (
            {**MINIMAL, "formats": "both"},
            ["formats: unknown word 'both'. Known: together, each, one"],
        ),
        ({**MINIMAL, "files": {"../a": "x"}}, ["files.../a: must be a path in the project"]),
        ({**MINIMAL, "files": {"a": 1}}, ["files.a: must be a string"]),
        (
            {**MINIMAL, "steps": ["ls"]},
            ["steps[0]: must be an object with one of: " + ", ".join(scenario.STEPS)],
        ),
        ({**MINIMAL, "steps": [{"write": {"path": "a"}}]}, ["steps[0].write: 'content' is missing"]),
        ({**MINIMAL, "steps": [{"shell": 1}]}, ["steps[0].shell: must be a string"]),
        (
            {**MINIMAL, "expect": [{"their": "a"}]},
            ["expect[0]: must be an object with one of: " + ", ".join(scenario.CHECKS)],
        ),
        ({**MINIMAL, "expect": [{"there": {"text": "a"}}]}, ["expect[0].there: 'path' is missing"]),
        (
            {**MINIMAL, "expect": [{"fired": "gard"}], "hooks": [HOOK]},
            ["expect[0].fired.hook: unknown word 'gard'. Did you mean 'guard'? Known: guard"],
        ),
        (
            {**MINIMAL, "otherwise": [{"gone": "a"}]},
            ["otherwise: 'otherwise' and 'instead' go together: the checks, and the words"],
        ),
        ({**MINIMAL, "own": "yes"}, ["own: must be true or false"]),
        (
            {**MINIMAL, "own": {"when": "rm -r"}},
            ["own: 'when' and 'reason' go together: what it denies, and why"],
        ),
        (
            {**MINIMAL, "own": {"scope": "user"}, "scope": "all"},
            [
                "scope: unknown word 'all'. Known: project, user, both",
                "own.scope: unknown word 'user'. Known: project, local",
            ],
        ),
        (
            {**MINIMAL, "hooks": [{"name": "a"}]},
            ["hooks[0]: 'event' is missing", "hooks[0]: 'answer' is missing"],
        ),
        (
            {**MINIMAL, "hooks": [{**HOOK, "answer": "rewrite"}]},
            ["hooks[0]: the answer 'rewrite' needs 'change'"],
        ),
        (
            {**MINIMAL, "hooks": [{**HOOK, "when": {"command": "a", "path": "b"}}]},
            ["hooks[0].when: must have one subject"],
        ),
    ],
)
def test_a_wrong_scenario_is_refused_with_its_place(tree: dict[str, object], problems: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        scenario.parse_scenario("mine", json.dumps(tree))
    assert [str(problem).removeprefix("mine.yaml: ") for problem in refused.value.problems] == problems


def test_a_text_that_is_no_yaml_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"mine\.yaml:2:\d+: invalid YAML: "):
        scenario.parse_scenario("mine", "title: a\n steps: [\n")
    with pytest.raises(UsageError, match=r"unknown scenario 'deny-jso'\. Did you mean 'deny-json'\?"):
        scenario.get("deny-jso")


def test_the_number_of_runs_stays_small() -> None:
    for name in drivers.list_names():
        driver = drivers.get(name)
        agent = campaign.Agent(name, driver, Program(("x",), "1", Path("x")))
        runs = campaign.plan_runs([agent]).runs
        assert len({(run.name, run.mode) for run in runs}) == len(runs)
        assert len(runs) <= 150, name


PAYLOAD = {
    "hook_event_name": "BeforeTool",
    "session_id": "s",
    "transcript_path": "",
    "timestamp": "2026-11-16T00:00:00.000Z",
    "tool_name": "run_shell_command",
}


class Lab:
    """A project with a scenario's hooks in every format that has a part in it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.scenario = scenario.get(name)
        self.forms = campaign.list_formats(self.scenario)
        self.project, home = folder / "project", folder / "home"
        self.records = folder / "hooks.jsonl"
        for path in (self.project, home):
            path.mkdir()
        for form in map(formats.get, self.forms):
            hooks = make_hooks(self.scenario, form)
            write_files(
                self.project, formats.make_files(form, hooks, LabWorld("project", home, self.records))
            )
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": str(Path(__file__).parent.parent / "src"),
            "HOOKPORT_STATE_DIR": str(folder / "state"),
        }
        (self.project / ".git").mkdir()

    def hookport(self, *words: str, given: str = "") -> str:
        done = forks.run(words, self.project, self.env, given)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def dispatched(self, form: str, **fields: object) -> dict[str, object]:
        """What an agent is told of a call."""
        payload = fill_format({**PAYLOAD, "cwd": str(self.project), **fields}, form)
        return dict(
            json.loads(
                self.hookport("dispatch", "gemini-cli", "BeforeTool", given=json.dumps(payload)) or "{}"
            )
        )


def test_the_hooks_of_all_formats_are_found_once_and_answer_in_their_own_words(tmp_path: Path) -> None:
    lab = Lab(tmp_path, "deny-json")
    listed = json.loads(lab.hookport("status", "--agent", "gemini-cli", "--json"))["agents"][0]["hooks"]
    names = [hook["name"].removesuffix(".py") for hook in listed]
    assert sorted(names) == sorted(f"guard-{form}" for form in lab.forms)
    lab.hookport("trust", "--yes")
    for form in lab.forms:
        answer = lab.dispatched(form, tool_input={"command": "rm -r victim-{format}"})
        assert answer == {
            "decision": "deny",
            "reason": f"no deleting here, says {form}",
            "systemMessage": f"no deleting here, says {form}",
        }, form
    acted = [json.loads(line) for line in lab.records.read_text("utf-8").splitlines()]
    counted = {form: sum(one["acts"] and one["hook"].endswith(form) for one in acted) for form in lab.forms}
    assert counted == dict.fromkeys(lab.forms, 1)


def test_an_mcp_tool_is_known_to_every_format_that_can_name_one(tmp_path: Path) -> None:
    lab = Lab(tmp_path, "mcp")
    lab.hookport("trust", "--yes")
    mcp = {"server_name": "lab", "tool_name": "shout"}
    for form in lab.forms:
        answer = lab.dispatched(
            form, tool_name="mcp_lab_shout", tool_input={"text": "whisper-{format}"}, mcp_context=mcp
        )
        assert answer == {
            "decision": "deny",
            "reason": f"no shouting, says {form}",
            "systemMessage": f"no shouting, says {form}",
        }, form


@pytest.mark.parametrize("name", drivers.list_names())
def test_a_hook_of_the_users_own_stands_where_the_agent_looks_and_answers_in_its_words(
    tmp_path: Path, name: str
) -> None:
    dialect = agents.get(drivers.get_dialect_id(drivers.get(name)))
    made = stage.build_stage(tmp_path, (), shared=tmp_path / "shared")
    one = scenario.get("own-file-subdirectory")
    before = set(tmp_path.rglob("*"))
    write_own_hook(made, dialect, one, LabWorld("project", made.home, tmp_path / "hooks.jsonl"))
    script = made.home / "own.py"
    written = {path for path in set(tmp_path.rglob("*")) - before - {script} if path.is_file()}
    places = [place.path for place in dialect.locations if place.scope in ("project", "user")]
    where = [
        path.relative_to(made.project).as_posix()
        if path.is_relative_to(made.project)
        else f"~/{path.relative_to(made.home)}"
        for path in written
    ]
    assert where
    names = [path.replace("/own.", "/hookport.") for path in where]
    assert all(any(fnmatchcase(path, place) for place in places) for path in names), where
    assert all(not path.startswith("~") for path in where) == reads_projects(dialect)
    canonical = "before_tool_execute"
    native = find_event_specs(dialect, canonical)[0].native
    for given, verdict, reason in (("rm -r victim", "deny", "no deleting here"), ("ls", "none", "")):
        done = subprocess.run([script], input=json.dumps(given), capture_output=True, text=True, check=False)
        result = RunResult("completed", done.returncode, done.stdout, done.stderr)
        said = read_answer(dialect.wire, result, native=native, canonical=canonical)
        assert (said.verdict, said.reason) == (verdict, reason)
    acts = [json.loads(line)["acts"] for line in (tmp_path / "hooks.jsonl").read_text("utf-8").splitlines()]
    assert acts == [True, False]


@pytest.mark.parametrize("name", scenario.list_names())
def test_what_formats_write_is_in_order(tmp_path: Path, name: str) -> None:
    """Each format's files are read without a finding; nothing is started."""
    lab = Lab(tmp_path, name)
    found = discover(str(lab.project), lab.env)
    assert [str(finding) for finding in found.findings] == []
    counts = Counter(hook.hook.dialect for hook in found.hooks)
    each = sum(len(EVENTS) if hook.event == "*" else 1 for hook in lab.scenario.hooks)
    expected = Counter({form: each for form in lab.forms if each})
    # The SDK's hooks are found by a manifest of the first format.
    expected[lab.forms[0]] += expected.pop("sdk", 0)
    assert counts == +expected


def test_hooks_of_a_scenarios_files_have_their_place_in_a_home() -> None:
    """Kimi reads hooks of a home alone, and plays a converted file there."""
    moved = find_home_files(scenario.get("content-pattern-converted"))
    assert moved == {
        ".agents/hooks/guard/HOOK.md": ".config/agents/hooks/guard/HOOK.md",
        ".agents/hooks/guard/scripts/run.sh": ".config/agents/hooks/guard/scripts/run.sh",
    }
    for name in ("kimi-cli", "kimi-code"):
        it = drivers.get(name)
        assert campaign._explain_unplayable(scenario.get("content-pattern-converted"), it, "native") == ""
        assert "reads no files" in campaign._explain_unplayable(scenario.get("own-file-root"), it, "native")


@pytest.mark.parametrize("name", drivers.list_names())
def test_hooks_that_deny_where_they_can_only_watch_are_in_the_agents_own_file(
    name: str, tmp_path: Path
) -> None:
    driver = drivers.get(name)
    observed = list_observed(driver)
    one = scenario.get("ignored")
    reason = campaign.plan_runs(
        [campaign.Agent(name, driver, Program(("x",), "1", Path("x")))], ["ignored"]
    ).unplayed
    assert bool(reason) == (not observed)
    if not observed:
        return
    assert one.own
    lab_stage = stage.build_stage(tmp_path, (), shared=tmp_path / "shared")
    world = LabWorld("project", lab_stage.home, tmp_path / "hooks.jsonl")
    write_observing_hooks(lab_stage, driver, one.own, world)
    written = [path for path in lab_stage.project.rglob("*") if path.is_file() and ".git/" not in str(path)]
    texts = "".join(path.read_text("utf-8") for path in [*written, *lab_stage.home.rglob("own-*.py")])
    assert all(spec.native in texts for spec in observed)
    script = next(iter(sorted(lab_stage.home.glob("own-*.py"))))
    done = subprocess.run([script], input="{}", capture_output=True, text=True, check=False)
    assert one.own.reason in done.stdout + done.stderr
    assert json.loads(world.records.read_text("utf-8"))["event"] in {spec.native for spec in observed}
