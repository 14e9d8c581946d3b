"""Converts one native entry to a hook and back, by the field tables of its dialect.

Unknown keys are stored in `provider_data` under the dialect's id and written back only there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from hookport.errors import Problem, correct_slip
from hookport.model.events import join_native, split_native
from hookport.model.hooks import NOTHING, PLATFORMS, Handler, Hook, Manifest, Term
from hookport.shapes.adoption import strip_clauses
from hookport.shapes.dialect import (
    SECOND,
    Dialect,
    EventSpec,
    Field,
    HandlerSpec,
    Path,
    Timeout,
    Tree,
    as_field,
    covers,
    find_event,
    find_event_specs,
    get_dialect_data,
    is_split,
    iter_fields,
    list_event_terms,
)
from hookport.shapes.matchers import normalise_terms, read_matcher, write_matcher
from hookport.wire.table import find_table

_HOOK_ATTRS = frozenset(
    {"name", "description", "content", "condition", "priority", "metadata", "enabled", "blocking"}
)
_TYPES: dict[str, tuple[type, ...]] = {
    "headers": (dict,),
    "env": (dict,),
    "metadata": (dict,),
    "degradation": (dict,),
    "allowed_env": (list,),
    "args": (list,),
    "capabilities": (list,),
    "is_async": (bool,),
    "enabled": (bool,),
    "blocking": (bool,),
    "priority": (int,),
    "timeout": (int, float),
}
_WORDS = {
    dict: "an object",
    list: "a list",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
}
# The data in `provider_data` beside an entry's keys; an entry's keys with these names are under `keys`.
_KEEP = ("group", "event", "keys", "written_matcher")
# Tools whose input is one text: a pattern on the input is a pattern on that text. What is written to a file
# is input too, so a pattern for such a tool is not a pattern on the path.
_WHOLE_INPUT = frozenset({("shell", "command"), ("file_read", "path")})


def name_kind(value: Tree) -> str:
    """The kind of a value, in words."""
    return "null" if value is None else _WORDS.get(type(value), "something else")


def find_type_problem(attr: str, value: Tree, path: Path) -> Problem | None:
    """The problem of a value of the wrong type, if it has one."""
    types = _TYPES.get(attr, (str,))
    wrong = not isinstance(value, types) or (isinstance(value, bool) and bool not in types)
    if wrong:
        return Problem(f"must be {_WORDS[types[0]]}, not {name_kind(value)}", path)
    if attr == "timeout" and not 0 <= value < 10**9:
        return Problem(f"must be a positive time, not {value}", path)
    if attr in ("headers", "env"):
        bad = next((key for key, item in value.items() if not isinstance(item, str)), None)
        return (
            Problem(f"must be a string, not {name_kind(value[bad])}", (*path, bad))
            if bad is not None
            else None
        )
    if attr in ("allowed_env", "capabilities", "args"):
        bad_at = next((at for at, item in enumerate(value) if not isinstance(item, str)), None)
        return Problem("must be a string", (*path, bad_at)) if bad_at is not None else None
    return None


def read_timeout(rule: Timeout, value: float) -> timedelta:
    """A number of the dialect's unit as a time."""
    unit = rule.unit or SECOND
    if rule.seconds_below and value < rule.seconds_below:
        unit = SECOND
    return value * unit


def write_timeout(rule: Timeout, timeout: timedelta) -> int | float:
    """A time as a number of the dialect's unit, an integer if possible."""
    unit = rule.unit or SECOND
    if rule.seconds_below and timeout < rule.seconds_below * unit:
        unit = SECOND
    number = timeout / unit
    return int(number) if number == int(number) else number


def find_handler(
    dialect: Dialect, entry: Mapping[str, Tree], path: Path
) -> tuple[str, HandlerSpec] | Problem:
    """(canonical type, spec) of an entry's handler; `native` for a type only this dialect has."""
    if not any(spec.type for spec in dialect.handlers.values()):
        return "command", dialect.handlers["command"]
    native = entry.get("type", "")
    if dialect.needs_type and not native:
        return Problem("'type' is missing", path)
    if not isinstance(native, str):
        return Problem(f"must be a string, not {name_kind(native)}", (*path, "type"))
    for type_, spec in dialect.handlers.items():
        if spec.type == native or (not native and type_ == "command"):
            return type_, spec
    types = ", ".join(f'"{spec.type}"' for spec in dialect.handlers.values())
    return Problem(f"unknown handler type '{native}'; {dialect.id} has {types}", (*path, "type"))


def read_entry(
    dialect: Dialect,
    entry: Mapping[str, Tree],
    path: Path,
    structure: tuple[str, ...],
    problems: list[Problem],
) -> Hook | None:
    """The hook of one entry, without its event and matcher; `structure` lists the keys read elsewhere."""
    handler = find_handler(dialect, entry, path)
    if isinstance(handler, Problem):
        problems.append(handler)
        return None
    type_, spec = handler
    fields = dict(iter_fields(spec))
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    before = len(problems)
    for key, value in entry.items():
        if key in structure or (key == "type" and spec.type):
            continue
        field = fields.get(key)
        if field is None:
            extra[key] = value
            continue
        read = _read_value(field, value, (*path, key))
        if isinstance(read, Problem):
            problems.append(read)
        elif not (field.read_only and field.attr in values):
            values[field.attr] = read
    for attr in spec.required:
        if not any(values.get(choice) for choice in attr.split("|")):
            key = next((key for key, field in fields.items() if field.attr in attr.split("|")), attr)
            problems.append(Problem(f"{type_} handlers need '{key}'; this hook cannot run", path))
    if len(problems) > before:
        return None
    return _build_hook(dialect, type_, spec, values, extra)


def _read_value(field: Field, value: Tree, path: Path) -> Tree | Problem:
    """The meaning of a native value, or its problem."""
    if not field.values:
        return find_type_problem(field.attr, value, path) or value
    has_flags = any(isinstance(choice, bool) for choice in field.values)
    if isinstance(value, (dict, list)) or value not in field.values or isinstance(value, bool) != has_flags:
        allowed = ", ".join(str(choice) for choice in field.values)
        return Problem(f"must be one of {allowed}, not {value!r}", path)
    return field.values[value]


def _build_hook(
    dialect: Dialect, type_: str, spec: HandlerSpec, values: dict[str, Any], extra: dict[str, Any]
) -> Hook:
    platform = {name: values.pop(name) for name in PLATFORMS if name in values}
    hook_values = {attr: values.pop(attr) for attr in list(values) if attr in _HOOK_ATTRS}
    if "timeout" in values:
        values["timeout"] = read_timeout(spec.timeout, values["timeout"])
    args = values.pop("args", None)
    if args is not None:
        values["command"] = " ".join(
            _quote_exec_word(dialect, word) for word in [values.get("command", ""), *args]
        )
    elif "command" in values:
        values["command"] = strip_clauses(values["command"])
    if "allowed_env" in values:
        values["allowed_env"] = tuple(values["allowed_env"])
    handler = Handler(type=type_, platform=platform or NOTHING, **values)  # type: ignore[arg-type]
    colliding = {key: extra.pop(key) for key in _KEEP if key in extra}
    extra |= {"keys": colliding} if colliding else {}
    provider_data = {dialect.id: extra} if extra else NOTHING
    return Hook(event="", handler=handler, provider_data=provider_data, dialect=dialect.id, **hook_values)


def _quote_exec_word(dialect: Dialect, text: str) -> str:
    """Quote an `args` word for the shell; only roots in braces are expanded."""
    spellings = (*dialect.project_dir, *dialect.package_dir)
    roots = [root for root in spellings if re.fullmatch(r"\$\{\w+\}", root)]
    parts = re.split("(" + "|".join(map(re.escape, roots)) + ")", text) if roots else [text]
    if len(parts) > 1:
        escaped = (part if part in roots else re.sub(r'(["\\`$])', r"\\\1", part) for part in parts)
        return '"' + "".join(escaped) + '"'
    return text if re.fullmatch(r"[\w@%+=:,./-]+", text) else "'" + text.replace("'", "'\"'\"'") + "'"


def quote_shell_word(text: str) -> str:
    """Quote a word for the shell so that only variables (`$NAME`, `${NAME}`) are expanded."""
    if re.fullmatch(r"[\w@%+=:,./-]+", text):
        return text
    if re.search(r"\$\{?[A-Za-z_]", text):
        return '"' + re.sub(r'(["\\`]|\$(?!\{?[A-Za-z_]))', r"\\\1", text) + '"'
    return "'" + text.replace("'", "'\"'\"'") + "'"


def write_entry(dialect: Dialect, hook: Hook) -> dict[str, Tree]:
    """The native entry of a hook, without its event and matcher."""
    spec = dialect.handlers[hook.handler.type]
    entry: dict[str, Tree] = {"type": spec.type} if spec.type else {}
    written: set[str] = set()
    for key, field in iter_fields(spec):
        if field.read_only or field.attr in written:
            continue
        value = write_value(hook, field, spec.timeout)
        if value is not None:
            entry[key] = value
            written.add(field.attr)
    data = get_dialect_data(hook, dialect.id)
    entry.update((key, value) for key, value in data.items() if key not in _KEEP)
    # In a file by others it may be anything.
    keys = data.get("keys")
    entry.update(keys if isinstance(keys, Mapping) else {})
    return entry


def write_value(hook: Hook, field: Field, timeout: Timeout) -> Tree:
    """The native value of one attribute of a hook, None if nothing is to be written."""
    attr = field.attr
    if attr in PLATFORMS:
        return hook.handler.platform.get(attr)
    value = getattr(hook if attr in _HOOK_ATTRS else hook.handler, attr)
    if field.values:
        return next((native for native, choice in field.values.items() if choice == value and value), None)
    if attr == "timeout":
        return None if value is None else write_timeout(timeout, value)
    if attr == "enabled":
        return None if value else False
    if attr == "priority":
        return value
    if not value:
        return None
    if attr in ("headers", "env", "metadata"):
        return dict(value)
    return list(value) if attr == "allowed_env" else value


def write_group_extra(dialect: Dialect, hook: Hook) -> dict[str, Tree]:
    """The keys of a hook beside the matcher, outside the handler."""
    group = get_dialect_data(hook, dialect.id).get("group")
    extra = dict(group) if isinstance(group, Mapping) else {}
    spec = dialect.handlers[hook.handler.type]
    for key, field in dialect.shape.group_fields.items():
        value = write_value(hook, as_field(field), spec.timeout)
        if value is not None:
            extra[key] = value
    return extra


def bind(
    dialect: Dialect, hook: Hook, native: str, spec: EventSpec | None, terms: tuple[Term, ...], content: str
) -> Hook:
    """Set the hook's event (the canonical one if it exists), its matcher and whether it blocks."""
    event = spec.canonical if spec and spec.canonical else join_native(dialect.id, native)
    decides = dialect.handlers[hook.handler.type].decides and not hook.handler.is_async
    blocking = (spec or make_unknown_event(dialect, native)).blocks in ("prevent", "retry") and decides
    hook = hook._replace(event=event, matcher=terms, content=hook.content or content, blocking=blocking)
    if spec and spec.exits == "any" and blocking and hook.handler.type == "command":
        hook = hook._replace(handler=hook.handler._replace(on_failure="block"))
    if (
        spec
        and spec.canonical
        and (spec.secondary or is_elsewhere(dialect, hook, spec))
        and (spec, terms) not in find_slots(dialect, hook)
    ):
        data = {**get_dialect_data(hook, dialect.id), "event": native}
        hook = hook._replace(provider_data={**hook.provider_data, dialect.id: data})
    return hook


def make_unknown_event(dialect: Dialect, native: str) -> EventSpec:
    """Report an unknown event.

    A likely typo blocks as the intended event does: a guard there never runs.
    """
    likely = find_event(dialect, correct_slip(native, [event.native for event in dialect.events]))
    return EventSpec(native, "", likely.blocks if likely else "observe", "")


def is_elsewhere(dialect: Dialect, hook: Hook, spec: EventSpec) -> bool:
    """Whether a hook is under the general event although special events fire for its tools."""
    special = [row for row in find_event_specs(dialect, hook.event) if is_split(row)]
    return not is_split(spec) and any(covers(row, term) for row in special for term in hook.matcher)


def find_slots(dialect: Dialect, hook: Hook) -> list[tuple[EventSpec, tuple[Term, ...]]]:
    """The native events of a hook, each with its terms."""
    written_event = get_dialect_data(hook, dialect.id).get("event")
    chosen = find_event(dialect, written_event) if isinstance(written_event, str) else None
    native = split_native(hook.event)
    if native and native[0] == dialect.id:
        chosen = find_event(dialect, native[1]) or make_unknown_event(dialect, native[1])
    if chosen:
        return [(chosen, hook.matcher)]
    specs = find_event_specs(dialect, hook.event)
    used = {*hook.capabilities, *hook.degradation}
    if hook.content:
        exact = [spec for spec in dialect.events if spec.secondary and _can_hold_content(spec, hook, used)]
        if exact:
            return [(exact[0], hook.matcher)]
    if len(specs) == 1 and not is_split(specs[0]):
        return [(specs[0], hook.matcher)]
    split = [spec for spec in specs if is_split(spec)]
    general = [spec for spec in specs if not is_split(spec)][:1]
    if general and "input_rewrite" in used and general[0].rewrites:
        split = [spec for spec in split if spec.rewrites]
    if general and "structured_output" in used and _takes_context(dialect, general[0]):
        split = [spec for spec in split if _takes_context(dialect, spec)]
    if not hook.matcher:
        return [(spec, ()) for spec in general or split]
    by_event = _share_terms(hook.matcher, split, general)
    return [(spec, normalise_terms(by_event[spec.native])) for spec in specs if spec.native in by_event]


def _takes_context(dialect: Dialect, spec: EventSpec) -> bool:
    return "context" in find_table(dialect.wire.answers, spec.native, spec.canonical)


def _share_terms(
    terms: tuple[Term, ...], split: list[EventSpec], general: list[EventSpec]
) -> dict[str, list[Term]]:
    """The terms by native event: the event for such tools, else the general one."""
    by_event: dict[str, list[Term]] = {}
    for term in terms:
        spec = next((spec for spec in split if covers(spec, term)), general[0] if general else None)
        if spec:
            by_event.setdefault(spec.native, []).append(term)
    return by_event


def _can_hold_content(spec: EventSpec, hook: Hook, used: set[str]) -> bool:
    """Whether the event fires for exactly the hook's tools and its matcher can hold the content pattern."""
    return (
        bool(hook.content)
        and spec.canonical == hook.event
        and is_split(spec)
        and all((tool, spec.subject) in _WHOLE_INPUT for tool in spec.tools)
        and normalise_terms(list_event_terms(spec)) == normalise_terms(hook.matcher)
        and not (hook.blocking and spec.blocks == "observe")
        and (spec.rewrites or "input_rewrite" not in used)
    )


def write_matchers(
    dialect: Dialect, spec: EventSpec, hook: Hook, terms: tuple[Term, ...]
) -> list[str | None]:
    """The matchers of a hook on one event: the one that was read, if its meaning is unchanged."""
    text = get_dialect_data(hook, dialect.id).get("written_matcher")
    if isinstance(text, str) and spec.subject == "tool" and read_matcher(dialect, spec, text)[0] == terms:
        return [text]
    return write_matcher(dialect, spec, terms, hook.content)


def get_event_order(dialect: Dialect, hook: Hook) -> int:
    """The index of a hook's first native event in the event table, which orders the file."""
    first = next(iter(find_slots(dialect, hook)), None)
    natives = [spec.native for spec in dialect.events]
    return natives.index(first[0].native) if first and first[0].native in natives else len(natives)


def merge_entries(hooks: list[tuple[Hook, Any]]) -> list[tuple[Hook, Any]]:
    """Merge hooks that differ only in their matchers: writing a hook may split it."""
    merged: dict[str, tuple[Hook, Any]] = {}
    for hook, place in hooks:
        key = repr(hook._replace(matcher=()))
        number = 0
        while (pair := merged.get(f"{number}{key}")) and not _are_joinable(pair[0], hook):
            number += 1
        if pair:
            merged[f"{number}{key}"] = (
                pair[0]._replace(matcher=normalise_terms((*pair[0].matcher, *hook.matcher))),
                pair[1],
            )
        else:
            merged[f"{number}{key}"] = (hook, place)
    return list(merged.values())


def _are_joinable(hook: Hook, other_hook: Hook) -> bool:
    return bool(hook.matcher and other_hook.matcher) and not set(hook.matcher) & set(other_hook.matcher)


def read_root_data(dialect: Dialect, tree: Mapping[str, Tree]) -> dict[str, Tree]:
    """The file's settings beside its hooks, without those that every such file has."""
    return {
        key: value
        for key, value in tree.items()
        if key not in dialect.shape.root and dialect.shape.root_keys.get(key) != value
    }


def find_slipped_key(key: str, tree: Mapping[str, Tree], is_meant: Callable[[Tree], bool]) -> str:
    """The mistyped key with the hooks; empty if none.

    `_hooks` and similar names are not typos: people switch hooks off this way.
    """
    if key in tree:
        return ""
    keys = [candidate for candidate, value in tree.items() if is_meant(value) and candidate[:1] != "_"]
    return next(
        (
            candidate
            for candidate in keys
            if candidate.strip() == key or correct_slip(candidate.strip(), [key])
        ),
        "",
    )


def explain_wrong_key(key: str, path: Path) -> dict[str, str]:
    """The values for a finding about hooks below a key that their agent does not read."""
    way = f'Rename "{path[0]}" to "{key}".' if path else f'Move the events into "{key}": {{ … }}.'
    return {"what": "any hook of this file", "reason": f"it reads hooks below '{key}' only", "way": way}


def is_table_list(tree: Tree) -> bool:
    """Whether it is a list of hooks as TOML has them."""
    return isinstance(tree, list) and any(isinstance(table, Mapping) and "command" in table for table in tree)


def get_manifest_data(dialect: Dialect, manifest: Manifest) -> Mapping[str, Any]:
    """The manifest's data for the files of this dialect."""
    data: Mapping[str, Any] = manifest.provider_data.get(dialect.id, NOTHING)
    return data
