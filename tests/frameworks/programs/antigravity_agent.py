"""An agent of the Antigravity SDK, with its own shell."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from google.antigravity import Agent
from google.antigravity.connections.local.local_openai_connection_config import LocalOpenAIAgentConfig
from google.antigravity.hooks import policy
from shell_tools import make_tools

from hookport.adapters.antigravity import TOOLS, guard
from hookport.host import Host

mode = sys.argv[1]
config = LocalOpenAIAgentConfig(
    model="scripted",
    base_url=os.environ["OPENAI_BASE_URL"],
    tools=make_tools(mode)[1:],
    policies=[policy.allow_all()],
    hooks=guard(Host(agent="my-agent", tools=TOOLS)),
    workspaces=[str(Path.cwd())],
)


async def go() -> None:
    async with Agent(config) as agent:
        print(await (await agent.chat("go")).text())


asyncio.run(go())
