"""Commands of hookport as forks of one process that has loaded it.

A fork is a process with its own folder, environment, streams, caches and exit, so a command does in it what
it does when it is started. Only the start of Python and the loading of hookport are saved, which take longer
than most commands do. Starts themselves are tested with processes, as the first command of each transcript.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
NUMBER = struct.Struct("q")
HAS_FORKS = hasattr(os, "fork") and hasattr(socket, "send_fds")


def run(
    args: Sequence[str], cwd: Path, env: Mapping[str, str], given: str = "", timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """What `hookport ARGS` does; a PYTHONPATH in the environment reaches the children of the command only."""
    if not HAS_FORKS:
        words = [sys.executable, "-m", "hookport", *args]
        return subprocess.run(
            words,
            cwd=cwd,
            env=env,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )
    connection = _server()
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        stdin.write(given.encode())
        stdin.seek(0)
        request = json.dumps({"args": [*args], "cwd": str(cwd), "env": {**env}})
        socket.send_fds(connection, [b"\n"], [stdin.fileno(), out.fileno(), err.fileno()])
        connection.sendall(f"{request}\n".encode())
        child = _receive(connection)
        if is_late := not select.select([connection], [], [], timeout)[0]:
            os.kill(child, signal.SIGKILL)
        status = _receive(connection)
        if is_late:
            raise subprocess.TimeoutExpired([*args], timeout)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode().replace("\r\n", "\n").replace("\r", "\n"))
        return subprocess.CompletedProcess([*args], status, *texts)


def _receive(connection: socket.socket) -> int:
    """A process id or an exit status."""
    number: int = NUMBER.unpack(connection.recv(NUMBER.size, socket.MSG_WAITALL))[0]
    return number


@cache
def _server() -> socket.socket:
    """The connection to the process that forks; it ends with the one that asks, and is no child of it."""
    ours, theirs = socket.socketpair()
    subprocess.run(
        # `-P`: this file's folder has a `typing` of its own.
        [sys.executable, "-P", __file__, str(theirs.fileno())],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        check=True,
    )
    theirs.close()
    return ours


def _serve(number: int) -> None:
    """Answer requests until nobody is left to ask; returns in each fork, which then runs the command."""
    connection = socket.socket(fileno=number)
    connection.set_inheritable(False)
    requests = connection.makefile("r")
    while True:
        _, streams, _, _ = socket.recv_fds(connection, 1, 3)
        if not streams:
            os._exit(0)
        request = json.loads(requests.readline())
        child = os.fork()
        if not child:
            for target, stream in enumerate(streams):
                os.dup2(stream, target)
                os.close(stream)
            os.chdir(request["cwd"])
            os.environ.clear()
            os.environ.update(request["env"])
            time.tzset()
            # As `python -m hookport` sets them.
            sys.path.insert(0, request["cwd"])
            sys.argv = [str(SOURCE / "hookport" / "__main__.py"), *request["args"]]
            return
        for stream in streams:
            os.close(stream)
        connection.sendall(NUMBER.pack(child))
        _, status = os.waitpid(child, 0)
        connection.sendall(NUMBER.pack(os.waitstatus_to_exitcode(status)))


def _warm_up() -> None:
    """Fill the caches of what follows from the package: tables, wires, and the patterns of all dialects."""
    from hookport.agents import list_agents
    from hookport.doctor.status import read_status

    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "project", ".claude", "settings.json")
        settings.parent.mkdir(parents=True)
        handler = {"type": "command", "command": "exit 0"}
        groups = [{"matcher": "Bash", "hooks": [handler]}]
        settings.write_text(json.dumps({"hooks": {"PreToolUse": groups}}))
        read_status(f"{folder}/project", {"HOME": f"{folder}/home", "PATH": ""}, list_agents())


if __name__ == "__main__":
    if os.fork():
        # Tests look for children that a hook left behind, and this is none.
        os._exit(0)
    from importlib import import_module

    from hookport import cli
    from hookport.vendor import writer

    for name in cli.COMMANDS:
        import_module(cli.find_module(name))
    writer.build_archive()
    _warm_up()
    # A fork that looked for garbage in all modules, or took them apart at its end, would copy their memory.
    gc.freeze()
    _serve(int(sys.argv[1]))
    try:
        code = cli.main()
    except SystemExit as end:  # of argparse
        code = int(end.code or 0)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code)
