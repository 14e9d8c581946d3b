"""Letta Code: Claude Code's layout in .letta/settings.json, its own payload, and exit codes as answers."""

from __future__ import annotations

from datetime import timedelta

from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.dialect import (
    MILLISECOND,
    Dialect,
    EventSpec,
    Gate,
    HandlerSpec,
    Location,
    Matching,
    Quirk,
    Timeout,
    Tree,
    WayAround,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "lab": "measured on 0.25.9, November 2026: headless runs and the screen on Linux, on the local backend, "
    "against a scripted model",
    "src": "src/hooks, src/tools and src/permissions in letta.js of 0.25.9",
}

# `letta -p` fires only the events of tools and SubagentStop (LC4).
SCREEN = "with `letta -p`, only on the screen"
# A hook of the type `prompt` is ignored there (src).
COMMAND = ("command",)
EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "lab", "tool", hears="nothing"),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool", hears="json"),
    EventSpec("PostToolUseFailure", "tool_use_failure", "observe", "lab", "tool", hears="json"),
    EventSpec("PermissionRequest", "permission_request", "prevent", "lab", "tool", hears="nothing"),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "lab", unfired=SCREEN),
    EventSpec("Stop", "agent_stop", "retry", "lab", hears="nothing", unfired=SCREEN),
    EventSpec("SubagentStop", "subagent_stop", "observe", "lab", hears="nothing"),
    EventSpec("SessionStart", "session_start", "observe", "lab", types=COMMAND, unfired=SCREEN),
    EventSpec("SessionEnd", "session_end", "observe", "lab", hears="nothing", types=COMMAND, unfired=SCREEN),
    EventSpec(
        "Notification", "notification", "observe", "lab", hears="nothing", types=COMMAND, unfired=SCREEN
    ),
    # `/compact` obeys a deny; a compaction by the server does not (LC12).
    EventSpec(
        "PreCompact", "before_compact", "observe", "src", hears="nothing", types=COMMAND, unfired=SCREEN
    ),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 11 in the source",
    registry=30,
)

# The names that hooks get, which may differ from the model's (LC9). The set depends on the model: that of
# OpenAI has ShellCommand and ApplyPatch only, that of Gemini its own.
TOOLS = (
    *name_tools(
        "lab",
        shell=("Bash", "ShellCommand"),
        file_read=("Read", "ViewImage"),
        file_write=("Write", "ApplyPatch"),
        file_edit=("Edit", "ApplyPatch"),
        agent="Task",
        todo=("TodoWrite", "UpdatePlan"),
        skill="Skill",
    ),
    *name_tools(
        "src",
        shell=("RunShellCommand", "shell_command", "run_shell_command"),
        file_read=(
            *("ReadLSP", "ReadFileGemini", "ReadManyFiles"),
            *("read_file", "read_file_gemini", "read_many_files", "view_image"),
        ),
        file_write=("WriteFileGemini", "write_file_gemini", "apply_patch"),
        file_edit=("MultiEdit", "Replace", "replace", "apply_patch"),
        search=("Grep", "SearchFileContent", "search_file_content", "grep_files"),
        find=("Glob", "GlobGemini", "glob_gemini"),
        list=("LS", "ListDirectory", "list_directory", "list_dir"),
        todo=("WriteTodos", "update_plan", "write_todos"),
        ask_user="AskUserQuestion",
    ),
)
# They run no command, change no file of the project and fetch nothing.
HARMLESS = (
    *("memory", "memory_apply_patch", "TaskOutput", "BashOutput", "EnterPlanMode", "ExitPlanMode"),
    *("GetGoal", "CreateGoal", "UpdateGoal", "get_goal", "create_goal", "update_goal"),
)
OTHERS = ("TaskStop", "KillBash", "MessageChannel")

# The wire of Letta Code: a payload of its own, and exit codes. What is not marked otherwise was captured or
# measured on 0.25.9.

KEYS_OF: dict[str, dict[str, Tree]] = {
    "PermissionRequest": {"call_id": None},
    "SubagentStop": {"agent_id": "subagent_id", "error": "error"},
    "SessionEnd": {"duration_ms": "duration_ms"},
    "Notification": {"message": "message"},
}

DENY: dict[str, Tree] = {"deny": {"stderr": "$reason", "exit": 2, "alone": True}}
# After a tool, exit code 2 adds its text to the result, as `additionalContext` does.
CONTEXT: dict[str, Tree] = {
    "context": {"json": {"hookSpecificOutput": {"additionalContext": "$context"}}},
}
PRINTED: dict[str, Tree] = {"context": {"stdout": "$context"}}
# What a hook prints is shown on the screen, and here no model reads it (LC6).
SHOWN: dict[str, Tree] = {"message": {"stdout": "$message"}}
# Any code but 0 and 2 is no opinion (LC1). It is not 1, with which a broken Python ends too.
NO_OPINION_CODE = 5
ANSWERS: dict[str, Tree] = {
    "PreToolUse": {**DENY, **SHOWN},
    "PermissionRequest": {**DENY, "allow": {}, "none": {"exit": NO_OPINION_CODE}},
    "UserPromptSubmit": {**DENY, **PRINTED},
    "SessionStart": PRINTED,
    "Stop": {**DENY, **SHOWN},
    "PostToolUse": CONTEXT,
    "PostToolUseFailure": CONTEXT,
    "*": {},
}

EXIT: dict[str, Tree] = {"exits": {"2": "deny"}, "json": "none", "text": "message"}
PERMISSION: dict[str, Tree] = {
    "exits": {"0": "allow", "2": "deny", str(NO_OPINION_CODE): "none"},
    "json": "none",
}
HEARD: dict[str, Tree] = {"exits": {}, "json": "none", "text": "context"}
ADDED: dict[str, Tree] = {
    "exits": {"2": "deny"},
    "context": ["hookSpecificOutput.additionalContext", "additionalContext"],
}
READS: dict[str, Tree] = {
    "PreToolUse": EXIT,
    "PermissionRequest": PERMISSION,
    "UserPromptSubmit": {**EXIT, "text": "context"},
    "Stop": EXIT,
    "SessionStart": HEARD,
    "PostToolUse": ADDED,
    "PostToolUseFailure": ADDED,
    "*": {"json": "none"},
}
OBEYS: dict[str, Tree] = {
    **READS,
    "PostToolUse": {**ADDED, "exits": {}},
    "PostToolUseFailure": {**ADDED, "exits": {}},
}

WIRE = Wire(
    keys={
        "event": "event_type",
        # No payload names the conversation on every event; an agent has one at a time.
        "session": "agent_id",
        "cwd": "working_directory",
        "tool": "tool_name",
        "input": "tool_input",
        "call_id": "tool_call_id",
        "result": "tool_result",
        "error": "error_message",
        "prompt": "prompt",
        "final_message": "assistant_message",
        "subagent": "subagent_type",
    },
    fixed={"working_directory": "$cwd", "agent_id": "$session"},
    by_event=list_by_event(
        keys=KEYS_OF, env={spec.native: {"LETTA_HOOK_EVENT": spec.native} for spec in EVENTS}
    ),
    inputs={
        "file_read": {"path": "file_path"},
        "file_write": {"path": "file_path"},
        "file_edit": {"path": "file_path", "old": "old_string", "new": "new_string"},
        "list": {"path": ["path", "dir_path"]},
        "agent": {"agent_type": "subagent_type"},
        # (src, the schemas of the tools)
        "ShellCommand": {"cwd": "workdir"},
        "shell_command": {"cwd": "workdir"},
        "RunShellCommand": {"cwd": "dir_path"},
        "run_shell_command": {"cwd": "dir_path"},
        "ViewImage": {"path": "path"},
        "view_image": {"path": "path"},
        "edits": {"old": "old_string", "new": "new_string"},
    },
    patches=dict.fromkeys(("ApplyPatch", "apply_patch"), "input"),
    texts=("output",),
    results={"*": {"status": "success", "output": "$text"}},
    env={
        "LETTA_WORKING_DIR": "$root",
        "USER_CWD": "$cwd",
        "LETTA_AGENT_ID": "$session",
        "AGENT_ID": "$session",
    },
    marks=("event_type", "working_directory"),
    answers=ANSWERS,
    reads=READS,
    obeys=OBEYS,
    others=HARMLESS,
    # The variable names the folder in which the agent was started.
    traits=("root moves", "stops at deny"),
)

DIALECT = Dialect(
    id="letta-code",
    title="Letta Code",
    kind="agent",
    facts="0.25.9",
    sources=SOURCES,
    markers={"LETTA_CONVERSATION_ID": "lab"},
    # Every hook's command, exit code and output are printed on the screen, and on stdout with `-p` (LC6).
    shows={"*": (("message", "reason"), "lab")},
    locations=(
        Location("local", ".letta/settings.local.json", "lab"),
        Location("project", ".letta/settings.json", "lab"),
        Location("user", "~/.letta/settings.json", "lab"),
    ),
    events=EVENTS,
    lacks=LACKS,
    awaits_children="lab",
    tools=TOOLS,
    wordless=dict.fromkeys((*HARMLESS, *OTHERS), "src"),
    # A regular expression of JavaScript for the whole name, in this case of letters (lab).
    matching=Matching("anchored"),
    handlers={
        "command": HandlerSpec(
            "command",
            {"command": "command", "timeout": "timeout"},
            Timeout(MILLISECOND, default=timedelta(seconds=60), minimum=MILLISECOND),
            required=("command",),
        ),
        "prompt": HandlerSpec(
            "prompt",
            {"prompt": "prompt", "model": "model", "timeout": "timeout"},
            Timeout(MILLISECOND, default=timedelta(seconds=30), minimum=MILLISECOND),
            required=("prompt",),
        ),
    },
    shape=BY_EVENT._replace(not_events=("disabled",)),
    wire=WIRE,
    needs_type=True,
    commands_start="root",
    project_dir=spell_root("LETTA_WORKING_DIR"),
    project_read="start",
    programs=("letta",),
    home=("~/.letta", ""),
    gates=(
        Gate(
            ("~/.letta/settings.json", ".letta/settings.json", ".letta/settings.local.json"),
            ("hooks", "disabled"),
            (True,),
            "all hooks are switched off",
            "Remove `hooks.disabled`.",
            "src",
        ),
    ),
    notes=(
        "Letta Code reads a project's hooks only in the folder in which it is started.",
        (
            "With `letta -p` only hooks on tools, permissions and SubagentStop run; a guard on prompts or on "
            "the end of a turn works on the screen alone."
        ),
        "Letta Code runs tools that a program adds to it (SDK, MCP) without any hook.",
    ),
    quirks=(
        Quirk(
            "LC1",
            "PermissionRequest: exit code 0 approves the call, whatever is printed; 2 denies it, and any "
            "other code or a timeout is no opinion. hookport ends with 5 where no hook decided",
            "lab",
        ),
        Quirk("LC2", "before a tool exit code 2 alone denies; nothing printed on stdout is read", "lab"),
        Quirk("LC3", "a timeout is in milliseconds, and a hook that is too slow lets the tool run", "lab"),
        Quirk("LC4", "`letta -p` fires the events of tools, PermissionRequest and SubagentStop only", "lab"),
        Quirk(
            "LC6",
            "the command, exit code and output of every hook are printed on stdout, in colours also under "
            "NO_COLOR; with `--output-format json` that is no JSON any more",
            "lab",
        ),
        Quirk("LC7", "the model is shown the whole command of a hook that denies", "lab"),
        Quirk(
            "LC8",
            "an entry without the inner list `hooks` makes every tool call fail with a TypeError",
            "lab",
        ),
        Quirk(
            "LC9",
            "hooks get the tool's internal name: what the model calls `Agent` is `Task` for a matcher",
            "lab",
        ),
        Quirk("LC10", "an entry without `type` is silently not run", "lab"),
        Quirk("LC11", "a pattern that cannot be read is compared as a name, and matches nothing", "lab"),
        Quirk("LC12", "a compaction that the server does cannot be denied; `/compact` can", "src"),
        Quirk("LC13", "PostToolUse fires after a failed call too, before PostToolUseFailure", "lab"),
        Quirk(
            "LC14",
            "Stop: exit code 2 keeps the agent going, without a limit and without a mark in the payload",
            "lab",
        ),
        Quirk("LC15", "a syntax error in a file drops all its hooks; the program goes on", "lab"),
        Quirk(
            "LC16",
            "`hooks.disabled` in a project's file makes the first tool call fail, and switches hooks off "
            "afterwards; `false` in the user's file overrules it",
            "lab",
        ),
        Quirk("LC17", "the program rewrites its settings files and keeps the hooks that are in them", "lab"),
        Quirk(
            "LC20",
            "a hook of the type `prompt` asks the agent's server; without one, as on the local backend, it "
            "fails and lets the tool run",
            "src",
        ),
    ),
    ways_around=list_ways(
        WayAround(
            "sub-agents",
            "none",
            "LC18",
            "a sub-agent is a process of its own, which reads the same files and is guarded",
            "lab",
        ),
        WayAround(
            "protocol",
            "none",
            "LC21",
            "with `--input-format stream-json`, which SDKs use, the events of tools fire as with `letta -p`",
            "lab",
        ),
        WayAround(
            "protocol",
            "open",
            "LC5",
            "a tool that a program registers over that protocol (SDK, MCP) runs before hooks are asked: "
            "neither PreToolUse nor PostToolUse fires. PermissionRequest does if the mode asks (src)",
            "lab",
            place="in tools that a program adds (SDK, MCP)",
            events=("before_tool_execute", "after_tool_execute", "tool_use_failure"),
        ),
        WayAround(
            "protocol",
            "open",
            "LC19",
            "with a server that runs tools itself, PreToolUse is not waited for and cannot deny",
            "src",
            place="in tools that the server runs",
        ),
        kinds=4,
        # It has no tool that runs code, and its second shell tools belong to other sets (src, the tools).
        none={"code": "src", "shell": "src"},
    ),
)
