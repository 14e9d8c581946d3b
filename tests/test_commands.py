"""Transcripts of the command line: every command in tests/commands/*.md and the tutorial is run and compared.

A block that starts with ```file NAME, or with a language and a NAME, makes a file; one that starts with
```console holds one command: its stdout, stderr lines behind `2> `, and `=> N` where the exit status is
not 0. `< NAME` at its end is its stdin. Each document starts in an empty folder that its blocks share; that
folder and times are `…`. The first command of each document is a process, the others are forks (see `forks`);
`make fuzz` starts a process for every command.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forks

FOLDER = Path(__file__).parent / "commands"
TUTORIAL = Path(__file__).parent.parent / "docs" / "tutorial.md"
VARYING = (
    (re.compile(r"\b\d+ ms\b"), "… ms"),
    (re.compile(r"  \(\d+\.\d s\)$", re.MULTILINE), ""),  # told of cases that are slow
    (re.compile(r'("seconds": )[\d.]+'), r"\1…"),
    (re.compile(r'(approved it on |"approved": ")20[\dT:.Z-]+'), r"\1…"),
)
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "forked", [True, pytest.param(False, marks=pytest.mark.long)], ids=["forks", "processes"]
)
@pytest.mark.parametrize("path", [TUTORIAL, *sorted(FOLDER.glob("*.md"))], ids=lambda path: path.stem)
def test_transcript(path: Path, forked: bool, tmp_path: Path, *, accept: bool) -> None:
    """Every command prints what the document says."""
    text = path.read_text("utf-8")
    # The home is beside the project: one inside it would prove nothing of what its user approved.
    project = tmp_path / "project"
    project.mkdir()
    first = text.index("```console")

    def play(block: re.Match[str]) -> str:
        kind, name, body = block.groups()
        if kind == "console":
            return f"```console\n{_run(body, project, forked and block.start() > first)}```"
        if name:
            _make(tmp_path / name if name.startswith("home/") else project / name, body)
        return block[0]

    got = BLOCK.sub(play, text)
    if accept:
        path.write_text(got, "utf-8")
    else:
        assert got == text


def _make(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body, "utf-8")
    if body.startswith("#!"):
        path.chmod(0o755)


def _run(body: str, folder: Path, forked: bool) -> str:
    command = body.partition("\n")[0].removeprefix("$ ")
    words = shlex.split(command)
    given = ""
    if words[-2:-1] == ["<"]:
        *words, _, given = words
    stdin = (folder / given).read_text("utf-8") if given else ""
    environment = {
        "PATH": _path(),
        "HOME": str(folder.parent / "home"),
        "PYTHONPATH": _source(),
        "NO_COLOR": "1",
        "TZ": "UTC",
    }
    if words[0] == "hookport" and forked:
        done = forks.run(words[1:], folder, environment, stdin)
    else:
        program = [sys.executable, "-m", "hookport"] if words[0] == "hookport" else words[:1]
        done = subprocess.run(
            [*program, *words[1:]],
            cwd=folder,
            input=stdin,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    done.stdout, done.stderr = (_shown(text, folder) for text in (done.stdout, done.stderr))
    err = "".join(f"2> {line}".rstrip() + "\n" for line in done.stderr.splitlines())
    out = done.stdout if done.stdout.endswith("\n") or not done.stdout else done.stdout + "%\n"
    status = f"=> {done.returncode}\n" if done.returncode else ""
    return f"$ {command}\n{out}{err}{status}"


def _shown(text: str, folder: Path) -> str:
    text = text.replace(str(folder), "…").replace(str(folder.parent / "home"), "home")
    for pattern, shown in VARYING:
        text = pattern.sub(shown, text)
    return text


def _path() -> str:
    """The path without a hookport, since what is told to do depends on whether there is one."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not Path(folder, "hookport").exists())


def _source() -> str:
    return str(Path(__file__).parent.parent / "src")
