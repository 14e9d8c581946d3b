"""Transcripts: each agent's own is read by its table, and a script finds the shape that it was written for.

The files in `transcript` were written by real agents, at their places below a home: one prompt, a text with a
shell call that succeeds, one that exits with 3, and a last text. Long texts are cut, databases are dumped.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookport import findings as f
from hookport.agents import get, get_wire, list_agents, list_dialects
from hookport.convert import pipeline
from hookport.install import sync
from hookport.install.sync import SyncRequest
from hookport.model.runs import Call, Event
from hookport.runtime import engine, surroundings, transcript_shape, transcript_store, transcripts
from hookport.runtime.plan import PlannedHook
from hookport.runtime.transcript_shape import TranscriptEntry
from tests import agent_data
from tests.agent_data import facts_of

PROMPT, FIRST, LAST = "PROMPT please do the task.", "SAY I will look.", "FINAL All done."
COMMANDS = ["echo RESULT", "echo ERR >&2; exit 3"]
# Their sessions came from `hookport prove`, with another conversation.
PLAYED = ("kilo", "omp", "reasonix")
# As the Stop hook of a public plugin finds the last answer.
LAST_ANSWER = r"""
import json, sys
path = json.load(sys.stdin)["transcript_path"]
lines = [line for line in open(path) if '"role":"assistant"' in line]
texts = [json.loads(line)["message"]["content"][0].get("text") for line in lines]
print([text for text in texts if text][-1], file=sys.stderr)
sys.exit(2)
"""
CONNECTIONS: list[sqlite3.Connection] = []
posix = pytest.mark.skipif(os.name == "nt", reason="the command is for a shell")


class Kept(NamedTuple):
    """A captured session: its id, its file below the home, and what a payload says of it."""

    agent: str
    session: str
    place: str
    # The path in payloads, below the home; empty if they have none.
    path: str = ""
    extra: dict[str, Any] = {}  # noqa: RUF012  (never changed)


def list_sessions() -> Iterator[Kept]:
    """Every captured session; its id is in the names of its files, or in the dump."""
    for agent, folder in agent_data.find("transcript").items():
        for table in get_wire(agent).transcript:
            for file in sorted(path for path in folder.rglob("*") if path.is_file()):
                place = file.relative_to(folder).as_posix().removesuffix(".sql")
                # A store that is a folder has files below the place that is named.
                place = place.partition("/journal/")[0]
                if transcript_store.is_named(f"/home/{place}", table["named"]):
                    yield make_session(agent, place, file, table)


def make_session(agent: str, place: str, file: Path, table: Mapping[str, Any]) -> Kept:
    keys = get_wire(agent).keys.get("transcript")
    stem = Path(place).name.partition(".")[0]
    session = stem.removeprefix("rollout-2026-11-16T13-58-37-").rpartition("_")[2]
    if stem in ("events", "chat_history", "recent-v1"):
        session = Path(place).parent.name
    if stem == "wire":
        session = next(part for part in Path(place).parts if part.endswith("-session"))
    if table.get("store") == "database":
        words = file.read_text("utf-8").split("'")
        session = next(word for word in words if word.startswith(("ses_", "20261116_")))
    if "session" in table:
        return Kept(
            agent, "another", place, extra={"sessionContext": {"rootSessionId": Path(place).parent.name}}
        )
    path = f"{Path(place).parent}/updates.jsonl" if "beside" in table else place
    return Kept(agent, session, place, path if keys else "")


SESSIONS = {f"{kept.agent} {Path(kept.place).parts[0]}": kept for kept in list_sessions()}
WRITERS = [name for name in list_dialects() if any("writes" in table for table in get_wire(name).transcript)]


def unpack(kept: Kept, home: Path) -> None:
    """Put a session's files in a home, and make its database of the dump."""
    folder = agent_data.folder_of(kept.agent) / "transcript"
    shutil.copytree(folder, home, dirs_exist_ok=True)
    for dump in list(home.rglob("*.sql")):
        # As with a running agent, the connection stays open and the rows are in the log beside the database.
        database = sqlite3.connect(dump.with_suffix(""))
        database.execute("PRAGMA journal_mode = wal")
        database.executescript(dump.read_text("utf-8"))
        CONNECTIONS.append(database)
        dump.unlink()


def make_event(kept: Kept, home: Path, event: str = "agent_stop", **more: Any) -> Event:
    named = {"transcript": str(home / kept.path)} if kept.path else {}
    facts = {**named, **more.pop("facts", {})}
    return Event(
        event, kept.agent, session=kept.session, cwd="/", root="/", facts=facts, extra=kept.extra, **more
    )


def make_env(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "HOOKPORT_STATE_DIR": str(home.parent / "state")}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "home").mkdir()
    yield tmp_path / "home"
    while CONNECTIONS:
        CONNECTIONS.pop().close()


def read(kept: Kept, home: Path, **more: Any) -> transcripts.ReadTranscript:
    wire = get_wire(kept.agent)
    return transcripts.read_transcript(make_event(kept, home, "notification", **more), wire, make_env(home))


def name_calls(entries: Any, agent: str) -> list[tuple[str, Any]]:
    calls = [transcripts.read_call(entry, get_wire(agent)) for entry in entries if entry.kind == "call"]
    return [(call.tool, call.input.get("command", call.input.get("commands"))) for call in calls]


def test_every_agent_with_a_table_has_a_session() -> None:
    assert {kept.agent for kept in SESSIONS.values()} == {
        name for name in list_agents() if get_wire(name).transcript
    }


@pytest.mark.parametrize("name", SESSIONS)
def test_every_table_reads_the_same(name: str, home: Path) -> None:
    """The prompt, the texts, the calls with what they ran, and which of them failed; nothing is left out."""
    kept = SESSIONS[name]
    unpack(kept, home)
    found = read(kept, home)
    assert (found.trouble, found.conversation.unread, found.conversation.is_cut) == ("", 0, False)
    entries = found.conversation.entries
    texts = [(entry.kind, entry.text.strip('"')) for entry in entries if entry.kind in ("user", "assistant")]
    results = [entry for entry in entries if entry.kind == "result"]
    calls = [entry.id for entry in entries if entry.kind == "call"]
    if kept.agent == "vs-code-copilot":  # it keeps no results, and was captured with another conversation
        assert texts == [("user", "delete the victim"), ("assistant", "done")]
        assert name_calls(entries, kept.agent) == [("shell", "rm -rf victim")]
        return
    if kept.agent in PLAYED:
        assert texts == [("user", "Do what the task says."), ("assistant", "The last words of this session.")]
        assert name_calls(entries, kept.agent) == [("shell", "touch one.txt"), ("shell", "touch two.txt")]
        assert [(entry.id, entry.is_error) for entry in results] == [(calls[0], False), (calls[1], False)]
        return
    assert texts == [("user", PROMPT), ("assistant", FIRST), ("assistant", LAST)]
    commands = [[command] for command in COMMANDS] if kept.agent == "cline" else COMMANDS
    assert name_calls(entries, kept.agent) == [("shell", command) for command in commands]
    assert [(entry.id, entry.is_error) for entry in results] == [(calls[0], False), (calls[1], True)]
    assert all(entry.text for entry in results)


@pytest.mark.parametrize(
    "name", [name for name, kept in SESSIONS.items() if "kept" in str(get_wire(kept.agent).transcript)]
)
def test_a_session_is_found_without_a_path(name: str, home: Path) -> None:
    kept = SESSIONS[name]
    unpack(kept, home)
    found = read(kept._replace(path=""), home)
    assert os.path.relpath(found.place, home.resolve()) == kept.place


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("name", SESSIONS)
def test_a_copy_says_the_same_in_every_shape(name: str, writer: str, home: Path) -> None:
    kept, wire = SESSIONS[name], get_wire(writer)
    if not surroundings.can_copy(wire, get_wire(kept.agent)):
        pytest.skip("its scripts expect the agent's own shape")
    unpack(kept, home)
    event, notes = add(kept, writer, home)
    assert notes == ()
    path = Path(event.facts["transcript"])
    assert event.facts["original_transcript"] == str(
        home / kept.path if kept.path else home.resolve() / kept.place
    )
    table = next(table for table in wire.transcript if "writes" in table)
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    copy = transcript_shape.read_entries(table, records)
    assert copy.unread == 0
    original = read(kept, home).conversation.entries
    assert [summarize(entry) for entry in copy.entries] == [summarize(entry) for entry in original]
    assert [tool for tool, _ in name_calls(copy.entries, writer)] == [
        tool for tool, _ in name_calls(original, kept.agent)
    ]


def summarize(entry: TranscriptEntry) -> tuple[str, str, str]:
    return entry.kind, entry.text, entry.id if entry.kind in ("call", "result") else ""


def add(kept: Kept, writer: str, home: Path, **more: Any) -> tuple[Event, tuple[str, ...]]:
    needs = surroundings.TranscriptNeeds(("transcript",))
    event = make_event(kept, home, **more)
    return transcripts.add_transcript(needs, get_wire(writer), event, get_wire(kept.agent), make_env(home))


def script(folder: Path, text: str) -> PlannedHook:
    """A Stop hook of Claude Code, whose command only names a file."""
    file = folder / "stop.py"
    file.write_text(text, "utf-8")
    return PlannedHook(
        "h", "agent_stop", "claude-code", "Stop", command=f"{sys.executable} {file}", files=[str(file)]
    )


def run(event: Event, hook: PlannedHook, home: Path) -> engine.DispatchReport:
    return engine.run_hooks(event, [hook], engine.RunSetting(get_wire(event.agent), get_wire, make_env(home)))


@posix
@pytest.mark.parametrize("name", SESSIONS)
def test_a_script_finds_the_last_answer(name: str, home: Path) -> None:
    """In the transcript of every agent, as in that of its own."""
    kept = SESSIONS[name]
    unpack(kept, home)
    report = run(make_event(kept, home), script(home, LAST_ANSWER), home)
    last = "The last words of this session." if kept.agent in PLAYED else LAST
    assert report.decision.reason == ("done" if kept.agent == "vs-code-copilot" else last)


CODEX = SESSIONS["codex .codex"]


@posix
def test_what_the_agent_has_not_written_yet_is_there(home: Path) -> None:
    """The last message of the payload, where the file does not have it; the call that is being judged."""
    kept = SESSIONS["qwen-code .qwen"]
    unpack(kept, home)
    event = make_event(kept, home, final_message="One more thing.")
    assert run(event, script(home, LAST_ANSWER), home).decision.reason == "One more thing."
    call = Call("shell", "run_shell_command", raw={"command": "ls"}, id="new")
    before, _ = add(kept, "canonical", home, event="before_tool_execute", call=call)
    last = json.loads(Path(before.facts["transcript"]).read_text("utf-8").splitlines()[-1])
    assert (last["kind"], last["tool"], last["input"], last["id"]) == (
        "call",
        "shell",
        {"command": "ls"},
        "new",
    )


@posix
def test_a_late_answer_is_waited_for(home: Path) -> None:
    """Copilot CLI writes its last answer when its stop hook runs already, and its payload has no text."""
    import threading

    kept = SESSIONS["copilot-cli .copilot"]
    unpack(kept, home)
    file = home / kept.place
    lines = file.read_text("utf-8").splitlines(keepends=True)
    last = next(number for number, line in enumerate(lines) if LAST in line)
    file.write_text("".join(lines[:last]), "utf-8")
    late = threading.Timer(0.1, lambda: file.write_text("".join(lines), "utf-8"))
    late.start()
    report = run(make_event(kept, home), script(home, LAST_ANSWER), home)
    late.join()
    assert report.decision.reason == LAST


@posix
def test_the_script_finds_the_original_too(home: Path) -> None:
    unpack(CODEX, home)
    hook = script(home, "import os, sys\nsys.exit(os.environ['HOOKPORT_TRANSCRIPT'] + ' transcript_path')\n")
    report = run(make_event(CODEX, home), hook, home)
    assert report.runs[0].result
    assert report.runs[0].result.stderr.split()[0] == str(home / CODEX.path)


def needs_of(kept: Kept, hook: PlannedHook, home: Path) -> surroundings.TranscriptNeeds | None:
    event, agent = make_event(kept, home), get_wire(kept.agent)
    return surroundings.find_transcript_needs(
        hook, get_wire(hook.dialect), event, hook.native, agent, make_env(home)
    )


def test_only_who_reads_it_gets_a_copy(home: Path) -> None:
    """Not a hook that does not name the field, one of the agent itself, or one that expects its shape."""
    reading = PlannedHook("h", "agent_stop", "claude-code", "Stop", command="jq -r .transcript_path")
    wanted = surroundings.TranscriptNeeds(("transcript",))
    assert needs_of(CODEX, reading, home) == wanted
    assert needs_of(CODEX, reading.replace(dialect="qwen-code"), home) == wanted
    assert needs_of(CODEX, reading.replace(command="jq -r .cwd"), home) is None
    assert needs_of(CODEX, reading.replace(dialect="codex"), home) is None
    claude = SESSIONS["claude-code .claude"]
    assert needs_of(claude, reading.replace(dialect="open-plugin"), home) is None
    assert needs_of(claude, reading.replace(dialect="canonical"), home) == wanted
    sdk = PlannedHook("h", "agent_stop", "canonical", "agent_stop", command="python3 -c 'event.transcript'")
    assert needs_of(claude, sdk, home) == wanted


@pytest.mark.parametrize(
    "command",
    [
        '"$CLAUDE_PROJECT_DIR"/hooks/stop.py',
        "python3 hooks/stop.py --last",
        "~/stop.py",
        "{home}/stop.py",
        'AT="${PWD-.}"/hooks; export AT ROOT="${AT-}"; "${AT-}"/stop.py',
        "export AT='{home}/my project'; \"${AT-}\"/hooks/stop.py",
    ],
)
def test_a_wrapped_command_is_searched_too(command: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listed its files."""
    monkeypatch.setenv("HOME", str(home))
    project = home / "my project"
    for folder in (home, project / "hooks"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stop.py").write_text("payload['transcript_path']", "utf-8")
    hook = PlannedHook("h", "agent_stop", "claude-code", "Stop", command=command.replace("{home}", str(home)))
    event = make_event(CODEX, home).replace(root=str(project), cwd=str(project))
    agent, wire = get_wire("codex"), get_wire("claude-code")
    found = surroundings.find_transcript_needs(hook, wire, event, "Stop", agent, make_env(home))
    assert found == surroundings.TranscriptNeeds(("transcript",))


def test_a_copy_is_private_and_removed(home: Path) -> None:
    unpack(CODEX, home)
    first, _ = add(CODEX, "claude-code", home)
    copy = Path(first.facts["transcript"])
    assert copy.name == f"{CODEX.session}.jsonl"
    assert [path.stat().st_mode & 0o777 for path in (copy, copy.parent, copy.parent.parent)] == [
        0o600,
        0o700,
        0o700,
    ]
    old = time.time() - transcripts.FORGET_SECONDS - 1
    os.utime(copy, (old, old))
    event, _ = add(CODEX, "canonical", home)
    assert Path(event.facts["transcript"]).exists()
    assert not copy.exists()


@pytest.mark.parametrize("session", ["../../etc/passwd", "a/b", "", "x" * 400, "~", "a\nb", "."])
def test_no_session_names_another_file(session: str, home: Path) -> None:
    """Neither the file that is read nor the copy's."""
    unpack(CODEX, home)
    kept = CODEX._replace(session=session)
    event, _ = add(kept, "claude-code", home)
    state = home.parent / "state" / "transcripts"
    copy = Path(event.facts["transcript"])
    assert (copy.parent.parent, copy.resolve()) == (state, copy)
    assert not read(kept._replace(path=""), home).place


def link(target: Path, home: Path) -> str:
    path = home / ".codex/sessions/2026/11/16/rollout-x.jsonl"
    path.symlink_to(target)
    return str(path)


@posix
@pytest.mark.parametrize("kind", ["link", "elsewhere", "pipe", "folder", "device", "foreign"])
def test_a_path_that_the_agent_would_not_name_is_not_read(kind: str, home: Path) -> None:
    unpack(CODEX, home)
    secret = home / "secret.jsonl"
    shutil.copy(home / CODEX.path, secret)
    folder = home / ".codex/sessions/2026/11/16"
    if kind == "link":
        path = link(secret, home)
    elif kind == "elsewhere":
        path = str(secret)
    elif kind == "device":
        path = link(Path("/dev/zero"), home)
    else:
        path = str(folder / "rollout-other.jsonl")
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            Path(path).mkdir()
        else:
            Path(path).write_text('{"password": "of another program"}\n', "utf-8")
    event, notes = add(CODEX, "claude-code", home, facts={"transcript": path})
    assert event.facts["transcript"] == path
    assert len(notes) == 1
    assert notes[0].startswith("transcript: not translated: ")
    assert not (home.parent / "state" / "transcripts").exists()


@posix
def test_a_moved_folder_is_still_the_agents(home: Path) -> None:
    """People keep an agent's folder elsewhere, and leave a link."""
    unpack(CODEX, home)
    (home / "dotfiles").mkdir()
    shutil.move(home / ".codex", home / "dotfiles" / "codex")
    (home / ".codex").symlink_to(home / "dotfiles" / "codex")
    assert read(CODEX, home).place
    assert read(CODEX._replace(path=""), home).place


def test_only_the_end_of_a_long_file_is_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpack(CODEX, home)
    data = (home / CODEX.path).read_bytes()
    size = len(data) - data.index(LAST.encode(), data.index(b"ERR")) + 1_000
    monkeypatch.setattr(transcript_store, "MOST_BYTES", size)
    event, notes = add(CODEX, "claude-code", home)
    assert notes == ("transcript: only its end was translated, because it is long",)
    lines = [json.loads(line) for line in Path(event.facts["transcript"]).read_text("utf-8").splitlines()]
    assert lines[-1]["message"]["content"] == [{"type": "text", "text": LAST}]
    assert not any(line["message"]["content"] == PROMPT for line in lines)


def test_what_there_is_no_time_for_is_left_out(home: Path) -> None:
    unpack(CODEX, home)
    found = transcripts.read_transcript(
        make_event(CODEX, home), get_wire("codex"), make_env(home), deadline=time.monotonic() - 1
    )
    assert (found.conversation.is_cut, found.conversation.entries) == (True, ())


def test_unknown_records_are_counted(home: Path) -> None:
    """Lines of a newer version, and a line that is still being written, which is no loss."""
    unpack(CODEX, home)
    with (home / CODEX.path).open("a", encoding="utf-8") as file:
        file.write('{"type": "something_new"}\nnot json\n[1]\n{"type": "response_item", "pay')
    _, notes = add(CODEX, "claude-code", home)
    assert notes == ("transcript: left out 3 records of an unknown kind",)


@pytest.mark.parametrize("name", SESSIONS)
def test_a_damaged_transcript_is_no_error(name: str, home: Path) -> None:
    """Cut anywhere: what is read is what was there before."""
    kept = SESSIONS[name]
    unpack(kept, home)
    whole = read(kept, home).conversation.entries
    file = home / kept.place
    file = next(file.rglob("*.jsonl")) if file.is_dir() else file
    data = file.read_bytes()
    for cut in range(0, len(data), max(1, len(data) // 23)):
        file.write_bytes(data[:cut])
        event, notes = add(kept, "claude-code" if kept.agent != "claude-code" else "canonical", home)
        found = read(kept, home)
        assert len(found.conversation.entries) <= len(whole)
        assert bool(event.facts.get("original_transcript")) is bool(found.place)
        assert found.place or notes or not data[:cut]


texts = st.text(max_size=30).filter(lambda text: text.strip() and not text.startswith("<"))
trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
turns = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "call"]), texts, texts, st.booleans()), max_size=8
)


@pytest.mark.parametrize("writer", WRITERS)
@given(turns=turns)
def test_what_is_written_can_be_read(writer: str, turns: list[tuple[str, str, str, bool]]) -> None:
    """Kinds, texts, ids and calls, whatever they contain: no text becomes a record of its own."""
    entries: list[TranscriptEntry] = []
    for number, (kind, text, other, has_failed) in enumerate(turns):
        name = f"id-{number}"
        if kind == "call":
            entries.append(TranscriptEntry("call", id=name, name="Bash", input={"command": text}))
            entries.append(TranscriptEntry("result", other, name, is_error=has_failed))
        else:
            entries.append(TranscriptEntry(kind, text, name if kind == "assistant" else ""))
    table = next(table for table in get_wire(writer).transcript if "writes" in table)
    words = {"session": "s", "cwd": "/", "model": "m"}
    lines = list(
        transcript_shape.write_lines(table["writes"], entries, words, lambda call: (call.name, call.input))
    )
    assert all(line.count("\n") == 1 and line.isascii() for line in lines)
    copy = transcript_shape.read_entries(table, [json.loads(line) for line in lines])
    assert copy.unread == 0
    assert [(*summarize(entry), entry.input) for entry in copy.entries] == [
        (*summarize(entry), entry.input) for entry in entries
    ]


@given(records=st.lists(trees, max_size=6))
def test_no_record_is_an_error(records: list[Any]) -> None:
    for name in list_agents():
        for table in get_wire(name).transcript:
            conversation = transcript_shape.read_entries(table, records)
            assert conversation.unread <= len(records)


@given(data=st.data())
def test_a_record_with_anything_in_a_field_is_no_error(data: st.DataObject) -> None:
    """Records of a known kind whose fields have other types than the table expects."""
    name = data.draw(st.sampled_from(sorted(SESSIONS)))
    for table in get_wire(SESSIONS[name].agent).transcript:
        group = data.draw(st.sampled_from(list(table["records"])))
        record: dict[str, Any] = {}
        for place, wanted in {**group.get("where", {}), group.get("each", "other"): True}.items():
            value = data.draw(trees) if wanted in (None, True) or isinstance(wanted, dict) else wanted
            value = data.draw(st.sampled_from(value)) if isinstance(value, (list, tuple)) and value else value
            put(record, place, value)
        assert transcript_shape.read_entries(table, [record]).unread <= 1


def put(record: dict[str, Any], place: str, value: Any) -> None:
    *way, last = place.split(".")
    for key in way:
        inner = record.setdefault(key, {})
        record = inner if isinstance(inner, dict) else {}
    record.setdefault(last, value)


@pytest.mark.parametrize("name", SESSIONS)
def test_steps_and_duration_are_counted(name: str, home: Path) -> None:
    """A HOOK.md hook gets how many calls there were and how long the session has lasted."""
    kept = SESSIONS[name]
    unpack(kept, home)
    calls = 1 if kept.agent == "vs-code-copilot" else 2
    hook = PlannedHook("h", "agent_stop", "agent-hooks", "before_stop", command="true")
    needs = needs_of(kept, hook, home)
    assert needs == surroundings.TranscriptNeeds(counts=("steps",))
    wire, agent = get_wire("agent-hooks"), get_wire(kept.agent)
    event, notes = transcripts.add_transcript(needs, wire, make_event(kept, home), agent, make_env(home))
    assert (event.facts["steps"], notes) == (calls, ())
    known = transcripts.add_transcript(
        needs, wire, make_event(kept, home, facts={"steps": 7}), agent, make_env(home)
    )
    assert known[0].facts["steps"] == 7
    if any(entry.time for entry in read(kept, home).conversation.entries):
        both = needs.replace(counts=("steps", "session_ms"))
        facts = transcripts.add_transcript(both, wire, make_event(kept, home), agent, make_env(home))[0].facts
        begun = time.time() - facts["session_ms"] / 1000
        day = "2026-11-20" if kept.agent in PLAYED else "2026-11-16"
        assert time.strftime("%Y-%m-%d", time.gmtime(begun)) == day


def test_a_subagents_task_is_what_its_call_said(home: Path) -> None:
    record = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Agent"}]}
    record["content"][0]["input"] = {"prompt": "look at it", "description": "d"}  # type: ignore[index]
    path = home / ".claude/projects/x/s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"type": "assistant", "message": record}) + "\n", "utf-8")
    event = Event("subagent_start", "claude-code", session="s1", facts={"transcript": str(path)})
    hook = PlannedHook("h", "subagent_start", "agent-hooks", "subagent_start", command="true")
    wire, agent = get_wire("agent-hooks"), get_wire("claude-code")
    needs = surroundings.find_transcript_needs(hook, wire, event, hook.native, agent, make_env(home))
    assert needs
    assert transcripts.add_transcript(needs, wire, event, agent, make_env(home))[0].prompt == "look at it"


def test_a_converted_hook_that_reads_the_transcript_keeps_the_bridge() -> None:
    """Without the bridge, or where the agent has no transcript, that is reported."""
    reads = {"command": "tail -1 $(jq -r .transcript_path)", "type": "command"}
    plain = {"command": "tail -1 $(jq -r .cwd)", "type": "command"}
    codes = {}
    for target, bare in (("factory-droid", False), ("factory-droid", True), ("augment", False)):
        for name, handler in (("reads", reads), ("plain", plain)):
            text = json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}})
            reading = pipeline.read({".claude/settings.json": text.encode()}, get("claude-code"))
            result = pipeline.convert(reading, get(target), bare=bare)
            codes[name, target, bare] = {finding.code for finding in result.findings}
            is_wrapped = any("hookport wrap" in file.text for file in result.files)
            assert not (name == "reads" and target == "factory-droid") or is_wrapped is not bare
    assert f.TranscriptDiffers.code in codes["reads", "factory-droid", True]
    assert f.FieldUnsent.code in codes["reads", "augment", False]
    assert not any(
        codes["plain", target, False] & {f.TranscriptDiffers.code, f.FieldUnsent.code}
        for target in ("factory-droid", "augment")
    )


@pytest.mark.parametrize("agent", list_agents())
def test_a_transcript_that_no_script_can_read_is_reported(agent: str, tmp_path: Path) -> None:
    """At sync: the agent has none, or one of an unknown shape."""
    root, home = tmp_path / "project", tmp_path / "home"
    for folder in (root / ".git", root / ".claude", home):
        folder.mkdir(parents=True)
    hook = {"hooks": [{"type": "command", "command": "tail -1 $(jq -r .transcript_path)"}]}
    (root / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [hook]}}), "utf-8")
    scope: Any = "project" if any(place.scope == "project" for place in get(agent).locations) else "user"
    (planned,) = sync.plan_sync(str(root), make_env(home), SyncRequest((agent,), scope, "bridge")).agents
    codes = {finding.code for finding in planned.findings}
    assert (f.TranscriptDiffers.code in codes) is (facts_of(agent).transcript == "untranslated")
