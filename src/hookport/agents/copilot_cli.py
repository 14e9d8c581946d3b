"""GitHub Copilot CLI: hook files in `.github/hooks`; an event's spelling decides the payload of its hooks."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from hookport.errors import Problem
from hookport.shapes import by_event
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
    RefusedError,
    Shape,
    Timeout,
    Tree,
    alias_tools,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.shapes.github_commands import normalise_commands
from hookport.shapes.transcripts import LOG
from hookport.wire.table import Wire, list_by_event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookport.shapes.dialect import Tree

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
# although the reference differs (lab).
CLAUDE = Matching("anchored", everything=("*", "**", ".*"), never=("",))

HANDLERS = ("command", "http")
# `decision: block` blocks a prompt and keeps the agent going, exit 2 is only a warning there (lab).
BLOCK = {"decision": "block", "reason": "{reason}"}
REFUSE = {"behavior": "deny", "message": "{reason}"}

TOOLS = (
    *name_tools(
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
    *name_tools("lab", file_write="apply_patch"),
)
CLAUDE_TOOLS = (
    *name_tools(
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
    *alias_tools("doc", agent="Task"),
)
# A permission is asked for under other names: creating a file is an `edit`, and reading is not asked for.
# Only shell, writing and MCP were seen to ask (lab, CP5).
PERMISSIONS = (
    *name_tools("lab", shell="bash", file_write="edit", file_edit="edit"),
    *name_tools("doc", shell="powershell", web_search="web_search", web_fetch="web_fetch"),
    *alias_tools(
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
    *name_tools("doc", shell="Bash", file_write=("Write", "Edit"), file_edit="Edit"),
    *name_tools("doc", web_search="WebSearch", web_fetch="WebFetch"),
    *alias_tools(
        "doc", file_read="Read", search="Grep", find="Glob", agent=("Agent", "Task"), todo="TodoWrite"
    ),
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
        exits="any",
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
        exits="none",
        hears="json",
    ),
    EventSpec("agentStop", "agent_stop", "retry", "lab", types=HANDLERS, deny_answer=BLOCK, exits="none"),
    EventSpec("subagentStart", "subagent_start", "observe", "lab", "agentName", types=HANDLERS),
    EventSpec(
        "subagentStop", "subagent_stop", "retry", "doc", types=HANDLERS, deny_answer=BLOCK, exits="none"
    ),
    EventSpec("sessionStart", "session_start", "observe", "lab", types=(*HANDLERS, "native"), hears="json"),
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
        exits="any",
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
    # The names that a matcher is tested against are not documented for this one, so it is written with both.
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
        exits="none",
    ),
    EventSpec(
        "Stop",
        "agent_stop",
        "retry",
        "lab",
        secondary=True,
        types=HANDLERS,
        deny_answer=BLOCK,
        exits="none",
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
        exits="none",
    ),
    EventSpec("SessionStart", "session_start", "observe", "lab", secondary=True, types=(*HANDLERS, "native")),
    EventSpec("SessionEnd", "session_end", "observe", "lab", secondary=True, types=HANDLERS),
    EventSpec("PreCompact", "before_compact", "observe", "doc", "trigger", secondary=True, types=HANDLERS),
    EventSpec(
        "Notification", "notification", "observe", "lab", "notification_type", secondary=True, types=HANDLERS
    ),
    EventSpec("ErrorOccurred", "error_occurred", "observe", "lab", secondary=True, types=HANDLERS),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 15 that fire",
    registry=30,
    before_model="userPromptTransformed can only rewrite the prompt",
)

# Whole seconds; whether a fraction is accepted is unknown.
WAIT = Timeout(SECOND, default=timedelta(seconds=30), whole=True)


# The wire of Copilot CLI: an event's spelling decides what its hooks are sent, answers are flat in both.
# Facts: measured on 1.0.102 (lab), the hooks reference of 2026-08-07 (doc). Names in camelCase stand for the
# protocol of its own, names in PascalCase for the one that looks like Claude Code's.

CAMEL = {
    "session": "sessionId",
    "timestamp": "timestamp:ms",
    "cwd": "cwd",
    "tool": "toolName",
    # An object, the text of a patch (lab), or an object as JSON text (doc: unknown; older versions).
    "input": "toolArgs:loose",
    "result": "toolResult",
    "error": "error",
    "prompt": "prompt",
    "stop_active": "stop_hook_active",
    "subagent": "agentType",
    "transcript": "transcriptPath",
    "agent_id": "agentId",
    "parent_agent": "parentAgentId",
}
SNAKE = {
    "event": "hook_event_name",
    "session": "session_id",
    "timestamp": "timestamp",
    "tool": "tool_name",
    "input": "tool_input:loose",
    "result": "tool_result",
    "subagent": "agent_type",
    "transcript": "transcript_path",
    "agent_id": "agent_id",
    "parent_agent": "parent_agent_id",
}
# The permission events have camelCase payloads under both names (lab).
PERMISSION = {"event": "hookName", "input": "toolInput", "suggestions": "permissionSuggestions"}
NOTIFICATION = {
    "event": "hook_event_name",
    "source": "notification_type",
    "message": "message",
    "title": "title",
}

KEYS_OF: dict[str, dict[str, Tree]] = {
    "sessionStart": {"source": "source", "prompt": "initialPrompt"},
    "sessionEnd": {"source": "reason"},
    "agentStop": {"source": "stopReason"},
    "preCompact": {"source": "trigger", "instructions": "customInstructions"},
    "errorOccurred": {"source": "errorContext", "error_message": "error.message"},
    "subagentStart": {"subagent": ["agentName", "agentType"]},
    "subagentStop": {
        "subagent": ["agentName", "agentType"],
        "final_message": "response",
        "source": "stopReason",
    },
    "preMcpToolCall": {
        "tool": None,
        "server": "serverName",
        "mcp_tool": "toolName",
        "input": "arguments",
        "call_id": "toolCallId",
    },
    "permissionRequest": PERMISSION,
    "notification": NOTIFICATION,
    "PermissionRequest": PERMISSION,
    "Notification": NOTIFICATION,
    # In camelCase but for its ids (lab).
    "SubagentStart": {
        "subagent": ["agentName", "agent_type"],
        "agent_id": "agent_id",
        "parent_agent": "parent_agent_id",
    },
    "SubagentStop": {
        **SNAKE,
        "subagent": ["agent_name", "agent_type"],
        "final_message": "last_assistant_message",
        "source": "stop_reason",
    },
    "SessionStart": {**SNAKE, "source": "source", "prompt": "initial_prompt"},
    "SessionEnd": {**SNAKE, "source": "reason"},
    "PreCompact": {**SNAKE, "source": "trigger", "instructions": "custom_instructions"},
    "ErrorOccurred": {**SNAKE, "source": "error_context", "error_message": "error.message"},
    "PreToolUse": SNAKE,
    "PostToolUse": SNAKE,
    "PostToolUseFailure": SNAKE,
    "UserPromptSubmit": SNAKE,
    "Stop": {**SNAKE, "source": "stop_reason"},
}

# A session that begins is `new` (lab; the reference also has `startup`), one that ends is `complete`, or
# ended by its user (doc).
WORDS: dict[str, dict[str, Tree]] = {
    "session_start": {"startup": ["new", "startup"]},
    "session_end": {"prompt_input_exit": "user_exit"},
}

# Payloads in camelCase do not name their event (lab; subagentStop and errorOccurred: doc).
TELLS = {
    "preToolUse": ("toolName", "toolArgs"),
    "postToolUse": ("toolName", "toolArgs", "toolResult"),
    "postToolUseFailure": ("toolName", "toolArgs", "error"),
    "preMcpToolCall": ("toolName", "serverName", "arguments"),
    "userPromptSubmitted": ("sessionId", "prompt"),
    "userPromptTransformed": ("sessionId", "prompt", "transformedPrompt"),
    "agentStop": ("transcriptPath", "stopReason", "stop_hook_active"),
    "subagentStart": ("transcriptPath", "agentName"),
    "SubagentStart": ("transcriptPath", "agentName", "agent_id"),
    "subagentStop": ("transcriptPath", "agentName", "agentType", "stopReason"),
    "sessionStart": ("sessionId", "source"),
    "sessionEnd": ("sessionId", "reason"),
    "preCompact": ("transcriptPath", "trigger"),
    "errorOccurred": ("error", "errorContext"),
}

# For the events of agents that have no session.
SESSION = {"sessionId": "$session"}


def decide_flat(verdict: str, **more: Tree) -> dict[str, Tree]:
    """The piece that decides on a tool call: flat, which works under both names (lab b', q3)."""
    return {"json": {"permissionDecision": verdict, "permissionDecisionReason": "$reason"}, **more}


BLOCK_ANSWER = {"json": {"decision": "block", "reason": "$reason"}}
# Inside hookSpecificOutput it is dropped nearly everywhere (lab g, CP3).
CONTEXT = {"json": {"additionalContext": "$context"}}
NATIVE_REWRITE = {"json": {"modifiedArgs": "$input"}}
# With an allow and without one, which lifts no question (lab c; 1.0.102, 2026-11-16).
CLAUDE_REWRITE = {"json": {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": "$input"}}}

PRE_TOOL = {
    # The exit code denies by itself, the reason is taken from flat JSON beside it (lab a, a3; CP2).
    "deny": decide_flat("deny", exit=2),
    "ask": decide_flat("ask"),
    "allow": decide_flat("allow"),
    "context": CONTEXT,
}

# There is no `continue` and no `systemMessage` anywhere (lab b3, doc), and exit 2 blocks nothing after
# PreToolUse (lab g4, h2).
ANSWERS: dict[str, dict[str, Tree]] = {
    "preToolUse": {**PRE_TOOL, "rewrite": NATIVE_REWRITE},
    "PreToolUse": {**PRE_TOOL, "rewrite": CLAUDE_REWRITE},
    "permission_request": {
        "deny": {"json": {"behavior": "deny", "message": "$reason"}},
        "allow": {"json": {"behavior": "allow"}},
    },
    "after_tool_execute": {
        "deny": BLOCK_ANSWER,
        "context": CONTEXT,
        "result": {"json": {"modifiedResult": {"resultType": "success", "textResultForLlm": "$result"}}},
    },
    "tool_use_failure": {"context": CONTEXT},
    "before_prompt": {"deny": BLOCK_ANSWER, "context": CONTEXT},
    "agent_stop": {"deny": BLOCK_ANSWER},
    "subagent_stop": {"deny": BLOCK_ANSWER},
    "session_start": {"context": CONTEXT},
    "subagent_start": {"context": CONTEXT},
    "notification": {"context": CONTEXT},
    "*": {},
}

# A deny that was meant for another agent is a deny; what would allow there means nothing here.
FLAT = ("permissionDecision", {"allow": "allow", "deny": "deny", "ask": "ask"})
NESTED = "hookSpecificOutput.permissionDecision"
BLOCKED = ("decision", {"block": "deny", "deny": "deny", "ask": "ask", "allow": "none", "approve": "none"})
READ: dict[str, Tree] = {
    "verdicts": [BLOCKED],
    "reason": ["reason"],
    "context": ["additionalContext"],
    "result": ["modifiedResult.textResultForLlm"],
    "json": "any",
    "text": "ignored",
}
READ_NATIVE: dict[str, Tree] = {
    **READ,
    "verdicts": [FLAT, (NESTED, {"deny": "deny", "ask": "ask", "allow": "none"}), BLOCKED],
    "reason": ["permissionDecisionReason", "hookSpecificOutput.permissionDecisionReason", "reason"],
    "input": ["modifiedArgs"],
    # Any exit code but 0 denies (lab d, CP1).
    "exits": {"+": "deny"},
}
READS = {
    "preToolUse": READ_NATIVE,
    "PreToolUse": {
        **READ_NATIVE,
        "verdicts": [FLAT, (NESTED, FLAT[1]), BLOCKED],
        "context": ["additionalContext", "hookSpecificOutput.additionalContext"],
        "input": ["modifiedArgs", "hookSpecificOutput.updatedInput"],
    },
    "permission_request": {
        **READ,
        "verdicts": [("behavior", {"allow": "allow", "deny": "deny"}), BLOCKED],
        "reason": ["message", "reason"],
        "exits": {"2": "deny"},
    },
    "*": READ,
}

# What Copilot itself obeys (lab): flat JSON alone on stdout, no `decision: block` before a tool (b2), the
# nested form under the PascalCase name only (b), every exit code but 0 before a tool (d) and none elsewhere.
OBEY: dict[str, Tree] = {**READ, "verdicts": [], "json": "zero"}
OBEY_BLOCK = {**OBEY, "verdicts": [("decision", {"block": "deny"})]}
OBEY_NATIVE: dict[str, Tree] = {
    **OBEY,
    "verdicts": [FLAT],
    "reason": ["permissionDecisionReason"],
    "input": ["modifiedArgs"],
    "exits": {"+": "deny"},
    "json": "any",
}
OBEYS: dict[str, dict[str, Tree]] = {
    "preToolUse": OBEY_NATIVE,
    "PreToolUse": {
        **OBEY_NATIVE,
        "verdicts": [FLAT, (NESTED, FLAT[1])],
        "reason": ["permissionDecisionReason", "hookSpecificOutput.permissionDecisionReason"],
        "context": ["additionalContext", "hookSpecificOutput.additionalContext"],
        "input": ["modifiedArgs", "hookSpecificOutput.updatedInput"],
    },
    # (doc) exit code 2 denies too.
    "permission_request": {
        **OBEY,
        "verdicts": [("behavior", {"allow": "allow", "deny": "deny"})],
        "reason": ["message"],
        "exits": {"2": "deny"},
    },
    "before_prompt": OBEY_BLOCK,
    "after_tool_execute": OBEY_BLOCK,
    "agent_stop": OBEY_BLOCK,
    "subagent_stop": OBEY_BLOCK,
    "*": OBEY,
}

# What is asked for has the names of the permission service: another field for the path, `/` in MCP (CP5).
ASKED = {"inputs": {"edit": {"path": "file_path"}, "Edit": {"path": "file_path"}}, "mcp": ("", "/", "", 0)}

# Its transcript (measured, 1.0.102). The path is in some payloads only; the last answer is in the file some
# 300 ms after a stop hook has started.
TRANSCRIPT = {
    **LOG,
    "of": "Copilot CLI 1.0.102",
    "named": ("session-state/*/events.jsonl",),
    "kept": (
        "$COPILOT_HOME/session-state/{session}/events.jsonl",
        "~/.copilot/session-state/{session}/events.jsonl",
    ),
    "late": 1.0,
}

WIRE = Wire(
    keys=CAMEL,
    by_event=list_by_event(
        keys=KEYS_OF,
        fixed={
            **dict.fromkeys(TELLS, SESSION),
            "agentStop": {**SESSION, "transcriptPath": "", "stopReason": "end_turn"},
            "Stop": {"transcript_path": "", "stop_reason": "end_turn"},
            "permissionRequest": {"permissionSuggestions": []},
            "PermissionRequest": {"permissionSuggestions": []},
        },
        view={
            "permissionRequest": ASKED,
            "PermissionRequest": ASKED,
            "PostToolUse": {"results": {"*": {"result_type": "success", "text_result_for_llm": "$text"}}},
        },
    ),
    words=WORDS,
    transcript=(TRANSCRIPT,),
    said={"PermissionRequest": "permissionRequest", "notification": "Notification"},
    tells=TELLS,
    inputs={
        "file_write": {"content": "file_text"},
        "file_edit": {"old": "old_str", "new": "new_str"},
        # Its `command` names the action and is no shell command.
        "str_replace_editor": {
            "action": "command",
            "content": "file_text",
            "old": "old_str",
            "new": "new_str",
        },
        "edits": {"old": "old_str", "new": "new_str"},
    },
    patches={"apply_patch": ""},
    texts=("textResultForLlm", "text_result_for_llm"),
    results={"*": {"resultType": "success", "textResultForLlm": "$text"}},
    env={
        "COPILOT_CLI": "1",
        "COPILOT_PROJECT_DIR": "$root",
        "CLAUDE_PROJECT_DIR": "$root",
        "PLUGIN_ROOT": "$package",
        "COPILOT_PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_DATA": "$data",
    },
    marks=("sessionId", "transcriptPath=.copilot/", "transcript_path=.copilot/", "tool_result", "timestamp"),
    answers=ANSWERS,
    reads=READS,
    obeys=OBEYS,
    # `modifiedPrompt`, `handled` and `responseContent` were measured, the others are documented.
    extras={
        "permission_request": {"interrupt@deny": "interrupt"},
        "userPromptSubmitted": {
            "prompt": "modifiedPrompt",
            "handled": "handled",
            "response": "responseContent",
        },
        "userPromptTransformed": {"prompt": "modifiedTransformedPrompt"},
        "subagent_stop": {"response": "modifiedResponse"},
    },
    # It ended a stop hook that always blocks after eight blocks, and ran no hook after one that denied (lab).
    traits=("caps stops", "stops at deny"),
)


def prepare(native: str, entry: Mapping[str, Tree]) -> tuple[Mapping[str, Tree], str]:
    """The entry with one command for Unix and one for Windows, and why Copilot CLI never runs it, if so."""
    type_ = entry.get("type", "command")
    if type_ == "prompt" and native.lower() != "sessionstart":
        return entry, "it accepts a prompt on sessionStart only"
    if type_ == "http" and not _calls_url(native, entry):
        return entry, f"the URL '{entry.get('url', '')}' must be https"
    return (normalise_commands(entry) if type_ == "command" else entry), ""


def _calls_url(native: str, entry: Mapping[str, Tree]) -> bool:
    """Whether Copilot CLI calls the URL: https, or this machine where nothing is decided (doc)."""
    url = str(entry.get("url", ""))
    local = url.startswith(("http://localhost", "http://127.0.0.1", "http://[::1]"))
    guards = native.lower() in ("pretooluse", "permissionrequest") or "allowedEnvVars" in entry
    return url.startswith("https://") or (local and not guards)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of the files; a file that switches itself off has its hooks switched off."""
    problems = [
        Problem("must be 1; Copilot CLI rejects the whole file", ("version",), file)
        for file, tree in trees.items()
        if isinstance(tree, dict) and "version" in tree and (tree["version"] != 1 or tree["version"] is True)
    ]
    if problems:
        raise RefusedError(*problems)
    decoded = by_event.decode(dialect, trees)
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
    shape=Shape(decode, by_event.encode, forms=("flat", "nested"), root_keys={"version": 1}, prepare=prepare),
    wire=WIRE,
    obeys=("flat",),
    deny_reason="lost",
    deny_answer={"permissionDecision": "deny", "permissionDecisionReason": "{reason}"},
    project_dir=spell_root("COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    package_dir=(
        "${PLUGIN_ROOT}",
        "$PLUGIN_ROOT",
        "${COPILOT_PLUGIN_ROOT}",
        "$COPILOT_PLUGIN_ROOT",
        "${CLAUDE_PLUGIN_ROOT}",
        "$CLAUDE_PLUGIN_ROOT",
    ),
    # `hooks` there is a path, several, or hooks inline; default files of a plugin are read by their place.
    programs=("copilot",),
    home=("~/.copilot", "COPILOT_HOME"),
    gates=(
        Gate(
            ("",),
            ("disableAllHooks",),
            (True,),
            "the hooks of this file are switched off",
            "Remove `disableAllHooks`.",
            "doc",
        ),
        Gate(
            (".github/copilot/settings.json",),
            ("disableAllHooks",),
            (True,),
            "all hooks except a policy's are switched off",
            "Remove `disableAllHooks`.",
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
    other_places={
        "unread": (
            Location("plugin", "plugin.json", "doc"),
            Location("plugin", ".github/plugin/plugin.json", "doc"),
        ),
        "also read": (
            Location("project", ".claude/settings.json", "lab"),
            Location("local", ".claude/settings.local.json", "doc"),
        ),
    },
    # With --trust-folder it reads the start folder's own files, and none of the root's (lab).
    project_read="unsure",
    notes=(
        "Copilot CLI loads a repository's hooks only in a folder it trusts: with -p, pass --trust-folder.",
        "VS Code reads .github/hooks too, Copilot CLI also .claude/settings.json: a hook in both runs twice.",
    ),
    quirks=(
        Quirk(
            "CP14",
            "guards in .claude/settings.json are weaker here: `decision: block` ran the command, one of 65 s "
            "timed out after 31 s, one with a background child did not deny, and exit 2 loses its reason; "
            "so the bridge runs them too, and `sync --adopt` makes it the only runner",
            "lab",
        ),
        Quirk(
            "CP16",
            "`if` in .claude/settings.json is ignored: the hook runs on every call that its matcher matches",
            "lab",
        ),
        Quirk(
            "CP15",
            "no setting stops it from reading .claude/settings.json: `disableAllHooks` is for all hooks, "
            "`disabledHooks` is a user's list of hashes",
            "help",
        ),
        Quirk(
            "CP1",
            "any exit code except 0 denies on preToolUse, even a missing script; a timeout lets it run",
            "lab",
        ),
        Quirk("CP2", "the reason of exit 2 is lost, and only on preToolUse does it block", "lab"),
        Quirk("CP3", "answers are flat; hookSpecificOutput is read on PascalCase PreToolUse only", "lab"),
        Quirk("CP4", "a matcher that is `*`, empty or broken drops its hook; only the log reports it", "lab"),
        Quirk("CP5", "permissionRequest calls create `edit` and an MCP tool `server/tool`", "lab"),
        Quirk("CP6", "`decision: block` blocks a prompt; the reference says the answer is dropped", "lab"),
        Quirk("CP7", "preMcpToolCall fires for hook files; the reference has it for SDKs only", "lab"),
        Quirk("CP8", "`bash` alone runs nothing on Windows, so `command` is written", "doc"),
        Quirk("CP9", "a general-purpose subagent fires subagentStart; the reference says it does not", "lab"),
        Quirk("CP10", "{{project_dir}} and {{plugin_data_dir}} are filled in for plugins' hooks only", "doc"),
        Quirk("CP11", "one bad entry of inline hooks in a settings file drops all of them", "doc"),
        Quirk(
            "CP12",
            "in a folder of the repository, --trust-folder prevents loading the repository's hooks, "
            "even where its root is in trustedFolders; without the flag that entry loads them",
            "lab",
        ),
        Quirk(
            "CP13",
            "of several hooks that add context on userPromptSubmitted only the last counts; "
            "the bridge sends all of it in one answer",
            "lab",
        ),
    ),
    ways_around=list_ways(kinds=4, none={"sub-agents": "lab", "protocol": "lab"}),
)
