"""CrewAI: `guard(host)`, once for the process, before agents run.

CrewAI keeps its hooks for the whole process, so they guard every crew and every agent in it. It ignores a
hook that fails, so a failure here is a refusal.
"""

from __future__ import annotations

import threading
from typing import Any

from crewai.hooks import register_after_tool_call_hook, register_before_tool_call_hook
from crewai.hooks.tool_hooks import ToolCallHookContext

from hookport.adapters.guard import AskPerson, Guard, Permit, as_text
from hookport.host import AsyncHost, Host


class _Hooks:
    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        # By the arguments of a call: CrewAI has no id for one, and keeps this object from before to after.
        self._permits: dict[int, tuple[dict[str, Any], Permit]] = {}
        self._turn = threading.Lock()

    def before(self, context: ToolCallHookContext) -> bool | None:
        given = context.tool_input
        try:
            permit = self._guard.before(context.tool_name, given)
        except Exception as error:  # noqa: BLE001  (CrewAI would run the tool)
            permit = Permit(f"Denied: the hooks could not be asked: {type(error).__name__}: {error}")
        with self._turn:
            self._permits[id(given)] = (given, permit)
        if permit.refusal:
            return False
        changed = permit.apply(given)
        given.clear()
        given.update(changed)
        return None

    def after(self, context: ToolCallHookContext) -> str | None:
        with self._turn:
            _, permit = self._permits.pop(id(context.tool_input), (None, None))
        if permit is None:
            return None
        if permit.refusal:
            return permit.refusal
        shown = context.tool_result
        text = self._guard.after(context.tool_name, permit, shown)
        return None if text is shown else as_text(text)


def guard(host: Host | AsyncHost, *, ask: AskPerson | None = None) -> None:
    """Let the hooks of a host guard this process; `ask` is called where a hook wants a person to decide."""
    hooks = _Hooks(Guard(host, ask))
    register_before_tool_call_hook(hooks.before)
    register_after_tool_call_hook(hooks.after)
