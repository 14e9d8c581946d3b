"""The wire of HOOK.md hooks: the specification's event data, exit code 2 with stderr, JSON with exit code 0.

The specification names `decision` alone among the keys of an answer, and no field of a tool's result or of a
prompt. The other keys of an answer are those of an implementation with the same event data (`ref`:
MoonshotAI/kimi-cli at 74dea224, src/kimi_cli/hooks/models.py), the fields are kimi-cli's (1.51.0).
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.wire.table import Wire

KEYS = {
    "event": "event_type",
    "timestamp": "timestamp",
    "session": "session_id",
    "cwd": "work_dir",
    "tool": "tool_name",
    "input": "tool_input",
    "call_id": "tool_use_id",
    "result": "tool_output",
    "error": "error",
    "prompt": "prompt",
    "final_message": "final_message:message",
    "stop_active": "stop_hook_active",
}
_SUBAGENT: dict[str, Tree] = {
    "subagent": ["subagent_type", "subagent_name"],
    "prompt": "task_description",
}
KEYS_OF: dict[str, dict[str, Tree]] = {
    "session_start": {"source": "source", "model": "model"},
    "session_end": {
        "source": "exit_reason",
        "session_ms": "duration_seconds:seconds",
        "steps": "total_steps",
    },
    "pre_compact": {"source": "trigger"},
    "before_stop": {"source": "stop_reason", "steps": "step_count"},
    "subagent_start": _SUBAGENT,
    "subagent_stop": _SUBAGENT,
}
WORDS: dict[str, dict[str, Tree]] = {
    "session_end": {"prompt_input_exit": "user_exit"},
    "agent_stop": {"end_turn": "no_tool_calls"},
}
FIXED_OF: dict[str, dict[str, Tree]] = {
    "session_start": {"model": "", "args": {}},
    "session_end": {"duration_seconds": 0, "total_steps": 0, "exit_reason": "user_exit"},
    "before_stop": {"stop_reason": "no_tool_calls", "step_count": 0, "final_message": None},
}

INPUTS = {
    "file_edit": {"old": "edit.old", "new": "edit.new", "replace_all": "edit.replace_all", "edits": "edit"},
    "find": {"path": "directory"},
    "agent": {"agent_type": "subagent_type"},
}

# stdout counts with exit code 0 only.
ANSWER: dict[str, Tree] = {
    "deny": {"stderr": "$reason", "exit": 2, "alone": True},
    "context": {"json": {"additional_context": "$context"}},
}
ANSWERS: dict[str, dict[str, Tree]] = {
    "before_tool": {
        **ANSWER,
        "allow": {"json": {"decision": "allow"}},
        "rewrite": {"json": {"modified_input": "$input"}},
    },
    "*": ANSWER,
}

READ = {
    "verdicts": [("decision", {"allow": "allow", "deny": "deny", "block": "deny", "ask": "ask"})],
    "reason": ["reason"],
    "context": ["additional_context", "context"],
    "input": ["modified_input", "updated_input"],
    "exits": {"2": "deny"},
    # The specification's own example prints what `npm test` says and exits with 0.
    "text": "ignored",
}

WIRE = Wire(
    keys=KEYS,
    keys_of=KEYS_OF,
    words=WORDS,
    fixed={"context": {}},
    fixed_of=FIXED_OF,
    inputs=INPUTS,
    starts_in="root",
    marks=("event_type", "work_dir"),
    answers=ANSWERS,
    reads={"*": READ},
    # It says that a check found nothing, as in the specification's example; permissions are not its matter.
    lifts=False,
    stops_at_deny=True,
)
