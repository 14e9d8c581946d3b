"""oh-my-pi: the extension API of pi, whose fork it is, so a generated extension runs the hooks."""

from __future__ import annotations

from datetime import timedelta

from hookport.shapes import pi_extension as extension
from hookport.shapes.dialect import (
    Dialect,
    EventSpec,
    Location,
    Matching,
    McpNames,
    Quirk,
    WayAround,
    explain_missing,
    list_ways,
    name_events,
    name_tools,
    spell_root,
)
from hookport.shapes.module import HANDLERS, make_module_shape
from hookport.shapes.transcripts import TREE

SOURCES = {
    "src": "@oh-my-pi/pi-coding-agent 18.2.3: src/extensibility, src/session, src/tools, November 2026",
    "lab": "measured on 18.2.3 with `omp -p`, November 2026",
    "own": "what the generated extension does",
}

# How long it waits for all hooks of an event; then a tool is blocked, and everything else goes on (src).
WAIT = timedelta(seconds=30)
PRINT = "with `omp -p` (OM1)"

# A name with a word in brackets is an event that the generated code distinguishes by its payload (own).
EVENTS = (
    EventSpec("tool_call", "before_tool_execute", "prevent", "lab", "tool", rewrites=True, max_timeout=WAIT),
    EventSpec("tool_result", "after_tool_execute", "observe", "lab", "tool", max_timeout=WAIT),
    EventSpec("tool_result (error)", "tool_use_failure", "observe", "lab", "tool", max_timeout=WAIT),
    EventSpec(
        "input",
        "before_prompt",
        "prevent",
        "src",
        max_timeout=WAIT,
        partly="the interactive omp, not `omp -p` (OM1)",
        unfired=PRINT,
    ),
    EventSpec("before_agent_start", "before_prompt", "observe", "lab", secondary=True, max_timeout=WAIT),
    # The generated code gives what the hook prints to the session's first request.
    EventSpec("session_start", "session_start", "observe", "lab", max_timeout=WAIT),
    EventSpec("session_shutdown", "session_end", "observe", "lab", max_timeout=timedelta(seconds=2)),
    EventSpec("session_stop", "agent_stop", "retry", "lab", max_timeout=WAIT),
    EventSpec("agent_end (error)", "error_occurred", "observe", "own", max_timeout=WAIT),
    EventSpec("agent_end (aborted)", "interrupted", "observe", "own", max_timeout=WAIT),
    EventSpec("session_before_compact", "before_compact", "prevent", "src", max_timeout=WAIT),
    EventSpec("session_compact", "after_compact", "observe", "src", max_timeout=WAIT),
    EventSpec("tool_approval_requested", "permission_request", "observe", "src", max_timeout=WAIT),
    EventSpec("context", "before_model", "observe", "lab", max_timeout=WAIT),
    EventSpec("before_provider_request", "before_model", "observe", "lab", secondary=True),
    EventSpec("message_end (assistant)", "after_model", "observe", "lab", max_timeout=WAIT),
    EventSpec("after_provider_response", "after_model", "observe", "lab", secondary=True),
    *name_events(
        "lab",
        *("agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_end"),
        *("tool_execution_start", "tool_execution_end"),
    ),
    *name_events(
        "src",
        *("message_update", "tool_execution_update", "resources_discover", "session_before_switch"),
        *("session_switch", "session_before_branch", "session_branch", "session.compacting"),
        *("session_before_tree", "session_tree", "auto_compaction_start", "auto_compaction_end"),
        *("auto_retry_start", "auto_retry_end", "retry_fallback_applied", "retry_fallback_succeeded"),
        *("ttsr_triggered", "todo_reminder", "goal_updated", "credential_disabled"),
        *("tool_approval_resolved", "user_bash", "user_python", "mcp_notification"),
    ),
)

LACKS = explain_missing(
    EVENTS,
    "no such event in the source",
    registry=30,
    subagent_start="tool_call fires for task, which starts subagents",
    subagent_stop="session_stop does not fire for a subagent, tool_result does for task",
    permission_denied="tool_approval_resolved reports an approval too",
    after_tool_batch="turn_end fires after every answer of the model, with calls or without",
    before_command_expansion="input fires before a template or a skill is expanded, for every prompt",
    message_display="message_update fires for every piece of text",
)

TOOLS = (
    *name_tools(
        "lab",
        # The second runs code, which may start processes; the third starts those that go on running (OM3).
        shell=("bash", "eval", "hub"),
        file_read="read",
        file_write="write",
        file_edit="edit",
        search="grep",
        find="glob",
        web_search="web_search",
        agent="task",
        todo="todo",
    ),
    *name_tools("src", file_edit="ast_edit", search="ast_grep", ask_user="ask"),
)
INPUTS = {
    # Of an edit by its text; the usual patch stands in `input`, with `path` or `paths` beside it.
    "file_edit": {"path": "path", "old": "old_string", "new": "new_string"},
    "eval": {"command": "code"},
    "search": {"pattern": "pattern", "path": "path"},
    "find": {"pattern": "path"},
}

LOCATIONS = (
    Location("project", ".omp/extensions/hookport.ts", "lab"),
    Location("user", "~/.omp/agent/extensions/hookport.ts", "lab"),
)

DIALECT = Dialect(
    id="omp",
    title="oh-my-pi",
    kind="agent",
    facts="18.2.3",
    sources=SOURCES,
    # The message is a notification of the extension.
    shows={"*": (("message", "reason"), "src")},
    locations=LOCATIONS,
    other_places={
        "module": (
            *extension.list_places(LOCATIONS),
            *(
                place._replace(path=f"{place.path.removesuffix('extensions/hookport.ts')}hooks/{name}")
                for place in LOCATIONS
                for name in ("pre/*.ts", "pre/*.js", "post/*.ts", "post/*.js")
            ),
        )
    },
    events=EVENTS,
    lacks=LACKS,
    tools=TOOLS,
    # The joint is one underscore, so a server's name ends where nobody sees it.
    mcp=McpNames("mcp__", "_", "src", allowed="a-z0-9_"),
    matching=Matching("terms"),
    handlers=HANDLERS,
    # A guard's own error denies: what is thrown on `tool_call` blocks the tool, on other events it is logged.
    shape=make_module_shape("omp.ts", "pi_extension.ts"),
    wire=extension.make_wire(
        EVENTS,
        "OMP_PROJECT_DIR",
        {
            "session_stop": {"final_message": "finalMessage"},
            "tool_approval_requested": {"tool": "toolName", "call_id": "toolCallId"},
            "session_start": {},
            "session_shutdown": {},
        },
        INPUTS,
        precedence=-1,
        transcript={
            **TREE,
            "of": "oh-my-pi 18.2.3",
            "kept": (
                "$PI_CODING_AGENT_DIR/sessions/*/*_{session}.jsonl",
                "~/.omp/agent/sessions/*/*_{session}.jsonl",
            ),
        },
    ),
    obeys=("decision",),
    commands_start="root",
    project_read="start",
    project_dir=spell_root("OMP_PROJECT_DIR"),
    programs=("omp",),
    home=("~/.omp/agent", "PI_CODING_AGENT_DIR"),
    notes=("oh-my-pi reads extensions when it starts, and those of a project only in its start folder.",),
    quirks=(
        Quirk(
            "OM1",
            "`omp -p` fires no input, so a hook cannot block its prompt; before_agent_start fires",
            "lab",
        ),
        Quirk("OM2", "a changed input is an answer; changing the keys of event.input does nothing", "src"),
        Quirk(
            "OM4",
            "after 30 s of hooks a tool call is blocked, and every other event goes on without them",
            "src",
        ),
        Quirk("OM5", "an edit is a patch in one text, with the files in its headers", "lab"),
        Quirk("OM6", "a block of session_stop keeps the agent going for ever; hookport ends it", "src"),
        Quirk("OM7", "project extensions run without a question of trust", "lab"),
        Quirk("OM8", "`--no-extensions` removes every extension, and with it every guard", "src"),
    ),
    ways_around=list_ways(
        WayAround(
            "code",
            "closed",
            "OM3",
            "`eval` runs Python and JavaScript, and `hub` starts processes; guards on the shell are asked "
            "about both, and of `hub` do not see more than its input",
            "src",
            tools=("shell",),
            native="eval",
        ),
        kinds=4,
        none={"sub-agents": "src"},
    ),
)
