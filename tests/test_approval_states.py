"""An approval is a set of states: returning to one that was approved asks nobody and denies nothing."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import forks

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")


class Repository:
    """A repository of git with a guard of Claude Code, which Codex fires at, and its user's home."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = folder / "project", folder / "home"
        self.root.mkdir()
        self.home.mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        self.git("init", "-q", "-b", "main")
        self.write("README", "hello\n")
        self.guard("first")
        self.commit("a guard")

    def git(self, *words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words], cwd=cwd or self.root, env=self.env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 or words[0] in ("merge", "rebase", "bisect"), done.stderr
        return done.stdout

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def guard(self, reason: str, *more: str) -> None:
        """A guard that denies with this reason; `more` are further hooks beside it."""
        commands = ["./guards/guard.sh", *(f"./guards/{name}" for name in more)]
        groups = [{"matcher": "Bash", "hooks": [{"type": "command", "command": one} for one in commands]}]
        self.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": groups}}))
        for name, text in (("guard.sh", f"echo {reason} >&2; exit 2"), *((one, "exit 0") for one in more)):
            self.write(f"guards/{name}", f"#!/bin/sh\n{text}\n").chmod(0o755)

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", message, "--allow-empty")

    def run(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return forks.run(words, cwd or self.root, self.env)

    def trust(self, cwd: Path | None = None) -> None:
        done = self.run("trust", "--yes", cwd=cwd)
        assert done.returncode == 0, done.stderr

    def reason(self, cwd: Path | None = None) -> str:
        """Why Codex is denied a shell command; empty where it is not."""
        where = cwd or self.root
        payload: dict[str, Any] = {
            "session_id": "s",
            "hook_event_name": "PreToolUse",
            "cwd": str(where),
            "tool_name": "Bash",
            "tool_input": {"command": "ls"},
        }
        done = forks.run(["dispatch", "codex", "PreToolUse"], where, self.env, json.dumps(payload))
        return done.stderr.strip() if done.returncode == 2 else done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path.resolve())


TAMPERED = "is not as the user approved it"


def test_a_switch_of_branches_asks_nobody_twice(repository: Repository) -> None:
    repository.trust()
    repository.commit("lock")
    assert repository.reason() == "first"
    repository.git("switch", "-qc", "other")
    repository.guard("second", "more.sh")
    assert TAMPERED in repository.reason()
    repository.trust()
    repository.commit("another guard")
    assert repository.reason() == "second"
    for branch, reason in (("main", "first"), ("other", "second"), ("main", "first")):
        repository.git("switch", "-q", branch)
        assert repository.reason() == reason


def test_a_branch_without_a_guard_is_a_state_too(repository: Repository) -> None:
    repository.trust()
    repository.commit("lock")
    repository.git("switch", "-qc", "without")
    repository.git("rm", "-q", ".claude/settings.json")
    assert TAMPERED in repository.reason()
    repository.trust()
    assert repository.reason() == ""
    repository.commit("no guard")
    repository.git("switch", "-q", "main")
    assert repository.reason() == "first"
    repository.git("switch", "-q", "without")
    assert repository.reason() == ""
    # What was taken back is asked about again.
    assert repository.run("untrust").returncode == 0
    repository.git("switch", "-q", "main")
    assert "not approved" in repository.reason()


def test_parts_of_two_states_are_no_state(repository: Repository) -> None:
    repository.trust()
    repository.guard("second")
    repository.write("guards/lib.sh", ":\n")
    repository.write("guards/guard.sh", "#!/bin/sh\n. guards/lib.sh\necho second >&2; exit 2\n").chmod(0o755)
    repository.trust()
    assert repository.reason() == "second"
    repository.write("guards/lib.sh", "exit 0\n")
    assert TAMPERED in repository.reason()


def test_a_stash_and_its_return(repository: Repository) -> None:
    repository.trust()
    repository.commit("lock")
    repository.guard("second")
    repository.trust()
    repository.git("stash", "-q")
    assert repository.reason() == "first"
    repository.git("stash", "pop", "-q")
    assert repository.reason() == "second"


def test_a_bisect_over_approved_commits(repository: Repository) -> None:
    repository.trust()
    repository.commit("lock")
    for number in range(6):
        repository.write("README", f"{number}\n")
        if number == 3:
            repository.guard("second")
            repository.trust()
        repository.commit(f"change {number}")
    repository.git("bisect", "start", "HEAD", "HEAD~6")
    reasons = {repository.reason()}
    for _ in range(2):
        repository.git("bisect", "good" if "first" in reasons else "bad")
        reasons.add(repository.reason())
    repository.git("bisect", "reset")
    assert reasons | {repository.reason()} == {"first", "second"}


def test_a_rebase_of_a_guard(repository: Repository) -> None:
    repository.trust()
    repository.commit("lock")
    repository.git("switch", "-qc", "other")
    repository.guard("second")
    repository.trust()
    repository.commit("another guard")
    repository.git("switch", "-q", "main")
    repository.write("README", "moved on\n")
    repository.commit("moved on")
    repository.git("switch", "-q", "other")
    repository.git("rebase", "-q", "main")
    assert repository.reason() == "second"


def test_worktrees_have_the_states_of_their_checkout(repository: Repository, tmp_path: Path) -> None:
    repository.trust()
    repository.commit("lock")
    tree = tmp_path.resolve() / "tree"
    repository.git("worktree", "add", "-q", "-b", "other", str(tree))
    assert repository.reason(tree) == "first"
    (tree / "guards/guard.sh").write_text("#!/bin/sh\necho third >&2; exit 2\n")
    assert TAMPERED in repository.reason(tree)
    repository.trust(tree)
    assert (repository.reason(tree), repository.reason()) == ("third", "first")
    repository.git("checkout", "-q", "--", "guards", cwd=tree)
    assert repository.reason(tree) == "first"


def test_a_merge_conflict_in_the_lock(repository: Repository) -> None:
    repository.trust()
    repository.commit("lock")
    repository.git("switch", "-qc", "other")
    repository.guard("second", "more.sh")
    repository.trust()
    repository.commit("another guard")
    repository.git("switch", "-q", "main")
    repository.guard("third", "extra.sh")
    repository.trust()
    repository.commit("a third guard")
    repository.git("merge", "other")
    assert "<<<<<<<" in (repository.root / "hookport.lock").read_text()
    # The settings are in conflict, too: no hook can be read, and what was approved is missing.
    assert TAMPERED in repository.reason()
    repository.git("checkout", "--theirs", ".claude/settings.json", "guards")
    assert repository.reason() == "second"
    repository.trust()
    assert "<<<<<<<" not in (repository.root / "hookport.lock").read_text()


def test_status_names_the_state(repository: Repository) -> None:
    repository.trust()
    repository.guard("second")
    repository.trust()
    said = json.loads(repository.run("status", "--json").stdout)["approval"]
    assert (said["states"], said["is_active"], said["approved"][:2]) == (2, True, "20")
    repository.guard("third")
    said = json.loads(repository.run("status", "--json").stdout)["approval"]
    assert (said["states"], said["is_active"]) == (2, False)
