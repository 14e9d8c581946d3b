"""Qoder CLI: Claude Code's settings and answers, with a stricter reading of what a hook prints."""

from __future__ import annotations

from datetime import timedelta

from hookport.shapes import claude_wire as claude
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.claude_wire import ALWAYS, BLOCK, CONTEXT, decide_permission, nest_fields
from hookport.shapes.dialect import (
    SECOND,
    Dialect,
    EventSpec,
    FolderTrust,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    OnceRule,
    Quirk,
    Timeout,
    Tree,
    explain_missing,
    list_ways,
    name_events,
    name_tools,
    spell_root,
)
from hookport.wire.table import Wire

SOURCES = {
    "src": "the program of @qoder-ai/qodercli 1.1.52: its hook planner, runner, aggregator and events",
    "skill": "the skill hook-config in @qoder-ai/qodercli 1.1.52",
    "doc": "docs.qoder.com/cli/hooks-reference, 2026",
}

# A JavaScript expression found anywhere in the name, or in what another product calls the tool (src). What
# is matched of other events is a list of names, an expression or the word itself.
REGEX = Matching("regex")
NAMES = Matching("names", plain=r"[A-Za-z0-9_\- |]")

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "src", "tool", rewrites=True),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "src", "tool", hears="json"),
    EventSpec("PostToolUseFailure", "tool_use_failure", "observe", "src", "tool", hears="json"),
    EventSpec("PermissionRequest", "permission_request", "prevent", "skill", "tool", exits="none"),
    EventSpec("PermissionDenied", "permission_denied", "observe", "doc", "tool", hears="nothing"),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "src"),
    EventSpec("SessionStart", "session_start", "observe", "src", "source", matching=NAMES),
    EventSpec("SessionEnd", "session_end", "observe", "src", "reason", matching=NAMES, hears="nothing"),
    EventSpec("Stop", "agent_stop", "retry", "doc"),
    EventSpec("SubagentStart", "subagent_start", "observe", "src", "agent_type", matching=NAMES),
    EventSpec("SubagentStop", "subagent_stop", "retry", "doc", "agent_type", matching=NAMES),
    EventSpec("PreCompact", "before_compact", "prevent", "src", "trigger", matching=NAMES),
    EventSpec("PostCompact", "after_compact", "observe", "doc", "trigger", matching=NAMES, hears="nothing"),
    EventSpec("StopFailure", "error_occurred", "observe", "skill", hears="nothing"),
    EventSpec(
        "Notification",
        "notification",
        "observe",
        "src",
        "notification_type",
        matching=NAMES,
        hears="nothing",
    ),
    EventSpec("ConfigChange", "config_change", "observe", "src", "source", matching=NAMES, hears="nothing"),
    EventSpec("InstructionsLoaded", "instructions_loaded", "observe", "doc", hears="nothing"),
    EventSpec("FileChanged", "file_changed", "observe", "doc", hears="nothing"),
    *name_events(
        "doc",
        *("CwdChanged", "WorktreeCreate", "WorktreeRemove", "Elicitation", "ElicitationResult"),
        *("TaskCreated", "TaskCompleted", "TeammateIdle", "Setup"),
    ),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 27 in the program",
    registry=30,
    before_task="TaskCreated is about the list of tasks, not about running one",
    after_task="TaskCompleted is about the list of tasks, not about running one",
)

TOOLS = (
    *name_tools("skill", shell="Bash", file_read="Read", file_write="Write", file_edit="Edit"),
    *name_tools("skill", search="Grep", find="Glob"),
)

ANSWERS: dict[str, Tree] = {
    "PreToolUse": {
        **ALWAYS,
        "deny": decide_permission("deny"),
        "ask": decide_permission("ask"),
        "allow": decide_permission("allow"),
        # The whole input (src).
        "rewrite": nest_fields(updatedInput="$input"),
        "context": CONTEXT,
        # The call ends with an error (src).
        "halt": {**claude.HALT, "denies": True},
    },
    "PostToolUse": {**ALWAYS, "context": CONTEXT},
    "PostToolUseFailure": {**ALWAYS, "context": CONTEXT},
    "UserPromptSubmit": {**ALWAYS, "deny": BLOCK, "context": CONTEXT},
    "SessionStart": {**ALWAYS, "context": CONTEXT},
    "SubagentStart": {**ALWAYS, "context": CONTEXT},
    "Stop": {**ALWAYS, "deny": BLOCK},
    "SubagentStop": {**ALWAYS, "deny": BLOCK},
    "PreCompact": {**ALWAYS, "deny": BLOCK, "context": CONTEXT},
    "PermissionRequest": {
        key: piece
        for key, piece in claude.ANSWERS["permission_request"].items()
        if key in ("deny", "allow", "rewrite")
    },
    "*": {},
}

DECISIONS = {"approve": "allow", "allow": "allow", "block": "deny", "deny": "deny"}
READ: dict[str, Tree] = {
    **claude.READ,
    "verdicts": [
        ("hookSpecificOutput.permissionDecision", {"deny": "deny", "ask": "ask", "allow": "allow"}),
        ("decision", DECISIONS),
    ],
    "json": "zero",
}
READ_TEXT: dict[str, Tree] = {**READ, "text": "context"}
# Only the JSON of exit code 0 is read, and nested output without the event's name is none: then a call is
# denied, and every other event goes on (src).
OBEY: dict[str, Tree] = {**READ, "named": "all"}
OBEY_NOTHING: dict[str, Tree] = {**OBEY, "verdicts": [], "exits": {}}
REQUEST: dict[str, Tree] = {**claude.READS["permission_request"], "json": "zero", "named": "all"}

WIRE: Wire = claude.WIRE.replace(
    keys={**claude.KEYS, "turn": None, "effort": None, "crons": None, "background_tasks": None},
    transcript="",
    env={
        "QODER_PROJECT_DIR": "$root",
        "CLAUDE_PROJECT_DIR": "$root",
        "QODER_PLUGIN_ROOT": "$package",
    },
    starts_in="root",
    # Two that Claude Code sends too: with them its folder decides.
    marks=(
        *("transcript_path=.qoder/", "mcp_context", "original_request_name"),
        *("permission_mode", "tool_use_id"),
    ),
    answers=ANSWERS,
    reads={
        "SessionStart": READ_TEXT,
        "UserPromptSubmit": READ_TEXT,
        "PermissionRequest": REQUEST,
        "*": READ,
    },
    obeys={
        "PreToolUse": OBEY,
        "UserPromptSubmit": {**OBEY, "text": "context"},
        "SessionStart": {**OBEY_NOTHING, "text": "context"},
        "Stop": OBEY,
        "SubagentStop": OBEY,
        "PreCompact": OBEY,
        "PermissionRequest": REQUEST,
        "*": OBEY_NOTHING,
    },
    precedence=-1,
)

DIALECT = Dialect(
    id="qoder",
    title="Qoder CLI",
    kind="agent",
    facts="source of 1.1.52",
    sources=SOURCES,
    shows={"*": (("message", "reason"), "src")},
    locations=(
        Location("project", ".qoder/settings.json", "skill"),
        Location("local", ".qoder/settings.local.json", "skill"),
        Location("user", "~/.qoder/settings.json", "skill"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=TOOLS,
    mcp=McpNames("mcp__", "__", "src"),
    matching=REGEX,
    handlers={
        "command": HandlerSpec(
            "command",
            {
                "if": "condition",
                "name": "name",
                "command": "command",
                "timeout": "timeout",
                "async": "is_async",
                "statusMessage": "status_message",
            },
            Timeout(SECOND, default=timedelta(seconds=600)),
            required=("command",),
        ),
        "http": HandlerSpec(
            "http",
            {
                "if": "condition",
                "name": "name",
                "url": "url",
                "headers": "headers",
                "allowedEnvVars": "allowed_env",
                "timeout": "timeout",
            },
            Timeout(SECOND, default=timedelta(seconds=600)),
            required=("url",),
        ),
        "prompt": HandlerSpec(
            "prompt",
            {"if": "condition", "name": "name", "prompt": "prompt", "timeout": "timeout"},
            Timeout(SECOND, default=timedelta(seconds=30)),
            required=("prompt",),
        ),
        "agent": HandlerSpec(
            "agent",
            {"if": "condition", "name": "name", "prompt": "prompt", "timeout": "timeout"},
            Timeout(SECOND, default=timedelta(seconds=60)),
            required=("prompt",),
        ),
    },
    shape=BY_EVENT._replace(
        file_kinds={"json": "jsonc"}, not_events=("enabled", "disabled", "notifications")
    ),
    wire=WIRE,
    obeys=("nested", "decision"),
    commands_start="moving",
    project_read="start",
    project_dir=spell_root("QODER_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    package_dir=("${QODER_PLUGIN_ROOT}", "${CLAUDE_PLUGIN_ROOT}"),
    runs_once=OnceRule("src"),
    programs=("qodercli", "qoder"),
    home=("~/.qoder", ""),
    folder_trust=FolderTrust("", (), "Start `qodercli` in this folder and trust it.", "src"),
    notes=(
        "Qoder runs the hooks of a project only in a folder it trusts.",
        "The Chinese edition keeps its settings in other folders, which hookport does not read.",
    ),
    quirks=(
        Quirk(
            "QO1",
            "before a tool, an object that cannot be read, or nested output without the event's name, denies",
            "src",
        ),
        Quirk("QO2", "plain text with exit code 0 allows the call, as a printed allow does", "src"),
        Quirk("QO3", "`qodercli -p` runs asyncRewake hooks in turn, where exit code 2 denies", "skill"),
        Quirk("QO4", "a matcher is tried on the names that other products have for a tool too", "src"),
        Quirk("QO5", "its editor and its JetBrains plugin fire fewer events", "doc"),
    ),
    ways_around=list_ways(kinds=4),
)
