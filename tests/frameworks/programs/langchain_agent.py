"""An agent of LangChain; the inner agent is a tool."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from shell_tools import make_inner_tool, make_tools

from hookport.adapters.langchain import guard
from hookport.host import Host

mode = sys.argv[1]
model = ChatOpenAI(model="scripted", base_url=os.environ["OPENAI_BASE_URL"], api_key="x")
middleware = [guard(Host(agent="my-agent", tools={"run_shell": "shell"}))]
tools: list[Any] = make_tools(mode)
inner = create_agent(model, [make_inner_tool()], middleware=middleware if mode == "inner" else [])


def helper(text: str) -> str:
    """Helps."""
    return str(inner.invoke({"messages": [("user", text)]})["messages"][-1].content)


if mode.startswith("inner"):
    tools.append(helper)
agent = create_agent(model, tools, middleware=middleware)
asked = {"messages": [("user", "go")]}
answer = agent.invoke(asked) if mode in ("sync", "inner") else asyncio.run(agent.ainvoke(asked))
print(answer["messages"][-1].content)
