"""Copies of one hook, of which one runs for an event: loaded where a plan has several of the same name."""

from __future__ import annotations

import os

from hookport.runtime import trust
from hookport.runtime.select import is_as_strict, targets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hookport.base.tree import Tree
    from hookport.model.runs import Event
    from hookport.runtime.engine import Setting
    from hookport.runtime.plan import Planned

    Hooks = list[Planned]
    Spared = list[tuple[Planned, str]]


def without_copies(event: Event, hooks: Hooks, setting: Setting) -> tuple[Hooks, Spared]:
    """The hooks of which one is to run for an event, and their copies, each with the reason why not.

    Copies are what their own agent runs once, and what files for several agents start alike. One that may not
    run takes no other's place, and is not spared: it may have to deny.
    """
    rest, spared = _spare(event, hooks, setting, lambda hook: hook.once, _by_time, _repeats)
    by_agent = _for_agent(event.agent)
    rest, more = _spare(event, rest, setting, lambda hook: hook.does, by_agent, _is_other_agents)
    return rest, [*spared, *more]


def _spare(
    event: Event,
    hooks: Hooks,
    setting: Setting,
    name: Callable[[Planned], str],
    rank: Callable[[Planned], Tree],
    replaces: Callable[[Planned, Planned], str],
) -> tuple[Hooks, Spared]:
    """The hooks without those that another one of the same name, which ranks before them, stands for."""
    # The same words are another hook in another project.
    names = [(hook.root, name(hook)) for hook in hooks if name(hook)]
    if len(set(names)) == len(names):
        return hooks, []
    groups: dict[tuple[str, str], list[Planned]] = {}
    for hook in hooks:
        key = (hook.root, name(hook))
        if key[1] and names.count(key) > 1 and _may_run(hook, setting):
            groups.setdefault(key, []).append(hook)
    spared: dict[int, tuple[Planned, str]] = {}
    for group in groups.values():
        kept: list[tuple[Planned, set[int]]] = []
        for hook in sorted(group, key=rank):
            targets = _numbers(hook, event, setting)
            whys = [replaces(one, hook) for one, done in kept if _covers(done, targets, event)]
            why = next(filter(None, whys), "") if targets else ""
            if why:
                spared[id(hook)] = hook, why
            else:
                kept.append((hook, targets))
    return [hook for hook in hooks if id(hook) not in spared], list(spared.values())


def _by_time(hook: Planned) -> Tree:
    """Of copies in one agent's files, the one that has the most time stays."""
    return -hook.timeout_seconds


def _for_agent(agent: str) -> Callable[[Planned], Tree]:
    """Of copies for several agents, what was written for this one stays; else the strictest."""

    def rank(hook: Planned) -> Tree:
        is_link = os.path.islink(hook.file)
        lenient = (hook.is_async, not hook.blocking, hook.on_failure != "block", -hook.timeout_seconds)
        return (hook.dialect != agent, *lenient, is_link)

    return rank


def _repeats(one: Planned, hook: Planned) -> str:
    return f"{hook.dialect} runs the same hook once, and it stands in {one.file} too"


def _is_other_agents(one: Planned, hook: Planned) -> str:
    is_link = one.file != hook.file and os.path.realpath(one.file) == os.path.realpath(hook.file)
    if (one.dialect == hook.dialect and not is_link) or not is_as_strict(one, hook):
        return ""
    return f"{one.file} starts the same script, and a copy of it runs once"


def _numbers(hook: Planned, event: Event, setting: Setting) -> set[int]:
    try:
        wire = setting.wires(hook.dialect)
    except Exception:  # noqa: BLE001  (a dialect that is not known is told when its hook is run)
        return set()
    return {number for number, _ in targets_of(hook, wire, event)[0]}


def _covers(done: set[int], targets: set[int], event: Event) -> bool:
    """Whether a hook that ran on some things of a call has seen others; -1 is the call as a whole."""
    parts = set(range(len(event.call.parts))) if event.call is not None else set()
    return -1 in done or targets <= done or (bool(parts) and parts <= done)


def _may_run(hook: Planned, setting: Setting) -> bool:
    known = trust.judged(hook, setting.project, setting.env) if setting.project else hook
    return not trust.gives_way(hook) and not (known.trust and trust.objection(known.trust))
