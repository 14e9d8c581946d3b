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
from hookport.console.arguments import parse_count, split_names
from hookport.console.document import VERSION
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
    parser.add_argument("-f", "--follow", action="store_true", help="Wait for more events until Ctrl-C")
    parser.add_argument("--denied", action="store_true", help="Only denied events")
    parser.add_argument(
        "--decision", metavar="DECISION", choices=DECISIONS, help="Only events with this decision"
    )
    parser.add_argument(
        "--project", metavar="PROJECT", help="Only events of this project, by its name or path (`.` for here)"
    )
    parser.add_argument("--event", metavar="EVENT", help="Only this event, by its native or canonical name")
    parser.add_argument("--hook", metavar="NAME", help="Only events of hooks with this in their name or file")
    parser.add_argument(
        "--agent",
        dest="agents",
        metavar="AGENT",
        type=split_names,
        action="extend",
        default=[],
        help="Only events of these agents; several with commas or by repeating the option",
    )
    parser.add_argument(
        "--since", metavar="WHEN", help="Only events since a span or date, such as 30m, 2h, 7d or 2026-11-01"
    )
    parser.add_argument(
        "-n",
        "--limit",
        metavar="N",
        type=parse_count,
        default=SHOWN,
        help="Only the last N events, 0 for all",
    )
    parser.add_argument("--json", action="store_true", help="Print JSON, one line for each event")


def show_log(args: Namespace) -> int:
    """Print the events that match the options, then, with --follow, each new one."""
    since = parse_moment(args.since, datetime.now(UTC)) if args.since else None
    reader = journal.Reader(os.environ)
    printer = RecordPrinter(Paint(sys.stdout), args.hook or "")
    try:
        matching = 0
        last: deque[Record] = deque(maxlen=args.limit or None)
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
        _write_notice(f"the journal {file} is empty: no hook ran yet.")
    elif not matching:
        _write_notice(f"none of the {events} event{'s' * (events != 1)} in {file} matches.")
    elif shown < matching:
        _write_notice(f"the last {shown} of {matching} events; `--limit 0` shows all.")
    if skipped:
        _write_notice(f"skipped {skipped} damaged line{'s' * (skipped != 1)} of the journal.")


def _list_projects(records: Sequence[Record]) -> str:
    """List the projects with the latest events."""
    projects = list(dict.fromkeys(name_project(record) for record in reversed(records)))
    more = f" and {len(projects) - MOST_PROJECTS} more" if len(projects) > MOST_PROJECTS else ""
    return ", ".join(projects[:MOST_PROJECTS]) + more


def _write_notice(line: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(Paint(sys.stderr).fold(f"note: {line}", 2) + "\n")


def parse_moment(text: str, now: datetime) -> datetime:
    """Parse `2h` (before now), or a date or time in ISO 8601; local unless it has an offset."""
    count, unit = text[:-1], text[-1:]
    try:
        if count.isdecimal() and unit in UNITS:
            return now - timedelta(**{UNITS[unit]: int(count)})
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"--since: '{text}' is neither a span nor a date", hint="use `--since 2h` or `--since 2026-11-01`"
        ) from error


def is_wanted(record: Record, args: Namespace, since: datetime | None) -> bool:
    """Whether a record matches the options."""
    wanted = {"deny"} if args.denied else set()
    wanted |= {args.decision} if args.decision else set()
    if wanted and {read_verdict(record)} != wanted:
        return False
    if args.agents and record.get("agent") not in args.agents:
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
            tree = {"version": VERSION, **record}
            text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
            sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
        else:
            sys.stdout.write(printer.format(record))
    sys.stdout.flush()
