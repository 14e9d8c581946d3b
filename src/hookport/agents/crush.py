"""Crush: flat hooks in crush.json, before a tool alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from hookport.errors import spell_path
from hookport.findings import Finding, NeverRuns
from hookport.shapes import claude_wire as claude
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.dialect import (
    SECOND,
    DecodedManifest,
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
    WayAround,
    explain_missing,
    list_ways,
    name_tools,
    spell_root,
)
from hookport.shapes.patterns import drop_patterns_unlike_rust, is_rust_pattern
from hookport.wire.table import Wire

SOURCES = {
    "src": "charmbracelet/crush at 2026-08-21: internal/hooks, internal/config, internal/agent, docs/hooks",
}

# A Go expression, found anywhere in the name; one that is none keeps Crush from loading its settings (CR1).
MATCHING = Matching("regex", everything=("", ".*"), anchors=True, never=("*",))

EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "src", "tool", rewrites=True, hears="json"),
)

LACKS = explain_missing(EVENTS, "PreToolUse is the only event in the source", registry=30)

TOOLS = name_tools(
    "src",
    shell="bash",
    file_read="view",
    file_write=("write", "download"),
    file_edit=("edit", "multiedit", "lsp_rename", "lsp_replace_symbol"),
    search=("grep", "sourcegraph"),
    find="glob",
    list="ls",
    web_fetch=("fetch", "web_fetch", "agentic_fetch"),
    web_search="web_search",
    agent="agent",
    todo="todos",
    ask_user="question",
)
# They change no file and run no command; job_kill ends one.
OTHERS = (
    *("lsp_diagnostics", "lsp_references", "lsp_definition", "lsp_symbols", "lsp_call_hierarchy"),
    *("lsp_restart", "job_output", "list_mcp_resources", "read_mcp_resource", "crush_info", "crush_logs"),
)
WORDLESS = dict.fromkeys((*OTHERS, "job_kill"), "src")

# With exit code 0 alone is JSON read; `ask` and `block` are no opinion, so nothing is asked.
ANSWERS: dict[str, Tree] = {
    "PreToolUse": {
        "deny": {"json": {"decision": "deny", "reason": "$reason"}},
        "allow": {"json": {"decision": "allow"}},
        # Merged into the arguments, key by key.
        "rewrite": {"json": {"updated_input": "$changes"}},
        "context": {"json": {"context": "$context"}},
        # It ends the turn, and the call does not run.
        "halt": {"json": {"decision": "deny", "halt": True, "reason": "$reason"}, "denies": True},
    },
}
NESTED = "hookSpecificOutput.permissionDecision"
READ: dict[str, Tree] = {
    "verdicts": [
        (NESTED, {"allow": "allow", "deny": "deny", "block": "deny", "ask": "ask"}),
        ("decision", {"allow": "allow", "deny": "deny", "block": "deny", "ask": "ask"}),
    ],
    "reason": ["hookSpecificOutput.permissionDecisionReason", "reason"],
    "context": ["hookSpecificOutput.additionalContext", "context"],
    "input": ["hookSpecificOutput.updatedInput", "updated_input"],
    "stop": ["halt"],
    "exits": {"2": "deny", "49": "deny"},
    "json": "zero",
}
OBEY: dict[str, Tree] = {
    **READ,
    "verdicts": [
        (NESTED, {"allow": "allow", "deny": "deny", "*": "none"}),
        ("decision", {"allow": "allow", "deny": "deny", "*": "none"}),
    ],
    "ends": ("49",),
}

WIRE: Wire = claude.WIRE.replace(
    keys={
        "event": "event",
        "session": "session_id",
        "cwd": "cwd",
        "tool": "tool_name",
        "input": "tool_input",
    },
    by_event={},
    words={},
    transcript=(),
    inputs={
        **{tool: claude.INPUTS[tool] for tool in ("file_read", "file_write", "file_edit", "edits")},
        "shell": {"cwd": "working_dir"},
        "search": {"include": "include"},
    },
    fixed={"session_id": "$session", "cwd": "$cwd"},
    env={
        "CRUSH": "1",
        "AGENT": "crush",
        "AI_AGENT": "crush",
        "CRUSH_EVENT": "$event",
        "CRUSH_TOOL_NAME": "$tool",
        "CRUSH_SESSION_ID": "$session",
        "CRUSH_CWD": "$cwd",
        "CRUSH_PROJECT_DIR": "$root",
    },
    starts_in="root",
    marks=("event", "session_id"),
    answers=ANSWERS,
    merges=("*",),
    reads={"PreToolUse": READ, "*": {}},
    obeys={"PreToolUse": OBEY, "*": {}},
    others=OTHERS,
    precedence=-2,
)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of the files, with a finding for a matcher that keeps Crush from loading them."""
    decoded = BY_EVENT.decode(dialect, trees)
    dead = [finding for file, tree in trees.items() for finding in _find_dead(dialect, file, tree)]
    return decoded._replace(findings=(*decoded.findings, *dead))


def _find_dead(dialect: Dialect, file: str, tree: Tree) -> Iterator[Finding]:
    events = tree.get("hooks") if isinstance(tree, Mapping) else None
    groups = events.get("PreToolUse") if isinstance(events, Mapping) else None
    for number, entry in enumerate(groups or ()):
        matcher = entry.get("matcher", "")
        if matcher in MATCHING.never or is_rust_pattern(matcher):
            continue
        yield NeverRuns.at(
            spell_path(("hooks", "PreToolUse", number, "matcher")),
            dialect=dialect.id,
            what="any hook of this file",
            reason=f"'{matcher}' is not a regular expression that Go compiles (CR1)",
            way="Write it without look-around and references, or name the tools.",
        )._replace(file=file)


DIALECT = Dialect(
    id="crush",
    title="Crush",
    kind="agent",
    facts="source of 2026-08-21",
    sources=SOURCES,
    shows={"*": (("reason",), "src")},
    markers={"CRUSH": "src"},
    locations=(
        Location("project", "crush.json", "src"),
        Location("project", ".crush.json", "src"),
        Location("user", "~/.config/crush/crush.json", "src"),
        Location("system", "/etc/crush/crush.json", "src"),
    ),
    events=EVENTS,
    lacks=LACKS,
    tools=TOOLS,
    wordless=WORDLESS,
    mcp=McpNames("mcp_", "_", "src"),
    matching=MATCHING,
    handlers={
        "command": HandlerSpec(
            "",
            {"name": "name", "command": "command", "timeout": "timeout"},
            Timeout(SECOND, default=timedelta(seconds=30), whole=True, minimum=SECOND),
            required=("command",),
        ),
    },
    shape=BY_EVENT._replace(
        decode=decode, forms=("flat",), file_kinds={"json": "jsonc"}, file_name="crush.json"
    ),
    wire=WIRE,
    obeys=("nested", "decision"),
    adjust=drop_patterns_unlike_rust("crush"),
    # The session's folder, which relative commands start from.
    commands_start="root",
    project_dir=spell_root("CRUSH_PROJECT_DIR"),
    runs_once=OnceRule("src"),
    programs=("crush",),
    home=("~/.config/crush", ""),
    notes=(
        "Where a folder has a .crushrc or crushrc, Crush prefers it to crush.json; move the hooks there.",
        "hookport does not read the hooks of a crushrc, which is a script.",
    ),
    quirks=(
        Quirk("CR1", "a matcher that is no expression, as `*`, is an error, and Crush loads no hook", "src"),
        Quirk("CR3", "exit code 49 denies and ends the turn; any other but 0 and 2 is ignored", "src"),
        Quirk(
            "CR4",
            "with `hookSpecificOutput` the answer's other keys are ignored; `ask` and `block` are no opinion",
            "src",
        ),
        Quirk("CR5", "events may be in any case, and `pre_tool_use`; hookport reads PreToolUse", "src"),
        Quirk("CR6", "entries are flat: Claude Code's nested form is an error", "src"),
    ),
    ways_around=list_ways(
        WayAround(
            "sub-agents",
            "open",
            "CR2",
            "the tool calls of a subagent run no hook, only `agent` itself does",
            "src",
        ),
        kinds=4,
    ),
)
