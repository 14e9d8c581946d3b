"""Run the tests of hooks.

PATH is a package, a folder above several, a `tests/` folder or one case file; the folder you are in if left
out. Each case runs on a copy of its package with a home of its own; a case with `agents` runs through the
bridge for each of them, as if that agent had fired the event. See docs/testing.md.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from hookport.cases import find, mutate, remembered, report, session
from hookport.cases.session import Result, Task
from hookport.cases.suite import Broken, Case
from hookport.cli.terminal import Paint
from hookport.errors import InputError, Problem, UsageError


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport test`."""
    parser.add_argument("paths", metavar="PATH", nargs="*", help="where the tests are")
    parser.add_argument(
        "-k",
        dest="words",
        metavar="TEXT",
        action="append",
        help="only cases whose name, file or [agent] has the text; may be given several times",
    )
    parser.add_argument("-x", dest="until_failure", action="store_true", help="stop at the first failure")
    parser.add_argument("-j", dest="jobs", metavar="N", type=int, default=0, help="as many cases at a time")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what every agent would receive")
    parser.add_argument(
        "--last-failed", action="store_true", help="only what failed the last time; all if nothing did"
    )
    parser.add_argument("--update", action="store_true", help="write the snapshots anew")
    parser.add_argument(
        "--mutate",
        action="store_true",
        help="try other spellings of what the cases see stopped, and list those that slip through",
    )
    parser.add_argument(
        "--may-slip", metavar="N", type=int, help="with --mutate: fail if more than N spellings slip through"
    )
    parser.add_argument("--junit", metavar="FILE", help="write the results for continuous integration")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def run(args: Namespace) -> int:
    """Run the cases; exit code 1 if one failed, 2 if there was nothing to run."""
    if args.may_slip is not None and not args.mutate:
        raise UsageError("--may-slip is about what --mutate finds. Give both.")
    todo = _todo(args)
    results: list[Result] = []
    running = session.perform_all(todo, args.jobs, update=args.update, until_failure=args.until_failure)
    progress = _Progress(len(todo))
    for same in _by_case(progress.told(running)):
        results += same
        if not args.json:
            progress.clear()
            _print(same, results, verbose=args.verbose)
    progress.clear()
    remembered.remember(results, os.environ)
    if args.junit:
        _write(args.junit, report.junit(results))
    failed = any(one.status == "failed" for one in results)
    tried = _tried(results) if args.mutate else []
    if args.json:
        more = {"mutations": [one.as_json() for one in tried]} if args.mutate else {}
        sys.stdout.write(report.json_text(results, **more))
    else:
        _print_end(results, tried if args.mutate else None, every=args.verbose)
    failed = failed or any(one.exceeds(args.may_slip) for one in tried)
    if not failed and not any(one.status == "passed" for one in results):
        raise UsageError("no case applies, so nothing was tested.")
    return int(failed)


def _todo(args: Namespace) -> list[Task]:
    """The tasks that were asked for; UsageError if there are none."""
    paths = [Path(path) for path in args.paths or ["."]]
    for path in paths:
        if not path.exists():
            raise InputError(Problem("does not exist", file=str(path)))
    asked: dict[Path, set[Path | None]] = {}
    for path in paths:
        found = find.suites(path)
        if not found:
            raise UsageError(f"{path}: no tests of hooks are there. They are looked for in {find.SHAPE}.")
        for folder, file in found.items():
            asked.setdefault(folder, set()).add(file)
    todo = [
        task
        for folder, files in asked.items()
        for task in session.tasks(folder)
        if None in files or task.entry.file in files or _is_about_all(task)
    ]
    if not todo:
        raise UsageError(f"no cases are in {', '.join(map(str, asked))}.")
    if args.words:
        todo = [task for task in todo if _has(task, args.words) or _is_about_all(task)]
        if not todo:
            raise UsageError(f"no case has {' or '.join(repr(word) for word in args.words)} in its name.")
    return _last_failed(todo) if args.last_failed else todo


def _is_about_all(task: Task) -> bool:
    """Whether it is no case: hooks or a configuration that cannot be read concern every case."""
    folders = (task.folder / find.CASES, task.folder / "fixtures")
    return isinstance(task.entry, Broken) and task.entry.file.parent not in folders


def _has(task: Task, words: Iterable[str]) -> bool:
    text = f"{task.id} {task.entry.file.name}".lower()
    return any(word.lower() in text for word in words)


def _last_failed(todo: list[Task]) -> list[Task]:
    known = {folder: remembered.failed_before(folder, os.environ) for folder in {one.folder for one in todo}}
    again = [task for task in todo if task.id in known[task.folder]]
    if not again:
        sys.stderr.write("hookport: nothing failed the last time, so all cases are run\n")
    return again or todo


def _by_case(results: Iterable[Result]) -> Iterator[list[Result]]:
    for _, same in groupby(results, key=lambda one: one.task.entry.file):
        yield list(same)


def _print(same: list[Result], before: list[Result], *, verbose: bool) -> None:
    paint = Paint(sys.stdout)
    folder = same[0].task.folder
    if len(before) == len(same) or before[-len(same) - 1].task.folder != folder:
        print(paint(same[0].task.shown(folder), "bold"))
    for one in [[each] for each in same] if verbose else [same]:
        for line in report.lines_of(one, paint):
            print(f"  {line}")
        if verbose and one[0].got is not None and one[0].status == "passed":
            for line in report.details(one[0].got):
                print(f"          {line}")
    sys.stdout.flush()


def _print_end(results: list[Result], tried: list[mutate.Report] | None, *, every: bool) -> None:
    paint = Paint(sys.stdout)
    failed = any(one.status == "failed" for one in results)
    for told in report.failures(results, paint):
        print("", *told, sep="\n")
    for it in tried or ():
        print()
        for line in mutate.lines(it, every=every):
            print(report.plain(line))
    if tried and any(it.slipped for it in tried):
        print("\n" + "\n".join(mutate.ADVICE))
    if tried == []:
        print("\nno case that passed saw a command or a path stopped, so there is nothing to spell otherwise")
    if failed or tried is not None:
        print()
    print(paint(report.closing(results), "error" if failed else "kept"))


def _tried(results: list[Result]) -> list[mutate.Report]:
    """What slips past the guards of the cases that passed, each action once."""
    found: dict[tuple[Path, str], mutate.Report] = {}
    cases = {one.task.entry.file: one.task for one in results if one.status == "passed"}
    for task in cases.values():
        if task.package is not None and isinstance(task.entry, Case):
            it = mutate.of_case(task.package, task.entry)
            if it is not None:
                found.setdefault((task.folder, it.subject), it)
    return list(found.values())


class _Progress:
    """How many cases are done, on a terminal only."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.on = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def told(self, results: Iterable[Result]) -> Iterator[Result]:
        for number, result in enumerate(results):
            self._say(f"{number} of {self.total}")
            yield result

    def clear(self) -> None:
        self._say("")

    def _say(self, text: str) -> None:
        if self.on:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()


def _write(path: str, data: bytes) -> None:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)
    except OSError as error:
        raise InputError(Problem(f"cannot be written: {error.strerror or error}", file=path)) from None
