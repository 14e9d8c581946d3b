"""JSON Schemas of the four formats, of tests and of `serve-stdio`, made from the tables that read these."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from hookport.agents import Dialect, get, list_agents, list_dialects
from hookport.host import stdio
from hookport.host.approval import UnapprovedHook
from hookport.host.events import EVENT_FIELDS
from hookport.host.outcome import Outcome, Run
from hookport.model.events import EVENTS
from hookport.model.hooks import CAPABILITIES, SPEC, STRATEGIES
from hookport.model.tools import TOOLS
from hookport.runtime import policy
from hookport.shapes.dialect import MILLISECOND, SECOND, HandlerSpec, Timeout, iter_fields
from hookport.testing.load import ALL, CASE_KEYS, CONFIG_KEYS, NAME, VERDICTS, VERSION

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Schema = {"type": "string"}
FILLED: Schema = {"type": "string", "minLength": 1}
STRINGS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
KINDS: dict[str, Schema] = {
    "headers": STRINGS,
    "env": STRINGS,
    "metadata": {"type": "object"},
    "allowed_env": {"type": "array", "items": TEXT},
    "args": {"type": "array", "items": TEXT},
    "is_async": {"type": "boolean", "default": False},
    "enabled": {"type": "boolean", "default": True},
    "priority": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 100},
}


def all_schemas() -> dict[str, Schema]:
    """Every schema by its file name."""
    return {
        "canonical.schema.json": canonical(),
        "universal.schema.json": by_event(get("universal")),
        "open-plugin.schema.json": by_event(get("open-plugin")),
        "agent-hooks.schema.json": frontmatter(),
        "test-case.schema.json": test_file("a test case of hooks", CASE_KEYS, ("name", "event")),
        "test-config.schema.json": test_file("what holds for all test cases", CONFIG_KEYS, ("version",)),
        "serve-stdio.schema.json": serve_stdio(),
    }


def canonical() -> Schema:
    """The interchange manifest."""
    hub = get("canonical")
    term = {
        "anyOf": [
            {"enum": list(TOOLS)},
            FILLED,
            {
                "type": "object",
                "properties": {"pattern": {**TEXT, "description": "RE2"}},
                "required": ["pattern"],
            },
            {
                "type": "object",
                "properties": {
                    "mcp": {
                        "type": "object",
                        "properties": {"server": FILLED, "tool": TEXT},
                        "required": ["server"],
                    }
                },
                "required": ["mcp"],
            },
        ]
    }
    hook = {
        "type": "object",
        "required": ["event", "handler"],
        "properties": {
            "name": TEXT,
            "event": {"anyOf": [{"enum": list(EVENTS)}, FILLED]},
            "matcher": {"anyOf": [*term["anyOf"], {"type": "array", "minItems": 1, "items": term}]},
            "handler": {"oneOf": [handler(spec) for spec in hub.handlers.values()]},
            "blocking": {"type": "boolean", "default": False},
            "degradation": {
                "type": "object",
                "properties": {
                    name: {"enum": list(STRATEGIES), "default": default}
                    for name, default in CAPABILITIES.items()
                },
                "additionalProperties": False,
            },
            "capabilities": {"type": "array", "items": {"anyOf": [{"enum": list(CAPABILITIES)}, TEXT]}},
            "provider_data": {"type": "object", "additionalProperties": {"type": "object"}},
        },
    }
    properties = {
        "spec": {"enum": [SPEC, "hooks/0.1"]},
        "hooks": {"type": "array", "minItems": 1, "items": hook},
    }
    return head(hub, {"type": "object", "required": ["spec", "hooks"], "properties": properties})


def by_event(dialect: Dialect) -> Schema:
    """A file that maps events to groups of handlers."""
    group = {
        "type": "object",
        "required": ["hooks"],
        "properties": {
            "matcher": {**TEXT, "description": "regular expression on what the event is about"},
            "hooks": {
                "type": "array",
                "items": {"oneOf": [handler(spec) for spec in dialect.handlers.values()]},
            },
        },
    }
    events = {
        "type": "object",
        "properties": {spec.native: {"type": "array", "items": group} for spec in dialect.events},
        "additionalProperties": {"type": "array"},
    }
    keys = {key: {"const": value} for key, value in dialect.shape.root_keys.items()}
    required = [*keys, *dialect.shape.root]
    return head(dialect, {"type": "object", "required": required, "properties": {**keys, "hooks": events}})


def frontmatter() -> Schema:
    """The frontmatter of a HOOK.md."""
    dialect = get("agent-hooks")
    spec = dialect.handlers["command"]
    properties = {
        key: value(field.attr, spec.timeout) for key, field in iter_fields(spec) if field.attr != "command"
    }
    properties["name"] = {"type": "string", "minLength": 1, "maxLength": 64}
    properties["description"] = {"type": "string", "minLength": 1, "maxLength": 1024}
    properties["trigger"] = {"enum": [event.native for event in dialect.events]}
    properties["matcher"] = {
        "type": ["object", "null"],
        "properties": {
            "tool": {**TEXT, "description": "regular expression on the tool's name"},
            "pattern": {**TEXT, "description": "regular expression on the tool's input"},
        },
    }
    return head(
        dialect, {"type": "object", "required": ["name", "description", "trigger"], "properties": properties}
    )


def handler(spec: HandlerSpec) -> Schema:
    """One type of handler."""
    properties: Schema = {"type": {"const": spec.type}}
    for key, field in iter_fields(spec):
        outer, _, inner = key.partition(".")
        kind = {"enum": list(field.values)} if field.values else value(field.attr, spec.timeout)
        if inner:
            platform = properties.setdefault(outer, {"type": "object", "properties": {"darwin": TEXT}})
            platform["properties"][inner] = kind
        else:
            properties[key] = kind
    required = [key for key, field in iter_fields(spec) if field.attr in spec.required]
    for key in required:
        properties[key] = FILLED
    return {"type": "object", "required": ["type", *required], "properties": properties}


def value(attr: str, timeout: Timeout) -> Schema:
    """The schema of one attribute."""
    if attr != "timeout":
        return KINDS.get(attr, TEXT)
    unit = timeout.unit or SECOND
    name = "milliseconds" if unit == MILLISECOND else "seconds"
    schema: Schema = {"type": "integer" if timeout.whole else "number", "minimum": 0, "description": name}
    if timeout.minimum:
        schema["minimum"] = int(timeout.minimum / unit)
    if timeout.maximum:
        schema["maximum"] = int(timeout.maximum / unit)
    if timeout.default:
        schema["default"] = int(timeout.default / unit)
    return schema


TEXTS: Schema = {"type": "array", "items": TEXT}
AGENTS: Schema = {"enum": [*list_agents(), ALL]}
# The value that each check of `hookport.testing.load` takes, by the check's name.
CHECKED: dict[str, Schema] = {
    "_check_text": FILLED,
    "_check_any_text": TEXT,
    "_check_name": {"type": "string", "pattern": f"^(?:{NAME.pattern})$"},
    "_check_index": {"anyOf": [{"type": "integer", "minimum": 0}, {"const": ALL}]},
    "_check_code": {"type": "integer", "minimum": 0, "maximum": 255},
    "_check_texts": TEXTS,
    "_check_object": {"type": "object"},
    "_check_verdict": {"enum": list(VERDICTS)},
    "_check_agents": {"anyOf": [{"const": ALL}, {"type": "array", "minItems": 1, "items": AGENTS}]},
    "_check_dialect": {"enum": list(list_dialects())},
    "_check_answers": {
        "anyOf": [
            {"type": ["string", "object"]},
            {"type": "array", "minItems": 1, "items": {"type": ["string", "object"]}},
        ]
    },
    # A path that stays inside tests/; the reader looks at the normalised path, a pattern cannot.
    "_check_fixture": {"type": "string", "minLength": 1, "pattern": r"^(?!/|\.\.(?:/|$))"},
    "_check_seconds": {"type": "number", "exclusiveMinimum": 0},
    "_check_version": {"const": VERSION},
    "_check_env": STRINGS,
}
MEANINGS = {
    "name": "unique in the suite",
    "event": "the event as the hooks' dialect or any agent names it",
    "hook-index": "which group of the event's hooks runs; all of them with `all`",
    "agents": "the agents that fire the event; the hook alone if left out",
    "model-answer": "what the model says that a prompt or agent hook asks",
    "fixture": "the event, a file below tests/",
    "overrides": "fields of the event by their dot-path",
    "copy": "paths from tests/ that are copied for the hooks; all around them if left out",
    "hooks": "the file or folder with the hooks, from tests/",
    "timeout": "seconds",
}


def test_file(title: str, table: dict[str, Any], required: tuple[str, ...]) -> Schema:
    """A file of tests: the keys of a table and no others."""
    return {"$schema": DIALECT, "title": title, **_table(table), "required": list(required)}


def _table(table: dict[str, Any]) -> Schema:
    properties = {
        key: _table(check) if isinstance(check, dict) else CHECKED[check.__name__]
        for key, check in table.items()
    }
    told = {
        key: {**schema, "description": MEANINGS[key]} if key in MEANINGS else schema
        for key, schema in properties.items()
    }
    return {"type": "object", "properties": told, "additionalProperties": False}


NUMBER: Schema = {"type": "number", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}
VERDICT: Schema = {"enum": ["none", "allow", "ask", "deny"]}
# What a program may send with an event; the rest of the fields are texts.
SENT: dict[str, Schema] = {
    "env": STRINGS,
    "timeout": NUMBER,
    "facts": OBJECT,
    "input": OBJECT,
    "result": {},
    "stop_active": FLAG,
}
# What an outcome, a run of a hook and a hook to approve have; the rest are texts.
GIVEN: dict[str, Schema] = {
    "verdict": VERDICT,
    "status": {"enum": ["ran", "failed", "skipped", "unapproved", "started"]},
    "change": {"enum": ["new", "changed", "gone"]},
    "input": OBJECT,
    "result": {},
    "carry_on": FLAG,
    "suppress_output": FLAG,
    "notes": TEXTS,
    "exit_code": {"type": ["integer", "null"]},
    "seconds": NUMBER,
    **dict.fromkeys(("uses", "network", "not_covered", "diff"), TEXTS),
}


def serve_stdio() -> Schema:
    """Every line of `hookport serve-stdio`: what a program sends, and what it reads."""
    tool = {
        "anyOf": [
            {"enum": [*TOOLS, None]},
            _closed({"kind": {"enum": list(TOOLS)}, "fields": STRINGS}, "kind"),
            _closed({"server": FILLED, "tool": FILLED}, "server", "tool"),
        ]
    }
    options: Schema = {
        **dict.fromkeys(stdio.INITIALIZE, TEXT),
        "version": {"const": stdio.VERSION},
        "tools": {"type": "object", "additionalProperties": tool},
        "env": STRINGS,
        "on_failure": {"enum": [policy.OPEN, policy.CLOSED]},
        "timeout": NUMBER,
    }
    event = {"event": {"enum": list(EVENTS)}, **{name: SENT.get(name, TEXT) for name in EVENT_FIELDS}}
    id_: Schema = {"type": ["string", "number"]}
    params = {
        "initialize": _closed(options, "version", "agent"),
        "fire": _closed(event, "event"),
        "cancel": _closed({"id": id_}, "id"),
        "unapproved": _closed({}),
        "approve": _closed({"state": TEXT}, "state"),
    }
    run = _made(Run)
    outcome = _made(Outcome)
    outcome["properties"]["runs"] = {"type": "array", "items": run}
    setting = _closed({"name": TEXT, "approved": {}, "now": {}}, "name", "approved", "now")
    unapproved: Schema = {
        "root": TEXT,
        "state": TEXT,
        "text": TEXT,
        "hooks": {"type": "array", "items": _made(UnapprovedHook)},
        "settings": {"type": "array", "items": setting},
    }
    welcome = {
        "version": {"const": stdio.VERSION},
        **dict.fromkeys(("hookport", "root", "session"), TEXT),
        **dict.fromkeys(("events", "tools"), TEXTS),
    }
    results = {
        "initialize": _closed(welcome, *welcome),
        "fire": outcome,
        "cancel": {"type": "null"},
        "unapproved": _closed(unapproved, *unapproved),
        "approve": _closed({"approved": {"type": "integer"}}, "approved"),
    }
    problem = _closed({"code": {"type": "integer"}, "message": TEXT}, "code", "message")
    defs = {
        **{f"{name}Params": params[name] for name in stdio.METHODS},
        **{f"{name}Result": results[name] for name in stdio.METHODS},
    }
    requests = [
        _message(
            {"id": id_, "method": {"const": name}, "params": {"$ref": f"#/$defs/{name}Params"}}, "method"
        )
        for name in stdio.METHODS
    ]
    anything = {"anyOf": [{"$ref": f"#/$defs/{name}Result"} for name in stdio.METHODS]}
    replies = [
        _message({"id": id_, "result": anything}, "id", "result"),
        _message({"id": {"type": ["string", "number", "null"]}, "error": problem}, "id", "error"),
    ]
    return {
        "$schema": DIALECT,
        "title": "hookport serve-stdio",
        "description": "one line of JSON-RPC 2.0, sent or received",
        "oneOf": [*requests, *replies],
        "$defs": defs,
    }


def _made(kind: type[Outcome | Run | UnapprovedHook]) -> Schema:
    """The schema of a dataclass: all of its fields, always."""
    names = [field.name for field in fields(kind)]
    return _closed({name: GIVEN.get(name, TEXT) for name in names}, *names)


def _message(properties: Schema, *required: str) -> Schema:
    return _closed({"jsonrpc": {"const": "2.0"}, **properties}, "jsonrpc", *required)


def _closed(properties: Schema, *required: str) -> Schema:
    """An object of these properties and no others."""
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": [*required]} if required else schema


def head(dialect: Dialect, schema: Schema) -> Schema:
    """A schema with its title."""
    return {
        "$schema": DIALECT,
        "title": dialect.title,
        "description": f"{dialect.id} ({dialect.facts})",
        **schema,
    }
