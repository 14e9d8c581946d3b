"""The extension API of pi, which its forks kept: the wire between a host and the generated extension.

A dialect of this kind says which events it has, and how the host differs. The payload is the event's own
object, as captured on pi 0.87.1, with `hook`, `cwd`, `root`, `sessionId`, `sessionFile` and `stopActive`
beside it; the answer is the interchange format's. A name with a word in brackets is an event that the
generated code distinguishes by its payload.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hookport.shapes.canonical_answer import MODULE_READS, make_module_answers
from hookport.shapes.dialect import NOTHING, EventSpec, Location, Tree
from hookport.wire.table import Wire, list_by_event

# The name of the generated extension.
FILE = "hookport.ts"

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
    "session_stop": make_module_answers("deny"),
    "session_before_compact": make_module_answers("deny"),
    "*": make_module_answers(),
}


def list_places(locations: Iterable[Location]) -> tuple[Location, ...]:
    """The modules that a host loads from the folders of its extensions."""
    return tuple(
        place._replace(path=f"{place.path.removesuffix(FILE)}{name}", source="src")
        for place in locations
        for name in ("*.ts", "*.js", "*/index.ts", "*/index.js")
    )


def make_wire(
    events: Iterable[EventSpec],
    variable: str,
    keys: Mapping[str, Mapping[str, Tree]] = NOTHING,
    inputs: Mapping[str, Mapping[str, Tree]] = NOTHING,
    precedence: int = 0,
    transcript: Mapping[str, Tree] = NOTHING,
) -> Wire:
    """The wire of these events; `variable` holds the project's folder for what the extension starts."""
    natives = [spec.native for spec in events]
    types = {native: {"type": native.partition(" ")[0]} for native in natives}
    return Wire(
        keys=KEYS,
        by_event=list_by_event(
            keys={native: row for native, row in {**KEYS_OF, **keys}.items() if native in natives},
            fixed={native: {**type_, **FIXED_OF.get(native, {})} for native, type_ in types.items()},
        ),
        words=WORDS,
        transcript=(transcript,),
        inputs={**INPUTS, **inputs},
        texts=(":parts",),
        results={"*": [{"type": "text", "text": "$text"}]},
        env={variable: "$root"},
        starts_in="root",
        marks=("hook", "type"),
        answers=ANSWERS,
        reads=MODULE_READS,
        # It runs code of its own and no command, so that only our own module reads an answer.
        obeys={},
        lifts=False,
        precedence=precedence,
    )
