"""An agent of the OpenAI Agents SDK; one inner agent is handed over to, the other is a tool."""

from __future__ import annotations

import asyncio
import os
import sys

from agents import Agent, AsyncOpenAI, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from shell_tools import make_inner_tool, make_tools

from hookport.adapters.openai_agents import guard
from hookport.host import Host

set_tracing_disabled(disabled=True)
mode = sys.argv[1]
model = OpenAIChatCompletionsModel(
    "scripted", AsyncOpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key="x")
)
hooks = guard(Host(agent="my-agent", tools={"run_shell": "shell"}))
helper = Agent(name="helper", tools=[function_tool(make_inner_tool())], model=model)
agent = Agent(name="agent", tools=[function_tool(tool) for tool in make_tools(mode)], model=model)
if mode == "handoff":
    agent.handoffs = [helper]
if mode == "inner":
    agent.tools.append(helper.as_tool("helper", "Helps."))
if mode == "sync":
    print(Runner.run_sync(agent, "go", hooks=hooks, max_turns=30).final_output)
else:
    print(asyncio.run(Runner.run(agent, "go", hooks=hooks, max_turns=30)).final_output)
