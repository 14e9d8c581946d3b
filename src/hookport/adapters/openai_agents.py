"""The OpenAI Agents SDK: `Runner.run(agent, text, hooks=guard(host))`.

A run calls its hooks right before each local tool, so a function tool is wrapped there: whichever agent of
the run has it, and wherever it came from (a handoff, an MCP server, a list that grew). A wrapped tool asks
the hooks of the run that calls it. Other local tools do not say what they are about to do, so the run ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from agents import Agent, AgentHooks, FunctionTool, RunHooks, Tool
from agents.exceptions import UserError
from agents.tool_context import ToolContext

from hookport.adapters.guard import AskPerson, Guard
from hookport.host import AsyncHost, Host

# The guard of the run that a tool runs in: an agent that is a tool makes a run of its own in it.
_AROUND: ContextVar[Guard | None] = ContextVar("hookport_guard", default=None)
# The guards of calls that are about to start, by the id of the call.
_CALLS: dict[str, Guard] = {}
_MOST_CALLS = 10_000


class _RunHooks(RunHooks[Any]):
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def on_tool_start(self, context: Any, agent: Any, tool: Tool) -> None:
        _prepare(self._guard, context, tool)


class _AgentHooks(AgentHooks[Any]):
    """For an agent that is a tool: its own run does not know the hooks of the run around it."""

    async def on_tool_start(self, context: Any, agent: Any, tool: Tool) -> None:
        if guard := _AROUND.get():
            _prepare(guard, context, tool)


def guard(host: Host | AsyncHost, *, ask: AskPerson | None = None) -> RunHooks[Any]:
    """The hooks of a host for a run; `ask` is called where a hook wants a person to decide."""
    return _RunHooks(Guard(host, ask))


def _prepare(guard: Guard, context: Any, tool: Tool) -> None:
    """Let a call that is about to start ask the hooks."""
    if not isinstance(tool, FunctionTool):
        raise UserError(
            f"{type(tool).__name__} '{tool.name}' was not run: hooks cannot see what it would do. "
            "Offer a function tool instead."
        )
    if getattr(tool, "_is_agent_tool", False):
        for agent in _list_agents(getattr(tool, "_agent_instance", None)):
            agent.hooks = agent.hooks or _AgentHooks()
            if not isinstance(agent.hooks, _AgentHooks):
                raise UserError(f"agent '{agent.name}' has hooks of its own, so its tools cannot be guarded")
    if not getattr(tool.on_invoke_tool, "is_guarded", False):
        _wrap(tool)
    if len(_CALLS) >= _MOST_CALLS:
        _CALLS.pop(next(iter(_CALLS)), None)
    _CALLS[context.tool_call_id] = guard


def _wrap(tool: FunctionTool) -> None:
    invoke = tool.on_invoke_tool

    async def invoke_guarded(context: ToolContext[Any], arguments: str) -> Any:
        guard = _CALLS.pop(context.tool_call_id, None)
        if guard is None:  # a run without hooks
            return await invoke(context, arguments)
        _AROUND.set(guard)
        call_id = context.tool_call_id
        return await guard.run_async(
            tool.name, arguments, lambda given: invoke(context, json.dumps(given)), call_id=call_id
        )

    invoke_guarded.is_guarded = True  # type: ignore[attr-defined]
    tool.on_invoke_tool = invoke_guarded


def _list_agents(agent: object, seen: tuple[object, ...] = ()) -> Iterator[Agent[Any]]:
    """An agent that is a tool, and all that it may hand over to."""
    if not isinstance(agent, Agent):
        raise UserError(f"{type(agent).__name__} cannot be guarded: it is not an Agent")
    if any(agent is other for other in seen):
        return
    yield agent
    for other in agent.handoffs:
        yield from _list_agents(other, (*seen, agent))
