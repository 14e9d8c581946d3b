"""Google ADK: `Runner(…, plugins=[guard(host)])`, for every agent of the runner.

Callbacks of an agent come after plugins, and may still change a call that hooks have judged.
"""

from __future__ import annotations

from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from hookport.adapters.guard import AskPerson, Guard
from hookport.host import AsyncHost, Host


class HookPlugin(BasePlugin):
    """The hooks of a host around every tool call of a runner."""

    def __init__(self, guard: Guard) -> None:
        super().__init__(name="hookport")
        self._guard = guard

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Ask the hooks; a refusal is the result of the call, and changes go into the arguments in place."""
        call_id = tool_context.function_call_id or ""
        permit = await self._guard.before_async(tool.name, tool_args, call_id=call_id)
        if permit.refusal:
            return {"error": permit.refusal}
        self._guard.keep(call_id, permit)
        changed = permit.apply(tool_args)
        tool_args.clear()
        tool_args.update(changed)
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        """Show the hooks the result."""
        call_id = tool_context.function_call_id or ""
        permit = self._guard.take(call_id)
        if permit is None:
            return None
        shown = _unwrap(result)
        changed = await self._guard.after_async(tool.name, permit, shown, call_id=call_id)
        if changed is shown:
            return None
        return changed if isinstance(changed, dict) else {"result": changed}

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> None:
        """Tell the hooks that the tool failed."""
        call_id = tool_context.function_call_id or ""
        if permit := self._guard.take(call_id):
            await self._guard.failed_async(tool.name, permit, error, call_id=call_id)


def guard(host: Host | AsyncHost, *, ask: AskPerson | None = None) -> HookPlugin:
    """The hooks of a host as a plugin; `ask` is called where a hook wants a person to decide."""
    return HookPlugin(Guard(host, ask))


def _unwrap(result: Any) -> Any:
    """What the tool returned; ADK puts all but objects under one key."""
    return result["result"] if isinstance(result, dict) and set(result) == {"result"} else result
