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
# As it is documented, a tool call of it has no key or name of its own: others are likelier, and may be right.
UNTOLD = {"junie"}
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
    found = {native: [name for name, _ in recognise_payload(payload)] for native, payload in calls.items()}
    assert all(agent in names for names in found.values())
    assert [native for native, names in found.items() if names[0] != agent and agent not in UNTOLD] == []
