"""OpenCode's wire: what the generated plugin sends for a callback, and the answers it applies to it.

The payload is the callback's two arguments, as measured on 1.18.33, with `hook`, `directory`, `worktree` and
`stop_active` beside them; the answer is the interchange format's.
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.agents._canonical_wire import ANSWER, READ
from hookport.wire.table import Wire

# Native events of this prefix are heard on the bus, in one argument.
BUS = "event."
SAID_ON_BUS = "input.event.properties"

KEYS = {
    "event": "hook",
    "session": "input.sessionID",
    "cwd": "directory",
    "root": "worktree",
    "stop_active": "stop_active",
}

_NEW_SESSION = {
    "session": [f"{SAID_ON_BUS}.sessionID", f"{SAID_ON_BUS}.info.id"],
    "subagent": f"{SAID_ON_BUS}.info.agent",
    "session_title": f"{SAID_ON_BUS}.info.title",
    "parent_session": f"{SAID_ON_BUS}.info.parentID",
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
        "session": f"{SAID_ON_BUS}.sessionID",
        "tool": f"{SAID_ON_BUS}.permission",
        "input": f"{SAID_ON_BUS}.metadata",
        "call_id": f"{SAID_ON_BUS}.tool.callID",
    },
    "event.tui.toast.show": {
        "source": f"{SAID_ON_BUS}.variant",
        "message": f"{SAID_ON_BUS}.message",
        "title": f"{SAID_ON_BUS}.title",
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
# run` is gone too soon to see and a server sees (lab, OC7).
DENY = {**ANSWER["deny"], "alone": True}
CONTEXT = ANSWER["context"]
# A toast, which our module shows before it throws.
SAYS = {"message": {**ANSWER["message"], "beside": True}}

ANSWERS: dict[str, dict[str, Tree]] = {
    "tool.execute.before": {**SAYS, "deny": DENY, "rewrite": ANSWER["rewrite"], "context": CONTEXT},
    "tool.execute.after": {**SAYS, "deny": DENY, "context": CONTEXT, "result": ANSWER["result"]},
    "chat.message": {**SAYS, "deny": DENY, "context": CONTEXT},
    "command.execute.before": {**SAYS, "deny": DENY, "context": CONTEXT},
    "event.session.created": {**SAYS, "context": CONTEXT},
    "event.session.created (child)": {**SAYS, "context": CONTEXT},
    "event.session.idle": {**SAYS, "deny": DENY},
    "experimental.session.compacting": {**SAYS, "context": CONTEXT},
    "experimental.chat.system.transform": {**SAYS, "context": CONTEXT},
    "*": SAYS,
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


# What tells the events that share a type on the bus.
KINDS = {"(child)": f"{SAID_ON_BUS}.info.parentID", "(reject)": f"{SAID_ON_BUS}.reply=reject"}


def _told_by(native: str, type_: str) -> list[str]:
    marks = [f"input.event.type={type_}"]
    return marks + [mark for kind, mark in KINDS.items() if native.endswith(kind)]


def wire_for(natives: list[str]) -> Wire:
    """The wire of these native events."""
    bus = [native for native in natives if native.startswith(BUS)]
    heard = {native: {"session": f"{SAID_ON_BUS}.sessionID"} for native in bus}
    types = {native: native.removeprefix(BUS).partition(" ")[0] for native in bus}
    return Wire(
        keys=KEYS,
        keys_of={**heard, **KEYS_OF},
        fixed={"input": {}, "output": {}},
        fixed_of={
            native: {"input.event.type": type_, "input.event.properties": {}}
            for native, type_ in types.items()
        },
        inputs=INPUTS,
        patches={"apply_patch": "patchText"},
        # An MCP tool's result is its own list of content parts (src).
        texts=("output", "content:parts"),
        results={"*": {"title": "", "output": "$text", "metadata": {}}},
        env={"OPENCODE_PROJECT_DIR": "$root"},
        starts_in="root",
        marks=("input", "output"),
        # The arguments of a callback do not say which it is; what our own plugin sends does.
        tells={native: TELLS.get(native) or _told_by(native, types[native]) for native in (*bus, *TELLS)},
        answers=ANSWERS,
        reads={"*": {**READ, "text": "ignored"}},
        # It runs code of its own and no command, so that only our own module reads an answer.
        obeys={},
        # (src, the tool registry); the last stands for a call that could not be read.
        others=("lsp", "plan_exit", "invalid"),
        lifts=False,
    )
