"""The OpenAI Agents SDK: `Runner.run(agent, text, hooks=guard(host))`.

A run calls its hooks right before each local tool, so a function tool is wrapped there: whichever agent of
the run has it, and wherever it came from (a handoff, an MCP server, a list that grew). The SDK's other local
tools do not say what they are about to do, so the run ends before they do it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agents import Agent, AgentHooks, FunctionTool, RunHooks, Tool
from agents.exceptions import UserError
from agents.tool_context import ToolContext

from hookport.adapters.guard import AskPerson, Guard
from hookport.host import AsyncHost, Host


class _RunHooks(RunHooks[Any]):
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def on_tool_start(self, context: Any, agent: Any, tool: Tool) -> None:
        _wrap(self._guard, tool)


class _AgentHooks(AgentHooks[Any]):
    """The same for an agent that is a tool: its own run does not know the hooks of the run around it."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard

    async def on_tool_start(self, context: Any, agent: Any, tool: Tool) -> None:
        _wrap(self.guard, tool)


def guard(host: Host | AsyncHost, *, ask: AskPerson | None = None) -> RunHooks[Any]:
    """The hooks of a host for a run; `ask` is called where a hook wants a person to decide."""
    return _RunHooks(Guard(host, ask))


def _wrap(guard: Guard, tool: Tool) -> None:
    """Let a tool ask the hooks whenever it is called."""
    if not isinstance(tool, FunctionTool):
        raise UserError(
            f"{type(tool).__name__} '{tool.name}' was not run: hooks cannot see what it would do. "
            "Offer a function tool instead."
        )
    if getattr(tool, "_is_agent_tool", False):
        for agent in _list_agents(getattr(tool, "_agent_instance", None)):
            _guard_agent(guard, agent)
    invoke = tool.on_invoke_tool
    if getattr(invoke, "guard", None) is guard:
        return

    async def invoke_guarded(context: ToolContext[Any], arguments: str) -> Any:
        return await guard.run_async(
            tool.name,
            arguments,
            lambda given: invoke(context, json.dumps(given)),
            call_id=context.tool_call_id,
        )

    invoke_guarded.guard = guard  # type: ignore[attr-defined]
    tool.on_invoke_tool = invoke_guarded


def _guard_agent(guard: Guard, agent: Agent[Any]) -> None:
    if agent.hooks is None:
        agent.hooks = _AgentHooks(guard)
    elif getattr(agent.hooks, "guard", None) is not guard:
        raise UserError(f"agent '{agent.name}' has hooks of its own, so its tools cannot be guarded")


def _list_agents(agent: object, seen: tuple[object, ...] = ()) -> Iterator[Agent[Any]]:
    """An agent that is a tool, and all that it may hand over to."""
    if not isinstance(agent, Agent):
        raise UserError(f"{type(agent).__name__} cannot be guarded: it is not an Agent")
    if any(agent is other for other in seen):
        return
    yield agent
    for other in agent.handoffs:
        yield from _list_agents(other, (*seen, agent))
