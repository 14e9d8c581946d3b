"""OpenHands: .openhands/hooks.json with its events at the root, exit code 2, and a flat `deny`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta

from hookport.errors import Problem, spell_path, suggest_closest
from hookport.findings import Finding, IgnoredMatcher, NeverRuns
from hookport.model.hooks import NOTHING, Manifest
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.dialect import (
    SECOND,
    SHADOWS,
    DecodedManifest,
    Dialect,
    EventSpec,
    HandlerSpec,
    Location,
    Matching,
    Path,
    Place,
    Quirk,
    RefusedError,
    Shadow,
    Timeout,
    Tree,
    WayAround,
    explain_missing,
    find_event,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.shapes.entries import get_manifest_data
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "lab": "measured on CLI 1.16.0, November 2026: headless runs on Linux against a scripted model",
    "src": "the packages openhands 1.16.0 and openhands-sdk 1.21.0: openhands/sdk/hooks, openhands_cli",
}

# With one of these characters a Python regular expression for the whole name, else the name itself.
MATCHING = Matching("anchored")

EVENTS = (
    EventSpec("pre_tool_use", "before_tool_execute", "prevent", "lab", "tool", hears="nothing"),
    EventSpec("post_tool_use", "after_tool_execute", "observe", "lab", "tool", hears="nothing"),
    EventSpec("user_prompt_submit", "before_prompt", "prevent", "lab", hears="json"),
    EventSpec("session_start", "session_start", "observe", "lab", hears="nothing"),
    EventSpec("session_end", "session_end", "observe", "lab", hears="nothing"),
    EventSpec("stop", "agent_stop", "retry", "lab", hears="json"),
)
# What payloads call them, which files may do too.
NAMES = {
    "pre_tool_use": "PreToolUse",
    "post_tool_use": "PostToolUse",
    "user_prompt_submit": "UserPromptSubmit",
    "session_start": "SessionStart",
    "session_end": "SessionEnd",
    "stop": "Stop",
}

LACKS = explain_missing(
    EVENTS,
    "no such event among the 6 that a file may name",
    registry=30,
    tool_use_failure="PostToolUse fires for a call that failed too, with `is_error` in its result",
    subagent_start="PreToolUse fires for `task`, which starts one, and no hook runs inside (OH1)",
    subagent_stop="PostToolUse fires for `task`, and no hook runs inside (OH1)",
)

TOOLS = name_tools(
    "lab",
    shell="terminal",
    file_read="file_editor",
    file_write="file_editor",
    file_edit="file_editor",
    agent="task",
    todo="task_tracker",
)
# They run no command, change no file of the project and fetch nothing.
HARMLESS = ("finish", "think")
OTHERS = ("apply_patch", "browser_*")

# The wire of OpenHands: eight keys for every event, null where they have no value. What is not marked
# otherwise was captured or measured on 1.16.0.

KEYS_OF: dict[str, dict[str, Tree]] = {
    "user_prompt_submit": {"prompt": "message"},
    "stop": {},
}
VARIANTS = {
    "file_editor": (
        "command",
        {
            "view": "file_read",
            "create": "file_write",
            "str_replace": "file_edit",
            "insert": "file_edit",
            "undo_edit": "file_edit",
        },
    )
}
INPUTS: dict[str, dict[str, Tree]] = {
    # Its own field `command` says what it does.
    "file_editor": {
        "action": "command",
        "path": "path",
        "content": "file_text",
        "old": "old_str",
        "new": "new_str",
    },
    "mcp": {"data": "$input", "kind": "MCPToolAction"},
}

# Nothing printed counts beside exit code 2 here, whose stderr reaches the model whole (OH3).
DENY: dict[str, Tree] = {"stderr": "$reason", "exit": 2, "alone": True}
ANSWERS: dict[str, Tree] = {
    # No ask, rewrite or context: each of these runs the tool as it was called. An allow lifts nothing.
    "pre_tool_use": {"deny": DENY},
    # A deny beside context lets the prompt pass (OH4).
    "user_prompt_submit": {"deny": DENY, "context": {"json": {"additionalContext": "$context"}}},
    "stop": {"deny": DENY},
    "*": {},
}
# `block`, `ask` and Claude Code's form do nothing there (OH2); they are read for the deny that was meant.
READ: dict[str, Tree] = {
    "verdicts": [
        ("continue", {"False": "deny", "True": None}),
        (
            "decision",
            {
                "deny": "deny",
                "DENY": "deny",
                "block": "deny",
                "ask": "ask",
                "allow": "none",
                "approve": "none",
            },
        ),
        ("hookSpecificOutput.permissionDecision", {"deny": "deny", "ask": "ask", "allow": "none"}),
    ],
    "reason": ["reason", "hookSpecificOutput.permissionDecisionReason"],
    "exits": {"2": "deny"},
    "json": "any",
}
# What OpenHands itself obeys: one object that is alone on stdout, with any exit code, and exit code 2.
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [
        ("continue", {"False": "deny", "True": None}),
        ("decision", {"deny": "deny", "DENY": "deny", "*": "none"}),
    ],
    "reason": ["reason"],
}
OBEY_NOTHING: dict[str, Tree] = {"exits": {}, "json": "any"}

WIRE = Wire(
    obeys={
        "pre_tool_use": OBEY,
        # Context wins over a deny beside it (OH4).
        "user_prompt_submit": {
            **OBEY,
            "verdicts": [("additionalContext", {"*": "none"}), *OBEY["verdicts"]],
            "context": ["additionalContext"],
        },
        "stop": {**OBEY, "reason": ["additionalContext", "reason"]},
        "*": OBEY_NOTHING,
    },
    said=NAMES,
    keys={
        "event": "event_type",
        "session": "session_id",
        "cwd": "working_dir",
        "tool": "tool_name",
        "input": "tool_input",
        "result": "tool_response",
    },
    fixed={
        "tool_name": None,
        "tool_input": None,
        "tool_response": None,
        "message": None,
        "session_id": "$session",
        "working_dir": "$cwd",
        "metadata": {},
    },
    by_event=list_by_event(
        keys=KEYS_OF,
        fixed={"stop": {"metadata.reason": "agent_finished"}},
        env={native: {"OPENHANDS_EVENT_TYPE": name} for native, name in NAMES.items()},
    ),
    inputs=INPUTS,
    variants=VARIANTS,
    texts=("content:parts",),
    results={
        "shell": {
            "content": [{"cache_prompt": False, "type": "text", "text": "$text"}],
            "is_error": False,
            "exit_code": 0,
            "kind": "TerminalObservation",
        },
    },
    env={"OPENHANDS_PROJECT_DIR": "$root", "OPENHANDS_SESSION_ID": "$session"},
    starts_in="root",
    marks=("event_type", "tool_response", "metadata", "working_dir"),
    answers=ANSWERS,
    reads={
        "pre_tool_use": READ,
        "user_prompt_submit": {**READ, "context": ["additionalContext"]},
        "stop": {**READ, "reason": ["additionalContext", *READ["reason"]]},
        "*": {"exits": {}, "json": "any"},
    },
    others=HARMLESS,
    lifts=False,
    traits=("bare MCP", "stops at deny"),
)

WRAPPER = "hooks"
LAYOUT = "layout"
DEAD_RUN = "OpenHands then ends every run before it starts"


def find_native(key: str) -> str:
    """The native name of an event in any spelling that OpenHands reads."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", key).lower()


def _is_wrapped(tree: Tree) -> bool:
    return isinstance(tree, Mapping) and WRAPPER in tree


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of the files, in either layout and any spelling of their events."""
    refusals = [problem for file, tree in trees.items() for problem in _find_refusals(file, tree)]
    if refusals:
        raise RefusedError(*refusals)
    parts = [_decode_file(dialect, file, tree) for file, tree in trees.items()]
    layouts = [layout for tree in trees.values() if (layout := _find_layout(tree))]
    return DecodedManifest(
        Manifest(
            tuple(hook for part in parts for hook in part.manifest.hooks),
            {dialect.id: {LAYOUT: layouts[0]}} if layouts else NOTHING,
        ),
        tuple(place for part in parts for place in part.places),
        tuple(finding for part in parts for finding in part.findings),
    )


def _decode_file(dialect: Dialect, file: str, tree: Tree) -> DecodedManifest:
    root: Path = (WRAPPER,) if _is_wrapped(tree) else ()
    events = tree[WRAPPER] if root else tree
    spelled: dict[str, str] = {}
    if isinstance(events, Mapping):
        spelled = {find_native(key): key for key in events}
        events = {find_native(key): groups for key, groups in events.items()}
    inner = dialect._replace(shape=dialect.shape._replace(root=root))
    decoded = BY_EVENT.decode(inner, {file: {**tree, WRAPPER: events} if root else events})
    at = len(root)
    places = tuple(
        Place(
            file,
            (*place.path[:at], spelled[str(place.path[at])], *place.path[at + 1 :]),
        )
        for place in decoded.places
    )
    # A matcher on an event without a tool is not ignored: the hook never runs (OH8).
    findings = [finding for finding in decoded.findings if finding.code != IgnoredMatcher.code]
    return decoded._replace(places=places, findings=(*findings, *_find_dead(dialect, file, tree)))


def _find_layout(tree: Tree) -> dict[str, Tree]:
    """How a file is laid out, where that is not the usual way."""
    wrapped = _is_wrapped(tree)
    events = tree[WRAPPER] if wrapped else tree
    keys = list(events) if isinstance(events, Mapping) else []
    cases = {_find_case(key) for key in keys}
    spelled: dict[str, Tree] = {"case": cases.pop()} if len(cases) == 1 else {}
    if cases:
        spelled = {"names": {find_native(key): key for key in keys}}
    return {**({"wrapped": True} if wrapped else {}), **(spelled if spelled != {"case": ""} else {})}


def _find_case(key: str) -> str:
    """How an event is spelled: empty for its native name; `stop` is camel case too."""
    return "pascal" if key[:1].isupper() else "camel" if find_native(key) != key else ""


def _iter_groups(tree: Tree) -> Iterator[tuple[str, Path, Mapping[str, Tree]]]:
    """Every group with the native name of its event."""
    root: Path = (WRAPPER,) if _is_wrapped(tree) else ()
    events = tree[WRAPPER] if root else tree
    for key, groups in events.items() if isinstance(events, Mapping) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            if isinstance(group, Mapping):
                yield find_native(key), (*root, key, number), group


def _iter_handlers(path: Path, group: Mapping[str, Tree]) -> Iterator[tuple[Path, Mapping[str, Tree]]]:
    handlers = group.get("hooks")
    for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
        if isinstance(handler, Mapping):
            yield (*path, "hooks", index), handler


def _find_refusals(file: str, tree: Tree) -> Iterator[Problem]:
    """What makes OpenHands end the run, with exit code 0 and nothing done (OH5)."""
    root: Path = (WRAPPER,) if _is_wrapped(tree) else ()
    events = tree[WRAPPER] if root else tree
    met: dict[str, str] = {}
    for key in events if isinstance(events, Mapping) else ():
        native = find_native(key)
        if native not in NAMES:
            guess = suggest_closest(key, tuple(NAMES))
            yield Problem(f"unknown event '{key}': {DEAD_RUN}.{guess}", (*root, key), file)
        elif native in met:
            yield Problem(f"is '{met[native]}' once more: {DEAD_RUN}", (*root, key), file)
        met[native] = key
    for key in tree if root else ():
        if find_native(key) in NAMES:
            reason = f"is not read beside '{WRAPPER}'"
            yield Problem(reason, (key,), file)
    for _, path, group in _iter_groups(tree):
        for place, handler in _iter_handlers(path, group):
            timeout = handler.get("timeout", 1)
            if isinstance(timeout, float) and timeout % 1:
                reason = f"must be a whole number of seconds, not {timeout!r}; {DEAD_RUN}"
                yield Problem(reason, (*place, "timeout"), file)


def _find_dead(dialect: Dialect, file: str, tree: Tree) -> Iterator[Finding]:
    """Groups and handlers that OpenHands loads and never starts (OH8, OH11)."""
    for native, path, group in _iter_groups(tree):
        spec = find_event(dialect, native)
        matcher = group.get("matcher") or ""
        reason, way = "", ""
        if spec and not spec.subject and matcher not in MATCHING.everything:
            reason = f"{NAMES[native]} has nothing for the matcher '{matcher}'"
            way = "Leave the matcher out."
        for place, handler in _iter_handlers(path, group):
            why, hint = reason, way
            if not why and handler.get("timeout") == 0:
                why, hint = "its timeout is 0", "Give it a second or more."
            if why:
                where, words = spell_path(place), {"what": "this hook", "reason": why, "way": hint}
                yield NeverRuns.at(where, None, dialect=dialect.id, **words)._replace(file=file)


def encode(dialect: Dialect, manifest: Manifest) -> dict[str, Tree]:
    """The file of all hooks, in the layout that they came in."""
    layout = get_manifest_data(dialect, manifest).get(LAYOUT, {})
    files: dict[str, Tree] = {}
    for file, events in BY_EVENT.encode(dialect, manifest).items():
        names = layout.get("names", {})
        case = layout.get("case", "")
        named = {names.get(native, _spell_event(case, native)): groups for native, groups in events.items()}
        files[file] = {WRAPPER: named} if layout.get("wrapped") else named
    return files


def _spell_event(case: str, native: str) -> str:
    name = NAMES.get(native, native) if case else native
    return name[:1].lower() + name[1:] if case == "camel" else name


DIALECT = Dialect(
    id="openhands",
    title="OpenHands",
    kind="agent",
    facts="CLI 1.16.0",
    sources=SOURCES,
    # Why a prompt was denied is in its log only.
    shows={"pre_tool_use": (("reason",), "src"), "*": ((), "src")},
    locations=(
        Location("project", ".openhands/hooks.json", "lab"),
        Location("user", "~/.openhands/hooks.json", "lab"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=TOOLS,
    wordless=dict.fromkeys((*HARMLESS, *OTHERS), "src"),
    matching=MATCHING,
    handlers={
        "command": HandlerSpec(
            "command",
            {"command": "command", "timeout": "timeout", "async": "is_async"},
            Timeout(SECOND, default=timedelta(seconds=60), whole=True, minimum=SECOND),
            required=("command",),
        ),
    },
    shape=BY_EVENT._replace(decode=decode, encode=encode, root=()),
    wire=WIRE,
    obeys=("decision",),
    # A command starts in the folder that OpenHands was started in, whose file alone it reads (OH7).
    commands_start="root",
    project_read="start",
    project_dir=spell_root("OPENHANDS_PROJECT_DIR"),
    programs=("openhands",),
    home=("~/.openhands", ""),
    notes=(
        "OpenHands reads .openhands/hooks.json of its start folder only.",
        "OpenHands reads the user's file only where the project has none.",
        "OpenHands runs no hook inside a sub-agent; a guard must judge `task`, which starts one.",
        "One unknown event or fractional timeout in the file ends every run before it starts.",
    ),
    quirks=(
        Quirk(
            "OH2",
            "exit code 2, `decision: deny` and `continue: false` deny; `block`, `ask` and Claude Code's form "
            "run the tool",
            "lab",
        ),
        Quirk("OH3", "exit code 2 beside a printed `decision` that is not a text runs the tool", "lab"),
        Quirk("OH4", "a prompt that is denied beside `additionalContext` is not denied", "lab"),
        Quirk(
            "OH5",
            "broken JSON, an unknown event or a fractional timeout ends the run, with exit code 0",
            "lab",
        ),
        Quirk(
            "OH6",
            "a file of the project, an empty one too, hides the user's",
            "lab",
            {SHADOWS: (Shadow("~/.openhands/hooks.json", ".openhands/hooks.json", "lab", even_empty=True),)},
        ),
        Quirk("OH7", "the file is looked for in the start folder only", "lab"),
        Quirk("OH8", "a matcher on an event without a tool never matches, `.*` included; `*` does", "lab"),
        Quirk("OH9", "a matcher must match the whole name: `term` does not match `terminal`", "lab"),
        Quirk("OH10", "MCP tools come under their bare name, without the server", "lab"),
        Quirk(
            "OH11", "a hook with timeout 0 never runs; the process of one that is too slow lives on", "lab"
        ),
        Quirk("OH12", "`*` on PreToolUse also stops `finish` and `think`", "lab"),
        Quirk("OH13", "text beside the JSON, or a byte order mark, loses the deny", "lab"),
        Quirk("OH14", "hooks of any folder run without a question of trust", "lab"),
        Quirk("OH16", "Stop has no limit of its own", "lab"),
        Quirk(
            "OH18", "no answer rewrites a call or gives it context, and every other failure runs it", "lab"
        ),
        Quirk(
            "OH19",
            "the extra keys beside `hooks` are ignored, and one event in two spellings ends the run",
            "src",
        ),
    ),
    ways_around=list_ways(
        WayAround(
            "sub-agents",
            "open",
            "OH1",
            "no hook runs inside a sub-agent; PreToolUse fires for `task`, which starts one, and a shell "
            "command in it ran unseen past a guard that denies it",
            "lab",
        ),
        WayAround(
            "protocol",
            "open",
            "OH17",
            "an ACP conversation in the cloud reads the file of the folder that the process "
            "started in; a local one reads that of its own folder",
            "src",
            place="of a project, in an ACP conversation in the cloud",
            events=(),
        ),
        WayAround(
            "shell",
            "none",
            "OH15",
            "`terminal` is the only one; it keeps its shell, and guards are asked about each text that "
            "`is_input` sends to what runs in it",
            "lab",
        ),
        kinds=4,
        none={"code": "lab"},
    ),
)
