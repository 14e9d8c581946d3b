"""An agent's transcript, read in any known format and rewritten in the format that a script expects.

A script for its own agent's file would misread another's. Only a hook that names the field gets a copy in its
own format, with the parts that all formats share: prompts, answers, calls and results. On any problem the
script gets the agent's own file. Formats were measured in November 2026: Claude Code 2.1.325, Codex 0.166.0,
Copilot CLI 1.0.102, VS Code 1.139.1, Droid 0.215.0, Gemini CLI 0.61.0, Qwen Code 0.24.4, pi 0.87.1.
"""

from __future__ import annotations

import os
import time

from hookport.base.files import keep_file
from hookport.model.json_text import dumps, loads
from hookport.model.runs import Call
from hookport.model.value import Value
from hookport.runtime import journal
from hookport.wire import kinds
from hookport.wire.events import name_tool, read_input, write_input
from hookport.wire.spellings import SPELLINGS, get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hookport.base.tree import Tree
    from hookport.model.runs import Event
    from hookport.runtime.surroundings import TranscriptNeeds
    from hookport.wire.table import Wire

    Read = Callable[[Tree], Iterator["TranscriptEntry"]]

# The end of a file is read.
MOST_BYTES = 16 * 1024 * 1024
FOLDER = "transcripts"
SPOILT = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)


class TranscriptEntry(Value):
    """One entry of a conversation: `user`, `assistant`, `call` or `result`.

    `text` is the message or the output; a call has a name and an input. `id` is that of the call, or of the
    answer; a later answer with the same id replaces it.
    """

    kind: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Tree = None
    is_error: bool = False
    time: str = ""


def add_transcript(
    needs: TranscriptNeeds, wire: Wire, event: Event, agent: Wire, env: Mapping[str, str]
) -> Event:
    """Add to an event the transcript in the hook's own format, and the data that only that has."""
    try:
        entries = list(read_entries(str(event.facts["transcript"]), agent.transcript))
        prompt = event.prompt or (_find_task(entries, agent) if needs.task else "")
        copy = _write_copy(entries, wire, event, agent, env) if needs.copy else ""
    except SPOILT:
        return event
    copy_fact = {"transcript": copy} if copy else {}
    facts = {**_count_entries(entries, event, needs.counts), **event.facts, **copy_fact}
    return event.replace(facts=facts, prompt=prompt)


def _count_entries(entries: list[TranscriptEntry], event: Event, names: Sequence[str]) -> dict[str, Tree]:
    facts: dict[str, Tree] = {}
    if "steps" in names:
        prompts = [number for number, entry in enumerate(entries) if entry.kind == "user"]
        start = prompts[-1] if prompts and event.event == "agent_stop" else 0
        facts["steps"] = sum(entry.kind == "call" for entry in entries[start:])
    begun = next((SPELLINGS["ms"][1](entry.time) for entry in entries if entry.time), None)
    if "session_ms" in names and isinstance(begun, int):
        facts["session_ms"] = max(0, int(time.time() * 1000) - begun)
    return facts


def _find_task(entries: list[TranscriptEntry], agent: Wire) -> str:
    """Find the task of the last call of an agent."""
    calls = (_read_call(entry, agent) for entry in reversed(entries) if entry.kind == "call")
    return next(
        (str(call.input["prompt"]) for call in calls if call.tool == "agent" and call.input.get("prompt")), ""
    )


def _read_call(entry: TranscriptEntry, agent: Wire) -> Call:
    """Read a call into canonical terms."""
    raw = entry.input if isinstance(entry.input, dict) else {}
    words = agent.tools.get(entry.name) or kinds.guess_kinds(entry.name, raw)
    known_wire = agent if entry.name in agent.tools else kinds.infer_wire(agent, entry.name, raw)
    tool = words[0] if words else ""
    return Call(tool, entry.name, input=read_input(known_wire, tool, entry.name, raw), id=entry.id)


def _write_copy(
    entries: list[TranscriptEntry], wire: Wire, event: Event, agent: Wire, env: Mapping[str, str]
) -> str:
    """Write a copy in the script's own format and return its path; empty without a state folder."""
    state = journal.find_state_folder(env)
    if not state:
        return ""
    answers = [entry.text for entry in entries if entry.kind == "assistant"]
    call = event.call
    if event.final_message and not (answers and event.final_message.endswith(answers[-1])):
        # Some agents have not written the last answer when its hook runs.
        entries = [*entries, TranscriptEntry("assistant", event.final_message, time=event.timestamp)]
    if call and event.event == "before_tool_execute" and not _has_call(entries, call):
        entries = [
            *entries,
            TranscriptEntry("call", "", call.id, call.native, call.raw, time=event.timestamp),
        ]
    name = "".join(letter if letter.isalnum() else "_" for letter in f"{event.agent}-{event.session}")
    path = os.path.join(state, FOLDER, f"{name[:120]}.jsonl")
    try:
        keep_file(path, "".join(write_lines(entries, wire, event, agent)).encode())
    except OSError:
        return ""
    return path


def _has_call(entries: list[TranscriptEntry], call: Call) -> bool:
    calls = [entry for entry in entries if entry.kind == "call"]
    return any(entry.id == call.id if call.id else entry.input == call.raw for entry in calls[-20:])


def write_lines(entries: list[TranscriptEntry], wire: Wire, event: Event, agent: Wire) -> Iterator[str]:
    """Write a transcript in blocks: one line per entry, without blanks, as scripts search it."""
    before: str | None = None
    for number, entry in enumerate(entries):
        role = "assistant" if entry.kind in ("assistant", "call") else "user"
        message: dict[str, Tree] = {"role": role, "content": _write_content(entry, wire, agent)}
        if role == "assistant":
            model = event.facts.get("model", "")
            message = {"id": entry.id or f"msg_{number}", "type": "message", "model": model, **message}
        line = {
            "parentUuid": before,
            "isSidechain": False,
            "type": role,
            "message": message,
            "uuid": f"{event.session}-{number}",
            "timestamp": entry.time,
            "cwd": event.cwd,
            "sessionId": event.session,
        }
        before = f"{event.session}-{number}"
        yield dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n"


def _write_content(entry: TranscriptEntry, wire: Wire, agent: Wire) -> Tree:
    if entry.kind == "user":
        return entry.text
    if entry.kind == "assistant":
        return [{"type": "text", "text": entry.text}]
    if entry.kind == "result":
        return [
            {
                "tool_use_id": entry.id,
                "type": "tool_result",
                "content": entry.text,
                "is_error": entry.is_error,
            }
        ]
    call = _read_call(entry, agent)
    name = name_tool(wire, call)
    tool_input = write_input(wire, call.tool, name, call.input)
    return [{"type": "tool_use", "id": entry.id, "name": name, "input": tool_input}]


def read_entries(path: str, form: str) -> Iterator[TranscriptEntry]:
    """Read the entries of a transcript in some format, or of its last part if it is large."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MOST_BYTES))
        lines = file.read().split(b"\n")
    lines = lines[1:] if size > MOST_BYTES else lines
    entries: dict[Tree, TranscriptEntry] = {}
    for line in lines:
        try:
            record = loads(line.decode("utf-8", "replace")) if line.strip() else None
        except (ValueError, RecursionError):
            continue  # the agent may still be writing the last line
        if isinstance(record, dict):
            for number, entry in enumerate(FORMS[form](record)):
                # A rewritten answer replaces the first.
                is_again = form == "updates" and entry.id
                entries[(entry.kind, entry.id, number) if is_again else len(entries)] = entry
    yield from entries.values()


def _join_text(value: Tree) -> str:
    """Join the text of a message, or of a list of parts."""
    parts = value if isinstance(value, list) else [value]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


def _parse_json(value: Tree) -> Tree:
    try:
        return loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _read_blocks(record: Tree) -> Iterator[TranscriptEntry]:
    """Read a message with blocks; parts that only the model or only the user sees are skipped."""
    message: Tree = record.get("message")
    if not isinstance(message, dict) or message.get("visibility") or record.get("isMeta"):
        return
    role, content, when = message.get("role"), message.get("content"), str(record.get("timestamp", ""))
    if role == "toolResult":
        failed = message.get("isError") is True
        yield TranscriptEntry(
            "result", _join_text(content), message.get("toolCallId", ""), is_error=failed, time=when
        )
        return
    if role not in ("user", "assistant"):
        return
    name = str(message.get("id") or record.get("id") or record.get("uuid") or "")
    blocks: Tree = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for block in blocks:
        kind = block.get("type")
        if kind == "text" and block.get("text"):
            yield TranscriptEntry(role, block["text"], name if role == "assistant" else "", time=when)
        elif kind in ("tool_use", "toolCall"):
            tool_input = block.get("input", block.get("arguments"))
            yield TranscriptEntry(
                "call", "", block.get("id", ""), block.get("name", ""), tool_input, time=when
            )
        elif kind == "tool_result":
            failed = block.get("is_error") is True
            text = _join_text(block.get("content"))
            yield TranscriptEntry("result", text, block.get("tool_use_id", ""), is_error=failed, time=when)


def _read_items(record: Tree) -> Iterator[TranscriptEntry]:
    """Read one item of a response; injected context has the user's role but another kind."""
    item, when = record.get("payload"), str(record.get("timestamp", ""))
    if record.get("type") != "response_item" or not isinstance(item, dict):
        return
    kind, call = item.get("type", ""), str(item.get("call_id", ""))
    if kind == "message" and item.get("role") in ("user", "assistant"):
        kinds_of_it = get(item, "internal_chat_message_metadata_passthrough.content_item_kinds")
        text = _join_text(item.get("content"))
        is_told = item["role"] == "assistant" or "user.text" in (kinds_of_it or ["user.text"])
        if text and is_told and not text.startswith("<environment_context>"):
            name = str(item.get("id", "")) if item["role"] == "assistant" else ""
            yield TranscriptEntry(item["role"], text, name, time=when)
    elif kind in ("function_call", "custom_tool_call"):
        tool_input = _parse_json(item.get("arguments", item.get("input")))
        yield TranscriptEntry("call", "", call, item.get("name", ""), tool_input, time=when)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        text = _join_text(item.get("output"))
        ended = text.partition("Process exited with code ")[2]
        yield TranscriptEntry("result", text, call, is_error=ended[:1] not in ("", "0"), time=when)


def _read_log(record: Tree) -> Iterator[TranscriptEntry]:
    """Read one line of an event log."""
    kind, data, when = record.get("type"), record.get("data"), str(record.get("timestamp", ""))
    if not isinstance(data, dict):
        return
    if kind == "user.message":
        yield TranscriptEntry("user", str(data.get("content", "")), time=when)
    elif kind == "assistant.message":
        if data.get("content"):
            yield TranscriptEntry(
                "assistant", str(data["content"]), str(data.get("messageId", "")), time=when
            )
        for call in data.get("toolRequests") or ():
            tool_input = _parse_json(call.get("arguments"))
            yield TranscriptEntry(
                "call", "", call.get("toolCallId", ""), call.get("name", ""), tool_input, time=when
            )
    elif kind == "tool.execution_complete":
        failed = data.get("success") is False or bool(get(data, "shellExecution.exitCode"))
        text = _join_text(get(data, "result.content"))
        yield TranscriptEntry("result", text, str(data.get("toolCallId", "")), is_error=failed, time=when)


def _read_updates(record: Tree) -> Iterator[TranscriptEntry]:
    """Read a message that the agent rewrites as it grows, with its calls and their results."""
    kind, when = record.get("type"), str(record.get("timestamp", ""))
    text, name = _join_text(record.get("content")), str(record.get("id", ""))
    if kind == "user" and text:
        yield TranscriptEntry("user", text, time=when)
    elif kind == "gemini":
        if text:
            yield TranscriptEntry("assistant", text, name, time=when)
        for call in record.get("toolCalls") or ():
            key = str(call.get("id", ""))
            yield TranscriptEntry("call", "", key, call.get("name", ""), call.get("args"), time=when)
            answers = call.get("result")
            first = answers[0] if isinstance(answers, list) and answers else answers
            out = get(first, "functionResponse.response") or {}
            text = _join_text(out.get("output") or out.get("error"))
            ended = text.partition("Exit Code: ")[2]
            failed = call.get("status") == "error" or ended[:1] not in ("", "0")
            yield TranscriptEntry("result", text, key, is_error=failed, time=when)


def _read_parts(record: Tree) -> Iterator[TranscriptEntry]:
    """Read a message of parts; `system` lines only repeat others."""
    kind, when = record.get("type"), str(record.get("timestamp", ""))
    parts = get(record, "message.parts")
    if kind not in ("user", "assistant", "tool_result") or not isinstance(parts, list):
        return
    for part in parts:
        if isinstance(part.get("text"), str) and kind != "tool_result" and not part.get("thought"):
            name = str(record.get("uuid", "")) if kind == "assistant" else ""
            yield TranscriptEntry(kind, part["text"], name, time=when)
        elif isinstance(part.get("functionCall"), dict):
            call = part["functionCall"]
            yield TranscriptEntry(
                "call", "", call.get("id", ""), call.get("name", ""), call.get("args"), time=when
            )
        elif isinstance(part.get("functionResponse"), dict):
            done = part["functionResponse"]
            out = done.get("response") or {}
            failed = get(record, "toolCallResult.status") == "error"
            text = _join_text(out.get("output") or out.get("error"))
            yield TranscriptEntry("result", text, done.get("id", ""), is_error=failed, time=when)


FORMS: dict[str, Read] = {
    "blocks": _read_blocks,
    "messages": _read_blocks,
    "tree": _read_blocks,
    "items": _read_items,
    "log": _read_log,
    "updates": _read_updates,
    "parts": _read_parts,
}
