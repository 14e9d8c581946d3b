"""pi: no hooks that run commands, so a generated extension runs them."""

from __future__ import annotations

from hookport.shapes.canonical_answer import MODULE_READS, make_module_answers
from hookport.shapes.dialect import (
    Dialect,
    EventSpec,
    FolderTrust,
    Location,
    Matching,
    Quirk,
    Tree,
    explain_missing,
    list_ways,
    name_events,
    name_tools,
    spell_root,
)
from hookport.shapes.module import HANDLERS, make_module_shape
from hookport.wire.table import Wire, list_by_event

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

# pi's wire: what the generated extension sends for an event, and the answers it applies to it.
# The payload is the event's own object, as captured on 0.87.1, with `hook`, `cwd`, `root`, `sessionId`,
# `sessionFile` and `stopActive` beside it; the answer is the interchange format's.

KEYS = {
    "event": "hook",
    "session": "sessionId",
    "cwd": "cwd",
    "root": "root",
    "stop_active": "stopActive",
    "transcript": "sessionFile",
}

_CALL = {"tool": "toolName", "input": "input", "call_id": "toolCallId"}
_END = {"final_message": "finalMessage"}
_WHY = {"source": "reason"}
KEYS_OF: dict[str, dict[str, Tree]] = {
    "tool_call": _CALL,
    "tool_result": {**_CALL, "result": "content"},
    "tool_result (error)": {**_CALL, "error": "content:parts"},
    "input": {"prompt": "text", "source": "source"},
    "before_agent_start": {"prompt": "prompt"},
    "session_start": _WHY,
    "session_shutdown": _WHY,
    "session_before_compact": {**_WHY, "instructions": "customInstructions"},
    "session_compact": _WHY,
    "agent_end": _END,
    "agent_end (error)": _END,
    "agent_end (aborted)": _END,
    "message_end (assistant)": {"final_message": "message.content:parts"},
    "ui_prompt_start": {"source": "kind"},
}

# A new session takes the place of another as a cleared one does; a compaction comes at a threshold, or when
# the context overflows; a prompt is typed, sent by a program or by an extension (src).
_COMPACTED = {"auto": ["threshold", "overflow"]}
WORDS: dict[str, dict[str, Tree]] = {
    "session_start": {"clear": "new"},
    "session_end": {"clear": "new", "complete": "quit"},
    "before_compact": _COMPACTED,
    "after_compact": _COMPACTED,
    "before_prompt": {"user": "interactive", "sdk": "rpc", "system": "extension"},
}

# What an event's own object always has (src).
FIXED_OF: dict[str, dict[str, Tree]] = {
    "tool_call": {"toolCallId": ""},
    "tool_result": {"toolCallId": "", "isError": False},
    "tool_result (error)": {"toolCallId": "", "isError": True, "content": []},
    "input": {"source": "interactive"},
    "agent_end": {"messages": []},
}

# An edit's text stands in a list; before 0.73 it did not, and both are still taken (src).
INPUTS = {
    "file_edit": {"old": "oldText", "new": "newText"},
    "edits": {"old": "oldText", "new": "newText"},
}

# The extension blocks a tool with the reason, keeps a prompt from the agent, gives the reason in place of a
# result or as the next prompt, and cancels a compaction; a person is asked where there is one (lab, own). A
# message is a notification.
ANSWERS: dict[str, dict[str, Tree]] = {
    "tool_call": make_module_answers("deny", "ask", "rewrite", "context"),
    "tool_result": make_module_answers("deny", "context", "result"),
    "tool_result (error)": make_module_answers("deny", "context", "result"),
    "input": make_module_answers("deny", "context"),
    "before_agent_start": make_module_answers("context"),
    "session_start": make_module_answers("context"),
    "agent_end": make_module_answers("deny"),
    "session_before_compact": make_module_answers("deny"),
    "*": make_module_answers(),
}


def build_wire(natives: list[str]) -> Wire:
    """The wire of these native events."""
    types = {native: {"type": native.partition(" ")[0]} for native in natives}
    return Wire(
        keys=KEYS,
        by_event=list_by_event(
            keys=KEYS_OF,
            fixed={native: {**type_, **FIXED_OF.get(native, {})} for native, type_ in types.items()},
        ),
        words=WORDS,
        transcript="tree",
        inputs=INPUTS,
        texts=(":parts",),
        results={"*": [{"type": "text", "text": "$text"}]},
        env={"PI_PROJECT_DIR": "$root"},
        starts_in="root",
        marks=("hook", "type"),
        answers=ANSWERS,
        reads=MODULE_READS,
        # It runs code of its own and no command, so that only our own module reads an answer.
        obeys={},
        lifts=False,
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
    other_places={
        "module": tuple(
            place._replace(path=f"{place.path.removesuffix('hookport.ts')}{name}", source="src")
            for place in LOCATIONS
            for name in ("*.ts", "*.js", "*/index.ts", "*/index.js")
        )
    },
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
    shape=make_module_shape("pi.ts"),
    wire=build_wire([spec.native for spec in EVENTS]),
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
    ways_around=list_ways(kinds=4),
)
