"""Explain a finding by its code, or list all of them."""

from __future__ import annotations

import inspect
import sys
from argparse import ArgumentParser, Namespace

from hookport.cli.report import summarize_kind
from hookport.console.terminal import Paint
from hookport.errors import UsageError, suggest_closest
from hookport.findings import KINDS


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport explain`."""
    parser.add_argument(
        "code", metavar="CODE", nargs="?", help="the code of a finding, such as HP202; all if left out"
    )


def run(args: Namespace) -> int:
    """Print the page of one finding, or a line for each."""
    paint = Paint(sys.stdout)
    if args.code is None:
        for code, kind in sorted(KINDS.items()):
            severity = paint(f"{kind.severity:5}", kind.severity)
            sys.stdout.write(
                paint.fold(f"{paint(code, 'bold')} {severity} {summarize_kind(kind)}", 12) + "\n"
            )
        return 0
    finding_kind = KINDS.get(args.code.upper())
    if finding_kind is None:
        raise UsageError(f"unknown finding '{args.code}'.{suggest_closest(args.code.upper(), tuple(KINDS))}")
    sys.stdout.write(f"{paint(finding_kind.code, 'bold')} ({finding_kind.severity})\n\n")
    sys.stdout.write(_fold_page(inspect.getdoc(finding_kind) or "", paint))
    sys.stdout.write("\n" + paint.fold(f"Reported as: {finding_kind.message}", 13) + "\n")
    if finding_kind.hint:
        hint = finding_kind.hint.replace("{{", "{").replace("}}", "}")
        sys.stdout.write(paint.fold(f"What to do:  {hint}", 13) + "\n")
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
