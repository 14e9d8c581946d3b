"""Show for every hook whether it would run on an event, and why; nothing is run.

Without --source the hooks are those that a dispatch in this folder would look at.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookport import planning
from hookport.cli import report
from hookport.cli.events import asked
from hookport.cli.run import add_event
from hookport.cli.terminal import Paint
from hookport.dialects._wiring import wire
from hookport.findings import BridgeEntry
from hookport.project.discovery import discover, load
from hookport.runtime import engine, trust
from hookport.runtime.plan import CalledFrom, is_loaded_by


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport why`."""
    add_event(parser)
    parser.add_argument(
        "--source", metavar="SOURCE", help="a file or folder with hooks, instead of this project's"
    )
    parser.add_argument("--json", action="store_true", help="print the same as JSON")


def run(args: Namespace) -> int:
    """Explain every hook."""
    it = asked(args.event, args.agent, args.name)
    env = dict(os.environ)
    found = load(args.source, None, env) if args.source else discover(str(Path.cwd()), env)
    planned = (
        [planning.planned(one) for one in planning.runnable(found)]
        if args.source
        else planning.judged(found, env)
    )
    hooks = sorted(planned, key=lambda hook: -hook.priority)
    setting = engine.Setting(it.wire, wire, env)
    runs = engine.explain(it.event, hooks, setting)
    if not args.source:
        runs = [_approved(_by_itself(run, it.wire.id, found.root, env), found.root, env) for run in runs]
    # Entries that call us are how an agent asks; only in a file that was named are they of interest.
    passed = planning.left_out(found)
    findings = [*found.findings, *(one for one in passed if args.source or one.code != BridgeEntry.code)]
    if args.json:
        tree = {
            "event": it.as_json(it.event),
            "hooks": [
                {
                    "hook": one.hook.name,
                    "source": one.hook.file,
                    "place": one.hook.place,
                    "runs": one.matched,
                    "why": one.why,
                }
                for one in runs
            ],
            "findings": [report.as_placed_json(one) for one in findings],
        }
        sys.stdout.write(json.dumps(tree, indent=2, ensure_ascii=False, default=str) + "\n")
        return report.worst(findings, strict=False)
    paint = Paint(sys.stdout)
    sys.stdout.write(f"{paint(it.title(), 'bold')}\n")
    for one in runs:
        word = paint("runs    ", "kept") if one.matched else paint("does not", "note")
        sys.stdout.write(f"  {word}  {one.hook.name}: {one.why}\n")
    if not runs:
        sys.stdout.write(f"  there are no hooks in {found.root}\n")
    if findings:
        sys.stderr.write(report.grouped(findings, Paint(sys.stderr), {}))
    return report.worst(findings, strict=False)


def _approved(run: engine.Run, root: str, env: dict[str, str]) -> engine.Run:
    why = trust.verdict(run.hook, root, env)
    if trust.gives_way(run.hook):
        why = "a hook of the project takes its place"
    return run.replace(matched=False, why=why) if run.matched and why else run


def _by_itself(run: engine.Run, agent: str, root: str, env: dict[str, str]) -> engine.Run:
    caller = CalledFrom(str(Path.cwd()), env=env)
    if run.matched and is_loaded_by(run.hook.loaded_by, agent, root, caller):
        return run.replace(matched=False, why=f"the agent loads {run.hook.file} and runs it by itself")
    return run
