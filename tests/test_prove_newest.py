"""The newest release of an agent against the committed results."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookport.lab import drivers, newest, programs, versions
from hookport.lab.driver import AgentPackage
from hookport.lab.newest import Change
from hookport.lab.programs import ProgramError
from hookport.lab.results import AgentResults, ScenarioResult, Sighting, load_results

ROOT = Path(__file__).parent.parent
OLD = AgentResults(
    *("codex", "codex", "Codex CLI", "1.2.3", "0.1.0", "2026-01-02", "Linux", "x"),
    isolated=True,
    events={
        "Stop": Sighting(1, "events", ("cwd", "session_id")),
        "PreModel": Sighting(4, "events", ("cwd",)),
        "PreCompact": Sighting(1, "events-compact"),
    },
    tools={"Bash": Sighting(2, "events-tools"), "update_plan": Sighting(1, "events-tools")},
    scenarios={
        "events": {"bridge": ScenarioResult("pass")},
        "events-tools": {"bridge": ScenarioResult("pass")},
        "deny-exit": {
            "bridge": ScenarioResult("pass", parts={"canonical": "pass", "universal": "pass"}),
            "native": ScenarioResult("pass"),
        },
        "rewrite": {"bridge": ScenarioResult("cannot", instead="the command is denied")},
    },
)
NEW = OLD._replace(
    version="1.3.0",
    events={
        "Stop": Sighting(1, "events", ("agent", "cwd")),
        "Setup": Sighting(1, "events", ("cwd",)),
    },
    tools={"Bash": Sighting(2, "events-tools"), "plan": Sighting(1, "events-tools")},
    scenarios={
        "events": {"bridge": ScenarioResult("pass")},
        "events-tools": {"bridge": ScenarioResult("pass")},
        "deny-exit": {
            "bridge": ScenarioResult(
                "fail",
                evidence=("canonical: victim/kept.txt does not exist",),
                parts={"canonical": "fail", "universal": "pass"},
            )
        },
        "rewrite": {"bridge": ScenarioResult("pass")},
        "ask": {"bridge": ScenarioResult("pass")},
    },
)


def test_what_changed_is_each_event_field_tool_and_answer_of_what_both_played() -> None:
    assert newest.compare_results(OLD, NEW) == [
        Change("event gone", "PreModel", "4 times in 'events'", "never"),
        Change("event new", "Setup", "never", "1 times in 'events'"),
        Change("tool new", "plan", "never", "1 times in 'events-tools'"),
        Change("tool gone", "update_plan", "1 times in 'events-tools'", "never"),
        Change("field gone", "Stop.session_id", "sent", "not sent"),
        Change("field new", "Stop.agent", "not sent", "sent"),
        Change(
            "failure",
            "deny-exit bridge",
            "pass",
            "fail (universal pass): canonical: victim/kept.txt does not exist",
        ),
        Change("answer", "rewrite bridge", "cannot", "pass"),
    ]


def test_nothing_changed_in_what_is_the_same() -> None:
    for results in (OLD, NEW, *load_results()):
        assert newest.compare_results(results, results) == []
        assert newest.compare_results(results, results._replace(scenarios={}, events={}, tools={})) == []


@pytest.mark.parametrize(
    ("version", "than", "newer"),
    [
        ("0.170.0", "0.166.0", True),
        ("0.166.0", "0.166.0", False),
        ("0.99.0", "0.166.0", False),
        ("2.0", "1.99.9", True),
        ("v1.10.0-beta", "1.9.0", True),
        ("", "1.0.0", False),
        ("unknown", "1.0.0", False),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, than: str, newer: bool) -> None:
    assert versions.is_newer(version, than) == newer


def test_a_version_that_is_newer_than_every_measured_one_is_named() -> None:
    measured = [OLD, OLD._replace(version="1.4.0"), OLD._replace(agent="pi", version="9.0.0")]
    assert versions.describe_unmeasured("codex", "1.4.1", measured) == (
        "codex 1.4.1 is newer than what was measured: 1.2.3, 1.4.0"
    )
    assert versions.describe_unmeasured("codex", "1.4.0", measured) == ""
    assert versions.describe_unmeasured("codex", "", measured) == ""
    assert versions.describe_unmeasured("cursor", "1.0.0", measured) == ""


REGISTRY = """#!{python}
import json, os, sys
answers = json.loads(os.environ["ANSWERS"])
for word in sys.argv:
    if word in answers:
        print(answers[word])
        sys.exit(0)
print("npm error code E404")
sys.exit(1)
"""


def test_the_newest_version_is_the_registrys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = tmp_path / "npm"
    npm.write_text(REGISTRY.format(python=sys.executable), "utf-8")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ANSWERS", json.dumps({"codex": 'npm warn old\n"0.170.0"', "odd": "[]"}))
    assert newest.find_newest_version(AgentPackage("npm", "codex", "0.1")) == "0.170.0"
    with pytest.raises(ProgramError, match="the registry names no version of odd"):
        newest.find_newest_version(AgentPackage("npm", "odd", "0.1"))
    with pytest.raises(ProgramError, match="did not answer, so the newest version of none is unknown"):
        newest.find_newest_version(AgentPackage("npm", "none", "0.1"))


def test_an_agent_whose_measured_version_is_the_newest_is_not_played(monkeypatch: pytest.MonkeyPatch) -> None:
    name = drivers.list_names()[0]
    pinned = drivers.get(name).package.version
    monkeypatch.setattr(newest, "find_newest_version", lambda package: package.version)
    monkeypatch.setattr(programs, "fetch", lambda *_: pytest.fail("nothing is fetched"))
    assert newest.find_newest([name], lambda _: None) == ([newest.Newest(name, pinned, pinned, None)], {})


def test_matrix_and_doctor_name_an_installed_agent_that_is_newer(tmp_path: Path) -> None:
    program = tmp_path / drivers.get("codex").program
    program.write_text("#!/bin/sh\necho codex-cli 999.0.0\n", "utf-8")
    program.chmod(0o755)
    measured = next(results.version for results in load_results() if results.driver == "codex")
    sentence = f"codex 999.0.0 is newer than what was measured: {measured}"
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path), "COLUMNS": "200"}

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "hookport", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    done = call("matrix", "codex")
    assert done.stderr == f"note: {sentence}; `hookport prove --latest` compares them\n"
    for command in ("matrix", "doctor"):
        done = call(command, "--agent", "codex", "--json")
        assert json.loads(done.stdout)["unmeasured"] == {"codex": sentence}, command


def test_the_nightly_workflow_compares_and_writes_one_issue() -> None:
    workflow: Mapping[Any, Any] = yaml.safe_load((ROOT / ".github/workflows/latest.yml").read_text("utf-8"))
    # YAML 1.1 reads `on` as true.
    assert workflow[True]["schedule"]
    [job] = workflow["jobs"].values()
    assert job["permissions"] == {"contents": "read", "issues": "write"}
    texts = [step.get("run", "") for step in job["steps"]]
    assert any("hookport prove --latest" in text for text in texts)
    assert any("gh issue create" in text and "gh issue edit" in text for text in texts)
    for text in filter(None, texts):
        subprocess.run(["bash", "-n", "-c", text], check=True)
