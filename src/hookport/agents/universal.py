"""Universal hooks.json, version 1: the hooks of a package, written for any agent."""

from __future__ import annotations

from collections.abc import Mapping

from hookport.errors import Problem
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.claude_tools import MCP, TOOLS
from hookport.shapes.claude_wire import CONTEXT, INPUTS, READ, READ_TEXT, decide_permission, nest_fields
from hookport.shapes.claude_wire import KEYS as CLAUDE
from hookport.shapes.dialect import (
    SECOND,
    DecodedManifest,
    Dialect,
    EventSpec,
    HandlerSpec,
    Location,
    Matching,
    Quirk,
    RefusedError,
    Shape,
    Timeout,
    Tree,
    explain_missing,
)
from hookport.shapes.transcripts import BLOCKS
from hookport.wire.events import FACTS
from hookport.wire.table import Wire, list_by_event

SOURCES = {
    "spec": "Universal hooks.json, version 1: section 8 (Hooks) of its package format, read November 2026",
    "install": "open plugin specification, Installation page: this format does not define where packages go",
    "own": "the user's XDG folder, where HOOK.md folders are too",
    "claude": "Claude Code's names (hooks reference, 2026-08-22): the examples use them, it lists none",
}

VERSION = 1

# Its "Can Block?" column: "Yes" is prevent, on an end retry; "Feedback", "Context inject", "Cleanup" and "No"
# are observe. Only a tool's name is matched; updatedInput is in the answer of the blocking events.
EVENTS = (
    EventSpec("pre-tool-use", "before_tool_execute", "prevent", "spec", "tool", rewrites=True),
    EventSpec("permission-request", "permission_request", "prevent", "spec", "tool", rewrites=True),
    EventSpec("post-tool-use", "after_tool_execute", "observe", "spec", "tool"),
    EventSpec("pre-prompt", "before_prompt", "prevent", "spec"),
    EventSpec("session-start", "session_start", "observe", "spec"),
    EventSpec("session-end", "session_end", "observe", "spec"),
    EventSpec("stop", "agent_stop", "retry", "spec"),
    EventSpec("sub-agent-end", "subagent_stop", "retry", "spec"),
    EventSpec("pre-compact", "before_compact", "observe", "spec"),
    EventSpec("notification", "notification", "observe", "spec"),
)

# "Regex pattern", with `Write|Edit` in every example: plain names are read as names, as Claude Code does.
NAMES = Matching("names")

LACKS = explain_missing(
    EVENTS,
    "no such event among the 10 of the specification",
    registry=30,
    subagent_start="it has sub-agent-end only",
    after_compact="it has pre-compact only",
    permission_denied="permission-request comes before the answer",
)

# The field table gives no default; the 30 s of test-config.json are a test runner's.
WAIT = Timeout(SECOND)


# The wire of universal hooks.json: the keys of its test fixtures, and the answer of its blocking schema. The
# specification shows three keys of a payload. The others are Claude Code's in the same spelling; a package is
# installed there too, so a script finds Claude Code's own keys beside them.


def spell_both(key: str) -> list[str]:
    """A key in the specification's spelling, and in Claude Code's if that differs."""
    first, *rest = key.split("_")
    return list(dict.fromkeys((first + "".join(word.capitalize() for word in rest), key)))


KEYS = {
    "event": "hookEventName",
    "session": ["sessionId", CLAUDE["session"]],
    "cwd": "cwd",
    "tool": ["toolName", CLAUDE["tool"]],
    "input": ["toolInput", CLAUDE["input"]],
    "call_id": ["toolUseId", CLAUDE["call_id"]],
    "result": ["toolResponse", CLAUDE["result"]],
    "error": "error",
    "prompt": "prompt",
    **{name: spell_both(CLAUDE[name]) for name in FACTS if name in CLAUDE},
    "final_message": ["lastAssistantMessage", CLAUDE["final_message"]],
    "stop_active": ["stopHookActive", CLAUDE["stop_active"]],
    "subagent": ["agentType", CLAUDE["subagent"]],
}
KEYS_OF: dict[str, dict[str, Tree]] = {
    "session-start": {"source": "source"},
    "session-end": {"source": "reason"},
    "pre-compact": {"source": "trigger", "instructions": spell_both("custom_instructions")},
    "notification": {"source": spell_both("notification_type"), "message": "message", "title": "title"},
}

DENY = decide_permission("deny")
# "Blocking error. stderr fed back to agent."
BLOCK: dict[str, Tree] = {"stderr": "$reason", "exit": 2, "alone": True}
DECIDE: dict[str, Tree] = {
    "deny": DENY,
    "ask": decide_permission("ask"),
    "allow": decide_permission("allow"),
    "rewrite": nest_fields(updatedInput="$input"),
}

ANSWERS: dict[str, dict[str, Tree]] = {
    "pre-tool-use": DECIDE,
    "permission-request": DECIDE,
    # There is no input to rewrite and nobody to ask (UH4).
    "pre-prompt": {"deny": DENY, "context": CONTEXT},
    "stop": {"deny": DENY},
    "sub-agent-end": {"deny": BLOCK},
    "post-tool-use": {"deny": BLOCK, "context": CONTEXT},
    "session-start": {"context": CONTEXT},
    "*": {},
}

READS: dict[str, dict[str, Tree]] = {
    "session-start": READ_TEXT,
    "pre-prompt": READ_TEXT,
    "permission-request": {
        **READ,
        "verdicts": [
            ("hookSpecificOutput.decision.behavior", {"allow": "allow", "deny": "deny"}),
            *READ["verdicts"],
        ],
        "reason": ["hookSpecificOutput.decision.message", *READ["reason"]],
        "input": ["hookSpecificOutput.decision.updatedInput", *READ["input"]],
    },
    "*": READ,
}

WIRE = Wire(
    traits=("file placeholder",),
    keys=KEYS,
    by_event=list_by_event(keys=KEYS_OF),
    transcript=(BLOCKS,),
    inputs=INPUTS,
    env={"PACKAGE_ROOT": "$package"},
    marks=("hookEventName",),
    answers=ANSWERS,
    reads=READS,
)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of the files, if every file declares this version."""
    problems: list[Problem] = []
    for file, tree in trees.items():
        if not isinstance(tree, Mapping):
            continue
        version = tree.get("version")
        if version is None:
            problems.append(Problem(f"'version' is missing; write \"version\": {VERSION}", (), file))
        elif version != VERSION or isinstance(version, bool):
            problems.append(
                Problem(f"must be {VERSION}, not {version!r}; no other version is known", ("version",), file)
            )
        if "hooks" not in tree:
            problems.append(Problem("'hooks' is missing, the object that maps events to hooks", (), file))
    if problems:
        raise RefusedError(*problems)
    return BY_EVENT.decode(dialect, trees)


DIALECT = Dialect(
    id="universal",
    title="Universal hooks.json",
    kind="format",
    facts="version 1",
    sources=SOURCES,
    locations=(Location("plugin", "hooks/hooks.json", "spec"),),
    other_places={
        "run": (
            Location("project", "hooks/hooks.json", "spec"),
            Location("project", ".agents/plugins/*/hooks/hooks.json", "install"),
            Location("user", "~/.agents/plugins/*/hooks/hooks.json", "install"),
            Location("user", "~/.config/agents/plugins/*/hooks/hooks.json", "own"),
        )
    },
    events=EVENTS,
    lacks=LACKS,
    tools=TOOLS,
    mcp=MCP,
    matching=NAMES,
    handlers={
        "command": HandlerSpec(
            "command", {"command": "command", "timeout": "timeout"}, WAIT, required=("command",)
        ),
        "prompt": HandlerSpec(
            "prompt", {"prompt": "prompt", "timeout": "timeout"}, WAIT, required=("prompt",)
        ),
    },
    shape=Shape(decode, BY_EVENT.encode, root_keys={"version": VERSION}),
    wire=WIRE,
    obeys=("nested",),
    needs_type=True,
    package_dir=("${PACKAGE_ROOT}", "$PACKAGE_ROOT"),
    quirks=(
        Quirk("UH1", "the format lists no tool names: Claude Code's are used, as in the examples", "spec"),
        Quirk(
            "UH2",
            "`*` is not a valid regular expression; hookport reads it as everything, so no guard is lost",
            "spec",
        ),
        Quirk(
            "UH3",
            "the table of other agents' events names events they do not have (beforeShellCommand)",
            "spec",
        ),
        Quirk("UH4", "updatedInput is also shown for pre-prompt and stop, which have no tool input", "spec"),
        Quirk(
            "UH5", "sub-agent-end can block by its table and is missing in the list above the schema", "spec"
        ),
        Quirk("UH6", "a host that searches the pattern anywhere runs `Edit` on NotebookEdit too", "spec"),
    ),
)
