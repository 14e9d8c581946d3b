"""Answer the events of a program in another language, over stdin and stdout.

The program starts this command once and writes JSON-RPC 2.0 requests, one on a line: `initialize` first, then
`fire` for each event. docs/embedding.md describes the requests, schemas/serve-stdio.schema.json checks them.
"""

from __future__ import annotations

import os
import signal
import threading
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from types import FrameType

from hookport.errors import UsageError

EXAMPLES = {"hookport serve-stdio < requests.jsonl": "Answer the requests in a file"}
TERMINATED = 143


def add_arguments(_parser: ArgumentParser) -> None:
    """`hookport serve-stdio` has no arguments: the program says all in its first request."""


def run(_args: Namespace) -> int:
    """Serve until the end of stdin."""
    from hookport.host.engine import LOOK_UP_SECONDS
    from hookport.host.stdio import Server

    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _leave)
    # What hookport or a library prints by mistake is no answer.
    try:
        for number in (0, 1):  # a copy would take the number of a closed one
            os.fstat(number)
        # A file of its own: Python ends sys.stdin with the process, also while a thread reads it.
        source, output = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    except OSError:
        raise UsageError("stdin or stdout is closed, so there is nobody to answer") from None
    with suppress(OSError):  # stderr is closed
        os.dup2(2, 1)
    server = Server(output)
    thread = threading.Thread(target=server.serve, args=(source,), daemon=True)
    thread.start()
    try:
        # A signal that another thread receives is handled when this one looks up.
        while thread.is_alive():
            thread.join(LOOK_UP_SECONDS)
    finally:
        server.stop()
    return 0


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(TERMINATED)
