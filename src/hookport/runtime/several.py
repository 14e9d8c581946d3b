"""The hooks of several projects for one event: those that the event is in, as far as they are approved."""

from __future__ import annotations

import os

from hookport.runtime import policy, trust
from hookport.runtime.sources import active_pauses, is_every_paused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hookport.model.runs import Event
    from hookport.runtime.plan import Planned
    from hookport.runtime.sources import Sources
    from hookport.wire.table import Wire


def joined(sources: Sources, others: Sequence[Sources], env: Mapping[str, str]) -> Sources:
    """The hooks of several projects for one event, each once and with its own root; the strictest word holds.

    The first has those of the user, and says what the agents obey.
    """
    every = [_at_rest(one, env) for one in (sources, *others)]

    def hooks(event: Event) -> Iterable[Planned]:
        found = list(sources.hooks(event))
        known = {(hook.file, hook.place) for hook in found}
        for other in others:
            more = [hook for hook in other.hooks(event) if (hook.file, hook.place) not in known]
            found += [hook.replace(root=other.root) for hook in more if hook.scope == "project"]
            known |= {(hook.file, hook.place) for hook in more}
        return sorted(found, key=lambda hook: -hook.priority)

    def waiting(agent: str) -> Sequence[str]:
        return [name for one in every if one.waiting for name in one.waiting(agent)]

    def protected() -> Sequence[str]:
        theirs = [os.path.join(one.root, path) for one in others for path in one.protected()]
        return [*sources.protected(), *theirs]

    def wires(name: str) -> Wire:
        """A wire of any of the projects: each may have dialects of its own."""
        from hookport.errors import HookportError

        for one in every[:-1]:
            try:
                return one.wires(name)
            except HookportError:
                continue
        return every[-1].wires(name)

    strict = {
        name: word
        for name, (word, _) in policy.WORDS.items()
        if any(one.settings.get(name, policy.DEFAULTS[name]) == word for one in every)
    }

    def renew() -> Sources:
        first, *rest = [one.renew() if one.renew else one for one in (sources, *others)]
        return joined(first, rest, env)

    return sources.replace(
        renew=renew,
        wires=wires,
        hooks=hooks,
        settings={**sources.settings, **strict},
        broken=tuple(dict.fromkeys(line for one in every for line in one.broken)),
        lost=next((one.lost for one in every if one.lost), ""),
        unknown=next((one.unknown for one in every if one.unknown), ""),
        roots=sorted(one.root for one in every),
        waiting=waiting,
        protected=protected,
    )


def _at_rest(sources: Sources, env: Mapping[str, str]) -> Sources:
    """What a project says of its hooks, where its user did not pause all of them."""
    if is_every_paused(active_pauses(sources.root, env)):
        return sources.replace(broken=(), lost="", unknown="")
    return sources


def other_roots(root: str, roots: Iterable[str], env: Mapping[str, str]) -> list[str]:
    """The projects of some roots that are not that of a root.

    A linked worktree to which the approval of its checkout applies is the same project as that.
    """
    found = list(dict.fromkeys(roots))
    checkouts = [trust.inherited(one, env) for one in (root, *found)]
    return [one for one in found if one not in (root, *checkouts) and trust.inherited(one, env) != root]
