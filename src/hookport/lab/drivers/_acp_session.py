"""One prompt for an agent that an editor starts: run from its file, with the arguments of `main`.

It is a client of the Agent Client Protocol: JSON-RPC, a message on each line of stdin and stdout. It offers
neither files nor a terminal, so the agent uses its own tools, and it allows whatever the agent asks a person.
This needs only the standard library. https://agentclientprotocol.com/protocol/overview
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any

Tree = Any
VERSION = 1
# What a client answers to a method that it does not have.
NO_SUCH_METHOD = -32601
ALLOWS = ("allow_once", "allow_always")
# Once its stdin is closed, the agent has this long to end by itself.
GRACE_SECONDS = 10


class RefusedError(Exception):
    """The agent answered a request with an error, or ended."""


class Client:
    """A connection to an agent; while an answer is awaited, requests of the agent are answered."""

    def __init__(self, to_agent: IO[str], from_agent: IO[str]) -> None:
        self.to_agent, self.from_agent = to_agent, from_agent
        self.count = 0

    def ask(self, method: str, about: Mapping[str, Tree]) -> Tree:
        """Send a request and return its result."""
        self.count += 1
        self.send({"id": self.count, "method": method, "params": about})
        for line in self.from_agent:
            try:
                message = json.loads(line)
            except ValueError:
                # Some programs print a banner.
                sys.stderr.write(line)
                continue
            if "method" in message:
                self.react(message)
            elif message.get("id") == self.count:
                if "error" in message:
                    raise RefusedError(f"{method}: {json.dumps(message['error'])}")
                return message.get("result")
        raise RefusedError(f"{method}: the agent ended without an answer")

    def send(self, message: Mapping[str, Tree]) -> None:
        self.to_agent.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.to_agent.flush()

    def react(self, message: Mapping[str, Tree]) -> None:
        """Answer a request of the agent, and print what it shows to a person."""
        about = message.get("params") or {}
        if message["method"] == "session/update":
            content = about.get("update", {}).get("content")
            if isinstance(content, dict) and content.get("type") == "text":
                sys.stdout.write(content["text"])
        if "id" not in message:
            return
        if message["method"] == "session/request_permission":
            self.send({"id": message["id"], "result": {"outcome": allow(about.get("options", ()))}})
        else:
            error = {"code": NO_SUCH_METHOD, "message": f"no method {message['method']}"}
            self.send({"id": message["id"], "error": error})


def allow(options: Sequence[Mapping[str, Tree]]) -> Tree:
    """Choose the option that allows a call."""
    for kind in ALLOWS:
        for option in options:
            if option.get("kind") == kind:
                return {"outcome": "selected", "optionId": option["optionId"]}
    return {"outcome": "cancelled"}


def talk(client: Client, folder: str, option: str, prompt: str) -> None:
    """Open a session in a folder, set one of its options if one is named, and send one prompt."""
    about = {
        "protocolVersion": VERSION,
        "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
        "clientInfo": {"name": "hookport", "version": "1"},
    }
    offered = client.ask("initialize", about)
    sys.stderr.write(f"{json.dumps(offered)}\n")
    session = client.ask("session/new", {"cwd": folder, "mcpServers": []})
    sys.stderr.write(f"{json.dumps(session)}\n")
    name, _, value = option.partition("=")
    if option:
        about = {"sessionId": session["sessionId"], "configId": name, "value": value}
        client.ask("session/set_config_option", about)
    turn = {"sessionId": session["sessionId"], "prompt": [{"type": "text", "text": prompt}]}
    ending = client.ask("session/prompt", turn)
    sys.stdout.write(f"\n{json.dumps(ending)}\n")


def main(folder: str, start: str, option: str, prompt: str, *program: str) -> int:
    """Start the program in the folder `start`, for a session in `folder`."""
    agent = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=start)
    if agent.stdin is None or agent.stdout is None:
        return 1
    try:
        talk(Client(agent.stdin, agent.stdout), folder, option, prompt)
    except (RefusedError, BrokenPipeError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        agent.stdin.close()
        try:
            agent.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            agent.terminate()
            agent.wait(GRACE_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
