"""Adoption of the user's own commands that an agent reads in another agent's file: they run once there.

`sync --adopt` puts a test before each command (see `shapes.adoption`), as a splice: the rest of the file is
left untouched. Removing the tests restores the file.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect, get, get_wire, list_agents
from hookport.convert import pipeline
from hookport.convert.degrade.wrapping import BridgeCall
from hookport.documents import Document
from hookport.errors import InputError
from hookport.install import entries
from hookport.install.targets import Target
from hookport.model.hooks import Hook
from hookport.project.contents import read_file
from hookport.project.discovery import HookEntry
from hookport.project.ownership import is_ours
from hookport.project.places import find_own_place, resolve_place
from hookport.project.plan_builder import plan_entry
from hookport.runtime import covering
from hookport.shapes.adoption import read_clauses, set_clauses, strip_clauses, write_clause
from hookport.shapes.dialect import iter_fields, list_locations
from hookport.vendor import vendored

# The handler's field for the shell that reads the command.
SHELL, POSIX = "shell", ("bash", "sh")
NO_SHELL = "it is not a POSIX shell command"
WINDOWS = "on Windows the shell is unknown"
# The texts of tests, by the command that they precede, and by agent.
Tests = Mapping[str, Mapping[str, str]]


class CommandSpot(NamedTuple):
    """One hook of a file: the path of its command in the tree, and the tests before it."""

    hook: Hook
    path: tuple[str | int, ...]
    tests: dict[str, str]
    why_not: str = ""


def find_obstacle(target: Target, hook: HookEntry) -> str:
    """Explain why a hook that an agent reads in another's file cannot be adopted; empty if it can."""
    if sys.platform == "win32":
        return WINDOWS
    if not find_mark(target.agent, hook.hook.dialect):
        return f"no variable shows that {target.dialect.title} runs its command"
    spot = next(
        (
            candidate
            for candidate in find_spots(hook.file, get(hook.hook.dialect))
            if candidate.hook == hook.hook
        ),
        None,
    )
    return NO_SHELL if spot is None else spot.why_not


def is_adopted(target: Target, hook: HookEntry) -> bool:
    """Whether the test for an agent precedes a hook's command."""
    spots = find_spots(hook.file, get(hook.hook.dialect))
    return any(target.agent in spot.tests for spot in spots if spot.hook == hook.hook)


def find_mark(agent: str, owner: str) -> str:
    """The variable with the project root that an agent sets and the file's own agent does not."""
    return entries.find_mark(get_wire(agent).env, get_wire(owner).env)


def make_tests(
    target: Target, hooks: Iterable[HookEntry], start: BridgeCall, entry_file: str
) -> dict[str, dict[str, str]]:
    """The tests that let our entry run a hook in an agent, by file and command, for adoptable hooks."""
    named = Path(entry_file)
    inside = target.scope == "project" and named.is_relative_to(target.root)
    file = shlex.quote(str(named.relative_to(target.root) if inside else named))
    tests: dict[str, dict[str, str]] = {}
    for hook in hooks:
        # A project's entry is not loaded everywhere that a user's file is.
        is_wider = (target.scope, hook.scope) == ("project", "user")
        if is_wider or not reads_file(target, hook) or find_obstacle(target, hook):
            continue
        variable = find_mark(target.agent, hook.hook.dialect)
        digest = covering.hash_command(plan_entry(hook).command)
        text = write_clause(target.agent, variable, _spell_call(start, variable), file, digest)
        if read_clauses(text):
            tests.setdefault(hook.file, {})[hook.hook.handler.command] = text
    return tests


def _spell_call(start: BridgeCall, variable: str) -> str:
    """How the test starts the bridge; a project's bridge is below the root that the variable names."""
    head, _, tail = start.call.rpartition(" ")
    if tail.startswith(("'", "/")) or "bridge.pyz" not in tail:
        return start.call
    return f'{head} "${{{variable}-}}"/{vendored.ARCHIVE}'


def reads_file(target: Target, hook: HookEntry) -> bool:
    """Whether an agent reads, or may read, a hook's file besides its own files."""
    if find_own_place(target.dialect, hook.file, target.root, target.env):
        return False
    return hook.file in _list_files_read_besides(target.dialect, target.root, target.env)


def _list_files_read_besides(dialect: Dialect, root: str, env: Mapping[str, str]) -> list[str]:
    places = list_locations(dialect, "also read", "maybe read")
    return [path for place in places if (path := resolve_place(dialect, place.path, root, env))]


def list_foreign_files(root: str, env: Mapping[str, str]) -> list[str]:
    """The files that belong to one agent and are read by others."""
    paths = (path for name in list_agents() for path in _list_files_read_besides(get(name), root, env))
    return [path for path in dict.fromkeys(paths) if Path(path).is_file()]


def find_spots(path: str, dialect: Dialect, data: bytes | None = None) -> list[CommandSpot]:
    """The user's own hooks in a file; none if it cannot be read."""
    data = read_file(path) if data is None else data
    try:
        reading = pipeline.read({path: data}, dialect) if data is not None else None
    except InputError:
        reading = None
    if reading is None:
        return []
    document = reading.documents[path]
    spots = []
    for hook, place in zip(reading.decoded.manifest.hooks, reading.decoded.places, strict=True):
        if not is_ours(hook.handler.command):
            spots.append(_make_spot(hook, place.path, document, dialect))
    return spots


def _make_spot(hook: Hook, path: tuple[str | int, ...], document: Document, dialect: Dialect) -> CommandSpot:
    node = document.tree
    for step in path:
        node = node[step]
    key = next(
        (key for key, field in iter_fields(dialect.handlers["command"]) if field.attr == "command"), ""
    )
    text = node.get(key) if isinstance(node, dict) else None
    is_line = hook.handler.type == "command" and "args" not in node and node.get(SHELL, POSIX[0]) in POSIX
    if not isinstance(text, str) or not is_line or document.kind not in ("json", "jsonc"):
        return CommandSpot(hook, (*path, key), {}, NO_SHELL)
    return CommandSpot(hook, (*path, key), read_clauses(text))


def read_tests(path: str, owner: Dialect) -> Tests:
    """The tests now in a file."""
    return {spot.hook.handler.command: dict(spot.tests) for spot in find_spots(path, owner) if spot.tests}


def find_owner(path: str, root: str, env: Mapping[str, str]) -> Dialect | None:
    """The agent that owns the file."""
    for dialect in map(get, list_agents()):
        if any(path == resolve_place(dialect, place.path, root, env) for place in dialect.locations):
            return dialect
    return None


def rewrite_tests(path: str, data: bytes, dialect: Dialect, tests: Tests) -> bytes:
    """The file with exactly these tests before its commands."""
    for spot in find_spots(path, dialect, data):
        wanted_tests = dict(tests.get(spot.hook.handler.command, {})) if not spot.why_not else {}
        if wanted_tests != spot.tests:
            data = _splice_tests(path, data, dialect, spot, wanted_tests)
    return data


def _splice_tests(
    path: str, data: bytes, dialect: Dialect, spot: CommandSpot, wanted_tests: Mapping[str, str]
) -> bytes:
    """The file with the start of one command replaced in its text."""
    document = pipeline.parse({path: data}, dialect)[path]
    old, new = (_escape_text(set_clauses("", tests)) for tests in (spot.tests, wanted_tests))
    text = data.decode("utf-8-sig")
    line, column = document.position(spot.path)
    ends = [end.end() for end in re.finditer(r"\r\n|\r|\n", text)]
    at = [0, *ends][line - 1] + column
    if text[at - 1] == '"' and text.startswith(old, at):
        spliced = text[:at] + new + text[at + len(old) :]
        after = data[: len(data) - len(text.encode())] + spliced.encode()
        if [
            candidate.tests for candidate in find_spots(path, dialect, after) if candidate.path == spot.path
        ] == [dict(wanted_tests)]:
            return after
    tree = document.tree
    node = tree
    for step in spot.path[:-1]:
        node = node[step]
    node[spot.path[-1]] = set_clauses(strip_clauses(node[spot.path[-1]]), wanted_tests)
    return document.rewrite(tree)


def _escape_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
