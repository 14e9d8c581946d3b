"""OpenAI Codex CLI: hooks.json, and the hooks tables of its config.toml."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hookport.errors import Problem, spell_path
from hookport.findings import AsyncInBackground, Finding, MatcherDropped, NeverRuns
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.claude_wire import (
    BLOCK,
    CONTEXT,
    HALT,
    INPUTS,
    KEYS,
    MESSAGE,
    READ,
    READ_TEXT,
    READS,
    TYPED,
    VERDICTS,
    WIRE,
    nest_fields,
)
from hookport.shapes.dialect import (
    HOOK_TRUST,
    MODIFIED,
    REPOSITORY,
    SECOND,
    TRUSTED,
    UNTRUSTED,
    AgentHook,
    DecodedManifest,
    Dialect,
    EventSpec,
    Field,
    FolderTrust,
    Gate,
    HandlerSpec,
    HookTrust,
    Location,
    Matching,
    McpNames,
    Path,
    Quirk,
    RefusedError,
    Shape,
    Timeout,
    Tree,
    WayAround,
    alias_tools,
    explain_missing,
    find_event,
    find_matching,
    list_ways,
    name_tools,
)
from hookport.shapes.patterns import is_rust_pattern

if TYPE_CHECKING:
    from hookport.model.hooks import Hook

SOURCES = {
    "src": "openai/codex at 2026-08-22 (0.150.0-alpha.7): codex-rs/config, codex-rs/hooks, codex-rs/core",
    "doc": "official documentation and pull requests of 0.152.0, September 2026",
    "lab": "measured on 0.166.0, November 2026",
}

# Letters, digits, `_` and `|` only: exact names; anything else is a Rust regular expression found anywhere.
# A hyphen is not among them (src, lab).
NAMES = Matching("names", plain=r"[A-Za-z0-9_|]")

ROOT_KEYS = ("description", "hooks")
TYPES = ("command", "mcp_tool", "prompt", "agent")
# prompt and agent handlers are read and then skipped (src, CX6), so no event has them.
RUN = ("command", "native")
# SessionEnd and Interrupt wait 1 s by default and 3 s at most (src, doc).
SHORT = timedelta(seconds=1)
LONGEST = timedelta(seconds=3)

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "lab", "tool", rewrites=True, types=RUN),
    EventSpec(
        "PermissionRequest",
        "permission_request",
        "prevent",
        "lab",
        "tool",
        types=RUN,
        unfired="in `codex exec` without `--approve-for-me`, which never asks",
    ),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool", types=RUN),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "lab", types=RUN),
    EventSpec("SessionStart", "session_start", "observe", "lab", "source", types=RUN),
    EventSpec(
        "SessionEnd",
        "session_end",
        "observe",
        "src",
        "reason",
        types=("command",),
        default_timeout=SHORT,
        max_timeout=LONGEST,
    ),
    EventSpec("Stop", "agent_stop", "retry", "lab", types=RUN),
    EventSpec("SubagentStart", "subagent_start", "observe", "src", "agent_type", types=RUN),
    EventSpec("SubagentStop", "subagent_stop", "retry", "src", "agent_type", types=RUN),
    # Exit 2 is a failed run on both; only `continue: false` stops (src).
    EventSpec("PreCompact", "before_compact", "observe", "src", "trigger", types=RUN),
    EventSpec("PostCompact", "after_compact", "observe", "src", "trigger", types=RUN),
    EventSpec("PreModelRequest", "before_model", "observe", "lab", types=RUN),
    EventSpec("PostModelRequest", "after_model", "observe", "lab", types=RUN),
    EventSpec(
        "Interrupt",
        "interrupted",
        "observe",
        "doc",
        types=RUN,
        default_timeout=SHORT,
        max_timeout=LONGEST,
        since="0.152.0",
    ),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 14 in the binary",
    registry=30,
    notification="`notify` in config.toml starts a program at the end of a turn, but is not a hook",
    tool_use_failure="PostToolUse fires only after success, or for a shell command with any exit code",
)


# The wire of Codex: Claude Code's payload and answers; it drops every answer with an unknown key.
# Facts: measured on 0.166.0 (lab), and codex-rs/hooks at 0.150.0-alpha.7 (src). A run that fails lets the
# call go on, so a piece is here only where the event's own schema has its keys.

ANSWERS = {
    "PreToolUse": {
        # Exit code 2 with stderr holds whatever a version takes for a valid answer (lab a; CX1, CX2). What is
        # printed with it is not read.
        "deny": {"stderr": "$reason", "exit": 2, "alone": True},
        # The word `allow` is wanted beside another input and refused without one; it lifts no question (src).
        "rewrite": nest_fields(permissionDecision="allow", updatedInput="$input"),
        "context": CONTEXT,
        "message": MESSAGE,
    },
    "PermissionRequest": {
        "deny": nest_fields(decision={"behavior": "deny", "message": "$reason"}),
        "allow": nest_fields(decision={"behavior": "allow"}),
        "message": MESSAGE,
    },
    # The reason takes the result's place; `continue: false` does the same and ends nothing (lab).
    "PostToolUse": {"deny": BLOCK, "context": CONTEXT, "message": MESSAGE},
    "UserPromptSubmit": {"deny": BLOCK, "context": CONTEXT, "halt": HALT, "message": MESSAGE},
    "SessionStart": {"context": CONTEXT, "halt": HALT, "message": MESSAGE},
    "SubagentStart": {"context": CONTEXT, "message": MESSAGE},
    "Stop": {"deny": BLOCK, "halt": HALT, "message": MESSAGE},
    "SubagentStop": {"deny": BLOCK, "halt": HALT, "message": MESSAGE},
    "PreCompact": {"halt": HALT, "message": MESSAGE},
    "PostCompact": {"halt": HALT, "message": MESSAGE},
    "Interrupt": {"message": MESSAGE},
    # SessionEnd reads nothing (src); what the model events obey was not measured (CX10).
    "*": {},
}

# An `allow` of PreToolUse alone has no effect.
NO_ALLOW = [
    (place, {word: "none" if verdict == "allow" else verdict for word, verdict in words.items()})
    for place, words in VERDICTS
]

# What Codex itself obeys. Every fault of an answer lets the call go on (lab a2, b', b4-b10, c2, c5, k; src).
_COMMON = ("continue", "stopReason", "suppressOutput", "systemMessage")
_REASONS = ["hookSpecificOutput.permissionDecisionReason", "reason"]
_BLOCKS = ("decision", {"block": "deny"})
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [_BLOCKS],
    "reason": _REASONS,
    "wants": {"deny": ["reason"]},
    "knows": (*_COMMON, "decision", "reason", "hookSpecificOutput"),
    "refuses": [("suppressOutput", [True])],
    "named": "all",
    # A value of a wrong kind drops the answer, null is none (lab t1, t2, t4-t6, t8, t10, n).
    "typed": TYPED,
    "nulls": "absent",
    "exits": {"2": "deny"},
    "speaks": "stderr",
    "json": "zero",
}
OBEY_TOOL = {
    **OBEY,
    "verdicts": [("hookSpecificOutput.permissionDecision", {"deny": "deny", "allow": "allow"}), _BLOCKS],
    "wants": {"deny": _REASONS},
    "refuses": [
        ("suppressOutput", [True]),
        ("continue", [False]),
        ("stopReason", ["*"]),
        ("hookSpecificOutput.permissionDecision", ["ask", "defer"]),
        ("decision", ["approve", "allow", "deny", "ask"]),
    ],
    "rewrites": "allow",
}
# There is no nested output here, so that one drops the answer (src).
OBEY_STOP = {**OBEY, "knows": (*_COMMON, "decision", "reason"), "text": "failure"}
OBEY_NOTHING = {**OBEY, "verdicts": [], "exits": {}, "text": "context"}
OBEYS: dict[str, dict[str, Tree]] = {
    "PreToolUse": OBEY_TOOL,
    "PermissionRequest": {
        **OBEY,
        "verdicts": [("hookSpecificOutput.decision.behavior", {"allow": "allow", "deny": "deny"})],
        "reason": ["hookSpecificOutput.decision.message"],
        "wants": {},
        "refuses": [
            ("suppressOutput", [True]),
            ("continue", [False]),
            ("stopReason", ["*"]),
            ("hookSpecificOutput.decision.updatedInput", ["*"]),
            ("hookSpecificOutput.decision.updatedPermissions", ["*"]),
            ("hookSpecificOutput.decision.interrupt", [True]),
        ],
    },
    "PostToolUse": {
        **OBEY,
        "refuses": [("suppressOutput", [True]), ("hookSpecificOutput.updatedMCPToolOutput", ["*"])],
    },
    "UserPromptSubmit": {**OBEY, "text": "context"},
    "Stop": OBEY_STOP,
    "SubagentStop": OBEY_STOP,
    "SessionStart": OBEY_NOTHING,
    "SubagentStart": OBEY_NOTHING,
    "*": {**OBEY_NOTHING, "text": "ignored"},
}

# Its transcript (measured, 0.166.0): the conversation is in `response_item`; `event_msg` repeats it. Context
# that Codex adds has the user's role and another kind. No flag says that a command failed.
TRANSCRIPT = {
    "form": "items",
    "of": "Codex 0.166.0",
    "named": ("sessions/*/*/*/rollout-*.jsonl",),
    "kept": (
        "$CODEX_HOME/sessions/*/*/*/rollout-*-{session}.jsonl",
        "~/.codex/sessions/*/*/*/rollout-*-{session}.jsonl",
    ),
    "time": "^timestamp",
    "records": (
        {
            "where": {
                "type": "response_item",
                "payload.type": "message",
                "payload.role": "user",
                "payload.internal_chat_message_metadata_passthrough.content_item_kinds": {"has": "user.text"},
            },
            "rows": ({"kind": "user", "text": "payload.content", "not_from": ["<environment_context>"]},),
        },
        {
            "where": {"type": "response_item", "payload.type": "message", "payload.role": "assistant"},
            "rows": ({"kind": "assistant", "text": "payload.content", "id": "payload.id"},),
        },
        {
            "where": {"type": "response_item", "payload.type": ("function_call", "custom_tool_call")},
            "rows": (
                {
                    "kind": "call",
                    "id": "payload.call_id",
                    "name": "payload.name",
                    "input": ("payload.arguments", "payload.input"),
                },
            ),
        },
        {
            "where": {
                "type": "response_item",
                "payload.type": ("function_call_output", "custom_tool_call_output"),
            },
            "rows": (
                {
                    "kind": "result",
                    "id": "payload.call_id",
                    "text": "payload.output",
                    "failed": ["~Process exited with code "],
                },
            ),
        },
    ),
    "other": (
        {
            "type": (
                "session_meta",
                "turn_context",
                "world_state",
                "event_msg",
                "token_usage_record",
                "compacted",
            )
        },
        {
            "type": "response_item",
            "payload.type": ("message", "reasoning", "web_search_call", "ghost_snapshot"),
        },
    ),
    # Its events call the tool otherwise than its transcript.
    "tools": {"Bash": {"name": "exec_command", "command": "cmd"}},
    "writes": {
        "head": [
            {
                "timestamp": "$start",
                "type": "session_meta",
                "payload": {"id": "$session", "timestamp": "$start", "cwd": "$cwd", "originator": "hookport"},
            }
        ],
        **{
            kind: {"timestamp": "$time", "ordinal": "$number", "type": "response_item", "payload": payload}
            for kind, payload in (
                (
                    "user",
                    {
                        "type": "message",
                        "role": "user",
                        "content": [{"type": "input_text", "text": "$text"}],
                        "internal_chat_message_metadata_passthrough": {"content_item_kinds": ["user.text"]},
                    },
                ),
                (
                    "assistant",
                    {
                        "type": "message",
                        "id": "$message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": "$text"}],
                    },
                ),
                (
                    "call",
                    {"type": "function_call", "name": "$name", "arguments": "$arguments", "call_id": "$id"},
                ),
                ("result", {"type": "function_call_output", "call_id": "$id", "output": "$text"}),
            )
        },
    },
}

CODEX_WIRE = WIRE.replace(
    obeys=OBEYS,
    # What one prompt sets off is a turn (src). Its permission modes are words of Claude Code.
    keys={**KEYS, "turn": "turn_id"},
    transcript=(TRANSCRIPT,),
    inputs={
        **INPUTS,
        "spawn_agent": {"prompt": "message"},
        "update_plan": {"todos": "plan"},
    },
    patches={"apply_patch": "command"},
    # Of another input only the command is taken over (src).
    merges=("shell",),
    texts=("content:parts",),
    fixed={
        "session_id": "$session",
        "transcript_path": None,
        "cwd": "$cwd",
        "permission_mode": "default",
        "model": "",
        "turn_id": "",
    },
    answers=ANSWERS,
    reads={
        **READS,
        "PreToolUse": {**READ, "verdicts": NO_ALLOW},
        "PermissionRequest": {**READS["permission_request"], "exits": {"2": "deny"}},
        "SubagentStart": READ_TEXT,
        "Stop": {**READ, "text": "failure"},
        "SubagentStop": {**READ, "text": "failure"},
        "Interrupt": {**READ, "text": "failure"},
    },
    env={
        "PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_ROOT": "$package",
        "PLUGIN_DATA": "$data",
        "CLAUDE_PLUGIN_DATA": "$data",
    },
    marks=("turn_id", "transcript_path=.codex/", "permission_mode", "tool_use_id"),
)


# The hash that identifies a trusted hook in Codex.
# SHA-256 of compact JSON with sorted keys: the event, the matcher and the handler with its defaults filled in
# (codex-rs/hooks/src/engine/discovery.rs, August 2026; the same as `currentHash` of 0.166.0).

# Seconds: what a handler has without a timeout, and what SessionEnd has with the most it may.
DEFAULT_SECONDS, ENDING_SECONDS, LONGEST_ENDING_SECONDS = 600, 1, 3
CONTEXT_LIMIT = 2500
# Events that have no matcher, whatever is written.
WITHOUT_MATCHER = ("user_prompt_submit", "stop")

WAIT = Timeout(SECOND, default=timedelta(seconds=600), whole=True, minimum=SECOND)
SKIPPED = Timeout(SECOND, whole=True)
REQUIREMENTS = ("/etc/codex/requirements.toml", "C:/ProgramData/OpenAI/Codex/requirements.toml")

# `hooks/list` of `codex app-server` gives keys, hashes and states (0.166.0, 2026-07).
LIST_REQUEST = 2
ANSWER_SECONDS = 30.0
STATES = {"trusted": TRUSTED, "managed": TRUSTED, "modified": MODIFIED}


def hash_handler(event: str, group: Mapping[str, Any], handler: Mapping[str, Any]) -> str:
    """The hash of a handler of an event, in snake case."""
    timeout = handler.get("timeout")
    seconds = (
        timeout if isinstance(timeout, int) else ENDING_SECONDS if event == "session_end" else DEFAULT_SECONDS
    )
    seconds = max(1, min(seconds, LONGEST_ENDING_SECONDS) if event == "session_end" else seconds)
    normal: dict[str, Any] = {
        "type": "command",
        "command": handler.get("command", ""),
        "timeout": seconds,
        "async": bool(handler.get("async", False)),
    }
    if isinstance(handler.get("statusMessage"), str):
        normal["statusMessage"] = handler["statusMessage"]
    if handler.get("additionalContextLimit", CONTEXT_LIMIT) != CONTEXT_LIMIT:
        normal["additionalContextLimit"] = handler["additionalContextLimit"]
    identity: dict[str, Any] = {"event_name": event, "hooks": [normal]}
    if isinstance(group.get("matcher"), str) and event not in WITHOUT_MATCHER:
        identity["matcher"] = group["matcher"]
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of files that Codex loads, with a finding for each hook that it skips."""
    refusals = [problem for file, tree in trees.items() for problem in _find_refusals(file, tree)]
    if refusals:
        raise RefusedError(*refusals)
    decoded = BY_EVENT.decode(dialect, {file: _drop_null_matchers(tree) for file, tree in trees.items()})
    findings = list(decoded.findings)
    for hook, place in zip(decoded.manifest.hooks, decoded.places, strict=True):
        way = _find_skip_reason(dialect, hook, place.path, trees[place.file])
        if way:
            reason, hint = way
            location = spell_path(place.path)
            finding = NeverRuns.at(location, dialect=dialect.id, what="this hook", reason=reason, way=hint)
            findings.append(finding._replace(file=place.file))
    return decoded._replace(findings=tuple(findings))


def _drop_null_matchers(tree: Tree) -> Tree:
    """The tree without matchers of `null`: `matcher` is an Option (src)."""
    events = tree.get("hooks") if isinstance(tree, Mapping) else None
    if not isinstance(events, Mapping):
        return tree
    return {**tree, "hooks": {event: _drop_nulls_of_groups(groups) for event, groups in events.items()}}


def _drop_nulls_of_groups(groups: Tree) -> Tree:
    if not isinstance(groups, list):
        return groups
    return [
        {key: value for key, value in group.items() if key != "matcher" or value is not None}
        if isinstance(group, Mapping)
        else group
        for group in groups
    ]


def _find_refusals(file: str, tree: Tree) -> Iterator[Problem]:
    """The errors that make Codex's loader refuse the whole file (CX5)."""
    if not isinstance(tree, Mapping):
        return
    in_settings = file.endswith(".toml")
    rest = "Codex may refuse the whole configuration" if in_settings else "Codex loads no hook of this file"
    for key in tree if not in_settings else ():
        if key not in ROOT_KEYS:
            yield Problem(f"only 'description' and 'hooks' are allowed here, or {rest}", (key,), file)
    for path, entry in _iter_entries(tree):
        type_ = entry.get("type")
        if "type" not in entry:
            yield Problem(f"'type' is missing; {rest}", path, file)
        elif type_ not in TYPES:
            types = ", ".join(f'"{name}"' for name in TYPES)
            yield Problem(f"must be one of {types}, not {type_!r}; {rest}", (*path, "type"), file)
        timeout = entry.get("timeout", 1)
        if isinstance(timeout, bool) or not isinstance(timeout, int) or timeout < 0:
            yield Problem(
                f"must be a whole number of seconds, not {timeout!r}; {rest}", (*path, "timeout"), file
            )


def _iter_entries(tree: Mapping[str, Tree]) -> Iterator[tuple[Path, Mapping[str, Tree]]]:
    """Every handler of Codex's events."""
    events = tree.get("hooks")
    if not isinstance(events, Mapping):
        return
    for event in EVENTS:
        groups = events.get(event.native)
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, Mapping) else None
            for index, entry in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(entry, Mapping):
                    yield ("hooks", event.native, number, "hooks", index), entry


def _find_skip_reason(dialect: Dialect, hook: Hook, path: Path, tree: Tree) -> tuple[str, str] | None:
    """Explain why Codex loads a hook and never runs it, with the fix."""
    if hook.handler.type in ("prompt", "agent"):
        return f"it reads {hook.handler.type} handlers and skips them", "Write it as a command."
    spec = find_event(dialect, str(path[1]))
    group = tree["hooks"][path[1]][path[2]]
    matcher = group.get("matcher") or ""
    if spec is None or find_matching(dialect, spec).grammar == "none" or matcher in NAMES.everything:
        return None
    if re.fullmatch(f"{NAMES.plain}+", matcher) or is_rust_pattern(matcher):
        return None
    reason = f"the matcher '{matcher}' is not a valid regular expression in Rust, so the group is dropped"
    return reason, "Write it without look-around and references, or name the tools."


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """Drop patterns that make Codex drop the group; run async hooks at session end in the background."""
    findings: list[Finding] = []
    adjusted: list[Hook] = []
    for number, hook in enumerate(hooks):
        changed = hook
        lost = [
            term.value for term in hook.matcher if term.kind == "pattern" and not is_rust_pattern(term.value)
        ]
        if lost:
            findings.append(MatcherDropped.at("", number, target=DIALECT.id, matcher="|".join(lost)))
            changed = changed._replace(matcher=())
        if hook.handler.is_async and hook.event == "session_end":
            findings.append(AsyncInBackground.at("", number, target=DIALECT.id))
            # A background command of a shell has an empty stdin, so the payload uses descriptor 3.
            command = f"{{ ( {hook.handler.command}\n) <&3 3<&- >/dev/null 2>&1 & }} 3<&0"
            changed = changed._replace(handler=hook.handler._replace(command=command, is_async=False))
        adjusted.append(changed)
    return adjusted, findings


def list_hooks(root: str, env: Mapping[str, str]) -> list[AgentHook] | None:
    """Every hook of a project with its state; None if Codex is not on PATH or does not answer."""
    import shutil

    program = shutil.which("codex", path=env.get("PATH"))
    answer = _ask_server(program, root, env) if program else {}
    if "result" not in answer:
        return None
    folders = answer["result"].get("data", [])
    return [
        _read_listed_hook(hook)
        for folder in folders
        for hook in folder.get("hooks", ())
        if hook.get("enabled", True)
    ]


def _read_listed_hook(row: Mapping[str, Tree]) -> AgentHook:
    state = TRUSTED if row.get("isManaged") else STATES.get(str(row.get("trustStatus")), UNTRUSTED)
    return AgentHook(
        "codex",
        str(row["key"]),
        str(row.get("sourcePath", "")),
        str(row.get("eventName", "")),
        str(row.get("command") or ""),
        str(row.get("currentHash", "")),
        state,
    )


def _ask_server(program: str, root: str, env: Mapping[str, str]) -> Tree:
    """The answer of the app server, which is killed if it takes too long."""
    import subprocess
    from threading import Timer

    try:
        server = subprocess.Popen(
            [program, "app-server"],
            cwd=root,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError:
        return {}
    watch = Timer(ANSWER_SECONDS, server.kill)
    watch.start()
    try:
        assert server.stdin is not None  # noqa: S101  (it is a pipe)
        assert server.stdout is not None  # noqa: S101
        server.stdin.writelines(json.dumps(message) + "\n" for message in _write_server_requests(root))
        server.stdin.flush()
        return next(
            (answer for answer in _read_server_answers(server.stdout) if answer.get("id") == LIST_REQUEST), {}
        )
    except OSError:
        return {}
    finally:
        watch.cancel()
        server.kill()
        server.communicate()


def _write_server_requests(root: str) -> tuple[dict[str, Tree], ...]:
    client = {"clientInfo": {"name": "hookport", "version": "1"}}
    return (
        {"id": 1, "method": "initialize", "params": client},
        {"method": "initialized"},
        {"id": LIST_REQUEST, "method": "hooks/list", "params": {"cwds": [root]}},
    )


def _read_server_answers(lines: Iterator[str]) -> Iterator[dict[str, Tree]]:
    for line in lines:
        try:
            answer = json.loads(line)
        except ValueError:
            continue
        if isinstance(answer, dict):
            yield answer


DIALECT = Dialect(
    id="codex",
    title="Codex CLI",
    kind="agent",
    facts="0.166.0",
    sources=SOURCES,
    shows={"*": (("message", "reason"), "lab")},
    markers={"CODEX_THREAD_ID": "lab"},
    locations=(
        Location("project", ".codex/hooks.json", "lab"),
        Location("project", ".codex/config.toml", "lab"),
        Location("user", "~/.codex/hooks.json", "lab"),
        Location("user", "~/.codex/config.toml", "lab"),
        Location("plugin", "hooks/hooks.json", "src"),
        Location("system", "/etc/codex/hooks.json", "src"),
        Location("system", "/etc/codex/config.toml", "src"),
        Location("system", "/etc/codex/requirements.toml", "src"),
    ),
    events=EVENTS,
    lacks=LACKS,
    awaits_children="lab",
    tools=(
        *name_tools(
            "lab",
            shell="Bash",
            file_write="apply_patch",
            file_edit="apply_patch",
            agent="spawn_agent",
        ),
        *name_tools("src", todo="update_plan", ask_user="request_user_input"),
        # Both names match every apply_patch, whatever it does (CX3).
        *alias_tools("lab", file_write=("Write", "Edit"), file_edit=("Write", "Edit")),
        *alias_tools("src", agent="Agent"),
    ),
    wordless=dict.fromkeys(("view_image", "request_permissions"), "src"),
    mcp=McpNames("mcp__", "__", "lab"),
    matching=NAMES,
    handlers={
        "command": HandlerSpec(
            "command",
            {
                "command": "command",
                "commandWindows": "windows",
                "command_windows": Field("windows", read_only=True),
                "timeout": "timeout",
                "async": "is_async",
                "statusMessage": "status_message",
            },
            WAIT,
            required=("command",),
        ),
        "native": HandlerSpec("mcp_tool", {"timeout": "timeout", "statusMessage": "status_message"}, WAIT),
        "prompt": HandlerSpec(
            "prompt", {"prompt": "prompt", "model": "model", "timeout": "timeout"}, SKIPPED
        ),
        "agent": HandlerSpec("agent", {"prompt": "prompt", "model": "model", "timeout": "timeout"}, SKIPPED),
    },
    # serde_json refuses a byte order mark (src).
    shape=Shape(
        decode, BY_EVENT.encode, not_events=("state", "managed_dir", "windows_managed_dir"), refuses_bom=True
    ),
    wire=CODEX_WIRE,
    commands_start="moving",
    obeys=("nested", "decision"),
    deny_reason="needed",
    adjust=adjust,
    # No variable has the project root (src, lab).
    project_dir=(REPOSITORY, "$(git rev-parse --show-toplevel)"),
    package_dir=("${PLUGIN_ROOT}", "$PLUGIN_ROOT", "${CLAUDE_PLUGIN_ROOT}", "$CLAUDE_PLUGIN_ROOT"),
    manifests=(".codex-plugin/plugin.json",),
    programs=("codex",),
    home=("~/.codex", "CODEX_HOME"),
    gates=(
        Gate(
            REQUIREMENTS,
            ("allow_managed_hooks_only",),
            (True,),
            "the requirements of this machine allow managed hooks only",
            "Ask the administrator of this machine to add the hook there.",
            "src",
            stops="agent",
        ),
        *(
            Gate(
                (".codex/config.toml", "~/.codex/config.toml", "/etc/codex/config.toml"),
                ("features", name),
                (False,),
                "the feature is switched off",
                f"Remove `{name} = false` from [features].",
                "src",
            )
            for name in ("hooks", "codex_hooks")
        ),
    ),
    folder_trust=FolderTrust(
        "~/.codex/config.toml",
        (("projects",),),
        "Start `codex` in this folder and trust it.",
        "lab",
        field=("trust_level",),
        yes=("trusted",),
        below=False,
    ),
    notes=(
        "Codex silently skips new and changed hooks until they are trusted: review them with `/hooks`.",
        "Codex loads the hooks of a project only when the project is trusted.",
    ),
    quirks=(
        Quirk("CX1", "exit 2 with an empty stderr does not block", "lab"),
        Quirk(
            "CX2",
            "an answer with a key Codex does not know, a deny without a reason or `ask` blocks nothing",
            "lab",
        ),
        Quirk("CX3", "a matcher Write or Edit matches apply_patch, and the payload has apply_patch", "lab"),
        Quirk(
            "CX4",
            "untrusted hooks are skipped silently",
            "lab",
            {
                HOOK_TRUST: HookTrust(
                    "~/.codex/config.toml",
                    ("hooks", "state"),
                    "Start `codex` here and review the hook with `/hooks`.",
                    "lab",
                    name="{file}:{event}:{group}:{index}",
                    field="trusted_hash",
                    switch="enabled",
                    fingerprint=hash_handler,
                    list_hooks=list_hooks,
                )
            },
        ),
        Quirk(
            "CX5",
            "a missing or unknown handler type, a timeout that is not a whole number "
            "or an unknown key at the root drops the whole file",
            "src",
        ),
        Quirk("CX6", "prompt and agent handlers are read and skipped", "src"),
        Quirk("CX7", "files are read and searched through Bash: hooks see no separate tool for that", "src"),
        Quirk("CX8", "Codex never ends a Stop hook that always blocks", "lab"),
        Quirk("CX9", "`mcp__server` alone is an exact name and matches no tool", "src"),
        Quirk(
            "CX10",
            "what PreModelRequest and PostModelRequest obey was not measured: they only observe",
            "lab",
        ),
    ),
    ways_around=list_ways(
        WayAround(
            "shell",
            "open",
            "CX11",
            "`write_stdin` types into a command that goes on running, such as a shell, and no hook runs "
            "before it; the command that was started is seen",
            "lab",
            place="in what `write_stdin` types into a running command",
            tools=("shell",),
            native="write_stdin",
        ),
        kinds=4,
        # The server of editors, `codex app-server`; and JavaScript that newer models write to call tools.
        none={"protocol": "lab", "code": "lab"},
    ),
)
