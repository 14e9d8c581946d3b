"""Devin: hooks.v1.json as a bare map of events, and the hooks of its settings."""

from __future__ import annotations

from hookport.shapes import claude_wire as claude
from hookport.shapes.bare_map import make_bare_map
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
    WayAround,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "doc": "docs.devin.ai/cli/extensibility/hooks, and its pages of lifecycle hooks, 2026",
    "seen": "public notes of 2026-07-24 on runs of `devin -p`, and the hooks in their repository",
    "table": "third-party tables of 2026, not verified",
}

# Whether it must match the whole name nobody says, so names are anchored.
REGEX = Matching("regex", everything=("", ".*"), anchors=True, never=("*",))

PRINT = "with `devin -p` (DV3)"
ASKED = "the interactive Devin, not `devin -p` (DV3)"

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "doc", "tool", partly=ASKED, unfired=PRINT),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "doc", "tool", hears="nothing", unfired=PRINT),
    EventSpec(
        "PermissionRequest", "permission_request", "prevent", "doc", "tool", partly=ASKED, unfired=PRINT
    ),
    EventSpec(
        "UserPromptSubmit", "before_prompt", "prevent", "doc", hears="nothing", partly=ASKED, unfired=PRINT
    ),
    EventSpec("Stop", "agent_stop", "retry", "doc", partly=ASKED, unfired=PRINT),
    EventSpec("SessionStart", "session_start", "observe", "doc", hears="nothing", unfired=PRINT),
    EventSpec("SessionEnd", "session_end", "observe", "doc", unfired=PRINT),
    EventSpec("PostCompaction", "after_compact", "observe", "doc", hears="nothing", unfired=PRINT),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 8 of the documentation",
    registry=30,
    before_compact="PostCompaction fires when it is done",
    tool_use_failure="PostToolUse has success and error of the result",
)

TOOLS = (
    # No other tool that writes is documented, so a guard for either must see it.
    *name_tools("doc", shell="exec", file_write="edit", file_edit="edit"),
    *name_tools("table", file_read="read"),
    *name_tools("seen", agent="run_subagent"),
)

# Exit code 2 is all that every page agrees on; of an answer in JSON `decision` and `reason` are documented.
DENY: dict[str, Tree] = {**EXIT, "alone": True}
ANSWERS: dict[str, Tree] = {
    # Documented as able to change the input and to add context, and no page names the fields.
    "PreToolUse": {"deny": DENY},
    "PermissionRequest": {
        "deny": DENY,
        "allow": {"json": {"decision": "approve", "reason": "$reason"}},
    },
    "UserPromptSubmit": {"deny": DENY},
    "Stop": {"deny": DENY},
    "*": {},
}
DECISIONS = {"block": "deny", "deny": "deny", "ask": "ask", "approve": "allow", "allow": "none"}
# Hooks in Claude Code's form are said to work as they are, so its nested deny is read too.
READ: dict[str, Tree] = {
    "verdicts": [
        ("decision", DECISIONS),
        ("hookSpecificOutput.permissionDecision", {"deny": "deny", "ask": "ask", "allow": "none"}),
    ],
    "reason": ["reason", "hookSpecificOutput.permissionDecisionReason"],
    "exits": {"2": "deny"},
    "json": "zero",
}
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [("decision", {"block": "deny", "deny": "deny", "approve": "allow"})],
    "reason": ["reason"],
}
OBEY_NOTHING: dict[str, Tree] = {**OBEY, "verdicts": [], "exits": {}}

WIRE: Wire = claude.WIRE.replace(
    keys={
        "event": "hook_event_name",
        "session": "session_id",
        "cwd": "cwd",
        "tool": "tool_name",
        "input": "tool_input",
        "final_message": "last_assistant_message",
    },
    by_event=list_by_event(
        keys={
            "PostToolUse": {"result": "tool_response", "error": "tool_response.error"},
            "UserPromptSubmit": {"prompt": "prompt"},
            "SessionEnd": {"source": "reason"},
            "PostCompaction": {"summary": "summary"},
        },
    ),
    words={},
    transcript=(),
    inputs={},
    fixed={"session_id": "$session", "cwd": "$cwd"},
    texts=("output",),
    env={"DEVIN_PROJECT_DIR": "$root"},
    starts_in="root",
    answers=ANSWERS,
    reads=dict.fromkeys(("PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop"), READ)
    | {"*": {**READ, "exits": {}}},
    obeys=dict.fromkeys(("PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop"), OBEY)
    | {"*": OBEY_NOTHING},
    precedence=-1,
)


def is_bare_file(file: str) -> bool:
    """Whether the events are at the root of the file."""
    return file.replace("\\", "/").rpartition("/")[2] == "hooks.v1.json"


DIALECT = Dialect(
    id="devin",
    title="Devin",
    kind="agent",
    facts="documentation of 2026",
    sources=SOURCES,
    shows={"*": (("reason",), "doc")},
    locations=(
        Location("project", ".devin/hooks.v1.json", "doc"),
        Location("project", ".devin/config.json", "doc"),
        Location("local", ".devin/config.local.json", "doc"),
        Location("user", "~/.config/devin/config.json", "doc"),
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
            # The default is not documented, nor are fractions.
            Timeout(SECOND, whole=True, minimum=SECOND),
            required=("command",),
        ),
        "prompt": HandlerSpec(
            "prompt",
            {"prompt": "prompt", "timeout": "timeout"},
            Timeout(SECOND, whole=True, minimum=SECOND),
            required=("prompt",),
        ),
    },
    shape=make_bare_map(is_bare_file),
    wire=WIRE,
    obeys=("decision",),
    # The documentation's examples are relative to the project, and no page says where commands start.
    commands_start="moving",
    # Whether it reads them when it is started below them is not documented.
    project_read="start",
    project_dir=(*spell_root("DEVIN_PROJECT_DIR"), REPOSITORY),
    other_places={
        "also read": (
            Location("project", ".claude/settings.json", "doc"),
            Location("local", ".claude/settings.local.json", "doc"),
            Location("user", "~/.claude/settings.json", "doc"),
        ),
    },
    programs=("devin",),
    home=("~/.config/devin", ""),
    notes=(
        "`devin -p` ran no hook of .devin/hooks.v1.json (July 2026); a guard holds in the interactive Devin.",
        ".devin/hooks.json is Windsurf's file, not Devin's.",
    ),
    quirks=(
        Quirk("DV1", "hooks.v1.json is the map of events itself; an outer `hooks` hides them", "doc"),
        Quirk(
            "DV2",
            "Claude Code's settings are read too, so a hook in both files runs twice; whether a matcher with "
            "Claude Code's tools matches is not documented",
            "doc",
        ),
        Quirk(
            "DV4",
            "one page lets every exit code but 0 block, the table of exit codes only 2; hookport uses 2",
            "doc",
        ),
        Quirk("DV5", "changing the input and adding context are documented without the fields", "doc"),
    ),
    ways_around=list_ways(
        WayAround(
            "protocol",
            "open",
            "DV3",
            "`devin -p` ran no hook of .devin/hooks.v1.json",
            "seen",
            place="with `devin -p`",
            events=(),
        ),
        kinds=4,
    ),
)
