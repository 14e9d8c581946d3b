"""pi: no hooks that run commands, so a generated extension runs them."""

from __future__ import annotations

from hookport.shapes import pi_extension as extension
from hookport.shapes.dialect import (
    WAYS,
    Dialect,
    EventSpec,
    FolderTrust,
    Location,
    Matching,
    Quirk,
    explain_missing,
    list_ways,
    name_events,
    name_tools,
    spell_root,
)
from hookport.shapes.module import HANDLERS, make_module_shape
from hookport.shapes.transcripts import TREE

SOURCES = {
    "src": "@earendil-works/pi-coding-agent 0.87.1: dist/core and docs, November 2026",
    "lab": "measured on 0.87.1 and, as @mariozechner/pi-coding-agent, on 0.73.1, November 2026",
    "own": "what the generated extension does",
}

# A name with a word in brackets is an event that the generated code distinguishes by its payload (own).
EVENTS = (
    EventSpec("tool_call", "before_tool_execute", "prevent", "lab", "tool", rewrites=True),
    EventSpec("tool_result", "after_tool_execute", "observe", "lab", "tool"),
    EventSpec("tool_result (error)", "tool_use_failure", "observe", "lab", "tool"),
    EventSpec("input", "before_prompt", "prevent", "lab"),
    EventSpec("before_agent_start", "before_prompt", "observe", "lab", secondary=True),
    # The generated code gives what the hook prints to the session's first request.
    EventSpec("session_start", "session_start", "observe", "lab"),
    EventSpec("session_shutdown", "session_end", "observe", "lab"),
    EventSpec("agent_end", "agent_stop", "retry", "lab"),
    EventSpec("agent_end (error)", "error_occurred", "observe", "own"),
    EventSpec("agent_end (aborted)", "interrupted", "observe", "own"),
    EventSpec("session_before_compact", "before_compact", "prevent", "src"),
    EventSpec("session_compact", "after_compact", "observe", "src"),
    EventSpec("context", "before_model", "observe", "lab"),
    EventSpec("before_provider_request", "before_model", "observe", "lab", secondary=True),
    EventSpec("message_end (assistant)", "after_model", "observe", "lab"),
    EventSpec("after_provider_response", "after_model", "observe", "lab", secondary=True),
    # Only if an extension asks: pi itself asks for no permission.
    EventSpec("ui_prompt_start", "notification", "observe", "src"),
    *name_events(
        "lab",
        *("agent_start", "agent_settled", "turn_start", "turn_end", "message_start"),
        *("message_update", "message_end", "tool_execution_start", "tool_execution_update"),
        *("tool_execution_end", "resources_discover"),
    ),
    *name_events(
        "src",
        *("ui_prompt_end", "agent_before_settle", "context_with_system", "before_provider_headers"),
        *("session_info_changed", "session_before_switch", "session_before_fork"),
        *("session_before_tree", "session_tree", "session_compact_failed", "model_select"),
        *("thinking_level_select", "user_bash"),
    ),
)

LACKS = explain_missing(
    EVENTS,
    "no such event in the source",
    registry=30,
    subagent_start="pi has no subagents",
    subagent_stop="pi has no subagents",
    permission_request="pi asks for no permission: a tool runs unless an extension blocks it",
    permission_denied="pi asks for no permission: a tool runs unless an extension blocks it",
    config_change="model_select and thinking_level_select report only two settings",
    after_tool_batch="turn_end fires after every answer of the model, with calls or without",
    before_command_expansion="input fires before a template or a skill is expanded, for every prompt",
    message_display="message_update fires for every piece of text",
)

LOCATIONS = (
    Location("project", ".pi/extensions/hookport.ts", "lab"),
    Location("user", "~/.pi/agent/extensions/hookport.ts", "lab"),
)

DIALECT = Dialect(
    id="pi",
    title="pi",
    kind="agent",
    facts="0.87.1",
    sources=SOURCES,
    shows={
        # The reason was seen on the screen (lab); the message is a notification of the extension (src).
        "*": (("message", "reason"), "src"),
    },
    markers={"PI_CODING_AGENT": "lab"},
    locations=LOCATIONS,
    other_places={"module": extension.list_places(LOCATIONS)},
    events=EVENTS,
    lacks=LACKS,
    tools=name_tools(
        "src",
        shell=("bash", "powershell"),
        file_read="read",
        file_write="write",
        file_edit="edit",
        search="grep",
        find="find",
        list="ls",
    ),
    matching=Matching("terms"),
    handlers=HANDLERS,
    # A guard's own error denies: what is thrown on `tool_call` blocks the tool; on every other event pi would
    # go on as if nothing had been said (lab), so the template catches it and answers.
    shape=make_module_shape("pi.ts", "pi_extension.ts"),
    wire=extension.make_wire(
        EVENTS,
        "PI_PROJECT_DIR",
        transcript={
            **TREE,
            "of": "pi 0.87.1",
            "kept": (
                "$PI_CODING_AGENT_DIR/sessions/*/*_{session}.jsonl",
                "~/.pi/agent/sessions/*/*_{session}.jsonl",
            ),
        },
    ),
    obeys=("decision",),
    commands_start="root",
    project_read="start",
    project_dir=spell_root("PI_PROJECT_DIR"),
    programs=("pi",),
    home=("~/.pi/agent", "PI_CODING_AGENT_DIR"),
    folder_trust=FolderTrust(
        "~/.pi/agent/trust.json",
        ((),),
        "Start `pi` in this folder and trust it with `/trust`; with -p, pass --approve.",
        "src",
        yes=(True,),
        asks=(("~/.pi/agent/settings.json",), ("defaultProjectTrust",), True),
        trusting=("always",),
    ),
    notes=(
        "pi loads a project's extensions only in a folder it trusts: use `/trust`, or with -p `--approve`.",
        "pi reads them when it starts, or with `/reload`, and only in its start folder.",
    ),
    quirks=(
        Quirk("PI1", "without trust a project's extensions are silently skipped", "lab"),
        Quirk("PI2", "assigning event.input has no effect, its keys must be assigned", "lab"),
        Quirk("PI3", "an error on tool_call blocks the tool, on every other event pi continues", "lab"),
        Quirk("PI4", "the host has no timeout, the generated code has one", "lab"),
        Quirk("PI5", "an extension that cannot be read keeps pi from starting", "lab"),
        Quirk("PI6", "`pi -p` of 0.73.1 exits before a prompt sent on agent_end, 0.87.1 continues", "lab"),
        Quirk("PI7", "tool_result does not fire for an unknown tool or an input of another form", "lab"),
        Quirk("PI8", "no MCP: an extension chooses the names of its tools", "src"),
        Quirk(
            "PI9",
            "the package is @earendil-works/pi-coding-agent, and was @mariozechner/pi-coding-agent",
            "src",
        ),
    ),
    # It has no subagents, no second shell and no tool that runs code; `--mode rpc` is for programs.
    ways_around=list_ways(kinds=4, none=dict.fromkeys(WAYS, "lab")),
)
