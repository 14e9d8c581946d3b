"""Cline's wire: two runtimes that send a call twice or once, in two spellings, and obey only printed JSON.

The CLI (measured on 3.0.65) says `tool_call` and sends the input as it is; the VS Code extension (4.1.13,
source) says `PreToolUse` and sends every field of the input as text.
"""

from __future__ import annotations

from hookport.agents._base import Tree
from hookport.wire.table import Wire

KEYS = {
    "event": "hookName",
    "session": ["taskId", "sessionContext.rootSessionId"],
    "cwd": "workspaceRoots:list",
    "root": ["workspaceRoots:list", "workspaceInfo.rootPath"],
    "timestamp": "timestamp",
    # The CLI sends the first three, the extension the last.
    "agent_id": "agent_id",
    "parent_agent": "parent_agent_id",
    "steps": "iteration",
    "model": "model.slug",
}

KEYS_OF: dict[str, dict[str, Tree]] = {
    "PreToolUse": {
        "tool": ["tool_call.name", "preToolUse.toolName"],
        "input": ["tool_call.input", "preToolUse.parameters:strings"],
        "call_id": "tool_call.id",
    },
    "PostToolUse": {
        "tool": ["tool_result.name", "postToolUse.toolName"],
        "input": ["tool_result.input", "postToolUse.parameters:strings"],
        "call_id": "tool_result.id",
        "result": ["tool_result.output", "postToolUse.result:json"],
        "error": "tool_result.error",
        "duration_ms": ["tool_result.durationMs", "postToolUse.executionTimeMs"],
    },
    "UserPromptSubmit": {"prompt": "userPromptSubmit.prompt"},
    "TaskStart": {"prompt": "taskStart.taskMetadata.initialTask"},
    "TaskComplete": {
        "final_message": ["turn.outputText", "taskComplete.taskMetadata.result"],
        "source": "turn.status",
    },
    "TaskError": {"error_message": "error.message"},
    "TaskCancel": {"source": "reason"},
    "SessionShutdown": {"source": "reason"},
}

WORDS: dict[str, dict[str, Tree]] = {"agent_stop": {"end_turn": "completed"}}

# The CLI's names (lab, src); the extension says the name of the file.
SAID = {
    "PreToolUse": "tool_call",
    "PostToolUse": "tool_result",
    "UserPromptSubmit": "prompt_submit",
    "TaskStart": "agent_start",
    "TaskResume": "agent_resume",
    "TaskComplete": "agent_end",
    "TaskCancel": "agent_abort",
    "TaskError": "agent_error",
    "SessionShutdown": "session_shutdown",
}

FIXED_OF: dict[str, dict[str, Tree]] = {
    "PostToolUse": {"postToolUse.success": True},
    "UserPromptSubmit": {"userPromptSubmit.attachments": []},
    "TaskStart": {"taskStart": {"taskMetadata": {}}},
    "TaskResume": {"taskResume": {"taskMetadata": {}, "previousState": {}}},
    "TaskComplete": {"turn.status": "completed", "taskComplete.taskMetadata": {}},
    "TaskCancel": {"taskCancel": {"taskMetadata": {}}},
}

# The tools take more spellings than they advertise, and hooks see the input as the model wrote it (src).
INPUTS: dict[str, dict[str, Tree]] = {
    "run_commands": {"command": ["command", "cmd"]},
    "read_files": {"path": ["path", "file_path", "filePath"]},
    "file_write": {"content": "new_text"},
    "file_edit": {"old": "old_text", "new": "new_text"},
    "spawn_agent": {"prompt": "task"},
    # Tools of the extension 3.x.
    "write_to_file": {"path": "path"},
    "replace_in_file": {"path": "path"},
    "search_files": {"pattern": "regex", "include": "file_pattern"},
}
BATCHES = {
    "run_commands": ("commands", "command"),
    "read_files": (["files", "file_paths", "paths"], ""),
    "search_codebase": ("queries", "pattern"),
    "fetch_web_content": ("requests", ""),
}
# Without a text to replace or a line to insert at, the editor writes the whole file (src).
INSERTS = ("insert_line", {"": "file_write", "*": "file_edit"})
VARIANTS = {"editor": ("old_text", {"": INSERTS, "*": "file_edit"})}

# Context is dropped from an answer that cancels (src).
CANCEL: dict[str, Tree] = {"json": {"cancel": True, "errorMessage": "$reason"}, "alone": True}
CONTEXT = {"json": {"contextModification": "$context"}}

# The CLI reads nothing but what is printed on the two tool events (lab). `cancel` after a tool would end the
# run without a word (CL1), so there the reason is told as context, which reaches the model (lab).
ANSWERS = {
    "PreToolUse": {"deny": CANCEL, "rewrite": {"json": {"overrideInput": "$input"}}, "context": CONTEXT},
    "PostToolUse": {"context": CONTEXT},
    "*": {},
}
# The extension ignores overrideInput (CL4), and obeys `cancel` where a prompt or a task begins (src).
EXTENSION = {
    "PreToolUse": {"deny": CANCEL, "context": CONTEXT},
    "PostToolUse": {"context": CONTEXT},
    "UserPromptSubmit": {"deny": CANCEL},
    "TaskStart": {"deny": CANCEL},
    "*": {},
}

# Cline itself ignores exit codes (CL2); the generated script takes exit code 2 for a deny (own).
READ = {
    "verdicts": [("cancel", {"True": "deny", "False": "none"})],
    "reason": ["errorMessage"],
    "context": ["contextModification", "context"],
    "input": ["overrideInput"],
    "exits": {"2": "deny"},
    "json": "any",
}

# What Cline itself obeys: `cancel` in one JSON object, or after a mark amid other output, whatever the exit
# code (lab a, b, e). It waits for nothing but the two tool events (g, h).
OBEY = {**READ, "exits": {}, "marked": "HOOK_CONTROL\t"}

WIRE = Wire(
    obeys={"PreToolUse": OBEY, "PostToolUse": OBEY, "*": {**OBEY, "verdicts": []}},
    keys=KEYS,
    keys_of=KEYS_OF,
    words=WORDS,
    said=SAID,
    fixed={"clineVersion": "", "userId": ""},
    fixed_of=FIXED_OF,
    inputs=INPUTS,
    patches={"apply_patch": "input"},
    batches=BATCHES,
    variants=VARIANTS,
    # A result per command or file (src: ToolOperationResult).
    texts=("result", ":results"),
    results={"*": [{"query": "", "result": "$text", "success": True}]},
    env={"CLINE_PROJECT_DIR": "$root"},
    starts_in="root",
    marks=("hookName", "taskId"),
    answers=ANSWERS,
    # Whatever does not name the event as the CLI does is the extension, or something else to be wary of.
    answers_of={"hookName": EXTENSION},
    reads={"*": READ},
    others=("submit_and_exit",),  # (src)
    lifts=False,
)
