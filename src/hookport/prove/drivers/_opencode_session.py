"""One prompt for a server of OpenCode, which is started for it: run from its file, with prompt and program.

`opencode run` is gone as soon as a session is idle, before a hook can keep it going; a server is not, and the
terminal works with one. The standard library is all it needs.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

# A session that stays idle for so long was not told to go on: a hook answers in less.
QUIET_SECONDS = 3.0
TICK_SECONDS = 0.1

Tree = dict[str, object]
# The server is on this machine, whatever the environment says of proxies.
open_ = build_opener(ProxyHandler({})).open


def ask(url: str, body: Tree | None = None) -> Tree:
    """What the server answers; the status of a refusal and its text."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json"})  # noqa: S310 - the server's own URL
    try:
        with open_(request) as answer:
            found: Tree = json.loads(answer.read())
            return found
    except HTTPError as error:
        return {"refused": error.code, "text": error.read().decode("utf-8", "replace")}


def settled(url: str) -> None:
    """Wait until no session has been busy for a while."""
    since = time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        time.sleep(TICK_SECONDS)
        if ask(f"{url}/session/status"):
            since = time.monotonic()


def talk(url: str, prompt: str) -> int:
    """Ask once, print what is said, and wait for what hooks make of it; 1 where the prompt was refused."""
    session = ask(f"{url}/session", {})
    parts = [{"type": "text", "text": prompt}]
    answer = ask(f"{url}/session/{session['id']}/message", {"parts": parts})
    if "refused" in answer:
        sys.stderr.write(f"{answer['refused']}: {answer['text']}\n")
    said = answer.get("parts")
    for part in said if isinstance(said, list) else ():
        if part.get("type") == "text":
            sys.stdout.write(part["text"] + "\n")
    settled(url)
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
        # What it prints later is taken too, or it would wait for a reader.
        threading.Thread(target=sys.stderr.writelines, args=(printed,), daemon=True).start()
        return talk(url, prompt) if url else 1
    finally:
        # Its launcher does not pass a signal on.
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
