"""Tools that an agent's table does not have: their kind is told by their input, or guards match in doubt.

A guard on shell commands in every format, on every agent; scripts get what they were written for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from hookport.agents import get, get_wire, list_agents, list_dialects
from hookport.model.hooks import ANY_SERVER, Handler, Hook, Term
from hookport.model.runs import Call, Event
from hookport.project.discovery import HookEntry
from hookport.project.plan_builder import plan_entry
from hookport.runtime import engine, plan
from hookport.runtime.sources import list_tools, make_sources
from hookport.shapes.dialect import find_event_specs, is_split
from hookport.wire.events import name_mcp_tool, read_event, recast_call, write_event
from hookport.wire.kinds import guess_kinds
from hookport.wire.rewrites import rewrite_call, rewrite_part
from hookport.wire.spellings import put
from hookport.wire.table import read_rows
from tests import agent_data
from tests.test_runtime_dispatch import Place, denied

if TYPE_CHECKING:
    from collections.abc import Iterable

COMMAND = "rm -rf build && echo done"
# No agent has a tool of this name, and none could take it for that of an MCP tool.
NAME = "Zap"


def open_event(agent: str) -> str:
    """The event before any tool; empty where an agent has one for each kind of tool only."""
    specs = find_event_specs(get(agent), "before_tool_execute")
    return next((spec.native for spec in specs if not is_split(spec)), "")


AGENTS = [agent for agent in list_agents() if open_event(agent)]


def fired(agent: str, call: Call, event: str = "before_tool_execute") -> Event:
    """The event as the agent fires it and we read it."""
    own = get_wire(agent)
    native = open_event(agent)
    payload = write_event(own, Event(event, "", session="s", cwd="/w", root="/w", call=call), native)
    return read_event(own, json.loads(json.dumps(payload)), native)


def unknown(agent: str, given: Any, name: str = NAME) -> Event:
    if isinstance(given, dict):
        return fired(agent, Call(native=name, input=given, raw=given))
    own, native = get_wire(agent), open_event(agent)
    payload = write_event(own, Event("before_tool_execute", "", call=Call(native=name)), native)
    places = read_rows(own, "keys", native)["input"]
    for place in [places] if isinstance(places, str) else places:
        put(payload, place, given)
    return read_event(own, payload, native)


def guard(
    dialect: str, *terms: Term, event: str = "before_tool_execute", blocking: bool = True
) -> plan.PlannedHook:
    hook = Hook(event, Handler(command="guard"), matcher=terms, blocking=blocking, dialect=dialect)
    made = plan_entry(HookEntry(hook, "f", "p", "/w", "project", ()))
    return made.replace(blocking=blocking)


def on(*tools: str) -> tuple[Term, ...]:
    return tuple(Term("tool", tool) for tool in tools)


class Seen(NamedTuple):
    """Which formats' guards match an event, and the doubts."""

    matched: set[str]
    notes: set[str]


def seen(event: Event, terms: Iterable[Term], **values: Any) -> Seen:
    setting = engine.RunSetting(get_wire(event.agent), get_wire, {})
    hooks = [guard(name, *terms, **values) for name in list_dialects()]
    runs = engine.explain_hooks(event, hooks, setting)
    return Seen(
        {run.hook.dialect for run in runs if run.matched}, {note for run in runs for note in run.notes}
    )


ALL = set(list_dialects())
SHELL_LIKE = (
    {"command": COMMAND},
    {"command": COMMAND, "description": "x", "timeout": 3},
    {"cmd": COMMAND},
    {"script": COMMAND, "path": "/w"},
    {"code": COMMAND},
    {"commands": [COMMAND]},
    {"command_line": COMMAND, "cwd": "/w"},
)
WRITE_LIKE = (
    {"file_path": "/w/a", "content": "x"},
    {"path": "/w/a", "file_text": "x"},
    {"filePath": "/w/a", "new_text": "x"},
    {"target_file": "/w/a", "contents": "x"},
    {"command": "create", "path": "/w/a", "file_text": "x"},
)
EDIT_LIKE = (
    {"file_path": "/w/a", "old_string": "x", "new_string": "y"},
    {"path": "/w/a", "old_str": "x", "new_str": "y"},
    {"filePath": "/w/a", "oldString": "x", "newString": "y"},
    {"path": "/w/a", "edits": [{"oldText": "x", "newText": "y"}]},
    {"path": "/w/a", "before": "x", "after": "y"},
    {"command": "str_replace", "path": "/w/a", "old_str": "x", "new_str": "y"},
    {"path": "/w/a", "old_str_1": "x", "new_str_1": "y"},
)
OTHERS = {
    "web_fetch": {"url": "http://127.0.0.1/"},
    "web_search": {"query": "x"},
    "search": {"pattern": "x", "path": "/w"},
    "agent": {"subagent_type": "x", "prompt": "y"},
    "todo": {"todos": []},
    "ask_user": {"questions": []},
    "notebook_edit": {"notebook_path": "/w/a.ipynb", "new_source": "x"},
    "list": {"target_directory": "/w"},
    "file_read": {"path": "/w/a", "offset": 3},
}


def shown(event: Event, dialect: str, word: str) -> Event:
    """What a script of the dialect reads of the call, by the dialect's own tables."""
    call = event.call
    assert call is not None
    part = call.parts[0] if call.parts and dialect != event.agent else call
    if part.tool != word:
        part = recast_call(get_wire(event.agent), part, word)
    own = get_wire(dialect)
    return read_event(own, write_event(own, event.replace(call=part)))


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("given", SHELL_LIKE, ids="-".join)
def test_a_shell_guard_sees_an_unknown_shell(agent: str, given: dict[str, Any]) -> None:
    event = unknown(agent, given)
    assert seen(event, on("shell")) == (ALL, set())
    assert seen(event, on("web_search")) == (set(), set())
    for dialect in ALL - {agent}:
        call = shown(event, dialect, "shell").call
        assert call is not None
        assert call.input["command"] == COMMAND
        assert call.native in (*get_wire(dialect).names.get("shell", ()), *get_wire(dialect).events, NAME)
        assert "shell" in (call.tool, *call.also)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("given", WRITE_LIKE, ids="-".join)
def test_a_guard_on_writing_sees_an_unknown_writer(agent: str, given: dict[str, Any]) -> None:
    event = unknown(agent, given)
    assert seen(event, on("file_write")) == (ALL, set())
    assert seen(event, on("shell")) == (set(), set())
    for dialect in ALL - {agent}:
        call = shown(event, dialect, "file_write").call
        assert call is not None
        assert call.input["path"] == "/w/a"


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("given", EDIT_LIKE, ids="-".join)
def test_a_guard_on_editing_sees_an_unknown_editor(agent: str, given: dict[str, Any]) -> None:
    event = unknown(agent, given)
    assert seen(event, on("file_edit")) == (ALL, set())
    assert seen(event, on("shell")) == (set(), set())
    call = shown(event, HUB, "file_edit").call
    assert call is not None
    edit = call.input.get("edits", [call.input])[0]
    assert (call.input["path"], edit["old"], edit["new"]) == ("/w/a", "x", "y")


HUB = next(name for name in list_dialects() if get(name).is_hub)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_command_of_one_word_beside_a_path_may_be_an_action_on_a_file(agent: str) -> None:
    """OpenHands' editor views so, and a shell tool may take its folder so: both guards see it."""
    event = unknown(agent, {"command": "view", "path": "/w/a", "view_range": None})
    # What may be an MCP tool is asked about only for what does harm.
    reads = set() if "bare MCP" in get_wire(agent).traits else ALL
    assert seen(event, on("shell")) == (ALL, set())
    assert seen(event, on("file_read")) == (reads, set())
    assert seen(event, on("file_write")) == (set(), set())
    other = unknown(agent, {"command": "undo_edit", "path": "/w/a"})
    for tool in ("shell", "file_write", "file_edit"):
        assert seen(other, on(tool)) == (ALL, set())
    assert seen(other, on("file_read")) == (reads, set())


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("tool", OTHERS)
def test_other_kinds_are_told_by_their_keys(agent: str, tool: str) -> None:
    event = unknown(agent, OTHERS[tool])
    if "bare MCP" in get_wire(agent).traits and tool != "notebook_edit":
        # It may be an MCP tool's name, and this does too little harm to ask all guards.
        assert seen(event, on(tool)) == (set(), set())
        return
    assert seen(event, on(tool)) == (ALL, set())
    assert seen(event, on("shell")) == (set(), set())


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("given", [{}, {"level": 3}, {"text": "x"}, "a text", None], ids=str)
def test_a_tool_that_nothing_tells_of_is_a_doubt(agent: str, given: Any) -> None:
    event = unknown(agent, given)
    doubt = set() if "bare MCP" in get_wire(agent).traits else {f"doubt: unknown tool '{NAME}'"}
    matched = ALL if doubt else set()
    assert seen(event, on("shell")) == (matched, doubt)
    assert seen(event, on("file_write", "file_edit")) == (matched, doubt)
    # One that only watches is not in doubt, nor is one for other tools than those built in.
    assert seen(event, on("shell"), blocking=False) == (set(), set())
    mcp = seen(event, (Term("mcp", "srv", "exec"),))
    assert mcp == (set(), set())


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("given", [{"command": COMMAND}, {"text": "x"}, {}], ids=str)
def test_an_mcp_tool_is_no_doubt(agent: str, given: dict[str, Any]) -> None:
    own = get_wire(agent)
    events = [unknown(agent, given, "mcp__srv__exec")]
    if own.mcp:
        name = name_mcp_tool(own, "srv", "exec")
        call = Call(native=name, server="srv", mcp_tool="exec", input=given, raw=given)
        events.append(fired(agent, call))
    for event in events:
        assert seen(event, on("shell", "file_write")) == (set(), set())
        assert seen(event, (Term("mcp", ANY_SERVER),)).matched == ALL


@pytest.mark.parametrize("agent", AGENTS)
def test_a_tool_that_does_no_harm_is_no_doubt(agent: str) -> None:
    own = get_wire(agent)
    for name in ("ExitPlanMode", "enter_plan_mode", *(known for known in own.others if known[-1] != "*")):
        assert seen(unknown(agent, {}, name), on("shell")) == (set(), set())


def test_the_order_of_keys_does_not_matter() -> None:
    for given in (*SHELL_LIKE, *WRITE_LIKE, *EDIT_LIKE, *OTHERS.values()):
        assert isinstance(given, dict)
        turned = dict(reversed(given.items()))
        assert guess_kinds(NAME, turned) == guess_kinds(NAME, given)
        assert unknown("claude-code", turned).call == unknown("claude-code", given).call


CAPTURED = {
    name: path for name, path in agent_data.CAPTURED.items() if name.partition("/")[0] in list_agents()
}


def known_calls() -> list[tuple[str, Call]]:
    """The tool calls of captured payloads whose names the agents' tables have."""
    found = []
    for name, path in CAPTURED.items():
        own = get_wire(name.partition("/")[0])
        call = read_event(own, json.loads(path.read_text("utf-8"))).call
        if call is not None and call.tool and call.known_by == "name":
            found.append((f"{own.id}/{path.name}", call))
    return found


def test_what_keys_tell_is_what_the_tables_say() -> None:
    calls = known_calls()
    told = {name: guess_kinds(call.native, call.raw) for name, call in calls}
    wrong = {
        name: (told[name], call.tool, call.also)
        for name, call in calls
        if told[name] and not {call.tool, *call.also} & set(told[name])
    }
    assert wrong == {}
    # What is left has no telling key: a message to a subagent, a shell's description without a command, a
    # skill's name, two paths, a plan, the subject of a task.
    assert {call.native for name, call in calls if not told[name]} == {
        *("spawn_agent", "bash", "delegate", "delegate_task", "load_skill", "move_file", "UpdatePlan"),
        "TaskCreate",
    }


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("given", SHELL_LIKE, ids="-".join)
def test_a_rewrite_goes_back_under_the_callers_own_key(agent: str, given: dict[str, Any]) -> None:
    event = unknown(agent, given)
    call = event.call
    assert call is not None
    seen_as = call.parts[0] if call.parts else recast_call(get_wire(agent), call, "shell")
    changed = {**seen_as.input, "command": "ls"}
    done = (
        rewrite_part(get_wire(agent), call, 0, changed)
        if call.parts
        else rewrite_call(get_wire(agent), call, changed)
    )
    expected = {
        key: (["ls"] if value == [COMMAND] else "ls" if value == COMMAND else value)
        for key, value in given.items()
    }
    assert done.raw == expected


def test_a_plan_finds_guards_on_known_tools_for_an_unknown_one() -> None:
    hooks = [guard(HUB, *on("shell")), guard(HUB, *on("file_write")).replace(name="write")]
    made = plan.parse(plan.make(hooks, map(get_wire, list_dialects()), plan.PlanOrigin("/w", "1")))
    assert isinstance(made, plan.DispatchPlan)
    event = unknown("claude-code", {"level": 3})
    assert list_tools(event) is None
    assert [hook.tools for hook in make_sources(made, "claude-code", get_wire).hooks(event)] == [
        ["shell"],
        ["file_write"],
    ]
    shell = unknown("claude-code", {"cmd": "x"})
    assert [hook.tools for hook in make_sources(made, "claude-code", get_wire).hooks(shell)] == [["shell"]]


# PreToolUse of Grok Build 1.0.41, which runs what is written for Claude Code.
GROK: dict[str, Any] = {
    "hookEventName": "pre_tool_use",
    "sessionId": "s",
    "cwd": "/proj",
    "workspaceRoot": "/proj/",
    "timestamp": "2026-11-16T14:01:58.310183056+00:00",
    "permissionMode": "bypassPermissions",
    "toolName": "run_terminal_command",
    "toolUseId": "call_1",
    "toolInput": {"command": COMMAND, "description": "x"},
    "toolInputTruncated": False,
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "permission_mode": "bypassPermissions",
    "tool_name": "run_terminal_command",
    "tool_input": {"command": COMMAND, "description": "x"},
    "tool_use_id": "call_1",
}


def test_a_guard_denies_what_grok_wants_to_run(tmp_path: Path) -> None:
    place = Place(tmp_path.resolve())
    place.hook("guard", 'grep -q \'"tool_name": *"Shell"\' && { echo no >&2; exit 2; }')
    grok = {**GROK, "cwd": str(place.root)}
    assert place.fire("claude-code", "PreToolUse", grok, GROK_SESSION_ID="s") == denied("no")
    assert place.journal()[-1]["notes"] == ["caller: recognised as grok-build, the entry is for claude-code"]


def test_what_is_in_doubt_is_asked_and_noted(tmp_path: Path) -> None:
    place = Place(tmp_path.resolve())
    place.hook("guard", "echo no >&2; exit 2")
    given = {"tool_name": NAME, "tool_input": {"level": 3}, "toolName": NAME, "toolInput": {"level": 3}}
    payload = {**GROK, "cwd": str(place.root), **given}
    assert place.fire("claude-code", "PreToolUse", payload) == denied("no")
    assert place.journal()[-1]["notes"] == [
        "caller: recognised as grok-build, the entry is for claude-code",
        f"doubt: unknown tool '{NAME}'",
    ]
    mcp = {"tool_name": "labsrv__mark", "tool_input": {"tool_name": "labsrv__mark", "tool_input": {}}}
    assert place.fire("claude-code", "PreToolUse", {**payload, **mcp}) == (0, None, "")
