"""Kimi: `[[hooks]]` in the configuration of kimi-cli and of its successor Kimi Code, both at once.

The two products share the form of an entry and differ in events, tool names and MCP names, so a hook is
written into both files, each in its product's own names, and read from both as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from hookport.errors import Problem, spell_path, suggest_closest
from hookport.findings import (
    EventDropped,
    Finding,
    GuardDropped,
    NativeDropped,
    NeverRuns,
    ServerWidened,
    TargetNote,
)
from hookport.model.hooks import ANY_SERVER, NOTHING, Hook, Manifest, Term
from hookport.shapes.dialect import (
    ELSEWHERE,
    REPOSITORY,
    SECOND,
    DecodedManifest,
    Dialect,
    EventSpec,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    OnceRule,
    Path,
    Place,
    Quirk,
    Shape,
    Timeout,
    ToolName,
    Tree,
    WayAround,
    explain_missing,
    find_event,
    get_dialect_data,
    list_ways,
    name_tools,
)
from hookport.shapes.entries import (
    find_slots,
    get_manifest_data,
    name_kind,
    read_entry,
    write_entry,
)
from hookport.shapes.matchers import write_matcher
from hookport.shapes.patterns import compile_pattern
from hookport.shapes.table_list import bind_table, build_decoded, decode_tables, write_tables
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "code": "MoonshotAI/kimi-code v0.38.0 (2026-08-22): externalHooks and session/hooks",
    "cli": "MoonshotAI/kimi-cli v1.49.0 (2026-07-16): src/kimi_cli/hooks, soul",
    "lab": "measured on kimi-cli 1.51.0 and Kimi Code 2.1.0, November 2026",
}

KEYS = ("event", "matcher", "command", "timeout")
SHORTEST, LONGEST = 1, 600
WAIT = Timeout(
    SECOND,
    default=timedelta(seconds=30),
    whole=True,
    minimum=SHORTEST * SECOND,
    maximum=LONGEST * SECOND,
)

# `re.search` in Python, `new RegExp(…).test` in JavaScript; empty is all, an invalid one finds nothing (lab).
MATCHING = Matching("regex", everything=("",), never=("*",))

# A hook without a matcher target has the empty string as its value there (cli, lab). Only three events block.
EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "lab", "tool"),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool"),
    EventSpec("PostToolUseFailure", "tool_use_failure", "observe", "lab", "tool"),
    EventSpec("PermissionRequest", "permission_request", "observe", "lab", "tool"),
    EventSpec("PermissionResult", "", "observe", "lab", "tool"),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "lab", "prompt"),
    EventSpec("UserPromptQueued", "", "observe", "code", "prompt"),
    EventSpec("Stop", "agent_stop", "retry", "lab"),
    EventSpec("StopFailure", "error_occurred", "observe", "lab", "error_type"),
    EventSpec("Interrupt", "interrupted", "observe", "code"),
    EventSpec("TurnStarted", "", "observe", "lab", "origin_kind"),
    EventSpec("SessionStart", "session_start", "observe", "lab", "source", hears="nothing"),
    EventSpec(
        "SessionEnd",
        "session_end",
        "observe",
        "lab",
        "reason",
        unfired="with Kimi Code's `-p` (KI10)",
        # kimi-cli ends after 5 s (cli: cli/__init__.py), Kimi Code's `-p` cleans up for 8 s in all (code:
        # PROMPT_CLEANUP_TIMEOUT_MS).
        max_timeout=timedelta(seconds=5),
    ),
    EventSpec("SessionHeartbeat", "", "observe", "lab"),
    EventSpec("SubagentStart", "subagent_start", "observe", "lab", "agent_name"),
    EventSpec("SubagentStop", "subagent_stop", "observe", "lab", "agent_name"),
    EventSpec("TaskStarted", "", "observe", "lab", "kind"),
    EventSpec("PreCompact", "before_compact", "observe", "lab", "trigger"),
    EventSpec("PostCompact", "after_compact", "observe", "lab", "trigger"),
    EventSpec("Notification", "notification", "observe", "lab", "notification_type"),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 20 of Kimi Code and the 13 of kimi-cli",
    registry=30,
    before_task="TaskStarted reports background tasks that already run",
    permission_denied="PermissionResult fires for every answer, also when a permission is given",
)

CODE_TOOLS = name_tools(
    "code",
    shell="Bash",
    file_read=("Read", "ReadMediaFile"),
    file_write="Write",
    file_edit="Edit",
    search="Grep",
    find="Glob",
    web_search="WebSearch",
    web_fetch="FetchURL",
    agent=("Agent", "AgentSwarm"),
    todo="TodoList",
    skill="Skill",
    ask_user="AskUserQuestion",
)
CLI_TOOLS = name_tools(
    "cli",
    shell="Shell",
    file_read=("ReadFile", "ReadMediaFile"),
    file_write="WriteFile",
    file_edit="StrReplaceFile",
    search="Grep",
    find="Glob",
    web_search="SearchWeb",
    web_fetch="FetchURL",
    agent="Agent",
    todo="SetTodoList",
    ask_user="AskUserQuestion",
)
# Tools of kimi-cli that no word of the vocabulary names.
CLI_OTHERS = ("Think", "EnterPlanMode", "ExitPlanMode", "TaskList", "TaskOutput", "TaskStop")


# The wire of kimi-cli and Kimi Code: Claude's payload with a few names of its own, and exit code 2.
# What is not marked otherwise was captured or measured on kimi-cli 1.51.0 and Kimi Code 2.1.0. Both are read;
# scripts are written to as Kimi Code does it.

PAYLOAD_KEYS = {
    "event": "hook_event_name",
    "session": "session_id",
    "cwd": "cwd",
    "tool": "tool_name",
    "input": "tool_input",
    "call_id": "tool_call_id",
    "result": "tool_output",
    "error": "error",
    "prompt": "prompt",
    "stop_active": "stop_hook_active",
    "subagent": "agent_name",
    "agent_id": "agent_id",
    "turn": "turn_id:number",
    "session_title": "session_title",
}
KEYS_OF = {
    # A list of parts in Kimi Code, a text in kimi-cli.
    "UserPromptSubmit": {"prompt": "prompt:parts"},
    "UserPromptQueued": {"prompt": "prompt:parts"},
    "SubagentStop": {"final_message": "response"},
    "SessionStart": {"source": "source", "model": "model"},
    "SessionEnd": {"source": "reason"},
    "SessionHeartbeat": {"session_ms": "uptime_ms"},
    "PreCompact": {"source": "trigger", "context_tokens": "token_count"},
    "PostCompact": {"source": "trigger"},
    "Notification": {"source": "notification_type", "message": "body", "title": "title"},
    "StopFailure": {"source": "error_type", "error_message": "error_message"},
    "Interrupt": {"source": "reason"},
    "TurnStarted": {"source": "origin_kind"},
    "TaskStarted": {"source": "kind"},
}

WORDS: dict[str, dict[str, Tree]] = {"session_end": {"complete": "exit"}}

INPUTS: dict[str, dict[str, Tree]] = {
    "file_read": {"offset": "line_offset", "limit": "n_lines"},
    "Edit": {"old": "old_string", "new": "new_string"},
    # One edit or a list of them, with canonical names in it (cli).
    "StrReplaceFile": {"edits": "edit"},
    "search": {"include": "glob"},
    # The second in kimi-cli (cli).
    "find": {"path": ("path", "directory")},
    "agent": {"agent_type": "subagent_type"},
}

# With exit code 2 stdout is ignored, so nothing else can accompany a deny.
DENY = {"stderr": "$reason", "exit": 2, "alone": True}

ANSWERS: dict[str, Tree] = {
    # No ask, which runs the tool (KI5), no rewrite, no context; an allow has no effect there.
    "PreToolUse": {"deny": DENY},
    "UserPromptSubmit": {"deny": DENY},
    "Stop": {"deny": DENY},
    "*": {},
}
# Kimi Code, whose payloads name the client, adds the message to the prompt; kimi-cli nothing at all (KI7).
KIMI_CODE: dict[str, Tree] = {
    **ANSWERS,
    "UserPromptSubmit": {"deny": DENY, "context": {"json": {"message": "$context"}}},
}

# A top-level decision, `ask`, and JSON with another exit code than 0 do nothing there (KI4, KI5); they are
# read for the deny that was meant.
READ: dict[str, Tree] = {
    "verdicts": [
        ("hookSpecificOutput.permissionDecision", {"allow": "allow", "deny": "deny", "ask": "ask"}),
        ("decision", {"allow": "none", "approve": "none", "deny": "deny", "block": "deny", "ask": "ask"}),
    ],
    "reason": ["hookSpecificOutput.permissionDecisionReason", "reason"],
    "exits": {"2": "deny"},
    "json": "any",
}

# What Kimi itself obeys: exit code 2 with any text or none, and with exit code 0 `permissionDecision: deny`
# in nested output, whose `hookEventName` it does not look at (a, b, d, k).
OBEY = {
    **READ,
    "verdicts": [("hookSpecificOutput.permissionDecision", {"deny": "deny"})],
    "reason": ["hookSpecificOutput.permissionDecisionReason"],
    "json": "zero",
}
# The others are not waited for (l).
OBEY_NOTHING = {**OBEY, "verdicts": [], "exits": {}}

# Their transcripts, whose path is in no payload (measured, Kimi Code 2.1.0, kimi-cli 1.51.0). At the end of a
# turn Kimi Code writes its messages again, as `agent.message.appended`.
TRANSCRIPTS = (
    {
        "form": "loop events",
        "of": "Kimi Code 2.1.0",
        "named": ("sessions/*/*/agents/main/wire.jsonl",),
        "kept": (
            "$KIMI_CODE_HOME/sessions/*/{session}/agents/main/wire.jsonl",
            "~/.kimi-code/sessions/*/{session}/agents/main/wire.jsonl",
        ),
        "time": "^time",
        "records": (
            {"where": {"type": "turn.prompt"}, "rows": ({"kind": "user", "text": "input"},)},
            {
                "where": {"type": "context.append_loop_event", "event.type": "content.part"},
                "rows": (
                    {
                        "of": {"event.part.type": "text"},
                        "kind": "assistant",
                        "text": "event.part.text",
                        "id": "event.uuid",
                    },
                ),
            },
            {
                "where": {"type": "context.append_loop_event", "event.type": "tool.call"},
                "rows": (
                    {"kind": "call", "id": "event.toolCallId", "name": "event.name", "input": "event.args"},
                ),
            },
            {
                "where": {"type": "context.append_loop_event", "event.type": "tool.result"},
                "rows": (
                    {
                        "kind": "result",
                        "id": "event.toolCallId",
                        "text": "event.result.output",
                        "failed": ["event.result.isError"],
                    },
                ),
            },
        ),
        "other": (
            {
                "type": (
                    *("metadata", "runtime.set_binding", "profile.bind", "permission.set_mode"),
                    *("context.append_message", "agent.message.appended", "agent.turn.started"),
                    *("plugin.session_start", "llm.request", "usage.record", "token_counting.measured"),
                    *("agent.turn.ended", "turn.ended", "token_counting.turn_recorded", "prompt.completed"),
                )
            },
            {"type": "context.append_loop_event", "event.type": ("step.begin", "step.end")},
        ),
    },
    {
        "form": "wire messages",
        "of": "kimi-cli 1.51.0",
        "named": ("sessions/*/*/wire.jsonl",),
        "kept": ("~/.kimi/sessions/*/{session}/wire.jsonl",),
        "time": "^timestamp",
        "records": (
            {
                "where": {"message.type": "TurnBegin"},
                "rows": ({"kind": "user", "text": "message.payload.user_input"},),
            },
            {
                "where": {"message.type": "ContentPart", "message.payload.type": "text"},
                "rows": ({"kind": "assistant", "text": "message.payload.text"},),
            },
            {
                "where": {"message.type": "ToolCall"},
                "rows": (
                    {
                        "kind": "call",
                        "id": "message.payload.id",
                        "name": "message.payload.function.name",
                        "input": "message.payload.function.arguments",
                    },
                ),
            },
            {
                "where": {"message.type": "ToolResult"},
                "rows": (
                    {
                        "kind": "result",
                        "id": "message.payload.tool_call_id",
                        "text": "message.payload.return_value.output",
                        "failed": ["message.payload.return_value.is_error"],
                    },
                ),
            },
        ),
        "other": (
            {"type": "metadata"},
            {"message.type": ("StepBegin", "StatusUpdate", "TurnEnd", "ContentPart", "StepInterrupted")},
        ),
    },
)

WIRE = Wire(
    transcript=TRANSCRIPTS,
    obeys={"PreToolUse": OBEY, "UserPromptSubmit": OBEY, "Stop": OBEY, "*": OBEY_NOTHING},
    keys=PAYLOAD_KEYS,
    by_event=list_by_event(keys=KEYS_OF),
    words=WORDS,
    fixed={"session_id": "$session", "cwd": "$cwd"},
    inputs=INPUTS,
    # Only hooks of a plugin of Kimi Code have it (code).
    env={"KIMI_PLUGIN_ROOT": "$package"},
    starts_in="root",
    marks=(
        *("client_type=kimi", "session_title", "tool_call_id", "agent_name", "sink"),
        *("token_count", "estimated_token_count"),
    ),
    answers=ANSWERS,
    answers_of={"client_type": KIMI_CODE},
    reads={
        "UserPromptSubmit": {
            **READ,
            "context": ["message", "hookSpecificOutput.message", "hookSpecificOutput.additionalContext"],
            "text": "context",
        },
        "*": READ,
    },
    # kimi-cli shows MCP tools under their bare names (KI8); these are offered to the model by one of the two.
    others=(
        *("CreateGoal", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "ExitPlanMode", "GetGoal"),
        *("SetGoalBudget", "TaskList", "TaskOutput", "TaskStop", "Think", "UpdateGoal", "WaitFor"),
    ),
    lifts=False,
    # A Stop hook is asked once a turn.
    traits=("bare MCP", "caps stops"),
)


class Product(NamedTuple):
    """One of the two: its file, its events and how it names tools."""

    title: str
    path: str
    lacks: tuple[str, ...]
    tools: tuple[ToolName, ...]
    mcp: McpNames
    consequence: str


CODE = Product(
    "Kimi Code",
    "~/.kimi-code/config.toml",
    (),
    CODE_TOOLS,
    McpNames("mcp__", "__", "code"),
    "Kimi Code then drops every hook of the file",
)
CLI = Product(
    "kimi-cli",
    "~/.kimi/config.toml",
    (
        "PermissionRequest",
        "PermissionResult",
        "UserPromptQueued",
        "Interrupt",
        "TurnStarted",
        "SessionHeartbeat",
        "TaskStarted",
    ),
    CLI_TOOLS,
    McpNames("", "", "cli"),
    "kimi-cli then does not start",
)
PRODUCTS = (CODE, CLI)
# Any tool that is not built in: how kimi-cli, which shows MCP tools under their bare names, can say MCP.
_BUILT_IN = "|".join([*dict.fromkeys(row.native for row in CLI_TOOLS), *CLI_OTHERS])
CLI_MCP = f"^(?!(?:{_BUILT_IN})$).+$"


def find_product(file: str) -> Product | None:
    """The product that reads a configuration file; None if its path does not show it."""
    folders = file.replace("\\", "/").split("/")
    return CODE if ".kimi-code" in folders else CLI if ".kimi" in folders else None


def view_for_product(dialect: Dialect, product: Product | None) -> Dialect:
    """The dialect with one product's names; with those of both if the product is unknown."""
    return dialect._replace(tools=product.tools, mcp=product.mcp) if product else dialect


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of all files; a hook in both products' files is one hook."""
    read = decode_tables(dialect, trees, partial(_read_table, dialect), partial(_find_faults, dialect))
    if not {find_product(file) for file in trees} >= set(PRODUCTS):
        return read
    rows = zip(read.manifest.hooks, read.places, strict=True)
    hooks = _pair_hooks(dialect, [(find_product(place.file), hook, place) for hook, place in rows])
    return build_decoded(dialect, hooks, get_manifest_data(dialect, read.manifest), read.findings)


def _read_table(
    dialect: Dialect, file: str, entry: Mapping[str, Tree], path: Path, problems: list[Problem]
) -> Hook | None:
    product = find_product(file)
    problems += _find_refusals(product, entry, path)
    hook = read_entry(view_for_product(dialect, product), entry, path, KEYS[:2], problems)
    if hook is None or problems:
        return None
    spec = next(row for row in EVENTS if row.native == entry["event"])
    matcher = entry.get("matcher", "")
    is_dead = _is_dead(spec, matcher)  # (KI1, KI3)
    return bind_table(view_for_product(dialect, product), hook, spec.native, spec, matcher, is_dead=is_dead)


def _find_faults(dialect: Dialect, entry: Mapping[str, Tree], path: Path) -> Iterator[Finding]:
    reason = _find_idle_reason(entry)
    if reason:
        way = "Remove the matcher to make it run."
        yield NeverRuns.at(spell_path(path), dialect=dialect.id, what="this hook", reason=reason, way=way)


def _is_dead(spec: EventSpec, matcher: str) -> bool:
    """Whether a matcher has no meaning that a term can express."""
    return bool(matcher) and (not spec.subject or matcher in MATCHING.never)


def _find_refusals(product: Product | None, entry: Mapping[str, Tree], path: Path) -> list[Problem]:
    """Every problem that makes the product refuse the entry, and all others with it (KI2)."""
    consequence = product.consequence if product else "Kimi then runs no hook of the file"
    problems = [
        Problem(f"unknown key '{key}': only {', '.join(KEYS)} are allowed; {consequence}", (*path, key))
        for key in entry
        if key not in KEYS
    ]
    problems += [
        Problem(f"must be a string, not {name_kind(entry[key])}", (*path, key))
        for key in ("event", "matcher")
        if not isinstance(entry.get(key, ""), str)
    ]
    natives = tuple(row.native for row in EVENTS if not product or row.native not in product.lacks)
    event = entry.get("event")
    if event is None:
        problems.append(Problem(f"'event' is missing; {consequence}", path))
    elif isinstance(event, str) and event not in natives:
        guess = f" {CODE.title} has it." if find_event(DIALECT, event) else suggest_closest(event, natives)
        problems.append(Problem(f"unknown event '{event}': {consequence}.{guess}", (*path, "event")))
    timeout = entry.get("timeout", LONGEST)
    if type(timeout) in (int, float) and (timeout % 1 or not SHORTEST <= timeout <= LONGEST):
        rule = f"must be whole seconds from {SHORTEST} to {LONGEST}, not {timeout}"
        problems.append(Problem(f"{rule}; {consequence}", (*path, "timeout")))
    return problems


def _find_idle_reason(entry: Mapping[str, Tree]) -> str:
    """Explain why an entry never runs; empty if it does."""
    matcher = entry.get("matcher", "")
    spec = find_event(DIALECT, entry["event"])
    pattern = compile_pattern(matcher)
    if isinstance(pattern, str):
        return f"the matcher '{matcher}' is not a valid regular expression and matches nothing"
    if spec and not spec.subject and not pattern.search(""):
        return f"{spec.native} has nothing to match, and '{matcher}' does not match the empty text"
    return ""


def _pair_hooks(dialect: Dialect, read: list[tuple[Product | None, Hook, Place]]) -> list[tuple[Hook, Place]]:
    """Each hook once, in the order of Kimi Code's file; a hook of one file only is marked."""
    rest = [(hook, place) for product, hook, place in read if product is CLI]
    hooks: list[tuple[Hook, Place]] = []
    for product, hook, place in read:
        if product is CLI:
            continue
        table = _write_table(dialect, CLI, hook)
        twins = (pair for pair in rest if pair[0] == hook or _write_table(dialect, CLI, pair[0]) == table)
        twin = next(twins, None)
        if twin:
            rest.remove(twin)
        alone = twin is None and table is not None and product is CODE
        hooks.append((_mark_product(dialect, hook, CODE) if alone else hook, place))
    return [*hooks, *((_mark_product(dialect, hook, CLI), place) for hook, place in rest)]


def _mark_product(dialect: Dialect, hook: Hook, product: Product) -> Hook:
    data = {**get_dialect_data(hook, dialect.id), "product": product.title}
    return hook._replace(provider_data={**hook.provider_data, dialect.id: data})


def encode(dialect: Dialect, manifest: Manifest) -> dict[str, Tree]:
    """The file of each product that has hooks; both files if a hook is for one product only."""
    files: dict[str, Tree] = {}
    chosen = any(get_dialect_data(hook, dialect.id).get("product") for hook in manifest.hooks)
    for product in PRODUCTS:
        entries = [
            entry for hook in manifest.hooks if (entry := _write_table(dialect, product, hook)) is not None
        ]
        if entries or chosen:
            files[product.path] = write_tables(dialect, manifest, product.path, entries)
    return files


def _write_table(dialect: Dialect, product: Product, hook: Hook) -> dict[str, Tree] | None:
    """The hook as one product writes it; None if it has no such event or none of the tools."""
    data = get_dialect_data(hook, dialect.id)
    spec, terms = find_slots(dialect, hook)[0]
    if data.get("product", product.title) != product.title or spec.native in product.lacks:
        return None
    texts = write_matcher(view_for_product(dialect, product), spec, _adapt_terms(product, terms), "")
    if not texts:
        return None
    matcher = texts[0] or data.get("matcher")
    entry = write_entry(dialect, hook._replace(provider_data=NOTHING))
    return {"event": spec.native, **({"matcher": matcher} if matcher else {}), **entry}


def _adapt_terms(product: Product, terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """The terms that the product can express: kimi-cli distinguishes neither servers nor MCP tools."""
    if product is not CLI:
        return terms
    named_tools = [
        Term("pattern", CLI_MCP) if term.kind == "mcp" and not term.tool else term for term in terms
    ]
    return tuple(dict.fromkeys(named_tools))


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """Keep the fields that an entry may have, in reading order, and report where the two products differ."""
    findings: list[Finding] = []
    adjusted: list[Hook] = []
    for number, hook in enumerate(hooks):
        native = find_slots(DIALECT, hook)[0][0].native
        if find_event(DIALECT, native) is None:
            kind = GuardDropped if hook.blocking else EventDropped
            reason = " (one unknown event switches all hooks off)"
            findings.append(kind.at("", number, target=DIALECT.id, event=native, reason=reason))
            continue
        data = get_dialect_data(hook, DIALECT.id)
        kept_data = {key: value for key, value in data.items() if key in _list_own_keys(hook)}
        if kept_data != data:
            fields = ", ".join(key for key in data if key not in kept_data)
            findings.append(NativeDropped.at("", number, source=DIALECT.id, target=DIALECT.id, fields=fields))
        adjusted.append(hook._replace(provider_data={DIALECT.id: kept_data} if kept_data else NOTHING))
        findings += [finding._replace(hook=number) for finding in _find_differences(adjusted[-1])]
    adjusted.sort(key=lambda hook: get_dialect_data(hook, DIALECT.id).get("product") == CLI.title)
    return adjusted, findings


def _find_differences(hook: Hook) -> list[Finding]:
    """Report what one product lacks and what kimi-cli cannot distinguish."""
    if "product" in get_dialect_data(hook, DIALECT.id):
        return []
    spec, terms = find_slots(DIALECT, hook)[0]
    findings: list[Finding] = []
    for product, other_product in ((CODE, CLI), (CLI, CODE)):
        if _write_table(DIALECT, product, hook) is None:
            missing = f"{spec.native} event" if spec.native in product.lacks else "such tool"
            note = f"{product.title} has no {missing}: the hook is written for {other_product.title} only."
            findings.append(TargetNote.at("", note=note))
    servers = [term.value for term in terms if term.kind == "mcp" and term.value != ANY_SERVER]
    if spec.native in CLI.lacks:
        return findings
    return findings + [ServerWidened.at("", target=CLI.title, server=name) for name in dict.fromkeys(servers)]


def _list_own_keys(hook: Hook) -> tuple[str, ...]:
    spec = find_slots(DIALECT, hook)[0][0]
    dead = not hook.matcher and _is_dead(spec, get_dialect_data(hook, DIALECT.id).get("matcher", ""))
    return ("product", "matcher") if dead else ("product",)


DIALECT = Dialect(
    id="kimi-cli",
    title="Kimi CLI and Kimi Code",
    kind="agent",
    facts="kimi-cli 1.51.0, Kimi Code 2.1.0",
    sources=SOURCES,
    shows={
        # A prompt that is blocked leaves the input of Kimi Code 2.1.0 in its queue for good, so that nobody
        # sees a message that way.
        "UserPromptSubmit": ((), "lab"),
        "*": (("reason",), "lab"),
    },
    locations=(Location("user", CODE.path, "code"), Location("user", CLI.path, "cli")),
    events=EVENTS,
    lacks=LACKS,
    awaits_children="lab",
    tools=(*CODE_TOOLS, *CLI_TOOLS),
    mcp=CODE.mcp,
    matching=MATCHING,
    handlers={
        "command": HandlerSpec("", {"command": "command", "timeout": "timeout"}, WAIT, required=("command",)),
    },
    shape=Shape(decode, encode, by_event=False),
    wire=WIRE,
    obeys=("nested",),
    adjust=adjust,
    # Commands start in the session's project directory, and the shell sets PWD to it.
    commands_start="moving",
    project_dir=(REPOSITORY, "$PWD", "${PWD}"),
    # An array of hooks in the manifest, with the fields of its own file.
    other_places={"unread": (Location("plugin", ".kimi-plugin/plugin.json", "code"),)},
    programs=("kimi",),
    products=((".kimi-code/",), (".kimi/",)),
    runs_once=OnceRule("lab"),
    notes=(
        "Kimi reads hooks from the user's home only: they run in every project, in its directory.",
        "kimi-cli reads ~/.kimi/config.toml, Kimi Code ~/.kimi-code/config.toml: add the [[hooks]] to yours.",
    ),
    quirks=(
        Quirk("KI1", "`*` and any other invalid pattern never match, without a message", "lab"),
        Quirk(
            "KI2", "one bad entry: Kimi Code drops all hooks and continues, kimi-cli does not start", "lab"
        ),
        Quirk(
            "KI3",
            "Stop, Interrupt and SessionHeartbeat match the empty text: a matcher switches them off",
            "lab",
        ),
        Quirk("KI4", "a top-level `decision` is ignored: only exit 2 or permissionDecision deny", "lab"),
        Quirk("KI5", "`ask` runs the tool", "lab"),
        Quirk("KI6", "every failure and every timeout lets the tool run", "lab"),
        Quirk("KI7", "Kimi Code adds all output of UserPromptSubmit to the prompt, kimi-cli nothing", "lab"),
        Quirk("KI8", "kimi-cli shows MCP tools under their bare names, without the server", "cli"),
        Quirk("KI9", "hooks run in parallel, and the same command once", "lab"),
        Quirk("KI10", "Kimi Code fires no SessionEnd with -p; kimi-cli gives it 5 s", "lab"),
        Quirk(
            "KI11", "kimi-cli sends failed tools to PostToolUse; PostToolUseFailure needs an exception", "lab"
        ),
        Quirk("KI12", "kimi-cli 1.52.0 is an empty farewell; 1.51.0 is the last that works", "lab"),
    ),
    ways_around=list_ways(
        WayAround(
            "protocol",
            "none",
            "KI13",
            "started with `kimi acp`, as editors start it, hooks fire as in a terminal",
            "lab",
        ),
        WayAround(
            "protocol",
            "open",
            "KI14",
            "Kimi Code, started with `kimi acp` in another folder than the session's, starts hooks in "
            "that folder and gives it as `cwd`, so that guards of the session's project are not found; "
            "Kimi CLI does not",
            "lab",
            place=ELSEWHERE,
            events=(),
        ),
        kinds=4,
        none={"sub-agents": "lab"},
    ),
)
