"""A payload that a person names is taken for the agent's that sent it, by nothing but what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookport.agents._wiring import recognised

PAYLOADS = Path(__file__).parent / "payloads"
DOCUMENTED = json.loads(Path(__file__).with_name("documented.json").read_text("utf-8"))
# Callbacks whose arguments say nothing of their own.
UNNAMED = {
    f"opencode/{name}.json"
    for name in (
        "chat.headers",
        "config",
        "experimental.chat.messages.transform",
        "shell.env",
        "tool.definition",
    )
}
CAPTURED = sorted(
    path for path in PAYLOADS.rglob("*.json") if path.relative_to(PAYLOADS).as_posix() not in UNNAMED
)


@pytest.mark.parametrize("path", CAPTURED, ids=lambda path: str(path.relative_to(PAYLOADS)))
def test_a_captured_payload_is_recognised(path: Path) -> None:
    assert recognised(json.loads(path.read_text("utf-8")))[0][0] == path.relative_to(PAYLOADS).parts[0]


@pytest.mark.parametrize("agent", sorted(DOCUMENTED))
def test_a_documented_tool_call_is_recognised(agent: str) -> None:
    calls = {native: payload for native, payload in DOCUMENTED[agent].items() if "ool" in native}
    assert {native: recognised(payload)[0][0] for native, payload in calls.items()} == dict.fromkeys(
        calls, agent
    )
