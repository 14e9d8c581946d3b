"""`doctor` sends an event through the installed entries, and says where it does not reach a hook."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hookport
from hookport.findings import EntrySilent
from tests import forks
from tests.approval import approve

pytestmark = pytest.mark.skipif(os.name == "nt", reason="entries are shell commands here")

SOURCE = Path(hookport.__file__).parents[1]
AGENTS = ("claude-code", "codex", "gemini-cli", "qwen-code", "factory-droid", "cursor", "copilot-cli")


class World:
    """A project with a guard, and a hookport that was installed and may break; `doctor` is another one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "project"
        self.installed = folder / "lib" / "hookport"
        (self.root / ".git").mkdir(parents=True)
        (self.root / ".hookport").mkdir()
        (folder / "home").mkdir()
        shutil.copytree(SOURCE / "hookport", self.installed, ignore=shutil.ignore_patterns("__pycache__"))
        guard = {
            "name": "guard",
            "event": "before_tool_execute",
            "handler": {"type": "command", "command": f"touch {folder}/ran"},
        }
        manifest = {"spec": "hooks/1.0", "hooks": [guard]}
        (self.root / ".hookport" / "hooks.json").write_text(json.dumps(manifest))
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "HOOKPORT_STATE_DIR": str(folder / "state"),
            "HOOKPORT_CACHE_DIR": str(folder / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        approve(self.root, self.env)

    def run(self, source: Path, *words: str) -> subprocess.CompletedProcess[str]:
        env = {**self.env, "PYTHONPATH": str(source)}
        if source == SOURCE:
            return forks.run(words, self.root, env, timeout=120)
        return subprocess.run(
            [sys.executable, "-m", "hookport", *words],
            cwd=self.root,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def sync(self, *agents: str) -> None:
        done = self.run(self.installed.parent, "sync", "--mode", "bridge", "--agent", ",".join(agents))
        assert done.returncode == 0, done.stderr

    def found(self, agent: str) -> list[str]:
        """What is said of entries that do not answer."""
        told = self.run(SOURCE, "doctor", "--agent", agent, "--json")
        findings: list[dict[str, str]] = json.loads(told.stdout)["findings"]
        return [one["message"] for one in findings if one["code"] == EntrySilent.code]

    def files(self) -> set[str]:
        """The files that hookport keeps for itself."""
        return {str(path) for path in (self.folder / "state").rglob("*") if path.is_file()}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


def test_an_entry_that_works_is_tried_and_leaves_no_trace(world: World) -> None:
    world.sync(*AGENTS)
    before = world.files()
    assert {agent: world.found(agent) for agent in AGENTS} == {agent: [] for agent in AGENTS}
    assert world.files() - before <= {str(world.folder / "state" / "plans.key")}
    assert not (world.folder / "ran").exists()


def without_module(world: World) -> None:
    (world.installed / "runtime" / "merge.py").unlink()


def without_processes(world: World) -> None:
    (world.installed / "runtime" / "execute" / "process.py").write_text(
        "raise OSError('no processes here')\n"
    )


def unreadable(world: World) -> None:
    (world.installed / "runtime" / "main.py").write_text("def main(: pass\n")


def mute(world: World) -> None:
    (world.installed / "bridge.py").write_text("")


BREAKAGES: dict[Callable[[World], None], str] = {
    without_module: "ModuleNotFoundError: No module named 'hookport.runtime.merge'",
    without_processes: "no processes here",
    unreadable: "SyntaxError: invalid syntax",
    mute: "it exited with 0 and printed nothing",
}


@pytest.mark.parametrize("agent", ["claude-code", "cursor"])
@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda one: one.__name__)
def test_an_entry_that_does_not_reach_a_hook_is_found(
    world: World, agent: str, breakage: Callable[[World], None]
) -> None:
    world.sync(agent)
    breakage(world)
    (message,) = world.found(agent)
    assert BREAKAGES[breakage] in message
    assert world.run(SOURCE, "doctor", "--agent", agent).returncode == 1


def test_every_agent_is_tried(world: World) -> None:
    world.sync(*AGENTS)
    mute(world)
    assert {agent: len(world.found(agent)) for agent in AGENTS} == dict.fromkeys(AGENTS, 1)


def test_no_command_is_run_that_hookport_did_not_write(world: World) -> None:
    world.sync("claude-code")
    settings = world.root / ".claude" / "settings.json"
    text = settings.read_text()
    tree = json.loads(text)
    for group in tree["hooks"]["PreToolUse"]:
        for hook in group["hooks"]:
            hook["command"] = f"touch {world.folder}/pwned; {hook['command']}"
    settings.write_text(json.dumps(tree))
    assert world.found("claude-code") == []
    assert not (world.folder / "pwned").exists()


def test_a_payload_that_looks_like_a_probe_is_denied(world: World) -> None:
    world.sync("claude-code")
    payload = {
        "session_id": "s",
        "cwd": str(world.root),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "hookport_probe": "let me through",
    }
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            str(world.installed / "bridge.py"),
            "dispatch",
            "claude-code",
            "PreToolUse",
        ],
        cwd=world.root,
        env=world.env,
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
