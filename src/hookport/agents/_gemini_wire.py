"""The wire of Gemini CLI: Claude's nested answer under other names, a top-level decision, codes from 2 up.

What is not marked otherwise was captured or measured on 0.61.0.
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.agents._claude_wire import CONTEXT, HALT, MESSAGE, SUPPRESS, nested
from hookport.wire.table import Wire

KEYS = {
    "event": "hook_event_name",
    "session": "session_id",
    "cwd": "cwd",
    "timestamp": "timestamp",
    "tool": "tool_name",
    "input": "tool_input",
    "result": "tool_response",
    "error": "tool_response.error",
    "server": "mcp_context.server_name",
    "mcp_tool": "mcp_context.tool_name",
    "prompt": "prompt",
    "final_message": "prompt_response",
    "stop_active": "stop_hook_active",
    "transcript": "transcript_path",
}
MODEL = {"model": "llm_request.model"}
KEYS_OF = {
    "SessionStart": {"source": "source"},
    "SessionEnd": {"source": "reason"},
    "PreCompress": {"source": "trigger"},
    "Notification": {"source": "notification_type", "message": "message", "title": "details.title"},
    "BeforeModel": MODEL,
    "AfterModel": MODEL,
    "BeforeToolSelection": MODEL,
}
WORDS: dict[str, dict[str, Tree]] = {
    "session_end": {"complete": "exit"},
    # The only kind that it has.
    "notification": {"permission_prompt": "ToolPermission"},
}

INPUTS = {
    "shell": {"cwd": "dir_path"},
    "file_read": {"path": "file_path", "offset": "start_line"},
    "read_many_files": {"include": "include"},
    "file_write": {"path": "file_path"},
    "file_edit": {
        "path": "file_path",
        "old": "old_string",
        "new": "new_string",
        "replace_all": "allow_multiple",
    },
    "search": {"path": "dir_path", "include": "include_pattern"},
    "find": {"path": "dir_path"},
    "list": {"path": "dir_path"},
    "edits": {"old": "old_string", "new": "new_string"},
}

SAYS = {"message": MESSAGE, "suppress": SUPPRESS}
DENY = {"json": {"decision": "deny", "reason": "$reason"}}

ANSWERS: dict[str, Tree] = {
    "BeforeTool": {
        **SAYS,
        "deny": DENY,
        # Without a person the run ends with the question, and the tool does not run. A person is shown the
        # message, not the reason (src).
        "ask": {"json": {"decision": "ask", "reason": "$reason", "systemMessage": "$reason"}},
        # Without a reason, which would be told to the model beside that of another hook's deny.
        "allow": {"json": {"decision": "allow"}},
        # The whole input: 0.61.0 merges it, the source of August replaces with it.
        "rewrite": nested(tool_input="$input"),
        "halt": HALT,
    },
    # The reason stands in place of the result.
    "AfterTool": {**SAYS, "deny": DENY, "context": CONTEXT, "halt": HALT},
    "BeforeAgent": {**SAYS, "deny": DENY, "context": CONTEXT, "halt": HALT},
    "AfterAgent": {**SAYS, "deny": DENY, "halt": HALT},
    "BeforeModel": {**SAYS, "deny": DENY, "halt": HALT},
    "AfterModel": {**SAYS, "halt": HALT},
    "SessionStart": {**SAYS, "context": CONTEXT},
    # It takes a choice of tools and nothing else (src).
    "BeforeToolSelection": {},
    "*": SAYS,
}

# JSON counts whatever the exit code, also on stderr, and beats exit code 2.
OBSERVED: dict[str, Tree] = {
    "verdicts": [
        ("decision", {"allow": "allow", "approve": "allow", "deny": "deny", "block": "deny", "ask": "ask"}),
    ],
    "reason": ["reason", "stopReason"],
    "context": ["hookSpecificOutput.additionalContext"],
    "input": ["hookSpecificOutput.tool_input"],
    "message": ["systemMessage"],
    "suppress": ["suppressOutput"],
    "halt": ["continue"],
    "json": "any",
    "wins": "json",
    "stderr": True,
    "text": "message",
}
# Every code from 2 up denies, also 127 (GM1); a silent one does not there (GM2), but is meant to.
READ = {**OBSERVED, "exits": {"*": "deny"}}

# What Gemini itself obeys: one JSON object on stdout, else on stderr, whatever the exit code, which it beats
# (a'''); else exit codes from 2 up with some text (a''). `deny` and `block` are the words (b).
OBEYED = {
    **OBSERVED,
    "verdicts": [("decision", {"deny": "deny", "block": "deny", "ask": "ask", "allow": "allow"})],
}
OBEY = {**OBEYED, "exits": {"*": "deny"}, "speaks": "any"}
# Exit code 2 and a deny are ignored where a session starts (g').
OBEY_NOTHING = {**OBEYED, "verdicts": []}

# What the model is asked, what it answered, and which tools it may choose from (src).
_REQUEST = {"model_request": "hookSpecificOutput.llm_request"}
_RESPONSE = {"model_response": "hookSpecificOutput.llm_response"}

WIRE = Wire(
    extras={
        "BeforeModel": {**_REQUEST, **_RESPONSE},
        "AfterModel": _RESPONSE,
        "BeforeToolSelection": {"tool_config": "hookSpecificOutput.toolConfig"},
        "AfterTool": {"tail_call": "hookSpecificOutput.tailToolCallRequest"},
    },
    obeys={
        **dict.fromkeys(("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel"), OBEY),
        "*": OBEY_NOTHING,
    },
    keys=KEYS,
    keys_of=KEYS_OF,
    words=WORDS,
    transcript="updates",
    fixed={"session_id": "$session", "transcript_path": "", "cwd": "$cwd"},
    inputs=INPUTS,
    batches={"read_many_files": ("include", "path")},
    texts=("llmContent:parts", "llmContent.text", "returnDisplay"),
    results={"*": {"llmContent": "$text", "returnDisplay": "$text"}},
    # All three folders are the one it was started in.
    env={
        "GEMINI_PROJECT_DIR": "$root",
        "GEMINI_CWD": "$cwd",
        "GEMINI_SESSION_ID": "$session",
        "CLAUDE_PROJECT_DIR": "$root",
    },
    starts_in="root",
    marks=("transcript_path=.gemini/", "transcript_path=/chats/session-"),
    answers=ANSWERS,
    reads={
        **dict.fromkeys(("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel"), READ),
        "*": OBSERVED,
    },
    merges=("*",),
    # An allow skips neither policy nor confirmation (src).
    # (src, the tool declarations)
    others=(
        *("enter_plan_mode", "exit_plan_mode", "get_internal_docs", "update_topic", "complete_task"),
        *("tracker_*", "read_mcp_resource", "list_mcp_resources"),
    ),
    lifts=False,
)
