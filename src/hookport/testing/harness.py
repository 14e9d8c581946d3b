"""Tests of hooks in Python: make an event in one line, get a hook's decision or the answer for any agent.

    decide(no_force_push, before_tool(command="git push --force"))

The functions that make events are named like the decorators.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple

from hookport import agents as dialects
from hookport.agents import get_wire
from hookport.base.tree import Tree
from hookport.errors import UsageError, suggest_closest
from hookport.model.events import EVENTS
from hookport.model.runs import Answer, Call, Decision, RunResult
from hookport.model.runs import Event as CanonicalEvent
from hookport.model.tools import TOOLS
from hookport.runtime.handlers import read_answer
from hookport.runtime.merge import merge_decisions
from hookport.runtime.occasion import parse_payload
from hookport.runtime.plan import PlannedHook
from hookport.sdk import hooks, replies
from hookport.sdk.callers import Caller
from hookport.sdk.events import Event
from hookport.sdk.functions import EventOrigin, judge_failures, run_functions
from hookport.sdk.hooks import Bound
from hookport.wire.events import find_fired_native, read_event, write_event
from hookport.wire.recognition import VARIABLE, seal_payload
from hookport.wire.table import Wire

__all__ = [
    "Reply",
    "after_tool",
    "agent_stop",
    "agents",
    "before_prompt",
    "before_tool",
    "decide",
    "event",
    "expect",
    "payload",
    "send",
    "session_end",
    "session_start",
]

if TYPE_CHECKING:
    from hookport.sdk.hooks import Function

    Hook = Function | ModuleType | str | Path | list[Function] | tuple[Function, ...]

Verdict = Literal["none", "allow", "ask", "deny"]

SESSION, PROJECT = "a-session", "/home/dev/project"
# The tool with such a field, the most specific first.
TOOL_OF = {
    "command": "shell",
    "old": "file_edit",
    "new": "file_edit",
    "content": "file_write",
    "path": "file_read",
    "url": "web_fetch",
    "query": "web_search",
    "pattern": "search",
}
_numbers = count()


class Reply(NamedTuple):
    """The answer that a hook file printed, and the agent's reading of it as a decision."""

    decision: Decision
    stdout: str
    stderr: str
    exit_code: int


def before_tool(tool: str = "", /, *, input: Mapping[str, Tree] | None = None, **fields: Tree) -> Event:
    """Make an event before a tool call; `command=…` means the tool `shell`, `content=…` means `file_write`.

    An MCP tool is named `mcp__SERVER__TOOL`. The fields are those of the tool's input; `cwd` and
    `session_id` belong to the event.
    """
    return _make_tool_event("before_tool_execute", tool, {**(input or {}), **fields})


def after_tool(
    tool: str = "", /, *, output: str = "", input: Mapping[str, Tree] | None = None, **fields: Tree
) -> Event:
    """Make an event after a tool call, with the text of its result."""
    return _make_tool_event(
        "after_tool_execute", tool, {**(input or {}), **fields}, result=output, text=output
    )


def before_prompt(prompt: str, *, cwd: str = PROJECT) -> Event:
    """Make an event before a prompt."""
    return event("before_prompt", prompt=prompt, cwd=cwd)


def session_start(source: str = "startup", *, cwd: str = PROJECT) -> Event:
    """Make an event at a session's start."""
    return event("session_start", source=source, cwd=cwd)


def session_end(source: str = "exit", *, cwd: str = PROJECT) -> Event:
    """Make an event at a session's end."""
    return event("session_end", source=source, cwd=cwd)


def agent_stop(final_message: str = "", *, stop_active: bool = False, cwd: str = PROJECT) -> Event:
    """Make an event before the agent stops; `stop_active` if a hook already kept it from stopping."""
    return event("agent_stop", final_message=final_message, stop_active=stop_active, cwd=cwd)


def event(name: str, /, *, session_id: str = SESSION, cwd: str = PROJECT, **attributes: Tree) -> Event:
    """Make any event by canonical name; `prompt`, `source`, `subagent` … are those of `hookport.Event`."""
    if name not in EVENTS and ":" not in name:
        raise UsageError(f"unknown event '{name}'.{suggest_closest(name, tuple(EVENTS))}")
    return Event(CanonicalEvent(name, "", session=session_id, cwd=cwd, root=cwd, **attributes))


def _make_tool_event(name: str, tool: str, fields: Mapping[str, Tree], **result: Tree) -> Event:
    attributes = {key: fields[key] for key in ("cwd", "session_id") if key in fields}
    tool_input = {key: value for key, value in fields.items() if key not in attributes}
    tool = tool or next((TOOL_OF[key] for key in TOOL_OF if key in tool_input), "")
    if not tool:
        raise UsageError('missing tool. Name it first: before_tool("shell", …).')
    server, mcp_tool = "", ""
    if tool.startswith("mcp__"):
        _, server, mcp_tool = tool.split("__", 2)
    call = Call(
        tool if tool in TOOLS else "",
        tool,
        input=tool_input,
        raw=tool_input,
        server=server,
        mcp_tool=mcp_tool,
    )
    return event(name, call=call.replace(**result), **attributes)


def agents(about: Event | str | None = None) -> tuple[str, ...]:
    """List the ids of all agents, or of those that have an event."""
    if about is None:
        return dialects.list_agents()
    happened = about.happened if isinstance(about, Event) else CanonicalEvent(about, "")
    return tuple(name for name in dialects.list_agents() if find_fired_native(get_wire(name), happened))


def payload(agent: str, about: Event) -> dict[str, Tree]:
    """Make the payload that an agent would send for an event; `agent` may also be the id of a format."""
    agent_wire = get_wire(agent)
    if not find_fired_native(agent_wire, about.happened):
        have = ", ".join(agents(about)) or "no agent"
        raise UsageError(f"{agent} has no event for {about!r}. These have: {have}.")
    return write_event(agent_wire, about.happened)


def decide(hook: Hook, about: Event, *, agent: str = "", on_failure: str = "") -> Decision:
    """Return a hook's decision on an event; the hook is a function, several, a module, or a file's path.

    With an agent, it is that agent's reading of the answer: where it cannot ask, an ask is a deny. An
    exception is raised; with `on_failure`, `open` or `closed`, it is decided as in a run.
    """
    functions = _find_bound(hook)
    if agent:
        body, caller = _prepare_payload(agent, about)
        policy = replies.check_policy(on_failure)
        answer = replies.reply(parse_payload(body), functions, {}, policy, caller, catches=bool(policy))
        return _read_decision(answer, caller, body)
    origin = EventOrigin(about.raw, about.agent)
    report = run_functions(about.happened, functions, Wire(), origin, catches=bool(on_failure))
    judged = judge_failures(report, replies.check_policy(on_failure))
    return merge_decisions([report.decision, *judged])


def send(
    file: str | Path,
    about: Event,
    *,
    agent: str,
    env: Mapping[str, str] | None = None,
    timeout_seconds: float = 60.0,
) -> Reply:
    """Run a hook file as an agent does, and read its answer as that agent does."""
    body, caller = _prepare_payload(agent, about)
    ours = {name: value for name, value in os.environ.items() if not name.startswith("HOOKPORT_")}
    places = [str(Path(dialects.__file__).parents[2]), ours.get("PYTHONPATH", "")]
    ours |= {
        VARIABLE: seal_payload(body, agent, caller.native),
        "PYTHONPATH": os.pathsep.join(filter(None, places)),
    }
    finished = subprocess.run(
        [sys.executable, str(file)],
        input=body,
        env={**ours, **(env or {})},
        capture_output=True,
        timeout=timeout_seconds,
        check=False,
    )
    answer = Answer(
        finished.stdout.decode(errors="replace"),
        finished.stderr.decode(errors="replace"),
        finished.returncode,
    )
    return Reply(_read_decision(answer, caller, body), answer.stdout, answer.stderr, answer.exit_code)


def expect(  # noqa: PLR0913  (what is expected, each by its name)
    hook: Hook,
    about: Event,
    verdict: Verdict,
    *,
    agent: str = "",
    reason_contains: str = "",
    context_contains: str = "",
    updated_input: Mapping[str, Tree] | None = None,
) -> Decision:
    """Assert a hook's decision; `none` is no opinion."""
    __tracebackhide__ = True
    decision = decide(hook, about, agent=agent)
    wrong = [] if decision.verdict == verdict else [f"the verdict is {decision.verdict}, not {verdict}"]
    for field, text, expected in (
        ("reason", decision.reason, reason_contains),
        ("context", decision.context, context_contains),
    ):
        if expected not in text:
            wrong.append(f"'{expected}' is not in the {field} '{text}'")
    if updated_input is not None and decision.updated_input != updated_input:
        wrong.append(f"the input becomes {decision.updated_input!r}, not {dict(updated_input)!r}")
    if wrong:
        who = f"{_name_hook(hook)}, called by {agent}" if agent else _name_hook(hook)
        lines = [f"{who}: {'; '.join(wrong)}", f"  event     {about!r}", f"  decision  {decision!r}"]
        raise AssertionError("\n".join(lines))
    return decision


def _prepare_payload(agent: str, about: Event) -> tuple[bytes, Caller]:
    agent_wire = get_wire(agent)
    return json.dumps(payload(agent, about)).encode(), Caller(
        agent_wire, find_fired_native(agent_wire, about.happened), agent
    )


def _read_decision(answer: Answer, caller: Caller, body: bytes) -> Decision:
    """Read an answer as the agent does."""
    happened = read_event(caller.wire, json.loads(body), caller.native)
    hook = PlannedHook("", happened.event, caller.wire.id, native=caller.native)
    return read_answer(hook, caller.wire, happened, _make_result(answer))


def _make_result(answer: Answer) -> RunResult:
    return RunResult("completed", answer.exit_code, answer.stdout, answer.stderr)


def _find_bound(hook: Hook) -> list[Bound]:
    """List the decorated functions of a hook, in the order of the file."""
    if isinstance(hook, (str, Path)):
        before = len(hooks.bound)
        bounds = _list_bound(_load_module(Path(hook)))
        bounds += [bound for bound in hooks.bound[before:] if bound not in bounds]
    elif isinstance(hook, ModuleType):
        bounds = _list_bound(hook)
    else:
        functions: Iterable[object] = hook if isinstance(hook, (list, tuple)) else [hook]
        bounds = [bound for function in functions for bound in hooks.list_bound(function)]
    if not bounds:
        raise UsageError(f"{_name_hook(hook)} is not a hook: decorate a function, such as with @before_tool.")
    return sorted(bounds, key=hooks.bound.index)


def _list_bound(module: ModuleType) -> list[Bound]:
    return [bound for value in vars(module).values() for bound in hooks.list_bound(value)]


def _load_module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"hook_{next(_numbers)}_{path.stem}", path)
    if spec is None or spec.loader is None or not path.exists():
        raise UsageError(f"{path}: no such Python file.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _name_hook(hook: Hook) -> str:
    if isinstance(hook, (str, Path)):
        return str(hook)
    return str(getattr(hook, "__name__", "these functions"))
