"""Entries in agents' files that call hookport: is what they call there, and in whose words does it answer."""

from __future__ import annotations

import fnmatch
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from hookport import planning
from hookport.checks import Seen
from hookport.checks.scripts import INTERPRETERS, WRAPPERS
from hookport.dialects import agents, get
from hookport.findings import BridgeBroken, BridgeForeign, TimeoutTooShort
from hookport.install.doctor.case import Case, Diagnosis, Repair, about
from hookport.install.doctor.files import Source, shown
from hookport.install.doctor.history import Runs, is_late
from hookport.install.shortfalls import shortfalls
from hookport.install.targets import target
from hookport.project.discovery import discover

# The call itself, after whatever looks first whether hookport is there.
CALL = re.compile(
    r"""(?P<program>hookport|bridge\.pyz?)["']? (?P<act>dispatch|wrap) (?P<first>[\w-]+)"""
    r"(?: (?P<second>[\w-]+))?"
)
OPERATOR = re.compile(r"[();<>|&{}]+")
PROGRAM = "hookport"
# What a shell has of its own in such a command.
SYSTEM = re.compile(r"/dev/\w+|/bin/sh|/usr/bin/env")


def is_ours(one: Seen) -> bool:
    """Whether an entry calls hookport."""
    return call_of(one) is not None


def call_of(one: Seen) -> re.Match[str] | None:
    """The call of hookport in an entry; a command that only speaks of one has none."""
    call = CALL.search(one.hook.handler.command)
    words = _words(one.hook.handler.command[: call.end("program")]) if call else []
    start = max((number + 1 for number, word in enumerate(words) if OPERATOR.fullmatch(word)), default=0)
    words = [word for word in words[start:] if word not in WRAPPERS and not re.match(r"\w+=", word)]
    first = words[0].rpartition("/")[2] if words else ""
    is_started = len(words) == 1 or INTERPRETERS.fullmatch(first) is not None
    return call if is_started else None


def agent_of(one: Seen) -> str:
    """The agent in whose words an entry answers."""
    call = call_of(one)
    return "" if call is None else (call["first"] if call["act"] == "dispatch" else call["second"] or "")


def broken(case: Case) -> Iterator[Diagnosis]:
    """Entries whose interpreter, or whose hookport, is gone."""
    for source, one in case.commands():
        call = call_of(one)
        missing = _missing(one, call, case) if call else ""
        if missing:
            yield about(case, source, one, BridgeBroken, path=missing)._replace(
                repair=_anew(case, source, one)
            )


def _anew(case: Case, source: Source, one: Seen) -> Repair:
    scope = "user" if source.scope == "user" else "project"
    return Repair("sync", case.dialect.id, scope, "bridge.pyz" in one.hook.handler.command)


def _missing(one: Seen, call: re.Match[str], case: Case) -> str:
    before = one.hook.handler.command[: call.end("program")]
    paths = [
        word for word in _words(before) if word.startswith(("/", "$", "~")) or re.match(r"\w:[\\/]", word)
    ]
    for word in paths:
        path = _path(word, one, case)
        if path is not None and not SYSTEM.fullmatch(word) and not path.exists():
            return str(path)
    if paths or call["program"] != PROGRAM:
        return ""
    return "" if shutil.which(PROGRAM, path=case.world.env.get("PATH", "")) else f"the name '{PROGRAM}'"


def _words(text: str) -> list[str]:
    """The words of the beginning of a command, which may end inside quotes."""
    for end in ("", '"', "'"):
        lexer = shlex.shlex(text + end, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        lexer.commenters = ""
        try:
            return list(lexer)
        except ValueError:
            continue
    return []


def _path(word: str, one: Seen, case: Case) -> Path | None:
    """The file that a word names; None where only the shell knows."""
    for spelling in sorted(one.dialect.project_dir, key=len, reverse=True):
        if word.startswith(f"{spelling}/"):
            return case.world.root / word.removeprefix(f"{spelling}/")
    if word.startswith("~/") and case.world.home:
        return case.world.home / word.removeprefix("~/")
    return None if re.search(r"[$`*~]", word) else Path(word)


def foreign(case: Case) -> Iterator[Diagnosis]:
    """Entries that answer in the words of another agent, which does not read their file."""
    for source, one in case.commands():
        other = agent_of(one)
        if other and other != case.dialect.id and not _reads(other, source):
            diagnosis = about(case, source, one, BridgeForeign, other=other, dialect=case.dialect.id)
            yield diagnosis._replace(repair=_anew(case, source, one))


def _reads(agent: str, source: Source) -> bool:
    """Whether an agent reads a file by itself."""
    if agent not in agents():
        return False
    rows = (*get(agent).locations, *get(agent).also_reads)
    return any(fnmatch.fnmatchcase(str(source.path), f"*/{row.path.removeprefix('~/')}") for row in rows)


def late(case: Case) -> Iterator[Diagnosis]:
    """Entries whose time is shorter than their last runs took."""
    for source, one in case.commands():
        call = call_of(one)
        if call is None:
            continue
        spec = one.dialect.handlers.get(one.hook.handler.type)
        limit = one.hook.handler.timeout or (spec.timeout.default if spec else None)
        runs = _runs(one, call, case)
        if runs is not None and limit is not None and is_late(runs, limit.total_seconds()):
            yield about(
                case, source, one, TimeoutTooShort, evidence_of(runs), **words_of(runs, limit.total_seconds())
            )


def short(case: Case) -> Iterator[Diagnosis]:
    """Hooks that lose something in the agent although hookport runs them there."""
    if not any(planning.is_ours(one.hook.handler.command) for _, one in case.commands()):
        return
    world = case.world
    runs = planning.runnable(discover(str(world.cwd), world.env))
    for finding in shortfalls(target(case.dialect.id, "project", str(world.root), world.env), runs):
        yield Diagnosis(case.dialect.id, finding, shown(finding.file, world))


def _runs(one: Seen, call: re.Match[str], case: Case) -> Runs | None:
    command = one.hook.handler.command
    if call["act"] == "dispatch":
        native = command[call.end("first") :].split()
        return case.history.by_event.get((case.dialect.id, native[0])) if native else None
    inner = _words(command.partition(" -- ")[2])
    return case.history.by_command.get((case.dialect.id, inner[0])) if len(inner) == 1 else None


def words_of(runs: Runs, limit_seconds: float) -> dict[str, object]:
    """What is said of runs that take too long."""
    cut = sum(runs.cut)
    return {
        "limit": f"{limit_seconds:g} s",
        "count": len(runs.seconds),
        "taken": f"{runs.slow():.2f} s",
        "cut": f"; {cut} {'was' if cut == 1 else 'were'} cut off" if cut else "",
    }


def evidence_of(runs: Runs) -> str:
    """The last runs, newest first."""
    last = [f"{seconds:.2f} s" for seconds in list(runs.seconds)[:-6:-1]]
    return f"the last runs took {', '.join(last)}"
