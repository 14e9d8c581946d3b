"""OpenCode: no hooks that run commands, so a generated plugin runs them."""

from __future__ import annotations

from hookport.shapes.canonical_answer import MODULE_READS, make_module_answers
from hookport.shapes.dialect import (
    Dialect,
    EventSpec,
    Gate,
    Location,
    Matching,
    McpNames,
    Quirk,
    Tree,
    explain_missing,
    name_events,
    name_tools,
    spell_root,
)
from hookport.shapes.module import HANDLERS, make_module_shape
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "src": "anomalyco/opencode at 2026-08-19: packages/plugin/src/index.ts, packages/opencode/src (1.18.18)",
    "lab": "measured on 1.18.33, November 2026",
    "own": "what the generated plugin does",
}

# Callbacks are awaited and may throw; `event.*` comes from the bus and is only watched (src).
# A name with a word in brackets is a bus event that the generated code distinguishes by its payload (own).
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
        partly="`opencode serve`, but not `opencode run`, which exits too soon (OC7)",
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
    *name_events(
        "lab",
        *("shell.env", "event.permission.replied", "event.file.watcher.updated"),
        *("event.session.updated", "event.session.status", "event.session.diff"),
        *("event.message.updated", "event.message.part.updated", "event.message.part.delta"),
        *("event.plugin.added", "event.catalog.updated", "event.reference.updated"),
        *("event.integration.updated",),
    ),
    *name_events(
        "src",
        *("experimental.compaction.autocontinue", "experimental.provider.small_model"),
        *("event.message.removed", "event.message.part.removed", "event.command.executed"),
        *("event.todo.updated", "event.lsp.client.diagnostics", "event.lsp.updated"),
        *("event.installation.updated", "event.server.connected", "event.tui.prompt.append"),
        *("event.tui.command.execute",),
    ),
)

LACKS = explain_missing(
    EVENTS,
    "no such hook or bus event in the source",
    registry=30,
    file_created="file.watcher.updated reports all kinds of changes at once",
    file_saved="file.watcher.updated reports all kinds of changes at once",
    file_deleted="file.watcher.updated reports all kinds of changes at once",
    tool_use_failure="tool.execute.after is not called when the tool threw",
    message_display="message.part.delta fires for every piece of text",
)

LOCATIONS = (
    Location("project", ".opencode/plugins/hookport.ts", "lab"),
    Location("project", ".opencode/plugin/hookport.ts", "lab"),
    Location("user", "~/.config/opencode/plugins/hookport.ts", "lab"),
    Location("user", "~/.config/opencode/plugin/hookport.ts", "lab"),
)

# OpenCode's wire: what the generated plugin sends for a callback, and the answers it applies to it. The
# payload is the callback's two arguments, as measured on 1.18.33, with `hook`, `directory`, `worktree` and
# `stop_active` beside them; the answer is the interchange format's.

# Native events with this prefix come from the bus, in one argument.
BUS = "event."
BUS_PROPERTIES = "input.event.properties"

KEYS = {
    "event": "hook",
    "session": "input.sessionID",
    "cwd": "directory",
    "root": "worktree",
    "stop_active": "stop_active",
}

_NEW_SESSION = {
    "session": [f"{BUS_PROPERTIES}.sessionID", f"{BUS_PROPERTIES}.info.id"],
    "subagent": f"{BUS_PROPERTIES}.info.agent",
    "session_title": f"{BUS_PROPERTIES}.info.title",
    "parent_session": f"{BUS_PROPERTIES}.info.parentID",
}
KEYS_OF: dict[str, dict[str, Tree]] = {
    "tool.execute.before": {"tool": "input.tool", "input": "output.args", "call_id": "input.callID"},
    "tool.execute.after": {
        "tool": "input.tool",
        "input": "input.args",
        "call_id": "input.callID",
        "result": "output",
    },
    "chat.message": {"prompt": "output.parts:parts", "model": "output.message.model.modelID"},
    "command.execute.before": {"prompt": "output.parts:parts", "source": "input.command"},
    "experimental.text.complete": {"final_message": "output.text"},
    "event.session.created": _NEW_SESSION,
    "event.session.created (child)": _NEW_SESSION,
    "event.permission.asked": {
        "session": f"{BUS_PROPERTIES}.sessionID",
        "tool": f"{BUS_PROPERTIES}.permission",
        "input": f"{BUS_PROPERTIES}.metadata",
        "call_id": f"{BUS_PROPERTIES}.tool.callID",
    },
    "event.tui.toast.show": {
        "source": f"{BUS_PROPERTIES}.variant",
        "message": f"{BUS_PROPERTIES}.message",
        "title": f"{BUS_PROPERTIES}.title",
    },
}

INPUTS = {
    "shell": {"cwd": "workdir"},
    "file_read": {"path": "filePath"},
    "file_write": {"path": "filePath"},
    "file_edit": {"path": "filePath", "old": "oldString", "new": "newString", "replace_all": "replaceAll"},
    "agent": {"agent_type": "subagent_type", "action": "command"},
    "edits": {"old": "oldString", "new": "newString", "replace_all": "replaceAll"},
}

# The plugin throws the reason: before a tool and on a prompt nothing happens then, after a tool the reason
# stands in place of the result (lab); where the agent is idle the reason is the next prompt, which `opencode
# run` is gone too soon to see and a server sees (lab, OC7). A message is a toast.
ANSWERS: dict[str, dict[str, Tree]] = {
    "tool.execute.before": make_module_answers("deny", "rewrite", "context"),
    "tool.execute.after": make_module_answers("deny", "context", "result"),
    "chat.message": make_module_answers("deny", "context"),
    "command.execute.before": make_module_answers("deny", "context"),
    "event.session.created": make_module_answers("context"),
    "event.session.created (child)": make_module_answers("context"),
    "event.session.idle": make_module_answers("deny"),
    "experimental.session.compacting": make_module_answers("context"),
    "experimental.chat.system.transform": make_module_answers("context"),
    "*": make_module_answers(),
}


# What only these callbacks are handed (lab).
TELLS = {
    "tool.execute.before": ("input.callID", "output.args"),
    "tool.execute.after": ("input.callID", "input.args", "output"),
    "chat.message": ("output.message", "output.parts"),
    "chat.params": ("input.provider", "input.message", "output.options"),
    "experimental.chat.system.transform": ("input.model", "output.system"),
    "experimental.text.complete": ("input.partID", "output.text"),
}


# What distinguishes the events that share a type on the bus.
KINDS = {"(child)": f"{BUS_PROPERTIES}.info.parentID", "(reject)": f"{BUS_PROPERTIES}.reply=reject"}


def _list_marks(native: str, type_: str) -> list[str]:
    marks = [f"input.event.type={type_}"]
    return marks + [mark for kind, mark in KINDS.items() if native.endswith(kind)]


def build_wire(natives: list[str]) -> Wire:
    """The wire of these native events."""
    bus = [native for native in natives if native.startswith(BUS)]
    bus_keys = {native: {"session": f"{BUS_PROPERTIES}.sessionID"} for native in bus}
    types = {native: native.removeprefix(BUS).partition(" ")[0] for native in bus}
    return Wire(
        keys=KEYS,
        by_event=list_by_event(
            keys={**bus_keys, **KEYS_OF},
            fixed={
                native: {"input.event.type": type_, "input.event.properties": {}}
                for native, type_ in types.items()
            },
        ),
        fixed={"input": {}, "output": {}},
        inputs=INPUTS,
        patches={"apply_patch": "patchText"},
        # An MCP tool's result is its own list of content parts (src).
        texts=("output", "content:parts"),
        results={"*": {"title": "", "output": "$text", "metadata": {}}},
        env={"OPENCODE_PROJECT_DIR": "$root"},
        starts_in="root",
        marks=("input", "output"),
        # The arguments of a callback do not name it; the payload of the generated plugin does.
        tells={native: TELLS.get(native) or _list_marks(native, types[native]) for native in (*bus, *TELLS)},
        answers=ANSWERS,
        reads=MODULE_READS,
        # It runs code of its own and no command, so that only our own module reads an answer.
        obeys={},
        # (src, the tool registry); the last stands for a call that could not be read.
        others=("lsp", "plan_exit", "invalid"),
        lifts=False,
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
    other_places={
        "module": tuple(
            place._replace(path=f"{place.path.removesuffix('hookport.ts')}*{ending}", source="src")
            for place in LOCATIONS
            for ending in (".ts", ".js")
        )
    },
    events=EVENTS,
    lacks=LACKS,
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
    shape=make_module_shape("opencode.ts"),
    wire=build_wire([spec.native for spec in EVENTS]),
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
)
