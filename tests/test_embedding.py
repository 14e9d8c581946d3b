"""The agents of `examples/embedding` talk to a scripted model, and hooks of every format guard them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hookport
from hookport.lab.driver import ModelCall, ModelStep
from hookport.lab.server import Server
from tests.engines import NODE
from tests.hosting import PATIENCE, Project
from tests.test_generated import needs_node
from tests.test_host import FORMATS

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "embedding"
PAGE = ROOT / "docs" / "embedding.md"
# Lines of the agents themselves, without blank ones: what a reader takes in at once.
LONGEST_AGENT = 36


def play(project: Project, words: list[str], folder: Path) -> tuple[str, dict[str, str]]:
    """What an agent prints at last, and what its model heard of each command."""
    shutil.copytree(EXAMPLE / "hooks", project.root, dirs_exist_ok=True)
    project.approve()
    program = folder / "bin" / "hookport"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hookport "$@"\n', "utf-8")
    program.chmod(0o755)
    commands = [*FORMATS, "echo fine > out.txt; cat out.txt"]
    calls = [ModelStep(calls=(ModelCall("run_shell", {"command": command}),)) for command in commands]
    with Server([*calls, ModelStep(text="That was it.")], "chat") as model:
        done = subprocess.run(
            [*words, "Tidy up."],
            cwd=project.root,
            env={
                **project.env,
                "PATH": f"{program.parent}:{project.env['PATH']}",
                "PYTHONPATH": str(Path(hookport.__file__).parent.parent),
                "OPENAI_BASE_URL": f"{model.url}/v1",
                "OPENAI_API_KEY": "sk-test",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert (done.stderr, done.returncode) == ("", 0)
        heard = [result.text for result in model.requests[-1].results]
    return done.stdout, dict(zip(commands, heard, strict=True))


EXPECTED = (
    "That was it.\n",
    {
        **{command: f"Denied: {reason}" for command, reason in FORMATS.items()},
        "echo fine > out.txt; cat out.txt": "fine\n",
    },
)


def test_the_agent_in_python_is_guarded(tmp_path: Path) -> None:
    assert play(Project(tmp_path), [sys.executable, str(EXAMPLE / "agent.py")], tmp_path) == EXPECTED


@needs_node
def test_the_agent_in_typescript_is_guarded(tmp_path: Path) -> None:
    assert play(Project(tmp_path), [NODE, str(EXAMPLE / "agent.ts")], tmp_path) == EXPECTED


@needs_node
def test_a_program_is_told_that_hookport_is_missing(tmp_path: Path) -> None:
    """The client rejects what it cannot ask: no tool runs unguarded, and nothing waits for ever."""
    done = subprocess.run(
        [NODE, str(EXAMPLE / "agent.ts"), "Tidy up."],
        cwd=tmp_path,
        env={"PATH": str(tmp_path), "OPENAI_BASE_URL": "http://127.0.0.1:9", "OPENAI_API_KEY": "x"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 1
    assert "spawn hookport ENOENT" in done.stderr


@needs_node
def test_a_client_whose_server_has_ended_rejects_every_request(tmp_path: Path) -> None:
    """An agent would wait for ever for an answer that nobody writes."""
    program = tmp_path / "hookport"
    program.write_text('#!/bin/sh\nread line\necho \'{"jsonrpc": "2.0", "id": 1, "result": {}}\'\n', "utf-8")
    program.chmod(0o755)
    agent = tmp_path / "agent.ts"
    agent.write_text(
        f'import {{ connect }} from "{EXAMPLE}/hookport.ts";\n'
        'const hooks = await connect({ agent: "a" });\n'
        "for (const turn of [1, 2])\n"
        '  await hooks.fire("session_end", {}).catch(() => console.log(turn));\n',
        "utf-8",
    )
    done = subprocess.run(
        [NODE, str(agent)],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("1\n2\n", "", 0)


@pytest.mark.parametrize("name", ["agent.py", "agent.ts", "hookport.ts"])
def test_the_page_shows_the_agents_as_they_are(name: str) -> None:
    text = (EXAMPLE / name).read_text("utf-8")
    kind = {"py": "python", "ts": "ts"}[name.rpartition(".")[2]]
    assert f"```{kind}\n{text}```\n" in PAGE.read_text("utf-8")


@pytest.mark.parametrize("name", ["agent.py", "agent.ts"])
def test_the_agents_are_short(name: str) -> None:
    lines = [line for line in (EXAMPLE / name).read_text("utf-8").splitlines() if line.strip()]
    assert len(lines) <= LONGEST_AGENT


PUBLIC = {"hookport", "hookport.host", "hookport.shell", "hookport.testing"}


def test_examples_use_public_names_only() -> None:
    """What an example imports is what anybody may import."""
    used = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in (ROOT / "examples").rglob("*.py")
        for pair in re.findall(
            r"^\s*(?:from (hookport[\w.]*) import|import (hookport[\w.]*))",
            path.read_text("utf-8"),
            re.MULTILINE,
        )
        for name in pair
        if name
    }
    assert {name for _, name in used} <= PUBLIC, sorted(used)
    assert used
