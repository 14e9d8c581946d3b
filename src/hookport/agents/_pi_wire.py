"""pi's wire: what the generated extension sends for an event, and the answers it applies to it.

The payload is the event's own object, as captured on 0.87.1, with `hook`, `cwd`, `root`, `sessionId`,
`sessionFile` and `stopActive` beside it; the answer is the interchange format's.
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.agents._canonical_wire import ANSWER, READ
from hookport.wire.table import Wire

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
# result or as the next prompt, and cancels a compaction; a person is asked where there is one (lab, own).
DENY = {**ANSWER["deny"], "alone": True}
ASK = {**ANSWER["ask"], "alone": True}
CONTEXT = ANSWER["context"]
# A notification, which our module shows before it throws.
SAYS = {"message": {**ANSWER["message"], "beside": True}}
RESULT: dict[str, Tree] = {"deny": DENY, "context": CONTEXT, "result": ANSWER["result"]}

ANSWERS: dict[str, dict[str, Tree]] = {
    "tool_call": {**SAYS, "deny": DENY, "ask": ASK, "rewrite": ANSWER["rewrite"], "context": CONTEXT},
    "tool_result": {**SAYS, **RESULT},
    "tool_result (error)": {**SAYS, **RESULT},
    "input": {**SAYS, "deny": DENY, "context": CONTEXT},
    "before_agent_start": {**SAYS, "context": CONTEXT},
    "session_start": {**SAYS, "context": CONTEXT},
    "agent_end": {**SAYS, "deny": DENY},
    "session_before_compact": {**SAYS, "deny": DENY},
    "*": SAYS,
}


def wire_for(natives: list[str]) -> Wire:
    """The wire of these native events."""
    types = {native: {"type": native.partition(" ")[0]} for native in natives}
    return Wire(
        keys=KEYS,
        keys_of=KEYS_OF,
        words=WORDS,
        transcript="tree",
        fixed_of={native: {**type_, **FIXED_OF.get(native, {})} for native, type_ in types.items()},
        inputs=INPUTS,
        texts=(":parts",),
        results={"*": [{"type": "text", "text": "$text"}]},
        env={"PI_PROJECT_DIR": "$root"},
        starts_in="root",
        marks=("hook", "type"),
        answers=ANSWERS,
        reads={"*": {**READ, "text": "ignored"}},
        # It runs code of its own and no command, so that only our own module reads an answer.
        obeys={},
        lifts=False,
    )
