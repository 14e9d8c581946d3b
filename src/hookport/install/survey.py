"""A folder's hooks and the agents' installed entries, read and planned once for everybody who asks."""

from __future__ import annotations

from collections.abc import Mapping

from hookport.install.coverage import InstalledEntries
from hookport.install.sync import AgentStanding, find_installed
from hookport.install.targets import SCOPES, find_target
from hookport.project.discovery import discover


class Survey:
    """What is found in a folder; it does not follow later changes."""

    def __init__(self, cwd: str, env: Mapping[str, str]) -> None:
        self.env = env
        self.discovery = discover(cwd, env)
        self._standings: dict[str, list[AgentStanding]] = {}

    def find_standings(self, agent: str) -> list[AgentStanding]:
        """The installed entries of an agent with their plan, the project's first and then the user's."""
        if agent not in self._standings:
            targets = [find_target(agent, scope, self.discovery.root, self.env) for scope in SCOPES]
            self._standings[agent] = [find_installed(target, self.discovery) for target in targets]
        return self._standings[agent]

    def find_entries(self, agent: str) -> list[InstalledEntries]:
        """The installed entries of an agent alone."""
        return [standing.installed for standing in self.find_standings(agent)]
