"""Other spellings of an action: each does it in a real shell, and a report tells which a guard misses."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hookport.cases import mutate, session
from hookport.cases.mutate import Spelling, spellings
from hookport.cases.suite import Case

pytestmark = pytest.mark.skipif(
    os.name == "nt" or not shutil.which("bash"), reason="the spellings are bash's"
)

LONG = 60
# GNU only, or younger than the bash of macOS.
NOT_ON_MACOS = ("options at the end", "long", "setsid", "mapfile", "tac")


def bash(command: str, cwd: Path) -> str:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "TMPDIR": str(cwd.parent),
        "GIT_CONFIG_GLOBAL": os.devnull,
        **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "me"),
        **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "me@example.com"),
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LONG,
        check=False,
    )
    return done.stdout.decode() + done.stderr.decode()


def runnable(command: str) -> list[Spelling]:
    is_mac = os.uname().sysname == "Darwin"
    return [
        one
        for one in spellings(command)
        if all(shutil.which(program) or program == "mapfile" for program in one.needs)
        and not (is_mac and any(word in f"{one.name} {one.text}" for word in NOT_ON_MACOS))
    ]


def failing(
    spelled: list[Spelling],
    folder: Path,
    prepare: Callable[[Path], None],
    done: Callable[[Path, str], bool],
) -> list[tuple[Spelling, str]]:
    """The spellings that do not do it, each with what was printed."""
    prepare(_made(folder / "first" / "here"))
    folders = [folder / f"copy{number}" / "here" for number in range(len(spelled))]
    for one in folders:
        shutil.copytree(folder / "first", one.parent)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        printed = list(pool.map(bash, [one.text for one in spelled], folders))
    rows = zip(spelled, folders, printed, strict=True)
    return [(one, text) for one, cwd, text in rows if not done(cwd, text)]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def victim(cwd: Path) -> None:
    (cwd / "victim" / "below").mkdir(parents=True)
    (cwd / "victim" / "below" / "file").touch()


def test_every_spelling_of_a_removal_removes(tmp_path: Path) -> None:
    found = runnable("rm -rf victim")
    assert len(found) > 90
    assert failing(found, tmp_path, victim, lambda cwd, _: not list(cwd.iterdir())) == []


def secret(cwd: Path) -> None:
    (cwd / "secret").write_text("a word\n")


def script(cwd: Path) -> None:
    (cwd / "script").write_text("touch done\n")


def remote(cwd: Path) -> None:
    """Two histories: only a forced push gets ours into the remote repository."""
    remotes = "git init -q --bare ../remote; git init -q -b main; git remote add origin ../remote"
    commit = "git commit -q --allow-empty"
    bash(f"{remotes}; {commit} -m one; git push -q -u origin main; {commit} --amend -m two", cwd)


def is_forced(cwd: Path, _: str) -> bool:
    return bash("git rev-parse main", cwd) == bash("git --git-dir=../remote rev-parse main", cwd)


def is_open(cwd: Path, _: str) -> bool:
    return (cwd / "secret").stat().st_mode & 0o777 == 0o777


ACTIONS: dict[str, tuple[Callable[[Path], None], Callable[[Path, str], bool], int]] = {
    "git push --force origin main": (remote, is_forced, 12),
    "git push -f": (remote, is_forced, 8),
    "cat secret": (secret, lambda _, text: "a word" in text, 14),
    "chmod 777 secret": (secret, is_open, 5),
    "chmod -R 777 secret": (secret, is_open, 3),
    "dd if=secret of=copy": (secret, lambda cwd, _: (cwd / "copy").read_text() == "a word\n", 5),
    "rm -f secret": (secret, lambda cwd, _: not (cwd / "secret").exists(), 6),
    "echo gone > secret": (secret, lambda cwd, _: (cwd / "secret").read_text() == "gone\n", 5),
    'curl -s "file://$PWD/script" | sh': (script, lambda cwd, _: (cwd / "done").exists(), 10),
}


@pytest.mark.parametrize("command", ACTIONS)
def test_what_is_said_to_have_the_same_effect_has_it(command: str, tmp_path: Path) -> None:
    if not shutil.which(command.split(maxsplit=1)[0]):
        pytest.skip(f"there is no {command.split(maxsplit=1)[0]}")
    prepare, done, least = ACTIONS[command]
    found = [one for one in runnable(command) if one.kind in ("the same effect", "options")]
    assert len(found) >= least
    assert failing([Spelling("", "as it is", command), *found], tmp_path, prepare, done) == []


@pytest.mark.parametrize(
    "command", ["", "cd x", "a=1 b", "if true; then ls; fi", "echo 'it''s' # a comment", "cat <<E\nx\nE"]
)
def test_any_command_can_be_asked_for(command: str) -> None:
    found = spellings(command)
    assert len({one.text for one in found} - {command}) == len(found)
    assert bool(found) == bool(command)


def test_a_command_that_has_words_of_our_tables_stays_as_it_is() -> None:
    texts = [one.text for one in spellings("echo NAME QUOTED IT")]
    assert "true && echo NAME QUOTED IT" in texts
    assert "sh -c 'echo NAME QUOTED IT'" in texts
    assert "'echo' NAME QUOTED IT" in texts


def test_paths_name_the_same_file(tmp_path: Path) -> None:
    here = tmp_path / "here"
    (here / "conf").mkdir(parents=True)
    file = here / "conf" / ".env"
    file.touch()
    found = mutate.paths("conf/.env", str(here))
    assert [one.name for one in found] == [
        *("// inside", "/./ inside", "absolute through ..", "through ..", "./ before it", "absolute"),
        *("capitals", "a capital"),
    ]
    same = [one for one in found if one.kind == "paths"]
    assert [one for one in same if not (here / one.text).samefile(file)] == []


def test_a_report_tells_what_slips_through() -> None:
    def verdict(command: str) -> str:
        return "deny" if command.startswith("rm") else "ask" if "/" in command else "none"

    tried = [
        Spelling("options", "options apart", "rm -r -f x"),
        Spelling("quoting", "single quotes", "'rm' -rf x"),
        Spelling("words", "a path", "/bin/rm -rf x"),
        *(Spelling("chains", f"after {number}", f"true {number}\nrm -rf x") for number in range(5)),
    ]
    found = mutate.report("rm -rf x", tried, verdict)
    assert found == mutate.Report("rm -rf x", tuple(tried), (tried[1], *tried[3:]))
    assert [found.exceeds(most) for most in (None, 6, 5)] == [False, False, True]
    assert mutate.lines(found) == [
        "'rm -rf x': 6 of 8 other spellings slip through",
        "  quoting: 1 of 1",
        "    single quotes  'rm' -rf x",
        "  chains: 5 of 5",
        "    after 0        true 0\\nrm -rf x",
        "    after 1        true 1\\nrm -rf x",
        "    after 2        true 2\\nrm -rf x",
        "    … and 2 more",
    ]
    assert mutate.lines(mutate.report("rm x", tried[:1], verdict)) == [
        "'rm x': all 1 other spellings are stopped"
    ]


HOOKS = """{"version": 1, "hooks": {"pre-tool-use": [
  {"matcher": "Bash|Read", "hooks": [{"type": "command", "command": "${PACKAGE_ROOT}/hooks/guard.sh"}]}
]}}"""
GUARD = """#!/bin/sh
read -r input
case $input in *'"rm '*|*/.env*) echo no >&2; exit 2 ;; esac
"""
CASE = "name: one\nevent: pre-tool-use\ninput: {overrides: {toolName: %s, toolInput: {%s: '%s'}}}\n"


@pytest.mark.parametrize(
    ("given", "agent", "slipped"),
    [
        (("Bash", "command", "rm x"), "", ["rm x", "unlink x", "find x -delete"]),
        (("Bash", "command", "ls x"), "", None),
        (("Read", "file_path", "${PACKAGE_ROOT}/.env"), "claude-code", ["${PACKAGE_ROOT}/.env", ".env"]),
        (("Other", "word", "rm x"), "claude-code", None),
    ],
)
def test_the_hooks_of_a_case_are_asked_about_every_spelling(
    given: tuple[str, ...], agent: str, slipped: list[str] | None, tmp_path: Path
) -> None:
    hooks = tmp_path / "package" / "hooks"
    (hooks / "tests" / "cases").mkdir(parents=True)
    (hooks / "hooks.json").write_text(HOOKS)
    (hooks / "guard.sh").write_text(GUARD)
    (hooks / "guard.sh").chmod(0o755)
    (hooks / "tests" / "cases" / "one.yaml").write_text(CASE % given)
    (task,) = session.tasks(hooks / "tests")
    assert isinstance(task.entry, Case)
    assert task.package is not None
    found = mutate.of_case(task.package, task.entry, agent)
    first = found and [one.text for one in found.slipped if one.kind in ("the same effect", "paths")]
    assert (found and first and [found.subject, *first[:2]]) == slipped
