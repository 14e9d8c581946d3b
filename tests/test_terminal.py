"""What people read: no text of a hook, a path or a payload steers the terminal, in any command."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TextIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hookport
from hookport.cli import COMMANDS, QUICK
from hookport.console.terminal import Paint, Screen, format_table, make_plain

SOURCE = str(Path(hookport.__file__).parent.parent)
# Clears the screen, sets the title, a C1 control, turns the order of letters round, a joiner, a forged line.
EVIL = "\x1b[2Jx\x1b]0;t\x07\x9b31m\u202egnp\u2066\u200b\u2028\x7f\r\nerror HP000 forged"
DIRECTORY = "pro\x1b[31mject\u202e"
PAYLOAD = {
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "tool_name": "Bash",
    "tool_input": {"command": f"ls {EVIL}"},
}
HOOK = "---\nname: guard\ndescription: d\ntrigger: before_tool\n---\n"
# What each command is run with, so that it has a hostile text to print.
WORDS: dict[str, list[list[str]]] = {
    "new": [[f"n{EVIL}", "--event", "before_tool_execute", "--dry-run"]],
    "run": [
        [".claude/settings.json", "--payload", "payload.json", "--agent", "claude-code"],
        [".claude/settings.json", "--payload", f"{EVIL}"],
    ],
    "why": [["--payload", "payload.json", "--agent", "claude-code"]],
    "test": [[EVIL], ["."]],
    "log": [[], ["--json"], ["--hook", EVIL]],
    "record": [["--dry-run"], [EVIL]],
    "sync": [["--dry-run"], ["--agent", EVIL], ["--agent", "claude-code", "--dry-run", "--diff"]],
    "unsync": [["--dry-run"], ["--agent", EVIL]],
    "status": [[], ["--json"]],
    "undo": [["--dry-run"], [EVIL]],
    "vendor": [["--dry-run"], [EVIL]],
    "pause": [[EVIL], ["--for", EVIL], ["--end"]],
    "trust": [["--dry-run"], ["--dry-run", "--json"]],
    "untrust": [[], [EVIL]],
    "convert": [[".claude/settings.json", "--to", "gemini-cli"], [EVIL, "--to", "codex"]],
    "check": [[], ["--json"], ["--format", "github"], ["--format", "sarif"], [EVIL]],
    "doctor": [[], ["--json"], ["--agent", EVIL]],
    "prove": [["--agent", EVIL], [EVIL]],
    "matrix": [["--agent", EVIL], [EVIL]],
    "dialects": [[], [EVIL]],
    "explain": [[EVIL]],
    "serve-stdio": [[], [EVIL]],
    "completion": [[EVIL]],
    "ask-guardian": [[EVIL, "--secret-file", EVIL]],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / DIRECTORY
    (root / ".git").mkdir(parents=True)
    (root / ".claude").mkdir()
    handler = {"type": "command", "command": f"printf '%s' '{EVIL}' >&2; exit 2", "x\x1b": EVIL}
    settings = {"hooks": {"PreToolUse": [{"matcher": f"Bash|{EVIL}", "hooks": [handler]}], EVIL: [{}]}}
    (root / ".claude/settings.json").write_text(json.dumps(settings))
    (root / ".agents/hooks/e\x1b[1mvil\u202e").mkdir(parents=True)
    (root / ".agents/hooks/e\x1b[1mvil\u202e/HOOK.md").write_text(HOOK)
    (root / "payload.json").write_text(json.dumps(PAYLOAD))
    return root


def run(project: Path, *words: str) -> tuple[str, str]:
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": SOURCE,
        "PYTHONUTF8": "1",
        "HOME": str(project.parent / "home"),
        "HOOKPORT_STATE_DIR": str(project.parent / "state"),
        "HOOKPORT_CACHE_DIR": str(project.parent / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "hookport", *words],
        cwd=project,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=120,
    )
    return done.stdout.decode(), done.stderr.decode()


def test_every_command_is_tried() -> None:
    assert set(WORDS) == set(COMMANDS) - set(QUICK)


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
@pytest.mark.parametrize("command", sorted(set(COMMANDS) - set(QUICK)))
def test_no_command_prints_what_steers_a_terminal(project: Path, command: str) -> None:
    record = {"time": "2026-11-02T10:00:00.000Z", "agent": EVIL, "event": EVIL, "tool": EVIL, "notes": [EVIL]}
    (project.parent / "state").mkdir()
    (project.parent / "state/journal.jsonl").write_text(json.dumps(record) + "\n")
    for words in WORDS[command]:
        for text in run(project, command, *words):
            assert {sign for sign in text if not sign.isprintable()} <= {"\n"}
            assert [line for line in text.splitlines() if line.startswith("error HP000 forged")] == []
            if "json" in " ".join(words) and text.startswith(("{", "[")):
                json.loads(text)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@given(st.text())
def test_a_screen_shows_no_control_and_keeps_what_json_means(text: str) -> None:
    stream = io.StringIO()
    Screen(stream).write(text)
    shown = stream.getvalue()
    assert all(sign.isprintable() or sign in "\n\t" for sign in shown)
    tree = {"text": text, text: [text]}
    stream = io.StringIO()
    Screen(stream).write(json.dumps(tree, ensure_ascii=False))
    assert json.loads(stream.getvalue()) == tree


@given(st.text(st.characters() | st.sampled_from("\x1b[0;31m\x9b")))
def test_colours_are_ours_alone(text: str) -> None:
    stream = Terminal()
    paint = Paint(cast("TextIO", stream))
    paint.on = True
    Screen(stream).write(f"{paint('red', 'error')} {paint(make_plain(text), 'bold')}\n")
    shown = stream.getvalue()
    assert shown.startswith("\x1b[31;1mred\x1b[0m \x1b[1m")
    assert shown.endswith("\x1b[0m\n")
    assert shown.count("\x1b") == 4
    assert shown.count("\n") == 1


def test_a_cell_of_a_table_is_one_line() -> None:
    assert format_table([("A", "B"), ("x\ny", "\u202e")]) == "A         B\nx\\u000ay  \\u202e\n"


ANY_TEXT = '{"decision": "block", "reason": "caf\\u00e9 \\ud83d\\ude00 \\udc80 \\u0000 \\u001b[2J"}'
ANY_BYTES = b"caf\xc3\xa9 \xff\x00\x1b[31m \xf0\x9f\x98\x80 \xed\xa0\x80"


@pytest.mark.skipif(os.name == "nt", reason="the hooks are commands of a shell")
@pytest.mark.parametrize("encoding", ["utf-8:strict", "ascii:strict", "latin-1:strict", "cp1252:strict"])
@pytest.mark.parametrize("shown", ["--json", "--agent=claude-code"])
def test_a_run_is_shown_whatever_a_hook_prints(encoding: str, shown: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text(ANY_TEXT)
    (tmp_path / "bytes").write_bytes(ANY_BYTES)
    commands = ("cat ${PACKAGE_ROOT}/text", "cat ${PACKAGE_ROOT}/bytes >&2; exit 2")
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": command} for command in commands]}
    (tmp_path / "hooks.json").write_text(json.dumps({"version": 1, "hooks": {"pre-tool-use": [group]}}))
    command = "echo \ud800 \udcff \x00 \x1b é"
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}
    done = subprocess.run(
        [sys.executable, "-m", "hookport", "run", ".", "--payload", "-", shown],
        cwd=tmp_path,
        input=json.dumps(payload).encode(),
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b" not in done.stdout
    if shown == "--json":
        tree = json.loads(done.stdout.decode("utf-8"))
        assert tree["event"]["call"]["input"] == {"command": command}
        reason = (
            "caf\xe9 \U0001f600 \udc80 \0 \x1b[2J\ncaf\xe9 \ufffd\0\x1b[31m \U0001f600 \ufffd\ufffd\ufffd"
        )
        assert tree["decision"] == {"verdict": "deny", "reason": reason}


STREAMS = {"stdin": "<&-", "stdout": ">&-", "stderr": "2>&-", "all": "<&- >&- 2>&-"}


@pytest.mark.skipif(os.name == "nt", reason="closes streams as a POSIX shell does")
@pytest.mark.parametrize("closed", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("command", ["check", "status", "trust", "log", "--help", "matrix --json"])
def test_a_stream_that_the_caller_closed_is_no_bug(command: str, closed: str, project: Path) -> None:
    done = run_shell(f"{command} {closed}", project)
    assert "bug in hookport" not in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1, 2)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("command", ["check", "status", "dialects --json", "--help", "sync --help", "doctor"])
def test_a_full_disk_is_named(command: str, project: Path) -> None:
    done = run_shell(f"{command} >/dev/full", project)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "error: cannot write the output: No space left on device",
    )


def run_shell(line: str, project: Path) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(project.parent)}
    words = ["sh", "-c", f'exec "$0" -m hookport {line}', sys.executable]
    return subprocess.run(words, cwd=project, env=env, capture_output=True, text=True, check=False)
