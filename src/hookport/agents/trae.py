"""TRAE: .trae/hooks.json, events to groups of handlers, by its documentation."""

from __future__ import annotations

from datetime import timedelta

from hookport.shapes import claude_wire as claude
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.claude_wire import BLOCK, CONTEXT, decide_permission, nest_fields
from hookport.shapes.dialect import (
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
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "doc": "docs.trae.cn, pages on hooks of the Chinese edition from 3.3.66 on, by mirrors of August 2026",
    "table": "third-party tables and notes of 2026 on the international edition, not verified",
}

# Whether it must match the whole name nobody says, so names are anchored.
REGEX = Matching("regex", everything=("", "*"), anchors=True)

ON = "the Chinese edition with hooks switched on in its settings (TR1)"

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "doc", "tool", rewrites=True, partly=ON),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "doc", "tool", hears="json"),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "doc", hears="json", partly=ON),
    EventSpec("SessionStart", "session_start", "observe", "doc"),
    EventSpec("Stop", "agent_stop", "retry", "doc", partly=ON),
    EventSpec("Notification", "notification", "observe", "doc", "notification_type", hears="nothing"),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 6 of the documentation",
    registry=30,
    subagent_start="no event fires for the tool that starts a subagent; those of its tools fire",
    subagent_stop="no event fires for the tool that starts a subagent; those of its tools fire",
    permission_request="Notification reports that a permission is needed",
)

TOOLS = name_tools(
    "doc",
    shell="RunCommand",
    file_read="Read",
    file_write="Write",
    file_edit="Edit",
    find="Glob",
    search="Grep",
    list="LS",
    web_search="WebSearch",
    web_fetch="WebFetch",
    ask_user="AskUserQuestion",
    skill="Skill",
)

ANSWERS: dict[str, Tree] = {
    "PreToolUse": {
        "deny": decide_permission("deny"),
        "ask": decide_permission("ask"),
        "allow": decide_permission("allow"),
        # The whole input.
        "rewrite": nest_fields(updatedInput="$input"),
        "context": CONTEXT,
    },
    "PostToolUse": {"deny": BLOCK, "context": CONTEXT},
    "UserPromptSubmit": {"deny": BLOCK, "context": CONTEXT},
    "SessionStart": {"context": CONTEXT},
    "Stop": {"deny": BLOCK},
    "*": {},
}
READ: dict[str, Tree] = {**claude.READ, "json": "zero"}
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [("hookSpecificOutput.permissionDecision", {"deny": "deny", "ask": "ask", "allow": "allow"})],
    "named": "all",
}
OBEY_BLOCK: dict[str, Tree] = {**OBEY, "verdicts": [("decision", {"block": "deny"})]}
OBEY_NOTHING: dict[str, Tree] = {**OBEY, "verdicts": [], "exits": {}}

WIRE: Wire = claude.WIRE.replace(
    keys={
        "event": "hook_event_name",
        "session": "session_id",
        "cwd": "cwd",
        "root": "workspace_roots:list",
        "tool": "tool_name",
        "input": "tool_input",
        "call_id": "tool_use_id",
        "agent_id": "agent_id",
    },
    by_event=list_by_event(
        keys={
            "PostToolUse": {"result": "tool_response"},
            "UserPromptSubmit": {"prompt": "prompt"},
            "SessionStart": {"source": "source"},
            "Stop": {"stop_active": "stop_hook_active", "final_message": "last_assistant_message"},
        },
    ),
    words={},
    transcript="",
    # The fields of other tools are not documented.
    inputs={},
    fixed={"session_id": "$session", "cwd": "$cwd", "workspace_roots": ["$root"]},
    env={"TRAE_PROJECT_DIR": "$root", "CLAUDE_PROJECT_DIR": "$root"},
    starts_in="root",
    marks=("workspace_roots", "llm_tool_name", "loop_count"),
    answers=ANSWERS,
    reads={"SessionStart": {**READ, "text": "context"}, "*": READ},
    obeys={
        "PreToolUse": OBEY,
        "UserPromptSubmit": OBEY_BLOCK,
        "PostToolUse": OBEY_BLOCK,
        "Stop": OBEY_BLOCK,
        "SessionStart": {**OBEY_NOTHING, "text": "context"},
        "*": OBEY_NOTHING,
    },
    # An allow does not lift the mode in which a person confirms every call.
    lifts=False,
    precedence=-2,
)

DIALECT = Dialect(
    id="trae",
    title="TRAE",
    kind="agent",
    facts="documentation of August 2026",
    sources=SOURCES,
    shows={"*": (("reason",), "doc")},
    locations=(
        Location("project", ".trae/hooks.json", "doc"),
        Location("user", "~/.trae-cn/hooks.json", "doc"),
        Location("user", "~/.trae/hooks.json", "table", loaded=False),
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
            # Fractions are not documented.
            Timeout(SECOND, default=timedelta(seconds=30), whole=True, minimum=SECOND),
            required=("command",),
        ),
    },
    shape=BY_EVENT._replace(root_keys={"version": 1}),
    wire=WIRE,
    obeys=("nested", "decision"),
    commands_start="root",
    project_dir=spell_root("TRAE_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    other_places={
        "maybe read": (
            Location("project", ".claude/settings.json", "doc"),
            Location("local", ".claude/settings.local.json", "doc"),
            Location("user", "~/.claude/settings.json", "doc"),
        ),
    },
    home=("~/.trae-cn", ""),
    notes=(
        "TRAE runs hooks only when they are switched on in its settings, under Hooks.",
        "If Claude Code's hooks were imported into TRAE, a hook in both files runs twice.",
    ),
    quirks=(
        Quirk(
            "TR1", "hooks of the international edition and of its other products are not documented", "doc"
        ),
        Quirk("TR2", "a payload has `tool_name`, and the model's own name as `llm_tool_name`", "doc"),
        Quirk("TR3", "`continue: false` overrides every decision; what it stops is not documented", "doc"),
        Quirk("TR4", "a Stop group has loop_limit, 5 unless it says otherwise", "doc"),
        Quirk("TR5", "the enterprise edition knows only HTTP hooks, set by an administrator", "doc"),
    ),
    ways_around=list_ways(kinds=4, none={"sub-agents": "doc"}),
)
