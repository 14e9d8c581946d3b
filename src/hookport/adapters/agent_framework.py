"""Microsoft Agent Framework: `Agent(client, tools=tools, middleware=[guard(host)])`, the last of the list.

What stands behind it may still change a call that hooks have judged.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agent_framework import FunctionInvocationContext, FunctionMiddleware, MiddlewareException
from agent_framework.exceptions import UserInputRequiredException

from hookport.adapters.guard import AskPerson, Guard, as_text
from hookport.host import AsyncHost, Host


class HookMiddleware(FunctionMiddleware):
    """The hooks of a host around every function of an agent."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        """Run a function with the hooks around it."""
        name, call_id = context.function.name, str(context.metadata.get("call_id") or "")
        given = context.arguments
        permit = await self._guard.before_async(name, given, call_id=call_id)
        if permit.refusal:
            context.result = permit.refusal
            return
        if isinstance(given, dict):
            context.arguments = permit.apply(given)
        else:
            context.arguments = permit.input
        try:
            await call_next()
        except (MiddlewareException, UserInputRequiredException):
            raise
        except Exception as error:
            await self._guard.failed_async(name, permit, error, call_id=call_id)
            raise
        shown = _read_content(context.result)
        text = await self._guard.after_async(name, permit, shown, call_id=call_id)
        if text is not shown:
            context.result = as_text(text)


def guard(host: Host | AsyncHost, *, ask: AskPerson | None = None) -> HookMiddleware:
    """The hooks of a host as middleware; `ask` is called where a hook wants a person to decide."""
    return HookMiddleware(Guard(host, ask))


def _read_content(result: Any) -> Any:
    """The text of a result, where it is text alone."""
    if not isinstance(result, list):
        return result
    texts = [part.text for part in result if getattr(part, "type", "") == "text"]
    return "\n".join(texts) if len(texts) == len(result) else result
