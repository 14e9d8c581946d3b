"""What is known of one agent on this machine, and what is found there, with its evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect
from hookport.convert.checks import CheckedEntry
from hookport.doctor.files import LONGEST_LINE, Source, World, line_of
from hookport.doctor.history import History
from hookport.errors import spell_path
from hookport.findings import Finding, Kind
from hookport.runtime.redaction import clean

Hooks = frozenset[tuple[str, str]]
NOBODY: Hooks = frozenset()
# A line such as `{` or `[[hooks]]` shows nothing of the hook that it starts.
BARE = 12


class Case(NamedTuple):
    """One agent: its version, empty if it does not tell, and the files it reads.

    `is_here`: its program or its folder in the user's home is on this machine. `foreign` are files of other
    agents that it reads too.
    """

    dialect: Dialect
    world: World
    version: str
    is_here: bool
    sources: tuple[Source, ...]
    foreign: tuple[Source, ...]
    history: History

    def hooks(self, scopes: Iterable[str]) -> list[tuple[Source, CheckedEntry]]:
        """The hooks of some scopes that are on."""
        wanted = [source for source in self.sources if source.scope in scopes]
        return [(source, one) for source in wanted for one in source.hooks if one.hook.enabled]

    def commands(self) -> list[tuple[Source, CheckedEntry]]:
        """The hooks that run a command."""
        return [
            (source, one)
            for source, one in self.hooks(("project", "local", "user"))
            if one.hook.handler.command
        ]

    def is_at_least(self, version: str) -> bool | None:
        """Whether the installed version is that one or later; None if that is not known."""
        if not self.version or not numbers(version):
            return None
        return numbers(self.version) >= numbers(version)


class Repair(NamedTuple):
    """What `--fix` may do about a finding.

    `chmod`: make a file executable; `plan`: make the plan of a folder anew; `sync`: write our entries of an
    agent anew, in a scope, with the bridge that the project brings along or without.
    """

    act: str
    target: str
    scope: str = ""
    vendored: bool = False


class Diagnosis(NamedTuple):
    """One finding about one agent, empty for hookport itself; `dead` are the hooks that would not fire."""

    agent: str
    finding: Finding
    evidence: str
    dead: Hooks = NOBODY
    repair: Repair | None = None


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, in order; none if there are several versions or none."""
    found = re.findall(r"\d+(?:\.\d+)+", version)
    return tuple(map(int, found[0].split("."))) if len(found) == 1 else ()


def names(hooks: Iterable[tuple[Source, CheckedEntry]]) -> Hooks:
    """What hooks are told apart by: their file and place."""
    return frozenset(name(source, one) for source, one in hooks)


def name(source: Source, one: CheckedEntry) -> tuple[str, str]:
    return str(source.path), spell_path(one.place.path)


def about(
    case: Case, source: Source, one: CheckedEntry, kind: type[Kind], evidence: str = "", **words: object
) -> Diagnosis:
    """A diagnosis of one hook; an error means that it would not fire. Without evidence, its line is shown."""
    words.setdefault("dialect", case.dialect.title)
    finding = one.note(kind, (), **words)._replace(hook=None)
    dead = frozenset({name(source, one)}) if kind.severity == "error" else NOBODY
    line = line_of(source.document, finding.line)
    command = clean(one.hook.handler.command)[:LONGEST_LINE]
    return Diagnosis(
        case.dialect.id, finding, evidence or (line if len(line) > BARE else command or line), dead
    )


def at_file(
    path: Path, kind: type[Kind], words: Mapping[str, object], where: str = "", spot: tuple[int, int] = (0, 0)
) -> Finding:
    """A finding about a file, at a line and column of it."""
    return kind.at(where, None, **words)._replace(file=str(path), line=spot[0], column=spot[1])
