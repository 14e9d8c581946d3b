"""The process of a host: hookport changes nothing of it, and leaves nothing behind when it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hookport
from tests.hosting import DENY_COMMAND, PATIENCE, Project, wait_for, wait_until_gone

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")

SOURCE = Path(hookport.__file__).parent.parent
BEGIN = """
import os, signal, sys, threading, time
from hookport.host import Host
host = Host(sys.argv[1], agent="my-agent", tools={"run_shell": "shell"}, session="s")
folder = os.path.dirname(sys.argv[1])

def ask(**options):
    return host.before_tool("run_shell", {"command": "ls"}, **options)

def wait_for(name):
    while not os.path.exists(os.path.join(folder, name)):
        time.sleep(0.01)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def begin(project: Project, code: str, **options: Any) -> subprocess.Popen[str]:
    """A program that is a host of the project."""
    return subprocess.Popen(
        [sys.executable, "-c", BEGIN + code, str(project.root)],
        env={**project.env, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=project.root.parent,
        text=True,
        **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


def end(program: subprocess.Popen[str], given: str = "") -> tuple[str, str, int]:
    out, err = program.communicate(given, timeout=PATIENCE)
    return out, err, program.returncode


def test_nothing_of_the_process_changes(project: Project) -> None:
    """A hook of each way to start one, and a pattern that needs a search with a time limit."""
    pattern = {"hookport": {"content": "^(l+)+$"}}
    project.add("echo out; echo err >&2; cat >/dev/null; exit 1", provider_data=pattern)
    project.add("cat >/dev/null; exit 2")
    project.add("cat >/dev/null", handler={"async": True})
    code = """
events = set()
sys.addaudithook(lambda name, _args: events.add(name))
def refuse(*args):
    raise AssertionError(args)
signal.signal = signal.setitimer = refuse
before = (os.getcwd(), dict(os.environ), sorted(os.listdir("/dev/fd")), threading.active_count())
mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
for _ in range(2):
    outcome = host.before_tool("run_shell", {"command": "l" * 40})
assert outcome.verdict == "deny", outcome
assert sys.getrecursionlimit() == 1000
while threading.active_count() > before[3]:
    time.sleep(0.01)
assert before == (os.getcwd(), dict(os.environ), sorted(os.listdir("/dev/fd")), threading.active_count())
assert mask == signal.pthread_sigmask(signal.SIG_BLOCK, ())
print(sorted(events & {"os.chdir", "os.fchdir", "os.fork", "os.forkpty", "os.putenv", "os.unsetenv",
    "os.posix_spawn", "signal.pthread_kill", "os.exec"}), "subprocess.Popen" in events, sys.stdin.read())
"""
    assert end(begin(project, code), "mine") == ("[] True mine\n", "", 0)


def test_an_interrupt_ends_the_hooks(project: Project, tmp_path: Path) -> None:
    project.add(f"trap '' TERM INT; echo $$ > {tmp_path}/group; while :; do sleep 1; done")
    code = """
try:
    ask()
except KeyboardInterrupt:
    print("interrupted")
"""
    program = begin(project, code)
    group = int(wait_for(tmp_path / "group"))
    program.send_signal(signal.SIGINT)
    assert end(program) == ("interrupted\n", "", 0)
    wait_until_gone(group)


def test_a_fork_of_the_host_holds_no_hook_up(project: Project, tmp_path: Path) -> None:
    """The copy has our end of the hook's stdin too: the hook would wait for its end until the copy ends."""
    project.add(
        f"echo > {tmp_path}/asked; until [ -e {tmp_path}/go ]; do sleep 0.02; done; cat >/dev/null; exit 2"
    )
    code = """
outcomes = []
thread = threading.Thread(target=lambda: outcomes.append(
    host.before_tool("run_shell", {"command": "x" * 1000000})))
thread.start()
wait_for("asked")
copy = os.fork()
if copy == 0:
    os.close(1)
    time.sleep(600)
open(os.path.join(folder, "go"), "w").close()
thread.join()
print(outcomes[0].verdict)
os.kill(copy, signal.SIGKILL)
os.waitpid(copy, 0)
"""
    assert end(begin(project, code)) == ("deny\n", "", 0)


def test_a_fork_of_the_host_is_a_host(project: Project, tmp_path: Path) -> None:
    """Also where it came while another thread made a plan."""
    project.add(DENY_COMMAND)
    code = """
threads = [threading.Thread(target=ask) for _ in range(3)]
for thread in threads:
    thread.start()
copy = os.fork()
if copy == 0:
    print(ask().verdict, flush=True)
    os._exit(0)
os.waitpid(copy, 0)
for thread in threads:
    thread.join()
"""
    assert end(begin(project, code)) == ("deny\n", "", 0)


def test_a_fork_of_the_host_keeps_no_lock(project: Project) -> None:
    """Forked while other threads write the journal and remember sessions, and alive ever after."""
    code = """
import fcntl
from hookport.runtime import journal, sessions
state = journal.find_state_folder(dict(os.environ))
threads = [threading.Thread(target=lambda: [host.agent_stop(session=str(n)) for n in range(20)])
    for _ in range(4)]
for thread in threads:
    thread.start()
copies = []
for _ in range(20):
    copies.append(os.fork())
    if copies[-1] == 0:
        os.close(1)
        time.sleep(600)
    time.sleep(0.002)
for thread in threads:
    thread.join()
for name in (journal.LOCK, sessions.LOCK):
    with open(os.path.join(state, name)) as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("free")
for copy in copies:
    os.kill(copy, signal.SIGKILL)
    os.waitpid(copy, 0)
"""
    assert end(begin(project, code)) == ("free\n", "", 0)


def test_an_event_imports_nothing(project: Project) -> None:
    """What a thread imports while the host forks could never be imported in the copy."""
    project.add(DENY_COMMAND)
    (project.root / ".hookport" / "hooks.yaml").write_text('spec: "hooks/1.0"\nhooks: []\n')
    code = """
before = set(sys.modules)
host.session_start()
host.before_tool("run_shell", {"command": "python3 - <<'E'\\nprint(1)\\nE"})
host.before_tool("edit", {"path": "x", "old_string": "a", "new_string": "b"})
host.agent_stop()
print(sorted(name for name in set(sys.modules) - before if name.startswith("hookport")))
"""
    assert end(begin(project, code)) == ("[]\n", "", 0)


@pytest.mark.parametrize("blocking", [True, False])
def test_a_host_that_ignores_its_children(project: Project, *, blocking: bool) -> None:
    """The exit code of a guard would be lost, so the guard could not be asked."""
    project.add("exit 2", blocking=blocking)
    code = """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
outcome = ask()
print(outcome.verdict, outcome.reason)
"""
    out, err, status = end(begin(project, code))
    assert (out.startswith("deny"), "the host ignores SIGCHLD" in out, err, status) == (
        blocking,
        blocking,
        "",
        0,
    )


def test_a_host_that_takes_the_exit_status_away(project: Project, tmp_path: Path) -> None:
    project.add(f"echo > {tmp_path}/asked; exit 2")
    code = """
def take():
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            time.sleep(0.001)
threading.Thread(target=take, daemon=True).start()
outcome = ask()
(run,) = outcome.runs
assert outcome.verdict == "deny" or run.failure.startswith("no exit status: "), outcome
"""
    out, err, status = end(begin(project, code))
    assert (out, err, status) == ("", "", 0)


def test_a_hook_that_nobody_waits_for_outlives_the_host(project: Project, tmp_path: Path) -> None:
    script = (
        f"cat > {tmp_path}/seen; until [ -e {tmp_path}/go ]; do sleep 0.02; done; echo >> {tmp_path}/seen"
    )
    project.add(script, "session_end", handler={"async": True})
    assert end(begin(project, "print(host.session_end().runs[0].status)")) == ("started\n", "", 0)
    (tmp_path / "go").touch()
    assert json.loads(wait_for(tmp_path / "seen"))["event"] == "session_end"


def test_a_host_may_end_while_a_hook_runs(project: Project, tmp_path: Path) -> None:
    """A thread that still waits keeps no program alive, and its hook ends with it."""
    project.add(f"trap '' TERM HUP; echo $$ > {tmp_path}/group; sleep 600")
    code = """
threading.Thread(target=ask, daemon=True).start()
wait_for("group")
"""
    program = begin(project, code)
    assert end(program) == ("", "", 0)
    wait_until_gone(int(wait_for(tmp_path / "group")))


def test_a_host_without_standard_streams(project: Project) -> None:
    project.add(DENY_COMMAND)
    code = """
for number in (0, 1, 2):
    os.close(number)
verdict = ask().verdict
open(os.path.join(folder, "verdict"), "w").write(verdict + "\\n")
"""
    program = begin(project, code)
    assert program.wait(PATIENCE) == 0
    assert wait_for(project.root.parent / "verdict") == "deny"
    program.communicate()
