"""What a terminal of any width gets, and what a pipe gets: every command, on a project with long names."""

from __future__ import annotations

import io
import json
import os
import re
import struct
import subprocess
import sys
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from types import MappingProxyType
from typing import TextIO, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hookport
from hookport.agents import get, list_agents, list_dialects
from hookport.console import progress as progress_module
from hookport.console.progress import Progress
from hookport.console.terminal import Paint, Screen, format_columns, format_grid, format_table
from hookport.vendor import writer

if os.name == "nt":
    pytest.skip("no pseudo-terminals there", allow_module_level=True)
import fcntl
import termios

SOURCE = str(Path(hookport.__file__).parent.parent)
WIDTHS = (pytest.param(40, marks=pytest.mark.long), 60, pytest.param(80, marks=pytest.mark.long), 120)
LONG = "a-guard-whose-name-says-in-many-words-what-it-is-for"
WIDE = "守卫项目的钩子不允许强制推送到主分支"
REASON = f"no forced pushes to main: {WIDE} 🎉🚀 and somebody else would lose the work of a whole week"
COMMANDS = [
    ["matrix"],
    ["matrix", "claude-code"],
    ["matrix", "kimi-cli", "cursor"],
    ["matrix", "--event", "before_tool_execute"],
    ["matrix", "--event", "file_changed"],
    ["matrix", "--capability", "context"],
    ["matrix", "--capability", "custom_env"],
    ["dialects"],
    ["status"],
    ["log"],
    ["log", "--hook", "guard", "-n", "3"],
    ["log", "--project", "nothing"],
    ["doctor", "--agent", "codex"],
    ["why", "--agent", "codex"],
    ["why", LONG, "--agent", "codex"],
    ["why", "--agent", "codex", "--command", f"git push --force origin {WIDE}"],
    ["check", "."],
    ["sync", "--dry-run"],
    ["trust", "--dry-run"],
    ["explain"],
    ["explain", "HP202"],
    ["prove", "--list"],
    ["run", ".agents/hooks", "--payload", "payload.json"],
    ["test", "."],
    ["test", ".", "-v", "--coverage"],
]
# Runs commands in one process, each behind a line with its words, and says at the end what was loaded.
DRIVER = """
import json, sys
from hookport.cli import main
for words in json.loads(sys.argv[1]):
    print("==> " + json.dumps(words), flush=True)
    try:
        main(words)
    except SystemExit:
        pass
    sys.stdout.flush(), sys.stderr.flush()
print("==> " + json.dumps(["loaded"]))
print(*sorted(name for name in sys.modules if name.partition(".")[0] == "rich"))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project of every agent, with long and wide names, and a journal of several projects."""
    root = tmp_path_factory.mktemp("machine") / "a-company-with-a-long-name" / f"project-{WIDE}"
    (root / ".git").mkdir(parents=True)
    for name in list_agents():
        place = root / get(name).locations[0].path.removeprefix("~/")
        if "*" not in str(place):
            place.parent.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate((LONG, WIDE, "short")):
        folder = root / ".agents" / "hooks" / name
        (folder / "scripts").mkdir(parents=True)
        script = folder / "scripts" / "run.sh"
        script.write_text(f"#!/bin/sh\necho '{REASON}' >&2\nexit {2 if number < 2 else 0}\n")
        script.chmod(0o755)
        title = name if name.isascii() else f"wide-{number}"
        front = f"name: {title}\ndescription: {REASON.replace(':', '')}\ntrigger: before_tool\n"
        (folder / "HOOK.md").write_text(f"---\n{front}matcher: {{tool: Shell}}\n---\n{REASON}\n", "utf-8")
    handler = {"type": "command", "command": f"python3 ./scripts/{LONG}/{WIDE}.py --really"}
    settings = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}}
    (root / ".claude" / "settings.json").write_text(json.dumps(settings))
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": f"ls {WIDE}"}}
    (root / "payload.json").write_text(json.dumps({**payload, "session_id": "s", "cwd": str(root)}))
    cases = root / ".agents" / "hooks" / LONG / "tests" / "cases"
    cases.mkdir(parents=True)
    (cases.parent / "fixtures").mkdir()
    (cases.parent / "fixtures" / "call.json").write_text(json.dumps(payload))
    for name, verdict in ((f"{LONG}-deny", "deny"), (f"{LONG}-allow", "allow")):
        case: dict[str, object] = {
            "name": name,
            "description": REASON,
            "event": "before_tool",
            "agents": list_agents()[:2],
        }
        case |= {"input": {"fixture": "fixtures/call.json"}, "expected": {"decision": verdict}}
        (cases / f"{name}.yaml").write_text(json.dumps(case, ensure_ascii=False), "utf-8")
    state = root.parent / "state"
    state.mkdir()
    records = [_make_record(number, str(root)) for number in range(12)]
    (state / "journal.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    play(root, [["sync"]])
    return root


def _make_record(number: int, root: str) -> dict[str, object]:
    hook = {"hook": LONG, "source": "HOOK.md", "matched": True, "why": "tool shell", "seconds": 0.0121}
    verdict = ("deny", "ask", "allow", "none")[number % 4]
    hook |= {"exit": 2, "decision": {"verdict": verdict, "reason": REASON}}
    hook |= {"failure": f"no answer: {REASON}", "stderr": REASON} if number % 3 == 0 else {}
    command = ("git push --force origin main", f"echo '{WIDE * 9}'", "x" * 500, "cat <<'E'\n" + "line\n" * 90)
    return {
        "time": f"2026-11-{number + 1:02}T10:00:00.000Z",
        "agent": list_agents()[number % len(list_agents())],
        "event": ("before_tool_execute", "after_tool_execute", "session_start")[number % 3],
        "native": "PreToolUse",
        "session": "s",
        "cwd": root,
        "root": (root, f"/srv/{LONG}", f"/srv/{WIDE}")[number % 3],
        "tool": "shell",
        "input": {"command": command[number % 4]},
        "decision": {"verdict": verdict, "reason": REASON},
        "hooks": [hook],
        "notes": [f"broken: {REASON}"] if number % 5 == 0 else [],
    }


def make_environment(project: Path, **more: str) -> dict[str, str]:
    folders = {"HOME": "home", "HOOKPORT_STATE_DIR": "state", "HOOKPORT_CACHE_DIR": "cache"}
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": SOURCE,
        "PYTHONUTF8": "1",
        "TZ": "UTC",
        **{name: str(project.parent / folder) for name, folder in folders.items()},
        **more,
    }


def split_output(text: str) -> dict[str, str]:
    """Split what the driver printed into the output of each command."""
    parts = re.split(r"^==> (.*?)\r*\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def play(project: Path, commands: list[list[str]], **more: str) -> dict[str, str]:
    """Run commands with their output in a pipe."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps(commands)],
        cwd=project,
        env=make_environment(project, **more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
        timeout=300,
    )
    return split_output(done.stdout.decode())


def show(
    project: Path,
    commands: list[list[str]],
    width: int,
    environment: Mapping[str, str] = MappingProxyType({}),
    *,
    is_whole: bool = True,
) -> dict[str, str]:
    """Run commands in a terminal of this width; `is_whole` unless stderr is somewhere else."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-c", DRIVER, json.dumps(commands)],
        cwd=project,
        env=make_environment(project, **{"TERM": "xterm-256color", **environment}),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs if is_whole else subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(theirs)
    data = b""
    try:  # Linux ends with an error, macOS with nothing
        while piece := os.read(ours, 1 << 16):
            data += piece
    except OSError:
        pass
    os.close(ours)
    text = data.decode(environment.get("PYTHONIOENCODING", "utf-8"))
    assert child.wait() == 0, text
    return split_output(text)


def measure(line: str) -> int:
    """How many columns a line takes, by the widths of Unicode and not by ours.

    The vowels and finals of Hangul join the consonant before them, which has the width (`wcwidth`).
    """
    signs = (
        sign
        for sign in line
        if unicodedata.category(sign) not in ("Mn", "Mc", "Me")
        and not unicodedata.name(sign, "").startswith(("HANGUL JUNGSEONG", "HANGUL JONGSEONG"))
    )
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in signs)


def list_frames(text: str) -> list[str]:
    """List what a terminal ever had in a line, without colours."""
    plain = re.sub(r"\x1b\[[\d;]*[mK]", "", text)
    assert "\x1b" not in plain
    return [line for line in re.split(r"[\r\n]+", plain) if line]


def list_lines(text: str) -> list[str]:
    """List the lines that a terminal has at the end, without colours."""
    lines = re.sub(r"\x1b\[[\d;]*m", "", text).replace("\r\n", "\n").split("\n")
    last = [line.rpartition("\r\x1b[K")[2] for line in lines]
    assert [line for line in last if "\x1b" in line or "\r" in line] == []
    return [line for line in last if line]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(project: Path, width: int) -> None:
    shown = show(project, COMMANDS, width)
    assert list(shown) == [json.dumps(words) for words in (*COMMANDS, ["loaded"])]
    wide = {
        words: lines
        for words, text in shown.items()
        if (lines := [line for line in list_frames(text) if measure(line) > width]) and words != '["loaded"]'
    }
    assert wide == {}
    assert [words for words, text in shown.items() if not text.strip()] == []
    assert all("Traceback" not in text and "bug in hookport" not in text for text in shown.values())


def squeeze(text: str) -> str:
    """Text without blanks, which is the same however it is folded."""
    return re.sub(r"\s", "", text)


def test_a_narrow_terminal_loses_no_word(project: Path) -> None:
    prose = [["why", "--agent", "codex"], ["check", "."], ["doctor", "--agent", "codex"]]
    commands = [["dialects"], *prose]
    piped, narrow = play(project, commands), show(project, commands, 60)
    for words in prose:
        key = json.dumps(words)
        lines = [squeeze(line) for line in list_lines(narrow[key])]
        assert squeeze("".join(lines)) == squeeze(piped[key])
    for name in list_dialects():
        assert name in narrow['["dialects"]']
        assert squeeze(get(name).locations[0].path) in squeeze("".join(list_lines(narrow['["dialects"]'])))


def test_a_pipe_gets_whole_lines_whatever_the_width(project: Path) -> None:
    narrow = play(project, COMMANDS, COLUMNS="40", TERM="xterm-256color")
    wide = play(project, COMMANDS, COLUMNS="400", TERM="dumb")
    for words in COMMANDS:
        key = json.dumps(words)
        first, second = (re.sub(r"\d+ ms|\d+\.\d+ s", "…", text[key]) for text in (narrow, wide))
        assert first == second
        assert "\x1b" not in first
    assert narrow['["loaded"]'].strip() == ""
    rows = narrow['["matrix"]'].splitlines()
    assert [row.split()[0] for row in rows] == ["AGENT", *list_agents()]
    columns = [re.split(r" {2,}", row) for row in rows]
    assert {len(cells) for cells in columns} == {7}
    assert "x" * 500 in narrow['["log"]']
    events = [line for line in narrow['["log"]'].splitlines() if re.match(r"\d{4}-", line)]
    assert len(events) == 12
    assert all(REASON in line for line in events if "  none  " not in line)
    assert [line.split()[2] for line in events] == [list_agents()[number] for number in range(12)]


def test_a_wide_terminal_has_columns_and_a_narrow_one_records(project: Path) -> None:
    wide, narrow = (show(project, [["dialects"]], width)['["dialects"]'] for width in (200, 40))
    assert len(list_lines(wide)) == len(list_dialects()) + 1
    assert list_lines(narrow)[:2] == [list_dialects()[0], f"  KIND        {get(list_dialects()[0]).kind}"]


HELP = [["matrix", "--help"], ["log", "--help"]]
JSON = [["status", "--json"], ["log", "--json"], ["dialects", "--json"], ["matrix", "--json"]]


def test_rich_is_loaded_only_to_draw(project: Path) -> None:
    assert show(project, HELP, 80)['["loaded"]'].strip() == ""
    assert show(project, JSON, 80, is_whole=False)['["loaded"]'].strip() == ""
    assert "rich.table" in show(project, [["dialects"]], 80)['["loaded"]']


@pytest.mark.parametrize(
    ("environment", "coloured_terminal", "coloured_pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"CLICOLOR": "0"}, False, False),
        ({"CLICOLOR_FORCE": "1"}, True, True),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True, True),
    ],
)
def test_colours_follow_the_environment(
    project: Path, environment: dict[str, str], coloured_terminal: bool, coloured_pipe: bool
) -> None:
    words = [["log", "-n", "4"]]
    key = json.dumps(words[0])
    terminal, pipe = show(project, words, 80, environment)[key], play(project, words, **environment)[key]
    assert ("\x1b[" in terminal, "\x1b[" in pipe) == (coloured_terminal, coloured_pipe)
    without = re.sub(r"\x1b\[[\d;]*m", "", pipe)
    assert without == play(project, words)[key]


def test_a_colour_is_never_the_only_sign(project: Path) -> None:
    words = [["log"], ["status"], ["matrix"]]
    with_colours, without = show(project, words, 80), show(project, words, 80, {"NO_COLOR": "1"})
    for key in map(json.dumps, words):
        assert list_lines(with_colours[key]) == list_lines(without[key])


def test_columns_win_over_the_terminal(project: Path) -> None:
    shown = show(project, [["matrix"], ["log"]], 200, {"COLUMNS": "50"})
    lines = [line for key in ('["matrix"]', '["log"]') for line in list_lines(shown[key])]
    assert 40 < max(map(measure, lines)) <= 50


def test_a_terminal_without_a_size_has_eighty_columns(project: Path) -> None:
    lines = list_lines(show(project, [["log"]], 0)['["log"]'])
    assert 70 < max(map(measure, lines)) <= 80


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_encoding_that_lacks_a_character_gets_another(project: Path, encoding: str) -> None:
    words = [["matrix"], ["log", "-n", "4"]]
    shown = show(project, words, 80, {"PYTHONUTF8": "0", "PYTHONIOENCODING": encoding})
    lines = list_lines(shown['["matrix"]'])
    assert any("prevent *" in line for line in lines)
    assert all(len(line) <= 80 for line in lines)
    assert "\\u5b88" in shown['["log", "-n", "4"]']
    assert all(len(line) <= 80 for line in list_lines(shown['["log", "-n", "4"]']))


class Terminal(io.StringIO):
    """A terminal that says when something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


def paint_for(width: int, monkeypatch: pytest.MonkeyPatch) -> Paint:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Paint(cast("TextIO", Terminal()))


def shown_lines(text: str) -> list[str]:
    stream = io.StringIO()
    Screen(cast("TextIO", stream)).write(text)
    return list_frames(stream.getvalue())


WORDS = st.text(
    st.sampled_from("ab/-é中文🎉 ") | st.characters(exclude_categories=["Cs", "Mn", "Me"]), max_size=60
)


# Signs whose width `rich` and Unicode count apart: they fill lines, stand alone, or follow an emoji.
TONES = (
    "\N{EMOJI MODIFIER FITZPATRICK TYPE-3}" * 60,
    "\N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-6}" * 30,
)


@given(rows=st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=4), width=st.integers(20, 90))
@example(rows=[(*TONES, "-")], width=20)
@example(rows=[("a", *TONES)], width=90)
def test_a_table_fits_and_keeps_every_sign(rows: list[tuple[str, ...]], width: int) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        paint = paint_for(width, monkeypatch)
        table = [("", "", ""), *rows]  # so that every sign is one of a cell
        lines = shown_lines(format_table(table, paint, {"a": "kept"}, indent=2))
        lines += shown_lines(
            paint.fold("  " + " ".join(paint.make_shown(cell) for row in rows for cell in row), 6)
        )
        lines += shown_lines("".join(format_columns(row, (5, 9), paint) for row in table))
        assert [line for line in lines if measure(line) > width] == []
        written = squeeze("".join(paint.make_shown(cell) for row in rows for cell in row))
        assert sorted(written * 3) == sorted(squeeze("".join(lines)))


def test_twenty_agents_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    agents = [f"agent-{number}-{WIDE[:4]}" for number in range(20)]
    words = ["pass" if number % 7 else "cannot" for number in range(20)]
    rows = [("NATIVE", *agents), ("", *map(str, range(20))), ("deny", *words), ("same", *["pass"] * 20)]
    for width in (60, 80, 120):
        lines = shown_lines(format_grid(rows, paint_for(width, monkeypatch), {"pass": "kept"}, heads=2))
        assert [line for line in lines if measure(line) > width] == []
        text = squeeze("".join(lines))
        assert [name for name in agents if name not in text] == []
        assert "samepassall20" in text
    wide = shown_lines(format_grid(rows, paint_for(900, monkeypatch), heads=2))
    assert [line.split()[0] for line in wide] == ["NATIVE", "0", "deny", "same"]


def test_a_progress_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "PATIENCE_SECONDS", 0)
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setenv("TERM", "xterm")
    terminal, screen = Terminal(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", Screen(cast("TextIO", terminal)))
    monkeypatch.setattr(sys, "stdout", screen)
    progress = Progress("test", 3)
    progress.show(f"{WIDE * 4} \x1b[2J", 2)
    with progress:
        assert terminal.written.wait(30)
        with progress.cleared():
            before = terminal.getvalue()
            screen.write("a case\n")
            assert before.endswith("\r\x1b[K")
    text = terminal.getvalue()
    assert text.endswith("\r\x1b[K")
    frames = [frame for frame in text.split("\r\x1b[K") if frame]
    assert all(measure(frame) < 50 and "2/3" in frame and "\x1b" not in frame for frame in frames)


@pytest.mark.parametrize("term", ["dumb", "pipe"])
def test_no_progress_where_no_line_can_be_cleared(monkeypatch: pytest.MonkeyPatch, term: str) -> None:
    monkeypatch.setattr(progress_module, "PATIENCE_SECONDS", 0)
    monkeypatch.setenv("TERM", term)
    stream = Terminal() if term == "dumb" else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("test") as progress:
        assert not progress.is_shown
    assert stream.getvalue() == ""


def test_a_bridge_needs_no_library_on_a_terminal(project: Path, tmp_path: Path) -> None:
    archive = tmp_path / ".hookport" / "bridge.pyz"
    archive.parent.mkdir()
    archive.write_bytes(writer.build_archive())
    code = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    ours, theirs = os.openpty()
    with os.fdopen(ours, "rb", closefd=True) as reader:
        words = [sys.executable, "-I", "-S", "-c", code, str(archive), "log", "--project", LONG]
        subprocess.run(words, stdout=theirs, env=make_environment(project), check=True, timeout=60)
        os.close(theirs)
        text = reader.read1(1 << 16).decode()
    assert REASON in text
    assert LONG in text
