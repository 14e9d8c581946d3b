"""The journal's events for people, one line each, newest last; see `hookport log`."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hookport.base.paths import spell_path
from hookport.console.entries import (
    Record,
    RecordPrinter,
    find_project,
    is_named,
    list_hooks,
    name_project,
    read_time,
    read_verdict,
)
from hookport.console.terminal import Paint
from hookport.errors import InputError, Problem, UsageError
from hookport.runtime import journal

SHOWN = 50
POLL_SECONDS = 0.2
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
DECISIONS = ("deny", "ask", "allow", "none")
MOST_PROJECTS = 5


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport log`."""
    parser.add_argument("--follow", "-f", action="store_true", help="wait for more, until Ctrl-C")
    parser.add_argument("--denied", action="store_true", help="only denied events")
    parser.add_argument("--decision", choices=DECISIONS, help="only events that were decided so")
    parser.add_argument(
        "--project", metavar="PROJECT", help="only events of this project: its name, or a path (`.` for here)"
    )
    parser.add_argument("--event", metavar="EVENT", help="only this event, by its native or canonical name")
    parser.add_argument("--hook", metavar="NAME", help="only events of hooks with this in their name or file")
    parser.add_argument("--agent", metavar="AGENT", help="only events of this agent")
    parser.add_argument(
        "--since", metavar="WHEN", help="only events since then: 30m, 2h, 7d, 2026-11-01, 2026-11-01T09:30"
    )
    parser.add_argument(
        "-n",
        metavar="N",
        type=int,
        default=SHOWN,
        help=f"only the last N events; 0 for all (default: {SHOWN})",
    )
    parser.add_argument("--json", action="store_true", help="print the journal's own lines")


def show_log(args: Namespace) -> int:
    """Print the events that match the options, then, with --follow, each new one."""
    if args.n < 0:
        raise UsageError(f"-n must be 0 (all events) or more, not {args.n}.")
    since = parse_moment(args.since, datetime.now(UTC)) if args.since else None
    reader = journal.Reader(os.environ)
    printer = RecordPrinter(Paint(sys.stdout), args.hook or "")
    try:
        matching = 0
        last: deque[Record] = deque(maxlen=args.n or None)
        records = _read_records(reader)
        for record in records:
            if is_wanted(record, args, since):
                matching += 1
                last.append(record)
        _print_records(last, args, printer)
        _report_counts(len(records), matching, len(last), reader.skipped)
        if args.project and records and not matching:
            _write_notice(f"the journal has events of these projects: {_list_projects(records)}")
        while args.follow:
            time.sleep(POLL_SECONDS)
            fresh = _read_records(reader)
            _print_records([record for record in fresh if is_wanted(record, args, since)], args, printer)
    except KeyboardInterrupt:
        if not args.follow:
            raise
    return 0


def _read_records(reader: journal.Reader) -> list[Record]:
    try:
        return list(reader.new())
    except OSError as error:
        message = f"cannot read the journal: {error.strerror}"
        raise InputError(Problem(message, file=spell_path(error.filename, "", os.environ))) from error


def _report_counts(events: int, matching: int, shown: int, skipped: int) -> None:
    """Report counts and skipped lines on stderr, apart from the events."""
    file = spell_path(journal.find_journal(os.environ), "", os.environ)
    if not file:
        _write_notice("no journal: HOME is not set. Set HOOKPORT_STATE_DIR.")
    elif not events:
        _write_notice(f"the journal is empty: no hook ran yet. Its file is {file}")
    elif not matching:
        _write_notice(f"none of the {events} event{'s' * (events != 1)} in {file} matches.")
    elif shown < matching:
        _write_notice(f"showing the last {shown} of {matching} events. Use -n 0 for all.")
    if skipped:
        _write_notice(f"skipped {skipped} line{'s' * (skipped != 1)} of the journal: torn, or not a record.")


def _list_projects(records: Sequence[Record]) -> str:
    """List the projects with the latest events."""
    projects = list(dict.fromkeys(name_project(record) for record in reversed(records)))
    more = f" and {len(projects) - MOST_PROJECTS} more" if len(projects) > MOST_PROJECTS else ""
    return ", ".join(projects[:MOST_PROJECTS]) + more


def _write_notice(line: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(Paint(sys.stderr).fold(f"hookport: {line}", 2) + "\n")


def parse_moment(text: str, now: datetime) -> datetime:
    """Parse `2h` (before now), or a date or time in ISO 8601; local unless it has an offset."""
    count, unit = text[:-1], text[-1:]
    try:
        if count.isdecimal() and unit in UNITS:
            return now - timedelta(**{UNITS[unit]: int(count)})
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"--since '{text}' is not a time. Use a span such as 2h, or a date such as 2026-11-01."
        ) from error


def is_wanted(record: Record, args: Namespace, since: datetime | None) -> bool:
    """Whether a record matches the options."""
    wanted = {"deny"} if args.denied else set()
    wanted |= {args.decision} if args.decision else set()
    if wanted and {read_verdict(record)} != wanted:
        return False
    if args.agent and record.get("agent") != args.agent:
        return False
    if args.event and args.event not in (record.get("event"), record.get("native")):
        return False
    if args.project and not _is_of_project(record, args.project):
        return False
    if args.hook and not any(is_named(hook, args.hook) for hook in list_hooks(record)):
        return False
    when = read_time(record)
    return since is None or (when is not None and when >= since)


def _is_of_project(record: Record, project: str) -> bool:
    """Whether a record is of a project with this name, or of a folder at or below this path."""
    if Path(project).name == project and project not in (os.pardir, "~"):
        return name_project(record).lower() == project.lower()
    path = Path(project).expanduser().resolve()
    folders = filter(None, (find_project(record), str(record.get("cwd") or "")))
    return any(Path(folder).is_relative_to(path) for folder in folders)


def _print_records(records: Iterable[Record], args: Namespace, printer: RecordPrinter) -> None:
    for record in records:
        if args.json:
            text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
            sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
        else:
            sys.stdout.write(printer.format(record))
    sys.stdout.flush()
