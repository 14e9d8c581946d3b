"""Hook processes that behave well, and those that do all they can not to."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hookport
from hookport.model.runs import RunResult
from hookport.runtime.execute import _windows, process

pytestmark = pytest.mark.skipif(os.name == "nt", reason="process groups and signals are POSIX")

SOURCE = Path(hookport.__file__).parent.parent
MEGA = 10_000_000
# Far longer than any of these takes; only a hang gets there.
PATIENCE = 60.0
ENV = {"PATH": os.environ["PATH"]}
# The shell's pid is the number of the group.
NOTE = "echo $$ > group; "


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path) -> Iterator[None]:
    """No child, no descriptor, no process of the hook's group is left, and we are where we were."""
    descriptors, here = set(Path("/dev/fd").iterdir()), Path.cwd()
    yield
    assert set(Path("/dev/fd").iterdir()) == descriptors
    assert Path.cwd() == here
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    if (tmp_path / "group").exists():
        vanished(tmp_path)


@pytest.fixture(params=["pidfd", "tick", "no waitid"])
def _system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Linux has, what an old Linux lacks, what macOS lacks."""
    if request.param != "pidfd":
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    if request.param == "no waitid":
        monkeypatch.delattr(os, "waitid", raising=False)


every_system = pytest.mark.usefixtures("_system")


def ran(command: str | list[str], cwd: Path, **options: Any) -> RunResult:
    given = {"stdin": b"", "env": ENV, "timeout_seconds": PATIENCE, **options}
    result = process.run(command, cwd=str(cwd), **given)
    assert 0 < result.seconds < PATIENCE
    return result.replace(seconds=0.0)


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


def appeared(path: Path) -> str:
    """The text of a file that another process writes, as soon as it is there."""
    limit = time.monotonic() + PATIENCE
    while not path.exists() or not path.read_text().endswith("\n"):
        assert time.monotonic() < limit, f"{path.name} was not written"
        time.sleep(0.01)
    return path.read_text().strip()


def vanished(folder: Path) -> None:
    group = int(appeared(folder / "group"))
    limit = time.monotonic() + PATIENCE
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < limit:
            os.killpg(group, 0)
            time.sleep(0.01)
        pytest.fail(f"a process of group {group} is left")


def host(code: str, cwd: Path, **options: Any) -> subprocess.Popen[str]:
    """A Python of its own that uses the module."""
    begin = f"import os, signal, sys\nfrom hookport.runtime.execute import process\nENV = {ENV!r}\n"
    return subprocess.Popen(
        python(begin + code),
        cwd=cwd,
        env={**ENV, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"},
        text=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


def said(child: subprocess.Popen[str]) -> tuple[str, str]:
    return child.communicate(timeout=PATIENCE)


@every_system
def test_both_streams_and_the_exit_code(tmp_path: Path) -> None:
    result = ran(NOTE + "cat; echo trouble >&2; exit 2", tmp_path, stdin=b'{"a": 1}')
    assert result == RunResult("completed", 2, '{"a": 1}', "trouble\n")


def test_a_list_runs_without_a_shell(tmp_path: Path) -> None:
    assert ran(["echo", "$HOME", "a b"], tmp_path) == RunResult("completed", 0, "$HOME a b\n")


def test_the_environment_is_exactly_what_was_given(tmp_path: Path) -> None:
    env = {"ONE": "1", "TWO": "zwei ü", "EMPTY": ""}
    assert ran(["/usr/bin/env"], tmp_path, env=env) == RunResult(
        "completed", 0, "ONE=1\nTWO=zwei ü\nEMPTY=\n"
    )


def test_a_program_is_looked_for_on_the_path_that_was_given(tmp_path: Path) -> None:
    for folder, mode in (("first", 0o644), ("second", 0o755)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "hook").write_text(f"#!/bin/sh\necho {folder}\n")
        (tmp_path / folder / "hook").chmod(mode)
    env = {"PATH": "missing:first:second"}
    assert ran(["hook"], tmp_path, env=env) == RunResult("completed", 0, "second\n")


@pytest.mark.parametrize(("command", "code"), [("exit 126", 126), ("no-such-program-here 2>&-", 127)])
def test_with_a_shell_126_and_127_are_exit_codes(tmp_path: Path, command: str, code: int) -> None:
    assert ran(command, tmp_path) == RunResult("completed", code)


def test_a_hook_that_sleeps_for_ever_is_stopped_and_what_it_printed_is_kept(tmp_path: Path) -> None:
    result = ran(NOTE + "echo before; echo why >&2; sleep 600", tmp_path, timeout_seconds=1.5)
    assert result == RunResult(
        "timeout", None, "before\n", "why\n", detail="took longer than 1.5 s and was stopped"
    )


@every_system
def test_a_hook_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    result = ran(NOTE + "trap '' TERM; echo on; while :; do sleep 1; done", tmp_path, timeout_seconds=1)
    assert result == RunResult("timeout", None, "on\n", detail="took longer than 1 s and was stopped")


def test_a_hook_may_clean_up_after_sigterm(tmp_path: Path) -> None:
    result = ran(NOTE + "trap 'echo cleaned; exit 0' TERM; sleep 600", tmp_path, timeout_seconds=1)
    assert result == RunResult(
        "timeout", None, "cleaned\n", result.stderr, detail="took longer than 1 s and was stopped"
    )


def test_a_hook_that_leaves_its_group_is_killed_all_the_same(tmp_path: Path) -> None:
    code = """
import os, time
os.setpgid(0, os.getpgid(os.getppid()))
print("moved", flush=True)
time.sleep(600)
"""
    result = ran(python(code), tmp_path, timeout_seconds=3)
    assert result == RunResult("timeout", None, "moved\n", detail="took longer than 3 s and was stopped")


@every_system
def test_death_by_signal_is_not_an_exit_code(tmp_path: Path) -> None:
    result = ran(NOTE + "echo last; kill -SEGV $$", tmp_path)
    assert result == RunResult(
        "signal", None, "last\n", signal=11, detail=f"was killed by signal 11 ({signal.strsignal(11)})"
    )


@every_system
def test_a_flood_on_both_streams_is_drained_and_counted(tmp_path: Path) -> None:
    code = f"""
import os, threading
open("group", "w").write(f"{{os.getpgid(0)}}\\n")
def flood(stream, byte):
    for _ in range({MEGA} // 100_000):
        os.write(stream, byte * 100_000)
other = threading.Thread(target=flood, args=(1, b"o"))
other.start()
flood(2, b"e")
other.join()
"""
    kept = 1 << 20
    # A write to a blocking pipe is whole, so every byte arrives.
    assert ran(python(code), tmp_path) == RunResult(
        "completed", 0, "o" * kept, "e" * kept, dropped=2 * (MEGA - kept)
    )


def test_of_ten_megabytes_of_json_the_first_is_kept(tmp_path: Path) -> None:
    text = json.dumps({"reason": "x" * MEGA})
    result = ran(python(f"import json; print(json.dumps({{'reason': 'x' * {MEGA}}}), end='')"), tmp_path)
    assert result == RunResult("completed", 0, text[: 1 << 20], dropped=len(text) - (1 << 20))


def test_a_character_cut_at_the_limit_is_left_out(tmp_path: Path) -> None:
    code = "import os, sys; sys.stdout.buffer.write(('a' + 'é' * 600_000).encode())"
    assert ran(python(code), tmp_path) == RunResult(
        "completed", 0, "a" + "é" * ((1 << 19) - 1), dropped=1_200_001 - (1 << 20)
    )


def test_invalid_utf_8_is_replaced(tmp_path: Path) -> None:
    assert ran(r"printf 'a\377b\303'", tmp_path) == RunResult("completed", 0, "a�b�")


@every_system
def test_three_megabytes_come_back_without_a_deadlock(tmp_path: Path) -> None:
    given = os.urandom(1_500_000).hex().encode()
    result = ran(NOTE + "cat", tmp_path, stdin=given)
    assert result == RunResult("completed", 0, given.decode()[: 1 << 20], dropped=3_000_000 - (1 << 20))


@pytest.mark.parametrize(
    "command",
    ["exec <&-; echo ok", "echo ok", "head -c 10 > /dev/null; echo ok", "exec <&-; sleep 0.2; echo ok"],
)
def test_a_hook_need_not_read_its_stdin(tmp_path: Path, command: str) -> None:
    result = ran(NOTE + command, tmp_path, stdin=b"x" * 5_000_000)
    assert result == RunResult("completed", 0, "ok\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_error_that_is_not_a_closed_pipe_is_a_stdin_error(tmp_path: Path) -> None:
    child = process.Child(b"x" * 10, PATIENCE)

    def fill_the_disk(_pid: int) -> None:
        with Path("/dev/full").open("wb") as full:
            os.dup2(full.fileno(), child.into)

    result = child.run(["sleep", "600"], str(tmp_path), ENV, fill_the_disk)
    assert result.replace(seconds=0.0) == RunResult(
        "stdin_error", detail=f"its input could not be written: {os.strerror(28)}"
    )


@every_system
@pytest.mark.parametrize(
    "command",
    [
        "sleep 600 & echo left",
        "(sleep 600 &) ; (sh -c 'sleep 600 & sleep 600' &); echo left",
        "sleep 600 > /dev/null 2>&1 & echo left",
        "(trap '' TERM HUP; sleep 600; sleep 600) & echo left",
    ],
)
def test_a_grandchild_is_not_waited_for_and_not_left_behind(tmp_path: Path, command: str) -> None:
    assert ran(NOTE + command, tmp_path, stdin=b"x" * 200_000) == RunResult("completed", 0, "left\n")


def test_a_grandchild_that_floods_is_not_waited_for(tmp_path: Path) -> None:
    result = ran(NOTE + "yes & exit 3", tmp_path)
    assert (result.outcome, result.exit_code) == ("completed", 3)


def test_a_grandchild_may_finish_its_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LINGER_SECONDS", PATIENCE / 2)
    assert ran(NOTE + "(sleep 0.1; echo late) & echo early", tmp_path) == RunResult(
        "completed", 0, "early\nlate\n"
    )


def test_a_hook_that_closes_its_streams_is_waited_for(tmp_path: Path) -> None:
    assert ran(NOTE + "exec <&- >&- 2>&-; sleep 0.3; exit 2", tmp_path) == RunResult("completed", 2)


def test_waiting_takes_no_processor_time(tmp_path: Path) -> None:
    before = time.process_time()
    ran("exec <&-; sleep 1.5 & wait", tmp_path, stdin=b"x" * 1_000_000)
    ran("exec >&- 2>&-; sleep 1.5", tmp_path, stdin=b"x" * 1_000_000)
    assert time.process_time() - before < 1


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_what_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "plain file").write_text("#!/bin/sh\n")
    executable(tmp_path / "lost", "#!/no/such/interpreter\n")
    executable(tmp_path / "bare", "echo no first line\n")
    cases: list[tuple[str | list[str], str]] = [
        (["no-such-program"], "no-such-program was not found on PATH"),
        (["./missing.sh"], f"{tmp_path}/missing.sh does not exist"),
        (["/no/such/program"], "/no/such/program does not exist"),
        (
            ["./plain file"],
            f"{tmp_path}/plain file is not executable. Try: chmod +x '{tmp_path}/plain file'",
        ),
        ([str(tmp_path)], f"{tmp_path} is a directory, not a program"),
        (["./lost"], f"{tmp_path}/lost exists, but the target of its link or its first line (#!) does not"),
        (
            ["./bare"],
            f"{tmp_path}/bare is neither a program nor a script with a first line such as #!/bin/sh",
        ),
        (["./bare/inside"], f"{tmp_path}/bare/inside cannot be started: {os.strerror(20)}"),
        ("true " + "x" * 10_000_000, "the command and its environment are too long for this system"),
        ("echo a\0b", "the command contains a NUL byte, which no process accepts"),
        (["echo", "a\0b"], "the command contains a NUL byte, which no process accepts"),
        (["ec\0ho"], "the command contains a NUL byte, which no process accepts"),
        (
            ["echo", "\ud800"],
            "the command or its environment contains a character that no process accepts",
        ),
        ("", "the command is empty"),
        (" \n", "the command is empty"),
        ([], "the command is empty"),
        ([""], "the command is empty"),
    ]
    for command, detail in cases:
        # What the call put there is no fault of the hook.
        is_ours = any(word in detail for word in ("too long", "NUL byte", "no process accepts"))
        expected = RunResult("not_started" if is_ours else "spawn_error", detail=detail)
        assert ran(command, tmp_path, stdin=b"x" * 100_000) == expected


def test_a_program_on_the_path_that_is_not_executable_is_named(tmp_path: Path) -> None:
    (tmp_path / "hook").write_text("")
    result = ran(["hook"], tmp_path, env={"PATH": str(tmp_path)})
    assert result == RunResult(
        "spawn_error", detail=f"{tmp_path}/hook is not executable. Try: chmod +x {tmp_path}/hook"
    )


def test_a_working_directory_that_is_not_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name, trouble in (("missing", "does not exist"), ("file", "is not a directory")):
        detail = f"the working directory {tmp_path}/{name} {trouble}"
        assert ran("true", tmp_path / name) == RunResult("spawn_error", detail=detail)
    assert ran("true", tmp_path / "a\0b") == RunResult(
        "not_started", detail="the working directory contains a NUL byte, which no process accepts"
    )


@pytest.mark.parametrize(
    ("env", "detail"),
    [
        ({"A": "b\0"}, "the environment contains a NUL byte, which no process accepts"),
        ({"A=B": "c"}, "the environment has a name that is empty or contains '='"),
    ],
)
def test_an_environment_that_cannot_be_given_is_named(
    tmp_path: Path, env: dict[str, str], detail: str
) -> None:
    assert ran("true", tmp_path, env=env) == RunResult("not_started", detail=detail)


def test_the_working_directory_is_the_right_one_from_every_thread(tmp_path: Path) -> None:
    found: list[bool] = []

    def work(folder: Path) -> None:
        folder.mkdir()
        found.extend(ran(["pwd"], folder).stdout == f"{folder}\n" for _ in range(8))

    threads = [threading.Thread(target=work, args=(tmp_path.resolve() / str(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 32


def test_descriptors_are_not_inherited(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    try:
        code = """
import os
def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False
print([number for number in range(256) if is_open(number)])
"""
        assert ran(python(code), tmp_path) == RunResult("completed", 0, "[0, 1, 2]\n")
    finally:
        os.close(reading)
        os.close(writing)


def test_signals_are_as_if_nobody_had_touched_them(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        for name in ("PIPE", "USR1", "USR2"):
            number = int(getattr(signal, f"SIG{name}"))
            assert ran(f"kill -{name} $$; echo survived", tmp_path) == RunResult(
                "signal",
                signal=number,
                detail=f"was killed by signal {number} ({signal.strsignal(number)})",
            )
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == {signal.SIGUSR1}
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
        signal.signal(signal.SIGUSR2, before)


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, "KeyboardInterrupt"), (signal.SIGTERM, "SystemExit")]
)
def test_an_interrupt_takes_the_hook_along(tmp_path: Path, number: int, error: str) -> None:
    child = host(
        """
signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    process.run("trap '' TERM INT; echo $$ > group; sleep 600 & sleep 600",
                stdin=b"", cwd=".", env=ENV, timeout_seconds=None)
except BaseException as error:
    print(type(error).__name__, sorted(os.listdir("/dev/fd"))[:3])
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        print("no child")
""",
        tmp_path,
    )
    appeared(tmp_path / "group")
    child.send_signal(number)
    assert said(child) == (f"{error} ['0', '1', '2']\nno child\n", "")
    vanished(tmp_path)


def test_a_host_without_standard_streams(tmp_path: Path) -> None:
    code = """
for number in range(3):
    os.close(number)
result = process.run("cat; echo err >&2; exit 3", stdin=b"in", cwd=".", env=ENV, timeout_seconds=None)
open("result", "w").write(f"{result.replace(seconds=0.0)}\\n")
os._exit(0)
"""
    host(code, tmp_path).communicate(timeout=PATIENCE)
    assert appeared(tmp_path / "result") == str(RunResult("completed", 3, "in", "err\n"))


def test_a_host_in_a_directory_that_is_closed_to_it(tmp_path: Path) -> None:
    code = """
os.mkdir("closed")
os.chdir("closed")
os.chmod(".", 0)
if os.geteuid() == 0:
    os.seteuid(65534)
print(process.run(["pwd"], stdin=b"", cwd="/", env=ENV, timeout_seconds=None).replace(seconds=0.0))
"""
    expected = RunResult("completed", 0, "/\n")
    assert said(host(code, tmp_path)) == (f"{expected}\n", "")
    (tmp_path / "closed").chmod(0o700)


def test_a_host_that_was_started_with_sigchld_ignored(tmp_path: Path) -> None:
    code = """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(process.run("exit 3", stdin=b"", cwd=".", env=ENV, timeout_seconds=None).exit_code)
"""
    assert said(host(code, tmp_path)) == ("3\n", "")


def test_a_host_that_takes_the_exit_status_away(tmp_path: Path) -> None:
    code = """
signal.signal(signal.SIGCHLD, lambda *_: os.waitpid(-1, 0))
print(process.run("exit 0", stdin=b"", cwd=".", env=ENV, timeout_seconds=None).replace(seconds=0.0))
"""
    expected = RunResult("signal", detail="another process took its exit status")
    assert said(host(code, tmp_path)) == (f"{expected}\n", "")


def test_a_host_without_room_for_another_descriptor(tmp_path: Path) -> None:
    code = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6))
options = {"stdin": b"", "cwd": ".", "env": ENV, "timeout_seconds": None}
print(process.run("true", **options).replace(seconds=0.0), sorted(os.listdir("/dev/fd")))
"""
    expected = RunResult("not_started", detail=f"the system cannot start a process: {os.strerror(24)}")
    assert said(host(code, tmp_path)) == (f"{expected} ['0', '1', '2', '3']\n", "")


def test_starting_up_loads_nothing_that_is_slow(tmp_path: Path) -> None:
    code = """
names = set(sys.modules)
print(sorted(names & {"subprocess", "threading", "selectors", "asyncio", "typing", "dataclasses", "pathlib"}))
"""
    assert said(host(code, tmp_path)) == ("[]\n", "")


START = """
def done(result):
    with open("journal", "a") as journal:
        journal.write(f"{result.replace(seconds=0.0)}\\n")

def start(command, timeout_seconds=None, stdin=b"given"):
    return process.start(command, stdin=stdin, cwd=".", env=ENV, timeout_seconds=timeout_seconds, done=done)

"""


def test_an_async_hook_outlives_us_and_holds_nothing_of_ours(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    command = NOTE + "cat; echo err >&2; while [ ! -e go ]; do sleep 0.05; done; exit 2"
    code = (
        START
        + f"""
print("unflushed", end="")
pid = start({command!r})
print("", pid > 0, end="")
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print(" no child", end="")
"""
    )
    with host(code, tmp_path, pass_fds=[writing]) as child:
        os.close(writing)
        # Both end only when nobody holds them any more.
        assert said(child) == ("unflushed True no child", "")
        assert os.read(reading, 1) == b""
    os.close(reading)
    os.killpg(int(appeared(tmp_path / "group")), 0)
    assert not (tmp_path / "journal").exists()
    (tmp_path / "go").write_text("")
    assert appeared(tmp_path / "journal") == str(RunResult("completed", 2, "given", "err\n"))


def test_an_async_hook_has_its_deadline(tmp_path: Path) -> None:
    command = NOTE + "trap '' TERM; sleep 600 & while :; do sleep 1; done"
    assert said(host(START + f"start({command!r}, 0.5)", tmp_path)) == ("", "")
    expected = RunResult("timeout", detail="took longer than 0.5 s and was stopped")
    assert appeared(tmp_path / "journal") == str(expected)
    vanished(tmp_path)


def test_an_async_hook_may_flood_and_ignore_a_large_stdin(tmp_path: Path) -> None:
    command = NOTE + f"head -c {MEGA} /dev/zero | tr '\\0' x; exit 4"
    assert said(host(START + f"start({command!r}, stdin=b'x' * 5_000_000)", tmp_path)) == ("", "")
    expected = RunResult("completed", 4, "x" * (1 << 20), dropped=MEGA - (1 << 20))
    assert appeared(tmp_path / "journal") == str(expected)


def test_an_async_hook_that_cannot_start_has_no_pid_but_a_result(tmp_path: Path) -> None:
    assert said(host(START + "print(start(['no-such-program']))", tmp_path)) == ("0\n", "")
    expected = RunResult("spawn_error", detail="no-such-program was not found on PATH")
    assert appeared(tmp_path / "journal") == str(expected)


def test_ending_the_supervisor_ends_the_async_hook(tmp_path: Path) -> None:
    command = NOTE + "trap '' TERM; sleep 600; sleep 600"
    output, _ = said(host(START + f"print(start({command!r}))", tmp_path))
    appeared(tmp_path / "group")
    os.kill(int(output), signal.SIGTERM)
    vanished(tmp_path)


def test_a_callback_that_fails_is_heard_by_nobody(tmp_path: Path) -> None:
    code = """
def fail(result):
    raise OSError("no journal")

process.start("echo $$ > group", stdin=b"", cwd=".", env=ENV, timeout_seconds=None, done=fail)
"""
    assert said(host(code, tmp_path)) == ("", "")
    appeared(tmp_path / "group")


def test_the_windows_runner_keeps_the_same_contract(tmp_path: Path) -> None:
    options: dict[str, Any] = {"stdin": b"in", "cwd": str(tmp_path), "env": ENV, "timeout_seconds": PATIENCE}
    result = _windows.run("cat; echo err >&2; exit 2", **options)
    assert result.replace(seconds=0.0) == RunResult("completed", 2, "in", "err\n")
    result = _windows.run(python(f"print('x' * {MEGA}, end='')"), **options)
    assert result.replace(seconds=0.0) == RunResult("completed", 0, "x" * (1 << 20), dropped=MEGA - (1 << 20))
    result = _windows.run(["sleep", "600"], **{**options, "timeout_seconds": 0.2})
    assert result.replace(seconds=0.0) == RunResult(
        "timeout", detail="took longer than 0.2 s and was stopped"
    )
    assert _windows.run(["no-such-program"], **options).outcome == "spawn_error"


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="waits for the end without taking the status")
def test_a_command_that_ends_before_it_is_written_to_has_not_failed(tmp_path: Path) -> None:
    """Whatever has the number of the pipe afterwards; another thread may have taken the lower ones."""
    child = process.Child(b"{}", PATIENCE)
    with contextlib.ExitStack() as held:

        def started(pid: int) -> None:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            while held.enter_context(open(os.devnull, "rb")).fileno() < child.into:  # noqa: PTH123
                pass

        result = child.run(["/bin/sh", "-c", "exit 3"], str(tmp_path), {}, started)
    assert result.replace(seconds=0.0) == RunResult("completed", 3)
