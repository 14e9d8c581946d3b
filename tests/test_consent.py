"""Who may approve: real processes, with and without an agent's variable, with and without a terminal."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hookport.agents import get, list_agents, list_markers
from hookport.runtime import consent
from hookport.vendor import writer

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are those of POSIX")

MARKER = {"CLAUDECODE": "1"}
REFUSED = (
    "nothing was approved: an agent runs this command (CLAUDECODE is set), and agents may not approve hooks"
)


class Project:
    """A project with one hook that nobody approved."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = folder / "shop", folder / "home"
        hook = {"event": "before_tool_execute", "handler": {"type": "command", "command": "true"}}
        (self.root / ".hookport").mkdir(parents=True)
        (self.root / ".git").mkdir()
        self.home.mkdir()
        (self.root / ".hookport/hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "HOOKPORT_STATE_DIR": str(folder / "state"),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(Path(writer.__file__).parents[2]),))),
        }
        self.program = [sys.executable, "-m", "hookport", "trust"]

    def how(self) -> str | None:
        """How the project was approved; None if it was not."""
        store = Path(self.env["HOOKPORT_STATE_DIR"], "trust.json")
        if not store.exists():
            return None
        entry = json.loads(store.read_text())["projects"].get(str(self.root.resolve()))
        return None if entry is None else str(entry["states"][0]["how"])

    def run(self, *args: str, **env: str) -> tuple[int, str]:
        done = subprocess.run(
            [*self.program, *args],
            cwd=self.root,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return done.returncode, done.stdout + done.stderr

    def type(self, answer: str, *args: str, **env: str) -> tuple[int, str]:
        """The same on a terminal of its own, on which an answer is typed once it is asked for."""
        ours, theirs = os.openpty()
        child = subprocess.Popen(
            [*self.program, *args],
            cwd=self.root,
            env={**self.env, **env},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        said, is_answered, end = b"", False, time.monotonic() + 60
        try:
            while time.monotonic() < end:
                if select.select([ours], [], [], 0.2)[0]:
                    try:
                        data = os.read(ours, 4096)
                    except OSError:
                        break
                    if not data:
                        break
                    said += data
                if not is_answered and said.rstrip().endswith((b"[y/N]", b"):")):
                    os.write(ours, answer.encode() + b"\n")
                    is_answered = True
            return child.wait(timeout=30), said.decode()
        finally:
            child.kill()
            child.wait()
            os.close(ours)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a person who has hookport committed: the archive, the plan and the lock."""
    made = Project(tmp_path_factory.mktemp("vendored").resolve())
    command = [sys.executable, "-m", "hookport", "sync", "--vendor", "--agent", "claude-code"]
    done = subprocess.run(
        command, cwd=made.root, env=made.env, capture_output=True, text=True, check=False, timeout=60
    )
    assert (made.root / ".hookport/bridge.pyz").exists(), done.stdout + done.stderr
    assert made.run("--yes")[0] in (0, 1)
    return made.root


@pytest.fixture(params=["installed", "vendored"])
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    made = Project(tmp_path.resolve())
    if request.param == "vendored":
        # This person has the archive alone.
        shutil.copytree(request.getfixturevalue("checkout"), made.root, dirs_exist_ok=True)
        made.program = [sys.executable, str(made.root / ".hookport/bridge.pyz"), "trust"]
        made.env.pop("PYTHONPATH")
    return made


def test_without_a_terminal_yes_approves_and_is_recorded(project: Project) -> None:
    code, said = project.run("--yes")
    assert (code, project.how()) == (0, consent.UNATTENDED), said


def test_without_a_terminal_nobody_is_asked(project: Project) -> None:
    code, said = project.run()
    assert (code, project.how()) == (2, None)
    assert "no terminal to ask on" in said


@pytest.mark.parametrize("args", [["--yes"], []])
def test_an_agent_without_a_terminal_is_refused(project: Project, args: list[str]) -> None:
    code, said = project.run(*args, **MARKER)
    assert (code, project.how()) == (2, None)
    assert REFUSED in said


@pytest.mark.parametrize(
    "line",
    [
        '"$(which hookport)" trust --yes',
        "echo trust --yes | xargs hookport",
        "printf 'x:\\n\\thookport trust --yes' | make -f - x",
    ],
)
def test_an_agent_is_refused_however_it_starts_it(tmp_path: Path, line: str) -> None:
    made = Project(tmp_path.resolve())
    program = tmp_path / "bin" / "hookport"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hookport "$@"\n')
    program.chmod(0o755)
    made.program = ["/bin/sh", "-c", line]
    code, said = made.run(**MARKER, PATH=f"{program.parent}:{os.environ['PATH']}")
    assert code != 0
    assert REFUSED in said or "make" in said.lower()
    assert made.how() is None


def test_on_a_terminal_a_person_is_asked(project: Project) -> None:
    code, said = project.type("y")
    assert (code, project.how()) == (0, consent.ASKED), said


def test_on_a_terminal_no_is_no(project: Project) -> None:
    code, said = project.type("n")
    assert (code, project.how()) == (1, None), said


def test_on_a_terminal_yes_approves(project: Project) -> None:
    code, said = project.type("", "--yes")
    assert (code, project.how()) == (0, consent.YES), said


@pytest.mark.parametrize(("typed", "how"), [("shop", consent.TYPED), ("y", None), ("yes", None), ("", None)])
def test_an_agents_terminal_takes_the_name_of_the_project(
    project: Project, typed: str, how: str | None
) -> None:
    code, said = project.type(typed, "--yes", **MARKER)
    assert (code, project.how()) == (0 if how else 1, how), said
    assert "--yes does not count" in said


@pytest.mark.parametrize("typed", [None, "y", "shop"])
def test_an_agent_does_not_take_an_approval_back(project: Project, typed: str | None) -> None:
    """A guard that was untrusted denies nothing any more; a person who is no agent is not asked."""
    project.run("--yes")
    project.program[-1] = "untrust"
    code, said = project.run(**MARKER) if typed is None else project.type(typed, **MARKER)
    taken = typed == "shop"
    assert (code, project.how()) == (
        0 if taken else 2 if typed is None else 1,
        None if taken else "unattended",
    )
    assert ("agents may not untrust hooks" in said) is (typed is None)
    code, said = project.run()
    assert (code, project.how()) == (0, None), said


@pytest.mark.parametrize("command", ["unsync", "undo"])
def test_an_agent_does_not_take_entries_out(tmp_path: Path, command: str) -> None:
    """A guard that nobody calls denies nothing; looking is for agents too."""
    project = Project(tmp_path.resolve())
    project.program[-1:] = ["sync", "--agent", "claude-code"]
    project.run()
    settings = project.root / ".claude" / "settings.json"
    installed = settings.read_bytes()
    project.program[-3:] = [command]
    assert project.run("--dry-run", **MARKER)[0] == 0
    code, said = project.run(**MARKER)
    assert (code, settings.read_bytes()) == (2, installed), said
    assert f"agents may not {command} hooks" in said
    assert project.run()[0] == 0
    assert not settings.exists() or settings.read_bytes() != installed


def test_json_is_refused_to_an_agent_and_unattended_otherwise(tmp_path: Path) -> None:
    made = Project(tmp_path.resolve())
    assert made.run("--yes", "--json", **MARKER)[0] == 2
    assert made.how() is None
    assert made.run("--yes", "--json")[0] == 0
    assert made.how() == consent.UNATTENDED


def test_looking_is_for_agents_too(project: Project) -> None:
    assert project.run("--dry-run", **MARKER)[0] == 0
    assert project.how() is None


def test_what_was_approved_unattended_says_so(tmp_path: Path) -> None:
    made = Project(tmp_path.resolve())
    made.run("--yes")
    assert ", unattended" in made.run("--dry-run")[1]


@pytest.mark.parametrize("name", list_agents())
def test_markers_have_a_source_and_are_exact(name: str) -> None:
    dialect = get(name)
    assert set(dialect.markers.values()) <= set(dialect.sources)
    # What the terminals of editors set tells nothing.
    loose = {"TERM_PROGRAM", "VSCODE_PID", "CURSOR_TRACE_ID", "CI", "TERM", "AGENT"}
    assert not {one.partition("=")[0] for one in dialect.markers} & loose
    # Several agents set it, each to its own name.
    assert "AI_AGENT" not in dialect.markers
    assert all(one.partition("=")[0].isidentifier() for one in dialect.markers)


def test_every_marker_is_looked_for() -> None:
    for one in list_markers():
        variable, _, value = one.partition("=")
        assert consent.find_marker({variable: value or "1"}, list_markers()) == variable
    assert consent.find_marker({"PATH": "/bin", "CLAUDECODE": ""}, list_markers()) == ""
