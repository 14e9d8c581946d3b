"""An agent of Google ADK; the inner agents are one that it hands over to, and one that is a tool."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from shell_tools import make_inner_tool, make_tools

from hookport.adapters.google_adk import guard
from hookport.host import Host

mode = sys.argv[1]
MODEL = "gemini-2.5-flash"
helper = LlmAgent(name="helper", model=MODEL, description="Helps.", tools=[make_inner_tool()])
tools: list[Any] = make_tools(mode)
if mode == "inner":
    tools.append(AgentTool(agent=helper))
agent = LlmAgent(name="agent", model=MODEL, tools=tools, sub_agents=[helper] if mode == "handoff" else [])
plugin = guard(Host(agent="my-agent", tools={"run_shell": "shell"}))
runner = InMemoryRunner(agent=agent, app_name="app", plugins=[plugin])
text = types.Content(role="user", parts=[types.Part(text="go")])
session = asyncio.run(runner.session_service.create_session(app_name="app", user_id="dev"))


async def go() -> str:
    last = ""
    async for event in runner.run_async(user_id="dev", session_id=session.id, new_message=text):
        parts = event.content.parts if event.content and event.content.parts else []
        last = "".join(part.text or "" for part in parts) or last
    return last


if mode == "sync":
    for _ in runner.run(user_id="dev", session_id=session.id, new_message=text):
        pass
else:
    print(asyncio.run(go()))
