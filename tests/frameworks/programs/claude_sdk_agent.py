"""An agent of the Claude Agent SDK; the inner agent is its own subagent."""

from __future__ import annotations

import asyncio
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

from hookport.adapters.claude_sdk import guard
from hookport.host import Host

options = ClaudeAgentOptions(
    cwd=str(Path.cwd()),
    permission_mode="bypassPermissions",
    hooks=guard(Host(agent="claude-code")),
)


async def go() -> None:
    async for message in query(prompt="go", options=options):
        if isinstance(message, ResultMessage):
            print(message.result)


asyncio.run(go())
