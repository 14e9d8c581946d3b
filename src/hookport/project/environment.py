"""Files of a project that set the environment: none of them may redirect hookport's approvals."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from hookport.agents import get_wire, list_agents
from hookport.errors import InputError
from hookport.findings import EnvironmentSteered, Finding
from hookport.project.disk import read_data
from hookport.project.places import list_sites

# Read by shells, by direnv and by agents; an agent's own folder may have one too.
ENV_FILES = (".env", ".env.local", ".envrc")
OURS = "HOOKPORT_"
# These matter where they lead into the project.
FOLDERS = ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
# If an agent sets one of these for its hooks, nothing is approved, whatever its value.
HOMES = ("HOME", "XDG_STATE_HOME")


def find_steering(root: str) -> list[Finding]:
    """A finding for every line and setting that redirects hookport."""
    files = dict.fromkeys(path for path in _list_env_files(Path(root)))
    findings = [
        _note_steering(file, name, line)
        for file in files
        for name, value, line in _read_assignments(file)
        if _steers(name, value, root)
    ]
    for file in _list_settings_files(Path(root)):
        for where, variables in _find_env_maps(file):
            findings += [
                _note_steering(file, name, 0, f"{where}.{name}")
                for name, value in variables.items()
                if _steers(name, str(value), root, is_agents=True)
            ]
    return findings


def _note_steering(file: Path, name: str, line: int, where: str = "") -> Finding:
    return EnvironmentSteered.at(where, name=name)._replace(
        file=str(file), line=line, column=1 if line else 0
    )


def _list_agent_folders(root: Path) -> Iterator[Path]:
    """The folders of agents in the project: `.gemini`, `.claude`."""
    for site in list_sites():
        first = site.path.split("/")[0]
        if site.scope == "project" and first.startswith(".") and first != ".":
            yield root / first


def _list_env_files(root: Path) -> Iterator[Path]:
    for folder in dict.fromkeys((root, *_list_agent_folders(root))):
        for name in ENV_FILES:
            if (folder / name).is_file():
                yield folder / name


def _list_settings_files(root: Path) -> Iterator[Path]:
    for folder in dict.fromkeys(_list_agent_folders(root)):
        if folder.is_dir():
            yield from sorted(folder.glob("*.json"))


def _read_assignments(file: Path) -> Iterator[tuple[str, str, int]]:
    """(name, value, line) of every assignment of a shell."""
    for number, text in enumerate(_read_text(file).splitlines(), 1):
        for word in text.strip().removeprefix("export ").split(";"):
            name, equals, value = word.strip().removeprefix("export ").partition("=")
            if equals:
                yield name.strip(), value.strip().strip("\"'"), number


def _find_env_maps(file: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Every map called `env` in a file of settings, and where it is."""
    try:
        tree = json.loads(_read_text(file))
    except (ValueError, RecursionError):
        return
    todo: list[tuple[str, object]] = [("", tree)]
    while todo:
        where, value = todo.pop()
        if isinstance(value, dict):
            for name, below in value.items():
                place = f"{where}.{name}".lstrip(".")
                if name == "env" and isinstance(below, dict):
                    yield place, below
                todo.append((place, below))
        elif isinstance(value, list):
            todo += [(f"{where}[{number}]", below) for number, below in enumerate(value)]


@cache
def _list_root_variables() -> frozenset[str]:
    """The variables by which agents name the project root; an entry leaves the call to that agent."""
    return frozenset(
        name for agent in list_agents() for name, value in get_wire(agent).env.items() if value == "$root"
    )


def _steers(name: str, value: str, root: str, *, is_agents: bool = False) -> bool:
    if name.startswith(OURS) or name in _list_root_variables() or (is_agents and name in HOMES):
        return True
    if name not in FOLDERS:
        return False
    expanded = value.replace("${PWD}", root).replace("$PWD", root)
    path = os.path.realpath(Path(root, expanded))
    return f"{path}/".startswith(f"{os.path.realpath(root)}/") and not expanded.startswith(("~", "$"))


def _read_text(file: Path) -> str:
    """The text of a file; empty if it is missing or not a plain file."""
    try:
        return (read_data(file) or b"").decode("utf-8-sig", "replace")
    except InputError:
        return ""
