"""`enforced` is never shown without the calls that the agent asks no hook about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookport import cli
from hookport.agents import get, list_agents
from hookport.cli.agent_tables import format_level
from hookport.doctor import examine_agent, status
from hookport.install.entries import find_hook_exceptions
from hookport.model.hooks import Handler, Hook, Term
from hookport.shapes.dialect import WAYS, find_exceptions

GUARD = {
    "name": "guard",
    "event": "before_tool_execute",
    "matcher": "shell",
    "blocking": True,
    "handler": {"type": "command", "command": "exit 0"},
}
OPEN = [name for name in list_agents() if any(way.state == "open" for way in get(name).ways_around)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one guard of the shell."""
    root = tmp_path / "project"
    (root / ".hookport").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".hookport/hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [GUARD]}))
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(root)
    return root


def test_some_agent_has_a_way_around() -> None:
    assert {"goose", "reasonix"} <= {*OPEN}


@pytest.mark.parametrize("agent", OPEN)
def test_a_guard_of_every_tool_names_every_way(agent: str) -> None:
    dialect = get(agent)
    hook = Hook("before_tool_execute", Handler("command", "true"), blocking=True)
    shown = find_hook_exceptions(dialect, hook)
    ways = [way for way in dialect.ways_around if way.state == "open"]
    assert [text.rpartition(" (")[2].rstrip(")") for text in shown] == [
        way.id for way in ways if not way.events or hook.event in way.events
    ]
    narrow = hook._replace(matcher=(Term("tool", "web_search"),))
    assert {*find_hook_exceptions(dialect, narrow)} <= {*shown}
    # A matcher that is not for tools alone may match any of them.
    mixed = hook._replace(matcher=(Term("tool", "web_search"), Term("pattern", "b.*")))
    assert find_hook_exceptions(dialect, mixed) == shown


def test_a_way_around_one_tool_is_none_around_another() -> None:
    dialect = get("kilo")
    (way,) = find_exceptions(dialect, "before_tool_execute", ["shell"])
    assert way.tools == ("shell",)
    assert find_exceptions(dialect, "before_tool_execute", ["file_read"]) == ()
    assert find_exceptions(dialect, "before_tool_execute") == (way,)
    assert find_exceptions(dialect, "agent_stop") == ()


@pytest.mark.parametrize(
    ("exceptions", "expected"),
    [
        ((), "enforced"),
        (("in sub-agents (XY1)",), "enforced, except in sub-agents"),
        (("with `xy -p` (XY1)",), "enforced, except in 1 case"),
        (("in sub-agents (XY1)", "in calls that code makes (XY2)"), "enforced, except in 2 cases"),
    ],
)
def test_a_level_is_short_in_a_cell(exceptions: tuple[str, ...], expected: str) -> None:
    assert format_level("enforced", exceptions) == expected


def run(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    cli.main(words.split())
    return capsys.readouterr().out


def test_every_command_names_the_exceptions(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = find_hook_exceptions(
        get("reasonix"), Hook("before_tool_execute", Handler("command", "true"), blocking=True)
    )
    assert [text.partition(" (")[0] for text in expected] == [WAYS["sub-agents"]]
    run("sync --agent reasonix", capsys)
    run("trust --yes", capsys)
    shown: Any = json.loads(run("status --agent reasonix --json", capsys))
    (hook,) = shown["agents"][0]["hooks"]
    assert (hook["level"], hook["exceptions"]) == ("enforced", [*expected])
    text = run("status --agent reasonix", capsys)
    assert "enforced, except in sub-agents" in text
    assert f"except {expected[0]}" in text
    assert f"it asks no guard {expected[0]}: `hookport matrix reasonix`" in run(
        "doctor --agent reasonix", capsys
    )
    assert json.loads(run("doctor --agent reasonix --json", capsys))["exceptions"] == {
        "reasonix": [*expected]
    }
    assert f"stops what it denies, except {expected[0]}" in run("why guard --agent reasonix", capsys)
    matrix: Any = json.loads(run("matrix reasonix --json", capsys))
    (way,) = (way for way in matrix["agents"][0]["ways_around"] if way["state"] == "open")
    assert f"{way['exception']} ({way['id']})" == expected[0]
    assert way["text"] in " ".join(run("matrix reasonix", capsys).split())


def test_an_agent_without_a_guard_has_no_exceptions(project: Path) -> None:
    (project / ".hookport/hooks.json").unlink()
    env = {"HOME": str(project.parent / "home"), "PATH": "/usr/bin:/bin"}
    assert examine_agent(get("reasonix"), str(project), env).exceptions == ()
    assert [agent.hooks for agent in status.read_status(str(project), env, ["reasonix"]).agents] == [()]
