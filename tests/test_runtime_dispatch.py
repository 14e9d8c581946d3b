"""Agents' events through the real command line: hooks on disk in, the answer that the agent obeys out."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import hookport
from tests.approval import approve, approve_for_ci

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

SOURCE = Path(hookport.__file__).parents[1]
COMMANDS = {
    "module": [sys.executable, "-m", "hookport", "dispatch"],
    "bridge": [sys.executable, "-I", "-S", str(SOURCE / "hookport" / "bridge.py"), "dispatch"],
}
LONG = 30.0

Answered = tuple[int, Any, str]


class Place:
    """A home and a repository, both empty at first, and how an agent calls us there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.root = folder / "project"
        self.home.mkdir()
        (self.root / ".git").mkdir(parents=True)
        self.command = COMMANDS["bridge"]
        self.is_approving = True
        self.env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCE),
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
        }

    def write(self, path: str, text: str | dict[str, Any], *, mode: int = 0o644) -> Path:
        file = (self.home if path.startswith("~/") else self.root) / path.removeprefix("~/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
        file.chmod(mode)
        return file

    def hook(self, name: str, script: str, meta: str = "matcher: {tool: Shell}") -> Path:
        """A HOOK.md folder before a tool."""
        head = f"---\nname: {name}\ndescription: d\ntrigger: before_tool\n{meta}\n---\n"
        self.write(f".agents/hooks/{name}/HOOK.md", head)
        return self.write(f".agents/hooks/{name}/scripts/run.sh", f"#!/bin/sh\n{script}\n", mode=0o755)

    def canonical(self, *hooks: dict[str, Any]) -> Path:
        tree = {"spec": "hooks/1.0", "hooks": [{"event": "before_tool_execute", **one} for one in hooks]}
        return self.write(".hookport/hooks.json", tree)

    def closed(self) -> None:
        self.write(".hookport/config.json", {"on_failure": "closed"})

    def fire(
        self, agent: str, native: str, payload: Any = None, cwd: Path | None = None, **env: str
    ) -> Answered:
        """(exit code, stdout as JSON where it is some, stderr), with the hooks approved by their user."""
        self.approve()
        data = payload if isinstance(payload, bytes) else json.dumps(payload or {}).encode()
        done = subprocess.run(
            [*self.command, agent, native],
            input=data,
            cwd=cwd or self.root,
            env={**self.env, **env},
            capture_output=True,
            check=False,
            timeout=LONG,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in err
        return done.returncode, json.loads(out) if out.strip() else None, err

    def approve(self) -> None:
        if self.is_approving:
            approve(self.root, self.env)

    def shell(self, agent: str = "claude-code", command: str = "ls", cwd: Path | None = None) -> Answered:
        """A shell command of an agent that names its tools as Claude Code does, or as Gemini CLI."""
        named = {"gemini-cli": ("BeforeTool", "run_shell_command")}
        native, tool = named.get(agent, ("PreToolUse", "Bash"))
        payload = {"hook_event_name": native, "tool_name": tool, "tool_input": {"command": command}}
        where = str(cwd or self.root)
        return self.fire(agent, native, {**payload, "session_id": "s", "cwd": where}, cwd)

    def journal(self) -> list[dict[str, Any]]:
        file = self.home / "state" / "hookport" / "journal.jsonl"
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def denied(reason: str, event: str = "PreToolUse") -> Answered:
    """What Claude Code is told of a deny."""
    inner = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return 0, {"hookSpecificOutput": {"hookEventName": event, **inner}}, ""


NOTHING: Answered = (0, None, "")


def several(place: Place) -> None:
    """Four guards, each in a format of its own and for a word of its own."""
    for name in ("md", "universal", "canonical", "settings"):
        guard = f'#!/bin/sh\nif grep -q "stop-{name}"; then echo "no {name}" >&2; exit 2; fi\n'
        place.write(f"guards/{name}.sh", guard, mode=0o755)
    place.hook("md", 'exec "$PWD/guards/md.sh"')
    command = {"type": "command", "command": f"{place.root}/guards/universal.sh"}
    rule = {"matcher": "Bash", "hooks": [command]}
    place.write("hooks/hooks.json", {"version": 1, "hooks": {"pre-tool-use": [rule]}})
    place.canonical(
        {
            "matcher": "shell",
            "blocking": True,
            "handler": {"type": "command", "command": "guards/canonical.sh"},
        }
    )
    settings = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/guards/settings.sh'}
    place.write(
        ".claude/settings.json", {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [settings]}]}}
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_hooks_of_four_formats_answer_three_agents(place: Place, command: str) -> None:
    several(place)
    place.command = COMMANDS[command]
    formats = ("md", "universal", "canonical", "settings", "nobody")
    got = {
        agent: [place.shell(agent, f"stop-{name}") for name in formats]
        for agent in ("claude-code", "codex", "gemini-cli")
    }
    assert got == {
        # It runs the hooks of its own settings by itself.
        "claude-code": [*(denied(f"no {name}") for name in formats[:3]), NOTHING, NOTHING],
        "codex": [*((2, None, f"no {name}\n") for name in formats[:4]), NOTHING],
        "gemini-cli": [
            # A person there sees the message only.
            *(
                (0, {"decision": "deny", "reason": f"no {name}", "systemMessage": f"no {name}"}, "")
                for name in formats[:4]
            ),
            NOTHING,
        ],
    }


def test_an_entry_that_calls_the_bridge_is_no_hook(place: Place) -> None:
    """Two agents' settings may both call the bridge; what is behind it runs once."""
    place.hook("guard", "echo no >&2; exit 2")
    entry = {"type": "command", "command": "'/opt/a b/hookport' dispatch claude-code PreToolUse --within 6"}
    place.write(".claude/settings.json", {"hooks": {"PreToolUse": [{"hooks": [entry]}]}})
    assert place.shell("codex") == (2, None, "no\n")
    assert [one["hook"] for one in place.journal()[0]["hooks"]] == ["guard"]


def test_from_a_subfolder_and_from_a_worktree(place: Place) -> None:
    shutil.rmtree(place.root / ".git")
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@e", "-c", "commit.gpgsign=false"]
    place.hook("guard", "echo no >&2; exit 2")
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["commit", "-q", "-m", "m"],
        ["worktree", "add", "-q", "../tree"],
    ):
        subprocess.run([*git, *words], cwd=place.root, env=place.env, check=True, timeout=LONG)
    below = place.root / "src" / "deep"
    tree = place.folder / "tree" / "src"
    below.mkdir(parents=True)
    tree.mkdir()
    assert [place.shell(cwd=cwd) for cwd in (below, tree)] == [denied("no"), denied("no")]
    # The agent may be somewhere else than the call.
    assert place.fire("codex", "PreToolUse", call("ls", str(below)), cwd=place.home) == (2, None, "no\n")


def call(command: str, cwd: str = "", **more: Any) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": cwd, "session_id": "s", **more}


def test_what_is_changed_on_disk_holds_at_once(place: Place) -> None:
    script = place.hook("guard", "echo one >&2; exit 2")
    said = [place.shell("codex")[2]]
    script.write_text("#!/bin/sh\necho two >&2; exit 2\n")
    said.append(place.shell("codex")[2])
    place.hook("guard", "echo two >&2; exit 2", "matcher: {tool: WriteFile}")
    said.append(place.shell("codex")[2])
    place.hook("another", "echo three >&2; exit 2")
    said.append(place.shell("codex")[2])
    shutil.rmtree(place.root / ".agents" / "hooks" / "another")
    said.append(place.shell("codex")[2])
    place.canonical({"handler": {"type": "command", "command": "echo four >&2; exit 2"}, "blocking": True})
    said.append(place.shell("codex")[2])
    (place.root / ".hookport" / "hooks.json").unlink()
    said.append(place.shell("codex")[2])
    assert said == ["one\n", "two\n", "", "three\n", "", "four\n", ""]


def test_a_plan_is_kept_and_one_that_is_spoilt_is_made_anew(place: Place) -> None:
    place.hook("guard", "echo no >&2; exit 2")
    place.shell("codex")
    (kept,) = (place.home / "cache" / "hookport" / "plans").iterdir()
    before = kept.read_bytes()
    assert place.shell("codex") == (2, None, "no\n")
    assert kept.read_bytes() == before
    for spoilt in (b"", b"{}", before[: len(before) // 2], b"\0" * 99):
        kept.write_bytes(spoilt)
        assert place.shell("codex") == (2, None, "no\n")
        assert kept.read_bytes() == before


def test_a_broken_hook_is_told_and_the_others_run(place: Place) -> None:
    place.hook("guard", "echo no >&2; exit 2")
    broken = place.write(".agents/hooks/broken/HOOK.md", "---\nname: [\n---\n")
    code, told, err = place.shell()
    assert (code, err, sorted(told)) == (0, "", ["hookSpecificOutput", "systemMessage"])
    # Once a session.
    assert place.shell() == denied("no")
    (line, _) = place.journal()
    assert [str(broken) in note for note in line["notes"]] == [True]
    code, told, err = place.fire("claude-code", "SessionStart", {"session_id": "s", "source": "startup"})
    assert (code, err, sorted(told)) == (0, "", ["systemMessage"])
    assert str(broken) in told["systemMessage"]
    assert "It was not blocked (fail open)." in told["systemMessage"]


# Failing closed.


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize(
    ("agent", "script", "meta"),
    [
        ("codex", "kill -9 $$", ""),
        ("codex", "exit 1", ""),
        ("claude-code", "sleep 600", "timeout: 200"),
        ("gemini-cli", "exit 3", ""),
    ],
    ids=["killed", "crashed", "slow", "gemini"],
)
def test_a_hook_that_fails(place: Place, agent: str, script: str, meta: str, closed: bool) -> None:
    place.hook("guard", script, meta or "priority: 1")
    if closed:
        place.closed()
    assert is_denied(place.shell(agent)) == closed


def is_denied(answered: Answered) -> bool:
    code, told, _ = answered
    tree = told or {}
    said = tree.get("decision") or tree.get("hookSpecificOutput", {}).get("permissionDecision")
    return code == 2 or said in ("deny", "block")


UNREADABLE = {
    "empty": b"",
    "blank": b" \n",
    "not JSON": b"{'a': 1}",
    "binary": bytes(range(256)),
    "array": b"[]",
    "text": b'"PreToolUse"',
    "cut": b'{"tool_name": "Bash", "tool_inp',
    "deep": b"[" * 100_000,
    "large": b'{"a": "' + b"x" * (40 << 20) + b'"}',
}


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_payload_that_cannot_be_read(place: Place, agent: str, name: str, closed: bool) -> None:
    if closed:
        place.closed()
    # The first makes the plan and has more of the library loaded than those that only read it.
    answered = [place.fire(agent, "PreToolUse", UNREADABLE[name]) for _ in range(3)]
    assert [is_denied(one) for one in answered] == [closed] * 3
    assert [line["decision"]["verdict"] for line in place.journal()] == ["deny" if closed else "none"] * 3


@pytest.mark.parametrize("payload", [{}, {"tool_name": None, "tool_input": {"command": "x"}}])
def test_a_call_of_no_tool_is_a_failure(place: Place, payload: dict[str, Any]) -> None:
    code, told, _ = place.fire("gemini-cli", "BeforeTool", payload)
    assert (code, "the payload names no tool" in told["systemMessage"]) == (0, True)
    place.hook("guard", "exit 0")
    code, told, _ = place.fire("gemini-cli", "BeforeTool", payload)
    assert (told["decision"], "hook 'guard' could not run" in told["reason"]) == ("deny", True)
    place.closed()
    assert is_denied(place.fire("gemini-cli", "BeforeTool", payload))


def test_what_cannot_be_answered_at_all_is_denied_in_the_agents_terms(place: Place) -> None:
    words = [*place.command[:-1], "wrap", "nope", "cline", "PreToolUse", "--on-failure=closed", "--", "true"]
    done = subprocess.run(words, input=b"{}", env=place.env, cwd=place.root, capture_output=True, check=False)
    reason = "hookport: unknown dialect 'nope'. It is denied (fail closed)."
    # Cline goes on after any exit code; only this stops it.
    assert json.loads(done.stdout) == {"cancel": True, "errorMessage": reason}


def test_a_broken_source_denies_where_failures_do(place: Place) -> None:
    place.write(".agents/hooks/broken/HOOK.md", "---\nname: [\n---\n")
    assert not is_denied(place.shell())
    place.closed()
    assert is_denied(place.shell())
    asked = call("ls", str(place.root))
    assert (
        place.fire("codex", "PermissionRequest", asked)[1]["hookSpecificOutput"]["decision"]["behavior"]
        == "deny"
    )
    # What has happened already is not to be denied.
    assert not is_denied(place.fire("claude-code", "PostToolUse", {**asked, "tool_response": "x"}))


@pytest.mark.parametrize("text", ['{"on_failure": "clsoed"}', '{"on": 1}', "[]", "[" * 20_000, "\0"])
def test_settings_that_cannot_be_read_fail_closed(place: Place, text: str) -> None:
    place.hook("guard", "exit 1")
    place.write(".hookport/config.json", text)
    assert is_denied(place.shell())
    assert not is_denied(place.fire("claude-code", "PreToolUse", call("ls"), HOOKPORT_ON_FAILURE="open"))


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_an_event_and_an_agent_that_are_not_known(place: Place, closed: bool) -> None:
    if closed:
        place.closed()
    effect = "It is denied (fail closed)." if closed else "Nothing was decided (fail open)."
    assert place.fire("claude-cod", "PreToolUse", call("ls")) == (
        2 if closed else 1,
        None,
        f"hookport: unknown dialect 'claude-cod'. Did you mean 'claude-code'? {effect}\n",
    )
    code, _, err = place.fire("codex", "PreTool", call("ls"))
    assert (code, "codex has no event 'PreTool'" in err) == (2 if closed else 0, True)
    # The payload itself says what it is.
    place.hook("guard", "echo no >&2; exit 2")
    assert place.fire("codex", "PreTool", call("ls", hook_event_name="PreToolUse"))[0] == 2


@pytest.mark.parametrize(
    "words",
    [[], ["codex"], ["codex", "PreToolUse", "x"], ["codex", "PreToolUse", "--within", "soon"], ["--x"]],
)
def test_wrong_words_are_told_in_one_line(place: Place, words: list[str]) -> None:
    done = subprocess.run(
        [*place.command, *words], input=b"{}", env=place.env, cwd=place.root, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (1, b"", 1)


# Places that cannot be written to.


def test_a_home_that_is_read_only(place: Place) -> None:
    place.hook("guard", "echo no >&2; exit 2")
    file = place.folder / "file"
    file.write_text("")
    places = {
        name: str(file / "x") for name in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
    }
    asked = call("ls", str(place.root))
    places |= approve_for_ci(place.root, place.env)
    assert place.fire("codex", "PreToolUse", asked, None, **places) == (2, None, "no\n")
    if os.getuid():  # root may write everywhere
        place.home.chmod(0o500)
        assert place.shell("codex") == (2, None, "no\n")
        place.home.chmod(0o700)


@pytest.mark.parametrize("agent", ["codex", "cursor"])
def test_without_a_home_nothing_is_written_anywhere(place: Place, agent: str) -> None:
    place.hook("guard", "echo no >&2; exit 2")
    place.canonical(
        {
            "event": "agent_stop",
            "blocking": True,
            "handler": {"type": "command", "command": "echo more >&2; exit 2"},
        }
    )
    env = {"PATH": place.env["PATH"], "PYTHONPATH": place.env["PYTHONPATH"]}
    place.env = env | approve_for_ci(place.root, env)
    place.is_approving = False
    native = {"codex": ("PreToolUse", "Stop"), "cursor": ("preToolUse", "stop")}[agent]
    tool = {"codex": "Bash", "cursor": "Shell"}[agent]
    asked = {**call("ls", str(place.root)), "tool_name": tool}
    was = sorted(Path("/").iterdir())
    first, second = (place.fire(agent, one, asked) for one in native)
    assert [first[0], "no" in first[2] + json.dumps(first[1])] == [2 if agent == "codex" else 0, True]
    assert "more" in json.dumps(second[1])
    assert sorted(Path("/").iterdir()) == was


def test_a_folder_that_is_gone(place: Place) -> None:
    gone = place.folder / "gone"
    gone.mkdir()
    place.hook("guard", "echo no >&2; exit 2")
    place.approve()
    words = [*place.command, "codex", "PreToolUse"]
    done = subprocess.run(
        ["/bin/sh", "-c", f'cd {gone}; rmdir {gone}; exec "$@"', "sh", *words],
        input=json.dumps(call("ls", str(place.root))).encode(),
        env=place.env,
        capture_output=True,
        check=False,
        timeout=LONG,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"no\n")


# Many at once, and ends.


def test_forty_at_once_answer_and_write_a_line_each(place: Place) -> None:
    place.hook("guard", 'if grep -q odd; then echo "no" >&2; exit 2; fi')

    def fire(number: int) -> Answered:
        return place.shell("codex", f"{'odd' if number % 2 else 'even'} {number}")

    with ThreadPoolExecutor(10) as pool:
        got = list(pool.map(fire, range(40)))
    assert got == [(2, None, "no\n") if number % 2 else NOTHING for number in range(40)]
    lines = place.journal()
    assert sorted(line["input"]["command"] for line in lines) == sorted(
        f"{'odd' if number % 2 else 'even'} {number}" for number in range(40)
    )


def pids(file: Path) -> Iterator[int]:
    until = time.monotonic() + LONG
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < until
        time.sleep(0.02)
    yield from map(int, file.read_text().split())


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        # A zombie that nobody has waited for yet is gone all the same.
        state = Path(f"/proc/{pid}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_agent_that_gives_up_ends_the_hook_and_its_children(place: Place, number: int) -> None:
    told = place.folder / "pids"
    place.hook("guard", f"sleep 600 & echo $$ $! > {told}; wait")
    place.approve()
    with subprocess.Popen(
        [*place.command, "codex", "PreToolUse"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=place.root,
        env=place.env,
    ) as started:
        assert started.stdin
        assert started.stdout
        assert started.stderr
        started.stdin.write(json.dumps(call("ls", str(place.root))).encode())
        started.stdin.close()
        found = list(pids(told))
        started.send_signal(number)
        code = started.wait(LONG)
        assert (code, started.stdout.read(), started.stderr.read()) == (143, b"", b"")
    until = time.monotonic() + LONG
    while any(map(is_alive, found)):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_an_answer_of_ten_megabytes(place: Place) -> None:
    place.hook(
        "guard",
        'printf "{\\"decision\\": \\"deny\\", \\"reason\\": \\""; yes | head -c 10000000; echo "\\"}"',
    )
    code, told, err = place.shell()
    assert (code, err) == (0, "")
    assert "printed more than hookport reads" in told["systemMessage"]
    place.closed()
    assert is_denied(place.shell())


def test_a_large_reason_arrives_short(place: Place) -> None:
    place.hook("guard", "echo first >&2; yes no | head -c 900000 >&2; echo last >&2; exit 2")
    code, told, err = place.shell("codex")
    assert (code, told, len(err) < 4_100, err[:9], err[-5:]) == (2, None, True, "first\nno\n", "last\n")
    assert "characters in all; the journal has more" in err


@pytest.mark.parametrize("size", [10, 900_000])
def test_a_hook_that_does_not_read(place: Place, size: int) -> None:
    place.hook("guard", "exec <&-; echo no >&2; exit 2")
    assert place.shell("codex", "x" * size) == (2, None, "no\n")


def test_an_async_hook_has_a_line_of_its_own(place: Place) -> None:
    place.hook("slow", 'echo \'{"decision": "deny"}\'; sleep 600', "async: true\ntimeout: 300")
    assert place.shell() == NOTHING
    until = time.monotonic() + LONG
    while len(lines := place.journal()) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    (late,) = [line["hooks"][0] for line in lines if line["notes"] == ["async: over"]]
    assert (late["hook"], late["outcome"], late["failure"]) == (
        "slow",
        "timeout",
        "timed out: took longer than 0.3 s and was stopped",
    )


# What is remembered between events.


@pytest.mark.parametrize(("agent", "most"), [("codex", 8), ("claude-code", 11)])
def test_a_stop_hook_does_not_block_for_ever(place: Place, agent: str, most: int) -> None:
    """Claude Code ends it by itself."""
    place.canonical(
        {
            "event": "agent_stop",
            "blocking": True,
            "handler": {"type": "command", "command": "echo more >&2; exit 2"},
        }
    )

    def stop(number: int) -> bool:
        payload = {"session_id": "s", "cwd": str(place.root), "stop_hook_active": number > 0}
        return is_denied(place.fire(agent, "Stop", payload))

    got = [stop(number) for number in range(11)]
    assert got == [number != most for number in range(11)]


def test_a_stop_that_cannot_be_read_does_not_block_for_ever(place: Place) -> None:
    place.closed()
    got = [is_denied(place.fire("codex", "Stop", b"?")) for _ in range(10)]
    assert got == [True] * 8 + [False, True]


def test_a_prompt_that_was_seen_asks_no_hook_again(place: Place) -> None:
    """Qwen Code fires the event before every request to the model (QW6, captured on 0.24.4)."""
    runs = place.folder / "runs"
    place.canonical(
        {"event": "before_prompt", "handler": {"type": "command", "command": f"echo run >> {runs}"}}
    )
    payload = {"session_id": "s", "cwd": str(place.root), "prompt_id": "s########0"}
    for prompt in ("do it", "", "", "and this"):
        place.fire("qwen-code", "UserPromptSubmit", {**payload, "prompt": prompt})
    assert runs.read_text() == "run\n" * 2
    assert [line["notes"] for line in place.journal()] == [
        [],
        *[["echo: duplicate event for the same prompt"]] * 2,
        [],
    ]


def test_a_person_who_speaks_starts_the_count_again(place: Place) -> None:
    place.canonical(
        {
            "event": "agent_stop",
            "blocking": True,
            "handler": {"type": "command", "command": "echo more >&2; exit 2"},
        }
    )
    place.env["HOOKPORT_STOP_LIMIT"] = "2"
    payload = {"session_id": "s", "cwd": str(place.root), "stop_hook_active": True}
    got = [is_denied(place.fire("codex", "Stop", payload)) for _ in range(2)]
    place.fire("codex", "UserPromptSubmit", {**payload, "prompt": "go on"})
    got += [is_denied(place.fire("codex", "Stop", payload)) for _ in range(3)]
    assert got == [True, True, True, True, False]


def test_a_stop_hooks_own_words_as_a_prompt_are_no_person(place: Place) -> None:
    """Gemini CLI sends them to the model with an event of their own, which began the count anew each time."""
    place.canonical(
        {
            "event": "agent_stop",
            "blocking": True,
            "handler": {"type": "command", "command": "echo more >&2; exit 2"},
        }
    )
    place.env["HOOKPORT_STOP_LIMIT"] = "2"
    payload = {"session_id": "s", "cwd": str(place.root), "stop_hook_active": True}
    got = []
    for _ in range(3):
        got.append(is_denied(place.fire("gemini-cli", "AfterAgent", payload)))
        place.fire("gemini-cli", "BeforeAgent", {**payload, "prompt": "more"})
    assert got == [True, True, False]


@pytest.mark.parametrize("reason", ["no", ""])
def test_the_second_event_of_a_call_gets_the_decision_of_the_first(place: Place, reason: str) -> None:
    runs = place.folder / "runs"
    place.hook("guard", f"echo run >> {runs}; " + (f"echo {reason} >&2; exit 2" if reason else "exit 0"))
    common = {"conversation_id": "c", "workspace_roots": [str(place.root)], "cursor_version": "3"}
    first = {**common, "tool_name": "Shell", "tool_input": {"command": "ls"}, "cwd": str(place.root)}
    second = {**common, "command": "ls", "cwd": str(place.root)}
    expected = {"permission": "deny", "user_message": "no", "agent_message": "no"} if reason else {}
    for times in (1, 2):
        got = [
            place.fire("cursor", "preToolUse", {**first, "hook_event_name": "preToolUse"}),
            place.fire(
                "cursor", "beforeShellExecution", {**second, "hook_event_name": "beforeShellExecution"}
            ),
        ]
        assert got == [(0, expected, "")] * 2
        assert runs.read_text() == "run\n" * times
    assert [line["notes"] for line in place.journal()] == [
        [],
        ["replay: decided on an earlier event of this call"],
    ] * 2
    # Another command is another call.
    place.fire("cursor", "beforeShellExecution", {**second, "command": "pwd"})
    assert runs.read_text() == "run\n" * 3


def test_what_is_remembered_may_be_spoilt(place: Place) -> None:
    place.hook("guard", "echo no >&2; exit 2")
    asked = {
        "conversation_id": "c",
        "tool_name": "Shell",
        "tool_input": {"command": "ls"},
        "cwd": str(place.root),
    }
    place.fire("cursor", "preToolUse", asked)
    (kept,) = (place.home / "state" / "hookport" / "sessions").iterdir()
    now = time.time()
    for spoilt in (
        b"",
        b"[]",
        b'{"saved": "x"}',
        json.dumps({"saved": now, "calls": 1}).encode(),
        json.dumps({"saved": now, "calls": [1, {}, {"decision": {"x": 1}}]}).encode(),
        json.dumps({"saved": now, "calls": [{"decision": {}}], "stops": "x"}).encode(),
    ):
        kept.write_bytes(spoilt)
        code, told, err = place.fire("cursor", "preToolUse", asked)
        assert (code, told["permission"], err) == (0, "deny", "")


def test_a_wrapped_command_fails_as_the_project_says_from_any_folder(place: Place) -> None:
    place.closed()
    folder = place.root / "a" / "b"
    folder.mkdir(parents=True)
    words = [*COMMANDS["bridge"][:-1], "wrap", "canonical", "codex", "PreToolUse", "--", "exit 7"]
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    for cwd in (place.root, folder):
        done = subprocess.run(
            words,
            input=json.dumps(payload),
            cwd=cwd,
            env=place.env,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONG,
        )
        assert (done.returncode, "exit code 7" in done.stderr) == (2, True)


def test_a_wrapped_script_is_found_where_the_agent_names_a_folder_below(place: Place) -> None:
    folder = place.root / "a"
    folder.mkdir()
    (place.root / ".git").mkdir(exist_ok=True)
    (place.root / "guard.sh").write_text("cat >/dev/null; echo no >&2; exit 2", "utf-8")
    words = [
        *COMMANDS["bridge"][:-1],
        "wrap",
        "canonical",
        "factory-droid",
        "PreToolUse",
        "--",
        "sh guard.sh",
    ]
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Execute", "tool_input": {"command": "ls"}}
    done = subprocess.run(
        words,
        input=json.dumps(payload),
        cwd=folder,
        env={**place.env, "FACTORY_PROJECT_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG,
    )
    assert (done.returncode, done.stderr) == (2, "no\n")


@pytest.mark.parametrize(
    ("options", "key"), [([], "toolName"), (["--for=PreToolUse"], "tool_name")], ids=["usual", "for"]
)
def test_a_wrapped_script_hears_the_event_it_was_written_for(
    place: Place, options: list[str], key: str
) -> None:
    words = [*COMMANDS["bridge"][:-1], "wrap", "copilot-cli", "codex", "PreToolUse", *options, "--"]
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    subprocess.run(
        [*words, "cat >heard"],
        input=json.dumps(payload).encode(),
        cwd=place.root,
        env=place.env,
        capture_output=True,
        check=True,
        timeout=LONG,
    )
    heard = json.loads((place.root / "heard").read_bytes())
    assert [name for name in ("toolName", "tool_name") if name in heard] == [key]


# The journal has the hash of what an event was about, so that it can be told again.


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini-cli"])
def test_the_journal_has_the_hash_of_the_input(place: Place, agent: str) -> None:
    place.hook("guard", "exit 0")
    place.shell(agent, "curl -u me:hunter2hunter2 é")
    (line,) = place.journal()
    assert "hunter2" not in json.dumps(line)
    expected = '{"command":"curl -u me:hunter2hunter2 é"}'
    assert line["input_sha256"] == hashlib.sha256(expected.encode()).hexdigest()


def test_a_prompt_and_a_payload_that_cannot_be_read_have_a_hash_too(place: Place) -> None:
    place.fire("claude-code", "UserPromptSubmit", {"session_id": "s", "prompt": "hello"})
    place.fire("claude-code", "PreToolUse", b"{")
    hashes = [line["input_sha256"] for line in place.journal()]
    assert hashes == [hashlib.sha256(data).hexdigest() for data in (b"hello", b"{")]
