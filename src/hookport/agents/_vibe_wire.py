"""The wire of Mistral Vibe: a payload of its own, and answers that are one JSON object with exit code 0.

What is not marked otherwise was captured or measured on 3.0.2; `src` is its package.
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.wire.table import Wire

# As hooks see it; the tools themselves call some fields otherwise (src: _foreign_hooks).
INPUTS: dict[str, dict[str, Tree]] = {
    "file_read": {"path": "file_path"},
    "file_write": {"path": "file_path"},
    "file_edit": {"path": "file_path", "old": "old_string", "new": "new_string", "edits": "content"},
    "edits": {"old": "old_str", "new": "new_str"},
    "agent": {"prompt": "message", "agent_type": "config_name"},
}
RESULTS: dict[str, Tree] = {
    "shell": {"stdout": "$text", "stderr": "", "returncode": 0, "timed_out": False, "was_truncated": False},
    "file_read": {"content": "$text", "was_truncated": False},
}

SAYS = {"message": {"json": {"system_message": "$message"}}}
DENY = {"json": {"decision": "deny", "reason": "$reason"}}
ANSWERS: dict[str, Tree] = {
    # No ask, which runs the tool (MV3); an allow is the same as silence, and lifts no prompt.
    "pre_tool": {
        **SAYS,
        "deny": DENY,
        "rewrite": {"json": {"hook_specific_output": {"tool_input": "$input"}}},
    },
    # The reason stands in place of the result; context is added to either.
    "post_tool": {
        **SAYS,
        "deny": DENY,
        "context": {"json": {"hook_specific_output": {"additional_context": "$context"}}},
    },
    "post_agent": {**SAYS, "deny": DENY},
}
# Exit code 2 and words other than deny do nothing there (MV1, MV3); they are read for what was meant.
READ: dict[str, Tree] = {
    "verdicts": [
        ("decision", {"allow": "allow", "approve": "allow", "deny": "deny", "block": "deny", "ask": "ask"})
    ],
    "reason": ["reason"],
    "message": ["system_message"],
    "exits": {"2": "deny"},
    "json": "zero",
    "text": "failure",
}

# What Vibe itself obeys: `decision: deny`, with exit code 0 and alone on stdout (b). Any other exit code or
# answer is a failure, which denies before a tool where the entry is `strict` (a, d, e).
OBEY = {**READ, "verdicts": [("decision", {"deny": "deny"})], "exits": {}}

WIRE = Wire(
    obeys={
        "pre_tool": {**OBEY, "input": ["hook_specific_output.tool_input"], "closes": True},
        "post_tool": {**OBEY, "context": ["hook_specific_output.additional_context"]},
        "*": OBEY,
    },
    keys={
        "event": "hook_event_name",
        "session": "session_id",
        "cwd": "cwd",
        "tool": "tool_name",
        "input": "tool_input",
        "call_id": "tool_call_id",
        "result": ["tool_output", "tool_output_text:lines"],
        "error": "tool_error",
        "transcript": "transcript_path",
        "parent_session": "parent_session_id",
        "tool_status": "tool_status",
        "duration_ms": "duration_ms",
    },
    fixed={"session_id": "$session", "transcript_path": "", "cwd": "$cwd", "parent_session_id": None},
    fixed_of={
        "pre_tool": {"tool_call_id": ""},
        "post_tool": {"tool_call_id": "", "tool_status": "success", "tool_error": None, "duration_ms": 0},
    },
    inputs=INPUTS,
    texts=("stdout", "content", ":lines"),
    results=RESULTS,
    starts_in="root",
    marks=("transcript_path=.vibe/", "parent_session_id", "tool_status"),
    answers=ANSWERS,
    reads={
        "pre_tool": {**READ, "input": ["hook_specific_output.tool_input"]},
        "post_tool": {**READ, "context": ["hook_specific_output.additional_context"]},
        "post_agent": READ,
    },
    others=("exit_plan_mode",),  # (src)
    lifts=False,
    # Three times in a turn (lab).
    caps_stops=True,
)
