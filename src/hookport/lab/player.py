"""One run of an agent in its own process: `python -m hookport.lab.player SPEC.json OUTCOME.json`.

It leaves every network except loopback, starts the scripted model and the agent, and returns in time whatever
the agent does. Nothing that it started keeps running, even if the caller dies.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

from hookport.lab import confinement
from hookport.lab.play import Outcome, Spec, read_outcome, read_spec, write
from hookport.lab.server import Server

# How much of each stream is stored, half from its beginning and half from its end.
KEPT_BYTES = 256 * 1024
TICK_SECONDS = 0.02
# The player's exit code if a signal, or the end of its caller, ended the run.
INTERRUPTED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# The player's own time beyond its spec's limit, on a busy machine.
MARGIN_SECONDS = 30.0
# The current runs of this process.
_running: set[subprocess.Popen[bytes]] = set()


def stop_runs() -> None:
    """End every current run; each player cleans up after itself."""
    for player in tuple(_running):
        player.terminate()


def play_spec(spec: Spec, folder: Path) -> Outcome:
    """Play a run in a child process; its spec and its outcome stay in the folder.

    A run ended from outside is an interruption, and has no outcome.
    """
    most = spec.patience_seconds + spec.settle_seconds + MARGIN_SECONDS
    spec_file, outcome_file = folder / "spec.json", folder / "outcome.json"
    outcome_file.unlink(missing_ok=True)
    write(spec_file, spec)
    command = [sys.executable, "-P", "-m", "hookport.lab.player", str(spec_file), str(outcome_file)]
    player = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _running.add(player)
    try:
        stderr = player.communicate(timeout=most)[1]
    except subprocess.TimeoutExpired:
        player.terminate()
        player.communicate()
        return Outcome(trouble=f"the player did not finish in {most:.0f} s")
    except BaseException:
        player.terminate()
        player.communicate()
        raise
    finally:
        _running.discard(player)
    # A signal may end it before it handles signals, or it reports the signal.
    if player.returncode in (INTERRUPTED, *(-number for number in SIGNALS)):
        raise KeyboardInterrupt
    if not outcome_file.exists():
        words = stderr.decode("utf-8", "replace").strip().splitlines()
        why = words[-1] if words else f"it exited with {player.returncode}"
        return Outcome(trouble=f"the player did not finish: {why}")
    return read_outcome(outcome_file)


class _StreamKeeper:
    """A stream that is read to its end; its beginning and end are stored."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._head = b""
        self._tail = b""
        self._size = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        half = KEPT_BYTES // 2
        while data := os.read(self._stream.fileno(), 1 << 16):
            self._size += len(data)
            room = half - len(self._head)
            self._head += data[:room]
            self._tail = (self._tail + data[room:])[-half:]

    def text(self) -> str:
        """The stored text, once the stream has ended or nobody can write to it."""
        self._thread.join(1.0)
        gap = self._size - len(self._head) - len(self._tail)
        middle = f"\n[... {gap} bytes left out ...]\n".encode() if gap > 0 else b""
        return (self._head + middle + self._tail).decode("utf-8", "replace")


class _StopSignal:
    """Whether the run must end now: a signal arrived, or the caller is gone."""

    def __init__(self) -> None:
        self._caller = os.getppid()
        self._signal = ""
        for number in SIGNALS:
            signal.signal(number, self._note)

    def _note(self, number: int, _frame: object) -> None:
        self._signal = signal.Signals(number).name

    def find_reason(self) -> str:
        if self._signal:
            return f"stopped by {self._signal}"
        return "" if os.getppid() == self._caller else "the caller has ended"


def _play_confined(spec: Spec, stopped: _StopSignal) -> Outcome:
    if not spec.home or Path(spec.home).resolve() == Path.home().resolve():
        return Outcome(trouble="a run needs its own home, because every process with this HOME is ended")
    open_because = confinement.isolate() if spec.isolate else "not requested"
    confinement.adopt_orphans()
    outcome = Outcome(isolated=not open_because, open_because=open_because)
    try:
        server = Server(spec.steps, spec.protocol, port=spec.port, requests_file=Path(spec.requests_file))
    except OSError as error:
        return outcome._replace(trouble=f"cannot listen on port {spec.port}: {error.strerror}")
    with server:
        outcome = _run_agent(spec, outcome, stopped)
        return outcome._replace(requests=tuple(server.requests))


def _run_agent(spec: Spec, outcome: Outcome, stopped: _StopSignal) -> Outcome:
    started = time.monotonic()
    try:
        agent = subprocess.Popen(
            spec.argv,
            cwd=spec.cwd,
            env=dict(spec.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return outcome._replace(trouble=f"cannot start '{spec.argv[0]}': {error.strerror}")
    assert agent.stdout is not None  # noqa: S101 - for the type checker
    assert agent.stderr is not None  # noqa: S101
    stdout, stderr = _StreamKeeper(agent.stdout), _StreamKeeper(agent.stderr)
    deadline = started + spec.patience_seconds
    while agent.poll() is None and time.monotonic() < deadline and not stopped.find_reason():
        time.sleep(TICK_SECONDS)
    timed_out = agent.poll() is None and not stopped.find_reason()
    seconds = time.monotonic() - started
    if agent.poll() is None:
        os.killpg(agent.pid, signal.SIGTERM)
        try:
            agent.wait(confinement.GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            agent.kill()
            agent.wait()
    elif not stopped.find_reason():
        confinement.await_end(spec.home, spec.settle_seconds)
    left = confinement.end_processes(agent.pid, spec.home)
    code = agent.returncode
    return outcome._replace(
        exit=code if code >= 0 else None,
        signal=signal.Signals(-code).name if code < 0 else "",
        seconds=round(seconds, 3),
        timed_out=timed_out,
        stdout=stdout.text(),
        stderr=stderr.text(),
        left=left,
        trouble=stopped.find_reason(),
    )


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        sys.stderr.write("usage: python -m hookport.lab.player SPEC.json OUTCOME.json\n")
        return 2
    stopped = _StopSignal()
    outcome = _play_confined(read_spec(Path(arguments[0])), stopped)
    write(Path(arguments[1]), outcome)
    return INTERRUPTED if stopped.find_reason() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
