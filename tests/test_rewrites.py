"""A rewrite is an edit: over every agent, script dialect and tool, what a script does not name stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookport.agents import get_wire, list_agents, list_dialects
from hookport.model.runs import Call, Decision, Event, RunResult
from hookport.runtime import engine
from hookport.runtime.answer import build_answer
from hookport.runtime.handlers import read_answer
from hookport.runtime.plan import PlannedHook
from hookport.wire.events import choose_native, name_tool, read_event, write_event, write_input
from hookport.wire.spellings import put
from hookport.wire.table import Wire, find_table

PRE = "before_tool_execute"
INPUTS: dict[str, dict[str, Any]] = {
    "shell": {"command": "rm -rf build", "description": "clean", "timeout": 7},
    "file_write": {"path": "/repo/a.txt", "content": "one\ntwo\n"},
    "file_edit": {"path": "/repo/a.txt", "old": "one\n", "new": "two\n"},
    "file_read": {"path": "/repo/a.txt", "limit": 3},
    "search": {"pattern": "x", "path": "/repo"},
    "mcp": {"title": "t", "body": "b", "labels": ["l"]},
}
FIELDS = {"shell": ("command",), "mcp": ("title", "body")}


def place_of_input(script: Wire, native: str) -> str:
    """Where a script of the dialect says another input; empty if it cannot."""
    return next(iter(find_table(script.reads, native, PRE).get("input", ())), "")


def call_of(agent: Wire, tool: str) -> Event | None:
    """The event of an agent about a call of a tool, as it reads its own payload."""
    plain = INPUTS[tool]
    call = (
        Call("", "", input=plain, server="hub", mcp_tool="create")
        if tool == "mcp"
        else Call(tool, "", input=plain)
    )
    event = Event(PRE, "another", session="s", cwd="/repo", root="/repo", call=call)
    if tool != "mcp" and tool not in agent.names:
        return None
    native = choose_native(agent, event)
    if not native:
        return None
    found = read_event(agent, write_event(agent, event), native)
    return found if found.call is not None else None


PAIRS = [pytest.param(agent, tool, id=f"{agent}-{tool}") for agent in list_agents() for tool in INPUTS]


def shown_to(script: Wire, event: Event, call: Call) -> tuple[str, Any]:
    """The name and input that a script of the dialect gets for a call."""
    if script.id == event.agent:
        return call.native, call.raw
    native = name_tool(script, call, choose_native(script, event))
    return native, write_input(script, call.tool, native, call.input)


def rewritten(
    agent: Wire, script: Wire, event: Event, number: int, said: dict[str, Any]
) -> tuple[Decision, Event]:
    """What comes of a script's rewrite: its decision, and the event with the call as it is then."""
    call = event.call
    assert call is not None
    part = call.parts[number] if number >= 0 else call
    seen = event.replace(call=part)
    native = event.native if script.id == agent.id else choose_native(script, event)
    tree: dict[str, Any] = {}
    put(tree, place_of_input(script, native), said)
    if place_of_input(script, native).startswith("hookSpecificOutput"):
        tree["hookSpecificOutput"]["hookEventName"] = native
    hook = PlannedHook(name="h", event=PRE, native=native, type="command", command="x", dialect=script.id)
    decision = read_answer(hook, script, seen, RunResult("completed", 0, json.dumps(tree)))
    if decision.updated_input is None:
        return decision, event
    return decision, event.replace(call=engine._rewrite_call(agent, event, number, decision))


def _terms(event: Event) -> list[tuple[str, dict[str, Any]]]:
    call = event.call
    assert call is not None
    return [(part.tool, dict(part.input)) for part in call.parts or (call,)]


# Each tool of an agent with every fourth dialect by turns: the tools of an agent meet all of them together.
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(("agent_id", "tool"), PAIRS)
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=20))
@settings(max_examples=5, deadline=None)
def test_only_what_a_rewrite_names_changes(agent_id: str, tool: str, step: int, text: str) -> None:
    """One field at a time: the others are what they were, in the agent's own input too."""
    agent = get_wire(agent_id)
    event = call_of(agent, tool)
    if event is None:
        return
    turn = (list_agents().index(agent_id) + [*INPUTS].index(tool)) % step
    for script_id in list_dialects()[turn::step]:
        _check_rewrites(agent, get_wire(script_id), event, text)


def _check_rewrites(agent: Wire, script: Wire, event: Event, text: str) -> None:
    call = event.call
    assert call is not None
    native = event.native if script.id == agent.id else choose_native(script, event)
    if not place_of_input(script, native):
        return
    is_split = bool(call.parts) and script.id != agent.id
    for number in range(len(call.parts)) if is_split else (-1,):
        name, shown = shown_to(script, event, call.parts[number] if is_split else call)
        assert rewritten(agent, script, event, number, {}) == (Decision(), event)
        if not isinstance(shown, dict):
            continue
        assert rewritten(agent, script, event, number, shown) == (Decision(), event)
        if name in script.patches or name in script.batches:
            continue
        for key, value in shown.items():
            new = f"{text}." if isinstance(value, str) else value
            decision, after = rewritten(agent, script, event, number, {key: new})
            if decision.verdict != "deny":
                _check_one_change(agent, event, after, (script.id, key, new != value))


def _check_one_change(agent: Wire, event: Event, after: Event, case: tuple[str, str, bool]) -> None:
    was, now = _terms(event), _terms(after)
    changed = [
        field
        for (_, before), (_, later) in zip(was, now, strict=True)
        for field in {*before, *later}
        if field != "patch" and before.get(field) != later.get(field)
    ]
    # The first edit of a list stands in `old` and `new` as well.
    assert len(set(changed) - {"edits"}) <= 1, (case, was, now)
    if case[2]:
        assert changed, (case, was, now)
    # Another action is another tool to the agent.
    if "action" not in changed:
        assert read_event(agent, write_event(agent, after), after.native).call == after.call


@pytest.mark.parametrize("script_id", ["claude-code", "canonical", "universal", "agent-hooks", "cursor"])
def test_new_path_keeps_the_content_in_a_patch(script_id: str) -> None:
    """An agent whose tool is a patch gets the same content at the other path."""
    agent, script = get_wire("codex"), get_wire(script_id)
    patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch\n"
    raw = {"command": patch}
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/repo", "tool_name": "apply_patch"}
    event = read_event(agent, {**payload, "tool_input": raw, "tool_use_id": "1", "turn_id": "1"})
    assert event.call is not None
    _, shown = shown_to(script, event, event.call.parts[0])
    key = next(key for key, value in shown.items() if value == "a.txt")
    decision, after = rewritten(agent, script, event, 0, {key: "b.txt"})
    assert after.call is not None
    assert after.call.raw == {"command": patch.replace("a.txt", "b.txt")}
    report = engine.DispatchReport(after, decision)
    told = build_answer(event, report, agent)
    assert json.loads(told.answer.stdout)["hookSpecificOutput"]["updatedInput"] == after.call.raw


@pytest.mark.parametrize("said", [{"content": None}, {"content": 5}, {"file_path": None}, {"file_path": []}])
@pytest.mark.parametrize("agent_id", list_agents())
def test_rewrite_that_is_no_call_denies(agent_id: str, said: dict[str, Any]) -> None:
    """What would empty a file, or name none, is not sent."""
    agent = get_wire(agent_id)
    event = call_of(agent, "file_write")
    if event is None or event.call is None or agent_id == "claude-code":
        return
    number = 0 if event.call.parts else -1
    decision, after = rewritten(agent, get_wire("claude-code"), event, number, said)
    assert (decision.verdict, decision.updated_input, after) == ("deny", None, event)


def test_privilege_that_a_whole_input_leaves_out_is_gone() -> None:
    """Claude Code replaces the input, so a hook that leaves the key out takes it away; a merge keeps it."""
    agent = get_wire("claude-code")
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/repo", "tool_name": "Bash"}
    raw = {"command": "make", "description": "build", "dangerouslyDisableSandbox": True}
    event = read_event(agent, {**payload, "tool_input": raw, "tool_use_id": "1"})
    for script, said in (
        ("claude-code", {"command": "make", "description": "build"}),
        ("canonical", {"command": "make"}),
    ):
        _, after = rewritten(agent, get_wire(script), event, -1, said)
        assert after.call is not None
        assert after.call.raw == {"command": "make", "description": "build"}
    _, after = rewritten(agent, get_wire("gemini-cli"), event, -1, {"command": "make all"})
    assert after.call is not None
    assert after.call.raw == {**raw, "command": "make all"}


def test_edit_in_a_patch_takes_the_new_text() -> None:
    """A patch has its edits in a list; a rewrite of the one that a script was shown reaches it."""
    agent, script = get_wire("codex"), get_wire("claude-code")
    patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n"
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/repo", "tool_name": "apply_patch"}
    event = read_event(agent, {**payload, "tool_input": {"command": patch}, "tool_use_id": "1"})
    _, after = rewritten(agent, script, event, 0, {"new_string": "three\n"})
    assert after.call is not None
    assert after.call.raw == {"command": patch.replace("two", "three")}


def test_numbered_edits_merge_by_their_number() -> None:
    """A hook of Auggie that changes the second edit's text leaves the rest."""
    agent = get_wire("augment")
    raw = {"path": "a", "old_str_1": "a", "new_str_1": "b", "old_str_2": "c", "new_str_2": "d"}
    payload = {"hook_event_name": "PreToolUse", "conversation_id": "c", "workspace_roots": ["/repo"]}
    event = read_event(agent, {**payload, "tool_name": "str-replace-editor", "tool_input": raw})
    _, after = rewritten(agent, agent, event, -1, {"new_str_2": "e"})
    assert after.call is not None
    assert after.call.raw == {**raw, "new_str_2": "e"}
    _, after = rewritten(agent, get_wire("claude-code"), event, 1, {"new_string": "e"})
    assert after.call is not None
    assert after.call.raw == {**raw, "new_str_2": "e"}
    one = read_event(
        get_wire("claude-code"),
        {
            **payload,
            "cwd": "/repo",
            "tool_name": "Edit",
            "tool_input": {"file_path": "a", "old_string": "x", "new_string": "y"},
        },
        "PreToolUse",
    )
    _, after = rewritten(get_wire("claude-code"), agent, one, -1, {"new_str_1": "z"})
    assert after.call is not None
    assert after.call.raw == {"file_path": "a", "old_string": "x", "new_string": "z"}
