"""VS Code's Copilot agent: hook files in `.github/hooks`, each hook running on every call of its event."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.claude_wire import (
    BLOCK,
    CONTEXT,
    HALT,
    KEYS,
    KEYS_OF,
    MESSAGE,
    READ,
    VERDICTS,
    decide_permission,
    nest_fields,
)
from hookport.shapes.dialect import (
    SECOND,
    Dialect,
    EventSpec,
    Field,
    FolderTrust,
    Gate,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Quirk,
    Timeout,
    explain_missing,
    list_ways,
    name_tools,
)
from hookport.shapes.github_commands import NO_COMMAND, normalise_commands
from hookport.wire.table import Wire, list_by_event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookport.shapes.dialect import Tree

SOURCES = {
    "doc": "official agent hooks pages and hooks reference, 2026-08-19",
    "src": "microsoft/vscode-copilot-chat, mirror of 2026-03-29, and the hook schema of VS Code itself",
}

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "src", "tool", rewrites=True),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "src", "tool"),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "src", hears="json"),
    EventSpec("Stop", "agent_stop", "retry", "src"),
    EventSpec("SessionStart", "session_start", "observe", "src", "source", hears="json"),
    EventSpec("SubagentStart", "subagent_start", "observe", "src", "agent_type"),
    EventSpec("SubagentStop", "subagent_stop", "retry", "src", "agent_type"),
    EventSpec("PreCompact", "before_compact", "observe", "src", "trigger"),
    # Copilot CLI's names of the same events.
    EventSpec("preToolUse", "before_tool_execute", "prevent", "src", "tool", rewrites=True, secondary=True),
    EventSpec("postToolUse", "after_tool_execute", "observe", "src", "tool", secondary=True),
    EventSpec("userPromptSubmitted", "before_prompt", "prevent", "src", secondary=True),
    EventSpec("agentStop", "agent_stop", "retry", "src", secondary=True),
    EventSpec("sessionStart", "session_start", "observe", "src", "source", secondary=True),
    EventSpec("subagentStart", "subagent_start", "observe", "src", "agent_type", secondary=True),
    EventSpec("subagentStop", "subagent_stop", "retry", "src", "agent_type", secondary=True),
    EventSpec("preCompact", "before_compact", "observe", "src", "trigger", secondary=True),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 8 of the reference",
    registry=30,
    tool_use_failure="PostToolUse fires for tools that succeeded, and nothing for the others",
    interrupted="Stop does not fire when the request is cancelled, and no other event does",
)


def prepare(native: str, entry: Mapping[str, Tree]) -> tuple[Mapping[str, Tree], str]:
    """The entry with `bash` and `powershell` as VS Code reads them, and a command if it has none."""
    entry = dict(normalise_commands(entry))
    windows = entry.pop("powershell", None)
    if windows:
        entry.setdefault("windows", windows)
    command = entry.get("linux") or entry.get("osx") or (NO_COMMAND if entry.get("windows") else None)
    if command and not entry.get("command"):
        entry["command"] = command
    return entry, ""


# `continue: false` ends the request before the tool runs, and so does any `stopReason` (src, VS2).
ENDS = {"halt": HALT, "message": MESSAGE}
# Read there only, and never without a reason (src, VS4).
GO_ON = nest_fields(decision="block", reason="$reason")
STOPPED = ("hookSpecificOutput.decision", {"block": "deny"})

READ_ALL: dict[str, Tree] = {**READ, "stop": ["stopReason"]}
READ_STOP = {
    **READ_ALL,
    "verdicts": [STOPPED, *VERDICTS],
    "reason": ["hookSpecificOutput.reason", *READ["reason"]],
}

# What VS Code itself obeys (src; exit code 2 and the nested deny were measured on 1.139.1): JSON with exit
# code 0 only; nested output that names another event is dropped, one that names none is not.
OBEY: dict[str, Tree] = {
    **READ_ALL,
    "verdicts": [
        ("hookSpecificOutput.permissionDecision", {"allow": "allow", "deny": "deny", "ask": "ask"}),
    ],
    "reason": ["hookSpecificOutput.permissionDecisionReason", "stopReason"],
    "named": "other",
    "json": "zero",
}
OBEY_BLOCK = {**OBEY, "verdicts": [("decision", {"block": "deny"})], "reason": ["reason", "stopReason"]}
OBEY_STOP = {
    **OBEY,
    "verdicts": [STOPPED],
    "reason": ["hookSpecificOutput.reason"],
    "wants": {"deny": ["hookSpecificOutput.reason"]},
    "speaks": "stderr",
}
OBEY_NOTHING = {**OBEY, "verdicts": [], "exits": {}}

FILE = {"path": "filePath"}
EDIT = {**FILE, "old": "oldString", "new": "newString"}

WIRE = Wire(
    precedence=-1,
    keys={
        # (src) It sends neither.
        **{name: place for name, place in KEYS.items() if name not in ("final_message", "permission_mode")},
        "timestamp": "timestamp",
        # The folder a hook starts in, which is the workspace unless the hook sets another (src).
        "root": "cwd",
    },
    by_event=list_by_event(
        keys={
            "SessionStart": KEYS_OF["SessionStart"],
            "sessionStart": KEYS_OF["SessionStart"],
            "PreCompact": KEYS_OF["PreCompact"],
            "preCompact": KEYS_OF["PreCompact"],
        }
    ),
    # The only source it has (src).
    words={"session_start": {"startup": "new"}},
    transcript="log",
    # The payload has the same name whichever one the file has (src).
    said={
        "preToolUse": "PreToolUse",
        "postToolUse": "PostToolUse",
        "userPromptSubmitted": "UserPromptSubmit",
        "agentStop": "Stop",
        "sessionStart": "SessionStart",
        "subagentStart": "SubagentStart",
        "subagentStop": "SubagentStop",
        "preCompact": "PreCompact",
    },
    fixed={"session_id": "$session", "transcript_path": "", "cwd": "$root"},
    # src: the tools' own schemas.
    inputs={
        "run_in_terminal": {"description": "explanation"},
        "read_file": {**FILE, "offset": "startLine"},
        "create_file": FILE,
        "insert_edit_into_file": {**FILE, "new": "code"},
        "file_edit": EDIT,
        "edit_notebook_file": FILE,
        "grep_search": {"pattern": "query", "include": "includePattern"},
        "file_search": {"pattern": "query"},
        "edits": {"old": "oldString", "new": "newString"},
    },
    patches={"apply_patch": "input"},
    batches={"multi_replace_string_in_file": ("replacements", ""), "fetch_webpage": ("urls", "url")},
    env={"PLUGIN_ROOT": "$package", "CLAUDE_PLUGIN_ROOT": "$package"},
    starts_in="root",
    marks=("timestamp", "tool_use_id"),
    answers={
        "before_tool_execute": {
            **ENDS,
            "deny": decide_permission("deny"),
            "ask": decide_permission("ask"),
            "allow": decide_permission("allow"),
            "rewrite": nest_fields(updatedInput="$input"),
            "context": CONTEXT,
        },
        "after_tool_execute": {**ENDS, "deny": BLOCK, "context": CONTEXT},
        "before_prompt": {**ENDS, "deny": BLOCK, "context": CONTEXT},
        "agent_stop": {**ENDS, "deny": GO_ON},
        # The reference has the block at the top, the source inside.
        "subagent_stop": {**ENDS, "deny": {"json": {**BLOCK["json"], **GO_ON["json"]}}},
        # These two ignore `continue` (src).
        "session_start": {"context": CONTEXT, "message": MESSAGE},
        "subagent_start": {"context": CONTEXT, "message": MESSAGE},
        "*": {"message": MESSAGE},
    },
    reads={
        "before_prompt": {**READ_ALL, "context": [*READ["context"], "additionalContext"]},
        "agent_stop": READ_STOP,
        "subagent_stop": READ_STOP,
        "*": READ_ALL,
    },
    obeys={
        "before_tool_execute": OBEY,
        "after_tool_execute": OBEY_BLOCK,
        "before_prompt": {**OBEY_BLOCK, "context": [*READ["context"], "additionalContext"]},
        "agent_stop": OBEY_STOP,
        "subagent_stop": OBEY_STOP,
        "session_start": {**OBEY_NOTHING, "halt": [], "stop": []},
        "subagent_start": {**OBEY_NOTHING, "halt": [], "stop": []},
        "*": OBEY_NOTHING,
    },
)

# Settings are JSON with comments; those of the workspace come before the user's (doc).
VS_CODE_SETTINGS = (
    ".vscode/settings.json",
    "~/.config/Code/User/settings.json",
    "~/Library/Application Support/Code/User/settings.json",
    "~/AppData/Roaming/Code/User/settings.json",
)

DIALECT = Dialect(
    id="vs-code-copilot",
    title="VS Code Copilot",
    kind="agent",
    facts="2026-08-19",
    sources=SOURCES,
    shows={"*": (("message", "reason"), "doc")},
    locations=(
        Location("project", ".github/hooks/hookport-vscode.json", "doc"),
        Location("project", ".github/hooks/*.json", "doc"),
        Location("user", "~/.copilot/hooks/hookport-vscode.json", "doc"),
        Location("user", "~/.copilot/hooks/*.json", "doc"),
        Location("plugin", "hooks.json", "doc"),
        Location("plugin", "hooks/hooks.json", "doc"),
        Location("plugin", "com.github.copilot/hooks/hooks.json", "doc"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=name_tools(
        "src",
        shell="run_in_terminal",
        file_read="read_file",
        file_write=("create_file", "apply_patch"),
        file_edit=(
            "replace_string_in_file",
            "multi_replace_string_in_file",
            "insert_edit_into_file",
            "apply_patch",
        ),
        search=("grep_search", "semantic_search"),
        find="file_search",
        web_fetch="fetch_webpage",
        agent=("runSubagent", "search_subagent", "execution_subagent"),
        list="list_dir",
        todo="manage_todo_list",
        notebook_edit="edit_notebook_file",
        ask_user="vscode_askQuestions",
    ),
    mcp=McpNames("mcp_", "_", "src"),
    matching=Matching("ignored"),
    handlers={
        "command": HandlerSpec(
            "command",
            {
                "command": "command",
                "windows": "windows",
                "linux": "linux",
                "osx": "osx",
                "cwd": "cwd",
                "env": "env",
                "timeout": "timeout",
                "timeoutSec": Field("timeout", read_only=True),
            },
            # Whole seconds; whether a fraction is accepted is unknown.
            Timeout(SECOND, default=timedelta(seconds=30), whole=True),
            required=("command",),
        ),
    },
    shape=BY_EVENT._replace(forms=("flat", "nested"), prepare=prepare),
    wire=WIRE,
    obeys=("nested",),
    commands_start="root",
    # No variable names the workspace, but a hook without `cwd` starts there (doc).
    project_dir=(".",),
    package_dir=("${PLUGIN_ROOT}", "${CLAUDE_PLUGIN_ROOT}", "$PLUGIN_ROOT", "$CLAUDE_PLUGIN_ROOT"),
    gates=(
        Gate(
            VS_CODE_SETTINGS,
            ("chat.useHooks",),
            (False,),
            "all hooks are switched off",
            'Remove `"chat.useHooks": false`.',
            "doc",
        ),
        *(
            Gate(
                VS_CODE_SETTINGS,
                ("chat.hookFilesLocations", place),
                (False,),
                f"{place} is switched off",
                f"Switch {place} on in `chat.hookFilesLocations`.",
                "doc",
                scopes=(scope,),
                stops="agent",
            )
            for place, scope in ((".github/hooks", "project"), ("~/.copilot/hooks", "user"))
        ),
    ),
    folder_trust=FolderTrust("", (), "Trust the workspace when VS Code asks.", "doc"),
    other_places={
        "scoped": (Location("project", ".github/agents/*.agent.md", "doc"),),
        "also read": (
            Location("project", ".claude/settings.json", "doc"),
            Location("local", ".claude/settings.local.json", "doc"),
            Location("user", "~/.claude/settings.json", "doc"),
        ),
    },
    notes=(
        "VS Code and Copilot CLI both read .github/hooks: a hook installed for both runs twice in each.",
        "VS Code runs hooks only in a trusted workspace, and where its extensions run (remote, container).",
    ),
    quirks=(
        Quirk("VS1", "matchers are parsed and ignored: every hook runs on every call", "doc"),
        Quirk("VS2", "a string `stopReason` stops the session, whatever `continue` says", "src"),
        Quirk("VS3", "JSON is read on exit 0 only, and other text is dropped, never context", "src"),
        Quirk(
            "VS4",
            "a Stop hook that blocks without a reason does not block; one that always blocks never ends",
            "src",
        ),
        Quirk("VS5", "the tool names in the documentation's samples are not those of the source", "src"),
        Quirk("VS6", "hooks of .claude/settings.json run here too, with VS Code's tool names", "doc"),
    ),
    ways_around=list_ways(kinds=4),
)
