"""One prompt for a server of OpenCode, which it starts: run from its file, with prompt and program.

`opencode run` exits as soon as a session is idle, before a hook can keep it going; a server does not, and the
terminal also uses a server. This needs only the standard library.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

# After this long without a busy session or a running hook, the run is over.
QUIET_SECONDS = 1.5
# The same while more processes are left than before the prompt: a hook that does not end its work so soon, or
# a process that the server keeps.
STEADY_SECONDS = 5
TICK_SECONDS = 0.1

Tree = dict[str, object]
# The server is on this machine, whatever proxies the environment sets.
open_ = build_opener(ProxyHandler({})).open


def ask(url: str, body: Tree | None = None, method: str = "") -> Tree:
    """Send a request; return the server's answer, or the status and text of a refusal."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(  # noqa: S310 - the server's own URL
        url, data, {"Content-Type": "application/json"}, method=method or ("GET" if body is None else "POST")
    )
    try:
        with open_(request) as answer:
            tree = json.loads(answer.read() or "null")
            return tree if isinstance(tree, dict) else {}
    except HTTPError as error:
        return {"refused": error.code, "text": error.read().decode("utf-8", "replace")}


def count_processes(session: int) -> int:
    """Count the processes of the server's system session; 0 without /proc."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name in brackets may contain blanks; the session is the fourth field after it.
            count += path.read_text().rpartition(")")[2].split()[3] == str(session)
    return count


def settle(url: str, server: int, least: int) -> None:
    """Wait until the sessions are idle and only permanent processes are left, `least` before the prompt."""
    last = count = count_processes(server)
    since = time.monotonic()
    while time.monotonic() - since < (QUIET_SECONDS if count <= least else STEADY_SECONDS):
        time.sleep(TICK_SECONDS)
        last, count = count, count_processes(server)
        if ask(f"{url}/session/status") or count != last:
            since = time.monotonic()


def talk(url: str, prompt: str, server: int) -> int:
    """Send the prompt, print the answer, and wait for the hooks; 1 if the prompt was refused."""
    session = f"{url}/session/{ask(f'{url}/session', {})['id']}"
    least = count_processes(server)
    parts = [{"type": "text", "text": prompt}]
    answer = ask(f"{session}/message", {"parts": parts})
    if "refused" in answer:
        sys.stderr.write(f"{answer['refused']}: {answer['text']}\n")
    answer_parts = answer.get("parts")
    for part in answer_parts if isinstance(answer_parts, list) else ():
        if part.get("type") == "text":
            sys.stdout.write(part["text"] + "\n")
    settle(url, server, least)
    # Hooks get no event for any other way of ending a session.
    ask(session, method="DELETE")
    settle(url, server, least)
    return 1 if "refused" in answer else 0


def main(prompt: str, program: list[str]) -> int:
    server = subprocess.Popen(
        [*program, "serve", "--hostname", "127.0.0.1", "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    printed = iter(server.stdout or ())
    try:
        url = ""
        for line in printed:
            sys.stderr.write(line)
            if " listening on " in line:
                url = line.split()[-1]
                break
        # Its later output is read too, or it would wait for a reader.
        threading.Thread(target=sys.stderr.writelines, args=(printed,), daemon=True).start()
        return talk(url, prompt, server.pid) if url else 1
    finally:
        # Its launcher does not pass a signal on.
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
