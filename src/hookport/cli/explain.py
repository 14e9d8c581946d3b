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
            sys.stdout.write(
                f"{paint(code, 'bold')} {paint(f'{kind.severity:5}', kind.severity)} {summarize_kind(kind)}\n"
            )
        return 0
    finding_kind = KINDS.get(args.code.upper())
    if finding_kind is None:
        raise UsageError(f"unknown finding '{args.code}'.{suggest_closest(args.code.upper(), tuple(KINDS))}")
    sys.stdout.write(
        f"{paint(finding_kind.code, 'bold')} ({finding_kind.severity})\n\n{inspect.getdoc(finding_kind)}\n\n"
    )
    sys.stdout.write(f"Reported as: {finding_kind.message}\n")
    if finding_kind.hint:
        sys.stdout.write(f"What to do:  {finding_kind.hint.replace('{{', '{').replace('}}', '}')}\n")
    return 0
