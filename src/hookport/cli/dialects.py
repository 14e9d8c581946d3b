"""List the dialects: formats that people write hooks in, and agents that fire events by themselves."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace

from hookport.agents import find_unusable, get, list_dialects
from hookport.cli import report
from hookport.console.terminal import Paint, format_table
from hookport.findings import DialectUnusable


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport dialects`."""
    parser.add_argument("--json", action="store_true", help="print a JSON list")


def run(args: Namespace) -> int:
    """Print one line per dialect."""
    dialects = [get(name) for name in list_dialects()]
    unused = [DialectUnusable.at("", name=name, why=why) for name, why in find_unusable().items()]
    if unused:
        sys.stderr.write(report.format_findings(unused, Paint(sys.stderr), {}))
    code = report.compute_exit_code(unused, strict=False)
    if args.json:
        rows = [
            {
                "id": dialect.id,
                "title": dialect.title,
                "kind": dialect.kind,
                "facts": dialect.facts,
                "events": len(dialect.events),
                "locations": [{"scope": place.scope, "path": place.path} for place in dialect.locations],
                "sources": dict(dialect.sources),
            }
            for dialect in dialects
        ]
        sys.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return code
    head = ("DIALECT", "KIND", "FACTS OF", "EVENTS", "WRITTEN TO")
    lines = [
        (dialect.id, dialect.kind, dialect.facts, str(len(dialect.events)), dialect.locations[0].path)
        for dialect in dialects
    ]
    sys.stdout.write(format_table([head, *lines], Paint(sys.stdout), spare=("FACTS OF",)))
    return code
