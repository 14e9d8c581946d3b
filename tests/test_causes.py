"""The table of causes in docs/trust.md, row by row: what follows, in every agent, installed and vendored.

Every row is played with real processes of the bridge, and judged by what each agent does with the answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from hookport.model.runs import Answer
from hookport.runtime import pauses
from hookport.vendor import vendored, writer
from tests.approval import approve, approve_for_ci
from tests.oracle import SEATS, args_of, payload_of
from tests.test_channels import MESSAGES
from tests.test_runtime_dispatch import COMMANDS, Place

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

DOCS = Path(__file__).parents[1] / "docs" / "trust.md"
INSTALLED, VENDORED = "installed", "vendored"
# By how they are told: a message; a message and no reason; a JSON answer without messages; an exit code.
PLAYED = ("claude-code", "gemini-cli", "cursor", "windsurf")
CALLS = 2
GUARD = "echo no >&2; exit 2"


class World(Place):
    """A project with a guard, its bridge in it or not, and a user who approves what is there."""

    def __init__(self, folder: Path, way: str, settings: dict[str, str]) -> None:
        super().__init__(folder)
        self.way, self.settings = way, settings
        self.is_approving = False
        self.payload: bytes | None = None
        self.stdout: str | None = None
        if settings:
            self.write(".hookport/config.json", settings)

    def ready(
        self, script: str = GUARD, meta: str = "matcher: {tool: Shell}", *, is_approved: bool = True
    ) -> None:
        """A guard, vendored where that is the way, and approved."""
        self.hook("guard", script, meta)
        self.vendor()
        if is_approved:
            approve(self.root, self.env)

    def vendor(self) -> None:
        if self.way == VENDORED:
            (self.root / ".hookport").mkdir(exist_ok=True)
            for change in writer.plan_changes(str(self.root)):
                Path(change.path).write_bytes(change.after or b"")

    def call(self, seat: str) -> Told:
        it = SEATS[seat]
        payload = payload_of(it.agent, it.native, it.payload, "ls", self.root)
        start = COMMANDS["bridge"]
        if self.way == VENDORED:
            start = [sys.executable, "-I", "-S", str(self.root / vendored.ARCHIVE), "dispatch"]
        with contextlib.ExitStack() as stack:
            out = stack.enter_context(open(self.stdout, "wb")) if self.stdout else subprocess.PIPE  # noqa: PTH123
            done = subprocess.run(
                [*start, it.agent, it.native],
                input=payload if self.payload is None else self.payload,
                cwd=self.root,
                env=self.env,
                stdout=out,
                stderr=subprocess.PIPE,
                check=False,
                timeout=60,
            )
        told = Answer((done.stdout or b"").decode(), done.stderr.decode(), done.returncode)
        try:
            message = str(json.loads(told.stdout).get(MESSAGES.get(it.agent, ""), ""))
        except ValueError:
            message = ""
        outcome = it.outcome(told, args_of(it, payload))
        return Told(outcome.blocked, message, outcome.reason)


class Told(NamedTuple):
    blocked: bool
    message: str
    reason: str


# What follows: for each call whether it is blocked, and whether a message is given where the agent has them.
Follows = Callable[[bool], list[tuple[bool, bool | None]]]


def denied(_has_messages: bool) -> list[tuple[bool, bool | None]]:
    """Every time; an agent that hides reasons is given a message too."""
    return [(True, None)] * CALLS


def message(has_messages: bool) -> list[tuple[bool, bool | None]]:
    return [(False, has_messages)] * CALLS


def passes(_has_messages: bool) -> list[tuple[bool, bool | None]]:
    return [(False, None)] * CALLS


def told_once(has_messages: bool) -> list[tuple[bool, bool | None]]:
    """A message, or where there is none one denial as a notice."""
    return [(not has_messages, has_messages), (False, False)]


def message_once(has_messages: bool) -> list[tuple[bool, bool | None]]:
    return [(False, has_messages), (False, False)]


def unapproved(world: World) -> None:
    world.ready(is_approved=False)


def approvals_deleted(world: World) -> None:
    world.ready()
    shutil.rmtree(world.home / "state" / "hookport")


def script_changed(world: World) -> None:
    world.ready()
    world.hook("guard", "exit 0")


def definition_changed(world: World) -> None:
    world.ready()
    world.hook("guard", GUARD, "matcher: {tool: Write}")


def guard_gone(world: World) -> None:
    world.ready()
    shutil.rmtree(world.root / ".agents")


def other_lock(world: World) -> None:
    """The word is the user's own: that of the project cannot be approved by a lock that is not there."""
    (world.root / ".hookport/config.json").unlink(missing_ok=True)
    world.ready(is_approved=False)
    world.env |= approve_for_ci(world.root, world.env)
    lock = world.root / "hookport.lock"
    lock.write_text(lock.read_text().replace("guard", "other"))
    world.write("~/config/hookport/config.json", world.settings)


def plan_changed(world: World) -> None:
    world.ready()
    path = world.root / vendored.PLAN
    header, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps({**json.loads(header), "events": {}}).encode() + b"\n" + rest)


def archive_changed(world: World) -> None:
    world.ready()
    with zipfile.ZipFile(world.root / vendored.ARCHIVE, "a") as archive:
        archive.writestr("note", b"")


def settings_weaker(world: World) -> None:
    world.settings = {"on_failure": "closed", "on_tamper": "deny"}
    world.write(".hookport/config.json", world.settings)
    world.ready("exit 1")
    world.write(".hookport/config.json", {"on_failure": "open", "on_tamper": "warn"})


def no_time(world: World) -> None:
    world.ready()
    world.env["HOOKPORT_WITHIN"] = "0.000001"


def unreadable_payload(world: World) -> None:
    world.ready()
    world.payload = b"{"


def not_executable(world: World) -> None:
    """A plan that is built later starts it by its shebang line, and the guard holds."""
    world.ready()
    world.call(PLAYED[0])
    for script in (world.root / ".agents/hooks/guard/scripts").iterdir():
        script.chmod(0o644)


def approvals_unreadable(world: World) -> None:
    (world.root / ".hookport/config.json").unlink(missing_ok=True)
    world.ready()
    (store,) = (world.home / "state" / "hookport").rglob("trust.json")
    store.write_text("{")
    world.write("hookport.lock", {})
    world.write("~/config/hookport/config.json", world.settings)


def unwritable_answer(world: World) -> None:
    world.ready()
    world.stdout = "/dev/full"


def failing(script: str, meta: str = "matcher: {tool: Shell}") -> Callable[[World], None]:
    return lambda world: world.ready(script, meta)


def paused(world: World) -> None:
    world.ready()
    pauses.begin(str(world.root), pauses.EVERY, 600.0, "asked", world.env)


def broken_file(world: World) -> None:
    world.ready("exit 0")
    world.write(".agents/hooks/broken/HOOK.md", "---\nname: [\n---\n")


class Row(NamedTuple):
    """A row of the table: the ways in which it comes about, what follows, and with the other setting."""

    plays: tuple[Callable[[World], None], ...]
    follows: Follows
    setting: str = ""
    otherwise: Follows = passes
    ways: tuple[str, ...] = (INSTALLED, VENDORED)


FAILURES = (
    failing("exit 1"),
    failing("kill -9 $$"),
    failing("sleep 60", "matcher: {tool: Shell}\ntimeout: 1"),
    failing("echo '{\"decision\": 1}'"),
)
TAMPER, FAILURE = "on_tamper: warn", "on_failure: closed"
ROWS: dict[str, Row] = {
    "a guard was never approved, or your approvals were deleted": Row(
        (unapproved, approvals_deleted), told_once, FAILURE, denied
    ),
    "the script of an approved guard changed": Row((script_changed,), denied, TAMPER, message),
    "the definition of an approved guard changed": Row((definition_changed,), denied, TAMPER, message),
    "an approved guard is gone": Row((guard_gone,), denied, TAMPER, message),
    "CI: `hookport.lock` is not the one that `HOOKPORT_TRUSTED_LOCK` names": Row(
        (other_lock,), denied, TAMPER, passes
    ),
    "a vendored plan or archive is not the one you approved": Row(
        (plan_changed, archive_changed), denied, TAMPER, message, (VENDORED,)
    ),
    "the project's settings are weaker than you approved": Row((settings_weaker,), denied),
    "a guard never started: no time left, or the bridge or its plan failed": Row(
        (no_time, unreadable_payload), denied, TAMPER, message
    ),
    "the script of an approved guard is no longer executable": Row(
        (not_executable,), denied, TAMPER, message
    ),
    "your approvals (`trust.json`) cannot be read, in a project with a `hookport.lock`": Row(
        (approvals_unreadable,), denied, TAMPER, passes
    ),
    "the answer cannot be written (a full disk behind stdout)": Row((unwritable_answer,), denied),
    "a hook ran and failed: crash, timeout, exit code 1, unreadable answer": Row(
        FAILURES, message, FAILURE, denied
    ),
    "you paused it (`hookport pause`)": Row((paused,), message_once),
    "a hook file cannot be read": Row((broken_file,), told_once, FAILURE, denied),
}


def documented() -> dict[str, tuple[str, str]]:
    """The rows of the table, each with what follows and with the other setting."""
    _, _, table = DOCS.read_text("utf-8").partition("| cause | consequence | with the other setting |\n")
    lines = table.partition("\n\n")[0].splitlines()[1:]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {cause: (follows, otherwise) for cause, follows, otherwise in cells}


def test_the_rows_are_those_of_the_page() -> None:
    rows = documented()
    assert list(rows) == list(ROWS)
    for cause, (follows, otherwise) in rows.items():
        row = ROWS[cause]
        setting = re.match(r"`(on_\w+: \w+)`", otherwise)
        assert (setting[1] if setting else "") == row.setting, cause
        is_denied = bool(re.search(r"\bdenied\b|approved settings apply", follows))
        assert is_denied == (row.follows is denied), cause
        is_denied = bool(re.search(r"(?<!not )\bdenied\b", otherwise))
        assert is_denied == (bool(row.setting) and row.otherwise is denied), cause


PLAYS = [
    (play, row, way, is_other, f"{number}-{index}-{way}-{'other' if is_other else 'default'}")
    for number, row in enumerate(ROWS.values())
    for index, play in enumerate(row.plays)
    for way in row.ways
    for is_other in ((False, True) if row.setting else (False,))
]
# Two agents by turns; `make fuzz` takes the other two besides.
CASES = [
    pytest.param(
        *rest, PLAYED[half::2], id=f"{name}-{half}", marks=() if half == number % 2 else pytest.mark.long
    )
    for number, (*rest, name) in enumerate(PLAYS)
    for half in (0, 1)
]


@pytest.mark.parametrize(("play", "row", "way", "is_other", "seats"), CASES)
def test_what_follows(
    tmp_path: Path, play: Callable[[World], None], row: Row, way: str, is_other: bool, seats: tuple[str, ...]
) -> None:
    name, _, word = row.setting.partition(": ")
    world = World(tmp_path.resolve(), way, {name: word} if is_other else {})
    play(world)
    follows = row.otherwise if is_other else row.follows
    for seat in seats:
        told = [world.call(seat) for _ in range(CALLS)]
        expected = follows(SEATS[seat].agent in MESSAGES)
        shown = [
            (one.blocked, None if given is None else bool(one.message))
            for one, (_, given) in zip(told, expected, strict=True)
        ]
        assert shown == expected, (seat, told)
