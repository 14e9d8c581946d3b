"""Explain why a hook does not run: every gate on its way, up to the first that is closed. Nothing is run.

HOOK is the name of a hook, its script or its file; without it every hook is explained in one line. --payload,
--command and --last name a concrete call: without HOOK, every hook is listed with whether it would run.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hookport.agents import get, get_wire, list_agents
from hookport.cli import options, report
from hookport.cli.events import NamedEvent, find_last_event, make_command_event, read_named_event
from hookport.cli.output import EventDocument, FindingDocument, describe_finding
from hookport.cli.run import add_event_name
from hookport.console.document import print_document
from hookport.console.progress import Progress
from hookport.console.terminal import Paint, make_plain
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


EXAMPLES = {
    "hookport why": "Explain every hook in each detected agent",
    "hookport why guard.sh --agent {other}": "Explain one hook in one agent",
    "hookport why --command 'rm -rf build'": "Show which hooks would run on a command",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of `hookport why`."""
    parser.add_argument("hook", metavar="HOOK", nargs="?", help="Name, script or file of a hook")
    options.add_agents(parser, "Only in these agents, detected or not")
    call = parser.add_mutually_exclusive_group()
    call.add_argument(
        "--payload", metavar="FILE", help="Payload of an event as an agent sends it; - for stdin"
    )
    call.add_argument("--command", metavar="LINE", help="Shell command that the agent would run")
    call.add_argument("--last", action="store_true", help="Last event of the journal")
    add_event_name(parser)
    parser.add_argument(
        "--hooks", metavar="PATH", help="File or folder with hooks, instead of this project's hooks"
    )
    options.add_json(parser)


class WalkDocument(NamedTuple):
    """A hook on its way to an effect in an agent; the last step is the first closed gate, if one is.

    Where no such hook is known, the steps say why, and `file`, `place` and `agent` are empty.
    """

    hook: str
    file: str
    place: str
    agent: str
    steps: tuple[GateStep, ...]


class CallHook(NamedTuple):
    """Whether a hook would run on the call; `fails` is why it cannot do its work, or null."""

    hook: str
    source: str
    place: str
    runs: bool
    why: str
    fails: str | None


class Document(NamedTuple):
    """The call, null without one; `walks` of the hooks, or `hooks` where only the call is named."""

    event: EventDocument | None
    walks: tuple[WalkDocument, ...]
    hooks: tuple[CallHook, ...]
    findings: tuple[FindingDocument, ...]


def run(args: Namespace) -> int:
    """Explain one hook gate by gate, or every hook on a call."""
    named_event = _read_call(args)
    if named_event is not None and not args.hook:
        return _explain_call(args, named_event)
    if args.hooks:
        raise UsageError("--hooks needs a call", hint="add --payload FILE, --command LINE or --last")
    return _walk_hooks(args, named_event)


def _read_call(args: Namespace) -> NamedEvent | None:
    """Read the call that the options name, if any."""
    agent = next(iter(args.agents), None)
    if len(args.agents) > 1 and (args.payload or args.last or args.command is not None):
        raise UsageError("a call is one agent's: name one with --agent")
    if args.payload:
        return read_named_event(args.payload, agent, args.event)
    if args.last:
        return find_last_event(os.environ, agent)
    if args.command is None:
        return None
    detected_agents = [target.agent for target in detect_agents(str(Path.cwd()), os.environ)]
    return make_command_event(
        args.command, agent or next(iter(detected_agents), list_agents()[0]), str(Path.cwd())
    )


def _walk_hooks(args: Namespace, named_event: NamedEvent | None) -> int:
    """Walk the gates of a hook, or of all hooks, in each detected agent."""
    env, cwd = dict(os.environ), str(Path.cwd())
    root = discover(cwd, env).root
    chosen = args.agents or [target.agent for target in detect_agents(root, env)]
    chosen = [named_event.wire.id] if named_event and not args.agents else chosen
    with Progress("why"):
        known = view_project(cwd, env, chosen)
    hooks = find_hooks(args.hook, known) if args.hook else known.list_hooks()
    if not hooks:
        return _explain_missing(args, known)
    if not chosen:
        raise UsageError("no agents found", hint="name one with --agent")
    walks = [
        walk_hook(
            hook,
            agent,
            known,
            make_match_step(hook, named_event.event, named_event.wire, env) if named_event else None,
        )
        for hook in hooks
        for agent in chosen
    ]
    if args.json:
        event = named_event.describe(named_event.event) if named_event else None
        documents = tuple(WalkDocument(*hook_walk) for hook_walk in walks)
        stray_findings = () if args.hook else (describe_finding(stray.finding) for stray in known.strays)
        print_document(Document(event, documents, (), tuple(stray_findings)))
    else:
        if named_event:
            sys.stdout.write(_format_title(named_event, Paint(sys.stdout)))
        for shown_walk in walks:
            _print_walk(shown_walk, is_brief=not args.hook)
        if not args.hook and known.strays:
            strays = [stray.finding for stray in known.strays]
            sys.stdout.write(report.format_findings(strays, Paint(sys.stdout), {}))
    return int(any(hook_walk.failed for hook_walk in walks) or bool(not args.hook and known.strays))


def _explain_missing(args: Namespace, known: ProjectView) -> int:
    """Explain why a hook was not found: it is elsewhere, its file is broken, or the name is mistyped."""
    word = (args.hook or "").lower()
    strays = [
        stray.finding
        for stray in known.strays
        if not word or word in stray.file.lower() or any(word in name.lower() for name in stray.hook_names)
    ]
    broken = [
        diagnosis.finding
        for diagnosis in known.diagnoses
        if _costs_hooks(diagnosis.finding) and (not word or word in diagnosis.finding.file.lower())
    ]
    broken_files = {finding.file for finding in broken}
    broken += [
        finding
        for finding in known.discovery.findings
        if _costs_hooks(finding)
        and finding.file not in broken_files
        and (not word or word in f"{finding.file} {finding.message}".lower())
    ]
    findings = list(
        {(finding.code, finding.file, finding.where): finding for finding in (*strays, *broken)}.values()
    )
    # Files that no hook can be told apart in may be where it stands.
    if not findings:
        findings = [stray.finding for stray in known.strays]
        every = (*known.discovery.findings, *(diagnosis.finding for diagnosis in known.diagnoses))
        findings += {finding.message: finding for finding in every if _costs_hooks(finding)}.values()
    if args.json:
        agent = next(iter(args.agents), "")
        steps = tuple(
            GateStep(find_gate(finding.code, agent), FAILS, finding.message, finding.hint, finding.code)
            for finding in findings
        )
        walk = WalkDocument(args.hook or "", "", "", "", steps)
        print_document(Document(None, (walk,), (), tuple(map(describe_finding, findings))))
        return 1
    names = tuple(dict.fromkeys(map(plan_builder.name_entry, known.list_hooks())))
    what = f"no hook '{args.hook}'" if args.hook else "no hooks"
    paint = Paint(sys.stdout)
    line = make_plain(f"{what} in {known.discovery.root}.{suggest_closest(args.hook or '', names)}")
    sys.stdout.write(f"{paint.fold(line, 2)}\n")
    if findings:
        sys.stdout.write(report.format_findings(findings, Paint(sys.stdout), {}))
    elif names:
        sys.stdout.write(paint.fold(make_plain(f"hooks: {', '.join(names)}"), 2) + "\n")
    else:
        sys.stdout.write("hint: `hookport new` creates one\n")
    return 1


def _costs_hooks(finding: Finding) -> bool:
    """Whether a finding may be why a hook is not found: its file is broken, or read in part."""
    return finding.severity == "error" or finding.code == DuplicateKey.code


def _print_walk(hook_walk: HookWalk, *, is_brief: bool) -> None:
    """Print the gates of one hook in one agent, or their result in a line."""
    paint = Paint(sys.stdout)
    failed = hook_walk.failed
    verdict = f"stops at '{failed.gate}'" if failed else "runs, and its deny holds"
    if not failed and any(
        step.gate == OBEYED and step.text.startswith(NOT_BLOCKING) for step in hook_walk.steps
    ):
        verdict = "runs, and cannot block"
    if not failed and any(step.state == UNSEEN for step in hook_walk.steps):
        verdict = "runs, as far as hookport can check"
    title = make_plain(f"{hook_walk.hook} in {hook_walk.agent}: {verdict}")
    sys.stdout.write(f"{paint.fold(paint(title, 'bold'), 2)}\n")
    for step in [failed] if is_brief and failed else () if is_brief else hook_walk.steps:
        word = paint(f"{step.state:6}", STYLES[step.state])
        code = f"{step.code} " if step.code else ""
        line = f"  {word} {step.gate:10} {make_plain(f'{code}{step.text}')}"
        sys.stdout.write(f"{paint.fold(line, 20)}\n")
        if step.fix and step.state != OK:
            fix = make_plain(f"{'':20}fix: {step.fix}")
            sys.stdout.write(f"{paint.fold(paint(fix, 'note'), 20)}\n")


def _format_title(named_event: NamedEvent, paint: Paint) -> str:
    return f"{paint.fold(paint(named_event.title(), 'bold'), 2)}\n"


def _explain_call(args: Namespace, named_event: NamedEvent) -> int:
    """Print for every hook whether it would run on a call."""
    env = dict(os.environ)
    discovery = load(args.hooks, None, env) if args.hooks else discover(str(Path.cwd()), env)
    planned = (
        [plan_builder.plan_entry(hook) for hook in plan_builder.list_runnable(discovery)]
        if args.hooks
        else plan_builder.judge_entries(discovery, env)
    )
    hooks = sorted(planned, key=lambda hook: -hook.priority)
    setting = engine.RunSetting(named_event.wire, get_wire, env)
    runs = engine.explain_hooks(named_event.event, hooks, setting)
    if not args.hooks:
        runs = _apply_agent_loading(runs, named_event.wire.id, discovery.root, env)
        paused = pauses.find_pauses(discovery.root, env)
        runs = [_apply_approval(_apply_pause(run, paused), discovery.root, env) for run in runs]
    ill = _find_illnesses(runs, discovery, env)
    # Entries that call us are how an agent asks; only in a file that was named are they of interest.
    passed = plan_builder.find_left_out(discovery)
    findings = [
        *discovery.findings,
        *(finding for finding in passed if args.hooks or finding.code != BridgeEntry.code),
    ]
    if args.json:
        hooks_on_call = tuple(
            CallHook(
                explained.hook.name,
                explained.hook.file,
                explained.hook.place,
                explained.matched,
                explained.why,
                ill[id(explained)].message if id(explained) in ill else None,
            )
            for explained in runs
        )
        described = tuple(map(describe_finding, (*findings, *ill.values())))
        print_document(Document(named_event.describe(named_event.event), (), hooks_on_call, described))
        return report.compute_exit_code([*findings, *ill.values()], strict=False)
    paint = Paint(sys.stdout)
    sys.stdout.write(_format_title(named_event, paint))
    for hook_run in runs:
        word = paint("runs    ", "kept") if hook_run.matched else paint("does not", "note")
        word = paint("fails   ", "dropped") if id(hook_run) in ill else word
        reason = f"{hook_run.why}; {ill[id(hook_run)].message}" if id(hook_run) in ill else hook_run.why
        line = f"  {word}  {make_plain(hook_run.hook.name)}: {make_plain(reason)}"
        sys.stdout.write(f"{paint.fold(line, 12)}\n")
    if not runs:
        sys.stdout.write(paint.fold(f"  no hooks in {make_plain(discovery.root)}", 4) + "\n")
    findings += ill.values()
    if not args.hooks:
        findings += [misplaced.finding for misplaced in find_misplaced(discovery.root, env)]
    if findings:
        sys.stderr.write(report.format_findings(findings, Paint(sys.stderr), {}))
    return report.compute_exit_code(findings, strict=False)


def _find_illnesses(
    runs: Sequence[engine.HookRun], discovery: Discovery, env: dict[str, str]
) -> dict[int, Finding]:
    """Find what keeps matching hooks from working."""
    machine, failures = Machine(Path(discovery.root), env), read_failures(env)
    by_place = {(found_hook.file, found_hook.place): found_hook for found_hook in discovery.hooks}
    ill: dict[int, Finding] = {}
    for run in runs:
        hook = by_place.get((run.hook.file, run.hook.place)) if run.matched else None
        if hook is None:
            continue
        failing = find_failing(hook, failures, machine)
        faults = [*find_faults(hook, machine, by_bridge=True), *([failing] if failing else [])]
        missing = [path for path in hook.scripts if not Path(path).exists()]
        if missing:
            finding = ScriptMissing.at(hook.place, script=machine.name_of(Path(missing[0])))
            ill[id(run)] = finding._replace(file=hook.file)
        elif faults:
            ill[id(run)] = faults[0].finding
    return ill


def _apply_pause(run: engine.HookRun, paused: Mapping[str, float]) -> engine.HookRun:
    over = pauses.find_pause_end(paused, run.hook.name)
    why = f"{engine.PAUSED} until {pauses.format_time(over)}"
    return run.replace(matched=False, why=why) if run.matched and over else run


def _apply_approval(run: engine.HookRun, root: str, env: dict[str, str]) -> engine.HookRun:
    why = trust.find_hook_objection(run.hook, root, env)
    if trust.is_overridden(run.hook):
        why = "a hook of the project takes its place"
    return run.replace(matched=False, why=why) if run.matched and why else run


def _apply_agent_loading(
    runs: list[engine.HookRun], agent: str, root: str, env: dict[str, str]
) -> list[engine.HookRun]:
    """Explain the hooks whose file the agent loads itself, in the words of `status`."""
    caller = CallOrigin(str(Path.cwd()), env=env)
    loaded = [run for run in runs if run.matched and is_loaded_by(run.hook.loaded_by, agent, root, caller)]
    if not loaded:
        return runs
    rows = [row for state in read_status(caller.start, env, [agent]).agents for row in state.hooks]
    rows_by_place = {(row.file, row.place): row for row in rows}
    title = get(agent).title
    return [
        run.replace(
            matched=False,
            why=_explain_agent_loading(run, title, rows_by_place.get((run.hook.file, run.hook.place))),
        )
        if run in loaded
        else run
        for run in runs
    ]


def _explain_agent_loading(run: engine.HookRun, title: str, row: HookState | None) -> str:
    if row and row.state != BY_ITSELF:
        return f"{title} does not run it: {row.reason}"
    why = f"left to {title}, which loads {run.hook.file} itself"
    if not row or not row.reason:
        return why
    return f"{why}; {row.level}: {row.reason}" + (f". {row.fix}" if row.fix else "")
