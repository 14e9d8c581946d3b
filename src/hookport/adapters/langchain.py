"""LangChain and LangGraph: `create_agent(model, tools, middleware=[guard(host)])`.

The middleware must be the last one: what stands behind it may still change a call that hooks have
judged. In a graph of your own, `ToolNode(tools, wrap_tool_call=…, awrap_tool_call=…)` takes its two methods.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from hookport.adapters.guard import AskPerson, Guard, Permit, as_text
from hookport.host import AsyncHost, Host

Answer: TypeAlias = ToolMessage | Command[Any]


class HookMiddleware(AgentMiddleware[Any, Any]):
    """The hooks of a host around every tool call of an agent."""

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answer]
    ) -> Answer:
        """Run a tool with the hooks around it."""
        name, about = _read(request)
        permit = self._guard.before(name, request.tool_call["args"], **about)
        if permit.refusal:
            return _refuse(request, permit)
        try:
            answer = handler(_permit(request, permit))
        except GraphBubbleUp:
            raise
        except Exception as error:
            self._guard.failed(name, permit, error, **about)
            raise
        message = _find_message(answer, about["call_id"])
        if message is not None and message.status == "error":
            self._guard.failed(name, permit, message.content, **about)
            return answer
        shown = answer if message is None else message.content
        return _replace(answer, message, self._guard.after(name, permit, shown, **about))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        """Run a tool with the hooks around it, in an event loop."""
        name, about = _read(request)
        permit = await self._guard.before_async(name, request.tool_call["args"], **about)
        if permit.refusal:
            return _refuse(request, permit)
        try:
            answer = await handler(_permit(request, permit))
        except GraphBubbleUp:
            raise
        except Exception as error:
            await self._guard.failed_async(name, permit, error, **about)
            raise
        message = _find_message(answer, about["call_id"])
        if message is not None and message.status == "error":
            await self._guard.failed_async(name, permit, message.content, **about)
            return answer
        shown = answer if message is None else message.content
        return _replace(answer, message, await self._guard.after_async(name, permit, shown, **about))


def guard(host: Host | AsyncHost, *, ask: AskPerson | None = None) -> HookMiddleware:
    """The hooks of a host as middleware; `ask` is called where a hook wants a person to decide."""
    return HookMiddleware(Guard(host, ask))


def _read(request: ToolCallRequest) -> tuple[str, dict[str, Any]]:
    return request.tool_call["name"], {"call_id": request.tool_call["id"] or ""}


def _permit(request: ToolCallRequest, permit: Permit) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": permit.input})


def _refuse(request: ToolCallRequest, permit: Permit) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(permit.refusal, tool_call_id=call["id"], name=call["name"], status="error")


def _find_message(answer: Answer, call_id: str) -> ToolMessage | None:
    """The message with the result; a command may carry it."""
    if isinstance(answer, ToolMessage):
        return answer
    messages = answer.update.get("messages", []) if isinstance(answer.update, dict) else []
    return next((one for one in messages if getattr(one, "tool_call_id", None) == call_id), None)


def _replace(answer: Answer, message: ToolMessage | None, content: Any) -> Answer:
    if message is not None:
        message.content = content if isinstance(content, list) else as_text(content)
    return answer
