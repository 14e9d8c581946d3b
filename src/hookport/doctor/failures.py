"""Hooks that fail, from the journal: since when, how often, and the cause in words."""

from __future__ import annotations

import calendar
import re
import shlex
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hookport import findings as f
from hookport.convert.checks.scripts import split_first_command
from hookport.doctor.health import Fault, Machine, find_start, split_shebang
from hookport.project.discovery import HookEntry
from hookport.runtime import journal, trust

# A hook that worked before may fail once for any reason.
FEWEST = 3
LONGEST_LINE = 160
LOG = "`hookport log` shows the runs."


class Failing(NamedTuple):
    """The failed runs since the last successful run; `worked`: an earlier run succeeded."""

    since: str
    last: str
    runs: int
    worked: bool
    # How the last run ended, and its stderr.
    why: str
    stderr: str
    outcome: str


class Cause(NamedTuple):
    """The cause of a failed run, and its fix."""

    why: str
    fix: str


# By agent, file and place; without the agent, over all agents.
Failures = Mapping[tuple[str, ...], Failing]


def read_failures(env: Mapping[str, str]) -> Failures:
    """The hooks whose last run failed; none if the journal cannot be read."""
    failures: dict[tuple[str, ...], Failing] = {}
    worked: set[tuple[str, ...]] = set()
    try:
        for record in journal.Reader(env).new():
            for run in _list_runs(record):
                for key in _make_keys(record, run):
                    if not run.get("failure"):
                        failures.pop(key, None)
                        worked.add(key)
                    else:
                        failures[key] = _add_run(failures.get(key), record, run, worked=key in worked)
    except OSError:
        return {}
    return failures


def _list_runs(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    hooks = record.get("hooks")
    for run in hooks if isinstance(hooks, list) else ():
        if isinstance(run, dict) and trust.was_run(run):
            yield run


def _make_keys(record: Mapping[str, Any], run: Mapping[str, Any]) -> list[tuple[str, ...]]:
    source, place = str(run.get("source", "")), str(run.get("place", ""))
    if not source:
        # A wrapped command is identified by itself.
        return [(str(record.get("agent", "")), "", str(run.get("hook", "")))]
    return [(str(record.get("agent", "")), source, place), (source, place)]


def _add_run(
    before: Failing | None, record: Mapping[str, Any], run: Mapping[str, Any], *, worked: bool
) -> Failing:
    when = str(record.get("time", ""))
    ended = (str(run.get("failure", "")), str(run.get("stderr", "")), str(run.get("outcome", "")))
    since, count = (before.since, before.runs + 1) if before else (when, 1)
    return Failing(since, when, count, worked, *ended)


def find_failing(hook: HookEntry, failures: Failures, machine: Machine, agent: str = "") -> Fault | None:
    """The fault of a hook that keeps failing; a hook changed since its last run may work now."""
    keys = ((agent, hook.file, hook.place),) if agent else ((hook.file, hook.place),)
    failing = next((failures[key] for key in keys if key in failures), None)
    if failing is None or (failing.worked and failing.runs < FEWEST) or _is_changed(hook, failing.last):
        return None
    cause = explain(failing, hook, machine)
    count = "1 run" if failing.runs == 1 else f"{failing.runs} runs"
    finding = f.KeepsFailing.at(
        hook.place, since=spell_time(failing.since), count=count, why=cause.why, fix=cause.fix
    )
    return Fault(finding._replace(file=hook.file), _spell_evidence(failing))


def spell_failing(hook: HookEntry, failures: Failures) -> str:
    """Format `failing since 2026-11-18 16:16 (3 runs)` for a known fault; empty if no run failed."""
    failing = failures.get((hook.file, hook.place))
    if failing is None:
        return ""
    count = "1 run" if failing.runs == 1 else f"{failing.runs} runs"
    return f"failing since {spell_time(failing.since)} ({count})"


def _spell_evidence(failing: Failing) -> str:
    line = _find_last_line(failing.stderr)
    return f"{failing.why} ({line})" if line and line not in failing.why else failing.why


def _find_last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:LONGEST_LINE] if lines else ""


def spell_time(moment: str) -> str:
    """Format a time of the journal for people, in UTC."""
    return f"{moment[:16].replace('T', ' ')} UTC" if len(moment) > 16 else moment


def _is_changed(hook: HookEntry, moment: str) -> bool:
    """Whether the hook or its script was written after a time of the journal."""
    try:
        seconds = calendar.timegm(time.strptime(moment[:19], "%Y-%m-%dT%H:%M:%S"))
        return any(Path(path).stat().st_mtime > seconds + 1 for path in (hook.file, *hook.scripts))
    except (OSError, ValueError):
        return False


def explain(failing: Failing, hook: HookEntry, machine: Machine) -> Cause:
    """The cause of a failed run in words."""
    text = failing.stderr
    if failing.outcome == "timeout":
        return Cause(failing.why, "Make it answer faster, or raise its timeout.")
    for pattern, why, fix in CAUSES:
        if match := pattern.search(text):
            name = match[1] if match.groups() else ""
            words = {"name": name, "python": _find_python(hook, machine), "quoted": shlex.quote(name)}
            return Cause(why.format(**words), fix.format(**words))
    line = _find_last_line(text)
    why = f"{failing.why}: {line}" if line and line not in failing.why else failing.why
    return Cause(why, LOG)


# What interpreters write if something is missing, the most informative first.
CAUSES: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'"),
        "Python has no module '{name}'",
        "Run `{python} -m pip install {quoted}`.",
    ),
    (
        re.compile(r"ImportError: (.+)"),
        "Python cannot import a module: {name}",
        "Install it for `{python}`.",
    ),
    (
        re.compile(r"Cannot find (?:module|package) '([^'./][^']*)'"),
        "Node.js has no package '{name}'",
        "Run `npm install {quoted}`.",
    ),
    (
        re.compile(r"Cannot find module '([^']+)'"),
        "Node.js cannot find the file {name}",
        "Create it, or correct the path.",
    ),
    (
        re.compile(r"env: ['\u2018]([^'\u2019]+)['\u2019]: No such file or directory"),
        "'{name}' is not on PATH where the agent starts hooks",
        "Install it, or write its full path.",
    ),
    (
        re.compile(r"([\w./+-]+): (?:command )?not found"),
        "it runs '{name}', which is not on PATH where the agent starts hooks",
        "Install it, or write its full path: `command -v {quoted}` shows it.",
    ),
    (
        re.compile(r"([\w./+-]+): [Pp]ermission denied"),
        "no permission to run or read '{name}'",
        "Run `chmod +x {quoted}`.",
    ),
    (
        re.compile(r"([\w./+-]+): Exec format error"),
        "the system cannot run '{name}': it is for another machine, or lacks a shebang line",
        "Start it with a shebang line, or install the right build.",
    ),
    (
        re.compile(r"([\w./+-]+): No such file or directory"),
        "'{name}' does not exist",
        "Create it, or write its path from the project root.",
    ),
)


def _find_python(hook: HookEntry, machine: Machine) -> str:
    """The Python that runs a hook."""
    start = find_start(hook.hook, [Path(path) for path in hook.scripts])
    words = [start.interpreter] if start.interpreter else split_first_command(start.command)[:1]
    if start.script and not start.interpreter:
        try:
            words = split_shebang(start.script.read_bytes()[:256].partition(b"\n")[0])
        except OSError:
            words = []
    name = words[0] if words else ""
    return name if "python" in name.rpartition("/")[2] and machine.find_program(name) else "python3"
