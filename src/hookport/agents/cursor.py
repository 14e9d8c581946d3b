"""Cursor: hooks.json, with events of its own for shell, MCP and reading files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookport.agents._base import (
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
    aliases,
    in_variables,
    named,
)
from hookport.agents._by_event import SPLIT_BY_EVENT
from hookport.agents._cursor_wire import WIRE
from hookport.findings import Finding, NeverRuns

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


def fixed(*words: str) -> Matching:
    """The matcher of an event whose subject is always the same word: it says nothing, so none is written."""
    return Matching("none", everything=("", *words))


FOLLOW_UP = {"followup_message": "{reason}"}

EVENTS = (
    EventSpec("preToolUse", "before_tool_execute", "prevent", "doc", "tool", rewrites=True),
    EventSpec("beforeShellExecution", "before_tool_execute", "prevent", "doc", "command", tools=("shell",)),
    EventSpec("beforeMCPExecution", "before_tool_execute", "prevent", "doc", "mcp_tool", mcp=True),
    EventSpec(
        "beforeReadFile",
        "before_tool_execute",
        "prevent",
        "doc",
        tools=("file_read",),
        matching=fixed("Read", "Read|TabRead"),
    ),
    EventSpec("postToolUse", "after_tool_execute", "observe", "doc", "tool", context=True),
    EventSpec(
        "afterShellExecution",
        "after_tool_execute",
        "observe",
        "doc",
        "command",
        tools=("shell",),
    ),
    EventSpec("afterMCPExecution", "after_tool_execute", "observe", "doc", "mcp_tool", mcp=True),
    EventSpec(
        "afterFileEdit",
        "after_tool_execute",
        "observe",
        "doc",
        tools=("file_write", "file_edit"),
        matching=fixed("Write", "Write|TabWrite"),
    ),
    EventSpec("postToolUseFailure", "tool_use_failure", "observe", "doc", "tool"),
    EventSpec(
        "beforeSubmitPrompt",
        "before_prompt",
        "prevent",
        "doc",
        matching=fixed("UserPromptSubmit"),
        deny_answer={"continue": False, "user_message": "{reason}"},
        unfired="in the CLI's print mode (CU6)",
        silent=True,
    ),
    EventSpec(
        "stop", "agent_stop", "retry", "doc", matching=fixed("Stop"), deny_answer=FOLLOW_UP, exit_blocks=False
    ),
    EventSpec("sessionStart", "session_start", "observe", "doc", json_only=True),
    EventSpec("sessionEnd", "session_end", "observe", "doc"),
    EventSpec("subagentStart", "subagent_start", "prevent", "doc", "subagent_type"),
    EventSpec(
        "subagentStop",
        "subagent_stop",
        "retry",
        "doc",
        "subagent_type",
        deny_answer=FOLLOW_UP,
        exit_blocks=False,
    ),
    EventSpec("preCompact", "before_compact", "observe", "doc"),
    EventSpec("afterAgentResponse", "after_model", "observe", "doc", matching=fixed("AgentResponse")),
    EventSpec("afterAgentThought", "", "observe", "doc", matching=fixed("AgentThought")),
    EventSpec("beforeTabFileRead", "", "prevent", "doc", matching=fixed("TabRead")),
    EventSpec("afterTabFileEdit", "", "observe", "doc", matching=fixed("TabWrite")),
    EventSpec("workspaceOpen", "", "observe", "doc"),
)

_NONE = "no such event among the 21 of the documentation"
LACKS = {
    "notification": _NONE,
    "error_occurred": _NONE,
    "permission_request": _NONE,
    "before_model": "beforeAgentResponse of older tables does not exist",
    "before_tool_selection": "beforeToolSelection of older tables does not exist",
    "config_change": _NONE,
    "file_created": _NONE,
    "file_saved": _NONE,
    "file_deleted": _NONE,
    "before_task": _NONE,
    "after_task": _NONE,
    "after_compact": _NONE,
    "permission_denied": "postToolUseFailure fires with failure_type permission_denied",
    "interrupted": "stop fires with status aborted",
    "file_changed": "afterFileEdit sees only the agent's own edits",
    "after_tool_batch": _NONE,
    "before_command_expansion": _NONE,
    "instructions_loaded": _NONE,
    "message_display": _NONE,
}

FAIL_CLOSED = Field("on_failure", {True: "block", False: ""})
# "platform default" in the documentation, without a number.
WAIT = Timeout(SECOND, default=None)


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """A command with a URL costs every hook of the file in one version of the CLI (CU3)."""
    words = {
        "dialect": "the CLI 2026.07.01 of cursor",
        "what": "any hook of this file",
        "reason": "the command holds a URL",
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
        *named(
            "doc",
            shell="Shell",
            file_read="Read",
            file_write="Write",
            file_edit="Write",
            search="Grep",
            agent="Task",
        ),
        *aliases(
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
    shape=SPLIT_BY_EVENT,
    wire=WIRE,
    obeys=("permission",),
    at_root=True,
    no_opinion='{"permission":"allow"}',
    forms=("flat",),
    root_keys={"version": 1},
    deny_answer={"permission": "deny", "user_message": "{reason}", "agent_message": "{reason}"},
    project_dir=in_variables("CURSOR_PROJECT_DIR"),
    package_dir=(
        "${CURSOR_PLUGIN_ROOT}",
        "$CURSOR_PLUGIN_ROOT",
        "${CLAUDE_PLUGIN_ROOT}",
        "$CLAUDE_PLUGIN_ROOT",
    ),
    adjust=adjust,
    manifests=(".cursor-plugin/plugin.json",),
    programs=("cursor-agent",),
    may_read=(
        Location("project", ".claude/settings.json", "doc"),
        Location("local", ".claude/settings.local.json", "doc"),
        Location("user", "~/.claude/settings.json", "doc"),
    ),
    folder_trust=FolderTrust("", (), "Trust the workspace when Cursor asks.", "doc"),
    notes=("Cursor runs project hooks only in a trusted workspace.",),
    quirks=(
        Quirk("CU1", "preToolUse and the special event both fire for one call: one of them is enough", "doc"),
        Quirk("CU2", "`ask` behaves as deny", "probe"),
        Quirk("CU3", "the CLI 2026.07.01 drops the whole file when a command holds a URL", "probe"),
        Quirk(
            "CU5",
            "with failClosed a hook that prints nothing blocks: it must print an answer to allow",
            "doc",
        ),
        Quirk("CU6", "the CLI does not fire beforeSubmitPrompt in print mode", "doc"),
        Quirk("CU4", "Write stands for creating and for editing a file", "doc"),
    ),
)
