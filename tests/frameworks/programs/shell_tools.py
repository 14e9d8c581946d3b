"""The tools of every program here: a shell, the same under a name that no host knows, and one that fails."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable
from typing import Any


def _run(command: str, cwd: str = ".") -> str:
    done = subprocess.run(command, shell=True, cwd=cwd, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def make_tools(mode: str) -> list[Callable[..., Any]]:
    """The tools as functions of one kind: plain ones for `sync`, coroutines for the rest."""
    return _make_sync() if mode == "sync" else _make_async()


def _make_sync() -> list[Callable[..., Any]]:
    def run_shell(command: str) -> str:
        """Run a shell command."""
        return _run(command)

    def execute(command: str) -> str:
        """Run a shell command."""
        return _run(command)

    def broken(command: str) -> str:
        """Run a shell command."""
        raise ValueError(f"cannot run {command}")

    return [run_shell, execute, broken]


def _make_async() -> list[Callable[..., Any]]:
    async def run_shell(command: str) -> str:
        """Run a shell command."""
        return await asyncio.to_thread(_run, command)

    async def execute(command: str) -> str:
        """Run a shell command."""
        return await asyncio.to_thread(_run, command)

    async def broken(command: str) -> str:
        """Run a shell command."""
        raise ValueError(f"cannot run {command}")

    return [run_shell, execute, broken]


def make_inner_tool() -> Callable[..., Any]:
    """The shell of an agent inside the agent; it works in a folder of its own, which shows who ran what."""

    def run_shell(command: str) -> str:
        """Run a shell command."""
        return _run(command, "inner")

    return run_shell
