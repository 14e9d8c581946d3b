"""List the dialects: formats that people write hooks in, and agents that fire events by themselves."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace

from hookport.agents import find_unusable, get, list_dialects
from hookport.cli import report
from hookport.console.terminal import Paint, table
from hookport.findings import DialectUnusable


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport dialects`."""
    parser.add_argument("--json", action="store_true", help="print a JSON list")


def run(args: Namespace) -> int:
    """Print one line per dialect."""
    found = [get(name) for name in list_dialects()]
    unused = [DialectUnusable.at("", name=name, why=why) for name, why in find_unusable().items()]
    if unused:
        sys.stderr.write(report.grouped(unused, Paint(sys.stderr), {}))
    code = report.worst(unused, strict=False)
    if args.json:
        rows = [
            {
                "id": one.id,
                "title": one.title,
                "kind": one.kind,
                "facts": one.facts,
                "events": len(one.events),
                "locations": [{"scope": place.scope, "path": place.path} for place in one.locations],
                "sources": dict(one.sources),
            }
            for one in found
        ]
        sys.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return code
    head = ("dialect", "kind", "facts of", "events", "written to")
    lines = [(one.id, one.kind, one.facts, str(len(one.events)), one.locations[0].path) for one in found]
    sys.stdout.write(table([head, *lines], Paint(sys.stdout)))
    return code
