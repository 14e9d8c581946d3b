"""The hooks that may match an event: those of a plan, or of several projects' plans together."""

from __future__ import annotations

import os

from hookport.model.value import Value
from hookport.runtime import journal, plan, select
from hookport.runtime.occasion import find_start_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from hookport.model.runs import Event
    from hookport.wire.table import Wire


class HookSources(Value):
    """The source of hooks and wires: a plan, and the dialects for what it lacks."""

    agent: Wire
    wires: Callable[[str], Wire]
    hooks: Callable[[Event], Iterable[plan.PlannedHook]]
    settings: Mapping[str, Any] = {}
    root: str = ""
    # Hooks that cannot run, in words; and why the hooks are unknown.
    broken: tuple[str, ...] = ()
    unknown: str = ""
    # Why the approvals are unknown, in words.
    lost: str = ""
    # Whether hooks of the project need its user's approval, and which lack it.
    needs_approval: bool = False
    waiting: Callable[[str], Sequence[str]] | None = None
    # For hooks of several projects, the root of each.
    roots: Sequence[str] = ()
    # What no agent may change.
    protected: Callable[[], Sequence[str]] = tuple
    # The agent's working folder, if that is not ours.
    agent_folder: str = ""
    # The name of the agent's entry that started us; None if the agent starts no other entry for a call.
    entry: str | None = None
    # Every agent that may be the caller, with the variables that only it sets.
    callers: Mapping[str, Sequence[str]] = {}
    # The current sources, if scripts of hooks changed after the plan was made.
    renew: Callable[[], HookSources] | None = None


def make_sources(
    dispatch_plan: plan.DispatchPlan,
    agent: str,
    fallback: Callable[[str], Wire],
    caller: plan.CallOrigin = plan.NOBODY,
) -> HookSources:
    """Make sources from a plan, without hooks whose file the firing agent loads itself."""

    def wires(name: str) -> Wire:
        return dispatch_plan.wire(name) or fallback(name)

    header = dispatch_plan.header
    # A plan from the project itself: its claims about approvals prove nothing.
    is_foreign = "contents" in header

    def hooks(event: Event) -> Iterable[plan.PlannedHook]:
        planned = dispatch_plan.hooks(event.event, list_tools(event))
        if is_foreign:
            planned = [hook.replace(scope="project", trust={}, rivals=()) for hook in planned]
        itself = [hook for hook in planned if is_loaded(hook.loaded_by, event.agent)]
        return [hook for hook in planned if hook not in itself and not is_copy(hook, itself, event)]

    def is_loaded(loaded_by: Mapping[str, Sequence[Any]], agent: str) -> bool:
        return plan.is_loaded_by(loaded_by, agent, header["root"], caller)

    def is_copy(hook: plan.PlannedHook, itself: list[plan.PlannedHook], event: Event) -> bool:
        """Whether the agent itself runs the same command on this event, from its own file."""
        same = [
            loaded_hook
            for loaded_hook in itself
            if loaded_hook.does == hook.does and select.is_as_strict(loaded_hook, hook)
        ]
        return any(select.is_for(loaded_hook, wires(loaded_hook.dialect), event) for loaded_hook in same)

    return HookSources(
        wires(agent),
        wires,
        hooks,
        header["settings"],
        header["root"],
        tuple(header["broken"]),
        lost=header["lost"],
        needs_approval=True,
        waiting=lambda agent: [name for name, by in header["waiting"] if not is_loaded(by, agent)],
        protected=dispatch_plan.protected,
        callers=header["callers"],
    )


def list_tools(event: Event) -> list[str] | None:
    """List every canonical tool that a call or its parts may be; an unknown one by its own name.

    None if the tool is unknown.
    """
    call = event.call
    if call is not None and not call.known_by:
        return None
    calls = () if call is None else (call, *call.parts)
    return list(
        dict.fromkeys(tool for part in calls for tool in (part.tool or part.native, *part.also) if tool)
    )


def load_pauses(root: str, env: Mapping[str, str]) -> Mapping[str, float]:
    """Load the hooks that the user paused; without any, no reader is imported."""
    if not os.path.isdir(os.path.join(journal.find_state_folder(env), journal.PAUSES)):
        return {}
    from hookport.runtime import pauses

    return pauses.find_pauses(root, env)


def is_every_paused(paused: Mapping[str, float]) -> bool:
    """Whether the user paused every hook."""
    if not paused:
        return False
    from hookport.runtime import pauses

    return pauses.EVERY in paused


def identify_caller(agent: Wire, env: Mapping[str, str], entry: str) -> plan.CallOrigin:
    """Identify the caller; an agent that names its root names its start folder."""
    return plan.CallOrigin(next(find_named_roots(agent, env), "") or find_start_folder(), "", entry, env)


def find_named_roots(agent: Wire, env: Mapping[str, str]) -> Iterator[str]:
    """Find the project's roots that the agent names in the environment."""
    return (env[name] for name, value in agent.env.items() if value == "$root" and env.get(name))


def find_repository(folder: str) -> str:
    """Find the repository of a folder, else the folder itself."""
    from hookport.base.paths import find_repository

    return find_repository(folder) or folder
