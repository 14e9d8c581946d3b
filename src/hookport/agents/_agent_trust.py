"""What agents that approve hooks by themselves say of one; each such agent has a module `_<agent>_trust`."""

from __future__ import annotations

from typing import NamedTuple

TRUSTED, UNTRUSTED, MODIFIED = "trusted", "untrusted", "modified"


class AgentHook(NamedTuple):
    """One hook as its agent sees it: `hash` is what the agent calls it now, `key` where it stands."""

    agent: str
    key: str
    file: str
    event: str
    command: str
    hash: str
    state: str
