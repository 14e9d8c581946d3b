"""Run one hook command on Windows, with files instead of pipes, so that nothing blocks or outlives it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hookport.model.runs import KEPT_BYTES, RunResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

# An exit code from here on is an NTSTATUS error: the process crashed or was killed.
FIRST_CRASH_CODE = 0xC0000000
OWN_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
DETACHED = getattr(subprocess, "DETACHED_PROCESS", 0)

SUPERVISOR = """
import json, sys
order = json.load(sys.stdin)
sys.path[:] = order.pop("path")
from hookport.runtime.execute import _windows
_windows.run(**{**order, "stdin": order["stdin"].encode("latin-1")})
"""


def run(
    command: str | list[str],
    *,
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout_seconds: float | None,
) -> RunResult:
    """Run a command to its end; text runs through `cmd /c`, a list without a shell."""
    began = time.monotonic()
    with (
        tempfile.TemporaryFile() as stdin_file,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        stdin_file.write(stdin)
        stdin_file.seek(0)
        try:
            child = subprocess.Popen(
                command,
                shell=isinstance(command, str),
                stdin=stdin_file,
                stdout=out,
                stderr=err,
                cwd=cwd,
                env=dict(env),
                creationflags=OWN_GROUP,
            )
        except (OSError, ValueError) as error:
            return RunResult("spawn_error", detail=str(error), seconds=time.monotonic() - began)
        try:
            code: int | None = child.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            code = None
            _end(child)
        except BaseException:
            _end(child)
            raise
        result = RunResult(
            "completed" if code is not None else "timeout",
            code,
            _read_text(out),
            _read_text(err),
            seconds=time.monotonic() - began,
            dropped=_count_dropped(out) + _count_dropped(err),
        )
    if code is None:
        return result.replace(detail=f"took longer than {timeout_seconds:.3g} s and was stopped")
    if code >= FIRST_CRASH_CODE or code < 0:
        return result.replace(outcome="signal", exit_code=None, detail=f"was killed with status {code:#x}")
    return result


def start(
    command: str | list[str],
    *,
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout_seconds: float | None,
) -> int:
    """Start a command under a detached Python that enforces its deadline; nothing is called when it ends."""
    order = {
        "path": sys.path,
        "command": command,
        "stdin": stdin.decode("latin-1"),
        "cwd": str(Path(cwd).absolute()),
        "env": dict(env),
        "timeout_seconds": timeout_seconds,
    }
    with tempfile.TemporaryFile() as stdin_file:
        stdin_file.write(json.dumps(order).encode())
        stdin_file.seek(0)
        try:
            supervisor = subprocess.Popen(
                [sys.executable, "-c", SUPERVISOR],
                stdin=stdin_file,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                creationflags=DETACHED | OWN_GROUP,
            )
        except OSError:
            return 0
    return supervisor.pid


def _end(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(child.pid)], capture_output=True, check=False)
    child.kill()
    child.wait()


def _read_text(printed: IO[bytes]) -> str:
    printed.seek(0)
    return printed.read(KEPT_BYTES).decode(errors="replace")


def _count_dropped(printed: IO[bytes]) -> int:
    return max(0, os.fstat(printed.fileno()).st_size - KEPT_BYTES)
