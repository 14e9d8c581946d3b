"""The wire of open plugin hooks: "event context as JSON on stdin" in Claude Code's keys, and exit codes.

The specification says no more, and hosts that load such plugins send what Claude Code sends.
"""

from __future__ import annotations

from hookport.agents import _claude_wire
from hookport.agents._base import Tree
from hookport.wire.table import Wire

# Only exit code 0 has a meaning in the specification; hosts take 2 for a block (OP1).
DENY: dict[str, Tree] = {"stderr": "$reason", "exit": 2, "alone": True}
BLOCKS = ("before_tool_execute", "before_prompt", "agent_stop", "subagent_stop")

WIRE: Wire = _claude_wire.WIRE.replace(
    # Codex, Copilot CLI and VS Code set both for the hooks of plugins (doc); the second is Claude Code's.
    env={
        "PLUGIN_ROOT": "$package",
        "CLAUDE_PLUGIN_ROOT": "$package",
        "PLUGIN_DATA": "$data",
        "CLAUDE_PLUGIN_DATA": "$data",
    },
    env_of={"SessionStart": _claude_wire.ENV_FILE},
    answers={**{event: {"deny": DENY} for event in BLOCKS}, "*": {}},
)
