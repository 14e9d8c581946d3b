"""The wire of Qwen Code: Claude's, with results and tools of Gemini and with merges that need a firm deny.

What is not marked otherwise was captured or measured on 0.24.4.
"""

from __future__ import annotations

from hookport.agents import _claude_wire as claude
from hookport.agents._base import Tree
from hookport.agents._claude_wire import BLOCK, CONTEXT, HALT, MESSAGE, SUPPRESS, permission
from hookport.wire.table import Wire

SAYS = {"message": MESSAGE, "suppress": SUPPRESS}

ANSWERS: dict[str, Tree] = {
    "PreToolUse": {
        **SAYS,
        # A later hook's allow undoes the verdict (QW1); `continue: false` is kept whoever else answers, and
        # means here that this one call is not run (src: hookAggregator, toolHookTriggers).
        "deny": {
            "json": {
                **permission("deny")["json"],
                "continue": False,
                "stopReason": "$reason",
            }
        },
        # Denied with its reason where nobody can be asked.
        "ask": permission("ask"),
        # No allow: it comes after the permission prompt and lifts nothing, and it would undo another hook's
        # deny (QW1). No rewrite (QW3), and no context, which is not passed on.
    },
    # No deny: a block does nothing here (QW10), while context is added to the result.
    "PostToolUse": {**SAYS, "context": CONTEXT, "halt": HALT},
    "PostToolUseFailure": {**SAYS, "context": CONTEXT},
    "PostToolBatch": {**SAYS, "deny": BLOCK, "context": CONTEXT, "halt": HALT},
    "UserPromptSubmit": {**SAYS, "deny": BLOCK, "context": CONTEXT},
    "UserPromptExpansion": {**SAYS, "deny": BLOCK, "context": CONTEXT},
    # No halt: on these two `continue: false` makes the agent go on as a block does (src: client).
    "Stop": {**SAYS, "deny": BLOCK},
    "SubagentStop": {**SAYS, "deny": BLOCK},
    "SessionStart": {**SAYS, "context": CONTEXT},
    "SubagentStart": {**SAYS, "context": CONTEXT},
    "PreCompact": {**SAYS, "context": CONTEXT},
    "PermissionRequest": {
        key: piece
        for key, piece in claude.ANSWERS["permission_request"].items()
        if key in ("deny", "allow", "rewrite")
    },
    # Obeyed while the list is checked, not after it was written (src).
    "TodoCreated": {"deny": BLOCK},
    "TodoCompleted": {"deny": BLOCK},
    "*": {},
}

# An allow says nothing but on PermissionRequest: it comes after the prompt and lifts none.
DECISIONS = {"allow": None, "approve": None, "deny": "deny", "block": "deny", "ask": "ask"}
VERDICTS: list[Tree] = [("hookSpecificOutput.permissionDecision", DECISIONS), ("decision", DECISIONS)]

# JSON counts whatever the exit code but 2, with which only stderr does; an allow does not beat exit code 2.
READ: dict[str, Tree] = {
    **claude.READ,
    "verdicts": VERDICTS,
    "result": [],
    "stderr": True,
    "text": "message",
}
READ_TEXT = {**READ, "text": "context"}
# Where `continue: false` is a block (src: hookAggregator, client).
READ_BLOCK = {**READ, "verdicts": [("continue", {"False": "deny", "True": None}), *VERDICTS], "halt": []}

# What Qwen Code itself obeys: of stdout one JSON object with any exit code but 2, with which stderr is read
# (a', a''), else text on stderr with exit code 2. `ask` denies where nobody can be asked (k).
OBEY: dict[str, Tree] = {**READ, "json": "but 2", "speaks": "stderr", "wins": "json"}
OBEY_BLOCK = {**OBEY, "verdicts": [("continue", {"False": "deny", "True": None}), *VERDICTS], "halt": []}
OBEY_TEXT = {**OBEY, "text": "context"}
# A block does nothing after a tool (l); the others only hear (src).
OBEY_NOTHING = {**OBEY, "verdicts": [], "exits": {}}
OBEYS: dict[str, dict[str, Tree]] = {
    "PreToolUse": {**OBEY_BLOCK, "input": []},
    "Stop": OBEY_BLOCK,
    "SubagentStop": OBEY_BLOCK,
    "UserPromptSubmit": OBEY_TEXT,
    "UserPromptExpansion": OBEY_TEXT,
    "PostToolBatch": OBEY,
    "TodoCreated": OBEY,
    "TodoCompleted": OBEY,
    "SessionStart": {**OBEY_NOTHING, "text": "context"},
    "PermissionRequest": {**OBEY, **claude.READS["permission_request"], "exits": {"2": "deny"}},
    "*": OBEY_NOTHING,
}

WIRE: Wire = claude.WIRE.replace(
    obeys=OBEYS,
    extras={
        "PermissionRequest": {**claude.PERMISSION_EXTRAS, "terminal": "terminalSequence"},
        "*": {"terminal": "terminalSequence"},
    },
    # An allow listed after a deny undoes it (QW1).
    several="last",
    keys={**claude.KEYS, "timestamp": "timestamp", "crons": "crons"},
    transcript="parts",
    keys_of={
        **claude.KEYS_OF,
        "UserPromptExpansion": {"source": "command_name"},
        "StopFailure": {"source": "error", "error": None, "error_message": "error_details"},
    },
    words={
        **claude.WORDS,
        # (src, the approval modes); `dontAsk`, which refuses what is not allowed already, has no counterpart.
        "permission_mode": {"acceptEdits": "auto_edit", "bypassPermissions": "yolo"},
        # (src) Claude Code capitalises them; its rules of an administrator have no counterpart.
        "memory": {"User": "user", "Project": "project", "Local": "local"},
    },
    inputs={**claude.INPUTS, "shell": {"cwd": "directory"}},
    texts=("llmContent:parts", "llmContent.text", "returnDisplay"),
    results={"*": {"llmContent": "$text", "returnDisplay": "$text"}},
    env={
        "QWEN_PROJECT_DIR": "$root",
        "CLAUDE_PROJECT_DIR": "$root",
        "GEMINI_PROJECT_DIR": "$root",
        "CLAUDE_PLUGIN_ROOT": "$package",
    },
    starts_in="root",
    marks=("transcript_path=.qwen/", "prompt_id", "permission_mode", "tool_use_id", "tool_call_id"),
    answers=ANSWERS,
    reads={
        "PreToolUse": READ_BLOCK,
        "Stop": READ_BLOCK,
        "SubagentStop": READ_BLOCK,
        "SessionStart": READ_TEXT,
        "UserPromptSubmit": READ_TEXT,
        "PermissionRequest": {**claude.READS["permission_request"], "exits": {"2": "deny"}, "stderr": True},
        "*": READ,
    },
    # (src, the tool names)
    others=(
        *("enter_plan_mode", "exit_plan_mode", "enter_worktree", "exit_worktree", "lsp", "cron_*", "task_*"),
        *("team_*", "send_message", "tool_search", "read_mcp_resource", "save_memory"),
    ),
    caps_stops=True,
    echoes=("UserPromptSubmit",),
)
