"""Hooks for agents that you build: one call before and after each tool, in any thread or event loop.

`Host` blocks until the hooks have decided, `AsyncHost` has the same methods as coroutines. Many threads or
tasks may use one at once, and it changes nothing of the process that it is in.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar, Unpack

from hookport.host.approval import Unapproved, UnapprovedHook, approve, find_unapproved
from hookport.host.engine import Engine, EventRun, HostOptions, make_engine
from hookport.host.events import EventFields, EventName, EventOptions
from hookport.host.outcome import Outcome, Run, Status, Verdict
from hookport.host.tools import McpTool, Tool, Tools

__all__ = [
    "AsyncHost",
    "EventFields",
    "EventName",
    "EventOptions",
    "Host",
    "HostOptions",
    "McpTool",
    "Outcome",
    "Run",
    "Status",
    "Tool",
    "Tools",
    "Unapproved",
    "UnapprovedHook",
    "Verdict",
]

# How long a cancelled task waits for the end of its hooks, which are killed.
_END_SECONDS = 2.0


class _Base:
    """What both hosts are made of."""

    def __init__(self, root: str | os.PathLike[str] = ".", **options: Unpack[HostOptions]) -> None:
        """Make a host for the hooks of the project at `root` and those of its user."""
        self._engine: Engine = make_engine(root, options)

    @property
    def root(self) -> str:
        """The folder of the host, absolute."""
        return self._engine.root

    @property
    def session(self) -> str:
        """The conversation that an event belongs to unless it names another."""
        return self._engine.session

    def as_blocking(self) -> Host:
        """The same host for code without an event loop."""
        return _share(Host, self._engine)

    def as_async(self) -> AsyncHost:
        """The same host for code in an event loop."""
        return _share(AsyncHost, self._engine)


class Host(_Base):
    """Asks hooks, and blocks until they have decided. Any number of threads may share one."""

    def before_tool(self, tool: str, input: Mapping[str, Any], **options: Unpack[EventOptions]) -> Outcome:
        """Ask before a tool runs: `deny` means not to run it and to give the model the reason."""
        return self.fire("before_tool_execute", tool=tool, input=input, **options)

    def after_tool(
        self, tool: str, input: Mapping[str, Any], result: object, **options: Unpack[EventOptions]
    ) -> Outcome:
        """Tell that a tool ran: `outcome.result` is the result to go on with."""
        return self.fire("after_tool_execute", tool=tool, input=input, result=result, **options)

    def session_start(self, source: str = "startup", **options: Unpack[EventOptions]) -> Outcome:
        """Tell that a conversation begins: `outcome.context` is for the model."""
        return self.fire("session_start", source=source, **options)

    def session_end(self, source: str = "other", **options: Unpack[EventOptions]) -> Outcome:
        """Tell that a conversation ended."""
        return self.fire("session_end", source=source, **options)

    def before_prompt(self, prompt: str, **options: Unpack[EventOptions]) -> Outcome:
        """Ask before the model gets what the user wrote."""
        return self.fire("before_prompt", prompt=prompt, **options)

    def agent_stop(self, final_message: str = "", **options: Unpack[EventOptions]) -> Outcome:
        """Ask before the agent stops: `deny` means to go on, with the reason as what is left to do."""
        return self.fire("agent_stop", final_message=final_message, **options)

    def fire(self, event: EventName, **fields: Unpack[EventFields]) -> Outcome:
        """Fire any event of the registry."""
        run = self._engine.begin(event, fields)
        try:
            run.wait()
        except BaseException:
            _end(run)
            raise
        return run.get_outcome()

    def unapproved(self) -> Unapproved:
        """The hooks of the project that do not run because the user has not approved them as they are."""
        return find_unapproved(self.root, self._engine.env)

    def approve(self, shown: Unapproved) -> None:
        """Approve what the user was shown, and agreed to; ValueError if the hooks changed since."""
        approve(shown, self._engine.env)


class AsyncHost(_Base):
    """The same with coroutines: the loop never waits, and a cancelled task ends its hooks."""

    async def before_tool(
        self, tool: str, input: Mapping[str, Any], **options: Unpack[EventOptions]
    ) -> Outcome:
        """Ask before a tool runs: `deny` means not to run it and to give the model the reason."""
        return await self.fire("before_tool_execute", tool=tool, input=input, **options)

    async def after_tool(
        self, tool: str, input: Mapping[str, Any], result: object, **options: Unpack[EventOptions]
    ) -> Outcome:
        """Tell that a tool ran: `outcome.result` is the result to go on with."""
        return await self.fire("after_tool_execute", tool=tool, input=input, result=result, **options)

    async def session_start(self, source: str = "startup", **options: Unpack[EventOptions]) -> Outcome:
        """Tell that a conversation begins: `outcome.context` is for the model."""
        return await self.fire("session_start", source=source, **options)

    async def session_end(self, source: str = "other", **options: Unpack[EventOptions]) -> Outcome:
        """Tell that a conversation ended."""
        return await self.fire("session_end", source=source, **options)

    async def before_prompt(self, prompt: str, **options: Unpack[EventOptions]) -> Outcome:
        """Ask before the model gets what the user wrote."""
        return await self.fire("before_prompt", prompt=prompt, **options)

    async def agent_stop(self, final_message: str = "", **options: Unpack[EventOptions]) -> Outcome:
        """Ask before the agent stops: `deny` means to go on, with the reason as what is left to do."""
        return await self.fire("agent_stop", final_message=final_message, **options)

    async def fire(self, event: EventName, **fields: Unpack[EventFields]) -> Outcome:
        """Fire any event of the registry."""
        run = self._engine.begin(event, fields)
        over = asyncio.Event()
        loop = asyncio.get_running_loop()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(over.set)

        run.when_over(tell)
        try:
            await over.wait()
        except asyncio.CancelledError:
            run.cancel()
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), _END_SECONDS)
            raise
        return run.get_outcome()

    async def unapproved(self) -> Unapproved:
        """The hooks of the project that do not run because the user has not approved them as they are."""
        return await asyncio.to_thread(find_unapproved, self.root, self._engine.env)

    async def approve(self, shown: Unapproved) -> None:
        """Approve what the user was shown, and agreed to; ValueError if the hooks changed since."""
        await asyncio.to_thread(approve, shown, self._engine.env)


_Kind = TypeVar("_Kind", bound=_Base)


def _share(kind: type[_Kind], engine: Engine) -> _Kind:
    """Another view of one engine, with all that it remembers."""
    host = object.__new__(kind)
    host._engine = engine
    return host


def _end(run: EventRun) -> None:
    """End the hooks of an event that nobody waits for any more."""
    run.cancel()
    run.wait(_END_SECONDS)
