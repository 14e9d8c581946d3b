"""goose: hooks/hooks.json of the plugins in .agents/plugins, and answers by exit code 2 or `block` alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta

from hookport.errors import Problem, spell_path
from hookport.findings import Finding, IgnoredMatcher, NeverRuns
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.dialect import (
    CLOSED_BRIDGE,
    ELSEWHERE,
    SECOND,
    DecodedManifest,
    Dialect,
    EventSpec,
    Field,
    Gate,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Path,
    Quirk,
    RefusedError,
    Shape,
    Timeout,
    Tree,
    WayAround,
    explain_missing,
    list_ways,
    name_tools,
)
from hookport.shapes.patterns import drop_patterns_unlike_rust, is_rust_pattern
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "lab": "measured on 1.52.0, November 2026: headless runs on Linux against a scripted model",
    "src": "names and messages in the program of 1.52.0",
    "issue": "aaif-goose/goose issues 9907 and 10596, 2026",
}

# A Rust regular expression, found anywhere in the name of the tool, the command, the path or the prompt.
MATCHING = Matching("regex", everything=("", ".*"), anchors=True, never=("*",))

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "lab", "tool"),
    EventSpec("PreToolUseResult", "", "observe", "lab", "tool", hears="nothing"),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool", hears="nothing"),
    EventSpec("PostToolUseFailure", "tool_use_failure", "observe", "lab", "tool", hears="nothing"),
    EventSpec("UserPromptSubmit", "before_prompt", "observe", "lab", "prompt", hears="nothing"),
    EventSpec("SessionStart", "session_start", "observe", "lab", hears="nothing"),
    EventSpec("SessionEnd", "session_end", "observe", "lab", hears="nothing"),
    EventSpec("Stop", "agent_stop", "retry", "lab"),
    # It stops nothing: the command runs whatever a hook says (GO9).
    EventSpec(
        "BeforeShellExecution",
        "before_tool_execute",
        "observe",
        "lab",
        "command",
        tools=("shell",),
        secondary=True,
        hears="nothing",
    ),
    EventSpec(
        "AfterShellExecution",
        "after_tool_execute",
        "observe",
        "lab",
        "command",
        tools=("shell",),
        secondary=True,
        hears="nothing",
    ),
    # No tool of goose's own sets it off, but one of an MCP server that is called read_file.
    EventSpec(
        "BeforeReadFile",
        "before_tool_execute",
        "observe",
        "lab",
        "path",
        tools=("file_read",),
        secondary=True,
        hears="nothing",
    ),
    EventSpec(
        "AfterFileEdit",
        "after_tool_execute",
        "observe",
        "lab",
        "path",
        tools=("file_write", "file_edit"),
        secondary=True,
        hears="nothing",
    ),
)

LACKS = explain_missing(
    EVENTS,
    "no such event among the 12 that fired",
    registry=30,
    subagent_start="no hook runs for a subagent, nor inside one (GO1)",
    subagent_stop="no hook runs for a subagent, nor inside one (GO1)",
    permission_request="whoever approves is asked before PreToolUse, and no hook is (GO15)",
    file_changed="AfterFileEdit fires for the agent's own edits only",
    file_created="AfterFileEdit fires for the agent's own edits only",
    file_saved="AfterFileEdit fires for the agent's own edits only",
)

# The tools offered to the model. Nothing built in reads, searches or fetches: that goes through the shell.
TOOLS = name_tools(
    "lab",
    # The second is there with the extension Code Mode, and no hook sees what its code calls (GO21).
    shell=("shell", "execute_typescript"),
    file_write="write",
    file_edit="edit",
    list="tree",
    agent="delegate",
    skill="load_skill",
)
WORDLESS = dict.fromkeys(
    (
        *("analyze", "read_image", "load", "extensionmanager__*", "apps__*"),
        *("list_functions", "get_function_details"),
    ),
    "lab",
)


# The wire of goose: a payload of its own. What is not marked otherwise was captured or measured on 1.52.0.

TOOL = {"tool": ["tool_name", "matcher_context"]}
KEYS_OF: dict[str, dict[str, Tree]] = {
    "PreToolUse": TOOL,
    "PreToolUseResult": TOOL,
    "PostToolUse": TOOL,
    "PostToolUseFailure": TOOL,
    "UserPromptSubmit": {"prompt": ["message", "matcher_context"]},
}

# stdout is not read with exit code 2, whose stderr reaches the model whole.
DENY: dict[str, Tree] = {"stderr": "$reason", "exit": 2, "alone": True}
ANSWERS: dict[str, Tree] = {
    # No ask, rewrite or context: a printed word that is unknown runs the tool, or blocks it with
    # `on_failure: block` (GO2, GO3). An allow is the same as silence, and lifts no question.
    "PreToolUse": {"deny": DENY},
    "Stop": {"deny": DENY},
    "*": {},
}
# `deny`, `ask` and Claude Code's form do nothing there (GO2); they are read for the deny that was meant.
READ: dict[str, Tree] = {
    "verdicts": [
        ("decision", {"block": "deny", "deny": "deny", "ask": "ask", "allow": "none", "approve": "none"}),
        ("hookSpecificOutput.permissionDecision", {"deny": "deny", "ask": "ask", "allow": "none"}),
    ],
    "reason": ["reason", "hookSpecificOutput.permissionDecisionReason"],
    "exits": {"2": "deny"},
    "json": "any",
}
# What goose itself obeys: exit code 2, and `decision: block` in an object that is alone on stdout, with any
# exit code. Whatever else is printed is a failure, which denies where the entry has `on_failure: block`.
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [("decision", {"block": "deny", "allow": "none"})],
    "reason": ["reason"],
    "wants": {"none": ["decision"]},
    "text": "failure",
}
OBEY_NOTHING: dict[str, Tree] = {**OBEY, "verdicts": [], "exits": {}, "wants": {}, "text": "ignored"}

# Its transcript, whose path is in no payload (measured, 1.52.0): rows that the user does not see are context.
TRANSCRIPT = {
    "form": "messages in a database",
    "of": "goose 1.52.0",
    "store": "database",
    "named": ("goose/sessions/sessions.db", "data/sessions/sessions.db"),
    "kept": (
        "$GOOSE_PATH_ROOT/data/sessions/sessions.db",
        "$XDG_DATA_HOME/goose/sessions/sessions.db",
        "~/.local/share/goose/sessions/sessions.db",
    ),
    "query": (
        "SELECT message_id AS id, role, content_json AS content, created_timestamp AS time,"
        " metadata_json AS metadata FROM messages WHERE session_id = :session"
        " ORDER BY messages.id DESC LIMIT :most"
    ),
    "time": "^time",
    "records": (
        {
            "where": {"role": "user", "metadata.userVisible": True},
            "each": "content",
            "rows": (
                {"of": {"type": "text"}, "kind": "user", "text": "text"},
                {
                    "of": {"type": "toolResponse"},
                    "kind": "result",
                    "id": "id",
                    "text": ("toolResult.value.content", "toolResult.error"),
                    "failed": ["toolResult.value.isError", "toolResult.status=error"],
                },
            ),
        },
        {
            "where": {"role": "assistant", "metadata.userVisible": True},
            "each": "content",
            "rows": (
                {
                    "of": {"type": "text"},
                    "kind": "assistant",
                    "text": "text",
                    "id": "^id",
                    "model": "^metadata.inference.requestedModel",
                    "usage": {
                        "input_tokens": "metadata.usage.inputTokens",
                        "output_tokens": "metadata.usage.outputTokens",
                    },
                },
                {
                    "of": {"type": "toolRequest"},
                    "kind": "call",
                    "id": "id",
                    "name": "toolCall.value.name",
                    "input": "toolCall.value.arguments",
                    "message": "^id",
                    "model": "^metadata.inference.requestedModel",
                },
            ),
        },
    ),
    "other": ({"metadata.userVisible": None},),
}

WIRE = Wire(
    transcript=(TRANSCRIPT,),
    obeys={
        "PreToolUse": {**OBEY, "closes": True},
        "Stop": OBEY,
        "*": OBEY_NOTHING,
    },
    keys={
        "event": "event",
        "session": "session_id",
        "cwd": "working_dir",
        "tool": "tool_name",
        "input": "tool_input",
        "call_id": "tool_call_id",
        "final_message": "last_assistant_message",
    },
    fixed={"session_id": "$session", "matcher_context": None},
    by_event=list_by_event(
        keys=KEYS_OF,
        fixed={
            native: {"tool_call_id": ""} for native in ("PreToolUse", "PostToolUse", "PostToolUseFailure")
        },
    ),
    inputs={
        "execute_typescript": {"command": "code"},
        "file_edit": {"old": "before", "new": "after"},
        "agent": {"prompt": "instructions"},
    },
    env={"PLUGIN_ROOT": "$package"},
    starts_in="root",
    marks=("event", "session_id", "matcher_context", "working_dir", "tool_call_id"),
    answers=ANSWERS,
    reads={"PreToolUse": READ, "Stop": READ, "*": {**READ, "exits": {}}},
    others=(
        *("analyze", "load", "apps__list_apps", "extensionmanager__search_available_extensions"),
        *("list_functions", "get_function_details"),
    ),
    lifts=False,
    # Eight times in a row; GOOSE_STOP_HOOK_BLOCK_CAP says otherwise.
    traits=("caps stops", "stops at deny"),
    precedence=-1,
)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of the files that goose loads; hooks that it never starts get a finding."""
    refusals = [problem for file, tree in trees.items() for problem in _find_refusals(file, tree)]
    if refusals:
        raise RefusedError(*refusals)
    decoded = BY_EVENT.decode(dialect, trees)
    dead = [finding for file, tree in trees.items() for finding in _find_dead(dialect, file, tree)]
    # A matcher on an event without a target is not ignored: the hook never runs.
    findings = [finding for finding in decoded.findings if finding.code != IgnoredMatcher.code]
    return decoded._replace(findings=(*findings, *dead))


def _iter_groups(tree: Tree) -> Iterator[tuple[EventSpec, Path, Mapping[str, Tree]]]:
    """Every rule of the events that goose knows."""
    events = tree.get("hooks") if isinstance(tree, Mapping) else None
    if not isinstance(events, Mapping):
        return
    for spec in EVENTS:
        groups = events.get(spec.native)
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            if isinstance(group, Mapping):
                yield spec, ("hooks", spec.native, number), group


def _iter_handlers(path: Path, group: Mapping[str, Tree]) -> Iterator[tuple[Path, Mapping[str, Tree]]]:
    handlers = group.get("hooks")
    for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
        if isinstance(handler, Mapping):
            yield (*path, "hooks", index), handler


def _find_refusals(file: str, tree: Tree) -> Iterator[Problem]:
    """What makes goose silently drop the whole file (GO6)."""
    for _, path, group in _iter_groups(tree):
        for place, handler in _iter_handlers(path, group):
            timeout = handler.get("timeout", 1)
            if isinstance(timeout, bool) or not isinstance(timeout, int) or timeout < 0:
                reason = f"must be a whole number of seconds, not {timeout!r}"
                yield Problem(f"{reason}; goose loads no hook of this file", (*place, "timeout"), file)
            answer = handler.get("on_failure", "allow")
            if answer not in ("allow", "block"):
                reason = f'must be "allow" or "block", not {answer!r}'
                yield Problem(f"{reason}; goose loads no hook of this file", (*place, "on_failure"), file)


def _find_dead(dialect: Dialect, file: str, tree: Tree) -> Iterator[Finding]:
    """Rules and handlers that goose loads and never starts (GO4, GO7)."""
    for spec, path, group in _iter_groups(tree):
        matcher = group.get("matcher") or ""
        reason, way = "", ""
        if matcher not in MATCHING.never and not is_rust_pattern(matcher):
            reason = f"the matcher '{matcher}' is not a Rust regular expression, so goose drops the rule"
            way = "Write it without look-around and references, or name the tools."
        elif matcher not in MATCHING.never and not spec.subject and not re.search(matcher, ""):
            # The text that it is tested against is empty there.
            reason, way = f"{spec.native} has nothing for the matcher '{matcher}'", "Leave the matcher out."
        for place, handler in _iter_handlers(path, group):
            why, hint = reason, way
            if not why and handler.get("timeout") == 0:
                why, hint = "its timeout is 0", "Give it a second or more."
            if why:
                where, words = spell_path(place), {"what": "this hook", "reason": why, "way": hint}
                yield NeverRuns.at(where, None, dialect=dialect.id, **words)._replace(file=file)


SETTINGS = (
    ".config/goose/settings.local.json",
    ".config/goose/settings.json",
    "~/.config/goose/settings.json",
)


def _switch_off(plugin: str, scope: str) -> Gate:
    """The lists of plugins that do not run: every file adds to them, the project's for the user's too."""
    way = f"Take `{plugin}` out of `disabledPlugins`."
    off = (plugin,)
    what = "their plugin is switched off"
    return Gate(SETTINGS, ("disabledPlugins",), off, what, way, "lab", (scope,), lists=True, stops="agent")


DIALECT = Dialect(
    id="goose",
    title="goose",
    kind="agent",
    facts="1.52.0",
    sources=SOURCES,
    markers={"AGENT_SESSION_ID": "lab"},
    # The reason of a deny is in the result that the model receives, which `goose run` prints.
    shows={"*": (("reason",), "lab")},
    locations=(
        Location("project", ".agents/plugins/hookport/hooks/hooks.json", "lab"),
        # Of two plugins of one name the project's alone runs (GO16).
        Location("user", "~/.agents/plugins/hookport-user/hooks/hooks.json", "lab"),
        Location("plugin", "hooks/hooks.json", "lab"),
    ),
    events=EVENTS,
    lacks=LACKS,
    awaits_children="lab",
    tools=TOOLS,
    wordless=WORDLESS,
    mcp=McpNames("", "__", "lab"),
    matching=MATCHING,
    handlers={
        "command": HandlerSpec(
            "command",
            {
                "command": "command",
                "timeout": "timeout",
                "on_failure": Field("on_failure", {"block": "block", "allow": ""}),
            },
            Timeout(SECOND, default=timedelta(seconds=30), whole=True, minimum=SECOND),
            required=("command",),
        ),
    },
    shape=Shape(decode, BY_EVENT.encode),
    wire=WIRE,
    obeys=("decision",),
    adjust=drop_patterns_unlike_rust("goose"),
    # A command starts in the folder that goose was started in, whose plugins alone it reads (GO5).
    commands_start="root",
    project_read="start",
    project_dir=(".",),
    package_dir=("${PLUGIN_ROOT}", "$PLUGIN_ROOT"),
    # Whatever stands in the plugin of another name was written for any host.
    other_places={
        "also read": (
            Location("project", ".agents/plugins/*/hooks/hooks.json", "lab"),
            Location("user", "~/.agents/plugins/*/hooks/hooks.json", "lab"),
        )
    },
    programs=("goose",),
    home=("~/.config/goose", ""),
    gates=(_switch_off("hookport", "project"), _switch_off("hookport-user", "user")),
    notes=(
        "goose reads the plugins of the folder that it is started in only, not of one above it.",
        "goose runs no hook inside a subagent; a guard must judge `delegate`, which starts one.",
    ),
    quirks=(
        Quirk(
            "GO2",
            "only exit code 2 and `decision: block` deny; `decision: deny` and Claude Code's form do not",
            "lab",
        ),
        Quirk(
            "GO3",
            "with `on_failure: block` everything printed but an allow or a block denies: `{}`, a banner, "
            "and Claude Code's allow too",
            "lab",
        ),
        Quirk(
            "GO22",
            "a hook that fails or is too slow runs the tool, but for `on_failure: block` on PreToolUse",
            "lab",
            at={CLOSED_BRIDGE: True},
        ),
        Quirk("GO4", "`*` is not a regular expression, so goose drops its rule", "lab"),
        Quirk("GO5", "of a project the plugins of the start folder alone are read", "lab"),
        Quirk("GO6", "one `timeout` or `on_failure` that it does not know drops the whole file", "lab"),
        Quirk("GO7", "a hook with timeout 0 is never started", "lab"),
        Quirk(
            "GO8",
            "a hook that is too slow is left running; one that leaves a process behind with its output open "
            "is too slow, whatever it answered",
            "lab",
        ),
        Quirk("GO9", "UserPromptSubmit and BeforeShellExecution stop nothing, whatever is answered", "lab"),
        Quirk("GO10", "no event has the output of a tool, nor the error of one that failed", "lab"),
        Quirk("GO11", "a shell command with another exit code than 0 is a PostToolUseFailure", "lab"),
        Quirk("GO12", "text beside the JSON loses the deny", "lab"),
        Quirk("GO13", "hooks in .agents/plugins of any folder run without a question of trust", "lab"),
        Quirk(
            "GO14",
            "beside a top-level `decision: allow` a deny in Claude Code's form runs the tool, with "
            "`on_failure: block` too",
            "lab",
        ),
        Quirk(
            "GO15",
            "with GOOSE_MODE=approve the person is asked before PreToolUse; headless the run ends there",
            "lab",
        ),
        Quirk("GO16", "of two plugins of one name the project's runs, and the user's does not", "lab"),
        Quirk(
            "GO17",
            "a project's settings switch a plugin of the user off too: `disabledPlugins` of "
            ".config/goose/settings.json and settings.local.json",
            "lab",
        ),
        Quirk("GO18", "`enabledPlugins`, and hooks that a manifest names, are not read", "lab"),
        Quirk("GO19", "the Stop hook that blocks is asked eight times in a row, then the turn ends", "lab"),
    ),
    ways_around=list_ways(
        WayAround(
            "sub-agents",
            "open",
            "GO1",
            "no hook runs inside a subagent; PreToolUse fires for `delegate`, which starts one, and a shell"
            " call in it ran unseen (issue 10596 says on purpose)",
            "lab",
        ),
        WayAround(
            "protocol",
            "none",
            "GO23",
            "started by `goose acp` in the session's folder, as in a terminal, hooks fire",
            "lab",
        ),
        WayAround(
            "protocol",
            "open",
            "GO20",
            "started by `goose acp` for an editor, it reads the plugins of the folder that the process "
            "started in, not of the session's; the user's are read",
            "lab",
            place=ELSEWHERE,
            events=(),
        ),
        WayAround(
            "code",
            "open",
            "GO21",
            "with the extension Code Mode, code calls tools and no hook sees these calls; PreToolUse fires "
            "for `execute_typescript`, so that guards on the shell are asked about the code",
            "lab",
            place="in calls that code makes (Code Mode)",
            native="execute_typescript",
        ),
        kinds=4,
    ),
)
