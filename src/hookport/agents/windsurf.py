"""Windsurf Cascade: hooks.json, with a separate event for every kind of action and no matcher."""

from __future__ import annotations

from hookport.shapes.by_event import SPLIT_BY_EVENT
from hookport.shapes.dialect import (
    SHADOWS,
    Dialect,
    EventSpec,
    FolderTrust,
    HandlerSpec,
    Location,
    Quirk,
    Shadow,
    Timeout,
    Tree,
    explain_missing,
    list_ways,
)
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "doc": "official Cascade hooks page and its successor under the name Devin Desktop, July 2026 (3.6)",
    "note": "third-party research notes on where the renamed product looks, 2026-07-30",
}

READ = ("file_read",)
WRITE = ("file_write", "file_edit")
SHELL = ("shell",)

EVENTS = (
    EventSpec("pre_read_code", "before_tool_execute", "prevent", "doc", tools=READ),
    EventSpec("pre_write_code", "before_tool_execute", "prevent", "doc", tools=WRITE),
    EventSpec("pre_run_command", "before_tool_execute", "prevent", "doc", tools=SHELL),
    EventSpec("pre_mcp_tool_use", "before_tool_execute", "prevent", "doc", tools=("mcp",)),
    EventSpec("post_read_code", "after_tool_execute", "observe", "doc", tools=READ),
    EventSpec("post_write_code", "after_tool_execute", "observe", "doc", tools=WRITE),
    EventSpec("post_run_command", "after_tool_execute", "observe", "doc", tools=SHELL),
    EventSpec("post_mcp_tool_use", "after_tool_execute", "observe", "doc", tools=("mcp",)),
    EventSpec("pre_user_prompt", "before_prompt", "prevent", "doc", hears="nothing"),
    EventSpec("post_cascade_response", "agent_stop", "observe", "doc"),
    EventSpec("post_cascade_response_with_transcript", "agent_stop", "observe", "doc", secondary=True),
    EventSpec("post_setup_worktree", "", "observe", "doc"),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 12 of the documentation",
    registry=30,
    file_created="post_write_code sees only the agent's own writes, as the tool that it is",
    file_saved="post_write_code sees only the agent's own writes, as the tool that it is",
    tool_use_failure="the post events do not show whether the action failed",
    file_changed="post_write_code sees only the agent's own writes, as the tool that it is",
    message_display="post_cascade_response fires once, when the response is finished",
)

READ_CODE: dict[str, Tree] = {"input": {"path": "tool_info.file_path"}}
WRITE_CODE: dict[str, Tree] = {"input": {"path": "tool_info.file_path", "edits": "tool_info.edits"}}
RUN_COMMAND: dict[str, Tree] = {
    "cwd": "tool_info.cwd",
    "input": {"command": "tool_info.command_line", "cwd": "tool_info.cwd"},
}
MCP_TOOL: dict[str, Tree] = {
    "server": "tool_info.mcp_server_name",
    "mcp_tool": "tool_info.mcp_tool_name",
    "input": "tool_info.mcp_tool_arguments",
    "result": "tool_info.mcp_result",
}
DENY = {"deny": {"stderr": "$reason", "exit": 2}}

# Only the exit code counts, never stdout (doc).
WIRE = Wire(
    keys={
        "event": "agent_action_name",
        "session": "trajectory_id",
        "timestamp": "timestamp",
        "turn": "execution_id",
        "model": "model_name",
    },
    by_event=list_by_event(
        keys={
            "pre_read_code": READ_CODE,
            "post_read_code": READ_CODE,
            "pre_write_code": WRITE_CODE,
            "post_write_code": WRITE_CODE,
            "pre_run_command": RUN_COMMAND,
            "post_run_command": RUN_COMMAND,
            "pre_mcp_tool_use": MCP_TOOL,
            "post_mcp_tool_use": MCP_TOOL,
            "pre_user_prompt": {"prompt": "tool_info.user_prompt"},
            "post_cascade_response": {"final_message": "tool_info.response"},
            "post_cascade_response_with_transcript": {"transcript": "tool_info.transcript_path"},
            "post_setup_worktree": {
                "cwd": "tool_info.worktree_path",
                "root": "tool_info.root_workspace_path",
            },
        },
        env={"post_setup_worktree": {"ROOT_WORKSPACE_PATH": "$root"}},
    ),
    fixed={"trajectory_id": "$session", "execution_id": "", "tool_info": {}},
    inputs={"edits": {"old": "old_string", "new": "new_string"}},
    texts=("content:parts",),
    # The workspace's root, without a working_directory.
    starts_in="root",
    marks=("agent_action_name", "trajectory_id", "tool_info"),
    answers={"before_tool_execute": DENY, "before_prompt": DENY, "*": {}},
    reads={"*": {"exits": {"2": "deny"}}},
    obeys={
        "before_tool_execute": {"exits": {"2": "deny"}, "json": "none"},
        "before_prompt": {"exits": {"2": "deny"}, "json": "none"},
        "*": {"json": "none"},
    },
    lifts=False,
)


DIALECT = Dialect(
    id="windsurf",
    title="Windsurf Cascade",
    kind="agent",
    facts="3.6",
    sources=SOURCES,
    shows={"*": (("reason",), "doc")},
    locations=(
        Location("project", ".windsurf/hooks.json", "doc"),
        Location("project", ".devin/hooks.json", "note"),
        Location("user", "~/.codeium/windsurf/hooks.json", "doc"),
        Location("user", "~/.codeium/hooks.json", "doc"),
        Location("system", "/etc/windsurf/hooks.json", "doc"),
        Location("system", "/etc/devin/hooks.json", "note"),
        Location("system", "/Library/Application Support/Windsurf/hooks.json", "doc"),
        Location("system", "/Library/Application Support/Devin/hooks.json", "note"),
        Location("system", "C:\\ProgramData\\Windsurf\\hooks.json", "doc"),
        Location("system", "C:\\ProgramData\\Devin\\hooks.json", "note"),
    ),
    events=EVENTS,
    lacks=LACKS,
    # No payload and no matcher shows a tool's name: the event is the tool (doc).
    tools=(),
    handlers={
        "command": HandlerSpec(
            "",
            {"command": "command", "powershell": "windows", "working_directory": "cwd"},
            # How long a hook may take is not documented (doc).
            Timeout(None),
            required=("command|windows",),
        ),
    },
    shape=SPLIT_BY_EVENT._replace(forms=("flat",)),
    wire=WIRE,
    commands_start="root",
    # No placeholder is filled in; without working_directory a command starts in the workspace root (doc).
    project_dir=(".",),
    # The editor reads the first, the plugin for JetBrains the second (doc).
    products=((".codeium/windsurf/",), (".codeium/hooks.json",)),
    folder_trust=FolderTrust("", (), "Trust the workspace: in Restricted Mode no hook runs.", "doc"),
    notes=(
        "Where .devin/hooks.json has hooks, Windsurf does not read .windsurf/hooks.json: move these there.",
        "Only the Cascade agent runs these hooks, and only in a trusted workspace (not in Restricted Mode).",
    ),
    quirks=(
        Quirk(
            "WS1",
            ".windsurf/hooks.json is read only where .devin/hooks.json is absent or has no hooks",
            "note",
            {SHADOWS: (Shadow(".windsurf/hooks.json", ".devin/hooks.json", "note"),)},
        ),
        Quirk("WS2", "no matchers: a matcher in an entry is ignored and the hook runs every time", "doc"),
        Quirk("WS3", "write_code means creating or editing a file", "doc"),
        Quirk("WS4", "hooks do not see searches, the web, the task list and the browser", "doc"),
        Quirk("WS5", "the response events are asynchronous: they cannot hold the agent", "doc"),
        Quirk("WS6", "an exit code other than 0 and 2, or a crash, lets the action run", "doc"),
        Quirk("WS7", "the path of a read event may be a directory", "doc"),
        Quirk(
            "WS8",
            "Cascade hooks can block with exit code 2, although a published table says they cannot",
            "doc",
        ),
        Quirk("WS9", "on Windows `powershell` runs, or `command` in PowerShell where it is absent", "doc"),
    ),
    ways_around=list_ways(kinds=4),
)
