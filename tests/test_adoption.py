"""Commands that an agent reads in another agent's file: adopted, they run once, and never not at all.

Every agent with such a file is tried; commands run in a real shell, and ask the real bridge.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookport import doctor
from hookport.agents import get, get_wire, list_agents
from hookport.convert import pipeline
from hookport.install import adoption, files, sync
from hookport.install.sync import SyncPlan, SyncRequest
from hookport.install.targets import Scope
from hookport.project.places import resolve_place
from hookport.shapes.adoption import read_clauses, set_clauses, strip_clauses, write_clause
from hookport.shapes.dialect import Location, list_locations
from hookport.vendor import vendored
from hookport.wire import recognition
from tests.approval import approve

READERS = [
    (name, place)
    for name in list_agents()
    for place in list_locations(get(name), "also read", "maybe read")
    # Plugins behind a star have no owner.
    if "*" not in place.path
    if place.scope in ("project", "local", "user")
]
MARKED = [(name, place) for name, place in READERS if "$root" in get_wire(name).env.values()]
SCRIPT = "#!/bin/sh\ncat > /dev/null\necho ran >> {}\n"


class World(NamedTuple):
    """A project with a guard in a file that two agents read."""

    root: Path
    env: dict[str, str]
    agent: str
    place: Location
    owner: str

    @property
    def file(self) -> Path:
        return Path(resolve_place(get(self.agent), self.place.path, str(self.root), self.env))

    @property
    def scope(self) -> Scope:
        return "user" if self.place.scope == "user" else "project"

    @property
    def ran(self) -> int:
        log = self.root / "log"
        return len(log.read_text("utf-8").splitlines()) if log.is_file() else 0

    def sync(self, *, adopt: bool = True, vendor: bool = False, mode: sync.Choice = "bridge") -> SyncPlan:
        wish = SyncRequest((self.agent,), self.scope, mode, vendor, adopt)
        return sync.apply(lambda: sync.plan_sync(str(self.root), self.env, wish), self.env, what="sync")

    def unsync(self) -> SyncPlan:
        def make() -> SyncPlan:
            return sync.plan_removal(str(self.root), self.env, (self.agent,), self.scope)

        return sync.apply(make, self.env, what="unsync", ends=True)

    def command(self) -> str:
        tree = json.loads(self.file.read_text("utf-8"))
        return str(tree["hooks"]["PreToolUse"][0]["hooks"][0]["command"])

    def runs(self, **more: str) -> bool:
        """Whether the command that stands in the file does something, called as an agent calls it."""
        before = self.ran
        done = subprocess.run(
            ["/bin/sh", "-c", self.command()],
            cwd=self.root,
            env={**self.env, "CLAUDE_PROJECT_DIR": str(self.root), **more},
            input="{}",
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return self.ran > before

    def runs_in_reader(self, **more: str) -> bool:
        return self.runs(**{adoption.find_mark(self.agent, self.owner): str(self.root)}, **more)


@pytest.fixture
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    agent, place = request.param
    root, home = tmp_path / "it's a project", tmp_path / "home"
    for folder in (root / ".git", home):
        folder.mkdir(parents=True)
    env = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "HOOKPORT_STATE_DIR": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    made = World(root, env, agent, place, "")
    owner = adoption.find_owner(str(made.file), str(root), env)
    assert owner is not None
    made = made._replace(owner=owner.id)
    script = root / "guard.sh"
    script.write_text(SCRIPT.format("log"), "utf-8")
    script.chmod(0o755)
    command = f"sh '{tmp_path}/it'\"'\"'s a project/guard.sh'"
    tree = {
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}
    }
    made.file.parent.mkdir(parents=True)
    made.file.write_text(json.dumps(tree, indent=2), "utf-8")
    return made


def every(rows: list[tuple[str, Location]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "world", rows, indirect=True, ids=[f"{name} {place.path}" for name, place in rows]
    )


def test_there_is_an_agent_of_each_kind() -> None:
    assert {place.scope for _, place in MARKED} == {"project", "local", "user"}
    assert {name for name, _ in READERS} > {name for name, _ in MARKED}


@every(MARKED)
def test_an_adopted_command_gives_way_to_our_entry_and_to_nothing_else(world: World) -> None:
    before = world.file.read_bytes()
    approve(world.root, world.env)
    world.sync()
    assert not world.runs_in_reader()
    assert world.runs()
    # Started by the other agent's hooks, its own agent sets its own variables too.
    own = recognition.list_marker_variables(map(get_wire, list_agents()))[world.owner]
    assert own
    assert all(world.runs_in_reader(**{name: "it"}) for name in own)
    world.unsync()
    assert world.file.read_bytes() == before


def break_nothing_installed(_world: World, entry: Path) -> None:
    entry.unlink()


def break_other_entry(_world: World, entry: Path) -> None:
    entry.write_text(entry.read_text("utf-8").replace(" dispatch ", " despatch "), "utf-8")


def break_event(world: World, entry: Path) -> None:
    native = next(name for _, name in get_wire(world.agent).natives["before_tool_execute"])
    text = entry.read_text("utf-8")
    for _, name in get_wire(world.agent).natives["before_tool_execute"]:
        text = text.replace(f"dispatch {world.agent} {name} ", f"dispatch {world.agent} elsewhere ")
    assert native not in text.replace(f'"{native}"', "")
    entry.write_text(text, "utf-8")


def break_program(_world: World, entry: Path) -> None:
    entry.write_text(entry.read_text("utf-8").replace("bridge.py", "moved.py"), "utf-8")


def break_file(_world: World, entry: Path) -> None:
    entry.write_text(entry.read_text("utf-8")[:-9], "utf-8")


def break_switch(_world: World, entry: Path) -> None:
    tree = json.loads(entry.read_text("utf-8"))
    entry.write_text(json.dumps({**tree, "disableAllHooks": True}), "utf-8")


BROKEN = (
    break_nothing_installed,
    break_other_entry,
    break_event,
    break_program,
    break_file,
    break_switch,
)


@pytest.mark.parametrize("break_it", BROKEN)
@every(MARKED)
def test_where_our_entry_would_not_run_it_an_adopted_command_runs(
    world: World, break_it: Callable[[World, Path], None]
) -> None:
    approve(world.root, world.env)
    plan = world.sync()
    entry = Path(plan.agents[0].paths[0])
    assert not world.runs_in_reader()
    break_it(world, entry)
    assert world.runs_in_reader()


@every([(name, place) for name, place in MARKED if place.scope != "user"])
def test_where_it_is_not_approved_as_it_is_an_adopted_command_runs(world: World) -> None:
    world.sync()
    assert world.runs_in_reader()
    approve(world.root, world.env)
    assert not world.runs_in_reader()
    script = world.root / "guard.sh"
    script.write_text(script.read_text("utf-8") + "# another\n", "utf-8")
    assert world.runs_in_reader()
    approve(world.root, world.env)
    assert not world.runs_in_reader()
    # A fresh clone: everything that is committed, and nobody who approved anything.
    shutil.rmtree(world.env["HOOKPORT_STATE_DIR"])
    assert world.runs_in_reader()
    # The command is another now.
    approve(world.root, world.env)
    world.file.write_text(world.file.read_text("utf-8").replace("guard.sh'", "guard.sh' now"), "utf-8")
    assert world.runs_in_reader()


@every([(name, place) for name, place in MARKED if place.scope == "project"])
def test_the_bridge_in_a_project_is_asked_like_the_installed_one(world: World) -> None:
    world.sync(vendor=True)
    assert vendored.ARCHIVE in world.command()
    assert world.env["HOME"] not in world.command()
    assert world.runs_in_reader()
    approve(world.root, world.env)
    assert not world.runs_in_reader()
    assert world.runs()
    (world.root / vendored.ARCHIVE).rename(world.root / "elsewhere")
    assert world.runs_in_reader()


@every(MARKED)
def test_an_adopted_hook_is_the_same_hook_with_the_same_approval(world: World) -> None:
    approve(world.root, world.env)
    world.sync(adopt=False)
    before = pipeline.read({"f.json": world.file.read_bytes()}, get(world.owner))
    plan = world.sync()
    adopted_ = pipeline.read({"f.json": world.file.read_bytes()}, get(world.owner))
    assert adopted_.documents["f.json"].tree != before.documents["f.json"].tree
    assert adopted_.decoded == before.decoded
    codes = [finding.code for one in plan.agents for finding in one.findings]
    assert "HP822" not in codes
    assert "HP820" not in [finding.code for finding in plan.findings]
    # Without the word, what is adopted stays so.
    again = world.sync(adopt=False)
    assert again.changes == ()
    assert "HP822" not in [finding.code for one in again.agents for finding in one.findings]


@every(READERS)
def test_nothing_is_adopted_unasked(world: World) -> None:
    before = world.file.read_bytes()
    world.sync(adopt=False)
    assert world.file.read_bytes() == before


@every([(name, place) for name, place in READERS if (name, place) not in MARKED])
def test_where_nothing_shows_the_agent_its_hook_is_left_alone_and_that_is_said(world: World) -> None:
    before = world.file.read_bytes()
    plan = world.sync()
    assert world.file.read_bytes() == before
    told = [finding for one in plan.agents for finding in one.findings if finding.code == "HP822"]
    # Where it reads the file with a setting alone, the hook runs once, as installed.
    is_sure = world.place in list_locations(get(world.agent), "also read")
    assert [finding.hint.partition(".")[0] for finding in told] == [
        f"It cannot be adopted: no variable shows that {get(world.agent).title} runs its command"
    ] * is_sure


@every([(name, place) for name, place in MARKED if place in list_locations(get(name), "also read")])
def test_the_hint_adopts(world: World) -> None:
    plan = world.sync(adopt=False)
    (told,) = [finding for one in plan.agents for finding in one.findings if finding.code == "HP822"]
    options = " --scope user" if world.scope == "user" else ""
    assert told.hint.startswith(f"Run `hookport sync --agent {world.agent}{options} --adopt`")


@pytest.mark.parametrize("more", [{"args": ["x"]}, {"shell": "powershell"}])
@every([(name, place) for name, place in MARKED if place in list_locations(get(name), "also read")])
def test_what_no_posix_shell_reads_is_left_alone_and_that_is_said(
    world: World, more: dict[str, object]
) -> None:
    tree = json.loads(world.file.read_text("utf-8"))
    tree["hooks"]["PreToolUse"][0]["hooks"][0].update(more)
    world.file.write_text(json.dumps(tree), "utf-8")
    before = world.file.read_bytes()
    plan = world.sync()
    assert world.file.read_bytes() == before
    (told,) = [finding for one in plan.agents for finding in one.findings if finding.code == "HP822"]
    assert told.hint.startswith(f"It cannot be adopted: {adoption.NO_SHELL}.")


@every([(name, place) for name, place in MARKED if place.scope == "project"])
def test_an_adopted_hook_without_an_entry_is_an_error(world: World) -> None:
    approve(world.root, world.env)
    plan = world.sync()
    Path(plan.agents[0].paths[0]).unlink()
    told = doctor.diagnose(str(world.root), world.env, (world.agent,))
    assert "HP830" in [finding.code for finding in told if finding.severity == "error"]


@every([(name, place) for name, place in MARKED if place.scope == "project"])
def test_entries_of_the_files_own_agent_come_and_go_beside_adopted_commands(world: World) -> None:
    approve(world.root, world.env)
    world.sync()
    adopted_ = world.command()
    wish = SyncRequest((world.owner,), world.scope, "bridge")
    (world.root / "hooks.json").write_text(
        json.dumps(
            {
                "spec": "hooks/1.0",
                "hooks": [{"event": "agent_stop", "handler": {"type": "command", "command": "true"}}],
            }
        ),
        "utf-8",
    )
    made = sync.plan_sync(str(world.root), world.env, wish)
    assert made.changes
    files.apply(made.changes, world.env, what="sync")
    assert world.command() == adopted_
    assert not world.runs_in_reader()
    world.unsync()
    assert read_clauses(world.command()) == {}
    assert world.command() == strip_clauses(adopted_)


QUIETLY = " </dev/null >/dev/null 2>&1 || exit 0; x"
WORDS = st.text(st.characters(codec="utf-8"), max_size=40)
TESTS = st.dictionaries(
    st.from_regex(r"[a-z]+(-[a-z]+)*", fullmatch=True),
    st.sampled_from(["/usr/bin/python3 -I -S /x/bridge.py", 'python3 -I -S "${M-}"/.hookport/bridge.pyz']),
    max_size=3,
)


@given(WORDS, TESTS)
def test_tests_before_a_command_are_read_back_and_taken_off(command: str, calls: dict[str, str]) -> None:
    tests = {name: write_clause(name, "SOME_DIR", call, "a/b.json", "0" * 16) for name, call in calls.items()}
    text = set_clauses(command, tests)
    assert read_clauses(text) == {**tests, **read_clauses(command)}
    assert strip_clauses(text) == strip_clauses(command)


@pytest.mark.parametrize(
    "text",
    [
        '[ -z "${X-}" ] || exit 0; ./guard.sh',
        '[ -z "${X-}" ] || ! $(touch evil) -I -S bridge.py covers a b 00' + QUIETLY,
        '[ -z "${X-}" ] || ! `id` -I -S bridge.py covers a b 00' + QUIETLY,
        '[ -z "${X-}" ] || ! a;b -I -S bridge.py covers a b 00' + QUIETLY,
        '[ -z "${X-}" ] || ! py -I -S other.py covers a b 00' + QUIETLY,
        '[ -z "${X-}" ] || ! py -I -S bridge.py covers a b 00 || exit 0; x',
        'true; [ -z "${X-}" ] || ! py -I -S bridge.py covers a b 00' + QUIETLY,
    ],
)
def test_what_only_resembles_a_test_is_part_of_the_command(text: str) -> None:
    assert read_clauses(text) == {}
    assert strip_clauses(text) == text
