"""The event registry: every canonical event, its tier and what blocking means there.

Core, extended and exclusive events are those of the Hook Interchange Format 1.0. `shared` events are not in
it: at least two agents have them, so they get a common name (`tool_use_failure` and `file_changed` come from
the format's public draft 0.1, section 7.2).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Tier = Literal["core", "extended", "exclusive", "shared"]
Blocks = Literal["prevent", "retry", "observe"]


class EventKind(NamedTuple):
    """One canonical event."""

    name: str
    tier: Tier
    blocks: Blocks
    about_tool: bool
    meaning: str


_TABLE: tuple[tuple[str, Tier, Blocks, bool, str], ...] = (
    ("before_tool_execute", "core", "prevent", True, "before a tool runs"),
    ("after_tool_execute", "core", "observe", True, "after a tool ran"),
    ("session_start", "core", "observe", False, "a session begins or resumes"),
    ("session_end", "core", "observe", False, "a session ends"),
    ("before_prompt", "core", "prevent", False, "the user sent a prompt, the agent has not seen it"),
    ("agent_stop", "core", "retry", False, "the agent's main loop is about to end"),
    ("before_compact", "extended", "observe", False, "before the context is compacted"),
    ("notification", "extended", "observe", False, "the agent notifies its user"),
    ("error_occurred", "extended", "observe", False, "an error occurred in the agent"),
    ("subagent_start", "extended", "observe", False, "a subagent starts"),
    ("subagent_stop", "extended", "retry", False, "a subagent ends"),
    ("permission_request", "extended", "prevent", True, "before the agent asks for a permission"),
    ("before_model", "exclusive", "prevent", False, "before a request to the model"),
    ("after_model", "exclusive", "observe", False, "after an answer of the model"),
    ("before_tool_selection", "exclusive", "observe", False, "before the model chooses a tool"),
    ("config_change", "exclusive", "prevent", False, "the agent's configuration changed"),
    ("file_created", "exclusive", "observe", False, "a file was created"),
    ("file_saved", "exclusive", "observe", False, "a file was saved"),
    ("file_deleted", "exclusive", "observe", False, "a file was deleted"),
    ("before_task", "exclusive", "prevent", False, "before a planned task starts"),
    ("after_task", "exclusive", "observe", False, "after a planned task ended"),
    ("tool_use_failure", "shared", "observe", True, "a tool failed"),
    ("after_compact", "shared", "observe", False, "after the context was compacted"),
    ("permission_denied", "shared", "observe", True, "a permission was refused"),
    ("interrupted", "shared", "observe", False, "the user interrupted the agent"),
    ("file_changed", "shared", "observe", False, "a file changed on disk, whoever wrote it"),
    ("after_tool_batch", "shared", "prevent", False, "all tool calls of one step are done"),
    ("before_command_expansion", "shared", "prevent", False, "a slash command is about to be expanded"),
    ("instructions_loaded", "shared", "observe", False, "an instructions file entered the context"),
    ("message_display", "shared", "observe", False, "a piece of the answer is shown"),
)

EVENTS: dict[str, EventKind] = {row[0]: EventKind(*row) for row in _TABLE}

# A hook for the time before an action that runs after it can observe, never prevent.
AFTER_OF: dict[str, str] = {
    "before_tool_execute": "after_tool_execute",
    "before_compact": "after_compact",
    "before_model": "after_model",
    "before_task": "after_task",
    "subagent_start": "subagent_stop",
}


def join_native(dialect: str, name: str) -> str:
    """Write an event that only one dialect has, as manifests do."""
    return f"{dialect}:{name}"


def split_native(event: str) -> tuple[str, str] | None:
    """Return (dialect, name) of a native event, or None for a canonical one."""
    dialect, colon, name = event.partition(":")
    return (dialect, name) if colon else None


def is_about_tool(event: str) -> bool:
    """Whether the event's matcher is tested against a tool's name."""
    kind = EVENTS.get(event)
    return bool(kind and kind.about_tool)
