"""The kitchen-sink manifest: every event, kind of matcher, type of handler and field, canonically.

Every command is another one, so that a hook can be told from every other wherever it ends up.
"""

from __future__ import annotations

import itertools
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from hookport.agents import get, list_dialects
from hookport.convert import pipeline
from hookport.model.events import EVENTS, is_about_tool, join_native
from hookport.model.hooks import CAPABILITIES, STRATEGIES
from hookport.model.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

Tree = dict[str, Any]

TOOL_MATCHERS: tuple[Any, ...] = (
    *TOOLS,
    "no_such_tool",
    ["shell", "file_write"],
    ["file_write", "file_edit", {"mcp": {"server": "github"}}],
    ["shell", {"pattern": "file_(read|edit)"}],
    {"pattern": "file_(read|write|edit)"},
    {"pattern": "^web_"},
    {"pattern": "no_such_.*"},
    {"mcp": {"server": "github"}},
    {"mcp": {"server": "github", "tool": "create_issue"}},
    {"mcp": {"server": "*"}},
)
SUBJECT_MATCHERS: tuple[Any, ...] = (
    {"pattern": "startup"},
    {"pattern": "startup|resume"},
    {"pattern": "^(?:manual|auto)$"},
    {"pattern": "a.*b"},
)
HANDLERS: tuple[Tree, ...] = (
    {"type": "http", "url": "http://127.0.0.1:9/hook"},
    {
        "type": "http",
        "url": "http://127.0.0.1:9/hook?a=1&b=[2]",
        "headers": {"Authorization": "Bearer $TOKEN", "X-Quote": 'it\'s "quoted"'},
        "allowed_env_vars": ["TOKEN"],
        "timeout": 2.5,
    },
    {"type": "prompt", "prompt": "Is this safe? $ARGUMENTS"},
    {"type": "prompt", "prompt": "Is this safe?", "model": "small", "timeout": 20},
    {"type": "agent", "prompt": "Look around, then say whether this is safe."},
)
COMMAND_FIELDS: tuple[Tree, ...] = (
    {"cwd": "sub dir"},
    {"cwd": "/"},
    {"env": {"NAME": 'it\'s "a" $value', "OTHER": "1"}},
    {"env": {"not-a-name": "1"}},
    {"platform": {"linux": "./on-linux.sh"}},
    {"platform": {"windows": "on-windows.ps1"}},
    {"platform": {"windows": "on-windows.ps1", "linux": "./on-linux.sh", "osx": "./on-mac.sh"}},
    {"async": True},
    {"async": True, "cwd": "sub", "env": {"A": "b"}, "platform": {"osx": "./on-mac.sh"}},
    {"timeout": 1},
    {"timeout": 0.25},
    {"timeout": 12.345},
    {"timeout": 86_400},
    {"timeout_action": "block", "timeout": 10},
    {"timeout_action": "warn", "timeout": 10},
    {"on_failure": "block"},
    {"status_message": "Checking…"},
)
HOOK_FIELDS: tuple[Tree, ...] = (
    {"name": "A name: with 'quotes' and #"},
    {"provider_data": {"hookport": {"description": "What it does, in “words”"}}},
    {"provider_data": {"hookport": {"content": r"rm\s+-rf"}}},
    {"provider_data": {"hookport": {"priority": 500}}},
    {"provider_data": {"hookport": {"priority": 0}}},
    {"provider_data": {"hookport": {"metadata": {"owner": "security", "level": 3}}}},
    {"provider_data": {"hookport": {"enabled": False}}},
    {"provider_data": {"somebody": {"key": [1, {"a": None}]}}},
    {"capabilities": list(CAPABILITIES)},
    *({"degradation": {capability: strategy}} for capability in CAPABILITIES for strategy in STRATEGIES),
)
# Two events stand for all where every matcher, field and strategy is tried: one of tools, one without.
THOROUGH = ("before_tool_execute", "before_prompt")


Entry = tuple[str, Tree, Tree]  # event, handler, other fields


def on_every_event() -> Iterator[Entry]:
    """Some handlers and matchers on every event, all matchers on one."""
    for event, blocking in itertools.product(EVENTS, (False, True)):
        for handler in ({}, HANDLERS[0], HANDLERS[2]):
            yield event, handler, {"blocking": blocking}
        matchers = TOOL_MATCHERS if is_about_tool(event) else SUBJECT_MATCHERS
        for matcher in matchers if event == THOROUGH[0] else matchers[blocking :: 1 + len(matchers) // 4]:
            yield event, {}, {"matcher": matcher, "blocking": blocking}


def on_thorough_events() -> Iterator[Entry]:
    """Every handler, field and strategy."""
    for event in THOROUGH:
        for handler, blocking in itertools.product((*HANDLERS, *COMMAND_FIELDS), (False, True)):
            yield event, handler, {"blocking": blocking}
        for number, fields in enumerate(HOOK_FIELDS):
            yield event, {}, {"blocking": bool(number % 2), **fields}
            yield event, HANDLERS[0], {"blocking": bool(number % 3), **fields}


def on_native_events() -> Iterator[Entry]:
    """The events that only one dialect has."""
    for name in list_dialects():
        natives = [join_native(name, spec.native) for spec in get(name).events if not spec.canonical]
        for event, blocking in itertools.product(natives, (False, True)):
            yield event, {}, {"provider_data": {"hookport": {"dialect": name}}, "blocking": blocking}


@cache
def manifest() -> Tree:
    """The whole manifest as a tree."""
    hooks: list[Tree] = []
    for event, handler, fields in (*on_every_event(), *on_thorough_events(), *on_native_events()):
        command = {"type": "command", "command": f"./hook-{len(hooks) + 1}.sh"}
        made = {**command, **handler} if "type" not in handler else handler
        hooks.append({"event": event, "handler": made, **fields})
    return {"spec": "hooks/1.0", "hooks": hooks}


@cache
def reading(dialect: str) -> pipeline.Reading:
    """What a dialect can say of the manifest, read from files in that dialect.

    The hub gets all of it; each other dialect its own events and every fourth hook, not the same for all.
    """
    hub = next(get(name) for name in list_dialects() if get(name).is_hub)
    hooks = manifest()["hooks"]
    if hub.id != dialect:
        first = list_dialects().index(dialect) % 4
        own = [hook for hook in hooks if hook["event"].startswith(f"{dialect}:")]
        hooks = [hook for hook in hooks[first::4] if ":" not in hook["event"]] + own
    data = json.dumps({"spec": "hooks/1.0", "hooks": hooks}).encode()
    whole = pipeline.read({hub.locations[0].path: data}, hub)
    if hub.id == dialect:
        return whole
    written = pipeline.convert(whole, get(dialect))
    return pipeline.read({file.path: file.text.encode() for file in written.files}, get(dialect))
