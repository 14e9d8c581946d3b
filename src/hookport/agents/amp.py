"""Amp: no hooks that run commands, so a generated plugin runs them, by its documentation."""

from __future__ import annotations

from hookport.shapes.canonical_answer import MODULE_READS, make_module_answers
from hookport.shapes.dialect import (
    Dialect,
    EventSpec,
    Location,
    Matching,
    McpNames,
    Quirk,
    Tree,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.shapes.module import HANDLERS, make_module_shape
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "doc": "ampcode.com/manual/plugin-api and the types of its plugins, by excerpts of mid-2026",
    "table": "third-party generators and tables of 2026, not verified",
    "own": "what the generated plugin does",
}

# A name with a word in brackets is an event that the generated code distinguishes by its payload (own).
EVENTS = (
    EventSpec("tool.call", "before_tool_execute", "prevent", "doc", "tool", rewrites=True),
    EventSpec("tool.result", "after_tool_execute", "observe", "doc", "tool"),
    EventSpec("tool.result (error)", "tool_use_failure", "observe", "own", "tool"),
    # It gives the agent another message, and keeps no prompt from it.
    EventSpec("agent.start", "before_prompt", "observe", "doc"),
    # The generated code gives what the hook prints to the session's first request.
    EventSpec("session.start", "session_start", "observe", "own"),
    EventSpec("agent.end", "agent_stop", "retry", "doc"),
    EventSpec("agent.end (error)", "error_occurred", "observe", "own"),
)

LACKS = explain_missing(EVENTS, "no such event among the 5 of the documentation", registry=30)

TOOLS = (
    *name_tools("doc", shell=("Bash", "shell_command")),
    *name_tools("doc", file_write=("create_file", "apply_patch"), file_edit=("edit_file", "apply_patch")),
    *name_tools(
        "table",
        file_read="Read",
        search="Grep",
        find="glob",
        web_search="web_search",
        web_fetch="read_web_page",
        agent="Task",
        todo="todo_write",
    ),
)

LOCATIONS = (
    Location("project", ".amp/plugins/hookport.ts", "doc"),
    Location("user", "~/.config/amp/plugins/hookport.ts", "doc"),
)

_CALL = {"tool": "tool", "input": "input", "call_id": "toolUseID"}
KEYS_OF: dict[str, dict[str, Tree]] = {
    "tool.call": _CALL,
    "tool.result": {**_CALL, "result": "output"},
    "tool.result (error)": {**_CALL, "error": "error"},
    "agent.start": {"prompt": "prompt"},
    "agent.end": {"final_message": "finalMessage"},
    "agent.end (error)": {"final_message": "finalMessage"},
}

# A person is asked where there is one; the context of a call goes with its result (own).
ANSWERS: dict[str, dict[str, Tree]] = {
    "tool.call": make_module_answers("deny", "ask", "rewrite", "context"),
    "tool.result": make_module_answers("deny", "context", "result"),
    "tool.result (error)": make_module_answers("deny", "context"),
    "agent.start": make_module_answers("context"),
    "session.start": make_module_answers("context"),
    "agent.end": make_module_answers("deny"),
    "*": make_module_answers(),
}

WIRE = Wire(
    keys={
        "event": "hook",
        "session": "thread.id",
        "cwd": "cwd",
        "root": "root",
        "stop_active": "stopActive",
    },
    by_event=list_by_event(
        keys=KEYS_OF,
        fixed={
            "tool.call": {"toolUseID": ""},
            "tool.result": {"toolUseID": "", "status": "done"},
            "tool.result (error)": {"toolUseID": "", "status": "error"},
        },
    ),
    fixed={"thread": {"id": "$session"}},
    # The fields of tools are not documented; `cmd` stands in an example.
    inputs={"shell": {"command": ["cmd", "command"]}, "file_write": {"path": "path"}},
    env={"AMP_PROJECT_DIR": "$root"},
    starts_in="root",
    marks=("hook", "thread"),
    answers=ANSWERS,
    reads=MODULE_READS,
    # It runs code of its own and no command, so that only our own module reads an answer.
    obeys={},
    lifts=False,
)

DIALECT = Dialect(
    id="amp",
    title="Amp",
    kind="agent",
    facts="documentation of mid-2026",
    sources=SOURCES,
    shows={"*": (("message", "reason"), "own")},
    locations=LOCATIONS,
    other_places={
        "module": tuple(
            place._replace(path=f"{place.path.removesuffix('hookport.ts')}*.ts") for place in LOCATIONS
        )
    },
    events=EVENTS,
    lacks=LACKS,
    tools=TOOLS,
    mcp=McpNames("mcp__", "__", "table"),
    matching=Matching("terms"),
    handlers=HANDLERS,
    # A guard's own error denies: the template answers it, since Amp only logs what a plugin throws.
    shape=make_module_shape("amp.ts"),
    wire=WIRE,
    obeys=("decision",),
    commands_start="root",
    project_read="start",
    project_dir=spell_root("AMP_PROJECT_DIR"),
    programs=("amp",),
    home=("~/.config/amp", ""),
    notes=(
        "Amp reads plugins when it starts, or with its command `plugins: reload`.",
        "Amp's plugin API is experimental, and was not measured: Amp works with its own server alone.",
    ),
    quirks=(
        Quirk(
            "AM1", "the tools' names and fields differ by mode; the plugin asks Amp what is a command", "doc"
        ),
        Quirk("AM2", "what a plugin throws is logged, and the call runs; the plugin answers instead", "doc"),
        Quirk(
            "AM7",
            "no answer is documented for no opinion, so the plugin says `allow`; whether that skips the "
            "permission rules of Amp is not documented",
            "doc",
        ),
        Quirk("AM3", "after five continuations of agent.end Amp stops", "doc"),
        Quirk("AM4", "the order of plugins on one event is undefined", "doc"),
        Quirk("AM5", "older builds wanted PLUGINS=all and a first line of its own", "table"),
        Quirk("AM6", "`amp.hooks` in its settings is an older form, which starts no process", "table"),
    ),
    ways_around=list_ways(kinds=4),
)
