"""Open plugin hooks: hooks/hooks.json of a plugin, for any agent that loads plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookport.findings import Finding, UnknownEvent
from hookport.shapes import claude_wire
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.claude_tools import MCP, TOOLS
from hookport.shapes.dialect import (
    SCRIPT_RULES,
    DecodedManifest,
    Dialect,
    EventSpec,
    HandlerSpec,
    Location,
    Matching,
    Quirk,
    Shape,
    Timeout,
    Tree,
    explain_missing,
)
from hookport.wire.table import Wire, list_by_event

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCES = {
    "spec": "open plugin specification, Hooks page, read November 2026",
    "install": "open plugin specification, Installation page: where installed plugins should be stored",
    "own": "the user's XDG folder, where HOOK.md folders are too",
    "claude": "Claude Code's names (hooks reference, 2026-08-22): the examples use them, it lists none",
}

# PreToolUse and PostToolUse are core events, so a plain hook for one tool is written there. The extended
# ones for one tool say what those cannot: a pattern on the command or the path. What may block: OP1.
EVENTS = (
    EventSpec("PreToolUse", "before_tool_execute", "prevent", "spec", "tool"),
    EventSpec("PostToolUse", "after_tool_execute", "observe", "spec", "tool"),
    EventSpec("PostToolUseFailure", "tool_use_failure", "observe", "spec", "tool"),
    EventSpec("SessionStart", "session_start", "observe", "spec"),
    EventSpec("SessionEnd", "session_end", "observe", "spec"),
    EventSpec(
        "BeforeReadFile",
        "before_tool_execute",
        "prevent",
        "spec",
        "path",
        tools=("file_read",),
        secondary=True,
    ),
    EventSpec(
        "AfterFileEdit",
        "after_tool_execute",
        "observe",
        "spec",
        "path",
        tools=("file_write", "file_edit"),
        secondary=True,
    ),
    EventSpec(
        "BeforeShellExecution",
        "before_tool_execute",
        "prevent",
        "spec",
        "command",
        tools=("shell",),
        secondary=True,
    ),
    EventSpec(
        "AfterShellExecution",
        "after_tool_execute",
        "observe",
        "spec",
        "command",
        tools=("shell",),
        secondary=True,
    ),
    EventSpec("UserPromptSubmit", "before_prompt", "prevent", "spec"),
    EventSpec("Stop", "agent_stop", "retry", "spec"),
    EventSpec("SubagentStart", "subagent_start", "observe", "spec"),
    EventSpec("SubagentStop", "subagent_stop", "retry", "spec"),
)

# "Regex pattern", with `Write|Edit` in every example: plain names are read as names, as Claude Code does.
NAMES = Matching("names")

LACKS = explain_missing(
    EVENTS,
    "no such event among the 13 of the specification",
    registry=30,
    file_created="AfterFileEdit reports only the agent's own writes",
    file_saved="AfterFileEdit reports only the agent's own writes",
    file_changed="AfterFileEdit reports only the agent's own writes",
)

# "Tools SHOULD enforce timeouts": there is no field.
WAIT = Timeout(None)


# The wire of open plugin hooks: "event context as JSON on stdin" in Claude Code's keys, and exit codes.
# Beyond the specification: hosts that load such plugins send Claude Code's payloads.

# Only exit code 0 has a meaning in the specification; hosts take 2 for a block (OP1).
DENY: dict[str, Tree] = {"stderr": "$reason", "exit": 2, "alone": True}
BLOCKS = ("before_tool_execute", "before_prompt", "agent_stop", "subagent_stop")

WIRE: Wire = claude_wire.WIRE.replace(
    # Codex, Copilot CLI and VS Code set both for the hooks of plugins (doc); the second is Claude Code's.
    env={
        "PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_ROOT": "$package",
        "PLUGIN_DATA": "$data",
        "CLAUDE_PLUGIN_DATA": "$data",
    },
    by_event=list_by_event(keys=claude_wire.KEYS_OF, env={"SessionStart": claude_wire.ENV_FILE}),
    answers={**{event: {"deny": DENY} for event in BLOCKS}, "*": {}},
)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> DecodedManifest:
    """The hooks of the files; an unknown event is ignored, as hosts must do."""
    decoded = BY_EVENT.decode(dialect, trees)
    return decoded._replace(findings=tuple(map(_explain_ignored, decoded.findings)))


def _explain_ignored(finding: Finding) -> Finding:
    """Make an unknown event a note, because hosts ignore it on purpose; a likely typo keeps its severity."""
    if finding.code != UnknownEvent.code:
        return finding
    message = f"{finding.message} Hosts ignore unknown events, so the hook never runs."
    return finding._replace(
        message=message, severity=finding.severity if "Did you mean" in message else "note"
    )


DIALECT = Dialect(
    id="open-plugin",
    title="Open Plugin hooks",
    kind="format",
    facts="specification without a version, read November 2026",
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
        "command": HandlerSpec("command", {"command": "command"}, WAIT, required=("command",)),
        "prompt": HandlerSpec("prompt", {"prompt": "prompt"}, WAIT, required=("prompt",)),
        "agent": HandlerSpec("agent", {"prompt": "prompt"}, WAIT, required=("prompt",)),
    },
    shape=Shape(decode, BY_EVENT.encode),
    wire=WIRE,
    needs_type=True,
    package_dir=("${PLUGIN_ROOT}", "$PLUGIN_ROOT"),
    notes=(
        "The plugin format does not define how a hook blocks: a guard holds only in hosts that obey exit 2.",
    ),
    quirks=(
        Quirk(
            "OP1",
            "exit 0 is success and other codes are undefined, yet hooks are for enforcing policies: hookport "
            "treats events before an action, and stops, as blocking (hosts use exit 2), so that no guard is "
            "disabled by conversion; a note names the assumption",
            "spec",
        ),
        Quirk("OP2", "hosts ignore unknown events, even those of a misspelt guard", "spec"),
        Quirk("OP3", "no field for a timeout or for running in the background", "spec"),
        Quirk("OP4", "the format lists no tool names: Claude Code's are used, as in the examples", "spec"),
        Quirk(
            "OP5",
            "`*` is not a valid regular expression; hookport reads it as everything, so no guard is lost",
            "spec",
        ),
        Quirk(
            "OP6",
            "AfterFileEdit matches the path, and a pattern on a write's input may mean the text: such a hook "
            "is written there only if it came from there",
            "spec",
        ),
        Quirk("OP7", "PreToolUse and the extended event of the tool may both fire for one call", "spec"),
        Quirk("OP8", "a host that searches the pattern anywhere runs `Edit` on NotebookEdit too", "spec"),
        Quirk(
            "OP9",
            "scripts must be executable, have a shebang line and be named from the root of the plugin",
            "spec",
            {SCRIPT_RULES: True},
        ),
    ),
)
