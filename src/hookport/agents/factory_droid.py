"""Factory Droid: hooks.json as a bare map of events, and the hooks of its settings and plugins."""

from __future__ import annotations

from datetime import timedelta

from hookport.findings import ContentDropped, Finding
from hookport.model.hooks import Hook, Term
from hookport.shapes.bare_map import make_bare_map
from hookport.shapes.claude_wire import (
    ALWAYS,
    CONTEXT,
    ENV_FILE,
    EXIT,
    INPUTS,
    KEYS,
    KEYS_OF,
    READ,
    READS,
    WIRE,
    WORDS,
    decide_permission,
    nest_fields,
)
from hookport.shapes.dialect import (
    REPOSITORY,
    SECOND,
    SHADOWS,
    Dialect,
    EventSpec,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Quirk,
    Shadow,
    Timeout,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.wire.table import list_by_event

SOURCES = {
    "doc": "Factory-AI/factory: hooks reference and guide at 2026-07-24; docs.factory.ai, autumn 2026",
    "lab": "measured on 0.215.0, November 2026",
    "table": "third-party tables of 2026, not verified",
}

# Part of a name is enough, even for plain words (lab, against the documentation).
REGEX = Matching("regex")

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "lab", "tool", rewrites=True),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool"),
    EventSpec(
        "UserPromptSubmit",
        "before_prompt",
        "prevent",
        "doc",
        partly="the interactive droid, not `droid exec` (FD4)",
        unfired="in `droid exec` (FD4)",
    ),
    EventSpec("SessionStart", "session_start", "observe", "doc", "source"),
    EventSpec("SessionEnd", "session_end", "observe", "doc", "reason"),
    EventSpec("Stop", "agent_stop", "retry", "lab"),
    EventSpec("SubagentStop", "subagent_stop", "retry", "doc"),
    EventSpec("PreCompact", "before_compact", "observe", "doc", "trigger"),
    EventSpec("Notification", "notification", "observe", "doc"),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 9 of the reference",
    registry=30,
    permission_request="Notification only reports that a permission is needed",
    tool_use_failure="PostToolUse fires only after success",
    after_compact="SessionStart fires again, with the source compact",
    interrupted="Stop does not fire on an interrupt, and no other event does",
)


def is_bare_file(file: str) -> bool:
    """Whether Droid expects the events at the root of the file: a hooks.json outside a hooks folder."""
    *_, folder, name = ("", *file.replace("\\", "/").split("/"))
    return name == "hooks.json" and folder != "hooks"


def find_hiding_file(file: str) -> str:
    """The file that hides the hooks of a settings file (FD7)."""
    folder, _, name = file.rpartition("/")
    return f"{folder}/hooks.json".removeprefix("/") if name == "settings.json" else ""


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """Droid tests commandRegex against the command of Execute and nothing else."""
    findings: list[Finding] = []
    adjusted: list[Hook] = []
    for number, hook in enumerate(hooks):
        loose = hook.content and hook.matcher != (Term("tool", "shell"),)
        if loose:
            findings.append(ContentDropped.at("", number, target=DIALECT.id, pattern=hook.content))
        adjusted.append(hook._replace(content="") if loose else hook)
    return adjusted, findings


# Only exit 2 holds against an allow that another hook prints (FD3), so no deny is sent as JSON; what is
# printed beside it was measured on PreToolUse only.
DENY = {**EXIT, "alone": True}

# What is not from the lab here is from the reference: `continue`, systemMessage, suppressOutput.
ANSWERS = {
    "PreToolUse": {
        # `continue: false` keeps this call from running too (lab b3).
        **ALWAYS,
        "deny": EXIT,
        "allow": decide_permission("allow"),
        # It merges what it is given into its own (lab).
        "rewrite": nest_fields(updatedInput="$changes"),
    },
    # `decision: block` is not seen here, the stderr of exit 2 is (lab l, l2).
    "PostToolUse": {**ALWAYS, "deny": DENY, "context": CONTEXT},
    "UserPromptSubmit": {**ALWAYS, "deny": DENY, "context": CONTEXT},
    "SessionStart": {**ALWAYS, "context": CONTEXT},
    "Stop": {**ALWAYS, "deny": DENY},
    "SubagentStop": {**ALWAYS, "deny": DENY},
    "*": ALWAYS,
}

# What Droid itself obeys (lab): the nested form with or without `hookEventName` (b5), no top-level decision
# before a tool (b2), JSON with any exit code (b6), exit codes 2 and 3 (a, d3), `continue: false` (b3). It
# runs the command on `ask` (k). On other events `decision: block` and exit code 2 (h, h2; l: nothing after a
# tool).
_OBEY = {
    **READ,
    "verdicts": [
        ("continue", {"False": "deny", "True": None}),
        ("hookSpecificOutput.permissionDecision", {"deny": "deny", "allow": "allow"}),
    ],
    "reason": ["hookSpecificOutput.permissionDecisionReason", "stopReason"],
    "exits": {"2": "deny", "3": "deny"},
    "ends": ("3",),
}
_OBEY_BLOCK = {**READ, "verdicts": [("decision", {"block": "deny"})], "reason": ["reason"]}
_OBEY_NOTHING = {**_OBEY_BLOCK, "verdicts": [], "exits": {}}
OBEYS = {
    "PreToolUse": _OBEY,
    # Exit code 2 is feedback to the model, `decision: block` is not seen (l, l2).
    "PostToolUse": {**_OBEY_BLOCK, "verdicts": []},
    "UserPromptSubmit": {**_OBEY_BLOCK, "text": "context"},
    "Stop": _OBEY_BLOCK,
    "SubagentStop": _OBEY_BLOCK,
    "SessionStart": {**_OBEY_NOTHING, "text": "context"},
    "*": _OBEY_NOTHING,
}

# Its transcript (measured, 0.215.0): what only the user or only the model sees has `visibility`.
TRANSCRIPT = {
    "form": "messages",
    "of": "Factory Droid 0.215.0",
    "named": ("sessions/*/*.jsonl",),
    "kept": ("~/.factory/sessions/*/{session}.jsonl",),
    "time": "^timestamp",
    "records": (
        {
            "where": {"type": "message", "message.visibility": None, "message.role": "user"},
            "each": "message.content",
            "rows": (
                {"of": {"type": "text"}, "kind": "user", "text": "text"},
                {
                    "of": {"type": "tool_result"},
                    "kind": "result",
                    "id": "tool_use_id",
                    "text": "content",
                    "failed": ["is_error"],
                },
            ),
        },
        {
            "where": {"type": "message", "message.visibility": None, "message.role": "assistant"},
            "each": "message.content",
            "rows": (
                {
                    "of": {"type": "text"},
                    "kind": "assistant",
                    "text": "text",
                    "id": "^id",
                    "model": "^message.modelId",
                },
                {
                    "of": {"type": "tool_use"},
                    "kind": "call",
                    "id": "id",
                    "name": "name",
                    "input": "input",
                    "message": "^id",
                    "model": "^message.modelId",
                },
            ),
        },
    ),
    "other": (
        {"type": ("session_start", "agent_turn_outcome", "todo_state", "compaction_state")},
        {"type": "message", "message.visibility": ("user_only", "llm_only")},
    ),
    "writes": {
        "head": [{"type": "session_start", "id": "$session", "title": "", "version": 2, "cwd": "$cwd"}],
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
                        "modelId": "$model",
                    },
                ),
                (
                    "call",
                    {
                        "role": "assistant",
                        "content": [{"type": "tool_use", "id": "$id", "name": "$name", "input": "$input"}],
                        "modelId": "$model",
                    },
                ),
                (
                    "result",
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "tool_result",
                                "tool_use_id": "$id",
                                "is_error": "$failed",
                                "content": "$text",
                            }
                        ],
                    },
                ),
            )
        },
    },
}

DROID_WIRE = WIRE.replace(
    obeys=OBEYS,
    # An allow listed before a deny wins (lab j).
    several="first",
    # It has no id for what a prompt sets off, `message_id` is that of one message; nor does it send the last
    # message (lab).
    keys={**KEYS, "turn": None, "final_message": None},
    transcript=(TRANSCRIPT,),
    by_event=list_by_event(
        keys={
            **KEYS_OF,
            "Stop": {"steps": "tool_execution_count"},
            "SubagentStop": {"steps": "tool_execution_count"},
            "SessionEnd": {
                "source": "reason",
                "session_ms": "session_duration_ms",
                "messages": "message_count",
            },
        },
        env={"SessionStart": ENV_FILE},
    ),
    # (doc) Autonomy: `off` asks for everything, `low` edits files, `medium` runs what can be undone, `high`
    # runs everything; `spec` plans. A run that skips permissions sends `auto-low` too (FD11), which counts
    # as that mode: a guard on bypassPermissions would otherwise stop people who only allow edits.
    words={
        **WORDS,
        "permission_mode": {
            "default": "off",
            "plan": "spec",
            "acceptEdits": "auto-low",
            "auto": "auto-medium",
            "bypassPermissions": "auto-high",
        },
    },
    inputs={
        **INPUTS,
        "shell": {"description": "summary"},
        "file_edit": {"path": "file_path", "old": "old_str", "new": "new_str"},
        "list": {"path": "directory_path"},
    },
    # The field is not documented; another one that holds a patch is found too.
    patches={"ApplyPatch": "input"},
    fixed={**WIRE.fixed, "permission_mode": "off"},
    answers=ANSWERS,
    merges=("*",),
    reads={
        **READS,
        # Exit 3 ends the session without running the tool (FD2).
        "PreToolUse": {**READ, "exits": {"2": "deny", "3": "deny"}},
        "Stop": READ,
        "SubagentStop": READ,
    },
    # The payload's plain fields are variables too (lab).
    env={
        "FACTORY_PROJECT_DIR": "$root",
        "DROID_PROJECT_DIR": "$root",
        "CLAUDE_PROJECT_DIR": "$root",
        "DROID_PLUGIN_ROOT": "$package",
        "session_id": "$session",
        "hook_event_name": "$event",
        "cwd": "$cwd",
        "transcript_path": "$transcript",
        "permission_mode": "$mode",
    },
    # Measured, 0.215.0: started below the root, the variables name that folder, and the root's hooks run.
    traits=("root moves",),
    marks=("transcript_path=.factory/", "permission_mode=auto-", "permission_mode", "CLAUDE_ENV_FILE"),
)

DIALECT = Dialect(
    id="factory-droid",
    title="Factory Droid",
    kind="agent",
    facts="0.215.0",
    sources=SOURCES,
    shows={
        # `systemMessage` is taken and shown nowhere; of a blocked prompt the reason is not seen. The stderr
        # of exit code 1 is, but a bridge that does not start has that code too, and its entry denies it.
        "UserPromptSubmit": ((), "lab"),
        "*": (("reason",), "lab"),
    },
    locations=(
        Location("project", ".factory/hooks.json", "lab"),
        Location("project", ".factory/settings.json", "lab"),
        Location("project", ".factory/hooks/hooks.json", "doc", loaded=False),
        Location("user", "~/.factory/hooks.json", "lab"),
        Location("user", "~/.factory/settings.json", "lab"),
        Location("plugin", "hooks/hooks.json", "doc"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=(
        *name_tools(
            "lab",
            shell="Execute",
            file_read="Read",
            file_write="Create",
            file_edit="Edit",
            search="Grep",
            find="Glob",
            agent="Task",
            list="LS",
        ),
        # A patch may add a file as well as change one, so a guard for either must see it.
        *name_tools(
            "doc",
            file_write="ApplyPatch",
            file_edit="ApplyPatch",
            web_search="WebSearch",
            web_fetch="FetchUrl",
        ),
        *name_tools("table", todo="TodoWrite"),
    ),
    # Matchers and payloads have this name, not the documented `mcp__<server>__<tool>` (FD10).
    mcp=McpNames("", "___", "lab"),
    matching=REGEX,
    handlers={
        "command": HandlerSpec(
            "command",
            {"command": "command", "timeout": "timeout"},
            # Fractions are not documented, so none is written.
            Timeout(SECOND, default=timedelta(seconds=60), whole=True, minimum=SECOND),
            required=("command",),
        ),
    },
    shape=make_bare_map(is_bare_file, find_hiding_file, {"commandRegex": "content"}),
    wire=DROID_WIRE,
    commands_start="moving",
    obeys=("nested",),
    adjust=adjust,
    project_dir=(  # the variables are the folder that droid was started in (lab)
        REPOSITORY,
        *spell_root("FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    ),
    package_dir=("${DROID_PLUGIN_ROOT}", "$DROID_PLUGIN_ROOT"),
    manifests=(".factory-plugin/plugin.json",),
    programs=("droid",),
    notes=(
        "Droid reads hooks when it starts; review changed ones with `/hooks` before they apply.",
        "With .factory/hooks.json in place, Droid does not read the hooks in .factory/settings.json.",
    ),
    quirks=(
        Quirk("FD1", "a hooks.json with an outer `hooks` key is silently ignored", "lab"),
        Quirk("FD2", "exit 3 stops the whole session without running the tool", "lab"),
        Quirk(
            "FD3",
            "an allow listed before a deny wins, a project's over the user's too; exit 2 blocks",
            "lab",
        ),
        Quirk("FD4", "UserPromptSubmit does not fire in `droid exec`", "lab"),
        Quirk("FD5", "updatedInput is merged into the tool's input, even without a decision", "lab"),
        Quirk("FD6", "`ask` lets the tool run when nobody can be asked", "lab"),
        Quirk(
            "FD7",
            "hooks.json hides the hooks of settings.json in the same folder, even when it is empty",
            "doc",
            {
                SHADOWS: (
                    Shadow(".factory/settings.json", ".factory/hooks.json", "doc", even_empty=True),
                    Shadow("~/.factory/settings.json", "~/.factory/hooks.json", "doc", even_empty=True),
                )
            },
        ),
        Quirk("FD8", "the model sees the stderr of a hook that exits with 1", "lab"),
        Quirk("FD9", "Droid never ends a Stop hook that always blocks", "lab"),
        Quirk(
            "FD10", "an MCP tool is `server___tool` to hooks; a matcher `mcp__server__tool` finds none", "lab"
        ),
        Quirk(
            "FD11",
            "with --skip-permissions-unsafe payloads have the permission mode `auto-low`, with --auto high "
            "`auto-high`",
            "lab",
        ),
    ),
    ways_around=list_ways(kinds=4, none={"sub-agents": "lab", "protocol": "lab"}),
)
