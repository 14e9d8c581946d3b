"""One prompt for `codex app-server`, as editors start it: run from its file, with the arguments of `main`.

JSON-RPC without its version, a message on each line. This needs only the standard library.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any

Tree = Any
ENDING = "turn/completed"
# Once its stdin is closed, the server has this long to end by itself.
GRACE_SECONDS = 10


class Client:
    """A connection to the server; it approves whatever the server asks a person."""

    def __init__(self, to_server: IO[str], from_server: IO[str]) -> None:
        self.to_server, self.from_server = to_server, from_server
        self.count = 0

    def send(self, message: Mapping[str, Tree]) -> None:
        self.to_server.write(f"{json.dumps(message)}\n")
        self.to_server.flush()

    def ask(self, method: str, about: Mapping[str, Tree]) -> Tree:
        """Send a request and return its result; None if the server refuses it or ends."""
        self.count += 1
        self.send({"id": self.count, "method": method, "params": about})
        return self.read_until(lambda message: message.get("id") == self.count and "method" not in message)

    def read_until(self, is_last: Callable[[Mapping[str, Tree]], bool]) -> Tree:
        for line in self.from_server:
            sys.stdout.write(line)
            message = json.loads(line)
            if is_last(message):
                return message.get("result")
            if "id" in message and "method" in message:
                self.send({"id": message["id"], "result": {"decision": "accept"}})
        return None


def main(folder: str, start: str, prompt: str, *program: str) -> int:
    """Start the server in the folder `start`, for a thread in `folder`."""
    server = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=start)
    if server.stdin is None or server.stdout is None:
        return 1
    try:
        client = Client(server.stdin, server.stdout)
        client.ask("initialize", {"clientInfo": {"name": "hookport", "title": "hookport", "version": "1"}})
        client.send({"method": "initialized"})
        about = {"cwd": folder, "approvalPolicy": "never", "sandbox": "danger-full-access"}
        thread = client.ask("thread/start", about)
        if not thread:
            return 1
        turn = {"threadId": thread["thread"]["id"], "input": [{"type": "text", "text": prompt}]}
        client.ask("turn/start", turn)
        client.read_until(lambda message: message.get("method") == ENDING)
    finally:
        server.stdin.close()
        try:
            server.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            server.terminate()
            server.wait(GRACE_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
