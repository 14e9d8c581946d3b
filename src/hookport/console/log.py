"""The journal's events for people, one line each, newest last; see `hookport log`."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import deque
from datetime import UTC, datetime, timedelta
from typing import Any

from hookport.base.paths import spell_path
from hookport.console.terminal import Paint, make_plain
from hookport.errors import InputError, Problem, UsageError
from hookport.runtime import journal

Record = dict[str, Any]

SHOWN = 50
POLL_SECONDS = 0.2
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
# The input field that shows what a call is about.
SUBJECTS = ("command", "path", "url", "query", "pattern", "prompt", "skill", "description")
WIDEST_SUBJECT = 40
WIDEST_REASON = 160
STYLES = {"deny": "dropped", "ask": "changed", "allow": "kept"}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport log`."""
    parser.add_argument("--follow", "-f", action="store_true", help="wait for more, until Ctrl-C")
    parser.add_argument("--denied", action="store_true", help="only denied events")
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
    paint = Paint(sys.stdout)
    try:
        events = 0
        matching = 0
        last: deque[Record] = deque(maxlen=args.n or None)
        for record in _read_records(reader):
            events += 1
            if is_wanted(record, args, since):
                matching += 1
                last.append(record)
        _print_records(last, args, paint)
        _report_counts(events, matching, len(last), reader.skipped)
        while args.follow:
            time.sleep(POLL_SECONDS)
            _print_records(
                [fresh for fresh in _read_records(reader) if is_wanted(fresh, args, since)], args, paint
            )
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
        _write_notice(f"none of the {events} event{'s' * (events != 1)} in {file} matches these options.")
    elif shown < matching:
        _write_notice(f"showing the last {shown} of {matching} events. Use -n 0 for all.")
    if skipped:
        _write_notice(f"skipped {skipped} line{'s' * (skipped != 1)} of the journal: torn, or not a record.")


def _write_notice(line: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"hookport: {line}\n")


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
    if args.denied and _read_verdict(record) != "deny":
        return False
    if args.agent and record.get("agent") != args.agent:
        return False
    if args.hook and not _has_hook(record, args.hook):
        return False
    when = _read_time(record)
    return since is None or (when is not None and when >= since)


def _print_records(records: deque[Record] | list[Record], args: Namespace, paint: Paint) -> None:
    for record in records:
        if args.json:
            text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
            sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
        else:
            sys.stdout.write("".join(f"{line}\n" for line in format_record(record, paint, args.hook or "")))
    sys.stdout.flush()


def format_record(record: Record, paint: Paint, hook: str = "") -> list[str]:
    """Format an event as a line, and below it the failures and the runs of the named hook."""
    when = _read_time(record)
    verdict = _read_verdict(record)
    cells = [
        f"{when.astimezone():%Y-%m-%d %H:%M:%S}" if when else _shorten(record["time"], 19),
        f"{_shorten(record.get('agent'), 20):15}",
        f"{_shorten(record.get('event'), 40):19}",
        f"{_format_subject(record):{WIDEST_SUBJECT}}",
        paint(f"{verdict:5}", STYLES.get(verdict, "note")),
        _explain_decision(record, verdict),
    ]
    below = []
    for hook_record in _list_hooks(record):
        name = _name_hook(hook_record)
        if hook_record.get("failure"):
            failure = f"{_shorten(hook_record['failure'], WIDEST_REASON)}{_format_stderr(hook_record)}"
            below.append(f"  {paint('failed', 'error')} {name}: {failure}")
        elif hook and _is_named(hook_record, hook):
            below.append(f"  {name}: {_describe_hook(hook_record)}")
    message = _read_decision(record).get("system_message")
    if message and not any(failed_hook.get("failure") for failed_hook in _list_hooks(record)):
        # Only here: a failure outside hooks, such as an unreadable payload.
        below.append(f"  {_shorten(message, WIDEST_REASON)}")
    notes = record.get("notes")
    below += [f"  {_shorten(note, WIDEST_REASON)}" for note in notes] if isinstance(notes, list) else []
    return ["  ".join(cells).rstrip(), *below]


def _explain_decision(record: Record, verdict: str) -> str:
    """Name the first hook with the verdict, or else the first that failed, and the reason."""
    hooks = _list_hooks(record) if verdict != "none" else []
    same = [hook for hook in hooks if _read_decision(hook).get("verdict") == verdict]
    by = next(iter(same or [hook for hook in hooks if hook.get("failure")]), {})
    reason = _read_decision(by).get("reason") or _read_decision(record).get("reason")
    parts = [_name_hook(by), _shorten(reason, WIDEST_REASON)]
    return ": ".join(part for part in parts if part)


def _describe_hook(hook_record: Record) -> str:
    if not hook_record.get("matched"):
        return f"did not run: {_shorten(hook_record.get('why') or 'it does not match', WIDEST_REASON)}"
    seconds = hook_record.get("seconds")
    spent = f" in {seconds:.3f} s" if isinstance(seconds, (int, float)) else ""
    ended = f", exit {_shorten(hook_record['exit'], 10)}" if hook_record.get("exit") is not None else ""
    reason = _shorten(_read_decision(hook_record).get("reason"), WIDEST_REASON)
    return f"{_read_verdict(hook_record)}{spent}{ended}{': ' * bool(reason)}{reason}"


def _format_stderr(hook_record: Record) -> str:
    """Format the last line of stderr, where a traceback names the error."""
    stderr_lines = str(hook_record.get("stderr") or "").strip().splitlines()
    return f" (stderr: {_shorten(stderr_lines[-1], WIDEST_REASON)})" if stderr_lines else ""


def _format_subject(record: Record) -> str:
    """Format the tool and its main argument: `shell rm -rf build`."""
    tool = record.get("tool") or record.get("native_tool") or ""
    tool_input = record.get("input")
    about = (
        next((tool_input[name] for name in SUBJECTS if tool_input.get(name)), "")
        if isinstance(tool_input, dict)
        else ""
    )
    if isinstance(about, str) and isinstance(record.get("cwd"), str) and record["cwd"]:
        about = about.removeprefix(record["cwd"].rstrip("/\\") + "/")
    return _shorten(f"{tool} {about}", WIDEST_SUBJECT)


def _shorten(value: object, widest: int) -> str:
    """Put a text on one line and shorten it; terminal control characters become escapes."""
    text = " ".join(str("" if value is None else value).split())
    text = text if len(text) <= widest else f"{text[: widest - 1].rstrip()}…"
    return make_plain(text)


def _list_hooks(record: Record) -> list[Record]:
    hooks = record.get("hooks")
    return [hook for hook in hooks if isinstance(hook, dict)] if isinstance(hooks, list) else []


def _has_hook(record: Record, name: str) -> bool:
    return any(_is_named(hook, name) for hook in _list_hooks(record))


def _name_hook(hook_record: Record) -> str:
    return _shorten(hook_record.get("hook") or hook_record.get("place"), WIDEST_SUBJECT)


def _is_named(hook_record: Record, name: str) -> bool:
    return any(
        name.lower() in str(hook_record.get(field, "")).lower() for field in ("hook", "place", "source")
    )


def _read_decision(record: Record) -> Record:
    """Read the decision of an event or of a hook."""
    decision = record.get("decision")
    return decision if isinstance(decision, dict) else {}


def _read_verdict(record: Record) -> str:
    return _shorten(_read_decision(record).get("verdict") or "none", 10)


def _read_time(record: Record) -> datetime | None:
    try:
        when = datetime.fromisoformat(record["time"])
    except ValueError:
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)
