"""Gemini CLI: hooks in its settings files and in extensions."""

from __future__ import annotations

from datetime import timedelta

from hookport.agents._base import (
    MILLISECOND,
    Dialect,
    EventSpec,
    FolderTrust,
    Gate,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Once,
    Quirk,
    Timeout,
    aliases,
    in_variables,
    named,
)
from hookport.agents._by_event import SPLIT_BY_EVENT
from hookport.agents._gemini_wire import WIRE

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
    EventSpec("BeforeAgent", "before_prompt", "prevent", "src", json_only=True),
    EventSpec("AfterAgent", "agent_stop", "retry", "src"),
    EventSpec("SessionStart", "session_start", "observe", "src", "source", matching=EXACT, json_only=True),
    EventSpec("SessionEnd", "session_end", "observe", "src", "reason", matching=EXACT),
    EventSpec("PreCompress", "before_compact", "observe", "src", "trigger", matching=EXACT),
    EventSpec("Notification", "notification", "observe", "src", "notification_type", matching=EXACT),
    EventSpec("BeforeModel", "before_model", "prevent", "src"),
    EventSpec("AfterModel", "after_model", "observe", "src"),
    EventSpec("BeforeToolSelection", "before_tool_selection", "observe", "src"),
)

_NONE = "no such event among the 11 in the source"
LACKS = {
    "error_occurred": _NONE,
    "subagent_start": _NONE,
    "subagent_stop": _NONE,
    "permission_request": "Notification of type ToolPermission only tells that one was asked",
    "config_change": _NONE,
    "file_created": _NONE,
    "file_saved": _NONE,
    "file_deleted": _NONE,
    "before_task": _NONE,
    "after_task": _NONE,
    "tool_use_failure": "AfterTool fires with tool_response.error",
    "after_compact": _NONE,
    "permission_denied": _NONE,
    "interrupted": _NONE,
    "file_changed": _NONE,
    "after_tool_batch": _NONE,
    "before_command_expansion": _NONE,
    "instructions_loaded": _NONE,
    "message_display": "AfterModel fires for every streamed chunk",
}


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
        *named(
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
        *aliases("src", search="search_file_content"),
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
    shape=SPLIT_BY_EVENT,
    wire=WIRE,
    obeys=("decision",),
    needs_reason=True,
    file_kinds={"json": "jsonc"},
    needs_type=True,
    switch=(("hooksConfig", "enabled"), False),
    switched_off=("hooksConfig", "disabled"),
    not_events=("enabled", "disabled", "notifications"),
    project_dir=in_variables("GEMINI_PROJECT_DIR"),
    package_dir=("${extensionPath}",),
    manifests=("gemini-extension.json",),
    unread_in=(Location("project", ".gemini/extensions/*/hooks/hooks.json", "src"),),
    programs=("gemini",),
    gates=(
        Gate(
            ("/etc/gemini-cli/settings.json", ".gemini/settings.json", "~/.gemini/settings.json"),
            ("hooksConfig", "enabled"),
            (False,),
            "all hooks are switched off",
            "Take `hooksConfig.enabled` out.",
            "src",
        ),
        Gate(
            ("/etc/gemini-cli/settings.json", ".gemini/settings.json", "~/.gemini/settings.json"),
            ("hooksConfig", "disabled"),
            (),
            "it is listed as switched off",
            "Take it out of `hooksConfig.disabled`.",
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
    runs_once=Once("src", by_name=True),
    at_start=True,
    notes=("Gemini CLI runs no hook of a settings file in a folder it does not trust.",),
    quirks=(
        Quirk("GM1", "any exit code from 2 up with some text denies, also 127", "lab"),
        Quirk("GM2", "exit 2 without any output does not deny", "lab"),
        Quirk("GM3", "`startup|resume` never matches on SessionStart: lifecycle matchers are exact", "lab"),
        Quirk(
            "GM4", "search_file_content is an older name of grep_search that a matcher no longer finds", "src"
        ),
        Quirk(
            "GM5",
            "`$CLAUDE_PROJECT_DIR` and its like are replaced in a command's text by a quoted path, so that "
            "quotes around it break where the path has blanks; `${CLAUDE_PROJECT_DIR}` is left to the shell",
            "lab",
        ),
        Quirk(
            "GM6",
            "started in a folder of a project, it reads `.gemini/settings.json` of that folder alone",
            "lab",
        ),
    ),
)
