"""Errors as a person and a program read them: what is wrong, the consequence, the next step."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hookport.cli.output import ErrorDocument, ErrorEntry
from hookport.console.document import print_document
from hookport.console.terminal import Paint, make_plain
from hookport.errors import HookportError, InputError, InternalError, Problem, spell_path

REPORT = "report it with the input that led to it; HOOKPORT_DEBUG=1 shows where it happened"


def report_error(error: HookportError, args: Sequence[str], *, writes: bool) -> int:
    """Report an error on stderr, and with --json also as a document on stdout; returns the exit code."""
    is_bug = isinstance(error, InternalError)
    hint = REPORT if is_bug else error.hint
    if is_json_wanted(args):
        print_document(describe_error(error, hint))
        sys.stdout.flush()
    print_error(error, hint)
    if is_bug or (writes and isinstance(error, InputError)):
        sys.stderr.write("Nothing was written.\n")
    if is_bug:
        _print_debug_traceback()
    return error.exit_code


def is_json_wanted(args: Sequence[str]) -> bool:
    """Whether the arguments ask for JSON; what stands behind `--` is no option."""
    return "--json" in args[: args.index("--") if "--" in args else len(args)]


def print_error(error: HookportError, hint: str = "") -> None:
    """Print every problem of an error, then the hint."""
    problems = error.problems if isinstance(error, InputError) else ()
    prefix = "this is a bug in hookport: " if isinstance(error, InternalError) else ""
    for text in map(str, problems or (error,)):
        print_line("error", prefix + text)
    if hint or error.hint:
        print_line("hint", hint or error.hint)


def print_line(label: str, text: str) -> None:
    """Print a line for a person on stderr: an `error`, a `note` or a `hint`."""
    paint = Paint(sys.stderr)
    shown = paint(label, "error") if label == "error" else paint(label, "bold")
    sys.stderr.write(paint.fold(f"{shown}: {make_plain(text)}", 2) + "\n")


def describe_error(error: HookportError, hint: str) -> ErrorDocument:
    """Describe an error as `--json` prints it."""
    problems = error.problems if isinstance(error, InputError) else (Problem(str(error)),)
    entries = tuple(
        ErrorEntry(
            problem.message,
            problem.file or None,
            problem.line or None,
            problem.column or None,
            spell_path(problem.path) or None,
        )
        for problem in problems
    )
    return ErrorDocument(entries, hint or None, error.exit_code)


def _print_debug_traceback() -> None:
    import os

    if os.environ.get("HOOKPORT_DEBUG"):
        import traceback

        traceback.print_exc()
