"""Mistral Vibe: `[[hooks]]` in hooks.toml, JSON answers only, and `strict` for hooks that must hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from hookport.errors import Problem, spell_path, suggest_closest
from hookport.findings import FieldGiven, Finding, NativeDropped, NeverRuns, UnknownEvent
from hookport.model.hooks import NOTHING, Hook, Manifest
from hookport.shapes.dialect import (
    CLOSED_BRIDGE,
    SECOND,
    DecodedManifest,
    Dialect,
    EventSpec,
    Field,
    FolderTrust,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Path,
    Quirk,
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
    find_slots,
    name_kind,
    read_entry,
    write_entry,
)
from hookport.shapes.matchers import MARK, write_matcher
from hookport.shapes.patterns import compile_pattern
from hookport.shapes.table_list import bind_table, decode_tables, write_tables
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "src": "the package mistral-vibe 3.0.2: vibe/core/hooks, mistralai_vibe_local_harness/vibe",
    "doc": "the manual in the package, plugins/builtins/vibe/skills/vibe/SKILL.md",
    "lab": "measured on 3.0.2, November 2026",
    "old": "mistralai/mistral-vibe v2.18.4 (2026-07-01): vibe/core/hooks, vibe/core/tools",
}

KEYS = ("name", "type", "match", "command", "timeout", "strict", "description")
WAIT = Timeout(SECOND, default=timedelta(seconds=60))
STRICT = Field("on_failure", {True: "block", False: ""})
# A glob, or `re:` and a regular expression, in any case of letters, for a tool's qualified name, its last
# part, or the name with `_` for the dot (src, lab).
MATCHING = Matching("marked", everything=("*",))

EVENTS = (
    EventSpec("pre_tool", "before_tool_execute", "prevent", "lab", "tool", rewrites=True, exits="none"),
    EventSpec("post_tool", "after_tool_execute", "observe", "lab", "tool"),
    EventSpec("post_agent", "agent_stop", "retry", "lab", exits="none"),
)
NATIVES = tuple(spec.native for spec in EVENTS)
# What 2.20 and older called them.
OLD = {"before_tool": "pre_tool", "after_tool": "post_tool", "post_agent_turn": "post_agent"}

LACKS = explain_missing(
    EVENTS,
    "no such event among the 3 in the source",
    registry=30,
    tool_use_failure="post_tool fires with tool_status failure",
    subagent_start="pre_tool fires for agents.spawn",
    subagent_stop="post_agent fires at the end of a subagent's turn too, with parent_session_id",
)

# Payloads have the qualified name; a matcher may use any (src: _hook_matcher).
TOOLS = (
    *name_tools(
        "lab",
        shell=("file_system.bash", "process.start"),
        file_read="file_system.read_file",
        file_write="file_system.write_file",
        file_edit="file_system.search_replace",
        todo="vibe.todo",
        skill="skill.read",
    ),
    *name_tools("src", agent="agents.spawn", ask_user="ui.ask_user_question"),
    *alias_tools(
        "src",
        shell=("bash", "process_start", "file_system_bash"),
        file_read=("read_file", "file_system_read_file"),
        file_write=("write_file", "file_system_write_file"),
        file_edit=("edit", "search_replace", "file_system_search_replace"),
        agent=("agents_spawn", "spawn"),
        todo=("todo", "vibe_todo"),
        skill=("skill", "skill_read"),
        ask_user=("ask_user_question", "ui_ask_user_question"),
    ),
    *alias_tools("old", file_read="read", agent="task"),
    # Files are searched through bash, and the web by connectors, since there is one harness (src).
    *(
        row._replace(gone=True)
        for row in name_tools("old", search="grep", web_fetch="web_fetch", web_search="web_search")
    ),
)


# The wire of Mistral Vibe: a payload of its own, and answers that are one JSON object with exit code 0.
# What is not marked otherwise was captured or measured on 3.0.2; `src` is its package.

# As hooks see it; the tools themselves call some fields otherwise (src: _foreign_hooks).
INPUTS: dict[str, dict[str, Tree]] = {
    "file_read": {"path": "file_path"},
    "file_write": {"path": "file_path"},
    "file_edit": {"path": "file_path", "old": "old_string", "new": "new_string", "edits": "content"},
    "edits": {"old": "old_str", "new": "new_str"},
    "agent": {"prompt": "message", "agent_type": "config_name"},
}
RESULTS: dict[str, Tree] = {
    "shell": {"stdout": "$text", "stderr": "", "returncode": 0, "timed_out": False, "was_truncated": False},
    "file_read": {"content": "$text", "was_truncated": False},
}

SAYS = {"message": {"json": {"system_message": "$message"}}}
DENY = {"json": {"decision": "deny", "reason": "$reason"}}
ANSWERS: dict[str, Tree] = {
    # No ask, which runs the tool (MV3); an allow is the same as silence, and lifts no prompt.
    "pre_tool": {
        **SAYS,
        "deny": DENY,
        "rewrite": {"json": {"hook_specific_output": {"tool_input": "$input"}}},
    },
    # The reason stands in place of the result; context is added to either.
    "post_tool": {
        **SAYS,
        "deny": DENY,
        "context": {"json": {"hook_specific_output": {"additional_context": "$context"}}},
    },
    "post_agent": {**SAYS, "deny": DENY},
}
# Exit code 2 and words other than deny do nothing there (MV1, MV3); they are read for what was meant.
READ: dict[str, Tree] = {
    "verdicts": [
        ("decision", {"allow": "allow", "approve": "allow", "deny": "deny", "block": "deny", "ask": "ask"})
    ],
    "reason": ["reason"],
    "message": ["system_message"],
    "exits": {"2": "deny"},
    "json": "zero",
    "text": "failure",
}

# What Vibe itself obeys: `decision: deny`, with exit code 0 and alone on stdout (b). Any other exit code or
# answer is a failure, which denies before a tool where the entry is `strict` (a, d, e).
OBEY = {**READ, "verdicts": [("decision", {"deny": "deny"})], "exits": {}}

# Its transcript is a folder (measured, 3.0.2): a chained journal, whose files are named after their first
# record. Older records move to `chunks` and `generations`, which are not read.
TRANSCRIPT = {
    "form": "journal",
    "of": "Mistral Vibe 3.0.2",
    "store": "folder",
    "named": ("session/unified/*",),
    "kept": ("$VIBE_HOME/logs/session/unified/{session}", "~/.vibe/logs/session/unified/{session}"),
    "files": "journal/*.jsonl",
    "first": 1,
    "records": (
        {
            "where": {"type": "command_reserved", "payload.method": "turn/start"},
            "rows": ({"kind": "user", "text": "payload.params.message"},),
        },
        {
            "where": {"type": "action_result", "payload.result.type": "completion_succeeded"},
            "each": "payload.result.result.parts",
            "rows": (
                {
                    "of": {"type": "text"},
                    "kind": "assistant",
                    "text": "text",
                    "id": "^payload.action_id",
                    "usage": {
                        "input_tokens": [
                            "payload.result.result.usage.input_tokens",
                            "payload.result.result.usage.cached_input_tokens",
                        ],
                        "output_tokens": "payload.result.result.usage.output_tokens",
                        "cache_read_input_tokens": "payload.result.result.usage.cached_input_tokens",
                    },
                },
                {
                    "of": {"type": "tool_call"},
                    "kind": "call",
                    "id": "id",
                    "name": "name",
                    "input": "arguments_json",
                    "message": "^payload.action_id",
                },
            ),
        },
        {
            "where": {"type": "action_result", "payload.result.call_id": True},
            "rows": (
                {
                    "kind": "result",
                    "id": "payload.result.call_id",
                    "text": (
                        "payload.result.result.structured_content.stdout",
                        "payload.result.result.structured_content.stderr",
                        "payload.result.result.content",
                    ),
                    "failed": [
                        "payload.result.type=tool_failed",
                        "payload.result.result.structured_content.returncode",
                    ],
                },
            ),
        },
    ),
    "other": ({"recovery_journal_record_version": True},),
}

WIRE = Wire(
    transcript=(TRANSCRIPT,),
    obeys={
        "pre_tool": {**OBEY, "input": ["hook_specific_output.tool_input"], "closes": True},
        "post_tool": {**OBEY, "context": ["hook_specific_output.additional_context"]},
        "*": OBEY,
    },
    keys={
        "event": "hook_event_name",
        "session": "session_id",
        "cwd": "cwd",
        "tool": "tool_name",
        "input": "tool_input",
        "call_id": "tool_call_id",
        "result": ["tool_output", "tool_output_text:lines"],
        "error": "tool_error",
        "transcript": "transcript_path",
        "parent_session": "parent_session_id",
        "tool_status": "tool_status",
        "duration_ms": "duration_ms",
    },
    fixed={"session_id": "$session", "transcript_path": "", "cwd": "$cwd", "parent_session_id": None},
    by_event=list_by_event(
        fixed={
            "pre_tool": {"tool_call_id": ""},
            "post_tool": {"tool_call_id": "", "tool_status": "success", "tool_error": None, "duration_ms": 0},
        }
    ),
    inputs=INPUTS,
    texts=("stdout", "content", ":lines"),
    results=RESULTS,
    starts_in="root",
    marks=("transcript_path=.vibe/", "parent_session_id", "tool_status"),
    answers=ANSWERS,
    reads={
        "pre_tool": {**READ, "input": ["hook_specific_output.tool_input"]},
        "post_tool": {**READ, "context": ["hook_specific_output.additional_context"]},
        "post_agent": READ,
    },
    others=("exit_plan_mode",),  # (src)
    lifts=False,
    # Three times in a turn (lab).
    traits=("caps stops",),
)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of all files, with a finding for each hook that Vibe does not load."""
    names: set[str] = set()
    return decode_tables(
        dialect,
        trees,
        lambda _, entry, path, problems: _read_table(dialect, entry, path, problems),
        lambda entry, path: _find_faults(dialect, entry, path, names),
    )


def _read_table(
    dialect: Dialect, entry: Mapping[str, Tree], path: Path, problems: list[Problem]
) -> Hook | None:
    native, match = entry.get("type"), entry.get("match", "")
    if native is None:
        problems.append(Problem("'type' is missing, so Vibe does not load this hook", path))
    for key, value in (("type", native), ("match", match)):
        if value is not None and not isinstance(value, str):
            problems.append(Problem(f"must be a string, not {name_kind(value)}", (*path, key)))
    if problems:
        return None
    spec = find_event(dialect, OLD.get(str(native), str(native)))
    strict = {"strict": entry["strict"]} if "strict" in entry and not _can_be_strict(spec) else {}
    hook = read_entry(dialect, entry, path, ("type", "match", *strict), problems)
    if hook is None:
        return None
    data = {**get_dialect_data(hook, dialect.id), **strict}
    hook = hook._replace(provider_data={dialect.id: data} if data else NOTHING)
    is_dead = "match" in entry and _is_dead(spec, match)  # (MV5)
    return bind_table(
        dialect,
        hook,
        spec.native if spec else str(native),
        spec,
        match if is_dead else match or "*",
        is_dead=is_dead,
    )


def _can_be_strict(spec: EventSpec | None) -> bool:
    """Whether `strict` prevents the action; after a tool it only removes the result."""
    return spec is not None and spec.blocks == "prevent"


def _is_dead(spec: EventSpec | None, match: str) -> bool:
    """Whether a matcher has no meaning that a term can express."""
    return spec is None or not spec.subject or not match.strip()


def _find_faults(
    dialect: Dialect, entry: Mapping[str, Tree], path: Path, names: set[str]
) -> Iterator[Finding]:
    """Report an entry that Vibe does not load or never runs; `-p` shows no warning (MV5)."""
    native, name, match = str(entry["type"]), entry.get("name"), entry.get("match")
    location = spell_path(path)
    spec = find_event(dialect, OLD.get(native, native))
    if spec is None:
        guess = suggest_closest(native, NATIVES)
        yield UnknownEvent.at(location, dialect=dialect.id, event=native, guess=guess)
        return
    reason, way = "", ""
    if native in OLD:
        reason, way = f"'{native}' is the name of {spec.native} in 2.20 and older", f"Write {spec.native}."
    elif name is None:
        reason, way = "it has no name", "Add a name."
    elif name in names:
        reason, way = f"an earlier hook already has the name '{name}'", "Give it another name."
    elif match is not None and not spec.subject:
        reason, way = f"{native} does not accept a matcher", "Remove the matcher to make it run."
    elif match is not None and not match.strip():
        reason, way = "its matcher is empty", "Remove the matcher to match every tool."
    elif entry.get("strict") and not spec.subject:
        reason, way = f"{native} does not accept 'strict'", "Remove it to make it run."
    elif (
        match
        and match.startswith(MARK)
        and isinstance(wrong := compile_pattern(match.removeprefix(MARK)), str)
    ):
        reason, way = f"'{match}' is not a valid regular expression ({wrong})", "Correct the expression."
    else:
        names.add(str(name))
    if reason:
        yield NeverRuns.at(location, dialect=dialect.id, what="this hook", reason=reason, way=way)


def encode(dialect: Dialect, manifest: Manifest) -> dict[str, Tree]:
    """The file of the project."""
    path = dialect.locations[0].path
    entries = [_write_table(dialect, hook) for hook in manifest.hooks]
    return {path: write_tables(dialect, manifest, path, entries)}


def _write_table(dialect: Dialect, hook: Hook) -> dict[str, Tree]:
    spec, terms = find_slots(dialect, hook)[0]
    written = write_entry(dialect, hook)
    texts = write_matcher(dialect, spec, terms, "")
    matcher = next(iter(texts), None)
    entry = {**written, "type": spec.native, **({} if matcher is None else {"match": matcher})}
    in_order = {key: entry[key] for key in KEYS if key in entry}
    return {**in_order, **entry}


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """Give every hook a unique name and drop Vibe data that fields already hold."""
    findings: list[Finding] = []
    adjusted: list[Hook] = []
    names: set[str] = set()
    for number, source in enumerate(hooks):
        hook = _drop_field_data(source)
        lost = [
            key
            for key in get_dialect_data(source, DIALECT.id)
            if key not in get_dialect_data(hook, DIALECT.id)
        ]
        if lost:
            fields = ", ".join(lost)
            findings.append(NativeDropped.at("", number, source=DIALECT.id, target=DIALECT.id, fields=fields))
        name = hook.name or hook.event.rpartition(":")[2].replace("_", "-")
        free = name if hook.name and name not in names else ""
        step = number + 1
        while not free or free in names:
            free, step = f"{name}-{step}", step + 1
        if free != hook.name:
            findings.append(FieldGiven.at("", number, target=DIALECT.id, field="name", value=free))
        names.add(free)
        adjusted.append(hook._replace(name=free))
    return adjusted, findings


def _drop_field_data(hook: Hook) -> Hook:
    spec, _ = find_slots(DIALECT, hook)[0]
    event = find_event(DIALECT, spec.native)
    data = get_dialect_data(hook, DIALECT.id)
    kept_data = {key: value for key, value in data.items() if key not in KEYS}
    if isinstance(data.get("strict"), bool) and not _can_be_strict(event):
        kept_data["strict"] = data["strict"]
    if not hook.matcher and isinstance(data.get("match"), str) and _is_dead(event, data["match"]):
        kept_data["match"] = data["match"]
    return hook._replace(provider_data={DIALECT.id: kept_data} if kept_data else NOTHING)


DIALECT = Dialect(
    id="mistral-vibe",
    title="Mistral Vibe",
    kind="agent",
    facts="3.0.2",
    sources=SOURCES,
    shows={"*": (("message", "reason"), "doc")},
    locations=(
        Location("project", ".vibe/hooks.toml", "lab"),
        Location("user", "~/.vibe/hooks.toml", "lab"),
    ),
    events=EVENTS,
    lacks=LACKS,
    awaits_children="lab",
    tools=TOOLS,
    mcp=McpNames("mcp_", ".", "lab", allowed="A-Za-z0-9_$"),
    matching=MATCHING,
    handlers={
        "command": HandlerSpec(
            "",
            {
                "name": "name",
                "command": "command",
                "timeout": "timeout",
                "strict": STRICT,
                "description": "description",
            },
            WAIT,
            required=("command",),
        ),
    },
    shape=Shape(decode, encode, by_event=False, matcher_key="match"),
    wire=WIRE,
    obeys=("decision",),
    deny_answer={"decision": "deny", "reason": "{reason}"},
    # MCP tools are called from run_typescript only (MV9, MV12).
    deny_reason="lost for MCP",
    adjust=adjust,
    # A command starts in the folder that Vibe was started in, whose hooks.toml alone it reads (src, lab).
    commands_start="root",
    project_read="start",
    project_dir=(".",),
    programs=("vibe",),
    home=("~/.vibe", "VIBE_HOME"),
    folder_trust=FolderTrust(
        "~/.vibe/trusted_folders.toml",
        (("trusted",),),
        "Start `vibe` in this folder and trust it; with -p, pass --trust.",
        "src",
    ),
    notes=(
        "Vibe reads .vibe/hooks.toml only in its start folder, not in a folder above.",
        "Vibe loads no hook of an untrusted folder; `vibe -p` trusts none without --trust.",
        "Versions before 2.21 have other names for the events and load none of these hooks.",
    ),
    quirks=(
        Quirk(
            "MV1",
            "exit 2, or any other failure, runs the tool, unless the hook is `strict`",
            "lab",
            {CLOSED_BRIDGE: True},
        ),
        Quirk(
            "MV2",
            "JSON with an exit code other than 0 is ignored: a deny with exit 2 denies nothing",
            "lab",
        ),
        Quirk("MV3", "only `deny` denies: block, ask and Claude Code's form run the tool", "lab"),
        Quirk(
            "MV4",
            "in a `strict` hook any text on stdout that is not a JSON object counts as a failure, and denies",
            "lab",
        ),
        Quirk("MV5", "an invalid entry is silently skipped with `vibe -p`, the others are loaded", "lab"),
        Quirk(
            "MV6", "of two hooks with the same name the second is skipped; the project's come first", "src"
        ),
        Quirk("MV7", "a rewrite that the tool's schema refuses ends the whole run", "lab"),
        Quirk(
            "MV8",
            "background commands are the tool process.start, which a matcher `bash` does not match",
            "lab",
        ),
        Quirk(
            "MV9",
            "MCP tools are called from run_typescript only; hooks see each call, and not run_typescript",
            "lab",
        ),
        Quirk("MV10", "a strict post_tool hook that fails hides the result from the model", "lab"),
        Quirk("MV11", "hooks of plugins did not run, although the manual lists them", "lab"),
        Quirk(
            "MV12",
            "for a denied call from run_typescript the model learns that it was skipped, but not why",
            "lab",
        ),
    ),
    ways_around=list_ways(
        kinds=4,
        # `vibe-acp`, which editors start; and tools of MCP servers that `run_typescript` calls.
        none={"protocol": "lab", "code": "lab"},
    ),
)
