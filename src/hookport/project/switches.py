"""Which hooks a setting switches off, in any file where their own agent reads such a setting.

An agent's own precedence orders the files of its `gates`: for a scalar the first file with it wins, lists add
up. A file of the project never switches off a hook of the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.agents import Dialect, Tree, get
from hookport.model.hooks import Hook
from hookport.project.agent_trust import expand_place, is_value, read_settings_file, spell_key, value_at
from hookport.project.places import find_own_place, is_same
from hookport.shapes.dialect import Gate


class Switch(NamedTuple):
    """A setting that switches hooks off: its file and key, its scope, and the fix."""

    file: str
    key: str
    scope: Literal["project", "local", "user"]
    what: str
    fix: str

    @property
    def is_users(self) -> bool:
        """Whether it is in a file of the user or the machine, which needs no approval."""
        return self.scope == "user"


class Switches:
    """The settings of one project and its user, each file read once."""

    def __init__(self, root: str, env: Mapping[str, str]) -> None:
        self.root, self.env = root, env
        self._trees: dict[str, Tree] = {}

    def of(self, hook: Hook, file: str, scope: str) -> Switch | None:
        """The setting that switches a hook off, None if it is enabled; `scope` is that of the hook's file."""
        dialect = get(hook.dialect)
        place = find_own_place(dialect, file, self.root, self.env)
        level = place.scope if place else "plugin"
        for gate in (gate for gate in dialect.gates if gate.stops == "hooks" and level in gate.scopes):
            switch = (
                self._find_listing_switch(dialect, gate, hook, scope)
                if gate.lists
                else self._find_off_switch(dialect, gate, scope)
            )
            if switch:
                return switch
        return None

    def files(self, dialect: Dialect) -> Iterator[Path]:
        """The files that may switch off hooks of a dialect, whether they exist or not."""
        for gate in (gate for gate in dialect.gates if gate.stops == "hooks"):
            for name in filter(None, gate.files):
                yield from expand_place(name, dialect, self.root, self.env)

    def _find_off_switch(self, dialect: Dialect, gate: Gate, scope: str) -> Switch | None:
        for switch, value in self._read_values(dialect, gate):
            if not any(is_value(value, off) for off in gate.off):
                return None
            if switch.is_users or scope == "project":
                return switch
        return None

    def _find_listing_switch(self, dialect: Dialect, gate: Gate, hook: Hook, scope: str) -> Switch | None:
        name = hook.name or hook.handler.command
        for switch, value in self._read_values(dialect, gate):
            if isinstance(value, list) and name in value and (switch.is_users or scope == "project"):
                return switch
        return None

    def _read_values(self, dialect: Dialect, gate: Gate) -> Iterator[tuple[Switch, Tree]]:
        """Each file that has the key, with its value, by the agent's precedence."""
        key = spell_key(gate.key)
        for name in filter(None, gate.files):
            for path in expand_place(name, dialect, self.root, self.env):
                value = value_at(self._read_tree(path), gate.key)
                if value is not None:
                    scope = self._find_scope(dialect, gate, name, path)
                    yield Switch(str(path), key, scope, gate.what, gate.fix), value

    def _read_tree(self, path: Path) -> Tree:
        if str(path) not in self._trees:
            document = read_settings_file(path)
            self._trees[str(path)] = document.tree if document else None
        return self._trees[str(path)]

    def _find_scope(
        self, dialect: Dialect, gate: Gate, name: str, path: Path
    ) -> Literal["project", "local", "user"]:
        """The owner of a file; if the project is the user's home, its settings are the user's own."""
        users = [place for place in gate.files if place.startswith(("~", "/"))]
        each = (file for place in users for file in expand_place(place, dialect, self.root, self.env))
        if name in users or any(is_same(str(path), str(file)) for file in each):
            return "user"
        is_local = any(place.path == name and place.scope == "local" for place in dialect.locations)
        return "local" if is_local else "project"
