"""Kiro: v1 hook files, hooks in agent files (Amazon Q Developer CLI has these too), and the IDE's old files.

Which product reads which file differs, so a hook is written to a v1 file and, if an agent file can express
it, to an agent file too. Read together, the two files contain each hook once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from hookport.errors import Problem, spell_path, suggest_closest
from hookport.findings import (
    FieldDropped,
    FieldGiven,
    Finding,
    IgnoredMatcher,
    MatcherDropped,
    NeverRuns,
    OtherSettings,
    UnknownEvent,
)
from hookport.model.hooks import ANY_SERVER, NOTHING, Hook, Manifest, Term
from hookport.shapes.dialect import (
    MILLISECOND,
    SECOND,
    DecodedManifest,
    Dialect,
    EventSpec,
    Field,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Path,
    Place,
    Quirk,
    RefusedError,
    Shape,
    Timeout,
    Tree,
    alias_tools,
    explain_missing,
    find_event,
    get_dialect_data,
    list_ways,
    name_tools,
)
from hookport.shapes.entries import (
    bind,
    explain_wrong_key,
    find_slipped_key,
    find_slots,
    get_manifest_data,
    name_kind,
    read_entry,
    write_entry,
)
from hookport.shapes.matchers import (
    means_all,
    normalise_terms,
    read_matcher,
    split_alternatives,
    write_matcher,
)
from hookport.wire.table import Wire

SOURCES = {
    "src": "aws/amazon-q-developer-cli at 2026-04-23: agent files",
    "doc": "kiro.dev hook pages, IDE 1.0 change log and CLI V3 page, July and August 2026",
    "issue": "kirodotdev/Kiro issues 4810, 6188, 7375, 7408, 7500",
    "seen": "third-party notes on IDE 1.0 and on CLI 2.19.2 and 2.20.0, August 2026",
    "v3": "kiro.dev pages on hook types and the migration to V3, October 2026, as agnix 0.59.3 reads them",
}

V1_FILE = ".kiro/hooks/hookport.json"
AGENT_FILE = ".kiro/agents/hookport.json"
VERSION = "v1"
# An agent file without `tools` gives its agent none (src).
AGENT_HEAD: Mapping[str, Any] = {
    "name": "hookport",
    "description": "The default agent with the hooks that hookport wrote",
    "tools": ["*"],
}

V1_DEFAULT = timedelta(seconds=60)
AGENT_DEFAULT = timedelta(seconds=30)
# A timeout of 0 switches the limit off (doc); a day is longer than any hook.
NO_LIMIT = timedelta(days=1)

REGEX = Matching("regex", everything=("", ".*"), anchors=True)
GLOB = Matching("glob")
MCP = McpNames("@", "/", "src")
V1_ONLY = "only Kiro IDE 1.x and Kiro CLI with its V3 engine obey a deny"

CLI_TOOLS = name_tools(
    "src",
    shell=("execute_bash", "execute_cmd"),
    file_read="fs_read",
    file_write="fs_write",
    file_edit="fs_write",
    search=("grep", "fs_read"),
    find="glob",
    web_search="web_search",
    web_fetch="web_fetch",
    agent=("use_subagent", "delegate"),
    todo="todo_list",
)
# Names of tools in the settings of an agent that its hooks never see (issue).
SHORT_NAMES = alias_tools(
    "issue",
    shell="shell",
    file_read="read",
    search="read",
    file_write="write",
    file_edit="write",
)
# The IDE's subagents are tools of their own, `subagent_<agent>` (seen).
SUBAGENTS = "subagent_.*"

AGENT_EVENTS = (
    EventSpec("agentSpawn", "session_start", "observe", "src"),
    EventSpec("userPromptSubmit", "before_prompt", "observe", "src"),
    EventSpec("preToolUse", "before_tool_execute", "prevent", "src", "tool"),
    EventSpec("postToolUse", "after_tool_execute", "observe", "src", "tool"),
    EventSpec("stop", "agent_stop", "observe", "src"),
)
EVENTS = (
    EventSpec("SessionStart", "session_start", "observe", "doc"),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "doc", partly=V1_ONLY),
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "doc", "tool"),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "doc", "tool"),
    EventSpec("Stop", "agent_stop", "observe", "doc"),
    EventSpec("PreTaskExec", "before_task", "prevent", "doc", partly=f"{V1_ONLY}, others have no such event"),
    EventSpec("PostTaskExec", "after_task", "observe", "doc"),
    EventSpec("PostFileCreate", "file_created", "observe", "doc", "file_path"),
    EventSpec("PostFileSave", "file_saved", "observe", "doc", "file_path"),
    EventSpec("PostFileDelete", "file_deleted", "observe", "doc", "file_path"),
    EventSpec("Manual", "", "observe", "doc"),
    *(
        spec._replace(
            secondary=True,
            matching=GLOB if spec.subject else None,
            default_timeout=AGENT_DEFAULT,
            tool_names=(*CLI_TOOLS, *SHORT_NAMES),
        )
        for spec in AGENT_EVENTS
    ),
)
AGENT_OF = {spec.canonical: spec for spec in EVENTS if spec.secondary}
AGENT_NAMES = tuple(spec.native for spec in AGENT_EVENTS)

# The events of the IDE before 1.0, which named some as agent files do, and which of them could block.
LEGACY = {
    "promptSubmit": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "agentStop": "Stop",
    "preTaskExecution": "PreTaskExec",
    "postTaskExecution": "PostTaskExec",
    "fileCreated": "PostFileCreate",
    "fileEdited": "PostFileSave",
    "fileDeleted": "PostFileDelete",
    "userTriggered": "Manual",
}
LEGACY_BLOCKS = ("preToolUse",)
LEGACY_ACTIONS = {"runCommand": "command", "askAgent": "agent"}
LEGACY_TOOLS = {
    "read": ("file_read", "search", "find"),
    "write": ("file_write", "file_edit"),
    "shell": ("shell",),
    "web": ("web_search", "web_fetch"),
}

LACKS = explain_missing(
    EVENTS,
    "no such event in either format",
    registry=30,
    session_end="Stop ends a turn, not the session",
    tool_use_failure="PostToolUse fires with tool_response.success false",
    file_changed="PostFileCreate, PostFileSave and PostFileDelete report one kind of change each",
)


# Kiro's wire: an exit code and raw text, never JSON; agent files and v1 files differ in what they listen to.
# Agent files: source of the Amazon Q CLI, 2026-04-23. v1 files: kiro.dev pages, July and August 2026.

KEYS = {
    "event": "hook_event_name",
    "session": "session_id",
    "cwd": "cwd",
    "tool": "tool_name",
    "input": "tool_input",
    "result": "tool_response",
    "prompt": "prompt",
}

# The page on v1 files shows `preToolUse` in the payload of a hook on `PreToolUse` (doc).
EVENT_WORDS = {
    "PreToolUse": "preToolUse",
    "PostToolUse": "postToolUse",
    "UserPromptSubmit": "userPromptSubmit",
    "Stop": "stop",
}

# `text`, `oldStr` and `newStr` are the IDE's fields (seen); `command` of the CLI's tools is a sub-command.
INPUTS: dict[str, dict[str, Tree]] = {
    "shell": {"description": "summary"},
    "file_write": {"content": ["file_text", "text"], "action": "command"},
    "file_edit": {"old": ["old_str", "oldStr"], "new": ["new_str", "newStr"], "action": "command"},
    "str_replace": {"old": "oldStr", "new": "newStr"},
    "fs_append": {"content": "text"},
    "todo": {"todos": "tasks", "action": "command"},
    "delegate": {"prompt": "task", "agent_type": "agent"},
}
VARIANTS = {
    "fs_write": (
        "command",
        {"create": "file_write", "str_replace": "file_edit", "insert": "file_edit", "append": "file_edit"},
    )
}

# stdout is not read beside exit code 2.
DENY: dict[str, Tree] = {"stderr": "$reason", "exit": 2, "alone": True}
CONTEXT = {"stdout": "$context"}

ANSWERS: dict[str, dict[str, Tree]] = {
    # Agent files (src): exit code 2 is a warning on the others, and stdout is thrown away.
    "agentSpawn": {"context": CONTEXT},
    "userPromptSubmit": {"context": CONTEXT},
    "preToolUse": {"deny": DENY},
    "postToolUse": {},
    "stop": {},
    # v1 files (doc): stdout is added to the context.
    "UserPromptSubmit": {"deny": DENY, "context": CONTEXT},
    "PreToolUse": {"deny": DENY, "context": CONTEXT},
    "PreTaskExec": {"deny": DENY, "context": CONTEXT},
    "*": {"context": CONTEXT},
}

OBSERVED = {"json": "none", "text": "ignored"}
WITH_CONTEXT = {"json": "none", "text": "context"}
# One page lets any exit code but 0 block (KI7): a guard that relies on it must not be let through.
ANY_CODE = {**WITH_CONTEXT, "exits": {"+": "deny"}}

READS: dict[str, dict[str, Tree]] = {
    "agentSpawn": WITH_CONTEXT,
    "userPromptSubmit": WITH_CONTEXT,
    "preToolUse": {**OBSERVED, "exits": {"2": "deny"}},
    "postToolUse": OBSERVED,
    "stop": OBSERVED,
    "UserPromptSubmit": ANY_CODE,
    "PreToolUse": ANY_CODE,
    "PreTaskExec": ANY_CODE,
    "*": WITH_CONTEXT,
}

# What Kiro itself obeys: exit code 2 (src, doc), although one page of v1 lets any other code block.
ONLY_TWO = {**WITH_CONTEXT, "exits": {"2": "deny"}}
OBEYS = {**READS, "UserPromptSubmit": ONLY_TWO, "PreToolUse": ONLY_TWO, "PreTaskExec": ONLY_TWO}

WIRE = Wire(
    obeys=OBEYS,
    keys=KEYS,
    said=EVENT_WORDS,
    inputs=INPUTS,
    batches={"fs_read": ("operations", "")},
    variants=VARIANTS,
    texts=("result:list",),
    results={"*": {"success": True, "result": ["$text"]}},
    env={"USER_PROMPT": "$prompt"},
    starts_in="root",
    answers=ANSWERS,
    reads=READS,
    # (doc, the built-in tools of Q)
    others=("introspect", "thinking", "gh_issue"),
    lifts=False,
)


class KiroReading(NamedTuple):
    """The hooks, findings and problems read so far; `agent` holds each entry of agent files."""

    hooks: list[tuple[Hook, Place]]
    agent: list[tuple[Hook, str, Place]]
    findings: list[Finding]
    problems: list[Problem]


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """Every hook once: an agent file's entry that equals a v1 hook's entry is that hook."""
    reading = KiroReading([], [], [], [])
    forms: set[str] = set()
    for file, tree in trees.items():
        if isinstance(tree, str):
            continue
        file_reading = reading._replace(problems=[])
        if not isinstance(tree, Mapping):
            file_reading.problems.append(Problem(f"must be an object, not {name_kind(tree)}"))
        elif _is_legacy(file, tree):
            _read_legacy(dialect, file, tree, file_reading)
        elif _is_agent(file, tree):
            forms.add("agent")
            _read_agent(dialect, file, tree, file_reading)
        else:
            forms.add("v1")
            _read_v1(dialect, file, tree, file_reading)
        reading.problems.extend(problem._replace(file=file) for problem in file_reading.problems)
    if reading.problems:
        raise RefusedError(*reading.problems)
    hooks = [
        *_settle_v1_hooks(dialect, reading.hooks, reading.agent),
        *_join_agent_hooks(dialect, reading.agent),
    ]
    data = {dialect.id: {"form": "agent"}} if forms == {"agent"} else NOTHING
    manifest = Manifest(tuple(hook for hook, _ in hooks), data)
    return DecodedManifest(manifest, tuple(place for _, place in hooks), tuple(reading.findings))


def _is_legacy(file: str, tree: Mapping[str, Tree]) -> bool:
    return file.endswith(".kiro.hook") or ("when" in tree and "then" in tree)


def _is_agent(file: str, tree: Mapping[str, Tree]) -> bool:
    folder = file.rpartition("/")[0].rpartition("/")[2]
    if folder in ("agents", "cli-agents", "hooks"):
        return folder != "hooks"
    return isinstance(tree.get("hooks"), Mapping)


def _note_other_keys(keys: list[str], file: str, reading: KiroReading) -> None:
    if keys:
        reading.findings.append(OtherSettings.at("", keys=", ".join(keys))._replace(file=file))


def _read_string(tree: Mapping[str, Tree], key: str, path: Path, problems: list[Problem]) -> str:
    value = tree.get(key)
    if isinstance(value, str) and value:
        return value
    missing = key not in tree
    wrong = "must not be empty" if value == "" else f"must be a string, not {name_kind(value)}"
    problems.append(Problem(f"'{key}' is missing" if missing else wrong, path if missing else (*path, key)))
    return ""


def _read_object(
    tree: Mapping[str, Tree], key: str, path: Path, problems: list[Problem]
) -> Mapping[str, Tree]:
    value = tree.get(key)
    if isinstance(value, Mapping):
        return value
    missing = key not in tree
    wrong = f"'{key}' is missing" if missing else f"must be an object, not {name_kind(value)}"
    problems.append(Problem(wrong, path if missing else (*path, key)))
    return {}


def _read_matcher_text(entry: Mapping[str, Tree], path: Path, problems: list[Problem]) -> str:
    return _read_string(entry, "matcher", path, problems) if entry.get("matcher") else ""


def _read_v1(dialect: Dialect, file: str, tree: Mapping[str, Tree], reading: KiroReading) -> None:
    version, entries = tree.get("version"), tree.get("hooks")
    if version != VERSION:
        missing = f'\'version\' is missing; write "version": "{VERSION}"'
        wrong = Problem(f'must be "{VERSION}", not {version!r}', ("version",))
        reading.problems.append(wrong if "version" in tree else Problem(missing))
    if not isinstance(entries, list):
        wrong = Problem(f"must be a list of hooks, not {name_kind(entries)}", ("hooks",))
        reading.problems.append(wrong if "hooks" in tree else Problem("'hooks' is missing"))
        return
    _note_other_keys([key for key in tree if key not in ("version", "hooks")], file, reading)
    for number, entry in enumerate(entries):
        place = Place(file, ("hooks", number))
        if isinstance(entry, Mapping):
            _read_v1_hook(dialect, place, entry, reading)
        else:
            reading.problems.append(Problem(f"a hook must be an object, not {name_kind(entry)}", place.path))


def _read_v1_hook(dialect: Dialect, place: Place, entry: Mapping[str, Tree], reading: KiroReading) -> None:
    path, problems = place.path, list[Problem]()
    _read_string(entry, "name", path, problems)
    trigger = _read_string(entry, "trigger", path, problems)
    matcher = _read_matcher_text(entry, path, problems)
    action = _read_object(entry, "action", path, problems)
    if action and "type" not in action:
        problems.append(Problem("'type' is missing", (*path, "action")))
    flat = {key: value for key, value in entry.items() if key not in ("action", "type")}
    flat |= {key if key == "type" else f"action.{key}": value for key, value in action.items()}
    hook = read_entry(dialect, flat, path, ("trigger", "matcher"), problems) if not problems else None
    reading.problems.extend(map(_move_into_action, problems))
    if hook is None:
        return
    if hook.handler.timeout == timedelta():
        hook = hook._replace(handler=hook.handler._replace(timeout=NO_LIMIT))
    spec = find_event(dialect, trigger)
    if spec is None or spec.secondary:
        natives = tuple(spec.native for spec in dialect.events if not spec.secondary)
        location = spell_path((*path, "trigger"))
        finding = UnknownEvent.at(
            location, event=trigger, dialect=dialect.id, guess=suggest_closest(trigger, natives)
        )
        reading.findings.append(finding._replace(file=place.file))
        hook = bind(
            dialect, _add_data(dialect, hook, {"matcher": matcher} if matcher else {}), trigger, None, (), ""
        )
    else:
        _note_matcher_faults(dialect, place, spec, matcher, reading)
        hook = bind(dialect, hook, trigger, spec, _read_terms(dialect, spec, matcher), "")
    reading.hooks.append((hook, place))


def _move_into_action(problem: Problem) -> Problem:
    *above, last = problem.path or ("",)
    if last == "type":
        return problem._replace(path=(*above, "action", "type"))
    head, dot, key = str(last).partition(".")
    return problem._replace(path=(*above, head, key)) if dot else problem


def _read_terms(dialect: Dialect, spec: EventSpec, text: str) -> tuple[Term, ...]:
    if spec.subject == "tool" and text == "@builtin":
        return normalise_terms([Term("tool", row.tool) for row in dialect.tools])
    return read_matcher(dialect, spec, text)[0]


def _note_matcher_faults(
    dialect: Dialect, place: Place, spec: EventSpec, text: str, reading: KiroReading
) -> None:
    """Report a matcher that Kiro ignores, and a tool name that no running tool has (KI3)."""
    location = spell_path(place.path)
    if not spec.subject and not means_all(REGEX, text):
        finding = IgnoredMatcher.at(location, dialect=dialect.id, matcher=text)
        reading.findings.append(finding._replace(file=place.file))
    words = [text] if spec.secondary else split_alternatives(text)
    names = [_find_running_name(word, is_whole=spec.secondary) for word in words]
    if spec.subject == "tool" and names and all(names):
        reason = f"no running tool has the name '{text}'"
        right = f"Write {'|'.join(names)}."
        finding = NeverRuns.at(location, dialect=dialect.id, what="this hook", reason=reason, way=right)
        reading.findings.append(finding._replace(file=place.file))


def _find_running_name(word: str, *, is_whole: bool) -> str:
    """The name a running tool has instead of a short name that matches none; empty if it matches one."""
    tool = next((row.tool for row in SHORT_NAMES if row.native == word), "")
    if not tool or (not is_whole and any(word in row.native for row in CLI_TOOLS)):
        return ""
    return next(row.native for row in CLI_TOOLS if row.tool == tool)


def _use_agent_handlers(dialect: Dialect) -> Dialect:
    return dialect._replace(handlers=AGENT_HANDLERS)


def _is_event_map(tree: Tree) -> bool:
    return isinstance(tree, Mapping) and any(name in tree for name in AGENT_NAMES)


def _read_agent(dialect: Dialect, file: str, tree: Mapping[str, Tree], reading: KiroReading) -> None:
    root = find_slipped_key("hooks", tree, _is_event_map) or "hooks"
    if root != "hooks":
        words = {"dialect": dialect.id, **explain_wrong_key("hooks", (root,))}
        reading.findings.append(NeverRuns.at(spell_path((root,)), None, **words)._replace(file=file))
    events = _read_object(tree, root, (), reading.problems) if tree.get(root) is not None else {}
    _note_other_keys([key for key in tree if key != root and AGENT_HEAD.get(key) != tree[key]], file, reading)
    for native, entries in events.items():
        path: Path = (root, native)
        if native not in AGENT_NAMES:
            guess = suggest_closest(native, AGENT_NAMES)
            wrong = f"unknown event '{native}': Kiro refuses the whole agent file.{guess}"
            reading.problems.append(Problem(wrong, path))
        elif not isinstance(entries, list):
            reading.problems.append(Problem(f"must be a list of hooks, not {name_kind(entries)}", path))
        else:
            for number, entry in enumerate(entries):
                _read_agent_entry(dialect, native, Place(file, (*path, number)), entry, reading)


def _read_agent_entry(dialect: Dialect, native: str, place: Place, entry: Tree, reading: KiroReading) -> None:
    path, problems = place.path, list[Problem]()
    if not isinstance(entry, Mapping):
        reading.problems.append(Problem(f"must be an object, not {name_kind(entry)}", path))
        return
    fields = {key: value for key, value in entry.items() if value is not None}
    matcher = _read_matcher_text(fields, path, problems)
    if isinstance(fields.get("timeout_ms"), float):
        problems.append(Problem("must be a whole number of milliseconds", (*path, "timeout_ms")))
    hook = (
        read_entry(_use_agent_handlers(dialect), fields, path, ("matcher",), problems)
        if not problems
        else None
    )
    reading.problems.extend(problems)
    if hook is None:
        return
    spec = next(spec for spec in AGENT_OF.values() if spec.native == native)
    _note_matcher_faults(dialect, place, spec, matcher, reading)
    text = "" if matcher in GLOB.everything or not spec.subject else matcher
    # Bound to the main event first: which file it is written to is settled when all files are read.
    hook = bind(dialect, hook, native, spec._replace(secondary=False), _read_terms(dialect, spec, text), "")
    reading.agent.append((hook, text, place))


def _settle_v1_hooks(
    dialect: Dialect, hooks: list[tuple[Hook, Place]], agent: list[tuple[Hook, str, Place]]
) -> list[tuple[Hook, Place]]:
    """The v1 hooks; a hook that an agent file could hold but does not is marked as v1 only."""
    settled: list[tuple[Hook, Place]] = []
    for hook, place in hooks:
        entries = _write_agent_entries(dialect, hook)
        numbers = _find_agent_entries(hook, entries, agent)
        more: dict[str, Tree] = {}
        if entries and len(numbers) == len(entries):
            extra = get_dialect_data(agent[numbers[0]][0], dialect.id)
            more = {"agent": extra} if extra else {}
            agent[:] = [row for number, row in enumerate(agent) if number not in numbers]
        elif entries and place.path:
            more = {"event": find_slots(dialect, hook)[0][0].native}
        settled.append((_add_data(dialect, hook, more), place))
    return settled


def _find_agent_entries(
    hook: Hook, entries: list[tuple[str, dict[str, Tree]]], agent: list[tuple[Hook, str, Place]]
) -> list[int]:
    """The indexes of the agent file entries that equal the hook's own entries."""
    numbers: list[int] = []
    for text, entry in entries:
        for number, (agent_hook, other_text, _) in enumerate(agent):
            if number not in numbers and other_text == text and _is_same_hook(hook, entry, agent_hook):
                numbers.append(number)
                break
    return numbers


def _is_same_hook(hook: Hook, entry: Mapping[str, Tree], agent_hook: Hook) -> bool:
    """Whether an agent file's hook equals the hook's own entry; both may rely on a default."""
    written = entry["timeout_ms"] * MILLISECOND
    times = (written,) if hook.handler.timeout else (written, None)
    alike = (agent_hook.event, agent_hook.handler.command) == (hook.event, hook.handler.command)
    return alike and agent_hook.handler.timeout in times


def _join_agent_hooks(dialect: Dialect, agent: list[tuple[Hook, str, Place]]) -> list[tuple[Hook, Place]]:
    """The hooks that are only in agent files; entries that differ only in their matchers are one hook."""
    joined: dict[str, tuple[Hook, Place]] = {}
    for number, (hook, text, place) in enumerate(agent):
        marked = _add_data(dialect, hook, {"event": AGENT_OF[hook.event].native})
        key = repr(marked._replace(matcher=())) if text else str(number)
        first = joined.get(key)
        if first:
            marked = first[0]._replace(matcher=normalise_terms((*first[0].matcher, *marked.matcher)))
        joined[key] = (marked, first[1] if first else place)
    order = {spec.canonical: number for number, spec in enumerate(AGENT_EVENTS)}
    return sorted(joined.values(), key=lambda row: order[row[0].event])


def _add_data(dialect: Dialect, hook: Hook, more: Mapping[str, Tree]) -> Hook:
    data = {**get_dialect_data(hook, dialect.id), **more}
    return hook._replace(provider_data={**hook.provider_data, dialect.id: data} if data else NOTHING)


def _read_legacy(dialect: Dialect, file: str, tree: Mapping[str, Tree], reading: KiroReading) -> None:
    when = _read_object(tree, "when", (), reading.problems)
    then = _read_object(tree, "then", (), reading.problems)
    native = _read_type(when, "when", LEGACY, reading) if when else ""
    type_ = _read_type(then, "then", LEGACY_ACTIONS, reading) if then else ""
    patterns, words = _read_strings(when, "patterns", reading), _read_strings(when, "toolTypes", reading)
    spec = find_event(dialect, LEGACY.get(native, ""))
    if reading.problems or spec is None:
        return
    flat = {"name": file.rpartition("/")[2].removesuffix(".kiro.hook"), "type": LEGACY_ACTIONS[type_]}
    flat |= {key: tree[key] for key in ("name", "description", "enabled") if key in tree}
    flat |= {f"action.{key}": then[key] for key in ("command", "prompt") if key in then}
    flat |= {"timeout": then["timeout"]} if "timeout" in then else {}
    problems: list[Problem] = []
    hook = read_entry(dialect, flat, (), (), problems)
    reading.problems.extend(map(_move_into_then, problems))
    if hook is None:
        return
    other_keys = [
        key for key in tree if key not in ("name", "description", "enabled", "version", "when", "then")
    ]
    other_keys += [f"when.{key}" for key in when if key not in ("type", "patterns", "toolTypes")]
    other_keys += [f"then.{key}" for key in then if key not in ("type", "command", "prompt", "timeout")]
    _note_other_keys(other_keys, file, reading)
    reason = "the IDE no longer reads .kiro.hook files since 1.0"
    way = "Convert it, or let the IDE migrate it to .kiro/hooks/*.json."
    finding = NeverRuns.at("", dialect=dialect.id, what="this file", reason=reason, way=way)
    reading.findings.append(finding._replace(file=file))
    terms = _read_legacy_tools(dialect, words) if spec.subject == "tool" else ()
    if spec.subject == "file_path" and patterns:
        terms = (Term("pattern", "|".join(map(_write_path_pattern, patterns))),)
    hook = bind(dialect, hook, spec.native, spec, terms, "")
    reading.hooks.append((hook._replace(blocking=hook.blocking and native in LEGACY_BLOCKS), Place(file, ())))


def _read_type(tree: Mapping[str, Tree], part: str, words: Mapping[str, str], reading: KiroReading) -> str:
    word = tree.get("type")
    if isinstance(word, str) and word in words:
        return word
    guess = suggest_closest(word, tuple(words)) if isinstance(word, str) else ""
    wrong = f"must be one of {', '.join(words)}, not {word!r}.{guess}"
    reading.problems.append(Problem(wrong, (part, "type") if "type" in tree else (part,)))
    return ""


def _read_strings(when: Mapping[str, Tree], key: str, reading: KiroReading) -> list[str]:
    value = when.get(key) or []
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    reading.problems.append(Problem("must be a list of strings", ("when", key)))
    return []


def _move_into_then(problem: Problem) -> Problem:
    last = str(problem.path[-1]) if problem.path else ""
    if last.startswith("action.") or last == "timeout":
        return problem._replace(path=("then", last.removeprefix("action.")))
    return problem


def _read_legacy_tools(dialect: Dialect, words: list[str]) -> tuple[Term, ...]:
    terms: list[Term] = []
    for word in words:
        if word == "*":
            return ()
        if word == "@mcp":
            terms.append(Term("mcp", ANY_SERVER))
        elif word == "@builtin":
            terms += [Term("tool", row.tool) for row in dialect.tools]
        else:
            terms += [Term("tool", tool) for tool in LEGACY_TOOLS.get(word, ())] or [Term("pattern", word)]
    return normalise_terms(terms)


def _write_path_pattern(glob: str) -> str:
    """A glob on a path below the workspace as a regular expression on a path, whole or below it."""
    signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob.removeprefix("./").removeprefix("/"))
    return "(?:^|/)" + "".join(signs.get(part) or re.escape(part) for part in parts) + "$"


def encode(dialect: Dialect, manifest: Manifest) -> dict[str, Tree]:
    """A v1 file and an agent file; a hook that was read from one of the two only is written there only."""
    v1: list[dict[str, Tree]] = []
    events: dict[str, list[dict[str, Tree]]] = {}
    for hook in manifest.hooks:
        mark = get_dialect_data(hook, dialect.id).get("event", "")
        if mark not in AGENT_NAMES:
            v1.append(_write_v1(dialect, hook))
        if not mark or mark in AGENT_NAMES:
            for _, entry in _write_agent_entries(dialect, hook):
                events.setdefault(AGENT_OF[hook.event].native, []).append(entry)
    files: dict[str, Tree] = {}
    is_agent = get_manifest_data(dialect, manifest).get("form") == "agent"
    if v1 or not (events or is_agent):
        files[V1_FILE] = {"version": VERSION, "hooks": v1}
    if events or (is_agent and not v1):
        ordered = {native: events[native] for native in AGENT_NAMES if native in events}
        files[AGENT_FILE] = {**AGENT_HEAD, "hooks": ordered}
    return files


def _write_v1(dialect: Dialect, hook: Hook) -> dict[str, Tree]:
    data = dict(get_dialect_data(hook, dialect.id))
    data.pop("agent", None)
    flat = write_entry(dialect, hook._replace(provider_data={dialect.id: data}))
    spec, terms = find_slots(dialect, hook)[0]
    matcher = next(iter(write_matcher(dialect, spec, terms, "")), None)
    if matcher and Term("tool", "agent") in terms:
        matcher = matcher.replace("use_subagent", f"use_subagent|{SUBAGENTS}", 1)
    entry: dict[str, Tree] = {key: flat.pop(key) for key in ("name", "description") if key in flat}
    entry["trigger"] = spec.native
    if matcher is not None:
        entry["matcher"] = matcher
    entry["action"] = {"type": flat.pop("type")}
    for key, value in flat.items():
        if key.startswith("action."):
            entry["action"][key.removeprefix("action.")] = value
        else:
            entry[key] = value
    return entry


def _write_agent_entries(dialect: Dialect, hook: Hook) -> list[tuple[str, dict[str, Tree]]]:
    """(matcher, entry) for every agent file entry of the hook; none if an agent file cannot hold it."""
    spec = AGENT_OF.get(hook.event)
    if spec is None or hook.handler.type != "command" or not hook.enabled:
        return []
    data = get_dialect_data(hook, dialect.id)
    is_marked = data.get("event") in AGENT_NAMES
    extra = data if is_marked else data.get("agent", {})
    # The formats' defaults differ, so the time is always written for a hook of both.
    timeout = hook.handler.timeout or (None if is_marked else V1_DEFAULT)
    bare = hook._replace(handler=hook.handler._replace(timeout=timeout), provider_data={dialect.id: extra})
    entry = write_entry(_use_agent_handlers(dialect), bare)
    texts = _write_globs(dialect, spec, hook.matcher) if spec.subject else [""]
    return [(text, {**({"matcher": text} if text else {}), **entry}) for text in texts]


def _write_globs(dialect: Dialect, spec: EventSpec, terms: tuple[Term, ...]) -> list[str]:
    """The matchers of an agent file for these terms; one for everything if it cannot express them."""
    texts = ["@*/*" if text == "@*" else text or "" for text in write_matcher(dialect, spec, terms, "")]
    covered = {term for text in texts for term in read_matcher(dialect, spec, text)[0]}
    return texts if texts and set(terms) <= covered else [""]


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """Name v1 hooks; in agent files, drop names and report widened matchers (no regular expressions)."""
    findings: list[Finding] = []
    adjusted: list[Hook] = []
    for number, source in enumerate(hooks):
        hook = _correct_mark(source, adjusted)
        data = get_dialect_data(hook, DIALECT.id)
        if data.get("event") in AGENT_NAMES:
            dropped = [field for field in ("name", "description") if getattr(hook, field)]
            findings += [FieldDropped.at("", number, target=DIALECT.id, field=field) for field in dropped]
            adjusted.append(hook._replace(name="", description=""))
            continue
        if not hook.name:
            event = hook.event.rpartition(":")[2].replace("_", "-").lower()
            hook = hook._replace(name=f"{event}-{number + 1}")
            findings.append(FieldGiven.at("", number, target=DIALECT.id, field="name", value=hook.name))
        texts = [text for text, _ in _write_agent_entries(DIALECT, hook)]
        if "event" not in data and hook.matcher and texts == [""]:
            matcher = ", ".join(term.value for term in hook.matcher)
            target = f"an agent file of {DIALECT.id}"
            findings.append(MatcherDropped.at("", number, target=target, matcher=matcher))
        adjusted.append(hook)
    return adjusted, findings


def _correct_mark(hook: Hook, before: list[Hook]) -> Hook:
    """Remove the mark of where a hook was read if the hook, changed since, cannot be written there."""
    data = dict(get_dialect_data(hook, DIALECT.id))
    mark = data.get("event")
    fits = bool(_write_agent_entries(DIALECT, hook._replace(provider_data=NOTHING)))
    spec = find_event(DIALECT, mark) if isinstance(mark, str) else None
    if spec is None or spec.canonical != hook.event:
        data.pop("event", None)
    elif not fits or (spec.secondary and any(_reads_as_one(hook, earlier) for earlier in before)):
        main = next(row for row in EVENTS if row.canonical == hook.event)
        decides = main.blocks == "prevent" and DIALECT.handlers[hook.handler.type].decides
        hook = hook._replace(blocking=decides)
        data = {} if spec.secondary else {key: value for key, value in data.items() if key != "event"}
    if "event" in data or not fits or not isinstance(data.get("agent"), Mapping):
        data.pop("agent", None)
    return hook._replace(provider_data={DIALECT.id: data} if data else NOTHING)


def _reads_as_one(hook: Hook, earlier: Hook) -> bool:
    bare = hook._replace(matcher=(), name="", description="")
    return bool(hook.matcher and earlier.matcher) and bare == earlier._replace(
        matcher=(), name="", description=""
    )


_V1: dict[str, Field | str] = {
    "name": "name",
    "description": "description",
    "timeout": "timeout",
    "enabled": "enabled",
}
_V1_WAIT = Timeout(SECOND, default=V1_DEFAULT, whole=True, minimum=SECOND)
AGENT_HANDLERS = {
    "command": HandlerSpec(
        "",
        {"command": "command", "timeout_ms": "timeout"},
        Timeout(MILLISECOND, default=AGENT_DEFAULT, whole=True),
        required=("command",),
    ),
}

DIALECT = Dialect(
    id="kiro",
    title="Kiro",
    kind="agent",
    facts="IDE 1.0.309, CLI 2.20.0",
    sources=SOURCES,
    shows={
        # The model gets the stderr of a deny.
        "*": ((), "doc"),
    },
    locations=(
        Location("project", V1_FILE, "doc"),
        Location("project", AGENT_FILE, "src"),
        Location("project", ".kiro/hooks/*.json", "doc"),
        # The hooks of a custom agent run while it is the active one; Amazon Q's are another product's.
        Location("project", ".kiro/agents/*.json", "src", loaded=False),
        Location("project", ".amazonq/cli-agents/*.json", "src", loaded=False),
        Location("project", ".kiro/hooks/*.kiro.hook", "doc"),
        Location("user", f"~/{V1_FILE}", "doc"),
        Location("user", f"~/{AGENT_FILE}", "src"),
        Location("user", "~/.kiro/hooks/*.json", "doc"),
        Location("user", "~/.kiro/agents/*.json", "src", loaded=False),
        Location("user", "~/.aws/amazonq/cli-agents/*.json", "src", loaded=False),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=(
        *CLI_TOOLS,
        *name_tools("seen", file_write="fs_append", file_edit="str_replace"),
        *name_tools("v3", file_read="read_file", find="file_search", agent="subagent"),
        *SHORT_NAMES,
        *alias_tools("seen", agent=SUBAGENTS),
    ),
    wordless=dict.fromkeys(("use_aws", "aws", "knowledge"), "src"),
    mcp=MCP,
    matching=REGEX,
    handlers={
        "command": HandlerSpec(
            "command", {"action.command": "command", **_V1}, _V1_WAIT, required=("command",)
        ),
        "agent": HandlerSpec(
            "agent", {"action.prompt": "prompt", **_V1}, _V1_WAIT, required=("prompt",), decides=False
        ),
    },
    shape=Shape(decode, encode, file_kinds={"hook": "json"}),
    wire=WIRE,
    commands_start="root",
    # No variable is set; commands start in the root of the project (src) or the workspace (doc).
    project_dir=(".",),
    adjust=adjust,
    programs=("kiro-cli",),
    # The IDE and the V3 engine read the first, the V2 engine the others (doc, KI1).
    products=((".kiro/hooks/",), (".kiro/agents/", ".amazonq/cli-agents/", ".aws/amazonq/cli-agents/")),
    notes=(
        f"{V1_FILE} is read only by Kiro IDE 1.x and by Kiro CLI with its V3 engine.",
        f"Without that engine Kiro CLI runs the hooks in {AGENT_FILE}, while that agent is active.",
        "Set `chat.defaultAgent` to `hookport` to make it the default agent.",
        "If your Kiro CLI reads both files, each hook runs twice: delete one of the files.",
    ),
    quirks=(
        Quirk(
            "KI1",
            "V3 reads v1 files; sources disagree whether it also reads the hooks of agent files",
            "seen",
        ),
        Quirk(
            "KI2", "an agent file with an unknown event is invalid as a whole: there are exactly five", "src"
        ),
        Quirk("KI3", "a matcher is tested against execute_bash, never its short name shell", "issue"),
        Quirk("KI4", "fs_write creates and edits, fs_read also lists directories and searches", "src"),
        Quirk(
            "KI5", "userPromptSubmit of an agent file cannot block, UserPromptSubmit of a v1 file can", "src"
        ),
        Quirk(
            "KI6",
            "with cache_ttl_seconds an allow for one call is reused for the next, whatever its input",
            "src",
        ),
        Quirk("KI7", "for v1 files, one page lets any exit code except 0 block, another page only 2", "doc"),
        Quirk("KI8", "a hook that times out or does not start lets the tool run", "src"),
        Quirk("KI9", "the CLI 2.19.2 wrote a file although a preToolUse hook exited with 2", "seen"),
        Quirk("KI10", "an agent action sends its prompt to the agent and cannot block", "doc"),
        Quirk("KI11", "the IDE before 1.0 gave its hooks no JSON, only the variable USER_PROMPT", "issue"),
        Quirk("KI12", "a timeout of 0 in a v1 file means no limit", "doc"),
    ),
    ways_around=list_ways(kinds=4),
)
