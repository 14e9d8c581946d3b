"""Cline: one script per event, named after it; hookport reads others' scripts and generates its own."""

from __future__ import annotations

from datetime import timedelta

from hookport.findings import Finding, MatcherDropped, ServerWidened
from hookport.model.hooks import ANY_SERVER, Hook, Term
from hookport.shapes.dialect import (
    SECOND,
    Dialect,
    EventSpec,
    Field,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Quirk,
    Timeout,
    Tree,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.shapes.matchers import normalise_terms
from hookport.shapes.script import Limits, make_script_shape
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "src": "cline/cline at 2026-08-22: sdk/packages/core/src/hooks (CLI), apps/vscode/src (VS Code 4.1.13)",
    "lab": "measured on the CLI 3.0.65, November 2026",
    "old": "tool names of the VS Code extension 3.x, which older installations still report",
    "own": "what the generated script does",
}

# Both runtimes let the tool run when they stop waiting (CL5), so the script answers earlier: the CLI
# waits 120 s on tool events and does not wait on others (lab, src), VS Code waits 30 s on all (src).
LIMITS = Limits(tools=115, others=0, strict=27)
LONGEST = timedelta(seconds=LIMITS.tools)

# The CLI is what was measured; it waits for the two tool events alone. VS Code also obeys `cancel` on
# UserPromptSubmit and TaskStart (src).
EVENTS = (
    EventSpec(
        "PreToolUse", "before_tool_execute", "prevent", "lab", "tool", rewrites=True, max_timeout=LONGEST
    ),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool", max_timeout=LONGEST),
    EventSpec(
        "UserPromptSubmit",
        "before_prompt",
        "prevent",
        "src",
        hears="nothing",
        partly="VS Code obeys it, but the CLI does not wait for it (CL3)",
        unfired="in the CLI's runs of one prompt (CL3)",
    ),
    EventSpec("TaskStart", "session_start", "observe", "lab", hears="nothing"),
    EventSpec("TaskResume", "session_start", "observe", "src", secondary=True),
    EventSpec("TaskComplete", "agent_stop", "observe", "lab"),
    EventSpec("TaskCancel", "interrupted", "observe", "src"),
    EventSpec("TaskError", "error_occurred", "observe", "lab"),
    EventSpec("SessionShutdown", "session_end", "observe", "lab"),
)

LACKS = explain_missing(
    EVENTS,
    "no file name in the source means it",
    registry=30,
    before_compact="neither runtime runs PreCompact, although the name is known",
    notification="neither runtime runs Notification, although the name is known",
    tool_use_failure="PostToolUse runs after failures too",
    after_task="TaskComplete is the end of a turn",
)


# Cline's wire: two runtimes that send a call twice or once, in two spellings, and obey only printed JSON.
# The CLI (measured on 3.0.65) sends `tool_call` and the unchanged input; the VS Code extension (4.1.13,
# source) sends `PreToolUse` with every field of the input as text.

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

# The CLI's names (lab, src); the extension sends the file's name.
EVENT_WORDS = {
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
# run silently (CL1), so the reason is sent as context, which reaches the model (lab).
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

# Its transcript, whose path is in no payload (measured, 3.0.65): one document, replaced at each step.
TRANSCRIPT = {
    "form": "document",
    "of": "Cline 3.0.65",
    "store": "document",
    "named": ("sessions/*/*.messages.json",),
    "kept": (
        "$CLINE_DIR/data/sessions/{session}/{session}.messages.json",
        "~/.cline/data/sessions/{session}/{session}.messages.json",
    ),
    "session": "sessionContext.rootSessionId",
    "list": "messages",
    "time": "^ts",
    "records": (
        {
            "where": {"role": "user"},
            "each": "content",
            "rows": (
                {"of": {"type": "text"}, "kind": "user", "text": "text", "within": "user_input"},
                {
                    "of": {"type": "tool_result"},
                    "kind": "result",
                    "id": "tool_use_id",
                    "text": ("content.0.result", "content.0.error", "content"),
                    "failed": ["!content.0.success", "is_error"],
                },
            ),
        },
        {
            "where": {"role": "assistant"},
            "each": "content",
            "rows": (
                {
                    "of": {"type": "text"},
                    "kind": "assistant",
                    "text": "text",
                    "id": "^id",
                    "model": "^modelInfo.id",
                    "usage": {
                        "input_tokens": "metrics.inputTokens",
                        "output_tokens": "metrics.outputTokens",
                        "cache_read_input_tokens": "metrics.cacheReadTokens",
                        "cache_creation_input_tokens": "metrics.cacheWriteTokens",
                    },
                },
                {
                    "of": {"type": "tool_use"},
                    "kind": "call",
                    "id": "id",
                    "name": "name",
                    "input": "input",
                    "message": "^id",
                    "model": "^modelInfo.id",
                },
            ),
        },
    ),
}

WIRE = Wire(
    transcript=(TRANSCRIPT,),
    obeys={"PreToolUse": OBEY, "PostToolUse": OBEY, "*": {**OBEY, "verdicts": []}},
    keys=KEYS,
    by_event=list_by_event(keys=KEYS_OF, fixed=FIXED_OF),
    words=WORDS,
    said=EVENT_WORDS,
    fixed={"clineVersion": "", "userId": ""},
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


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """Matchers that a shell script can test without guessing."""
    adjusted: list[Hook] = []
    findings: list[Finding] = []
    for number, hook in enumerate(hooks):
        patterns = [term.value for term in hook.matcher if term.kind == "pattern"]
        servers = [term for term in hook.matcher if term.kind == "mcp" and term != Term("mcp", ANY_SERVER)]
        matcher = hook.matcher
        if patterns:
            findings.append(MatcherDropped.at("", number, target=DIALECT.id, matcher="|".join(patterns)))
            matcher = ()
        elif servers:
            findings += [
                ServerWidened.at("", number, target=DIALECT.id, server=term.value) for term in servers
            ]
            terms = [term for term in matcher if term not in servers]
            matcher = normalise_terms([*terms, Term("mcp", ANY_SERVER)])
        adjusted.append(hook._replace(matcher=matcher))
    return adjusted, findings


DIALECT = Dialect(
    id="cline",
    title="Cline",
    kind="agent",
    facts="CLI 3.0.65, VS Code extension 4.1.13",
    sources=SOURCES,
    shows={
        # A denied call ends the turn silently.
        "*": ((), "lab"),
    },
    locations=(
        # The extension reads these two, and of files without an ending those that are executable (src).
        Location("project", ".clinerules/hooks/*", "lab", executable=True),
        Location("user", "~/Documents/Cline/Hooks/*", "lab", executable=True),
        Location("project", ".cline/hooks/*", "lab"),
        Location("user", "~/.cline/hooks/*", "lab"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=(
        *name_tools(
            "src",
            shell="run_commands",
            file_read="read_files",
            file_write=("editor", "apply_patch"),
            file_edit=("editor", "apply_patch"),
            search="search_codebase",
            web_fetch="fetch_web_content",
            agent=("spawn_agent", "team_*"),
            skill="skills",
            ask_user="ask_question",
        ),
        *name_tools(
            "old",
            shell="execute_command",
            file_read="read_file",
            file_write=("write_to_file", "replace_in_file"),
            file_edit=("replace_in_file", "write_to_file"),
            search="search_files",
        ),
    ),
    mcp=McpNames("", "__", "lab"),
    matching=Matching("terms"),
    handlers={
        "command": HandlerSpec(
            "",
            {
                "name": "name",
                "description": "description",
                "command": "command",
                "timeout": "timeout",
                "blocking": "blocking",
                "on_failure": Field("on_failure", {"block": "block"}),
                "timeout_action": Field("timeout_action", {"warn": "warn", "block": "block"}),
            },
            Timeout(
                SECOND,
                default=timedelta(seconds=30),
                whole=True,
                minimum=SECOND,
                shorter=("VS Code", timedelta(seconds=LIMITS.strict)),
            ),
            required=("command",),
        ),
    },
    shape=make_script_shape(LIMITS)._replace(
        file_kinds=dict.fromkeys(("json", "jsonc", "toml", "yaml", "frontmatter"), "text")
    ),
    # Whatever a file there is called, it is a script or nothing.
    wire=WIRE,
    obeys=("cancel",),
    deny_answer={"cancel": True, "errorMessage": "{reason}"},
    project_dir=spell_root("CLINE_PROJECT_DIR"),
    project_read="repository",
    programs=("cline",),
    notes=(
        "Cline cannot refuse one call: a hook that blocks stops the whole run.",
        "Make the scripts executable (`chmod +x .clinerules/hooks/*`), or the VS Code extension skips them.",
        "On Windows the VS Code extension runs only `.ps1` files, which hookport does not write: none runs.",
        "All hooks of one event share Cline's time: 27 s in VS Code, 115 s on tool events in the CLI.",
    ),
    adjust=adjust,
    quirks=(
        Quirk(
            "CL1",
            "`cancel` aborts the whole run, and its reason reaches neither the model nor the user",
            "lab",
        ),
        Quirk("CL2", "the exit code is ignored, exit 2 lets the tool run; only JSON on stdout counts", "lab"),
        Quirk(
            "CL3",
            "the CLI does not wait for UserPromptSubmit, and did not fire it in runs of one prompt",
            "lab",
        ),
        Quirk(
            "CL4", "VS Code ignores overrideInput; the generated script stops the run there instead", "src"
        ),
        Quirk(
            "CL5",
            "a hook past the limit (120 s in the CLI, 30 s in VS Code) is killed and the tool runs",
            "lab",
        ),
        Quirk("CL6", "TaskStart and TaskComplete fire once a turn, not once a session", "src"),
        Quirk("CL7", "the CLI runs no hooks under `--yolo`", "src"),
        Quirk("CL8", "the CLI also runs `PreToolUse.ps1` beside `PreToolUse` if `pwsh` exists", "src"),
        Quirk(
            "CL9",
            "one file per event and folder: a user's own script has the same name as hookport's",
            "src",
        ),
    ),
    ways_around=list_ways(kinds=4, none={"sub-agents": "lab"}),
)
