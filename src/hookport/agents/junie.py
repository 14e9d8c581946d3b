"""Junie CLI: hooks in the user's config.json, with flat answers, by its documentation."""

from __future__ import annotations

from datetime import timedelta

from hookport.shapes import claude_wire as claude
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.claude_wire import BLOCK
from hookport.shapes.dialect import (
    SECOND,
    Dialect,
    EventSpec,
    Field,
    HandlerSpec,
    Location,
    Matching,
    Quirk,
    Timeout,
    Tree,
    WayAround,
    explain_missing,
    list_ways,
    name_events,
    name_tools,
)
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "doc": "junie.jetbrains.com/docs/junie-cli-hooks.html, by excerpts of 2026",
    "table": "third-party notes and tables up to September 2026, not verified",
}

# The whole value must match.
REGEX = Matching("anchored")

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "doc", "tool", rewrites=True),
    EventSpec(
        "UserPromptSubmit",
        "before_prompt",
        "prevent",
        "doc",
        partly="the terminal Junie (JU2)",
        unfired="in a batch run (JU2)",
        default_timeout=timedelta(seconds=10),
    ),
    EventSpec(
        "SessionStart", "session_start", "observe", "doc", "source", default_timeout=timedelta(seconds=10)
    ),
    EventSpec("Stop", "agent_stop", "retry", "doc", default_timeout=timedelta(seconds=600)),
    EventSpec(
        "StopFailure",
        "error_occurred",
        "observe",
        "table",
        "error",
        hears="nothing",
        default_timeout=timedelta(seconds=60),
    ),
    EventSpec(
        "SessionEnd",
        "session_end",
        "observe",
        "table",
        "reason",
        hears="nothing",
        default_timeout=timedelta(seconds=2),
        max_timeout=timedelta(seconds=10),
    ),
    # A hook that succeeds may approve, so that no other agent's hook is written for it (JU3).
    *name_events("table", "PermissionRequest"),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 7 of the documentation",
    registry=30,
    permission_request="a hook that only watches PermissionRequest is said to approve (JU3)",
)

# PreToolUse is documented for commands alone.
TOOLS = name_tools("doc", shell="Bash")

FLAT_CONTEXT = {"json": {"additionalContext": "$context"}}
ANSWERS: dict[str, Tree] = {
    "PreToolUse": {
        "deny": {"json": {"decision": "deny", "reason": "$reason"}},
        "ask": {"json": {"decision": "ask", "reason": "$reason"}},
        "allow": {"json": {"decision": "allow", "reason": "$reason"}},
        "rewrite": {"json": {"updatedInput": "$input"}},
        "context": FLAT_CONTEXT,
    },
    "UserPromptSubmit": {"deny": BLOCK, "context": FLAT_CONTEXT},
    "SessionStart": {"context": FLAT_CONTEXT},
    "Stop": {"deny": BLOCK},
    "*": {},
}
READ: dict[str, Tree] = {
    "verdicts": [
        ("decision", {"block": "deny", "deny": "deny", "ask": "ask", "allow": "allow", "approve": "none"})
    ],
    "reason": ["reason", "stopReason"],
    "context": ["additionalContext"],
    "input": ["updatedInput"],
    "halt": ["continue"],
    "exits": {"2": "deny"},
    "json": "zero",
    "text": "context",
}
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [("decision", {"block": "deny", "deny": "deny", "ask": "ask", "allow": "allow"})],
}
OBEY_BLOCK: dict[str, Tree] = {**OBEY, "verdicts": [("decision", {"block": "deny"})]}
OBEY_NOTHING: dict[str, Tree] = {**OBEY, "verdicts": [], "exits": {}}

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
            "SessionStart": {"source": "source", "root": "project_path"},
            "UserPromptSubmit": {"prompt": "prompt"},
            "Stop": {"stop_active": "stop_hook_active", "final_message": "last_assistant_message"},
            "StopFailure": {"source": "error", "error_message": "error_details"},
            "SessionEnd": {"source": "reason"},
        },
    ),
    words={},
    transcript="",
    inputs={},
    fixed={"cwd": "$cwd"},
    env={},
    starts_in="root",
    marks=("project_path", "permission_reason"),
    answers=ANSWERS,
    reads={"*": READ},
    obeys={
        "PreToolUse": OBEY,
        "UserPromptSubmit": OBEY_BLOCK,
        "Stop": OBEY_BLOCK,
        "SessionStart": OBEY_NOTHING,
        "*": {**OBEY_NOTHING, "text": "ignored"},
    },
    precedence=-3,
)

DIALECT = Dialect(
    id="junie",
    title="Junie CLI",
    kind="agent",
    facts="documentation of 2026",
    sources=SOURCES,
    shows={"*": (("reason",), "doc")},
    locations=(Location("user", "~/.junie/config.json", "doc"),),
    events=EVENTS,
    lacks=LACKS,
    tools=TOOLS,
    matching=REGEX,
    handlers={
        "command": HandlerSpec(
            "command",
            {
                "command": "command",
                "timeout": "timeout",
                "async": "is_async",
                # Of Stop alone.
                "blockOnError": Field("on_failure", {True: "block"}, read_only=True),
            },
            # The default before a tool is not published, nor are fractions.
            Timeout(SECOND, whole=True, minimum=SECOND),
            required=("command",),
        ),
    },
    shape=BY_EVENT,
    wire=WIRE,
    obeys=("decision",),
    commands_start="root",
    programs=("junie",),
    home=("~/.junie", ""),
    notes=("Junie ignores hooks in a project; hookport writes them for the user.",),
    quirks=(
        Quirk("JU1", "hooks in a project's .junie/config.json are ignored", "doc"),
        Quirk("JU2", "in a batch run UserPromptSubmit does not fire", "doc"),
        Quirk("JU3", "a hook on PermissionRequest that succeeds approves, even if it only looks on", "table"),
        Quirk("JU4", "PreToolUse is documented for commands, and the names of other tools are not", "doc"),
        Quirk("JU5", "`additionalContext` on Stop is one more step", "doc"),
        Quirk("JU6", "after 8 blocks in a row Stop ends (JUNIE_STOP_HOOK_BLOCK_CAP)", "table"),
    ),
    ways_around=list_ways(
        WayAround(
            "protocol", "open", "JU7", "an editor that runs Junie by ACP, or its server, fires no hook", "doc"
        ),
        kinds=4,
    ),
)
