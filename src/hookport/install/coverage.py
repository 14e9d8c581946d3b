"""Whether a hook runs in an agent: the agent loads its file, an entry of ours runs it, or nothing does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from hookport import findings as f
from hookport.agents import Dialect, get, list_dialects
from hookport.convert.degrade.wrapping import unwrap_hook
from hookport.errors import correct_slip
from hookport.findings import Finding
from hookport.install import entries
from hookport.install.targets import Target
from hookport.model.events import split_native
from hookport.model.hooks import Hook
from hookport.project import ownership
from hookport.project.agent_trust import find_closed_gate, read_folder_trust
from hookport.project.discovery import HookEntry
from hookport.project.ownership import Loading, is_dispatch
from hookport.project.places import is_same
from hookport.project.plan_builder import name_entry, spell_switch
from hookport.shapes.dialect import find_event

# The fixes that a person can run.
SYNC = "Run `hookport sync --agent {agent}{scope}`."
EVERYWHERE = "Run `hookport sync --agent {agent} --scope user --mode bridge`: it works in every folder."
MOST_NAMES = 5
SCOPED_NOTE = "only while its skill, subagent or command is active"
SCOPED = (
    "it belongs to another agent's skill, subagent or command, and only that agent knows when it is active"
)


class InstalledEntries(NamedTuple):
    """Our entries in one agent's files of one scope: the installed and the wanted ones."""

    target: Target
    mode: str
    state: str
    ours: tuple[Hook, ...]
    wanted: tuple[Hook, ...]


class Cover(NamedTuple):
    """What runs a hook in an agent, `agent` or `entry`; if nothing does, why, and the fix."""

    by: Literal["agent", "entry", ""]
    why: str = ""
    fix: str = ""
    # The state of the entry: `installed` or `drifted`.
    state: str = ""


def find_cover(
    hook: HookEntry,
    scopes: Sequence[InstalledEntries],
    start: str,
    *,
    is_scoped: bool = False,
    others: Sequence[HookEntry] = (),
) -> Cover:
    """Find what runs a hook in an agent started in a folder; `others` may be copies that run there."""
    target = scopes[0].target
    dialect, root, env = target.dialect, target.root, target.env
    if hook.off:
        return Cover("", f"{spell_switch(hook.off, root)} switches it off", hook.off.fix)
    blocked: list[Cover] = []
    how = ownership.find_loading(dialect, hook, root, env)
    if how is not None:
        why = _find_closed_gate(target, hook.scope, how, start)
        why = _find_unknown_event(target, hook.hook) if not why.why else why
        if not why.why:
            return Cover("agent", SCOPED_NOTE if is_scoped else "")
        blocked.append(why)
    if is_scoped:
        return blocked[0] if blocked else Cover("", SCOPED)
    level, reason = entries.judge_enforcement(dialect, hook.hook)
    if level == "unavailable":
        # Nothing fixes that an agent lacks an event.
        return Cover("", reason)
    for installed in scopes:
        present, wanted = find_commands(installed, hook)
        if not present:
            continue
        # An entry is in the agent's own file of its scope.
        loading = ownership.find_place_loading(dialect, installed.target.places()[0], root, env)
        why = (
            _find_closed_gate(target, installed.target.scope, loading, start)
            if loading is not None
            else _explain_untrusted(target)
        )
        if not why.why:
            is_whole = installed.state == "installed" or (wanted and wanted <= present)
            return Cover("entry", state="installed" if is_whole else "drifted")
        blocked.append(why)
    return (
        blocked[0]
        if blocked
        else _explain_not_installed(hook, target, _find_running_copy(hook, others, scopes, start))
    )


def _find_running_copy(
    hook: HookEntry, others: Sequence[HookEntry], scopes: Sequence[InstalledEntries], start: str
) -> str:
    """The file of a copy that runs in the agent and starts the same script on the same event; else empty."""
    copies = (
        other
        for other in others
        if (other.file, other.place) != (hook.file, hook.place)
        and other.runs == hook.runs != ""
        and other.hook.event == hook.hook.event
        and _selects_as_much(other.hook, hook.hook)
    )
    return next((other.file for other in copies if find_cover(other, scopes, start).by), "")


def _selects_as_much(other: Hook, hook: Hook) -> bool:
    """Whether a hook matches every call that another hook matches, as far as their matchers show."""
    pairs = [(getattr(other, name), getattr(hook, name)) for name in ("matcher", "content", "condition")]
    return all(not wide or wide == narrow for wide, narrow in pairs)


def _explain_not_installed(hook: HookEntry, target: Target, copy: str) -> Cover:
    """Explain why no entry runs an unblocked hook, and which command installs an entry."""
    dialect, agent = target.dialect, target.agent
    about = (dialect, hook, target.root, target.env)
    if ownership.waits_for_trust(*about):
        return Cover(
            "", f"{dialect.title} skips it until it approves it", "Run `hookport trust --in-agents`."
        )
    if ownership.is_of_one_product(*about):
        reason = f"only one product of {dialect.title} reads its file"
        return Cover("", reason, EVERYWHERE.format(agent=agent))
    if hook.dropped and hook.hook.dialect == agent:
        return Cover(
            "", f"{dialect.title} reads no hook of its file", "`hookport check` shows what is wrong."
        )
    scope = " --scope user" if hook.scope == "user" or not target.places() else ""
    instead = f"; its copy in {_spell_file(copy, target.root)} runs instead" if copy else ""
    return Cover("", f"not installed{instead}", SYNC.format(agent=agent, scope=scope))


def _spell_file(file: str, root: str) -> str:
    """Format a file for people: from the project root, if it is below."""
    return file.removeprefix(f"{root}/")


def _find_closed_gate(target: Target, scope: str, how: Loading, start: str) -> Cover:
    """What prevents an agent from running a loaded hook: a setting, its start folder, or trust."""
    gate = find_closed_gate(target.dialect, scope, target.root, target.env)
    return Cover("", gate.what, gate.fix) if gate else _find_obstacle(target, how, start)


def _find_unknown_event(target: Target, hook: Hook) -> Cover:
    """The gap of an event that the agent does not have: such a hook never runs."""
    native = split_native(hook.event)
    if not native or native[0] != target.agent or find_event(target.dialect, native[1]):
        return Cover("")
    why = f"{target.dialect.title} {target.dialect.facts} has no event '{native[1]}'"
    meant = _guess_event(target.dialect, native[1])
    fix = f"Write '{meant}'." if meant else f"`hookport matrix {target.agent}` lists the events."
    return Cover("", why, fix)


def _guess_event(dialect: Dialect, name: str) -> str:
    """The agent's name for an event that is mistyped or has another dialect's name."""
    slipped = correct_slip(name, [spec.native for spec in dialect.events])
    theirs = (find_event(get(other), name) for other in list_dialects() if other != dialect.id)
    canonical = [spec.canonical for spec in theirs if spec and spec.canonical]
    natives = (spec.native for event in canonical for spec in dialect.events if spec.canonical == event)
    return slipped or next(natives, "")


def _find_obstacle(target: Target, how: Loading, start: str) -> Cover:
    """What prevents an agent from loading a file here and now; no reason if nothing does."""
    if how.below is not None and not how.below and not is_same(start, target.root):
        why = f"{target.dialect.title} reads its file only when started in {target.root}"
        return Cover("", why, EVERYWHERE.format(agent=target.agent))
    trust = target.dialect.folder_trust
    is_unknown = how.proofs is not None and trust is not None and trust.certain and _is_used(target)
    if is_unknown and not any(target.env.get(name) == value for name, value in how.lifts):
        return _explain_untrusted(target)
    return Cover("")


def _is_used(target: Target) -> bool:
    """Whether the agent is on this machine: otherwise it trusts nothing yet."""
    home = [place.path for place in target.dialect.locations if place.scope == "user"]
    folders = [str(Path(path).parent) for place in home if (path := target.path(place))]
    path = target.env.get("PATH", "")
    return any(map(os.path.isdir, folders)) or any(
        shutil.which(program, path=path) for program in target.dialect.programs
    )


def _explain_untrusted(target: Target) -> Cover:
    trust = target.dialect.folder_trust
    evidence = read_folder_trust(target.dialect, target.root, target.env).evidence
    why = f"{target.dialect.title} does not trust this folder" + (
        f": its settings file {evidence}" if evidence else ""
    )
    return Cover("", why, trust.fix if trust else "")


def find_commands(installed: InstalledEntries, found_hook: HookEntry) -> tuple[set[str], set[str]]:
    """The commands of our entries that run a hook: the installed and the wanted ones."""
    lists = (installed.ours, installed.wanted)
    if installed.mode == "bridge":
        present, wanted = (
            {
                hook.handler.command
                for hook in hooks
                if hook.event == found_hook.hook.event and is_dispatch(hook.handler.command)
            }
            for hooks in lists
        )
        return present, wanted
    alone = find_native_commands(installed, found_hook)
    present, wanted = (
        {
            hook.handler.command
            for hook in hooks
            # A test for the agent may precede the command.
            if any(
                hook.event == event and f" {_unwrap_command(hook)}".endswith(f" {text}")
                for event, text in alone
            )
        }
        for hooks in lists
    )
    return present, wanted


def find_native_commands(installed: InstalledEntries, found_hook: HookEntry) -> list[tuple[str, str]]:
    """The events and commands of a natively installed hook in the agent's file."""
    if not installed.ours or installed.mode == "bridge":
        return []
    start = entries.make_bridge_start(installed.target, is_vendored=False)
    return [
        (hook.event, _unwrap_command(hook))
        for hook in entries.plan_native_entries(installed.target, (found_hook,), start).hooks
    ]


def _unwrap_command(hook: Hook) -> str:
    """The command of the hook itself, without the bridge."""
    return unwrap_hook(hook).handler.command


class Gap(NamedTuple):
    """A hook that does not run in an agent, why, and the fix."""

    hook: HookEntry
    cover: Cover


def find_gaps(
    hooks: Iterable[HookEntry], scoped: Iterable[HookEntry], scopes: Sequence[InstalledEntries], start: str
) -> list[Gap]:
    """The hooks that do not run in an agent."""
    others = [*hooks]
    each = (*((hook, False) for hook in others), *((hook, True) for hook in scoped))
    covers = [
        (hook, find_cover(hook, scopes, start, is_scoped=is_scoped, others=others))
        for hook, is_scoped in each
    ]
    return [Gap(hook, cover) for hook, cover in covers if not cover.by]


def report_gaps(gaps: Iterable[Gap], dialect: Dialect) -> list[tuple[Finding, list[Gap]]]:
    """An error for hooks that do not run; one finding for each reason."""
    by_reason: dict[tuple[str, str, bool], list[Gap]] = {}
    for gap in gaps:
        is_fired = entries.is_fired(dialect, gap.hook.hook)
        by_reason.setdefault((gap.cover.why, gap.cover.fix, is_fired), []).append(gap)
    reports: list[tuple[Finding, list[Gap]]] = []
    for (why, fix, is_fired), group in by_reason.items():
        kind = f.NotRunHere if is_fired else f.NeverFires
        shown = [f"'{name_entry(gap.hook)}'" for gap in group[:MOST_NAMES]]
        more = f" and {len(group) - MOST_NAMES} more" if len(group) > MOST_NAMES else ""
        verbs = ("does", "do") if is_fired else ("runs", "run")
        verb = verbs[len(group) > 1]
        words = {
            "agent": dialect.id,
            "names": ", ".join(shown) + more,
            "verb": verb,
            "reason": why,
            "fix": fix,
        }
        first = group[0].hook
        place = first.place if len(group) == 1 else ""
        files = {gap.hook.file for gap in group}
        finding = kind.at(place, None, **words)._replace(file=first.file if len(files) == 1 else "")
        reports.append((finding, group))
    return reports
