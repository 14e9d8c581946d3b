"""Kiro's wire: an exit code and raw text, never JSON; agent files and v1 files differ in what they listen to.

Agent files: source of the Amazon Q CLI, 2026-04-23. v1 files: kiro.dev pages, July and August 2026.
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.wire.table import Wire

KEYS = {
    "event": "hook_event_name",
    "session": "session_id",
    "cwd": "cwd",
    "tool": "tool_name",
    "input": "tool_input",
    "result": "tool_response",
    "prompt": "prompt",
}

# The page on v1 files shows `preToolUse` in the payload of a hook on `PreToolUse` (doc).
SAID = {
    "PreToolUse": "preToolUse",
    "PostToolUse": "postToolUse",
    "UserPromptSubmit": "userPromptSubmit",
    "Stop": "stop",
}

# `text`, `oldStr` and `newStr` are the IDE's fields (seen); `command` of the CLI's tools is a sub-command.
INPUTS: dict[str, dict[str, Tree]] = {
    "shell": {"description": "summary"},
    "file_write": {"content": ["file_text", "text"], "action": "command"},
    "file_edit": {"old": ["old_str", "oldStr"], "new": ["new_str", "newStr"], "action": "command"},
    "str_replace": {"old": "oldStr", "new": "newStr"},
    "fs_append": {"content": "text"},
    "todo": {"todos": "tasks", "action": "command"},
    "delegate": {"prompt": "task", "agent_type": "agent"},
}
VARIANTS = {
    "fs_write": (
        "command",
        {"create": "file_write", "str_replace": "file_edit", "insert": "file_edit", "append": "file_edit"},
    )
}

# stdout is not read beside exit code 2.
DENY: dict[str, Tree] = {"stderr": "$reason", "exit": 2, "alone": True}
CONTEXT = {"stdout": "$context"}

ANSWERS: dict[str, dict[str, Tree]] = {
    # Agent files (src): exit code 2 is a warning on the others, and stdout is thrown away.
    "agentSpawn": {"context": CONTEXT},
    "userPromptSubmit": {"context": CONTEXT},
    "preToolUse": {"deny": DENY},
    "postToolUse": {},
    "stop": {},
    # v1 files (doc): stdout is added to the context.
    "UserPromptSubmit": {"deny": DENY, "context": CONTEXT},
    "PreToolUse": {"deny": DENY, "context": CONTEXT},
    "PreTaskExec": {"deny": DENY, "context": CONTEXT},
    "*": {"context": CONTEXT},
}

OBSERVED = {"json": "none", "text": "ignored"}
WITH_CONTEXT = {"json": "none", "text": "context"}
# One page lets any exit code but 0 block (KI7): a guard that relies on it must not be let through.
ANY_CODE = {**WITH_CONTEXT, "exits": {"+": "deny"}}

READS: dict[str, dict[str, Tree]] = {
    "agentSpawn": WITH_CONTEXT,
    "userPromptSubmit": WITH_CONTEXT,
    "preToolUse": {**OBSERVED, "exits": {"2": "deny"}},
    "postToolUse": OBSERVED,
    "stop": OBSERVED,
    "UserPromptSubmit": ANY_CODE,
    "PreToolUse": ANY_CODE,
    "PreTaskExec": ANY_CODE,
    "*": WITH_CONTEXT,
}

# What Kiro itself obeys: exit code 2 (src, doc), although one page of v1 lets any other code block.
ONLY_TWO = {**WITH_CONTEXT, "exits": {"2": "deny"}}
OBEYS = {**READS, "UserPromptSubmit": ONLY_TWO, "PreToolUse": ONLY_TWO, "PreTaskExec": ONLY_TWO}

WIRE = Wire(
    obeys=OBEYS,
    keys=KEYS,
    said=SAID,
    inputs=INPUTS,
    batches={"fs_read": ("operations", "")},
    variants=VARIANTS,
    texts=("result:list",),
    results={"*": {"success": True, "result": ["$text"]}},
    env={"USER_PROMPT": "$prompt"},
    starts_in="root",
    answers=ANSWERS,
    reads=READS,
    # (doc, the built-in tools of Q)
    others=("introspect", "thinking", "gh_issue"),
    lifts=False,
)
