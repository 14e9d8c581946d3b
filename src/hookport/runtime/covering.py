"""Whether an entry of ours runs a hook that an agent also reads from another agent's file.

The user's own command asks this and exits at once if so; in any doubt the answer is no.
"""

from __future__ import annotations

from hookport.model.json_text import loads
from hookport.model.value import Value
from hookport.runtime import trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hookport.base.tree import Tree
    from hookport.runtime.plan import PlannedHook
    from hookport.wire.table import Wire

DIGITS = 16


def hash_command(command: str) -> str:
    """The short hash that identifies a command."""
    return trust.sha256(command.encode("utf-8", "surrogatepass"))[:DIGITS]


class EntryFile(Value):
    """The places of our entries for an agent, and the programs they must start; `callers` as in a plan."""

    agent: Wire
    file: str
    programs: Sequence[str]
    root: str
    callers: Mapping[str, Sequence[str]]


def is_covered(hooks: Sequence[PlannedHook], entry: EntryFile, env: Mapping[str, str]) -> bool:
    """Whether hooks exist, all of them may run, and an entry starts the bridge for each."""
    # The other agent may have started the agent that the file belongs to.
    if any(env.get(name) for hook in hooks for name in entry.callers.get(hook.dialect, ())):
        return False
    if not hooks or any(hook.unable or trust.find_hook_objection(hook, entry.root, env) for hook in hooks):
        return False
    served, natives = _find_served_events(entry), entry.agent.natives
    return all(any(native in served for _, native in natives.get(hook.event, ())) for hook in hooks)


def _find_served_events(entry: EntryFile) -> set[str]:
    """Find the agent's events for which the file has an entry that starts the bridge by these programs."""
    try:
        with open(entry.file, "rb") as file:
            tree = loads(file.read().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return set()
    if not isinstance(tree, dict) or tree.get("disableAllHooks"):
        return set()
    calls = (text.partition(f" dispatch {entry.agent.id} ") for text in _walk_texts(tree))
    return {
        after.partition(" --entry=")[0].strip("'\"")
        for before, separator, after in calls
        if separator and " --entry=" in after and all(program in before for program in entry.programs)
    }


def _walk_texts(tree: Tree) -> Iterator[str]:
    """Yield every text in a tree, except those of an entry that is switched off."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        if tree.get("enabled") is not False and not tree.get("disabled"):
            for child in tree.values():
                yield from _walk_texts(child)
    elif isinstance(tree, list):
        for child in tree:
            yield from _walk_texts(child)
