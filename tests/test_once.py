"""Several entries for one call: real processes, as agents start them. One of them runs the hooks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hookport
from hookport.agents import get, list_agents
from hookport.convert.degrade.wrapping import unwrap_hook
from hookport.convert.pipeline import read
from hookport.install import sync
from hookport.install.sync import SyncRequest
from hookport.install.targets import SCOPES, Scope, find_target
from hookport.model.hooks import Hook
from hookport.model.runs import Answer
from hookport.project.ownership import find_agent, is_dispatch, is_ours
from hookport.runtime import once
from tests.approval import approve
from tests.guards import CONTEXT, DANGEROUS, GUARDS, KEPT, REASON, command_of
from tests.oracle import SEATS, args_of, payload_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell commands")

BRIDGE = (sys.executable, "-I", "-S", str(Path(hookport.__file__).parent / "bridge.py"))
LONG = 60.0
# A call of one agent that has an id, and of one that has none.
CALL: dict[str, Any] = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}
WITH_ID, WITHOUT_ID = ("claude-code", "PreToolUse"), ("factory-droid", "PreToolUse")
EVENTS = ("before_tool_execute", "session_start", "before_prompt", "after_tool_execute", "agent_stop")
BOTH = ["dispatch", "wrap"]


class Project:
    """A repository with one hook on every event, which counts its runs, and how entries are started in it."""

    def __init__(self, folder: Path, script: str = "echo no >&2; exit 2", *, matcher: str = "") -> None:
        self.folder, self.root, self.runs_file = folder, folder / "project", folder / "runs"
        (self.root / ".git").mkdir(parents=True)
        self.command = f"echo $$ >> {self.runs_file}; {script}"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "HOOKPORT_CACHE_DIR": str(folder / "cache"),
            "HOOKPORT_STATE_DIR": str(folder / "state"),
        }
        hook = {"blocking": True, "handler": {"type": "command", "command": self.command, "timeout": 50}}
        hooks = [{"event": event, **hook} for event in EVENTS]
        if matcher:
            hooks[0]["matcher"] = matcher
        self.manifest = json.dumps({"spec": "hooks/1.0", "hooks": hooks})
        self.write(self.root / ".hookport" / "hooks.json")
        approve(self.root, self.env)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True)
        path.write_text(self.manifest, "utf-8")

    def start(
        self, entry: str, call: tuple[str, str], payload: bytes, *options: str, act: str = "dispatch"
    ) -> subprocess.Popen[bytes]:
        """An entry of this name, with the payload on its stdin."""
        named = [f"--entry={entry}"] if entry else []
        words = ["dispatch", *call, *named, *options]
        if act == "wrap":
            words = ["wrap", "canonical", *call, *named, *options, "--", self.command]
        source = self.folder / f"payload-{time.monotonic_ns()}"
        source.write_bytes(payload)
        with source.open("rb") as stdin:
            return subprocess.Popen(
                [*BRIDGE, *words],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.root,
                env=self.env,
            )

    def fire(
        self, entry: str, call: tuple[str, str], payload: bytes, *options: str, act: str = "dispatch"
    ) -> Answer:
        return answered(self.start(entry, call, payload, *options, act=act))

    def runs(self) -> int:
        return len(self.runs_file.read_text().split()) if self.runs_file.exists() else 0

    def notes(self) -> list[list[str]]:
        lines = (self.folder / "state" / "journal.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line)["notes"] for line in lines]

    def files(self) -> list[Path]:
        return sorted((self.folder / "state" / once.FOLDER).iterdir())


def answered(process: subprocess.Popen[bytes]) -> Answer:
    out, err = process.communicate(timeout=LONG)
    assert b"Traceback" not in err
    return Answer(out.decode(), err.decode(), process.returncode)


def later(payload: bytes, seconds: int) -> bytes:
    """The same payload, made so much later."""

    def moved(tree: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        times = {int: 1_900_000_000_000 + seconds * 1000, str: f"2030-01-01T00:00:{seconds:02}.000Z"}
        return {
            key: times.get(type(value), value) if key == "timestamp" else moved(value)
            for key, value in tree.items()
        }

    return json.dumps(moved(json.loads(payload))).encode()


def call_of(**more: Any) -> bytes:
    return json.dumps({**CALL, **more}).encode()


def is_denied(answer: Answer) -> bool:
    return "deny" in answer.stdout or answer.exit_code == 2


@pytest.mark.parametrize("act", BOTH)
@pytest.mark.parametrize("name", SEATS)
def test_two_entries_for_one_call_run_a_guard_once(name: str, act: str, tmp_path: Path) -> None:
    """Three calls that are alike, the last two of them at the same time."""
    seat = SEATS[name]
    guard = command_of(tmp_path, "guard", GUARDS["canonical"].program)
    world = Project(tmp_path, f"exec {guard}", matcher="shell")
    payload = payload_of(seat.agent, seat.native, seat.payload, DANGEROUS, world.root)
    order = ("user", "project", "user", "user", "project", "project")
    payloads = [later(payload, number) for number in range(len(order))]
    call = (seat.agent, seat.native)
    told = [world.fire(entry, call, data, act=act) for entry, data in zip(order, payloads, strict=True)]
    outcome = seat.outcome(told[0], args_of(seat, payload))
    assert (outcome.blocked, REASON in outcome.reason) == (True, True)
    assert (told, world.runs()) == ([told[0]] * 6, 3)
    replay = ["replay: decided by entry 'user'"]
    assert world.notes() == [[], replay, [], [], replay, replay]


@pytest.mark.parametrize("name", [name for name, seat in SEATS.items() if seat.rewrites])
def test_a_rewrite_is_the_same_whichever_answer_the_agent_takes(name: str, tmp_path: Path) -> None:
    seat = SEATS[name]
    guard = command_of(tmp_path, "guard", GUARDS["canonical"].program, "rewrite")
    world = Project(tmp_path, f"exec {guard}", matcher="shell")
    payload = payload_of(seat.agent, seat.native, seat.payload, DANGEROUS, world.root)
    told = [world.fire(entry, (seat.agent, seat.native), payload) for entry in ("user", "project")]
    inputs = [seat.outcome(one, args_of(seat, payload)).input for one in told]
    wanted = args_of(seat, payload_of(seat.agent, seat.native, seat.payload, KEPT, world.root))
    assert (inputs, world.runs()) == ([wanted, wanted], 1)


def contexts() -> Iterator[tuple[str, str]]:
    for name, seat in SEATS.items():
        for event, (_, _, reader) in seat.contexts.items():
            if reader:
                yield name, event


@pytest.mark.parametrize(("name", "event"), list(contexts()))
def test_context_is_said_once(name: str, event: str, tmp_path: Path) -> None:
    seat = SEATS[name]
    native, file, reader = seat.contexts[event]
    assert reader
    world = Project(tmp_path, f"""printf '{{"context": "{CONTEXT}"}}'""")
    payload = payload_of(seat.agent, native, file, DANGEROUS, world.root)
    told = [world.fire(entry, (seat.agent, native), payload) for entry in ("user", "project")]
    assert ([CONTEXT in reader(one) for one in told], world.runs()) == ([True, False], 1)


def test_an_agent_that_shows_the_second_entry_the_rewritten_input(tmp_path: Path) -> None:
    """Mistral Vibe runs hooks one after the other, each with the input as the ones before left it."""
    guard = command_of(tmp_path, "guard", GUARDS["canonical"].program, "rewrite")
    world = Project(tmp_path, f"exec {guard}", matcher="shell")
    seat = SEATS["mistral-vibe"]
    call = (seat.agent, seat.native)
    for entry, command in (("user", DANGEROUS), ("project", KEPT)):
        payload = payload_of(seat.agent, seat.native, seat.payload, command, world.root)
        told = world.fire(entry, call, payload)
        assert not seat.outcome(told, args_of(seat, payload)).blocked
    assert world.runs() == 1
    # What another hook made of it is judged anew.
    world.fire("third", call, payload_of(seat.agent, seat.native, seat.payload, "rm -rf x", world.root))
    assert world.runs() == 2


@pytest.mark.parametrize("entries", [("user", "user"), ("", ""), ("project", "project")])
@pytest.mark.parametrize("call", [WITH_ID, WITHOUT_ID])
def test_the_same_entry_runs_its_hooks_each_time(
    call: tuple[str, str], entries: tuple[str, str], tmp_path: Path
) -> None:
    world = Project(tmp_path)
    assert [is_denied(world.fire(entry, call, call_of(tool_use_id="1"))) for entry in entries] == [True] * 2
    assert world.runs() == 2


def test_an_entry_without_a_name_takes_part(tmp_path: Path) -> None:
    world = Project(tmp_path)
    assert all(is_denied(world.fire(entry, WITHOUT_ID, call_of())) for entry in ("", "user", "project"))
    assert (world.runs(), world.notes()[1:]) == (1, [["replay: decided by an entry without a name"]] * 2)


@pytest.mark.parametrize("count", [20])
def test_entries_that_start_at_once(count: int, tmp_path: Path) -> None:
    """Agents start all entries of a call together, and may have several calls at a time."""
    world = Project(tmp_path, "sleep 0.05; echo no >&2; exit 2")
    started = [
        world.start(entry, WITH_ID, call_of(tool_use_id=f"toolu_{number}"))
        for number in range(count)
        for entry in ("user", "project")
    ]
    told = [answered(process) for process in started]
    assert ([is_denied(one) for one in told], world.runs()) == ([True] * 2 * count, count)


def test_calls_that_are_alike_and_start_at_once(tmp_path: Path) -> None:
    world = Project(tmp_path, "sleep 0.5; echo no >&2; exit 2")
    started = [world.start(entry, WITHOUT_ID, call_of()) for entry in ("user", "project") * 4]
    assert ([is_denied(answered(one)) for one in started], world.runs()) == ([True] * 8, 4)


# The first one says that it runs and hangs; who comes later denies.
HANGS = "if mkdir {marker} 2>/dev/null; then exec sleep 50; fi; echo no >&2; exit 2"


@pytest.mark.parametrize("waits", [True, False], ids=["the second waits", "the second comes later"])
def test_a_runner_that_is_killed(tmp_path: Path, waits: bool) -> None:
    world = Project(tmp_path, HANGS.format(marker=tmp_path / "marker"))
    first = world.start("user", WITH_ID, call_of(tool_use_id="1"))
    await_((tmp_path / "marker").exists)
    second = world.start("project", WITH_ID, call_of(tool_use_id="1")) if waits else None
    if second:
        await_(lambda: "project" in world.files()[0].read_text())
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=LONG)
    second = second or world.start("project", WITH_ID, call_of(tool_use_id="1"))
    assert is_denied(answered(second))
    assert world.runs() == 2
    os.kill(int(world.runs_file.read_text().split()[0]), signal.SIGKILL)
    # The one that ran it in its place is the one that others answer from.
    assert is_denied(world.fire("third", WITH_ID, call_of(tool_use_id="1")))
    assert (world.runs(), world.notes()[-1]) == (2, ["replay: decided by entry 'project'"])


def test_a_runner_that_was_killed_long_ago(tmp_path: Path) -> None:
    """Its call is over: the next one that is alike has a run of its own for both entries."""
    world = Project(tmp_path, HANGS.format(marker=tmp_path / "marker"))
    first = world.start("user", WITHOUT_ID, call_of())
    await_((tmp_path / "marker").exists)
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=LONG)
    os.kill(int(world.runs_file.read_text().split()[0]), signal.SIGKILL)
    (file,) = world.files()
    (run,) = json.loads(file.read_text())
    file.write_text(json.dumps([{**run, "run": [run["run"][0], run["run"][1] - 20]}]))
    assert all(is_denied(world.fire(entry, WITHOUT_ID, call_of())) for entry in ("project", "user"))
    assert world.runs() == 2


def test_a_runner_that_does_not_go_on(tmp_path: Path) -> None:
    world = Project(tmp_path, HANGS.format(marker=tmp_path / "marker"))
    first = world.start("user", WITH_ID, call_of(tool_use_id="1"))
    await_((tmp_path / "marker").exists)
    first.send_signal(signal.SIGSTOP)
    try:
        assert is_denied(world.fire("project", WITH_ID, call_of(tool_use_id="1"), "--within=5"))
    finally:
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=LONG)
        os.kill(int(world.runs_file.read_text().split()[0]), signal.SIGKILL)
    assert world.runs() == 2


def test_an_entry_that_had_too_little_time_does_not_answer_for_others(tmp_path: Path) -> None:
    # Long enough for a busy machine to start the hook: one that never started would deny.
    world = Project(tmp_path, "sleep 4; echo no >&2; exit 2")
    assert not is_denied(world.fire("user", WITH_ID, call_of(tool_use_id="1"), "--within=3"))
    assert is_denied(world.fire("project", WITH_ID, call_of(tool_use_id="1"), "--within=40"))


SPOILT = (
    b"",
    b"[",
    b"{}",
    b"[1]",
    b"\xff",
    b'[{"run": [1, 2], "entries": ["user"], "prints": [], "decision": {}}]',
)


def test_a_memory_that_is_spoilt(tmp_path: Path) -> None:
    world = Project(tmp_path)
    world.fire("user", WITH_ID, call_of(tool_use_id="1"))
    (file,) = world.files()
    text = file.read_text()
    spoilt = (*SPOILT, text.replace('"deny"', '"maybe"').encode(), text.replace('"verdict"', '"x"').encode())
    for number, data in enumerate(spoilt, 2):
        file.write_bytes(data)
        assert is_denied(world.fire("project", WITH_ID, call_of(tool_use_id="1")))
        assert world.runs() == number


@pytest.mark.parametrize(("call", "seconds"), [(WITH_ID, 600), (WITHOUT_ID, 10)])
def test_a_decision_of_long_ago_is_of_another_call(
    call: tuple[str, str], seconds: int, tmp_path: Path
) -> None:
    world = Project(tmp_path)
    payload = call_of(tool_use_id="1") if call == WITH_ID else call_of()
    world.fire("user", call, payload)
    (file,) = world.files()
    (run,) = json.loads(file.read_text())
    for ago, runs in ((seconds - 8, 1), (seconds + 1, 2)):
        file.write_text(json.dumps([{**run, "decided": time.time() - ago}]))
        assert (is_denied(world.fire("project", call, payload)), world.runs()) == (True, runs)


def test_a_memory_that_cannot_be_had(tmp_path: Path) -> None:
    """A file is where the folder should be; then another process keeps the file to itself."""
    import fcntl

    world = Project(tmp_path)
    folder = tmp_path / "state" / once.FOLDER
    folder.parent.mkdir(exist_ok=True)
    folder.touch()
    assert all(is_denied(world.fire(entry, WITHOUT_ID, call_of())) for entry in ("user", "project"))
    assert world.runs() == 2
    folder.unlink()
    world.fire("user", WITHOUT_ID, call_of())
    with world.files()[0].open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX, 1, once.TEXT)
        assert is_denied(world.fire("project", WITHOUT_ID, call_of()))
    assert world.runs() == 4


def test_what_differs_is_not_shared(tmp_path: Path) -> None:
    world = Project(tmp_path)
    same = {"tool_use_id": "1", "session_id": "s"}
    for more in (
        {},
        {"tool_input": {"command": "pwd"}},
        {"tool_use_id": "2"},
        {"session_id": "t"},
        {"permission_mode": "plan"},
    ):
        before = world.runs()
        world.fire(f"entry {before}", WITH_ID, call_of(**{**same, **more}))
        assert world.runs() == before + 1, more
    world.fire("event", ("claude-code", "PostToolUse"), call_of(**same))
    world.fire("agent", ("qwen-code", "PreToolUse"), call_of(**same))
    assert world.runs() == 7


def test_hooks_that_differ_do_not_answer_for_each_other(tmp_path: Path) -> None:
    """A `wrap` runs one command and a `dispatch` all hooks; another project's hooks are other ones too."""
    world, other = Project(tmp_path / "one"), Project(tmp_path / "other", "exit 0")
    other.env["HOOKPORT_STATE_DIR"] = world.env["HOOKPORT_STATE_DIR"]
    approve(other.root, other.env)
    call = call_of(tool_use_id="1", cwd="")
    assert is_denied(world.fire("user", WITH_ID, call))
    assert not is_denied(other.fire("project", WITH_ID, call))
    assert is_denied(world.fire("project", WITH_ID, call, act="wrap"))
    assert (world.runs(), other.runs()) == (2, 1)
    assert is_denied(world.fire("user", WITH_ID, call, act="wrap"))
    assert world.runs() == 2
    world.command += " # other"
    assert is_denied(world.fire("third", WITH_ID, call, act="wrap"))
    assert world.runs() == 3


@pytest.mark.parametrize("order", [("user", "project"), ("project", "user")])
def test_entries_that_ask_different_hooks(order: tuple[str, str], tmp_path: Path) -> None:
    """Gemini CLI loads a project's file only if it trusts the folder, which the project's entry proves.

    The user's entry knows nothing of that, so it runs the hook of that file too.
    """
    world = Project(tmp_path, "exit 0")
    command = f"echo own >> {tmp_path / 'own'}; echo no >&2; exit 2"
    group = {"matcher": "run_shell_command", "hooks": [{"type": "command", "command": command}]}
    (world.root / ".gemini").mkdir()
    (world.root / ".gemini" / "settings.json").write_text(json.dumps({"hooks": {"BeforeTool": [group]}}))
    approve(world.root, world.env)
    seat = SEATS["gemini-cli"]
    payload = payload_of(seat.agent, seat.native, seat.payload, "ls", world.root)
    told = [world.fire(entry, (seat.agent, seat.native), payload) for entry in order]
    outcomes = [seat.outcome(one, args_of(seat, payload)).blocked for one in told]
    assert (outcomes, world.runs(), (tmp_path / "own").read_text()) == (
        [order[0] == "user", True],
        1,
        "own\n",
    )


def test_two_entries_count_a_stop_once(tmp_path: Path) -> None:
    world = Project(tmp_path)
    stops = [
        [
            '"block"' in world.fire(entry, ("codex", "Stop"), json.dumps(payload).encode()).stdout
            for entry in ("user", "project")
        ]
        for payload in ({"session_id": "s", "stop_hook_active": number > 0} for number in range(9))
    ]
    assert stops == [[True, True]] * 8 + [[False, False]]


def test_both_events_of_a_call_for_both_entries(tmp_path: Path) -> None:
    """Cursor fires two events for one command."""
    world = Project(tmp_path)
    command = {"conversation_id": "c", "cwd": str(world.root)}
    tool = {**command, "tool_name": "Shell", "tool_input": {"command": "ls"}}
    events = (("preToolUse", tool), ("beforeShellExecution", {**command, "command": "ls"}))
    for number in (1, 2):
        told = [
            world.fire(entry, ("cursor", native), json.dumps({**tree, "hook_event_name": native}).encode())
            for native, tree in events
            for entry in ("user", "project")
        ]
        assert ([is_denied(one) for one in told], world.runs()) == ([True] * 4, number)


def await_(holds: Any) -> None:
    """Wait until something is so."""
    until = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def entries(world: Project, agent: str, scope: Scope, mode: Any) -> list[Hook]:
    """The entries of ours that `sync` would write."""
    made = sync.plan_sync(str(world.root), world.env, SyncRequest((agent,), scope, mode))
    texts = {one.path: one.after for one in made.changes if one.after is not None}
    dialect = get(agent)
    return [
        hook
        for path, text in texts.items()
        for hook in read({path: text}, dialect).decoded.manifest.hooks
        if is_ours(hook.handler.command)
    ]


@pytest.mark.parametrize("mode", ["bridge", "native"])
@pytest.mark.parametrize("agent", list_agents())
def test_every_entry_names_itself(agent: str, mode: str, tmp_path: Path) -> None:
    """Older entries without a name are ours too."""
    world = Project(tmp_path)
    world.write(tmp_path / "home" / ".config" / "hookport" / "hooks.json")
    for scope in SCOPES:
        if not find_target(agent, scope, str(world.root), world.env).places():
            continue
        found = entries(world, agent, scope, mode)
        assert found
        for hook in found:
            command = hook.handler.command
            texts = [command, *hook.handler.platform.values()]
            assert all(text.count(f" --entry={scope}") == 1 for text in texts), texts
            for text in (command, command.replace(f" --entry={scope}", "")):
                assert (is_ours(text), find_agent(text)) == (True, agent)
                assert is_dispatch(text) == (mode == "bridge")
                inner = unwrap_hook(hook._replace(handler=hook.handler._replace(command=text)))
                assert (inner.dialect == "canonical") == (mode == "native")
