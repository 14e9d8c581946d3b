"""The guards of every approved project that an event is in run, wherever its root seems to be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import hookport
from tests.approval import approve

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

BRIDGE = Path(hookport.__file__).parent / "bridge.py"


class World:
    """A user with projects; each guard writes down that it ran, where, and for which root."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        (folder / "home").mkdir()
        (folder / "elsewhere").mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "HOOKPORT_CACHE_DIR": str(folder / "cache"),
            "HOOKPORT_STATE_DIR": str(folder / "state"),
            "LOG": str(self.log),
        }
        self.project = self.guarded("project")
        (self.project / "sub").mkdir()

    def guarded(self, name: str, *, is_approved: bool = True) -> Path:
        root = self.folder / name
        (root / ".git").mkdir(parents=True)
        handler = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/guard.sh'}
        group = {"matcher": "Bash", "hooks": [handler]}
        (root / ".claude").mkdir()
        (root / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
        (root / "guard.sh").write_text(
            "#!/bin/sh\n"
            f'echo "{name} $PWD $CLAUDE_PROJECT_DIR" >> "$LOG"\n'
            f'if grep -q forbidden; then echo "no, says {name}" >&2; exit 2; fi\n'
        )
        (root / "guard.sh").chmod(0o755)
        if is_approved:
            approve(root, self.env)
        return root

    def dispatch(
        self, agent: str, native: str, here: Path, payload: Mapping[str, Any] | bytes, **env: str
    ) -> tuple[int, str]:
        """The exit code, and what is told."""
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(BRIDGE), "dispatch", agent, native],
            env={**self.env, **env},
            cwd=here,
            input=payload if isinstance(payload, bytes) else json.dumps(payload).encode(),
            capture_output=True,
            check=False,
            timeout=60,
        )
        return done.returncode, (done.stdout + done.stderr).decode()

    def qwen(self, here: Path, cwd: Path, command: str = "forbidden", **env: str) -> str:
        """Why an agent that never loads these files by itself is denied a command; empty where it is not."""
        payload = {
            "session_id": "s",
            "cwd": str(cwd),
            "hook_event_name": "PreToolUse",
            "tool_name": "run_shell_command",
            "tool_input": {"command": command},
        }
        code, told = self.dispatch("qwen-code", "PreToolUse", here, payload, **env)
        assert code == 0, told
        answer = json.loads(told or "{}").get("hookSpecificOutput", {})
        is_denied = answer.get("permissionDecision") == "deny"
        return str(answer["permissionDecisionReason"]) if is_denied else ""

    def ran(self) -> list[str]:
        """Which guards ran, where, and for which root."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return sorted(lines)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


class Move(NamedTuple):
    """Where the agent's process is, where it says that it works, and what its environment names."""

    here: str
    cwd: str
    named: str = ""
    # A repository that is made in the project.
    made: str = ""


MOVES = {
    "a new repository below": Move("project/sub", "project/sub", made="project/sub"),
    "a new repository around where it works": Move("project", "project/sub", made="project/sub"),
    "a submodule": Move("project", "project/module", made="project/module"),
    "it works elsewhere": Move("project", "elsewhere"),
    "it works nowhere": Move("project", "gone"),
    "it was started elsewhere": Move("elsewhere", "project/sub"),
    "it names another folder": Move("project", "project", named="elsewhere"),
    "it names the project": Move("elsewhere", "elsewhere", named="project/sub"),
    "it names the project and works in a new repository": Move(
        "elsewhere", "project/sub", named="elsewhere", made="project/sub"
    ),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_the_guard_of_an_approved_project_runs(world: World, move: Move) -> None:
    if move.made:
        (world.folder / move.made / ".git").mkdir(parents=True)
    env = {"QWEN_PROJECT_DIR": str(world.folder / move.named)} if move.named else {}
    here, cwd = world.folder / move.here, world.folder / move.cwd
    assert world.qwen(here, cwd, **env) == "no, says project"
    (told,) = world.ran()
    assert told.startswith("project ")
    assert told.endswith(f" {world.project}")
    assert world.qwen(here, cwd, "ls", **env) == ""


def test_nothing_runs_of_a_project_that_nobody_approved(world: World) -> None:
    other = world.guarded("other", is_approved=False)
    (other / "sub" / ".git").mkdir(parents=True)
    for here, cwd in ((other / "sub", other / "sub"), (other, other / "sub"), (world.folder, other / "sub")):
        assert world.qwen(here, cwd) == ""
    assert world.ran() == []


def test_every_project_has_its_own_root_and_each_hook_runs_once(world: World) -> None:
    inner = world.guarded("project/inner")
    side = world.guarded("side")
    runs = [f"project {world.project} {world.project}", f"project/inner {inner} {inner}"]
    assert world.qwen(inner, inner, "ls") == ""
    assert [line.split()[0::2] for line in world.ran()] == [line.split()[0::2] for line in runs]
    reason = world.qwen(side, inner)
    assert [line.split()[0] for line in world.ran()] == ["project", "project/inner", "side"]
    assert reason.splitlines() == ["no, says project/inner", "no, says project", "no, says side"]


@pytest.mark.parametrize("number", [0, 1])
def test_every_root_of_a_workspace_counts(world: World, number: int) -> None:
    roots = [str(world.folder / "elsewhere")]
    roots.insert(number, str(world.project))
    payload = {
        "conversation_id": "c",
        "generation_id": "g",
        "hook_event_name": "beforeShellExecution",
        "cursor_version": "3.9",
        "command": "forbidden",
        "cwd": "",
        "workspace_roots": roots,
    }
    _, told = world.dispatch("cursor", "beforeShellExecution", world.folder / "elsewhere", payload)
    answer = json.loads(told)
    assert (answer["permission"], "no, says project" in told) == ("deny", True)
    assert [line.split()[0::2] for line in world.ran()] == [["project", str(world.project)]]


def test_a_guard_that_changed_denies_from_a_new_repository_too(world: World) -> None:
    (world.project / "sub" / ".git").mkdir()
    (world.project / "guard.sh").write_text("#!/bin/sh\n")
    assert "is not as the user approved it" in world.qwen(world.project / "sub", world.project / "sub")
    (world.project / ".claude" / "settings.json").unlink()
    assert "is not as the user approved it" in world.qwen(world.folder / "elsewhere", world.project)
    assert world.ran() == []


def test_a_payload_that_cannot_be_read_is_denied_from_a_new_repository_too(world: World) -> None:
    (world.project / "sub" / ".git").mkdir()
    _, told = world.dispatch("qwen-code", "PreToolUse", world.project / "sub", b"{")
    assert json.loads(told)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_the_strictest_policy_holds(world: World) -> None:
    (world.project / "sub" / ".git").mkdir()
    (world.project / ".hookport").mkdir()
    (world.project / ".hookport" / "config.json").write_text('{"on_failure": "closed"}')
    (world.project / "guard.sh").write_text("#!/bin/sh\nexit 1\n")
    approve(world.project, world.env)
    reason = world.qwen(world.project / "sub", world.project / "sub", "ls")
    assert reason.endswith("It is denied, because failures deny here (fail closed).")


def test_the_files_of_every_project_are_protected(world: World) -> None:
    (world.project / "sub" / ".git").mkdir()
    reason = world.qwen(world.project / "sub", world.project / "sub", "rm ../.claude/settings.json")
    assert "settings.json" in reason
    assert world.ran() == []


def test_a_linked_worktree_is_the_project_that_it_is_of(world: World) -> None:
    def git(*words: str) -> None:
        names = {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        subprocess.run(
            ["git", *words], cwd=world.project, env={**world.env, **names}, check=True, capture_output=True
        )

    (world.project / ".git").rmdir()
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "guard")
    git("worktree", "add", "-q", "trees/one")
    tree = world.project / "trees" / "one"
    assert world.qwen(tree, tree) == "no, says project"
    assert world.ran() == [f"project {tree} {tree}"]
    assert world.qwen(world.project, tree, QWEN_PROJECT_DIR=str(world.project)) == "no, says project"
    assert len(world.ran()) == 1
