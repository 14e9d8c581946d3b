"""CodeBuddy Code: Claude Code's settings and answers, read by rules of its own."""

from __future__ import annotations

from datetime import timedelta

from hookport.shapes import claude_wire as claude
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.claude_wire import BLOCK, CONTEXT, SUPPRESS, decide_permission, nest_fields
from hookport.shapes.dialect import (
    SECOND,
    Dialect,
    EventSpec,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    OnceRule,
    Quirk,
    Timeout,
    Tree,
    explain_missing,
    list_ways,
    name_events,
    name_tools,
    spell_root,
)
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "lab": "measured on 2.117.0, as @tencent-ai/agent-sdk 0.3.201 contains it, November 2026",
    "src": "the program of 2.117.0: its hook executor, hook manager, tool and session hooks",
    "log": "its changelog up to 2.117.0",
    "doc": "codebuddy.ai and cloud.tencent.com, pages on hooks, 2026",
}

# A JavaScript expression found anywhere; one that does not compile drops the hook (CB8).
REGEX = Matching("regex")

PRINT = "with `-p` (CB6)"

# The matchers of all other events are ignored (src).
EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "lab", "tool", rewrites=True, hears="nothing"),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool", hears="json"),
    EventSpec("PostToolUseFailure", "tool_use_failure", "observe", "src", hears="json"),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "lab"),
    EventSpec("PermissionRequest", "permission_request", "prevent", "src", rewrites=True, exits="none"),
    EventSpec("PermissionDenied", "permission_denied", "observe", "src", hears="nothing"),
    EventSpec("SessionStart", "session_start", "observe", "lab", "source"),
    EventSpec("SessionEnd", "session_end", "observe", "src", "reason", hears="nothing", unfired=PRINT),
    EventSpec("Stop", "agent_stop", "retry", "src", partly="the interactive CodeBuddy, not `-p` (CB6)"),
    EventSpec("SubagentStart", "subagent_start", "observe", "lab", hears="nothing"),
    # Its feedback is kept for a next message of the subagent, and nobody saw one.
    EventSpec("SubagentStop", "subagent_stop", "observe", "lab", hears="nothing"),
    EventSpec("PreCompact", "before_compact", "observe", "src", "trigger"),
    EventSpec("PostCompact", "after_compact", "observe", "src", hears="nothing"),
    EventSpec("Notification", "notification", "observe", "lab", "notification_type", hears="nothing"),
    EventSpec("InstructionsLoaded", "instructions_loaded", "observe", "src", hears="nothing"),
    EventSpec("ConfigChange", "config_change", "observe", "src", hears="nothing"),
    EventSpec("FileChanged", "file_changed", "observe", "src", hears="nothing"),
    # Only where a Stop hook itself failed (src).
    *name_events("src", "StopFailure"),
    *name_events("lab", "FinalStop", "Setup", "TaskCreated"),
    *name_events(
        "src",
        *("TaskCompleted", "TeammateIdle", "CwdChanged", "WorktreeCreate", "WorktreeRemove"),
        *("Elicitation", "ElicitationResult"),
    ),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 28 in the program",
    registry=30,
    error_occurred="StopFailure fires where a Stop hook failed, not where the model did",
    before_task="TaskCreated is about the list of tasks, not about running one",
    after_task="TaskCompleted is about the list of tasks, not about running one",
)

TOOLS = (
    *name_tools(
        "lab",
        shell="Bash",
        file_read="Read",
        file_write="Write",
        file_edit="Edit",
        search="Grep",
        find="Glob",
        web_search="WebSearch",
        web_fetch="WebFetch",
        agent="Agent",
        todo=("TaskCreate", "TaskUpdate", "TaskGet", "TaskList"),
        skill="Skill",
    ),
    *name_tools(
        "src",
        shell="PowerShell",
        file_read="NotebookRead",
        file_edit="MultiEdit",
        list="LS",
        notebook_edit="NotebookEdit",
        todo="TodoWrite",
        ask_user="AskUserQuestion",
    ),
)
# They run no command, change no file and fetch nothing; what DeferExecuteTool runs fires for itself (lab).
OTHERS = (
    *("EnterPlanMode", "ExitPlanMode", "EnterWorktree", "LeaveWorktree", "LSP", "ToolSearch"),
    *("TaskOutput", "TaskStop", "BashOutput", "KillShell", "SendMessage", "TeamCreate", "TeamDelete"),
    *("Cron*", "ListMcpResources", "ReadMcpResource", "WaitForMcpServers", "StructuredOutput"),
    "DeferExecuteTool",
)
WORDLESS = {
    **dict.fromkeys(("EnterPlanMode", "ExitPlanMode", "ToolSearch", "TaskOutput", "TaskStop"), "lab"),
    **dict.fromkeys(("DeferExecuteTool", "SendMessage", "WaitForMcpServers"), "lab"),
    **dict.fromkeys(("EnterWorktree", "LeaveWorktree", "LSP", "BashOutput", "KillShell"), "src"),
    **dict.fromkeys(("TeamCreate", "TeamDelete", "Cron*", "ListMcpResources", "ReadMcpResource"), "src"),
    **dict.fromkeys(("SaveMemory", "SlashCommand", "StructuredOutput", "SkillManage", "ComputerUse"), "src"),
    **dict.fromkeys(("ImageGen", "ImageEdit", "VideoGen", "Workflow", "DelegateTool"), "src"),
    **dict.fromkeys(("WeChatReply", "WeComReply"), "src"),
}

SAYS = {"message": claude.MESSAGE, "suppress": SUPPRESS}

ANSWERS: dict[str, Tree] = {
    "PreToolUse": {
        **SAYS,
        # An allow that is printed later undoes it, and one at any place undoes exit code 2, so that no allow
        # is printed (CB1). No ask: with bypassed permissions it lets the call run (CB2).
        "deny": decide_permission("deny"),
        # Its keys are merged into the input (lab).
        "rewrite": nest_fields(updatedInput="$changes"),
    },
    # A block does nothing here (lab).
    "PostToolUse": {**SAYS, "context": CONTEXT},
    "PostToolUseFailure": {**SAYS, "context": CONTEXT},
    "UserPromptSubmit": {**SAYS, "deny": BLOCK, "context": CONTEXT},
    "SessionStart": {**SAYS, "context": CONTEXT},
    "PermissionRequest": {
        key: piece
        for key, piece in claude.ANSWERS["permission_request"].items()
        if key in ("deny", "allow", "rewrite")
    },
    # `continue: false` keeps the agent going too (src), so there is no halt.
    "Stop": {**SAYS, "deny": BLOCK},
    # What it prints is instructions for the summary (src).
    "PreCompact": {"context": {"stdout": "$context"}},
    "*": {},
}

DECISIONS = {"deny": "deny", "ask": "ask", "allow": "allow"}
CONTINUE: Tree = ("continue", {"False": "deny", "True": None})
REASON = ["hookSpecificOutput.permissionDecisionReason", "stopReason", "reason"]
READ: dict[str, Tree] = {
    **claude.READ,
    "verdicts": [
        ("hookSpecificOutput.permissionDecision", DECISIONS),
        ("decision", {"block": "deny", "deny": "deny", "ask": "ask", "approve": None, "allow": None}),
        CONTINUE,
    ],
    "reason": REASON,
    "halt": [],
}
READ_TEXT: dict[str, Tree] = {**READ, "text": "context"}
# A printed decision counts with every exit code, exit code 2 included; `ask` runs the call with bypassed
# permissions (lab).
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [
        ("hookSpecificOutput.permissionDecision", {**DECISIONS, "ask": None}),
        ("decision", {"block": "deny", "approve": None}),
        CONTINUE,
    ],
    "wins": "verdict",
}
OBEY_NOTHING: dict[str, Tree] = {**OBEY, "verdicts": [], "exits": {}}
OBEY_BLOCK: dict[str, Tree] = {**OBEY, "json": "zero"}
REQUEST: dict[str, Tree] = {**claude.READS["permission_request"], "halt": []}

WIRE: Wire = claude.WIRE.replace(
    keys={**claude.KEYS, "turn": "generation_id", "call_id": ["tool_use_id", "call_id"], "effort": None},
    by_event=list_by_event(
        keys={**claude.KEYS_OF, "PostToolUse": {"error": "tool_response.error"}, "StopFailure": {}},
    ),
    # Items of another form than Claude Code's (lab).
    transcript=(),
    # Of a shell only the exit code; the text of other tools is the result itself (lab).
    texts=("content", ":parts"),
    env={
        "CODEBUDDY_PROJECT_DIR": "$root",
        "CLAUDE_PROJECT_DIR": "$root",
        "CODEBUDDY_PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_ROOT": "$package",
    },
    starts_in="root",
    marks=("transcript_path=.codebuddy/", "client", "version", "generation_id", "call_id"),
    answers=ANSWERS,
    merges=("*",),
    reads={
        "SessionStart": READ_TEXT,
        "UserPromptSubmit": READ_TEXT,
        "PreCompact": READ_TEXT,
        "PermissionRequest": REQUEST,
        "*": READ,
    },
    obeys={
        "PreToolUse": OBEY,
        "UserPromptSubmit": {**OBEY_BLOCK, "text": "context"},
        "SessionStart": {**OBEY_NOTHING, "text": "context"},
        "PermissionRequest": REQUEST,
        "Stop": OBEY_BLOCK,
        "*": OBEY_NOTHING,
    },
    several="last",
    lifts=False,
    others=OTHERS,
)

DIALECT = Dialect(
    id="codebuddy",
    title="CodeBuddy Code",
    kind="agent",
    facts="2.117.0",
    sources=SOURCES,
    shows={"*": (("message", "reason"), "src")},
    markers={"CODEBUDDY_PROJECT_DIR": "lab"},
    locations=(
        Location("project", ".codebuddy/settings.json", "lab"),
        Location("local", ".codebuddy/settings.local.json", "lab"),
        Location("user", "~/.codebuddy/settings.json", "lab"),
        Location("plugin", "hooks/hooks.json", "log"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=TOOLS,
    wordless=WORDLESS,
    mcp=McpNames("mcp__", "__", "lab"),
    matching=REGEX,
    handlers={
        "command": HandlerSpec(
            "command",
            {
                "if": "condition",
                "command": "command",
                "timeout": "timeout",
                "statusMessage": "status_message",
            },
            Timeout(SECOND, default=timedelta(seconds=60)),
            required=("command",),
        ),
        "http": HandlerSpec(
            "http",
            {
                "if": "condition",
                "url": "url",
                "headers": "headers",
                "allowedEnvVars": "allowed_env",
                "timeout": "timeout",
                "statusMessage": "status_message",
            },
            Timeout(SECOND, default=timedelta(seconds=60)),
            required=("url",),
        ),
        "prompt": HandlerSpec(
            "prompt",
            {"if": "condition", "prompt": "prompt", "model": "model", "timeout": "timeout"},
            Timeout(SECOND),
            required=("prompt",),
        ),
        "agent": HandlerSpec(
            "agent",
            {"if": "condition", "prompt": "prompt", "model": "model", "timeout": "timeout"},
            Timeout(SECOND),
            required=("prompt",),
        ),
    },
    shape=BY_EVENT._replace(file_kinds={"json": "jsonc"}, refuses_bom=True),
    wire=WIRE,
    obeys=("nested", "decision"),
    commands_start="root",
    project_read="start",
    project_dir=spell_root("CODEBUDDY_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    package_dir=("${CODEBUDDY_PLUGIN_ROOT}", "${CLAUDE_PLUGIN_ROOT}"),
    runs_once=OnceRule("src"),
    programs=("codebuddy", "cbc"),
    home=("~/.codebuddy", "CODEBUDDY_CONFIG_DIR"),
    other_places={
        "scoped": (
            Location("project", ".codebuddy/agents/*.md", "log"),
            Location("project", ".codebuddy/skills/*/SKILL.md", "log"),
        ),
    },
    notes=(
        "CodeBuddy reads the settings of a project only in the folder in which it is started.",
        "The documentation says that changed hooks wait for a review in `/hooks`; with `-p` none was needed.",
    ),
    quirks=(
        Quirk(
            "CB1",
            "an allow undoes an earlier hook's deny, and any hook's exit code 2, also in the same answer",
            "lab",
        ),
        Quirk("CB2", "`ask` runs the call with bypassed permissions", "lab"),
        Quirk(
            "CB3",
            "a hook that runs out of time, or is killed, denies the call, blocks the prompt and keeps the "
            "agent going",
            "lab",
        ),
        Quirk("CB15", "of the contexts of several hooks only the last reaches the model", "lab"),
        Quirk("CB4", "with exit codes other than 0 and 2 `decision: block` does not count", "src"),
        Quirk("CB5", "what a hook of PreToolUse adds as context is not passed on", "lab"),
        Quirk("CB6", "with `-p` a Stop hook fires and cannot keep it going; SessionEnd does not fire", "lab"),
        Quirk("CB8", "a hook whose matcher does not compile never runs", "lab"),
        Quirk("CB9", "`disableAllHooks` in a settings file stops no hook", "lab"),
        Quirk("CB10", "~/.codebuddy/settings.local.json and .claude/settings.json are not read", "lab"),
        Quirk("CB11", "a settings file with a byte order mark is dropped, comments are accepted", "lab"),
        Quirk("CB12", "PostToolUse fires after a failure too, with is_error in its result", "lab"),
        Quirk("CB13", "stdout of UserPromptSubmit and SessionStart reaches the model, JSON too", "lab"),
        Quirk(
            "CB14",
            "the tools of its editor have other names (execute_command, write_to_file, replace_in_file)",
            "doc",
        ),
    ),
    # Sub-agents fire the same hooks, with agent_id (log).
    ways_around=list_ways(kinds=4, none={"shell": "lab", "sub-agents": "log"}),
)
