"""Tests of hooks: in Python with the names below, or cases in files, for one hook or for every agent."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookport.testing.harness import (
        Reply,
        after_tool,
        agent_stop,
        agents,
        before_prompt,
        before_tool,
        decide,
        event,
        expect,
        payload,
        send,
        session_end,
        session_start,
    )

__all__ = [
    "Reply",
    "after_tool",
    "agent_stop",
    "agents",
    "before_prompt",
    "before_tool",
    "decide",
    "event",
    "expect",
    "payload",
    "send",
    "session_end",
    "session_start",
]


def __getattr__(name: str) -> object:
    """Load the harness on demand: pytest imports this package in every run."""
    if name not in __all__:
        raise AttributeError(f"module 'hookport.testing' has no attribute '{name}'")
    return getattr(import_module("hookport.testing.harness"), name)
