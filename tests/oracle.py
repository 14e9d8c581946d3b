"""What each agent does with a hook's answer, as strictly as the real one; no table of ours is used here.

Written in `agents/*/oracle.py` from what was measured on the agents (versions in `agents/*/README.md`), and
for Cursor, VS Code, Kiro and Windsurf from their documentation.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests import agent_data
from tests.judging import COMMAND, PROJECT, Args, Outcome, Seat

__all__ = ["SEATS", "Outcome", "Seat", "args_of", "payload_of"]

ORACLES = agent_data.load("oracle")
SEATS: dict[str, Seat] = {name: seat for oracle in ORACLES.values() for name, seat in oracle.SEATS.items()}


def payload_of(agent: str, native: str, name: str, command: str, project: Path) -> bytes:
    """What the agent sends: a captured payload, or a documented one, with this command and project."""
    captured = agent_data.payload(f"{agent}/{name}.json")
    tree = (
        json.loads(captured.read_text("utf-8")) if captured.exists() else agent_data.DOCUMENTED[agent][name]
    )
    complete = getattr(ORACLES[agent], "complete", None)
    tree = complete(tree, native) if complete else tree
    return json.dumps(tree).replace(COMMAND, command).replace(PROJECT, str(project)).encode()


def args_of(seat: Seat, payload: bytes) -> Args:
    """The tool's input as the agent has it; an event of commands has the command alone."""
    tree = json.loads(payload)
    if seat.place == "command":
        return {"command": tree["command"]}
    for key in ("tool_input" if "tool_input" in tree else seat.place).split("."):
        tree = tree[key]
    return tree
