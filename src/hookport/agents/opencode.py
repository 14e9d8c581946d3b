"""OpenCode: no hooks that run commands, so a generated plugin runs them."""

from __future__ import annotations

from hookport.shapes import opencode_plugin as plugin
from hookport.shapes.dialect import (
    Dialect,
    Gate,
    Location,
    Matching,
    McpNames,
    Quirk,
    explain_missing,
    list_ways,
    name_events,
    name_tools,
    spell_root,
)
from hookport.shapes.module import HANDLERS
from hookport.shapes.transcripts import keep_in_database

SOURCES = {
    "src": "anomalyco/opencode at 2026-08-19: packages/plugin/src/index.ts, packages/opencode/src (1.18.18)",
    "lab": "measured on 1.18.33, November 2026",
    "own": "what the generated plugin does",
}

EVENTS = plugin.list_events(
    (
        *("tool.execute.before", "tool.execute.after", "chat.message", "chat.params", "chat.headers"),
        *("experimental.chat.messages.transform", "experimental.chat.system.transform"),
        *("experimental.text.complete", "shell.env", "tool.definition", "event.file.edited"),
        *("event.session.created", "event.session.created (child)", "event.session.idle"),
        *("event.session.idle (child)", "event.session.updated", "event.session.status"),
        *("event.session.diff", "event.permission.asked", "event.permission.replied"),
        *("event.message.updated", "event.message.part.updated", "event.message.part.delta"),
        *("event.file.watcher.updated",),
    ),
    *name_events(
        "lab",
        *("event.plugin.added", "event.catalog.updated", "event.reference.updated"),
        *("event.integration.updated",),
    ),
    partly="`opencode serve`, but not `opencode run`, which exits too soon (OC7)",
)

LOCATIONS = (
    Location("project", ".opencode/plugins/hookport.ts", "lab"),
    Location("project", ".opencode/plugin/hookport.ts", "lab"),
    Location("user", "~/.config/opencode/plugins/hookport.ts", "lab"),
    Location("user", "~/.config/opencode/plugin/hookport.ts", "lab"),
)

DIALECT = Dialect(
    id="opencode",
    title="OpenCode",
    kind="agent",
    facts="1.18.33",
    sources=SOURCES,
    shows={
        # A denied call appears there without its reason; the message is a toast of the plugin.
        "event.session.idle": (("message", "reason"), "lab"),
        "*": (("message",), "lab"),
    },
    markers={"OPENCODE": "lab"},
    locations=LOCATIONS,
    other_places={"module": plugin.list_places(LOCATIONS, "src")},
    events=EVENTS,
    lacks=explain_missing(EVENTS, "no such hook or bus event in the source", registry=30, **plugin.LACKS),
    tools=name_tools(
        "src",
        shell="bash",
        file_read="read",
        file_write=("write", "apply_patch"),
        file_edit=("edit", "apply_patch"),
        search="grep",
        find="glob",
        web_search="websearch",
        web_fetch="webfetch",
        agent="task",
        todo="todowrite",
        skill="skill",
        ask_user="question",
    ),
    mcp=McpNames("", "_", "src"),
    matching=Matching("terms"),
    handlers=HANDLERS,
    # The terminal program runs plugins on Bun, the desktop app (1.14.39 and later) on Node.js, which has no
    # global `Bun` (anomalyco/opencode#25880). A plugin that does not load is silently skipped (OC1), so
    # the template imports only what both engines have.
    shape=plugin.SHAPE,
    # (src, the tool registry); the last stands for a call that could not be read.
    wire=plugin.make_wire(
        EVENTS,
        "OPENCODE_PROJECT_DIR",
        ("lsp", "plan_exit", "invalid"),
        transcript=(keep_in_database("opencode/opencode.db", "XDG_DATA_HOME", "OpenCode 1.18.33"),),
    ),
    obeys=("decision",),
    commands_start="root",
    project_dir=spell_root("OPENCODE_PROJECT_DIR"),
    programs=("opencode",),
    gates=(
        Gate(
            (),
            (),
            (),
            "it switches plugins off",
            "Unset it, and remove `--pure`.",
            "src",
            variable="OPENCODE_PURE",
            stops="agent",
        ),
    ),
    notes=("OpenCode loads the plugin when it starts; with `--pure` or OPENCODE_PURE it loads none.",),
    quirks=(
        Quirk(
            "OC1",
            "a plugin that does not load is silently skipped: every export must be a function",
            "lab",
        ),
        Quirk("OC2", "permission.ask is in the types and never called", "lab"),
        Quirk("OC3", "assigning output.args has no effect, its keys must be assigned", "lab"),
        Quirk("OC4", "the host has no timeout, the generated code has one", "lab"),
        Quirk("OC5", "tool.execute.after is not called when the tool threw", "lab"),
        Quirk(
            "OC6", "session.deleted fires only when a session is deleted, not when the program ends", "src"
        ),
        Quirk(
            "OC7", "`opencode run` exits right after session.idle, perhaps before a hook there ends", "lab"
        ),
    ),
    ways_around=list_ways(kinds=4, none={"sub-agents": "lab", "protocol": "lab"}),
)
