"""The plugin API of OpenCode, which its forks kept: callbacks, the bus, and a generated plugin's wire.

A dialect of this kind says which events it has and which were measured, where its plugins are, and how the
host differs. Callbacks are awaited and may throw; `event.*` comes from the bus and is only watched. A name
with a word in brackets is a bus event that the generated code distinguishes by its payload.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hookport.shapes.canonical_answer import MODULE_READS, make_module_answers
from hookport.shapes.dialect import NOTHING, EventSpec, Location, Tree, name_events
from hookport.shapes.module import make_module_shape
from hookport.wire.table import Wire, list_by_event

# By the source of OpenCode 1.18.18 (packages/plugin/src/index.ts, packages/opencode/src); a dialect names
# those that were measured.
EVENTS = (
    EventSpec("tool.execute.before", "before_tool_execute", "prevent", "src", "tool", rewrites=True),
    EventSpec("tool.execute.after", "after_tool_execute", "observe", "src", "tool"),
    EventSpec("chat.message", "before_prompt", "prevent", "src"),
    EventSpec("command.execute.before", "before_command_expansion", "prevent", "src"),
    # The generated code gives what the hook prints to the session's requests.
    EventSpec("event.session.created", "session_start", "observe", "src"),
    EventSpec("event.session.created (child)", "subagent_start", "observe", "src"),
    EventSpec("event.session.deleted", "session_end", "observe", "src"),
    EventSpec("event.session.idle", "agent_stop", "retry", "src"),
    EventSpec("event.session.idle (child)", "subagent_stop", "observe", "src"),
    EventSpec("event.session.error", "error_occurred", "observe", "src"),
    EventSpec("event.session.compacted", "after_compact", "observe", "src"),
    EventSpec("experimental.session.compacting", "before_compact", "observe", "src"),
    EventSpec("event.permission.asked", "permission_request", "observe", "src"),
    EventSpec("event.permission.replied (reject)", "permission_denied", "observe", "own"),
    EventSpec("chat.params", "before_model", "observe", "src"),
    EventSpec("chat.headers", "before_model", "observe", "src", secondary=True),
    EventSpec("experimental.chat.messages.transform", "before_model", "observe", "src", secondary=True),
    EventSpec("experimental.chat.system.transform", "before_model", "observe", "src", secondary=True),
    EventSpec("experimental.text.complete", "after_model", "observe", "src"),
    EventSpec("tool.definition", "before_tool_selection", "observe", "src"),
    EventSpec("event.file.edited", "file_changed", "observe", "src"),
    EventSpec("event.tui.toast.show", "notification", "observe", "src"),
    *name_events(
        "src",
        *("shell.env", "event.permission.replied", "event.file.watcher.updated"),
        *("event.session.updated", "event.session.status", "event.session.diff"),
        *("event.message.updated", "event.message.part.updated", "event.message.part.delta"),
        *("experimental.compaction.autocontinue", "experimental.provider.small_model"),
        *("event.message.removed", "event.message.part.removed", "event.command.executed"),
        *("event.todo.updated", "event.lsp.client.diagnostics", "event.lsp.updated"),
        *("event.installation.updated", "event.server.connected", "event.tui.prompt.append"),
        *("event.tui.command.execute",),
    ),
)

# Why a host with these events has no more of the registry's.
LACKS = {
    "file_created": "file.watcher.updated reports all kinds of changes at once",
    "file_saved": "file.watcher.updated reports all kinds of changes at once",
    "file_deleted": "file.watcher.updated reports all kinds of changes at once",
    "tool_use_failure": "tool.execute.after is not called when the tool threw",
    "message_display": "message.part.delta fires for every piece of text",
}

# The wire: what the generated plugin sends for a callback, and the answers it applies to it. The payload is
# the callback's two arguments, as measured on OpenCode 1.18.33 and Kilo 7.7.7, with `hook`, `directory`,
# `worktree` and `stop_active` beside them; the answer is the interchange format's.

# Native events with this prefix come from the bus, in one argument.
BUS = "event."
IDLE = "event.session.idle"
# The name of the generated plugin, and the template with the code of these hosts.
FILE = "hookport.ts"
SHAPE = make_module_shape("opencode.ts")
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


def list_events(measured: Iterable[str], *more: EventSpec, partly: str = "") -> tuple[EventSpec, ...]:
    """The events of a host: those that were measured on it, and more of its own.

    `partly`: in which way of running it a hook keeps an idle agent going.
    """
    marked = [
        spec._replace(
            source="lab" if spec.native in measured else spec.source,
            partly=partly if spec.native == IDLE else "",
        )
        for spec in EVENTS
    ]
    return (*marked, *more)


def list_places(locations: Iterable[Location], source: str) -> tuple[Location, ...]:
    """The modules of the folders in which a host looks for plugins."""
    return tuple(
        place._replace(path=f"{place.path.removesuffix(FILE)}*{ending}", source=source)
        for place in locations
        for ending in (".ts", ".js")
    )


def make_wire(
    events: Iterable[EventSpec],
    variable: str,
    others: tuple[str, ...],
    inputs: Mapping[str, Mapping[str, Tree]] = NOTHING,
    precedence: int = 0,
    transcript: Sequence[Mapping[str, Tree]] = (),
) -> Wire:
    """The wire of these events; `variable` holds the project's folder for what the plugin starts."""
    natives = [spec.native for spec in events]
    bus = [native for native in natives if native.startswith(BUS)]
    bus_keys = {native: {"session": f"{BUS_PROPERTIES}.sessionID"} for native in bus}
    types = {native: native.removeprefix(BUS).partition(" ")[0] for native in bus}
    return Wire(
        keys=KEYS,
        transcript=transcript,
        by_event=list_by_event(
            keys={**bus_keys, **KEYS_OF},
            fixed={
                native: {"input.event.type": type_, "input.event.properties": {}}
                for native, type_ in types.items()
            },
        ),
        fixed={"input": {}, "output": {}},
        inputs={**INPUTS, **inputs},
        patches={"apply_patch": "patchText"},
        # An MCP tool's result is its own list of content parts (src).
        texts=("output", "content:parts"),
        results={"*": {"title": "", "output": "$text", "metadata": {}}},
        env={variable: "$root"},
        starts_in="root",
        marks=("input", "output"),
        # The arguments of a callback do not name it; the payload of the generated plugin does.
        tells={native: TELLS.get(native) or _list_marks(native, types[native]) for native in (*bus, *TELLS)},
        answers=ANSWERS,
        reads=MODULE_READS,
        # It runs code of its own and no command, so that only our own module reads an answer.
        obeys={},
        others=others,
        lifts=False,
        precedence=precedence,
    )
