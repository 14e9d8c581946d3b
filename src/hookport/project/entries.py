"""The script of a hook's folder: found by name, started directly or through its interpreter."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import NamedTuple

from hookport.findings import (
    EntryCannotStart,
    EntryMissing,
    EntryNotExecutable,
    Finding,
    SeveralEntries,
)
from hookport.project.disk import Log, list_names, read_start

# The guide of the HOOK.md format ranks these extensions; all others follow, by name.
RANKED = ("", ".sh", ".py")
INTERPRETERS = {
    ".sh": "sh",
    ".bash": "bash",
    ".py": "python3",
    ".js": "node",
    ".mjs": "node",
    ".cjs": "node",
}


class EntryScript(NamedTuple):
    """A script and the words that start it if it does not start directly."""

    path: Path
    is_executable: bool
    interpreter: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        return shlex.join((*self.interpreter, str(self.path)))


def find_entry_script(
    folder: Path, stem: str, name: str, log: Log
) -> tuple[EntryScript | None, list[Finding]]:
    """The script that runs for the hook of that name, and its problem.

    A script that can start precedes one that cannot; among several the format's ranking decides.
    """
    log.watch(folder)
    endings = {file: file.removeprefix(stem) for file in list_names(folder, log) if file.startswith(stem)}
    entries = [
        _examine_script(folder / file)
        for file, ending in sorted(endings.items(), key=lambda item: _rank_ending(item[1]))
        if ending[:1] in ("", ".") and (folder / file).is_file()
    ]
    if not entries:
        return None, [EntryMissing.at("", name=name, folder=folder)]
    for entry in entries:
        if not entry.is_executable:
            log.watch(entry.path)
    able = [entry for entry in entries if entry.is_executable or entry.interpreter]
    chosen = (able or entries)[0]
    findings: list[Finding] = []
    if len(able or entries) > 1:
        scripts = ", ".join(entry.path.name for entry in able or entries)
        findings.append(SeveralEntries.at("", scripts=scripts, chosen=chosen.path.name))
    if not able:
        findings.append(EntryCannotStart.at("", script=chosen.path))
    elif not chosen.is_executable:
        words = " ".join(chosen.interpreter)
        findings.append(EntryNotExecutable.at("", script=chosen.path, interpreter=words))
    return chosen, findings


def _rank_ending(ending: str) -> tuple[int, str]:
    return RANKED.index(ending) if ending in RANKED else len(RANKED), ending


def _examine_script(path: Path) -> EntryScript:
    if os.access(path, os.X_OK):
        return EntryScript(path, is_executable=True)
    try:
        first = read_start(path, 256).partition(b"\n")[0]
    except OSError:
        first = b""
    words = first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") else []
    if not words and path.suffix in INTERPRETERS:
        words = [INTERPRETERS[path.suffix]]
    return EntryScript(path, is_executable=False, interpreter=tuple(words))
