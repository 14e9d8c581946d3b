"""The interchange format's own wire: exit codes 0, 1, 2 and the JSON printed with 0.

The truth table of `blocking`, exit code and decision is that of the public draft 0.1, section 5.3, which
1.0 keeps: exit code 2 of a hook that may not block is a failure, a printed deny always denies. Neither
says what stdin holds; it is the canonical event, with the names of the manifest's own fields.
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.wire.events import FACTS
from hookport.wire.table import Wire

KEYS = {
    "event": "event",
    "session": "session_id",
    "cwd": "cwd",
    "root": "project_root",
    "timestamp": "timestamp",
    "tool": "tool_name",
    "input": "tool_input",
    "call_id": "tool_call_id",
    # As a matcher says it; the name of an MCP tool is the agent's own, and each has other rules for it.
    "server": "mcp.server",
    "mcp_tool": "mcp.tool",
    "result": "tool_result",
    "error": "tool_error",
    "prompt": "prompt",
    "final_message": "final_message",
    "stop_active": "stop_active",
    "source": "source",
    "subagent": "subagent",
    **{name: name for name in FACTS},
    "transcript": "transcript_path",
    "agent_transcript": "agent_transcript_path",
    "turn": "turn_id",
    "parent_agent": "parent_agent_id",
    "parent_session": "parent_session_id",
    "session_ms": "session_duration_ms",
    "file": "file_path",
}

ANSWER: dict[str, Tree] = {
    "deny": {"json": {"decision": "deny", "reason": "$reason"}},
    "ask": {"json": {"decision": "ask", "reason": "$reason"}},
    "allow": {"json": {"decision": "allow", "reason": "$reason"}},
    "rewrite": {"json": {"updated_input": "$input"}},
    "context": {"json": {"context": "$context"}},
    "halt": {"json": {"continue": False, "reason": "$reason"}},
    "message": {"json": {"system_message": "$message"}},
    "suppress": {"json": {"suppress_output": True}},
    "result": {"json": {"updated_result": "$result"}},
}

READ = {
    "verdicts": [("decision", {"allow": "allow", "deny": "deny", "ask": "ask"})],
    "reason": ["reason"],
    "context": ["context"],
    "input": ["updated_input"],
    "halt": ["continue"],
    "suppress": ["suppress_output"],
    "message": ["system_message"],
    "result": ["updated_result"],
    "exits": {"2": "deny"},
    "text": "failure",
}

WIRE = Wire(
    keys=KEYS,
    inputs={"edits": {}},
    answers={"*": ANSWER},
    reads={"*": READ},
    starts_in="root",
    marks=("event", "project_root"),
)
