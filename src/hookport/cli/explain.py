"""Explain a finding by its code, or list all of them."""

from __future__ import annotations

import inspect
import sys
from argparse import ArgumentParser, Namespace
from typing import Literal, NamedTuple

from hookport.cli import options
from hookport.cli.report import summarize_kind
from hookport.console.document import print_document
from hookport.console.terminal import Paint
from hookport.errors import UsageError
from hookport.findings import KINDS, Kind

EXAMPLES = {
    "hookport explain HP202": "Show what a finding means and what to do",
    "hookport explain --json": "List every finding as JSON",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport explain`."""
    parser.add_argument("code", metavar="CODE", nargs="?", help="Code of a finding, such as HP202")
    options.add_json(parser)


class KindDocument(NamedTuple):
    """One kind of finding; `message` and `hint` have the names of values in braces."""

    code: str
    severity: Literal["error", "loss", "note"]
    effect: str
    summary: str
    page: str
    message: str
    hint: str


class Document(NamedTuple):
    """The findings that were asked for."""

    findings: tuple[KindDocument, ...]


def run(args: Namespace) -> int:
    """Print the page of one finding, or a line for each."""
    paint = Paint(sys.stdout)
    code = (args.code or "").upper()
    if code and code not in KINDS:
        raise UsageError(
            f"unknown finding '{args.code}'",
            hint="`hookport explain` lists all of them",
        )
    if args.json:
        kinds = [KINDS[code]] if code else [kind for _, kind in sorted(KINDS.items())]
        print_document(Document(tuple(map(describe_kind, kinds))))
        return 0
    if not code:
        for name, kind in sorted(KINDS.items()):
            severity = paint(f"{kind.severity:5}", kind.severity)
            sys.stdout.write(
                paint.fold(f"{paint(name, 'bold')} {severity} {summarize_kind(kind)}", 12) + "\n"
            )
        return 0
    finding_kind = KINDS[code]
    sys.stdout.write(f"{paint(finding_kind.code, 'bold')} ({finding_kind.severity})\n\n")
    sys.stdout.write(_fold_page(inspect.getdoc(finding_kind) or "", paint))
    sys.stdout.write("\n" + paint.fold(f"Reported as: {finding_kind.message}", 13) + "\n")
    if finding_kind.hint:
        sys.stdout.write(paint.fold(f"What to do:  {_unescape(finding_kind.hint)}", 13) + "\n")
    return 0


def _fold_page(text: str, paint: Paint) -> str:
    """Fold paragraphs for a terminal that is narrower than their lines; lists stay lists."""
    if all(len(line) <= paint.width for line in text.splitlines()) or not paint.width:
        return f"{text}\n"
    paragraphs = []
    for paragraph in text.split("\n\n"):
        lines = paragraph.split("\n")
        is_prose = not any(line.startswith((" ", "-", "*", "|", "`" * 3)) for line in lines)
        parts = [" ".join(lines)] if is_prose else lines
        paragraphs.append("\n".join(paint.fold(part) for part in parts))
    return "\n\n".join(paragraphs) + "\n"


def describe_kind(kind: type[Kind]) -> KindDocument:
    """Describe a kind of finding for `--json`."""
    page = inspect.getdoc(kind) or ""
    texts = (summarize_kind(kind), page, _unescape(kind.message), _unescape(kind.hint))
    return KindDocument(kind.code, kind.severity, kind.effect, *texts)


def _unescape(template: str) -> str:
    return template.replace("{{", "{").replace("}}", "}")
