"""Which agents are detected, and where we write for them, by their dialects' places."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, NamedTuple

from hookport.agents import Dialect, get, list_agents
from hookport.base import folders
from hookport.convert.pipeline import detect_dialect_kind, read
from hookport.errors import InputError
from hookport.project.contents import read_file
from hookport.project.places import resolve_place
from hookport.shapes.dialect import SHADOWS, Location, find_quirk
from hookport.shapes.module import MARK

Scope = Literal["project", "user"]
SCOPES: tuple[Scope, ...] = ("project", "user")
# Shared folders: an agent's own folder is one level below.
SHARED = (".agents", ".agents/plugins", ".github", ".config", "Documents")
# The scopes of a project's or a user's places; `local` files are a project's unshared files.
PLACES: dict[Scope, tuple[str, ...]] = {"project": ("project", "local"), "user": ("user",)}


class DetectedAgent(NamedTuple):
    """A detected agent, and the folder or program by which it was detected."""

    agent: str
    why: str


class Target(NamedTuple):
    """Where one agent reads hooks of one scope."""

    dialect: Dialect
    scope: Scope
    root: str
    env: Mapping[str, str]

    @property
    def agent(self) -> str:
        """The dialect's id."""
        return self.dialect.id

    def path(self, place: str) -> str:
        """A place of the dialect on this machine; empty if the environment names no home for it."""
        if place.startswith("~/") and not folders.find_named_home(self.env):
            return ""
        return resolve_place(self.dialect, place, self.root, self.env)

    def places(self) -> list[Location]:
        """The places of this scope."""
        return [place for place in self.dialect.locations if place.scope in PLACES[self.scope]]

    def find_paths(self, keys: Iterable[str]) -> dict[str, str]:
        """Where the dialect's files go, by its own names for them.

        Of several products, only the detected ones get files, or the first if none is.
        """
        paths = {key: path for key in keys if (path := self._find_path(key))}
        detected_paths = {
            key: path for key, path in paths.items() if Path(_find_own_folder(path, self)).is_dir()
        }
        first = next((_find_own_folder(path, self) for path in paths.values()), "")
        return detected_paths or {
            key: path for key, path in paths.items() if _find_own_folder(path, self) == first
        }

    def read_existing(self, paths: Iterable[str]) -> dict[str, bytes]:
        """The existing files among these, and those that hookport generated beside them, with bytes."""
        listed = dict.fromkeys(paths)
        for folder in map(Path, self._list_event_folders()):
            for file in sorted(folder.iterdir()) if folder.is_dir() else ():
                if file.is_file() and is_generated(str(file)):
                    listed[str(file)] = None
        return {path: data for path in listed if (data := read_file(path)) is not None}

    def list_files(self) -> list[str]:
        """Every existing file of this scope that the agent may read."""
        files: dict[str, None] = {}
        for place in self.places():
            path = self.path(place.path)
            if not path:
                continue
            folder, name = Path(path).parent, Path(path).name
            inside = sorted(folder.iterdir()) if "*" in name and folder.is_dir() else [folder / name]
            names = [str(file) for file in inside if fnmatchcase(file.name, name)]
            files.update(dict.fromkeys(name for name in names if Path(name).is_file()))
        return list(files)

    def is_own(self, path: str) -> bool:
        """Whether a file is at a place of this agent alone, not in a folder that others also read."""
        fixed = {self.path(place.path) for place in self.places() if "*" not in place.path}
        return path in fixed or str(Path(path).parent) in self._list_event_folders()

    def _list_event_folders(self) -> list[str]:
        """The folders of the scope whose files are named after events, if the dialect writes such files."""
        places = self.places() if "*" in self.dialect.locations[0].path else []
        return [str(Path(path).parent) for place in places if (path := self.path(place.path))]

    def _find_path(self, key: str) -> str:
        """Where one file goes: the place of the scope most similar to the dialect's own name for it.

        The only place of a scope need not be similar.
        """
        steps = key.split("/")
        alike = [(_count_alike_steps(steps, place.path.split("/")), place.path) for place in self.places()]
        best = max((length for length, _ in alike), default=0)
        place = (
            next((path for length, path in alike if length == best), "") if best or len(alike) == 1 else ""
        )
        if "*" in place:
            place = f"{place.rpartition('/')[0]}/{steps[-1]}"
        return self._resolve_shadow(self.path(place)) if place else ""

    def _resolve_shadow(self, path: str) -> str:
        """The file that the agent really reads if one hides another."""
        for shadow in find_quirk(self.dialect, SHADOWS):
            hidden, above = self.path(shadow.file), self.path(shadow.by)
            if path == hidden and (Path(above).is_file() if shadow.even_empty else self._has_hooks(above)):
                return above
            if path == above and not Path(above).is_file() and self._has_hooks(hidden):
                return hidden
        return path

    def _has_hooks(self, path: str) -> bool:
        data = read_file(path) if Path(path).is_file() else None
        if data is None or detect_dialect_kind(self.dialect, path) == "text":
            return False
        try:
            return bool(read({path: data}, self.dialect).decoded.manifest.hooks)
        except InputError:
            return False


def is_generated(path: str) -> bool:
    """Whether hookport generated the code in a file."""
    return MARK.encode() in (read_file(path) or b"")[:4096]


def find_target(agent: str, scope: Scope, root: str, env: Mapping[str, str]) -> Target:
    """Where an agent reads hooks of a scope."""
    return Target(get(agent), scope, root, env)


def detect_agents(root: str, env: Mapping[str, str]) -> list[DetectedAgent]:
    """The agents whose configuration folder or program is on this machine."""
    detected: list[DetectedAgent] = []
    for agent in list_agents():
        why = _find_evidence(get(agent), root, env)
        if why:
            detected.append(DetectedAgent(agent, why))
    return detected


def _find_evidence(dialect: Dialect, root: str, env: Mapping[str, str]) -> str:
    for scope in SCOPES:
        target = Target(dialect, scope, root, env)
        for place in target.places():
            path = target.path(place.path)
            folder = _find_own_folder(path, target) if path else ""
            if folder and Path(folder).is_dir():
                return folder
        settings = target.path(dialect.home[0]) if scope == "user" and dialect.home[0] else ""
        if settings and Path(settings).is_dir():
            return settings
    for program in dialect.programs:
        path = shutil.which(program, path=env.get("PATH", "")) or ""
        if path:
            return path
    return ""


def _find_own_folder(path: str, target: Target) -> str:
    """The agent's own folder of a path: the first unshared folder below the root or the home."""
    bases = [target.root] if target.scope == "project" else [target.path("~/.config/"), target.path("~/")]
    for base in filter(None, bases):
        if Path(path).is_relative_to(base):
            own = Path(path).relative_to(base).parts
            length = next((n for n in range(1, len(own)) if "/".join(own[:n]) not in SHARED), len(own))
            return str(Path(base, *own[:length]))
    return str(Path(path).parent)


def _count_alike_steps(steps: list[str], other_steps: list[str]) -> int:
    """How many final steps two paths share, ignoring case; a star matches any name."""
    number = 0
    for mine, theirs in zip(reversed(steps), reversed(other_steps), strict=False):
        if theirs.lower() not in (mine.lower(), "*"):
            break
        number += 1
    return number
