"""OpenCode: no hooks that run commands, so a generated plugin runs them."""

from __future__ import annotations

from hookport.agents._base import (
    Dialect,
    EventSpec,
    Gate,
    Location,
    Matching,
    McpNames,
    Quirk,
    in_variables,
    named,
)
from hookport.agents._module import HANDLERS, module
from hookport.agents._opencode_plugin import CODE
from hookport.agents._opencode_wire import wire_for

SOURCES = {
    "src": "anomalyco/opencode at 2026-08-19: packages/plugin/src/index.ts, packages/opencode/src (1.18.18)",
    "lab": "measured on 1.18.33, November 2026",
    "own": "what the generated plugin does",
}

# Callbacks are awaited and may throw; what begins with `event.` is heard on the bus and only watched (src).
# A name with a word in brackets is a bus event that the generated code tells apart by its payload (own).
EVENTS = (
    EventSpec("tool.execute.before", "before_tool_execute", "prevent", "lab", "tool", rewrites=True),
    EventSpec("tool.execute.after", "after_tool_execute", "observe", "lab", "tool"),
    EventSpec("chat.message", "before_prompt", "prevent", "lab"),
    EventSpec("command.execute.before", "before_command_expansion", "prevent", "src"),
    # The generated code gives what the hook prints to the session's requests.
    EventSpec("event.session.created", "session_start", "observe", "lab"),
    EventSpec("event.session.created (child)", "subagent_start", "observe", "lab"),
    EventSpec("event.session.deleted", "session_end", "observe", "src"),
    EventSpec(
        "event.session.idle",
        "agent_stop",
        "retry",
        "lab",
        partly="`opencode serve`, and not `opencode run`, which is gone too soon (OC7)",
    ),
    EventSpec("event.session.idle (child)", "subagent_stop", "observe", "lab"),
    EventSpec("event.session.error", "error_occurred", "observe", "src"),
    EventSpec("event.session.compacted", "after_compact", "observe", "src"),
    EventSpec("experimental.session.compacting", "before_compact", "observe", "src"),
    EventSpec("event.permission.asked", "permission_request", "observe", "lab"),
    EventSpec("event.permission.replied (reject)", "permission_denied", "observe", "own"),
    EventSpec("chat.params", "before_model", "observe", "lab"),
    EventSpec("chat.headers", "before_model", "observe", "lab", secondary=True),
    EventSpec("experimental.chat.messages.transform", "before_model", "observe", "lab", secondary=True),
    EventSpec("experimental.chat.system.transform", "before_model", "observe", "lab", secondary=True),
    EventSpec("experimental.text.complete", "after_model", "observe", "lab"),
    EventSpec("tool.definition", "before_tool_selection", "observe", "lab"),
    EventSpec("event.file.edited", "file_changed", "observe", "lab"),
    EventSpec("event.tui.toast.show", "notification", "observe", "src"),
    EventSpec("shell.env", "", "observe", "lab"),
    EventSpec("experimental.compaction.autocontinue", "", "observe", "src"),
    EventSpec("experimental.provider.small_model", "", "observe", "src"),
    EventSpec("event.permission.replied", "", "observe", "lab"),
    EventSpec("event.file.watcher.updated", "", "observe", "lab"),
    EventSpec("event.session.updated", "", "observe", "lab"),
    EventSpec("event.session.status", "", "observe", "lab"),
    EventSpec("event.session.diff", "", "observe", "lab"),
    EventSpec("event.message.updated", "", "observe", "lab"),
    EventSpec("event.message.removed", "", "observe", "src"),
    EventSpec("event.message.part.updated", "", "observe", "lab"),
    EventSpec("event.message.part.delta", "", "observe", "lab"),
    EventSpec("event.message.part.removed", "", "observe", "src"),
    EventSpec("event.command.executed", "", "observe", "src"),
    EventSpec("event.todo.updated", "", "observe", "src"),
    EventSpec("event.lsp.client.diagnostics", "", "observe", "src"),
    EventSpec("event.lsp.updated", "", "observe", "src"),
    EventSpec("event.installation.updated", "", "observe", "src"),
    EventSpec("event.server.connected", "", "observe", "src"),
    EventSpec("event.plugin.added", "", "observe", "lab"),
    EventSpec("event.catalog.updated", "", "observe", "lab"),
    EventSpec("event.reference.updated", "", "observe", "lab"),
    EventSpec("event.integration.updated", "", "observe", "lab"),
    EventSpec("event.tui.prompt.append", "", "observe", "src"),
    EventSpec("event.tui.command.execute", "", "observe", "src"),
)

_NONE = "no such hook or bus event in the source"
LACKS = {
    "config_change": _NONE,
    "file_created": "file.watcher.updated reports all kinds of changes at once",
    "file_saved": "file.watcher.updated reports all kinds of changes at once",
    "file_deleted": "file.watcher.updated reports all kinds of changes at once",
    "before_task": _NONE,
    "after_task": _NONE,
    "tool_use_failure": "tool.execute.after is not called when the tool threw",
    "interrupted": _NONE,
    "after_tool_batch": _NONE,
    "instructions_loaded": _NONE,
    "message_display": "message.part.delta fires for every piece of text",
}

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
        # A denied call stands there without its reason; the message is a toast of the plugin.
        "event.session.idle": (("message", "reason"), "lab"),
        "*": (("message",), "lab"),
    },
    markers={"OPENCODE": "lab"},
    locations=LOCATIONS,
    modules=tuple(
        place._replace(path=f"{place.path.removesuffix('hookport.ts')}*{ending}", source="src")
        for place in LOCATIONS
        for ending in (".ts", ".js")
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=named(
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
    shape=module(CODE),
    wire=wire_for([spec.native for spec in EVENTS]),
    obeys=("decision",),
    at_root=True,
    project_dir=in_variables("OPENCODE_PROJECT_DIR"),
    programs=("opencode",),
    gates=(
        Gate(
            (),
            (),
            (),
            "plugins are switched off by it",
            "Unset it, and leave `--pure` out.",
            "src",
            variable="OPENCODE_PURE",
            stops="agent",
        ),
    ),
    notes=("OpenCode loads the plugin when it starts; with `--pure` or OPENCODE_PURE it loads none.",),
    quirks=(
        Quirk(
            "OC1",
            "a plugin that does not load is skipped without a word: every export must be a function",
            "lab",
        ),
        Quirk("OC2", "permission.ask is in the types and never called", "lab"),
        Quirk("OC3", "assigning output.args has no effect, its keys must be assigned", "lab"),
        Quirk("OC4", "the host has no timeout of its own, the generated code has one", "lab"),
        Quirk("OC5", "tool.execute.after is not called when the tool threw", "lab"),
        Quirk(
            "OC6", "session.deleted fires only when a session is deleted, not when the program ends", "src"
        ),
        Quirk("OC7", "`opencode run` ends right after session.idle, perhaps before a hook there has", "lab"),
    ),
)
