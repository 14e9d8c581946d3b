"""The plan that a project commits beside `bridge.pyz`: paths from the root, sources by content, no user hook.

A source that changed since the plan was made fails its hooks, and policy decides; none is skipped.
"""

from __future__ import annotations

import os

from hookport import __version__
from hookport.base import folders
from hookport.base.files import open_without_waiting
from hookport.base.quoting import quote_if_needed
from hookport.model.json_text import loads
from hookport.model.value import Value
from hookport.runtime import plan, policy, sessions, trust
from hookport.runtime.occasion import find_start_folder
from hookport.runtime.plan import DispatchPlan
from hookport.runtime.sources import find_named_roots, identify_caller, make_sources
from hookport.wire.events import list_roots as roots_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from hookport.model.runs import Event
    from hookport.runtime.covering import EntryFile
    from hookport.runtime.occasion import Occasion
    from hookport.runtime.plan import PlannedHook
    from hookport.runtime.sources import HookSources
    from hookport.wire.table import Wire

    # The content of one place: a file's size and hash, a pattern's names, None for nothing.
    Content = str | list[str] | None

FOLDER = ".hookport"
ARCHIVE, PLAN, SETTINGS = trust.ARCHIVE, trust.PLAN, f"{FOLDER}/config.json"
RENEW = "Run `hookport sync --vendor` where hookport is installed"
# The size from which a file is not hashed at every call.
LARGE = 64 * 1024
# The marks around a path in a command; no command contains them.
MARK = "\0"


class VendoredBridge(Value):
    """A bridge in a project, which is a `HookStore`: its root, and a plan with our own wires and no hook.

    Wires of other packages are in the project's plan: the archive is the same for everybody.
    """

    root: str
    tables: DispatchPlan

    def wire(self, name: str) -> Wire:
        """The wire of a dialect, among those that the bridge was built with."""
        table = self.tables.wire(name)
        if table is not None:
            return table
        from hookport.errors import UsageError, suggest_closest

        loaded = load_plan(self.root)
        if isinstance(loaded, str):
            raise UsageError(
                f"dialect '{name}' is not in the archive, and the plan {PLAN} is unusable: {loaded}. {RENEW}."
            )
        table = loaded.wire(name)
        if table is None:
            hint = suggest_closest(name, (*self.tables.header["wires"], *loaded.header["wires"]))
            raise UsageError(
                f"this bridge was built without the dialect '{name}'.{hint} {RENEW} with '{name}'."
            )
        return table

    def is_stop(self, native: str) -> bool:
        """Whether an unknown agent's event is named like a stop."""
        wires = map(self.tables.wire, self.tables.header["wires"])
        return any(table is not None and table.events.get(native) in sessions.STOPS for table in wires)

    def read_settings(self, env: Mapping[str, str]) -> Mapping[str, Any]:
        """The settings of the project and of the user."""
        return settings(self.root, env)

    def load_tables(self, _env: Mapping[str, str]) -> DispatchPlan:
        """The plan with all wires and no hook."""
        return self.tables

    def find_coverage(
        self, name: str, file: str, env: Mapping[str, str]
    ) -> tuple[Sequence[PlannedHook], EntryFile]:
        """Every hook that may run, and the places of our entries for an agent."""
        from hookport.runtime import covering

        callers, path = self.tables.header["callers"], os.path.join(self.root, file)
        return list_hooks(self, env), covering.EntryFile(self.wire(name), path, [ARCHIVE], self.root, callers)

    def find_sources(self, agent: str, env: Mapping[str, str], entry: str) -> HookSources:
        """The hooks of the bridge's project."""
        return find_project_sources(self, agent, env, entry)

    def follow_event(
        self, sources: HookSources, occasion: Occasion, env: Mapping[str, str], entry: str
    ) -> HookSources:
        """The hooks of the project, and of every other approved project that contains the event."""
        if not trust.has_other_approvals(self.root, env):
            return sources
        from hookport.runtime.several import find_other_roots, join_sources

        agent, event = occasion.agent, occasion.event
        folders = [
            find_start_folder(),
            *find_named_roots(sources.agent, env),
            *find_named_roots(agent, env),
            event.root,
            event.cwd,
        ]
        folders += roots_in(agent, occasion.tree, event.native)
        roots = find_other_roots(self.root, trust.find_approved_roots(filter(None, folders), env), env)
        others = [find_other_sources(self, root, sources.agent.id, env, entry) for root in roots]
        if not others:
            return sources
        # The agent may call each project's bridge for the event, each through an entry of the same name.
        return join_sources(sources, others, env).replace(entry=f"{entry} {self.root}")


def read_content(root: str, place: str, files: Mapping[str, bytes | None] = {}) -> Content:
    """The content of a place in the project: a file, or a pattern with one star; `files` are not on disk yet.

    Line ends do not count, because git may change them.
    """
    start, star, rest = place.partition("*")
    path = os.path.join(root, start)
    if star:
        folder, stem = os.path.split(path)
        inside = os.path.join(folder, "")
        try:
            names = set(os.listdir(folder))
        except OSError:
            names = set()
        names |= {file[len(inside) :].partition("/")[0] for file in files if file.startswith(inside)}
        if not rest.startswith("/"):
            matching = [name for name in names if name.endswith(rest) and _exists(inside + name, files)]
        else:
            matching = [name for name in names if _exists(f"{inside}{name}{rest}", files)]
        return sorted(name for name in matching if name.startswith(stem))
    data = files[path] if path in files else _read_file(path)
    if data is None:
        return None
    data = data.replace(b"\r\n", b"\n")
    return f"{len(data)} {trust.sha256(data)}"


def _exists(path: str, files: Mapping[str, bytes | None]) -> bool:
    if path in files:
        return files[path] is not None
    return not path.endswith("/__pycache__") and os.path.lexists(path)


def _read_file(path: str) -> bytes | None:
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return str(error.strerror).encode()


def load_plan(root: str) -> DispatchPlan | str:
    """The plan of a project, or why it cannot be used."""
    data = _read_file(os.path.join(root, PLAN))
    loaded = "it is missing" if data is None else plan.parse(data.replace(b"\r\n", b"\n"))
    # A plan of another kind would be trusted to know the approvals.
    return (
        loaded if isinstance(loaded, str) or "contents" in loaded.header else "it is a plan for one machine"
    )


def find_stale(old_plan: DispatchPlan, root: str) -> list[str]:
    """The places that changed."""
    return [place for place, was in old_plan.header["contents"].items() if read_content(root, place) != was]


def find_project_sources(
    bridge: VendoredBridge, agent: str, env: Mapping[str, str], entry: str
) -> HookSources:
    """The hooks of the project; with the user's if an installed hookport keeps a plan of it."""
    caller = identify_caller(bridge.wire(agent), env, entry)
    kept_plan = plan.load(plan.find_plan_path(bridge.root, env), env)
    if (
        isinstance(kept_plan, DispatchPlan)
        and plan.is_current(kept_plan, __version__, env)
        and not _has_changed(kept_plan)
    ):
        return make_sources(kept_plan, agent, bridge.wire, caller)
    loaded = load_plan(bridge.root)
    if why := _find_unapproved_part(bridge.root, env):
        return _find_approved_sources(bridge, agent, caller, why, env)
    if isinstance(loaded, str):
        broken = f"the plan {PLAN} cannot be used: {loaded}. {RENEW}."
        empty = make_sources(bridge.tables, agent, bridge.wire)
        is_approved = trust.load_approval(bridge.root, env).is_known
        return empty.replace(
            root=bridge.root,
            broken=(broken,),
            unknown=broken if is_approved else "",
            settings=settings(bridge.root, env),
        )
    old = find_stale(loaded, bridge.root)
    # Its plan has no root on this machine.
    bare = make_sources(
        loaded.replace(header={**loaded.header, "root": bridge.root}), agent, bridge.wire, caller
    )

    def hooks(event: Event) -> Iterable[PlannedHook]:
        return [check_hook(hook, bridge.root, old) for hook in bare.hooks(event)]

    def wires(name: str) -> Wire:
        return bridge.tables.wire(name) or bare.wires(name)

    return bare.replace(
        # The bridge's own tables take precedence: the plan must not decide what an agent obeys.
        agent=wires(agent),
        wires=wires,
        hooks=hooks,
        callers=bridge.tables.header["callers"],
        root=bridge.root,
        broken=(*bare.broken, *describe_staleness(loaded, old)),
        # Not the plan's settings: its author does not know which weaker values were approved elsewhere.
        settings=settings(bridge.root, env),
    )


def find_other_sources(
    bridge: VendoredBridge, root: str, agent: str, env: Mapping[str, str], entry: str
) -> HookSources:
    """The hooks of another approved project; a hook that this bridge cannot run denies its calls."""
    other = bridge.replace(root=root)
    has_bridge = any(os.path.lexists(os.path.join(root, name)) for name in trust.BRIDGE)
    is_bridged = all(state.lock["bridge"] for state in trust.load_approval(root, env).states)
    kept_plan = plan.load(plan.find_plan_path(root, env), env)
    is_kept = (
        isinstance(kept_plan, DispatchPlan)
        and plan.is_current(kept_plan, __version__, env)
        and not _has_changed(kept_plan)
    )
    if not (has_bridge or is_bridged or is_kept):
        return _find_unreachable(other, agent, env)
    other_hooks = find_project_sources(other, agent, env, entry)

    def hooks(event: Event) -> Iterable[PlannedHook]:
        # They are approved in their own project, wherever the event is.
        return [trust.judge_hook(hook, root, env) for hook in other_hooks.hooks(event)]

    return other_hooks.replace(hooks=hooks)


def _find_unreachable(bridge: VendoredBridge, agent: str, env: Mapping[str, str]) -> HookSources:
    """The approved hooks of a project without a bridge: their events are known, their matchers are not."""
    from hookport.model.events import is_about_tool

    root = bridge.root
    states = trust.load_approval(root, env).states
    locked = _read_locked_hooks(root)
    # The state that the project's lock names; all states if the lock is unusable.
    states = [state for state in states if state.hooks == locked] or list(states)
    why = f"this bridge cannot run the hooks of {root}, which has no {PLAN}. {RENEW}, in that folder"
    ghosts: dict[str, PlannedHook] = {}
    for state in states:
        for place, entry in state.hooks.items():
            definition = state.lock.get("definitions", {}).get(entry["definition"], {})
            event = str(entry.get("event", ""))
            ghosts[place] = plan.PlannedHook(
                str(entry.get("name", place)),
                event,
                agent,
                subject="tool" if is_about_tool(event) else "",
                blocking=definition.get("blocking", True) is not False,
                is_async=bool(definition.get("handler", {}).get("is_async")),
                file=trust.resolve_name(place.partition("#")[0], root, env),
                place=place.partition("#")[2],
                id=place,
                trust={"why": "", "files": {}, "approved": [], "was_approved": True},
                unable=why,
            )
    files = {name for state in states for entry in state.hooks.values() for name in entry["files"]}
    own_files = {trust.LOCK, FOLDER, *(place.partition("#")[0] for place in ghosts), *files}
    bare = make_sources(bridge.tables, agent, bridge.wire)
    return bare.replace(
        hooks=lambda event: [hook for hook in ghosts.values() if hook.event == event.event],
        root=root,
        settings=settings(root, env),
        protected=lambda: sorted(name for name in own_files if not name.startswith("~")),
    )


def _read_locked_hooks(root: str) -> object:
    """The hooks of a project's lock, as far as readable."""
    try:
        tree = loads((_read_file(os.path.join(root, trust.LOCK)) or b"").decode())
        return tree["hooks"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def list_hooks(bridge: VendoredBridge, env: Mapping[str, str]) -> list[PlannedHook]:
    """Every hook that the bridge may run, placed on this machine; none if its plan is in doubt."""
    kept_plan = plan.load(plan.find_plan_path(bridge.root, env), env)
    if (
        isinstance(kept_plan, DispatchPlan)
        and plan.is_current(kept_plan, __version__, env)
        and not _has_changed(kept_plan)
    ):
        return [] if kept_plan.header["broken"] else kept_plan.read_all_hooks()
    loaded = load_plan(bridge.root)
    if isinstance(loaded, str):
        return []
    old = find_stale(loaded, bridge.root)
    if loaded.header["broken"] or list(describe_staleness(loaded, old)):
        return []
    hooks = (check_hook(hook, bridge.root, old) for hook in loaded.read_all_hooks())
    return [hook.replace(scope="project", trust={}, rivals=()) for hook in hooks]


def is_approved(root: str, env: Mapping[str, str]) -> bool:
    """Whether the user approved the bridge in a project."""
    return any(
        state.lock["bridge"] for state in trust.load_approval(root, env).states
    ) and not _find_unapproved_part(root, env)


def _find_unapproved_part(root: str, env: Mapping[str, str]) -> str:
    """Explain which part of the bridge is in no state that its user approved."""
    states = trust.load_approval(root, env).states
    if not any(state.lock["bridge"] for state in states):
        return ""  # not approved yet, which its hooks report
    current = {name: _hash_file(os.path.join(root, name), env) for name in trust.BRIDGE}
    if any(state.lock["bridge"] == current for state in states):
        return ""
    odd = [
        name
        for name, hash_ in current.items()
        if not any(state.lock["bridge"].get(name) == hash_ for state in states)
    ]
    name = odd[0] if odd else trust.BRIDGE[0]
    return f"{name} is {'gone' if not current[name] else 'not the one that you approved'}"


def _hash_file(path: str, env: Mapping[str, str]) -> str:
    """The digest of a file; a file with the stamp of an earlier call keeps that call's digest.

    Hashing the archive takes a tenth of a dispatch. The stamp also reveals a changed script.
    """
    now = trust.stamp_settled(path)
    if now is None or now[1] < LARGE:
        return trust.hash_file(path)
    start = f"{now} "
    if (note := plan.read_note(path, env)).startswith(start):
        return note.removeprefix(start)
    digest = trust.hash_file(path)
    plan.write_note(path, start + digest, env)
    return digest


def _find_approved_sources(
    bridge: VendoredBridge, agent: str, caller: plan.CallOrigin, why: str, env: Mapping[str, str]
) -> HookSources:
    """The hooks of the approved plan, none of which runs; an unreadable approval is lost."""
    from hookport.runtime import approvals

    hashes = [state.lock["bridge"].get(PLAN, "") for state in trust.load_approval(bridge.root, env).states]
    texts = filter(None, (approvals.read_approved_text(hash_, env) for hash_ in hashes))
    kept_plan = plan.parse(next(texts, b"").replace(b"\r\n", b"\n"))
    settled = settings(bridge.root, env)
    if isinstance(kept_plan, str):
        empty = make_sources(bridge.tables, agent, bridge.wire)
        return empty.replace(root=bridge.root, lost=why, settings=settled)
    bare = make_sources(
        kept_plan.replace(header={**kept_plan.header, "root": bridge.root}), agent, bridge.wire, caller
    )
    record = {"why": why, "files": {}, "approved": [], "was_approved": True}

    def hooks(event: Event) -> Iterable[PlannedHook]:
        return [place_hook(hook, bridge.root).replace(trust=record) for hook in bare.hooks(event)]

    callers = bridge.tables.header["callers"]
    return bare.replace(hooks=hooks, callers=callers, root=bridge.root, settings={**bare.settings, **settled})


def _has_changed(kept_plan: DispatchPlan) -> bool:
    return plan.has_changed(kept_plan) or plan.has_changed_scripts(kept_plan.read_all_hooks())


def describe_staleness(old_plan: DispatchPlan, old: list[str]) -> Iterable[str]:
    version = old_plan.header["version"]
    if version != __version__:
        yield f"the plan is stale: hookport {version} made it, and this bridge has {__version__}. {RENEW}"
    if old:
        yield f"the plan is stale: {', '.join(old)} changed since it was made. {RENEW}"


def check_hook(hook: PlannedHook, root: str, old: list[str]) -> PlannedHook:
    """A hook placed on this machine; a hook whose source changed cannot run."""
    folder = f"{hook.package}/"
    mine = [place for place in old if place == hook.file or place.startswith(folder)]
    unable = f"the plan is stale: {', '.join(mine)} changed since it was made. {RENEW}" if mine else ""
    return place_hook(hook, root).replace(unable=unable)


def place_hook(hook: PlannedHook, root: str) -> PlannedHook:
    """A hook of the plan with this machine's paths."""
    words = hook.command.split(MARK)
    words[1::2] = [quote_if_needed(_resolve_path(root, word)) for word in words[1::2]]
    return hook.replace(
        command="".join(words), file=_resolve_path(root, hook.file), package=_resolve_path(root, hook.package)
    )


def _resolve_path(root: str, path: str) -> str:
    return root if path == "." else os.path.normpath(os.path.join(root, path)) if path else ""


def settings(root: str, env: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a project and of the user: the stricter of two values wins, as if installed.

    A project's weaker value, and its model, count once approved; an unreadable file is strict.
    """
    of_project, of_user = (
        _read_tree(path) for path in (os.path.join(root, SETTINGS), folders.find_user_settings(env))
    )
    strict: dict[str, Any] = {name: words[0] for name, words in policy.WORDS.items()}
    if of_project is None or of_user is None:
        return strict
    given = (trust.tighten_words(root, _read_words(of_project), env), _read_words(of_user))
    chosen: dict[str, Any] = dict(policy.DEFAULTS)
    for name, word in strict.items():
        words = [layer[name] for layer in given if name in layer]
        chosen[name] = word if word in words else next(iter(words), chosen[name])
    named = of_project.get("llm")
    model = trust.find_approved_model(root, named, env) if isinstance(named, dict) else {}
    return {**chosen, "llm": model} if model else chosen


def _read_words(tree: Mapping[str, Any]) -> dict[str, str]:
    """The values of one settings file, the strict one for an invalid value."""
    words = {name: tree[name] for name in policy.WORDS if name in tree}
    return {
        name: word if word in policy.WORDS[name] else policy.WORDS[name][0] for name, word in words.items()
    }


def _read_tree(path: str) -> dict[str, Any] | None:
    """Read one settings file; empty if missing, None if unreadable."""
    data = _read_file(path) if path else None
    try:
        tree = {} if data is None else loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return tree if isinstance(tree, dict) else None
