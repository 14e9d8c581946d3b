"""An agent of Pydantic AI; the inner agent is one that a tool runs."""

from __future__ import annotations

import asyncio
import os
import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from shell_tools import make_inner_tool, make_tools

from hookport.adapters.pydantic_ai import guard
from hookport.host import Host

mode = sys.argv[1]
model = OpenAIChatModel(
    "scripted", provider=OpenAIProvider(base_url=os.environ["OPENAI_BASE_URL"], api_key="x")
)
hooks = guard(Host(agent="my-agent", tools={"run_shell": "shell"}))
agent = Agent(model, capabilities=[hooks], tools=make_tools(mode))
inner = Agent(model, capabilities=[hooks] if mode == "inner" else [], tools=[make_inner_tool()])

if mode.startswith("inner"):

    @agent.tool_plain
    async def helper(text: str) -> str:
        """Helps."""
        return (await inner.run(text)).output


print(agent.run_sync("go").output if mode == "sync" else asyncio.run(agent.run("go")).output)
