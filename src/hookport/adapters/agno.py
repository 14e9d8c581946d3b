"""Agno: `Agent(model=model, tools=tools, tool_hooks=[guard(host)])`, the last of the list.

Agno skips a coroutine function where a tool is called without an event loop, so the hook is a plain function
that follows the tool. What a hook changes goes into the arguments in place: Agno calls the tool with these.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any

from hookport.adapters.guard import AskPerson, Guard
from hookport.host import AsyncHost, Host


def guard(host: Host | AsyncHost, *, ask: AskPerson | None = None) -> Callable[..., Any]:
    """The hooks of a host as a tool hook; `ask` is called where a hook wants a person to decide."""
    hooks = Guard(host, ask)

    def hookport(function_name: str, function_call: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        def call(given: dict[str, Any]) -> Any:
            changed = {key: value for key, value in given.items() if arguments.get(key) is not value}
            for key in [key for key in arguments if key not in given]:
                del arguments[key]
            arguments.update(changed)
            return function_call(**arguments)

        run = hooks.run_async if iscoroutinefunction(function_call) else hooks.run
        return run(function_name, arguments, call)

    return hookport
