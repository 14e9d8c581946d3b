"""Which field stands where in the payloads of every agent and format: told a second time, from the documents.

`SENT` is what agents send, `TAKEN` is what scripts of a dialect find. Nothing here comes from the tables of
the package, so that a field that these forget is missed.
"""

from __future__ import annotations

from typing import Any

Places = dict[str, Any]

_CLAUDE: Places = {
    "session": "session_id",
    "cwd": "cwd",
    "prompt": {"before_prompt": "prompt"},
    "final message": "last_assistant_message",
    "stop active": "stop_hook_active",
    "call": "tool_use_id",
    "error": {"tool_use_failure": "error"},
    "mode": "permission_mode",
    "transcript": "transcript_path",
    "agent transcript": "agent_transcript_path",
    "model": "model",
    "effort": "effort.level",
    "turn": "prompt_id",
    "agent": "agent_id",
    "agent type": "agent_type",
    "start": {"session_start": "source"},
    "end": {"session_end": "reason"},
    "trigger": {"before_compact": "trigger", "after_compact": "trigger"},
    "instructions": {"before_compact": "custom_instructions"},
    "summary": {"after_compact": "compact_summary"},
    "notice": {"notification": "notification_type"},
    "message": {"notification": "message"},
    "title": {"notification": "title"},
    "duration": "duration_ms",
    "interrupted": "is_interrupt",
    "suggestions": "permission_suggestions",
    "tasks": "background_tasks",
    "crons": "session_crons",
    "session title": "session_title",
    "failure": {"error_occurred": "error_details"},
    "file": {"instructions_loaded": "file_path", "file_changed": "file_path"},
    "load reason": {"instructions_loaded": "load_reason"},
    "memory": {"instructions_loaded": "memory_type"},
}
_ISO = {"time": "timestamp"}
_NO_TURN = {key: place for key, place in _CLAUDE.items() if key != "turn"}
# Copilot sends the transcript with four events only; where it is written besides does no harm.
_CAMEL: Places = {
    "session": "sessionId",
    "cwd": "cwd",
    "time": "timestamp",
    "prompt": {"before_prompt": "prompt"},
    "first prompt": {"session_start": "initialPrompt"},
    "stop active": "stop_hook_active",
    "stop": {"agent_stop": "stopReason", "subagent_stop": "stopReason"},
    "call": {"copilot-cli:preMcpToolCall": "toolCallId"},
    "error": {"tool_use_failure": "error"},
    "transcript": "transcriptPath",
    "agent": "agentId",
    "agent type": {"subagent_start": "agentType", "subagent_stop": "agentType"},
    "parent": "parentAgentId",
    "final message": {"subagent_stop": "response"},
    "start": {"session_start": "source"},
    "end": {"session_end": "reason"},
    "trigger": {"before_compact": "trigger"},
    "instructions": {"before_compact": "customInstructions"},
    "notice": {"notification": "notification_type"},
    "message": {"notification": "message"},
    "title": {"notification": "title"},
    "failure": {"error_occurred": "error.message"},
    "suggestions": {"permission_request": "permissionSuggestions"},
}
_PASCAL: Places = {
    "session": "session_id",
    "cwd": "cwd",
    "time": "timestamp",
    "prompt": {"before_prompt": "prompt"},
    "first prompt": {"session_start": "initial_prompt"},
    "stop active": "stop_hook_active",
    "stop": {"agent_stop": "stop_reason", "subagent_stop": "stop_reason"},
    "error": {"tool_use_failure": "error"},
    "transcript": {"agent_stop": "transcript_path", "subagent_stop": "transcript_path"},
    "agent": "agent_id",
    "agent type": "agent_type",
    "parent": "parent_agent_id",
    "final message": {"subagent_stop": "last_assistant_message"},
    "start": {"session_start": "source"},
    "end": {"session_end": "reason"},
    "trigger": {"before_compact": "trigger"},
    "instructions": {"before_compact": "custom_instructions"},
    "failure": {"error_occurred": "error.message"},
}
_CURSOR: Places = {
    "session": "conversation_id",
    "transcript": "transcript_path",
    "agent transcript": {"subagent_stop": "agent_transcript_path"},
    "model": "model",
    "turn": "generation_id",
    "call": {"after_tool_execute": "tool_use_id", "tool_use_failure": "tool_use_id"},
    "duration": {"tool_use_failure": "duration", "after_tool_execute": "duration"},
    "interrupted": {"tool_use_failure": "is_interrupt"},
    "error": {"tool_use_failure": "error_message"},
    "prompt": {"before_prompt": "prompt"},
    "task": {"subagent_start": "task", "subagent_stop": "task"},
    "agent": {"subagent_start": "subagent_id"},
    "agent type": {"subagent_start": "subagent_type", "subagent_stop": "subagent_type"},
    "final message": {"subagent_stop": "summary"},
    "stop": {"agent_stop": "status", "subagent_stop": "status"},
    "end": {"session_end": "reason"},
    "session time": {"session_end": "duration_ms"},
    "trigger": {"before_compact": "trigger"},
    "context tokens": {"before_compact": "context_tokens"},
    "steps": {"subagent_stop": "tool_call_count"},
    "parent session": {"subagent_start": "parent_conversation_id"},
}
_GEMINI: Places = {
    "session": "session_id",
    "cwd": "cwd",
    "time": "timestamp",
    "transcript": "transcript_path",
    "prompt": {"before_prompt": "prompt"},
    "turn prompt": {"agent_stop": "prompt"},
    "final message": {"agent_stop": "prompt_response"},
    "stop active": "stop_hook_active",
    "start": {"session_start": "source"},
    "end": {"session_end": "reason"},
    "trigger": {"before_compact": "trigger"},
    "notice": {"notification": "notification_type"},
    "message": {"notification": "message"},
    "title": {"notification": "details.title"},
    "model": {"before_model": "llm_request.model", "after_model": "llm_request.model"},
}
_KIMI: Places = {
    "session": "session_id",
    "cwd": "cwd",
    "call": "tool_call_id",
    "stop active": "stop_hook_active",
    "model": {"session_start": "model"},
    "start": {"session_start": "source"},
    "end": {"session_end": "reason"},
    "agent": "agent_id",
    "agent type": {"subagent_start": "agent_name", "subagent_stop": "agent_name"},
    "task": {"subagent_start": "prompt"},
    "final message": {"subagent_stop": "response"},
    "turn": "turn_id",
    "trigger": {"before_compact": "trigger", "after_compact": "trigger"},
    "context tokens": {"before_compact": "token_count"},
    "notice": {"notification": "notification_type"},
    "message": {"notification": "body"},
    "title": {"notification": "title"},
    "session title": "session_title",
    "failure": {"error_occurred": "error_message"},
}
_VIBE: Places = {
    "session": "session_id",
    "cwd": "cwd",
    "call": "tool_call_id",
    "transcript": "transcript_path",
    "parent session": "parent_session_id",
    "duration": {"after_tool_execute": "duration_ms"},
    "status": {"after_tool_execute": "tool_status"},
}
_AUGMENT: Places = {
    "session": "conversation_id",
    "prompt": {"before_prompt": "user_prompt"},
    "turn prompt": {"agent_stop": "_exchange.exchange.request_message"},
    "final message": {"agent_stop": "_exchange.exchange.response_text"},
    "turn": {"agent_stop": "_exchange.exchange.request_id"},
    "stop": {"agent_stop": "agent_stop_cause"},
    "notice": {"notification": "notification_type"},
    "message": {"notification": "notification_message"},
}
_CLINE: Places = {
    "session": "taskId",
    "time": "timestamp",
    "call": {"before_tool_execute": "tool_call.id", "after_tool_execute": "tool_result.id"},
    "duration": {"after_tool_execute": "tool_result.durationMs"},
    "agent": "agent_id",
    "parent": "parent_agent_id",
    "steps": "iteration",
    "prompt": {"before_prompt": "userPromptSubmit.prompt"},
    "final message": {"agent_stop": "turn.outputText"},
    "stop": {"agent_stop": "turn.status"},
    "failure": {"error_occurred": "error.message"},
}
_PI: Places = {
    "session": "sessionId",
    "cwd": "cwd",
    "transcript": "sessionFile",
    "prompt": {"before_prompt": "text"},
    "start": {"session_start": "reason"},
    "end": {"session_end": "reason"},
    "trigger": {"before_compact": "reason", "after_compact": "reason"},
    "instructions": {"before_compact": "customInstructions"},
    "call": {"before_tool_execute": "toolCallId", "after_tool_execute": "toolCallId"},
    "final message": {"agent_stop": "finalMessage"},
}
_WINDSURF: Places = {
    "session": "trajectory_id",
    "time": "timestamp",
    "turn": "execution_id",
    "model": "model_name",
    "prompt": {"before_prompt": "tool_info.user_prompt"},
    "final message": {"agent_stop": "tool_info.response"},
}
_OPENCODE: Places = {
    "session": {
        "before_tool_execute": "input.sessionID",
        "after_tool_execute": "input.sessionID",
        "before_prompt": "input.sessionID",
        "session_start": "input.event.properties.sessionID",
        "agent_stop": "input.event.properties.sessionID",
    },
    "call": {"before_tool_execute": "input.callID", "after_tool_execute": "input.callID"},
    "model": {"before_prompt": "output.message.model.modelID"},
    "session title": {"session_start": "input.event.properties.info.title"},
}
_VS_CODE = {**_NO_TURN, **_ISO}
for _key in ("mode", "final message", "model", "effort", "crons", "tasks", "session title"):
    _VS_CODE.pop(_key)

SENT: dict[str, Places] = {
    "claude-code": _CLAUDE,
    "codex": {**_NO_TURN, "turn": "turn_id"},
    "factory-droid": {
        **{key: place for key, place in _NO_TURN.items() if key != "final message"},
        "steps": {"agent_stop": "tool_execution_count"},
        "session time": {"session_end": "session_duration_ms"},
    },
    "qwen-code": {**_CLAUDE, **_ISO, "crons": "crons"},
    "vs-code-copilot": _VS_CODE,
    "copilot-cli": _CAMEL,
    "copilot-cli (pascal)": _PASCAL,
    "cursor": _CURSOR,
    "gemini-cli": _GEMINI,
    "kimi-cli": _KIMI,
    "mistral-vibe": _VIBE,
    "augment": _AUGMENT,
    "cline": _CLINE,
    "pi": _PI,
    "windsurf": _WINDSURF,
    "opencode": _OPENCODE,
    "kiro": {"session": "session_id", "cwd": "cwd", "prompt": {"before_prompt": "prompt"}},
}
# What formats take that no agent sends.
TAKEN: dict[str, Places] = {
    **SENT,
    "open-plugin": _CLAUDE,
    "universal": {
        "session": "sessionId",
        "cwd": "cwd",
        "prompt": {"before_prompt": "prompt"},
        "final message": "lastAssistantMessage",
        "stop active": "stopHookActive",
        "call": "toolUseId",
        "mode": "permissionMode",
        "transcript": "transcriptPath",
        "model": "model",
        "turn": "promptId",
        "agent": "agentId",
        "agent type": "agentType",
        "start": {"session_start": "source"},
        "end": {"session_end": "reason"},
        "trigger": {"before_compact": "trigger"},
        "instructions": {"before_compact": "customInstructions"},
        "notice": {"notification": "notificationType"},
        "message": {"notification": "message"},
        "duration": "durationMs",
    },
    "agent-hooks": {
        "session": "session_id",
        "cwd": "work_dir",
        "time": "timestamp",
        "call": "tool_use_id",
        "agent type": {"subagent_start": "subagent_type", "subagent_stop": "subagent_type"},
        "task": {"subagent_start": "task_description", "subagent_stop": "task_description"},
        "model": {"session_start": "model"},
        "session time": {"session_end": "duration_seconds"},
        "steps": {"session_end": "total_steps", "agent_stop": "step_count"},
        "end": {"session_end": "exit_reason"},
        "stop": {"agent_stop": "stop_reason"},
        "final message": {"agent_stop": "final_message.content"},
    },
    "canonical": {
        "session": "session_id",
        "cwd": "cwd",
        "time": "timestamp",
        "call": "tool_call_id",
        "prompt": {"before_prompt": "prompt"},
        "final message": "final_message",
        "stop active": "stop_active",
        "mode": "permission_mode",
        "transcript": "transcript_path",
        "agent transcript": "agent_transcript_path",
        "model": "model",
        "effort": "effort",
        "turn": "turn_id",
        "agent": "agent_id",
        "agent type": "subagent",
        "parent": "parent_agent_id",
        "parent session": "parent_session_id",
        "start": {"session_start": "source"},
        "end": {"session_end": "source"},
        "trigger": {"before_compact": "source", "after_compact": "source"},
        "notice": {"notification": "source"},
        "stop": {"agent_stop": "source"},
        "instructions": {"before_compact": "instructions"},
        "summary": {"after_compact": "summary"},
        "message": {"notification": "message"},
        "title": {"notification": "title"},
        "duration": "duration_ms",
        "interrupted": "interrupted",
        "suggestions": "suggestions",
        "tasks": "background_tasks",
        "crons": "crons",
        "session title": "session_title",
        "session time": "session_duration_ms",
        "steps": "steps",
        "status": "tool_status",
        "context tokens": "context_tokens",
        "failure": {"error_occurred": "error_message"},
        "error": {"tool_use_failure": "tool_error"},
        "file": {"instructions_loaded": "file_path", "file_changed": "file_path"},
        "load reason": {"instructions_loaded": "load_reason"},
        "memory": {"instructions_loaded": "memory"},
    },
}

# The words that mean the same, by dialect; a dialect that is not in a row uses the words of `*`.
_MODES = {
    "qwen-code": {"acceptEdits": "auto_edit", "bypassPermissions": "yolo"},
    "factory-droid": {
        "default": "off",
        "plan": "spec",
        "acceptEdits": "auto-low",
        "auto": "auto-medium",
        "bypassPermissions": "auto-high",
    },
}
_NEW = {"startup": "new"}
_CLAUDE_ENDS = {"complete": "other", "error": "other", "abort": "other", "timeout": "other"}
_STATUS = {"end_turn": "completed"}
WORDS: dict[str, dict[str, dict[str, str]]] = {
    "mode": _MODES,
    "start": {
        "copilot-cli": _NEW,
        "copilot-cli (pascal)": _NEW,
        "vs-code-copilot": _NEW,
        "pi": {"clear": "new"},
    },
    "end": {
        **dict.fromkeys(
            ("claude-code", "codex", "factory-droid", "qwen-code", "vs-code-copilot", "open-plugin"),
            _CLAUDE_ENDS,
        ),
        "gemini-cli": {"complete": "exit"},
        "kimi-cli": {"complete": "exit"},
        "pi": {"complete": "quit", "clear": "new"},
        "cursor": {"complete": "completed", "prompt_input_exit": "user_close", "abort": "aborted"},
        "copilot-cli": {"prompt_input_exit": "user_exit"},
        "copilot-cli (pascal)": {"prompt_input_exit": "user_exit"},
        "agent-hooks": {"prompt_input_exit": "user_exit"},
    },
    "trigger": {"pi": {"auto": "threshold"}},
    "notice": {"gemini-cli": {"permission_prompt": "ToolPermission"}},
    "stop": {"cursor": _STATUS, "cline": _STATUS, "agent-hooks": {"end_turn": "no_tool_calls"}},
    "memory": {"qwen-code": {"User": "user", "Project": "project", "Local": "local"}},
}

_CURSOR_BASE = {
    "conversation_id": "c1",
    "generation_id": "g1",
    "model": "composer-1",
    "cursor_version": "3.9.16",
    "workspace_roots": ["/repo"],
    "user_email": None,
    "transcript_path": "/home/dev/.cursor/projects/repo/agent-transcripts/c1.jsonl",
}
_CLAUDE_BASE = {"session_id": "s1", "transcript_path": "/h/.claude/projects/p/s1.jsonl", "cwd": "/w"}
_QWEN_BASE = {"session_id": "s1", "transcript_path": "/h/.qwen/projects/p/chats/s1.jsonl", "cwd": "/w"}
_DROID_BASE = {"session_id": "s1", "transcript_path": "/h/.factory/sessions/p/s1.jsonl", "cwd": "/w"}
_CALL = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def _droid(mode: str) -> tuple[str, str, dict[str, Any]]:
    call = {"tool_name": "Execute", "tool_input": {"command": "ls"}}
    return ("factory-droid", "PreToolUse", {**_DROID_BASE, "permission_mode": mode, **call})


def _qwen(mode: str) -> tuple[str, str, dict[str, Any]]:
    call = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    return ("qwen-code", "PreToolUse", {**_QWEN_BASE, "permission_mode": mode, **call})


def _claude(mode: str) -> tuple[str, str, dict[str, Any]]:
    effort = {"effort": {"level": "high"}, "tool_use_id": "t1", "prompt_id": "p1"}
    return ("claude-code", "PreToolUse", {**_CLAUDE_BASE, "permission_mode": mode, **effort, **_CALL})


# Payloads of the agents' documents, where nothing was captured.
DOCUMENTED: list[tuple[str, str, dict[str, Any]]] = [
    *map(_claude, ("default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions", "a new one")),
    *map(_qwen, ("default", "plan", "auto_edit", "auto", "yolo", "a new one")),
    *map(_droid, ("off", "spec", "auto-low", "auto-medium", "auto-high", "a new one")),
    ("claude-code", "SessionStart", {**_CLAUDE_BASE, "source": "clear", "model": "claude-sonnet-5"}),
    ("claude-code", "SessionStart", {**_CLAUDE_BASE, "source": "resume", "session_title": "Fix it"}),
    ("claude-code", "SessionEnd", {**_CLAUDE_BASE, "reason": "prompt_input_exit"}),
    (
        "claude-code",
        "Notification",
        {**_CLAUDE_BASE, "message": "needs you", "title": "T", "notification_type": "permission_prompt"},
    ),
    (
        "claude-code",
        "SubagentStop",
        {
            **_CLAUDE_BASE,
            "agent_id": "a1",
            "agent_type": "Explore",
            "agent_transcript_path": "/h/.claude/projects/p/s1/subagents/agent-a1.jsonl",
            "stop_hook_active": False,
            "last_assistant_message": "found it",
        },
    ),
    ("qwen-code", "PreCompact", {**_QWEN_BASE, "trigger": "manual", "custom_instructions": "keep names"}),
    ("cursor", "postToolUse", {**_CURSOR_BASE, "tool_name": "Shell", "tool_input": {"command": "ls"},
        "tool_output": '{"output":"a","exitCode":0}', "tool_use_id": "t1", "cwd": "/repo", "duration": 12}),
    ("cursor", "beforeShellExecution", {**_CURSOR_BASE, "command": "ls", "cwd": "/repo", "sandbox": False}),
    ("cursor", "stop", {**_CURSOR_BASE, "status": "completed", "loop_count": 0}),
    ("cursor", "sessionEnd", {**_CURSOR_BASE, "session_id": "c1", "reason": "user_close",
        "duration_ms": 61000, "is_background_agent": False, "final_status": "ok"}),
    ("cursor", "subagentStart", {**_CURSOR_BASE, "subagent_id": "a1", "subagent_type": "explore",
        "task": "look", "parent_conversation_id": "c0"}),
    ("cursor", "preCompact", {**_CURSOR_BASE, "trigger": "auto", "context_tokens": 9000}),
    ("windsurf", "pre_run_command", {"agent_action_name": "pre_run_command", "trajectory_id": "t1",
        "execution_id": "e1", "timestamp": "2026-08-22T10:00:00.000Z", "model_name": "swe-1",
        "tool_info": {"command_line": "ls", "cwd": "/repo"}}),
    ("vs-code-copilot", "PreToolUse", {"timestamp": "2026-11-16T12:50:47.960Z", "session_id": "s1",
        "hook_event_name": "PreToolUse", "transcript_path": "/h/transcripts/s1.jsonl",
        "tool_name": "run_in_terminal", "tool_input": {"command": "ls"}, "tool_use_id": "c1", "cwd": "/w"}),
    ("vs-code-copilot", "SessionStart", {"timestamp": "2026-11-16T12:50:47.960Z", "session_id": "s1",
        "hook_event_name": "SessionStart", "transcript_path": "/h/transcripts/s1.jsonl", "source": "new",
        "cwd": "/w"}),
    ("augment", "Notification", {"hook_event_name": "Notification", "conversation_id": "c1",
        "workspace_roots": ["/w"], "notification_type": "idle_prompt", "notification_message": "waiting"}),
    ("pi", "session_before_compact", {"hook": "session_before_compact", "type": "session_before_compact",
        "reason": "threshold", "customInstructions": "keep names", "cwd": "/w", "sessionId": "s1",
        "sessionFile": "/h/.pi/agent/sessions/w/s1.jsonl"}),
    ("pi", "session_start", {"hook": "session_start", "type": "session_start", "reason": "new", "cwd": "/w",
        "sessionId": "s1", "sessionFile": "/h/.pi/agent/sessions/w/s1.jsonl"}),
    ("copilot-cli", "sessionEnd", {"sessionId": "s1", "timestamp": 1794787176776, "cwd": "/w",
        "reason": "user_exit"}),
    ("kiro", "userPromptSubmit", {"hook_event_name": "userPromptSubmit", "cwd": "/w", "session_id": "s1",
        "prompt": "add tests"}),
]  # fmt: skip
