"""Write a hook that works: its manifest, a script, a text about it, and two tests that pass.

On a terminal it asks for what is missing. A file that is there is never replaced; where a dialect has one
file for all hooks, the new one is added to it, and every other byte stays.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookport.base.files import NEW_FILE_MODES, replace_file
from hookport.cli import report
from hookport.console.terminal import Paint, make_plain
from hookport.errors import InputError, Problem, UsageError
from hookport.model.events import EVENTS
from hookport.project.discovery import find_project_root
from hookport.sdk.scaffold import (
    Scaffold,
    ScaffoldFile,
    ScaffoldRequest,
    choose_dialect,
    list_writable,
    scaffold,
)
from hookport.sdk.scripts import LANGUAGES

DIALECT, LANG = choose_dialect(), "sh"


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport new`."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="the hook's name, such as no-force-push")
    parser.add_argument("--event", metavar="EVENT", help="when it runs: a canonical name, or any dialect's")
    parser.add_argument(
        "--dialect", choices=list_writable(), help=f"what it is written in (default: {DIALECT})"
    )
    parser.add_argument("--lang", choices=tuple(LANGUAGES), help=f"what its script is in (default: {LANG})")
    parser.add_argument(
        "--matcher",
        metavar="MATCHER",
        help="the tools it is for: `shell`, `Write|Edit`, `mcp:SERVER/TOOL`, a regular expression",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would be written, write nothing")


def run(args: Namespace) -> int:
    """Write the files, all or none."""
    is_asking = not (args.name and args.event) and sys.stdin.isatty() and sys.stdout.isatty()
    request = _ask_request(args) if is_asking else _read_request(args)
    root = Path(find_project_root(str(Path.cwd()), os.environ))
    scaffolding = scaffold(request, root)
    if not args.dry_run:
        _write_files(scaffolding, root)
    _print_result(scaffolding, root, request, is_dry=args.dry_run)
    return 0


def _read_request(args: Namespace) -> ScaffoldRequest:
    missing = [word for word, value in (("NAME", args.name), ("--event EVENT", args.event)) if not value]
    if missing:
        raise UsageError(
            f"{' and '.join(missing)} must be given, because there is no terminal to ask on. "
            "Try: hookport new no-rm --event before_tool_execute"
        )
    return ScaffoldRequest(
        args.name, args.event, args.dialect or DIALECT, args.lang or LANG, args.matcher or ""
    )


def _ask_request(args: Namespace) -> ScaffoldRequest:
    name = args.name or _ask_word("Name, such as no-force-push")
    core = [event.name for event in EVENTS.values() if event.tier == "core"]
    event = args.event or _ask_word("Event", core[0], core)
    dialect = args.dialect or _ask_word("Dialect", DIALECT, list(list_writable()))
    lang = args.lang or _ask_word("Language of the script", LANG, list(LANGUAGES))
    matcher = args.matcher
    if matcher is None and event in EVENTS and EVENTS[event].about_tool:
        matcher = _ask_word("Tool", "shell")
    return ScaffoldRequest(name, event, dialect, lang, matcher or "")


def _ask_word(question: str, default: str = "", known: list[str] | None = None) -> str:
    if known:
        sys.stdout.write(f"{', '.join(known)}\n")
    sys.stdout.write(f"{question}{f' [{default}]' if default else ''}: ")
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise UsageError("nothing was answered. Nothing was written.")
    return line.strip() or default


def _write_files(scaffolding: Scaffold, root: Path) -> None:
    changed = [
        changed_file
        for changed_file in scaffolding.files
        if changed_file.before is not None and _read_current(root / changed_file.path) != changed_file.before
    ]
    if changed:
        raise InputError(Problem("changed while it was looked at; try again", file=changed[0].path))
    done: list[ScaffoldFile] = []
    try:
        for file in scaffolding.files:
            path = root / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(str(path), file.data, NEW_FILE_MODES[file.is_executable], is_durable=True)
            done.append(file)
    except OSError as error:
        for file in done:
            if file.before is None:
                (root / file.path).unlink(missing_ok=True)
            else:
                replace_file(str(root / file.path), file.before, NEW_FILE_MODES[False], is_durable=True)
        where = str(error.filename or root)
        raise InputError(Problem(f"cannot be written: {error.strerror or error}", file=where)) from error


def _read_current(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _print_result(scaffolding: Scaffold, root: Path, request: ScaffoldRequest, *, is_dry: bool) -> None:
    for file in scaffolding.files:
        word = "wrote" if file.before is None else "added to"
        planned = "would write" if file.before is None else "would add to"
        sys.stdout.write(f"{planned if is_dry else word} {make_plain(str(_shorten(root / file.path)))}\n")
    if not is_dry:
        sys.stdout.write(
            f"\nNext: say in the script what '{request.name}' is to do, and in its tests what must hold.\n"
            f"  hookport test {_shorten(root / scaffolding.tests)}\n  hookport trust\n  hookport sync\n"
        )
    sys.stdout.flush()
    findings = [finding for finding in scaffolding.findings if finding.severity != "note"]
    if findings:
        sys.stderr.write(report.format_findings(findings, Paint(sys.stderr), {}))


def _shorten(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
