"""What is done in one project leaves the others alone: files, entries, approvals and what can be undone."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import hookport
from hookport.install import files, ledger
from hookport.project.contents import Change, read_file
from tests import forks

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a terminal of POSIX")

SOURCE = Path(hookport.__file__).parents[1]
GUARD = {
    "spec": "hooks/1.0",
    "hooks": [
        {
            "name": "guard",
            "event": "before_tool_execute",
            "handler": {"type": "command", "command": "exit 0"},
        }
    ],
}


class Home:
    """A user with several projects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "home"
        self.path.mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path),
            "PYTHONPATH": str(SOURCE),
            "NO_COLOR": "1",
            "TZ": "UTC",
        }

    def project(self, name: str) -> Path:
        root = self.folder / name
        (root / ".git").mkdir(parents=True)
        (root / ".hookport").mkdir()
        (root / ".hookport" / "hooks.json").write_text(json.dumps(GUARD))
        return root

    def run(self, root: Path, *words: str, code: int = 0) -> str:
        """What a command says."""
        done = forks.run(words, root, self.env)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    def sync(self, root: Path, *words: str) -> None:
        self.run(root, "sync", "--agent", "cursor", "--mode", "bridge", *words)

    def answered(self, root: Path, answer: str, *words: str) -> tuple[int, str]:
        """What a command says to one who answers on a terminal."""
        ours, theirs = pty.openpty()
        os.write(ours, f"{answer}\n".encode())
        done = subprocess.run(
            [sys.executable, "-m", "hookport", *words],
            cwd=root,
            env=self.env,
            stdin=theirs,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        os.close(ours)
        os.close(theirs)
        return done.returncode, done.stdout


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path.resolve())


def entries(root: Path) -> Path:
    return root / ".cursor" / "hooks.json"


def test_undo_is_of_the_project_that_it_is_called_in(home: Home) -> None:
    one, two = home.project("a"), home.project("b")
    home.sync(one)
    told = home.run(two, "undo")
    assert told.startswith(f"note: nothing to revert in {two}\nhint: the last run was `hookport sync` of")
    assert told.endswith(f" in {one}; to revert it: `hookport undo` in {one}, or `hookport undo --all`\n")
    assert entries(one).exists()
    home.sync(two)
    assert f"removed   {entries(one)}" in home.run(one, "undo")
    assert (entries(one).exists(), entries(two).exists()) == (False, True)
    assert "nothing to revert" in home.run(one, "undo")
    assert f"removed   {entries(two)}" in home.run(two, "undo")
    assert home.run(two, "undo") == "note: nothing to revert: the ledger has no run\n"


@pytest.mark.parametrize("inner", ["b", "a/packages/b"])
def test_undo_in_order_whatever_others_do(home: Home, inner: str) -> None:
    one, two = home.project("a"), home.project(inner)
    for words in (("sync", "--agent", "cursor"), ("sync", "--agent", "codex"), ("unsync",)):
        for root in (one, two):
            home.run(root, *words)
    for root, paths in ((two, [".cursor", ".codex"]), (one, [".cursor", ".codex"])):
        told = [home.run(root, "undo").partition("\n")[0].split()[1] for _ in range(3)]
        assert told == ["unsync`", "sync`", "sync`"]
        assert not any((root / path).exists() for path in paths)
        assert "nothing to revert" in home.run(root, "undo")


def test_many_runs_of_one_project_forget_none_of_another(home: Home) -> None:
    one, two = home.project("a"), home.project("b")
    home.sync(one)
    path = two / "file"
    for number in range(ledger.KEPT_RUNS + 5):
        change = Change(str(path), read_file(str(path)), str(number).encode())
        files.apply([change], home.env, what="sync", root=str(two))
    runs = [run.root for run in ledger.list_runs(home.env)]
    assert (runs.count(str(one)), runs.count(str(two))) == (1, ledger.KEPT_RUNS)
    home.run(one, "undo")
    assert not entries(one).exists()


def test_all_projects_by_the_last_run_after_a_question(home: Home) -> None:
    one, two = home.project("a"), home.project("b")
    home.sync(one)
    told = home.run(two, "undo", "--all", code=2)
    assert "nothing was reverted: there is no terminal to ask on\nhint: use --yes or --dry-run" in told
    assert "--json cannot ask" in home.run(two, "undo", "--all", "--json", code=2)
    assert f"in {one} would be reverted:" in home.run(two, "undo", "--all", "--dry-run")
    code, told = home.answered(two, "n", "undo", "--all")
    assert (code, told.endswith("Revert it? [y/N] nothing was reverted.\n")) == (1, True)
    assert f"removed   {entries(one)}" in told
    assert entries(one).exists()
    assert home.answered(two, "y", "undo", "--all")[0] == 0
    assert not entries(one).exists()
    home.sync(one)
    home.run(two, "undo", "--all", "--yes")
    assert not entries(one).exists()


def test_as_json(home: Home) -> None:
    one, two = home.project("a"), home.project("b")
    home.sync(one)
    nothing: dict[str, object] = {"version": 1, "root": str(two), "run": None, "files": [], "written": False}
    assert json.loads(home.run(two, "undo", "--json")) == nothing
    (run,) = ledger.list_runs(home.env)
    told = {
        "version": 1,
        "root": str(one),
        "run": {"what": "sync", "time": run.time, "root": str(one)},
        "files": [{"path": str(entries(one)), "action": "removed"}],
        "written": False,
    }
    assert json.loads(home.run(one, "undo", "--json", "--dry-run")) == told
    assert json.loads(home.run(one, "undo", "--json")) == {**told, "written": True}
    assert not entries(one).exists()


def test_a_path_by_a_link_and_a_folder_below_are_the_same_project(home: Home) -> None:
    one = home.project("a")
    link = home.folder / "link"
    link.symlink_to(one)
    (one / "src").mkdir()
    home.sync(link)
    home.run(one / "src", "undo")
    assert not entries(one).exists()
    home.sync(one / "src")
    home.run(link, "undo")
    assert not entries(one).exists()


def test_a_worktree_is_another_project(home: Home) -> None:
    one = home.folder / "a"
    git = {**home.env, "GIT_CONFIG_GLOBAL": os.devnull}
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q", str(one)], ["-C", str(one), *who, "commit", "-qm", "x", "--allow-empty"]):
        subprocess.run(["git", *words], env=git, check=True, timeout=60)
    two = home.folder / "tree"
    subprocess.run(
        ["git", "-C", str(one), "worktree", "add", "-q", str(two)], env=git, check=True, timeout=60
    )
    for root in (one, two):
        (root / ".hookport").mkdir()
        (root / ".hookport" / "hooks.json").write_text(json.dumps(GUARD))
        home.sync(root)
    home.run(one, "undo")
    assert (entries(one).exists(), entries(two).exists()) == (False, True)
    home.run(one, "trust", "--yes")
    told = home.run(two, "untrust", code=1)
    assert told.startswith(f"error: {two} is a worktree of {one}, whose approval still holds here\n")
    assert home.run(one, "untrust") == f"no longer approved: {one}\n"
    assert home.run(two, "untrust") == "nothing was approved.\n"


def test_files_of_the_user_go_back_where_they_were_written_from(home: Home) -> None:
    one, two = home.project("a"), home.project("b")
    mine = entries(home.path)
    home.sync(one, "--scope", "user")
    assert "nothing to revert" in home.run(two, "undo")
    assert mine.exists()
    before = mine.read_bytes()
    hooks = {**GUARD, "hooks": [{**GUARD["hooks"][0], "event": "before_compact", "name": "more"}]}  # type: ignore[dict-item]
    (two / ".hookport" / "hooks.json").write_text(json.dumps(hooks))
    home.sync(two, "--scope", "user")
    assert mine.read_bytes() != before
    told = home.run(one, "undo", code=2)
    assert f"`hookport sync` in {two} changed it after `hookport sync`, so the run is not undone." in told
    home.run(two, "undo")
    assert mine.read_bytes() == before
    home.run(one, "undo")
    assert not mine.exists()


def test_unsync_leaves_what_serves_every_project(home: Home) -> None:
    one, two = home.project("a"), home.project("a/b")
    mine = entries(home.path)
    home.sync(one)
    home.sync(two)
    home.sync(one, "--scope", "user")
    told = home.run(two, "unsync")
    assert (
        "note: entries in the user's own files serve every project and stay: ~/.cursor/hooks.json\n" in told
    )
    assert "`hookport unsync --scope user`" in told
    assert [path.exists() for path in (entries(one), entries(two), mine)] == [True, False, True]
    assert home.run(two, "unsync", "--scope", "user") == "removed  ~/.cursor/hooks.json\n"
    assert [path.exists() for path in (entries(one), mine)] == [True, False]
    home.sync(one, "--scope", "user")
    told = home.run(one, "unsync", "--scope", "all")
    assert told == "removed  .cursor/hooks.json\nremoved  ~/.cursor/hooks.json\n"


def test_a_run_of_a_project_that_is_gone_does_not_stand_in_the_way(home: Home) -> None:
    one, two = home.project("a"), home.project("b")
    home.sync(two)
    (one / ".cursor").mkdir()
    entries(one).write_text('{"version": 1, "hooks": {}}')
    home.sync(one)
    one.rename(home.folder / "elsewhere")
    told = home.run(two, "undo", "--all", "--yes")
    assert "nothing to revert: the files of" in told
    home.run(two, "undo", "--all", "--yes")
    assert not entries(two).exists()


@pytest.mark.parametrize("where", ["project", "inner", "user", "home"])
def test_a_run_of_an_older_version_is_of_the_project_whose_files_it_wrote(home: Home, where: str) -> None:
    one = home.project("a")
    inner = home.project("a/inner")
    path = {"project": one / "x", "inner": inner / "x", "user": home.path / "x", "home": home.path / "x"}[
        where
    ]
    files.apply([Change(str(path), None, b"new")], home.env, what="sync")
    (file,) = (home.path / ".local/state/hookport/ledger/runs").iterdir()
    tree = json.loads(file.read_text())
    del tree["root"]
    file.write_text(json.dumps(tree))
    roots = {"project": one, "inner": inner, "user": one, "home": home.path}
    others = [root for root in (one, inner, home.path) if root != roots[where] or where in ("user", "home")]
    for root in others:
        told = home.run(root, "undo")
        assert told.startswith(f"note: nothing to revert in {root}\nhint: the last run was")
        assert told.endswith("to revert it: `hookport undo --all`\n")
        assert path.exists()
    home.run(roots[where], "undo", *(("--all", "--yes") if where in ("user", "home") else ()))
    assert not path.exists()


def test_doctor_and_vendor_are_taken_back_where_they_ran(home: Home) -> None:
    one, two = home.project("a"), home.project("b")
    home.run(one, "vendor")
    home.sync(two)
    text = entries(two).read_text()
    entries(two).write_text(text.replace(sys.executable, "/gone/python"))
    home.run(two, "doctor", "--fix", code=1)
    assert [(run.what, run.root) for run in ledger.list_runs(home.env)] == [
        ("vendor", str(one)),
        ("sync", str(two)),
        ("doctor --fix", str(two)),
    ]
    home.run(one, "undo")
    assert not (one / ".hookport" / "bridge.pyz").exists()
    home.run(two, "undo")
    assert "/gone/python" in entries(two).read_text()


def test_a_killed_run_of_another_project_is_still_known(home: Home) -> None:
    one, two = home.project("a"), home.project("b")
    home.sync(one)
    home.sync(two)
    place = home.path / ".local/state/hookport/ledger"
    last = ledger.read_newest(place)
    assert isinstance(last, ledger.LedgerRun)
    ledger.keep_run(place, last._replace(unfinished=True))
    home.run(one, "undo")
    (run,) = ledger.list_runs(home.env)
    assert (run.root, run.unfinished) == (str(two), False)
    home.run(two, "undo")
    assert not entries(two).exists()


def test_untrust_is_of_one_project(home: Home) -> None:
    one, two = home.project("a"), home.project("a/b")
    for root in (one, two):
        home.run(root, "trust", "--yes")
    assert home.run(two, "untrust") == f"no longer approved: {two}\n"
    assert "nothing is new" in home.run(one, "trust", "--dry-run")
