"""hookport itself: the hooks that it runs, whether an agent calls it, and whether it can keep its state."""

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
from hookport.doctor.bridge import describe_runs, is_ours, spell_last_runs
from hookport.doctor.case import NOBODY, AgentCase, Diagnosis, Repair
from hookport.doctor.entries import KEPT
from hookport.doctor.failures import Failures, find_failing, spell_failing
from hookport.doctor.files import World, is_generated, shorten_path, spell_count
from hookport.doctor.health import Machine, find_faults
from hookport.doctor.history import FEWEST, History, is_late
from hookport.errors import InputError
from hookport.findings import Finding
from hookport.install.coverage import InstalledEntries, find_commands
from hookport.install.survey import Survey
from hookport.project import environment, ownership, plan_builder, sources
from hookport.project.discovery import Discovery, HookEntry
from hookport.runtime import journal, pauses, plan, trust
from hookport.runtime.plan import PlannedHook
from hookport.vendor import writer
from hookport.vendor.vendored import ARCHIVE


class OwnHooks(NamedTuple):
    """What hookport runs for agents, without `theirs`: files that agents read themselves."""

    survey: Survey
    hooks: tuple[HookEntry, ...]
    agent_files: frozenset[str]

    @property
    def discovery(self) -> Discovery:
        return self.survey.discovery


def find_own(survey: Survey, cases: Iterable[AgentCase]) -> OwnHooks:
    """What hookport would run in a folder."""
    theirs = frozenset(str(source.path) for case in cases for source in case.sources)
    return OwnHooks(
        survey,
        tuple(hook for hook in plan_builder.list_runnable(survey.discovery) if hook.file not in theirs),
        theirs,
    )


def examine_own(
    own_hooks: OwnHooks,
    world: World,
    cases: list[AgentCase],
    past: History,
    failures: Failures,
    reported: Container[tuple[str, str]] = (),
) -> Iterator[Diagnosis]:
    """All errors of hookport's own hooks and files, except skips that are already `reported`."""
    compiled_plan = plan.parse(plan_builder.compile_plan(own_hooks.discovery, world.env, str(world.cwd)))
    assert isinstance(compiled_plan, plan.DispatchPlan)  # noqa: S101  (it was made just now)
    yield from find_broken_sources(own_hooks, world)
    for line in compiled_plan.header["broken"]:
        code, _, message = line.partition(" ")
        if code == f.BadSettings.code:
            yield Diagnosis("", f.BadSettings.at("", why="")._replace(message=message), message)
    yield from _find_unapproved(own_hooks, compiled_plan, world, cases, reported)
    for name, over in pauses.find_pauses(own_hooks.discovery.root, world.env).items():
        what = "every hook" if name == pauses.EVERY else f"hook '{name}'"
        yield Diagnosis("", f.HookPaused.at("", what=what, until=pauses.format_time(over)), "")
    yield from _find_not_covered(compiled_plan, world)
    yield from _check_files(own_hooks, world)
    yield from _check_scripts(own_hooks, world, failures)
    yield from _find_uncalled(own_hooks, cases)
    yield from _find_late(own_hooks, past)
    yield from _find_idle(own_hooks, world, past)
    yield from _check_state(world)
    yield from _check_bridge(world)
    for name, why in find_unusable().items():
        yield Diagnosis("", f.DialectUnusable.at("", name=name, why=why), why)
    yield from _check_plan(own_hooks, world)
    for finding in environment.find_steering(str(world.root)):
        yield Diagnosis("", finding, shorten_path(finding.file, world))


def _place_finding(hook: HookEntry, finding: Finding) -> Finding:
    return finding._replace(file=hook.file, where=hook.place)


def _identify(hook: HookEntry) -> tuple[str, str]:
    return hook.file, hook.place


def _find_not_covered(compiled_plan: plan.DispatchPlan, world: World) -> Iterator[Diagnosis]:
    """The parts of approved hooks that no approval covers."""
    for hook in compiled_plan.read_all_hooks():
        if hook.not_covered and hook.trust and not hook.trust["why"]:
            finding = f.NotCovered.at(hook.place, name=hook.name, what=", ".join(hook.not_covered))
            yield Diagnosis("", finding._replace(file=hook.file), shorten_path(hook.file, world))


def find_broken_sources(own_hooks: OwnHooks, world: World) -> Iterator[Diagnosis]:
    """Sources that cannot be used."""
    for finding in own_hooks.discovery.findings:
        if finding.file in own_hooks.agent_files or finding.severity != "error":
            continue
        dead = frozenset(_identify(hook) for hook in own_hooks.hooks if hook.file == finding.file)
        yield Diagnosis("", finding, shorten_path(finding.file, world), dead)


def _find_unapproved(
    own_hooks: OwnHooks,
    compiled_plan: plan.DispatchPlan,
    world: World,
    cases: Iterable[AgentCase],
    reported: Container[tuple[str, str]],
) -> Iterator[Diagnosis]:
    """Hooks of the project that the user did not approve, or that changed since; the bridge skips them."""
    if lost := compiled_plan.header["lost"]:
        evidence = f"the approvals are in {shorten_path(trust.find_store(world.env), world)}"
        yield Diagnosis("", f.ApprovalUnknown.at("", why=lost), evidence)
    waiting = [
        hook
        for hook in compiled_plan.read_all_hooks()
        if trust.find_hook_objection(hook, str(world.root), world.env)
    ]
    installed = _find_entries(own_hooks.survey, cases) if waiting else []
    ours = {_identify(own_hook): own_hook for own_hook in own_hooks.hooks}
    for hook in waiting:
        found_hook = ours.get((hook.file, hook.place))
        if found_hook and _needs_no_bridge(found_hook, installed):
            continue
        why = trust.find_cause(trust.find_hook_objection(hook, str(world.root), world.env))
        evidence = spell_store(world)
        if found_hook:
            yield Diagnosis(
                "",
                _place_finding(found_hook, make_skip_finding(why)),
                evidence,
                frozenset({_identify(found_hook)}),
            )
        elif hook.trust.get("was_approved") and (hook.file, hook.place) not in reported:
            yield Diagnosis(
                "", f.ApprovedGone.at("", name=hook.name, why=why)._replace(file=hook.file), evidence
            )


def explain_skips(discovery: Discovery, env: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """The reasons why the bridge skips hooks of the project, by file and place."""
    hooks = [hook for hook in plan_builder.judge_entries(discovery, env) if hook.scope == "project"]
    objections = {
        (hook.file, hook.place): trust.find_hook_objection(hook, discovery.root, env) for hook in hooks
    }
    return {key: trust.find_cause(objection) for key, objection in objections.items() if objection}


def make_skip_finding(why: str) -> Finding:
    """The diagnosis of a hook that the bridge skips."""
    fix = "Review and approve it with `hookport trust`."
    return f.HookUntrusted.at("", None, dialect="hookport", why=why, fix=fix)


def spell_store(world: World) -> str:
    """Where the approvals are kept."""
    return f"the approvals are in {shorten_path(trust.find_store(world.env), world)}"


def _find_entries(survey: Survey, cases: Iterable[AgentCase]) -> list[InstalledEntries]:
    """Our entries in the files of the detected agents."""
    present = [case for case in cases if case.is_here or case.sources]
    return [entries for case in present for entries in survey.find_entries(case.dialect.id)]


def _needs_no_bridge(hook: HookEntry, installed: Iterable[InstalledEntries]) -> bool:
    """Whether agents run a hook only through its own entries, which need no approval."""
    modes = {entries.mode for entries in installed if find_commands(entries, hook)[0]}
    return modes == {"native"}


def _check_bridge(world: World) -> Iterator[Diagnosis]:
    """The project's own bridge, if it has one."""
    if (world.root / ARCHIVE).exists():
        for finding in writer.check(str(world.root)):
            yield Diagnosis("", finding, shorten_path(finding.file, world))


def _check_files(own_hooks: OwnHooks, world: World) -> Iterator[Diagnosis]:
    """What `hookport check` finds in the files of these hooks."""
    codes = {kind.code for kind in KEPT}
    for file in dict.fromkeys(hook.file for hook in own_hooks.hooks):
        places = [hook.place for hook in own_hooks.hooks if hook.file == file]
        try:
            readings = [sources.read(source) for source in sources.find_all(Path(file))[0]]
        except InputError:
            continue
        for reading in readings:
            for finding in (
                locate_finding(candidate, reading)
                for candidate in checks.check(reading)
                if candidate.code in codes
            ):
                is_known = finding.hook is not None and finding.hook < len(places)
                place = places[finding.hook or 0] if is_known else ""
                dead = frozenset({(file, place)}) if finding.severity == "error" else NOBODY
                yield Diagnosis("", finding._replace(hook=None), shorten_path(file, world), dead)


def _check_scripts(own_hooks: OwnHooks, world: World, failures: Failures) -> Iterator[Diagnosis]:
    """Scripts that are missing or cannot work, and hooks that keep failing."""
    machine = Machine(world.root, world.env)
    for hook in own_hooks.hooks:
        dead = frozenset({_identify(hook)})
        diagnoses = [*_find_unstartable(hook, world)]
        if not diagnoses:
            since = spell_failing(hook, failures)
            diagnoses = [
                Diagnosis("", fault.finding, "; ".join(filter(None, (fault.evidence, since))), dead)
                for fault in find_faults(hook, machine, by_bridge=True)
            ]
        failing = None if diagnoses else find_failing(hook, failures, machine)
        yield from diagnoses
        if failing:
            yield Diagnosis("", failing.finding, failing.evidence, dead)


def _find_unstartable(hook: HookEntry, world: World) -> Iterator[Diagnosis]:
    """Scripts that are missing or not executable; the scripts of folders are identified by name."""
    script = find_named_script(hook.hook.handler.command)
    dead = frozenset({_identify(hook)})
    for path in map(Path, hook.scripts):
        name = shorten_path(path, world)
        if not path.is_file():
            yield Diagnosis(
                "",
                _place_finding(hook, f.ScriptMissing.at("", None, script=name)),
                f"{name} does not exist",
                dead,
            )
        elif script and script.is_direct and not os.access(path, os.X_OK):
            finding = _place_finding(hook, f.ScriptNotExecutable.at("", None, script=name))
            mode = f"{name} has mode {path.stat().st_mode & 0o777:o}"
            yield Diagnosis("", finding, mode, dead, Repair("chmod", str(path)))


def _find_uncalled(own_hooks: OwnHooks, cases: list[AgentCase]) -> Iterator[Diagnosis]:
    """Hooks that no agent calls hookport for."""
    called = any(
        is_ours(hook) or ownership.is_ours(hook.hook.handler.command)
        for case in cases
        for source in case.sources
        for hook in source.hooks
    )
    called = called or any(map(_has_generated_code, cases))
    # The report of a detected agent lists the hooks that do not run there.
    if own_hooks.hooks and not called and not any(case.is_here for case in cases):
        files = dict.fromkeys(hook.file for hook in own_hooks.hooks)
        finding = f.NoBridge.at("", count=spell_count(len(own_hooks.hooks)))._replace(file=next(iter(files)))
        evidence = "no entry of any agent calls `hookport dispatch`"
        yield Diagnosis("", finding, evidence, frozenset(map(_identify, own_hooks.hooks)))


def _has_generated_code(case: AgentCase) -> bool:
    documents = [source.document for source in case.sources if source.document is not None]
    return any(document.kind == "text" and is_generated(document.data) for document in documents)


def _find_late(own_hooks: OwnHooks, past: History) -> Iterator[Diagnosis]:
    """Hooks whose timeout is shorter than their last runs."""
    for hook in own_hooks.hooks:
        limit = plan_builder.plan_entry(hook).timeout_seconds
        runs = past.by_hook.get(_identify(hook))
        if runs is not None and is_late(runs, limit):
            finding = _place_finding(hook, f.TimeoutTooShort.at("", None, **describe_runs(runs, limit)))
            yield Diagnosis("", finding, spell_last_runs(runs), frozenset({_identify(hook)}))


def _find_idle(own_hooks: OwnHooks, world: World, past: History) -> Iterator[Diagnosis]:
    """Hooks that did not run on matching events since their file last changed."""
    for own_hook in own_hooks.hooks:
        hook = plan_builder.plan_entry(own_hook)
        since = _find_change_time(own_hook)
        matching = [
            event
            for event in past.events
            if event.event == hook.event
            and event.time >= since
            and _is_for(hook, event.tool)
            and _is_here(event.cwd, world)
        ]
        if len(matching) < FEWEST or any(
            event.hooks.get(_identify(own_hook), (False, ""))[0] for event in matching
        ):
            continue
        why = matching[-1].hooks.get(_identify(own_hook), (False, "it was not among the event's hooks"))[1]
        finding = _place_finding(own_hook, f.NeverFired.at("", count=len(matching)))
        yield Diagnosis("", finding, f"{matching[-1].time} {matching[-1].agent}: {why}")


def _find_change_time(hook: HookEntry) -> str:
    """When a hook was last changed, in the journal's time format."""
    try:
        seconds = max(
            Path(path).stat().st_mtime for path in (hook.file, *hook.scripts) if Path(path).exists()
        )
    except (OSError, ValueError):
        return ""
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.999Z"


def _is_for(hook: PlannedHook, tool: str) -> bool:
    if hook.subject != "tool":
        return not hook.terms
    return not hook.terms or tool in hook.tools


def _is_here(cwd: str, world: World) -> bool:
    return bool(cwd) and (Path(cwd) == world.root or world.root in Path(cwd).parents)


def _check_state(world: World) -> Iterator[Diagnosis]:
    """The folders of the journal and of the plans."""
    path = plan.find_plan_path(str(world.cwd), world.env)
    for folder, what in (
        (journal.find_state_folder(world.env), "journal"),
        (str(Path(path).parent) if path else "", "plans"),
    ):
        why = _explain_unwritable(folder) if folder else f"no folder for the {what}: HOME is not set"
        if why:
            yield Diagnosis("", f.StateNotKept.at("", why=why)._replace(file=folder), why)


def _explain_unwritable(folder: str) -> str:
    """The reason why a folder, which may have to be made, is not writable; empty if it is."""
    existing = Path(folder)
    while not os.path.lexists(existing) and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        return f"{existing} is not a folder"
    return "" if os.access(existing, os.W_OK | os.X_OK) else f"{existing} is not writable"


def _check_plan(own_hooks: OwnHooks, world: World) -> Iterator[Diagnosis]:
    path = plan.find_plan_path(str(world.cwd), world.env)
    if not own_hooks.hooks or not path or not Path(path).exists():
        return
    kept_plan = plan.load(path, world.env)
    why = kept_plan if isinstance(kept_plan, str) else ""
    if isinstance(kept_plan, plan.DispatchPlan):
        made_by = kept_plan.header["version"]
        why = f"hookport {made_by} made it" if made_by != __version__ else ""
        why = why or ("a source changed since" if plan.has_changed(kept_plan) else "")
    if why:
        finding = f.PlanStale.at("", why=why)._replace(file=path)
        yield Diagnosis("", finding, why, repair=Repair("plan", str(world.cwd)))
