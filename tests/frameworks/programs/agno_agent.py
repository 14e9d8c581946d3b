"""An agent of Agno; the inner agent is a member of a team."""

from __future__ import annotations

import asyncio
import os
import sys

from agno.agent import Agent
from agno.models.openai import OpenAIChat
from agno.team import Team
from shell_tools import make_inner_tool, make_tools

from hookport.adapters.agno import guard
from hookport.host import Host

mode = sys.argv[1]
model = OpenAIChat(id="scripted", base_url=os.environ["OPENAI_BASE_URL"], api_key="x")
hooks = [guard(Host(agent="my-agent", tools={"run_shell": "shell"}))]
if mode.startswith("inner"):
    member = Agent(
        name="helper",
        model=model,
        tools=[make_inner_tool()],
        tool_hooks=hooks if mode == "inner" else None,
        telemetry=False,
    )
    team = Team(members=[member], model=model, tools=make_tools("sync"), tool_hooks=hooks, telemetry=False)
    print(team.run("go").content)
else:
    agent = Agent(model=model, tools=make_tools(mode), tool_hooks=hooks, telemetry=False)
    print((agent.run("go") if mode == "sync" else asyncio.run(agent.arun("go"))).content)
