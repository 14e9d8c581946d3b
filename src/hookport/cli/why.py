"""Show why a hook does not run: every gate on its way, up to the first that is closed; nothing is run.

HOOK is a hook's name, its script or its file. Without it all hooks are walked, a line each. With --event,
--command or --last a concrete call is asked about: without HOOK every hook tells whether it would run on it.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from hookport.agents import get, get_wire, list_agents
from hookport.cli import report
from hookport.cli.events import Asked, asked, command_event, last_event
from hookport.console.terminal import Paint, plain
from hookport.doctor.failures import find_failing, read_failures
from hookport.doctor.health import Machine, find_faults
from hookport.doctor.order import OBEYED, find_gate
from hookport.doctor.status import BY_ITSELF, HookState, read_status
from hookport.doctor.walk import (
    FAILS,
    NOT_BLOCKING,
    OK,
    UNSEEN,
    GateStep,
    HookWalk,
    ProjectView,
    find_hooks,
    make_match_step,
    view_project,
    walk_hook,
)
from hookport.errors import UsageError, suggest_closest
from hookport.findings import BridgeEntry, DuplicateKey, Finding, ScriptMissing
from hookport.install.targets import detect_agents
from hookport.project import plan_builder
from hookport.project.discovery import Discovery, discover, load
from hookport.project.misplaced import find_misplaced
from hookport.runtime import engine, pauses, trust
from hookport.runtime.plan import CallOrigin, is_loaded_by

STYLES = {"ok": "kept", "fails": "dropped", "unseen": "changed"}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport why`."""
    parser.add_argument("hook", metavar="HOOK", nargs="?", help="the hook that does not run")
    parser.add_argument(
        "--agent", "--as", dest="agent", metavar="AGENT", help="the agent (default: those that are here)"
    )
    call = parser.add_mutually_exclusive_group()
    call.add_argument("--event", metavar="FILE", help="an agent's payload, or - for stdin")
    call.add_argument("--command", metavar="LINE", help="a shell command that the agent would run")
    call.add_argument("--last", action="store_true", help="the last event of the journal")
    parser.add_argument(
        "--name", metavar="EVENT", help="the native name of the event, where the payload does not say it"
    )
    parser.add_argument(
        "--source", metavar="SOURCE", help="a file or folder with hooks, instead of this project's"
    )
    parser.add_argument("--json", action="store_true", help="print the same as JSON")


def run(args: Namespace) -> int:
    """Explain one hook gate by gate, or every hook on a call."""
    if args.agent and get(args.agent).kind != "agent" and not args.event:
        raise UsageError(f"'{args.agent}' is no agent.{suggest_closest(args.agent, list_agents())}")
    it = _call(args)
    if it is not None and not args.hook:
        return _explain_call(args, it)
    if args.source:
        raise UsageError("--source needs a call: add --event, --command or --last.")
    return _walk(args, it)


def _call(args: Namespace) -> Asked | None:
    """The concrete call that was asked about, if one was."""
    if args.event:
        return asked(args.event, args.agent, args.name)
    if args.last:
        return last_event(os.environ, args.agent)
    if args.command is None:
        return None
    here = [one.agent for one in detect_agents(str(Path.cwd()), os.environ)]
    return command_event(args.command, args.agent or next(iter(here), list_agents()[0]), str(Path.cwd()))


def _walk(args: Namespace, it: Asked | None) -> int:
    """Walk the gates of a hook, or of all of them, in each agent that is here."""
    env, cwd = dict(os.environ), str(Path.cwd())
    root = discover(cwd, env).root
    chosen = [get(args.agent).id] if args.agent else [one.agent for one in detect_agents(root, env)]
    chosen = [it.wire.id] if it and not args.agent else chosen
    known = view_project(cwd, env, chosen)
    hooks = find_hooks(args.hook, known) if args.hook else known.list_hooks()
    if not hooks:
        return _nowhere(args, known)
    if not chosen:
        raise UsageError("no agent was found here. Name one with --agent.")
    walks = [
        walk_hook(one, agent, known, make_match_step(one, it.event, it.wire, env) if it else None)
        for one in hooks
        for agent in chosen
    ]
    if args.json:
        trees = [{**one._asdict(), "steps": [step._asdict() for step in one.steps]} for one in walks]
        sys.stdout.write(json.dumps(trees, indent=2, ensure_ascii=False) + "\n")
    else:
        if it:
            sys.stdout.write(f"{Paint(sys.stdout)(it.title(), 'bold')}\n")
        for one in walks:
            _show_walk(one, is_brief=not args.hook)
        if not args.hook and known.strays:
            strays = [one.finding for one in known.strays]
            sys.stdout.write(report.grouped(strays, Paint(sys.stdout), {}))
    return int(any(one.failed for one in walks) or bool(not args.hook and known.strays))


def _nowhere(args: Namespace, known: ProjectView) -> int:
    """Tell of a hook that was not found: it stands elsewhere, its file is broken, or the name is mistyped."""
    word = (args.hook or "").lower()
    strays = [
        one.finding
        for one in known.strays
        if not word or word in one.file.lower() or any(word in name.lower() for name in one.hook_names)
    ]
    broken = [
        one.finding
        for one in known.diagnoses
        if _costs_hooks(one.finding) and (not word or word in one.finding.file.lower())
    ]
    told = {one.file for one in broken}
    broken += [
        one
        for one in known.found.findings
        if _costs_hooks(one)
        and one.file not in told
        and (not word or word in f"{one.file} {one.message}".lower())
    ]
    findings = list({(one.code, one.file, one.where): one for one in (*strays, *broken)}.values())
    # Files that no hook can be told apart in may be where it stands.
    if not findings:
        findings = [one.finding for one in known.strays]
        every = (*known.found.findings, *(one.finding for one in known.diagnoses))
        findings += {one.message: one for one in every if _costs_hooks(one)}.values()
    if args.json:
        steps = [
            GateStep(find_gate(one.code, args.agent or ""), FAILS, one.message, one.hint, one.code)._asdict()
            for one in findings
        ]
        sys.stdout.write(json.dumps([{"hook": args.hook, "steps": steps}], indent=2) + "\n")
        return 1
    names = tuple(dict.fromkeys(map(plan_builder.name_entry, known.list_hooks())))
    what = f"no hook '{args.hook}'" if args.hook else "no hooks"
    sys.stdout.write(plain(f"{what} in {known.found.root}.{suggest_closest(args.hook or '', names)}") + "\n")
    if findings:
        sys.stdout.write(report.grouped(findings, Paint(sys.stdout), {}))
    elif names:
        sys.stdout.write(plain(f"hooks: {', '.join(names)}") + "\n")
    else:
        sys.stdout.write("`hookport new` writes one.\n")
    return 1


def _costs_hooks(finding: Finding) -> bool:
    """Whether a finding may be why a hook is not found: its file is broken, or read in part."""
    return finding.severity == "error" or finding.code == DuplicateKey.code


def _show_walk(one: HookWalk, *, is_brief: bool) -> None:
    """The gates of one hook in one agent, or their result in a line."""
    paint = Paint(sys.stdout)
    failed = one.failed
    verdict = f"stops at '{failed.gate}'" if failed else "runs, and its deny holds"
    if not failed and any(step.gate == OBEYED and step.text.startswith(NOT_BLOCKING) for step in one.steps):
        verdict = "runs, and cannot block"
    if not failed and any(step.state == UNSEEN for step in one.steps):
        verdict = "runs, as far as can be seen"
    sys.stdout.write(paint(plain(f"{one.hook} in {one.agent}: {verdict}"), "bold") + "\n")
    for step in [failed] if is_brief and failed else () if is_brief else one.steps:
        word = paint(f"{step.state:6}", STYLES[step.state])
        code = f"{step.code} " if step.code else ""
        sys.stdout.write(f"  {word} {step.gate:10} {plain(f'{code}{step.text}')}\n")
        if step.fix and step.state != OK:
            sys.stdout.write(paint(plain(f"{'':20}fix: {step.fix}"), "note") + "\n")


def _explain_call(args: Namespace, it: Asked) -> int:
    """Tell of every hook whether it would run on a call."""
    env = dict(os.environ)
    found = load(args.source, None, env) if args.source else discover(str(Path.cwd()), env)
    planned = (
        [plan_builder.plan_entry(one) for one in plan_builder.list_runnable(found)]
        if args.source
        else plan_builder.judge_entries(found, env)
    )
    hooks = sorted(planned, key=lambda hook: -hook.priority)
    setting = engine.RunSetting(it.wire, get_wire, env)
    runs = engine.explain_hooks(it.event, hooks, setting)
    if not args.source:
        runs = _left_to_agent(runs, it.wire.id, found.root, env)
        paused = pauses.find_pauses(found.root, env)
        runs = [_approved(_rested(run, paused), found.root, env) for run in runs]
    ill = _illnesses(runs, found, env)
    # Entries that call us are how an agent asks; only in a file that was named are they of interest.
    passed = plan_builder.find_left_out(found)
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
                    **({"fails": ill[id(one)].message} if id(one) in ill else {}),
                }
                for one in runs
            ],
            "findings": [report.as_placed_json(one) for one in (*findings, *ill.values())],
        }
        sys.stdout.write(json.dumps(tree, indent=2, ensure_ascii=False, default=str) + "\n")
        return report.worst([*findings, *ill.values()], strict=False)
    paint = Paint(sys.stdout)
    sys.stdout.write(f"{paint(it.title(), 'bold')}\n")
    for one in runs:
        word = paint("runs    ", "kept") if one.matched else paint("does not", "note")
        word = paint("fails   ", "dropped") if id(one) in ill else word
        told = f"{one.why}; {ill[id(one)].message}" if id(one) in ill else one.why
        sys.stdout.write(f"  {word}  {plain(one.hook.name)}: {plain(told)}\n")
    if not runs:
        sys.stdout.write(f"  there are no hooks in {plain(found.root)}\n")
    findings += ill.values()
    if not args.source:
        findings += [one.finding for one in find_misplaced(found.root, env)]
    if findings:
        sys.stderr.write(report.grouped(findings, Paint(sys.stderr), {}))
    return report.worst(findings, strict=False)


def _illnesses(runs: Sequence[engine.HookRun], found: Discovery, env: dict[str, str]) -> dict[int, Finding]:
    """What keeps hooks that would be run from doing their work."""
    machine, failures = Machine(Path(found.root), env), read_failures(env)
    by_place = {(one.file, one.place): one for one in found.hooks}
    ill: dict[int, Finding] = {}
    for run in runs:
        one = by_place.get((run.hook.file, run.hook.place)) if run.matched else None
        if one is None:
            continue
        failing = find_failing(one, failures, machine)
        faults = [*find_faults(one, machine, by_bridge=True), *([failing] if failing else [])]
        missing = [path for path in one.scripts if not Path(path).exists()]
        if missing:
            told = ScriptMissing.at(one.place, script=machine.name_of(Path(missing[0])))
            ill[id(run)] = told._replace(file=one.file)
        elif faults:
            ill[id(run)] = faults[0].finding
    return ill


def _rested(run: engine.HookRun, paused: Mapping[str, float]) -> engine.HookRun:
    over = pauses.find_pause_end(paused, run.hook.name)
    why = f"{engine.PAUSED} until {pauses.format_time(over)}"
    return run.replace(matched=False, why=why) if run.matched and over else run


def _approved(run: engine.HookRun, root: str, env: dict[str, str]) -> engine.HookRun:
    why = trust.find_hook_objection(run.hook, root, env)
    if trust.is_overridden(run.hook):
        why = "a hook of the project takes its place"
    return run.replace(matched=False, why=why) if run.matched and why else run


def _left_to_agent(
    runs: list[engine.HookRun], agent: str, root: str, env: dict[str, str]
) -> list[engine.HookRun]:
    """What is known of the hooks whose file the agent loads itself, in the words of `status`."""
    caller = CallOrigin(str(Path.cwd()), env=env)
    loaded = [run for run in runs if run.matched and is_loaded_by(run.hook.loaded_by, agent, root, caller)]
    if not loaded:
        return runs
    rows = [row for state in read_status(caller.start, env, [agent]).agents for row in state.hooks]
    known = {(row.file, row.place): row for row in rows}
    title = get(agent).title
    return [
        run.replace(matched=False, why=_by_itself(run, title, known.get((run.hook.file, run.hook.place))))
        if run in loaded
        else run
        for run in runs
    ]


def _by_itself(run: engine.HookRun, title: str, row: HookState | None) -> str:
    if row and row.state != BY_ITSELF:
        return f"{title} does not run it: {row.reason}"
    why = f"left to {title}, which loads {run.hook.file} itself"
    if not row or not row.reason:
        return why
    return f"{why}; {row.level}: {row.reason}" + (f". {row.fix}" if row.fix else "")
