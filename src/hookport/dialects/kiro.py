"""Kiro: v1 hook files, hooks in agent files (also Amazon Q Developer CLI's), and the files of the IDE before 1.0.

Which product reads which file differs, so a hook is written to a v1 file and, where an agent file can say it, to
an agent file too. Read together, the two give each hook once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from hookport.dialects._base import (
    MILLISECOND,
    SECOND,
    Decoded,
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
    Refused,
    Shape,
    Timeout,
    Tree,
    aliases,
    dialect_data,
    event_named,
    named,
)
from hookport.dialects._entries import bind, kind_word, own_data, read_entry, slots, write_entry
from hookport.dialects._matchers import alternatives, normal, read_matcher, write_matcher
from hookport.errors import Problem, closest, spell_path
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
from hookport.model.events import about_tool
from hookport.model.hooks import ANY_SERVER, NOTHING, Hook, Manifest, Term

SOURCES = {
    "src": "aws/amazon-q-developer-cli at 2026-04-23: agent files",
    "doc": "kiro.dev hook pages, IDE 1.0 change log and CLI V3 page, July and August 2026",
    "issue": "kirodotdev/Kiro issues 4810, 6188, 7375, 7408, 7500",
    "seen": "third-party notes on IDE 1.0 and on CLI 2.19.2 and 2.20.0, August 2026",
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

REGEX = Matching("regex", everything=("", ".*"))
GLOB = Matching("glob")
MCP = McpNames("@", "/", "src")
V1_ONLY = "only Kiro IDE 1.x and Kiro CLI with its V3 engine obey a deny"

CLI_TOOLS = named(
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
SHORT_NAMES = aliases(
    "issue", shell="shell", file_read="read", search="read", file_write="write", file_edit="write"
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

_NONE = "no such event in either format"
LACKS = {
    "session_end": "Stop ends a turn, not the session",
    "before_compact": _NONE,
    "notification": _NONE,
    "error_occurred": _NONE,
    "subagent_start": _NONE,
    "subagent_stop": _NONE,
    "permission_request": _NONE,
    "before_model": _NONE,
    "after_model": _NONE,
    "before_tool_selection": _NONE,
    "config_change": _NONE,
    "tool_use_failure": "PostToolUse fires with tool_response.success false",
    "after_compact": _NONE,
    "permission_denied": _NONE,
    "interrupted": _NONE,
    "file_changed": "PostFileCreate, PostFileSave and PostFileDelete report one kind of change each",
    "after_tool_batch": _NONE,
    "before_command_expansion": _NONE,
    "instructions_loaded": _NONE,
    "message_display": _NONE,
}


class Found(NamedTuple):
    """What was read of all files so far; `agent` holds the entries of agent files one by one."""

    hooks: list[tuple[Hook, Place]]
    agent: list[tuple[Hook, str, Place]]
    findings: list[Finding]
    problems: list[Problem]


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> Decoded:
    """Every hook once: an entry of an agent file that a v1 hook would be written as is that hook."""
    found = Found([], [], [], [])
    forms: set[str] = set()
    for file, tree in trees.items():
        if isinstance(tree, str):
            continue
        here = found._replace(problems=[])
        if not isinstance(tree, Mapping):
            here.problems.append(Problem(f"must be an object, not {kind_word(tree)}"))
        elif _is_legacy(file, tree):
            _read_legacy(dialect, file, tree, here)
        elif _is_agent(file, tree):
            forms.add("agent")
            _read_agent(dialect, file, tree, here)
        else:
            forms.add("v1")
            _read_v1(dialect, file, tree, here)
        found.problems.extend(problem._replace(file=file) for problem in here.problems)
    if found.problems:
        raise Refused(*found.problems)
    hooks = [*_with_agents(dialect, found.hooks, found.agent), *_apart(dialect, found.agent)]
    data = {dialect.id: {"form": "agent"}} if forms == {"agent"} else NOTHING
    manifest = Manifest(tuple(hook for hook, _ in hooks), data)
    return Decoded(manifest, tuple(place for _, place in hooks), tuple(found.findings))


def _is_legacy(file: str, tree: Mapping[str, Tree]) -> bool:
    return file.endswith(".kiro.hook") or ("when" in tree and "then" in tree)


def _is_agent(file: str, tree: Mapping[str, Tree]) -> bool:
    folder = PurePosixPath(file).parent.name
    placed = folder in ("agents", "cli-agents") and "version" not in tree
    return placed or isinstance(tree.get("hooks"), Mapping)


def _others(keys: list[str], file: str, found: Found) -> None:
    if keys:
        found.findings.append(OtherSettings.at("", keys=", ".join(keys))._replace(file=file))


def _read_v1(dialect: Dialect, file: str, tree: Mapping[str, Tree], found: Found) -> None:
    version, entries = tree.get("version"), tree.get("hooks")
    if version != VERSION:
        missing = f'\'version\' is missing; write "version": "{VERSION}"'
        wrong = Problem(f'must be "{VERSION}", not {version!r}', ("version",))
        found.problems.append(wrong if "version" in tree else Problem(missing))
    if not isinstance(entries, list):
        wrong = Problem(f"must be a list of hooks, not {kind_word(entries)}", ("hooks",))
        found.problems.append(wrong if "hooks" in tree else Problem("'hooks' is missing"))
        return
    _others([key for key in tree if key not in ("version", "hooks")], file, found)
    for number, entry in enumerate(entries):
        place = Place(file, ("hooks", number))
        hook = _read_v1_hook(dialect, place, entry, found)
        if hook:
            found.hooks.append((hook, place))


def _read_v1_hook(dialect: Dialect, place: Place, entry: Tree, found: Found) -> Hook | None:
    path = place.path
    if not isinstance(entry, Mapping):
        found.problems.append(Problem(f"a hook must be an object, not {kind_word(entry)}", path))
        return None
    action, matcher = entry.get("action"), entry.get("matcher") or ""
    here = [
        Problem(
            f"must be a string, not {kind_word(entry[key])}" if key in entry else f"'{key}' is missing",
            (*path, key),
        )
        for key in ("name", "trigger")
        if not isinstance(entry.get(key), str) or not entry[key]
    ]
    if not isinstance(matcher, str):
        here.append(Problem(f"must be a string, not {kind_word(matcher)}", (*path, "matcher")))
    if not isinstance(action, Mapping):
        wrong = f"must be an object, not {kind_word(action)}" if "action" in entry else "'action' is missing"
        here.append(Problem(wrong, (*path, "action")))
    elif "type" not in action:
        here.append(Problem("'type' is missing", (*path, "action")))
    if here:
        found.problems.extend(here)
        return None
    assert isinstance(action, Mapping) and isinstance(matcher, str)
    flat = {key: value for key, value in entry.items() if key not in ("action", "type")}
    flat |= {key if key == "type" else f"action.{key}": value for key, value in action.items()}
    hook = read_entry(dialect, flat, path, ("trigger", "matcher"), here)
    found.problems.extend(_inside_action(problem) for problem in here)
    if hook is None:
        return None
    if hook.handler.timeout == timedelta():
        hook = hook._replace(handler=hook.handler._replace(timeout=NO_LIMIT))
    trigger = entry["trigger"]
    spec = event_named(dialect, trigger)
    if spec is None or spec.secondary:
        known = tuple(spec.native for spec in dialect.events if not spec.secondary)
        words = {"event": trigger, "dialect": dialect.id, "guess": closest(trigger, known)}
        found.findings.append(
            UnknownEvent.at(spell_path((*path, "trigger")), **words)._replace(file=place.file)
        )
        own = (
            {**dialect_data(hook, dialect.id), "matcher": matcher}
            if matcher
            else dialect_data(hook, dialect.id)
        )
        return bind(
            dialect, hook._replace(provider_data={dialect.id: own} if own else NOTHING), trigger, None, (), ""
        )
    if matcher and not spec.subject:
        words = {"dialect": dialect.id, "matcher": matcher}
        found.findings.append(IgnoredMatcher.at(spell_path(path), **words)._replace(file=place.file))
    _tell_short_names(dialect, place, spec, matcher, found)
    return bind(dialect, hook, trigger, spec, _terms(dialect, spec, matcher), "")


def _inside_action(problem: Problem) -> Problem:
    last = problem.path[-1] if problem.path else ""
    if last == "type":
        return problem._replace(path=(*problem.path[:-1], "action", "type"))
    head, dot, key = str(last).partition(".")
    return problem._replace(path=(*problem.path[:-1], head, key)) if dot else problem


def _terms(dialect: Dialect, spec: EventSpec, text: str) -> tuple[Term, ...]:
    if spec.subject == "tool" and text == "@builtin":
        return normal([Term("tool", row.tool) for row in dialect.tools])
    return read_matcher(dialect, spec, text)[0]


def _tell_short_names(dialect: Dialect, place: Place, spec: EventSpec, text: str, found: Found) -> None:
    """A matcher sees the name of a running tool: `shell` is none, and no part of one either."""
    if spec.subject != "tool":
        return
    words = [text] if spec.secondary else alternatives(text)
    running = {row.native for row in dialect.tools if not row.alias}
    short = {row.native: row.tool for row in reversed(SHORT_NAMES)}
    seen = (
        (lambda word: word in running)
        if spec.secondary
        else (lambda word: any(word in name for name in running))
    )
    dead = [word for word in words if word in short and not seen(word)]
    if dead and len(dead) == len(words):
        right = "|".join(next(row.native for row in CLI_TOOLS if row.tool == short[word]) for word in dead)
        words_ = {"dialect": dialect.id, "what": "this hook", "way": f"Write {right}."}
        reason = f"'{text}' is no name that a matcher sees"
        where = spell_path(place.path)
        found.findings.append(NeverRuns.at(where, reason=reason, **words_)._replace(file=place.file))


def _agent_form(dialect: Dialect) -> Dialect:
    return dialect._replace(handlers=AGENT_HANDLERS)


def _read_agent(dialect: Dialect, file: str, tree: Mapping[str, Tree], found: Found) -> None:
    events = tree.get("hooks")
    events = {} if events is None else events
    if not isinstance(events, Mapping):
        found.problems.append(Problem(f"must be an object, not {kind_word(events)}", ("hooks",)))
        return
    _others([key for key in tree if key != "hooks" and AGENT_HEAD.get(key) != tree[key]], file, found)
    for native, entries in events.items():
        path: Path = ("hooks", native)
        if native not in AGENT_NAMES:
            known = (
                f"unknown event '{native}'.{closest(native, AGENT_NAMES)} Kiro refuses the whole agent file"
            )
            found.problems.append(Problem(known, path))
        elif not isinstance(entries, list):
            found.problems.append(Problem(f"must be a list of hooks, not {kind_word(entries)}", path))
        else:
            for number, entry in enumerate(entries):
                _read_agent_entry(dialect, native, Place(file, (*path, number)), entry, found)


def _read_agent_entry(dialect: Dialect, native: str, place: Place, entry: Tree, found: Found) -> None:
    path = place.path
    if not isinstance(entry, Mapping):
        found.problems.append(Problem(f"must be an object, not {kind_word(entry)}", path))
        return
    here: list[Problem] = []
    given = {key: value for key, value in entry.items() if value is not None}
    matcher = given.get("matcher", "")
    if not isinstance(matcher, str):
        here.append(Problem(f"must be a string, not {kind_word(matcher)}", (*path, "matcher")))
    if isinstance(given.get("timeout_ms"), float):
        here.append(Problem("must be a whole number of milliseconds", (*path, "timeout_ms")))
    hook = read_entry(_agent_form(dialect), given, path, ("matcher",), here) if not here else None
    found.problems.extend(here)
    if hook is None:
        return
    spec = AGENT_OF[next(one.canonical for one in AGENT_EVENTS if one.native == native)]
    if matcher and not spec.subject:
        words = {"dialect": dialect.id, "matcher": matcher}
        found.findings.append(IgnoredMatcher.at(spell_path(path), **words)._replace(file=place.file))
        matcher = ""
    _tell_short_names(dialect, place, spec, matcher, found)
    text = "" if matcher in GLOB.everything else matcher
    # Bound to the main event first: which file it is written to is settled when all files are read.
    hook = bind(dialect, hook, native, spec._replace(secondary=False), _terms(dialect, spec, text), "")
    found.agent.append((hook, text, place))


def _with_agents(
    dialect: Dialect, hooks: list[tuple[Hook, Place]], agent: list[tuple[Hook, str, Place]]
) -> list[tuple[Hook, Place]]:
    """The v1 hooks; those that are not in an agent file too, and could be, are marked as being of v1 only."""
    settled: list[tuple[Hook, Place]] = []
    for hook, place in hooks:
        wanted = _agent_entries(dialect, hook)
        numbers: list[int] = []
        for text, entry in wanted:
            same = (
                number
                for number, (other, other_text, _) in enumerate(agent)
                if number not in numbers and other_text == text and _same(hook, entry, other)
            )
            numbers += [number] if (number := next(same, None)) is not None else []
        if wanted and len(numbers) == len(wanted):
            extra = dialect_data(agent[numbers[0]][0], dialect.id)
            hook = _own(dialect, hook, {"agent": extra} if extra else {})
            agent[:] = [one for number, one in enumerate(agent) if number not in numbers]
        elif wanted and not place.file.endswith(".kiro.hook"):
            hook = _own(dialect, hook, {"event": slots(dialect, hook)[0][0].native})
        settled.append((hook, place))
    return settled


def _same(hook: Hook, entry: Mapping[str, Tree], other: Hook) -> bool:
    """Whether an entry of an agent file is what the hook would be written as; both may rely on a default."""
    written = entry["timeout_ms"] * MILLISECOND
    times = (written,) if hook.handler.timeout else (written, None)
    alike = (other.event, other.handler.command) == (hook.event, hook.handler.command)
    return alike and other.handler.timeout in times


def _apart(dialect: Dialect, agent: list[tuple[Hook, str, Place]]) -> list[tuple[Hook, Place]]:
    """The hooks that are in agent files only; entries that differ in their matchers are one hook."""
    joined: dict[str, tuple[Hook, Place]] = {}
    for number, (hook, text, place) in enumerate(agent):
        marked = _own(dialect, hook, {"event": AGENT_OF[hook.event].native})
        key = repr(marked._replace(matcher=())) if text else str(number)
        first = joined.get(key)
        if first:
            marked = first[0]._replace(matcher=normal((*first[0].matcher, *marked.matcher)))
        joined[key] = (marked, first[1] if first else place)
    order = {spec.canonical: number for number, spec in enumerate(AGENT_EVENTS)}
    return sorted(joined.values(), key=lambda found: order[found[0].event])


def _own(dialect: Dialect, hook: Hook, more: Mapping[str, Tree]) -> Hook:
    own = {**dialect_data(hook, dialect.id), **more}
    return hook._replace(provider_data={**hook.provider_data, dialect.id: own} if own else NOTHING)


def _read_legacy(dialect: Dialect, file: str, tree: Mapping[str, Tree], found: Found) -> None:
    when, then = tree.get("when"), tree.get("then")
    for key, value in (("when", when), ("then", then)):
        if not isinstance(value, Mapping):
            wrong = Problem(f"must be an object, not {kind_word(value)}", (key,))
            found.problems.append(wrong if key in tree else Problem(f"'{key}' is missing"))
    if not isinstance(when, Mapping) or not isinstance(then, Mapping):
        return
    native, type_ = when.get("type"), then.get("type")
    for key, word, known in (("when", native, LEGACY), ("then", type_, LEGACY_ACTIONS)):
        if word not in known:
            guess = closest(word, tuple(known)) if isinstance(word, str) else ""
            found.problems.append(
                Problem(f"must be one of {', '.join(known)}, not {word!r}.{guess}", (key, "type"))
            )
    lists = {key: when.get(key) or [] for key in ("patterns", "toolTypes")}
    for key, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            found.problems.append(Problem("must be a list of strings", ("when", key)))
    if found.problems:
        return
    spec = event_named(dialect, LEGACY[str(native)])
    assert spec is not None
    flat = {"name": PurePosixPath(file).name.removesuffix(".kiro.hook"), "type": LEGACY_ACTIONS[str(type_)]}
    flat |= {key: tree[key] for key in ("name", "description", "enabled") if key in tree}
    flat |= {f"action.{key}": then[key] for key in ("command", "prompt") if key in then}
    flat |= {"timeout": then["timeout"]} if "timeout" in then else {}
    here: list[Problem] = []
    hook = read_entry(dialect, flat, (), (), here)
    found.problems.extend(_in_legacy(problem) for problem in here)
    if hook is None:
        return
    known = {"": {"name", "description", "enabled", "version", "when", "then"}}
    known |= {"when": {"type", "patterns", "toolTypes"}, "then": {"type", "command", "prompt", "timeout"}}
    others = [key for key in tree if key not in known[""]]
    others += [f"{part}.{key}" for part in ("when", "then") for key in tree[part] if key not in known[part]]
    _others(others, file, found)
    words = {
        "dialect": dialect.id,
        "what": "this file",
        "reason": "the IDE reads .kiro.hook files no more since 1.0",
    }
    way = "Convert it, or let the IDE migrate it to .kiro/hooks/*.json."
    found.findings.append(NeverRuns.at("", way=way, **words)._replace(file=file))
    terms = _legacy_tools(dialect, lists["toolTypes"]) if about_tool(spec.canonical) else ()
    if spec.subject == "file_path" and lists["patterns"]:
        terms = (Term("pattern", "|".join(map(_path_pattern, lists["patterns"]))),)
    hook = bind(dialect, hook, spec.native, spec, terms, "")
    if native not in LEGACY_BLOCKS:
        hook = hook._replace(blocking=False)
    found.hooks.append((hook, Place(file, ())))


def _in_legacy(problem: Problem) -> Problem:
    last = str(problem.path[-1]) if problem.path else ""
    if last.startswith("action.") or last == "timeout":
        return problem._replace(path=("then", last.removeprefix("action.")))
    return problem


def _legacy_tools(dialect: Dialect, words: list[str]) -> tuple[Term, ...]:
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
    return normal(terms)


def _path_pattern(glob: str) -> str:
    """A glob on a path below the workspace as a regular expression on a path, whole or below it."""
    text = re.escape(glob.removeprefix("./").removeprefix("/"))
    for one, other in (
        (r"\*\*/", r"(?:.*/)?"),
        (r"\*\*", "\0"),
        (r"\*", "[^/]*"),
        (r"\?", "[^/]"),
        ("\0", ".*"),
    ):
        text = text.replace(one, other) if one != r"\*" else re.sub(r"(?<!\.)\\\*", lambda _: other, text)
    return f"(?:^|/){text}$"


def encode(dialect: Dialect, manifest: Manifest) -> dict[str, Tree]:
    """A v1 file and an agent file; a hook that was read from one of the two only is written there only."""
    v1: list[dict[str, Tree]] = []
    events: dict[str, list[dict[str, Tree]]] = {}
    for hook in manifest.hooks:
        mark = dialect_data(hook, dialect.id).get("event", "")
        if mark not in AGENT_NAMES:
            v1.append(_write_v1(dialect, hook))
        if not mark or mark in AGENT_NAMES:
            for _, entry in _agent_entries(dialect, hook):
                events.setdefault(AGENT_OF[hook.event].native, []).append(entry)
    files: dict[str, Tree] = {}
    is_agent = own_data(dialect, manifest).get("form") == "agent"
    if v1 or not (events or is_agent):
        files[V1_FILE] = {"version": VERSION, "hooks": v1}
    if events or (is_agent and not v1):
        ordered = {native: events[native] for native in AGENT_NAMES if native in events}
        files[AGENT_FILE] = {**AGENT_HEAD, "hooks": ordered}
    return files


def _write_v1(dialect: Dialect, hook: Hook) -> dict[str, Tree]:
    own = {
        key: value for key, value in dialect_data(hook, dialect.id).items() if key not in ("agent", "event")
    }
    flat = write_entry(dialect, hook._replace(provider_data={dialect.id: own}))
    spec, terms = slots(dialect, hook)[0]
    matcher = next(iter(write_matcher(dialect, spec, terms, "")), None)
    if matcher and Term("tool", "agent") in terms:
        matcher = matcher.replace("use_subagent", f"use_subagent|{SUBAGENTS}", 1)
    entry: dict[str, Tree] = {key: flat.pop(key) for key in ("name", "description") if key in flat}
    entry["trigger"] = spec.native
    if matcher is not None:
        entry["matcher"] = matcher
    action = {
        key.removeprefix("action."): flat[key] for key in flat if key == "type" or key.startswith("action.")
    }
    entry["action"] = action
    return {
        **entry,
        **{key: value for key, value in flat.items() if key != "type" and not key.startswith("action.")},
    }


def _agent_entries(dialect: Dialect, hook: Hook) -> list[tuple[str, dict[str, Tree]]]:
    """(matcher, entry) for every entry that an agent file says the hook with; none if it cannot."""
    spec = AGENT_OF.get(hook.event)
    if spec is None or hook.handler.type != "command" or not hook.enabled:
        return []
    own = dialect_data(hook, dialect.id)
    is_marked = own.get("event") in AGENT_NAMES
    extra = (
        {key: value for key, value in own.items() if key != "event"} if is_marked else own.get("agent", {})
    )
    # The formats' defaults differ, so the time is always written for a hook of both.
    timeout = hook.handler.timeout or (None if is_marked else V1_DEFAULT)
    bare = hook._replace(handler=hook.handler._replace(timeout=timeout), provider_data={dialect.id: extra})
    entry = write_entry(_agent_form(dialect), bare)
    texts = _globs(dialect, spec, hook.matcher) if spec.subject else [""]
    return [(text, {**({"matcher": text} if text else {}), **entry}) for text in texts]


def _globs(dialect: Dialect, spec: EventSpec, terms: tuple[Term, ...]) -> list[str]:
    """The matchers of an agent file for these terms; one that matches everything if they cannot be said."""
    texts = ["@*/*" if text == "@*" else text or "" for text in write_matcher(dialect, spec, terms, "")]
    said = {term for text in texts for term in read_matcher(dialect, spec, text)[0]}
    return texts if texts and set(terms) <= said else [""]


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """A v1 hook needs a name, an agent file has no place for one and knows no regular expressions."""
    findings: list[Finding] = []
    given: list[Hook] = []
    marked: set[str] = set()
    for number, hook in enumerate(hooks):
        mark = dialect_data(hook, DIALECT.id).get("event", "")
        if mark in AGENT_NAMES:
            key = repr(hook._replace(matcher=(), name="", description=""))
            twice = bool(hook.matcher) and key in marked
            if hook.enabled and hook.handler.type == "command" and not twice:
                marked.add(key)
                for field in ("name", "description"):
                    if getattr(hook, field):
                        findings.append(FieldDropped.at("", number, target=DIALECT.id, field=field))
                given.append(hook._replace(name="", description=""))
                continue
            hook, mark = hook._replace(provider_data=NOTHING), ""
        if not hook.name:
            hook = hook._replace(
                name=f"{hook.event.rpartition(':')[2].replace('_', '-').lower()}-{number + 1}"
            )
            findings.append(FieldGiven.at("", number, target=DIALECT.id, field="name", value=hook.name))
        if (
            not mark
            and hook.matcher
            and about_tool(hook.event)
            and _globs(DIALECT, AGENT_OF[hook.event], hook.matcher) == [""]
        ):
            text = ", ".join(term.value for term in hook.matcher)
            findings.append(
                MatcherDropped.at("", number, target=f"an agent file of {DIALECT.id}", matcher=text)
            )
        given.append(hook)
    return given, findings


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
    locations=(
        Location("project", V1_FILE, "doc"),
        Location("project", AGENT_FILE, "src"),
        Location("project", ".kiro/hooks/*.json", "doc"),
        Location("project", ".kiro/agents/*.json", "src"),
        Location("project", ".amazonq/cli-agents/*.json", "src"),
        Location("project", ".kiro/hooks/*.kiro.hook", "doc"),
        Location("user", f"~/{V1_FILE}", "doc"),
        Location("user", f"~/{AGENT_FILE}", "src"),
        Location("user", "~/.kiro/hooks/*.json", "doc"),
        Location("user", "~/.kiro/agents/*.json", "src"),
        Location("user", "~/.aws/amazonq/cli-agents/*.json", "src"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=(
        *CLI_TOOLS,
        *named("seen", file_write="fs_append", file_edit="str_replace"),
        *SHORT_NAMES,
        *aliases("seen", agent=SUBAGENTS),
    ),
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
    shape=Shape(decode, encode),
    file_kinds={"hook": "json"},
    reads_output=False,
    # No variable is set; commands start in the root of the project (src) or the workspace (doc).
    project_dir=(".",),
    adjust=adjust,
    notes=(
        f"Kiro IDE 1.x and Kiro CLI with its V3 engine read {V1_FILE}; Kiro CLI without it reads only agent files.",
        f"The hooks in {AGENT_FILE} run only while that agent is active: set `chat.defaultAgent` to `hookport`.",
        "Should your Kiro CLI read both files, each hook runs twice: delete one of them then.",
    ),
    quirks=(
        Quirk(
            "KI1", "V3 reads v1 files, and whether also the hooks of agent files is told both ways", "seen"
        ),
        Quirk(
            "KI2", "an agent file with an unknown event is invalid as a whole: there are exactly five", "src"
        ),
        Quirk("KI3", "a matcher sees execute_bash, never its short name shell", "issue"),
        Quirk("KI4", "fs_write creates and edits, fs_read also lists directories and searches", "src"),
        Quirk(
            "KI5", "userPromptSubmit of an agent file cannot block, UserPromptSubmit of a v1 file can", "src"
        ),
        Quirk(
            "KI6",
            "with cache_ttl_seconds an allow for one call is reused for the next, whatever its input",
            "src",
        ),
        Quirk("KI7", "on v1 files one page lets any exit code but 0 block, another only 2", "doc"),
        Quirk("KI8", "a hook that times out or does not start lets the tool run", "src"),
        Quirk(
            "KI9", "the CLI 2.19.2 was seen to write a file although a preToolUse hook exited with 2", "seen"
        ),
        Quirk("KI10", "an agent action sends its prompt to the agent and can block nothing", "doc"),
        Quirk("KI11", "the IDE before 1.0 gave its hooks no JSON, only the variable USER_PROMPT", "issue"),
        Quirk("KI12", "a timeout of 0 in a v1 file means no limit", "doc"),
    ),
)
