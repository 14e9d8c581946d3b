"""An agent's transcript, read by the agent's table and written again in the shape that a script expects.

A script for its own agent's file would misread another's. Only a hook that names the field gets a copy, with
the parts that all shapes share: prompts, answers, calls and results. If there is no copy, the script gets the
agent's own path, and a note says why.
"""

from __future__ import annotations

import os
import time

from hookport.base.files import keep_file, remove_old_files
from hookport.model.runs import Call
from hookport.model.value import Value
from hookport.runtime import journal, transcript_shape, transcript_store
from hookport.runtime.transcript_shape import SPOILT, Conversation, TranscriptEntry
from hookport.runtime.transcript_store import TranscriptError
from hookport.wire import kinds
from hookport.wire.events import name_tool, read_input, write_input
from hookport.wire.spellings import SPELLINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from hookport.base.tree import Tree
    from hookport.model.runs import Event
    from hookport.runtime.surroundings import TranscriptNeeds
    from hookport.wire.table import Wire

FOLDER = "transcripts"
# The facts that name the transcript of the session, and that of a subagent.
MAIN, OF_AGENT = "transcript", "agent_transcript"
# The fact that holds the path which the payload itself has, where a copy replaces it.
ORIGINAL = "original_transcript"
# Copies of a session that ended are removed after this time.
FORGET_SECONDS = 3600.0
# How long reading may take, and the part of the time that the agent still waits.
MOST_SECONDS, MOST_SHARE = 2.0, 0.25
PAUSE_SECONDS = 0.025
# A name for a file of one session.
LONGEST_NAME = 100
# Events at which the last answer should be in the transcript.
ENDS = ("agent_stop", "session_end", "subagent_stop")


class ReadTranscript(Value):
    """A conversation as read, and the place that it was read from; `trouble` says why there is none."""

    conversation: Conversation = Conversation()
    place: str = ""
    trouble: str = ""


def add_transcript(
    needs: TranscriptNeeds,
    wire: Wire,
    event: Event,
    agent: Wire,
    env: Mapping[str, str],
    deadline: float | None = None,
) -> tuple[Event, tuple[str, ...]]:
    """Add the transcripts in the hook's own shape, and the data that only these have; with notes."""
    facts, notes, prompt = dict(event.facts), [], event.prompt
    for fact in needs.copies or (MAIN,):
        read = read_transcript(event, agent, env, deadline=deadline, fact=fact)
        if not read.place:
            notes += [f"transcript: not translated: {read.trouble}"] if read.trouble else []
            continue
        entries = read.conversation.entries
        if fact == MAIN:
            entries = complete_entries(entries, event)
            prompt = prompt or (_find_task(entries, agent) if needs.task else "")
            facts = {**_count_entries(entries, event, needs.counts), **facts}
        if fact not in needs.copies:
            continue
        try:
            facts[fact] = _write_copy(entries, wire, event, agent, env, fact)
        except OSError as error:
            notes.append(f"transcript: not translated: {error.strerror or error}")
            continue
        except SPOILT as error:
            notes.append(f"transcript: not translated: {type(error).__name__}: {error}")
            continue
        if fact == MAIN:
            facts[ORIGINAL] = event.facts.get(fact) or read.place
        notes += _describe_losses(read.conversation)
    return event.replace(facts=facts, prompt=prompt), tuple(notes)


def _describe_losses(conversation: Conversation) -> tuple[str, ...]:
    """Describe what a copy lacks."""
    notes = []
    if conversation.is_cut:
        notes.append("transcript: only its end was translated, because it is long")
    if conversation.unread:
        records = "record" if conversation.unread == 1 else "records"
        notes.append(f"transcript: left out {conversation.unread} {records} of an unknown kind")
    return tuple(notes)


def read_transcript(
    event: Event,
    agent: Wire,
    env: Mapping[str, str],
    *,
    deadline: float | None = None,
    fact: str = MAIN,
) -> ReadTranscript:
    """Read what an agent wrote down of the conversation; if it is known to write late, wait for the end."""
    begun = time.monotonic()
    left = max(0.0, deadline - begun) * MOST_SHARE if deadline is not None else MOST_SECONDS
    until = begun + min(MOST_SECONDS, left)
    path = str(event.facts.get(fact) or "")
    read = ReadTranscript()
    for table in agent.transcript:
        while True:
            session = transcript_shape.get(event.extra, table.get("session", "")) or event.session
            read = _read_by_table(table, path, str(session), env, until)
            is_late = event.event in ENDS and time.monotonic() < min(until, begun + table.get("late", 0.0))
            if not is_late or _has_end(read.conversation.entries, event):
                break
            time.sleep(PAUSE_SECONDS)
        if read.place:
            break
    return read


def _read_by_table(
    table: Mapping[str, Any], path: str, session: str, env: Mapping[str, str], until: float
) -> ReadTranscript:
    try:
        place = transcript_store.find_place(table, path, session, env)
        if not place:
            return ReadTranscript()
        read = transcript_store.read_records(table, place, session, until)
    except TranscriptError as error:
        return ReadTranscript(trouble=str(error))
    except OSError as error:
        return ReadTranscript(trouble=error.strerror or str(error))
    except SPOILT as error:
        return ReadTranscript(trouble=f"{type(error).__name__}: {error}")
    conversation = transcript_shape.read_entries(table, read.records, is_cut=read.is_cut)
    conversation = conversation.replace(unread=conversation.unread + read.broken)
    if conversation.unread and not conversation.entries:
        return ReadTranscript(trouble=f"its records are not those of {table['of']}")
    return ReadTranscript(conversation, place)


def _has_end(entries: Sequence[TranscriptEntry], event: Event) -> bool:
    """Whether the agent has written its last answer: that of the event, if the event has one."""
    if not entries or entries[-1].kind != "assistant":
        return False
    return not event.final_message or event.final_message.endswith(entries[-1].text)


def complete_entries(entries: Sequence[TranscriptEntry], event: Event) -> Sequence[TranscriptEntry]:
    """Add what the event says and the agent has not written yet: its last answer, the call being judged."""
    answers = [entry.text for entry in entries if entry.kind == "assistant"]
    call = event.call
    if event.final_message and not (answers and event.final_message.endswith(answers[-1])):
        return [*entries, TranscriptEntry("assistant", event.final_message, time=event.timestamp)]
    if call and event.event == "before_tool_execute" and not _has_call(entries, call):
        return [
            *entries,
            TranscriptEntry("call", "", call.id, call.native, call.raw, time=event.timestamp),
        ]
    return entries


def _has_call(entries: Sequence[TranscriptEntry], call: Call) -> bool:
    calls = [entry for entry in entries if entry.kind == "call"]
    return any(entry.id == call.id if call.id else entry.input == call.raw for entry in calls[-20:])


def _count_entries(entries: Sequence[TranscriptEntry], event: Event, names: Sequence[str]) -> dict[str, Tree]:
    facts: dict[str, Tree] = {}
    if "steps" in names:
        prompts = [number for number, entry in enumerate(entries) if entry.kind == "user"]
        start = prompts[-1] if prompts and event.event == "agent_stop" else 0
        facts["steps"] = sum(entry.kind == "call" for entry in entries[start:])
    begun = next((SPELLINGS["ms"][1](entry.time) for entry in entries if entry.time), None)
    if "session_ms" in names and isinstance(begun, int):
        facts["session_ms"] = max(0, int(time.time() * 1000) - begun)
    return facts


def _find_task(entries: Sequence[TranscriptEntry], agent: Wire) -> str:
    """Find the task of the last call of an agent."""
    calls = (read_call(entry, agent) for entry in reversed(entries) if entry.kind == "call")
    return next(
        (str(call.input["prompt"]) for call in calls if call.tool == "agent" and call.input.get("prompt")), ""
    )


def read_call(entry: TranscriptEntry, agent: Wire) -> Call:
    """Read a call into canonical terms, by the agent's name of the tool or else by its input."""
    raw = entry.input if isinstance(entry.input, dict) else {}
    words = agent.tools.get(entry.name) or kinds.guess_kinds(entry.name, raw)
    known_wire = agent if entry.name in agent.tools else kinds.infer_wire(agent, entry.name, raw)
    tool = words[0] if words else ""
    return Call(tool, entry.name, input=read_input(known_wire, tool, entry.name, raw), id=entry.id)


def _write_copy(
    entries: Sequence[TranscriptEntry],
    wire: Wire,
    event: Event,
    agent: Wire,
    env: Mapping[str, str],
    fact: str,
) -> str:
    """Write a copy in the script's own shape and return its path; OSError without a state folder."""
    state = journal.find_state_folder(env)
    if not state:
        raise OSError("no folder for it: HOME is not set")
    table = next(table for table in wire.transcript if "writes" in table)
    # Scripts read the session's id from the file's name.
    folder = os.path.join(state, FOLDER, _make_name(f"{event.agent}-{wire.id}"))
    name = event.session
    if fact != MAIN:
        name += f"-agent-{event.facts.get('agent_id') or event.facts[fact]}"
    path = os.path.join(folder, f"{_make_name(name)}.jsonl")
    words = {
        "session": event.session,
        "cwd": event.cwd,
        "root": event.root,
        "model": event.facts.get("model", ""),
    }

    def name_call(entry: TranscriptEntry) -> tuple[str, Tree]:
        call = read_call(entry, agent)
        name = name_tool(wire, call)
        tool_input = write_input(wire, call.tool, name, call.input)
        renamed = table.get("tools", {}).get(name)
        if not renamed:
            return name, tool_input
        return renamed["name"], {renamed.get(key, key): value for key, value in tool_input.items()}

    lines = transcript_shape.write_lines(table["writes"], entries, words, name_call)
    for parent in (state, os.path.dirname(folder), folder):
        # Only the last one of several new folders would get the mode.
        os.makedirs(parent, 0o700, exist_ok=True)
    keep_file(path, "".join(lines).encode())
    remove_old_copies(env)
    return path


def _make_name(text: str) -> str:
    """Make a file name without a folder; two texts that would get the same one differ in a checksum."""
    name = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in text)[:LONGEST_NAME]
    if name == text and name:
        return name
    import zlib

    return f"{name}-{zlib.crc32(os.fsencode(text)):08x}"


def remove_old_copies(env: Mapping[str, str]) -> None:
    """Remove the copies that were made more than an hour ago."""
    folder = os.path.join(journal.find_state_folder(env), FOLDER)
    try:
        folders = [entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
        for path in folders:
            remove_old_files(path, FORGET_SECONDS)
    except OSError:
        return
