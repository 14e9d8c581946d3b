"""Create a hook: its manifest, a script, a description and two tests that pass.

On a terminal it asks for what is missing. Existing files are never replaced; where a dialect keeps all hooks
in one file, the new hook is added to it and the rest of the file is left untouched.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import NamedTuple

from hookport.base.files import NEW_FILE_MODES, replace_file
from hookport.cli import options, report
from hookport.cli.output import FileDocument, FindingDocument, describe_finding
from hookport.console.document import print_document
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


EXAMPLES = {
    "hookport new no-force-push --event before_tool_execute": "Create a guard in the default dialect",
    "hookport new lint --event PostToolUse --matcher 'Write|Edit' --lang python": "Create a hook in Python",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport new`."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="Name of the hook, such as no-force-push")
    parser.add_argument(
        "--event", metavar="EVENT", help="Event that it runs on, canonical or as any dialect names it"
    )
    parser.add_argument(
        "--dialect",
        metavar="DIALECT",
        choices=list_writable(),
        help=f"Dialect that the hook is written in; {DIALECT} if left out",
    )
    parser.add_argument(
        "--lang",
        metavar="LANG",
        choices=tuple(LANGUAGES),
        help=f"Language of the script; {LANG} if left out",
    )
    parser.add_argument(
        "--matcher",
        metavar="MATCHER",
        help="Tools that it runs on: `shell`, `Write|Edit`, `mcp:SERVER/TOOL` or a regular expression",
    )
    options.add_dry_run(parser)
    options.add_json(parser)


class Document(NamedTuple):
    """The new hook: its files and the folder of its tests, relative to the root of the project."""

    name: str
    root: str
    files: tuple[FileDocument, ...]
    tests: str
    written: bool
    findings: tuple[FindingDocument, ...]


def run(args: Namespace) -> int:
    """Write the files, all or none."""
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    is_asking = is_terminal and not (args.json or (args.name and args.event))
    request = _ask_request(args) if is_asking else _read_request(args)
    root = Path(find_project_root(str(Path.cwd()), os.environ))
    scaffolding = scaffold(request, root)
    if not args.dry_run:
        _write_files(scaffolding, root)
    if args.json:
        print_document(make_document(scaffolding, root, request, is_dry=args.dry_run))
    else:
        _print_result(scaffolding, root, request, is_dry=args.dry_run)
    return 0


def make_document(scaffolding: Scaffold, root: Path, request: ScaffoldRequest, *, is_dry: bool) -> Document:
    """Make the document of `--json`."""
    files = tuple(
        FileDocument(file.path, "created" if file.before is None else "changed") for file in scaffolding.files
    )
    findings = tuple(map(describe_finding, scaffolding.findings))
    return Document(request.name, str(root), files, scaffolding.tests, not is_dry, findings)


def _read_request(args: Namespace) -> ScaffoldRequest:
    missing = [word for word, value in (("NAME", args.name), ("--event EVENT", args.event)) if not value]
    if missing:
        raise UsageError(
            f"missing {' and '.join(missing)}, and no terminal to ask on",
            hint="hookport new no-rm --event before_tool_execute",
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
        raise UsageError("no answer. Nothing was written.")
    return line.strip() or default


def _write_files(scaffolding: Scaffold, root: Path) -> None:
    changed = [
        changed_file
        for changed_file in scaffolding.files
        if changed_file.before is not None and _read_current(root / changed_file.path) != changed_file.before
    ]
    if changed:
        raise InputError(Problem("changed in the meantime; try again", file=changed[0].path))
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
            f"\nNext: write in the script what '{request.name}' does, and in its tests what must hold.\n"
            f"  hookport test {_shorten(root / scaffolding.tests)}\n  hookport trust\n  hookport sync\n"
        )
    sys.stdout.flush()
    findings = [finding for finding in scaffolding.findings if finding.severity != "note"]
    if findings:
        sys.stderr.write(report.format_findings(findings, Paint(sys.stderr), {}))


def _shorten(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
