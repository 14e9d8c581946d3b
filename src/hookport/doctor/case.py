"""One agent on this machine, and the findings about it with their evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect
from hookport.convert.checks import CheckedEntry
from hookport.doctor.files import LONGEST_LINE, HookFile, World, spell_line
from hookport.doctor.history import History
from hookport.errors import spell_path
from hookport.findings import Finding, Kind
from hookport.install.survey import Survey
from hookport.runtime.redaction import clean

Hooks = frozenset[tuple[str, str]]
NOBODY: Hooks = frozenset()
# A line such as `{` or `[[hooks]]` shows nothing of the hook that it starts.
BARE = 12


class AgentCase(NamedTuple):
    """One agent: its version (empty if unknown) and the files it reads.

    `is_here`: its program, or its folder in the user's home, is on this machine. `foreign` are other agents'
    files that it also reads.
    """

    dialect: Dialect
    world: World
    survey: Survey
    version: str
    is_here: bool
    sources: tuple[HookFile, ...]
    foreign: tuple[HookFile, ...]
    history: History

    def hooks(self, scopes: Iterable[str]) -> list[tuple[HookFile, CheckedEntry]]:
        """The enabled hooks of some scopes."""
        sources = [source for source in self.sources if source.scope in scopes]
        return [(source, hook) for source in sources for hook in source.hooks if hook.hook.enabled]

    def commands(self) -> list[tuple[HookFile, CheckedEntry]]:
        """The hooks that run a command."""
        return [
            (source, hook)
            for source, hook in self.hooks(("project", "local", "user"))
            if hook.hook.handler.command
        ]

    def is_at_least(self, version: str) -> bool | None:
        """Whether the installed version is that one or later; None if unknown."""
        if not self.version or not parse_version(version):
            return None
        return parse_version(self.version) >= parse_version(version)


class Repair(NamedTuple):
    """The repair that `--fix` may make for a finding.

    `chmod`: make a file executable; `plan`: rebuild the plan of a folder; `sync`: rewrite our entries of an
    agent in a scope, with the project's own bridge or without.
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


def parse_version(version: str) -> tuple[int, ...]:
    """The numbers of a version, in order; none if there are several versions or none."""
    versions = re.findall(r"\d+(?:\.\d+)+", version)
    return tuple(map(int, versions[0].split("."))) if len(versions) == 1 else ()


def identify_hooks(hooks: Iterable[tuple[HookFile, CheckedEntry]]) -> Hooks:
    """The identity of each hook: its file and place."""
    return frozenset(identify_hook(source, hook) for source, hook in hooks)


def identify_hook(source: HookFile, hook: CheckedEntry) -> tuple[str, str]:
    return str(source.path), spell_path(hook.place.path)


def diagnose_hook(
    case: AgentCase,
    source: HookFile,
    hook: CheckedEntry,
    kind: type[Kind],
    evidence: str = "",
    **words: object,
) -> Diagnosis:
    """A diagnosis of one hook; an error means that it would not fire. Without evidence, its line is shown."""
    words.setdefault("dialect", case.dialect.title)
    finding = hook.note(kind, (), **words)._replace(hook=None)
    dead = frozenset({identify_hook(source, hook)}) if kind.severity == "error" else NOBODY
    line = spell_line(source.document, finding.line)
    command = clean(hook.hook.handler.command)[:LONGEST_LINE]
    return Diagnosis(
        case.dialect.id, finding, evidence or (line if len(line) > BARE else command or line), dead
    )


def make_file_finding(
    path: Path, kind: type[Kind], words: Mapping[str, object], where: str = "", spot: tuple[int, int] = (0, 0)
) -> Finding:
    """A finding about a file, at a line and column of it."""
    return kind.at(where, None, **words)._replace(file=str(path), line=spot[0], column=spot[1])
