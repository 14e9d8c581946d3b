"""Keeps a run to itself: no network except loopback, and no process that outlives it.

Linux supports both (a network namespace, and the adoption of orphans). Elsewhere the network stays open,
which is reported, and processes that left the agent's process group are not found.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path

# linux/sched.h, linux/if.h, linux/sockios.h, linux/prctl.h
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
IFF_UP, IFF_RUNNING = 0x1, 0x40
SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
PR_SET_CHILD_SUBREAPER = 36

# From SIGTERM to SIGKILL, and how long a killed process may take to end.
GRACE_SECONDS = 1.0
GONE_SECONDS = 3.0
TICK_SECONDS = 0.05


def isolate() -> str:
    """Leave every network except loopback; return why that failed, or an empty text.

    A child tries each way first, because a half-made namespace cannot be left. Call this before starting the
    first thread.
    """
    if sys.platform != "linux":
        return f"{sys.platform} has no network namespaces"
    trouble = ""
    for flags in (CLONE_NEWNET, CLONE_NEWUSER | CLONE_NEWNET):
        child = os.fork()
        if child == 0:
            try:
                _enter(flags)
                os._exit(0)
            except OSError as error:
                os._exit(error.errno or 1)
            finally:
                os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == 0:
            _enter(flags)
            return ""
        trouble = os.strerror(status) if status > 0 else signal.Signals(-status).name
    return f"the system does not allow a network namespace: {trouble.lower()}"


def _enter(flags: int) -> None:
    import ctypes
    import fcntl

    user, group = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    if flags & CLONE_NEWUSER:
        with suppress(FileNotFoundError):
            Path("/proc/self/setgroups").write_bytes(b"deny")
        Path("/proc/self/uid_map").write_bytes(b"%d %d 1" % (user, user))
        Path("/proc/self/gid_map").write_bytes(b"%d %d 1" % (group, group))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as knob:
        loopback = struct.pack("16sh22x", b"lo", 0)
        _, now = struct.unpack("16sh22x", fcntl.ioctl(knob, SIOCGIFFLAGS, loopback))
        fcntl.ioctl(knob, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", now | IFF_UP | IFF_RUNNING))


def adopt_orphans() -> None:
    """Adopt every process below us whose own parent ends."""
    if sys.platform == "linux":
        with suppress(ImportError):  # a Python built without libffi
            import ctypes

            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def find_strays(home: str) -> dict[int, str]:
    """Find the processes below this one, or with that HOME: command lines by process id."""
    if sys.platform != "linux":
        return {}
    parents: dict[int, int] = {}
    marked = set()
    needle = b"\0HOME=" + os.fsencode(home) + b"\0"
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(OSError):
            # The name in parentheses may contain anything, so parsing starts after the last parenthesis.
            state, parent, *_ = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            if state in ("Z", "X"):
                continue
            parents[int(folder.name)] = int(parent)
            if needle in b"\0" + (folder / "environ").read_bytes() + b"\0":
                marked.add(int(folder.name))
    own_pid = os.getpid()
    pids = {pid for pid in parents if pid != own_pid and (pid in marked or _is_below(pid, own_pid, parents))}
    return {pid: _read_command_line(pid) for pid in pids}


def _is_below(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == ancestor:
            return True
    return False


def _read_command_line(pid: int) -> str:
    try:
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        )
    except OSError:
        return ""


def await_end(home: str, seconds: float) -> None:
    """Wait until no process of the run is left, up to a limit; wait fully if that cannot be seen."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and (find_strays(home) or sys.platform != "linux"):
        time.sleep(TICK_SECONDS)
        reap()


def reap() -> None:
    """Reap the adopted processes that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end_processes(group: int, home: str) -> tuple[str, ...]:
    """End the process group and every stray; return their command lines."""
    ended: dict[int, str] = {}
    for number, seconds in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, GONE_SECONDS)):
        deadline = time.monotonic() + seconds
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
        signalled: set[int] = set()
        while survivors := find_strays(home):
            ended.update(survivors)
            for pid in survivors.keys() - signalled:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
            signalled |= survivors.keys()
            if time.monotonic() > deadline:
                break
            time.sleep(TICK_SECONDS)
            reap()
    return tuple(sorted(filter(None, ended.values())))
