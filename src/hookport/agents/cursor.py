"""Cursor: hooks.json, with its own events for shell, MCP and reading files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookport.findings import Finding, NeverRuns
from hookport.shapes.by_event import SPLIT_BY_EVENT
from hookport.shapes.dialect import (
    NO_OPINION,
    SECOND,
    Dialect,
    EventSpec,
    Field,
    FolderTrust,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Quirk,
    Timeout,
    Tree,
    alias_tools,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.wire.table import Wire, list_by_event

if TYPE_CHECKING:
    from hookport.model.hooks import Hook

SOURCES = {
    "env": "the agents of unjs/std-env, as in jiti 2.x of November 2026; not measured",
    "doc": "official hooks documentation as of July 2026 (IDE 3.9, CLI 2026.07.01)",
    "spec": "tool table of the Hook Interchange Format 1.0; no matcher of Cursor finds these names",
    "probe": "measured by third parties on Cursor 3.9.16, June 2026",
}

# JavaScript regular expression found anywhere; what `*` and "" mean is not documented, so they are not
# read as everything (doc).
REGEX = Matching("regex", everything=("",))


# The wire of Cursor: flat answers in snake case, and events that are the tool beside those that name it.
# Nothing could be captured: all is documented (IDE 3.9, CLI 2026.07.01) but for what is marked `probe`.

KEYS = {
    "event": "hook_event_name",
    "session": ("conversation_id", "session_id"),
    "cwd": "cwd",
    "root": "workspace_roots:list",
    "tool": "tool_name",
    "input": "tool_input",
    "call_id": "tool_use_id",
    "result": "tool_output:json",
    "error": "error_message",
    "prompt": "prompt",
    "stop_active": "loop_count:count",
    "subagent": "subagent_type",
    "transcript": "transcript_path",
    "agent_transcript": "agent_transcript_path",
    "model": "model",
    "turn": "generation_id",
    "agent_id": "subagent_id",
    "parent_session": "parent_conversation_id",
    "duration_ms": "duration",
    "interrupted": "is_interrupt",
}
SHELL: dict[str, Tree] = {"tool": None, "input": {"command": "command", "cwd": "cwd"}}
MCP: dict[str, Tree] = {"tool": None, "mcp_tool": "tool_name", "input": "tool_input:json"}
KEYS_OF: dict[str, dict[str, Tree]] = {
    "beforeShellExecution": SHELL,
    "afterShellExecution": {**SHELL, "result": "output"},
    "beforeMCPExecution": MCP,
    "afterMCPExecution": {**MCP, "result": "result_json:json"},
    "beforeReadFile": {"tool": None, "input": {"path": "file_path"}},
    "afterFileEdit": {"tool": None, "input": {"path": "file_path", "edits": "edits"}},
    "subagentStart": {"prompt": "task"},
    "subagentStop": {
        "prompt": "task",
        "final_message": "summary",
        "source": "status",
        "steps": "tool_call_count",
        "messages": "message_count",
    },
    "stop": {"source": "status"},
    "sessionEnd": {"source": "reason", "session_ms": "duration_ms", "error_message": "error_message"},
    "preCompact": {
        "source": "trigger",
        "context_tokens": "context_tokens",
        "messages": "message_count",
    },
    "afterAgentResponse": {"final_message": "text"},
}

ENDED = {"end_turn": "completed", "interrupted": "aborted"}
WORDS: dict[str, dict[str, Tree]] = {
    "agent_stop": ENDED,
    "subagent_stop": ENDED,
    "session_end": {
        "complete": "completed",
        "abort": "aborted",
        "prompt_input_exit": ["user_close", "window_close"],
    },
}

PATH = {"path": "file_path"}
CHANGE = {**PATH, "old": "old_string", "new": "new_string"}
INPUTS = {
    "shell": {"cwd": "working_directory"},
    "file_read": PATH,
    "file_write": CHANGE,
    "file_edit": CHANGE,
    "search": PATH,
    "Delete": PATH,
    "edits": {"old": "old_string", "new": "new_string"},
}

# The model sees the message for the user, not the one for it (probe), so the reason stands in both.
REASON = {"user_message": "$reason", "agent_message": "$reason"}
DENY = {"json": {"permission": "deny", **REASON}}
ASK = {"json": {"permission": "ask", **REASON}}
ALLOW = {"json": {"permission": "allow"}}
FOLLOW = {"json": {"followup_message": "$reason"}}
# With failClosed a hook that prints nothing blocks (CU5).
NONE: dict[str, Tree] = {"json": {}}

PERMISSION: dict[str, Tree] = {"none": NONE, "deny": DENY, "allow": ALLOW}

ANSWERS: dict[str, Tree] = {
    # No ask, which is read and not enforced here.
    "preToolUse": {**PERMISSION, "rewrite": {"json": {"permission": "allow", "updated_input": "$input"}}},
    # An ask is a deny in 3.9.16 (CU2).
    "beforeShellExecution": {**PERMISSION, "ask": ASK},
    "beforeMCPExecution": {**PERMISSION, "ask": ASK},
    "beforeReadFile": PERMISSION,
    "beforeTabFileRead": PERMISSION,
    "subagentStart": PERMISSION,
    "beforeSubmitPrompt": {
        "none": {"json": {"continue": True}},
        "deny": {"json": {"continue": False, "user_message": "$reason"}},
    },
    "postToolUse": {"context": {"json": {"additional_context": "$context"}}},
    "sessionStart": {"context": {"json": {"additional_context": "$context"}}},
    "stop": {"deny": FOLLOW},
    "subagentStop": {"deny": FOLLOW},
    "preCompact": {"message": {"json": {"user_message": "$message"}}},
    "*": {},
}

DECISIONS = {"allow": "allow", "approve": "allow", "deny": "deny", "block": "deny", "ask": "ask"}
# `decision` is the form of January 2026, the nested one that of files it takes over from Claude Code.
VERDICTS: list[Tree] = [
    ("permission", DECISIONS),
    ("decision", DECISIONS),
    ("hookSpecificOutput.permissionDecision", DECISIONS),
]
OBSERVED: dict[str, Tree] = {
    "verdicts": VERDICTS,
    "reason": ["user_message", "agent_message", "reason", "hookSpecificOutput.permissionDecisionReason"],
    "context": ["additional_context", "hookSpecificOutput.additionalContext"],
    "json": "any",
}
# Output that is not JSON is a failure, and blocks with failClosed.
READ = {
    **OBSERVED,
    "input": ["updated_input", "hookSpecificOutput.updatedInput"],
    "exits": {"2": "deny"},
    "text": "failure",
}
READ_STOP = {
    **OBSERVED,
    "verdicts": [("followup_message", {"": None, "*": "deny"}), ("decision", DECISIONS)],
    "reason": ["followup_message", "reason"],
}

# What Cursor itself obeys (doc): flat JSON with exit code 0, exit code 2 where it can be denied; `ask` is
# read and not enforced on preToolUse. What is no answer is a failure, which denies with `failClosed`.
_PERMITS = {"allow": "allow", "deny": "deny"}
OBEY = {
    **READ,
    "verdicts": [("permission", _PERMITS)],
    "reason": ["user_message", "agent_message"],
    "context": [],
    "input": ["updated_input"],
    "json": "zero",
    "closes": True,
}
OBEY_PLAIN = {**OBEY, "input": []}
OBEY_ASK = {**OBEY_PLAIN, "verdicts": [("permission", {**_PERMITS, "ask": "ask"})]}
OBEY_STOP = {**READ_STOP, "verdicts": [("followup_message", {"": None, "*": "deny"})], "json": "zero"}
OBEYS: dict[str, Tree] = {
    "preToolUse": OBEY,
    "beforeShellExecution": OBEY_ASK,
    "beforeMCPExecution": OBEY_ASK,
    "beforeReadFile": OBEY_PLAIN,
    "beforeTabFileRead": OBEY_PLAIN,
    "subagentStart": OBEY_PLAIN,
    "beforeSubmitPrompt": {**OBEY, "verdicts": [("continue", {"False": "deny", "True": None})], "input": []},
    "stop": OBEY_STOP,
    "subagentStop": OBEY_STOP,
    "*": {**OBSERVED, "verdicts": [], "context": ["additional_context"], "json": "zero"},
}

WIRE = Wire(
    obeys=OBEYS,
    extras={
        "sessionStart": {"env": "env"},
        "postToolUse": {"mcp_result": "updated_mcp_tool_output"},
        "workspaceOpen": {"plugin_paths": "pluginPaths"},
    },
    keys=KEYS,
    by_event=list_by_event(keys=KEYS_OF),
    words=WORDS,
    fixed={
        "generation_id": "",
        "model": "",
        "cursor_version": "",
        "workspace_roots": ["$root"],
        "user_email": None,
        "transcript_path": None,
    },
    inputs=INPUTS,
    texts=("output", "content:parts"),
    results={"afterShellExecution": "$text", "shell": {"output": "$text", "exitCode": 0}},
    env={
        "CURSOR_PROJECT_DIR": "$root",
        "CLAUDE_PROJECT_DIR": "$root",
        "CURSOR_TRANSCRIPT_PATH": "$transcript",
        # Both spellings are filled in for plugins (plugins of public repositories, November 2026).
        "CURSOR_PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_ROOT": "$package",
    },
    # Hooks of a project start at its root, those of the user in ~/.cursor, those of a plugin in its folder.
    starts_in="package",
    marks=("cursor_version", "conversation_id", "generation_id", "workspace_roots"),
    answers=ANSWERS,
    reads={
        **dict.fromkeys(
            (
                *("preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"),
                *("beforeTabFileRead", "subagentStart"),
            ),
            READ,
        ),
        "beforeSubmitPrompt": {
            **READ,
            "verdicts": [("continue", {"False": "deny", "True": None}), *VERDICTS],
            "input": [],
        },
        "stop": READ_STOP,
        "subagentStop": READ_STOP,
        "preCompact": {**OBSERVED, "message": ["user_message"], "reason": []},
        "*": OBSERVED,
    },
    # Scripts print it to have no opinion, and it is not documented to skip a prompt.
    lifts=False,
    # loop_limit is 5 unless a file sets another.
    traits=("caps stops", "fires twice"),
)


def match_constant(*words: str) -> Matching:
    """The matcher of an event whose subject is always the same; none is written."""
    return Matching("none", everything=("", *words))


FOLLOW_UP = {"followup_message": "{reason}"}

EVENTS = (
    EventSpec("preToolUse", "before_tool_execute", "prevent", "doc", "tool", rewrites=True),
    EventSpec("beforeShellExecution", "before_tool_execute", "prevent", "doc", "command", tools=("shell",)),
    EventSpec("beforeMCPExecution", "before_tool_execute", "prevent", "doc", "mcp_tool", tools=("mcp",)),
    EventSpec(
        "beforeReadFile",
        "before_tool_execute",
        "prevent",
        "doc",
        tools=("file_read",),
        matching=match_constant("Read", "Read|TabRead"),
    ),
    EventSpec("postToolUse", "after_tool_execute", "observe", "doc", "tool"),
    EventSpec(
        "afterShellExecution",
        "after_tool_execute",
        "observe",
        "doc",
        "command",
        tools=("shell",),
    ),
    EventSpec("afterMCPExecution", "after_tool_execute", "observe", "doc", "mcp_tool", tools=("mcp",)),
    EventSpec(
        "afterFileEdit",
        "after_tool_execute",
        "observe",
        "doc",
        tools=("file_write", "file_edit"),
        matching=match_constant("Write", "Write|TabWrite"),
    ),
    EventSpec("postToolUseFailure", "tool_use_failure", "observe", "doc", "tool"),
    EventSpec(
        "beforeSubmitPrompt",
        "before_prompt",
        "prevent",
        "doc",
        matching=match_constant("UserPromptSubmit"),
        deny_answer={"continue": False, "user_message": "{reason}"},
        unfired="in the CLI's print mode (CU6)",
        hears="nothing",
    ),
    EventSpec(
        "stop",
        "agent_stop",
        "retry",
        "doc",
        matching=match_constant("Stop"),
        deny_answer=FOLLOW_UP,
        exits="none",
    ),
    EventSpec("sessionStart", "session_start", "observe", "doc", hears="json"),
    EventSpec("sessionEnd", "session_end", "observe", "doc"),
    EventSpec("subagentStart", "subagent_start", "prevent", "doc", "subagent_type"),
    EventSpec(
        "subagentStop",
        "subagent_stop",
        "retry",
        "doc",
        "subagent_type",
        deny_answer=FOLLOW_UP,
        exits="none",
    ),
    EventSpec("preCompact", "before_compact", "observe", "doc"),
    EventSpec(
        "afterAgentResponse", "after_model", "observe", "doc", matching=match_constant("AgentResponse")
    ),
    EventSpec("afterAgentThought", "", "observe", "doc", matching=match_constant("AgentThought")),
    EventSpec("beforeTabFileRead", "", "prevent", "doc", matching=match_constant("TabRead")),
    EventSpec("afterTabFileEdit", "", "observe", "doc", matching=match_constant("TabWrite")),
    EventSpec("workspaceOpen", "", "observe", "doc"),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 21 of the documentation",
    registry=30,
    before_model="beforeAgentResponse of older tables does not exist",
    before_tool_selection="beforeToolSelection of older tables does not exist",
    permission_denied="postToolUseFailure fires with failure_type permission_denied",
    interrupted="stop fires with status aborted",
    file_changed="afterFileEdit sees only the agent's own edits",
)

FAIL_CLOSED = Field("on_failure", {True: "block", False: ""})
# "platform default" in the documentation, without a number.
WAIT = Timeout(SECOND, default=None)


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """Report a command with a URL, which loses every hook of the file in one version of the CLI (CU3)."""
    words = {
        "dialect": "the CLI 2026.07.01 of cursor",
        "what": "any hook of this file",
        "reason": "the command contains a URL",
        "way": "Put the URL into a script.",
    }
    return hooks, [
        NeverRuns.at("", at, **words) for at, hook in enumerate(hooks) if "://" in hook.handler.command
    ]


DIALECT = Dialect(
    id="cursor",
    title="Cursor",
    kind="agent",
    facts="3.9.16",
    sources=SOURCES,
    shows={
        "preCompact": (("message",), "doc"),
        "*": (("reason",), "doc"),
    },
    markers={"CURSOR_AGENT": "env"},
    locations=(
        Location("project", ".cursor/hooks.json", "doc"),
        Location("user", "~/.cursor/hooks.json", "doc"),
        Location("plugin", "hooks/hooks.json", "doc"),
        Location("system", "/etc/cursor/hooks.json", "doc"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=(
        *name_tools(
            "doc",
            shell="Shell",
            file_read="Read",
            file_write="Write",
            file_edit="Write",
            search="Grep",
            agent="Task",
        ),
        *alias_tools(
            "spec",
            shell="run_terminal_cmd",
            file_read="read_file",
            file_write="edit_file",
            file_edit="edit_file",
            search="grep_search",
            find="file_search",
            web_search="web_search",
        ),
    ),
    wordless={"Delete": "doc"},
    mcp=McpNames("MCP:", source="doc"),
    matching=REGEX,
    handlers={
        "command": HandlerSpec(
            "command",
            {"command": "command", "timeout": "timeout", "failClosed": FAIL_CLOSED},
            WAIT,
            required=("command",),
        ),
        "prompt": HandlerSpec(
            "prompt",
            {"prompt": "prompt", "model": "model", "timeout": "timeout", "failClosed": FAIL_CLOSED},
            WAIT,
            required=("prompt",),
        ),
    },
    shape=SPLIT_BY_EVENT._replace(forms=("flat",), root_keys={"version": 1}),
    wire=WIRE,
    obeys=("permission",),
    commands_start="root",
    deny_answer={"permission": "deny", "user_message": "{reason}", "agent_message": "{reason}"},
    project_dir=spell_root("CURSOR_PROJECT_DIR"),
    package_dir=(
        "${CURSOR_PLUGIN_ROOT}",
        "$CURSOR_PLUGIN_ROOT",
        "${CLAUDE_PLUGIN_ROOT}",
        "$CLAUDE_PLUGIN_ROOT",
    ),
    adjust=adjust,
    manifests=(".cursor-plugin/plugin.json",),
    programs=("cursor-agent",),
    other_places={
        "maybe read": (
            Location("project", ".claude/settings.json", "doc"),
            Location("local", ".claude/settings.local.json", "doc"),
            Location("user", "~/.claude/settings.json", "doc"),
        )
    },
    folder_trust=FolderTrust("", (), "Trust the workspace when Cursor asks.", "doc"),
    notes=("Cursor runs project hooks only in a trusted workspace.",),
    quirks=(
        Quirk("CU1", "preToolUse and the special event both fire for one call: a hook needs only one", "doc"),
        Quirk("CU2", "`ask` behaves as deny", "probe"),
        Quirk("CU3", "the CLI 2026.07.01 drops the whole file when a command contains a URL", "probe"),
        Quirk(
            "CU5",
            "with failClosed a hook that prints nothing blocks: it must print an answer to allow",
            "doc",
            {NO_OPINION: '{"permission":"allow"}'},
        ),
        Quirk("CU6", "the CLI does not fire beforeSubmitPrompt in print mode", "doc"),
        Quirk("CU4", "Write means creating or editing a file", "doc"),
    ),
    ways_around=list_ways(kinds=4),
)
