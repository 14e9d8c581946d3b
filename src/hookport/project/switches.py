"""Which hooks a setting switches off, wherever the agent that they are written for reads such a setting.

The files of an agent's `gates` are read by its own precedence: of a scalar the first file that has it counts,
lists add up. A file of the project never switches off a hook of the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.agents import Dialect, Tree, get
from hookport.agents._base import Gate
from hookport.model.hooks import Hook
from hookport.project.agent_trust import at, files_at, is_value, settings, spell_key
from hookport.project.places import is_same, own_place


class Switch(NamedTuple):
    """A setting that switches hooks off: where it stands, whose file that is, and the way out."""

    file: str
    key: str
    scope: Literal["project", "local", "user"]
    what: str
    fix: str

    @property
    def is_users(self) -> bool:
        """Whether it stands in a file of the user or the machine, which needs nobody's approval."""
        return self.scope == "user"


class Switches:
    """The settings of one project and its user, each file read once."""

    def __init__(self, root: str, env: Mapping[str, str]) -> None:
        self.root, self.env = root, env
        self._trees: dict[str, Tree] = {}

    def of(self, hook: Hook, file: str, scope: str) -> Switch | None:
        """What switches a hook off that stands in a file of the project or of the user."""
        dialect = get(hook.dialect)
        place = own_place(dialect, file, self.root, self.env)
        level = place.scope if place else "plugin"
        for gate in (gate for gate in dialect.gates if gate.stops == "hooks" and level in gate.scopes):
            found = (
                self._listed(dialect, gate, hook, scope) if gate.lists else self._off(dialect, gate, scope)
            )
            if found:
                return found
        return None

    def files(self, dialect: Dialect) -> Iterator[Path]:
        """The files that may switch hooks of a dialect off, be they there or not."""
        for gate in (gate for gate in dialect.gates if gate.stops == "hooks"):
            for name in filter(None, gate.files):
                yield from files_at(name, dialect, self.root, self.env)

    def _off(self, dialect: Dialect, gate: Gate, scope: str) -> Switch | None:
        for switch, value in self._values(dialect, gate):
            if not any(is_value(value, off) for off in gate.off):
                return None
            if switch.is_users or scope == "project":
                return switch
        return None

    def _listed(self, dialect: Dialect, gate: Gate, hook: Hook, scope: str) -> Switch | None:
        name = hook.name or hook.handler.command
        for switch, value in self._values(dialect, gate):
            if isinstance(value, list) and name in value and (switch.is_users or scope == "project"):
                return switch
        return None

    def _values(self, dialect: Dialect, gate: Gate) -> Iterator[tuple[Switch, Tree]]:
        """Each file that has the key, with its value, by the agent's precedence."""
        key = spell_key(gate.key)
        for name in filter(None, gate.files):
            for path in files_at(name, dialect, self.root, self.env):
                value = at(self._tree(path), gate.key)
                if value is not None:
                    scope = self._scope(dialect, gate, name, path)
                    yield Switch(str(path), key, scope, gate.what, gate.fix), value

    def _tree(self, path: Path) -> Tree:
        if str(path) not in self._trees:
            document = settings(path)
            self._trees[str(path)] = document.tree if document else None
        return self._trees[str(path)]

    def _scope(
        self, dialect: Dialect, gate: Gate, name: str, path: Path
    ) -> Literal["project", "local", "user"]:
        """Whose a file is; where the project is the user's home, its settings are the user's own."""
        users = [one for one in gate.files if one.startswith(("~", "/"))]
        each = (file for one in users for file in files_at(one, dialect, self.root, self.env))
        if name in users or any(is_same(str(path), str(file)) for file in each):
            return "user"
        is_local = any(place.path == name and place.scope == "local" for place in dialect.locations)
        return "local" if is_local else "project"
