"""iFlow CLI: Claude Code's layout of hooks in its settings, where exit codes alone block."""

from __future__ import annotations

from hookport.shapes import claude_wire as claude
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.claude_wire import EXIT
from hookport.shapes.dialect import (
    REPOSITORY,
    SECOND,
    Dialect,
    EventSpec,
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
    name_events,
    name_tools,
)
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "doc": "platform.iflow.cn, the pages on hooks and settings, 2025 and 2026, and their copies",
}

# A name, or with special characters an expression; whether that must match the whole name nobody says, so
# names are anchored.
REGEX = Matching("regex", anchors=True)

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "doc", "tool", exits="any", hears="nothing"),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "doc", "tool", hears="nothing"),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "doc", "prompt", exits="any", hears="nothing"),
    EventSpec("SessionStart", "session_start", "observe", "doc", "source", hears="nothing"),
    EventSpec("SessionEnd", "session_end", "observe", "doc", hears="nothing"),
    # An exit code does not affect what goes on.
    EventSpec("Stop", "agent_stop", "observe", "doc", hears="nothing"),
    EventSpec("SubagentStop", "subagent_stop", "observe", "doc", hears="nothing"),
    EventSpec("Notification", "notification", "observe", "doc", "message", hears="nothing"),
    *name_events("doc", "SetUpEnvironment"),
)

LACKS = explain_missing(EVENTS, "no such event among the 9 of the documentation", registry=30)

TOOLS = (
    *name_tools(
        "doc",
        shell="run_shell_command",
        file_read="read_file",
        file_write="write_file",
        file_edit=("replace", "multi_edit"),
        search="search_file_content",
        list="list_directory",
    ),
    *alias_tools(
        "doc",
        shell=("shell", "Shell", "bash", "Bash"),
        file_read="read",
        file_write=("Write", "write", "create", "save"),
        file_edit=("Edit", "edit", "Write", "write", "MultiEdit", "multiEdit"),
        search=("grep", "search"),
        list=("ls", "list"),
    ),
)

DENY: dict[str, Tree] = {**EXIT, "alone": True}
ANSWERS: dict[str, Tree] = {"PreToolUse": {"deny": DENY}, "UserPromptSubmit": {"deny": DENY}, "*": {}}
# No page says how JSON is read, so that of Claude Code's scripts is read by the bridge alone.
READ: dict[str, Tree] = {**claude.READ, "json": "zero", "exits": {"+": "deny"}}
OBEY: dict[str, Tree] = {**READ, "verdicts": [], "json": "none"}
OBEY_NOTHING: dict[str, Tree] = {**OBEY, "exits": {}}

WIRE: Wire = claude.WIRE.replace(
    keys={
        "event": "hook_event_name",
        "session": "session_id",
        "cwd": "cwd",
        "tool": "tool_name",
        "input": "tool_input",
    },
    by_event=list_by_event(
        keys={
            "PostToolUse": {"result": "tool_response"},
            "UserPromptSubmit": {"prompt": "prompt"},
            "SessionStart": {"source": "source"},
            "Notification": {"message": "message"},
        },
    ),
    words={},
    transcript="",
    fixed={"session_id": "$session", "cwd": "$cwd"},
    env={
        "IFLOW_SESSION_ID": "$session",
        "IFLOW_CWD": "$cwd",
        "IFLOW_HOOK_EVENT_NAME": "$event",
        "IFLOW_TOOL_NAME": "$tool",
    },
    answers=ANSWERS,
    reads={"PreToolUse": READ, "UserPromptSubmit": READ, "*": {**READ, "exits": {}}},
    obeys={"PreToolUse": OBEY, "UserPromptSubmit": OBEY, "*": OBEY_NOTHING},
    precedence=-4,
)

DIALECT = Dialect(
    id="iflow",
    title="iFlow CLI",
    kind="agent",
    facts="documentation of 2026",
    sources=SOURCES,
    shows={"*": (("reason",), "doc")},
    locations=(
        Location("project", ".iflow/settings.json", "doc"),
        Location("user", "~/.iflow/settings.json", "doc"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=TOOLS,
    mcp=McpNames("mcp__", "__", "doc"),
    matching=REGEX,
    handlers={
        "command": HandlerSpec(
            "command",
            {"command": "command", "timeout": "timeout"},
            # Neither the default nor fractions are documented.
            Timeout(SECOND, whole=True, minimum=SECOND),
            required=("command",),
        ),
    },
    shape=BY_EVENT,
    wire=WIRE,
    project_read="start",
    project_dir=(REPOSITORY,),
    programs=("iflow",),
    home=("~/.iflow", ""),
    quirks=(
        Quirk("IF1", "no page says that what a hook prints is read; every exit code but 0 blocks", "doc"),
        Quirk("IF2", "a matcher is tried on a tool's id and on its aliases", "doc"),
        Quirk("IF3", "a hook that runs out of time blocks nothing", "doc"),
        Quirk("IF4", "UserPromptSubmit matches the prompt, Notification the message", "doc"),
        Quirk("IF5", "IFLOW_TOOL_ARGS and IFLOW_USER_PROMPT have the input and the prompt too", "doc"),
    ),
    ways_around=list_ways(kinds=4),
)
