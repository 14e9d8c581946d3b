"""Entries in agents' files that call hookport: whether it exists and answers in the right dialect."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from hookport.agents import get, get_wire, list_agents, list_dialects
from hookport.convert.checks import CheckedEntry
from hookport.convert.checks.scripts import INTERPRETERS, WRAPPERS
from hookport.doctor.case import AgentCase, Diagnosis, Repair, diagnose_hook
from hookport.doctor.files import HookFile, shorten_path
from hookport.doctor.history import RunTimes, is_late
from hookport.findings import (
    BridgeBroken,
    BridgeForeign,
    BridgeLacks,
    EntrySilent,
    PackageUnseen,
    TimeoutTooShort,
)
from hookport.install import ledger, packages
from hookport.install.shortfalls import find_shortfalls
from hookport.install.sync import decode_our_entries
from hookport.install.targets import Scope, find_target
from hookport.model.runs import Event, RunResult
from hookport.project import ownership, plan_builder
from hookport.runtime import policy, probe
from hookport.runtime.redaction import clean
from hookport.shapes.dialect import list_locations
from hookport.vendor import vendored, writer
from hookport.wire.answers import read_answer
from hookport.wire.events import write_event

# The call itself, after any test for an installed hookport.
CALL = re.compile(
    r"""(?P<program>hookport|bridge\.pyz?)["']? (?P<act>dispatch|wrap) (?P<first>[\w-]+)"""
    r"(?: (?P<second>[\w-]+))?"
)
OPERATOR = re.compile(r"[();<>|&{}]+")
# Longer than any interpreter takes to start.
PROBE_SECONDS = 30
ERROR = re.compile(r"[A-Z]\w*(?:Error|Exception)\b")
PROGRAM, ARCHIVE_NAME = "hookport", "bridge.pyz"
# The shell's own words in such a command.
SYSTEM = re.compile(r"/dev/\w+|/bin/sh|/usr/bin/env")


def is_ours(entry: CheckedEntry) -> bool:
    """Whether an entry calls hookport."""
    return find_call(entry) is not None


def find_call(entry: CheckedEntry) -> re.Match[str] | None:
    """The call of hookport in an entry; a command that only mentions hookport has none."""
    return _search_call(entry.hook.handler.command)


@lru_cache(4096)
def _search_call(command: str) -> re.Match[str] | None:
    call = CALL.search(command)
    words = _split_words(command[: call.end("program")]) if call else []
    start = max((number + 1 for number, word in enumerate(words) if OPERATOR.fullmatch(word)), default=0)
    words = [word for word in words[start:] if word not in WRAPPERS and not re.match(r"\w+=", word)]
    first = words[0].rpartition("/")[2] if words else ""
    is_started = len(words) == 1 or INTERPRETERS.fullmatch(first) is not None
    return call if is_started else None


def find_agent(entry: CheckedEntry) -> str:
    """The agent in whose dialect an entry answers."""
    call = find_call(entry)
    return "" if call is None else (call["first"] if call["act"] == "dispatch" else call["second"] or "")


def find_broken(case: AgentCase) -> Iterator[Diagnosis]:
    """Entries whose interpreter, or whose hookport, is gone."""
    for source, entry in case.commands():
        call = find_call(entry)
        missing = _find_missing(entry, call, case) if call else ""
        if missing:
            yield diagnose_hook(case, source, entry, BridgeBroken, path=missing)._replace(
                repair=_make_repair(case, source, entry)
            )


def find_silent(case: AgentCase) -> Iterator[Diagnosis]:
    """Entries that an event cannot pass to a hook; each program is tried once."""
    if os.name == "nt":
        return
    tried: set[str] = set()
    for source, entry in case.commands():
        command = entry.hook.handler.command
        call = find_call(entry)
        if call is None or call["act"] != "dispatch" or not policy.is_guarded_event(entry.hook.event):
            continue
        start = command[: call.start("act")]
        if start in tried or find_agent(entry) != case.dialect.id or _find_missing(entry, call, case):
            continue
        if not _is_safe(case, source, command):
            continue
        tried.add(start)
        why = _try_entry(command, entry.hook.event, _split_words(command[call.end("first") :])[0], case)
        if why:
            yield diagnose_hook(case, source, entry, EntrySilent, why=why)


def _is_safe(case: AgentCase, source: HookFile, command: str) -> bool:
    """Whether hookport wrote a command, or would; a check never runs other commands of a project."""
    world = case.world
    root, path = str(world.root), str(source.path)
    if vendored.ARCHIVE in command and not vendored.is_approved(root, world.env):
        return False
    scope: Scope = "user" if source.scope == "user" else "project"
    agent_target = find_target(case.dialect.id, scope, root, world.env)
    record = ledger.find_record(path, world.env)
    written = decode_our_entries(agent_target, path, record.written) if record and record.written else []
    (wanted_hooks,) = (
        entries.wanted
        for entries in case.survey.find_entries(case.dialect.id)
        if entries.target.scope == scope
    )
    return command in [hook.handler.command for hook in (*written, *wanted_hooks)]


def _try_entry(command: str, event: str, native: str, case: AgentCase) -> str:
    """Explain why an event through an entry does not return a hook's deny; empty if it does."""
    agent_wire, root = get_wire(case.dialect.id), str(case.world.root)
    word = f"hookport answered {secrets.token_hex(8)}"
    probe_event = Event(event, agent_wire.id, native, session="hookport-doctor", cwd=root, root=root)
    payload = {**write_event(agent_wire, probe_event), probe.KEY: word}
    named = {name: root for name, value in agent_wire.env.items() if value == "$root"}
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=root,
            env={**case.world.env, **named},
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {PROBE_SECONDS} s"
    except OSError as error:
        return f"it cannot be started: {error.strerror or error}"
    result = RunResult("completed", done.returncode, done.stdout, done.stderr)
    answer = read_answer(agent_wire, result, native=native, canonical=event)
    if answer.verdict == "deny" and word in answer.reason:
        return ""
    # Only the end of a traceback is useful.
    errors = [line for line in done.stderr.splitlines() if ERROR.match(line)]
    lines = (answer.reason or answer.failure or done.stderr or done.stdout).strip().splitlines()
    why = next(iter([*errors[-1:], *lines]), "")
    return clean(why) or f"it exited with {done.returncode} and printed nothing"


def _make_repair(case: AgentCase, source: HookFile, entry: CheckedEntry) -> Repair:
    scope = "user" if source.scope == "user" else "project"
    return Repair("sync", case.dialect.id, scope, ARCHIVE_NAME in entry.hook.handler.command)


def _find_missing(entry: CheckedEntry, call: re.Match[str], case: AgentCase) -> str:
    before = entry.hook.handler.command[: call.end("program")]
    paths = [
        word
        for word in _split_words(before)
        if word.startswith(("/", "$", "~")) or re.match(r"\w:[\\/]", word)
    ]
    for word in paths:
        path = _resolve_path(word, entry, case)
        if path is not None and not SYSTEM.fullmatch(word) and not path.exists():
            return str(path)
    if paths or call["program"] != PROGRAM:
        return ""
    return "" if shutil.which(PROGRAM, path=case.world.env.get("PATH", "")) else f"the name '{PROGRAM}'"


def _split_words(text: str) -> list[str]:
    """The words of a command's beginning, which may end inside quotes."""
    for end in ("", '"', "'"):
        lexer = shlex.shlex(text + end, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        lexer.commenters = ""
        try:
            return list(lexer)
        except ValueError:
            continue
    return []


def _resolve_path(word: str, entry: CheckedEntry, case: AgentCase) -> Path | None:
    """The file that a word names; None if only the shell can expand it."""
    for spelling in sorted(entry.dialect.project_dir, key=len, reverse=True):
        if word.startswith(f"{spelling}/"):
            return case.world.root / word.removeprefix(f"{spelling}/")
    if word.startswith("~/") and case.world.home:
        return case.world.home / word.removeprefix("~/")
    return None if re.search(r"[$`*~]", word) else Path(word)


def find_foreign(case: AgentCase) -> Iterator[Diagnosis]:
    """Entries that answer in the dialect of another agent, which does not read their file."""
    for source, entry in case.commands():
        agent = find_agent(entry)
        if agent and agent != case.dialect.id and not _is_read_by(agent, source):
            diagnosis = diagnose_hook(
                case, source, entry, BridgeForeign, other=agent, dialect=case.dialect.id
            )
            yield diagnosis._replace(repair=_make_repair(case, source, entry))


def _is_read_by(agent: str, source: HookFile) -> bool:
    """Whether an agent itself reads a file."""
    if agent not in list_agents():
        return False
    rows = list_locations(get(agent), "own", "also read")
    return any(fnmatch.fnmatchcase(str(source.path), f"*/{row.path.removeprefix('~/')}") for row in rows)


def find_unknown_dialects(case: AgentCase) -> Iterator[Diagnosis]:
    """Entries with a dialect that the called hookport does not know, or whose package it does not see."""
    for source, entry in case.commands():
        call = find_call(entry)
        if call is None:
            continue
        if call["program"] == ARCHIVE_NAME:
            for name in writer.find_lacking(str(case.world.root), entry.hook.handler.command):
                words = {"bridge": writer.BRIDGE, "dialect": name, "option": " --vendor"}
                yield diagnose_hook(case, source, entry, BridgeLacks, **words)._replace(
                    repair=_make_repair(case, source, entry)
                )
            continue
        for name in (call["first"], call["second"])[: 1 if call["act"] == "dispatch" else 2]:
            if name not in list_dialects():
                yield diagnose_hook(
                    case, source, entry, BridgeLacks, bridge="hookport", dialect=name, option=""
                )
            elif folder := packages.find_unseen_folder(name):
                yield diagnose_hook(case, source, entry, PackageUnseen, dialect=name, folder=folder)


def find_late(case: AgentCase) -> Iterator[Diagnosis]:
    """Entries whose timeout is shorter than their last runs."""
    for source, entry in case.commands():
        call = find_call(entry)
        if call is None:
            continue
        spec = entry.dialect.handlers.get(entry.hook.handler.type)
        limit = entry.hook.handler.timeout or (spec.timeout.default if spec else None)
        runs = _find_runs(entry, call, case)
        if runs is not None and limit is not None and is_late(runs, limit.total_seconds()):
            yield diagnose_hook(
                case,
                source,
                entry,
                TimeoutTooShort,
                spell_last_runs(runs),
                **describe_runs(runs, limit.total_seconds()),
            )


def find_lossy(case: AgentCase) -> Iterator[Diagnosis]:
    """Hooks that lose something in the agent although hookport runs them there."""
    if not any(ownership.is_ours(entry.hook.handler.command) for _, entry in case.commands()):
        return
    world = case.world
    runs = plan_builder.list_runnable(case.survey.discovery)
    for finding in find_shortfalls(find_target(case.dialect.id, "project", str(world.root), world.env), runs):
        yield Diagnosis(case.dialect.id, finding, shorten_path(finding.file, world))


def _find_runs(entry: CheckedEntry, call: re.Match[str], case: AgentCase) -> RunTimes | None:
    command = entry.hook.handler.command
    if call["act"] == "dispatch":
        native = command[call.end("first") :].split()
        return case.history.by_event.get((case.dialect.id, native[0])) if native else None
    inner = _split_words(command.partition(" -- ")[2])
    return case.history.by_command.get((case.dialect.id, inner[0])) if len(inner) == 1 else None


def describe_runs(runs: RunTimes, limit_seconds: float) -> dict[str, object]:
    """The values for a finding about slow runs."""
    cut = sum(runs.cut)
    return {
        "limit": f"{limit_seconds:g} s",
        "count": len(runs.seconds),
        "taken": f"{runs.find_slow_seconds():.2f} s",
        "cut": f"; {cut} {'was' if cut == 1 else 'were'} cut off" if cut else "",
    }


def spell_last_runs(runs: RunTimes) -> str:
    """The last runs, newest first."""
    last = [f"{seconds:.2f} s" for seconds in list(runs.seconds)[:-6:-1]]
    return f"the last runs took {', '.join(last)}"
