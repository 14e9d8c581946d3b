"""Killed at any step of `sync`, what was there before comes back to the byte, and nothing stays beside it."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 is of POSIX")

SOURCE = str(Path(__file__).parent.parent / "src")
# Each line is one command in a process of its own, which ends as by `kill -9` before its n-th step on the
# disk; before a file is flushed there is one more, which leaves half of it.
SERVER = """
import importlib, json, os, sys
from hookport import cli
from hookport.install import files, sync
for name in ("sync", "unsync", "undo"):
    importlib.import_module("hookport.cli." + name)

STEPS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT

for line in open(0, "rb", buffering=0):
    argv, cwd, env, last = json.loads(line)
    pid = os.fork()
    if pid:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(1, b"%d\\n" % code)
        continue
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    steps = 0

    def step():
        global steps
        steps += 1
        return steps == last

    def watch(event, args):
        if (event in STEPS or (event == "open" and args[2] & WRITES)) and step():
            os._exit(137)

    flush = os.fsync

    def fsync(held):
        if os.path.isfile(f"/dev/fd/{held}") and step():
            os.ftruncate(held, os.fstat(held).st_size // 2)
            os._exit(137)
        if step():
            os._exit(137)
        flush(held)

    if last:
        sys.addaudithook(watch)
        os.fsync = fsync
    try:
        code = cli.main(argv)
    except SystemExit as error:
        code = error.code
    os._exit(code or 0)
"""
KILLED = 137
GUARD = """---
name: guard
description: no forced pushes
trigger: before_tool
matcher:
  tool: Shell
---
"""
# What is there before, in every state that a settings file may be in; of OpenCode there is nothing.
FILES = {
    ".agents/hooks/guard/HOOK.md": GUARD,
    ".agents/hooks/guard/scripts/run.sh": "#!/bin/sh\nexit 2\n",
    ".claude/settings.json": '{"model": "opus",   "env": {}}',
    ".gemini/settings.json": "{}\n",
    ".cursor/hooks.json": '{"version": 1, "hooks": {}}\n',
    ".github/hooks/hookport.json": '{"version": 1}',
    ".codex/config.toml": "",
}
AGENTS = ("claude-code", "opencode", "copilot-cli", "gemini-cli", "cursor", "codex")
# Of two agents' files, killed at every third step; or of all, and at each one.
EXTENTS = [
    pytest.param(AGENTS[:2], 3, id="some"),
    pytest.param(AGENTS[:2], 1, id="each", marks=pytest.mark.long),
    pytest.param(AGENTS, 1, id="all", marks=pytest.mark.long),
]


class World(NamedTuple):
    """A project, and a server that runs commands in it."""

    folder: Path
    server: subprocess.Popen[bytes]

    @property
    def root(self) -> Path:
        return self.folder / "project"

    def lay_out(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.root / ".git").mkdir(parents=True)
        (self.folder / "home").mkdir()
        for name, text in FILES.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
            (self.root / name).chmod(0o755 if name.endswith(".sh") else 0o644)

    def run(self, *argv: str, last: int = 0) -> int:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "HOOKPORT_STATE_DIR": str(self.folder / "state"),
            "HOOKPORT_CACHE_DIR": str(self.folder / "cache"),
        }
        assert self.server.stdin
        assert self.server.stdout
        self.server.stdin.write(json.dumps([argv, str(self.root), env, last]).encode() + b"\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline())

    def state(self) -> dict[str, Any]:
        """Every file and folder of the project, and what the ledger has besides runs."""
        found: dict[str, Any] = {}
        for path in sorted(self.root.rglob("*")):
            found[str(path.relative_to(self.root))] = path.read_bytes() if path.is_file() else None
        for path in sorted((self.folder / "state" / "ledger").rglob("*")):
            if path.is_file() and path.parent.name != "runs" and path.name != "lock":
                found[str(path)] = path.read_bytes()
        return found


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    words = [sys.executable, "-c", SERVER]
    env = {"PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as server:
        yield World(tmp_path / "world", server)
        assert server.stdin
        server.stdin.close()


@pytest.mark.parametrize(("agents", "step"), EXTENTS)
@pytest.mark.parametrize("back", ["unsync", "undo"])
def test_what_a_killed_sync_wrote_is_taken_back_to_the_byte(
    world: World, back: str, agents: tuple[str, ...], step: int
) -> None:
    world.lay_out()
    before = world.state()
    wrong: dict[int, Any] = {}
    for last in itertools.count(1, step):
        world.lay_out()
        code = world.run("sync", "--mode", "bridge", "--agent", *agents, last=last)
        assert code in (0, KILLED), (last, code)
        assert world.run(back) == 0, last
        after = world.state()
        if after != before:
            names = before.keys() | after.keys()
            wrong[last] = {
                name: (before.get(name, "absent"), after.get(name, "absent"))
                for name in names
                if before.get(name, "absent") != after.get(name, "absent")
            }
        if code == 0:
            break
    assert wrong == {}
    assert last > 10 * len(agents)


@pytest.mark.parametrize(("agents", "step"), EXTENTS)
def test_what_a_killed_unsync_left_is_finished_by_the_next(
    world: World, agents: tuple[str, ...], step: int
) -> None:
    world.lay_out()
    before = world.state()
    for last in itertools.count(1, step):
        world.lay_out()
        assert world.run("sync", "--mode", "bridge", "--agent", ",".join(agents)) == 0
        code = world.run("unsync", last=last)
        assert code in (0, KILLED), (last, code)
        assert world.run("unsync") == 0, last
        assert world.state() == before, last
        if code == 0:
            break
    assert last > 10 * len(agents)
