"""Claude Code: hooks in its settings files and in plugins."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from hookport.shapes.by_event import BY_EVENT, find_value
from hookport.shapes.claude_wire import (
    ALWAYS,
    ANSWERS,
    BLOCK,
    CONTEXT,
    ENV_FILE,
    EXIT,
    KEYS_OF,
    MESSAGE,
    OBEY,
    OBEY_NOTHING,
    OBEYS,
    PERMISSION_EXTRAS,
    READ,
    READ_TEXT,
    READS,
    VERDICTS,
    WIRE,
    decide_permission,
)
from hookport.shapes.dialect import (
    PLUGIN_STORE,
    SECOND,
    UNFIRED_RULES,
    Dialect,
    EventSpec,
    Field,
    FolderTrust,
    Gate,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    OnceRule,
    PluginStore,
    Quirk,
    Timeout,
    Tree,
    WayAround,
    alias_tools,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.wire.table import list_by_event

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCES = {
    "doc": "official hooks reference, 2026-08-22 (CLI 2.1.240), and the settings, plugins and tools pages",
    "log": "official changelog up to 2.1.317, November 2026",
    "lab": "measured on 2.1.325, November 2026",
    "program": "names in the program of 2.1.325, November 2026",
    "spec": "Claude Code hook spec 1.0 (2025-10-16)",
    "issue": "anthropics/claude-code issues 90220 and 92911, on 2.1.241 and 2.1.263",
    "public": "settings files of public repositories, 2025 and 2026",
}

# A matcher of these characters only is a list of exact names (doc; hyphen since 2.1.195, comma and blank
# since 2.1.191); anything else is a JavaScript regular expression found anywhere.
NAMES = Matching("names", plain=r"[A-Za-z0-9_\- ,|]", separators="|,")
# FileChanged and StopFailure take the narrower set (doc).
NARROW = Matching("names", plain=r"[A-Za-z0-9_|]")

ALL = ("command", "http", "prompt", "agent")
NO_MODEL = ("command", "http")
COMMAND = ("command",)

# Exit 2 is ignored on PermissionRequest (CC1).
REFUSE = {
    "hookSpecificOutput": {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "deny", "message": "{reason}"},
    }
}

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "doc", "tool", rewrites=True, types=ALL),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "doc", "tool", types=ALL),
    EventSpec("PostToolUseFailure", "tool_use_failure", "observe", "doc", "tool", types=ALL),
    EventSpec("PostToolBatch", "after_tool_batch", "prevent", "doc", types=ALL),
    EventSpec(
        "PermissionRequest",
        "permission_request",
        "prevent",
        "doc",
        "tool",
        rewrites=True,
        types=ALL,
        deny_answer=REFUSE,
        exits="none",
    ),
    EventSpec("PermissionDenied", "permission_denied", "observe", "doc", "tool", types=ALL),
    EventSpec(
        "UserPromptSubmit",
        "before_prompt",
        "prevent",
        "doc",
        types=ALL,
        default_timeout=timedelta(seconds=30),
    ),
    EventSpec("UserPromptExpansion", "before_command_expansion", "prevent", "doc", "command_name", types=ALL),
    EventSpec("SessionStart", "session_start", "observe", "doc", "source", types=COMMAND),
    EventSpec(
        "SessionEnd",
        "session_end",
        "observe",
        "doc",
        "reason",
        types=NO_MODEL,
        default_timeout=timedelta(seconds=1.5),
        max_timeout=timedelta(seconds=60),
    ),
    EventSpec("Stop", "agent_stop", "retry", "doc", types=ALL),
    EventSpec(
        "StopFailure",
        "error_occurred",
        "observe",
        "doc",
        "error",
        matching=NARROW,
        types=NO_MODEL,
        unfired="after an API error in 2.1.325 (CC8)",
    ),
    EventSpec("SubagentStart", "subagent_start", "observe", "doc", "agent_type", types=NO_MODEL),
    EventSpec("SubagentStop", "subagent_stop", "retry", "doc", "agent_type", types=ALL),
    EventSpec("PreCompact", "before_compact", "prevent", "doc", "trigger", types=NO_MODEL),
    EventSpec("PostCompact", "after_compact", "observe", "doc", "trigger", types=NO_MODEL),
    EventSpec("Notification", "notification", "observe", "doc", "notification_type", types=NO_MODEL),
    EventSpec("ConfigChange", "config_change", "prevent", "doc", "source", types=NO_MODEL),
    EventSpec("FileChanged", "file_changed", "observe", "doc", "file_name", matching=NARROW, types=NO_MODEL),
    EventSpec("InstructionsLoaded", "instructions_loaded", "observe", "doc", "load_reason", types=NO_MODEL),
    EventSpec(
        "MessageDisplay",
        "message_display",
        "observe",
        "doc",
        types=NO_MODEL,
        default_timeout=timedelta(seconds=10),
    ),
    EventSpec("Setup", "", "observe", "doc", "trigger", types=COMMAND),
    EventSpec("TaskCreated", "", "prevent", "doc", types=ALL),
    EventSpec("TaskCompleted", "", "prevent", "doc", types=ALL),
    EventSpec("TeammateIdle", "", "retry", "doc", types=ALL),
    EventSpec("CwdChanged", "", "observe", "doc", types=NO_MODEL),
    EventSpec("DirectoryAdded", "", "observe", "doc", "source", types=NO_MODEL),
    EventSpec("WorktreeCreate", "", "prevent", "doc", types=NO_MODEL),
    EventSpec("WorktreeRemove", "", "observe", "doc", types=NO_MODEL),
    EventSpec("Elicitation", "", "prevent", "doc", "mcp_server_name", types=NO_MODEL),
    EventSpec("ElicitationResult", "", "prevent", "doc", "mcp_server_name", types=NO_MODEL),
    EventSpec(
        "PreModelSwitch",
        "",
        "prevent",
        "log",
        "to_model",
        types=COMMAND,
        default_timeout=timedelta(seconds=30),
    ),
    EventSpec(
        "PostModelSwitch",
        "",
        "observe",
        "log",
        "to_model",
        types=COMMAND,
        default_timeout=timedelta(seconds=30),
    ),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 33 of the reference",
    registry=30,
    file_created="FileChanged reports additions too, for watched names only",
    file_saved="FileChanged reports changes by any writer, for watched names only",
    file_deleted="FileChanged reports removals too, for watched names only",
    before_task="TaskCreated is about the task list, not about running a task",
    after_task="TaskCompleted is about the task list, not about running a task",
    interrupted="Stop does not fire on an interrupt, and no other event does",
)

ON_FAILURE = Field("on_failure", {"block": "block", "continue": ""})
WAIT = Timeout(SECOND, default=timedelta(seconds=600))


# A handler with `if` runs on these events only (doc).
EVENTS_WITH_RULES = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "PermissionDenied",
)


# The parts of its wire that only Claude Code has.

# Events of Claude Code itself on which all that is printed is thrown away (doc).
SILENT = (
    *("InstructionsLoaded", "MessageDisplay", "Notification", "WorktreeRemove", "PostCompact"),
    *("SessionEnd", "StopFailure"),
)
_TERMINAL = {"terminal": "terminalSequence"}
_TITLE = {**_TERMINAL, "session_title": "hookSpecificOutput.sessionTitle"}
_SUPPRESS_PROMPT = {"suppress_prompt": "hookSpecificOutput.suppressOriginalPrompt"}
_WATCH = {"watch_paths": "hookSpecificOutput.watchPaths"}
_ELICITATION = {"action": "hookSpecificOutput.action", "content": "hookSpecificOutput.content"}
EXTRAS = {
    "PermissionRequest": {**_TERMINAL, **PERMISSION_EXTRAS},
    "PermissionDenied": {**_TERMINAL, "retry": "hookSpecificOutput.retry"},
    "UserPromptSubmit": {**_TITLE, **_SUPPRESS_PROMPT},
    "UserPromptExpansion": {**_TERMINAL, **_SUPPRESS_PROMPT},
    "SessionStart": {
        **_TITLE,
        **_WATCH,
        "initial_prompt": "hookSpecificOutput.initialUserMessage",
        "reload_skills": "hookSpecificOutput.reloadSkills",
    },
    "CwdChanged": _WATCH,
    "FileChanged": _WATCH,
    "MessageDisplay": {"display": "hookSpecificOutput.displayContent"},
    "PostToolUse": {**_TERMINAL, "classifier_context": "hookSpecificOutput.classifierContext"},
    "Elicitation": _ELICITATION,
    "ElicitationResult": _ELICITATION,
    "*": _TERMINAL,
}
ACTIONS = ("hookSpecificOutput.action", {"accept": "allow", "decline": "deny", "cancel": "deny"})
READ_ELICITATION = {**READ, "verdicts": [ACTIONS, *VERDICTS]}

CLAUDE_WIRE = WIRE.replace(
    precedence=1,
    by_event=list_by_event(
        keys={
            **KEYS_OF,
            "UserPromptExpansion": {"source": "command_name"},
            "Setup": {"source": "trigger"},
            "Elicitation": {"source": "mcp_server_name"},
            "ElicitationResult": {"source": "mcp_server_name"},
            "PreModelSwitch": {"source": "to_model"},
            "PostModelSwitch": {"source": "to_model"},
        },
        env=dict.fromkeys(("SessionStart", "Setup", "CwdChanged", "FileChanged"), ENV_FILE),
    ),
    # Captured on 2.1.325: Bash, EnterWorktree, Read, Write and Agent, MCP.
    texts=("stdout", "message", "file.content", "content:parts", ":parts"),
    results={"shell": {"stdout": "$text", "stderr": "", "interrupted": False, "isImage": False}},
    answers={
        **ANSWERS,
        **{event: {} for event in SILENT},
        "PreCompact": {"deny": BLOCK},
        "ConfigChange": {"deny": BLOCK},
        "CwdChanged": {"message": MESSAGE},
        "FileChanged": {"message": MESSAGE},
        "Setup": {**ALWAYS, "context": CONTEXT},
        "TaskCreated": {"deny": BLOCK, "message": MESSAGE},
        "TaskCompleted": {**ALWAYS, "deny": EXIT},
        "TeammateIdle": {**ALWAYS, "deny": EXIT},
        "Elicitation": {"deny": EXIT},
        "ElicitationResult": {"deny": EXIT},
        "PreModelSwitch": {
            "deny": decide_permission("deny"),
            "ask": decide_permission("ask"),
            "allow": decide_permission("allow"),
        },
        "PostModelSwitch": {"context": CONTEXT},
        # The text on stdout is the worktree's path, so it has to come through.
        "WorktreeCreate": {"deny": {**EXIT, "alone": True}, "context": {"stdout": "$context"}},
    },
    reads={
        **READS,
        "WorktreeCreate": {**READ_TEXT, "exits": {"+": "deny"}},
        "Elicitation": READ_ELICITATION,
        "ElicitationResult": READ_ELICITATION,
    },
    env={
        "CLAUDE_PROJECT_DIR": "$root",
        "CLAUDE_PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_DATA": "$data",
        "CLAUDE_CODE_SESSION_ID": "$session",
        "CLAUDE_EFFORT": "$effort",
    },
    marks=("transcript_path=.claude/", "prompt_id", "permission_mode", "tool_use_id"),
    # (doc, the tools reference of 2.1.325)
    others=(
        *("EnterPlanMode", "ExitPlanMode", "EnterWorktree", "ExitWorktree", "LSP", "ToolSearch"),
        *("TaskOutput", "TaskStop", "SendMessage", "Cron*", "ListMcpResourcesTool", "ReadMcpResourceTool"),
    ),
    # It ended a Stop hook that always blocks after eight blocks (lab).
    traits=("caps stops",),
    extras=EXTRAS,
    obeys={
        **OBEYS,
        "WorktreeCreate": {**OBEY_NOTHING, "exits": {"+": "deny"}},
        "PreModelSwitch": OBEY,
        "Elicitation": {**OBEY, "verdicts": [ACTIONS]},
        "ElicitationResult": {**OBEY, "verdicts": [ACTIONS]},
    },
)


def prepare(native: str, entry: Mapping[str, Tree]) -> tuple[Mapping[str, Tree], str]:
    """The entry with `asyncRewake` as an async hook, and why a rule prevents it from running."""
    if entry.get("asyncRewake") is True:
        entry = {"async": True, **entry}
    if "if" in entry and native not in EVENTS_WITH_RULES:
        return entry, f"a handler with 'if' does not run on {native}"
    return entry, ""


MANAGED = (
    "/etc/claude-code/managed-settings.json",
    "/etc/claude-code/managed-settings.d/*.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.d/*.json",
    "C:/Program Files/ClaudeCode/managed-settings.json",
    "C:/Program Files/ClaudeCode/managed-settings.d/*.json",
)

# Measured on 2.1.325 (lab, tests/rules): each was given to calls that it is for, and none ran.
NEVER_FIRED = {
    r"mcp__(?:(?!__)[^(])+|mcp__[^(]*\*[^(]*": "Claude Code 2.1.325 needs the whole name of an MCP tool",
    r"mcp__[^(]+\((?!\*?\)$).*": "Claude Code 2.1.325 accepts no brackets for an MCP tool",
    r"WebFetch\((?!\*\)$).+": "Claude Code 2.1.325 fires no rule with a domain or an address",
    r"(?:Agent|Task)\((?!\*\)$).+": "Claude Code 2.1.325 fires no rule with the name of a subagent",
    r"(?:Glob|Grep)(?:\(.*)?": "Claude Code 2.1.325 has no such tool (CC3)",
    r"MultiEdit(?:\(.*)?": "Claude Code has no such tool since 2.0",
}
# `enabledPlugins` of a nearer file wins; what is installed from a folder runs in that folder (lab).
STORE = PluginStore(
    "~/.claude/plugins/installed_plugins.json",
    ("plugins",),
    "installPath",
    (".claude/settings.local.json", ".claude/settings.json", "~/.claude/settings.json"),
    ("enabledPlugins",),
    "~/.claude/plugins/known_marketplaces.json",
    "installLocation",
    "lab",
    # 2.1.325: hooks/hooks.json runs beside what the manifest names, and once where the manifest names it
    # too; a path without "./" makes it refuse the plugin; {"hooks": {"hooks": …}} there runs nothing.
    path_start="./",
    keeps_default=True,
    project="projectPath",
)

DIALECT = Dialect(
    id="claude-code",
    title="Claude Code",
    kind="agent",
    facts="2.1.325",
    sources=SOURCES,
    shows={"*": (("message", "reason"), "lab")},
    markers={"CLAUDECODE": "lab"},
    locations=(
        Location("project", ".claude/settings.json", "doc"),
        Location("local", ".claude/settings.local.json", "lab", at_repository=True),
        Location("user", "~/.claude/settings.json", "doc"),
        Location("plugin", "hooks/hooks.json", "doc"),
        Location("plugin", "hooks.json", "spec", loaded=False),  # 2.1.325 never ran it (lab)
        Location("system", "/etc/claude-code/managed-settings.json", "doc"),
    ),
    other_places={
        "scoped": (
            Location("project", ".claude/agents/*.md", "doc"),
            Location("project", ".claude/skills/*/SKILL.md", "doc"),
            # 2.1.325 reads commands as skills, and commands and subagents in folders below too.
            Location("project", ".claude/agents/*/*.md", "src"),
            Location("project", ".claude/commands/*.md", "src"),
            Location("project", ".claude/commands/*/*.md", "src"),
            Location("user", "~/.claude/agents/*.md", "doc"),
            Location("user", "~/.claude/skills/*/SKILL.md", "doc"),
            Location("user", "~/.claude/agents/*/*.md", "src"),
            Location("user", "~/.claude/commands/*.md", "src"),
            Location("user", "~/.claude/commands/*/*.md", "src"),
            Location("plugin", "agents/*.md", "doc"),
            Location("plugin", "skills/*/SKILL.md", "doc"),
            Location("plugin", "commands/*.md", "src"),
        )
    },
    events=EVENTS,
    lacks=LACKS,
    tools=(
        *name_tools(
            "doc",
            shell=("Bash", "PowerShell", "Monitor"),
            file_read="Read",
            file_write="Write",
            file_edit="Edit",
            web_search="WebSearch",
            web_fetch="WebFetch",
            agent="Agent",
            todo=("TodoWrite", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList"),
            notebook_edit="NotebookEdit",
            skill="Skill",
            ask_user="AskUserQuestion",
        ),
        *(row._replace(gone=True) for row in name_tools("lab", search="Grep", find="Glob")),  # CC3
        *alias_tools("doc", agent="Task"),
        *alias_tools("public", file_edit="MultiEdit"),  # until 2.0
    ),
    wordless={
        # What TaskOutput, TaskStop and Skill were called; the first ones still stand for these (program).
        **dict.fromkeys(("BashOutput", "BashOutputTool", "AgentOutput", "AgentOutputTool"), "program"),
        **dict.fromkeys(("KillShell", "KillBash"), "program"),
        # As words these would widen every pattern that leaves out Read or TodoWrite.
        **dict.fromkeys(("LS", "NotebookRead", "TodoRead", "SlashCommand"), "public"),
        **dict.fromkeys(("Workflow", "EndConversation"), "doc"),
    },
    mcp=McpNames("mcp__", "__", "doc"),
    matching=NAMES,
    handlers={
        "command": HandlerSpec(
            "command",
            {
                "if": "condition",
                "command": "command",
                "args": Field("args", read_only=True),
                "timeout": "timeout",
                "async": "is_async",
                "statusMessage": "status_message",
                "onFailure": ON_FAILURE,
            },
            WAIT,
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
                "onFailure": ON_FAILURE,
            },
            WAIT,
            required=("url",),
        ),
        "prompt": HandlerSpec(
            "prompt",
            {
                "if": "condition",
                "prompt": "prompt",
                "model": "model",
                "timeout": "timeout",
                "statusMessage": "status_message",
            },
            Timeout(SECOND, default=timedelta(seconds=30)),
            required=("prompt",),
        ),
        "agent": HandlerSpec(
            "agent",
            {
                "if": "condition",
                "prompt": "prompt",
                "model": "model",
                "timeout": "timeout",
                "statusMessage": "status_message",
            },
            Timeout(SECOND, default=timedelta(seconds=60)),
            required=("prompt",),
        ),
        "native": HandlerSpec("mcp_tool", {"if": "condition"}, WAIT),
    },
    shape=BY_EVENT._replace(
        prepare=prepare, is_off=lambda tree, _: find_value(tree, ("disableAllHooks",)) is True
    ),
    wire=CLAUDE_WIRE,
    runs_once=OnceRule("lab"),
    commands_start="moving",
    project_read="start",
    obeys=("nested", "decision"),
    project_dir=spell_root("CLAUDE_PROJECT_DIR"),
    package_dir=("${CLAUDE_PLUGIN_ROOT}", "$CLAUDE_PLUGIN_ROOT"),
    needs_type=True,
    manifests=(".claude-plugin/plugin.json",),
    programs=("claude",),
    home=("~/.claude", "CLAUDE_CONFIG_DIR"),
    gates=(
        Gate(
            MANAGED,
            ("allowManagedHooksOnly",),
            (True,),
            "the managed settings allow managed hooks only",
            "Ask the administrator of this machine to add the hook there.",
            "doc",
            stops="agent",
        ),
        Gate(
            (*MANAGED, ".claude/settings.local.json", ".claude/settings.json", "~/.claude/settings.json"),
            ("disableAllHooks",),
            (True,),
            "all hooks are switched off",
            "Remove `disableAllHooks`.",
            "doc",
            scopes=("project", "local", "user", "plugin"),
        ),
    ),
    # A folder was seen untrusted here while its hooks ran in 2.1.241, and with `-p` every folder is trusted.
    folder_trust=FolderTrust(
        "~/.claude.json",
        (("projects",),),
        "Start `claude` in this folder and accept its trust question; `claude -p` does not ask.",
        "issue",
        field=("hasTrustDialogAccepted",),
        yes=(True,),
        scopes=("project", "local", "user"),
        certain=False,
    ),
    notes=(
        "Claude Code runs no hook of a settings file in an interactive session before the folder is trusted.",
    ),
    quirks=(
        Quirk("CC1", "exit 2 is ignored on PermissionRequest: only JSON denies there", "doc"),
        Quirk("CC2", "a JSON deny without hookEventName, or after any other text, is not a deny", "lab"),
        Quirk("CC3", "Glob and Grep are gone in 2.1.325: a matcher on them matches nothing there", "lab"),
        Quirk("CC4", "`continue: false` on PreToolUse lets the tool run, then stops the agent", "lab"),
        Quirk(
            "CC6",
            "arguments in `args` bypass the shell: `$HOME` stays literal, only roots are filled in",
            "lab",
        ),
        Quirk("CC7", "`async` and `asyncRewake` hooks cannot deny: their answers are ignored", "lab"),
        Quirk("CC8", "an API error gave no StopFailure in 2.1.325", "lab"),
        Quirk(
            "CC9",
            "started in a folder of a repository, it reads only `.claude/settings.json` of that folder, "
            "not of the repository's root: hooks of the project do not run there, those of the user and of "
            "the root's settings.local.json do",
            "lab",
        ),
        Quirk("CC5", "the 60 s default of the hook spec 1.0 became 600 s in the reference", "doc"),
        Quirk(
            "CC10",
            "some documented rules never fire in 2.1.325",
            "lab",
            {UNFIRED_RULES: NEVER_FIRED},
        ),
        Quirk(
            "CC11",
            "a plugin that was installed from a folder runs there; the nearest `enabledPlugins` decides",
            "lab",
            {PLUGIN_STORE: STORE},
        ),
    ),
    ways_around=list_ways(
        WayAround(
            "shell",
            "closed",
            "CC12",
            "the tool `Monitor` runs commands too, and a matcher `Bash` does not find it; hookport names it"
            " wherever a hook is for the shell",
            "lab",
            tools=("shell",),
            native="Monitor",
        ),
        kinds=4,
        # The protocol is `--input-format stream-json`, as the SDK and editors start it.
        none={"sub-agents": "lab", "protocol": "lab"},
    ),
)
