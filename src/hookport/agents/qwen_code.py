"""Qwen Code: hooks in its settings files and in extensions."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from hookport.errors import spell_path
from hookport.findings import Finding, NeverRuns
from hookport.model.events import is_about_tool
from hookport.shapes import claude_wire as claude
from hookport.shapes.by_event import SPLIT_BY_EVENT
from hookport.shapes.claude_wire import BLOCK, CONTEXT, HALT, MESSAGE, SUPPRESS, decide_permission
from hookport.shapes.dialect import (
    MILLISECOND,
    SECOND,
    DecodedManifest,
    Dialect,
    EventSpec,
    FolderTrust,
    Gate,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    OnceRule,
    Quirk,
    Shape,
    Timeout,
    Tree,
    WayAround,
    alias_tools,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.wire.table import Wire, list_by_event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hookport.model.hooks import Hook

SOURCES = {
    "src": "QwenLM/qwen-code 0.22.0, 2026-08-22: packages/core/src/hooks, core, config, tools",
    "lab": "measured on 0.24.4, November 2026",
}

TOOLS = (
    *name_tools(
        "src",
        # The second is one that a matcher for the first does not find (QW13).
        shell=("run_shell_command", "monitor"),
        file_read="read_file",
        file_write="write_file",
        file_edit="edit",
        search="grep_search",
        find="glob",
        web_search="web_search",
        web_fetch="web_fetch",
        agent="agent",
        list="list_directory",
        todo="todo_write",
        notebook_edit="notebook_edit",
        skill="skill",
        ask_user="ask_user_question",
    ),
    *alias_tools("lab", shell=("Bash", "Shell", "ShellTool")),
    *alias_tools(
        "src",
        file_read="ReadFile",
        file_write="WriteFile",
        file_edit=("Edit", "replace"),
        search=("Grep", "search_file_content"),
        find="Glob",
        web_search="WebSearch",
        web_fetch="WebFetch",
        agent=("Agent", "task"),
        list="ListFiles",
        todo="TodoList",
        notebook_edit="NotebookEdit",
    ),
)
# Names that are no part of another name.
SOLE = [row.native for row in TOOLS if sum(row.native in other.native for other in TOOLS) == 1]

# With a `|` that no `^` or `(` precedes it is a list of exact names; without one it is also a regular
# expression found anywhere in the runtime id, so that `edit` alone must be anchored (src, lab; QW5).
NAMES = Matching("names", plain=rf"(?=.*\||(?:{'|'.join(SOLE)})$|mcp__.*__)[A-Za-z0-9_\-|]")
REGEX = Matching("regex")
EXACT = Matching("exact")

# Events that go over its message bus, whose requests end after 60 s; what ran into it lets the call run, with
# timeouts of 120, 605 and 605000 too (lab; src: `request` in confirmation-bus/message-bus.ts, 60000 ms, no
# caller says otherwise).
BUS = timedelta(seconds=60)
# The one deny that no allow of a later hook undoes (QW1).
HALT_ALONE = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "{reason}",
    },
    "continue": False,
    "stopReason": "{reason}",
}

EVENTS = (
    EventSpec(
        "PreToolUse", "before_tool_execute", "prevent", "lab", "tool", max_timeout=BUS, deny_answer=HALT_ALONE
    ),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool", max_timeout=BUS),
    EventSpec("PostToolUseFailure", "tool_use_failure", "observe", "src", "tool", max_timeout=BUS),
    EventSpec("PostToolBatch", "after_tool_batch", "prevent", "lab", max_timeout=BUS),
    EventSpec(
        "PermissionRequest", "permission_request", "prevent", "src", "tool", rewrites=True, max_timeout=BUS
    ),
    EventSpec("PermissionDenied", "permission_denied", "observe", "src", "tool"),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "lab", max_timeout=BUS),
    EventSpec(
        "UserPromptExpansion", "before_command_expansion", "prevent", "src", "command_name", matching=REGEX
    ),
    EventSpec("SessionStart", "session_start", "observe", "lab", "source", matching=REGEX),
    EventSpec(
        "SessionEnd", "session_end", "observe", "src", "reason", matching=REGEX, unfired="with `-p` (QW7)"
    ),
    EventSpec("SessionDelete", "", "observe", "src"),
    EventSpec("Stop", "agent_stop", "retry", "lab", max_timeout=BUS),
    EventSpec(
        "StopFailure",
        "error_occurred",
        "observe",
        "src",
        "error",
        matching=EXACT,
        unfired="after an API error in 0.24.4 (measured with `-p`)",
    ),
    EventSpec("SubagentStart", "subagent_start", "observe", "src", "agent_type", matching=REGEX),
    EventSpec("SubagentStop", "subagent_stop", "retry", "src", "agent_type", matching=REGEX),
    EventSpec("PreCompact", "before_compact", "observe", "src", "trigger", matching=EXACT),
    EventSpec("PostCompact", "after_compact", "observe", "src", "trigger", matching=EXACT),
    EventSpec(
        "Notification", "notification", "observe", "src", "notification_type", matching=EXACT, max_timeout=BUS
    ),
    EventSpec("InstructionsLoaded", "instructions_loaded", "observe", "src", "file_path", matching=REGEX),
    EventSpec("MessageDisplay", "message_display", "observe", "src", max_timeout=BUS),
    EventSpec("TodoCreated", "", "prevent", "src"),
    EventSpec("TodoCompleted", "", "prevent", "src"),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 22 in the source",
    registry=30,
    before_task="TodoCreated is about the list of tasks, not about running one",
    after_task="TodoCompleted is about the list of tasks, not about running one",
)


# The wire of Qwen Code: Claude's, with results and tools of Gemini and with merges that need a firm deny.
# What is not marked otherwise was captured or measured on 0.24.4.

SAYS = {"message": MESSAGE, "suppress": SUPPRESS}

ANSWERS: dict[str, Tree] = {
    "PreToolUse": {
        **SAYS,
        # A later hook's allow undoes the verdict (QW1); `continue: false` is kept whoever else answers, and
        # means here that this one call is not run (src: hookAggregator, toolHookTriggers).
        "deny": {
            "json": {
                **decide_permission("deny")["json"],
                "continue": False,
                "stopReason": "$reason",
            }
        },
        # Denied with its reason if no user can answer.
        "ask": decide_permission("ask"),
        # No allow: it comes after the permission prompt and lifts nothing, and it would undo another hook's
        # deny (QW1). No rewrite (QW3), and no context, which is not passed on.
    },
    # No deny: a block does nothing here (QW10), while context is added to the result.
    "PostToolUse": {**SAYS, "context": CONTEXT, "halt": HALT},
    "PostToolUseFailure": {**SAYS, "context": CONTEXT},
    "PostToolBatch": {**SAYS, "deny": BLOCK, "context": CONTEXT, "halt": HALT},
    "UserPromptSubmit": {**SAYS, "deny": BLOCK, "context": CONTEXT},
    "UserPromptExpansion": {**SAYS, "deny": BLOCK, "context": CONTEXT},
    # No halt: on these two `continue: false` makes the agent go on as a block does (src: client).
    "Stop": {**SAYS, "deny": BLOCK},
    "SubagentStop": {**SAYS, "deny": BLOCK},
    "SessionStart": {**SAYS, "context": CONTEXT},
    "SubagentStart": {**SAYS, "context": CONTEXT},
    "PreCompact": {**SAYS, "context": CONTEXT},
    "PermissionRequest": {
        key: piece
        for key, piece in claude.ANSWERS["permission_request"].items()
        if key in ("deny", "allow", "rewrite")
    },
    # Obeyed while the list is checked, not after it was written (src).
    "TodoCreated": {"deny": BLOCK},
    "TodoCompleted": {"deny": BLOCK},
    "*": {},
}

# An allow says nothing but on PermissionRequest: it comes after the prompt and lifts none.
DECISIONS = {"allow": None, "approve": None, "deny": "deny", "block": "deny", "ask": "ask"}
VERDICTS: list[Tree] = [("hookSpecificOutput.permissionDecision", DECISIONS), ("decision", DECISIONS)]

# JSON counts whatever the exit code but 2, with which only stderr does; an allow does not beat exit code 2.
READ: dict[str, Tree] = {
    **claude.READ,
    "verdicts": VERDICTS,
    "result": [],
    "stderr": True,
    "text": "message",
}
READ_TEXT = {**READ, "text": "context"}
# Where `continue: false` is a block (src: hookAggregator, client).
READ_BLOCK = {**READ, "verdicts": [("continue", {"False": "deny", "True": None}), *VERDICTS], "halt": []}

# What Qwen Code itself obeys: of stdout one JSON object with any exit code but 2, with which stderr is read
# (a', a''), else text on stderr with exit code 2. `ask` denies if no user can answer (k).
OBEY: dict[str, Tree] = {**READ, "json": "but 2", "speaks": "stderr", "wins": "json"}
OBEY_BLOCK = {**OBEY, "verdicts": [("continue", {"False": "deny", "True": None}), *VERDICTS], "halt": []}
OBEY_TEXT = {**OBEY, "text": "context"}
# A block does nothing after a tool (l); the others only observe (src).
OBEY_NOTHING = {**OBEY, "verdicts": [], "exits": {}}
OBEYS: dict[str, dict[str, Tree]] = {
    "PreToolUse": {**OBEY_BLOCK, "input": []},
    "Stop": OBEY_BLOCK,
    "SubagentStop": OBEY_BLOCK,
    "UserPromptSubmit": OBEY_TEXT,
    "UserPromptExpansion": OBEY_TEXT,
    "PostToolBatch": OBEY,
    "TodoCreated": OBEY,
    "TodoCompleted": OBEY,
    "SessionStart": {**OBEY_NOTHING, "text": "context"},
    "PermissionRequest": {**OBEY, **claude.READS["permission_request"], "exits": {"2": "deny"}},
    "*": OBEY_NOTHING,
}

# Its transcript (measured, 0.24.4); `system` lines repeat texts. The last answers are in the file some 300 ms
# after a stop hook has started.
TRANSCRIPT = {
    "form": "parts",
    "of": "Qwen Code 0.24.4",
    "named": ("projects/*/chats/*.jsonl",),
    "kept": ("~/.qwen/projects/*/chats/{session}.jsonl",),
    "late": 1.0,
    "time": "^timestamp",
    "records": (
        {
            "where": {"type": "user"},
            "each": "message.parts",
            "rows": ({"of": {"text": True, "thought": None}, "kind": "user", "text": "text"},),
        },
        {
            "where": {"type": "assistant"},
            "each": "message.parts",
            "rows": (
                {
                    "of": {"text": True, "thought": None},
                    "kind": "assistant",
                    "text": "text",
                    "id": "^uuid",
                    "model": "^model",
                    "usage": {
                        "input_tokens": [
                            "usageMetadata.promptTokenCount",
                            "usageMetadata.cachedContentTokenCount",
                        ],
                        "output_tokens": "usageMetadata.candidatesTokenCount",
                        "cache_read_input_tokens": "usageMetadata.cachedContentTokenCount",
                    },
                },
                {
                    "of": {"functionCall": True},
                    "kind": "call",
                    "id": "functionCall.id",
                    "name": "functionCall.name",
                    "input": "functionCall.args",
                    "message": "^uuid",
                    "model": "^model",
                },
            ),
        },
        {
            "where": {"type": "tool_result"},
            "each": "message.parts",
            "rows": (
                {
                    "of": {"functionResponse": True},
                    "kind": "result",
                    "id": "functionResponse.id",
                    "text": ("functionResponse.response.output", "functionResponse.response.error"),
                    "failed": ["^toolCallResult.status=error"],
                },
            ),
        },
    ),
    "other": ({"type": "system"},),
    "writes": {
        kind: {
            "uuid": "$uuid",
            "parentUuid": "$parent",
            "sessionId": "$session",
            "timestamp": "$time",
            "type": word,
            "cwd": "$cwd",
            **more,
        }
        for kind, word, more in (
            (
                "user",
                "user",
                {"provenance": "real_user", "message": {"role": "user", "parts": [{"text": "$text"}]}},
            ),
            (
                "assistant",
                "assistant",
                {"model": "$model", "message": {"role": "model", "parts": [{"text": "$text"}]}},
            ),
            (
                "call",
                "assistant",
                {
                    "model": "$model",
                    "message": {
                        "role": "model",
                        "parts": [{"functionCall": {"id": "$id", "name": "$name", "args": "$input"}}],
                    },
                },
            ),
            (
                "result",
                "tool_result",
                {
                    "message": {
                        "role": "user",
                        "parts": [{"functionResponse": {"id": "$id", "response": {"output": "$text"}}}],
                    },
                    "toolCallResult": {"callId": "$id", "status": "$status"},
                },
            ),
        )
    },
}

WIRE: Wire = claude.WIRE.replace(
    obeys=OBEYS,
    extras={
        "PermissionRequest": {**claude.PERMISSION_EXTRAS, "terminal": "terminalSequence"},
        "*": {"terminal": "terminalSequence"},
    },
    # An allow listed after a deny undoes it (QW1).
    several="last",
    keys={**claude.KEYS, "timestamp": "timestamp", "crons": "crons"},
    transcript=(TRANSCRIPT,),
    by_event=list_by_event(
        keys={
            **claude.KEYS_OF,
            "UserPromptExpansion": {"source": "command_name"},
            "StopFailure": {"source": "error", "error": None, "error_message": "error_details"},
        },
        echoes={"UserPromptSubmit": True},
    ),
    words={
        **claude.WORDS,
        # (src, the approval modes); `dontAsk`, which refuses what is not allowed already, has no counterpart.
        "permission_mode": {"acceptEdits": "auto_edit", "bypassPermissions": "yolo"},
        # (src) Claude Code capitalises them; its rules of an administrator have no counterpart.
        "memory": {"User": "user", "Project": "project", "Local": "local"},
    },
    inputs={**claude.INPUTS, "shell": {"cwd": "directory"}},
    texts=("llmContent:parts", "llmContent.text", "returnDisplay"),
    results={"*": {"llmContent": "$text", "returnDisplay": "$text"}},
    env={
        "QWEN_PROJECT_DIR": "$root",
        "CLAUDE_PROJECT_DIR": "$root",
        "GEMINI_PROJECT_DIR": "$root",
        "CLAUDE_PLUGIN_ROOT": "$package",
    },
    starts_in="root",
    marks=("transcript_path=.qwen/", "prompt_id", "permission_mode", "tool_use_id", "tool_call_id"),
    answers=ANSWERS,
    reads={
        "PreToolUse": READ_BLOCK,
        "Stop": READ_BLOCK,
        "SubagentStop": READ_BLOCK,
        "SessionStart": READ_TEXT,
        "UserPromptSubmit": READ_TEXT,
        "PermissionRequest": {**claude.READS["permission_request"], "exits": {"2": "deny"}, "stderr": True},
        "*": READ,
    },
    # (src, the tool names)
    others=(
        *("enter_plan_mode", "exit_plan_mode", "enter_worktree", "exit_worktree", "lsp", "cron_*", "task_*"),
        *("team_*", "send_message", "tool_search", "read_mcp_resource", "save_memory"),
    ),
    traits=("caps stops",),
)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of the files, with a finding for each hook that Qwen Code never runs."""
    decoded = SPLIT_BY_EVENT.decode(dialect, {file: _spell_out(tree) for file, tree in trees.items()})
    dead = [finding for file, tree in trees.items() for finding in _find_dead(dialect, file, tree)]
    return decoded._replace(findings=(*decoded.findings, *dead))


def _spell_out(tree: Tree) -> Tree:
    """The tree with every name that a single name matches: `edit` matches notebook_edit too (QW5)."""
    if not isinstance(tree, dict) or not isinstance(tree.get("hooks"), dict):
        return tree
    events = dict(tree["hooks"])
    for spec in EVENTS:
        if spec.subject == "tool" and isinstance(events.get(spec.native), list):
            events[spec.native] = [_spell_out_group(group) for group in events[spec.native]]
    return {**tree, "hooks": events}


def _spell_out_group(group: Tree) -> Tree:
    matcher = group.get("matcher") if isinstance(group, dict) else None
    ids = [row.native for row in TOOLS if not row.alias]
    if matcher not in ids:
        return group
    return {**group, "matcher": "|".join(name for name in ids if matcher in name)}


def _find_dead(dialect: Dialect, file: str, tree: Mapping[str, Tree]) -> Iterator[Finding]:
    def never(location: str, subject: str, reason: str, way: str) -> Finding:
        return NeverRuns.at(location, dialect=dialect.id, what=subject, reason=reason, way=way)._replace(
            file=file
        )

    if tree.get("disableAllHooks") is True:
        yield never("disableAllHooks", "any hook", "disableAllHooks is true", "Set it to false.")
    events = tree.get("hooks", {})
    for spec in dialect.events:
        for number, group in enumerate(events.get(spec.native, ()) if spec.subject == "tool" else ()):
            matcher = group.get("matcher", "")
            parts = matcher.split("|") if not matcher.startswith(("^", "(")) else []
            dead = [part for part in parts if not re.fullmatch(r"[\w-]+", part.strip())]
            if len(parts) > 1 and dead:
                yield never(
                    spell_path(("hooks", spec.native, number, "matcher")),
                    f"this hook for '{dead[0]}'",
                    "in a list with | each part is an exact name",
                    f"Write ^({matcher})$ for a regular expression.",
                )


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """Put patterns with alternatives in brackets; Qwen Code reads them as a list of names otherwise (QW5)."""
    adjusted: list[Hook] = []
    for hook in hooks:
        terms = tuple(
            term._replace(value=f"(?:{term.value})")
            if is_about_tool(hook.event) and "|" in term.value and not term.value.startswith(("^", "("))
            else term
            for term in hook.matcher
        )
        adjusted.append(hook._replace(matcher=terms))
    return adjusted, []


COMMAND_WAIT = Timeout(
    MILLISECOND, default=timedelta(seconds=60), whole=True, minimum=SECOND, seconds_below=1000
)


DIALECT = Dialect(
    id="qwen-code",
    title="Qwen Code",
    kind="agent",
    facts="0.24.4",
    sources=SOURCES,
    shows={
        # `systemMessage` is taken and shown nowhere.
        "*": (("reason",), "lab"),
    },
    markers={"QWEN_CODE": "lab"},
    locations=(
        Location("project", ".qwen/settings.json", "lab"),
        Location("user", "~/.qwen/settings.json", "lab"),
        Location("plugin", "hooks/hooks.json", "src"),
    ),
    events=EVENTS,
    lacks=LACKS,
    awaits_children="lab",
    tools=TOOLS,
    wordless=dict.fromkeys(("workflow", "artifact", "computer_use__*"), "src"),
    mcp=McpNames("mcp__", "__", "src", allowed=r"A-Za-z0-9_\-"),
    matching=NAMES,
    handlers={
        "command": HandlerSpec(
            "command",
            {
                "name": "name",
                "command": "command",
                "description": "description",
                "timeout": "timeout",
                "env": "env",
                "async": "is_async",
                "statusMessage": "status_message",
            },
            COMMAND_WAIT,
            required=("command",),
        ),
        "http": HandlerSpec(
            "http",
            {
                "name": "name",
                "url": "url",
                "description": "description",
                "headers": "headers",
                "allowedEnvVars": "allowed_env",
                "timeout": "timeout",
                "statusMessage": "status_message",
            },
            Timeout(SECOND, default=timedelta(seconds=600)),
            required=("url",),
        ),
        "prompt": HandlerSpec(
            "prompt",
            {
                "name": "name",
                "prompt": "prompt",
                "description": "description",
                "model": "model",
                "timeout": "timeout",
                "statusMessage": "status_message",
            },
            Timeout(SECOND, default=timedelta(seconds=30)),
            required=("prompt",),
        ),
    },
    shape=Shape(
        decode,
        SPLIT_BY_EVENT.encode,
        merges=True,
        not_events=("enabled", "disabled", "notifications"),
        file_kinds={"json": "jsonc"},
    ),
    wire=WIRE,
    obeys=("nested", "decision"),
    deny_reason="needed",
    adjust=adjust,
    # All are set; $CLAUDE_PROJECT_DIR and $GEMINI_PROJECT_DIR are also filled in as text, quoted already,
    # which breaks inside quotes, so the one that only the shell fills in is written (src, lab).
    project_dir=spell_root("QWEN_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"),
    package_dir=("${CLAUDE_PLUGIN_ROOT}",),
    manifests=("qwen-extension.json",),
    other_places={"unread": (Location("project", ".qwen/extensions/*/hooks/hooks.json", "src"),)},
    programs=("qwen",),
    gates=(
        Gate(
            (".qwen/settings.json", "~/.qwen/settings.json"),
            ("disableAllHooks",),
            (True,),
            "all hooks are switched off",
            "Remove `disableAllHooks`.",
            "src",
        ),
    ),
    folder_trust=FolderTrust(
        "~/.qwen/trustedFolders.json",
        ((),),
        "Start `qwen` in this folder and trust it.",
        "src",
        yes=("TRUST_FOLDER",),
        above=("TRUST_PARENT",),
        asks=(("~/.qwen/settings.json",), ("security", "folderTrust", "enabled"), False),
    ),
    runs_once=OnceRule("src", by_name=True),
    project_read="start",
    notes=("Qwen Code runs the hooks of a project only in a folder it trusts.",),
    quirks=(
        Quirk(
            "QW1",
            "an allow listed after a deny overrides it, even a deny by exit 2 or in another file",
            "lab",
        ),
        Quirk("QW2", "exit 2 with an empty stderr does not deny", "lab"),
        Quirk(
            "QW3", "updatedInput on PreToolUse is documented and ignored; PermissionRequest obeys it", "lab"
        ),
        Quirk(
            "QW4",
            "a command's timeout below 1000 is seconds, from 1000 on milliseconds; others are seconds",
            "lab",
        ),
        Quirk("QW5", "`edit` alone also matches notebook_edit, `edit|write_file` does not", "src"),
        Quirk(
            "QW6",
            "UserPromptSubmit fires before every model call, even after tool results, then with an empty "
            "prompt; hookport runs no hook then",
            "lab",
        ),
        Quirk("QW7", "SessionEnd does not fire with `-p`", "lab"),
        Quirk("QW8", "hooks in the system's settings file are not read", "src"),
        Quirk("QW9", "variables in settings are filled in when the file is read", "src"),
        Quirk("QW10", "a block on PostToolUse does nothing; PostToolBatch obeys it", "lab"),
        Quirk(
            "QW11",
            "started in a folder of a project, it reads only `.qwen/settings.json` of that folder",
            "lab",
        ),
        Quirk(
            "QW12",
            "after 60 s it continues without the answer of a tool, prompt or Stop hook, whatever the timeout",
            "lab",
        ),
    ),
    ways_around=list_ways(
        WayAround(
            "shell",
            "closed",
            "QW13",
            "the tool `monitor` runs commands too, and a matcher for `run_shell_command` does not find it; "
            "hookport names it wherever a hook is for the shell",
            "lab",
            tools=("shell",),
            native="monitor",
        ),
        kinds=4,
        none={"sub-agents": "lab", "protocol": "lab"},
    ),
)
