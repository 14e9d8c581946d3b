"""Run one hook command as a child process; whatever it does, we return in time and leave nothing behind.

The child gets its working directory from ours, changed for the moment of the start under a lock, because
`posix_spawn` cannot set it and a fork costs twice as much. In a process that is not ours alone, `hosted`
starts children without changing anything of the process.
"""

from __future__ import annotations

import _thread
import codecs
import errno
import os
import select
import sys
import time

from hookport.model.runs import KEPT_BYTES, RunResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Generator, Mapping, Sequence

    from hookport.model.runs import Outcome

    Steps = Generator[float, Sequence[int], RunResult]
else:
    import _signal as signal  # `signal` wraps these functions in enums, which takes 0.7 ms at every start

SHELL = "/bin/sh"
CHUNK_BYTES = 1 << 16
# From SIGTERM to SIGKILL, and from SIGKILL until we give up on a process that no signal ends.
GRACE_SECONDS = 0.5
# How long a grandchild may keep printing after the hook itself has ended.
LINGER_SECONDS = 0.2
# How often to poll for the child's end where the system cannot wake us (no pidfd: macOS, old Linux).
TICK_SECONDS = 0.02
LONGEST_WAIT_SECONDS = 3600.0
FOREVER = float("inf")

CAN_SPAWN = hasattr(os, "posix_spawn") and hasattr(os, "POSIX_SPAWN_DUP2")

_working_directory = _thread.allocate_lock()

_CWD_TROUBLE = {
    errno.ENOENT: "does not exist",
    errno.ENOTDIR: "is not a directory",
    errno.EACCES: "may not be entered: permission denied",
}
_SYSTEM_TROUBLE = {
    errno.E2BIG: "the command and its environment are too long for this system",
    errno.EAGAIN: "the system has no room for another process",
    errno.ENOMEM: "the system is out of memory",
}


def run(
    command: str | list[str],
    *,
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout_seconds: float | None,
    kind: type[Child] | None = None,
) -> RunResult:
    """Run a command to its end and return how it ended.

    Text runs by `/bin/sh -c`, a list without a shell. The environment is exactly `env`, which also has the
    PATH that a program is looked for on. `kind` starts the child in another way than usual.
    """
    if os.name == "nt":
        from hookport.runtime.execute import _windows

        return _windows.run(command, stdin=stdin, cwd=cwd, env=env, timeout_seconds=timeout_seconds)
    return (kind or Child)(stdin, timeout_seconds).run(_make_argv(command), cwd, env)


def start(
    command: str | list[str],
    *,
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout_seconds: float | None,
    done: Callable[[RunResult], None] | None = None,
) -> int:
    """Start a command that outlives us and return the pid of its supervisor, or 0 if it did not start.

    The supervisor has its own session and none of our descriptors. It enforces the deadline, ends the hook on
    SIGTERM, and calls `done` in its own process, even if the command did not start.
    """
    if os.name == "nt":
        from hookport.runtime.execute import _windows

        return _windows.start(command, stdin=stdin, cwd=cwd, env=env, timeout_seconds=timeout_seconds)
    argv = _make_argv(command)
    return _start_detached(lambda told_pid: Child(stdin, timeout_seconds).run(argv, cwd, env, told_pid), done)


def start_call(call: Callable[[], RunResult], done: Callable[[RunResult], None] | None = None) -> int:
    """Start a call, not a command, that enforces its own deadline; on Windows we wait for it."""
    if os.name == "nt":
        result = call()
        if done is not None:
            done(result)
        return 0

    def run_call(told_pid: Callable[[int], None]) -> RunResult:
        told_pid(os.getpid())
        return call()

    return _start_detached(run_call, done)


def _start_detached(
    run_child: Callable[[Callable[[int], None]], RunResult], done: Callable[[RunResult], None] | None
) -> int:
    try:
        read_end, write_end = _open_pipe()
    except OSError:
        return 0
    between = 0
    # An interrupt in our copy, before it becomes a supervisor, would run the rest of our program twice.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        with _working_directory:
            between = os.fork()
        if between == 0:
            _supervise(write_end, run_child, done)
        os.close(write_end)
        write_end = -1
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return int(os.read(read_end, 32) or b"0")
    except OSError:
        return 0
    finally:
        for descriptor in (read_end, write_end):
            if descriptor >= 0:
                os.close(descriptor)
        if between:
            _reap(between)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _supervise(
    write_end: int,
    run_child: Callable[[Callable[[int], None]], RunResult],
    done: Callable[[RunResult], None] | None,
) -> None:
    def started(pid: int) -> None:
        os.write(write_end, b"%d" % (os.getpid() if pid else 0))
        os.close(write_end)

    # Every exit is `os._exit`: unwinding would continue our parent's program.
    try:
        os.setsid()
        if os.fork():
            return
        null = os.open(os.devnull, os.O_RDWR)
        # Replaced, not closed: a garbage-collected object of our parent must not close a new pipe.
        for descriptor in {0, 1, 2, *_list_descriptors()} - {write_end, null}:
            os.dup2(null, descriptor, inheritable=False)
        signal.signal(signal.SIGTERM, _leave)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        result = run_child(started)
        if done is not None:
            done(result)
    finally:
        os._exit(0)


def _leave(_number: int, _frame: object) -> None:
    sys.exit(1)


class StopRunError(BaseException):
    """Nobody waits for the hooks any more; no handler of errors stops it."""


class StartError(Exception):
    """The reason why a command did not start: it cannot, or the system lacks resources now."""

    def __init__(self, why: str, outcome: Outcome = "spawn_error") -> None:
        super().__init__(why)
        self.outcome: Outcome = outcome


class Children:
    """Commands that run in parallel, by the keys that they were started with; closing it ends them."""

    def __init__(self, wake: int = -1, stop: int = -1) -> None:
        self.poll = select.poll()
        self.wake, self.stop = wake, stop
        for descriptor in {wake, stop} - {-1}:
            self.poll.register(descriptor, select.POLLIN)
        self._steps: dict[int, Steps] = {}
        self._waits: dict[int, float] = {}
        self._over: list[tuple[int, RunResult]] = []

    def start(  # noqa: PLR0913  (all but two by name)
        self,
        key: int,
        command: str | list[str],
        *,
        stdin: bytes,
        cwd: str,
        env: Mapping[str, str],
        timeout_seconds: float | None,
        kind: type[Child] | None = None,
    ) -> None:
        """Start one more."""
        child = (kind or Child)(stdin, timeout_seconds, self.poll)
        self._steps[key] = child.steps(_make_argv(command), cwd, env)
        self._step(key, None)

    def wait(self) -> list[tuple[int, RunResult]]:
        """Serve them until one is over, or there is something to read from the descriptor that wakes us.

        StopRunError if there is something to read from the one that stops us.
        """
        while not self._over:
            ready = _poll_ready(self.poll, min(self._waits.values(), default=LONGEST_WAIT_SECONDS))
            if self.stop in ready:
                raise StopRunError
            for key in list(self._steps):
                self._step(key, ready)
            if self.wake in ready:
                break
        over, self._over = self._over, []
        return over

    def close(self) -> None:
        """End the running commands."""
        for steps in self._steps.values():
            steps.close()
        self._steps.clear()

    def _step(self, key: int, ready: Sequence[int] | None) -> None:
        try:
            self._waits[key] = self._steps[key].send(ready)  # type: ignore[arg-type]
        except StopIteration as over:
            del self._steps[key]
            self._waits.pop(key, None)
            self._over.append((key, over.value))


class Child:
    """One hook process: our ends of its pipes, what it printed so far, and how it ended."""

    # An interrupt between start and assignment of the pid would lose the child.
    shields_start = True

    def __init__(self, stdin: bytes, timeout_seconds: float | None, poll: select.poll | None = None) -> None:
        self.began = time.monotonic()
        self.timeout_seconds = timeout_seconds
        self.unwritten = memoryview(stdin)
        self.pid = 0
        self.status: int | None = None
        self.exited = False
        self.timed_out = False
        self.stdin_trouble = ""
        self.into = self.out = self.err = -1
        self.kept: dict[int, bytearray] = {}
        self.dropped = 0
        self.open: set[int] = set()
        self.watched: set[int] = set()
        self.poll = poll or select.poll()

    def run(
        self, argv: list[str], cwd: str, env: Mapping[str, str], started: Callable[[int], None] | None = None
    ) -> RunResult:
        steps = self.steps(argv, cwd, env, started)
        try:
            seconds = next(steps)
            while True:
                seconds = steps.send(_poll_ready(self.poll, seconds))
        except StopIteration as over:
            result: RunResult = over.value
            return result
        finally:
            steps.close()

    def steps(
        self, argv: list[str], cwd: str, env: Mapping[str, str], started: Callable[[int], None] | None = None
    ) -> Steps:
        """Run in steps: each yields the seconds to wait and receives the ready descriptors."""
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        try:
            if self.shields_start:
                signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            try:
                self.start(argv, cwd, env)
            except StartError as error:
                return RunResult(error.outcome, detail=str(error), seconds=time.monotonic() - self.began)
            finally:
                if started is not None:
                    started(self.pid)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            yield from self._watch()
            self._kill(signal.SIGKILL)
            if self.status is None:
                self.status = _reap(self.pid, 0 if self.exited else os.WNOHANG)
        except BaseException:
            if self.pid and self.status is None:
                self._kill(signal.SIGKILL)
                _reap(self.pid)
            raise
        finally:
            for descriptor in self.open:
                if descriptor in self.watched:
                    self.poll.unregister(descriptor)
                os.close(descriptor)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return self._result()

    def start(self, argv: list[str], cwd: str, env: Mapping[str, str]) -> None:
        """Make the pipes and start the program; StartError if it does not start."""
        if not argv or not argv[0].strip():
            raise StartError("the command is empty")
        try:
            read_in, self.into = self._pipe()
            self.out, write_out = self._pipe()
            self.err, write_err = self._pipe()
            theirs = (read_in, write_out, write_err)
            self.pid = self.spawn(argv, cwd, env, theirs)
        except OSError as error:
            why = f"the system cannot start a process: {error.strerror}"
            raise StartError(why, "not_started") from error
        except ValueError as error:
            raise StartError(_explain_bad_value(argv, cwd, env), "not_started") from error
        for descriptor in theirs:
            self.open.discard(descriptor)
            os.close(descriptor)

    def spawn(self, argv: list[str], cwd: str, env: Mapping[str, str], streams: tuple[int, int, int]) -> int:
        """Start the program with these streams, as the head of a group, and return its pid."""
        _heed_children()
        return _spawn(argv, cwd, env, streams)

    def _pipe(self) -> tuple[int, int]:
        pair = _open_pipe()
        self.open.update(pair)
        return pair

    def _watch(self) -> Generator[float, Sequence[int], None]:
        self.kept = {self.out: bytearray(), self.err: bytearray()}
        for descriptor in (self.into, self.out, self.err):
            os.set_blocking(descriptor, False)
            self._register(descriptor, select.POLLOUT if descriptor == self.into else select.POLLIN)
        self._feed()
        ending = _open_pidfd(self.pid)
        if ending >= 0:
            self.open.add(ending)
            self._register(ending, select.POLLIN)
        longest = TICK_SECONDS if ending < 0 else LONGEST_WAIT_SECONDS
        until = self.began + (FOREVER if self.timeout_seconds is None else self.timeout_seconds)
        signals = [signal.SIGTERM, signal.SIGKILL]
        while not self.exited or self.open & self.kept.keys():
            left = until - time.monotonic()
            if left <= 0:
                if self.exited or not signals:
                    return
                self.timed_out = True
                self._kill(signals.pop(0))
                until = time.monotonic() + GRACE_SECONDS
                continue
            for descriptor in self.open.intersection((yield min(left, longest))):
                self._serve(descriptor)
            if not self.exited and self._has_exited():
                self.exited = True
                for descriptor in {self.into, ending} & self.open:
                    self._close(descriptor)
                if not self.timed_out:
                    until = min(until, time.monotonic() + LINGER_SECONDS)

    def _register(self, descriptor: int, events: int) -> None:
        self.poll.register(descriptor, events)
        self.watched.add(descriptor)

    def _serve(self, descriptor: int) -> None:
        if descriptor == self.into:
            self._feed()
        elif descriptor in self.kept:
            self._collect(descriptor)

    def _feed(self) -> None:
        try:
            while self.unwritten:
                self.unwritten = self.unwritten[os.write(self.into, self.unwritten) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            pass
        except OSError as error:
            self.stdin_trouble = f"its input could not be written: {error.strerror}"
            self._kill(signal.SIGKILL)
        self._close(self.into)

    def _collect(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return
        if not data:
            self._close(descriptor)
            return
        kept = self.kept[descriptor]
        room = KEPT_BYTES - len(kept)
        kept += data[:room]
        self.dropped += max(0, len(data) - room)

    def _close(self, descriptor: int) -> None:
        self.poll.unregister(descriptor)
        self.watched.discard(descriptor)
        if descriptor == self.into:
            self.into = -1  # the number is free now; the next open reuses it
        self.open.discard(descriptor)
        os.close(descriptor)

    def _has_exited(self) -> bool:
        try:
            if hasattr(os, "waitid"):
                # Not reaped yet: while its pid is taken, the group that we kill is ours.
                return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            return True
        if pid:
            self.status = status
        return pid != 0

    def _kill(self, number: int) -> None:
        _send(os.killpg, self.pid, number)
        if self.status is None and number == signal.SIGKILL:
            # It may have left its process group.
            _send(os.kill, self.pid, number)

    def _result(self) -> RunResult:
        result = RunResult(
            "completed",
            stdout=_decode_output(self.kept[self.out]),
            stderr=_decode_output(self.kept[self.err]),
            seconds=time.monotonic() - self.began,
            dropped=self.dropped,
        )
        if self.stdin_trouble:
            return result.replace(outcome="stdin_error", detail=self.stdin_trouble)
        if self.timed_out:
            return result.replace(
                outcome="timeout", detail=f"took longer than {self.timeout_seconds:.3g} s and was stopped"
            )
        if self.status is None:
            return result.replace(outcome="signal", detail="another process took its exit status")
        code = os.waitstatus_to_exitcode(self.status)
        if code < 0:
            return result.replace(
                outcome="signal",
                signal=-code,
                detail=f"was killed by signal {-code} ({signal.strsignal(-code)})",
            )
        return result.replace(exit_code=code)


def _poll_ready(poll: select.poll, seconds: float) -> list[int]:
    return [descriptor for descriptor, _ in poll.poll(seconds * 1000)]


def _make_argv(command: str | list[str]) -> list[str]:
    if isinstance(command, list):
        return command
    return [SHELL, "-c", command] if command.strip() else []


def _spawn(argv: list[str], cwd: str, env: Mapping[str, str], streams: tuple[int, int, int]) -> int:
    with _working_directory:
        start_folder = _open_start_folder()
        try:
            try:
                os.chdir(cwd)
            except OSError as error:
                raise explain_folder_error(error, cwd) from error
            path = find_program(argv[0], env.get("PATH", os.defpath))
            try:
                return _spawn_program(path, argv, env, streams)
            except OSError as error:
                shown = os.path.normpath(os.path.join(cwd, path))
                raise explain_start_error(error, path, shown) from error
        finally:
            if start_folder >= 0:
                os.fchdir(start_folder)
                os.close(start_folder)


def _spawn_program(path: str, argv: list[str], env: Mapping[str, str], streams: tuple[int, int, int]) -> int:
    if not CAN_SPAWN:
        return _fork_program(path, argv, env, streams)
    actions = [(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(streams)]
    return os.posix_spawn(
        path,
        argv,
        env,
        file_actions=[*actions, *_list_closings()],
        setpgroup=0,
        setsigmask=(),
        setsigdef=signal.valid_signals(),
    )


def _fork_program(path: str, argv: list[str], env: Mapping[str, str], streams: tuple[int, int, int]) -> int:
    """Start a program with `subprocess`, for a Python without `os.posix_spawn`, such as PyPy."""
    import subprocess

    def prepare() -> None:
        os.setpgid(0, 0)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):
                continue
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    into, out, err = streams
    child = subprocess.Popen(
        argv,
        executable=path,
        env=env,
        stdin=into,
        stdout=out,
        stderr=err,
        preexec_fn=prepare,  # noqa: PLW1509
    )
    # We wait for it ourselves.
    child.returncode = 0
    return child.pid


def _open_start_folder() -> int:
    try:
        return os.open(".", getattr(os, "O_PATH", os.O_RDONLY))
    except PermissionError:
        # Started by another user from a directory closed to us: we cannot go back, and need not.
        return -1


def find_program(name: str, search: str) -> str:
    """Find a program on a search path; StartError if there is none."""
    if os.sep in name or "\0" in name:
        return name
    candidate = ""
    for folder in search.split(os.pathsep):
        path = os.path.join(folder or os.curdir, name)
        if os.path.isfile(path):
            if os.access(path, os.X_OK):
                return path
            candidate = candidate or path
    if not candidate:
        raise StartError(f"{name} was not found on PATH")
    return candidate


def explain_folder_error(error: OSError, cwd: str) -> StartError:
    """Explain why a child cannot work in a folder."""
    trouble = _CWD_TROUBLE.get(error.errno or 0, error.strerror)
    return StartError(f"the working directory {cwd} {trouble}")


def explain_start_error(error: OSError, path: str, shown: str) -> StartError:
    """Explain why a program does not start."""
    outcome: Outcome = "not_started" if error.errno in _SYSTEM_TROUBLE else "spawn_error"
    return StartError(_describe_start_error(error, path, shown), outcome)


def _describe_start_error(error: OSError, path: str, shown: str) -> str:
    number = error.errno or 0
    if number in _SYSTEM_TROUBLE:
        return _SYSTEM_TROUBLE[number]
    if number == errno.ENOENT:
        if os.path.lexists(path):
            return f"{shown} exists, but the target of its link or its first line (#!) does not"
        return f"{shown} does not exist"
    if number == errno.EACCES and os.path.isdir(path):
        return f"{shown} is a directory, not a program"
    if number == errno.EACCES and os.path.isfile(path) and not os.access(path, os.X_OK):
        from hookport.base.quoting import quote_if_needed

        return f"{shown} is not executable. Try: chmod +x {quote_if_needed(shown)}"
    if number == errno.ENOEXEC:
        return f"{shown} is neither a program nor a script with a first line such as #!/bin/sh"
    return f"{shown} cannot be started: {error.strerror}"


def _explain_bad_value(argv: list[str], cwd: str, env: Mapping[str, str]) -> str:
    texts = (
        ("the command", argv),
        ("the working directory", (cwd,)),
        ("the environment", (*env, *env.values())),
    )
    for place, words in texts:
        if any("\0" in word for word in words):
            return f"{place} contains a NUL byte, which no process accepts"
    if any(not name or "=" in name for name in env):
        return "the environment has a name that is empty or contains '='"
    return "the command or its environment contains a character that no process accepts"


def _open_pipe() -> tuple[int, int]:
    pair = os.pipe()
    if min(pair) > 2:
        return pair
    # One of our own standard streams is closed; a pipe with its number would be overwritten in the child.
    try:
        return _open_pipe()
    finally:
        for descriptor in pair:
            os.close(descriptor)


def _list_descriptors() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        return list(range(256))


def _list_closings() -> list[tuple[int, int]]:
    # Descriptors that Python opens are not inherited, but those left open by our parent are.
    closings = []
    for descriptor in _list_descriptors():
        try:
            if descriptor > 2 and os.get_inheritable(descriptor):
                closings.append((os.POSIX_SPAWN_CLOSE, descriptor))
        except OSError:
            continue
    return closings


def _open_pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


def _heed_children() -> None:
    # If our parent ignored SIGCHLD, the system discards exit statuses.
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        except ValueError:
            # Only the main thread may do this; without a status, the run counts as a failure.
            return


def _reap(pid: int, options: int = 0) -> int | None:
    try:
        reaped, status = os.waitpid(pid, options)
    except ChildProcessError:
        return None
    return status if reaped else None


def _send(how: Callable[[int, int], None], target: int, number: int) -> None:
    try:
        how(target, number)
    except OSError:
        # Gone already; macOS refuses to signal a group of zombies.
        return


def _decode_output(kept: bytearray) -> str:
    # A character cut by the limit is dropped.
    return codecs.utf_8_decode(kept, "replace", len(kept) < KEPT_BYTES)[0]
