"""Tests of hooks: in Python by the names below, and cases in files, for the hook alone or for every agent."""

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
    """Load the harness when one of its names is asked for: pytest imports this package in every run."""
    if name not in __all__:
        raise AttributeError(f"module 'hookport.testing' has no attribute '{name}'")
    return getattr(import_module("hookport.testing.harness"), name)
