"""What a host says of an event, checked and written as the payload of a dispatch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

from hookport.base.tree import Tree
from hookport.errors import suggest_closest
from hookport.host.tools import ToolTable
from hookport.model.events import EVENTS
from hookport.model.json_text import dumps
from hookport.model.runs import Event
from hookport.runtime.occasion import MOST_BYTES, Occasion
from hookport.runtime.sessions import STOPS
from hookport.wire.events import FACTS, read_event
from hookport.wire.spellings import put

EventName = Literal[
    "before_tool_execute",
    "after_tool_execute",
    "session_start",
    "session_end",
    "before_prompt",
    "agent_stop",
    "before_compact",
    "notification",
    "error_occurred",
    "subagent_start",
    "subagent_stop",
    "permission_request",
    "before_model",
    "after_model",
    "before_tool_selection",
    "config_change",
    "file_created",
    "file_saved",
    "file_deleted",
    "before_task",
    "after_task",
    "tool_use_failure",
    "after_compact",
    "permission_denied",
    "interrupted",
    "file_changed",
    "after_tool_batch",
    "before_command_expansion",
    "instructions_loaded",
    "message_display",
]


class EventOptions(TypedDict, total=False):
    """What any event may say besides.

    `session` names the conversation, where one host has several. `cwd` is the folder that the agent works in,
    `env` are variables for this event's hooks. `timeout` is in seconds: the outcome is there by then. `facts`
    are further fields by canonical name, such as `permission_mode` or `model`.
    """

    session: str
    cwd: str | os.PathLike[str]
    env: Mapping[str, str]
    timeout: float
    facts: Mapping[str, Any]
    call_id: str


class EventFields(EventOptions, total=False):
    """What an event is about; what it is not about is left out."""

    tool: str
    input: Mapping[str, Any]
    result: Any
    error: str
    prompt: str
    final_message: str
    stop_active: bool
    source: str
    subagent: str


_TEXTS = ("session", "call_id", "tool", "error", "prompt", "final_message", "source", "subagent")
# What the value of a field must be; of the others anything that is JSON.
_KINDS: dict[str, tuple[type, str]] = {
    **dict.fromkeys(_TEXTS, (str, "a text")),
    **dict.fromkeys(("input", "facts", "env"), (Mapping, "a mapping")),
    "stop_active": (bool, "true or false"),
}
EVENT_FIELDS = tuple(EventFields.__annotations__)
# Deeper than any tool's input; every reader of hookport takes it on a thread of usual size.
_DEEPEST = 100
# Of a time limit, in seconds: 30 years. The system's clocks take no more.
_LONGEST = 1e9
# Python reads and writes no longer integers (4,300 digits), unless the process allows them.
_MOST_BITS = 14_284
_HINTS = (
    (bytes, "Pass text: value.decode()"),
    (os.PathLike, "Pass str(value)"),
    ((set, frozenset), "Pass a list"),
)


class HostEvent(NamedTuple):
    """One event as a host sent it: checked, copied, and without anything that may change later."""

    name: str
    fields: Mapping[str, Any]
    session: str
    cwd: str
    env: Mapping[str, str]
    timeout: float
    # Why it cannot be judged, in words: what a model sent is no mistake of the host.
    problem: str = ""


class _UnreadableError(Exception):
    """Why a value is too deep or too large to be looked through."""


def check_event(
    name: object, fields: Mapping[str, Any], root: str, session: str, timeout: float
) -> HostEvent:
    """Check what a host sent; TypeError or ValueError says what is wrong, and where."""
    if not isinstance(name, str):
        raise TypeError(f"event is {type(name).__name__}; it must be a text")
    if name not in EVENTS:
        raise ValueError(f"unknown event '{name}'.{suggest_closest(name, tuple(EVENTS))}")
    if unknown := sorted(set(fields) - set(EVENT_FIELDS)):
        guess = suggest_closest(unknown[0], EVENT_FIELDS)
        raise TypeError(f"an event has no field '{unknown[0]}'.{guess}")
    for key, value in fields.items():
        kind, word = _KINDS.get(key, (object, ""))
        if not isinstance(value, kind):
            raise TypeError(f"{key} is {type(value).__name__}; it must be {word}")
    if EVENTS[name].about_tool and not fields.get("tool"):
        raise TypeError(f"{name} is about a tool, and its name is missing: tool=…")
    for fact in fields.get("facts", ()):
        if fact not in FACTS:
            raise ValueError(f"unknown fact '{fact}'.{suggest_closest(str(fact), tuple(FACTS))}")
    seconds = check_seconds(fields.get("timeout", timeout))
    cwd = os.path.normpath(Path(root, check_folder(fields.get("cwd", root), "cwd")))
    about, problem = _copy_fields(fields)
    env = check_environment(fields.get("env", {}))
    return HostEvent(name, about, fields.get("session") or session, cwd, env, seconds, problem)


def check_seconds(seconds: object) -> float:
    """Check a time limit; ValueError for what is none."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds <= _LONGEST:
        raise ValueError(f"timeout is {seconds!r:.40}; it must be a number of seconds")
    return float(seconds)


def check_folder(folder: object, name: str) -> str:
    """Check a path; TypeError or ValueError for what names no file in any folder."""
    path: object = os.fspath(folder) if isinstance(folder, os.PathLike) else folder
    if not isinstance(path, str):
        raise TypeError(f"{name} is {type(folder).__name__}; it must be a text or a path")
    try:
        is_path = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        raise ValueError(f"{name} is {path!r:.100}, which cannot be the path of a folder")
    return path


def check_environment(env: object) -> dict[str, str]:
    """Check variables; TypeError for a value that is not a string."""
    if not isinstance(env, Mapping):
        raise TypeError(f"env is {type(env).__name__}; it must be a mapping")
    for key, value in env.items():
        if not all(isinstance(text, str) for text in (key, value)):
            raise TypeError(f"env[{key!r}] is {type(value).__name__}; names and values must be texts")
    return dict(env)


def _copy_fields(fields: Mapping[str, Any]) -> tuple[dict[str, Tree], str]:
    """Copy what is JSON; with why the rest cannot be judged."""
    copied: dict[str, Tree] = {}
    problem = ""
    for key in ("input", "result", "facts"):
        if key in fields:
            try:
                copied[key] = _Copy().copy(fields[key], key, 0)
            except _UnreadableError as error:
                problem = f"the {key} is {error}"
    plain = (*_TEXTS, "stop_active")
    return {**copied, **{key: fields[key] for key in plain if key in fields}}, problem


class _Copy:
    """A copy of a JSON value; one that contains a part many times is larger than it looks."""

    def __init__(self) -> None:
        self._left = MOST_BYTES

    def copy(self, value: object, place: str, depth: int) -> Tree:
        """Copy a value; TypeError or ValueError for what is not JSON."""
        self._left -= 1 + (len(value) if isinstance(value, str) else 0)
        if self._left < 0:
            raise _UnreadableError(f"larger than {MOST_BYTES >> 20} MiB")
        if depth > _DEEPEST:
            raise _UnreadableError(f"nested deeper than {_DEEPEST} levels")
        if value is None or isinstance(value, (bool, str, int, float)):
            return _copy_plain(value, place)
        if isinstance(value, Mapping):
            if wrong := [key for key in value if not isinstance(key, str)]:
                raise TypeError(f"{place} has the key {wrong[0]!r}; a key in JSON is a text")
            self._left -= sum(map(len, value))
            return {
                str.__str__(key): self.copy(item, f"{place}[{key!r}]", depth + 1)
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.copy(item, f"{place}[{number}]", depth + 1) for number, item in enumerate(value)]
        hint = next((hint for kind, hint in _HINTS if isinstance(value, kind)), "")
        hint = hint or ("Pass value.isoformat()" if hasattr(value, "isoformat") else "Pass plain JSON values")
        raise TypeError(f"{place} is {type(value).__name__}, which is not JSON. {hint}.")


def _copy_plain(value: str | float | None, place: str) -> Tree:
    """Copy a value that has no parts; of one whose class has more to it, such as an enum, what JSON keeps."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            raise ValueError(f"{place} is an integer of more than 4,300 digits. Pass text")
        return int(value)
    if not isfinite(value):
        raise ValueError(f"{place} is {value}, which JSON does not have")
    return float(value)


def make_occasion(event: HostEvent, table: ToolTable, project: str, *, stop_active: bool) -> Occasion:
    """Make of an event what a dispatch reads from an agent's payload."""
    fields = event.fields
    wire, problem = table.wire, event.problem
    name = fields.get("tool", "")
    if name:
        wire, unclear = table.make_wire(name, fields.get("input", {}))
        problem = problem or unclear
    values: dict[str, Tree] = {
        "event": event.name,
        "session": event.session,
        "cwd": event.cwd,
        "root": project,
    }
    values |= {key: value for key, value in fields.items() if key not in ("facts", "stop_active")}
    if event.name in STOPS:
        values["stop_active"] = fields.get("stop_active", stop_active)
    if mcp := table.find_mcp(name):
        values |= {"server": mcp.server, "mcp_tool": mcp.tool}
    tree: dict[str, Tree] = {}
    for key, value in {**fields.get("facts", {}), **values}.items():
        put(tree, wire.keys[key], value)
    payload = dumps(tree, ensure_ascii=False).encode("utf-8", "backslashreplace")
    if len(payload) > MOST_BYTES:
        problem = f"the payload is larger than {MOST_BYTES >> 20} MiB"
    if problem:
        bare = Event(event.name, wire.id, event.name, event.session, event.cwd, project, stop_active=True)
        return Occasion(payload, {}, wire, event.name, bare, problem)
    return Occasion(payload, tree, wire, event.name, read_event(wire, tree, event.name))
