"""Convert hooks from one dialect to another, with a finding for everything that is lost.

The document goes to stdout, the findings to stderr. With --output, the files land below DIR where the agent
looks for them (with `--to all`, below DIR/DIALECT). An existing file is replaced only with --force, which
keeps the old one as NAME.orig.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from itertools import count
from pathlib import Path
from typing import NamedTuple

from hookport.agents import get, list_dialects
from hookport.base.files import NEW_FILE_MODES, replace_file
from hookport.cli import options, report
from hookport.cli.output import FindingDocument, describe_finding
from hookport.cli.problems import print_line
from hookport.console.document import print_document
from hookport.console.progress import Progress
from hookport.console.terminal import Paint, make_plain
from hookport.convert.pipeline import Conversion, File, Reading, convert_all
from hookport.errors import InputError, Problem
from hookport.findings import EFFECTS
from hookport.model.hooks import Hook
from hookport.project import sources

EXAMPLES = {
    "hookport convert .claude/settings.json --to {third}": "Print the hooks in the settings of another agent",
    "hookport convert . --to {other} --output build": "Write the files below build/",
    "hookport convert hooks.json --from {format} --to all --json": "Compare what each dialect loses",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport convert`."""
    parser.add_argument("path", metavar="PATH", help="File or folder with hooks")
    options.add_from(parser, "source")
    parser.add_argument(
        "--to", dest="target", metavar="DIALECT", required=True, help="Dialect to write, or `all`"
    )
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="Write the files below this folder")
    parser.add_argument(
        "--bare",
        action="store_true",
        help="Keep commands unchanged instead of wrapping them in `hookport wrap`",
    )
    parser.add_argument(
        "--force", action="store_true", help="Replace existing files and keep them as NAME.orig"
    )
    parser.add_argument("--strict", action="store_true", help="Stop at any loss and write nothing")
    options.add_quiet(parser)
    options.add_json(parser)


class WrittenFile(NamedTuple):
    """A file of the target dialect, relative to the project, or to the home folder after `~`."""

    path: str
    text: str


class ConversionDocument(NamedTuple):
    """The hooks in one dialect, and everything that is not the same there."""

    to: str
    files: tuple[WrittenFile, ...]
    findings: tuple[FindingDocument, ...]


class Document(NamedTuple):
    """One conversion, or with `--to all` one for each other dialect."""

    source: str
    conversions: tuple[ConversionDocument, ...]


def run(args: Namespace) -> int:
    """Convert, print or write, report; exit code 1 where something is lost that must not be."""
    targets = [get(name) for name in (list_dialects() if args.target == "all" else [args.target])]
    source = sources.find(Path(args.path), args.source)
    reading = sources.read(source)
    if source.recognised:
        sys.stderr.write(f"{make_plain(args.path)}: detected as {source.dialect.id}\n")
    if args.target == "all":
        targets = [target for target in targets if target.id != source.dialect.id]
    with Progress("convert"):
        results = convert_all(reading, targets, bare=args.bare)
    code = max(
        (report.compute_exit_code(result.findings, strict=args.strict) for result in results), default=0
    )
    stopped = args.strict and code != 0
    if args.output and not stopped:
        for path in write_files(results, args.output, is_all=args.target == "all", force=args.force):
            sys.stderr.write(f"wrote {make_plain(str(path))}\n")
    if args.json:
        print_document(make_document(source.dialect.id, results))
        return code
    if not args.output and not stopped:
        _write_stdout(_join_documents(results))
    _print_report(results, reading, quiet=args.quiet)
    if stopped:
        print_line("error", "stopped by --strict. Nothing was written.")
    return code


def _write_stdout(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


def make_document(source: str, results: list[Conversion]) -> Document:
    """Make the document of `--json`."""
    return Document(
        source,
        tuple(
            ConversionDocument(
                result.target,
                tuple(WrittenFile(file.path, file.text) for file in result.files),
                tuple(map(describe_finding, result.findings)),
            )
            for result in results
        ),
    )


def _join_documents(results: list[Conversion]) -> str:
    """Join the files: one as it is, several with their paths."""
    files = [(result, file) for result in results for file in result.files]
    if len(files) == 1 and len(results) == 1:
        return files[0][1].text
    parts = []
    for result, file in files:
        head = f"{result.target}: {file.path}" if len(results) > 1 else file.path
        parts.append(f"==> {head} <==\n{file.text}{'' if file.text.endswith(chr(10)) else chr(10)}")
    return "\n".join(parts)


def _print_report(results: list[Conversion], reading: Reading, *, quiet: bool) -> None:
    paint = Paint(sys.stderr)
    titles = {number: make_title(hook) for number, hook in enumerate(reading.decoded.manifest.hooks)}
    heads = {number: report.Head(where, "", 0, 0) for number, where in enumerate(reading.wheres)}
    for result in results:
        findings = [finding for finding in result.findings if not (quiet and finding.severity == "note")]
        counts = Counter(result.effects)
        line = ", ".join(
            f"{counts[effect]} {paint(effect, effect) if counts[effect] else effect}" for effect in EFFECTS
        )
        count = len(result.hooks)
        summary = f"{result.source} → {result.target}: {count} hook{'s' * (count != 1)}: {line}"
        sys.stderr.write(f"\n{paint.fold(summary, 2)}\n")
        sys.stderr.write(report.format_findings(findings, paint, titles, heads))


def make_title(hook: Hook) -> str:
    """Make the title of a hook: its name, or its event and tools."""
    tools = "|".join(
        f"{term.value}/{term.tool}" if term.kind == "mcp" and term.tool else term.value
        for term in hook.matcher
    )
    return hook.name or f"{hook.event}{' ' + tools if tools else ''}"


def write_files(results: list[Conversion], folder: Path, *, is_all: bool, force: bool) -> list[Path]:
    """Write every file or none: what exists and differs stops it all before the first is written."""
    planned: list[tuple[Path, File]] = []
    for result in results:
        below = folder / result.target if is_all else folder
        planned += [(below / file.path.removeprefix("~/").lstrip("/"), file) for file in result.files]
    taken = [path for path, file in planned if _is_taken(path, _encode_file(file))]
    if taken and not force:
        raise InputError(
            *(
                Problem(
                    "exists with other content; choose another folder, or replace it with --force",
                    file=str(path),
                )
                for path in taken
            )
        )
    undo: list[tuple[Path, Path | None]] = []
    try:
        for path, file in planned:
            path.parent.mkdir(parents=True, exist_ok=True)
            undo.append((path, _put_aside(path) if path in taken else None))
            replace_file(
                str(path), _encode_file(file), NEW_FILE_MODES[file.text.startswith("#!")], is_durable=True
            )
    except OSError as error:
        _take_back(undo)
        where = error.filename or str(folder)
        raise InputError(Problem(f"cannot be written: {error.strerror or error}", file=str(where))) from None
    return [path for path, _ in planned]


def _is_taken(path: Path, data: bytes) -> bool:
    try:
        return path.is_symlink() or (path.exists() and path.read_bytes() != data)
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", file=str(path))) from None


def _put_aside(path: Path) -> Path:
    """Rename an existing file to the next free name."""
    names = (path.with_name(f"{path.name}.orig{number or ''}") for number in count())
    aside = next(name for name in names if not name.exists())
    path.replace(aside)
    return aside


def _take_back(undo: list[tuple[Path, Path | None]]) -> None:
    for path, aside in reversed(undo):
        if aside:
            aside.replace(path)
        else:
            path.unlink(missing_ok=True)


def _encode_file(file: File) -> bytes:
    return file.text.encode("utf-8", "surrogateescape")
