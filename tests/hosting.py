"""Projects with hooks for tests of hosts: what a hook does is a line of shell."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from hookport.host import AsyncHost, Host
from tests.approval import approve

PATIENCE = 60.0
# What a hook of the interchange format answers with the command that it was asked about.
DENY_COMMAND = """exec python3 -c '
import json, sys
event = json.load(sys.stdin)
print(json.dumps({"decision": "deny", "reason": event["session_id"] + " " + event["tool_input"]["command"]}))'
"""


class Project:
    """A repository with hooks, a home, and an environment in which nothing of ours is touched."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        (self.root / ".git").mkdir(parents=True)
        self.env = {
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            "HOME": str(folder / "home"),
        }
        self.hooks: list[dict[str, Any]] = []

    def add(self, script: str, event: str = "before_tool_execute", **fields: Any) -> None:
        """Add a hook and approve everything; `handler` has fields of the handler."""
        number = len(self.hooks)
        file = self.root / ".hookport" / f"hook-{number}.sh"
        self.write(file, script)
        handler = {"type": "command", "command": str(file), "timeout": PATIENCE, **fields.pop("handler", {})}
        hook = {"name": f"hook-{number}", "event": event, "handler": handler, "blocking": True, **fields}
        self.hooks.append(hook)
        manifest = {"spec": "hooks/1.0", "hooks": self.hooks}
        (self.root / ".hookport" / "hooks.json").write_text(json.dumps(manifest), "utf-8")
        self.approve()

    def write(self, file: Path, script: str) -> None:
        """Write a script that can be run."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        file.chmod(0o755)

    def approve(self) -> None:
        """Approve what is there."""
        approve(self.root, self.env)

    def host(self, **options: Any) -> Host:
        """A host of the project, with a shell tool."""
        return Host(
            self.root, **{"agent": "my-agent", "tools": {"run_shell": "shell"}, "env": self.env, **options}
        )

    def async_host(self) -> AsyncHost:
        """The same for an event loop."""
        return AsyncHost(self.root, agent="my-agent", tools={"run_shell": "shell"}, env=self.env)

    def journal(self) -> list[dict[str, Any]]:
        """The records of the journal."""
        file = Path(self.env["HOME"], ".local/state/hookport/journal.jsonl")
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


def wait_for(file: Path) -> str:
    """The text of a file that another process writes, as soon as its line is whole."""
    limit = time.monotonic() + PATIENCE
    while not file.exists() or not file.read_text("utf-8").endswith("\n"):
        assert time.monotonic() < limit, f"{file.name} was not written"
        time.sleep(0.01)
    return file.read_text("utf-8").strip()


def wait_until_gone(group: int) -> None:
    """Wait until no process of a group is left."""
    limit = time.monotonic() + PATIENCE
    while True:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < limit, f"a process of group {group} is left"
        time.sleep(0.01)
