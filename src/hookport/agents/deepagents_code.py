"""Deep Agents Code: Claude Code's hooks in .deepagents/hooks.json, read with stricter rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from hookport.errors import spell_path
from hookport.findings import Finding, IgnoredMatcher, NeverRuns
from hookport.shapes import claude_wire as claude
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.claude_wire import BLOCK, CONTEXT, HALT, decide_permission, nest_fields
from hookport.shapes.dialect import (
    SECOND,
    DecodedManifest,
    Dialect,
    EventSpec,
    FolderTrust,
    HandlerSpec,
    Location,
    Matching,
    McpNames,
    Path,
    Quirk,
    Timeout,
    Tree,
    WayAround,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.shapes.patterns import is_pattern
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "lab": "measured on 0.1.88, November 2026: headless runs (`dcode -n`) on Linux against a scripted model",
    "src": "deepagents_code/hooks and deepagents_code/acp.py of 0.1.88",
}

# A matcher of these characters only is a list of exact names; anything else is a Python regular expression
# found anywhere (src, lab).
NAMES = Matching("names", plain=r"[A-Za-z0-9_\- ,|]", separators="|,")

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "lab", "tool"),
    EventSpec("PermissionRequest", "permission_request", "prevent", "lab", "tool", hears="nothing"),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "lab", "tool", hears="json"),
    EventSpec("PostToolUseFailure", "tool_use_failure", "observe", "lab", "tool", hears="json"),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "lab", default_timeout=timedelta(seconds=30)),
    EventSpec("SessionStart", "session_start", "observe", "lab", "source"),
    EventSpec("SessionEnd", "session_end", "observe", "lab", "reason", hears="nothing"),
    EventSpec("Stop", "agent_stop", "retry", "lab"),
    EventSpec("SubagentStart", "subagent_start", "observe", "lab", "agent_type", hears="json"),
    EventSpec("SubagentStop", "subagent_stop", "observe", "lab", "agent_type", hears="json"),
    EventSpec("PreCompact", "before_compact", "prevent", "src", "trigger", hears="nothing"),
    EventSpec("Notification", "notification", "observe", "lab", "notification_type", hears="nothing"),
)

LACKS = explain_missing(EVENTS, "no such event among the 12 in the source", registry=30)

# The names that hooks get, which are Claude Code's for these seven tools only (DC8). `js_eval` runs code that
# calls other tools, and no hook sees those calls (DC9); a guard of the shell is asked about the code.
TOOLS = (
    *name_tools(
        "lab",
        shell=("Bash", "js_eval"),
        file_read="Read",
        file_write="Write",
        file_edit=("Edit", "delete"),
        search="Grep",
        find="Glob",
        list="LS",
        agent="task",
        todo="write_todos",
    ),
    *name_tools("src", web_fetch="fetch_url", web_search="web_search"),
)
# They run no command, change no file of the project and fetch nothing.
HARMLESS = ("compact_conversation", "update_goal", "get_current_thread_id")

# The wire of Deep Agents Code: Claude's, without rewrites. What is not marked otherwise was captured or
# measured on 0.1.88.

SAYS = {"message": claude.MESSAGE, "suppress": claude.SUPPRESS}
ANSWERS: dict[str, Tree] = {
    "PreToolUse": {
        **SAYS,
        "deny": decide_permission("deny"),
        # It skips PermissionRequest and the question. No ask, which `dcode -n` approves (DC5), and no
        # rewrite, with which even an allow is lost (DC4).
        "allow": decide_permission("allow"),
        "context": CONTEXT,
        "halt": {**HALT, "denies": True},
    },
    "PermissionRequest": {
        **SAYS,
        "deny": nest_fields(decision={"behavior": "deny", "message": "$reason"}),
        "allow": nest_fields(decision={"behavior": "allow"}),
    },
    "PostToolUse": {**SAYS, "deny": BLOCK, "context": CONTEXT},
    "PostToolUseFailure": {**SAYS, "deny": BLOCK, "context": CONTEXT},
    "UserPromptSubmit": {**SAYS, "deny": BLOCK, "context": CONTEXT, "halt": HALT},
    "SessionStart": {**SAYS, "context": CONTEXT, "halt": HALT},
    "Stop": {**SAYS, "deny": BLOCK, "halt": HALT},
    "SubagentStart": {**SAYS, "context": CONTEXT},
    "SubagentStop": {**SAYS, "context": CONTEXT},
    "PreCompact": {**SAYS, "deny": BLOCK},
    "*": SAYS,
}

NESTED = "hookSpecificOutput.permissionDecision"
READ: dict[str, Tree] = {
    **claude.READ,
    "verdicts": [
        (NESTED, {"allow": "allow", "deny": "deny", "ask": "ask", "defer": "none"}),
        ("decision", {"block": "deny", "deny": "deny", "ask": "ask", "allow": "none", "approve": "none"}),
        ("permissionDecision", {"deny": "deny", "ask": "ask", "allow": "none"}),
    ],
}
READ_PERMISSION = {
    **claude.READS["permission_request"],
    "verdicts": [
        ("hookSpecificOutput.decision.behavior", {"allow": "allow", "deny": "deny"}),
        ("decision", {"block": "deny"}),
    ],
    "reason": ["hookSpecificOutput.decision.message", "reason", "stopReason"],
    "exits": {"2": "deny"},
}
READS: dict[str, Tree] = {
    "PermissionRequest": READ_PERMISSION,
    "SessionStart": {**READ, "text": "context"},
    "UserPromptSubmit": {**READ, "text": "context"},
    "Stop": {
        **READ,
        "verdicts": [*READ["verdicts"], ("hookSpecificOutput.additionalContext", {"*": "deny"})],
        "reason": [*READ["reason"], "hookSpecificOutput.additionalContext"],
        "context": [],
    },
    "*": READ,
}

# What it obeys itself: one JSON object with exit code 0, else exit code 2 with stderr. Nested output without
# the event's name (DC2), a `decision` other than `block` (DC3) and a text that is none void the answer.
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [("decision", {"block": "deny"})],
    "reason": ["reason", "stopReason"],
    "input": [],
    "result": [],
    "json": "zero",
    "named": "all",
    "refuses": [("decision", ("deny", "allow", "ask", "approve"))],
    "typed": {
        place: kind for place, kind in claude.TYPED.items() if place not in ("continue", "suppressOutput")
    },
    "nulls": "absent",
}
OBEY_NOTHING = {**OBEY, "verdicts": [], "exits": {}}
OBEYS: dict[str, Tree] = {
    "PreToolUse": {
        **OBEY,
        "verdicts": [
            # `ask` goes to the step that `dcode -n` approves by itself (DC5).
            (NESTED, {"deny": "deny", "allow": "allow", "ask": "none", "defer": "none"}),
            ("decision", {"block": "deny"}),
        ],
        "reason": [*claude.OBEY["reason"]],
    },
    "PermissionRequest": {**OBEY, **READ_PERMISSION, "json": "zero"},
    "PostToolUse": {**OBEY_NOTHING, "halt": []},
    "PostToolUseFailure": {**OBEY_NOTHING, "halt": []},
    "UserPromptSubmit": {**OBEY, "text": "context"},
    "SessionStart": {**OBEY_NOTHING, "text": "context"},
    "Stop": {
        **OBEY,
        "verdicts": [*OBEY["verdicts"], ("hookSpecificOutput.additionalContext", {"*": "deny"})],
        "context": [],
    },
    "PreCompact": OBEY,
    "*": OBEY_NOTHING,
}

WIRE: Wire = claude.WIRE.replace(
    # Its transcript has no calls (DC16).
    transcript="",
    by_event=list_by_event(keys=claude.KEYS_OF),
    inputs={
        **claude.INPUTS,
        "js_eval": {"command": "code"},
        "delete": {"path": "file_path"},
    },
    texts=("content:parts",),
    results={"*": {"content": "$text", "type": "tool", "status": "success"}},
    env={
        "DEEPAGENTS_CODE_SERVER_PROJECT_ROOT": "$root",
        "DEEPAGENTS_CODE_SERVER_CWD": "$cwd",
        "CLAUDE_PLUGIN_ROOT": "$package",
        "PLUGIN_ROOT": "$package",
    },
    marks=("transcript_path=.deepagents/", "prompt_id", "permission_mode", "tool_use_id"),
    answers=ANSWERS,
    reads=READS,
    obeys=OBEYS,
    extras={
        "PermissionRequest": {
            "interrupt@deny": claude.PERMISSION_EXTRAS["interrupt@deny"],
            "terminal": "terminalSequence",
        },
        "UserPromptSubmit": {
            "suppress_prompt": "hookSpecificOutput.suppressOriginalPrompt",
            "terminal": "terminalSequence",
        },
        "*": {"terminal": "terminalSequence"},
    },
    others=HARMLESS,
    # Eight times in a row.
    traits=("caps stops",),
)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of the files; those that it drops or never starts get a finding."""
    decoded = BY_EVENT.decode(dialect, trees)
    dead = [finding for file, tree in trees.items() for finding in _find_dead(dialect, file, tree)]
    # A matcher on an event without a target is not ignored: the hook never runs.
    findings = [finding for finding in decoded.findings if finding.code != IgnoredMatcher.code]
    return decoded._replace(findings=(*findings, *dead))


def _iter_groups(tree: Tree) -> Iterator[tuple[EventSpec, Path, Mapping[str, Tree]]]:
    """Every group of the events that it knows."""
    events = tree.get("hooks") if isinstance(tree, Mapping) else None
    if not isinstance(events, Mapping):
        return
    for spec in EVENTS:
        groups = events.get(spec.native)
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            if isinstance(group, Mapping):
                yield spec, ("hooks", spec.native, number), group


def _find_dead(dialect: Dialect, file: str, tree: Tree) -> Iterator[Finding]:
    """Groups that it rejects or that match no tool (DC6, DC7), and handlers that it drops."""
    for spec, path, group in _iter_groups(tree):
        reason, way = _explain_dead_matcher(spec, group.get("matcher") or "")
        if reason:
            words = {"what": "this hook", "reason": reason, "way": way}
            yield NeverRuns.at(spell_path(path), None, dialect=dialect.id, **words)._replace(file=file)
        handlers = group.get("hooks")
        for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
            if isinstance(handler, Mapping) and handler.get("async") is True:
                words = {"what": "this hook", "reason": "`async` is true", "way": "Remove `async`."}
                where = spell_path((*path, "hooks", index))
                yield NeverRuns.at(where, None, dialect=dialect.id, **words)._replace(file=file)


def _explain_dead_matcher(spec: EventSpec, matcher: Tree) -> tuple[str, str]:
    """Why a matcher never matches, and the way out; empty if it may match."""
    if not isinstance(matcher, str) or matcher in NAMES.everything:
        return "", ""
    if not spec.subject:
        return f"{spec.native} takes no matcher", "Remove the matcher."
    if not is_pattern(matcher):
        return f"the matcher '{matcher}' is not a regular expression", "Correct it, or name the tools."
    names = [name.strip() for name in matcher.replace(",", "|").split("|")]
    if spec.subject == "tool" and all(name.startswith("mcp__") for name in names):
        return f"no tool of an MCP server is called '{matcher}'", "Call it `server_tool`."
    return "", ""


DIALECT = Dialect(
    id="deepagents-code",
    title="Deep Agents Code",
    kind="agent",
    facts="0.1.88",
    sources=SOURCES,
    markers={"DEEPAGENTS_CODE_SERVER_CWD": "lab"},
    # `dcode -n` prints a systemMessage.
    shows={"*": (("message",), "lab")},
    locations=(
        Location("project", ".deepagents/hooks.json", "lab"),
        Location("user", "~/.deepagents/hooks.json", "lab"),
    ),
    events=EVENTS,
    lacks=LACKS,
    # At the limit it ends the whole group of processes, and the answer is lost.
    awaits_children="lab",
    tools=TOOLS,
    wordless=dict.fromkeys(HARMLESS, "src"),
    mcp=McpNames("", "_", "lab"),
    matching=NAMES,
    handlers={
        "command": HandlerSpec(
            "command",
            {"command": "command", "timeout": "timeout", "statusMessage": "status_message"},
            Timeout(SECOND, default=timedelta(seconds=600)),
            required=("command",),
        ),
    },
    shape=BY_EVENT._replace(decode=decode),
    wire=WIRE,
    obeys=("nested", "decision"),
    needs_type=True,
    # A command starts in the folder in which `dcode` was started, which may be below the root.
    commands_start="moving",
    project_dir=spell_root("DEEPAGENTS_CODE_SERVER_PROJECT_ROOT"),
    package_dir=("${CLAUDE_PLUGIN_ROOT}", "$CLAUDE_PLUGIN_ROOT", "${PLUGIN_ROOT}", "$PLUGIN_ROOT"),
    project_read="repository",
    programs=("dcode", "deepagents-code"),
    home=("~/.deepagents", "DEEPAGENTS_HOME"),
    # The file that keeps the answers counts on the screen only (DC1).
    folder_trust=FolderTrust(
        "",
        (),
        "Allow the hooks when `dcode` asks; with -n, pass --trust-project-hooks.",
        "lab",
        scopes=("project",),
        # The flag of a run, and a person's answer, leave no trace that another program reads.
        certain=False,
    ),
    notes=(
        "`dcode -n` skips a project's hooks silently unless it is started with --trust-project-hooks.",
        "Each hook around a tool counts as a turn; with `dcode -n`, pass --max-turns.",
        "`js_eval` runs tools that no hook sees; start `dcode` with --no-interpreter, or guard the shell.",
        "`dcode --acp`, which editors start, runs no hooks.",
    ),
    quirks=(
        Quirk(
            "DC1",
            "`dcode -n` skips a project's hooks without --trust-project-hooks, also where a person allowed "
            "them for always",
            "lab",
        ),
        Quirk("DC2", "nested output without `hookEventName`, or with another event's, is dropped", "lab"),
        Quirk("DC3", "any `decision` but `block` voids the whole answer", "lab"),
        Quirk("DC4", "no answer rewrites a call, and `updatedInput` beside an allow drops the allow", "lab"),
        Quirk(
            "DC5",
            "`ask` goes to the approval step, which `dcode -n` answers by its allow list: `all` runs it",
            "lab",
        ),
        Quirk(
            "DC6", "a matcher on Stop or UserPromptSubmit makes the group fail; its hook never runs", "lab"
        ),
        Quirk(
            "DC7",
            "a tool of an MCP server is `server_tool` for a matcher, not `mcp__server__tool` as the source "
            "means to call it",
            "lab",
        ),
        Quirk("DC8", "`delete`, `task`, `fetch_url` and `js_eval` keep their own names", "lab"),
        Quirk("DC10", "an allow of a hook runs a command that --shell-allow-list refuses", "lab"),
        Quirk("DC11", "stdout is cut at 100000 bytes; a longer answer is lost", "lab"),
        Quirk(
            "DC12",
            "variables whose name contains KEY, TOKEN, SECRET or PASSWORD are taken out of a hook's "
            "environment",
            "lab",
        ),
        Quirk(
            "DC13",
            "Grep's pattern arrives escaped, Read's offset is one greater and Bash's timeout in milliseconds",
            "lab",
        ),
        Quirk("DC14", "a command that fails is PostToolUseFailure, with its exit code in the text", "lab"),
        Quirk("DC15", "PostToolUse runs before the next request of the model, not behind the tool", "lab"),
        Quirk("DC16", "its transcript has neither calls nor their input", "lab"),
    ),
    ways_around=list_ways(
        WayAround(
            "sub-agents",
            "none",
            "DC17",
            "the events of tools fire inside a sub-agent, and do not name it",
            "lab",
        ),
        WayAround(
            "code",
            "open",
            "DC9",
            "`js_eval` runs code whose calls of tools no hook sees; guards on the shell are asked about the "
            "code, and guards on files see no path in it. --no-interpreter switches it off",
            "lab",
            place="in calls that `js_eval` makes",
            native="js_eval",
        ),
        WayAround(
            "protocol",
            "open",
            "DC20",
            "`dcode --acp`, which editors start, runs no hook: a command that the user's hooks deny ran",
            "lab",
            events=(),
        ),
        kinds=4,
        none={"shell": "src"},
    ),
)
