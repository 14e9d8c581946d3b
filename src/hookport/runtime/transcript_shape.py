"""The shape of a transcript as a table: records become entries, entries become lines. Nothing is guessed.

A table describes the records that carry the conversation and names those that carry none; any other record is
kept out and counted. `wire.table.Wire.transcript` documents the keys of a table.
"""

from __future__ import annotations

from hookport.model.json_text import dumps, loads
from hookport.model.value import Value
from hookport.wire.spellings import SPELLINGS, fill, format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from hookport.base.tree import Tree

    Table = Mapping[str, Any]
    Where = Mapping[str, Any]

# What a record of an unknown shape makes its reader stumble over.
SPOILT = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OverflowError)
# A number above is a time in milliseconds, any other is in seconds.
FIRST_MS = 100_000_000_000
# In a place, the record that an element is part of.
RECORD = "^"
# Before a word in `failed`: the text contains it and a number other than 0 after it.
EXIT_MARK = "~"
NO_USAGE: Mapping[str, int] = {}


class TranscriptEntry(Value):
    """One entry of a conversation: `user`, `assistant`, `call` or `result`.

    `text` is the message or the output; a call has a name and an input. `id` is that of the call, or of the
    answer; `message` is the answer that a call is part of. `usage` has `input_tokens`, `output_tokens`,
    `cache_read_input_tokens` and `cache_creation_input_tokens`, as far as the agent writes them down.
    """

    kind: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Tree = None
    is_error: bool = False
    time: str = ""
    message: str = ""
    model: str = ""
    usage: Mapping[str, int] = NO_USAGE


class Conversation(Value):
    """What was read of a transcript: its entries, how many records were not understood, what was cut."""

    entries: Sequence[TranscriptEntry] = ()
    unread: int = 0
    is_cut: bool = False


def read_entries(table: Table, records: Iterable[Tree], *, is_cut: bool = False) -> Conversation:
    """Read the entries of records; a record that is not understood is counted."""
    entries: dict[Any, TranscriptEntry] = {}
    unread = 0
    for record in records:
        try:
            read = _read_record(table, record)
        except SPOILT:
            read = None
        if read is None:
            unread += 1
            continue
        for number, entry in enumerate(read):
            # An answer that is written again as it grows replaces what was read of it before.
            is_again = bool(table.get("again")) and entry.id
            entries[(entry.kind, entry.id, number) if is_again else len(entries)] = entry
    return Conversation(tuple(entries.values()), unread, is_cut)


def _read_record(table: Table, record: Tree) -> list[TranscriptEntry] | None:
    """Read the entries of one record; None if the table does not describe it."""
    if not isinstance(record, dict):
        return None
    groups = [group for group in table["records"] if matches(record, group.get("where", {}))]
    if not groups and not any(matches(record, where) for where in table.get("other", ())):
        return None
    entries: list[TranscriptEntry] = []
    for group in groups:
        for element in _list_elements(record, group.get("each")):
            for row in group["rows"]:
                if matches(element, row.get("of", {})):
                    entries += _read_row(table, row, element, record)
    return entries


def _list_elements(record: dict[str, Tree], place: str | None) -> list[Tree]:
    """List the elements at a place of a record; a text there is one element, as in a list of parts."""
    if place is None:
        return [record]
    value = get(record, place)
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    return [element for element in value if isinstance(element, dict)] if isinstance(value, list) else []


def matches(record: Tree, where: Where) -> bool:
    """Whether a record fits: by place one word, one of several, any value (True) or none (None).

    `{"has": word}` fits a list with the word, or no list at all.
    """
    for place, wanted in where.items():
        value = get(record, place)
        if wanted is None or wanted is True:
            fits = _has_value(value) is bool(wanted)
        elif isinstance(wanted, dict):
            fits = not isinstance(value, list) or wanted["has"] in value
        elif isinstance(wanted, (list, tuple)):
            fits = value in wanted
        else:
            fits = type(value) is type(wanted) and value == wanted
        if not fits:
            return False
    return True


def _has_value(value: Tree) -> bool:
    return value is not None and value is not False and value not in ("", [], {})


def get(tree: Tree, place: str) -> Tree:
    """Find the value at a place, where a number is an element of a list; None if missing."""
    for key in place.split("."):
        if isinstance(tree, list) and key.isdecimal():
            tree = tree[int(key)] if int(key) < len(tree) else None
        elif isinstance(tree, dict):
            tree = tree.get(key)
        else:
            return None
    return tree


def _read_row(
    table: Table, row: Mapping[str, Any], element: Tree, record: dict[str, Tree]
) -> Iterator[TranscriptEntry]:
    kind: str = row["kind"]

    def find(key: str) -> Tree:
        places = row[key] if key in row else table.get(key, ())
        for place in (places,) if isinstance(places, str) else places:
            is_of_record = place.startswith(RECORD)
            value = get(record if is_of_record else element, place.removeprefix(RECORD))
            if value not in (None, ""):
                return value
        return None

    text = _unwrap(_join_text(find("text")), row.get("within", ""))
    if any(text.startswith(start) for start in row.get("not_from", ())):
        return
    if kind in ("user", "assistant") and not text:
        return
    yield TranscriptEntry(
        kind,
        text,
        _read_word(find("id")) if kind != "user" else "",
        _read_word(find("name")) if kind == "call" else "",
        _parse_json(find("input")) if kind == "call" else None,
        is_error=kind == "result" and _has_failed(row.get("failed", ()), element, record, text),
        time=read_time(find("time")),
        message=_read_word(find("message")),
        model=_read_word(find("model")),
        usage=_read_usage(row.get("usage", {}), record),
    )


def _read_word(value: Tree) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _join_text(value: Tree) -> str:
    """Join the text of a message, or of a list of parts."""
    parts = value if isinstance(value, list) else [value]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


def _unwrap(text: str, tag: str) -> str:
    """Take a prompt out of the element that an agent puts around it; the text itself without one."""
    start = text.find(f"<{tag}") if tag else -1
    end = text.rfind(f"</{tag}>") if tag else -1
    if start < 0 or end < start:
        return text
    return text[text.find(">", start) + 1 : end].strip("\n")


def _parse_json(value: Tree) -> Tree:
    try:
        return loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _has_failed(signs: Iterable[str], element: Tree, record: Tree, text: str) -> bool:
    """Whether a result failed, by any sign: a place with a value, `place=word`, `!place` or `~text`."""
    for sign in signs:
        if sign.startswith(EXIT_MARK):
            _, mark, rest = text.partition(sign[1:])
            if mark and rest[:1].isdecimal() and rest[:1] != "0":
                return True
            continue
        place, _, word = sign.lstrip("!").partition("=")
        value = get(record if place.startswith(RECORD) else element, place.removeprefix(RECORD))
        if value is False if sign.startswith("!") else value == word if word else bool(value):
            return True
    return False


def _read_usage(places: Mapping[str, Any], record: Tree) -> dict[str, int]:
    """Read how many tokens an answer used; of several places the later ones are part of the first."""
    usage = {}
    for name, sources in places.items():
        first, *parts = (sources,) if isinstance(sources, str) else sources
        numbers = [get(record, place) for place in (first, *parts)]
        if type(numbers[0]) is int:
            usage[name] = max(0, numbers[0] - sum(part for part in numbers[1:] if type(part) is int))
    return usage


def read_time(value: Tree) -> str:
    """Read a time as text: as the agent wrote it, or from seconds or milliseconds; empty if none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    try:
        return format_time(value / 1000 if value >= FIRST_MS else value)
    except SPOILT:
        return ""


def write_lines(
    templates: Mapping[str, Tree],
    entries: Sequence[TranscriptEntry],
    words: Mapping[str, Tree],
    name_call: Callable[[TranscriptEntry], tuple[str, Tree]],
) -> Iterator[str]:
    """Write entries as lines of a shape: one record for each, without blanks, as scripts search it.

    `words` are those of the whole session; `name_call` gives a call's name and input as readers know them.
    """
    known = {"start": next((entry.time for entry in entries if entry.time), None), **words}
    for template in templates.get("head", ()):
        yield _format_line(fill(template, known))
    # Of each call the id of its line, its name and its input.
    calls: dict[str, tuple[str, str, Tree]] = {}
    before: str | None = None
    for number, entry in enumerate(entries):
        following = entries[number + 1].kind if number + 1 < len(entries) else ""
        uuid = f"{words.get('session', '')}-{number}"
        if entry.kind == "call":
            calls[entry.id] = (uuid, *name_call(entry))
        call, name, tool_input = calls.get(entry.id, (uuid, "", None))
        milliseconds = SPELLINGS["ms"][1](entry.time)
        filled: dict[str, Tree] = {
            **known,
            "kind": entry.kind,
            "text": entry.text,
            "id": entry.id,
            "message": entry.message or entry.id or f"msg_{number}",
            "name": name,
            "input": tool_input,
            "arguments": dumps(tool_input),
            "failed": entry.is_error,
            "succeeded": not entry.is_error,
            "status": "error" if entry.is_error else "success",
            "stop": "tool_use" if "call" in (entry.kind, following) else "end_turn",
            "time": entry.time,
            "ms": milliseconds if isinstance(milliseconds, int) else None,
            "model": entry.model or words.get("model", ""),
            "usage": dict(entry.usage) or None,
            "call": call,
            "number": number,
            "uuid": uuid,
            "parent": before,
        }
        yield _format_line(fill(templates[entry.kind], filled))
        before = uuid


def _format_line(tree: Tree) -> str:
    return dumps(tree, ensure_ascii=True, separators=(",", ":")) + "\n"
