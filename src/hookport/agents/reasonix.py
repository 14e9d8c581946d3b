"""Reasonix: hooks in settings.json, one flat list for each event, and exit code 2 as the only deny."""

from __future__ import annotations

from datetime import timedelta

from hookport.shapes.by_event import SPLIT_BY_EVENT
from hookport.shapes.dialect import (
    MILLISECOND,
    SECOND,
    Dialect,
    EventSpec,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Quirk,
    Timeout,
    Tree,
    WayAround,
    explain_missing,
    list_ways,
    name_tools,
)
from hookport.shapes.patterns import drop_patterns_unlike_rust
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "lab": "measured on 1.38.11, November 2026: headless and protocol runs on Linux against a scripted model",
    "src": "names, texts and manuals in the program of 1.38.11, and internal/hook of a near commit of "
    "esengine/DeepSeek-Reasonix",
    "issue": "esengine/DeepSeek-Reasonix issues 9564, 9592 and 9688, 2026",
}

# These three wait for 5 s, the others for 30 s (lab). A hook that is too slow there denies (RX3).
SHORT = 5 * SECOND

EVENTS = (
    EventSpec("SessionStart", "session_start", "observe", "lab"),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "lab", hears="nothing", default_timeout=SHORT),
    EventSpec(
        "PreToolUse",
        "before_tool_execute",
        "prevent",
        "lab",
        "tool",
        hears="nothing",
        default_timeout=SHORT,
    ),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool", hears="nothing"),
    EventSpec("PostToolUseFailure", "tool_use_failure", "observe", "lab", "tool", hears="nothing"),
    EventSpec(
        "PermissionRequest",
        "permission_request",
        "observe",
        "lab",
        "tool",
        hears="nothing",
        default_timeout=SHORT,
    ),
    EventSpec("Notification", "notification", "observe", "lab", hears="nothing"),
    # It fires for a turn with reasoning only (RX12).
    EventSpec("PostLLMCall", "after_model", "observe", "lab", hears="nothing"),
    EventSpec("Stop", "agent_stop", "observe", "lab", hears="nothing"),
    EventSpec("StopFailure", "error_occurred", "observe", "lab", hears="nothing"),
    EventSpec("SubagentStop", "subagent_stop", "observe", "lab", hears="nothing"),
    EventSpec("PreCompact", "before_compact", "observe", "lab", hears="nothing"),
    EventSpec("SessionEnd", "session_end", "observe", "lab", hears="nothing"),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 13 that `reasonix hook list` knows",
    registry=30,
    subagent_start="`reasonix hook list` calls SubagentStart invalid",
    after_compact="`reasonix hook list` calls PostCompact invalid",
)

# Hooks get the name of the real tool, also when the model called it through `use_capability` (lab).
TOOLS = (
    *name_tools(
        "lab",
        shell="bash",
        file_read="read_file",
        file_write="write_file",
        file_edit=("edit_file", "multi_edit", "move_file", "delete_range", "delete_symbol"),
        notebook_edit="notebook_edit",
        search="grep",
        find="glob",
        list="ls",
        agent=("task", "read_only_task", "parallel_tasks", "explore", "research", "review", "fleet"),
        todo="todo_write",
    ),
    *name_tools(
        "src",
        file_read="view_image",
        web_fetch="web_fetch",
        agent="security_review",
        skill=("run_skill", "read_skill"),
        ask_user="ask",
    ),
)
# They run no command, change no file of the project and fetch nothing.
HARMLESS = (
    *("job_output", "bash_output", "wait", "compress", "create_goal", "get_goal", "update_goal"),
    *("memory", "history", "code_index", "docs", "set_session_title", "use_capability"),
)
OTHERS = (
    *("job_kill", "kill_shell", "slash_command", "install_skill", "install_source", "remember", "forget"),
    "lsp_*",
)

# The wire of Reasonix: a payload of its own, whose empty fields are left out. What is not marked otherwise
# was captured or measured on 1.38.11.

KEYS_OF: dict[str, dict[str, Tree]] = {
    "SessionStart": {"source": "source"},
    "SessionEnd": {"source": "reason"},
    "StopFailure": {"error": None, "error_message": "error"},
    "Notification": {"source": "notificationType", "message": "message"},
    "PreCompact": {"source": "trigger"},
    "PermissionRequest": {"result": None},
}

# Nothing printed counts on an event that can be denied (RX1). An allow is the same as silence.
DENY: dict[str, Tree] = {"deny": {"stderr": "$reason", "exit": 2, "alone": True}}
CONTEXT: dict[str, Tree] = {
    "context": {
        "json": {
            "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "$context"},
        }
    }
}
ANSWERS: dict[str, Tree] = {
    "PreToolUse": DENY,
    "UserPromptSubmit": DENY,
    "SessionStart": CONTEXT,
    "*": {},
}
EXIT: dict[str, Tree] = {"exits": {"2": "deny"}, "json": "none"}
HEARD: dict[str, Tree] = {
    "exits": {},
    "context": ["hookSpecificOutput.additionalContext"],
    "text": "context",
}

# Its transcript, whose path is in no payload (measured, 1.38.11): binary frames, and beside them a readable
# cache of the recent part, which is written some time after a stop hook has started.
TRANSCRIPT = {
    "form": "recent entries",
    "of": "Reasonix 1.38.11",
    "store": "document",
    "named": (".recovery-cache/*/recent-v1.json",),
    "kept": (
        "$REASONIX_HOME/projects/*/sessions-v4/.recovery-cache/{session}/recent-v1.json",
        "~/.reasonix/projects/*/sessions-v4/.recovery-cache/{session}/recent-v1.json",
    ),
    "late": 1.5,
    "list": "entries",
    "time": "inline.createdAt",
    "records": (
        {
            "where": {"inline.role": "user", "inline.origin": "user"},
            "rows": ({"kind": "user", "text": "inline.content"},),
        },
        {
            "where": {"inline.role": "assistant"},
            "rows": ({"kind": "assistant", "text": "inline.content", "id": "messageId"},),
        },
        {
            "where": {"inline.role": "assistant"},
            "each": "inline.tool_calls",
            "rows": (
                {
                    "kind": "call",
                    "id": "id",
                    "name": "name",
                    "input": "arguments",
                    "message": "^messageId",
                },
            ),
        },
        {
            "where": {"inline.role": "tool"},
            "rows": (
                {
                    "kind": "result",
                    "id": "inline.tool_call_id",
                    "text": "inline.content",
                    "failed": ["inline.tool_execution.exitCode"],
                },
            ),
        },
    ),
    "other": ({"role": ("system", "user")},),
}

WIRE = Wire(
    transcript=(TRANSCRIPT,),
    keys={
        "event": "event",
        "session": "sessionId",
        "cwd": "cwd",
        "tool": "toolName",
        "input": "toolArgs",
        "result": "toolResult",
        "error": "error",
        "prompt": "prompt",
        "final_message": "lastAssistantText",
        "turn": "turn:number",
    },
    fixed={"sessionId": "$session"},
    by_event=list_by_event(keys=KEYS_OF),
    inputs={
        "file_edit": {"old": "old_string", "new": "new_string"},
        # A guard of paths is asked about the file that goes away.
        "move_file": {"path": "source_path"},
        "edits": {"old": "old_string", "new": "new_string"},
    },
    starts_in="root",
    marks=("event", "sessionId"),
    answers=ANSWERS,
    reads={"PreToolUse": EXIT, "UserPromptSubmit": EXIT, "SessionStart": HEARD, "*": {"json": "none"}},
    obeys={"PreToolUse": EXIT, "UserPromptSubmit": EXIT, "SessionStart": HEARD, "*": {"json": "none"}},
    others=HARMLESS,
    lifts=False,
    # The first that blocks ends the list.
    traits=("stops at deny",),
)


DIALECT = Dialect(
    id="reasonix",
    title="Reasonix",
    kind="agent",
    facts="1.38.11",
    sources=SOURCES,
    # `reasonix -p` shows the reason of a denied call in what the model receives; of a denied prompt nothing.
    shows={"PreToolUse": (("reason",), "lab")},
    locations=(
        Location("project", ".reasonix/settings.json", "lab"),
        Location("user", "~/.reasonix/settings.json", "lab"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=TOOLS,
    wordless=dict.fromkeys((*HARMLESS, *OTHERS), "src"),
    mcp=McpNames("mcp__", "__", "lab"),
    # A regular expression of Go for the whole name (lab).
    matching=Matching("anchored"),
    handlers={
        "command": HandlerSpec(
            "",
            {
                "command": "command",
                "timeout": "timeout",
                "cwd": "cwd",
                "env": "env",
                "description": "description",
            },
            Timeout(MILLISECOND, default=timedelta(seconds=30), whole=True, minimum=MILLISECOND),
            required=("command",),
        ),
    },
    shape=SPLIT_BY_EVENT._replace(forms=("flat",), matcher_key="match"),
    wire=WIRE,
    adjust=drop_patterns_unlike_rust("reasonix"),
    # A command starts at the root of the repository, whose file is read; without git, in the start folder.
    commands_start="root",
    project_read="repository",
    project_dir=(".",),
    programs=("reasonix",),
    home=("~/.reasonix", "REASONIX_HOME"),
    notes=(
        "While any hook on a tool is installed, Reasonix' tool `task` hangs; `read_only_task` does not.",
        "Reasonix runs no hook inside a sub-agent; a guard must judge the tools that start one.",
        "`reasonix hook list --json` shows what Reasonix itself makes of the file.",
    ),
    quirks=(
        Quirk(
            "RX1",
            "on a hook in settings.json exit code 2 alone denies; `decision`, `continue` and Claude Code's "
            "form are not read",
            "lab",
        ),
        Quirk("RX2", "no answer rewrites a call or gives it context", "lab"),
        Quirk(
            "RX3",
            "a hook that is too slow denies the tool or the prompt; one that fails otherwise does not",
            "lab",
        ),
        Quirk(
            "RX5",
            "with any hook on PreToolUse, PostToolUse or PostToolUseFailure, even one that never matches, "
            "`task` hangs: the hook waits for the workspace that the parent holds",
            "lab",
        ),
        Quirk("RX6", "a syntax error or one value of a wrong type drops all hooks of the file", "lab"),
        Quirk("RX7", "the entry of Claude Code, with `hooks` in it, is accepted and never runs", "lab"),
        Quirk("RX8", "`matcher` is ignored, so that such an entry fires for every tool", "lab"),
        Quirk("RX9", "a pattern that cannot be read never matches", "lab"),
        Quirk("RX10", "without git the settings of the start folder alone are read", "lab"),
        Quirk("RX22", "tools work at the repository's root, wherever Reasonix was started", "lab"),
        Quirk("RX11", "PostToolUse fires after a failed call too, behind PostToolUseFailure", "lab"),
        Quirk("RX12", "PostLLMCall fires only for a turn with a text of reasoning", "lab"),
        Quirk("RX13", "Stop cannot keep the agent going", "lab"),
        Quirk("RX14", "a denied prompt ends `reasonix -p` with exit code 0 and no output", "lab"),
        Quirk("RX15", "the model is shown the first 60 characters of the hook's command", "lab"),
        Quirk("RX16", "PreToolUse fires after the person has approved the call", "lab"),
        Quirk(
            "RX17",
            "hooks of installed plugins of Claude Code have another contract: its payload and its printed "
            "deny. hookport does not read them",
            "lab",
        ),
        Quirk(
            "RX21",
            "`move_file` shows the path that it is moved to as `destination_path` only; guards of paths are "
            "asked about the other one",
            "lab",
        ),
        Quirk("RX18", "the variable with the provider's key is taken out of a hook's environment", "lab"),
        Quirk("RX19", "hooks of a project run without a question of trust", "lab"),
    ),
    ways_around=list_ways(
        WayAround(
            "sub-agents",
            "open",
            "RX4",
            "no hook runs inside a sub-agent; in `read_only_task` a file was read that the hook denies "
            "outside. PreToolUse fires for the tool that starts one",
            "lab",
        ),
        WayAround(
            "protocol",
            "none",
            "RX20",
            "`reasonix acp`, which editors start, fires the same events as `reasonix -p`",
            "lab",
        ),
        kinds=4,
    ),
)
