"""Make tests of what happened: fixtures and cases from the journal, or from what `dispatch --record` kept.

PATH is where the hooks are, this project if left out; the files are written into `tests/` beside them. A case
says what was decided, for you to change into what should have been. Secrets are taken out, also of what was
recorded with them.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from pathlib import Path

from hookport.agents import get
from hookport.console.log import parse_moment
from hookport.console.progress import Progress
from hookport.console.terminal import make_plain
from hookport.errors import InputError, Problem, UsageError
from hookport.project.discovery import Discovery, discover, load
from hookport.testing import happened, record
from hookport.testing.happened import RecordedEvent, RecordedEvents

VERDICTS = ("deny", "ask", "allow", "none")


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport record`."""
    parser.add_argument("path", metavar="PATH", nargs="?", help="a file or folder with hooks")
    parser.add_argument(
        "--from", dest="folder", metavar="DIR", help="take the events that `dispatch --record DIR` kept"
    )
    parser.add_argument(
        "--last", metavar="N", type=int, default=1, help="only the last N events; 0 for all (default: 1)"
    )
    parser.add_argument("--hook", metavar="NAME", help="only hooks with this in their name or file")
    parser.add_argument("--agent", metavar="AGENT", help="only events of this agent")
    parser.add_argument("--event", metavar="EVENT", help="only this event, by its native or canonical name")
    parser.add_argument("--decision", choices=VERDICTS, help="only events that were decided so")
    parser.add_argument("--since", metavar="WHEN", help="only events since then: 30m, 2h, 7d, 2026-11-01")
    parser.add_argument("--dry-run", action="store_true", help="show what would be written, write nothing")
    parser.add_argument("--json", action="store_true", help="print the same as JSON")


def run(args: Namespace) -> int:
    """Write the cases of the events that were asked for; UsageError if there is none."""
    if args.last < 0:
        raise UsageError(f"--last {args.last} is less than none. Use 0 for all.")
    if args.agent:
        get(args.agent)
    since = parse_moment(args.since, datetime.now(UTC)) if args.since else None
    env = dict(os.environ)
    with Progress("record"):
        discovery = _load_hooks(args.path, env)
        events = happened.read_folder(Path(args.folder)) if args.folder else happened.read_journal(env)
        fitting = [occurrence for occurrence in events.events if _is_fitting(occurrence, args, since)]
        batch = record.draft_cases(fitting, discovery, env, record.DraftChoice(args.hook or "", args.last))
    if not batch.drafts:
        raise UsageError(_explain_nothing(events, fitting, discovery, batch, args))
    done = record.write_drafts(batch.drafts, dry=args.dry_run)
    notes = [*events.notes, *batch.notes, *(draft.note for draft in batch.drafts if draft.note)]
    if args.json:
        _print_json(batch, done, notes)
    else:
        _print_summary(batch, done, notes, len(fitting) if args.last else 0, dry=args.dry_run)
    return 0


def _load_hooks(path: str | None, env: dict[str, str]) -> Discovery:
    if path is not None:
        if not Path(path).exists():
            raise InputError(Problem("does not exist", file=path))
        return load(path, None, env)
    discovery = discover(str(Path.cwd()), env)
    return discovery._replace(hooks=tuple(hook for hook in discovery.hooks if hook.scope == "project"))


def _is_fitting(occurrence: RecordedEvent, args: Namespace, since: datetime | None) -> bool:
    if args.agent and occurrence.event.agent != args.agent:
        return False
    if args.event and args.event not in (occurrence.event.event, occurrence.event.native):
        return False
    if args.decision and str(occurrence.decision.get("verdict", "none")) != args.decision:
        return False
    try:
        when = datetime.fromisoformat(occurrence.time)
    except ValueError:
        return since is None
    return since is None or when >= since


def _explain_nothing(
    events: RecordedEvents,
    fitting: list[RecordedEvent],
    discovery: Discovery,
    batch: record.Drafts,
    args: Namespace,
) -> str:
    where = f"'{args.folder}'" if args.folder else "the journal"
    if batch.notes:
        return f"no case could be made: {batch.notes[0]}"
    if not events.events:
        return f"{where} has no event{f': {events.notes[0]}' if events.notes else ''}. Nothing was written."
    if not fitting:
        return f"none of the {len(events.events)} events of {where} is like that. Nothing was written."
    if not discovery.hooks:
        return f"there are no hooks in {discovery.root} to make tests for. Name them: `hookport record PATH`."
    of_hook = f" with '{args.hook}' in its name" if args.hook else ""
    return (
        f"no hook{of_hook} in {discovery.root} was asked on any of the {len(fitting)} events of {where}. "
        "Nothing was written. `hookport log` shows which were."
    )


def _print_json(batch: record.Drafts, done: record.WrittenFiles, notes: list[str]) -> None:
    tree = {
        "cases": [
            {"name": draft.name, "folder": str(draft.folder), "decision": draft.verdict}
            for draft in batch.drafts
        ],
        "written": [str(path) for path in done.new],
        "kept": [str(path) for path in done.kept],
        "same": batch.same,
        "notes": notes,
    }
    sys.stdout.write(json.dumps(tree, indent=2, ensure_ascii=False) + "\n")


def _print_summary(
    batch: record.Drafts, done: record.WrittenFiles, notes: list[str], fitting: int, *, dry: bool
) -> None:
    used = batch.events
    for path in done.new:
        sys.stdout.write(f"{'would write' if dry else 'wrote'} {make_plain(str(_shorten(path)))}\n")
    for path in done.kept:
        sys.stdout.write(f"there already, left as it is: {make_plain(str(_shorten(path)))}\n")
    count = f"{len(batch.drafts)} case{'s' * (len(batch.drafts) != 1)} of {used} event{'s' * (used != 1)}"
    others = f"; {batch.same} more would be the same" if batch.same else ""
    left = fitting - used
    older = f"; {left} older event{'s fit' if left > 1 else ' fits'}, --last 0 takes all" if left > 0 else ""
    sys.stdout.write(f"{count}{others}{older}\n")
    if done.new and not dry:
        folders = " ".join(dict.fromkeys(_shorten(draft.folder) for draft in batch.drafts))
        sys.stdout.write(
            f"Next: say in each case what should have happened, then `hookport test {folders}`.\n"
        )
    sys.stdout.flush()
    for note in notes:
        sys.stderr.write(f"hookport: {make_plain(note)}\n")


def _shorten(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
