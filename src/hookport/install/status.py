"""What is installed: for each agent and hook whether its entry is there, whether it holds, when it ran."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from hookport import findings as f
from hookport.degrade.wrapping import unwrapped
from hookport.dialects import agents as all_agents
from hookport.dialects import get
from hookport.dialects._agent_trust import MODIFIED, TRUSTED, UNTRUSTED
from hookport.findings import Finding
from hookport.install import agent_trust, entries, sync
from hookport.install.doctor import closed_gates
from hookport.install.sync import AgentPlan, Wish
from hookport.install.targets import SCOPES, Scope, Target, detected, target
from hookport.model.hooks import Hook
from hookport.planning import is_dispatch, name_of, runnable
from hookport.project.discovery import Discovery, Found, discover
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
    # By agent: what keeps its hooks from running at all.
    closed: Mapping[str, str]


class _Installed(NamedTuple):
    """Our entries in one agent's files of one scope."""

    target: Target
    ours: tuple[Hook, ...]
    plan: AgentPlan


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
    gates = {name: closed_gates(get(name), cwd, env) for name in chosen}
    closed = {name: told[0].message for name, told in gates.items() if told}
    seen = _Seen(_fired(env), sync.waiting(found, env), said, closed)
    states: list[AgentState] = []
    for number, agent in enumerate(chosen):
        tell(agent, number, len(chosen))
        there = [_installed(target(agent, scope, found.root, env), found) for scope in SCOPES]
        with_ours = [one for one in there if one.ours]
        if with_ours or agent in here or names:
            shown = with_ours or there[:1]
            states += [_agent_state(one, found, here.get(agent, ""), seen) for one in shown]
    return Status(found.root, tuple(states))


def _installed(one: Target, found: Discovery) -> _Installed:
    ours = tuple(hook for path in one.every_file() for hook in sync.ours_in(one, path))
    commands = [hook.handler.command for hook in ours]
    mode: sync.Choice = "auto"
    if commands:
        mode = "bridge" if any(map(is_dispatch, commands)) else "native"
    is_vendored = sync.brings_bridge(found.root, one.scope) or any(
        vendored.ARCHIVE in command for command in commands
    )
    wish = Wish((one.agent,), one.scope, mode, vendor=is_vendored)
    return _Installed(one, ours, sync.planned(one, found, wish))


def _agent_state(one: _Installed, found: Discovery, shown: str, seen: _Seen) -> AgentState:
    dialect = one.target.dialect
    plan = one.plan
    is_bridge = plan.mode == "bridge"
    hooks = [hook for hook in runnable(found) if is_bridge or hook.scope == one.target.scope]
    return AgentState(
        dialect.id,
        dialect.title,
        shown,
        one.target.scope,
        plan.mode,
        plan.state,
        plan.paths,
        tuple(_hook_state(one, hook, seen) for hook in hooks),
        dialect.notes,
        tuple(finding for finding in plan.findings if finding.code not in IN_ROWS),
    )


def _hook_state(one: _Installed, found: Found, seen: _Seen) -> HookState:
    dialect = one.target.dialect
    level, reason = entries.enforcement(dialect, found.hook)
    state = _state(one, found)
    is_there = state in ("installed", "drifted") and one.plan.mode == "bridge"
    if is_there and level != "unavailable" and (found.file, found.place) in seen.waiting:
        level, reason = "unavailable", UNAPPROVED
    said = {seen.said.get((dialect.id, command), "") for command in _commands(one, found)[0]} - {""}
    # Of several entries the one counts that holds the hook up.
    worst = next((word for word in (MODIFIED, UNTRUSTED, TRUSTED) if word in said), "")
    if worst:
        remedy = "" if worst == TRUSTED else ": `hookport trust --agents`"
        reason = "; ".join(filter(None, (f"{worst} in {dialect.title}{remedy}", reason)))
        level = level if worst == TRUSTED else "unavailable"
    if state == "missing":
        level, reason = "unavailable", reason if level == "unavailable" else "not installed"
    elif not worst and dialect.id in seen.closed:
        level, reason = "unavailable", seen.closed[dialect.id]
    keys = [
        (dialect.id, found.file, found.place),
        *((dialect.id, "", text) for _, text in _alone(one, found)),
    ]
    last = next((seen.fired[key] for key in keys if key in seen.fired), "")
    return HookState(
        name_of(found), found.hook.event, found.file, found.place, found.scope, state, level, reason, last
    )


def _state(one: _Installed, found: Found) -> str:
    if entries.runs_itself(one.target, found):
        return BY_ITSELF
    there, wanted = _commands(one, found)
    if not there:
        return "missing"
    return "installed" if one.plan.state == "installed" or (wanted and wanted <= there) else "drifted"


def _commands(one: _Installed, found: Found) -> tuple[set[str], set[str]]:
    """The commands of our entries that run a hook: those that are there, and those that should be."""
    if one.plan.mode == "bridge":
        there, wanted = (
            {
                hook.handler.command
                for hook in hooks
                if hook.event == found.hook.event and is_dispatch(hook.handler.command)
            }
            for hooks in (one.ours, one.plan.hooks)
        )
    else:
        alone = _alone(one, found)
        there, wanted = (
            {
                hook.handler.command
                for hook in hooks
                # A test of which agent it is may stand before the command.
                if any(
                    hook.event == event and f" {_inner(hook)}".endswith(f" {text}") for event, text in alone
                )
            }
            for hooks in (one.ours, one.plan.hooks)
        )
    return there, wanted


def _alone(one: _Installed, found: Found) -> list[tuple[str, str]]:
    """The events and commands of a hook that is by itself in the agent's file, without the bridge."""
    if not one.ours or one.plan.mode == "bridge":
        return []
    start = entries.program(one.target, is_vendored=False)
    return [(hook.event, _inner(hook)) for hook in entries.native(one.target, (found,), start).hooks]


def _inner(hook: Hook) -> str:
    """The command of the hook itself, without the bridge."""
    return unwrapped(hook).handler.command


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
