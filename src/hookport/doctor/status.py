"""What is installed: for each agent and hook whether its entry is there, whether it holds, when it ran."""

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
from hookport.doctor.failures import Failures, failing_since, read_failures
from hookport.doctor.order import STARTS, gate_of, is_about
from hookport.findings import Finding
from hookport.install import agent_trust, entries, lock, sync
from hookport.install.coverage import Cover, Installed, alone_in, commands_for, cover_of
from hookport.install.sync import installed_in
from hookport.install.targets import SCOPES, Scope, detected, target
from hookport.project.answers import explain_disobedience
from hookport.project.discovery import HookEntry, Module, discover
from hookport.project.misplaced import find_misplaced
from hookport.project.ownership import is_dispatch
from hookport.project.plan_builder import list_enabled, name_entry
from hookport.runtime import journal, pauses, trust
from hookport.shapes.dialect import MODIFIED, TRUSTED, UNTRUSTED
from hookport.vendor import vendored

BY_ITSELF = "by itself"
UNAPPROVED = "you have not approved it as it is: `hookport trust`"
# What is wrong with a whole file or folder, or with an entry that is read as no hook.
UNREAD = (
    f.FileDropped.code,
    f.SourceBroken.code,
    f.EntryMissing.code,
    f.DuplicateKey.code,
    f.FolderPassedOver.code,
)
# What the rows of the hooks tell already.
IN_ROWS = (f.NeverFires.code, f.OnlyAdvises.code)


class HookState(NamedTuple):
    """One hook in one agent."""

    name: str
    event: str
    file: str
    place: str
    scope: str
    # `installed`, `drifted`, `missing`, or `by itself` where the agent reads the hook's own file.
    state: str
    # `enforced`, `advisory`, `failing` (it runs and cannot do its work) or `unavailable`, and why.
    level: str
    reason: str
    # When it last ran there, empty if the journal has nothing.
    fired: str
    # What to do about a level that is not what it should be.
    fix: str = ""


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
    # What a person must know before hooks run there.
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]


class Status(NamedTuple):
    """All agents that are here or have entries of ours."""

    root: str
    approval: lock.Standing
    # Hooks that the user paused, and until when.
    paused: Mapping[str, float]
    agents: tuple[AgentState, ...]
    # Modules of code of these agents, which hookport does not manage.
    unmanaged: tuple[Module, ...] = ()
    # Files with hooks that nothing reads where they stand.
    misplaced: tuple[Finding, ...] = ()
    # Files with hooks at their places of which no hook is known, and why.
    unread: tuple[Finding, ...] = ()


class _Seen(NamedTuple):
    """What holds for all agents: when hooks last ran, which are not approved, what agents say of entries."""

    fired: Mapping[tuple[str, ...], str]
    waiting: Mapping[tuple[str, str], str]
    # By agent and command.
    said: Mapping[tuple[str, str], str]
    # The plan that the project brings along is not the approved one.
    is_unlocked: bool
    # What the doctor says of each hook, by agent (empty for hookport itself), file and place.
    ill: Mapping[tuple[str, str, str], Sequence[Diagnosis]]
    failures: Failures
    hooks: tuple[HookEntry, ...]


def status(
    cwd: str,
    env: Mapping[str, str],
    names: Sequence[str] = (),
    tell: Callable[[str, int, int], None] = lambda *_: None,
) -> Status:
    """The state of every agent that is here or has entries of ours; `tell` hears which is next."""
    found = discover(cwd, env)
    here = {one.agent: one.why for one in detected(found.root, env)}
    said = {(one.agent, one.command): one.state for one in agent_trust.states(found.root, env)}
    chosen = tuple(dict.fromkeys(get(name).id for name in names)) or all_agents()
    plan = str(Path(found.root, vendored.PLAN))
    states_known = trust.load_approval(found.root, env).states
    approved = {state.lock["bridge"].get(vendored.PLAN) for state in states_known}
    reports = examine(cwd, env, chosen, is_quick=True)
    ill: dict[tuple[str, str, str], list[Diagnosis]] = {}
    for one in (one for report in reports for one in report.diagnoses):
        # What the agent's environment decides is as it is here.
        is_doubted = one.finding.code == f.WordNotExpanded.code and one.finding.severity != "error"
        doubted = {(one.finding.file, one.finding.where)} if is_doubted else ()
        for key in one.dead if one.finding.severity == "error" else doubted:
            ill.setdefault((one.agent, *key), []).append(one)
    seen = _Seen(
        _fired(env),
        sync.waiting(found, env),
        said,
        trust.hash_file(plan) not in approved,
        ill,
        read_failures(env),
        found.hooks,
    )
    states: list[AgentState] = []
    for number, agent in enumerate(chosen):
        tell(agent, number, len(chosen))
        there = [installed_in(target(agent, scope, found.root, env), found) for scope in SCOPES]
        # Of a file that cannot be read nobody knows what is installed in it.
        refused = [one for one in there if any(it.code == f.NotSynced.code for it in one.plan.findings)]
        with_ours = [one for one in there if one.installed.ours or one in refused]
        if with_ours or agent in here or names:
            scopes = [one.installed for one in there]
            rows = {
                (one.file, one.place): _hook_state(one, scopes, cwd, seen, is_scoped=is_scoped)
                for hooks, is_scoped in ((list_enabled(found), False), (found.scoped, True))
                for one in hooks
            }
            states += [
                _agent_state(one, rows, here.get(agent, ""), is_first=not number)
                for number, one in enumerate(with_ours or there[:1])
            ]
    modules = tuple(one for one in found.unmanaged if one.agent in chosen)
    paused = pauses.find_pauses(found.root, env)
    misplaced = tuple(one.finding for one in find_misplaced(found.root, env))
    unread = tuple(_unread(report.diagnoses for report in reports))
    return Status(found.root, lock.standing(found, env), paused, tuple(states), modules, misplaced, unread)


def _unread(reports: Iterable[Sequence[Diagnosis]]) -> Iterator[Finding]:
    """What costs the hooks of a file before they are known, once for each place."""
    told: set[tuple[str, str]] = set()
    for one in (one for diagnoses in reports for one in diagnoses):
        finding = one.finding
        place = (os.path.realpath(finding.file), finding.where)
        is_unread = finding.severity == "error" and not one.dead and finding.code in UNREAD
        if finding.file and is_unread and place not in told:
            told.add(place)
            yield finding


def _agent_state(
    one: sync.Standing, rows: Mapping[tuple[str, str], HookState], shown: str, *, is_first: bool
) -> AgentState:
    """One block: every hook in the first, and in another those that its entries are for."""
    dialect, plan = one.installed.target.dialect, one.plan
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


def _hook_state(
    found: HookEntry, scopes: Sequence[Installed], start: str, seen: _Seen, *, is_scoped: bool
) -> HookState:
    dialect = scopes[0].target.dialect
    cover = cover_of(found, scopes, start, is_scoped=is_scoped, others=seen.hooks)
    level, reason = entries.enforcement(dialect, found.hook)
    fix = cover.fix
    if not cover.by:
        level, reason = "unavailable", cover.why
    running = {command for one in scopes for command in commands_for(one, found)[0]}
    needs_approval = cover.by == "entry" and any(map(is_dispatch, running))
    is_waiting = (found.file, found.place) in seen.waiting
    is_waiting |= seen.is_unlocked and any(vendored.ARCHIVE in command for command in running)
    if needs_approval and level != "unavailable" and is_waiting and found.scope == "project":
        level, reason = "unavailable", UNAPPROVED
    said = {seen.said.get((dialect.id, command), "") for command in running} - {""}
    # Of several entries the one counts that holds the hook up.
    worst = next((word for word in (MODIFIED, UNTRUSTED, TRUSTED) if word in said), "")
    if worst and cover.by == "entry":
        remedy = "" if worst == TRUSTED else ": `hookport trust --agents`"
        reason = "; ".join(filter(None, (f"{worst} in {dialect.title}{remedy}", reason)))
        level = level if worst == TRUSTED else "unavailable"
    elif cover.by == "agent" and cover.why:
        level, reason = "advisory", cover.why
    elif cover.by == "agent" and level == "enforced" and (why := _disobeyed(found, dialect, scopes)):
        level, reason = "advisory", f"{dialect.title} does not obey its deny: {why}"
    if level != "unavailable" and (ill := _illness(found, dialect, cover, seen)):
        level, reason, fix = ill
    if level != "unavailable" and (why := _dead(found, by_agent=cover.by == "agent")):
        level, reason = "unavailable", why
    keys = [
        (dialect.id, found.file, found.place),
        *((dialect.id, "", text) for one in scopes for _, text in alone_in(one, found)),
    ]
    last = next((seen.fired[key] for key in keys if key in seen.fired), "")
    state = {"agent": BY_ITSELF, "entry": cover.state, "": "missing"}[cover.by]
    return HookState(
        name_entry(found),
        found.hook.event,
        found.file,
        found.place,
        found.scope,
        state,
        level,
        reason,
        last,
        fix,
    )


def _dead(found: HookEntry, *, by_agent: bool) -> str:
    """Why a hook never runs although it is installed: its rule, read as whoever runs it reads it."""
    dead = find_dead_rule(found.hook, get(found.hook.dialect)) if found.hook.condition else None
    if dead is None or (dead.is_documented and not by_agent):
        return ""
    return f"the rule '{found.hook.condition}' matches no call: {dead.why}"


def _illness(found: HookEntry, dialect: Dialect, cover: Cover, seen: _Seen) -> tuple[str, str, str] | None:
    """The level, its reason and the fix where the doctor knows why a hook does not do its work."""
    keys = [(agent, found.file, found.place) for agent in (dialect.id, "")]
    known = [one for key in keys for one in seen.ill.get(key, ())]
    worst = next((one for one in known if is_about(one.finding.code, one.agent, cover.by)), None)
    if worst is None:
        return None
    level = "failing" if gate_of(worst.finding.code, worst.agent) == STARTS else "unavailable"
    since = failing_since(found, seen.failures) if worst.finding.code != f.KeepsFailing.code else ""
    told = worst.finding.message
    return level, f"{since}: {told}" if since else told, worst.finding.hint


def _disobeyed(found: HookEntry, agent: Dialect, scopes: Sequence[Installed]) -> str:
    """Why a deny of a hook that the agent runs by itself does not hold, where its script shows that."""
    if found.hook.dialect != agent.id:
        return ""
    return explain_disobedience(found.hook, Path(scopes[0].target.root), Path(found.package))


def _fired(env: Mapping[str, str]) -> dict[tuple[str, ...], str]:
    """When each hook last ran, by agent, file and place; a command that was wrapped, by itself."""
    found: dict[tuple[str, ...], str] = {}
    for record in journal.Reader(env).new():
        for run in record.get("hooks", ()):
            if isinstance(run, dict) and trust.was_run(run):
                source, place = str(run.get("source", "")), str(run.get("place", ""))
                key = (str(record.get("agent", "")), source, place if source else str(run.get("hook", "")))
                found[key] = record["time"]
    return found
