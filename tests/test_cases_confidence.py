"""Tests that cannot fail: hooks that no case runs, always-deny, never-object, nothing expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookport.cli import main
from hookport.testing import confidence, session

DENY, PASS = "echo no >&2; exit 2", "exit 0"
GUARD = "if grep -q 'rm x'; then echo no >&2; exit 2; fi"


def suite(folder: Path, hooks: dict[str, list[tuple[str, str]]], *cases: dict[str, Any]) -> Path:
    """A package with hooks, by event each a matcher and a command, and its cases."""
    tests = folder / "hooks" / "tests"
    (tests / "cases").mkdir(parents=True)
    groups = {
        event: [
            {"matcher": matcher, "hooks": [{"type": "command", "command": command, "name": "x"}]}
            for matcher, command in rows
        ]
        for event, rows in hooks.items()
    }
    (folder / "hooks" / "hooks.json").write_text(json.dumps({"version": 1, "hooks": groups}))
    for number, case in enumerate(cases):
        (tests / "cases" / f"{number}.yaml").write_text(json.dumps({"name": f"c{number}", **case}))
    return tests


def shell(command: str, tool: str = "Bash", **fields: Any) -> dict[str, Any]:
    payload = {"toolName": tool, "toolInput": {"command": command}}
    return {"event": "pre-tool-use", "input": {"overrides": payload}, **fields}


STOPS = shell("rm x", expected={"decision": "deny"})
PASSES = shell("ls", expected={"decision": "none"})
GUARDED = {"pre-tool-use": [("Bash", GUARD)]}

# What the suite is, and the codes that tell what it does not show.
SUITES: dict[str, tuple[dict[str, list[tuple[str, str]]], list[dict[str, Any]], list[str]]] = {
    "both sides": (GUARDED, [STOPS, PASSES], []),
    "by exit codes": (
        GUARDED,
        [shell("rm x", expected={"exit-code": 2}), shell("ls", expected={"exit-code": 0})],
        [],
    ),
    "always deny": ({"pre-tool-use": [("Bash", DENY)]}, [STOPS], ["HP605"]),
    "never object": ({"pre-tool-use": [("Bash", PASS)]}, [PASSES], ["HP606"]),
    "only what is stopped": (GUARDED, [STOPS, STOPS | {"name": "again"}], ["HP605"]),
    "only what passes": (GUARDED, [PASSES], ["HP606"]),
    "texts that anything passes": (
        GUARDED,
        [STOPS, shell("ls", expected={"not-contains": ["panic"]})],
        ["HP605"],
    ),
    "no case for the event": (
        GUARDED | {"stop": [("", PASS)]},
        [STOPS, PASSES],
        ["HP603"],
    ),
    "a matcher that never matches": (
        GUARDED,
        [shell("rm x", "Write", expected={"decision": "none"}, agents=["claude-code"])],
        ["HP603", "HP607"],
    ),
    "a matcher that no agent would match": (
        GUARDED,
        [shell("rm x", "Write", expected={"decision": "none"})],
        ["HP603", "HP607"],
    ),
    "nothing expected": (GUARDED, [shell("rm x"), shell("ls")], ["HP603", "HP604", "HP604"]),
    "a case that fails shows nothing": (GUARDED, [shell("ls", expected={"decision": "deny"})], ["HP603"]),
    "the other group": (
        {"pre-tool-use": [("Bash", GUARD), ("Bash", DENY)]},
        [STOPS, PASSES],
        ["HP603"],
    ),
    "no guard": ({"stop": [("", PASS)]}, [{"event": "stop", "expected": {"exit-code": 0}}], []),
}


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_tells_what_it_does_not_show(name: str, tmp_path: Path) -> None:
    hooks, cases, codes = SUITES[name]
    tests = suite(tmp_path, hooks, *cases)
    results = list(session.perform_all(session.list_tasks(tests), 1))
    (found,) = confidence.measure(results)
    assert [one.code for one in found.findings] == codes


def test_coverage_is_hook_by_event_by_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOOKPORT_CACHE_DIR", str(tmp_path / "cache"))
    both = ["claude-code", "codex"]
    suite(
        tmp_path,
        GUARDED | {"notification": [("", PASS)]},
        STOPS | {"agents": both},
        PASSES | {"agents": both[:1]},
    )
    assert main(["test", "--coverage", "--json"]) == 0
    (covered,) = json.loads(capsys.readouterr().out)["coverage"]
    assert covered["percent"] == pytest.approx(66.6)
    assert [
        (one["event"], one["agents"], one["stopped_in"], one["passes_in"]) for one in covered["hooks"]
    ] == [
        ("pre-tool-use", {"claude-code": "tested", "codex": "tested"}, ["c0"], ["c1"]),
        ("notification", {"claude-code": "untested", "codex": "no such event"}, [], []),
    ]
    assert main(["test", "--fail-under", "66.6"]) == 0
    assert main(["test", "--fail-under", "67"]) == 1
    assert "the cases cover 66.6 %, less than --fail-under 67" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong", [["-k", "c0", "--coverage"], ["--last-failed", "--fail-under", "1"], ["--fail-under", "101"]]
)
def test_coverage_of_a_part_is_refused(
    wrong: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    suite(tmp_path, GUARDED, STOPS, PASSES)
    assert main(["test", *wrong]) == 2
    assert "coverage needs all cases" in (said := capsys.readouterr().err) or "percentage" in said
