"""Calls that come as lists of edits, and scripts bound to one of several events of a call."""

from __future__ import annotations

from hookport.agents import get_wire
from hookport.model.runs import Call, Event
from hookport.wire.events import read_event, write_event
from hookport.wire.rewrites import rewrite_part

COMMON = {
    "conversation_id": "c1",
    "generation_id": "g1",
    "cursor_version": "3.9.16",
    "workspace_roots": ["/repo"],
}
ANOTHERS = {
    "conversation_id": "c1",
    "session_id": "c1",
    "generation_id": "",
    "model": "",
    "cursor_version": "",
    "workspace_roots": ["/repo"],
    "user_email": None,
    "transcript_path": None,
}


def test_script_gets_the_event_it_is_bound_to() -> None:
    """Another agent's call reaches a script on the shell event as that event, not as the general one."""
    call = Call("shell", "Bash", input={"command": "ls"}, raw={"command": "ls"})
    event = Event("before_tool_execute", "another", session="c1", cwd="/repo/sub", root="/repo", call=call)
    assert write_event(get_wire("cursor"), event, "beforeShellExecution") == {
        **ANOTHERS,
        "hook_event_name": "beforeShellExecution",
        "command": "ls",
        "cwd": "/repo/sub",
    }


def test_script_gets_its_event_for_another_of_its_agent() -> None:
    """The agent's own general event is written as the one the script is bound to."""
    general = {
        **COMMON,
        "hook_event_name": "preToolUse",
        "tool_name": "Shell",
        "tool_input": {"command": "ls", "working_directory": "/repo"},
        "tool_use_id": "t1",
        "cwd": "",
    }
    it = get_wire("cursor")
    told = write_event(it, read_event(it, general), "beforeShellExecution")
    assert (told["hook_event_name"], told["command"], told["cwd"]) == ("beforeShellExecution", "ls", "/repo")
    assert "tool_input" not in told


def test_shell_result_is_text_where_the_event_has_it_so() -> None:
    """The two events after a shell command write its output each in its own way."""
    call = Call("shell", "Bash", input={"command": "ls"}, result={"stdout": "a.py"}, text="a.py")
    event = Event("after_tool_execute", "another", session="c1", cwd="/repo", root="/repo", call=call)
    it = get_wire("cursor")
    assert write_event(it, event, "afterShellExecution")["output"] == "a.py"
    assert write_event(it, event, "postToolUse")["tool_output"] == '{"output":"a.py","exitCode":0}'


def test_one_edit_of_a_list_is_rewritten() -> None:
    """A rewrite of one part changes that element and leaves the others."""
    it = get_wire("kimi-cli")
    payload = {
        "hook_event_name": "PreToolUse",
        "session_id": "s1",
        "cwd": "/repo",
        "tool_name": "StrReplaceFile",
        "tool_input": {"path": "a.py", "edit": [{"old": "x", "new": "y"}, {"old": "1", "new": "2"}]},
        "tool_call_id": "t1",
    }
    call = read_event(it, payload).call
    assert call is not None
    changed = rewrite_part(it, call, 1, {"path": "a.py", "old": "1", "new": "3"})
    assert changed.raw == {"path": "a.py", "edit": [{"old": "x", "new": "y"}, {"old": "1", "new": "3"}]}
    assert [part.input for part in changed.parts] == [
        {"path": "a.py", "old": "x", "new": "y"},
        {"path": "a.py", "old": "1", "new": "3"},
    ]


def test_one_of_several_numbered_edits_is_rewritten() -> None:
    """Edits that are numbered fields are seen one by one, and written back with their numbers."""
    it = get_wire("augment")
    given = {"command": "str_replace", "path": "a.py", "old_str_1": "x", "new_str_1": "y"}
    payload = {
        "hook_event_name": "PreToolUse",
        "conversation_id": "c1",
        "workspace_roots": ["/repo"],
        "tool_name": "str-replace-editor",
        "tool_input": {**given, "old_str_2": "1", "new_str_2": "2"},
        "is_mcp_tool": False,
    }
    call = read_event(it, payload).call
    assert call is not None
    shared = {"command": "str_replace", "path": "a.py"}
    changed = rewrite_part(it, call, 1, {**shared, "old": "1", "new": "3"})
    assert changed.raw == {**given, "old_str_2": "1", "new_str_2": "3"}
    assert [part.input for part in changed.parts] == [
        {**shared, "old": "x", "new": "y"},
        {**shared, "old": "1", "new": "3"},
    ]


def test_fields_that_only_look_numbered_stay() -> None:
    """Without a first number there is no list of edits."""
    it = get_wire("augment")
    payload = {
        "hook_event_name": "PreToolUse",
        "conversation_id": "c1",
        "workspace_roots": ["/repo"],
        "tool_name": "str-replace-editor",
        "tool_input": {"path": "a.py", "new_str_2": "y", "x_01": 1},
        "is_mcp_tool": False,
    }
    call = read_event(it, payload).call
    assert call is not None
    assert (call.input, call.parts) == ({"path": "a.py", "new_str_2": "y", "x_01": 1}, ())
