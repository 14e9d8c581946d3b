"""hookport itself: the hooks that it runs, whether anybody calls it, and whether it can keep its state."""

from __future__ import annotations

import os
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport import __version__
from hookport import findings as f
from hookport.agents import find_unusable
from hookport.convert import checks
from hookport.convert.checks.places import locate_finding
from hookport.convert.checks.scripts import find_named_script
from hookport.doctor.bridge import evidence_of, is_ours, words_of
from hookport.doctor.case import NOBODY, Case, Diagnosis, Repair
from hookport.doctor.entries import KEPT
from hookport.doctor.failures import Failures, failing_since, find_failing
from hookport.doctor.files import World, counted, is_generated, shown
from hookport.doctor.health import Machine, find_faults
from hookport.doctor.history import FEWEST, History, is_late
from hookport.errors import InputError
from hookport.findings import Finding
from hookport.install.coverage import Installed, commands_for
from hookport.install.sync import installed_in
from hookport.install.targets import SCOPES as TARGET_SCOPES
from hookport.install.targets import target
from hookport.project import environment, ownership, plan_builder, sources
from hookport.project.discovery import Discovery, HookEntry, discover
from hookport.runtime import journal, pauses, plan, trust
from hookport.runtime.plan import PlannedHook
from hookport.vendor import writer
from hookport.vendor.vendored import ARCHIVE


class Own(NamedTuple):
    """What hookport runs for agents; `theirs` are files that agents read themselves, left out here."""

    found: Discovery
    hooks: tuple[HookEntry, ...]
    theirs: frozenset[str]


def own(world: World, cases: Iterable[Case]) -> Own:
    """What hookport would run in a folder."""
    found = discover(str(world.cwd), world.env)
    theirs = frozenset(str(source.path) for case in cases for source in case.sources)
    return Own(
        found, tuple(one for one in plan_builder.list_runnable(found) if one.file not in theirs), theirs
    )


def examined(
    mine: Own,
    world: World,
    cases: list[Case],
    past: History,
    failures: Failures,
    reported: Container[tuple[str, str]] = (),
) -> Iterator[Diagnosis]:
    """Everything that is wrong with hookport's own hooks and files, but for skips that are `reported`."""
    made = plan.parse(plan_builder.compile_plan(mine.found, world.env, str(world.cwd)))
    assert isinstance(made, plan.DispatchPlan)  # noqa: S101  (it was made just now)
    yield from discovered(mine, world)
    for line in made.header["broken"]:
        code, _, message = line.partition(" ")
        if code == f.BadSettings.code:
            yield Diagnosis("", f.BadSettings.at("", why="")._replace(message=message), message)
    yield from _unapproved(mine, made, world, cases, reported)
    for name, over in pauses.find_pauses(mine.found.root, world.env).items():
        what = "every hook" if name == pauses.EVERY else f"hook '{name}'"
        yield Diagnosis("", f.HookPaused.at("", what=what, until=pauses.format_time(over)), "")
    yield from _not_covered(made, world)
    yield from _checked(mine, world)
    yield from _scripts(mine, world, failures)
    yield from _uncalled(mine, cases)
    yield from _late(mine, past)
    yield from _idle(mine, world, past)
    yield from _state(world)
    yield from _vendored(world)
    for name, why in find_unusable().items():
        yield Diagnosis("", f.DialectUnusable.at("", name=name, why=why), why)
    yield from _plan(mine, world)
    for finding in environment.find_steering(str(world.root)):
        yield Diagnosis("", finding, shown(finding.file, world))


def _at(one: HookEntry, finding: Finding) -> Finding:
    return finding._replace(file=one.file, where=one.place)


def _key(one: HookEntry) -> tuple[str, str]:
    return one.file, one.place


def _not_covered(made: plan.DispatchPlan, world: World) -> Iterator[Diagnosis]:
    """What of approved hooks no approval covers."""
    for hook in made.read_all_hooks():
        if hook.not_covered and hook.trust and not hook.trust["why"]:
            finding = f.NotCovered.at(hook.place, name=hook.name, what=", ".join(hook.not_covered))
            yield Diagnosis("", finding._replace(file=hook.file), shown(hook.file, world))


def discovered(mine: Own, world: World) -> Iterator[Diagnosis]:
    """Sources that cannot be used."""
    for finding in mine.found.findings:
        if finding.file in mine.theirs or finding.severity != "error":
            continue
        dead = frozenset(_key(one) for one in mine.hooks if one.file == finding.file)
        yield Diagnosis("", finding, shown(finding.file, world), dead)


def _unapproved(
    mine: Own,
    made: plan.DispatchPlan,
    world: World,
    cases: Iterable[Case],
    reported: Container[tuple[str, str]],
) -> Iterator[Diagnosis]:
    """Hooks of the project that the user did not approve, or that changed since; the bridge runs none."""
    if lost := made.header["lost"]:
        told = f"the approvals are in {shown(trust.find_store(world.env), world)}"
        yield Diagnosis("", f.ApprovalUnknown.at("", why=lost), told)
    waiting = [
        hook for hook in made.read_all_hooks() if trust.find_hook_objection(hook, str(world.root), world.env)
    ]
    installed = _installed(mine, world, cases) if waiting else []
    ours = {_key(one): one for one in mine.hooks}
    for hook in waiting:
        one = ours.get((hook.file, hook.place))
        if one and _needs_no_bridge(one, installed):
            continue
        why = trust.find_cause(trust.find_hook_objection(hook, str(world.root), world.env))
        told = spell_store(world)
        if one:
            yield Diagnosis("", _at(one, skip_finding(why)), told, frozenset({_key(one)}))
        elif hook.trust.get("was_approved") and (hook.file, hook.place) not in reported:
            yield Diagnosis("", f.ApprovedGone.at("", name=hook.name, why=why)._replace(file=hook.file), told)


def unapproved_hooks(found: Discovery, env: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Why the bridge skips hooks of the project, by file and place."""
    hooks = [hook for hook in plan_builder.judge_entries(found, env) if hook.scope == "project"]
    objections = {(hook.file, hook.place): trust.find_hook_objection(hook, found.root, env) for hook in hooks}
    return {key: trust.find_cause(objection) for key, objection in objections.items() if objection}


def skip_finding(why: str) -> Finding:
    """That the bridge skips a hook."""
    fix = "Look at it and approve it with `hookport trust`."
    return f.HookUntrusted.at("", None, dialect="hookport", why=why, fix=fix)


def spell_store(world: World) -> str:
    """Where the approvals are kept."""
    return f"the approvals are in {shown(trust.find_store(world.env), world)}"


def _installed(mine: Own, world: World, cases: Iterable[Case]) -> list[Installed]:
    """Our entries in the files of the agents that are here."""
    root = mine.found.root
    return [
        installed_in(target(case.dialect.id, scope, root, world.env), mine.found).installed
        for case in cases
        if case.is_here or case.sources
        for scope in TARGET_SCOPES
    ]


def _needs_no_bridge(one: HookEntry, installed: Iterable[Installed]) -> bool:
    """Whether agents run a hook by entries of its own only, which nobody has to approve."""
    modes = {it.mode for it in installed if commands_for(it, one)[0]}
    return modes == {"native"}


def _vendored(world: World) -> Iterator[Diagnosis]:
    """The bridge that the project brings along, if it does."""
    if (world.root / ARCHIVE).exists():
        for finding in writer.check(str(world.root)):
            yield Diagnosis("", finding, shown(finding.file, world))


def _checked(mine: Own, world: World) -> Iterator[Diagnosis]:
    """What `hookport check` finds in the files of these hooks."""
    codes = {kind.code for kind in KEPT}
    for file in dict.fromkeys(one.file for one in mine.hooks):
        places = [one.place for one in mine.hooks if one.file == file]
        try:
            readings = [sources.read(source) for source in sources.find_all(Path(file))[0]]
        except InputError:
            continue
        for reading in readings:
            for finding in (
                locate_finding(one, reading) for one in checks.check(reading) if one.code in codes
            ):
                known = finding.hook is not None and finding.hook < len(places)
                place = places[finding.hook or 0] if known else ""
                dead = frozenset({(file, place)}) if finding.severity == "error" else NOBODY
                yield Diagnosis("", finding._replace(hook=None), shown(file, world), dead)


def _scripts(mine: Own, world: World, failures: Failures) -> Iterator[Diagnosis]:
    """Scripts that are missing or cannot do their work, and hooks that keep failing."""
    machine = Machine(world.root, world.env)
    for one in mine.hooks:
        dead = frozenset({_key(one)})
        told = [*_unstartable(one, world)]
        if not told:
            since = failing_since(one, failures)
            told = [
                Diagnosis("", fault.finding, "; ".join(filter(None, (fault.evidence, since))), dead)
                for fault in find_faults(one, machine, by_bridge=True)
            ]
        failing = None if told else find_failing(one, failures, machine)
        yield from told
        if failing:
            yield Diagnosis("", failing.finding, failing.evidence, dead)


def _unstartable(one: HookEntry, world: World) -> Iterator[Diagnosis]:
    """Scripts that are missing, or not executable; the scripts of folders are known by their names."""
    script = find_named_script(one.hook.handler.command)
    dead = frozenset({_key(one)})
    for path in map(Path, one.scripts):
        name = shown(path, world)
        if not path.is_file():
            yield Diagnosis(
                "", _at(one, f.ScriptMissing.at("", None, script=name)), f"{name} is not there", dead
            )
        elif script and script.is_direct and not os.access(path, os.X_OK):
            finding = _at(one, f.ScriptNotExecutable.at("", None, script=name))
            mode = f"{name} has mode {path.stat().st_mode & 0o777:o}"
            yield Diagnosis("", finding, mode, dead, Repair("chmod", str(path)))


def _uncalled(mine: Own, cases: list[Case]) -> Iterator[Diagnosis]:
    """Hooks that wait for an agent to call hookport, which none does."""
    called = any(
        is_ours(one) or ownership.is_ours(one.hook.handler.command)
        for case in cases
        for source in case.sources
        for one in source.hooks
    )
    called = called or any(map(_is_code, cases))
    # Where an agent is used, what does not run there is told of it.
    if mine.hooks and not called and not any(case.is_here for case in cases):
        files = dict.fromkeys(one.file for one in mine.hooks)
        finding = f.NoBridge.at("", count=counted(len(mine.hooks)))._replace(file=next(iter(files)))
        evidence = "no entry of any agent calls `hookport dispatch`"
        yield Diagnosis("", finding, evidence, frozenset(map(_key, mine.hooks)))


def _is_code(case: Case) -> bool:
    documents = [source.document for source in case.sources if source.document is not None]
    return any(one.kind == "text" and is_generated(one.data) for one in documents)


def _late(mine: Own, past: History) -> Iterator[Diagnosis]:
    """Hooks whose time is shorter than their last runs took."""
    for one in mine.hooks:
        limit = plan_builder.plan_entry(one).timeout_seconds
        runs = past.by_hook.get(_key(one))
        if runs is not None and is_late(runs, limit):
            finding = _at(one, f.TimeoutTooShort.at("", None, **words_of(runs, limit)))
            yield Diagnosis("", finding, evidence_of(runs), frozenset({_key(one)}))


def _idle(mine: Own, world: World, past: History) -> Iterator[Diagnosis]:
    """Hooks that did not run on events that they are for, since their file was last changed."""
    for one in mine.hooks:
        hook = plan_builder.plan_entry(one)
        since = _changed(one)
        met = [
            told
            for told in past.events
            if told.event == hook.event
            and told.time >= since
            and _is_for(hook, told.tool)
            and _is_here(told.cwd, world)
        ]
        if len(met) < FEWEST or any(told.hooks.get(_key(one), (False, ""))[0] for told in met):
            continue
        why = met[-1].hooks.get(_key(one), (False, "it was not among the hooks of the event"))[1]
        finding = _at(one, f.NeverFired.at("", count=len(met)))
        yield Diagnosis("", finding, f"{met[-1].time} {met[-1].agent}: {why}")


def _changed(one: HookEntry) -> str:
    """When a hook was last changed, as the journal tells times."""
    try:
        seconds = max(Path(path).stat().st_mtime for path in (one.file, *one.scripts) if Path(path).exists())
    except (OSError, ValueError):
        return ""
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.999Z"


def _is_for(hook: PlannedHook, tool: str) -> bool:
    if hook.subject != "tool":
        return not hook.terms
    return not hook.terms or tool in hook.tools


def _is_here(cwd: str, world: World) -> bool:
    return bool(cwd) and (Path(cwd) == world.root or world.root in Path(cwd).parents)


def _state(world: World) -> Iterator[Diagnosis]:
    """The folder of the journal, and that of the plans."""
    path = plan.find_plan_path(str(world.cwd), world.env)
    for folder, what in (
        (journal.find_state_folder(world.env), "journal"),
        (str(Path(path).parent) if path else "", "plans"),
    ):
        why = _unwritable(folder) if folder else f"there is no place for the {what}: HOME is not set"
        if why:
            yield Diagnosis("", f.StateNotKept.at("", why=why)._replace(file=folder), why)


def _unwritable(folder: str) -> str:
    """Why nothing can be written to a folder that may have to be made; empty if it can."""
    there = Path(folder)
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    if not there.is_dir():
        return f"{there} is not a folder"
    return "" if os.access(there, os.W_OK | os.X_OK) else f"{there} is not writable"


def _plan(mine: Own, world: World) -> Iterator[Diagnosis]:
    path = plan.find_plan_path(str(world.cwd), world.env)
    if not mine.hooks or not path or not Path(path).exists():
        return
    kept = plan.load(path, world.env)
    why = kept if isinstance(kept, str) else ""
    if isinstance(kept, plan.DispatchPlan):
        made_by = kept.header["version"]
        why = f"it was made by hookport {made_by}" if made_by != __version__ else ""
        why = why or ("a source changed since" if plan.has_changed(kept) else "")
    if why:
        finding = f.PlanStale.at("", why=why)._replace(file=path)
        yield Diagnosis("", finding, why, repair=Repair("plan", str(world.cwd)))
