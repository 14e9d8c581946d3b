"""Events by a wire's tables: an agent's payload to an `Event`, an `Event` to the payload a script expects.

What a table does not name travels along in `extra`, so a payload that is read and written again is the same.
"""

from __future__ import annotations

import time

from hookport.model.runs import Call, Event
from hookport.wire.spellings import bears, dropped, fill, get, iso, lacking, merged, put, without

# Fields that make a call of a tool what it is, and are texts.
WHOLE = {"file_write": ("path", "content"), "file_edit": ("path", "old", "new"), "shell": ("command",)}
# Fields that let a call do more than it could: a script whose rewrite is the whole input and leaves them out
# takes them away, which is the stricter reading (Claude Code 2.1.325: the Bash tool).
PRIVILEGES = ("dangerouslyDisableSandbox",)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from hookport.wire.table import Places, Wire

    Tree = Any

# In the name of an MCP tool whose server the agent does not say.
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
# Kinds that matter to a guard so much that a name in doubt counts.
HARMFUL = ("shell", "file_write", "file_edit", "notebook_edit")
_TEXT = ("session", "cwd", "root", "timestamp", "prompt", "final_message", "source", "subagent")
_OF_CALL = ("tool", "input", "call_id", "result", "error", "server", "mcp_tool", "is_mcp")
_OWN = frozenset(("event", "stop_active", *_TEXT, *_OF_CALL))
# The facts that several dialects tell, with what they are. Times are milliseconds.
FACTS = {
    "permission_mode": "default, plan, acceptEdits, auto, dontAsk or bypassPermissions: what runs unasked",
    "transcript": "the file (in some agents the folder) that holds the conversation",
    "agent_transcript": "the same of a subagent",
    "model": "the model's name",
    "effort": "how much the model is to think: low, medium, high, xhigh, max",
    "turn": "what all events have in common that one prompt sets off",
    "agent_id": "which agent of the session, where it is not the main one",
    "parent_agent": "the agent that started this one",
    "parent_session": "the session that started this one",
    "session_title": "what the session is called",
    "session_ms": "how long the session has lasted",
    "steps": "the number of steps that the agent has made",
    "messages": "the number of messages in the conversation",
    "duration_ms": "how long the tool ran",
    "tool_status": "how the tool ended: success, failure, cancelled",
    "interrupted": "whether the user stopped the tool",
    "suggestions": "permission rules that the user is offered",
    "background_tasks": "what still runs in the background",
    "crons": "prompts that are planned",
    "instructions": "what a compaction is to keep in mind",
    "summary": "what a compaction left",
    "context_tokens": "the size of the context before a compaction",
    "message": "what a notification says",
    "title": "and its title",
    "error_message": "what went wrong, in words",
    "file": "the file that an event is about",
    "load_reason": "why a file of instructions was loaded",
    "memory": "whose instructions these are",
}


def read_event(wire: Wire, payload: Mapping[str, Tree], native: str = "") -> Event:
    """The event an agent fired; `native` is its name where the payload does not say it or says another."""
    payload = dict(payload)
    native = native or native_name(wire, payload)
    wire = _view(wire, native)
    keys = _keys(wire, native)
    text = {name: _as_text(at(payload, keys.get(name))) for name in _TEXT}
    canonical = canonical_name(wire, native)
    text["source"] = _understood(wire.words.get(canonical), text["source"])
    facts = {
        name: _understood(wire.words.get(name), value)
        for name, places in keys.items()
        if name not in _OWN and (value := at(payload, places)) not in (None, "")
    }
    event = Event(
        event=canonical,
        agent=wire.id,
        native=native,
        call=_read_call(wire, payload, keys, native),
        stop_active=at(payload, keys.get("stop_active")) is True,
        facts=facts,
    ).replace(**text)
    written = write_event(wire, event)
    return event.replace(extra=without(payload, written), absent=tuple(lacking(written, payload)))


def write_event(wire: Wire, event: Event, native: str = "") -> dict[str, Tree]:
    """The payload that a script of this wire would get for the event.

    `native` is the event it was written for, where several native events stand for the canonical one.
    """
    is_own = event.agent == wire.id and native in ("", event.native)
    native = native or (event.native if is_own else native_for(wire, event))
    wire = _view(wire, native)
    keys = _keys(wire, native)
    payload: dict[str, Tree] = {}
    said = wire.said.get(native, native)
    _write(payload, keys.get("event"), said)
    _write_said(wire, payload, keys, event, is_own=is_own)
    if event.stop_active or (not is_own and event.event in ("agent_stop", "subagent_stop")):
        _write(payload, keys.get("stop_active"), event.stop_active)
    if event.call is not None:
        _write_call(wire, payload, keys, event.call, native, is_own=is_own)
    if is_own:
        for way in event.absent:
            payload = dropped(payload, way)
        return merged(payload, event.extra)  # type: ignore[no-any-return]
    words = {
        "root": event.root or event.cwd,
        "cwd": event.cwd,
        "session": event.session,
        "event": said,
        "is_mcp": event.call is not None and bool(event.call.mcp_tool),
    }
    payload = {**event.extra, **payload}
    constant: dict[str, Tree] = {}
    for place, value in {**wire.fixed, **wire.fixed_of.get(native, {})}.items():
        if get(payload, place) is None:
            put(constant, place, fill(value, words))
    return merged(payload, constant)  # type: ignore[no-any-return]


def _write_said(
    wire: Wire, payload: dict[str, Tree], keys: Mapping[str, Tree], event: Event, *, is_own: bool
) -> None:
    """Write what an event says besides its call, in the wire's own words."""
    for name in _TEXT:
        value = getattr(event, name)
        if name == "timestamp" and not value and not is_own:
            value = iso(time.time())
        if value:
            value = _worded(wire.words.get(event.event), value) if name == "source" else value
            _write(payload, keys.get(name), value)
    for name, value in event.facts.items():
        _write(payload, keys.get(name), _worded(wire.words.get(name), value))


def subject_of(wire: Wire, event: Event, native: str, subject: str) -> str:
    """What a matcher of this wire is tested against where the event is not about a tool, in its own words."""
    own = event.extra.get(subject)
    if isinstance(own, str) and own and event.agent == wire.id:
        return own  # as it was sent, where that is one of several words for the same
    name = subject_field(wire, event.event, native, subject)
    value = getattr(event, name) if name in _TEXT else event.facts.get(name)
    words = wire.words.get(event.event if name == "source" else name)
    said = _worded(words, value) if value else own
    return said if isinstance(said, str) else ""


def subject_field(wire: Wire, event: str, native: str, subject: str) -> str:
    """What an event has of that on which a matcher of this wire is tested."""
    usual = "subagent" if event.startswith("subagent") else "source"
    keys = _keys(_view(wire, native), native)
    return next((name for name, places in keys.items() if _names_place(places, subject)), usual)


def places_of(wire: Wire, native: str, name: str) -> list[str]:
    """Where the payload of a native event has something, without how it is spelled there."""
    places = _keys(wire, native).get(name)
    return [] if isinstance(places, dict) else [place.partition(":")[0] for place in _listed(places)]


def _names_place(places: Tree, subject: str) -> bool:
    if isinstance(places, dict):
        return False
    return any(place.partition(":")[0] == subject for place in _listed(places))


def _understood(words: Mapping[str, Tree] | None, value: Tree) -> Tree:
    """The canonical word for a native one; the native one where it has none."""
    if words and isinstance(value, str):
        for canonical, natives in words.items():
            if canonical != "*" and value in _listed(natives):
                return canonical
    return value


def _worded(words: Mapping[str, Tree] | None, value: Tree) -> Tree:
    """The native word for a canonical one."""
    if not words or not isinstance(value, str):
        return value
    return next(iter(_listed(words.get(value) or words.get("*"))), value)


def named_roots(wire: Wire, payload: Mapping[str, Tree], native: str) -> list[str]:
    """Every root that a payload names: of a list of them an event has the first."""
    found: list[Tree] = []
    for place in _listed(_keys(_view(wire, native), native).get("root")):
        said = get(payload, place.partition(":")[0])
        found += said if isinstance(said, list) else [said]
    return [one for one in found if isinstance(one, str) and one]


def native_name(wire: Wire, payload: Mapping[str, Tree]) -> str:
    """The native event that a payload says it is, or has the keys of; empty where it cannot be told."""
    places = [wire.keys.get("event"), *(keys.get("event") for keys in wire.keys_of.values())]
    for place in dict.fromkeys(one for each in places for one in _listed(each)):
        said = get(payload, place)
        if isinstance(said, str) and said:
            named = [native for native in wire.events if wire.said.get(native, native) == said]
            if not named:
                named = [native for native in wire.events if native.lower() == said.lower()]
            return _best(wire, named, payload) if named else said
    return _best(wire, list(wire.tells), payload)


def canonical_name(wire: Wire, native: str) -> str:
    """The canonical event of a native one."""
    return wire.events.get(native) or f"{wire.id}:{native}"


def native_for(wire: Wire, event: Event) -> str:
    """The native event a script of this wire was written for; the canonical name where it has none."""
    rows = wire.natives.get(event.event, ())
    usual = str(rows[0][1]) if rows else event.event.partition(":")[2] or event.event
    return fired_for(wire, event) or usual


def fired_for(wire: Wire, event: Event) -> str:
    """The native event that an agent of this wire fires for the same; empty where it fires none."""
    call, rows = event.call, wire.natives.get(event.event, ())
    fits = (native for tools, native in rows if not tools or call is None or set(tools) & set(_words(call)))
    return str(next(fits, ""))


def tool_name(wire: Wire, call: Call, native: str = "") -> str:
    """What scripts of this wire call the tool."""
    if call.server or call.mcp_tool:
        return mcp_name(wire, call.server, call.mcp_tool)
    names = {**wire.names, **wire.event_names.get(native, {})}
    return str(names[call.tool][0]) if names.get(call.tool) else call.native or call.tool


def mcp_name(wire: Wire, server: str, tool: str) -> str:
    """An MCP tool's name as the wire combines it."""
    prefix, joint, allowed, longest = wire.mcp or ("mcp__", "__", "", 0)
    if wire.server_last:
        return f"{tool}{joint}{server or UNKNOWN_SERVER}"
    return mcp_spelled(
        f"{prefix}{server or UNKNOWN_SERVER}" if joint else prefix, joint, tool, allowed, longest
    )


def mcp_spelled(server: str, joint: str, tool: str, allowed: str, longest: int) -> str:
    """An MCP tool's name with `_` for other characters than these (as a pattern's set), cut in the middle."""
    if allowed:
        import re

        server, tool = (re.sub(f"[^{allowed}]", "_", part) for part in (server, tool))
    name = server + joint + tool
    if longest and len(name) > longest:
        half = (longest - 3) // 2
        name = f"{name[:half]}...{name[-half:]}"
    return name


def canonical_input(wire: Wire, tool: str, native: str, raw: Tree) -> dict[str, Tree]:
    """A tool's input with canonical field names; a field without one keeps its own."""
    if not isinstance(raw, dict):
        return {"text": raw} if raw is not None else {}
    if native in wire.numbered:
        raw = _gathered(raw)
    names = {
        field.partition(":")[0]: (canonical, field)
        for canonical, fields in _fields(wire, tool, native).items()
        for field in _listed(fields)
    }
    found: dict[str, Tree] = {}
    for key, value in raw.items():
        canonical, field = names.get(key, (key, key))
        if canonical in found and canonical != key:
            canonical, field = key, key
        plain = get({key: value}, field) if field != key else value
        found[canonical] = _edits(wire, plain, into=True) if canonical == "edits" else plain
    return found


def native_input(wire: Wire, tool: str, native: str, canonical: Mapping[str, Tree]) -> Tree:
    """A tool's input as the wire's own: the other way round."""
    if native in wire.patches:
        from hookport.wire import patch

        text = canonical.get("patch")
        text = text if isinstance(text, str) else patch.render([{"tool": tool, **canonical}])
        field = wire.patches[native]
        return {field: text} if field else text
    if native in wire.batches:
        (field, *_), _ = _batch(wire, native)
        if not isinstance(canonical.get(field), list):
            return {field: [_element(wire, tool, native, canonical)]}
    raw = _renamed(wire, tool, native, canonical)
    if native in wire.variants:
        field, by_value = wire.variants[native]
        value = next((value for value, chosen in by_value.items() if chosen == tool and value != "*"), "")
        if value and field not in raw:
            raw[field] = value
    return _numbered(raw) if native in wire.numbered else raw


def changed_input(
    wire: Wire, call: Call, native: str, raw: Mapping[str, Tree], *, is_own: bool
) -> dict[str, Tree] | None:
    """The input of a call as a script wants it, which was shown the call as its own `native` tool.

    A rewrite is an edit: what it does not name, or names as it was shown, stays as it is. Empty where nothing
    changes, None where the outcome is not one call of the same tool.
    """
    if is_own:
        wire = _knowing(wire, call)
    shown = call.raw if is_own else native_input(wire, call.tool, native, call.input)
    taken = _taken_away(wire, call.tool, shown, raw)
    wanted = _edited_raw(wire, call.tool, native, shown, raw)
    for key in taken:
        del wanted[key]
    if is_own:
        return {} if wanted == shown else _as_own(wire, call.tool, native, wanted)
    before, after = (_as_one(wire, call.tool, native, one) for one in (shown, wanted))
    if before is None or after is None:
        return None
    changes = {key: value for key, value in after.items() if key not in before or before[key] != value}
    if not changes and not taken:
        return {}
    edited = edited_input(call, changes)
    return edited if edited is None else {key: value for key, value in edited.items() if key not in taken}


def edited_input(call: Call, changes: Mapping[str, Tree]) -> dict[str, Tree] | None:
    """The input of a call with changes of some fields; None where they contradict each other.

    A call with one edit has it in `old` and `new`, a patch has its first one there and all in `edits`.
    """
    if any(key in changes and not isinstance(changes[key], str) for key in WHOLE.get(call.tool, ())):
        return None
    was, found = call.input, {**call.input, **changes}
    texts = {key: changes[key] for key in ("old", "new") if key in changes}
    edits = changes.get("edits")
    if "edits" in changes and not ("edits" in was or {"old", "new"} & set(was)):
        return found
    if "edits" in changes and "edits" not in was:
        # The call has a single edit: the list must be one, and says what that is.
        if not (isinstance(edits, list) and len(edits) == 1 and isinstance(edits[0], dict)):
            return None
        del found["edits"]
        is_torn = any(edits[0].get(key, text) != text for key, text in texts.items())
        return None if is_torn else {**found, **edits[0]}
    kept = found.get("edits")
    if texts and isinstance(kept, list) and kept and isinstance(kept[0], dict):
        first = {**kept[0], **texts}
        if "edits" in changes and first != kept[0]:
            return None
        found["edits"] = [first, *kept[1:]]
    return found


def _taken_away(wire: Wire, tool: str, shown: Tree, raw: Mapping[str, Tree]) -> list[str]:
    """What a rewrite takes away by leaving it out, where by the dialect's own rule it is the whole input."""
    if not raw or not isinstance(shown, dict) or tool in wire.merges or "*" in wire.merges:
        return []
    return [key for key in PRIVILEGES if key in shown and key not in raw]


def _edited_raw(wire: Wire, tool: str, native: str, shown: Tree, raw: Mapping[str, Tree]) -> dict[str, Tree]:
    """The input that a script was shown with what it wants otherwise; another name of a field replaces it."""
    if not isinstance(shown, dict):
        return dict(raw)
    groups = [list(_listed(fields)) for fields in _fields(wire, tool, native).values()]
    if native in wire.batches:
        groups.append(list(_batch(wire, native)[0]))
    said = [group for group in groups if any(name in raw for name in group)]
    return {**{key: value for key, value in shown.items() if not any(key in one for one in said)}, **raw}


def _as_own(wire: Wire, tool: str, native: str, raw: Tree) -> dict[str, Tree] | None:
    """An input of the agent's own in canonical terms; None where it is no patch and must be one."""
    plain = canonical_input(wire, tool, native, raw)
    if native not in wire.patches:
        return plain
    found = _expanded(wire, Call(tool, native, input=plain, raw=raw))
    return dict(found.input) if found.parts else None


def _as_one(wire: Wire, tool: str, native: str, raw: Tree) -> dict[str, Tree] | None:
    """A script's own input in canonical terms, as one call of a tool; None where it is not that."""
    plain = canonical_input(wire, tool, native, raw)
    if native not in wire.patches and native not in wire.batches:
        return plain
    found = _expanded(wire, Call(tool, native, input=plain, raw=raw))
    if len(found.parts) != 1 or found.parts[0].tool != tool:
        return None
    return dict(found.parts[0].input)


def rewritten(wire: Wire, call: Call, canonical: Mapping[str, Tree]) -> Call:
    """The agent's own call with another input, in both forms."""
    wire = _knowing(wire, call)
    raw = native_input(wire, call.tool, call.native, canonical)
    if call.native in wire.patches and isinstance(raw, dict) and isinstance(call.raw, dict):
        field = _patch_field(wire, call)
        raw = {**call.raw, field: raw[wire.patches[call.native]]}
    changed = call.replace(input=dict(canonical), raw=raw, parts=())
    return changed if call.mcp_tool else _expanded(wire, changed)


def with_part(wire: Wire, call: Call, number: int, canonical: Mapping[str, Tree]) -> Call:
    """The agent's own call with another input for one of the things it does."""
    wire = _knowing(wire, call)
    parts = list(call.parts)
    parts[number] = parts[number].replace(input=dict(canonical))
    if call.native in wire.patches:
        from hookport.wire import patch

        if "moved_from" in call.parts[number].input:
            parts[number - 1 : number + 1] = [_moved(parts[number - 1], parts[number])]
        text = patch.render([{"tool": part.tool, **part.input} for part in parts])
        field = _patch_field(wire, call)
        raw = {**(call.raw if isinstance(call.raw, dict) else {}), field: text} if field else text
    elif call.native in wire.batches:
        fields, plain = _batch(wire, call.native)
        elements = list(_elements(fields, call.raw))
        # An object keeps the fields that it has beside the one that is plain text elsewhere.
        is_plain = set(canonical) == {plain} or not isinstance(elements[number], dict)
        element_form = _element if is_plain else _renamed
        elements[number] = element_form(wire, call.tool, call.native, canonical)
        has_list = isinstance(call.raw, dict) and any(field in call.raw for field in fields)
        kept = {key: value for key, value in call.raw.items() if key not in fields} if has_list else {}
        raw = {**kept, fields[0]: elements}
    else:
        shared = {key: value for key, value in canonical.items() if key in call.input}
        edits = [_as_edit(part, shared) for part in parts]
        raw = native_input(wire, call.tool, call.native, {**call.input, **shared, "edits": edits})
    return _expanded(wire, call.replace(raw=raw, input=canonical_input(wire, call.tool, call.native, raw)))


def _moved(source: Call, target: Call) -> Call:
    """The part of a patch that moves a file, with what was changed of it at its new place."""
    edited = {key: target.input[key] for key in ("edits", "old", "new") if key in target.input}
    return source.replace(input={**source.input, **edited, "moved_to": target.input.get("path")})


def variables(wire: Wire, native: str) -> Mapping[str, str]:
    """The variables that scripts of this wire find on a native event, with the words they stand for."""
    return {**wire.env, **wire.env_of.get(native, {})}


def placeholders(
    wire: Wire, event: Event, package: str, native: str = "", made: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The variables a script of this wire finds in its environment; `made` are words for what there is."""
    native = native or native_for(wire, event)
    call = event.call or Call()
    words: dict[str, Tree] = {
        "root": event.root or event.cwd,
        "cwd": event.cwd,
        "package": package,
        "session": event.session,
        "event": native,
        "tool": tool_name(wire, call),
        "path": call.input.get("path", ""),
        "prompt": event.prompt,
        "transcript": event.facts.get("transcript", ""),
        "effort": event.facts.get("effort", ""),
        "mode": _worded(wire.words.get("permission_mode"), event.facts.get("permission_mode", "")),
        "data": "",
        "env_file": "",
        **(made or {}),
    }
    filled = {name: fill(value, words) for name, value in variables(wire, native).items()}
    return {name: value for name, value in filled.items() if isinstance(value, str) and value}


def _view(wire: Wire, native: str) -> Wire:
    return wire.replace(**wire.views[native]) if native in wire.views else wire


def _keys(wire: Wire, native: str) -> dict[str, Tree]:
    return {**wire.keys, **wire.keys_of.get(native, {})}


def _listed(places: Places | None) -> Iterable[str]:
    return () if not places else [places] if isinstance(places, str) else places


def at(payload: Mapping[str, Tree], places: Places | None) -> Tree:
    """What stands at the first of several places that is there."""
    for place in _listed(places):
        found = get(payload, place)
        if found is not None:
            return found
    return None


def _write(payload: dict[str, Tree], places: Places | None, value: Tree) -> None:
    for place in _listed(places):
        put(payload, place, value)


def _as_text(value: Tree) -> str:
    return value if isinstance(value, str) else str(value) if value else ""


def _best(wire: Wire, natives: list[str], payload: Mapping[str, Tree]) -> str:
    """Of several events the one whose keys are all there, the most telling first."""
    ranked = sorted(natives, key=lambda native: -len(wire.tells.get(native, ())))
    for native in ranked:
        if all(bears(payload, mark) for mark in wire.tells.get(native, ())):
            return native
    return natives[0] if len(natives) == 1 else ""


def _words(call: Call) -> list[str]:
    """What an event's list of tools may name the call by."""
    return [word for word in (call.tool, *call.also, "mcp" if call.mcp_tool else "") if word]


def _read_call(wire: Wire, payload: Mapping[str, Tree], keys: Mapping[str, Tree], native: str) -> Call | None:
    name = _as_text(at(payload, keys.get("tool")))
    tools = wire.event_tools.get(native, ())
    server, mcp_tool = (_as_text(at(payload, keys.get(key))) for key in ("server", "mcp_tool"))
    if not (name or tools or mcp_tool):
        return None
    where = keys.get("input")
    if isinstance(where, dict):
        raw = {field: value for field, place in where.items() if (value := get(payload, place)) is not None}
    else:
        raw = at(payload, where)
    known = wire.event_names.get(native, {})
    words = [tool for tool, natives in known.items() if name in natives] or _tools(wire, name)
    words = words or [tool for tool in tools if tool != "mcp"] if not mcp_tool else []
    is_told = bool(words or mcp_tool)
    if not is_told and name:
        is_last = wire.server_last and at(payload, keys.get("is_mcp")) is not False
        server, mcp_tool = _last(wire, name, server) if is_last else _mcp_parts(wire, name)
        is_told = bool(mcp_tool)
    if name in wire.variants and isinstance(raw, dict):
        words = _variant(wire.variants[name], raw) or words
    known_by = "name"
    if name and not is_told and not is_other(wire, name):
        words = _guessed(name, raw)
        if wire.bare_mcp:
            # It may as well be an MCP tool, which the agent shows under its bare name.
            mcp_tool, words = name, ["", *(word for word in words if word in HARMFUL)]
            known_by = "input" if words[1:] else "name"
        else:
            known_by = "input" if words else ""
            wire = _knowing(wire, Call(native=name, raw=raw, known_by=known_by))
    tool = words[0] if words else ""
    result = at(payload, keys.get("result"))
    call = Call(
        tool=tool,
        also=tuple(words[1:]),
        native=name or native,
        input=_plain(wire, raw)
        if isinstance(where, dict)
        else canonical_input(wire, tool, name or native, raw),
        raw=raw,
        id=_as_text(at(payload, keys.get("call_id"))),
        result=result,
        text=result_text(wire, result),
        error=at(payload, keys.get("error")),
        server=server,
        mcp_tool=mcp_tool,
        known_by=known_by,
    )
    return call if mcp_tool else _expanded(wire, call)


def taken_for(wire: Wire, call: Call, word: str) -> Call:
    """A call of a tool that the agent's table does not have, as one of the kinds that it may be."""
    plain = canonical_input(_knowing(wire, call), word, call.native, call.raw)
    if isinstance(plain.get("command"), list):
        plain["command"] = "\n".join(map(str, plain["command"]))
    return call.replace(tool=word, also=(), server="", mcp_tool="", input=plain)


def names_tool(wire: Wire, payload: Mapping[str, Tree], native: str) -> bool:
    """Whether a payload names a tool as the agent names its tools, or none."""
    wire = _view(wire, native)
    name = _as_text(at(payload, _keys(wire, native).get("tool")))
    own = {known for names in wire.event_names.get(native, {}).values() for known in names}
    if not name or wire.bare_mcp or wire.event_tools.get(native) or name in own or _tools(wire, name):
        return True
    is_mcp = any(_last(wire, name, "") if wire.server_last else _mcp_parts(wire, name))
    return is_mcp or is_other(wire, name)


def _guessed(name: str, raw: Tree) -> list[str]:
    from hookport.wire import kinds

    return list(kinds.kinds_of(name, raw))


def _knowing(wire: Wire, call: Call) -> Wire:
    """The agent's wire with what the input of a call tells of a tool that it has no name for."""
    if call.known_by != "input":
        return wire
    from hookport.wire import kinds

    return kinds.knowing(wire, call.native, call.raw)


def is_other(wire: Wire, name: str) -> bool:
    """Whether it is a tool that no word names and no guard is for."""
    from hookport.wire import kinds

    starts = (known[:-1] for known in wire.others if known[-1:] == "*")
    return name in wire.others or name.startswith(tuple(starts)) or kinds.is_harmless(name)


def _tools(wire: Wire, name: str) -> list[str]:
    """The words for a native tool, also where a table has only how its name begins (`team_*`, `sub_.*`)."""
    found = wire.tools.get(name)
    if found is None and name:
        starts = [known for known in wire.tools if known[-1:] == "*"]
        found = next((wire.tools[one] for one in starts if name.startswith(one.rstrip("*").rstrip("."))), ())
    return list(found or ())


def _variant(variant: Sequence[Tree], raw: Mapping[str, Tree]) -> list[str]:
    field, by_value = variant
    value = raw.get(field)
    chosen = by_value.get("" if value is None else str(value)) or by_value.get("*")
    if not chosen or isinstance(chosen, str):
        return [chosen] if chosen else []
    return _variant(chosen, raw)


def result_text(wire: Wire, result: Tree) -> str | None:
    """The text of a tool's result; None where it has none, which is not the same as an empty one."""
    if isinstance(result, str):
        return result
    for place in wire.texts:
        found = get(result, place)
        if isinstance(found, str):
            return found
    return None


def _mcp_parts(wire: Wire, name: str) -> tuple[str, str]:
    """(server, tool) of a name as the agent spells it, else as any agent does that another could not mean."""
    if wire.mcp and not wire.mcp[0] and not wire.mcp[1]:
        return "", name
    own = [(wire.mcp[0], wire.mcp[1])] if wire.mcp and not wire.server_last else []
    for prefix, joint in (*own, *MCP_SPELLINGS):
        bare = name.removeprefix(prefix)
        if prefix and bare == name:
            continue
        server, found, tool = bare.partition(joint) if joint else ("", "", bare)
        if (found and server and tool) or (not joint and tool):
            return server, tool
    return "", ""


def _last(wire: Wire, name: str, server: str) -> tuple[str, str]:
    """(server, tool) of `tool_server`; where several ends may be the server's and it is not told, none is."""
    joint = wire.mcp[1]
    if server and name.endswith(joint + server):
        return server, name.removesuffix(joint + server)
    tool, found, server = name.rpartition(joint)
    if not (found and tool and server):
        return "", ""
    return ("", name) if joint in tool else (server, tool)


def _expanded(wire: Wire, call: Call) -> Call:
    """A call that does several things, with each of them as a call of its own."""
    if call.native in wire.patches:
        from hookport.wire import patch

        field = _patch_field(wire, call)
        text = call.raw.get(field) if field and isinstance(call.raw, dict) else call.raw
        found = patch.parts(text) if isinstance(text, str) else None
        if found is None:
            return call.replace(parts=())
        parts = [
            call.replace(
                tool=part["tool"],
                # A file at its new place is written there.
                also=("file_write",) if "moved_from" in part else (),
                input={k: v for k, v in part.items() if k != "tool"},
                parts=(),
            )
            for part in patch.with_targets(found)
        ]
        first = dict(parts[0].input) if parts else {}
        return call.replace(parts=tuple(parts), input={**first, "patch": text})
    if call.native in wire.batches and call.raw is not None:
        fields, plain = _batch(wire, call.native)
        elements = _elements(fields, call.raw)
        parts = [
            call.replace(input=_part(wire, call, plain or "path", element), parts=()) for element in elements
        ]
        rest = {key: value for key, value in call.input.items() if key not in (*fields, "text")}
        first = dict(parts[0].input) if parts else {}
        return call.replace(parts=tuple(parts), input={**rest, **first, fields[0]: elements})
    return _edited(call)


def _batch(wire: Wire, native: str) -> tuple[Sequence[str], str]:
    fields, plain = wire.batches[native]
    return (fields,) if isinstance(fields, str) else fields, plain


def _elements(fields: Sequence[str], raw: Tree) -> list[Tree]:
    """What a call does; one that leaves out the list, or the field around it, does what it says itself."""
    if isinstance(raw, dict):
        raw = next((raw[field] for field in fields if raw.get(field) is not None), raw)
    return raw if isinstance(raw, list) else [raw]


def _part(wire: Wire, call: Call, plain: str, element: Tree) -> dict[str, Tree]:
    """The input of one of the things that a call does."""
    one = {plain: element}
    if isinstance(element, dict):
        one = canonical_input(wire, call.tool, call.native, element)
    words = element if isinstance(element, list) else [one.get(plain)]
    args = one.pop("args") if isinstance(one.get("args"), (list, str)) else []
    words = [*words, *([args] if isinstance(args, str) else args)]
    if isinstance(element, list) or len(words) > 1:
        import shlex

        one[plain] = shlex.join(map(str, words))
    return one


def _element(wire: Wire, tool: str, native: str, canonical: Mapping[str, Tree]) -> Tree:
    """One of the things that a call does, as its list has it."""
    _, plain = _batch(wire, native)
    return canonical.get(plain) if plain else _renamed(wire, tool, native, canonical)


def _edited(call: Call) -> Call:
    """A call with a list of edits, with each of them as a call; one that replaces nothing writes the file."""
    edits, words = call.input.get("edits"), (call.tool, *call.also)
    if not isinstance(edits, list) or not {"file_write", "file_edit"} & set(words):
        return call
    rest = {key: value for key, value in call.input.items() if key != "edits"}
    parts = []
    for edit in edits:
        if not isinstance(edit, dict):
            return call
        if "file_write" in words and not edit.get("old"):
            one = {**rest, "content": edit.get("new", "")}
            parts.append(call.replace(tool="file_write", also=(), input=one, parts=()))
        else:
            tool = "file_edit" if "file_edit" in words else call.tool
            parts.append(call.replace(tool=tool, also=(), input={**rest, **edit}, parts=()))
    return call.replace(parts=tuple(parts))


def _as_edit(part: Call, shared: Mapping[str, Tree]) -> dict[str, Tree]:
    """The element of a list of edits that a part stands for."""
    if part.tool == "file_write":
        return {"old": "", "new": part.input.get("content", "")}
    return {key: value for key, value in part.input.items() if key not in shared}


def _plain(wire: Wire, raw: Mapping[str, Tree]) -> dict[str, Tree]:
    """An input whose fields the payload's keys have named."""
    return {key: _edits(wire, value, into=True) if key == "edits" else value for key, value in raw.items()}


def _patch_field(wire: Wire, call: Call) -> str:
    """The field that holds the patch: the one of the table, else whichever does."""
    field = wire.patches[call.native]
    if not field or not isinstance(call.raw, dict) or field in call.raw:
        return field
    texts = (key for key, value in call.raw.items() if isinstance(value, str) and "*** Begin Patch" in value)
    return next(texts, field)


def _write_call(
    wire: Wire, payload: dict[str, Tree], keys: Mapping[str, Tree], call: Call, native: str, *, is_own: bool
) -> None:
    name = call.native if is_own else tool_name(wire, call, native)
    raw = call.raw if is_own else native_input(wire, call.tool, name, call.input)
    if name != native or not is_own:
        _write(payload, keys.get("tool"), name)
    where = keys.get("input")
    if isinstance(where, dict):
        for field, place in where.items():
            value = raw.get(field) if is_own else _field(wire, call, field)
            if value is not None:
                put(payload, place, value)
    elif raw is not None:
        _write(payload, where, raw)
    for key, value in (("call_id", call.id), ("server", call.server), ("mcp_tool", call.mcp_tool)):
        if value:
            _write(payload, keys.get(key), value)
    if call.error is not None:
        _write(payload, keys.get("error"), call.error)
    # A script expects a result after a tool, also where the agent does not tell it.
    if call.result is not None or (not is_own and wire.events.get(native) == "after_tool_execute"):
        _write(payload, keys.get("result"), call.result if is_own else _result(wire, call, native))


def _field(wire: Wire, call: Call, field: str) -> Tree:
    """A field of a call's input; a list of edits from whatever the call writes."""
    value = call.input.get(field)
    if field != "edits":
        return value
    if value is None and {"old", "new"} & set(call.input):
        value = [{"old": call.input.get("old", ""), "new": call.input.get("new", "")}]
    elif value is None and "content" in call.input:
        value = [{"old": "", "new": call.input["content"]}]
    return _edits(wire, value, into=False)


def _result(wire: Wire, call: Call, native: str) -> Tree:
    template = wire.results.get(native, wire.results.get(call.tool, wire.results.get("*")))
    told = call.result if call.text is None else call.text
    text = "" if told is None else told
    return text if template is None else fill(template, {"text": text})


def _fields(wire: Wire, tool: str, native: str) -> Mapping[str, Places]:
    return wire.inputs.get(native) or wire.inputs.get(tool) or wire.inputs.get("*", {})


def _renamed(wire: Wire, tool: str, native: str, canonical: Mapping[str, Tree]) -> dict[str, Tree]:
    names = _fields(wire, tool, native)
    found: dict[str, Tree] = {}
    for key, value in canonical.items():
        if key in names:
            field = next(iter(_listed(names[key])))
            put(found, field, _edits(wire, value, into=False) if key == "edits" else value)
        else:
            found[key] = value
    return found


def _gathered(raw: Mapping[str, Tree]) -> dict[str, Tree]:
    """An input whose edits are numbered fields, with a list of them."""
    found: dict[str, Tree] = {}
    edits: dict[int, dict[str, Tree]] = {}
    for key, value in raw.items():
        field, _, number = key.rpartition("_")
        if field and number.isdecimal() and number.isascii() and str(int(number)) == number:
            edits.setdefault(int(number), {})[field] = value
        else:
            found[key] = value
    if not edits or "edits" in found or sorted(edits) != list(range(1, len(edits) + 1)):
        return dict(raw)
    return {**found, "edits": [edits[number] for number in sorted(edits)]}


def _numbered(raw: Mapping[str, Tree]) -> dict[str, Tree]:
    """The other way round."""
    edits = raw.get("edits")
    if not isinstance(edits, list) or not all(isinstance(edit, dict) for edit in edits):
        return dict(raw)
    found = {key: value for key, value in raw.items() if key != "edits"}
    fields = {f"{key}_{number}": value for number, edit in enumerate(edits, 1) for key, value in edit.items()}
    return {**found, **fields}


def _edits(wire: Wire, edits: Tree, *, into: bool) -> Tree:
    """The elements of a list of edits, renamed into canonical field names or out of them."""
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
