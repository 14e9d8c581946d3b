"""List the supported dialects: formats that people write hooks in, and agents that fire events."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import Literal, NamedTuple

from hookport.agents import Dialect, find_unusable, get, list_dialects
from hookport.cli import options, report
from hookport.cli.output import FindingDocument, describe_finding
from hookport.console.document import print_document
from hookport.console.terminal import Paint, format_table
from hookport.findings import DialectUnusable, Finding

EXAMPLES = {"hookport dialects": "List formats and agents"}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport dialects`."""
    options.add_json(parser)


class PlaceDocument(NamedTuple):
    """Where a dialect keeps hooks."""

    scope: str
    path: str


class DialectDocument(NamedTuple):
    """One dialect; `facts` is the version or the date that its tables describe."""

    id: str
    title: str
    kind: Literal["agent", "format"]
    facts: str
    events: int
    locations: tuple[PlaceDocument, ...]
    sources: dict[str, str]


class Document(NamedTuple):
    """Every dialect that can be used, and a finding for each that cannot."""

    dialects: tuple[DialectDocument, ...]
    findings: tuple[FindingDocument, ...]


def run(args: Namespace) -> int:
    """Print one line per dialect."""
    dialects = [get(name) for name in list_dialects()]
    unused = [DialectUnusable.at("", name=name, why=why) for name, why in find_unusable().items()]
    if unused:
        sys.stderr.write(report.format_findings(unused, Paint(sys.stderr), {}))
    code = report.compute_exit_code(unused, strict=False)
    if args.json:
        print_document(make_document(dialects, unused))
        return code
    head = ("DIALECT", "KIND", "FACTS OF", "EVENTS", "WRITTEN TO")
    lines = [
        (dialect.id, dialect.kind, dialect.facts, str(len(dialect.events)), dialect.locations[0].path)
        for dialect in dialects
    ]
    sys.stdout.write(format_table([head, *lines], Paint(sys.stdout), spare=("FACTS OF",)))
    return code


def make_document(dialects: Iterable[Dialect], unused: Iterable[Finding]) -> Document:
    """Make the document of `--json`."""
    return Document(
        tuple(
            DialectDocument(
                dialect.id,
                dialect.title,
                dialect.kind,
                dialect.facts,
                len(dialect.events),
                tuple(PlaceDocument(place.scope, place.path) for place in dialect.locations),
                dict(dialect.sources),
            )
            for dialect in dialects
        ),
        tuple(map(describe_finding, unused)),
    )
