"""For each agent and hook: whether its entry is installed, whether its deny holds, when it last ran."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hookport import findings as f
from hookport.agents import Dialect, get
from hookport.agents import list_agents as all_agents
from hookport.convert.checks.rules import find_dead_rule
from hookport.doctor import examine
from hookport.doctor.case import Diagnosis
from hookport.doctor.failures import Failures, read_failures, spell_failing
from hookport.doctor.order import STARTS, find_gate, is_about
from hookport.findings import Finding
from hookport.install import agent_trust, entries, lock, sync
from hookport.install.coverage import Cover, InstalledEntries, find_commands, find_cover, find_native_commands
from hookport.install.survey import Survey
from hookport.install.targets import SCOPES, Scope, detect_agents, find_target
from hookport.project.answers import explain_disobedience
from hookport.project.discovery import HookEntry, Module
from hookport.project.misplaced import find_misplaced
from hookport.project.ownership import is_dispatch
from hookport.project.plan_builder import list_enabled, name_entry
from hookport.runtime import journal, pauses, trust
from hookport.shapes.dialect import MODIFIED, TRUSTED, UNTRUSTED
from hookport.vendor import vendored

BY_ITSELF = "by itself"
UNAPPROVED = "you have not approved its current version: `hookport trust`"
# Findings about a whole file or folder, or about an entry that is not read as a hook.
UNREAD = (
    f.FileDropped.code,
    f.SourceBroken.code,
    f.EntryMissing.code,
    f.DuplicateKey.code,
    f.FolderPassedOver.code,
)
# Findings that the rows of the hooks already show.
IN_ROWS = (f.NeverFires.code, f.OnlyAdvises.code)


class HookState(NamedTuple):
    """One hook in one agent."""

    name: str
    event: str
    file: str
    place: str
    scope: str
    # `installed`, `drifted`, `missing`, or `by itself` if the agent reads the hook's own file.
    state: str
    # `enforced`, `advisory`, `failing` (it runs but cannot work) or `unavailable`, and why.
    level: str
    reason: str
    # When it last ran there, empty if not in the journal.
    fired: str
    # The fix for a level below `enforced`.
    fix: str = ""
    # The calls that the agent does not ask an `enforced` hook about.
    exceptions: tuple[str, ...] = ()


class AgentState(NamedTuple):
    """One agent: our entries in its files, and its hooks."""

    agent: str
    title: str
    shown: str
    scope: Scope
    mode: str
    state: str
    files: tuple[str, ...]
    hooks: tuple[HookState, ...]
    # Steps that a person must take before hooks run there.
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]


class Status(NamedTuple):
    """All agents that are detected or contain our entries."""

    root: str
    approval: lock.ApprovalStanding
    # Paused hooks, and until when.
    paused: Mapping[str, float]
    agents: tuple[AgentState, ...]
    # Code modules of these agents, which hookport does not manage.
    unmanaged: tuple[Module, ...] = ()
    # Files with hooks that nothing reads there.
    misplaced: tuple[Finding, ...] = ()
    # Files at hooks' places from which no hook is read, and why.
    unread: tuple[Finding, ...] = ()


class _StatusContext(NamedTuple):
    """The facts for all agents: when hooks last ran, which are unapproved, how agents judge entries."""

    fired: Mapping[tuple[str, ...], str]
    waiting: Mapping[tuple[str, str], str]
    # By agent and command.
    said: Mapping[tuple[str, str], str]
    # Whether the project's own plan is not the approved one.
    is_unlocked: bool
    # The diagnoses of each hook, by agent (empty for hookport itself), file and place.
    diagnoses_of_hooks: Mapping[tuple[str, str, str], Sequence[Diagnosis]]
    failures: Failures
    hooks: tuple[HookEntry, ...]


def read_status(
    cwd: str,
    env: Mapping[str, str],
    names: Sequence[str] = (),
    tell: Callable[[str, int, int], None] = lambda *_: None,
    survey: Survey | None = None,
) -> Status:
    """The state of every agent that is detected or has entries of ours; `tell` gets the next one."""
    survey = survey or Survey(cwd, env)
    discovery = survey.discovery
    evidence = {agent.agent: agent.why for agent in detect_agents(discovery.root, env)}
    agent_verdicts = {
        (hook.agent, hook.command): hook.state for hook in agent_trust.list_states(discovery.root, env)
    }
    chosen = tuple(dict.fromkeys(get(name).id for name in names)) or all_agents()
    plan = str(Path(discovery.root, vendored.PLAN))
    states_known = trust.load_approval(discovery.root, env).states
    approved = {state.lock["bridge"].get(vendored.PLAN) for state in states_known}
    targets = {
        agent: [find_target(agent, scope, discovery.root, env) for scope in SCOPES] for agent in chosen
    }
    # Where an agent has neither a trace nor a file, nothing is installed for it.
    shown = [
        agent
        for agent in chosen
        if names or agent in evidence or any(target.list_files() for target in targets[agent])
    ]
    reports = examine(cwd, env, shown or chosen, is_quick=True, survey=survey)
    ill: dict[tuple[str, str, str], list[Diagnosis]] = {}
    for diagnosis in (diagnosis for report in reports for diagnosis in report.diagnoses):
        finding = diagnosis.finding
        # The agent's environment decides; assume that it equals this one.
        is_doubted = finding.code == f.WordNotExpanded.code and finding.severity != "error"
        doubted = {(finding.file, finding.where)} if is_doubted else ()
        for key in diagnosis.dead if finding.severity == "error" else doubted:
            ill.setdefault((diagnosis.agent, *key), []).append(diagnosis)
    context = _StatusContext(
        _read_last_runs(env),
        sync.find_unapproved(discovery, env),
        agent_verdicts,
        trust.hash_file(plan) not in approved,
        ill,
        read_failures(env),
        discovery.hooks,
    )
    states: list[AgentState] = []
    for number, agent in enumerate(shown):
        tell(agent, number, len(shown))
        standings = survey.find_standings(agent)
        # The entries in an unreadable file are unknown.
        refused = [
            standing
            for standing in standings
            if any(finding.code == f.NotSynced.code for finding in standing.plan.findings)
        ]
        with_ours = [standing for standing in standings if standing.installed.ours or standing in refused]
        if with_ours or agent in evidence or names:
            scopes = [standing.installed for standing in standings]
            rows = {
                (hook.file, hook.place): _make_hook_state(hook, scopes, cwd, context, is_scoped=is_scoped)
                for hooks, is_scoped in ((list_enabled(discovery), False), (discovery.scoped, True))
                for hook in hooks
            }
            states += [
                _make_agent_state(standing, rows, evidence.get(agent, ""), is_first=not number)
                for number, standing in enumerate(with_ours or standings[:1])
            ]
    modules = tuple(module for module in discovery.unmanaged if module.agent in chosen)
    paused = pauses.find_pauses(discovery.root, env)
    misplaced = tuple(stray.finding for stray in find_misplaced(discovery.root, env))
    unread = tuple(_find_unread(report.diagnoses for report in reports))
    return Status(
        discovery.root, lock.find_standing(discovery, env), paused, tuple(states), modules, misplaced, unread
    )


def _find_unread(reports: Iterable[Sequence[Diagnosis]]) -> Iterator[Finding]:
    """Errors that lose a file's hooks before they are known, once for each place."""
    reported: set[tuple[str, str]] = set()
    for diagnosis in (diagnosis for diagnoses in reports for diagnosis in diagnoses):
        finding = diagnosis.finding
        place = (os.path.realpath(finding.file), finding.where)
        is_unread = finding.severity == "error" and not diagnosis.dead and finding.code in UNREAD
        if finding.file and is_unread and place not in reported:
            reported.add(place)
            yield finding


def _make_agent_state(
    standing: sync.AgentStanding, rows: Mapping[tuple[str, str], HookState], shown: str, *, is_first: bool
) -> AgentState:
    """One block: every hook in the first, and in others the hooks of their entries."""
    dialect, plan = standing.installed.target.dialect, standing.plan
    is_all = is_first or plan.mode == "bridge"
    hooks = tuple(row for row in rows.values() if is_all or row.scope == plan.scope)
    return AgentState(
        dialect.id,
        dialect.title,
        shown,
        plan.scope,
        plan.mode,
        plan.state,
        plan.paths,
        hooks,
        dialect.notes,
        tuple(finding for finding in plan.findings if finding.code not in IN_ROWS),
    )


def _make_hook_state(
    hook: HookEntry,
    scopes: Sequence[InstalledEntries],
    start: str,
    context: _StatusContext,
    *,
    is_scoped: bool,
) -> HookState:
    dialect = scopes[0].target.dialect
    cover = find_cover(hook, scopes, start, is_scoped=is_scoped, others=context.hooks)
    level, reason = entries.judge_enforcement(dialect, hook.hook)
    fix = cover.fix
    if not cover.by:
        level, reason = "unavailable", cover.why
    running = {command for scope in scopes for command in find_commands(scope, hook)[0]}
    needs_approval = cover.by == "entry" and any(map(is_dispatch, running))
    is_waiting = (hook.file, hook.place) in context.waiting
    is_waiting |= context.is_unlocked and any(vendored.ARCHIVE in command for command in running)
    if needs_approval and level != "unavailable" and is_waiting and hook.scope == "project":
        level, reason = "unavailable", UNAPPROVED
    verdicts = {context.said.get((dialect.id, command), "") for command in running} - {""}
    # Of several entries, the one that stops the hook counts.
    worst = next((word for word in (MODIFIED, UNTRUSTED, TRUSTED) if word in verdicts), "")
    if worst and cover.by == "entry":
        remedy = "" if worst == TRUSTED else ": `hookport trust --in-agents`"
        reason = "; ".join(filter(None, (f"{worst} in {dialect.title}{remedy}", reason)))
        level = level if worst == TRUSTED else "unavailable"
    elif cover.by == "agent" and cover.why:
        level, reason = "advisory", cover.why
    elif cover.by == "agent" and level == "enforced" and (why := _explain_disobeyed(hook, dialect, scopes)):
        level, reason = "advisory", f"{dialect.title} does not obey its deny: {why}"
    if level != "unavailable" and (ill := _find_illness(hook, dialect, cover, context)):
        level, reason, fix = ill
    if level != "unavailable" and (why := _explain_dead(hook, by_agent=cover.by == "agent")):
        level, reason = "unavailable", why
    keys = [
        (dialect.id, hook.file, hook.place),
        *((dialect.id, "", text) for scope in scopes for _, text in find_native_commands(scope, hook)),
    ]
    last = next((context.fired[key] for key in keys if key in context.fired), "")
    state = {"agent": BY_ITSELF, "entry": cover.state, "": "missing"}[cover.by]
    return HookState(
        name_entry(hook),
        hook.hook.event,
        hook.file,
        hook.place,
        hook.scope,
        state,
        level,
        reason,
        last,
        fix,
        entries.find_hook_exceptions(dialect, hook.hook) if level == "enforced" else (),
    )


def _explain_dead(hook: HookEntry, *, by_agent: bool) -> str:
    """Explain why an installed hook never runs: its rule, as its runner reads it."""
    dead = find_dead_rule(hook.hook, get(hook.hook.dialect)) if hook.hook.condition else None
    if dead is None or (dead.is_documented and not by_agent):
        return ""
    return f"the rule '{hook.hook.condition}' matches no call: {dead.why}"


def _find_illness(
    hook: HookEntry, dialect: Dialect, cover: Cover, context: _StatusContext
) -> tuple[str, str, str] | None:
    """The level, its reason and the fix if the doctor knows why a hook does not work."""
    keys = [(agent, hook.file, hook.place) for agent in (dialect.id, "")]
    diagnoses = [diagnosis for key in keys for diagnosis in context.diagnoses_of_hooks.get(key, ())]
    worst = next(
        (diagnosis for diagnosis in diagnoses if is_about(diagnosis.finding.code, diagnosis.agent, cover.by)),
        None,
    )
    if worst is None:
        return None
    level = "failing" if find_gate(worst.finding.code, worst.agent) == STARTS else "unavailable"
    since = spell_failing(hook, context.failures) if worst.finding.code != f.KeepsFailing.code else ""
    message = worst.finding.message
    return level, f"{since}: {message}" if since else message, worst.finding.hint


def _explain_disobeyed(hook: HookEntry, agent: Dialect, scopes: Sequence[InstalledEntries]) -> str:
    """Explain, from its script, why a deny of a hook that the agent runs itself does not hold."""
    if hook.hook.dialect != agent.id:
        return ""
    return explain_disobedience(hook.hook, Path(scopes[0].target.root), Path(hook.package))


def _read_last_runs(env: Mapping[str, str]) -> dict[tuple[str, ...], str]:
    """When each hook last ran, by agent, file and place; a wrapped command by itself."""
    last_runs: dict[tuple[str, ...], str] = {}
    for record in journal.Reader(env).new():
        for run in record.get("hooks", ()):
            if isinstance(run, dict) and trust.was_run(run):
                source, place = str(run.get("source", "")), str(run.get("place", ""))
                key = (str(record.get("agent", "")), source, place if source else str(run.get("hook", "")))
                last_runs[key] = record["time"]
    return last_runs
