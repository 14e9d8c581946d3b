"""Strands Agents: `Agent(model=model, tools=tools, hooks=[guard(host)])`.

The hooks are asked after all other callbacks, so that none of these changes the call later.
"""

from __future__ import annotations

from typing import Any

from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent, HookOrder, HookProvider, HookRegistry

from hookport.adapters.guard import AskPerson, Guard, as_text
from hookport.host import AsyncHost, Host


class HookportHooks(HookProvider):
    """The hooks of a host around every tool call of an agent."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:
        """Ask last before a tool, and look first after it."""
        registry.add_callback(BeforeToolCallEvent, self.before, order=HookOrder.SDK_LAST)
        registry.add_callback(AfterToolCallEvent, self.after, order=HookOrder.SDK_LAST)

    async def before(self, event: BeforeToolCallEvent) -> None:
        """Ask the hooks; a refusal is the result of the call."""
        call = event.tool_use
        permit = await self._guard.before_async(call["name"], call["input"], call_id=call["toolUseId"])
        if permit.refusal:
            event.cancel_tool = permit.refusal
            if permit.is_last:
                event.invocation_state.setdefault("request_state", {})["stop_event_loop"] = True
            return
        self._guard.keep(call["toolUseId"], permit)
        event.tool_use = {**call, "input": permit.input}

    async def after(self, event: AfterToolCallEvent) -> None:
        """Show the hooks the result."""
        call = event.tool_use
        permit = self._guard.take(call["toolUseId"])
        if permit is None or event.cancel_message:
            return
        result, about = event.result, {"call_id": call["toolUseId"]}
        if event.exception or result["status"] == "error":
            error = event.exception or _read_content(result["content"])
            await self._guard.failed_async(call["name"], permit, error, **about)
            return
        shown = _read_content(result["content"])
        text = await self._guard.after_async(call["name"], permit, shown, **about)
        if text is not shown:
            event.result = {**result, "content": [{"text": as_text(text)}]}


def guard(host: Host | AsyncHost, *, ask: AskPerson | None = None) -> HookportHooks:
    """The hooks of a host for an agent; `ask` is called where a hook wants a person to decide."""
    return HookportHooks(Guard(host, ask))


def _read_content(content: Any) -> Any:
    """The text of a result, or its blocks where they are not text alone."""
    texts = [block["text"] for block in content if "text" in block]
    return "\n".join(texts) if len(texts) == len(content) else content
