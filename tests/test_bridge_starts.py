"""A bridge that cannot start denies what a guard is for: every agent, every shell, built-ins only."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from hookport import bridge as bridge_file
from hookport.agents import find_event_specs, get, get_wire, list_agents
from hookport.install import entries
from hookport.install.targets import Target
from hookport.model.runs import Answer
from hookport.shapes.dialect import EventSpec
from hookport.vendor import vendored, writer
from tests.oracle import SEATS, args_of, payload_of
from tests.test_generated import SHELLS, needs_shell

pytestmark = needs_shell

# Each seat in one shell by turns; `make fuzz` takes every seat to every shell.
each_seat = pytest.mark.parametrize(
    ("seat", "shell"),
    [
        pytest.param(seat, shell, marks=() if number % len(SHELLS) == turn else pytest.mark.long)
        for number, seat in enumerate(SEATS)
        for turn, shell in enumerate(SHELLS)
    ],
)

# Each with how a command of ours comes to fail that way; `BIN` is a folder in which programs may be put.
STUBS = {
    "exit 1, as of a missing module": "#!/bin/sh\nexit 1\n",
    "exit 0, without an answer": "#!/bin/sh\nexit 0\n",
    "exit 70": "#!/bin/sh\nexit 70\n",
    "exit 126": "#!/bin/sh\nexit 126\n",
    "exit 127": "#!/bin/sh\nexit 127\n",
    "exit 134, aborted": "#!/bin/sh\nkill -ABRT $$\n",
    "exit 137, killed": "#!/bin/sh\nkill -9 $$\n",
    "exit 139, a fault": "#!/bin/sh\nkill -SEGV $$\n",
    "exit 255": "#!/bin/sh\nexit 255\n",
    "a broken interpreter": "#!/no/such/interpreter\n",
    "no program at all": "\x7fELF junk",
    "it ends without reading": "#!/bin/sh\nexec <&-\nexit 1\n",
}


class World(NamedTuple):
    """A project, and the command of one agent's entry there."""

    folder: Path
    seat: str

    @property
    def root(self) -> Path:
        return self.folder / "a project"

    def command(self, *, is_vendored: bool) -> str:
        it = SEATS[self.seat]
        dialect = get(it.agent)
        start = entries.make_bridge_start(
            Target(dialect, "project", str(self.root), {}), is_vendored=is_vendored
        )
        return entries.make_command(dialect, spec_of(self.seat), start, None)

    def fire(self, shell: str, command: str, path: str = os.environ["PATH"]) -> tuple[bool, str]:
        """Whether the agent blocks the call, and what it was told."""
        it = SEATS[self.seat]
        payload = payload_of(it.agent, it.native, it.payload, "ls", self.root)
        marks = {name: str(self.root) for name, value in get_wire(it.agent).env.items() if value == "$root"}
        done = subprocess.run(
            [shell, "-c", command],
            cwd=self.root,
            env={"PATH": path, "HOME": str(self.folder / "home"), **marks},
            input=payload,
            capture_output=True,
            check=False,
            timeout=60,
        )
        answer = Answer(done.stdout.decode(), done.stderr.decode(), done.returncode)
        return it.outcome(answer, args_of(it, payload)).blocked, answer.stdout + answer.stderr


def spec_of(seat: str) -> EventSpec:
    it = SEATS[seat]
    return next(spec for spec in get(it.agent).events if spec.native == it.native)


@pytest.fixture
def world(tmp_path: Path) -> Callable[[str], World]:
    def made(seat: str) -> World:
        it = World(tmp_path.resolve(), seat)
        (it.root / ".hookport").mkdir(parents=True, exist_ok=True)
        return it

    return made


def stub(folder: Path, text: str, name: str = "python3") -> str:
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@each_seat
def test_a_program_that_fails_denies(world: Callable[[str], World], seat: str, shell: str) -> None:
    it = world(seat)
    command = it.command(is_vendored=False)
    passed = []
    for name, text in STUBS.items():
        broken = command.replace(shlex.quote(sys.executable), stub(it.folder, text))
        assert broken != command
        blocked, told = it.fire(shell, broken)
        if not blocked or "does not start" not in told:
            passed.append((name, told))
    assert passed == []


@each_seat
def test_a_real_python_in_trouble_denies(world: Callable[[str], World], seat: str, shell: str) -> None:
    it = world(seat)
    command = it.command(is_vendored=False)
    alone = it.folder / "copy" / "hookport" / "bridge.py"
    alone.parent.mkdir(parents=True)
    shutil.copy(bridge_file.__file__, alone)
    troubles = {
        "no file descriptors": f"ulimit -n 3; {command}",
        "a missing module": command.replace(bridge_file.__file__, str(alone)),
        "python is gone": command.replace(sys.executable, "/no/such/python"),
        "the bridge is gone": command.replace(bridge_file.__file__, "/no/such/bridge.py"),
    }
    passed = [
        (name, told)
        for name, line in troubles.items()
        for blocked, told in [it.fire(shell, line)]
        if not blocked
    ]
    assert passed == []


@each_seat
def test_a_vendored_bridge_in_trouble_denies(world: Callable[[str], World], seat: str, shell: str) -> None:
    it = world(seat)
    command = it.command(is_vendored=True)
    blocked, told = it.fire(shell, command)
    assert (blocked, "git checkout -- .hookport" in told) == (True, True)
    archive = it.root / vendored.ARCHIVE
    passed = []
    for data in (b"", b"# nothing", b"PK junk", writer.build_archive()[:5000]):
        archive.write_bytes(data)
        blocked, told = it.fire(shell, command)
        passed += [] if blocked and "bridge.pyz status" in told else [told]
    archive.write_bytes(writer.build_archive())
    stub(it.folder, STUBS["a broken interpreter"])
    # Alone: dash goes on to the next folder of the path where an interpreter is missing.
    blocked, told = it.fire(shell, command, f"{it.folder}/bin")
    passed += [] if blocked and "bridge.pyz status" in told else [told]
    blocked, told = it.fire(shell, command, "/no/such/folder")
    passed += [] if blocked and "python3 or .hookport/bridge.pyz is missing" in told else [told]
    assert passed == []


def test_every_agent_has_a_seat_and_every_shell_is_tried() -> None:
    assert {SEATS[seat].agent for seat in SEATS} == set(list_agents())
    assert {Path(shell).name for shell in SHELLS} >= {"sh", "bash"}


@pytest.mark.parametrize("agent", list_agents())
def test_every_event_that_can_be_prevented_has_the_suffix(agent: str) -> None:
    """And one that cannot be prevented has none: a stop or a start of a session is never denied for it."""
    dialect = get(agent)
    start = entries.make_bridge_start(Target(dialect, "project", "/p", {}), is_vendored=True)
    for spec in dialect.events:
        command = entries.make_command(dialect, spec, start, None)
        assert ("esac" in command) == (spec.blocks == "prevent"), spec.native
    assert any(spec.blocks == "prevent" for spec in find_event_specs(dialect, "before_tool_execute"))
