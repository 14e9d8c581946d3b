"""An agent of Strands; the inner agent is a tool."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from shell_tools import make_inner_tool, make_tools
from strands import Agent, tool
from strands.models.openai import OpenAIModel

from hookport.adapters.strands import guard
from hookport.host import Host

mode = sys.argv[1]


def make_model() -> OpenAIModel:
    return OpenAIModel(
        client_args={"api_key": "x", "base_url": os.environ["OPENAI_BASE_URL"]}, model_id="scripted"
    )


host = Host(agent="my-agent", tools={"run_shell": "shell"})
tools: list[Any] = [tool(each) for each in make_tools(mode)]
if mode.startswith("inner"):
    hooks = [guard(host)] if mode == "inner" else []
    inner = Agent(
        name="helper",
        model=make_model(),
        tools=[tool(make_inner_tool())],
        hooks=hooks,
        callback_handler=None,
    )
    tools.append(inner.as_tool())
agent = Agent(model=make_model(), tools=tools, hooks=[guard(host)], callback_handler=None)
print(agent("go") if mode == "sync" else asyncio.run(agent.invoke_async("go")))
