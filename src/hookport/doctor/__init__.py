"""Finds hooks that would never fire, agent by agent; nothing is changed, and each finding has evidence."""

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
from hookport.doctor.case import Case, Diagnosis, Hooks, name
from hookport.doctor.failures import Failures, find_failing, read_failures
from hookport.doctor.files import World, foreign, places, shown, sources
from hookport.doctor.health import Machine, find_faults
from hookport.doctor.history import History, history
from hookport.doctor.order import is_about
from hookport.findings import Finding
from hookport.install.coverage import Installed, commands_for, cover_of, find_gaps, report_gaps
from hookport.install.sync import installed_in
from hookport.install.targets import SCOPES, detected, target
from hookport.project.discovery import Discovery, HookEntry, discover, find_project_root
from hookport.project.misplaced import Stray, find_misplaced
from hookport.project.ownership import is_dispatch
from hookport.project.places import find_home_folder
from hookport.project.plan_builder import list_enabled

__all__ = ["Diagnosis", "Report", "diagnose", "examine", "examine_agent"]

VERSION_SECONDS = 5
SKIPPED = itself.skip_finding("").code
CHECKS = (
    entries.dropped,
    gates.switched_off,
    gates.untrusted_folder,
    gates.untrusted_hooks,
    gates.shadowed,
    scopes.misplaced,
    scopes.passed_over,
    entries.known,
    entries.events,
    entries.gone_tools,
    entries.startable,
    entries.relative,
    entries.generated,
    bridge.broken,
    bridge.silent,
    bridge.foreign,
    bridge.unspoken,
    bridge.late,
    bridge.short,
    scopes.copies,
)


class Report(NamedTuple):
    """What was found about one agent, or about hookport itself where the agent has no name."""

    agent: str
    version: str
    hooks: int
    files_dropped: int
    diagnoses: tuple[Diagnosis, ...]

    @property
    def dead(self) -> int:
        """How many of the hooks would not fire."""
        return len(frozenset().union(*(one.dead for one in self.diagnoses)))


def diagnose(root: str, env: Mapping[str, str], chosen: Sequence[str] = ()) -> list[Finding]:
    """Everything that keeps hooks from firing in a folder."""
    return [one.finding for report in examine(root, env, chosen) for one in report.diagnoses]


def examine(
    cwd: str, env: Mapping[str, str], chosen: Sequence[str] = (), *, is_quick: bool = False
) -> list[Report]:
    """A report for each agent that has hooks here, and for hookport itself; or for the chosen ones.

    `is_quick`: no agent is asked for its version and no event is sent through an entry, and hookport itself
    is looked at for chosen agents too.
    """
    world = world_of(cwd, env)
    past = history(env)
    dialects = [get(agent) for agent in chosen or list_agents()]
    found = discover(cwd, env)
    here = {one.agent for one in detected(found.root, env)}

    def case(dialect: Dialect) -> Case:
        return case_of(dialect, world, past, force=bool(chosen), asks_version=not is_quick)

    with ThreadPoolExecutor() as pool:
        cases = list(pool.map(case, dialects))
    mine = itself.own(world, cases)
    # What hookport alone runs is looked at by itself, once for all agents.
    apart = frozenset() if chosen else frozenset(one.file for one in mine.hooks)
    skipped = {} if is_quick else itself.unapproved_hooks(found, env)
    skipped = {key: why for key, why in skipped.items() if key[0] not in apart}
    about = _About(found, read_failures(env), find_misplaced(found.root, env), skipped)
    checks = [check for check in CHECKS if not (is_quick and check is bridge.silent)]
    reports = [
        _with_modules(
            _report(case, about if chosen or case.dialect.id in here else None, checks), about, world
        )
        for case in cases
    ]
    if chosen and not is_quick:
        # What no agent can read runs in none of them.
        unread = _once(iter((*itself.discovered(mine, world), *_strays_of_others(about, dialects, world))))
        return [*reports, Report("", "", 0, 0, unread)] if unread else reports
    reported = {
        key
        for report in reports
        for one in report.diagnoses
        if one.finding.code == SKIPPED
        for key in one.dead
    }
    checked = itself.examined(mine, world, cases, past, about.failures, reported)
    own = _once(iter((*checked, *_strays(about, None, world))))
    reports.append(Report("", "", len(mine.hooks), 0, own))
    return [report for report in reports if report.hooks or report.diagnoses]


class _About(NamedTuple):
    """What is known of all hooks, whichever agent they are for."""

    found: Discovery
    failures: Failures
    strays: list[Stray]
    # Why the bridge skips hooks that the user did not approve, by file and place.
    skipped: Mapping[tuple[str, str], str]


def _strays(about: _About, dialect: Dialect | None, world: World) -> Iterator[Diagnosis]:
    """Files with hooks that an agent, or with none a format, would read elsewhere."""
    for stray in about.strays:
        reader = stray.reader
        is_its = reader == dialect if dialect else reader is None or reader.kind != "agent"
        if is_its:
            named = stray.hook_names or ("",) if stray.hooks else ()
            dead = frozenset((stray.file, name_) for name_ in named)
            yield Diagnosis(dialect.id if dialect else "", stray.finding, shown(stray.file, world), dead)


def _strays_of_others(about: _About, chosen: Sequence[Dialect], world: World) -> Iterator[Diagnosis]:
    """Files with hooks that nothing reads, and that none of these agents would read elsewhere."""
    for stray in about.strays:
        if stray.reader not in chosen and stray.finding.severity == "error":
            yield Diagnosis("", stray.finding, shown(stray.file, world))


def _with_modules(report: Report, about: _About, world: World) -> Report:
    """The report with its misplaced files, and a note for each module that the agent loads by itself."""
    strays = tuple(_strays(about, get(report.agent), world))
    modules = [one for one in about.found.unmanaged if one.agent == report.agent]
    notes = [Diagnosis(report.agent, one.finding, shown(one.file, world)) for one in modules]
    hooks = report.hooks + sum(len(one.dead) for one in strays)
    return report._replace(hooks=hooks, diagnoses=(*strays, *report.diagnoses, *notes))


def examine_agent(dialect: Dialect, cwd: str, env: Mapping[str, str]) -> Report:
    """The report for one agent, by what its tables say."""
    return _report(case_of(dialect, world_of(cwd, env), history(env), force=True))


def _scopes(case: Case, found: Discovery) -> list[Installed]:
    targets = [target(case.dialect.id, scope, found.root, case.world.env) for scope in SCOPES]
    return [installed_in(one, found).installed for one in targets]


def _not_run(case: Case, found: Discovery, scopes: list[Installed], known: Hooks) -> Iterator[Diagnosis]:
    """Hooks that neither the agent nor an entry of ours runs, but for those that a check told of already."""
    gaps = find_gaps(list_enabled(found), found.scoped, scopes, str(case.world.cwd))
    gaps = [gap for gap in gaps if (gap.hook.file, gap.hook.place) not in known]
    for finding, those in report_gaps(gaps, case.dialect):
        dead = frozenset((gap.hook.file, gap.hook.place) for gap in those)
        files = dict.fromkeys(shown(gap.hook.file, case.world) for gap in those)
        yield Diagnosis(case.dialect.id, finding, ", ".join(files), dead)


def _spared(one: Diagnosis, by_entry: Sequence[HookEntry]) -> Diagnosis:
    """A finding about what the agent does with a file, where an entry runs all the hooks that it is about."""
    if is_about(one.finding.code, one.agent, "entry") or not one.dead:
        return one
    dead = one.dead - {(hook.file, hook.place) for hook in by_entry}
    finding = one.finding if dead else one.finding._replace(severity="loss")
    return one._replace(finding=finding, dead=dead)


def _unwell(case: Case, about: _About, by_entry: Sequence[HookEntry], known: Hooks) -> Iterator[Diagnosis]:
    """Hooks that an entry of ours runs here, and that cannot do their work or keep failing.

    Those of the agent's own file were looked at as it runs them; those of formats are told of once.
    """
    machine = Machine(case.world.root, case.world.env)
    for one in by_entry:
        key = (one.file, one.place)
        if key in known or get(one.hook.dialect).kind == "format":
            continue
        faults = find_faults(one, machine, by_bridge=True)
        failing = find_failing(one, about.failures, machine, case.dialect.id)
        for fault in (*faults, *([failing] if failing and not faults else [])):
            yield Diagnosis(case.dialect.id, fault.finding, fault.evidence, frozenset({key}))


def _skipped(
    case: Case, about: _About, by_entry: Sequence[HookEntry], scopes: Sequence[Installed]
) -> Iterator[Diagnosis]:
    """Hooks that an entry of ours would run here, and that the bridge skips."""
    for one in by_entry:
        why = about.skipped.get((one.file, one.place))
        running = {command for installed in scopes for command in commands_for(installed, one)[0]}
        if why and any(map(is_dispatch, running)):
            finding = itself.skip_finding(why)._replace(file=one.file, where=one.place)
            told = itself.spell_store(case.world)
            yield Diagnosis(case.dialect.id, finding, told, frozenset({(one.file, one.place)}))


def _report(
    case: Case, about: _About | None = None, checks: Sequence[Callable[[Case], Iterator[Diagnosis]]] = CHECKS
) -> Report:
    seen = [one for check in checks for one in check(case)]
    if about is not None:
        known = frozenset().union(*(one.dead for one in seen))
        scopes = _scopes(case, about.found)
        by_entry = [
            one
            for one in list_enabled(about.found)
            if cover_of(one, scopes, str(case.world.cwd)).by == "entry"
        ]
        seen = [_spared(one, by_entry) for one in seen]
        seen += [*_not_run(case, about.found, scopes, known), *_unwell(case, about, by_entry, known)]
        seen += _skipped(case, about, by_entry, scopes)
    found = _once(iter(seen))
    hooks = sum(len(source.hooks) for source in case.sources)
    read = frozenset(name(source, one) for source in case.sources for one in source.hooks)
    misplaced = frozenset().union(*(one.dead for one in found)) - read
    dropped = sum(bool(source.problems) for source in case.sources)
    return Report(case.dialect.id, case.version, hooks + len(misplaced), dropped, found)


def _once(found: Iterator[Diagnosis]) -> tuple[Diagnosis, ...]:
    """Each finding once, the worst first."""
    rank = {"error": 0, "loss": 1, "note": 2}
    kept = {
        (one.finding.code, one.finding.file, one.finding.where, one.finding.message): one for one in found
    }
    return tuple(sorted(kept.values(), key=lambda one: rank[one.finding.severity]))


def world_of(cwd: str, env: Mapping[str, str]) -> World:
    """Where to look for a folder."""
    here = Path(os.path.realpath(cwd))
    return World(here, Path(find_project_root(cwd, env)), find_home_folder(env), env)


def case_of(dialect: Dialect, world: World, past: History, *, force: bool, asks_version: bool = True) -> Case:
    """What is known of an agent; one without hooks is not asked for its version, unless it is meant."""
    own = tuple(sources(dialect, world))
    others = tuple(foreign(dialect, world))
    matters = asks_version and (force or any(source.hooks or source.problems for source in own))
    path = world.env.get("PATH", os.defpath)
    programs = [found for found in (shutil.which(one, path=path) for one in dialect.programs) if found]
    version = next(filter(None, (version_of(program, world) for program in programs)), "") if matters else ""
    is_here = bool(programs) or any(place.exists() for place in _homes(dialect, world))
    return Case(dialect, world, version, is_here, own, others, past)


def _homes(dialect: Dialect, world: World) -> Iterator[Path]:
    """The folders of the agent in the user's home, and the file where it remembers trust."""
    if dialect.folder_trust and dialect.folder_trust.file:
        yield from places(dialect.folder_trust.file, dialect, world)
    for row in dialect.locations:
        if row.scope == "user" and row.path.startswith("~/"):
            steps = row.path.split("/")
            depth = 3 if steps[1] in (".config", "Documents") else 2
            yield from places("/".join(steps[:depth]), dialect, world)


def version_of(program: str, world: World) -> str:
    """What a program says its version is; empty if it does not in time."""
    with tempfile.TemporaryFile() as said:
        try:
            child = subprocess.Popen(
                [program, "--version"],
                cwd=world.home if world.home and world.home.is_dir() else None,
                env=dict(world.env),
                stdin=subprocess.DEVNULL,
                stdout=said,
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
        said.seek(0)
        found = re.search(r"\d+(?:\.\d+)+[\w.+-]*", said.read(4096).decode("utf-8", "replace"))
    return found[0] if found else ""
