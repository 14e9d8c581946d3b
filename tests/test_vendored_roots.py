"""A bridge in one project runs the guards of every other approved project that an event is in, or denies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookport.vendor import vendored, writer
from tests.approval import approve, approve_for_ci
from tests.test_moved_roots import MOVES, Move, World

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")


class Vendored(World):
    """A user who has no hookport, and whose agent starts the bridge of one project, `base`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.base = self.guarded("base")

    def guarded(self, name: str, *, is_approved: bool = True, has_bridge: bool = True) -> Path:
        root = super().guarded(name, is_approved=False)
        if has_bridge:
            vend(root)
        if is_approved:
            approve(root, self.env)
        return root

    def dispatch(
        self, agent: str, native: str, here: Path, payload: Mapping[str, Any] | bytes, **env: str
    ) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(self.base / vendored.ARCHIVE), "dispatch", agent, native],
            env={**self.env, **env},
            cwd=here,
            input=payload if isinstance(payload, bytes) else json.dumps(payload).encode(),
            capture_output=True,
            check=False,
            timeout=60,
        )
        return done.returncode, (done.stdout + done.stderr).decode()


def vend(root: Path) -> None:
    (root / ".hookport").mkdir(exist_ok=True)
    for change in writer.plan_changes(str(root)):
        Path(change.path).write_bytes(change.after or b"")


@pytest.fixture
def world(tmp_path: Path) -> Vendored:
    return Vendored(tmp_path.resolve())


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_the_guard_of_an_approved_project_runs(world: Vendored, move: Move) -> None:
    if move.made:
        (world.folder / move.made / ".git").mkdir(parents=True)
    env = {"QWEN_PROJECT_DIR": str(world.folder / move.named)} if move.named else {}
    here, cwd = world.folder / move.here, world.folder / move.cwd
    assert world.qwen(here, cwd, **env).splitlines() == ["no, says base", "no, says project"]
    runs = [line.split()[0::2] for line in world.ran()]
    assert runs == [["base", str(world.base)], ["project", str(world.project)]]
    assert world.qwen(here, cwd, "ls", **env) == ""


def test_an_event_in_its_own_project_asks_no_other(world: Vendored) -> None:
    assert world.qwen(world.base, world.base) == "no, says base"
    world.guarded("other", is_approved=False)
    assert world.qwen(world.base, world.folder / "other") == "no, says base"


@pytest.mark.parametrize("part", ["guard.sh", ".claude/settings.json", vendored.PLAN, vendored.ARCHIVE])
def test_a_guard_that_changed_denies(world: Vendored, part: str) -> None:
    path = world.project / part
    path.write_bytes(path.read_bytes() + b" ")
    reason = world.qwen(world.base, world.project, "ls")
    is_stale = part == ".claude/settings.json"
    assert ("the plan is stale" if is_stale else "is not as the user approved it") in reason
    if not is_stale:
        assert f"`cd {world.project} && " in reason
    assert [line.split()[0] for line in world.ran()] == ["base"]


@pytest.mark.parametrize("had_bridge", [False, True])
def test_a_project_without_a_bridge_denies_what_its_guards_are_for(world: Vendored, had_bridge: bool) -> None:
    if had_bridge:
        shutil.rmtree(world.project)
    root = world.guarded("project" if had_bridge else "plain", has_bridge=False)
    reason = world.qwen(world.base, root, "ls")
    assert f"this bridge cannot run the hooks of {root}, which has no .hookport/bridge.plan" in reason
    assert "`hookport sync --vendor` where hookport is installed" in reason
    prompt = {"session_id": "s", "cwd": str(root), "prompt": "hello"}
    assert world.dispatch("qwen-code", "UserPromptSubmit", world.base, prompt) == (0, "")
    # Their own word, once approved, holds; the base still runs.
    for project in (root, world.base):
        (project / ".hookport").mkdir(exist_ok=True)
        (project / ".hookport" / "config.json").write_text('{"on_tamper": "warn"}')
    vend(world.base)
    for project in (root, world.base):
        approve(project, world.env)
    assert world.qwen(world.base, root, "ls") == ""
    assert world.qwen(world.base, root) == "no, says base"


def test_the_plan_of_an_installed_hookport_will_do(world: Vendored) -> None:
    shutil.rmtree(world.project)
    world.guarded("project", has_bridge=False)
    # What the installed one keeps of a project is made when an event happens there.
    World.qwen(installed := _Installed(world), world.project, world.project, "ls")
    assert installed.ran() == [f"project {world.project} {world.project}"]
    assert world.qwen(world.base, world.project).splitlines() == ["no, says base", "no, says project"]


class _Installed(World):
    """The same user, where hookport is installed."""

    def __init__(self, world: World) -> None:
        self.folder, self.log, self.env = world.folder, world.log, world.env


def test_ci_names_the_locks_of_both(world: Vendored) -> None:
    env = {**world.env, "HOOKPORT_STATE_DIR": str(world.folder / "empty")}
    locks = [approve_for_ci(root, env)["HOOKPORT_TRUSTED_LOCK"] for root in (world.base, world.project)]
    world.env = {**env, "HOOKPORT_TRUSTED_LOCK": " ".join(locks)}
    reasons = world.qwen(world.base, world.project / "sub").splitlines()
    assert reasons == ["no, says base", "no, says project"]


def test_a_pause_is_of_one_project(world: Vendored) -> None:
    def pause(root: Path, *words: str) -> None:
        command = [sys.executable, str(root / vendored.ARCHIVE), "pause", *words]
        subprocess.run(command, cwd=root, env=world.env, check=True, capture_output=True, timeout=60)

    pause(world.base, "--yes")
    assert world.qwen(world.base, world.project) == "no, says project"
    (world.project / vendored.PLAN).unlink()
    assert "bridge.plan is gone" in world.qwen(world.base, world.project, "ls")
    pause(world.base, "--end")
    pause(world.project, "--yes")
    assert world.qwen(world.base, world.project) == "no, says base"


def test_two_bridges_that_one_agent_starts_ask_each_guard_once(world: Vendored) -> None:
    inner = world.guarded("base/inner")
    payload = {
        "session_id": "s",
        "cwd": str(inner),
        "hook_event_name": "PreToolUse",
        "tool_name": "run_shell_command",
        "tool_use_id": "1",
        "tool_input": {"command": "ls"},
    }
    for root in (world.base, inner):
        words = [str(root / vendored.ARCHIVE), "dispatch", "qwen-code", "PreToolUse", "--entry=project"]
        subprocess.run(
            [sys.executable, "-I", "-S", *words],
            env=world.env,
            cwd=inner,
            input=json.dumps(payload).encode(),
            capture_output=True,
            check=True,
            timeout=60,
        )
    assert [line.split()[0] for line in world.ran()] == ["base", "base/inner"]


def test_the_files_of_every_project_are_protected(world: Vendored) -> None:
    for has_bridge in (True, False):
        shutil.rmtree(world.project)
        world.guarded("project", has_bridge=has_bridge)
        reason = world.qwen(world.base, world.project, f"rm {world.project}/.claude/settings.json")
        assert "settings.json" in reason
        assert world.ran() == []


def test_a_payload_that_cannot_be_read_is_denied(world: Vendored) -> None:
    _, told = world.dispatch("qwen-code", "PreToolUse", world.project, b"{")
    assert json.loads(told)["hookSpecificOutput"]["permissionDecision"] == "deny"
