"""Open plugin hooks: hooks/hooks.json of a plugin, for any agent that loads plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookport.agents._base import (
    Decoded,
    Dialect,
    EventSpec,
    HandlerSpec,
    Location,
    Matching,
    Quirk,
    Shape,
    Timeout,
    Tree,
)
from hookport.agents._by_event import BY_EVENT
from hookport.agents._claude_names import MCP, TOOLS
from hookport.agents._open_plugin_wire import WIRE
from hookport.findings import Finding, UnknownEvent

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

_NONE = "no such event among the 13 of the specification"
LACKS = {
    "before_compact": _NONE,
    "notification": _NONE,
    "error_occurred": _NONE,
    "permission_request": _NONE,
    "before_model": _NONE,
    "after_model": _NONE,
    "before_tool_selection": _NONE,
    "config_change": _NONE,
    "file_created": "AfterFileEdit tells only of the agent's own writes",
    "file_saved": "AfterFileEdit tells only of the agent's own writes",
    "file_deleted": _NONE,
    "before_task": _NONE,
    "after_task": _NONE,
    "after_compact": _NONE,
    "permission_denied": _NONE,
    "interrupted": _NONE,
    "file_changed": "AfterFileEdit tells only of the agent's own writes",
    "after_tool_batch": _NONE,
    "before_command_expansion": _NONE,
    "instructions_loaded": _NONE,
    "message_display": _NONE,
}

# "Tools SHOULD enforce timeouts": there is no field.
WAIT = Timeout(None)


def decode(dialect: Dialect, trees: Mapping[str, Tree]) -> Decoded:
    """The hooks of the files; an event that is not recognised is ignored, as hosts must."""
    decoded = BY_EVENT.decode(dialect, trees)
    return decoded._replace(findings=tuple(map(_ignored, decoded.findings)))


def _ignored(finding: Finding) -> Finding:
    """A foreign event is ignored on purpose; a name that is nearly one of ours stays a loss."""
    if finding.code != UnknownEvent.code:
        return finding
    message = f"{finding.message} Hosts ignore what they do not recognise, so the hook never runs."
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
    runs_from=(
        Location("project", "hooks/hooks.json", "spec"),
        Location("project", ".agents/plugins/*/hooks/hooks.json", "install"),
        Location("user", "~/.agents/plugins/*/hooks/hooks.json", "install"),
        Location("user", "~/.config/agents/plugins/*/hooks/hooks.json", "own"),
    ),
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
    script_rules=True,
    notes=(
        "The plugin format does not say how a hook blocks: a guard holds only in hosts that obey exit 2.",
    ),
    quirks=(
        Quirk(
            "OP1",
            "exit 0 is success and nothing is said of other codes, yet hooks are for enforcing policies: "
            "what comes before an action, and an end, is taken as blocking (hosts use exit 2), so that no "
            "guard is neutered when it is converted; a note says what that rests on",
            "spec",
        ),
        Quirk("OP2", "events that a host does not recognise are ignored, a misspelt guard too", "spec"),
        Quirk("OP3", "there is no field for a timeout or for running in the background", "spec"),
        Quirk("OP4", "tools have no table of names: Claude Code's are used, as in the examples", "spec"),
        Quirk(
            "OP5", "`*` is no regular expression; it is read as everything, so that no guard is lost", "spec"
        ),
        Quirk(
            "OP6",
            "AfterFileEdit matches the path, and a pattern on a write's input may mean the text: such a hook "
            "is written there only if it came from there",
            "spec",
        ),
        Quirk("OP7", "PreToolUse and the extended event of the tool may both fire for one call", "spec"),
        Quirk("OP8", "a host that looks for the pattern anywhere runs `Edit` on NotebookEdit too", "spec"),
    ),
)
