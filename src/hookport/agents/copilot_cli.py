"""GitHub Copilot CLI: hook files in `.github/hooks`; an event's spelling decides what its hooks hear."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from hookport.agents import _by_event
from hookport.agents._base import (
    SECOND,
    Decoded,
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
    RefusedError,
    Shape,
    Timeout,
    aliases,
    in_variables,
    named,
)
from hookport.agents._copilot import commands
from hookport.agents._copilot_wire import WIRE
from hookport.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookport.agents._base import Tree

SOURCES = {
    "doc": "official hooks reference, 2026-08-07",
    "log": "official changelog up to 1.0.78, 2026-08-03",
    "trust": "official page on configuring the CLI, `trustedFolders` (older: `trusted_folders`), autumn 2026",
    "lab": "measured on 1.0.102, November 2026",
    "help": "`copilot help config` and the settings schema in the program of 1.0.102",
    "code": "the same names in the documentation's examples and in a third party's adapter, 2026-08-13",
}

# JavaScript regular expression that must match the whole name; `*` and the empty string are invalid and
# the hook is skipped (doc, lab).
WHOLE = Matching("anchored", everything=(".*",), never=("", "*"))
# PascalCase PreToolUse and PermissionRequest know Claude Code's `*`; the empty string is invalid here too,
# whatever the reference says (lab).
CLAUDE = Matching("anchored", everything=("*", "**", ".*"), never=("",))

HANDLERS = ("command", "http")
# `decision: block` blocks a prompt and keeps the agent going, exit 2 is only a warning there (lab).
BLOCK = {"decision": "block", "reason": "{reason}"}
REFUSE = {"behavior": "deny", "message": "{reason}"}

TOOLS = (
    *named(
        "doc",
        shell=("bash", "powershell"),
        file_read="view",
        file_write="create",
        file_edit=("edit", "str_replace_editor", "apply_patch"),
        search=("grep", "rg"),
        find="glob",
        web_search="web_search",
        web_fetch="web_fetch",
        agent="task",
        todo="update_todo",
        ask_user="ask_user",
    ),
    # With some models it is the only tool that writes.
    *named("lab", file_write="apply_patch"),
)
CLAUDE_TOOLS = (
    *named(
        "doc",
        shell="Bash",
        file_read="Read",
        file_write="Write",
        file_edit="Edit",
        search="Grep",
        find="Glob",
        web_search="WebSearch",
        web_fetch="WebFetch",
        agent="Agent",
        todo="TodoWrite",
        ask_user="AskUserQuestion",
    ),
    *aliases("doc", agent="Task"),
)
# A permission is asked for under other names: creating a file is an `edit`, and reading is not asked for.
# Only shell, writing and MCP were seen to ask (lab, CP5).
PERMISSIONS = (
    *named("lab", shell="bash", file_write="edit", file_edit="edit"),
    *named("doc", shell="powershell", web_search="web_search", web_fetch="web_fetch"),
    *aliases(
        "doc",
        file_read="view",
        file_write="create",
        file_edit=("str_replace_editor", "apply_patch"),
        search=("grep", "rg"),
        find="glob",
        agent="task",
        todo="update_todo",
        ask_user="ask_user",
    ),
)
CLAUDE_PERMISSIONS = (
    *named("doc", shell="Bash", file_write=("Write", "Edit"), file_edit="Edit"),
    *named("doc", web_search="WebSearch", web_fetch="WebFetch"),
    *aliases("doc", file_read="Read", search="Grep", find="Glob", agent=("Agent", "Task"), todo="TodoWrite"),
)
# Runtime names are read on these events too.
PRE_NAMES = (*CLAUDE_TOOLS, *(row._replace(alias=True) for row in TOOLS))
PERMISSION_NAMES = (*CLAUDE_PERMISSIONS, *(row._replace(alias=True) for row in PERMISSIONS))

EVENTS = (
    EventSpec(
        "preToolUse",
        "before_tool_execute",
        "prevent",
        "lab",
        "tool",
        rewrites=True,
        types=HANDLERS,
        fails_closed=True,
    ),
    EventSpec(
        "permissionRequest",
        "permission_request",
        "prevent",
        "lab",
        "tool",
        types=HANDLERS,
        tool_names=PERMISSIONS,
        mcp_names=McpNames("", "/", "lab"),
        deny_answer=REFUSE,
    ),
    EventSpec("postToolUse", "after_tool_execute", "observe", "lab", "tool", types=HANDLERS),
    EventSpec("postToolUseFailure", "tool_use_failure", "observe", "lab", types=HANDLERS),
    EventSpec(
        "userPromptSubmitted",
        "before_prompt",
        "prevent",
        "lab",
        types=HANDLERS,
        deny_answer=BLOCK,
        exit_blocks=False,
        json_only=True,
    ),
    EventSpec(
        "agentStop", "agent_stop", "retry", "lab", types=HANDLERS, deny_answer=BLOCK, exit_blocks=False
    ),
    EventSpec("subagentStart", "subagent_start", "observe", "lab", "agentName", types=HANDLERS),
    EventSpec(
        "subagentStop", "subagent_stop", "retry", "doc", types=HANDLERS, deny_answer=BLOCK, exit_blocks=False
    ),
    EventSpec("sessionStart", "session_start", "observe", "lab", types=(*HANDLERS, "native"), json_only=True),
    EventSpec("sessionEnd", "session_end", "observe", "lab", types=HANDLERS),
    EventSpec("preCompact", "before_compact", "observe", "lab", "trigger", types=HANDLERS),
    EventSpec("notification", "notification", "observe", "lab", "notification_type", types=HANDLERS),
    EventSpec("errorOccurred", "error_occurred", "observe", "doc", types=HANDLERS),
    EventSpec("userPromptTransformed", "", "observe", "lab", types=HANDLERS),
    EventSpec("preMcpToolCall", "", "observe", "lab", types=HANDLERS),
    EventSpec(
        "PreToolUse",
        "before_tool_execute",
        "prevent",
        "lab",
        "tool",
        rewrites=True,
        secondary=True,
        matching=CLAUDE,
        types=HANDLERS,
        tool_names=PRE_NAMES,
        fails_closed=True,
    ),
    EventSpec(
        "PermissionRequest",
        "permission_request",
        "prevent",
        "lab",
        "tool",
        secondary=True,
        matching=CLAUDE,
        types=HANDLERS,
        tool_names=PERMISSION_NAMES,
        mcp_names=McpNames("", "/", "lab"),
        deny_answer=REFUSE,
    ),
    # Which names a matcher is tested against is not said for this one, so it is written with both.
    EventSpec(
        "PostToolUse",
        "after_tool_execute",
        "observe",
        "log",
        "tool",
        secondary=True,
        types=HANDLERS,
        tool_names=(*TOOLS, *CLAUDE_TOOLS),
    ),
    EventSpec(
        "PostToolUseFailure",
        "tool_use_failure",
        "observe",
        "lab",
        secondary=True,
        types=HANDLERS,
        tool_names=CLAUDE_TOOLS,
    ),
    EventSpec(
        "UserPromptSubmit",
        "before_prompt",
        "prevent",
        "lab",
        secondary=True,
        types=HANDLERS,
        deny_answer=BLOCK,
        exit_blocks=False,
    ),
    EventSpec(
        "Stop",
        "agent_stop",
        "retry",
        "lab",
        secondary=True,
        types=HANDLERS,
        deny_answer=BLOCK,
        exit_blocks=False,
    ),
    EventSpec(
        "SubagentStart", "subagent_start", "observe", "lab", "agentName", secondary=True, types=HANDLERS
    ),
    EventSpec(
        "SubagentStop",
        "subagent_stop",
        "retry",
        "doc",
        secondary=True,
        types=HANDLERS,
        deny_answer=BLOCK,
        exit_blocks=False,
    ),
    EventSpec("SessionStart", "session_start", "observe", "lab", secondary=True, types=(*HANDLERS, "native")),
    EventSpec("SessionEnd", "session_end", "observe", "lab", secondary=True, types=HANDLERS),
    EventSpec("PreCompact", "before_compact", "observe", "doc", "trigger", secondary=True, types=HANDLERS),
    EventSpec(
        "Notification", "notification", "observe", "lab", "notification_type", secondary=True, types=HANDLERS
    ),
    EventSpec("ErrorOccurred", "error_occurred", "observe", "lab", secondary=True, types=HANDLERS),
)

_NONE = "no such event among the 15 that fire"
LACKS = {
    "before_model": "userPromptTransformed can only rewrite the prompt",
    "after_model": _NONE,
    "before_tool_selection": _NONE,
    "config_change": _NONE,
    "file_created": _NONE,
    "file_saved": _NONE,
    "file_deleted": _NONE,
    "before_task": _NONE,
    "after_task": _NONE,
    "after_compact": _NONE,
    "permission_denied": _NONE,
    "interrupted": _NONE,
    "file_changed": _NONE,
    "after_tool_batch": _NONE,
    "before_command_expansion": _NONE,
    "instructions_loaded": _NONE,
    "message_display": _NONE,
}

# Whole seconds, since nothing tells whether a fraction is taken.
WAIT = Timeout(SECOND, default=timedelta(seconds=30), whole=True)


def prepare(native: str, entry: Mapping[str, Tree]) -> tuple[Mapping[str, Tree], str]:
    """The entry with one command for Unix and one for Windows, and why Copilot CLI never runs it, if so."""
    type_ = entry.get("type", "command")
    if type_ == "prompt" and native.lower() != "sessionstart":
        return entry, "a prompt is taken on sessionStart only"
    if type_ == "http" and not _is_called(native, entry):
        return entry, f"the URL '{entry.get('url', '')}' must be https"
    return (commands(entry) if type_ == "command" else entry), ""


def _is_called(native: str, entry: Mapping[str, Tree]) -> bool:
    """Whether Copilot CLI calls the URL: https, or this machine where nothing is decided (doc)."""
    url = str(entry.get("url", ""))
    local = url.startswith(("http://localhost", "http://127.0.0.1", "http://[::1]"))
    guards = native.lower() in ("pretooluse", "permissionrequest") or "allowedEnvVars" in entry
    return url.startswith("https://") or (local and not guards)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> Decoded:
    """The hooks of the files; those of a file that switches itself off are switched off."""
    problems = [
        Problem("must be 1; Copilot CLI rejects the whole file", ("version",), file)
        for file, tree in trees.items()
        if isinstance(tree, dict) and "version" in tree and (tree["version"] != 1 or tree["version"] is True)
    ]
    if problems:
        raise RefusedError(*problems)
    decoded = _by_event.decode(dialect, trees)
    roots = {file: tree for file, tree in trees.items() if isinstance(tree, dict)}
    off = {file for file, tree in roots.items() if tree.get("disableAllHooks") is True}
    hooks = tuple(
        hook._replace(enabled=place.file not in off)
        for hook, place in zip(decoded.manifest.hooks, decoded.places, strict=True)
    )
    return decoded._replace(manifest=decoded.manifest._replace(hooks=hooks))


DIALECT = Dialect(
    id="copilot-cli",
    title="GitHub Copilot CLI",
    kind="agent",
    facts="1.0.102",
    sources=SOURCES,
    shows={
        # It has no message, and what is printed to stderr is not shown.
        "*": (("reason",), "lab"),
    },
    markers={"COPILOT_CLI": "lab"},
    locations=(
        Location("project", ".github/hooks/hookport.json", "lab"),
        Location("project", ".github/hooks/*.json", "lab"),
        Location("project", ".github/copilot/settings.json", "lab"),
        Location("local", ".github/copilot/settings.local.json", "doc"),
        Location("user", "~/.copilot/hooks/hookport.json", "lab"),
        Location("user", "~/.copilot/hooks/*.json", "lab"),
        Location("user", "~/.copilot/settings.json", "lab"),
        Location("plugin", "hooks.json", "doc"),
        Location("plugin", "hooks/hooks.json", "doc"),
        Location("system", "/etc/github-copilot/policy.d/*.json", "doc"),
    ),
    events=EVENTS,
    lacks=LACKS,
    awaits_children="lab",
    tools=TOOLS,
    mcp=McpNames("", "-", "lab"),
    matching=WHOLE,
    handlers={
        "command": HandlerSpec(
            "command",
            {
                "command": "command",
                "powershell": "windows",
                "cwd": "cwd",
                "env": "env",
                "timeoutSec": "timeout",
                "timeout": Field("timeout", read_only=True),
            },
            WAIT,
            required=("command",),
        ),
        "http": HandlerSpec(
            "http",
            {
                "url": "url",
                "headers": "headers",
                "allowedEnvVars": "allowed_env",
                "timeoutSec": "timeout",
                "timeout": Field("timeout", read_only=True),
            },
            WAIT,
            required=("url",),
            url_start="https://",
        ),
        # Text that is sent as if the user had typed it: no model judges anything, so it is no prompt handler.
        "native": HandlerSpec("prompt", {"prompt": "prompt"}, Timeout(None), ("prompt",), decides=False),
    },
    shape=Shape(decode, _by_event.encode),
    wire=WIRE,
    obeys=("flat",),
    drops_reason=True,
    forms=("flat", "nested"),
    root_keys={"version": 1},
    prepare=prepare,
    deny_answer={"permissionDecision": "deny", "permissionDecisionReason": "{reason}"},
    project_dir=in_variables("COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    package_dir=(
        "${PLUGIN_ROOT}",
        "$PLUGIN_ROOT",
        "${COPILOT_PLUGIN_ROOT}",
        "$COPILOT_PLUGIN_ROOT",
        "${CLAUDE_PLUGIN_ROOT}",
        "$CLAUDE_PLUGIN_ROOT",
    ),
    # `hooks` there is a path, several, or hooks inline; default files of a plugin are read by their place.
    unread_in=(
        Location("plugin", "plugin.json", "doc"),
        Location("plugin", ".github/plugin/plugin.json", "doc"),
    ),
    programs=("copilot",),
    home=("~/.copilot", "COPILOT_HOME"),
    gates=(
        Gate(
            ("",),
            ("disableAllHooks",),
            (True,),
            "the hooks of this file are switched off",
            "Take `disableAllHooks` out.",
            "doc",
        ),
        Gate(
            (".github/copilot/settings.json",),
            ("disableAllHooks",),
            (True,),
            "all hooks but those of a policy are switched off",
            "Take `disableAllHooks` out.",
            "doc",
        ),
    ),
    folder_trust=FolderTrust(
        "~/.copilot/config.json",
        (("trustedFolders",), ("trusted_folders",)),
        "Start `copilot` in this folder and trust it for later sessions; with -p, pass --trust-folder.",
        "trust",
        lifted=(("COPILOT_ALLOW_ALL", "true"), ("GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS", "true")),
    ),
    also_reads=(
        Location("project", ".claude/settings.json", "lab"),
        Location("local", ".claude/settings.local.json", "doc"),
    ),
    at_repository=True,
    # With --trust-folder it reads the start folder's own files, and none of the root's (lab).
    unsure_below=True,
    notes=(
        "Copilot CLI loads a repository's hooks only in a folder it trusts: with -p, pass --trust-folder.",
        "VS Code reads .github/hooks too, Copilot CLI also .claude/settings.json: a hook in both runs twice.",
    ),
    quirks=(
        Quirk(
            "CP14",
            "guards in .claude/settings.json are weaker here: `decision: block` ran the command, one of 65 s "
            "was given up after 31 s, one with a background child did not deny, and exit 2 loses its reason; "
            "so the bridge runs them as well, and `sync --adopt` makes it the only one",
            "lab",
        ),
        Quirk(
            "CP16",
            "`if` in .claude/settings.json is ignored: the hook runs on every call that its matcher is for",
            "lab",
        ),
        Quirk(
            "CP15",
            "no setting keeps .claude/settings.json from being read: `disableAllHooks` is for all hooks, "
            "`disabledHooks` is a user's list of hashes",
            "help",
        ),
        Quirk(
            "CP1",
            "any exit code but 0 denies on preToolUse, a missing script too; a timeout lets it run",
            "lab",
        ),
        Quirk(
            "CP2", "the reason of exit 2 is lost, and elsewhere than on preToolUse it does not block", "lab"
        ),
        Quirk("CP3", "answers are flat; hookSpecificOutput is read on PascalCase PreToolUse only", "lab"),
        Quirk("CP4", "a matcher that is `*`, empty or broken drops its hook, told in the log only", "lab"),
        Quirk("CP5", "permissionRequest calls create `edit` and an MCP tool `server/tool`", "lab"),
        Quirk("CP6", "`decision: block` blocks a prompt; the reference says the answer is dropped", "lab"),
        Quirk("CP7", "preMcpToolCall fires for hook files; the reference has it for SDKs only", "lab"),
        Quirk("CP8", "`bash` alone runs nothing on Windows, so `command` is written", "doc"),
        Quirk("CP9", "a general-purpose subagent fires subagentStart; the reference says it does not", "lab"),
        Quirk("CP10", "{{project_dir}} and {{plugin_data_dir}} are filled in for plugins' hooks only", "doc"),
        Quirk("CP11", "one bad entry of inline hooks in a settings file makes all of them go", "doc"),
        Quirk(
            "CP12",
            "in a folder of the repository, --trust-folder keeps the repository's hooks from being loaded, "
            "even where its root is in trustedFolders; without the flag that entry loads them",
            "lab",
        ),
        Quirk(
            "CP13",
            "of several hooks that add context on userPromptSubmitted only the last is heard; "
            "the bridge says all of it in one answer",
            "lab",
        ),
    ),
)
