"""Gemini CLI: hooks in its settings files and in extensions."""

from __future__ import annotations

from datetime import timedelta

from hookport.model.hooks import Hook
from hookport.shapes.by_event import SPLIT_BY_EVENT, find_value
from hookport.shapes.claude_wire import CONTEXT, HALT, MESSAGE, SUPPRESS, nest_fields
from hookport.shapes.dialect import (
    MILLISECOND,
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

SOURCES = {
    "src": "google-gemini/gemini-cli at 2026-08-21 (0.56.0-nightly): packages/core/src/hooks, packages/cli",
    "lab": "measured on 0.61.0, November 2026",
}

# `new RegExp(matcher).test(name)`; lifecycle events compare the whole string (src, lab).
TOOLS = Matching("regex")
EXACT = Matching("exact")

EVENTS = (
    EventSpec("BeforeTool", "before_tool_execute", "prevent", "src", "tool", rewrites=True),
    EventSpec("AfterTool", "after_tool_execute", "observe", "src", "tool"),
    EventSpec("BeforeAgent", "before_prompt", "prevent", "src", hears="json"),
    EventSpec("AfterAgent", "agent_stop", "retry", "src"),
    EventSpec("SessionStart", "session_start", "observe", "src", "source", matching=EXACT, hears="json"),
    EventSpec("SessionEnd", "session_end", "observe", "src", "reason", matching=EXACT),
    EventSpec("PreCompress", "before_compact", "observe", "src", "trigger", matching=EXACT),
    EventSpec("Notification", "notification", "observe", "src", "notification_type", matching=EXACT),
    EventSpec("BeforeModel", "before_model", "prevent", "src"),
    EventSpec("AfterModel", "after_model", "observe", "src"),
    EventSpec("BeforeToolSelection", "before_tool_selection", "observe", "src"),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 11 in the source",
    registry=30,
    permission_request="Notification of type ToolPermission only reports that one was asked",
    tool_use_failure="AfterTool fires with tool_response.error",
    message_display="AfterModel fires for every streamed chunk",
)


# The wire of Gemini CLI: Claude's nested answer under other names, a top-level decision, codes from 2 up.
# What is not marked otherwise was captured or measured on 0.61.0.

KEYS = {
    "event": "hook_event_name",
    "session": "session_id",
    "cwd": "cwd",
    "timestamp": "timestamp",
    "tool": "tool_name",
    "input": "tool_input",
    "result": "tool_response",
    "error": "tool_response.error",
    "server": "mcp_context.server_name",
    "mcp_tool": "mcp_context.tool_name",
    "prompt": "prompt",
    "final_message": "prompt_response",
    "stop_active": "stop_hook_active",
    "transcript": "transcript_path",
}
MODEL = {"model": "llm_request.model"}
KEYS_OF = {
    "SessionStart": {"source": "source"},
    "SessionEnd": {"source": "reason"},
    "PreCompress": {"source": "trigger"},
    "Notification": {"source": "notification_type", "message": "message", "title": "details.title"},
    "BeforeModel": MODEL,
    "AfterModel": MODEL,
    "BeforeToolSelection": MODEL,
}
WORDS: dict[str, dict[str, Tree]] = {
    "session_end": {"complete": "exit"},
    # The only kind that it has.
    "notification": {"permission_prompt": "ToolPermission"},
}

INPUTS = {
    "shell": {"cwd": "dir_path"},
    "file_read": {"path": "file_path", "offset": "start_line"},
    "read_many_files": {"include": "include"},
    "file_write": {"path": "file_path"},
    "file_edit": {
        "path": "file_path",
        "old": "old_string",
        "new": "new_string",
        "replace_all": "allow_multiple",
    },
    "search": {"path": "dir_path", "include": "include_pattern"},
    "find": {"path": "dir_path"},
    "list": {"path": "dir_path"},
    "edits": {"old": "old_string", "new": "new_string"},
}

SAYS = {"message": MESSAGE, "suppress": SUPPRESS}
DENY = {"json": {"decision": "deny", "reason": "$reason"}}

ANSWERS: dict[str, Tree] = {
    "BeforeTool": {
        **SAYS,
        "deny": DENY,
        # Without a person the run ends with the question, and the tool does not run. A person is shown the
        # message, not the reason (src).
        "ask": {"json": {"decision": "ask", "reason": "$reason", "systemMessage": "$reason"}},
        # Without a reason, which the model would get beside that of another hook's deny.
        "allow": {"json": {"decision": "allow"}},
        # The whole input: 0.61.0 merges it, the source of August replaces with it.
        "rewrite": nest_fields(tool_input="$input"),
        "halt": HALT,
    },
    # The reason stands in place of the result.
    "AfterTool": {**SAYS, "deny": DENY, "context": CONTEXT, "halt": HALT},
    "BeforeAgent": {**SAYS, "deny": DENY, "context": CONTEXT, "halt": HALT},
    "AfterAgent": {**SAYS, "deny": DENY, "halt": HALT},
    "BeforeModel": {**SAYS, "deny": DENY, "halt": HALT},
    "AfterModel": {**SAYS, "halt": HALT},
    "SessionStart": {**SAYS, "context": CONTEXT},
    # It takes a choice of tools and nothing else (src).
    "BeforeToolSelection": {},
    "*": SAYS,
}

# JSON counts whatever the exit code, also on stderr, and beats exit code 2.
OBSERVED: dict[str, Tree] = {
    "verdicts": [
        ("decision", {"allow": "allow", "approve": "allow", "deny": "deny", "block": "deny", "ask": "ask"}),
    ],
    "reason": ["reason", "stopReason"],
    "context": ["hookSpecificOutput.additionalContext"],
    "input": ["hookSpecificOutput.tool_input"],
    "message": ["systemMessage"],
    "suppress": ["suppressOutput"],
    "halt": ["continue"],
    "json": "any",
    "wins": "json",
    "stderr": True,
    "text": "message",
}
# Every code from 2 up denies, also 127 (GM1); a silent one does not there (GM2), but is meant to.
READ = {**OBSERVED, "exits": {"*": "deny"}}

# What Gemini itself obeys: one JSON object on stdout, else on stderr, whatever the exit code, which it beats
# (a'''); else exit codes from 2 up with some text (a''). `deny` and `block` are the words (b).
OBEYED = {
    **OBSERVED,
    "verdicts": [("decision", {"deny": "deny", "block": "deny", "ask": "ask", "allow": "allow"})],
}
OBEY = {**OBEYED, "exits": {"*": "deny"}, "speaks": "any"}
# Exit code 2 and a deny are ignored where a session starts (g').
OBEY_NOTHING = {**OBEYED, "verdicts": []}

# What the model is asked, what it answered, and which tools it may choose from (src).
_REQUEST = {"model_request": "hookSpecificOutput.llm_request"}
_RESPONSE = {"model_response": "hookSpecificOutput.llm_response"}

# Its transcript (measured, 0.61.0): an answer is written again under its id when its calls have ended, and a
# result is repeated as the user's. A command that exits with 3 has the status `success`.
RESPONSE = "result.0.functionResponse.response"
TRANSCRIPT = {
    "form": "updates",
    "of": "Gemini CLI 0.61.0",
    "named": ("chats/session-*.jsonl",),
    "again": True,
    "time": "^timestamp",
    "records": (
        {
            "where": {"type": "user"},
            "rows": ({"kind": "user", "text": "content", "not_from": ["<session_context>"]},),
        },
        {
            "where": {"type": "gemini"},
            "rows": (
                {
                    "kind": "assistant",
                    "text": "content",
                    "id": "id",
                    "model": "model",
                    "usage": {
                        "input_tokens": ["tokens.input", "tokens.cached"],
                        "output_tokens": "tokens.output",
                        "cache_read_input_tokens": "tokens.cached",
                    },
                },
            ),
        },
        {
            "where": {"type": "gemini"},
            "each": "toolCalls",
            "rows": (
                {
                    "kind": "call",
                    "id": "id",
                    "name": "name",
                    "input": "args",
                    "message": "^id",
                    "model": "^model",
                },
                {
                    "of": {"result": True},
                    "kind": "result",
                    "id": "id",
                    "text": (f"{RESPONSE}.output", f"{RESPONSE}.error"),
                    "failed": ["status=error", "~Exit Code: "],
                },
            ),
        },
    ),
    "other": (
        {"projectHash": True},
        {"$set": True},
        {"$rewindTo": True},
        {"type": ("info", "error", "warning")},
    ),
    "writes": {
        "head": [{"sessionId": "$session", "projectHash": "-", "startTime": "$start", "kind": "main"}],
        "user": {"id": "$uuid", "timestamp": "$time", "type": "user", "content": [{"text": "$text"}]},
        "assistant": {
            "id": "$message",
            "timestamp": "$time",
            "type": "gemini",
            "content": "$text",
            "model": "$model",
        },
        **{
            kind: {
                "id": "$call",
                "timestamp": "$time",
                "type": "gemini",
                "content": "",
                "model": "$model",
                "toolCalls": [{"id": "$id", "name": "$name", "args": "$input", **more}],
            }
            for kind, more in (
                ("call", {}),
                (
                    "result",
                    {
                        "result": [{"functionResponse": {"id": "$id", "response": {"output": "$text"}}}],
                        "status": "$status",
                    },
                ),
            )
        },
    },
}

WIRE = Wire(
    extras={
        "BeforeModel": {**_REQUEST, **_RESPONSE},
        "AfterModel": _RESPONSE,
        "BeforeToolSelection": {"tool_config": "hookSpecificOutput.toolConfig"},
        "AfterTool": {"tail_call": "hookSpecificOutput.tailToolCallRequest"},
    },
    obeys={
        **dict.fromkeys(("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel"), OBEY),
        "*": OBEY_NOTHING,
    },
    keys=KEYS,
    by_event=list_by_event(keys=KEYS_OF),
    words=WORDS,
    transcript=(TRANSCRIPT,),
    fixed={"session_id": "$session", "transcript_path": "", "cwd": "$cwd"},
    inputs=INPUTS,
    batches={"read_many_files": ("include", "path")},
    texts=("llmContent:parts", "llmContent.text", "returnDisplay"),
    results={"*": {"llmContent": "$text", "returnDisplay": "$text"}},
    # All three folders are the one it was started in.
    env={
        "GEMINI_PROJECT_DIR": "$root",
        "GEMINI_CWD": "$cwd",
        "GEMINI_SESSION_ID": "$session",
        "CLAUDE_PROJECT_DIR": "$root",
    },
    starts_in="root",
    marks=("transcript_path=.gemini/", "transcript_path=/chats/session-"),
    answers=ANSWERS,
    reads={
        **dict.fromkeys(("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel"), READ),
        "*": OBSERVED,
    },
    merges=("*",),
    # An allow skips neither policy nor confirmation (src).
    # (src, the tool declarations)
    others=(
        *("enter_plan_mode", "exit_plan_mode", "get_internal_docs", "update_topic", "complete_task"),
        *("tracker_*", "read_mcp_resource", "list_mcp_resources"),
    ),
    lifts=False,
)


def is_off(tree: Tree, hook: Hook) -> bool:
    """Whether the settings turn all hooks off, or name this one among those that are."""
    listed = find_value(tree, ("hooksConfig", "disabled"))
    is_listed = isinstance(listed, list) and (hook.name or hook.handler.command) in listed
    return is_listed or find_value(tree, ("hooksConfig", "enabled")) is False


DIALECT = Dialect(
    id="gemini-cli",
    title="Gemini CLI",
    kind="agent",
    facts="0.61.0",
    sources=SOURCES,
    shows={
        # The reason of a denied call is hidden unless `ui.errorVerbosity` is `full`.
        "BeforeAgent": (("message", "reason"), "lab"),
        "AfterAgent": (("message", "reason"), "lab"),
        "*": (("message",), "lab"),
    },
    markers={"GEMINI_CLI": "lab"},
    locations=(
        Location("project", ".gemini/settings.json", "src"),
        Location("user", "~/.gemini/settings.json", "src"),
        Location("plugin", "hooks/hooks.json", "src"),
        Location("system", "/etc/gemini-cli/settings.json", "src"),
    ),
    events=EVENTS,
    lacks=LACKS,
    awaits_children="lab",
    tools=(
        *name_tools(
            "src",
            shell="run_shell_command",
            file_read=("read_file", "read_many_files"),
            file_write="write_file",
            file_edit="replace",
            search="grep_search",
            find="glob",
            web_search="google_web_search",
            web_fetch="web_fetch",
            agent="invoke_agent",
            list="list_directory",
            todo="write_todos",
            skill="activate_skill",
            ask_user="ask_user",
        ),
        *alias_tools("src", search="search_file_content"),
    ),
    # Of older releases; agents are called by invoke_agent today.
    wordless=dict.fromkeys(("save_memory", "codebase_investigator", "cli_help"), "src"),
    mcp=McpNames("mcp_", "_", "src", allowed=r"A-Za-z0-9_\-.:", longest=63),
    matching=TOOLS,
    handlers={
        "command": HandlerSpec(
            "command",
            {
                "name": "name",
                "command": "command",
                "description": "description",
                "timeout": "timeout",
                "env": "env",
            },
            Timeout(MILLISECOND, default=timedelta(seconds=60)),
            required=("command",),
        ),
    },
    shape=SPLIT_BY_EVENT._replace(
        not_events=("enabled", "disabled", "notifications"), file_kinds={"json": "jsonc"}, is_off=is_off
    ),
    wire=WIRE,
    obeys=("decision",),
    deny_reason="needed",
    needs_type=True,
    project_dir=spell_root("GEMINI_PROJECT_DIR"),
    package_dir=("${extensionPath}",),
    manifests=("gemini-extension.json",),
    other_places={"unread": (Location("project", ".gemini/extensions/*/hooks/hooks.json", "src"),)},
    programs=("gemini",),
    gates=(
        Gate(
            ("/etc/gemini-cli/settings.json", ".gemini/settings.json", "~/.gemini/settings.json"),
            ("hooksConfig", "enabled"),
            (False,),
            "all hooks are switched off",
            "Remove `hooksConfig.enabled`.",
            "src",
        ),
        Gate(
            ("/etc/gemini-cli/settings.json", ".gemini/settings.json", "~/.gemini/settings.json"),
            ("hooksConfig", "disabled"),
            (),
            "it is listed as switched off",
            "Remove it from `hooksConfig.disabled`.",
            "src",
            lists=True,
        ),
    ),
    folder_trust=FolderTrust(
        "~/.gemini/trustedFolders.json",
        ((),),
        "Start `gemini` in this folder and trust it; with -p, set GEMINI_CLI_TRUST_WORKSPACE=true.",
        "src",
        yes=("TRUST_FOLDER",),
        above=("TRUST_PARENT",),
        asks=(
            ("/etc/gemini-cli/settings.json", "~/.gemini/settings.json"),
            ("security", "folderTrust", "enabled"),
            True,
        ),
        lifted=(("GEMINI_CLI_TRUST_WORKSPACE", "true"),),
        # With --skip-trust it sets the variable for hooks, and reads no file of the project (lab).
        lift_shows=False,
    ),
    runs_once=OnceRule("src", by_name=True),
    project_read="start",
    notes=("Gemini CLI runs no hook of a settings file in a folder it does not trust.",),
    quirks=(
        Quirk("GM1", "any exit code from 2 up with some text denies, even 127", "lab"),
        Quirk("GM2", "exit 2 without any output does not deny", "lab"),
        Quirk("GM3", "`startup|resume` never matches on SessionStart: lifecycle matchers are exact", "lab"),
        Quirk(
            "GM4", "search_file_content is an older name of grep_search that a matcher no longer finds", "src"
        ),
        Quirk(
            "GM5",
            "`$CLAUDE_PROJECT_DIR` and similar variables in a command are replaced by a quoted path, so "
            "quotes around it break where the path has blanks; `${CLAUDE_PROJECT_DIR}` is left to the shell",
            "lab",
        ),
        Quirk(
            "GM6",
            "started in a folder of a project, it reads only `.gemini/settings.json` of that folder",
            "lab",
        ),
    ),
    ways_around=list_ways(
        WayAround(
            "protocol",
            "open",
            "GM7",
            "started with `--acp` (or `--experimental-acp`), as Zed and JetBrains start it, no hook ran, "
            "neither before a tool nor at the start of the session",
            "lab",
            events=(),
        ),
        kinds=4,
        none={"sub-agents": "lab"},
    ),
)
