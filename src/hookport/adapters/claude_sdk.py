"""Claude Agent SDK: `ClaudeAgentOptions(hooks=guard(host))`.

The tools are those of the command line agent that the SDK starts, so the host is made with its id. A callback
that fails blocks the call. Hooks in settings files, which the SDK loads with `setting_sources`, run as well.
"""

from __future__ import annotations

from typing import Any

from claude_agent_sdk import HookMatcher

from hookport.adapters.guard import AskPerson, Guard, Permit
from hookport.host import AsyncHost, Host


class _Callbacks:
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def before(self, about: Any, call_id: str | None, _context: Any) -> dict[str, Any]:
        """Ask the hooks; without an opinion the agent's own permissions decide."""
        permit = await self._guard.before_async(
            about["tool_name"], about["tool_input"], **_read(about, call_id)
        )
        output: dict[str, Any] = {"hookEventName": about["hook_event_name"]}
        if permit.refusal:
            output |= {"permissionDecision": "deny", "permissionDecisionReason": permit.refusal}
            last = {"continue_": False, "stopReason": permit.refusal} if permit.is_last else {}
            return {**last, "hookSpecificOutput": output}
        self._guard.keep(call_id or "", permit)
        if permit.input != about["tool_input"]:
            output["updatedInput"] = permit.input
        if permit.context:
            output["additionalContext"] = permit.context
        return {"hookSpecificOutput": output} if len(output) > 1 else {}

    async def after(self, about: Any, call_id: str | None, _context: Any) -> dict[str, Any]:
        """Show the hooks the result; what they say of it goes beside it."""
        permit = self._guard.take(call_id or "") or Permit(input=about["tool_input"])
        shown = about["tool_response"]
        found = await self._guard.look_async(about["tool_name"], permit, shown, **_read(about, call_id))
        output: dict[str, Any] = {"hookEventName": about["hook_event_name"]}
        if found.is_replaced:
            output["updatedToolOutput"] = _shape(found.result, shown)
        if found.text:
            output["additionalContext"] = found.text
        return {"hookSpecificOutput": output} if len(output) > 1 else {}

    async def failed(self, about: Any, call_id: str | None, _context: Any) -> dict[str, Any]:
        """Tell the hooks that the tool failed."""
        permit = self._guard.take(call_id or "") or Permit(input=about["tool_input"])
        await self._guard.failed_async(about["tool_name"], permit, about["error"], **_read(about, call_id))
        return {}


def guard(host: Host | AsyncHost, *, ask: AskPerson | None = None) -> Any:
    """The hooks of a host for the option `hooks`; `ask` is called where a hook wants a person to decide."""
    callbacks = _Callbacks(Guard(host, ask))
    return {
        "PreToolUse": [HookMatcher(hooks=[callbacks.before], on_failure="block")],
        "PostToolUse": [HookMatcher(hooks=[callbacks.after])],
        "PostToolUseFailure": [HookMatcher(hooks=[callbacks.failed])],
    }


def _read(about: Any, call_id: str | None) -> dict[str, Any]:
    given = {"session": about["session_id"], "cwd": about["cwd"], "call_id": call_id or ""}
    return given | ({"subagent": about["agent_id"]} if about.get("agent_id") else {})


def _shape(result: Any, shown: Any) -> Any:
    """A result in the shape of the tool's own: the agent drops any other, and shows the original."""
    if isinstance(shown, dict) and "stdout" in shown and isinstance(result, str):
        return {**shown, "stdout": result, "stderr": ""}
    return result
