"""OpenCode: no hooks that run commands, so a generated plugin runs them."""

from __future__ import annotations

from datetime import timedelta

from hookport.dialects._base import (
    MILLISECOND,
    Dialect,
    EventSpec,
    Field,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Quirk,
    Timeout,
    named,
)
from hookport.dialects._module import MODULE

SOURCES = {
    "src": "anomalyco/opencode at 2026-08-19: packages/plugin/src/index.ts, packages/opencode/src (1.18.18)",
    "lab": "measured on 1.18.33, November 2026",
    "own": "what the generated plugin does",
}

EVENTS = (
    EventSpec("tool.execute.before", "before_tool_execute", "prevent", "src", "tool", rewrites=True),
    EventSpec("tool.execute.after", "after_tool_execute", "observe", "src", "tool"),
    EventSpec("chat.message", "before_prompt", "prevent", "src"),
    EventSpec("command.execute.before", "before_command_expansion", "prevent", "src"),
    EventSpec("event.session.created", "session_start", "observe", "src"),
    EventSpec("event.session.created (child)", "subagent_start", "observe", "own"),
    EventSpec("event.session.deleted", "session_end", "observe", "src"),
    EventSpec("event.session.idle", "agent_stop", "observe", "lab"),
    EventSpec("event.session.error", "error_occurred", "observe", "src"),
    EventSpec("event.session.compacted", "after_compact", "observe", "src"),
    EventSpec("experimental.session.compacting", "before_compact", "observe", "src"),
    EventSpec("event.permission.asked", "permission_request", "observe", "lab"),
    EventSpec("event.permission.replied", "permission_denied", "observe", "lab"),
    EventSpec("chat.params", "before_model", "observe", "src"),
    EventSpec("experimental.text.complete", "after_model", "observe", "src"),
    EventSpec("tool.definition", "before_tool_selection", "observe", "src"),
    EventSpec("event.file.edited", "file_changed", "observe", "src"),
    EventSpec("event.file.watcher.updated", "", "observe", "src"),
    EventSpec("event.tui.toast.show", "notification", "observe", "src"),
    EventSpec("shell.env", "", "observe", "src"),
    EventSpec("event.todo.updated", "", "observe", "src"),
)

_NONE = "no such hook or bus event in the source"
LACKS = {
    "subagent_stop": "session.idle of a child session cannot be told from the main one by its payload",
    "config_change": _NONE,
    "file_created": "file.watcher.updated reports all kinds of changes at once",
    "file_saved": "file.watcher.updated reports all kinds of changes at once",
    "file_deleted": "file.watcher.updated reports all kinds of changes at once",
    "before_task": _NONE,
    "after_task": _NONE,
    "tool_use_failure": "tool.execute.after is not called when the tool threw",
    "interrupted": _NONE,
    "after_tool_batch": _NONE,
    "instructions_loaded": _NONE,
    "message_display": "message.part.delta fires for every piece of text",
}


DIALECT = Dialect(
    id="opencode",
    title="OpenCode",
    kind="agent",
    facts="1.18.33",
    sources=SOURCES,
    locations=(
        Location("project", ".opencode/plugin/hookport.ts", "lab"),
        Location("user", "~/.config/opencode/plugin/hookport.ts", "lab"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=named(
        "src",
        shell="bash",
        file_read="read",
        file_write=("write", "apply_patch"),
        file_edit=("edit", "apply_patch"),
        search="grep",
        find="glob",
        web_search="websearch",
        web_fetch="webfetch",
        agent="task",
        todo="todowrite",
        skill="skill",
        ask_user="question",
    ),
    mcp=McpNames("", "_", "src"),
    matching=Matching("terms"),
    handlers={
        "command": HandlerSpec(
            "",
            {
                "name": "name",
                "description": "description",
                "command": "command",
                "windows": "windows",
                "linux": "linux",
                "osx": "osx",
                "cwd": "cwd",
                "env": "env",
                "timeout_ms": "timeout",
                "async": "is_async",
                "blocking": "blocking",
                "content": "content",
                "on_failure": Field("on_failure", {"block": "block"}),
                "timeout_action": Field("timeout_action", {"warn": "warn", "block": "block"}),
            },
            Timeout(MILLISECOND, default=timedelta(seconds=30), whole=True),
            required=("command",),
        ),
    },
    shape=MODULE,
    project_dir=("$OPENCODE_PROJECT_DIR", "${OPENCODE_PROJECT_DIR}"),
    quirks=(
        Quirk("OC1", "a plugin that does not load is skipped without a word: every export must be a function", "lab"),
        Quirk("OC2", "permission.ask is in the types and never called", "lab"),
        Quirk("OC3", "assigning output.args has no effect, its keys must be assigned", "lab"),
        Quirk("OC4", "the host has no timeout of its own, the generated code has one", "lab"),
    ),
)
