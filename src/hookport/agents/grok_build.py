"""Grok Build: .grok/hooks/*.json in Claude Code's layout, and payloads with every key in two spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from hookport.errors import Problem, spell_path
from hookport.findings import Finding, MatcherDropped, NeverRuns
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.claude_wire import BLOCK, CONTEXT, HALT, decide_permission, nest_fields
from hookport.shapes.dialect import (
    SECOND,
    DecodedManifest,
    Dialect,
    EventSpec,
    FolderTrust,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    OnceRule,
    Path,
    Quirk,
    RefusedError,
    Timeout,
    Tree,
    WayAround,
    alias_tools,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.shapes.patterns import is_rust_pattern
from hookport.wire.table import Wire, list_by_event

if TYPE_CHECKING:
    from hookport.model.hooks import Hook

SOURCES = {
    "lab": "measured on 1.0.41, November 2026: headless runs on Linux against a scripted model",
    "guide": "10-hooks.md, the guide that is compiled into the program of 1.0.41",
}

# Letters, digits, `_` and `|` only: exact names, in any spelling but that of Claude Code; anything else is a
# Rust regular expression found anywhere.
NAMES = Matching("names", everything=("", "*", ".*"), plain=r"[A-Za-z0-9_|]")

GATE_WAIT = timedelta(seconds=600)
EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "lab", "tool", rewrites=True),
    EventSpec(
        "PostToolUse", "after_tool_execute", "observe", "lab", "tool", hears="json", default_timeout=GATE_WAIT
    ),
    EventSpec("PostToolUseFailure", "tool_use_failure", "observe", "lab", "tool", hears="json"),
    EventSpec("PermissionDenied", "permission_denied", "observe", "lab", "tool", hears="nothing"),
    EventSpec(
        "UserPromptSubmit",
        "before_prompt",
        "prevent",
        "lab",
        hears="nothing",
        default_timeout=timedelta(seconds=30),
    ),
    # Nobody waits for it: it runs beside the first turn.
    EventSpec("SessionStart", "session_start", "observe", "lab", "source", hears="nothing"),
    EventSpec(
        "SessionEnd",
        "session_end",
        "observe",
        "lab",
        "reason",
        hears="nothing",
        # It waits 1.5 s, whatever the timeout, which is in whole seconds (guide).
        default_timeout=SECOND,
        max_timeout=SECOND,
    ),
    EventSpec("Stop", "agent_stop", "retry", "lab", default_timeout=GATE_WAIT),
    EventSpec("SubagentStart", "subagent_start", "observe", "lab", "subagentType", hears="nothing"),
    EventSpec("SubagentStop", "subagent_stop", "retry", "lab", "subagentType", default_timeout=GATE_WAIT),
    EventSpec("StopFailure", "error_occurred", "observe", "lab", "error", hears="nothing"),
    EventSpec("StopCancelled", "", "observe", "lab", "reason", hears="nothing"),
    EventSpec("Notification", "notification", "observe", "lab", "notificationType", hears="nothing"),
    EventSpec("PreCompact", "before_compact", "observe", "lab", "source", hears="nothing"),
    EventSpec("PostCompact", "after_compact", "observe", "guide", "source", hears="nothing"),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 15 of the guide",
    registry=30,
    interrupted="StopCancelled fires for an interrupt, and for a turn that ends for want of steps too",
    permission_request="Notification only tells that a permission is needed",
)

# The second shell tool is one that a matcher `Bash` does not find (GB19).
TOOLS = (
    *name_tools(
        "lab",
        shell=("run_terminal_command", "monitor"),
        file_read="read_file",
        file_write="write",
        file_edit="search_replace",
        search="grep",
        web_search="web_search",
        agent="spawn_subagent",
        list="list_dir",
        todo="todo_write",
        ask_user="ask_user_question",
    ),
    *name_tools("guide", web_fetch="web_fetch"),
    *alias_tools(
        "lab",
        shell="Bash",
        file_read="Read",
        file_write="Write",
        file_edit=("Edit", "MultiEdit", "Write"),
        search="Grep",
        web_search="WebSearch",
        agent=("Task", "Agent"),
        list="Glob",
        todo="TodoWrite",
    ),
)
WORDLESS = dict.fromkeys(
    (
        *("use_tool", "search_tool", "enter_plan_mode", "exit_plan_mode", "workflow", "scheduler_*"),
        *("get_command_or_subagent_output", "kill_command_or_subagent", "send_feedback"),
        *("image_gen", "image_edit", "image_to_video", "reference_to_video"),
    ),
    "lab",
)


# The wire of Grok Build: Claude Code's payload in camelCase, most keys in snake_case too, and its answers.
# What is not marked otherwise was captured or measured on 1.0.41.

KEYS: dict[str, Tree] = {
    "event": "hook_event_name",
    "session": ["session_id", "sessionId"],
    "cwd": "cwd",
    "timestamp": "timestamp",
    "tool": ["tool_name", "toolName"],
    "input": ["tool_input", "toolInput"],
    "call_id": ["tool_use_id", "toolUseId"],
    "result": ["tool_response", "toolResult"],
    "error": "error",
    "prompt": "prompt",
    "final_message": "lastAssistantMessage",
    "stop_active": "stopHookActive",
    "subagent": "subagentType",
    "permission_mode": ["permission_mode", "permissionMode"],
    "transcript": ["transcript_path", "transcriptPath"],
    "turn": "promptId",
    "agent_id": "subagentId",
    "duration_ms": ["duration_ms", "durationMs"],
    "interrupted": ["is_interrupt", "isInterrupt"],
    "background_tasks": "backgroundTasks",
    "crons": "sessionCrons",
}
KEYS_OF: dict[str, dict[str, Tree]] = {
    "SessionStart": {"source": "source"},
    "SessionEnd": {"source": "reason"},
    "Notification": {"source": "notificationType", "message": "message"},
    "PreCompact": {"source": "source"},
    "PostCompact": {"source": "source"},
    "StopFailure": {"source": "error", "error": None, "error_message": "errorDetails"},
}
WORDS: dict[str, dict[str, Tree]] = {
    "session_start": {"startup": "new", "resume": "load", "*": "new"},
    "session_end": {"other": ("shutdown", "channel_closed"), "*": "shutdown"},
}
TWINS = {spec.native: re.sub(r"(?<!^)([A-Z])", r"_\1", spec.native).lower() for spec in EVENTS}
SHUTDOWN = ("reason=shutdown", "reason=channel_closed")

INPUTS: dict[str, dict[str, Tree]] = {
    "file_read": {"path": "target_file"},
    "file_write": {"path": "file_path"},
    "file_edit": {"path": "file_path", "old": "old_string", "new": "new_string"},
    "list": {"path": "target_directory"},
    "search": {"include": "glob"},
    # Hooks get what the tool `use_tool` was called with (GB6).
    "mcp": {"tool_name": "$tool", "tool_input": "$input"},
}

DENY = decide_permission("deny")
ANSWERS: dict[str, Tree] = {
    "PreToolUse": {
        "deny": DENY,
        # No ask, which runs the tool with --always-approve (GB10), and no allow, which lifts no question.
        # It is the whole input: one that lacks a field is denied (GB9).
        "rewrite": nest_fields(updatedInput="$input"),
        "context": CONTEXT,
    },
    "PostToolUse": {"deny": BLOCK, "context": CONTEXT},
    "PostToolUseFailure": {"context": CONTEXT},
    "UserPromptSubmit": {"deny": BLOCK},
    "Stop": {"deny": BLOCK, "halt": HALT},
    "SubagentStop": {"deny": {"stderr": "$reason", "exit": 2, "alone": True}},
    "*": {},
}

NESTED = "hookSpecificOutput.permissionDecision"
VERDICTS: list[Tree] = [
    (
        NESTED,
        {"allow": "none", "approve": "none", "defer": "none", "deny": "deny", "block": "deny", "ask": "ask"},
    ),
    (
        "decision",
        {"allow": "none", "approve": "none", "defer": "none", "deny": "deny", "block": "deny", "ask": "ask"},
    ),
]
READ: dict[str, Tree] = {
    "verdicts": VERDICTS,
    "reason": ["hookSpecificOutput.permissionDecisionReason", "reason", "stopReason"],
    "context": ["hookSpecificOutput.additionalContext"],
    "input": ["hookSpecificOutput.updatedInput"],
    "result": ["hookSpecificOutput.updatedToolOutput", "hookSpecificOutput.updatedMCPToolOutput"],
    "halt": ["continue"],
    "exits": {"2": "deny"},
    "json": "any",
}
# Where it is about to stop, context makes it go on as a block does.
READ_STOP: dict[str, Tree] = {
    **READ,
    "verdicts": [*VERDICTS, ("hookSpecificOutput.additionalContext", {"*": "deny"})],
    "reason": [*READ["reason"], "hookSpecificOutput.additionalContext"],
    "context": [],
}

# What Grok itself obeys: the first of the two places that has a word, with any exit code, and exit code 2.
# `ask` runs the tool with --always-approve.
DECIDES = {
    "allow": "none",
    "approve": "none",
    "defer": "none",
    "ask": "none",
    "deny": "deny",
    "block": "deny",
}
OBEY: dict[str, Tree] = {**READ, "verdicts": [(NESTED, DECIDES), ("decision", DECIDES)], "halt": []}
OBEY_BLOCK: dict[str, Tree] = {**READ, "verdicts": [("decision", {"block": "deny"})], "halt": [], "input": []}
OBEY_NOTHING: dict[str, Tree] = {**OBEY_BLOCK, "verdicts": [], "exits": {}, "context": [], "result": []}
OBEYS: dict[str, Tree] = {
    "PreToolUse": OBEY,
    "PostToolUse": OBEY_BLOCK,
    "PostToolUseFailure": {**OBEY_NOTHING, "context": READ["context"]},
    "UserPromptSubmit": {**OBEY_BLOCK, "context": []},
    # A decision that is printed beats the exit code (GB18).
    "Stop": {
        **OBEY_BLOCK,
        "verdicts": [
            ("continue", {"False": "none", "True": None}),
            ("decision", {"block": "deny"}),
            ("hookSpecificOutput.additionalContext", {"*": "deny"}),
        ],
        "context": [],
        "wins": "json",
    },
    "SubagentStop": OBEY_BLOCK,
    "*": OBEY_NOTHING,
}

# Its transcript (measured, 1.0.41). The file of the payload, `updates.jsonl`, lacks the last answer while a
# stop hook runs; `chat_history.jsonl` beside it is complete. It has no times and no flag for a failure.
TRANSCRIPT = {
    "form": "chat history",
    "of": "Grok Build 1.0.41",
    "named": ("sessions/*/*/chat_history.jsonl",),
    "kept": (
        "$GROK_HOME/sessions/*/{session}/chat_history.jsonl",
        "~/.grok/sessions/*/{session}/chat_history.jsonl",
    ),
    "beside": "chat_history.jsonl",
    "records": (
        {
            "where": {"type": "user", "prompt_index": True},
            "rows": ({"kind": "user", "text": "content", "within": "user_query"},),
        },
        {
            "where": {"type": "assistant"},
            "rows": ({"kind": "assistant", "text": "content", "model": "model_id"},),
        },
        {
            "where": {"type": "assistant"},
            "each": "tool_calls",
            "rows": (
                {"kind": "call", "id": "id", "name": "name", "input": "arguments", "model": "^model_id"},
            ),
        },
        {
            "where": {"type": "tool_result"},
            "rows": ({"kind": "result", "id": "tool_call_id", "text": "content", "failed": ["~exit: "]},),
        },
    ),
    "other": ({"type": ("system", "user")},),
}

WIRE = Wire(
    transcript=(TRANSCRIPT,),
    obeys=OBEYS,
    # Of two rewrites the last one counts, and the first deny ends the chain.
    keys=KEYS,
    words=WORDS,
    fixed={
        "session_id": "$session",
        "sessionId": "$session",
        "cwd": "$cwd",
        "workspaceRoot": "$root",
        "permission_mode": "default",
        "permissionMode": "default",
    },
    by_event=list_by_event(
        keys=KEYS_OF,
        fixed={
            native: {
                "hookEventName": twin,
                **({"toolInputTruncated": False} if "tool" in twin else {}),
                **({"reason": "end_turn"} if native == "Stop" else {}),
            }
            for native, twin in TWINS.items()
        },
        env={native: {"GROK_HOOK_EVENT": twin} for native, twin in TWINS.items()},
        # It fires once more when the session ends, and then nothing can be stopped (GB13).
        echoes={"Stop": SHUTDOWN},
    ),
    inputs=INPUTS,
    texts=(
        "output_for_prompt",
        "FileContent.raw_output",
        "EditsApplied.tool_output_for_prompt",
        "Content.content",
        "content:parts",
    ),
    results={
        "shell": {"type": "Bash", "output_for_prompt": "$text", "exit_code": 0},
        "file_read": {"type": "ReadFile", "FileContent": {"content": "$text", "raw_output": "$text"}},
    },
    env={
        "GROK_WORKSPACE_ROOT": "$root",
        "CLAUDE_PROJECT_DIR": "$root",
        "GROK_SESSION_ID": "$session",
        "GROK_PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_ROOT": "$package",
    },
    starts_in="root",
    marks=("hookEventName", "workspaceRoot", "toolInputTruncated", "transcript_path=.grok/", "sessionId"),
    answers=ANSWERS,
    reads={"Stop": READ_STOP, "SubagentStop": READ_STOP, "*": READ},
    others=(
        *("search_tool", "enter_plan_mode", "exit_plan_mode", "get_command_or_subagent_output"),
        *("kill_command_or_subagent", "scheduler_delete", "scheduler_list"),
    ),
    lifts=False,
    # Eight times in a row.
    traits=("caps stops", "stops at deny"),
)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of the files that Grok loads; groups that match nothing get a finding."""
    refusals = [problem for file, tree in trees.items() for problem in _find_refusals(file, tree)]
    if refusals:
        raise RefusedError(*refusals)
    decoded = BY_EVENT.decode(dialect, trees)
    dead = [finding for file, tree in trees.items() for finding in _find_dead(dialect, file, tree)]
    return decoded._replace(findings=(*decoded.findings, *dead))


def _iter_groups(tree: Tree) -> Iterator[tuple[EventSpec, Path, Mapping[str, Tree]]]:
    """Every group of the events that Grok knows."""
    events = tree.get("hooks") if isinstance(tree, Mapping) else None
    if not isinstance(events, Mapping):
        return
    for spec in EVENTS:
        groups = events.get(spec.native)
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            if isinstance(group, Mapping):
                yield spec, ("hooks", spec.native, number), group


def _find_refusals(file: str, tree: Tree) -> Iterator[Problem]:
    """What makes Grok silently drop the whole file (GB4)."""
    for _, path, group in _iter_groups(tree):
        handlers = group.get("hooks")
        for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
            place = (*path, "hooks", index)
            if not isinstance(handler, Mapping):
                continue
            if "type" not in handler:
                yield Problem("'type' is missing; Grok loads no hook of this file", place, file)
            timeout = handler.get("timeout", 1)
            if isinstance(timeout, bool) or not isinstance(timeout, int) or timeout < 0:
                reason = f"must be a whole number of seconds, not {timeout!r}"
                yield Problem(f"{reason}; Grok loads no hook of this file", (*place, "timeout"), file)


def _find_dead(dialect: Dialect, file: str, tree: Tree) -> Iterator[Finding]:
    """Groups whose matcher matches no tool (GB6)."""
    for spec, path, group in _iter_groups(tree):
        matcher = group.get("matcher") or ""
        if not spec.subject or matcher in NAMES.everything or not isinstance(matcher, str):
            continue
        reason, way = "", ""
        if not re.fullmatch(f"{NAMES.plain}+", matcher) and not is_rust_pattern(matcher):
            reason = f"the matcher '{matcher}' is not a Rust regular expression"
            way = "Write it without look-around and references, or name the tools."
        elif spec.subject == "tool" and all(part.startswith("mcp__") for part in matcher.split("|")):
            reason = f"no tool of an MCP server is called '{matcher}'"
            way = "Leave `mcp__` out: Grok calls it `server__tool`."
        if reason:
            where, words = spell_path(path), {"what": "this hook", "reason": reason, "way": way}
            yield NeverRuns.at(where, None, dialect=dialect.id, **words)._replace(file=file)


# A name in a command; and text that is not shell code: in single quotes, or in doubly quoted ones in a
# wrapped command.
_NAME = re.compile(r"""\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<plain>[A-Za-z_]\w*))""")
_QUOTED, _WRAPPED = r"'[^']*'", r"'\\''.*?'\\''"
# Variables that every hook finds in its environment (GB3).
SET = (
    "HOME",
    "PATH",
    "USER",
    "PWD",
    "SHELL",
    "CLAUDE_PROJECT_DIR",
    *(name for name in WIRE.env if "GROK" in name),
)


def _give_defaults(command: str) -> str:
    """The command with a default for each name: one that is unset would cost the hook (GB3)."""
    literal = _WRAPPED if " wrap " in command else _QUOTED

    def write(found: re.Match[str]) -> str:
        name = found["braced"] or found["plain"]
        return found[0] if not name or name in SET else f"${{{name}-}}"

    return re.sub(f"{literal}|{_NAME.pattern}", write, command, flags=re.DOTALL)


def _list_names(command: str) -> list[str]:
    """The names in a command that Grok looks for in the environment."""
    names = (found["braced"] or found["plain"] for found in _NAME.finditer(command))
    return [name for name in dict.fromkeys(names) if name not in SET]


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """Drop patterns that match nothing there, and give names in commands a default."""
    findings: list[Finding] = []
    adjusted: list[Hook] = []
    for number, hook in enumerate(hooks):
        lost = [
            term.value for term in hook.matcher if term.kind == "pattern" and not is_rust_pattern(term.value)
        ]
        if lost:
            findings.append(MatcherDropped.at("", number, target=DIALECT.id, matcher="|".join(lost)))
        command = _give_defaults(hook.handler.command)
        changed = hook._replace(
            handler=hook.handler._replace(command=command), matcher=() if lost else hook.matcher
        )
        if names := _list_names(changed.handler.command):
            words = {
                "what": "this hook",
                "reason": f"its command names `${names[0]}`, unless that is in the environment",
                "way": f"Write `${{{names[0]}-}}`, or put the command into a script.",
            }
            findings.append(NeverRuns.at("", number, dialect=DIALECT.id, **words))
        adjusted.append(changed)
    return adjusted, findings


DIALECT = Dialect(
    id="grok-build",
    title="Grok Build",
    kind="agent",
    facts="1.0.41",
    sources=SOURCES,
    # The tool `monitor` sets no other.
    markers={"GROK_AGENT": "lab"},
    # One line with the reason of a deny; what else a hook prints is shown nowhere.
    shows={"*": (("reason",), "guide")},
    locations=(
        Location("project", ".grok/hooks/hookport.json", "lab"),
        Location("project", ".grok/hooks/*.json", "lab"),
        Location("user", "~/.grok/hooks/hookport.json", "lab"),
        Location("user", "~/.grok/hooks/*.json", "lab"),
    ),
    events=EVENTS,
    lacks=LACKS,
    awaits_children="lab",
    tools=TOOLS,
    wordless=WORDLESS,
    mcp=McpNames("", "__", "lab"),
    matching=NAMES,
    handlers={
        "command": HandlerSpec(
            "command",
            {"command": "command", "timeout": "timeout", "env": "env"},
            Timeout(SECOND, default=timedelta(seconds=5), whole=True, minimum=SECOND),
            required=("command",),
        ),
        "http": HandlerSpec(
            "http",
            {"url": "url", "timeout": "timeout"},
            Timeout(SECOND, default=timedelta(seconds=5), whole=True, minimum=SECOND),
            required=("url",),
            url_start="https://",
        ),
    },
    shape=BY_EVENT._replace(decode=decode, refuses_bom=True),
    wire=WIRE,
    obeys=("nested", "decision"),
    adjust=adjust,
    # A path that does not name the root starts beside the file.
    commands_start="moving",
    project_dir=spell_root("GROK_WORKSPACE_ROOT", "CLAUDE_PROJECT_DIR"),
    package_dir=("${GROK_PLUGIN_ROOT}", "$GROK_PLUGIN_ROOT"),
    needs_type=True,
    runs_once=OnceRule("lab"),
    other_places={
        "also read": (
            Location("project", ".claude/settings.json", "lab"),
            Location("local", ".claude/settings.local.json", "lab"),
            Location("user", "~/.claude/settings.json", "lab"),
        ),
    },
    programs=("grok",),
    home=("~/.grok", "GROK_HOME"),
    folder_trust=FolderTrust(
        "~/.grok/trusted_folders.toml",
        (("folders",),),
        "Start `grok` in this folder and type `/hooks-trust`, or start it with --trust.",
        "lab",
        field=("trusted",),
        yes=(True,),
        lifted=(("GROK_FOLDER_TRUST", "0"),),
    ),
    project_read="repository",
    notes=(
        "Grok Build reads a project's hooks at the root of a git repository only.",
        "Grok Build silently skips the hooks of a project that it does not trust.",
    ),
    quirks=(
        Quirk(
            "GB1",
            "hooks of a project are read at the root of a git repository only; without one, not at all",
            "lab",
        ),
        Quirk("GB2", "Grok silently skips the hooks of a project that it does not trust", "lab"),
        Quirk(
            "GB3",
            "a command that names an unset variable, as `$NAME` or `${NAME}`, is not run, also in single "
            "quotes and where the command sets it; `${NAME-}` does no harm",
            "lab",
        ),
        Quirk("GB4", "one timeout that is no whole number, or negative, drops the whole file", "lab"),
        Quirk("GB5", "Cursor's own hooks.json is dropped whole, against the guide", "lab"),
        Quirk(
            "GB6",
            "no matcher with `mcp__` matches; an MCP tool is `server__tool`, and its arguments stand one "
            "level deeper where it was called by `use_tool`: in `tool_input`, beside `tool_name`",
            "lab",
        ),
        Quirk(
            "GB7",
            "`permissionDecision` counts before `decision`: an allow there undoes a deny in the other",
            "lab",
        ),
        Quirk("GB8", "text before or after the JSON loses the deny", "lab"),
        Quirk("GB9", "a rewrite that lacks a field of the tool denies the call", "lab"),
        Quirk(
            "GB10",
            "`ask` runs the tool with --always-approve, and ends the turn where nobody can be asked",
            "lab",
        ),
        Quirk(
            "GB11",
            "a hook without a timeout has 5 s before a tool, and one that is too slow lets it run",
            "lab",
        ),
        Quirk("GB12", "an input of more than 131072 characters arrives cut, as a text", "lab"),
        Quirk(
            "GB13",
            "Stop fires again when the session ends, with the reason `shutdown`; hookport asks no hook then",
            "lab",
        ),
        Quirk("GB14", "Grok ignores Claude Code's `args`, `if` and `async`", "lab"),
        Quirk(
            "GB15",
            "a command without blanks and signs is a path from its file's folder, that of "
            ".claude/settings.json too",
            "lab",
        ),
        Quirk("GB16", "http hooks take https and public addresses only", "lab"),
        Quirk(
            "GB17",
            "the reason of a deny is cut at 256 characters; of stderr the first line counts",
            "lab",
        ),
        Quirk("GB18", "on Stop a decision that is printed counts before exit code 2", "lab"),
        Quirk("GB20", "the headless program ends with code 0 where a hook denied a tool or a prompt", "lab"),
        Quirk(
            "GB22",
            "it waits for processes that a hook leaves behind with its output open, and drops the hook's "
            "answer when the time is up",
            "lab",
        ),
        Quirk("GB21", "one command with one matcher runs once, however many files have it", "lab"),
    ),
    ways_around=list_ways(
        WayAround(
            "shell",
            "closed",
            "GB19",
            "the tool `monitor` runs commands too, and a matcher `Bash` does not find it; hookport names it"
            " wherever a hook is for the shell",
            "lab",
            tools=("shell",),
            native="monitor",
        ),
        WayAround(
            "protocol",
            "none",
            "GB23",
            "started by `grok agent stdio` for an editor, it runs the hooks of the session's project, and "
            "those of subagents too",
            "lab",
        ),
        kinds=4,
        none={"sub-agents": "lab"},
    ),
)
