"""The hooks of several projects for one event: all projects that contain it, as far as approved."""

from __future__ import annotations

import os

from hookport.runtime import policy, trust
from hookport.runtime.sources import is_every_paused, load_pauses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hookport.model.runs import Event
    from hookport.runtime.plan import PlannedHook
    from hookport.runtime.sources import HookSources
    from hookport.wire.table import Wire


def join_sources(
    sources: HookSources, more_sources: Sequence[HookSources], env: Mapping[str, str]
) -> HookSources:
    """Join the hooks of several projects, each once and with its own root; the strictest setting wins.

    The first has the user's hooks, and the agents' own wires.
    """
    projects = [_silence_paused(project, env) for project in (sources, *more_sources)]

    def hooks(event: Event) -> Iterable[PlannedHook]:
        planned = list(sources.hooks(event))
        places = {(hook.file, hook.place) for hook in planned}
        for other in more_sources:
            more = [hook for hook in other.hooks(event) if (hook.file, hook.place) not in places]
            planned += [hook.replace(root=other.root) for hook in more if hook.scope == "project"]
            places |= {(hook.file, hook.place) for hook in more}
        return sorted(planned, key=lambda hook: -hook.priority)

    def waiting(agent: str) -> Sequence[str]:
        return [name for project in projects if project.waiting for name in project.waiting(agent)]

    def protected() -> Sequence[str]:
        theirs = [
            os.path.join(project.root, path) for project in more_sources for path in project.protected()
        ]
        return [*sources.protected(), *theirs]

    def wires(name: str) -> Wire:
        """Find a wire of any of the projects: each may have its own dialects."""
        from hookport.errors import HookportError

        for project in projects[:-1]:
            try:
                return project.wires(name)
            except HookportError:
                continue
        return projects[-1].wires(name)

    strict = {
        name: word
        for name, (word, _) in policy.WORDS.items()
        if any(project.settings.get(name, policy.DEFAULTS[name]) == word for project in projects)
    }

    def renew() -> HookSources:
        first, *rest = [project.renew() if project.renew else project for project in (sources, *more_sources)]
        return join_sources(first, rest, env)

    return sources.replace(
        renew=renew,
        wires=wires,
        hooks=hooks,
        settings={**sources.settings, **strict},
        broken=tuple(dict.fromkeys(line for project in projects for line in project.broken)),
        lost=next((project.lost for project in projects if project.lost), ""),
        unknown=next((project.unknown for project in projects if project.unknown), ""),
        roots=sorted(project.root for project in projects),
        waiting=waiting,
        protected=protected,
    )


def _silence_paused(sources: HookSources, env: Mapping[str, str]) -> HookSources:
    """Silence a project's reports on its hooks if its user paused all of them."""
    if is_every_paused(load_pauses(sources.root, env)):
        return sources.replace(broken=(), lost="", unknown="")
    return sources


def find_other_roots(root: str, roots: Iterable[str], env: Mapping[str, str]) -> list[str]:
    """Find the projects of some roots that are not the project of a given root.

    A linked worktree under the approval of its checkout is the same project as the checkout.
    """
    candidates = list(dict.fromkeys(roots))
    checkouts = [trust.find_inherited_root(candidate, env) for candidate in (root, *candidates)]
    return [
        candidate
        for candidate in candidates
        if candidate not in (root, *checkouts) and trust.find_inherited_root(candidate, env) != root
    ]
