"""Finds hooks that would never fire, agent by agent. It changes nothing, and each finding has evidence."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect, get, list_agents
from hookport.doctor import bridge, entries, gates, scopes
from hookport.doctor import own as itself
from hookport.doctor.case import AgentCase, Diagnosis, Hooks, identify_hook
from hookport.doctor.failures import Failures, find_failing, read_failures
from hookport.doctor.files import World, find_places, read_foreign, read_sources, shorten_path
from hookport.doctor.health import Machine, find_faults
from hookport.doctor.history import History, read_history
from hookport.doctor.order import is_about
from hookport.findings import Finding
from hookport.install.coverage import InstalledEntries, find_commands, find_cover, find_gaps, report_gaps
from hookport.install.entries import judge_enforcement, list_guarded_tools
from hookport.install.survey import Survey
from hookport.install.targets import detect_agents
from hookport.project.discovery import Discovery, HookEntry, find_project_root
from hookport.project.misplaced import Stray, find_misplaced
from hookport.project.ownership import is_dispatch
from hookport.project.places import find_home_folder
from hookport.project.plan_builder import list_enabled
from hookport.shapes.dialect import find_exceptions, spell_exceptions

__all__ = ["Diagnosis", "DoctorReport", "diagnose", "examine", "examine_agent"]

VERSION_SECONDS = 5
SKIPPED = itself.make_skip_finding("").code
CHECKS = (
    entries.find_dropped,
    gates.find_switched_off,
    gates.find_untrusted_folder,
    gates.find_untrusted_hooks,
    gates.find_shadowed,
    scopes.find_misplaced_files,
    scopes.find_passed_over,
    entries.find_file_faults,
    entries.find_missing_events,
    entries.find_gone_tools,
    entries.find_unstartable,
    entries.find_relative_scripts,
    entries.find_broken_code,
    bridge.find_broken,
    bridge.find_silent,
    bridge.find_foreign,
    bridge.find_unknown_dialects,
    bridge.find_late,
    bridge.find_lossy,
    scopes.find_copies,
)


class DoctorReport(NamedTuple):
    """The findings about one agent, or about hookport itself if the agent is empty."""

    agent: str
    version: str
    hooks: int
    files_dropped: int
    diagnoses: tuple[Diagnosis, ...]
    # The calls that the agent asks no guard about.
    exceptions: tuple[str, ...] = ()

    @property
    def dead(self) -> int:
        """The number of hooks that would not fire."""
        return len(frozenset().union(*(diagnosis.dead for diagnosis in self.diagnoses)))


def diagnose(root: str, env: Mapping[str, str], chosen: Sequence[str] = ()) -> list[Finding]:
    """Everything that keeps hooks from firing in a folder."""
    return [diagnosis.finding for report in examine(root, env, chosen) for diagnosis in report.diagnoses]


def examine(
    cwd: str,
    env: Mapping[str, str],
    chosen: Sequence[str] = (),
    *,
    is_quick: bool = False,
    survey: Survey | None = None,
) -> list[DoctorReport]:
    """Report on each agent that has hooks here, and on hookport itself; or on the chosen agents.

    `is_quick`: ask no agent for its version, send no event through an entry, and report on hookport itself
    for chosen agents too.
    """
    world = find_world(cwd, env)
    past = read_history(env)
    dialects = [get(agent) for agent in chosen or list_agents()]
    survey = survey or Survey(cwd, env)
    discovery = survey.discovery
    detected_agents = {agent.agent for agent in detect_agents(discovery.root, env)}

    def case(dialect: Dialect) -> AgentCase:
        return make_case(dialect, world, survey, past, force=bool(chosen), asks_version=not is_quick)

    with ThreadPoolExecutor() as pool:
        cases = list(pool.map(case, dialects))
    own_hooks = itself.find_own(survey, cases)
    # Hooks that only hookport runs are checked once for all agents.
    apart = frozenset() if chosen else frozenset(hook.file for hook in own_hooks.hooks)
    skipped = {} if is_quick else itself.explain_skips(discovery, env)
    skipped = {key: why for key, why in skipped.items() if key[0] not in apart}
    facts = _ProjectFacts(survey, read_failures(env), find_misplaced(discovery.root, env), skipped)
    checks = [check for check in CHECKS if not (is_quick and check is bridge.find_silent)]
    reports = [
        _add_modules(
            _make_report(case, facts if chosen or case.dialect.id in detected_agents else None, checks),
            facts,
            world,
        )
        for case in cases
    ]
    if chosen and not is_quick:
        # A file that no agent can read runs in none of them.
        unread = _sort_unique(
            iter((*itself.find_broken_sources(own_hooks, world), *_find_other_strays(facts, dialects, world)))
        )
        return [*reports, DoctorReport("", "", 0, 0, unread)] if unread else reports
    reported = {
        key
        for report in reports
        for diagnosis in report.diagnoses
        if diagnosis.finding.code == SKIPPED
        for key in diagnosis.dead
    }
    checked = itself.examine_own(own_hooks, world, cases, past, facts.failures, reported)
    diagnoses = _sort_unique(iter((*checked, *_find_strays(facts, None, world))))
    reports.append(DoctorReport("", "", len(own_hooks.hooks), 0, diagnoses))
    return [report for report in reports if report.hooks or report.diagnoses]


class _ProjectFacts(NamedTuple):
    """The facts about all hooks of a project, for every agent."""

    survey: Survey
    failures: Failures
    strays: list[Stray]
    # Why the bridge skips hooks that the user did not approve, by file and place.
    skipped: Mapping[tuple[str, str], str]

    @property
    def discovery(self) -> Discovery:
        return self.survey.discovery


def _find_strays(facts: _ProjectFacts, dialect: Dialect | None, world: World) -> Iterator[Diagnosis]:
    """Files with hooks that an agent, or without one a format, would read elsewhere."""
    for stray in facts.strays:
        reader = stray.reader
        is_its = reader == dialect if dialect else reader is None or reader.kind != "agent"
        if is_its:
            named = stray.hook_names or ("",) if stray.hooks else ()
            dead = frozenset((stray.file, name_) for name_ in named)
            yield Diagnosis(
                dialect.id if dialect else "", stray.finding, shorten_path(stray.file, world), dead
            )


def _find_other_strays(facts: _ProjectFacts, chosen: Sequence[Dialect], world: World) -> Iterator[Diagnosis]:
    """Files with hooks that nothing reads, and that none of these agents would read elsewhere."""
    for stray in facts.strays:
        if stray.reader not in chosen and stray.finding.severity == "error":
            yield Diagnosis("", stray.finding, shorten_path(stray.file, world))


def _add_modules(report: DoctorReport, facts: _ProjectFacts, world: World) -> DoctorReport:
    """The report with its misplaced files, and a note for each module that the agent loads itself."""
    strays = tuple(_find_strays(facts, get(report.agent), world))
    modules = [module for module in facts.discovery.unmanaged if module.agent == report.agent]
    notes = [Diagnosis(report.agent, module.finding, shorten_path(module.file, world)) for module in modules]
    hooks = report.hooks + sum(len(stray.dead) for stray in strays)
    return report._replace(hooks=hooks, diagnoses=(*strays, *report.diagnoses, *notes))


def examine_agent(dialect: Dialect, cwd: str, env: Mapping[str, str]) -> DoctorReport:
    """The report for one agent, by its tables."""
    case = make_case(dialect, find_world(cwd, env), Survey(cwd, env), read_history(env), force=True)
    return _make_report(case)


def _find_not_run(
    case: AgentCase, discovery: Discovery, scopes: list[InstalledEntries], reported: Hooks
) -> Iterator[Diagnosis]:
    """Hooks that neither the agent nor an entry of ours runs, except those already reported."""
    gaps = find_gaps(list_enabled(discovery), discovery.scoped, scopes, str(case.world.cwd))
    gaps = [gap for gap in gaps if (gap.hook.file, gap.hook.place) not in reported]
    for finding, group in report_gaps(gaps, case.dialect):
        dead = frozenset((gap.hook.file, gap.hook.place) for gap in group)
        files = dict.fromkeys(shorten_path(gap.hook.file, case.world) for gap in group)
        yield Diagnosis(case.dialect.id, finding, ", ".join(files), dead)


def _spare_hooks_of_entries(diagnosis: Diagnosis, by_entry: Sequence[HookEntry]) -> Diagnosis:
    """Whether a finding is about the agent's own reading of a file, while an entry runs all its hooks."""
    if is_about(diagnosis.finding.code, diagnosis.agent, "entry") or not diagnosis.dead:
        return diagnosis
    dead = diagnosis.dead - {(hook.file, hook.place) for hook in by_entry}
    finding = diagnosis.finding if dead else diagnosis.finding._replace(severity="loss")
    return diagnosis._replace(finding=finding, dead=dead)


def _find_unhealthy(
    case: AgentCase, facts: _ProjectFacts, by_entry: Sequence[HookEntry], reported: Hooks
) -> Iterator[Diagnosis]:
    """Hooks that an entry of ours runs here, and that cannot work or keep failing.

    Hooks of the agent's own file are checked as it runs them; those of formats are reported once.
    """
    machine = Machine(case.world.root, case.world.env)
    for hook in by_entry:
        key = (hook.file, hook.place)
        if key in reported or get(hook.hook.dialect).kind == "format":
            continue
        faults = find_faults(hook, machine, by_bridge=True)
        failing = find_failing(hook, facts.failures, machine, case.dialect.id)
        for fault in (*faults, *([failing] if failing and not faults else [])):
            yield Diagnosis(case.dialect.id, fault.finding, fault.evidence, frozenset({key}))


def _find_skipped(
    case: AgentCase, facts: _ProjectFacts, by_entry: Sequence[HookEntry], scopes: Sequence[InstalledEntries]
) -> Iterator[Diagnosis]:
    """Hooks that an entry of ours would run here, and that the bridge skips."""
    for hook in by_entry:
        why = facts.skipped.get((hook.file, hook.place))
        running = {command for installed in scopes for command in find_commands(installed, hook)[0]}
        if why and any(map(is_dispatch, running)):
            finding = itself.make_skip_finding(why)._replace(file=hook.file, where=hook.place)
            evidence = itself.spell_store(case.world)
            yield Diagnosis(case.dialect.id, finding, evidence, frozenset({(hook.file, hook.place)}))


def _make_report(
    case: AgentCase,
    facts: _ProjectFacts | None = None,
    checks: Sequence[Callable[[AgentCase], Iterator[Diagnosis]]] = CHECKS,
) -> DoctorReport:
    all_diagnoses = [diagnosis for check in checks for diagnosis in check(case)]
    if facts is not None:
        reported = frozenset().union(*(diagnosis.dead for diagnosis in all_diagnoses))
        scopes = facts.survey.find_entries(case.dialect.id)
        by_entry = [
            hook
            for hook in list_enabled(facts.discovery)
            if find_cover(hook, scopes, str(case.world.cwd)).by == "entry"
        ]
        all_diagnoses = [_spare_hooks_of_entries(diagnosis, by_entry) for diagnosis in all_diagnoses]
        all_diagnoses += [
            *_find_not_run(case, facts.discovery, scopes, reported),
            *_find_unhealthy(case, facts, by_entry, reported),
        ]
        all_diagnoses += _find_skipped(case, facts, by_entry, scopes)
    diagnoses = _sort_unique(iter(all_diagnoses))
    hooks = sum(len(source.hooks) for source in case.sources)
    read = frozenset(identify_hook(source, hook) for source in case.sources for hook in source.hooks)
    misplaced = frozenset().union(*(diagnosis.dead for diagnosis in diagnoses)) - read
    dropped = sum(bool(source.problems) for source in case.sources)
    exceptions = _find_exceptions(case)
    return DoctorReport(case.dialect.id, case.version, hooks + len(misplaced), dropped, diagnoses, exceptions)


def _find_exceptions(case: AgentCase) -> tuple[str, ...]:
    """The calls that the agent, in its installed version, asks none of the guards in its own files about."""
    every = (entry.hook for source in case.sources for entry in source.hooks if entry.hook.enabled)
    enforced = [hook for hook in every if judge_enforcement(case.dialect, hook)[0] == "enforced"]
    ways = (
        way
        for hook in enforced
        for way in find_exceptions(case.dialect, hook.event, list_guarded_tools(hook))
        if not (way.since and case.is_at_least(way.since) is False)
    )
    return spell_exceptions(dict.fromkeys(ways))


def _sort_unique(diagnoses: Iterator[Diagnosis]) -> tuple[Diagnosis, ...]:
    """Each finding once, the worst first."""
    rank = {"error": 0, "loss": 1, "note": 2}
    unique = {
        (
            diagnosis.finding.code,
            diagnosis.finding.file,
            diagnosis.finding.where,
            diagnosis.finding.message,
        ): diagnosis
        for diagnosis in diagnoses
    }
    return tuple(sorted(unique.values(), key=lambda diagnosis: rank[diagnosis.finding.severity]))


def find_world(cwd: str, env: Mapping[str, str]) -> World:
    """The places to check for a folder."""
    folder = Path(os.path.realpath(cwd))
    return World(folder, Path(find_project_root(cwd, env)), find_home_folder(env), env)


def make_case(
    dialect: Dialect,
    world: World,
    survey: Survey,
    past: History,
    *,
    force: bool,
    asks_version: bool = True,
) -> AgentCase:
    """The facts about an agent; one without hooks is asked for its version only if it was chosen."""
    own_files = tuple(read_sources(dialect, world))
    foreign_files = tuple(read_foreign(dialect, world))
    matters = asks_version and (force or any(source.hooks or source.problems for source in own_files))
    path = world.env.get("PATH", os.defpath)
    programs = list(filter(None, (shutil.which(program, path=path) for program in dialect.programs)))
    version = next(filter(None, (ask_version(program, world) for program in programs)), "") if matters else ""
    is_here = bool(programs) or any(place.exists() for place in _list_homes(dialect, world))
    return AgentCase(dialect, world, survey, version, is_here, own_files, foreign_files, past)


def _list_homes(dialect: Dialect, world: World) -> Iterator[Path]:
    """The folders of the agent in the user's home, and the file where it remembers trust."""
    if dialect.folder_trust and dialect.folder_trust.file:
        yield from find_places(dialect.folder_trust.file, dialect, world)
    for row in dialect.locations:
        if row.scope == "user" and row.path.startswith("~/"):
            steps = row.path.split("/")
            depth = 3 if steps[1] in (".config", "Documents") else 2
            yield from find_places("/".join(steps[:depth]), dialect, world)


def ask_version(program: str, world: World) -> str:
    """The version that a program prints; empty if it does not answer in time."""
    with tempfile.TemporaryFile() as output:
        try:
            child = subprocess.Popen(
                [program, "--version"],
                cwd=world.home if world.home and world.home.is_dir() else None,
                env=dict(world.env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return ""
        try:
            child.wait(VERSION_SECONDS)
        except subprocess.TimeoutExpired:
            if sys.platform == "win32":
                child.kill()
            else:
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return ""
        output.seek(0)
        version = re.search(r"\d+(?:\.\d+)+[\w.+-]*", output.read(4096).decode("utf-8", "replace"))
    return version[0] if version else ""
