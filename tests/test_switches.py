"""Hooks that a setting switches off, as their own agent reads it, and what the bridge makes of that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookport.agents import get, list_agents
from hookport.install.lock import build, drop_private_hooks
from hookport.project import plan_builder
from hookport.project.discovery import discover
from hookport.runtime import plan
from hookport.vendor.writer import compile_plan
from tests import forks
from tests.approval import approve

Tree = dict[str, Any]


class Own(NamedTuple):
    """One agent's file with a guard on the shell, in the project and at home, and its switches there."""

    file: str
    hooks: str
    # (the file, its text) that switches off what stands in `file`; the user's own first.
    user: tuple[str, str]
    project: tuple[str, str]
    # The project's file that overrules the user's.
    on: tuple[str, str] | None = None
    home: str = ""


def nested(event: str, matcher: str, command: str = "./guard.sh", **extra: object) -> str:
    group = {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
    return json.dumps({"hooks": {event: [group]}, **extra})


OFF, ON = '{"disableAllHooks": true}', '{"disableAllHooks": false}'
FLAT = json.dumps({"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./guard.sh"}]}})
LISTED = '{"hooksConfig": {"disabled": ["./guard.sh"]}}'
CASES = {
    "claude-code": Own(
        ".claude/settings.json",
        nested("PreToolUse", "Bash"),
        ("home/.claude/settings.json", OFF),
        (".claude/settings.local.json", OFF),
        (".claude/settings.local.json", ON),
        "home/.claude/settings.json",
    ),
    "qwen-code": Own(
        ".qwen/settings.json",
        nested("PreToolUse", "run_shell_command"),
        ("home/.qwen/settings.json", OFF),
        (".qwen/settings.json", nested("PreToolUse", "run_shell_command", disableAllHooks=True)),
        (".qwen/settings.json", nested("PreToolUse", "run_shell_command", disableAllHooks=False)),
        "home/.qwen/settings.json",
    ),
    "gemini-cli": Own(
        ".gemini/settings.json",
        nested("BeforeTool", "run_shell_command"),
        ("home/.gemini/settings.json", LISTED),
        (
            ".gemini/settings.json",
            nested("BeforeTool", "run_shell_command", hooksConfig={"enabled": False}),
        ),
        None,
        "home/.gemini/settings.json",
    ),
    "codex": Own(
        ".codex/hooks.json",
        nested("PreToolUse", "Bash"),
        ("home/.codex/config.toml", "[features]\nhooks = false\n"),
        (".codex/config.toml", "[features]\nhooks = false\n"),
        (".codex/config.toml", "[features]\nhooks = true\n"),
        "home/.codex/hooks.json",
    ),
    "copilot-cli": Own(
        ".github/hooks/guard.json",
        FLAT,
        (".github/copilot/settings.json", OFF),
        (".github/copilot/settings.json", OFF),
        None,
        "home/.copilot/hooks/guard.json",
    ),
    "letta-code": Own(
        ".letta/settings.json",
        nested("PreToolUse", "Bash"),
        ("home/.letta/settings.json", '{"hooks": {"disabled": true}}'),
        (".letta/settings.local.json", '{"hooks": {"disabled": true}}'),
        None,
        "home/.letta/settings.json",
    ),
}


class Place(NamedTuple):
    """A project and its user."""

    root: Path
    env: dict[str, str]

    def write(self, name: str, text: str) -> None:
        path = self.root.parent / name if name.startswith("home/") else self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def approve(self) -> None:
        approve(self.root, self.env)

    def dispatch(self) -> Tree:
        """What Cursor is told of a shell command, and what ran."""
        payload = {"hook_event_name": "beforeShellExecution", "command": "ls", "cwd": str(self.root)}
        words = ["dispatch", "cursor", "beforeShellExecution"]
        done = forks.run(words, self.root, self.env, json.dumps(payload))
        ran = self.root / "ran"
        count = len(ran.read_text().splitlines()) if ran.exists() else 0
        ran.unlink(missing_ok=True)
        answer = json.loads(done.stdout or "{}")
        told = f"{answer.get('user_message', '')}{answer.get('agent_message', '')}"
        return {"permission": answer.get("permission", ""), "ran": count, "told": told}

    def status(self) -> str:
        done = forks.run(["status", "--agent", "cursor"], self.root, self.env)
        return done.stdout + done.stderr


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A project with a script that only says that it ran."""
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    guard = root / "guard.sh"
    guard.write_text(f"#!/bin/sh\ncat >/dev/null\necho ran >> '{root}/ran'\n")
    guard.chmod(0o755)
    (tmp_path / "home").mkdir()
    return Place(root, {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"})


def test_every_switch_has_a_case() -> None:
    gates = {name: [gate for gate in get(name).gates if gate.stops == "hooks"] for name in list_agents()}
    # VS Code's switch is in its own settings, and its files are Copilot's too.
    assert {name for name, found in gates.items() if found} - {"vs-code-copilot"} == set(CASES)


@pytest.mark.parametrize("agent", CASES)
def test_a_switch_of_the_project_denies_until_it_is_approved(agent: str, place: Place) -> None:
    case = CASES[agent]
    place.write(case.file, case.hooks)
    place.approve()
    assert place.dispatch()["ran"] == 1
    place.write(*case.project)
    denied = place.dispatch()
    assert (denied["permission"], denied["ran"]) == ("deny", 0)
    assert "switches it off since its approval" in denied["told"]
    place.approve()
    after = place.dispatch()
    assert (after["permission"] == "deny", after["ran"], after["told"]) == (False, 0, "")


@pytest.mark.parametrize("agent", [name for name, case in CASES.items() if case.user != case.project])
def test_a_switch_of_the_user_counts_at_once(agent: str, place: Place) -> None:
    case = CASES[agent]
    place.write(case.file, case.hooks)
    place.approve()
    place.write(*case.user)
    told = place.dispatch()
    assert (told["permission"] == "deny", told["ran"]) == (False, 0), told
    assert "switches it off" in place.status()
    if case.on:
        place.write(*case.on)
        place.approve()
        assert place.dispatch()["ran"] == 1


@pytest.mark.parametrize("agent", CASES)
def test_a_project_switches_off_no_hook_of_the_user(agent: str, place: Place) -> None:
    case = CASES[agent]
    place.write(case.home, case.hooks)
    file, text = case.project
    if file.endswith(".json"):
        text = json.dumps({key: value for key, value in json.loads(text).items() if key != "hooks"})
    place.write(file, text)
    assert place.dispatch()["ran"] == 1


def test_what_is_switched_off_here_only_stays_on_for_everybody_else(place: Place) -> None:
    case = CASES["claude-code"]
    place.write(case.file, case.hooks)
    on = drop_private_hooks(found := discover(str(place.root), place.env), build(found, place.env), place.env)
    place.write(*case.project)
    found = discover(str(place.root), place.env)
    assert plan_builder.list_runnable(found) == []
    assert drop_private_hooks(found, build(found, place.env), place.env) == on
    made = plan.parse(compile_plan(str(place.root)))
    assert not isinstance(made, str)
    assert [hook.command for hook in made.read_all_hooks()] == ["./guard.sh"]


TWICE = {
    "claude-code": (".claude/settings.json", ".claude/settings.local.json", "PreToolUse", "Bash", 1),
    "codex": (".codex/hooks.json", "home/.codex/hooks.json", "PreToolUse", "Bash", 2),
    "factory-droid": (".factory/hooks.json", "home/.factory/hooks.json", "PreToolUse", "Execute", 2),
    "gemini-cli": (
        ".gemini/settings.json",
        "home/.gemini/settings.json",
        "BeforeTool",
        "run_shell_command",
        1,
    ),
    "qwen-code": (".qwen/settings.json", "home/.qwen/settings.json", "PreToolUse", "run_shell_command", 1),
}


@pytest.mark.parametrize("agent", TWICE)
def test_a_hook_in_two_files_runs_as_often_as_its_own_agent_runs_it(agent: str, place: Place) -> None:
    first, second, event, matcher, runs = TWICE[agent]
    place.write(first, nested(event, matcher))
    place.write(second, nested(event, f"{matcher}|other"))
    place.approve()
    assert place.dispatch()["ran"] == runs


@pytest.mark.parametrize("agent", TWICE)
def test_a_hook_that_a_file_lists_twice_runs_as_often_as_its_own_agent_runs_it(
    agent: str, place: Place
) -> None:
    first, _, event, matcher, runs = TWICE[agent]
    group = json.loads(nested(event, matcher))["hooks"][event]
    place.write(first, json.dumps({"hooks": {event: [*group, *group]}}))
    place.approve()
    assert place.dispatch()["ran"] == runs


def test_hooks_that_differ_in_more_than_their_place_all_run(place: Place) -> None:
    place.write(".claude/settings.json", nested("PreToolUse", "Bash"))
    place.write("home/.claude/settings.json", nested("PreToolUse", "Bash", "./guard.sh again"))
    place.approve()
    assert place.dispatch()["ran"] == 2


def test_a_plugins_copy_runs_again(place: Place) -> None:
    place.write(".claude/settings.json", nested("PreToolUse", "Bash"))
    place.write(".claude-plugin/plugin.json", '{"name": "mine"}')
    place.write("hooks/hooks.json", nested("PreToolUse", "Bash"))
    place.approve()
    assert place.dispatch()["ran"] == 2


def test_an_unapproved_copy_takes_nobodys_place_and_a_changed_one_still_denies(place: Place) -> None:
    place.write("home/.claude/settings.json", nested("PreToolUse", "Bash"))
    place.write(".claude/settings.json", nested("PreToolUse", "Bash"))
    assert place.dispatch()["ran"] == 1
    place.approve()
    assert place.dispatch()["ran"] == 1
    guard = place.root / "guard.sh"
    guard.write_text(guard.read_text() + "# changed\n")
    assert place.dispatch()["permission"] == "deny"


def test_the_copy_with_the_most_time_is_the_one_that_runs(place: Place) -> None:
    short = json.loads(nested("PreToolUse", "Bash"))
    short["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = 1
    place.write("home/.claude/settings.json", json.dumps(short))
    place.write(".claude/settings.json", nested("PreToolUse", "Bash"))
    place.approve()
    guard = place.root / "guard.sh"
    guard.write_text(guard.read_text() + "sleep 2\nexit 2\n")
    place.approve()
    assert place.dispatch() == {**place.dispatch(), "permission": "deny", "ran": 1}
