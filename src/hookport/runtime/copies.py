"""Copies of one hook, of which one runs for an event. Loaded only if a plan has copies."""

from __future__ import annotations

import os

from hookport.runtime import trust
from hookport.runtime.select import find_targets, is_as_strict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hookport.base.tree import Tree
    from hookport.model.runs import Event
    from hookport.runtime.engine import RunSetting
    from hookport.runtime.plan import PlannedHook

    Hooks = list[PlannedHook]
    Spared = list[tuple[PlannedHook, str]]


def drop_copies(event: Event, hooks: Hooks, setting: RunSetting) -> tuple[Hooks, Spared]:
    """Split hooks into those that run for an event and their copies, each with the reason why it is skipped.

    Copies are hooks that their own agent runs once, and hooks in several agents' files that start the same
    script. A copy that may not run replaces no other, and is not skipped: it may have to deny.
    """
    rest, spared = _drop_repeats(
        event, hooks, setting, lambda hook: hook.once, _rank_by_time, _explain_repeat
    )
    by_agent = _rank_for_agent(event.agent)
    rest, more = _drop_repeats(event, rest, setting, lambda hook: hook.does, by_agent, _explain_shared_script)
    return rest, [*spared, *more]


def _drop_repeats(
    event: Event,
    hooks: Hooks,
    setting: RunSetting,
    name: Callable[[PlannedHook], str],
    rank: Callable[[PlannedHook], Tree],
    replaces: Callable[[PlannedHook, PlannedHook], str],
) -> tuple[Hooks, Spared]:
    """Drop each hook that a higher-ranking hook of the same name replaces."""
    # The same command in another project is another hook.
    names = [(hook.root, name(hook)) for hook in hooks if name(hook)]
    if len(set(names)) == len(names):
        return hooks, []
    groups: dict[tuple[str, str], list[PlannedHook]] = {}
    for hook in hooks:
        key = (hook.root, name(hook))
        if key[1] and names.count(key) > 1 and _may_run(hook, setting):
            groups.setdefault(key, []).append(hook)
    spared: dict[int, tuple[PlannedHook, str]] = {}
    for group in groups.values():
        kept_hooks: list[tuple[PlannedHook, set[int]]] = []
        for hook in sorted(group, key=rank):
            targets = _find_numbers(hook, event, setting)
            whys = [
                replaces(kept_hook, hook) for kept_hook, done in kept_hooks if _covers(done, targets, event)
            ]
            why = next(filter(None, whys), "") if targets else ""
            if why:
                spared[id(hook)] = hook, why
            else:
                kept_hooks.append((hook, targets))
    return [hook for hook in hooks if id(hook) not in spared], list(spared.values())


def _rank_by_time(hook: PlannedHook) -> Tree:
    """Keep the copy with the longest timeout, of those in one agent's files."""
    return -hook.timeout_seconds


def _rank_for_agent(agent: str) -> Callable[[PlannedHook], Tree]:
    """Keep the copy written for this agent, else the strictest, of those for several agents."""

    def rank(hook: PlannedHook) -> Tree:
        is_link = os.path.islink(hook.file)
        lenient = (hook.is_async, not hook.blocking, hook.on_failure != "block", -hook.timeout_seconds)
        return (hook.dialect != agent, *lenient, is_link)

    return rank


def _explain_repeat(kept_hook: PlannedHook, hook: PlannedHook) -> str:
    return f"{hook.dialect} runs a hook once, and {kept_hook.file} has it too"


def _explain_shared_script(kept_hook: PlannedHook, hook: PlannedHook) -> str:
    is_link = kept_hook.file != hook.file and os.path.realpath(kept_hook.file) == os.path.realpath(hook.file)
    if (kept_hook.dialect == hook.dialect and not is_link) or not is_as_strict(kept_hook, hook):
        return ""
    return f"{kept_hook.file} starts the same script, and only one copy runs"


def _find_numbers(hook: PlannedHook, event: Event, setting: RunSetting) -> set[int]:
    try:
        wire = setting.wires(hook.dialect)
    except Exception:  # noqa: BLE001  (an unknown dialect is reported when its hook runs)
        return set()
    return {number for number, _ in find_targets(hook, wire, event)[0]}


def _covers(done: set[int], targets: set[int], event: Event) -> bool:
    """Whether a hook that ran on some parts of a call covers other parts; -1 is the whole call."""
    parts = set(range(len(event.call.parts))) if event.call is not None else set()
    return -1 in done or targets <= done or (bool(parts) and parts <= done)


def _may_run(hook: PlannedHook, setting: RunSetting) -> bool:
    judged_hook = trust.judge_hook(hook, setting.project, setting.env) if setting.project else hook
    return not trust.is_overridden(hook) and not (
        judged_hook.trust and trust.find_objection(judged_hook.trust)
    )
