"""Hosts: the engine inside a program that is an agent itself."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import inspect
import json
import os
import resource
import shutil
import threading
import typing
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import hookport
from hookport.host import AsyncHost, EventName, Host, McpTool, Outcome, Run, Tool
from hookport.model.events import EVENTS
from tests import forks
from tests.hosting import DENY_COMMAND, PATIENCE, Project, wait_for, wait_until_gone

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

EXAMPLE = Path(__file__).parent.parent / "examples" / "embedding" / "hooks"
# What the hook of each format denies, and its reason.
FORMATS = {
    "git push --force": "force pushes need a human",
    "rm -rf build": "delete files one by one",
    "chmod 777 x": "nobody else may write here",
    "sudo ls": "nothing here needs root",
    "curl example.com": "downloads are reviewed first",
    "docker ps": "use podman",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def answer(**fields: Any) -> str:
    """A script that answers this, whatever it is asked."""
    return f"cat > /dev/null; echo '{json.dumps(fields)}'"


def test_hooks_of_every_format_guard_a_host(project: Project) -> None:
    shutil.copytree(EXAMPLE, project.root, dirs_exist_ok=True)
    project.approve()
    host = project.host()
    outcomes = {command: host.before_tool("run_shell", {"cmd": command}) for command in FORMATS}
    assert {command: outcome.reason for command, outcome in outcomes.items()} == FORMATS
    assert {outcome.verdict for outcome in outcomes.values()} == {"deny"}
    assert host.before_tool("run_shell", {"cmd": "ls"}).verdict == "none"


def test_an_outcome_is_whole(project: Project) -> None:
    project.add(
        answer(
            decision="ask",
            reason="sure?",
            context="mind the gap",
            system_message="hello",
            suppress_output=True,
            updated_input={"command": "ls -la"},
        )
    )
    project.add("exit 3")
    outcome = project.host().before_tool("run_shell", {"command": "ls", "limit": 5})
    runs = [(run.hook, run.status, run.verdict, run.failure, run.exit_code) for run in outcome.runs]
    assert runs == [("hook-0", "ran", "ask", "", 0), ("hook-1", "failed", "none", "exit code 3", 3)]
    lost = "hook 'hook-1' failed: exit code 3. It was not blocked (fail open)."
    assert outcome == Outcome(
        "before_tool_execute",
        "ask",
        "sure?",
        {"command": "ls -la", "limit": 5},
        "mind the gap",
        f"hello\n{lost}",
        suppress_output=True,
        runs=outcome.runs,
    )
    assert project.host(on_failure="closed").before_tool("run_shell", {"command": "ls"}).verdict == "deny"


@pytest.mark.parametrize(
    ("event", "answered", "expected"),
    [
        ("before_tool_execute", {"continue": False, "reason": "enough"}, ("deny", "enough", False)),
        ("before_prompt", {"continue": False, "decision": "allow", "reason": "r"}, ("deny", "r", False)),
        ("after_tool_execute", {"continue": False, "reason": "enough"}, ("none", "enough", False)),
        ("agent_stop", {"continue": False, "decision": "deny", "reason": "r"}, ("none", "r", False)),
        (
            "before_tool_execute",
            {"decision": "deny"},
            ("deny", "a hook denied this without giving a reason", True),
        ),
    ],
)
def test_who_looks_at_the_verdict_only_is_no_weaker(
    project: Project, event: Any, answered: dict[str, Any], expected: tuple[str, str, bool]
) -> None:
    """As the answers to the known agents are."""
    project.add(answer(**answered), event)
    fields: Any = {"tool": "run_shell", "input": {"command": "ls"}} if "tool" in event else {}
    outcome = project.host().fire(event, **fields)
    assert (outcome.verdict, outcome.reason, outcome.carry_on) == expected


def test_texts_are_short_and_can_be_encoded(project: Project) -> None:
    long = "x" * 100_000
    project.add(answer(decision="deny", reason=long, context=long, system_message="a\x1b[31mb\ud800"))
    outcome = project.host().before_tool("run_shell", {"command": "ls"})
    assert [len(outcome.reason), len(outcome.context)] == [4_000, 10_000]
    assert outcome.message == "ab\ufffd"


@pytest.mark.parametrize(
    ("tool", "given", "rewritten"),
    [
        ("shell", {"command": "ls"}, {"command": "echo safe"}),
        ("shell", {"cmd": "ls", "seconds": 5}, {"cmd": "echo safe", "seconds": 5}),
        (Tool("shell", command="text"), {"text": "ls", "cmd": 1}, {"text": "echo safe", "cmd": 1}),
        ("shell", {"command": ["ls", "-l"]}, {"command": ["/bin/sh", "-c", "echo safe"]}),
    ],
)
def test_a_rewrite_is_in_the_names_of_the_host(
    project: Project, tool: str | Tool, given: dict[str, Any], rewritten: dict[str, Any]
) -> None:
    project.add(answer(updated_input={"command": "echo safe"}))
    outcome = project.host(tools={"t": tool}).before_tool("t", given)
    assert (outcome.verdict, outcome.input) == ("none", rewritten)


def test_a_command_given_word_by_word_is_judged_as_a_line(project: Project) -> None:
    project.add(DENY_COMMAND)
    host = project.host(session="s")
    words = {"rm -rf 'a b'": ["rm", "-rf", "a b"], "rm x": ["bash", "-lc", "rm x"]}
    for line, command in words.items():
        assert host.before_tool("run_shell", {"command": command}).reason == f"s {line}"


def test_every_event_of_the_registry_reaches_its_hook(project: Project) -> None:
    assert typing.get_args(EventName) == tuple(EVENTS)
    for event in EVENTS:
        project.add(answer(context=event), event)
    host = project.host()
    for event in typing.get_args(EventName):
        about: Any = {"tool": "run_shell", "input": {"command": "ls"}} if EVENTS[event].about_tool else {}
        outcome = host.fire(event, **about)
        assert (outcome.context, outcome.event) == (event, event)


def test_both_hosts_have_the_same_methods() -> None:
    for name, method in inspect.getmembers(Host, inspect.isfunction):
        if not name.startswith(("_", "as_")):  # these two make one host of the other
            other = getattr(AsyncHost, name)
            assert inspect.signature(other) == inspect.signature(method)
            assert inspect.iscoroutinefunction(other)


def test_what_a_hook_is_told(project: Project) -> None:
    project.add('cat; env | grep -E "^(MINE|HOOKPORT_AGENT)=" | sort >&2; pwd >&2; exit 2')
    (project.root / "sub").mkdir()
    outcome = project.host(session="s1").before_tool(
        "run_shell",
        {"command": "ls"},
        cwd="sub",
        env={"MINE": "1"},
        call_id="c1",
        facts={"permission_mode": "plan", "model": "m"},
    )
    (run,) = outcome.runs
    assert run.stderr == f"HOOKPORT_AGENT=my-agent\nMINE=1\n{project.root}\n"
    assert outcome.verdict == "deny"


def test_a_tool_that_is_not_mapped_has_its_own_name(project: Project) -> None:
    project.add(answer(decision="deny", reason="no"), matcher="get_weather")
    project.add(answer(decision="deny", reason="no edits"), matcher="file_edit")
    host = project.host(tools={"get_time": None})
    assert host.before_tool("get_weather", {"city": "Bern"}).reason == "no\nno edits"
    assert [run.status for run in host.before_tool("get_time", {"city": "Bern"}).runs] == ["skipped"]


def test_mcp_tools_by_name_and_by_table(project: Project) -> None:
    project.add(answer(decision="deny", reason="no"), matcher={"mcp": {"server": "github", "tool": "merge"}})
    host = project.host(tools={"merge_it": McpTool("github", "merge")})
    verdicts = [
        host.before_tool(name, {"number": 1}).verdict
        for name in ("merge_it", "mcp__github__merge", "mcp__gitlab__merge")
    ]
    assert verdicts == ["deny", "deny", "none"]


def test_a_known_agent_brings_its_tools_and_leaves_no_hook_to_itself(project: Project) -> None:
    command = "cat; exit 2"
    settings = {
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}
    }
    (project.root / ".claude").mkdir()
    (project.root / ".claude/settings.json").write_text(json.dumps(settings))
    project.approve()
    host = project.host(agent="claude-code", tools={"run": "shell"})
    for tool, given in (("Bash", {"command": "ls"}), ("run", {"cmd": "ls"})):
        outcome = host.before_tool(tool, given)
        payload = json.loads(outcome.reason)
        assert (payload["hook_event_name"], payload["tool_name"]) == ("PreToolUse", "Bash")
        assert payload["tool_input"] == {"command": "ls"}


def test_what_the_host_says_of_a_tool_counts(project: Project) -> None:
    project.add(answer(decision="deny", reason="no"), matcher="shell")
    host = project.host(agent="claude-code", tools={"Bash": None})
    assert host.before_tool("Bash", {"command": "ls"}).verdict == "none"
    assert project.host(agent="claude-code").before_tool("Bash", {"command": "ls"}).verdict == "deny"


def test_other_commands_read_what_a_host_journals(project: Project) -> None:
    project.add(DENY_COMMAND)
    project.host().before_tool("run_shell", {"command": "ls"})
    project.host(agent="claude-code").before_tool("Bash", {"command": "ls"})
    env = {**project.env, "PYTHONPATH": str(Path(hookport.__file__).parent.parent)}
    for words in (["log"], ["status"], ["doctor"], ["why", "hook-0", "--last"], ["record", "--dry-run"]):
        done = forks.run(words, project.root, env)
        assert "bug in hookport" not in done.stderr
        assert "Traceback" not in done.stderr


def test_without_descriptors_a_guard_denies(project: Project) -> None:
    """What cannot start was never asked."""
    project.add(DENY_COMMAND)
    host = project.host()
    host.before_tool("run_shell", {"command": "ls"})
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = len(list(Path("/dev/fd").iterdir()))
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (held + 3, hard))
        outcome = host.before_tool("run_shell", {"command": "ls"})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert outcome.verdict == "deny"


def test_a_failure_is_seen_and_policy_decides(project: Project) -> None:
    project.add("sleep 600")
    host = project.host()
    outcome = host.before_tool("run_shell", {"command": "ls"}, timeout=0.5)
    (run,) = outcome.runs
    assert (outcome.verdict, run.status) == ("none", "failed")
    assert run.failure.startswith("timed out: took longer than ")
    closed = project.host(on_failure="closed").before_tool("run_shell", {"command": "ls"}, timeout=0.5)
    assert closed.verdict == "deny"


def test_garbage_is_a_failure(project: Project) -> None:
    project.add("head -c 3000000 /dev/urandom")
    outcome = project.host().before_tool("run_shell", {"command": "ls"})
    assert (outcome.verdict, outcome.runs[0].status) == ("none", "failed")


def test_the_agent_stops_in_the_end(project: Project) -> None:
    """A hook that never lets go loses in the end, though the host never says that one kept it going."""
    project.add(answer(decision="deny", reason="go on"), "agent_stop")
    host = project.host()
    verdicts = [host.agent_stop("done").verdict for _ in range(9)]
    assert verdicts == ["deny"] * 8 + ["none"]


def test_a_stop_hook_knows_that_it_was_asked_before(project: Project) -> None:
    project.add(
        'case $(cat) in *\'"stop_active": true\'*) ;; *) echo \'{"decision": "deny"}\';; esac', "agent_stop"
    )
    host = project.host()
    assert [host.agent_stop().verdict for _ in range(3)] == ["deny", "none", "deny"]
    assert host.agent_stop(session="other").verdict == "deny"
    host.before_prompt("go", session="other")
    assert host.agent_stop(session="other").verdict == "deny"


def test_a_session_gets_context_and_a_result_is_replaced(project: Project) -> None:
    project.add(answer(context="be kind"), "session_start")
    project.add(answer(updated_result="[hidden]"), "after_tool_execute")
    host = project.host()
    assert host.session_start().context == "be kind"
    assert host.after_tool("run_shell", {"command": "ls"}, "secret").result == "[hidden]"
    assert project.host().fire("after_compact").result is None


def test_hooks_never_approved_do_not_run_and_can_be_approved(project: Project) -> None:
    project.add(DENY_COMMAND)
    shutil.rmtree(project.env["HOME"])
    host = project.host(session="s")
    assert host.session_start().message.startswith("1 hook of this project does not run")
    outcome = host.before_tool("run_shell", {"command": "ls"})
    assert (outcome.verdict, outcome.unapproved) == ("none", ("hook-0",))
    shown = host.unapproved()
    assert [(hook.name, hook.change) for hook in shown.hooks] == [("hook-0", "new")]
    assert "sys.stdin" in shown.describe()
    host.approve(shown)
    assert host.before_tool("run_shell", {"command": "ls"}).reason == "s ls"
    assert not host.unapproved()


def test_only_what_was_shown_is_approved(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.add(DENY_COMMAND)
    host = project.host()
    project.write(project.root / ".hookport/hook-0.sh", "exit 0")
    assert host.before_tool("run_shell", {"command": "ls"}).verdict == "deny"
    shown = host.unapproved()
    project.write(project.root / ".hookport/hook-0.sh", "exit 1")
    with pytest.raises(ValueError, match="Nothing was approved"):
        host.approve(shown)
    monkeypatch.setenv("CLAUDECODE", "1")
    with pytest.raises(PermissionError, match="CLAUDECODE is set"):
        host.approve(host.unapproved())


def test_a_host_follows_what_changes(project: Project) -> None:
    host = project.host(session="s")
    assert host.before_tool("run_shell", {"command": "ls"}).runs == ()
    project.add(DENY_COMMAND)
    assert host.before_tool("run_shell", {"command": "ls"}).reason == "s ls"
    project.write(project.root / ".hookport/hook-0.sh", "echo other >&2; exit 2")
    assert "hook-0.sh changed since" in host.before_tool("run_shell", {"command": "ls"}).reason
    project.approve()
    assert host.before_tool("run_shell", {"command": "ls"}).reason == "other"
    settings = project.root / ".hookport/config.json"
    settings.write_text('{"on_failure": "closed"}')
    project.write(project.root / ".hookport/hook-0.sh", "exit 1")
    project.approve()
    assert host.before_tool("run_shell", {"command": "ls"}).verdict == "deny"


def test_the_journal_and_self_protection_are_those_of_a_dispatch(project: Project) -> None:
    outcome = project.host(session="s1").before_tool("run_shell", {"cmd": "rm hookport.lock"})
    assert outcome.verdict == "deny"
    assert "self-protection of hookport" in outcome.reason
    (record,) = project.journal()
    assert record["agent"] == "my-agent"
    assert [record[name] for name in ("event", "session", "tool", "native_tool", "input", "cwd")] == [
        *("before_tool_execute", "s1", "shell", "run_shell"),
        *({"command": "rm hookport.lock"}, str(project.root)),
    ]


class Colour(enum.StrEnum):
    RED = "ls"


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"command": b"ls"}, TypeError, "input['command'] is bytes, which is not JSON. Pass text"),
        (
            {"path": [Path("x")]},
            TypeError,
            "input['path'][0] is PosixPath, which is not JSON. Pass str(value)",
        ),
        ({"at": dt.date(2026, 1, 1)}, TypeError, "Pass value.isoformat()"),
        ({"a": {1: 2}}, TypeError, "input['a'] has the key 1; a key in JSON is a text"),
        ({"a": float("nan")}, ValueError, "input['a'] is nan, which JSON does not have"),
        ({"a": {"x"}}, TypeError, "Pass a list"),
        ([], TypeError, "input is list; it must be a mapping"),
        ({"a": 10**5000}, ValueError, "input['a'] is an integer of more than 4,300 digits. Pass text"),
    ],
)
def test_what_is_no_json_is_named(project: Project, given: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        project.host().before_tool("run_shell", given)
    assert words in str(raised.value)


def test_what_json_keeps_of_a_value_is_kept(project: Project) -> None:
    project.add(answer(updated_input={"command": "x"}))
    outcome = project.host().before_tool("run_shell", {"command": Colour.RED, "pair": (1, True)})
    assert outcome.input == {"command": "x", "pair": [1, True]}


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"tools": {"t": "shel"}}, ValueError, "tools['t']: unknown tool 'shel'. Did you mean 'shell'?"),
        (
            {"tools": {"t": Tool("shell", comand="c")}},
            ValueError,
            "unknown field 'comand'. Did you mean 'command'?",
        ),
        ({"tools": {"t": Tool("shell", command="a.b")}}, ValueError, "without '.' or ':'"),
        ({"tools": {"t": 3}}, TypeError, "tools['t'] is int"),
        ({"agent": ""}, ValueError, "agent is ''"),
        ({"on_failure": "shut"}, ValueError, "on_failure is 'shut'"),
        ({"timeout": -1}, ValueError, "timeout is -1"),
        ({"timeout": 10**400}, ValueError, "it must be a number of seconds"),
        ({"timeout": 1e300}, ValueError, "it must be a number of seconds"),
        ({"env": {"A": 1}}, TypeError, "env['A'] is int"),
        ({"env": None}, TypeError, "env is NoneType; it must be a mapping"),
        ({"tools": ["run_shell"]}, TypeError, "tools is list; it must be a mapping"),
        ({"tools": {"t": McpTool("", "x")}}, ValueError, "its server and its tool must be texts, not empty"),
        ({"on_failure": None}, ValueError, "on_failure is None; it must be 'open' or 'closed'"),
        ({"on_failure": ""}, ValueError, "on_failure is ''; it must be 'open' or 'closed'"),
        ({"tool": {}}, TypeError, "a host has no option 'tool'. Did you mean 'tools'?"),
    ],
)
def test_what_a_host_cannot_be_made_of_is_named(
    project: Project, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as raised:
        project.host(**options)
    assert words in str(raised.value)


@pytest.mark.parametrize("root", [None, 5, b"/", "\0", "\ud800"])
def test_a_root_that_is_no_path_is_named(root: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="root is "):
        Host(root, agent="a")


def test_only_what_unapproved_returned_is_approved(project: Project) -> None:
    with pytest.raises(TypeError, match="shown is NoneType; it must be what `unapproved` returned"):
        project.host().approve(None)  # type: ignore[arg-type]


def test_a_value_that_holds_a_part_many_times_is_too_large(project: Project) -> None:
    """A hundred levels of two references each would take longer than anybody waits."""
    project.add("exit 0")
    part: Any = "x" * 4000
    for _ in range(90):
        part = [part, part]
    outcome = project.host().before_tool("run_shell", {"command": "ls", "part": part})
    assert (outcome.verdict, "the input is larger than 32 MiB" in outcome.reason) == ("deny", True)


@pytest.mark.parametrize(
    ("tool", "given", "named"),
    [
        ("shell", {"cmd": "rm -rf x", "command": "ls"}, 'Tool("shell", command="…")'),
        (Tool("shell", cwd="dir"), {"cmd": "rm", "script": "ls"}, 'Tool("shell", command="…")'),
        ("file_read", {"path": ".", "file": "secret"}, 'Tool("file_read", path="…")'),
        ("file_write", {"content": "ok", "text": "secret", "path": "a"}, 'Tool("file_write", content="…")'),
        ("web_fetch", {"url": "https://a", "uri": "https://b"}, 'Tool("web_fetch", url="…")'),
    ],
)
def test_a_guard_is_not_shown_one_of_two_arguments(
    project: Project, tool: str | Tool, given: dict[str, Any], named: str
) -> None:
    """A model could add an argument for the guard, and the tool would use the other."""
    project.add("exit 0")
    outcome = project.host(tools={"t": tool}).before_tool("t", given)
    assert (outcome.verdict, named in outcome.reason) == ("deny", True), outcome
    field, key = named.split('"')[2].strip(", ="), next(iter(given))
    kind = tool if isinstance(tool, str) else tool.kind
    clear = project.host(tools={"t": Tool(kind, **{field: key})})
    assert clear.before_tool("t", given).verdict == "none"


def test_a_root_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match="is not a folder, so there are no hooks to guard this host"):
        Host(tmp_path / "gone", agent="a")


@pytest.mark.parametrize(
    ("event", "fields", "words"),
    [
        ("before_tool", {"tool": "t"}, "unknown event 'before_tool'. Did you mean 'before_tool_execute'?"),
        ("before_tool_execute", {}, "its name is missing"),
        ("notification", {"promt": "x"}, "an event has no field 'promt'. Did you mean 'prompt'?"),
        ("notification", {"facts": {"modell": 1}}, "unknown fact 'modell'. Did you mean 'model'?"),
        ("notification", {"facts": {1: 1}}, "unknown fact '1'"),
        ("before_prompt", {"prompt": 3}, "prompt is int"),
        ("notification", {"cwd": None}, "cwd is NoneType; it must be a text or a path"),
        ("notification", {"cwd": b"x"}, "cwd is bytes; it must be a text or a path"),
        ("notification", {"cwd": "\0"}, "cwd is '\\x00', which cannot be the path of a folder"),
        ("notification", {"cwd": "\ud800"}, "cwd is '\\ud800', which cannot be the path of a folder"),
    ],
)
def test_an_event_that_is_none_is_named(project: Project, event: Any, fields: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        project.host().fire(event, **fields)
    assert words in str(raised.value)


def nested(depth: int) -> Any:
    tree: Any = "rm"
    for _ in range(depth):
        tree = {"a": tree}
    return tree


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"line": "rm -rf x"}, "has no command under a known name (it has: line)"),
        ({"command": nested(5000)}, "the input is nested deeper than 100 levels"),
        ({"command": "x" * (33 << 20)}, "the input is larger than 32 MiB"),
    ],
)
def test_a_call_that_cannot_be_judged_is_denied_where_a_guard_would_run(
    project: Project, given: dict[str, Any], words: str
) -> None:
    assert project.host().before_tool("run_shell", given).verdict == "none"
    project.add(DENY_COMMAND)
    outcome = project.host().before_tool("run_shell", given)
    assert outcome.verdict == "deny"
    assert words in outcome.reason


def test_the_deepest_input_is_looked_through(project: Project) -> None:
    project.add(answer(decision="deny", reason="seen"), provider_data={"hookport": {"content": "rm"}})
    assert project.host().before_tool("run_shell", {"command": "ls", "x": nested(98)}).reason == "seen"


def test_half_a_character_and_a_large_text_pass(project: Project) -> None:
    project.add("cat > /dev/null; exit 2")
    host = project.host()
    for command in ("echo \udc80 \ud83d", "x" * (4 << 20)):
        outcome = host.before_tool("run_shell", {"command": command})
        assert (outcome.verdict, outcome.input) == ("deny", {"command": command})


def test_a_relative_root_stays_where_it_was(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.add(DENY_COMMAND)
    monkeypatch.chdir(project.root)
    host = Host(agent="my-agent", tools={"run_shell": "shell"}, env=project.env)
    monkeypatch.chdir("/")
    assert host.before_tool("run_shell", {"command": "ls"}).verdict == "deny"
    assert host.root == str(project.root)


def test_a_folder_without_hooks_and_one_with_broken_settings(project: Project) -> None:
    host = project.host()
    assert host.before_tool("run_shell", {"command": "ls"}) == Outcome(
        "before_tool_execute", input={"command": "ls"}
    )
    (project.root / ".claude").mkdir()
    (project.root / ".claude/settings.json").write_text('{"hooks": {')
    broken = host.before_tool("run_shell", {"command": "ls"})
    assert (broken.verdict, "hooks cannot run" in broken.message) == ("none", True)
    closed = project.host(on_failure="closed").before_tool("run_shell", {"command": "ls"})
    assert closed.verdict == "deny"


def test_a_project_that_is_removed_denies_what_it_guarded(project: Project) -> None:
    project.add(DENY_COMMAND)
    host = project.host()
    host.before_tool("run_shell", {"command": "ls"})
    shutil.rmtree(project.root)
    outcome = host.before_tool("run_shell", {"command": "ls"})
    assert outcome.verdict == "deny"
    assert "is gone" in outcome.reason


def test_two_projects_in_one_process(tmp_path: Path) -> None:
    hosts = []
    for name in ("one", "two"):
        project = Project(tmp_path / name)
        project.add(f"echo {name} >&2; exit 2")
        hosts.append(project.host())
    for _ in range(2):
        reasons = [host.before_tool("run_shell", {"command": "ls"}).reason for host in hosts]
        assert reasons == ["one", "two"]


def test_twenty_threads_and_a_loop_use_one_host_at_once(project: Project) -> None:
    """Each has a session and commands of its own, and half of the hooks rewrite the input."""
    project.add(DENY_COMMAND)
    host, other = project.host(), project.async_host()
    together = threading.Barrier(21)

    def ask(number: int) -> list[Outcome]:
        together.wait(PATIENCE)
        return [
            host.before_tool("run_shell", {"cmd": f"{number} {turn}"}, session=f"thread-{number}")
            for turn in range(3)
        ]

    async def ask_all() -> list[Outcome]:
        await asyncio.to_thread(together.wait, PATIENCE)
        asked = [
            other.before_tool("run_shell", {"cmd": f"{turn}"}, session=f"task-{turn}") for turn in range(20)
        ]
        return await asyncio.gather(*asked)

    with ThreadPoolExecutor(21) as pool:
        threads = [pool.submit(ask, number) for number in range(20)]
        loop = pool.submit(lambda: asyncio.run(ask_all()))
        for number, thread in enumerate(threads):
            got = [(outcome.reason, outcome.input) for outcome in thread.result()]
            assert got == [
                (f"thread-{number} {number} {turn}", {"cmd": f"{number} {turn}"}) for turn in range(3)
            ]
        got = [(outcome.reason, outcome.input) for outcome in loop.result()]
        assert got == [(f"task-{turn} {turn}", {"cmd": f"{turn}"}) for turn in range(20)]
    assert len({record["session"] for record in project.journal()}) == 40


def test_a_loop_goes_on_while_a_hook_thinks(project: Project, tmp_path: Path) -> None:
    """The hook waits for what only the loop does."""
    project.add(f"echo 1 > {tmp_path}/asked; until [ -e {tmp_path}/go ]; do sleep 0.02; done; exit 2")

    async def play() -> Outcome:
        asked = asyncio.create_task(project.async_host().before_tool("run_shell", {"command": "ls"}))
        while not (tmp_path / "asked").exists():  # noqa: ASYNC110  (a file tells nobody)
            await asyncio.sleep(0.01)
        (tmp_path / "go").touch()
        return await asked

    assert asyncio.run(play()).verdict == "deny"


def test_a_cancelled_task_ends_its_hooks(project: Project, tmp_path: Path) -> None:
    project.add(f"trap '' TERM; echo $$ > {tmp_path}/group; while :; do sleep 1; done")
    project.add("sleep 600")

    async def play() -> None:
        task = asyncio.create_task(project.async_host().before_tool("run_shell", {"command": "ls"}))
        group = int(await asyncio.to_thread(wait_for, tmp_path / "group"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(ProcessLookupError):
            os.killpg(group, 0)

    asyncio.run(play())
    assert project.journal() == []


def test_a_hook_that_nobody_waits_for_is_recorded(project: Project, tmp_path: Path) -> None:
    project.add(f"cat > {tmp_path}/seen; echo >> {tmp_path}/seen", "session_end", handler={"async": True})
    outcome = project.host().session_end("logout")
    assert [run.status for run in outcome.runs] == ["started"]
    assert json.loads(wait_for(tmp_path / "seen"))["source"] == "logout"
    while len(project.journal()) < 2:
        threading.Event().wait(0.01)
    (hook,) = project.journal()[1]["hooks"]
    assert (hook["hook"], hook["outcome"], hook["async"]) == ("hook-0", "completed", True)


def test_an_outcome_cannot_be_changed(project: Project) -> None:
    outcome = project.host().before_tool("run_shell", {"command": "ls"})
    with pytest.raises(AttributeError):
        outcome.verdict = "allow"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Run("h", "ran", "").status = "failed"  # type: ignore[misc]


def test_what_a_host_changes_later_is_not_what_hooks_see(project: Project, tmp_path: Path) -> None:
    project.add(f"echo $$ > {tmp_path}/group; until [ -e {tmp_path}/go ]; do sleep 0.02; done")
    project.add(DENY_COMMAND)
    given = {"command": "ls"}
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(project.host(session="s").before_tool, "run_shell", given)
        group = int(wait_for(tmp_path / "group"))
        given["command"] = "rm"
        (tmp_path / "go").touch()
        assert (asked.result().reason, asked.result().input) == ("s ls", {"command": "ls"})
    wait_until_gone(group)
