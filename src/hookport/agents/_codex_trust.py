"""Codex's own approval of hooks, asked from its app server and kept in its `config.toml`.

Each handler that is not managed needs `[hooks.state."KEY"] trusted_hash`; one without runs nothing, silently.
`hooks/list` of `codex app-server` gives keys, hashes and states (0.166.0, 2026-07).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Timer
from typing import Any

from hookport.agents._agent_trust import MODIFIED, TRUSTED, UNTRUSTED, AgentHook

Tree = Any

AGENT, PROGRAM = "codex", "codex"
LIST = 2
SECONDS = 30.0
STATES = {"trusted": TRUSTED, "managed": TRUSTED, "modified": MODIFIED}


def settings(env: Mapping[str, str]) -> str:
    """The user's settings; empty where the environment names no place."""
    home = env.get("CODEX_HOME") or (os.path.join(env["HOME"], ".codex") if env.get("HOME") else "")  # noqa: PTH118
    return str(Path(home) / "config.toml") if home else ""


def listed(root: str, env: Mapping[str, str]) -> list[AgentHook] | None:
    """Every hook of a project with its state; None where Codex is not on the path or does not answer."""
    program = shutil.which(PROGRAM, path=env.get("PATH"))
    answer = _asked(program, root, env) if program else {}
    if "result" not in answer:
        return None
    found = answer["result"].get("data", [])
    return [_hook(hook) for folder in found for hook in folder.get("hooks", ()) if hook.get("enabled", True)]


def trusting(tree: Tree, hooks: Sequence[AgentHook]) -> Tree:
    """The settings with hooks approved as they are now."""
    all_ = dict(tree)
    section = dict(all_.get("hooks", {}))
    state = dict(section.get("state", {}))
    for hook in hooks:
        state[hook.key] = {**state.get(hook.key, {}), "trusted_hash": hook.hash}
    return {**all_, "hooks": {**section, "state": state}}


def _hook(said: Mapping[str, Tree]) -> AgentHook:
    state = TRUSTED if said.get("isManaged") else STATES.get(str(said.get("trustStatus")), UNTRUSTED)
    return AgentHook(
        AGENT,
        str(said["key"]),
        str(said.get("sourcePath", "")),
        str(said.get("eventName", "")),
        str(said.get("command") or ""),
        str(said.get("currentHash", "")),
        state,
    )


def _asked(program: str, root: str, env: Mapping[str, str]) -> Tree:
    """The answer of the app server; it is ended if it takes too long."""
    try:
        server = subprocess.Popen(
            [program, "app-server"],
            cwd=root,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError:
        return {}
    watch = Timer(SECONDS, server.kill)
    watch.start()
    try:
        assert server.stdin is not None  # noqa: S101  (it is a pipe)
        assert server.stdout is not None  # noqa: S101
        server.stdin.writelines(json.dumps(message) + "\n" for message in _messages(root))
        server.stdin.flush()
        return next((answer for answer in _answers(server.stdout) if answer.get("id") == LIST), {})
    except OSError:
        return {}
    finally:
        watch.cancel()
        server.kill()
        server.communicate()


def _messages(root: str) -> tuple[dict[str, Tree], ...]:
    client = {"clientInfo": {"name": "hookport", "version": "1"}}
    return (
        {"id": 1, "method": "initialize", "params": client},
        {"method": "initialized"},
        {"id": LIST, "method": "hooks/list", "params": {"cwds": [root]}},
    )


def _answers(lines: Iterator[str]) -> Iterator[dict[str, Tree]]:
    for line in lines:
        try:
            answer = json.loads(line)
        except ValueError:
            continue
        if isinstance(answer, dict):
            yield answer
