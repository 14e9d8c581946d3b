"""A payload that a person names is taken for the agent's that sent it, by nothing but what it says."""

from __future__ import annotations

import json

import pytest

from hookport.agents import recognise_payload
from tests import agent_data

# Callbacks whose arguments say nothing of their own.
UNNAMED = {
    f"{agent}/{name}.json"
    for agent in ("opencode", "kilo")
    for name in (
        "chat.headers",
        "config",
        "experimental.chat.messages.transform",
        "shell.env",
        "tool.definition",
    )
}
# A fork calls plugins with the same arguments, so that both may have sent them.
FORKS = {"kilo": "opencode", "omp": "pi"}
CAPTURED = [name for name in agent_data.CAPTURED if name not in UNNAMED]


@pytest.mark.parametrize("name", CAPTURED)
def test_a_captured_payload_is_recognised(name: str) -> None:
    text = agent_data.payload(name).read_text("utf-8")
    agent = name.partition("/")[0]
    (first, _), *others = recognise_payload(json.loads(text))
    assert first == agent or (FORKS.get(agent), agent) == (first, others[0][0])


@pytest.mark.parametrize("agent", agent_data.DOCUMENTED)
def test_a_documented_tool_call_is_recognised(agent: str) -> None:
    calls = {native: payload for native, payload in agent_data.DOCUMENTED[agent].items() if "ool" in native}
    assert {native: recognise_payload(payload)[0][0] for native, payload in calls.items()} == dict.fromkeys(
        calls, agent
    )
