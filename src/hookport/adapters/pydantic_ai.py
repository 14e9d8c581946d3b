"""Pydantic AI: `Agent(model, tools=tools, capabilities=[guard(host)])`.

Hooks judge the arguments after validation, innermost of all capabilities, so that none changes them later.
What a hook changes is not validated again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai import RunContext, ToolDefinition
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import SkipToolExecution
from pydantic_ai.messages import ToolCallPart

from hookport.adapters.guard import AskPerson, Guard, Permit
from hookport.host import AsyncHost, Host


@dataclass
class HookCapability(AbstractCapability[Any]):
    """The hooks of a host around every tool call of an agent."""

    guard: Guard

    def get_ordering(self) -> CapabilityOrdering:
        """Come after all others."""
        return CapabilityOrdering(position="innermost")

    async def before_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any]
    ) -> dict[str, Any]:
        """Ask the hooks; a refusal is the result of the call."""
        permit = await self.guard.before_async(call.tool_name, args, call_id=call.tool_call_id)
        if permit.refusal:
            raise SkipToolExecution(permit.refusal)
        self.guard.keep(call.tool_call_id, permit)
        return permit.apply(args)

    async def after_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        result: Any,
    ) -> Any:
        """Show the hooks the result."""
        permit = self.guard.take(call.tool_call_id) or Permit(input=dict(args))
        return await self.guard.after_async(call.tool_name, permit, result, call_id=call.tool_call_id)

    async def on_tool_execute_error(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        error: Exception,
    ) -> Any:
        """Tell the hooks that the tool failed."""
        permit = self.guard.take(call.tool_call_id) or Permit(input=dict(args))
        await self.guard.failed_async(call.tool_name, permit, error, call_id=call.tool_call_id)
        raise error


def guard(host: Host | AsyncHost, *, ask: AskPerson | None = None) -> HookCapability:
    """The hooks of a host as a capability; `ask` is called where a hook wants a person to decide."""
    return HookCapability(Guard(host, ask))
