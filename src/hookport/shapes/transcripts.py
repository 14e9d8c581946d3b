"""The shapes of transcripts that several dialects share, as tables (see `Wire.transcript`)."""

from __future__ import annotations

from typing import Any

Table = dict[str, Any]

# One line for each block of an answer; the lines of one answer share `message.id`, and each repeats its usage
# (measured, Claude Code 2.1.325). Lines without a conversation are of the kinds below; `summary` and
# `file-history-snapshot` are known from public transcripts of earlier versions.
_BLOCK_ROWS = (
    {
        "of": {"type": "tool_use"},
        "kind": "call",
        "id": "id",
        "name": "name",
        "input": "input",
        "message": "^message.id",
    },
    {
        "of": {"type": "tool_result"},
        "kind": "result",
        "id": "tool_use_id",
        "text": "content",
        "failed": ["is_error"],
    },
)
CLAUDE_USAGE = {
    name: f"message.usage.{name}"
    for name in (
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    )
}
BLOCKS: Table = {
    "form": "blocks",
    "of": "Claude Code 2.1.325",
    # The second is that of a subagent (source, 2.1.325).
    "named": ("projects/*/*.jsonl", "subagents/agent-*.jsonl"),
    "kept": (
        "$CLAUDE_CONFIG_DIR/projects/*/{session}.jsonl",
        "~/.claude/projects/*/{session}.jsonl",
    ),
    # The stop hook starts before the last answer is in the file: in 9 of 9 runs; after 300 ms it was there.
    "late": 1.0,
    "time": "^timestamp",
    "records": (
        {
            "where": {"type": "user", "isMeta": None},
            "each": "message.content",
            "rows": ({"of": {"type": "text"}, "kind": "user", "text": "text"}, *_BLOCK_ROWS),
        },
        {
            "where": {"type": "assistant"},
            "each": "message.content",
            "rows": (
                {
                    "of": {"type": "text"},
                    "kind": "assistant",
                    "text": "text",
                    "id": "^message.id",
                    "model": "^message.model",
                    "usage": CLAUDE_USAGE,
                },
                *_BLOCK_ROWS,
            ),
        },
    ),
    "other": (
        {
            "type": (
                *("attachment", "system", "queue-operation", "last-prompt", "tools-used", "atis-latch"),
                *("cost-state", "api-request", "api-request-shape", "api-request-blob"),
                *("summary", "file-history-snapshot", "progress"),
            )
        },
        {"type": "user", "isMeta": True},
    ),
    "writes": {
        kind: {
            "parentUuid": "$parent",
            "isSidechain": False,
            "userType": "external",
            "type": role,
            "message": message,
            "uuid": "$uuid",
            "timestamp": "$time",
            "cwd": "$cwd",
            "sessionId": "$session",
            "gitBranch": "",
            **more,
        }
        for kind, role, message, more in (
            ("user", "user", {"role": "user", "content": "$text"}, {}),
            (
                "assistant",
                "assistant",
                {
                    "id": "$message",
                    "type": "message",
                    "role": "assistant",
                    "model": "$model",
                    "content": [{"type": "text", "text": "$text"}],
                    "stop_reason": "$stop",
                    "usage": "$usage",
                },
                {},
            ),
            (
                "call",
                "assistant",
                {
                    "id": "$message",
                    "type": "message",
                    "role": "assistant",
                    "model": "$model",
                    "content": [{"type": "tool_use", "id": "$id", "name": "$name", "input": "$input"}],
                    "stop_reason": "tool_use",
                },
                {},
            ),
            (
                "result",
                "user",
                {
                    "role": "user",
                    "content": [
                        {
                            "tool_use_id": "$id",
                            "type": "tool_result",
                            "content": "$text",
                            "is_error": "$failed",
                        }
                    ],
                },
                {"toolUseResult": "$text"},
            ),
        )
    },
}

# An event log. `success` is true for a command that exits with 3, so its exit code counts too (measured,
# Copilot CLI 1.0.102).
LOG: Table = {
    "form": "log",
    "time": "^timestamp",
    "records": (
        {"where": {"type": "user.message"}, "rows": ({"kind": "user", "text": "data.content"},)},
        {
            "where": {"type": "assistant.message"},
            "rows": (
                {
                    "kind": "assistant",
                    "text": "data.content",
                    "id": "data.messageId",
                    "model": "data.model",
                },
            ),
        },
        {
            "where": {"type": "assistant.message"},
            "each": "data.toolRequests",
            "rows": (
                {
                    "kind": "call",
                    "id": "toolCallId",
                    "name": "name",
                    "input": "arguments",
                    "message": "^data.messageId",
                    "model": "^data.model",
                },
            ),
        },
        {
            "where": {"type": "tool.execution_complete"},
            "rows": (
                {
                    "kind": "result",
                    "id": "data.toolCallId",
                    "text": "data.result.content",
                    "failed": ["!data.success", "data.shellExecution.exitCode"],
                },
            ),
        },
    ),
    "other": (
        {
            "type": (
                *("session.start", "session.resume", "session.shutdown", "session.info", "session.error"),
                *("session.usage_record", "session.model_change", "session.truncation"),
                *("system.message", "assistant.turn_start", "assistant.turn_end", "assistant.reasoning"),
                *("tool.execution_start", "hook.start", "hook.end", "abort"),
            )
        },
    ),
    "writes": {
        "head": [
            {
                "type": "session.start",
                "data": {"sessionId": "$session", "version": 1, "context": {"cwd": "$cwd"}},
                "id": "$session",
                "timestamp": "$start",
                "parentId": None,
            }
        ],
        **{
            kind: {
                "type": event,
                "data": data,
                "id": "$uuid",
                "timestamp": "$time",
                "parentId": "$parent",
            }
            for kind, event, data in (
                ("user", "user.message", {"content": "$text", "transformedContent": "$text"}),
                (
                    "assistant",
                    "assistant.message",
                    {"messageId": "$message", "model": "$model", "content": "$text", "toolRequests": []},
                ),
                (
                    "call",
                    "assistant.message",
                    {
                        "messageId": "$message",
                        "model": "$model",
                        "content": "",
                        "toolRequests": [
                            {"toolCallId": "$id", "name": "$name", "arguments": "$input", "type": "function"}
                        ],
                    },
                ),
                (
                    "result",
                    "tool.execution_complete",
                    {"toolCallId": "$id", "success": "$succeeded", "result": {"content": "$text"}},
                ),
            )
        },
    },
}


def keep_in_database(path: str, variable: str, version: str) -> Table:
    """The rows of the database of OpenCode and the agents made of it: one for each part of a message.

    A command that exits with 3 is `completed`; its exit code is in `metadata` (measured, OpenCode 1.18.33).
    """
    return {
        "form": "parts in a database",
        "of": version,
        "store": "database",
        "named": (path,),
        "kept": (f"${variable}/{path}", f"~/.local/share/{path}"),
        "query": (
            "SELECT m.data AS message, p.data AS part, p.time_created AS time, m.id AS id"
            " FROM part p JOIN message m ON m.id = p.message_id WHERE p.session_id = :session"
            " ORDER BY m.time_created DESC, m.id DESC, p.time_created DESC, p.id DESC LIMIT :most"
        ),
        "time": "time",
        "records": (
            {
                "where": {"part.type": "text", "message.role": "user", "part.synthetic": None},
                "rows": ({"kind": "user", "text": "part.text"},),
            },
            {
                "where": {"part.type": "text", "message.role": "assistant"},
                "rows": (
                    {
                        "kind": "assistant",
                        "text": "part.text",
                        "id": "id",
                        "model": "message.modelID",
                        "usage": {
                            "input_tokens": "message.tokens.input",
                            "output_tokens": "message.tokens.output",
                            "cache_read_input_tokens": "message.tokens.cache.read",
                            "cache_creation_input_tokens": "message.tokens.cache.write",
                        },
                    },
                ),
            },
            {
                "where": {"part.type": "tool"},
                "rows": (
                    {
                        "kind": "call",
                        "id": "part.callID",
                        "name": "part.tool",
                        "input": "part.state.input",
                        "message": "id",
                        "model": "message.modelID",
                    },
                ),
            },
            {
                "where": {"part.type": "tool", "part.state.status": ("completed", "error")},
                "rows": (
                    {
                        "kind": "result",
                        "id": "part.callID",
                        "text": ("part.state.output", "part.state.error"),
                        "failed": ["part.state.status=error", "part.state.metadata.exit"],
                    },
                ),
            },
        ),
        "other": (
            {
                "part.type": (
                    *("step-start", "step-finish", "reasoning", "snapshot", "patch", "file", "agent"),
                    *("subtask", "retry", "compaction"),
                )
            },
            {"part.type": "text", "part.synthetic": True},
        ),
    }


# A tree of messages, of which the file has one branch after the other (measured, pi 0.87.1).
PI_USAGE = {
    "input_tokens": "message.usage.input",
    "output_tokens": "message.usage.output",
    "cache_read_input_tokens": "message.usage.cacheRead",
    "cache_creation_input_tokens": "message.usage.cacheWrite",
}
TREE: Table = {
    "form": "tree",
    # `--session-dir` names another folder.
    "named": ("20*Z_*.jsonl",),
    "time": "^timestamp",
    "records": (
        {
            "where": {"type": "message", "message.role": "user"},
            "rows": ({"kind": "user", "text": "message.content"},),
        },
        {
            "where": {"type": "message", "message.role": "assistant"},
            "each": "message.content",
            "rows": (
                {
                    "of": {"type": "text"},
                    "kind": "assistant",
                    "text": "text",
                    "id": "^id",
                    "model": "^message.model",
                    "usage": PI_USAGE,
                },
                {
                    "of": {"type": "toolCall"},
                    "kind": "call",
                    "id": "id",
                    "name": "name",
                    "input": "arguments",
                    "message": "^id",
                    "model": "^message.model",
                },
            ),
        },
        {
            "where": {"type": "message", "message.role": "toolResult"},
            "rows": (
                {
                    "kind": "result",
                    "id": "message.toolCallId",
                    "text": "message.content",
                    "failed": ["message.isError"],
                },
            ),
        },
    ),
    "other": (
        {"type": ("session", "title", "model_change", "thinking_level_change")},
        {"type": ("compaction", "label", "custom")},
        {"type": "message", "message.role": ("system", "custom")},
    ),
    "writes": {
        "head": [
            {"type": "session", "version": 3, "id": "$session", "timestamp": "$start", "cwd": "$cwd"},
        ],
        **{
            kind: {
                "type": "message",
                "id": "$uuid",
                "parentId": "$parent",
                "timestamp": "$time",
                "message": message,
            }
            for kind, message in (
                ("user", {"role": "user", "content": [{"type": "text", "text": "$text"}]}),
                (
                    "assistant",
                    {
                        "role": "assistant",
                        "content": [{"type": "text", "text": "$text"}],
                        "model": "$model",
                        "stopReason": "stop",
                    },
                ),
                (
                    "call",
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "toolCall", "id": "$id", "name": "$name", "arguments": "$input"}
                        ],
                        "model": "$model",
                        "stopReason": "toolUse",
                    },
                ),
                (
                    "result",
                    {
                        "role": "toolResult",
                        "toolCallId": "$id",
                        "content": [{"type": "text", "text": "$text"}],
                        "isError": "$failed",
                    },
                ),
            )
        },
    },
}
