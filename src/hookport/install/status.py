"""What is installed: for each agent and hook whether its entry is there, whether it holds, when it ran."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hookport import findings as f
from hookport.dialects import agents as all_agents
from hookport.dialects import get
from hookport.dialects._agent_trust import MODIFIED, TRUSTED, UNTRUSTED
from hookport.findings import Finding
from hookport.install import agent_trust, entries, sync
from hookport.install.coverage import Installed, alone_in, commands_for, cover_of
from hookport.install.sync import installed_in
from hookport.install.targets import SCOPES, Scope, detected, target
from hookport.planning import is_dispatch, name_of, runnable
from hookport.project.discovery import Found, discover
from hookport.runtime import journal, trust, vendored

BY_ITSELF = "by itself"
UNAPPROVED = "you have not approved it as it is: `hookport trust`"
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
    # `enforced`, `advisory` or `unavailable`, and why.
    level: str
    reason: str
    # When it last ran there, empty if the journal has nothing.
    fired: str


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
    agents: tuple[AgentState, ...]


class _Seen(NamedTuple):
    """What holds for all agents: when hooks last ran, which are not approved, what agents say of entries."""

    fired: Mapping[tuple[str, ...], str]
    waiting: Mapping[tuple[str, str], str]
    # By agent and command.
    said: Mapping[tuple[str, str], str]
    # The plan that the project brings along is not the approved one.
    is_unlocked: bool


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
    approved = trust.approval(found.root, env).bridge.get(vendored.PLAN)
    seen = _Seen(_fired(env), sync.waiting(found, env), said, approved != trust.digest(plan))
    states: list[AgentState] = []
    for number, agent in enumerate(chosen):
        tell(agent, number, len(chosen))
        there = [installed_in(target(agent, scope, found.root, env), found) for scope in SCOPES]
        with_ours = [one for one in there if one.installed.ours]
        if with_ours or agent in here or names:
            scopes = [one.installed for one in there]
            rows = {
                (one.file, one.place): _hook_state(one, scopes, cwd, seen, is_scoped=is_scoped)
                for hooks, is_scoped in ((runnable(found), False), (found.scoped, True))
                for one in hooks
            }
            states += [
                _agent_state(one, rows, here.get(agent, ""), is_first=not number)
                for number, one in enumerate(with_ours or there[:1])
            ]
    return Status(found.root, tuple(states))


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
    found: Found, scopes: Sequence[Installed], start: str, seen: _Seen, *, is_scoped: bool
) -> HookState:
    dialect = scopes[0].target.dialect
    cover = cover_of(found, scopes, start, is_scoped=is_scoped)
    level, reason = entries.enforcement(dialect, found.hook)
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
    keys = [
        (dialect.id, found.file, found.place),
        *((dialect.id, "", text) for one in scopes for _, text in alone_in(one, found)),
    ]
    last = next((seen.fired[key] for key in keys if key in seen.fired), "")
    state = {"agent": BY_ITSELF, "entry": cover.state, "": "missing"}[cover.by]
    return HookState(
        name_of(found), found.hook.event, found.file, found.place, found.scope, state, level, reason, last
    )


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
