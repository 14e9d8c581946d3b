"""The environment is no root of trust: folders in a project are refused, and a forged plan runs nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hookport
from hookport.base import folders
from hookport.doctor import find_world
from hookport.project import plan_builder
from hookport.project.places import find_config_folder, find_home_folder
from hookport.runtime import journal, plan
from tests.approval import approve

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

BRIDGE = [sys.executable, "-I", "-S", str(Path(hookport.__file__).parent / "bridge.py")]
PAYLOAD = {
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
}


class Project:
    """A repository with one hook that nobody approved."""

    def __init__(self, folder: Path) -> None:
        self.root, self.ran = folder / "project", folder / "ran"
        (self.root / ".git").mkdir(parents=True)
        (self.root / ".claude").mkdir()
        handler = {"type": "command", "command": f"echo ran >> {self.ran}"}
        settings = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}}
        (self.root / ".claude/settings.json").write_text(json.dumps(settings))
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "HOOKPORT_CACHE_DIR": str(folder / "cache"),
            "HOOKPORT_STATE_DIR": str(folder / "state"),
        }

    @property
    def plan(self) -> Path:
        return Path(plan.find_plan_path(str(self.root), self.env))

    def fire(self, agent: str = "codex") -> None:
        words = [*BRIDGE, "dispatch", agent, "PreToolUse"]
        payload = json.dumps({**PAYLOAD, "cwd": str(self.root)}).encode()
        subprocess.run(words, input=payload, cwd=self.root, env=self.env, check=True, timeout=60)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def approving(project: Project, folder: Path) -> bytes:
    """The plan that another user of the same project has, who approved its hooks, without the checksum."""
    other = {
        **project.env,
        "HOOKPORT_STATE_DIR": str(folder / "other"),
        "HOOKPORT_CACHE_DIR": str(folder / "theirs"),
    }
    approve(project.root, other)
    return plan_builder.load_current_plan(str(project.root), other)[0].text


def test_a_plan_that_was_kept_is_used_and_a_forged_one_is_not(project: Project, tmp_path: Path) -> None:
    forged = approving(project, tmp_path)
    project.fire()
    kept = project.plan.read_bytes()
    key = tmp_path / "state" / plan.KEY
    assert isinstance(plan.load(str(project.plan), project.env), plan.DispatchPlan)
    assert key.stat().st_mode & 0o777 == 0o600
    for seal in (b"", b"0" * plan.SEAL + b"\n", kept[: plan.SEAL] + b"\n"):
        project.plan.write_bytes(seal + forged)
        project.fire()
        assert not project.ran.exists()
        assert plan.load(str(project.plan), project.env) != plan.parse(forged)
    # The same plan with this user's checksum runs: it is the checksum that was missing.
    project.plan.write_bytes(plan.seal_plan(forged, str(project.plan), project.env))
    project.fire()
    assert project.ran.exists()


def test_a_plan_of_another_project_is_none(project: Project, tmp_path: Path) -> None:
    project.fire()
    other = project.plan.with_name("%2Fother.plan")
    shutil.copy(project.plan, other)
    assert isinstance(plan.load(str(other), project.env), str)


@pytest.mark.parametrize("mode", [0o644, 0o660])
def test_a_key_that_others_can_read_is_replaced(project: Project, tmp_path: Path, mode: int) -> None:
    project.fire()
    key = tmp_path / "state" / plan.KEY
    before = key.read_bytes()
    key.chmod(mode)
    project.plan.unlink()
    project.fire()
    assert key.read_bytes() != before
    assert key.stat().st_mode & 0o777 == 0o600
    assert isinstance(plan.load(str(project.plan), project.env), plan.DispatchPlan)


@pytest.mark.parametrize(
    ("variable", "folder", "below"),
    [
        (variable, folder, below)
        for folder in ("state", "cache")
        for variable in ("HOOKPORT", "XDG", "HOME")
        for below in ("", "sub/deep")
    ],
)
def test_a_folder_in_a_project_gives_way_to_the_users_own(
    project: Project, variable: str, folder: str, below: str
) -> None:
    ours, xdg, in_home = folders.STATE if folder == "state" else folders.CACHE
    name = {"HOOKPORT": ours, "XDG": xdg, "HOME": "HOME"}[variable]
    env = {name: str(project.root / below)}
    assert (
        folders.find_own_folder(env, ours, xdg, in_home) == f"{folders.find_real_home()}/{in_home}/hookport"
    )
    link = project.root.parent / "link"
    link.symlink_to(project.root)
    assert (
        folders.find_own_folder({name: str(link / below)}, ours, xdg, in_home)
        == f"{folders.find_real_home()}/{in_home}/hookport"
    )
    outside = {name: str(project.root.parent / "elsewhere")}
    assert folders.find_own_folder(outside, ours, xdg, in_home).startswith(outside[name])


def test_the_users_settings_are_not_those_in_a_project(project: Project) -> None:
    inside = {"HOME": str(project.root), "XDG_CONFIG_HOME": str(project.root / "config")}
    home = Path(folders.find_real_home())
    assert (find_home_folder(inside), find_config_folder(inside)) == (home, home / ".config")
    assert journal.find_state_folder(inside) == str(home / ".local/state/hookport")


def test_without_a_home_in_the_environment_the_doctor_looks_where_discovery_does(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project.root.parent))
    for env, home in (({}, project.root.parent), ({"HOME": "relative"}, None)):
        assert (find_world(str(project.root), env).home, find_home_folder(env)) == (home, home)


def test_files_that_steer_hookport_are_named_by_doctor_trust_and_check(project: Project) -> None:
    (project.root / ".env").write_text("A=1\nexport HOOKPORT_CACHE_DIR=/tmp/x\nHOME=/home/me\n")
    (project.root / ".envrc").write_text('export XDG_STATE_HOME="$PWD/state"; export HOME=$HOME\n')
    (project.root / ".gemini").mkdir()
    (project.root / ".gemini/.env").write_text("HOME=./home\n")
    settings = json.loads((project.root / ".claude/settings.json").read_text())
    # An entry leaves a call to the agent whose variable is set, and a home has the approvals.
    settings["env"] = {
        "HOOKPORT_ON_FAILURE": "open",
        "EDITOR": "vi",
        "CURSOR_PROJECT_DIR": "x",
        "XDG_STATE_HOME": "/tmp/x",
    }
    (project.root / ".claude/settings.json").write_text(json.dumps(settings))
    expected = {
        (".env", "HOOKPORT_CACHE_DIR"),
        (".envrc", "XDG_STATE_HOME"),
        (".gemini/.env", "HOME"),
        (".claude/settings.json", "HOOKPORT_ON_FAILURE"),
        (".claude/settings.json", "CURSOR_PROJECT_DIR"),
        (".claude/settings.json", "XDG_STATE_HOME"),
    }
    for words in (["doctor", "--json"], ["trust", "--dry-run", "--json"], ["check", ".", "--json"]):
        done = subprocess.run(
            [sys.executable, "-m", "hookport", *words],
            cwd=project.root,
            env={**project.env, "PYTHONPATH": str(Path(hookport.__file__).parent.parent)},
            capture_output=True,
            check=False,
            timeout=120,
        )
        told = json.loads(done.stdout)
        steered = [row for row in told["findings"] if row["code"] == "HP893"]
        names = {
            (file, name)
            for row in steered
            for file, name in expected
            if file in row["where"] and f"'{name}'" in row["message"]
        }
        assert (len(steered), names, done.returncode) == (len(expected), expected, 1)
