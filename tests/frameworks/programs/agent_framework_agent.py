"""An agent of the Microsoft Agent Framework; the inner agent is a tool."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from agent_framework import tool
from agent_framework.openai import OpenAIChatCompletionClient
from shell_tools import make_inner_tool, make_tools

from hookport.adapters.agent_framework import guard
from hookport.host import Host

mode = sys.argv[1]
client = OpenAIChatCompletionClient(model="scripted", api_key="x", base_url=os.environ["OPENAI_BASE_URL"])
middleware = [guard(Host(agent="my-agent", tools={"run_shell": "shell"}))]
tools: list[Any] = [tool(each, approval_mode="never_require") for each in make_tools(mode)]
if mode.startswith("inner"):
    inner = client.as_agent(
        name="helper",
        tools=[tool(make_inner_tool(), approval_mode="never_require")],
        middleware=middleware if mode == "inner" else [],
    )
    tools.append(inner.as_tool())
agent = client.as_agent(tools=tools, middleware=middleware)
print(asyncio.run(agent.run("go")).text)
