"""Every command on a task page runs, in order, in a project as the page describes it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHELL_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Pages with commands, and whether their project starts with the example's hooks for Claude Code.
PAGES = {"teams": True, "policy": False, "plugins": False}


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_task_page_run(page: str, tmp_path: Path) -> None:
    """As one script that stops at the first failure; `--yes` approves, since nobody can be asked."""
    if not shutil.which("jq"):
        pytest.skip("the guard of the example uses jq")
    project, home, programs = tmp_path / "project", tmp_path / "home", tmp_path / "bin"
    for folder in (project, home, programs):
        folder.mkdir()
    program = programs / "hookport"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hookport "$@"\n', "utf-8")
    program.chmod(0o755)
    if PAGES[page]:
        shutil.copytree(ROOT / "examples/guard/.claude", project / ".claude")
    blocks = SHELL_BLOCK.findall((ROOT / f"docs/{page}.md").read_text("utf-8"))
    script = re.sub(r"^(.*\btrust)$", r"\1 --yes", "".join(blocks), flags=re.MULTILINE)
    env = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{
            f"GIT_{who}_{what}": "dev@example.com"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    done = subprocess.run(
        ["sh", "-ec", f"git init -q .\n{script}"],
        cwd=project,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert blocks
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES)
def test_a_task_page_begins_with_a_result_and_ends_with_help(page: str) -> None:
    """Who it is for, the first result, the way, and what to do when it goes wrong."""
    text = (ROOT / f"docs/{page}.md").read_text("utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[0] == "First result in a minute"
    assert "When it goes wrong" in headings[3:]
    assert text.split("\n")[2].startswith("For ")
