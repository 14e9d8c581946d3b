"""One event through all its hooks: selection, order, execution, answers, merging and policy."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookport.agents import find_event_specs, get, get_wire, list_agents, list_dialects
from hookport.model.hooks import Handler, Hook, Term
from hookport.model.runs import Call, Decision, Event, RunResult
from hookport.model.tools import TOOLS
from hookport.project import plan_builder
from hookport.project.discovery import HookEntry, load
from hookport.runtime import engine, merge, placeholder, plan, policy
from hookport.runtime.engine import DispatchReport, RunSetting
from hookport.runtime.handlers import read_answer
from hookport.runtime.plan import PlannedHook
from hookport.runtime.sources import list_tools
from hookport.shapes.matchers import read_matcher
from hookport.wire.events import read_event, write_event
from hookport.wire.table import read_rows

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
# Long enough for a busy machine; nothing waits for it but what is expected to end before.
LONG = 60.0


def fired(agent: str, tool: str = "shell", *, event: str = "before_tool_execute", **given_: Any) -> Event:
    """The event as an agent fires it: written as its payload, and read from that."""
    about = {"command": "ls"} if tool == "shell" else {"path": "src/a.py", "content": "x"}
    call = Call(tool, "", input=given_.pop("input", about)) if tool else None
    it = get_wire(agent)
    told = Event(event, "", call=call, session="s", cwd="/", root="/").replace(**given_)
    payload = write_event(it, told)
    words = {tool}
    native = next(native for tools, native in it.natives[event] if not tools or words & set(tools))
    return read_event(it, json.loads(json.dumps(payload)), native)


def setting(agent: str = "claude-code", **given_: Any) -> RunSetting:
    return RunSetting(get_wire(agent), get_wire, ENV, **given_)


def hook(name: str, command: str = "exit 0", dialect: str = "canonical", **given_: Any) -> PlannedHook:
    """A hook before every tool."""
    known: dict[str, Any] = {"timeout_seconds": LONG, "subject": "tool", "event": "before_tool_execute"}
    return PlannedHook(name=name, dialect=dialect, command=command, **{**known, **given_})


def run(event: Event, *hooks: PlannedHook, **given_: Any) -> DispatchReport:
    return engine.run_hooks(event, hooks, setting(event.agent or "claude-code", **given_))


def said(**fields: Any) -> str:
    """A command that prints a canonical answer."""
    return f"printf %s {shlex.quote(json.dumps(fields))}"


def from_file(folder: Path, name: str, text: str | dict[str, Any], dialect: str) -> list[PlannedHook]:
    """The hooks of a file as a plan has them."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
    return [plan_builder.plan_entry(one) for one in load(str(path), dialect, ENV).hooks]


def ran(report: DispatchReport) -> list[tuple[str, bool]]:
    return [(one.hook.name, one.matched) for one in report.runs]


# Selection.


def of_matcher(dialect: str, matcher: str, event: str = "before_tool_execute") -> PlannedHook:
    """A hook with the matcher as its dialect's files write it."""
    own = get(dialect)
    spec = next(spec for spec in find_event_specs(own, event) if not spec.tools)
    terms, _ = read_matcher(own, spec, matcher)
    made = Hook(event, Handler(command="exit 0"), terms, dialect=dialect)
    return plan_builder.plan_entry(HookEntry(made, "f", "p", "/", "project", ()))


WRITTEN = {
    "agent-hooks": "Shell",
    "augment": "launch-process",
    "claude-code": "Bash",
    "codex": "Bash",
    "factory-droid": "Execute",
    "gemini-cli": "run_shell_command",
    "kimi-cli": "Shell",
    "mistral-vibe": "re:Bash|process_start",
    "open-plugin": "Bash",
    "qwen-code": "run_shell_command",
    "universal": "Bash",
}
FIRING = [
    name
    for name in list_agents()
    if any(not tools for tools, _ in get_wire(name).natives["before_tool_execute"])
]


@pytest.mark.parametrize("agent", FIRING)
@pytest.mark.parametrize("dialect", WRITTEN)
def test_a_matcher_is_for_the_tool_whatever_the_agent_calls_it(dialect: str, agent: str) -> None:
    one = of_matcher(dialect, WRITTEN[dialect])
    matched = [
        engine.explain_hooks(fired(agent, tool), [one], setting(agent))[0].matched
        for tool in ("shell", "file_write")
    ]
    assert matched == [True, False]


@pytest.mark.parametrize(
    ("matcher", "matched"),
    [
        ("", True),
        ("*", True),
        ("Write|Bash", True),
        ("Write|Edit", False),
        ("Ba.*", True),
        ("mcp__.*", False),
        ("mcp__fs__read", False),
    ],
)
def test_every_kind_of_matcher(matcher: str, matched: bool) -> None:
    event = fired("gemini-cli")
    found = engine.explain_hooks(event, [of_matcher("claude-code", matcher)], setting())
    assert [one.matched for one in found] == [matched]


@pytest.mark.parametrize(
    ("matcher", "matched"),
    [
        ("mcp__fs__.*", True),
        ("mcp__fs__read", True),
        ("mcp__fs__write", False),
        ("mcp__.*", True),
        ("Bash", False),
    ],
)
def test_mcp_tools_by_what_the_hook_calls_them(matcher: str, matched: bool) -> None:
    payload = {"hook_event_name": "BeforeTool", "tool_name": "mcp_fs_read", "tool_input": {"a": 1}}
    event = read_event(get_wire("gemini-cli"), payload, "BeforeTool")
    assert event.call is not None
    event = event.replace(call=event.call.replace(server="fs", mcp_tool="read", tool=""))
    found = engine.explain_hooks(event, [of_matcher("claude-code", matcher)], setting())
    assert [one.matched for one in found] == [matched]


@pytest.mark.parametrize(
    ("matcher", "matched"),
    [
        ("mcp__lab-x__.*", True),
        ("mcp__lab-x__get-thing", True),
        ("mcp__lab-x__get", False),
        ("mcp__lab__.*", False),
    ],
)
def test_mcp_tools_whose_agent_has_fewer_characters_for_them(matcher: str, matched: bool) -> None:
    payload = {"hook_event_name": "pre_tool", "tool_name": "mcp_lab_x.get_thing", "tool_input": {}}
    event = read_event(get_wire("mistral-vibe"), payload, "pre_tool")
    found = engine.explain_hooks(event, [of_matcher("claude-code", matcher)], setting())
    assert [one.matched for one in found] == [matched]


def test_an_mcp_tool_whose_name_is_shortened() -> None:
    tool = f"{'a' * 40}.{'b' * 40}"
    event = fired("claude-code").replace(
        call=Call(native=f"mcp__my fs__{tool}", server="my fs", mcp_tool=tool)
    )
    matcher = f"mcp_my_fs_{'a' * 20}...{'b' * 30}"
    found = engine.explain_hooks(event, [of_matcher("gemini-cli", matcher)], setting())
    assert [one.matched for one in found] == [True]


JOINED = "create_issue_git_hub"


@pytest.mark.parametrize(
    ("dialect", "matcher", "untold", "told"),
    [
        ("claude-code", "mcp__git_hub__create_issue", True, True),
        ("claude-code", "mcp__git_hub__.*", True, True),
        ("claude-code", "mcp__hub__create_issue_git", True, False),
        ("claude-code", "mcp__gitlab__create_issue", False, False),
        ("claude-code", "mcp__git_hub__close_issue", False, False),
        ("claude-code", "Bash", False, False),
        ("augment", "mcp:*", True, True),
        ("augment", "mcp:.*_git_hub$", True, True),
        ("augment", "mcp:^create_issue_(?:git_hub)$", True, True),
        ("augment", "mcp:^create_issue_.*", True, True),
        ("augment", "mcp:^create_(issue|pull)_git_hub$", True, True),
        ("augment", "mcp:^close_(issue|pull)_git_hub$", False, False),
    ],
)
def test_an_mcp_tool_whose_server_comes_last(dialect: str, matcher: str, untold: bool, told: bool) -> None:
    """Where the server begins is known by what the agent tells besides; until then every end may be it."""
    payload = {"hook_event_name": "PreToolUse", "tool_name": JOINED, "tool_input": {}, "is_mcp_tool": True}
    more = {"mcp_metadata": {"mcpExecutedToolServerName": "git_hub"}}
    one = of_matcher(dialect, matcher)
    matched = [
        engine.explain_hooks(read_event(get_wire("augment"), said), [one], setting("augment"))[0].matched
        for said in (payload, {**payload, **more})
    ]
    assert matched == [untold, told]


def test_an_mcp_tool_of_an_unnamed_server_is_taken_for_a_match() -> None:
    payload = {"tool_name": "read", "tool_input": "{}", "hook_event_name": "beforeMCPExecution"}
    event = read_event(get_wire("cursor"), payload, "beforeMCPExecution")
    report = run(event, of_matcher("claude-code", "mcp__fs__read"))
    assert ran(report) == [("p", True)]
    assert report.notes == ("doubt: the agent does not name the tool's MCP server",)


@pytest.mark.parametrize(("command", "matched"), [("git push --force", True), ("git push", False)])
def test_a_pattern_on_what_the_tool_is_called_with(command: str, matched: bool) -> None:
    one = hook("force", tools=["shell"], terms=[["tool", "shell", ""]], content="--force")
    found = engine.explain_hooks(fired("cursor", input={"command": command}), [one], setting())
    assert [one.matched for one in found] == [matched]


PLUGIN = {
    "hooks": {
        "BeforeShellExecution": [{"matcher": "^rm ", "hooks": [{"type": "command", "command": "a"}]}],
        "BeforeReadFile": [{"matcher": "\\.env$", "hooks": [{"type": "command", "command": "b"}]}],
    }
}


@pytest.mark.parametrize(
    ("tool", "given_", "matched"),
    [
        ("shell", {"command": "rm -r x"}, ["a"]),
        ("shell", {"command": "ls", "description": "rm it"}, []),
        ("file_read", {"path": "/a/.env"}, ["b"]),
        ("file_read", {"path": "/a/b", "pattern": "x.env"}, []),
    ],
)
def test_open_plugin_matches_the_command_and_the_path(
    tmp_path: Path, tool: str, given_: dict[str, str], matched: list[str]
) -> None:
    hooks = from_file(tmp_path, "hooks/hooks.json", PLUGIN, "open-plugin")
    found = engine.explain_hooks(fired("claude-code", tool, input=given_), hooks, setting())
    assert [one.hook.command for one in found if one.matched] == matched


def test_a_hook_hears_the_event_it_was_written_for(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    body = {"hooks": {"BeforeShellExecution": [{"hooks": [{"type": "command", "command": f"cat > {told}"}]}]}}
    run(fired("gemini-cli"), *from_file(tmp_path, "hooks/hooks.json", body, "open-plugin"))
    assert json.loads(told.read_text())["hook_event_name"] == "BeforeShellExecution"


@pytest.mark.parametrize(("source", "matched"), [("startup", True), ("resume", True), ("clear", False)])
def test_a_matcher_on_the_source_of_a_session(source: str, matched: bool) -> None:
    one = of_matcher("claude-code", "startup|resume", "session_start")
    found = engine.explain_hooks(
        fired("gemini-cli", "", event="session_start", source=source), [one], setting()
    )
    assert [one.matched for one in found] == [matched]


def test_a_matcher_on_what_the_agent_does_not_say_matches() -> None:
    one = of_matcher("claude-code", "startup", "session_start")
    report = run(fired("gemini-cli", "", event="session_start"), one)
    assert ran(report) == [("p", True)]
    assert [note.partition(":")[0] for note in report.notes] == ["doubt"]


def test_a_matcher_on_a_subagent() -> None:
    ones = [of_matcher("claude-code", kind, "subagent_stop") for kind in ("Explore", "Plan")]
    event = fired("codex", "", event="subagent_stop", subagent="Explore")
    assert [one.matched for one in engine.explain_hooks(event, ones, setting())] == [True, False]


def test_a_pattern_that_explodes_matches_and_is_told() -> None:
    one = hook("slow", content="^(?=(a+)+$)b")  # what RE2 does not have, so a backtracking engine runs it
    report = run(fired("claude-code", input={"command": "a" * 30000 + "!"}), one)
    assert ran(report) == [("slow", True)]
    assert [note.partition(":")[0] for note in report.notes] == ["doubt"]


def test_another_event_is_another_matter() -> None:
    one = hook("after", event="after_tool_execute")
    found = engine.explain_hooks(fired("codex"), [one], setting())
    assert [(one.matched, one.why) for one in found] == [
        (False, "it is for after_tool_execute, not for before_tool_execute")
    ]


# Order.


def test_priority_then_the_configured_order() -> None:
    hooks = [hook("a", priority=5), hook("b", priority=900), hook("c"), hook("d", priority=900), hook("e")]
    found = planned(hooks).hooks("before_tool_execute", ["shell"])
    assert [one.name for one in found] == ["b", "d", "c", "e", "a"]


def test_rewrites_chain(tmp_path: Path) -> None:
    second = tmp_path / "second.json"
    adds = 'sed \'s/.*"command": "\\([^"]*\\)".*/{"updated_input": {"command": "\\1 -x"}}/\''
    report = run(fired("claude-code"), hook("one", adds), hook("two", f"tee {second} | {adds}"))
    assert report.decision == Decision(updated_input={"command": "ls -x -x"})
    assert json.loads(second.read_text())["tool_input"] == {"command": "ls -x"}
    assert report.event.call is not None
    assert report.event.call.raw == {"command": "ls -x -x"}


def test_one_format_stops_at_the_first_deny_and_another_runs_all() -> None:
    hooks = [
        hook("md1", "echo no >&2; exit 2", "agent-hooks"),
        hook("md2", "echo never >&2; exit 2", "agent-hooks"),
        hook("op1", "echo no1 >&2; exit 2", "open-plugin"),
        hook("op2", "echo no2 >&2; exit 2", "open-plugin"),
    ]
    report = run(fired("gemini-cli"), *hooks)
    assert ran(report) == [("md1", True), ("md2", False), ("op1", True), ("op2", True)]
    assert report.runs[1].why == "an earlier hook of the same format denied"
    assert report.decision == Decision("deny", "no\nno1\nno2")


def test_an_async_hook_is_not_waited_for_and_has_a_deadline(tmp_path: Path) -> None:
    over = tmp_path / "over"
    ended: list[RunResult] = []

    def done(_hook: PlannedHook, result: RunResult) -> None:
        over.write_text(result.outcome)

    slow = hook("slow", 'echo \'{"decision": "deny"}\'; sleep 600', is_async=True, timeout_seconds=0.3)
    report = run(fired("codex"), slow, done=done)
    assert (report.decision, ended, over.exists()) == (Decision(), [], False)
    assert wait_for(over) == "timeout"


def test_an_async_url_is_not_waited_for(tmp_path: Path) -> None:
    """A server that never answers: nothing is decided, and the end is told later."""
    over = tmp_path / "over"

    def done(_hook: PlannedHook, result: RunResult) -> None:
        over.write_text(result.outcome)

    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        slow = hook("slow", "", type="http", url=url, is_async=True, timeout_seconds=0.5)
        report = run(fired("codex"), slow, done=done)
        assert (report.decision, over.exists()) == (Decision(), False)
        assert wait_for(over) == "timeout"


def wait_for(file: Path) -> str:
    until = time.monotonic() + LONG
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < until, f"{file} did not come"
        time.sleep(0.02)
    return file.read_text()


# Execution.


def test_the_command_of_this_platform_runs() -> None:
    here = {"linux": "linux", "darwin": "osx"}[sys.platform]
    report = run(
        fired("codex"), hook("p", "exit 3", platform={here: said(decision="ask", reason="?"), "windows": "x"})
    )
    assert report.decision == Decision("ask", "?")


def test_no_login_shell(tmp_path: Path) -> None:
    (tmp_path / ".profile").write_text("exit 2\n")
    report = engine.run_hooks(
        fired("codex"),
        [hook("sh", said(context="ok"))],
        setting().replace(env={**ENV, "HOME": str(tmp_path)}),
    )
    assert report.decision == Decision(context="ok")


@pytest.mark.parametrize(
    ("action", "on_failure", "default", "verdict"),
    [
        ("", "", "open", "none"),
        ("", "", "closed", "deny"),
        ("", "block", "open", "deny"),
        ("block", "", "open", "deny"),
        ("warn", "", "closed", "none"),
    ],
)
def test_a_timeout_is_decided_by_its_action_and_by_policy(
    action: str, on_failure: str, default: str, verdict: str
) -> None:
    slow = hook("slow", "sleep 600", timeout_seconds=0.2, timeout_action=action, on_failure=on_failure)
    report = run(fired("codex"), slow, on_failure=default)
    told = "hook 'slow' failed: timed out: took longer than 0.2 s and was stopped"
    effect = {
        "none": Decision(system_message=f"{told}. It was not blocked (fail open)."),
        "deny": Decision("deny", f"{told}. It is denied, because failures deny here (fail closed)."),
    }
    assert report.decision == effect[verdict]


def test_a_traceback_is_told_by_the_error_that_it_ends_with() -> None:
    crash = "printf 'Traceback (most recent call last):\\n  File\\nModuleNotFoundError: no x\\n' >&2; exit 1"
    told = "hook 'h' failed: exit code 1 (ModuleNotFoundError: no x). It was not blocked (fail open)."
    assert run(fired("codex"), hook("h", crash)).decision == Decision(system_message=told)


def test_no_hook_runs_longer_than_the_agent_waits() -> None:
    begun = time.monotonic()
    hooks = [hook("first", "sleep 600"), hook("second", "sleep 600")]
    report = run(fired("codex"), *hooks, deadline=begun + 0.3, on_failure="closed")
    assert [one.result.outcome for one in report.runs if one.result] == ["timeout", "timeout"]
    assert report.decision.verdict == "deny"
    assert time.monotonic() - begun < LONG


@pytest.mark.parametrize(
    ("command", "failure"),
    [
        ("kill -9 $$", "killed by signal 9: was killed by signal 9 (Killed)"),
        ("exit 7", "exit code 7"),
        ("no-such-program-here", "exit code 127"),
        ("echo hello", "stdout is not a JSON object"),
        ("""echo '{"decision": "perhaps"}'""", "unknown decision 'perhaps'"),
    ],
)
@pytest.mark.parametrize("default", ["open", "closed"])
def test_every_failure_is_policy_s(command: str, failure: str, default: str) -> None:
    report = run(fired("claude-code"), hook("h", command), on_failure=default)
    assert report.runs[0].answered.failure == failure
    assert report.decision.verdict == {"open": "none", "closed": "deny"}[default]


def test_one_broken_hook_does_not_stop_the_others() -> None:
    hooks = [
        hook("a", "exit 9"),
        hook("b", said(context="b")),
        hook("c", "kill -9 $$"),
        hook("d", said(context="d")),
    ]
    report = run(fired("claude-code"), *hooks)
    assert (report.decision.context, [bool(one.answered.failure) for one in report.runs]) == (
        "b\nd",
        [True, False, True, False],
    )


@pytest.mark.parametrize("type_", ["http", "prompt", "agent"])
def test_a_server_that_fails_has_no_exit_code(type_: str) -> None:
    event, own = fired("claude-code"), get_wire("copilot-cli")
    result = RunResult("completed", 1, stderr="HTTP 500", detail="HTTP 500")
    assert read_answer(hook("h", type=type_), own, event, result) == Decision(failure="HTTP 500")
    assert read_answer(hook("h"), own, event, result).verdict == "deny"


def test_what_we_stumble_over_does_not_undo_a_deny() -> None:
    hooks = [hook("a", said(decision="deny", reason="no")), hook("b", dialect="no-such")]
    report = run(fired("claude-code"), *hooks, on_tamper="warn")
    assert (report.decision.verdict, report.decision.reason) == ("deny", "no")
    assert report.runs[1].answered.failure == "not started: UsageError: unknown dialect 'no-such'."
    assert run(fired("claude-code"), hooks[1]).decision.verdict == "deny"


@pytest.mark.parametrize("dialect", ["canonical", "claude-code"])
@pytest.mark.parametrize("folders", [{"cwd": "/no/such", "root": "/"}, {"cwd": "/", "root": "no such"}])
def test_a_guard_runs_where_the_agent_s_folder_is_gone(dialect: str, folders: dict[str, str]) -> None:
    report = run(fired("codex").replace(**folders), hook("h", "echo no >&2; exit 2", dialect))
    assert (report.decision.verdict, report.decision.reason) == ("deny", "no")


def test_a_working_folder_that_is_not_there_is_a_failure() -> None:
    report = run(fired("claude-code"), hook("h", cwd="no/such"))
    assert report.runs[0].answered.failure == "spawn error: the working directory /no/such does not exist"


def test_a_handler_that_only_its_agent_can_run_is_a_failure() -> None:
    report = run(fired("claude-code"), hook("h", type="native"), on_failure="closed")
    assert report.decision.verdict == "deny"


# Answers.


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("code", [0, 1, 2, 3])
@pytest.mark.parametrize("decision", ["", "allow", "ask", "deny"])
def test_the_truth_table(blocking: bool, code: int, decision: str) -> None:
    """Exit code 2 of a hook that may not block is a failure; what is printed counts with exit code 0."""
    printed = said(decision=decision, reason="r") if decision else "true"
    report = run(fired("claude-code"), hook("h", f"{printed}; exit {code}", blocking=blocking))
    done = report.runs[0]
    if code == 0:
        assert done.answered == (Decision(decision, "r") if decision else Decision())  # type: ignore[arg-type]
    elif code == 2 and blocking:
        assert done.answered.verdict == "deny"
    elif code == 2 and decision != "deny":
        assert done.answered.failure == "exit code 2 of a hook that may not block"
        assert done.decision == Decision()
    elif code != 2:
        assert done.answered.failure == f"exit code {code}"
        assert done.decision.verdict == "none"


DENY = json.dumps({"decision": "deny", "reason": "no"})
NOISE = [
    ("before", f"npm warn old\n{DENY}"),
    ("after", f"{DENY}\nDone in 3 s"),
    ("both", f"> x\n{DENY}\nbye"),
    ("braces", f"{{ not json }} {{{{ {DENY} }}}}"),
    ("many braces", "{" * 5000 + "\n" + DENY),
    ("other objects", f'{{"level": "info"}}\n{DENY}\n{{"level": "info"}}'),
    ("nested", '{"a":' * 900 + DENY),
    ("colour", f"\x1b[32mok\x1b[0m {DENY}"),
    ("BOM", f"\ufeff{DENY}"),
]


@pytest.mark.parametrize("text", [text for _, text in NOISE], ids=[name for name, _ in NOISE])
@pytest.mark.parametrize("dialect", ["canonical", "claude-code", "agent-hooks"])
def test_noise_around_an_answer_does_not_lose_a_deny(tmp_path: Path, dialect: str, text: str) -> None:
    (tmp_path / "out").write_text(text, "utf-8")
    report = run(fired("gemini-cli"), hook("h", f"cat {tmp_path / 'out'}", dialect))
    assert report.decision == Decision("deny", "no")
    assert [note.partition(":")[0] for note in report.notes] in (["noise"], [])
    assert bool(report.notes) == (text.strip("\ufeff") != DENY)


def test_an_object_among_noise_is_an_answer_only_if_it_says_something() -> None:
    report = run(fired("gemini-cli"), hook("h", """echo 'started {"level": "info"}'"""))
    assert report.runs[0].answered == Decision(failure="stdout is not a JSON object")


@pytest.mark.parametrize("dialect", ["canonical", "claude-code", "agent-hooks"])
def test_an_answer_that_was_cut_is_a_failure(tmp_path: Path, dialect: str) -> None:
    """Of more than is kept, the end may say deny."""
    (tmp_path / "out").write_text("x" * 10_000_000 + DENY)
    report = run(fired("gemini-cli"), hook("h", f"cat {tmp_path / 'out'}", dialect), on_failure="closed")
    assert report.runs[0].answered.failure.startswith("printed more than hookport reads")
    assert report.decision.verdict == "deny"


def test_an_allow_of_a_format_without_permissions_lifts_nothing() -> None:
    allow = """echo '{"decision": "allow"}'"""
    hooks = [hook("h", allow, dialect) for dialect in ("agent-hooks", "canonical")]
    assert [run(fired("claude-code"), one).decision.verdict for one in hooks] == ["none", "allow"]


# Merging and policy.


def test_the_strictest_wins_and_contexts_keep_their_order() -> None:
    hooks = [
        hook("a", said(decision="allow", reason="fine", context="one")),
        hook("d", said(decision="deny", reason="no", context="two")),
        hook("q", said(decision="ask", reason="sure?", context="three")),
        hook("n", said(system_message="hm", suppress_output=True)),
    ]
    assert run(fired("claude-code"), *hooks).decision == Decision(
        "deny", "no", "one\ntwo\nthree", suppress_output=True, system_message="hm"
    )


STRENGTH = ("none", "allow", "ask", "deny")
VERDICTS = st.sampled_from(STRENGTH)
DECISIONS = st.builds(
    Decision,
    verdict=VERDICTS,
    reason=st.sampled_from(["", "r", "s"]),
    context=st.sampled_from(["", "c", "d"]),
    carry_on=st.booleans(),
    updated_input=st.none() | st.just({"command": "x"}),
)


@given(st.lists(DECISIONS, max_size=6).flatmap(lambda ones: st.tuples(st.just(ones), st.permutations(ones))))
def test_the_order_does_not_change_the_verdict(both: tuple[list[Decision], list[Decision]]) -> None:
    ones, others = both
    one, other = merge.merge_decisions(ones), merge.merge_decisions(others)
    assert (one.verdict, one.carry_on) == (other.verdict, other.carry_on)
    assert (one.updated_input, sorted(one.reason.split())) == (
        other.updated_input,
        sorted(other.reason.split()),
    )


@given(st.lists(DECISIONS, max_size=6))
def test_all_together_are_never_weaker_than_one(ones: list[Decision]) -> None:
    strength = STRENGTH.index
    together = merge.merge_decisions(ones)
    assert strength(together.verdict) == max((strength(one.verdict) for one in ones), default=0)
    assert together.carry_on == all(one.carry_on for one in ones)
    assert all(one.context in together.context.split("\n") or not one.context for one in ones)
    assert merge.merge_decisions([together]) == together


FAILED = st.builds(
    Decision,
    verdict=VERDICTS,
    reason=st.text(max_size=5),
    updated_input=st.none() | st.just({"command": "x"}),
    failure=st.sampled_from(["timed out: x", "exit code 1", "killed by signal 9"]),
)
FAILING = st.none() | st.builds(
    lambda **given_: hook("h", **given_),
    blocking=st.booleans(),
    on_failure=st.sampled_from(["", "warn", "block", "open", "closed"]),
    timeout_action=st.sampled_from(["", "warn", "block"]),
)


@given(FAILED, FAILING, st.sampled_from(["open", "closed"]))
def test_a_failure_is_never_an_allow(failed: Decision, one: PlannedHook | None, default: str) -> None:
    decided = policy.decide(failed, one, default)
    assert decided.verdict in ("none", "deny")
    assert (decided.updated_input, decided.context, decided.failure) == (None, "", "")
    silent = one is not None and not one.blocking
    assert silent or failed.failure in decided.reason + decided.system_message
    own = one is not None and (one.on_failure or one.timeout_action)
    if default == "closed" and not own and (one is None or one.blocking):
        assert decided.verdict == "deny"
    if one is not None and one.on_failure in ("block", "closed") and not one.timeout_action:
        assert decided.verdict == "deny"


@given(DECISIONS, FAILING, st.sampled_from(["open", "closed"]))
def test_policy_leaves_an_answer_alone(answered: Decision, one: PlannedHook | None, default: str) -> None:
    assert policy.decide(answered, one, default) == answered


@pytest.mark.parametrize(
    ("settings", "variable", "standing"),
    [
        ({}, "", "open"),
        ({"on_failure": "closed"}, "", "closed"),
        ({}, "closed", "closed"),
        ({"on_failure": "closed"}, "open", "open"),
        ({"on_failure": "closed"}, "maybe", "closed"),
        ({}, "closd", "closed"),
    ],
)
def test_what_stands_where_a_hook_says_nothing(
    settings: dict[str, str], variable: str, standing: str
) -> None:
    assert policy.find_failure_policy(settings, {policy.VARIABLE: variable}) == standing


# Patches and batches.

PATCH = """*** Begin Patch
*** Add File: src/new.py
+print()
*** Update File: src/secret/old.py
@@
-a
+b
*** End Patch"""


def patch_event() -> Event:
    payload = {"hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"command": PATCH}}
    return read_event(get_wire("codex"), {**payload, "cwd": "/"}, "PreToolUse")


def test_a_patch_is_the_writes_and_edits_it_does(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    deny = f"cat >> {seen}; echo >> {seen}; echo no >&2; exit 2"
    hooks = [
        hook(
            "edit",
            deny,
            "claude-code",
            tools=["file_edit"],
            terms=[["tool", "file_edit", ""]],
            content="secret/",
        ),
        hook(
            "write",
            deny,
            "claude-code",
            tools=["file_write"],
            terms=[["tool", "file_write", ""]],
            content="secret/",
        ),
    ]
    report = run(patch_event(), *hooks)
    assert ran(report) == [("edit", True), ("write", False)]
    assert report.decision == Decision("deny", "no")
    (told,) = [json.loads(line) for line in seen.read_text().splitlines()]
    assert (told["tool_name"], told["tool_input"]["file_path"]) == ("Edit", "src/secret/old.py")


def test_a_rewrite_of_one_edit_is_one_of_the_patch() -> None:
    answer = json.dumps(
        {"updated_input": {"path": "src/secret/old.py", "edits": [{"old": "a\n", "new": "c\n"}]}}
    )
    edit = hook(
        "edit", f"printf %s {shlex.quote(answer)}", tools=["file_edit"], terms=[["tool", "file_edit", ""]]
    )
    report = run(patch_event(), edit)
    assert report.event.call is not None
    assert report.event.call.raw["command"].count("*** Add File: src/new.py\n+print()") == 1
    assert "+c" in report.event.call.raw["command"]
    assert "+b" not in report.event.call.raw["command"]


BATCHES = [
    (
        "cline",
        "PreToolUse",
        {"tool_call": {"name": "run_commands", "input": {"commands": ["ls", "rm -r /"]}}},
    ),
    (
        "kiro",
        "PreToolUse",
        {"tool_name": "fs_read", "tool_input": {"operations": [{"path": "/a"}, {"path": "rm -r /"}]}},
    ),
]


@pytest.mark.parametrize(("agent", "native", "payload"), BATCHES, ids=[one[0] for one in BATCHES])
def test_a_batch_is_the_calls_it_makes(
    agent: str, native: str, payload: dict[str, Any], tmp_path: Path
) -> None:
    native = next((one for one in get_wire(agent).events if one.lower() == native.lower()), native)
    event = read_event(get_wire(agent), payload, native)
    seen = tmp_path / "seen"
    report = run(event, hook("h", f"cat >> {seen}; echo no >&2; exit 2", content="^rm"))
    assert report.decision == Decision("deny", "no")
    told = json.loads(seen.read_text())["tool_input"]
    assert "rm -r /" in told.values()


# The universal format's ${file}.

NASTY = [
    "a b",
    "it's",
    'say "x"',
    "$(touch pwned)",
    "`touch pwned`",
    "-rf",
    "a\nb\n",
    "*",
    "~",
    "\\",
    "ü€",
    "${file}",
]


def universal(command: str) -> PlannedHook:
    return hook("h", command, "universal")


@pytest.mark.parametrize("path", NASTY)
def test_the_path_of_the_call_is_one_word(tmp_path: Path, path: str) -> None:
    out = tmp_path / "out"
    command = f"printf '%s\\0' ${{file}} \"${{file}}\" '${{file}}' a${{file}}b > {out}"
    event = fired("claude-code", "file_write", input={"path": path, "content": ""})
    run(event.replace(cwd=str(tmp_path), root=str(tmp_path)), universal(command))
    word = f"./{path}" if path.startswith("-") else path
    assert out.read_bytes().decode().split("\0") == [word, word, word, f"a{word}b", ""]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out"]


def test_without_a_path_the_word_is_empty(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(fired("claude-code"), universal(f"printf '[%s]' ${{file}} > {out}"))
    assert out.read_text() == "[]"


CONTEXTS = r"""
    ${file}
    "${file}"
    '${file}'
    "it's ${file}"
    it\'s" "${file}
    "$(printf %s. "${file}")"
    "`printf %s. ${file}`"
    "$( (printf %s. "$(printf %s ${file}.)") )"
"""


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
    | st.sampled_from(NASTY)
)
def test_sh_sees_exactly_the_path_wherever_it_stands(path: str) -> None:
    command = placeholder.insert_variable(
        f"printf '%s\\0' {' '.join(CONTEXTS.split(chr(10)))} # it's", "${file}"
    )
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env={**ENV, placeholder.FILE: path},
        capture_output=True,
        check=True,
        timeout=LONG,
    )
    plain, dot = [path] * 3, f"{path}."
    assert done.stdout.decode().split("\0") == [
        *plain,
        f"it's {path}",
        f"it's {path}",
        dot,
        dot,
        f"{dot}.",
        "",
    ]


@pytest.mark.parametrize("path", NASTY)
@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'printf %s ${file}'",
        "sh -c 'printf %s \"${file}\"'",
        'sh -c "printf %s ${file}"',
        "sh -c \"printf %s '${file}'\"",
        'sh -c "printf %s \\"${file}\\""',
        "sh -e -c 'printf %s ${file}' sh",
        "/bin/sh -ec 'printf %s ${file}'",
    ],
)
def test_a_shell_within_the_command_runs_nothing_of_the_path(command: str, path: str, tmp_path: Path) -> None:
    command = placeholder.insert_variable(command, "${file}")
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env={**ENV, placeholder.FILE: path},
        cwd=tmp_path,
        capture_output=True,
        check=True,
        timeout=LONG,
    )
    assert (done.stdout.decode(), list(tmp_path.iterdir())) == (path, [])


# Plans.

WIRES = [get_wire(name) for name in list_dialects()]


def planned(hooks: list[PlannedHook]) -> plan.DispatchPlan:
    found = plan.parse(plan.make(hooks, WIRES, plan.PlanOrigin("/", "1")))
    assert isinstance(found, plan.DispatchPlan)
    return found


NATIVE_TOOLS = sorted({name for one in WIRES for name in one.tools})
WORDS = st.sampled_from([*TOOLS, *NATIVE_TOOLS, "MyTool", "mcp__fs__read"])
TERMS = st.one_of(
    st.builds(Term, st.just("tool"), WORDS),
    st.builds(
        Term, st.just("pattern"), st.sampled_from([".*", "^B", "write_.*", "Edit$", "mcp__.*", "[", "(a+)+$"])
    ),
    st.builds(
        Term, st.just("mcp"), st.sampled_from(["*", "fs", "git"]), st.sampled_from(["", "read", "write"])
    ),
)
DIALECTS = st.sampled_from(list_dialects())


@st.composite
def hooks_of_a_plan(draw: st.DrawFn) -> PlannedHook:
    dialect = draw(DIALECTS)
    made = Hook(
        draw(st.sampled_from(["before_tool_execute", "after_tool_execute", "agent_stop"])),
        Handler(command="exit 0"),
        tuple(draw(st.lists(TERMS, max_size=3))),
        dialect=dialect,
        priority=draw(st.none() | st.integers(0, 1000)),
        content=draw(st.sampled_from(["", "x"])),
    )
    return plan_builder.plan_entry(HookEntry(made, "f", "p", "/", "project", ()))


@st.composite
def calls(draw: st.DrawFn) -> Event:
    agent = draw(st.sampled_from(FIRING))
    it = get_wire(agent)
    name = draw(st.sampled_from([*it.tools, *TOOLS, "MyTool", "mcp__fs__read", "fs_read"]))
    native = next(native for tools, native in it.natives["before_tool_execute"] if not tools)
    call = Call("", name, input={"command": "x", "path": "x"}, raw={"command": "x", "path": "x"})
    keys = read_rows(it, "keys", native)
    assert keys.get("tool")
    payload = write_event(it, Event("before_tool_execute", agent, native, call=call))
    return read_event(it, payload, native)


def of_words(native: str, tool: str = "") -> Event:
    return Event("before_tool_execute", "codex", "PreToolUse", call=Call(tool, native))


SEARCHES = hook("h", tools=["search"], terms=[["tool", "search", ""]])


@example([SEARCHES], of_words("search"))  # a tool that the agent's own table does not have
@example([SEARCHES], of_words("search", "find"))  # the agent's word for another tool
@given(st.lists(hooks_of_a_plan(), max_size=5), calls())
def test_the_index_of_a_plan_loses_no_hook(hooks: list[PlannedHook], event: Event) -> None:
    found = planned(hooks).hooks(event.event, list_tools(event))
    matching = [one.hook for one in engine.explain_hooks(event, hooks, setting(event.agent)) if one.matched]
    assert [one for one in matching if one not in found] == []
    assert found == sorted(found, key=lambda one: -one.priority)


@given(st.lists(hooks_of_a_plan(), max_size=5))
def test_a_plan_is_read_as_it_was_made(hooks: list[PlannedHook]) -> None:
    found = planned(hooks)
    assert found.read_all_hooks() == hooks
    # What an agent itself obeys is left out.
    whole = [json.dumps(one.replace(obeys={}, several="").as_dict()) for one in WIRES]
    assert [json.dumps(one.as_dict()) for name in list_dialects() if (one := found.wire(name))] == whole


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"\xff\xfe", b'{"format":0}', b"null\n{}"])
def test_what_is_no_plan_is_told(text: bytes) -> None:
    assert isinstance(plan.parse(text), str)


def test_a_plan_that_was_cut_is_none() -> None:
    text = plan.make([hook("a"), hook("b")], WIRES, plan.PlanOrigin("/", "1"))
    assert isinstance(plan.parse(text), plan.DispatchPlan)
    assert {type(plan.parse(text[:end])) for end in range(0, len(text), 997)} == {str}


def test_a_call_that_does_too_much_is_denied(tmp_path: Path) -> None:
    """A hook that is run for thousands of files would still be at it when nobody waits any more."""
    ran_ = tmp_path / "ran"
    parts = "".join(f"*** Add File: f{number}\n+x\n" for number in range(engine.MOST_PARTS + 1))
    raw = {"command": f"*** Begin Patch\n{parts}*** End Patch\n"}
    payload = {
        "hook_event_name": "PreToolUse",
        "cwd": str(tmp_path),
        "tool_name": "apply_patch",
        "tool_input": raw,
    }
    event = read_event(get_wire("codex"), payload)
    report = run(
        event,
        hook(
            "guard",
            f"echo x >> {ran_}",
            terms=[["tool", "file_write", ""]],
            tools=["file_write"],
            subject="tool",
        ),
    )
    assert report.decision.verdict == "deny"
    assert not ran_.exists()


@pytest.mark.parametrize("head", ["name: x\n", "description: x\n", ""])
def test_a_guard_without_words_about_itself_is_a_guard(head: str, tmp_path: Path) -> None:
    folder = tmp_path / ".agents/hooks/x"
    (folder / "scripts").mkdir(parents=True)
    (folder / "HOOK.md").write_text(f"---\n{head}trigger: before_tool\n---\n")
    script = folder / "scripts/run.sh"
    script.write_text("#!/bin/sh\necho no >&2\nexit 2\n")
    script.chmod(0o755)
    found = load(str(folder), "agent-hooks", ENV).hooks
    report = run(fired("claude-code"), *map(plan_builder.plan_entry, found))
    assert report.decision.verdict == "deny"
