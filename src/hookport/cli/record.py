"""Create tests from events that happened: those of the journal, or those that `dispatch --record` kept.

The files are written into `tests/` beside the hooks. A case expects what was decided; change it to what
should have been decided. Secrets are removed, also those of recorded events.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from hookport.cli import options
from hookport.cli.output import FileDocument
from hookport.cli.problems import print_line
from hookport.console.arguments import parse_count
from hookport.console.document import print_document
from hookport.console.log import parse_moment
from hookport.console.progress import Progress
from hookport.console.terminal import make_plain
from hookport.errors import InputError, Problem, UsageError
from hookport.project.discovery import Discovery, discover, load
from hookport.testing import happened, record
from hookport.testing.happened import RecordedEvent, RecordedEvents

EXAMPLES = {
    "hookport record --dry-run": "Show the case that the last event gives",
    "hookport record --decision deny --since 7d --limit 0": "Create cases for everything denied in a week",
    "hookport record --recorded events --agent {third}": "Use events that `dispatch --record events` kept",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport record`."""
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="File or folder with hooks; this project if left out"
    )
    options.add_from(parser)
    parser.add_argument(
        "--recorded", dest="folder", metavar="DIR", help="Use the events that `dispatch --record DIR` kept"
    )
    parser.add_argument(
        "-n",
        "--limit",
        metavar="N",
        type=parse_count,
        default=1,
        help="Only the last N events, 0 for all",
    )
    parser.add_argument("--hook", metavar="NAME", help="Only hooks with this in their name or file")
    options.add_agents(parser, "Only events of these agents")
    parser.add_argument("--event", metavar="EVENT", help="Only this event, by its native or canonical name")
    parser.add_argument(
        "--decision",
        metavar="DECISION",
        choices=options.VERDICTS,
        help="Only events with this decision",
    )
    parser.add_argument(
        "--since", metavar="WHEN", help="Only events since a span or date, such as 30m, 2h, 7d or 2026-11-01"
    )
    options.add_dry_run(parser)
    options.add_json(parser)


class CaseDocument(NamedTuple):
    """A case and what was decided on its event."""

    name: str
    folder: str
    decision: str


class Document(NamedTuple):
    """The cases, their files, and how many events gave a case that another event gives already."""

    cases: tuple[CaseDocument, ...]
    files: tuple[FileDocument, ...]
    same: int
    notes: tuple[str, ...]
    written: bool


def run(args: Namespace) -> int:
    """Write the cases of the events that were asked for; UsageError if there is none."""
    since = parse_moment(args.since, datetime.now(UTC)) if args.since else None
    env = dict(os.environ)
    with Progress("record"):
        discovery = _load_hooks(args.path, args.dialect, env)
        events = happened.read_folder(Path(args.folder)) if args.folder else happened.read_journal(env)
        fitting = [occurrence for occurrence in events.events if _is_fitting(occurrence, args, since)]
        batch = record.draft_cases(fitting, discovery, env, record.DraftChoice(args.hook or "", args.limit))
    if not batch.drafts:
        raise UsageError(_explain_nothing(events, fitting, discovery, batch, args))
    done = record.write_drafts(batch.drafts, dry=args.dry_run)
    notes = [*events.notes, *batch.notes, *(draft.note for draft in batch.drafts if draft.note)]
    if args.json:
        print_document(make_document(batch, done, notes, is_dry=args.dry_run))
    else:
        _print_summary(batch, done, notes, len(fitting) if args.limit else 0, dry=args.dry_run)
    return 0


def _load_hooks(path: str | None, dialect: str | None, env: dict[str, str]) -> Discovery:
    if path is not None:
        if not Path(path).exists():
            raise InputError(Problem("does not exist", file=path))
        return load(path, dialect, env)
    discovery = discover(str(Path.cwd()), env)
    return discovery._replace(hooks=tuple(hook for hook in discovery.hooks if hook.scope == "project"))


def _is_fitting(occurrence: RecordedEvent, args: Namespace, since: datetime | None) -> bool:
    if args.agents and occurrence.event.agent not in args.agents:
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
        return f"none of the {len(events.events)} events of {where} matches. Nothing was written."
    if not discovery.hooks:
        return f"no hooks in {discovery.root}. Name a file or folder with hooks: `hookport record PATH`."
    of_hook = f" with '{args.hook}' in its name" if args.hook else ""
    return (
        f"no hook{of_hook} in {discovery.root} ran on any of the {len(fitting)} events of {where}. "
        "Nothing was written. `hookport log` shows which hooks did."
    )


def make_document(
    batch: record.Drafts, done: record.WrittenFiles, notes: list[str], *, is_dry: bool
) -> Document:
    """Make the document of `--json`."""
    return Document(
        tuple(CaseDocument(draft.name, str(draft.folder), draft.verdict) for draft in batch.drafts),
        (
            *(FileDocument(str(path), "created") for path in done.new),
            *(FileDocument(str(path), "unchanged") for path in done.kept),
        ),
        batch.same,
        tuple(notes),
        written=bool(done.new) and not is_dry,
    )


def _print_summary(
    batch: record.Drafts, done: record.WrittenFiles, notes: list[str], fitting: int, *, dry: bool
) -> None:
    used = batch.events
    for path in done.new:
        sys.stdout.write(f"{'would write' if dry else 'wrote'} {make_plain(str(_shorten(path)))}\n")
    for path in done.kept:
        sys.stdout.write(f"exists, unchanged: {make_plain(str(_shorten(path)))}\n")
    count = f"{len(batch.drafts)} case{'s' * (len(batch.drafts) != 1)} of {used} event{'s' * (used != 1)}"
    others = f"; {batch.same} more would be the same" if batch.same else ""
    left = fitting - used
    older = (
        f"; {left} older event{'s fit' if left > 1 else ' fits'}, `--limit 0` takes all" if left > 0 else ""
    )
    sys.stdout.write(f"{count}{others}{older}\n")
    if done.new and not dry:
        folders = " ".join(dict.fromkeys(_shorten(draft.folder) for draft in batch.drafts))
        sys.stdout.write(
            f"Next: write in each case what should have happened, then run `hookport test {folders}`.\n"
        )
    sys.stdout.flush()
    for note in notes:
        print_line("note", note)


def _shorten(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
