"""Reads and writes events by a wire's tables: payload to `Event`, `Event` to the payload a script expects.

Keys without a table entry travel in `extra`, so reading and writing a payload gives the same payload.
"""

from __future__ import annotations

import time

from hookport.model.runs import Call, Event
from hookport.wire.spellings import (
    drop_path,
    fill,
    find_missing,
    format_time,
    get,
    has_mark,
    merge_trees,
    put,
    subtract_tree,
)
from hookport.wire.table import read_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hookport.base.tree import Tree
    from hookport.wire.table import Places, Wire

# The server in the name of an MCP tool if the agent does not send it.
UNKNOWN_SERVER = "unknown"
# How agents spell MCP tools that no built-in tool is called like: Claude Code, Codex, Qwen Code and Kimi
# Code, Cursor, Augment, Kiro, Factory Droid, Cline and Grok Build 1.0.41.
MCP_SPELLINGS = (
    ("mcp__", "__"),
    ("mcp__", ""),
    ("MCP:", ""),
    ("mcp:", ""),
    ("@", "/"),
    ("", "___"),
    ("", "__"),
)
# Kinds so important to guards that a doubtful name counts.
HARMFUL = ("shell", "file_write", "file_edit", "notebook_edit")
_TEXT = ("session", "cwd", "root", "timestamp", "prompt", "final_message", "source", "subagent")
_OF_CALL = ("tool", "input", "call_id", "result", "error", "server", "mcp_tool", "is_mcp")
_NOT_FACTS = frozenset(("event", "stop_active", *_TEXT, *_OF_CALL))
# The facts that several dialects send, with their meaning. Times are milliseconds.
FACTS = {
    "permission_mode": "default, plan, acceptEdits, auto, dontAsk or bypassPermissions: what runs unasked",
    "transcript": "the file (in some agents the folder) that holds the conversation",
    "original_transcript": "the agent's own transcript, where `transcript` is a translated copy",
    "agent_transcript": "a subagent's transcript",
    "model": "the model's name",
    "effort": "how much the model thinks: low, medium, high, xhigh, max",
    "turn": "an id shared by all events of one prompt",
    "agent_id": "which agent of the session, if not the main one",
    "parent_agent": "the agent that started this one",
    "parent_session": "the session that started this one",
    "session_title": "the session's title",
    "session_ms": "how long the session has lasted",
    "steps": "the number of the agent's steps",
    "messages": "the number of messages in the conversation",
    "duration_ms": "how long the tool ran",
    "tool_status": "how the tool ended: success, failure, cancelled",
    "interrupted": "whether the user stopped the tool",
    "suggestions": "permission rules that the agent offers the user",
    "background_tasks": "tasks that still run in the background",
    "crons": "prompts that are planned",
    "instructions": "the user's instructions for a compaction",
    "summary": "the summary after a compaction",
    "context_tokens": "the size of the context before a compaction",
    "message": "the text of a notification",
    "title": "the title of a notification",
    "error_message": "the error message",
    "file": "the file that an event is about",
    "load_reason": "why a file of instructions was loaded",
    "memory": "whose instructions these are",
}


def read_event(wire: Wire, payload: Mapping[str, Tree], native: str = "") -> Event:
    """Read the event an agent fired; `native` is its name if the payload has none or another one."""
    payload = dict(payload)
    native = native or find_native_name(wire, payload)
    wire = _use_view(wire, native)
    keys = read_rows(wire, "keys", native)
    text = {name: _as_text(get_first(payload, keys.get(name))) for name in _TEXT}
    canonical = get_canonical_name(wire, native)
    text["source"] = _to_canonical(wire.words.get(canonical), text["source"])
    facts = {
        name: _to_canonical(wire.words.get(name), value)
        for name, places in keys.items()
        if name not in _NOT_FACTS and (value := get_first(payload, places)) not in (None, "")
    }
    event = Event(
        event=canonical,
        agent=wire.id,
        native=native,
        call=_read_call(wire, payload, keys, native),
        stop_active=get_first(payload, keys.get("stop_active")) is True,
        facts=facts,
    ).replace(**text)
    written = write_event(wire, event)
    return event.replace(extra=subtract_tree(payload, written), absent=tuple(find_missing(written, payload)))


def write_event(wire: Wire, event: Event, native: str = "") -> dict[str, Tree]:
    """Write the payload that a script of this wire gets for the event.

    `native` is the event it was written for, where several native events stand for the canonical one.
    """
    is_own = event.agent == wire.id and native in ("", event.native)
    native = native or (event.native if is_own else choose_native(wire, event))
    wire = _use_view(wire, native)
    keys = read_rows(wire, "keys", native)
    payload: dict[str, Tree] = {}
    event_name = wire.said.get(native, native)
    _write(payload, keys.get("event"), event_name)
    _write_facts(wire, payload, keys, event, is_own=is_own)
    if event.stop_active or (not is_own and event.event in ("agent_stop", "subagent_stop")):
        _write(payload, keys.get("stop_active"), event.stop_active)
    if event.call is not None:
        _write_call(wire, payload, keys, event.call, native, is_own=is_own)
    if is_own:
        for way in event.absent:
            payload = drop_path(payload, way)
        return merge_trees(payload, event.extra)  # type: ignore[no-any-return]
    words = {
        "root": event.root or event.cwd,
        "cwd": event.cwd,
        "session": event.session,
        "event": event_name,
        "is_mcp": event.call is not None and bool(event.call.mcp_tool),
    }
    payload = {**event.extra, **payload}
    constant: dict[str, Tree] = {}
    for place, value in read_rows(wire, "fixed", native).items():
        if get(payload, place) is None:
            put(constant, place, fill(value, words))
    return merge_trees(payload, constant)  # type: ignore[no-any-return]


def _write_facts(
    wire: Wire, payload: dict[str, Tree], keys: Mapping[str, Tree], event: Event, *, is_own: bool
) -> None:
    """Write the event's attributes and facts, without its call, in the wire's spelling."""
    for name in _TEXT:
        value = getattr(event, name)
        if name == "timestamp" and not value and not is_own:
            value = format_time(time.time())
        if value:
            value = _to_native(wire.words.get(event.event), value) if name == "source" else value
            _write(payload, keys.get(name), value)
    for name, value in event.facts.items():
        _write(payload, keys.get(name), _to_native(wire.words.get(name), value))


def find_subject(wire: Wire, event: Event, native: str, subject: str) -> str:
    """The text that a matcher of this wire tests on an event without a tool, in the wire's words."""
    sent = event.extra.get(subject)
    if isinstance(sent, str) and sent and event.agent == wire.id:
        return sent  # as it was sent, where that is one of several words for the same
    name = find_subject_field(wire, event.event, native, subject)
    value = getattr(event, name) if name in _TEXT else event.facts.get(name)
    words = wire.words.get(event.event if name == "source" else name)
    word = _to_native(words, value) if value else sent
    return word if isinstance(word, str) else ""


def find_subject_field(wire: Wire, event: str, native: str, subject: str) -> str:
    """The event attribute or fact that a matcher of this wire tests."""
    usual = "subagent" if event.startswith("subagent") else "source"
    keys = read_rows(_use_view(wire, native), "keys", native)
    return next((name for name, places in keys.items() if _names_place(places, subject)), usual)


def list_places(wire: Wire, native: str, name: str) -> list[str]:
    """The places of an attribute in a native event's payload, without their spelling."""
    places = read_rows(wire, "keys", native).get(name)
    return [] if isinstance(places, dict) else [place.partition(":")[0] for place in as_list(places)]


def _names_place(places: Tree, subject: str) -> bool:
    if isinstance(places, dict):
        return False
    return any(place.partition(":")[0] == subject for place in as_list(places))


def _to_canonical(words: Mapping[str, Tree] | None, value: Tree) -> Tree:
    """The canonical value of a native one; the native value if it has none."""
    if words and isinstance(value, str):
        for canonical, natives in words.items():
            if canonical != "*" and value in as_list(natives):
                return canonical
    return value


def _to_native(words: Mapping[str, Tree] | None, value: Tree) -> Tree:
    """The native value of a canonical one."""
    if not words or not isinstance(value, str):
        return value
    return next(iter(as_list(words.get(value) or words.get("*"))), value)


def list_roots(wire: Wire, payload: Mapping[str, Tree], native: str) -> list[str]:
    """Every root that a payload names; an event holds only the first."""
    roots: list[Tree] = []
    for place in as_list(read_rows(_use_view(wire, native), "keys", native).get("root")):
        value = get(payload, place.partition(":")[0])
        roots += value if isinstance(value, list) else [value]
    return [root for root in roots if isinstance(root, str) and root]


def find_native_name(wire: Wire, payload: Mapping[str, Tree]) -> str:
    """The native event that a payload names or whose keys it has; empty if unclear."""
    places = [wire.keys.get("event"), *(row.get("keys", {}).get("event") for row in wire.by_event.values())]
    for place in dict.fromkeys(place_name for each in places for place_name in as_list(each)):
        event_name = get(payload, place)
        if isinstance(event_name, str) and event_name:
            named = [native for native in wire.events if wire.said.get(native, native) == event_name]
            if not named:
                named = [native for native in wire.events if native.lower() == event_name.lower()]
            return _choose_event(wire, named, payload) if named else event_name
    return _choose_event(wire, list(wire.tells), payload)


def get_canonical_name(wire: Wire, native: str) -> str:
    """The canonical event of a native one."""
    return wire.events.get(native) or f"{wire.id}:{native}"


def choose_native(wire: Wire, event: Event) -> str:
    """The native event a script of this wire expects; the canonical name if it has none."""
    rows = wire.natives.get(event.event, ())
    usual = str(rows[0][1]) if rows else event.event.partition(":")[2] or event.event
    return find_fired_native(wire, event) or usual


def find_fired_native(wire: Wire, event: Event) -> str:
    """The native event that an agent of this wire fires for the event; empty if none."""
    call, rows = event.call, wire.natives.get(event.event, ())
    fits = (
        native for tools, native in rows if not tools or call is None or set(tools) & set(_list_words(call))
    )
    return str(next(fits, ""))


def name_tool(wire: Wire, call: Call, native: str = "") -> str:
    """The tool's name for scripts of this wire."""
    if call.server or call.mcp_tool:
        return name_mcp_tool(wire, call.server, call.mcp_tool)
    names = {**wire.names, **wire.event_names.get(native, {})}
    return str(names[call.tool][0]) if names.get(call.tool) else call.native or call.tool


def name_mcp_tool(wire: Wire, server: str, tool: str) -> str:
    """An MCP tool's name as the wire combines it."""
    prefix, joint, allowed, longest = wire.mcp or ("mcp__", "__", "", 0)
    if "server last" in wire.traits:
        return f"{tool}{joint}{server or UNKNOWN_SERVER}"
    return spell_mcp_name(
        f"{prefix}{server or UNKNOWN_SERVER}" if joint else prefix, joint, tool, allowed, longest
    )


def spell_mcp_name(server: str, joint: str, tool: str, allowed: str, longest: int) -> str:
    """An MCP tool's name: `_` for characters outside `allowed` (a regex set), shortened in the middle."""
    if allowed:
        import re

        server, tool = (re.sub(f"[^{allowed}]", "_", part) for part in (server, tool))
    name = server + joint + tool
    if longest and len(name) > longest:
        half = (longest - 3) // 2
        name = f"{name[:half]}...{name[-half:]}"
    return name


# The row of `inputs` that says what stands around the arguments of MCP tools.
WRAPPED = "mcp"


def read_input(wire: Wire, tool: str, native: str, raw: Tree) -> dict[str, Tree]:
    """Read a tool's input into canonical field names; unknown fields keep their names."""
    if not isinstance(raw, dict):
        return {"text": raw} if raw is not None else {}
    if key := find_wrapped(wire, raw):
        raw = raw[key]
    if native in wire.numbered:
        raw = _gather_edits(raw)
    names = {
        field.partition(":")[0]: (canonical, field)
        for canonical, fields in find_fields(wire, tool, native).items()
        for field in as_list(fields)
    }
    fields: dict[str, Tree] = {}
    for key, value in raw.items():
        canonical, field = names.get(key, (key, key))
        if canonical in fields and canonical != key:
            canonical, field = key, key
        plain = get({key: value}, field) if field != key else value
        fields[canonical] = _rename_edits(wire, plain, into=True) if canonical == "edits" else plain
    return fields


def write_input(wire: Wire, tool: str, native: str, canonical: Mapping[str, Tree]) -> Tree:
    """Write a canonical input with the wire's field names."""
    if native in wire.patches and ("patch" in canonical or native not in wire.inputs):
        from hookport.wire import patch

        text = canonical.get("patch")
        text = text if isinstance(text, str) else patch.render([{"tool": tool, **canonical}])
        field = wire.patches[native]
        return {field: text} if field else text
    if native in wire.batches:
        (field, *_), _ = find_batch(wire, native)
        if not isinstance(canonical.get(field), list):
            return {field: [write_element(wire, tool, native, canonical)]}
    raw = rename_fields(wire, tool, native, canonical)
    if native in wire.variants:
        field, by_value = wire.variants[native]
        value = next((value for value, chosen in by_value.items() if chosen == tool and value != "*"), "")
        if value and field not in raw:
            raw[field] = value
    return _number_edits(raw) if native in wire.numbered else raw


def find_wrapped(wire: Wire, raw: Tree) -> str:
    """The key of the arguments of an MCP tool in what the agent may put around them; empty if it did not."""
    wrapper = wire.inputs.get(WRAPPED)
    if not wrapper or not isinstance(raw, dict) or raw.keys() != wrapper.keys():
        return ""
    return next((key for key, word in wrapper.items() if word == "$input" and isinstance(raw[key], dict)), "")


def list_variables(wire: Wire, native: str) -> Mapping[str, str]:
    """The environment variables of scripts of this wire on a native event, with their `$words`."""
    return read_rows(wire, "env", native)


def fill_variables(
    wire: Wire, event: Event, package: str, native: str = "", prepared: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Fill in the environment variables of a script of this wire; `prepared` holds values for their words."""
    native = native or choose_native(wire, event)
    call = event.call or Call()
    words: dict[str, Tree] = {
        "root": event.root or event.cwd,
        "cwd": event.cwd,
        "package": package,
        "session": event.session,
        "event": native,
        "tool": name_tool(wire, call),
        "path": call.input.get("path", ""),
        "prompt": event.prompt,
        "transcript": event.facts.get("transcript", ""),
        "effort": event.facts.get("effort", ""),
        "mode": _to_native(wire.words.get("permission_mode"), event.facts.get("permission_mode", "")),
        "data": "",
        "env_file": "",
        **(prepared or {}),
    }
    filled = {name: fill(value, words) for name, value in list_variables(wire, native).items()}
    return {name: value for name, value in filled.items() if isinstance(value, str) and value}


def _use_view(wire: Wire, native: str) -> Wire:
    view = wire.by_event.get(native, {}).get("view")
    return wire.replace(**view) if view else wire


def as_list(places: Places | None) -> Iterable[str]:
    return () if not places else [places] if isinstance(places, str) else places


def get_first(payload: Mapping[str, Tree], places: Places | None) -> Tree:
    """The value at the first of several places that has one."""
    for place in as_list(places):
        value = get(payload, place)
        if value is not None:
            return value
    return None


def _write(payload: dict[str, Tree], places: Places | None, value: Tree) -> None:
    for place in as_list(places):
        put(payload, place, value)


def _as_text(value: Tree) -> str:
    return value if isinstance(value, str) else str(value) if value else ""


def _choose_event(wire: Wire, natives: list[str], payload: Mapping[str, Tree]) -> str:
    """The first of several events whose keys the payload has, the most specific first."""
    ranked = sorted(natives, key=lambda native: -len(wire.tells.get(native, ())))
    for native in ranked:
        if all(has_mark(payload, mark) for mark in wire.tells.get(native, ())):
            return native
    return natives[0] if len(natives) == 1 else ""


def _list_words(call: Call) -> list[str]:
    """The words by which an event's list of tools may name the call."""
    return [word for word in (call.tool, *call.also, "mcp" if call.mcp_tool else "") if word]


def _read_call(wire: Wire, payload: Mapping[str, Tree], keys: Mapping[str, Tree], native: str) -> Call | None:
    name = _as_text(get_first(payload, keys.get("tool")))
    tools = wire.event_tools.get(native, ())
    server, mcp_tool = (_as_text(get_first(payload, keys.get(key))) for key in ("server", "mcp_tool"))
    if not (name or tools or mcp_tool):
        return None
    input_place = keys.get("input")
    if isinstance(input_place, dict):
        raw = {
            field: value for field, place in input_place.items() if (value := get(payload, place)) is not None
        }
    else:
        raw = get_first(payload, input_place)
    event_names = wire.event_names.get(native, {})
    words = [tool for tool, natives in event_names.items() if name in natives] or _find_tools(wire, name)
    words = words or [tool for tool in tools if tool != "mcp"] if not mcp_tool else []
    is_told = bool(words or mcp_tool)
    if not is_told and name:
        is_last = "server last" in wire.traits and get_first(payload, keys.get("is_mcp")) is not False
        server, mcp_tool = _split_server_last(wire, name, server) if is_last else _split_mcp_name(wire, name)
        is_told = bool(mcp_tool)
    if name in wire.variants and isinstance(raw, dict):
        words = _choose_variant(wire.variants[name], raw) or words
    known_by = "name"
    if name and not is_told and not is_other_tool(wire, name):
        words = _guess_kinds(name, raw)
        if "bare MCP" in wire.traits:
            # It may as well be an MCP tool, which the agent shows under its bare name.
            mcp_tool, words = name, ["", *(word for word in words if word in HARMFUL)]
            known_by = "input" if words[1:] else "name"
        else:
            known_by = "input" if words else ""
            wire = infer_wire(wire, Call(native=name, raw=raw, known_by=known_by))
    tool = words[0] if words else ""
    result = get_first(payload, keys.get("result"))
    call = Call(
        tool=tool,
        also=tuple(words[1:]),
        native=name or native,
        input=_read_named_fields(wire, raw)
        if isinstance(input_place, dict)
        else read_input(wire, tool, name or native, raw),
        raw=raw,
        id=_as_text(get_first(payload, keys.get("call_id"))),
        result=result,
        text=read_result_text(wire, result),
        error=get_first(payload, keys.get("error")),
        server=server,
        mcp_tool=mcp_tool,
        known_by=known_by,
    )
    return call if mcp_tool else expand_call(wire, call)


def recast_call(wire: Wire, call: Call, word: str) -> Call:
    """A call of an unknown tool as one of its possible kinds."""
    plain = read_input(infer_wire(wire, call), word, call.native, call.raw)
    if isinstance(plain.get("command"), list):
        plain["command"] = "\n".join(map(str, plain["command"]))
    return call.replace(tool=word, also=(), server="", mcp_tool="", input=plain)


def names_tool(wire: Wire, payload: Mapping[str, Tree], native: str) -> bool:
    """Whether a payload names no tool, or a tool as the agent names its tools."""
    wire = _use_view(wire, native)
    name = _as_text(get_first(payload, read_rows(wire, "keys", native).get("tool")))
    event_names = {
        native_tool for names in wire.event_names.get(native, {}).values() for native_tool in names
    }
    if (
        not name
        or "bare MCP" in wire.traits
        or wire.event_tools.get(native)
        or name in event_names
        or _find_tools(wire, name)
    ):
        return True
    is_mcp = any(
        _split_server_last(wire, name, "") if "server last" in wire.traits else _split_mcp_name(wire, name)
    )
    return is_mcp or is_other_tool(wire, name)


def _guess_kinds(name: str, raw: Tree) -> list[str]:
    from hookport.wire import kinds

    return list(kinds.guess_kinds(name, raw))


def infer_wire(wire: Wire, call: Call) -> Wire:
    """The agent's wire with an unknown tool inferred from the input of its call."""
    if call.known_by != "input":
        return wire
    from hookport.wire import kinds

    return kinds.infer_wire(wire, call.native, call.raw)


def is_other_tool(wire: Wire, name: str) -> bool:
    """Whether a tool has no canonical word and needs no guard."""
    from hookport.wire import kinds

    starts = (pattern[:-1] for pattern in wire.others if pattern[-1:] == "*")
    return name in wire.others or name.startswith(tuple(starts)) or kinds.is_harmless(name)


def _find_tools(wire: Wire, name: str) -> list[str]:
    """The words for a native tool, also by a prefix in the table (`team_*`, `sub_.*`)."""
    words = wire.tools.get(name)
    if words is None and name:
        starts = [pattern for pattern in wire.tools if pattern[-1:] == "*"]
        words = next(
            (wire.tools[start] for start in starts if name.startswith(start.rstrip("*").rstrip("."))), ()
        )
    return list(words or ())


def _choose_variant(variant: Sequence[Tree], raw: Mapping[str, Tree]) -> list[str]:
    field, by_value = variant
    value = raw.get(field)
    chosen = by_value.get("" if value is None else str(value), by_value.get("*"))
    if chosen is None or isinstance(chosen, str):
        return [] if chosen is None else [chosen]
    return _choose_variant(chosen, raw)


def read_result_text(wire: Wire, result: Tree) -> str | None:
    """The text of a tool's result; None if it has none, which differs from an empty one."""
    if isinstance(result, str):
        return result
    for place in wire.texts:
        text = get(result, place)
        if isinstance(text, str):
            return text
    return None


def _split_mcp_name(wire: Wire, name: str) -> tuple[str, str]:
    """(server, tool) of a name as the agent spells it, else in any unambiguous spelling."""
    if wire.mcp and not wire.mcp[0] and not wire.mcp[1]:
        return "", name
    spellings = [(wire.mcp[0], wire.mcp[1])] if wire.mcp and "server last" not in wire.traits else []
    for prefix, joint in (*spellings, *MCP_SPELLINGS):
        bare = name.removeprefix(prefix)
        if prefix and bare == name:
            continue
        server, separator, tool = bare.partition(joint) if joint else ("", "", bare)
        if (separator and server and tool) or (not joint and tool):
            return server, tool
    return "", ""


def _split_server_last(wire: Wire, name: str, server: str) -> tuple[str, str]:
    """(server, tool) of `tool_server`; no server if several endings may be it."""
    joint = wire.mcp[1]
    if server and name.endswith(joint + server):
        return server, name.removesuffix(joint + server)
    tool, separator, server = name.rpartition(joint)
    if not (separator and tool and server):
        return "", ""
    return ("", name) if joint in tool else (server, tool)


def takes_patch(wire: Wire, native: str, raw: Tree) -> bool:
    """Whether a tool's input must be a patch: with a row of `inputs` too, only one that has the field."""
    field = wire.patches.get(native)
    return field is not None and not (native in wire.inputs and isinstance(raw, dict) and field not in raw)


def expand_call(wire: Wire, call: Call) -> Call:
    """The call with a part for each of its actions."""
    if takes_patch(wire, call.native, call.raw):
        from hookport.wire import patch

        field = find_patch_field(wire, call)
        text = call.raw.get(field) if field and isinstance(call.raw, dict) else call.raw
        patch_parts = patch.read_parts(text) if isinstance(text, str) else None
        if patch_parts is None:
            return call.replace(parts=())
        parts = [
            call.replace(
                tool=part["tool"],
                # A file at its new place is written there.
                also=("file_write",) if "moved_from" in part else (),
                input={k: v for k, v in part.items() if k != "tool"},
                parts=(),
            )
            for part in patch.add_targets(patch_parts)
        ]
        first = dict(parts[0].input) if parts else {}
        return call.replace(parts=tuple(parts), input={**first, "patch": text})
    if call.native in wire.batches and call.raw is not None:
        fields, plain = find_batch(wire, call.native)
        elements = list_elements(fields, call.raw)
        parts = [
            call.replace(input=_read_element(wire, call, plain or "path", element), parts=())
            for element in elements
        ]
        rest = {key: value for key, value in call.input.items() if key not in (*fields, "text")}
        first = dict(parts[0].input) if parts else {}
        return call.replace(parts=tuple(parts), input={**rest, **first, fields[0]: elements})
    return _expand_edits(call)


def find_batch(wire: Wire, native: str) -> tuple[Sequence[str], str]:
    fields, plain = wire.batches[native]
    return (fields,) if isinstance(fields, str) else fields, plain


def list_elements(fields: Sequence[str], raw: Tree) -> list[Tree]:
    """The elements of a call's list; without a list, the input itself is the one element."""
    if isinstance(raw, dict):
        raw = next((raw[field] for field in fields if raw.get(field) is not None), raw)
    return raw if isinstance(raw, list) else [raw]


def _read_element(wire: Wire, call: Call, plain: str, element: Tree) -> dict[str, Tree]:
    """Read one element of a call's list into an input."""
    fields = {plain: element}
    if isinstance(element, dict):
        fields = read_input(wire, call.tool, call.native, element)
    words = element if isinstance(element, list) else [fields.get(plain)]
    args = fields.pop("args") if isinstance(fields.get("args"), (list, str)) else []
    words = [*words, *([args] if isinstance(args, str) else args)]
    if isinstance(element, list) or len(words) > 1:
        import shlex

        fields[plain] = shlex.join(map(str, words))
    return fields


def write_element(wire: Wire, tool: str, native: str, canonical: Mapping[str, Tree]) -> Tree:
    """Write one element of a call's list."""
    _, plain = find_batch(wire, native)
    return canonical.get(plain) if plain else rename_fields(wire, tool, native, canonical)


def _expand_edits(call: Call) -> Call:
    """The call with a part for each of its edits; an edit that replaces nothing writes the file."""
    edits, words = call.input.get("edits"), (call.tool, *call.also)
    if not isinstance(edits, list) or not {"file_write", "file_edit"} & set(words):
        return call
    rest = {key: value for key, value in call.input.items() if key != "edits"}
    parts = []
    for edit in edits:
        if not isinstance(edit, dict):
            return call
        if "file_write" in words and not edit.get("old"):
            content = {**rest, "content": edit.get("new", "")}
            parts.append(call.replace(tool="file_write", also=(), input=content, parts=()))
        else:
            tool = "file_edit" if "file_edit" in words else call.tool
            parts.append(call.replace(tool=tool, also=(), input={**rest, **edit}, parts=()))
    return call.replace(parts=tuple(parts))


def _read_named_fields(wire: Wire, raw: Mapping[str, Tree]) -> dict[str, Tree]:
    """Read an input whose fields the payload's keys name."""
    return {
        key: _rename_edits(wire, value, into=True) if key == "edits" else value for key, value in raw.items()
    }


def find_patch_field(wire: Wire, call: Call) -> str:
    """The field that holds the patch: the table's, else the one that contains a patch."""
    field = wire.patches[call.native]
    if not field or not isinstance(call.raw, dict) or field in call.raw:
        return field
    texts = (key for key, value in call.raw.items() if isinstance(value, str) and "*** Begin Patch" in value)
    return next(texts, field)


def _write_call(
    wire: Wire, payload: dict[str, Tree], keys: Mapping[str, Tree], call: Call, native: str, *, is_own: bool
) -> None:
    name = call.native if is_own else name_tool(wire, call, native)
    raw = call.raw if is_own else write_input(wire, call.tool, name, call.input)
    if name != native or not is_own:
        _write(payload, keys.get("tool"), name)
    input_place = keys.get("input")
    if isinstance(input_place, dict):
        for field, place in input_place.items():
            value = raw.get(field) if is_own else _write_field(wire, call, field)
            if value is not None:
                put(payload, place, value)
    elif raw is not None:
        _write(payload, input_place, raw)
    for key, value in (("call_id", call.id), ("server", call.server), ("mcp_tool", call.mcp_tool)):
        if value:
            _write(payload, keys.get(key), value)
    if call.error is not None:
        _write(payload, keys.get("error"), call.error)
    # A script expects a result after a tool, even if the agent sends none.
    if call.result is not None or (not is_own and wire.events.get(native) == "after_tool_execute"):
        _write(payload, keys.get("result"), call.result if is_own else _write_result(wire, call, native))


def _write_field(wire: Wire, call: Call, field: str) -> Tree:
    """Write a field of a call's input; a list of edits is built from what the call writes."""
    value = call.input.get(field)
    if field != "edits":
        return value
    if value is None and {"old", "new"} & set(call.input):
        value = [{"old": call.input.get("old", ""), "new": call.input.get("new", "")}]
    elif value is None and "content" in call.input:
        value = [{"old": "", "new": call.input["content"]}]
    return _rename_edits(wire, value, into=False)


def _write_result(wire: Wire, call: Call, native: str) -> Tree:
    template = wire.results.get(native, wire.results.get(call.tool, wire.results.get("*")))
    result = call.result if call.text is None else call.text
    text = "" if result is None else result
    return text if template is None else fill(template, {"text": text})


def find_fields(wire: Wire, tool: str, native: str) -> Mapping[str, Places]:
    return wire.inputs.get(native) or wire.inputs.get(tool) or wire.inputs.get("*", {})


def rename_fields(wire: Wire, tool: str, native: str, canonical: Mapping[str, Tree]) -> dict[str, Tree]:
    names = find_fields(wire, tool, native)
    fields: dict[str, Tree] = {}
    for key, value in canonical.items():
        if key in names:
            field = next(iter(as_list(names[key])))
            put(fields, field, _rename_edits(wire, value, into=False) if key == "edits" else value)
        else:
            fields[key] = value
    return fields


def _gather_edits(raw: Mapping[str, Tree]) -> dict[str, Tree]:
    """Gather numbered edit fields into a list of edits."""
    fields: dict[str, Tree] = {}
    edits: dict[int, dict[str, Tree]] = {}
    for key, value in raw.items():
        field, _, number = key.rpartition("_")
        if field and number.isdecimal() and number.isascii() and str(int(number)) == number:
            edits.setdefault(int(number), {})[field] = value
        else:
            fields[key] = value
    if not edits or "edits" in fields or sorted(edits) != list(range(1, len(edits) + 1)):
        return dict(raw)
    return {**fields, "edits": [edits[number] for number in sorted(edits)]}


def _number_edits(raw: Mapping[str, Tree]) -> dict[str, Tree]:
    """Spread a list of edits into numbered fields."""
    edits = raw.get("edits")
    if not isinstance(edits, list) or not all(isinstance(edit, dict) for edit in edits):
        return dict(raw)
    other_fields = {key: value for key, value in raw.items() if key != "edits"}
    fields = {f"{key}_{number}": value for number, edit in enumerate(edits, 1) for key, value in edit.items()}
    return {**other_fields, **fields}


def _rename_edits(wire: Wire, edits: Tree, *, into: bool) -> Tree:
    """Rename the fields of a list of edits to canonical names (`into`) or from them."""
    fields = wire.inputs.get("edits", {})
    names: Mapping[str, str] = {field: name for name, field in fields.items()} if into else fields
    if isinstance(edits, dict):
        edits = [edits]
    if not isinstance(edits, list):
        return edits
    return [
        {names.get(key, key): value for key, value in edit.items()} if isinstance(edit, dict) else edit
        for edit in edits
    ]
