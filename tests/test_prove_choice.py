"""The quick choice of runs, and what a finished run depends on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookport import agents as agents_registry
from hookport.lab import campaign, choice, dependencies, drivers, scenario
from hookport.lab.campaign import Agent
from hookport.lab.programs import Program
from hookport.lab.run import ScenarioRun

EVERYONE = [Agent(name, drivers.get(name), Program((), "1", Path())) for name in drivers.list_names()]


def test_the_quick_choice_has_every_scenario_and_every_class_in_every_agent() -> None:
    every = campaign.plan_runs(EVERYONE).runs
    quick = campaign.plan_quick(EVERYONE).runs
    assert {(run.scenario.name, run.mode) for run in quick} == {
        (run.scenario.name, run.mode) for run in every
    }
    played: set[str] = set()
    for agent in EVERYONE:
        kinds, chosen = (
            {run.scenario.kind for run in runs if run.driver == agent.name} - {""} for runs in (every, quick)
        )
        assert chosen == kinds, agent.name
        played |= chosen
    assert played == set(scenario.CLASSES)


def test_the_quick_choice_has_all_formats_of_what_it_plays() -> None:
    """Results of some formats would replace those of all."""
    quick = campaign.plan_quick(EVERYONE).runs
    places = {(run.driver, run.scenario.name, run.mode) for run in quick}
    every = campaign.plan_runs(EVERYONE).runs
    assert quick == tuple(run for run in every if (run.driver, run.scenario.name, run.mode) in places)


def test_the_quick_choice_is_a_fraction_and_shared_evenly() -> None:
    """Twenty-five agents with thirty runs each, of ten seconds, two at a time, are an hour."""
    quick = campaign.plan_quick(EVERYONE).runs
    counts = [sum(run.driver == agent.name for run in quick) for agent in EVERYONE]
    assert max(counts) <= 30
    assert len(quick) * 4 < len(campaign.plan_runs(EVERYONE).runs)


def test_the_choice_of_one_agent_is_that_of_all() -> None:
    mine = campaign.plan_quick(EVERYONE[:1]).runs
    name = EVERYONE[0].name
    assert mine == tuple(run for run in campaign.plan_quick(EVERYONE).runs if run.driver == name)


def test_an_agent_that_can_play_little_plays_that() -> None:
    one = ScenarioRun("a", scenario.get("deny-exit"), "bridge", ("canonical",))
    assert choice.choose_quick([one]) == (one,)
    assert choice.choose_quick([]) == ()


def run_key(driver: str, name: str = "deny-exit") -> str:
    dependencies.hash_shared.cache_clear()
    return dependencies.compute_run_key(scenario.get(name), driver, drivers.get(driver))


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of hookport's files that a test may change; the modules in use stay."""
    root = dependencies.find_source()
    copy = tmp_path / "hookport"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(dependencies, "find_source", lambda: copy)
    return copy


@pytest.mark.parametrize(
    ("file", "codex", "pi"),
    [
        ("agents/codex.py", False, True),
        ("lab/drivers/codex.py", False, True),
        # The formats of every run's hooks; one of them is an agent's.
        ("agents/universal.py", False, False),
        ("agents/claude_code.py", False, False),
        ("agents/qwen_code.py", True, True),
        ("lab/drivers/qwen_code.py", True, True),
        ("lab/drivers/_settings.py", False, False),
        ("agents/templates/pi.ts", False, False),
        ("runtime/dispatch.py", False, False),
        ("lab/judge.py", False, False),
        ("lab/page.py", True, True),
        ("cli/matrix.py", True, True),
        ("lab/scenarios/deny-json.yaml", True, True),
    ],
)
def test_a_change_concerns_the_runs_that_use_the_file(source: Path, file: str, codex: bool, pi: bool) -> None:
    before = run_key("codex"), run_key("pi")
    with (source / file).open("a") as changed:
        changed.write("\n# another line\n")
    assert (run_key("codex") == before[0], run_key("pi") == before[1]) == (codex, pi)


def test_a_changed_scenario_concerns_its_runs() -> None:
    one = scenario.get("deny-exit")
    keys = {
        dependencies.compute_run_key(each, "pi", drivers.get("pi"))
        for each in (one, one._replace(text="another"))
    }
    assert len(keys) == 2


def test_another_agents_places_concern_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are found in every project."""
    before = run_key("pi")
    real = agents_registry.get

    def get(name: str) -> agents_registry.Dialect:
        dialect = real(name)
        return dialect._replace(locations=dialect.locations[:-1]) if name == "qwen-code" else dialect

    monkeypatch.setattr(dependencies, "get", get)
    assert run_key("pi") != before


def test_a_scenario_with_another_agents_files_depends_on_that_agent(source: Path) -> None:
    one = scenario.get("deny-exit")._replace(files={".qwen/settings.json": "{}"})
    before = dependencies.compute_run_key(one, "pi", drivers.get("pi"))
    with (source / "agents/qwen_code.py").open("a") as changed:
        changed.write("\n# another line\n")
    assert dependencies.compute_run_key(one, "pi", drivers.get("pi")) != before


LOADED = """
import sys
from importlib import import_module
for name in sys.argv[1:]:
    import_module(name)
print(*sorted(name for name in sys.modules if name.partition(".")[0] == "hookport"))
"""


def test_everything_that_a_run_loads_counts() -> None:
    """What a run imports, and what `sync`, `trust` and a hook import in it."""
    commands = [f"hookport.cli.{name}" for name in ("sync", "trust", "untrust", "dispatch", "wrap")]
    loading = ["hookport.lab.run", "hookport.lab.player", "hookport.runtime.main", *commands]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *loading], capture_output=True, text=True, check=True
    )
    places = [name.removeprefix("hookport").lstrip(".").replace(".", "/") for name in done.stdout.split()]
    root = dependencies.find_source()
    files = [
        f"{place}.py" if (root / f"{place}.py").is_file() else f"{place}/__init__.py".lstrip("/")
        for place in places
    ]
    unused = [
        file
        for file in files
        if not dependencies.is_shared(file) and file.rpartition("/")[0] not in dependencies.OF_ONE
    ]
    assert unused == []


KILLED = """
import json, os, signal, sys
from pathlib import Path
from hookport.lab import campaign, drivers, run, scenario
from hookport.lab.judge import ScenarioVerdict
from hookport.lab.programs import Program
from hookport.lab.run import FinishedRun, ScenarioRun

# The runs themselves are others' tests: this one is about what is kept of them.
passed = {"canonical": ScenarioVerdict("pass")}
run.play_scenario = lambda one, *_: FinishedRun(one, passed, date="2026-01-02")
agent = campaign.Agent("claude-code", drivers.get("claude-code"), Program((), "1", Path()))
runs = [ScenarioRun("claude-code", scenario.get(name), "bridge", ("canonical",)) for name in sys.argv[2:]]
for done, is_new in campaign.play(runs, [agent], campaign.Store(Path(sys.argv[1])), jobs=1):
    print(json.dumps([done.run.scenario.name, is_new]), flush=True)
    if os.environ.get("KILLED_AFTER") == done.run.scenario.name:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_campaign_loses_only_the_runs_that_were_running(tmp_path: Path) -> None:
    names = ["deny-exit", "deny-json", "crash-open"]
    command = [sys.executable, "-c", KILLED, str(tmp_path / "store"), *names]
    shown = []
    for env in ({"KILLED_AFTER": names[0]}, {"KILLED_AFTER": names[1]}, {}):
        done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, check=False)
        assert done.returncode == (-9 if env else 0), done.stderr
        shown.append([json.loads(line) for line in done.stdout.splitlines()])
    assert shown[0] == [[names[0], True]]
    # The next run may have ended before the signal.
    assert shown[1][0] == [names[0], False]
    assert shown[2][:2] == [[names[0], False], [names[1], False]]
    assert [name for name, _ in shown[2]] == names
