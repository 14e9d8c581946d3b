"""Augment: the hooks of Auggie's settings files, which Augment's editor extensions read in part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta

from hookport.errors import spell_path
from hookport.findings import Finding, MatcherDropped, NeverRuns
from hookport.model.hooks import Hook
from hookport.shapes import claude_wire as claude
from hookport.shapes.by_event import SPLIT_BY_EVENT
from hookport.shapes.claude_wire import CONTEXT, EXIT, MESSAGE, SUPPRESS, nest_fields
from hookport.shapes.dialect import (
    MILLISECOND,
    DecodedManifest,
    Dialect,
    EventSpec,
    Field,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Quirk,
    Shape,
    Timeout,
    Tree,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.shapes.patterns import is_pattern
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "env": "the agents of unjs/std-env, as in jiti 2.x of November 2026; not measured",
    "doc": "docs.augmentcode.com/cli/hooks, autumn 2026",
    "lab": "measured on 0.36.0 with `auggie --print`, November 2026",
    "repo": "augmentcode/auggie at 2026-06-25: CHANGELOG to 0.31.0, plugin_marketplace/warp",
    "src": "@augmentcode/auggie 0.36.0: augment.mjs, how a hook's command is started, November 2026",
    "table": "third-party tables of 2026, not verified",
}

# Found anywhere in a name (lab), so names are anchored; `*` is no expression and costs the others their run.
REGEX = Matching("regex", everything=("", ".*"), anchors=True, never=("*",))
# Valid in Python and not in JavaScript, or something else there.
PYTHON_ONLY = re.compile(r"\(\?(?:P|#|>|\(|[aiLmsux]+[):-])|\\[AZ]|[*+?}]\+")

PRINT = "the interactive Auggie, not `auggie --print` (AU3)"

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "lab", "tool", rewrites=True),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool"),
    # Auggie does not wait for it, so it can neither block nor add context (AU2).
    EventSpec("PromptSubmit", "before_prompt", "observe", "lab", hears="nothing", since="0.27.0"),
    # Context is documented, and was not seen by the model (AU4).
    EventSpec("SessionStart", "session_start", "observe", "lab", hears="nothing"),
    EventSpec("SessionEnd", "session_end", "observe", "lab"),
    EventSpec("Stop", "agent_stop", "retry", "doc", partly=PRINT, exits="none"),
    EventSpec("Notification", "notification", "observe", "repo", unfired="with `--print` (lab)"),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 7 that are known",
    registry=30,
    error_occurred="Stop fires, with the cause error",
    subagent_start="only the tool events of a subagent fire",
    subagent_stop="only the tool events of a subagent fire",
    file_created="PostToolUse reports it in file_changes",
    file_saved="PostToolUse reports it in file_changes",
    file_deleted="PostToolUse reports it in file_changes",
    tool_use_failure="PostToolUse fires after a failure too, with tool_error",
    interrupted="Stop does not fire on an interrupt, and no other event does",
)


# The wire of Augment: Claude's answers, of which it obeys few, and payloads without a folder or call ids.
# What is not marked otherwise was captured or measured on Auggie 0.36.0 with `--print`.

KEYS: dict[str, Tree] = {
    "event": "hook_event_name",
    "session": "conversation_id",
    "cwd": "workspace_roots:list",
    "root": "workspace_roots:list",
    "tool": "tool_name",
    "input": "tool_input",
    # Both are documented; the second is sent where an entry asks for it.
    "server": ("mcp_server_name", "mcp_metadata.mcpExecutedToolServerName"),
    "is_mcp": "is_mcp_tool",
    # Sent where an entry asks for it (doc).
    "model": "context.modelName",
}
KEYS_OF: dict[str, dict[str, Tree]] = {
    # Before the call the result is there too, as the text `[undefined]` (AU10).
    "PostToolUse": {"result": "tool_output", "error": "tool_error"},
    "PromptSubmit": {"prompt": "user_prompt"},
    "Stop": {
        "source": "agent_stop_cause",
        "prompt": ("conversation.userPrompt", "_exchange.exchange.request_message"),
        "turn": "_exchange.exchange.request_id",
        # The first is documented and sent where an entry asks for it, the second was captured.
        "final_message": ("conversation.agentTextResponse", "_exchange.exchange.response_text"),
    },
    "Notification": {"source": "notification_type", "message": "notification_message"},
}
WORDS: dict[str, dict[str, Tree]] = {"agent_stop": {"max_steps": "max_iterations"}}

INPUTS: dict[str, Tree] = {
    "write-process": {"command": "input_text"},
    "file_write": {"content": "file_content"},
    "file_edit": {"old": "old_str_1", "new": "new_str_1", "edits": "edits"},
    "edits": {"old": "old_str", "new": "new_str"},
    "codebase-retrieval": {"pattern": "information_request"},
    "grep-search": {"pattern": "query"},
}

SAYS = {"message": MESSAGE, "suppress": SUPPRESS}
# JSON is read with exit code 0 only, and other output around it cancels it; the exit code holds.
DENY = {**EXIT, "alone": True}

ANSWERS: dict[str, Tree] = {
    # No ask, which lets the tool run (AU1); no allow, which is documented for later; no context, which is not
    # passed on; no halt, which does not end the agent (AU6). Whether a rewrite is merged was not measured, so
    # it is whole.
    "PreToolUse": {**SAYS, "deny": DENY, "rewrite": nest_fields(updatedInput="$input")},
    # A block is not seen here, stderr is added to the result.
    "PostToolUse": {**SAYS, "deny": DENY, "context": CONTEXT},
    # Documented, and not seen by the model (AU4).
    "SessionStart": {**SAYS, "context": CONTEXT},
    # Documented for the interactive Auggie (AU3).
    "Stop": {**SAYS, "deny": nest_fields(decision="block", reason="$reason")},
    "PromptSubmit": {},
    "*": SAYS,
}

DENIES = {"deny": "deny", "block": "deny", "ask": "ask", "allow": None, "approve": None}
# Forms that Augment ignores are read as the intended deny.
READ: dict[str, Tree] = {
    **claude.READ,
    "verdicts": [
        ("hookSpecificOutput.permissionDecision", DENIES),
        ("hookSpecificOutput.decision", DENIES),
        ("decision", DENIES),
        ("permissionDecision", DENIES),
    ],
    "reason": [*claude.READ["reason"], "hookSpecificOutput.reason"],
    "result": [],
    "text": "message",
}
# `continue: false` is a deny of this call (AU6).
HALTS = ("continue", {"False": "deny", "True": None})

# What Auggie itself obeys (lab): JSON with exit code 0 only (b6), alone on stdout (b7), with `hookEventName`
# (b5), a deny and no other word (b2, b9, k), `continue: false` (b3), exit code 2. Nothing but text and
# stderr counts after a tool (l), and nothing at all elsewhere with `--print` (g3, g4, h).
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [HALTS, ("hookSpecificOutput.permissionDecision", {"deny": "deny", "allow": "none"})],
    "reason": ["hookSpecificOutput.permissionDecisionReason", "stopReason"],
    "halt": [],
    "named": "all",
    "json": "zero",
}
OBEY_NOTHING = {**OBEY, "verdicts": [], "exits": {}}

WIRE: Wire = Wire(
    obeys={"PreToolUse": OBEY, "PostToolUse": {**OBEY, "verdicts": []}, "*": OBEY_NOTHING},
    keys=KEYS,
    by_event=list_by_event(
        keys=KEYS_OF,
        fixed={
            "PreToolUse": {"is_mcp_tool": "$is_mcp"},
            "PostToolUse": {"is_mcp_tool": "$is_mcp"},
            "Stop": {"agent_stop_cause": "end_turn"},
        },
    ),
    words=WORDS,
    inputs=INPUTS,
    numbered=("str-replace-editor",),
    fixed={"conversation_id": "$session", "workspace_roots": ["$root"]},
    env={
        "AUGMENT_PROJECT_DIR": "$root",
        "AUGMENT_CONVERSATION_ID": "$session",
        "AUGMENT_HOOK_EVENT": "$event",
        "AUGMENT_TOOL_NAME": "$tool",
        "AUGMENT_PLUGIN_ROOT": "$package",
        # (doc) Other names for the same.
        "AUGGIE_PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_ROOT": "$package",
    },
    marks=("is_mcp_tool", "agent_stop_cause", "user_prompt", "conversation_id", "workspace_roots"),
    answers=ANSWERS,
    # The documentation's example gives the changed field only.
    merges=("*",),
    reads={
        "PreToolUse": {**READ, "verdicts": [HALTS, *READ["verdicts"]], "halt": []},
        "SessionStart": {**READ, "text": "context"},
        "*": READ,
    },
    lifts=False,
)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of the files, with a finding if one matcher prevents all hooks of an event from running."""
    decoded = SPLIT_BY_EVENT.decode(dialect, trees)
    dead = [finding for file, tree in trees.items() for finding in _find_dead(dialect, file, tree)]
    return decoded._replace(findings=(*decoded.findings, *dead))


def _find_dead(dialect: Dialect, file: str, tree: Mapping[str, Tree]) -> Iterator[Finding]:
    events = tree.get("hooks")
    for spec in dialect.events:
        groups = events.get(spec.native) if spec.subject and isinstance(events, Mapping) else None
        for number, group in enumerate(groups or ()):
            matcher = group.get("matcher", "")
            if matcher in ("", "mcp:*") or is_pattern(matcher.removeprefix("mcp:").replace("(?<", "(?P<")):
                continue
            if re.search(r"\(\?<[=!]", matcher):  # looking behind, of which Python takes less
                continue
            yield NeverRuns.at(
                spell_path(("hooks", spec.native, number, "matcher")),
                dialect=dialect.id,
                what=f"any hook on {spec.native} of this file",
                reason=f"'{matcher}' is not a valid regular expression (AU5)",
                way="Remove the matcher to match every tool." if matcher == "*" else "Correct it.",
            )._replace(file=file)


# Our own commands in a settings file, as `hookport sync` and `convert` write them.
BRIDGE_CALL = re.compile(r"\b(?:dispatch|wrap [\w-]+) augment\b")
# The fields that the bridge needs beyond the usual payload; Augment sends them only on request.
METADATA_OF = {
    "before_tool_execute": {"includeMCPMetadata": True},
    "after_tool_execute": {"includeMCPMetadata": True},
    "agent_stop": {"includeConversationData": True},
}


def adjust(hooks: list[Hook]) -> tuple[list[Hook], list[Finding]]:
    """Remove what Auggie cannot read; request the payload fields that bridged hooks need."""
    findings: list[Finding] = []
    adjusted: list[Hook] = []
    for number, hook in enumerate(hooks):
        foreign = [term.value for term in hook.matcher if PYTHON_ONLY.search(term.value)]
        changed = hook
        if foreign:
            findings.append(MatcherDropped.at("", number, target=DIALECT.id, matcher=foreign[0]))
            changed = changed._replace(matcher=())
        if BRIDGE_CALL.search(hook.handler.command):
            # Auggie fills in `${NAME}` itself, and knows none of another agent's variables (AU7).
            command = re.sub(r"\$\{(\w+)\}(?!\w)", r"$\1", hook.handler.command)
            changed = changed._replace(handler=hook.handler._replace(command=command))
            metadata = METADATA_OF.get(hook.event)
            if metadata and DIALECT.id not in hook.provider_data:
                data = {**hook.provider_data, DIALECT.id: {"group": {"metadata": metadata}}}
                changed = changed._replace(provider_data=data)
        adjusted.append(changed)
    return adjusted, findings


DIALECT = Dialect(
    id="augment",
    title="Augment",
    kind="agent",
    facts="Auggie 0.36.0",
    sources=SOURCES,
    shows={"*": (("message", "reason"), "doc")},
    markers={"AUGMENT_AGENT": "env"},
    locations=(
        Location("project", ".augment/settings.json", "lab"),
        Location("local", ".augment/settings.local.json", "lab"),
        Location("user", "~/.augment/settings.json", "lab"),
        Location("plugin", "hooks/hooks.json", "repo"),
        Location("system", "/etc/augment/settings.json", "doc"),
        Location("system", r"C:\ProgramData\Augment\settings.json", "doc"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=(
        *name_tools("lab", shell="launch-process", file_read="view", file_write="save-file"),
        # Input to a running process may also be a command.
        *name_tools("table", shell="write-process", search="grep-search"),
        *name_tools(
            "doc",
            file_edit="str-replace-editor",
            search="codebase-retrieval",
            web_search="web-search",
            web_fetch="web-fetch",
        ),
        *name_tools("repo", ask_user="ask-user"),
    ),
    wordless=dict.fromkeys(("read-process", "kill-process", "list-processes", "remove-files"), "table"),
    mcp=McpNames("mcp:", "_", "doc", server_last=True),
    matching=REGEX,
    handlers={
        "command": HandlerSpec(
            "command",
            {
                "command": "command",
                "args": Field("args", read_only=True),
                "timeout": "timeout",
            },
            Timeout(MILLISECOND, default=timedelta(seconds=60), whole=True, minimum=MILLISECOND),
            required=("command",),
        ),
    },
    shape=Shape(decode, SPLIT_BY_EVENT.encode, merges=True),
    wire=WIRE,
    obeys=("nested",),
    # Where hooks are started is not documented, and all its examples name absolute paths.
    commands_start="moving",
    adjust=adjust,
    project_dir=spell_root("AUGMENT_PROJECT_DIR"),
    package_dir=("${AUGMENT_PLUGIN_ROOT}", "${AUGGIE_PLUGIN_ROOT}", "${CLAUDE_PLUGIN_ROOT}"),
    programs=("auggie",),
    notes=(
        "Auggie reads hooks when it starts; `/hooks` lists them.",
        "Auggie runs hooks only if Augment's service has enabled them for the account.",
        "Augment for VS Code and IntelliJ reads the hooks of ~/.augment/settings.json, not of a project.",
    ),
    quirks=(
        Quirk(
            "AU1",
            "`ask` lets the tool run, and so does a printed deny with another exit code than 0 or 2",
            "lab",
        ),
        Quirk("AU2", "Auggie does not wait for PromptSubmit: the first tool runs while its hook runs", "lab"),
        Quirk("AU3", "with `--print` a block on Stop is ignored, even by exit code 2", "lab"),
        Quirk("AU4", "the model does not see the context of SessionStart, although documented", "lab"),
        Quirk(
            "AU5",
            "one invalid matcher, such as `*`, drops all hooks of that event in the file",
            "lab",
        ),
        Quirk("AU6", "`continue: false` blocks one tool call, and the agent continues", "lab"),
        Quirk(
            "AU7",
            "`${NAME}` and `${NAME:-text}` in a command are filled in before AUGMENT_PROJECT_DIR is set; "
            "`$NAME` and `${NAME-text}` are left to the shell",
            "src",
        ),
        Quirk("AU8", "documented as the path of a .sh file, a command may be any shell command", "lab"),
        Quirk("AU9", "timeouts are milliseconds, and a hook that takes longer lets the tool run", "lab"),
        Quirk("AU10", "missing values are sent as the text `[undefined]`", "lab"),
        Quirk("AU11", "hooks inherit AUGMENT_SESSION_AUTH, the session's secret, if it is set", "lab"),
    ),
    ways_around=list_ways(kinds=4),
)
