"""Hooks in Python: what functions decide together, what every agent is told, and what failures come to."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hookport
from hookport import (
    Decision,
    Event,
    allow,
    ask,
    before_prompt,
    before_tool,
    context,
    deny,
    on,
    rewrite,
    session_start,
    testing,
)
from hookport.agents import get_wire, list_dialects, recognise_payload
from hookport.errors import UsageError
from hookport.model.events import EVENTS
from hookport.model.runs import Answer, RunResult
from hookport.runtime import trust
from hookport.runtime.handlers import read_answer
from hookport.runtime.occasion import parse_payload
from hookport.runtime.plan import PlannedHook
from hookport.sdk import replies
from hookport.sdk.callers import Caller
from hookport.sdk.hooks import list_bound
from hookport.testing.harness import _find_bound
from hookport.wire.answers import write_answer
from hookport.wire.events import choose_native, read_event, write_event
from hookport.wire.recognition import VARIABLE, read_seal, seal_payload
from tests import agent_data
from tests import test_install_vendor as vendor
from tests.approval import approve
from tests.oracle import SEATS, Outcome, args_of, payload_of
from tests.test_recognised import CAPTURED

GUARD = Path(__file__).parent / "sdk" / "guard.py"
SOURCE = Path(hookport.__file__).parents[1]
PUSH, REASON = "git push --force", "force pushes need a human"
# Payloads that, as they are documented, could be of another agent just as well.
UNTOLD = {
    ("vs-code-copilot", "session_start"),
    ("vs-code-copilot", "before_prompt"),
    ("kiro-v1", "session_start"),
    ("junie", "session_start"),
    ("junie", "before_prompt"),
}
BASH = {
    "session_id": "s",
    "transcript_path": "/t",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "cwd": "/",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
}


class Started:
    """Starts hook files as agents do; the tables are made once for all."""

    def __init__(self, cache: Path, folder: Path) -> None:
        self.folder = folder
        self.env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCE),
            "HOME": str(folder),
            "HOOKPORT_CACHE_DIR": str(cache),
        }

    def __call__(self, file: Path, payload: bytes | dict[str, Any], **env: str) -> Answer:
        done = subprocess.run(
            [sys.executable, str(file)],
            input=payload if isinstance(payload, bytes) else json.dumps(payload).encode(),
            env={**self.env, **env},
            cwd=self.folder,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert b"Traceback" not in done.stderr
        return Answer(done.stdout.decode(), done.stderr.decode(), done.returncode)

    def file(self, text: str, *, ends: str = "run()") -> Path:
        """A hook file."""
        path = self.folder / "hook.py"
        path.write_text(f"from hookport import *\n\n{text}\n{ends}\n", "utf-8")
        return path


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def kept(cache: Path) -> dict[str, str]:
    """An environment with the tables, and no place for anything else."""
    return {"HOOKPORT_CACHE_DIR": str(cache)}


@pytest.fixture
def start(cache: Path, tmp_path: Path) -> Started:
    return Started(cache, tmp_path.resolve())


def bash(command: str) -> dict[str, Any]:
    return {**BASH, "tool_input": {"command": command}}


def test_the_public_names_are_these() -> None:
    assert sorted(hookport.__all__) == hookport.__all__
    assert {
        name: getattr(hookport, name).__module__.startswith("hookport.") for name in hookport.__all__
    } == (dict.fromkeys(hookport.__all__, True))
    assert set(hookport.__all__) <= set(dir(hookport))
    with pytest.raises(AttributeError, match="no attribute 'before_lunch'"):
        _ = hookport.before_lunch


def loaded(statement: str) -> set[str]:
    code = f"import sys\nbefore = set(sys.modules)\n{statement}\nprint(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_package_alone_loads_none_of_them() -> None:
    assert loaded("import hookport") == {"hookport"}


def test_the_names_load_little() -> None:
    found = loaded(f"from hookport import {', '.join(hookport.__all__)}")
    assert {name for name in found if not name.startswith("hookport")} == {"__future__", "_json", "atexit"}


@pytest.mark.parametrize("name", SEATS)
def test_every_agent_is_told_in_its_own_terms(name: str, start: Started) -> None:
    seat = SEATS[name]

    def tried(command: str) -> tuple[Any, Answer, Any]:
        payload = payload_of(seat.agent, seat.native, seat.payload, command, start.folder)
        told, args = start(GUARD, payload), args_of(seat, payload)
        return seat.outcome(told, args), told, args

    outcome, told, _ = tried(PUSH)
    assert (outcome.blocked, REASON in outcome.reason) == (True, True), told
    outcome, told, args = tried("ls")
    assert (outcome, told.exit_code) == (Outcome(blocked=False, input=args), 0), told
    outcome, told, args = tried("npm install")
    if seat.rewrites:
        changed = json.loads(json.dumps(args).replace("npm install", "npm install --silent"))
        assert (outcome.blocked, outcome.input) == (False, changed), told
    else:
        assert (outcome.blocked, "npm install --silent" in outcome.reason) == (True, True), told


@pytest.mark.parametrize(
    ("name", "event"),
    [(name, event) for name, seat in SEATS.items() for event in seat.contexts if (name, event) not in UNTOLD],
)
def test_every_agent_is_told_context(name: str, event: str, kept: dict[str, str]) -> None:
    seat = SEATS[name]
    native, file, reads = seat.contexts[event]
    functions = list_bound(told_everywhere)
    told = replies.reply(
        parse_payload(payload_of(seat.agent, native, file, "ls", Path("/p"))), functions, kept
    )
    assert told.exit_code == 0
    assert reads is None or "it is told" in reads(told)


def told_everywhere(event: Event) -> Decision:
    return context("it is told")


def denied_everywhere(event: Event) -> Decision:
    return deny(f"no {event.name}")


def silent_everywhere(event: Event) -> None:
    return None


for _name in EVENTS:
    for _function in (told_everywhere, denied_everywhere, silent_everywhere):
        on(_name)(_function)


@pytest.mark.parametrize("name", CAPTURED)
def test_every_captured_payload_is_answered(name: str, kept: dict[str, str]) -> None:
    """A deny is one wherever the agent obeys any, and no opinion is the dialect's own nothing."""
    body = agent_data.payload(name).read_bytes()
    name, native = recognise_payload(json.loads(body))[0]
    own = get_wire(name)
    event = read_event(own, json.loads(body), native)
    none = replies.reply(parse_payload(body), list_bound(silent_everywhere), kept)
    assert none == write_answer(own, event, Decision())[0]
    if event.event not in EVENTS:
        return
    told = replies.reply(parse_payload(body), list_bound(denied_everywhere), kept)
    expected = write_answer(own, event, deny(f"no {event.event}"))[0]
    assert told == expected
    result = RunResult("completed", told.exit_code, told.stdout, told.stderr)
    read = read_answer(PlannedHook("", event.event, name, native=native), own, event, result)
    if EVENTS[event.event].blocks == "prevent" and event.event == "before_tool_execute":
        assert (read.verdict, read.reason) == ("deny", f"no {event.event}")


def test_a_file_that_is_imported_runs_nothing() -> None:
    assert testing.decide(GUARD, testing.before_tool(command=PUSH)) == deny(REASON)
    assert testing.decide(GUARD, testing.before_tool(command="ls")) == Decision()


def test_a_file_may_leave_its_start_to_another(start: Started) -> None:
    (start.folder / "team.py").write_text("import hookport\n\ndef begin():\n    hookport.run()\n")
    text = "import team\n\n@before_tool\ndef guard(event):\n    return deny('no')"
    told = start(start.file(text, ends="team.begin()"), BASH)
    assert json.loads(told.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_matcher_may_be_on_how_a_session_began() -> None:
    @session_start("resume")
    def again(event: Event) -> Decision:
        return context("again")

    told = {source: testing.decide(again, testing.session_start(source)) for source in ("resume", "startup")}
    assert told == {"resume": context("again"), "startup": Decision()}


def test_an_event_of_one_agent_is_known_through_another_format() -> None:
    @on("claude-code:CwdChanged")
    def moved(event: Event) -> Decision:
        return deny(event.agent)

    body = b'{"event": "CwdChanged", "project_root": "/"}'
    env = {VARIABLE: seal_payload(body, "canonical", "CwdChanged")}
    env |= {"HOOKPORT_AGENT": "claude-code", "HOOKPORT_EVENT": "claude-code:CwdChanged"}
    assert replies.reply(parse_payload(body), list_bound(moved), env) == Answer(
        stderr="claude-code\n", exit_code=2
    )


def merged(*answers: Decision | None, command: str = "ls") -> Decision:
    functions: list[Any] = []
    for answer in answers:

        @before_tool
        def function(event: Event, answer: Decision | None = answer) -> Decision | None:
            return answer

        functions.append(function)
    return testing.decide(functions, testing.before_tool(command=command))


def test_answers_of_several_functions_are_one() -> None:
    assert merged(None, None) == Decision()
    assert merged(allow("a"), None) == allow("a")
    assert merged(allow("a"), ask("b"), allow("c")) == ask("b")
    assert merged(ask("b"), deny("c"), deny("d"), allow()) == deny("c\nd")
    assert merged(context("one"), allow(), context("two")) == Decision("allow", context="one\ntwo")


def test_a_rewrite_is_seen_by_the_next_function() -> None:
    seen = []

    @before_tool("shell")
    def longer(event: Event) -> list[Decision]:
        return [rewrite(command=event.command + " -l"), rewrite({"timeout": 5}), context("longer")]

    @before_tool("shell")
    def sees(event: Event) -> Decision:
        seen.append(dict(event.input))
        return rewrite(command=event.command + " -a")

    found = testing.decide([longer, sees], testing.before_tool(command="ls", cwd="/x", background=True))
    changed = {"command": "ls -l -a", "background": True, "timeout": 5}
    assert found == Decision(context="longer", updated_input=changed)
    assert seen == [{"command": "ls -l", "background": True, "timeout": 5}]


def test_a_rewrite_of_nothing_is_a_failure_and_undoes_no_deny() -> None:
    @before_prompt
    def confused(event: Event) -> list[Decision]:
        return [deny("no"), rewrite(prompt="other")]

    found = testing.decide(confused, testing.before_prompt("hi"), on_failure="open")
    assert (found.verdict, found.reason) == ("deny", "no")
    assert "it rewrites a tool's input, but before_prompt has none here" in found.system_message


def test_every_part_of_a_patch_is_looked_at() -> None:
    patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Add File: .env\n+KEY=1\n*** End Patch\n"
    tree = {
        **BASH,
        "tool_name": "apply_patch",
        "tool_input": {"command": patch},
        "turn_id": "t",
        "model": "m",
    }
    own = get_wire("codex")
    told = replies.reply(
        parse_payload(json.dumps(tree).encode()), _functions(GUARD), {}, by=Caller(own, "PreToolUse", own.id)
    )
    assert ".env holds secrets" in told.stdout + told.stderr


def _functions(file: Path) -> Any:
    return _find_bound(file)


@pytest.mark.parametrize(
    ("matchers", "fires"),
    [
        ((), ("shell", "file_write", "mcp__github__merge", "EnterWorktree")),
        (("shell",), ("shell",)),
        (("shell", "file_write"), ("shell", "file_write")),
        ((["shell", {"mcp": {"server": "github"}}],), ("shell", "mcp__github__merge")),
        (({"mcp": {"server": "*", "tool": "merge"}},), ("mcp__github__merge",)),
        (({"mcp": {"server": "gitlab"}},), ()),
        (({"pattern": "^file_"},), ("file_write", "file_read")),
        (({"pattern": "^EnterWorktree$"},), ("EnterWorktree",)),
    ],
)
def test_a_matcher_has_its_tools(matchers: Any, fires: tuple[str, ...]) -> None:
    def no(event: Event) -> Decision:
        return deny(event.tool)

    before_tool(*matchers)(no)
    tools = ("shell", "file_write", "file_read", "mcp__github__merge", "EnterWorktree")
    found = [tool for tool in tools if testing.decide(no, testing.before_tool(tool)).verdict == "deny"]
    assert found == [tool for tool in tools if tool in fires or not matchers]


@pytest.mark.parametrize(
    ("matcher", "told"),
    [
        ("shel", "unknown tool 'shel'. Did you mean 'shell'?"),
        ("Bash", "unknown tool 'Bash'. The tools are shell,"),
        ({"mcp": "github"}, "must be a tool's name"),
        ([], "must be a tool's name"),
        (7, "not 7"),
    ],
)
def test_a_matcher_that_never_fires_is_refused(matcher: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told.replace("?", r"\?")):
        before_tool(matcher)


def test_an_event_that_never_fires_is_refused() -> None:
    with pytest.raises(UsageError, match=r"unknown event 'before_compat'. Did you mean 'before_compact'\?"):
        on("before_compat")


FAILURES = {
    "raise KeyError('x')": "KeyError: 'x' (hook.py:5)",
    "return 'no'": "it returned the str. Return allow(), deny(…), ask(…), context(…), rewrite(…) or nothing",
    "return deny": "it returned the function deny. Return allow()",
    "exit(3)": "it called exit(3). Return allow()",
    "raise ValueError('two\\nlines')": "ValueError: two lines (hook.py:5)",
}


@pytest.mark.parametrize("body", FAILURES)
@pytest.mark.parametrize("policy", ["open", "closed"])
def test_a_failure_is_one_line_and_a_decision_by_policy(policy: str, body: str, start: Started) -> None:
    told = start(start.file(f"@before_tool\ndef guard(event):\n    {body}"), BASH, HOOKPORT_ON_FAILURE=policy)
    assert told.stderr.startswith(f"hook 'guard' failed: {FAILURES[body]}")
    assert told.stderr.count("\n") == 1
    verdict = json.loads(told.stdout).get("hookSpecificOutput", {}).get("permissionDecision")
    assert (verdict, told.exit_code) == ("deny" if policy == "closed" else None, 0)


def test_a_file_says_its_own_policy(start: Started) -> None:
    file = start.file("@before_tool\ndef guard(event):\n    1 / 0", ends="run(on_failure='closed')")
    told = start(file, BASH)
    assert json.loads(told.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    told = start(file, BASH, HOOKPORT_DEBUG="")
    assert "HOOKPORT_DEBUG=1" in told.stderr


def test_a_project_says_a_policy(start: Started) -> None:
    (start.folder / ".git").mkdir()
    (start.folder / ".hookport").mkdir()
    (start.folder / ".hookport" / "config.json").write_text('{"on_failure": "closed"}')
    file = start.file("@before_tool\ndef guard(event):\n    1 / 0")
    told = start(file, {**BASH, "cwd": str(start.folder)})
    assert json.loads(told.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_one_failure_undoes_no_answer_of_others(start: Started) -> None:
    text = "@before_tool\ndef broken(event): 1 / 0\n\n@before_tool\ndef guard(event): return ask('why')"
    told = start(start.file(text), BASH)
    assert json.loads(told.stdout)["hookSpecificOutput"]["permissionDecision"] == "ask"


@pytest.mark.parametrize(
    "payload", [b"", b'{"hook_event_name": "Pre', b'{"a": 1}'], ids=["none", "cut", "nobody's"]
)
def test_a_payload_that_cannot_be_read_is_left_to_policy(payload: bytes, start: Started) -> None:
    file = start.file("@before_tool\ndef guard(event):\n    return allow()")
    for policy, code in (("open", 1), ("closed", 2)):
        told = start(file, payload, HOOKPORT_ON_FAILURE=policy)
        assert (told.stdout, told.exit_code, told.stderr.count("\n")) == ("", code, 1)
        assert told.stderr.startswith("hook.py: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("before_tool('shel')", "UsageError: unknown tool 'shel'. Did you mean 'shell'?"),
        ("open('rules.json')", "FileNotFoundError: [Errno 2] No such file or directory: 'rules.json'"),
    ],
)
def test_a_file_that_breaks_before_it_runs_is_one_line_too(text: str, said: str, start: Started) -> None:
    file = start.file(f"@before_tool\ndef guard(event):\n    pass\n\n{text}")
    for policy, code in (("open", 1), ("closed", 2)):
        told = start(file, BASH, HOOKPORT_ON_FAILURE=policy)
        assert (told.stdout, told.exit_code, told.stderr.count("\n")) == ("", code, 1)
        assert told.stderr.startswith(f"hook.py: {said}")


@pytest.mark.parametrize(
    ("text", "ends", "said"),
    [
        ("open('rules.json')", "run()", "FileNotFoundError: "),
        ("@before_tool('Bash')\ndef guard(event): pass", "run()", "UsageError: unknown tool 'Bash'."),
        ("def guard(event): pass", "run()", "UsageError: no function is decorated before run()"),
        ("@before_tool\ndef guard(event): pass", "", "UsageError: it ended before it called run()"),
        ("@before_tool\ndef guard(event): pass", "exit(0)", "UsageError: it ended before it called run()"),
    ],
    ids=["broken", "no such tool", "nothing decorated", "no run", "left"],
)
def test_a_file_that_asks_no_function_is_not_silent(text: str, ends: str, said: str, start: Started) -> None:
    for policy, code in (("open", 1), ("closed", 2)):
        told = start(start.file(text, ends=ends), BASH, HOOKPORT_ON_FAILURE=policy)
        assert (told.stdout, told.exit_code, told.stderr.count("\n")) == ("", code, 1)
        assert told.stderr.startswith(f"hook.py: {said}")
    assert start(start.file("@before_tool\ndef guard(event): pass", ends=""), b"") == Answer("", "", 0)


def test_a_policy_that_is_none_denies(start: Started) -> None:
    told = start(start.file("@before_tool\ndef g(e): pass", ends="run(on_failure='Closed')"), BASH)
    assert (told.stdout, told.exit_code) == ("", 2)
    assert "on_failure cannot be 'Closed'" in told.stderr


def test_what_functions_print_is_not_the_answer(start: Started) -> None:
    text = (
        "import os, subprocess\nprint('file')\n\n@before_tool\ndef guard(event):\n    print('function')\n"
        "    os.write(1, b'bytes\\n')\n    subprocess.run(['echo', 'child'])\n    return deny('no')"
    )
    told = start(start.file(text), BASH)
    assert json.loads(told.stdout)["hookSpecificOutput"]["permissionDecisionReason"] == "no"
    assert sorted(told.stderr.split()) == ["bytes", "child", "file", "function"]


def test_an_agent_stops_at_last(start: Started) -> None:
    """Codex does not end a stop hook that blocks for ever."""
    file = start.file("@agent_stop\ndef never(event):\n    return deny('go on')")
    state = {"HOOKPORT_STATE_DIR": str(start.folder / "state"), "HOOKPORT_STOP_LIMIT": "2"}
    stop = testing.agent_stop(stop_active=True)
    told = [testing.send(file, stop, agent="codex", env=state).decision.verdict for _ in range(3)]
    assert told == ["deny", "deny", "none"]


def test_a_seal_is_of_its_payload() -> None:
    said = seal_payload(b"{}", "one", "PreToolUse")
    assert read_seal(said, b"{}") == ("one", "PreToolUse")
    assert (read_seal(said, b"{ }"), read_seal("", b"{}"), read_seal("x", b"{}")) == (None, None, None)
    long = seal_payload(b"a" * 100_000, "one", "two words")
    assert read_seal(long, b"a" * 100_000) == ("one", "two words")
    assert read_seal(long, b"a" * 99_999 + b"b") is None


def test_a_stale_seal_is_not_believed() -> None:
    env = {VARIABLE: seal_payload(b"other", "kiro", "preToolUse"), "HOOKPORT_AGENT": "kiro"}
    told = replies.reply(parse_payload(json.dumps(bash(PUSH)).encode()), _functions(GUARD), env)
    assert json.loads(told.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("name", SEATS)
def test_a_hook_of_any_format_is_answered_for_in_any_agent(name: str, kept: dict[str, str]) -> None:
    """The payload is told to be of the hook's dialect, also where it looks like the agent's own."""
    seat, functions, found = SEATS[name], _functions(GUARD), {}
    body = payload_of(seat.agent, seat.native, seat.payload, PUSH, Path("/p"))
    event = read_event(get_wire(seat.agent), json.loads(body), seat.native)
    env = {**kept, "HOOKPORT_AGENT": seat.agent, "HOOKPORT_EVENT": event.event}
    for dialect in list_dialects():
        own = get_wire(dialect)
        native = event.native if dialect == seat.agent else choose_native(own, event)
        shown = json.dumps(write_event(own, event)).encode()
        told = replies.reply(
            parse_payload(shown), functions, {**env, VARIABLE: seal_payload(shown, dialect, native)}
        )
        result = RunResult("completed", told.exit_code, told.stdout, told.stderr)
        found[dialect] = read_answer(PlannedHook("", event.event, dialect, native=native), own, event, result)
    assert found == dict.fromkeys(list_dialects(), deny(REASON))


MANIFEST = {
    "spec": "hooks/1.0",
    "hooks": [
        {
            "event": event,
            "matcher": ["shell"],
            "handler": {"type": "command", "command": "python3 hook.py"},
            "blocking": True,
        }
        for event in ("before_tool_execute", "after_tool_execute")
    ],
}


@pytest.mark.skipif(os.name == "nt", reason="the command is one for a shell")
@pytest.mark.parametrize("name", ["gemini-cli", "windsurf"])
def test_a_manifest_runs_a_hook_in_python_in_any_agent(name: str, start: Started) -> None:
    seat, root = SEATS[name], start.folder / "project"
    (root / ".git").mkdir(parents=True)
    (root / ".hookport").mkdir()
    (root / ".hookport" / "hooks.json").write_text(json.dumps(MANIFEST))
    (root / "hook.py").write_bytes(GUARD.read_bytes())
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**start.env, "PATH": path, "HOOKPORT_STATE_DIR": str(start.folder / "state")}
    approve(root, env)

    def dispatched(command: str, **more: str) -> tuple[Any, Answer, Any]:
        payload = payload_of(seat.agent, seat.native, seat.payload, command, root)
        done = subprocess.run(
            [sys.executable, "-m", "hookport", "dispatch", seat.agent, seat.native],
            input=payload,
            env={**env, **more},
            cwd=root,
            capture_output=True,
            timeout=60,
            check=False,
        )
        told = Answer(done.stdout.decode(), done.stderr.decode(), done.returncode)
        args = args_of(seat, payload)
        return seat.outcome(told, args), told, args

    outcome, told, _ = dispatched(PUSH)
    assert (outcome.blocked, REASON in outcome.reason) == (True, True), told
    outcome, told, args = dispatched("ls")
    assert outcome == Outcome(blocked=False, input=args), told
    (root / "hook.py").write_text("from hookport import *\n@before_tool\ndef guard(e): 1 / 0\nrun()\n")
    approve(root, env)
    for policy in ("open", "closed"):
        outcome, told, _ = dispatched("ls", HOOKPORT_ON_FAILURE=policy)
        assert outcome.blocked == (policy == "closed"), told


@pytest.mark.skipif(os.name == "nt", reason="the command is one for a shell")
def test_a_bridge_in_the_project_brings_the_sdk_along(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / ".git").mkdir()
    (root / ".hookport").mkdir()
    command = f"{shlex.quote(sys.executable)} -S hook.py"  # nothing that is installed is seen
    manifest = json.dumps(MANIFEST).replace("python3 hook.py", command)
    (root / ".hookport" / "hooks.json").write_text(manifest)
    (root / "hook.py").write_bytes(GUARD.read_bytes())
    vendor.write(root)
    env = {"PATH": os.environ["PATH"], trust.VARIABLE: trust.hash_file(str(root / trust.LOCK))}
    seat = SEATS["claude-code"]
    payload = payload_of(seat.agent, seat.native, seat.payload, PUSH, root)
    words = ["-I", "-S", str(root / ".hookport" / "bridge.pyz"), "dispatch", seat.agent, seat.native]
    done = subprocess.run(
        [sys.executable, *words],
        input=payload,
        env=env,
        cwd=root,
        capture_output=True,
        timeout=60,
        check=False,
    )
    outcome = seat.outcome(Answer(done.stdout.decode(), done.stderr.decode(), done.returncode), {})
    assert outcome == Outcome(blocked=True, reason=REASON)


def test_expectations_say_what_they_got() -> None:
    found = testing.expect(GUARD, testing.before_tool(command=PUSH), "deny", reason_contains="human")
    assert found == deny(REASON)
    with pytest.raises(AssertionError) as raised:
        testing.expect(
            GUARD, testing.before_tool(command="ls"), "deny", reason_contains="human", agent="cursor"
        )
    assert str(raised.value) == (
        f"{GUARD}, called by cursor: the verdict is none, not deny; 'human' is not in the reason ''\n"
        "  event     Event(before_tool_execute, tool='shell', command='ls')\n"
        "  decision  Decision()"
    )


def test_a_hook_is_tested_as_every_agent_calls_it() -> None:
    push, prompt = testing.before_tool(command=PUSH), testing.before_prompt("my password is hunter2")
    asked = {name: testing.decide(GUARD, push, agent=name) for name in testing.agents(push)}
    assert asked == dict.fromkeys(testing.agents(), deny(REASON))
    verdicts = {testing.decide(GUARD, prompt, agent=name).verdict for name in testing.agents(prompt)}
    assert "deny" in verdicts
    assert testing.send(GUARD, push, agent="codex").decision == deny(REASON)


def test_what_an_agent_cannot_say_is_stricter() -> None:
    @before_tool("shell")
    def curious(event: Event) -> Decision:
        return ask("really?")

    @before_tool("shell")
    def changes(event: Event) -> Decision:
        return rewrite(command="true")

    event = testing.before_tool(command="ls")
    assert {testing.decide(curious, event, agent=name).verdict for name in testing.agents()} == {
        "ask",
        "deny",
    }
    changed = {name: testing.decide(changes, event, agent=name) for name in testing.agents()}
    assert {
        name for name, one in changed.items() if one.updated_input is None and one.verdict != "deny"
    } == set()


def test_a_test_that_asks_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="is not a hook"):
        testing.decide(merged, testing.before_tool(command="ls"))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="missing tool"):
        testing.before_tool()
    with pytest.raises(UsageError, match="unknown event"):
        testing.event("before_lunch")
    with pytest.raises(UsageError, match="has no event for Event"):
        testing.payload("windsurf", testing.session_start())
    with pytest.raises(ZeroDivisionError):
        testing.decide(broken, testing.before_tool(command="ls"), agent="codex")


@before_tool
def broken(event: Event) -> None:
    _ = 1 / 0


def test_the_page_shows_what_happens(start: Started) -> None:
    """The files of the page are written, its console blocks print what they show, its tests pass."""
    page = (Path(__file__).parent.parent / "docs" / "sdk.md").read_text("utf-8")
    files = re.findall(r"^```python\n# (\S+\.py)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(files) == page.count("```python")
    for name, text in files:
        (start.folder / name).write_text(f"# {name}\n{text}", "utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    shown = re.findall(r"^```console\n\$ ([^\n]*)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    for command, printed in shown:
        done = subprocess.run(
            command,
            shell=True,
            cwd=start.folder,
            env={**start.env, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout + done.stderr == printed
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=prepend", "test_guard.py"]
    done = subprocess.run(
        [sys.executable, *words], cwd=start.folder, env=start.env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, len(shown)) == (0, 2), done.stdout
