"""VS Code's Copilot agent: hook files in `.github/hooks`, each hook running on every call of its event."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from hookport.errors import spell_path
from hookport.findings import Finding, NeverRuns
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
    DecodedManifest,
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
    WayAround,
    explain_missing,
    find_event,
    list_ways,
    name_tools,
)
from hookport.shapes.github_commands import NO_COMMAND, normalise_commands
from hookport.shapes.transcripts import LOG
from hookport.wire.table import Wire, list_by_event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hookport.shapes.dialect import Tree

SOURCES = {
    "doc": "official agent hooks pages and hooks reference, 2026-08-19",
    "src": "microsoft/vscode-copilot-chat, mirror of 2026-03-29, and the hook schema of VS Code itself",
    "lab": "VS Code 1.139.1 (code-server 4.139.1), played with a scripted model, 2026-11-19",
    "pkg": "the programs of VS Code 1.139.1 and its Copilot extension 0.67.0 in that package",
}

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "lab", "tool", rewrites=True),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool", hears="late"),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "lab", hears="json"),
    EventSpec("Stop", "agent_stop", "retry", "lab"),
    EventSpec("SessionStart", "session_start", "observe", "lab", "source", hears="json"),
    EventSpec("SubagentStart", "subagent_start", "observe", "lab", "agent_type"),
    EventSpec("SubagentStop", "subagent_stop", "retry", "lab", "agent_type"),
    EventSpec("PreCompact", "before_compact", "observe", "pkg", "trigger"),
    # Copilot CLI's names of the same events; it has none of the other two (pkg).
    EventSpec("preToolUse", "before_tool_execute", "prevent", "pkg", "tool", rewrites=True, secondary=True),
    EventSpec("postToolUse", "after_tool_execute", "observe", "pkg", "tool", hears="late", secondary=True),
    EventSpec("userPromptSubmitted", "before_prompt", "prevent", "pkg", secondary=True),
    EventSpec("agentStop", "agent_stop", "retry", "pkg", secondary=True),
    EventSpec("sessionStart", "session_start", "observe", "pkg", "source", secondary=True),
    EventSpec("subagentStop", "subagent_stop", "retry", "pkg", "agent_type", secondary=True),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 8 that its program starts hooks for",
    registry=30,
    tool_use_failure="PostToolUse fires for tools that succeeded, and nothing for the others",
    interrupted="Stop does not fire when the request is cancelled, and no other event does",
)


# Tools of 1.139.1 beside these that it offers to a model of one's own (lab).
OTHERS = (
    *("copilot_getNotebookSummary", "get_errors", "get_task_output", "get_terminal_output"),
    *("get_vscode_api", "kill_terminal", "read_notebook_cell_output", "resolve_memory_file_uri"),
    *("terminal_last_command", "terminal_selection", "testFailure", "view_image", "vscode_listCodeUsages"),
)
WORDLESS = dict.fromkeys(
    (
        *OTHERS,
        *("create_directory", "create_new_jupyter_notebook", "create_new_workspace", "github_repo"),
        *("github_text_search", "install_extension", "memory", "run_notebook_cell", "run_vscode_command"),
        *("session_store_sql", "vscode_renameSymbol", "vscode_searchExtensions_internal"),
    ),
    "lab",
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


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of the files; those under a name whose event a later name has get a finding."""
    decoded = BY_EVENT.decode(dialect, trees)
    dead = [finding for file, tree in trees.items() for finding in _find_replaced(dialect, file, tree)]
    return decoded._replace(findings=(*decoded.findings, *dead))


def _find_replaced(dialect: Dialect, file: str, tree: Tree) -> Iterator[Finding]:
    """Names of events that a file has before another name of the same event (VS8)."""
    events = tree.get("hooks") if isinstance(tree, dict) else None
    names = {native: find_event(dialect, native) for native in events} if isinstance(events, dict) else {}
    known = {native: spec.canonical for native, spec in names.items() if spec}
    last = {canonical: native for native, canonical in known.items()}
    for native, canonical in known.items():
        if native != last[canonical]:
            words = {
                "what": f"the hooks of {native}",
                "reason": f"{last[canonical]} is the same event, and comes later in the file",
                "way": "Write all of them under one name.",
            }
            where = spell_path(("hooks", native))
            yield NeverRuns.at(where, None, dialect=dialect.id, **words)._replace(file=file)


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

# Its transcript (measured, 1.139.1): Copilot CLI's events without results, models and usage.
TRANSCRIPT = {
    **LOG,
    "of": "VS Code 1.139.1",
    "named": ("GitHub.copilot-chat/transcripts/*.jsonl",),
    "late": 1.0,
}

WIRE = Wire(
    precedence=-1,
    keys={
        # (src) It sends neither.
        **{name: place for name, place in KEYS.items() if name not in ("final_message", "permission_mode")},
        "timestamp": "timestamp",
    },
    by_event=list_by_event(
        keys={
            "SessionStart": KEYS_OF["SessionStart"],
            "sessionStart": KEYS_OF["SessionStart"],
            "PreCompact": KEYS_OF["PreCompact"],
        }
    ),
    # The only source it has (src).
    words={"session_start": {"startup": "new"}},
    transcript=(TRANSCRIPT,),
    # The payload has the same name whichever one the file has (src).
    said={
        "preToolUse": "PreToolUse",
        "postToolUse": "PostToolUse",
        "userPromptSubmitted": "UserPromptSubmit",
        "agentStop": "Stop",
        "sessionStart": "SessionStart",
        "subagentStop": "SubagentStop",
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
    batches={
        "multi_replace_string_in_file": ("replacements", ""),
        "fetch_webpage": ("urls", "url"),
        # One task, whose command and arguments are one level deeper (lab).
        "create_and_run_task": ("task", "command"),
    },
    env={"PLUGIN_ROOT": "$package", "CLAUDE_PLUGIN_ROOT": "$package"},
    starts_in="root",
    others=OTHERS,
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
    facts="1.139.1",
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
        shell=("run_in_terminal", "send_to_terminal", "create_and_run_task"),
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
    wordless=WORDLESS,
    mcp=McpNames("mcp_", "_", "lab"),
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
            Timeout(SECOND, default=timedelta(seconds=30)),
            required=("command",),
        ),
    },
    shape=BY_EVENT._replace(
        decode=decode, forms=("flat", "nested"), prepare=prepare, file_kinds={"json": "jsonc"}
    ),
    wire=WIRE,
    obeys=("nested",),
    # Its terminals have them, its hooks do not.
    markers={"COPILOT_AGENT": "lab", "AI_AGENT=github_copilot_vscode_agent": "lab"},
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
    # Without trust it runs no hooks, the user's neither.
    folder_trust=FolderTrust(
        "", (), "Trust the workspace when VS Code asks.", "pkg", scopes=("project", "local", "user")
    ),
    # With `chat.useCustomizationsInParentRepositories`, which is off in a new installation, those of the
    # folders above too (pkg).
    project_read="start",
    other_places={
        "scoped": (Location("project", ".github/agents/*.agent.md", "doc"),),
        # With `chat.useClaudeHooks`, which is off in a new installation (VS6).
        "maybe read": (
            Location("project", ".claude/settings.json", "lab"),
            Location("local", ".claude/settings.local.json", "lab"),
            Location("user", "~/.claude/settings.json", "lab"),
        ),
    },
    notes=(
        "VS Code and Copilot CLI both read .github/hooks: a hook installed for both runs twice in each.",
        "VS Code runs hooks only in a trusted workspace, and where its extensions run (remote, container).",
        "VS Code reads the hooks of the folder that is opened, not of those above it.",
    ),
    quirks=(
        Quirk("VS1", "matchers are parsed and ignored: every hook runs on every call", "lab"),
        Quirk("VS2", "a string `stopReason` stops the session, whatever `continue` says", "pkg"),
        Quirk("VS3", "JSON is read on exit 0 only, and other text is dropped, never context", "lab"),
        Quirk(
            "VS4",
            "a Stop hook that blocks without a reason does not block; one that always blocks never ends",
            "pkg",
        ),
        Quirk("VS5", "the tool names in the documentation's samples are not those of the program", "lab"),
        Quirk(
            "VS6",
            "hooks of Claude Code's three settings files run too, with VS Code's tool names, where "
            "`chat.useClaudeHooks` is on; it is off in a new installation, against the reference",
            "lab",
        ),
        Quirk(
            "VS7",
            "VS Code asks the model again without waiting for PostToolUse hooks: their context and reason "
            "come one request late, and not at all if the turn ends before",
            "lab",
        ),
        Quirk(
            "VS8",
            "where one file names an event twice, as `preToolUse` and `PreToolUse`, only the hooks of the "
            "later name run",
            "lab",
        ),
        Quirk(
            "VS9",
            "`disableAllHooks` counts in Claude Code's files only, not in those of .github/hooks",
            "lab",
        ),
        Quirk(
            "VS10", "an `updatedInput` that the tool's schema refuses is dropped, and the tool runs", "pkg"
        ),
        Quirk(
            "VS11",
            "VS Code waits until every process of a hook has closed its output, beyond the timeout too, and "
            "then takes the answer",
            "lab",
        ),
        Quirk("VS12", "UserPromptSubmit fires for the prompt of a subagent too", "lab"),
    ),
    ways_around=list_ways(
        WayAround(
            "shell",
            "closed",
            "VS14",
            "the tool `create_and_run_task` runs commands too; hookport takes it for the shell, with the "
            "task's command and arguments",
            "lab",
            tools=("shell",),
            native="create_and_run_task",
        ),
        WayAround(
            "shell",
            "closed",
            "VS16",
            "the tool `send_to_terminal` types a command into a terminal; hookport takes it for the shell",
            "pkg",
            tools=("shell",),
            native="send_to_terminal",
        ),
        WayAround(
            "code",
            "open",
            "VS15",
            "the tool `run_vscode_command` runs a command of the editor, which may type into a terminal, and "
            "`run_notebook_cell` code of a notebook; hooks fire, but a guard for the shell sees no command",
            "lab",
            place="in commands of the editor and notebooks",
        ),
        WayAround(
            "protocol",
            "open",
            "VS13",
            "these hooks belong to VS Code's local agent: sessions of Copilot CLI, Claude and cloud agents "
            "that are started in VS Code run their own",
            "pkg",
            place="in sessions of other agents in VS Code",
        ),
        kinds=4,
        # A deny in a subagent was obeyed.
        none={"sub-agents": "lab"},
    ),
)
