"""Run the tests of hooks.

Each case runs on a copy of its package with a home of its own. A case with `agents` runs through the bridge
for each of them, as if that agent had fired the event; without it, as in the agent whose own hook it is. See
docs/testing.md.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import cast

from hookport.cli import options
from hookport.cli.output import describe_finding
from hookport.cli.problems import print_error, print_line
from hookport.cli.test_results import CoverageDocument, Document, GuardDocument, ResultDocument
from hookport.console.arguments import parse_count
from hookport.console.document import print_document
from hookport.console.progress import Progress
from hookport.console.terminal import Paint
from hookport.errors import InputError, Problem, UsageError
from hookport.testing import confidence, find, mutate, remembered, report, session, watch
from hookport.testing.bench import CopyPool
from hookport.testing.session import Task, TaskResult
from hookport.testing.suite import BrokenFile, Case

MOST_DOUBTS = 5


EXAMPLES = {
    "hookport test": "Run every test below this folder",
    "hookport test .claude -k force-push -v": "Run some cases and show what agents would receive",
    "hookport test --mutate --may-slip 0": "Fail if another spelling slips past a guard",
    "hookport test --junit results.xml --fail-under 90": "Report to CI and require coverage",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport test`."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help="Package, folder above several, `tests/` folder or case file; this folder if left out",
    )
    parser.add_argument(
        "-k",
        dest="words",
        metavar="TEXT",
        action="append",
        help="Only cases with the text in their name, file or [agent]; may be repeated",
    )
    parser.add_argument(
        "--last-failed", action="store_true", help="Only what failed the last time; all if nothing did"
    )
    parser.add_argument(
        "-x", "--exitfirst", dest="until_failure", action="store_true", help="Stop at the first failure"
    )
    options.add_jobs(parser, "Cases")
    parser.add_argument("-v", "--verbose", action="store_true", help="Show what every agent would receive")
    parser.add_argument(
        "--watch", action="store_true", help="Run again whenever a hook or a case changes, until Ctrl-C"
    )
    parser.add_argument("--update", action="store_true", help="Rewrite the snapshots")
    parser.add_argument(
        "--mutate",
        action="store_true",
        help="Try other spellings of what the cases see denied, and harmless look-alikes",
    )
    parser.add_argument(
        "--may-slip",
        metavar="N",
        type=parse_count,
        help="With --mutate: fail if more than N spellings slip through",
    )
    parser.add_argument(
        "--may-stop",
        metavar="N",
        type=parse_count,
        help="With --mutate: fail if more than N harmless look-alikes are denied",
    )
    parser.add_argument(
        "--coverage", action="store_true", help="Show which hooks were tested, by event and agent"
    )
    parser.add_argument(
        "--fail-under",
        metavar="PERCENT",
        type=float,
        help="Fail if the cases test a smaller share of hooks by agents",
    )
    parser.add_argument("--junit", metavar="FILE", help="Write the results as JUnit XML")
    options.add_json(parser)


def run(args: Namespace) -> int:
    """Run the cases; exit code 1 if one failed, 2 if there was nothing to run."""
    _check_usage(args)
    return _run_on_changes(args) if args.watch else _run_once(args)


def _run_on_changes(args: Namespace) -> int:
    """Run the cases after every change until an interrupt, which is 0 while nothing runs."""
    without = {str(Path(args.junit).absolute())} if args.junit else set()
    _collect_tasks(args)
    while True:
        roots = _find_watched(args)
        # Taken before the run, so that a change during it is seen too.
        before = watch.trace_files(roots, without)
        try:
            _run_once(args)
        except (InputError, UsageError) as error:
            print_error(error)
        try:
            print("\nwatching for changes; Ctrl-C to stop", flush=True)
            changed = watch.wait_for_change(before, roots, without)
        except KeyboardInterrupt:
            return 0
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        print(f"\nchanged: {report.escape_controls(os.path.relpath(changed[0]))}{more}", flush=True)


def _find_watched(args: Namespace) -> list[Path]:
    """Find the folders of the cases, their hooks and all that is copied for them."""
    paths = [Path(path).absolute() for path in args.paths or ["."]]
    folders = {folder for path in paths if path.exists() for folder in find.find_suites(path)}
    tasks = [task for folder in folders for task in session.list_tasks(folder)]
    packages = {task.package.origin for task in tasks if task.package is not None}
    copied = {path for package in packages for path in (package.source, *(package.parts or (package.base,)))}
    every = {*paths, *folders, *copied}
    return sorted(path for path in every if not every & set(path.parents))


def _run_once(args: Namespace) -> int:
    todo = _collect_tasks(args)
    results: list[TaskResult] = []
    running = session.perform_all(todo, args.jobs, update=args.update, until_failure=args.until_failure)
    with Progress("test", len(todo)) as progress:
        for same in _group_by_case(_count_results(running, progress)):
            results += same
            if not args.json:
                with progress.cleared():
                    _print_case(same, results, verbose=args.verbose)
    remembered.remember(results, os.environ)
    if args.junit:
        _write_file(args.junit, report.encode_junit(results))
    failed = any(result.status == "failed" for result in results)
    with Progress("test --mutate") as progress:
        tried = _mutate_cases(results, progress) if args.mutate else []
    covered = confidence.measure(results) if _is_whole(args, results) else []
    is_empty = not failed and not any(result.status == "passed" for result in results)
    if args.json and not is_empty:
        print_document(make_document(args, results, covered, tried))
    elif not args.json:
        _print_summary(args, results, covered, tried)
    failed = (
        failed
        or any(mutation.exceeds(args.may_slip, args.may_stop) for mutation in tried)
        or _is_below(args, covered)
    )
    if is_empty:
        raise UsageError("no case applies, so nothing was tested")
    return int(failed)


def _count_results(results: Iterable[TaskResult], progress: Progress) -> Iterator[TaskResult]:
    for number, result in enumerate(results, 1):
        progress.show(result.task.name, number)
        yield result


def _check_usage(args: Namespace) -> None:
    for name in ("json", "update"):
        if args.watch and getattr(args, name):
            raise UsageError(f"--watch cannot be used with --{name}")
    for name in ("may_slip", "may_stop"):
        if getattr(args, name) is not None and not args.mutate:
            raise UsageError(f"--{name.replace('_', '-')} needs --mutate")
    if args.coverage or args.fail_under is not None:
        partly = [name for name, given in (("-k", args.words), ("--last-failed", args.last_failed)) if given]
        partly += [path for path in args.paths if Path(path).is_file()]
        if partly:
            raise UsageError(f"coverage needs all cases of a suite, and {partly[0]} selects some of them")
    if args.fail_under is not None and not 0 <= args.fail_under <= 100:
        raise UsageError(f"--fail-under: {args.fail_under:g} is not a percentage from 0 to 100")


def _is_whole(args: Namespace, results: Sequence[TaskResult]) -> bool:
    """Whether all cases ran, so that coverage is complete."""
    is_part = args.words or args.last_failed or any(Path(path).is_file() for path in args.paths)
    return not is_part and not (args.until_failure and any(result.status == "failed" for result in results))


def _is_below(args: Namespace, covered: Sequence[confidence.Coverage]) -> bool:
    if args.fail_under is None:
        return False
    percent = _compute_coverage(covered)
    if percent >= args.fail_under:
        return False
    print_line("error", f"the cases cover {percent:g} %, less than --fail-under {args.fail_under:g}")
    return True


def _compute_coverage(covered: Iterable[confidence.Coverage]) -> float:
    counts = [coverage.counts for coverage in covered]
    return confidence.compute_percent(
        sum(part for part, _ in counts), sum(whole_count for _, whole_count in counts)
    )


def make_document(
    args: Namespace,
    results: Sequence[TaskResult],
    covered: Sequence[confidence.Coverage],
    tried: Sequence[mutate.GuardReport],
) -> Document:
    """Make the document of `--json`."""
    count = report.count_statuses(results)
    return Document(
        count["passed"],
        count["failed"],
        count["not applicable"],
        tuple(cast("ResultDocument", report.encode_result(result)) for result in results),
        tuple(describe_finding(finding) for suite in covered for finding in suite.findings),
        tuple(cast("CoverageDocument", suite.as_json()) for suite in covered) if args.coverage else (),
        tuple(cast("GuardDocument", guard.as_json()) for guard in tried),
    )


def _collect_tasks(args: Namespace) -> list[Task]:
    """Collect the tasks; UsageError if there are none."""
    paths = [Path(path) for path in args.paths or ["."]]
    for path in paths:
        if not path.exists():
            raise InputError(Problem("does not exist", file=str(path)))
    files_by_folder: dict[Path, set[Path | None]] = {}
    for path in paths:
        suites = find.find_suites(path)
        if not suites:
            raise UsageError(f"{path}: no tests of hooks", hint=f"tests are read from {find.SHAPE}")
        for folder, file in suites.items():
            files_by_folder.setdefault(folder, set()).add(file)
    todo = [
        task
        for folder, files in files_by_folder.items()
        for task in session.list_tasks(folder)
        if None in files or task.entry.file in files or _is_about_all(task)
    ]
    if not todo:
        raise UsageError(f"no cases in {', '.join(map(str, files_by_folder))}")
    if args.words:
        todo = [task for task in todo if _is_named(task, args.words) or _is_about_all(task)]
        if not todo:
            raise UsageError(f"no case has {' or '.join(repr(word) for word in args.words)} in its name")
    return _select_last_failed(todo) if args.last_failed else todo


def _is_about_all(task: Task) -> bool:
    """Whether it is no case: hooks or a configuration that cannot be read concern every case."""
    folders = (task.folder / find.CASES, task.folder / "fixtures")
    return isinstance(task.entry, BrokenFile) and task.entry.file.parent not in folders


def _is_named(task: Task, words: Iterable[str]) -> bool:
    text = f"{task.id} {task.entry.file.name}".lower()
    return any(word.lower() in text for word in words)


def _select_last_failed(todo: list[Task]) -> list[Task]:
    known = {folder: remembered.read_failed(folder, os.environ) for folder in {task.folder for task in todo}}
    again = [task for task in todo if task.id in known[task.folder]]
    if not again:
        print_line("note", "nothing failed the last time, so all cases run")
    return again or todo


def _group_by_case(results: Iterable[TaskResult]) -> Iterator[list[TaskResult]]:
    for _, same in groupby(results, key=lambda result: result.task.entry.file):
        yield list(same)


def _print_case(same: list[TaskResult], before: list[TaskResult], *, verbose: bool) -> None:
    paint = Paint(sys.stdout)
    folder = same[0].task.folder
    if len(before) == len(same) or before[-len(same) - 1].task.folder != folder:
        print(paint.fold(paint(same[0].task.show_path(folder), "bold"), 2))
    for group in [[each] for each in same] if verbose else [same]:
        for line in report.describe_results(group, paint):
            print(paint.fold(f"  {line}", 10))
        if verbose and group[0].got is not None and group[0].status == "passed":
            for line in report.describe_run(group[0].got):
                print(paint.fold(f"          {line}", 12))
    sys.stdout.flush()


def _print_summary(
    args: Namespace,
    results: list[TaskResult],
    covered: Sequence[confidence.Coverage],
    tried: Sequence[mutate.GuardReport],
) -> None:
    paint = Paint(sys.stdout)
    failed = any(result.status == "failed" for result in results)
    sections = [list(failure) for failure in report.describe_failures(results, paint)]
    sections += [
        list(map(report.escape_controls, mutate.describe_report(mutation, every=args.verbose)))
        for mutation in tried
    ]
    if tried:
        sections.append([mutate.sum_up(tried)])
    if any(mutation.slipped for mutation in tried):
        sections.append(list(mutate.ADVICE))
    if args.mutate and not tried:
        note = "no case that passed saw a command or path denied, so there is nothing to respell"
        sections.append([note])
    if args.coverage:
        sections += [
            list(map(report.escape_controls, confidence.describe_coverage(coverage))) for coverage in covered
        ]
    sections += [
        _list_doubts(coverage, paint, every=args.verbose) for coverage in covered if coverage.findings
    ]
    for section in sections:
        print("", *(paint.fold(line, _find_hang(line)) for line in section), sep="\n")
    if sections:
        print()
    print(paint(report.sum_up_results(results), "error" if failed else "kept"))


def _find_hang(line: str) -> int:
    """Find where the rest of a folded line stands: to the right of its start."""
    return len(line) - len(line.lstrip()) + 2


def _list_doubts(coverage: confidence.Coverage, paint: Paint, *, every: bool) -> list[str]:
    """List what the suite does not show; of one kind the first few."""
    lines: list[str] = []
    for code in dict.fromkeys(doubt.code for doubt in coverage.findings):
        same = [doubt for doubt in coverage.findings if doubt.code == code]
        shown = same if every else same[:MOST_DOUBTS]
        word = "note" if same[0].severity == "note" else "warning"
        head = f"{paint(word, same[0].severity)} {code}"
        lines += [f"{head} {report.escape_controls(f'{doubt.where}: {doubt.message}')}" for doubt in shown]
        if len(same) > len(shown):
            lines.append(f"  … and {len(same) - len(shown)} more {code}; --verbose lists all")
        lines += [f"  {same[0].hint}"] if same[0].hint else []
    return lines


def _mutate_cases(results: list[TaskResult], progress: Progress) -> list[mutate.GuardReport]:
    """Mutate the cases that passed, each action once."""
    reports: dict[tuple[Path, str], mutate.GuardReport] = {}
    cases = {result.task.entry.file: result.task for result in results if result.status == "passed"}
    with CopyPool() as stock:
        for number, task in enumerate(cases.values()):
            progress.show(task.name, number, len(cases))
            if task.package is not None and isinstance(task.entry, Case):
                mutation = mutate.mutate_case(stock, task.package, task.entry)
                if mutation is not None:
                    reports.setdefault((task.folder, mutation.subject), mutation)
    return list(reports.values())


def _write_file(path: str, data: bytes) -> None:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)
    except OSError as error:
        raise InputError(Problem(f"cannot be written: {error.strerror or error}", file=path)) from None
