"""The hooks of an installed hookport: plans from the cache, rebuilt if a source changed.

Agents start it on every event, so it imports the plan builder only if a plan must be built.
"""

from __future__ import annotations

import os
import sys

from hookport import __version__
from hookport.runtime import main as runtime
from hookport.runtime import plan
from hookport.runtime.occasion import find_start_folder
from hookport.runtime.sources import find_named_roots, find_repository, identify_caller, make_sources
from hookport.wire.events import list_roots as roots_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeGuard

    from hookport.runtime.covering import EntryFile
    from hookport.runtime.occasion import Occasion
    from hookport.runtime.plan import DispatchPlan, PlannedHook
    from hookport.runtime.sources import HookSources
    from hookport.wire.table import Wire


def main(args: list[str] | None = None) -> int:
    """Answer an agent with the hooks of its project and those of the user."""
    return runtime.main(sys.argv[1:] if args is None else args, InstalledHooks())


def locate_bridge_file() -> str:
    """The file that an installed entry starts; it calls `main`."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bridge.py")


class InstalledHooks:
    """The source of an installed hookport's hooks and wires: a `HookStore`, for one event.

    `start` is the agent's start folder, if that is not ours. A caller with several events passes the same
    `kept` to each: unchanged plans are then not read again.
    """

    def __init__(self, start: str = "", kept: dict[str, DispatchPlan] | None = None) -> None:
        self._start = start
        self._plans: dict[str, DispatchPlan] = {}
        self._kept = {} if kept is None else kept

    def wire(self, name: str) -> Wire:
        """Load a wire that no plan has: another package's, or none."""
        _add_libraries()
        from hookport.agents import get_wire

        return get_wire(name)

    def is_stop(self, _native: str) -> bool:
        """Whether an event of an agent without a wire is named like a stop; here every agent has a wire."""
        return False

    def read_settings(self, env: Mapping[str, str]) -> Mapping[str, Any]:
        """The settings of our start folder."""
        _add_libraries()
        from hookport.project.settings import load_settings

        return load_settings(self._find_start(), env)

    def load_tables(self, env: Mapping[str, str]) -> DispatchPlan:
        """The plan with all wires, the project's settings and no hook."""
        root = find_repository(self._find_start())
        kept = plan.load(plan.find_tables_path(root, env), env)
        is_ours = isinstance(kept, plan.DispatchPlan) and kept.header["version"] == __version__
        if isinstance(kept, plan.DispatchPlan) and is_ours and not plan.has_changed(kept):
            return kept
        _add_libraries()
        from hookport.project import plan_builder

        return plan_builder.build_without_hooks(root, env)

    def find_coverage(
        self, name: str, file: str, env: Mapping[str, str]
    ) -> tuple[Sequence[PlannedHook], EntryFile]:
        """Every hook that may run, and the places of our entries for an agent."""
        from hookport.runtime import covering

        agent = self.wire(name)
        kept = self._plan(next(find_named_roots(agent, env), "") or self._find_start(), env)
        root, callers = kept.header["root"], kept.header["callers"]
        programs = [sys.executable, locate_bridge_file()]
        entry = covering.EntryFile(agent, os.path.join(root, file), programs, root, callers)
        return () if kept.header["broken"] else kept.read_all_hooks(), entry

    def find_sources(self, agent: str, env: Mapping[str, str], entry: str) -> HookSources:
        """The hooks of our start folder."""
        kept = self._plan(self._find_start(), env)
        return make_sources(
            kept, agent, self.wire, identify_caller(kept.wire(agent) or self.wire(agent), env, entry)
        )

    def follow_event(
        self, sources: HookSources, occasion: Occasion, env: Mapping[str, str], entry: str
    ) -> HookSources:
        """The hooks of an event's project, and of every other approved project that it names."""
        agent, event, start = occasion.agent, occasion.event, self._find_start()
        named = [*find_named_roots(agent, env), event.root, event.cwd]
        caller = identify_caller(agent, env, entry).replace(cwd=event.cwd)

        def hooks_of(folder: str, kept: DispatchPlan) -> HookSources:
            def renew() -> HookSources:
                self._kept[folder] = _make_plan(folder, env)
                return hooks_of(folder, self._kept[folder])

            return make_sources(kept, sources.agent.id, self.wire, caller).replace(renew=renew)

        places = () if occasion.failure else named
        folder = next((one for one in places if one and (one == start or os.path.isdir(one))), start)
        folders = [start, *named, *roots_in(agent, occasion.tree, event.native)]
        others = _find_other_projects(self._plan(folder, env), folders, env)
        first, *rest = [hooks_of(one, self._plan(one, env)) for one in (folder, *others)]
        if not rest:
            return first
        from hookport.runtime.several import join_sources

        return join_sources(first, rest, env)

    def _plan(self, folder: str, env: Mapping[str, str]) -> DispatchPlan:
        """The plan of a folder from the cache, or rebuilt."""
        if folder not in self._plans:
            path = plan.find_plan_path(folder, env)
            kept = self._kept.get(folder) or (plan.load(path, env) if path else "")
            self._plans[folder] = kept if _is_fresh(kept, env) else _make_plan(folder, env)
            self._kept[folder] = self._plans[folder]
        return self._plans[folder]

    def _find_start(self) -> str:
        return self._start or find_start_folder()


def _is_fresh(kept: DispatchPlan | str, env: Mapping[str, str]) -> TypeGuard[DispatchPlan]:
    return (
        isinstance(kept, plan.DispatchPlan)
        and plan.is_current(kept, __version__, env)
        and not plan.has_changed(kept)
    )


def _make_plan(folder: str, env: Mapping[str, str]) -> DispatchPlan:
    _add_libraries()
    from hookport.project import plan_builder

    return plan_builder.load_current_plan(folder, env)[0]


def _add_libraries() -> None:
    """Make the YAML library and other packages' dialects importable, which `-S` hides, for building plans."""
    if sys.flags.no_site:
        import site

        site.main()


def _find_other_projects(
    dispatch_plan: DispatchPlan, folders: Iterable[str], env: Mapping[str, str]
) -> list[str]:
    """The other approved projects of some folders; most events concern only one."""
    root = dispatch_plan.header["root"]
    places = [os.path.realpath(folder) for folder in dict.fromkeys(folders) if folder]
    strays = [place for place in places if place != root and find_repository(place) != root]
    near = [
        project
        for project in dispatch_plan.header["near"]
        if any(_is_below(place, project) for place in places)
    ]
    if strays:
        from hookport.runtime import trust
        from hookport.runtime.several import find_other_roots

        near = find_other_roots(root, [*near, *trust.find_approved_roots(strays, env)], env)
    return [project for project in dict.fromkeys(near) if project != root]


def _is_below(place: str, root: str) -> bool:
    return os.path.join(place, "").startswith(os.path.join(root, ""))
