"""Google Antigravity SDK: `LocalAgentConfig(…, hooks=guard(host))`.

The SDK lets a hook decide about a call and change its arguments. Of a result it shows hooks a copy, so what
they say of one goes to the log and not to the model.
"""

from __future__ import annotations

from typing import Any

from google.antigravity import types
from google.antigravity.hooks.hooks import Hook, OnToolErrorHook, PostToolCallHook, PreToolCallDecideHook

from hookport.adapters.guard import LOG, AskPerson, Guard
from hookport.host import AsyncHost, Host, Tool, Tools

# The SDK's own tools, by the names and arguments that hooks got from version 0.1.22 in a run.
TOOLS: Tools = {
    "run_command": Tool("shell", command="CommandLine"),
    "create_file": Tool("file_write", path="TargetFile", content="CodeContent"),
    "edit_file": Tool("file_edit", path="TargetFile", old="TargetContent", new="ReplacementContent"),
    "view_file": Tool("file_read", path="AbsolutePath"),
    "read_url_content": Tool("web_fetch", url="Url"),
    "search_web": "web_search",
    "invoke_subagent": "agent",
}


class _Before(PreToolCallDecideHook):
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def run(self, context: Any, data: types.ToolCall) -> types.HookResult:
        name, call_id = str(data.name), data.id or ""
        permit = await self._guard.before_async(name, data.args, call_id=call_id)
        if permit.refusal:
            return types.HookResult(allow=False, message=permit.refusal)
        self._guard.keep(call_id, permit)
        changed = {
            key: value for key, value in permit.apply(data.args).items() if data.args.get(key) != value
        }
        if permit.context:
            LOG.warning("the model does not get what a hook said before %s: %s", name, permit.context)
        return types.HookResult(allow=True, modified_args=changed or None)


class _After(PostToolCallHook):
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def run(self, context: Any, data: types.ToolResult) -> None:
        name, call_id = str(data.name), data.id or ""
        permit = self._guard.take(call_id)
        if permit is None or data.error:
            return
        found = await self._guard.look_async(name, permit, data.result, call_id=call_id)
        if found.is_replaced or found.text:
            LOG.warning("of the result of %s, the model does not get what a hook said: %s", name, found.text)


class _Failed(OnToolErrorHook):
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def run(self, context: Any, data: Exception) -> None:
        call_id = getattr(data, "call_id", "") or ""
        if permit := self._guard.take(call_id):
            await self._guard.failed_async(getattr(data, "tool_name", ""), permit, data, call_id=call_id)


def guard(host: Host | AsyncHost, *, ask: AskPerson | None = None) -> list[Hook]:
    """The hooks of a host for the option `hooks`; `ask` is called where a hook wants a person to decide."""
    hooks = Guard(host, ask)
    return [_Before(hooks), _After(hooks), _Failed(hooks)]
