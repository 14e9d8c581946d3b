"""Measure what an event costs in a host, beside a dispatch of the same event, in one run on one machine.

    python bench/host.py [--rounds N]

What is compared is measured in turns, so that a busy machine slows all alike; the median counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hookport.host import AsyncHost, Host

GUARD = '#!/bin/sh\ncase $(cat) in *"rm -rf"*) exit 2;; esac\n'
CALL = {"command": "ls -la"}


def make_project(folder: Path) -> tuple[Path, dict[str, str]]:
    """A project with one guard on the shell, approved, and its environment."""
    root = folder / "project"
    (root / ".git").mkdir(parents=True)
    script = root / ".claude" / "guard.sh"
    script.parent.mkdir()
    script.write_text(GUARD)
    script.chmod(0o755)
    hooks = [{"type": "command", "command": ".claude/guard.sh"}]
    settings = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}}
    (root / ".claude" / "settings.json").write_text(json.dumps(settings))
    env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home")}
    words = [sys.executable, "-m", "hookport", "trust", "--yes"]
    source = str(Path(__file__).parent.parent / "src")
    subprocess.run(words, cwd=root, env={**env, "PYTHONPATH": source}, check=True, capture_output=True)
    return root, env


def measure(rounds: int) -> dict[str, float]:
    """The median time of each, in milliseconds."""
    with tempfile.TemporaryDirectory() as name:
        root, env = make_project(Path(name))
        tools = {"run_shell": "shell", "get_time": None}
        host = Host(root, agent="my-agent", tools=tools, env=env)
        other = AsyncHost(root, agent="my-agent", tools=tools, env=env)
        loop = asyncio.new_event_loop()
        bridge = Path(sys.modules["hookport"].__file__ or "").parent / "bridge.py"
        tree = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(root)}

        def run(words: list[str], given: bytes) -> None:
            subprocess.run(words, cwd=root, env=env, input=given, capture_output=True, check=True)

        def dispatch(tool: str) -> None:
            # Codex, which does not load this file itself.
            payload = json.dumps({**tree, "tool_name": tool, "tool_input": CALL}).encode()
            run([sys.executable, "-I", "-S", str(bridge), "dispatch", "codex", "PreToolUse"], payload)

        runs: dict[str, Callable[[], object]] = {
            "the guard by itself": lambda: run([str(root / ".claude/guard.sh")], b"{}"),
            "host, no hook matches": lambda: host.before_tool("get_time", CALL),
            "async host, no hook matches": lambda: loop.run_until_complete(
                other.before_tool("get_time", CALL)
            ),
            "host, the guard": lambda: host.before_tool("run_shell", CALL),
            "async host, the guard": lambda: loop.run_until_complete(other.before_tool("run_shell", CALL)),
            "dispatch, no hook matches": lambda: dispatch("update_plan"),
            "dispatch, the guard": lambda: dispatch("Bash"),
        }
        if host.before_tool("run_shell", {"command": "rm -rf x"}).verdict != "deny":
            raise SystemExit("the guard does not hold, so nothing is to be measured")
        taken: dict[str, list[float]] = {label: [] for label in runs}
        for number in range(rounds + 1):
            for label, call in runs.items():
                begun = time.perf_counter()
                call()
                if number:
                    taken[label].append(time.perf_counter() - begun)
        loop.close()
        return {label: statistics.median(times) * 1000 for label, times in taken.items()}


def table(rounds: int) -> None:
    """Print the table."""
    taken = measure(rounds)
    print(f"{'what':<44}{'ms':>9}  ratio")
    dispatch = taken["dispatch, the guard"]
    for label, milliseconds in taken.items():
        print(f"{label:<44}{milliseconds:>9.2f}  {milliseconds / dispatch:.2f} of a dispatch with the guard")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=50, help="how often each is measured")
    table(parser.parse_args().rounds)


if __name__ == "__main__":
    main()
