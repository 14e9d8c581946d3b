"""An agent of CrewAI: by itself, in a crew, and with a coworker."""

from __future__ import annotations

import asyncio
import os
import sys

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from shell_tools import make_inner_tool, make_tools

from hookport.adapters.crewai import guard
from hookport.host import Host

mode = sys.argv[1]
guard(Host(agent="my-agent", tools={"run_shell": "shell"}))
llm = LLM(model="openai/scripted", base_url=os.environ["OPENAI_BASE_URL"], api_key="x")
kind = "sync" if mode in ("sync", "crew") else mode
agent = Agent(
    role="agent",
    goal="goal",
    backstory="story",
    tools=[tool(each.__name__)(each) for each in make_tools("sync")],
    llm=llm,
    allow_delegation=mode == "inner",
)
helper = Agent(
    role="helper", goal="goal", backstory="story", tools=[tool("run_shell")(make_inner_tool())], llm=llm
)
if mode == "sync":
    print(agent.kickoff("go").raw)
elif mode == "async":
    print(asyncio.run(agent.kickoff_async("go")).raw)
else:
    task = Task(description="go", expected_output="text", agent=agent)
    print(Crew(agents=[agent, helper] if mode == "inner" else [agent], tasks=[task]).kickoff().raw)
