"""Which hooks of a project its user approved: a hook runs only if its definition and its bytes are approved.

`hookport.lock` in the project lists its hooks; the user's store lists the states of it that this person
approved. A plan has the outcome for each hook, with stamps of the files; a file with a changed stamp is
hashed before it runs. A hook that differs from its approved state is tampered with (`was_approved`).
"""

from __future__ import annotations

import os
import stat
import sys
import time

from hookport.base.files import open_without_waiting
from hookport.base.folders import find_named_home
from hookport.model.json_text import loads
from hookport.model.value import Value
from hookport.runtime import journal, policy
from hookport.runtime.plan import TRUSTED_LOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from hookport.base.tree import Tree
    from hookport.runtime.plan import PlannedHook

    Record = Mapping[str, Any]

VERSION = 2
LOCK = "hookport.lock"
# In the state folder: the approvals, and the approved texts by their hash, to show what changed.
STORE, TEXTS = "trust.json", "approved"
# The SHA-256 of approved locks, for CI: whoever sets it approves them.
VARIABLE = TRUSTED_LOCK
OLD_STORE = "it was approved with an older hookport, which covered fewer files"
# A vendored plan is trusted as a whole: it contains the definitions of its hooks.
PLAN, ARCHIVE = BRIDGE = (".hookport/bridge.plan", ".hookport/bridge.pyz")
NOT_APPROVED = "not approved: "
# The files that Python imports from a folder, besides packages.
IMPORTED = (".py", ".pyc", ".so", ".pyd")
# Python makes it beside scripts; PYTHONPYCACHEPREFIX keeps a project's hooks from reading it.
UNREAD = "__pycache__"
MOST_BYTES = 1 << 20
# File systems measure times in ticks of the kernel, 10 ms at most.
TICK_NS = 20_000_000


class Approval(Value):
    """The approved states of a project, the newest first; `why` is the reason if none exist.

    A state is a lock and the time of its approval. `is_broken`: a lock was approved, but it is not this one.
    """

    states: Sequence[ApprovedState] = ()
    why: str = ""
    is_broken: bool = False

    @property
    def is_known(self) -> bool:
        """Whether anything was approved."""
        return bool(self.states)


class ApprovedState(Value):
    """One state of a project's hooks, when it was approved, and how (see `consent`)."""

    lock: Mapping[str, Any]
    when: str = ""
    how: str = ""

    @property
    def hooks(self) -> Mapping[str, Mapping[str, Any]]:
        """The entries by their places."""
        hooks: Mapping[str, Mapping[str, Any]] = self.lock["hooks"]
        return hooks


NO_STATE = ApprovedState({"hooks": {}})


def find_nearest_state(states: Sequence[ApprovedState], definitions: Mapping[str, str]) -> ApprovedState:
    """Find the approved state of the project: the fewest hooks missing, the most in common, the newest.

    `definitions` has the definition of each hook by its place.
    """
    present = {(_find_file(place), definition) for place, definition in definitions.items()}

    def distance(state: ApprovedState) -> tuple[int, int]:
        hooks = {(_find_file(place), entry["definition"]) for place, entry in state.hooks.items()}
        return len(hooks - present), -len(hooks & present)

    return min(states, key=distance, default=NO_STATE)


def _find_file(place: str) -> str:
    return place.partition("#")[0]


def find_hook_objection(hook: PlannedHook, root: str, env: Mapping[str, str]) -> str:
    """Explain why a hook may not run; empty if it may."""
    return find_objection(judge_hook(hook, root, env).trust) if hook.scope == "project" else ""


def judge_hook(hook: PlannedHook, root: str, env: Mapping[str, str]) -> PlannedHook:
    """Add a hook's approval to it; a plan from the project itself is not trusted."""
    if hook.trust or hook.scope != "project":
        return hook
    return hook.replace(trust=_record_vendored(hook, root, env))


def is_overridden(hook: PlannedHook) -> bool:
    """Whether a user's hook is overridden by hooks of the project, all of which are approved."""
    return bool(hook.rivals) and not any(find_objection(rival) for rival in hook.rivals)


def find_objection(record: Record) -> str:
    """Explain why the hook of a record is not approved; its files are checked now, as late as possible."""
    why = record["why"] or _find_change(record)
    return f"{NOT_APPROVED}{why}{_format_hint()}" if why else ""


def find_cause(objection: str) -> str:
    """Extract the bare reason from an objection."""
    return objection.removeprefix(NOT_APPROVED).removesuffix(_format_hint())


def _format_hint() -> str:
    from hookport.runtime import remedy

    return f"; run `{remedy.format_command('trust')}`"


def was_run(run: Record) -> bool:
    """Whether a run in the journal really ran: its hook matched and was approved."""
    return bool(run.get("matched")) and not str(run.get("failure") or "").startswith(NOT_APPROVED)


def _find_change(record: Record) -> str:
    """Explain what differs from every approved state."""
    now: dict[str, str] = {}
    for path, (hash_, was) in record["files"].items():
        now_stamp = stamp(path)
        now[path] = hash_ if now_stamp is not None and now_stamp == was else hash_file(path)
    differences = [
        [path for path, hash_ in approved.items() if now[path] != hash_] for approved in record["approved"]
    ]
    fewest: list[str] = min(differences, key=len, default=[])
    if fewest:
        path = fewest[0]
        approved = record["approved"][differences.index(fewest)][path]
        change = "changed" if approved and now[path] else "is gone" if approved else "is new"
        return f"its file {os.path.basename(path)} {change} since its approval"
    return _find_added_file(record)


def _find_added_file(record: Record) -> str:
    """Find a new file where every file counts, or a new module that Python would import."""
    for folder, (old_stamp, modules) in record.get("folders", {}).items():
        if stamp(folder) == old_stamp:
            continue
        files = list_below(folder)[0] if modules is None else list_counted_files(folder, modules)
        added = set(files) - set(record["files"])
        if added:
            return f"its file {os.path.basename(min(added))} is new since its approval"
    return ""


def list_counted_files(folder: str, names: Sequence[str]) -> list[str]:
    """List the files of a folder that count by name: those of a pattern, and those that Python would import.

    Names without a star are modules that a script there imports; with them, all of Python's own count, except
    names that start with a dot: these belong to a package, where Python looks for none of its own modules.
    """
    patterns = [name for name in names if "*" in name or "?" in name]
    modules = {name.removeprefix(".") for name in names}
    if any(name not in patterns and not name.startswith(".") for name in names):
        modules |= sys.stdlib_module_names
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return []
    if patterns:
        from fnmatch import fnmatchcase
    files = [
        os.path.join(folder, entry)
        for entry in entries
        if any(fnmatchcase(entry, pattern) for pattern in patterns)
        or (entry.endswith(IMPORTED) and entry.partition(".")[0] in modules)
    ]
    packages = [os.path.join(folder, entry, "__init__.py") for entry in entries if entry in modules]
    return [path for path in (*files, *packages) if not os.path.isdir(path) and os.path.lexists(path)]


def record_approval(
    hook: PlannedHook, root: str, env: Mapping[str, str], approved: Approval
) -> dict[str, Tree]:
    """Record the approval of a project's hook for the plan: the hashes to compare, or why it has none."""
    bare: dict[str, Tree] = {"files": {}, "approved": []}
    if not approved.is_known:
        why = approved.why or "this project is not approved yet"
        return {**bare, "why": why, "was_approved": approved.is_broken, "quiet": not approved.is_broken}
    file = _find_file(hook.id)
    entries = [
        (place, entry)
        for state in approved.states
        for place, entry in state.hooks.items()
        if _find_file(place) == file
    ]
    same = [entry for _, entry in entries if entry["definition"] == hook.definition]
    if not same:
        is_old = any(place == hook.id for place, _ in entries)
        why = "its definition changed since its approval" if is_old else "it is new"
        return {**bare, "why": why, "was_approved": False}
    covering = [entry["files"] for entry in same if set(hook.files) <= set(entry["files"])]
    if not covering:
        added = min((set(hook.files) - set(entry["files"]) for entry in same), key=len)
        name = min(added).rpartition("/")[2]
        return {**bare, "why": f"its file {name} is new since its approval", "was_approved": True}
    named_sets = list({tuple(sorted(files.items(), key=str)): files for files in covering}.values())
    sets = [
        {resolve_name(name, root, env): hash_ or "" for name, hash_ in files.items()} for files in named_sets
    ]
    paths = dict.fromkeys(path for files in sets for path in files)
    # The stamp comes first: a later write changes it.
    stamps = {path: (stamp_settled(path), hash_file(path)) for path in paths}
    stamped = {path: [hash_, was] for path, (was, hash_) in stamps.items()}
    return {
        "why": "",
        "was_approved": True,
        "files": stamped,
        "approved": sets,
        "folders": _stamp_folders(hook, root, env, set(stamped)),
    }


def _stamp_folders(
    hook: PlannedHook, root: str, env: Mapping[str, str], known_files: set[str]
) -> dict[str, Tree]:
    """Stamp the folders where a new file counts: every file, or those that Python would import."""
    folders: dict[str, Tree] = {}
    every = list_below(resolve_name(hook.under, root, env))[1] if hook.under else []
    for folder, modules in (*((below_folder, None) for below_folder in every), *hook.beside.items()):
        path = resolve_name(folder, root, env)
        was = stamp_settled(path)
        files = list_below(path)[0] if modules is None else list_counted_files(path, modules)
        # Equal to no stamp, so that it is checked when the hook is about to run.
        folders[path] = [[] if set(files) - known_files else was, modules]
    return folders


def _record_vendored(hook: PlannedHook, root: str, env: Mapping[str, str]) -> Record:
    """Record the approval of a hook of a plan from the project itself, which is not trusted."""
    approved = load_approval(root, env)
    plan = BRIDGE[0]
    hash_ = hash_file(os.path.join(root, plan))
    if approved.is_known and not any(state.lock["bridge"].get(plan) == hash_ for state in approved.states):
        why = f"{plan} is not the one that you approved"
        return {"why": why, "files": {}, "approved": [], "was_approved": True}
    return record_approval(hook, root, env, approved)


def load_approval(root: str, env: Mapping[str, str]) -> Approval:
    """Load what the user, or whoever set the variable, approved for a project."""
    digests = _list_named_hashes(env)
    data = read_file(os.path.join(root, LOCK)) if digests else None
    named_state = _parse_state(_parse_json(data)) if data is not None and sha256(data) in digests else None
    states = [named_state] if named_state else []
    why = ""
    if _is_within(find_store(env), root) and not _is_within(find_named_home(env), root):
        why = "your trust store is inside the project, where it proves nothing"
    else:
        stored_states, why = _read_states(root, env)
        states += sorted(stored_states, key=lambda state: state.when, reverse=True)
    if not states and not digests and _is_damaged(root, env):
        return Approval(why=f"your approvals in {STORE} cannot be read", is_broken=True)
    if states or not digests:
        return Approval(states, why)
    # The approval is only a hash, so what it guarded is unknown.
    problem = "is gone, which" if data is None else "is not the one that"
    return Approval(why=f"{LOCK} {problem} {VARIABLE} names", is_broken=True)


def _is_damaged(root: str, env: Mapping[str, str]) -> bool:
    """Whether the store exists but is unreadable, in a project with a lock."""
    place = find_store(env)
    data = read_file(place) if place else None
    if data is None or not os.path.lexists(os.path.join(root, LOCK)):
        return False
    tree = _parse_json(data)
    return not isinstance(tree, dict) or not isinstance(tree.get("projects"), dict)


def _read_states(root: str, env: Mapping[str, str]) -> tuple[list[ApprovedState], str]:
    """Read the states in the user's store, and the reason if none exist."""
    place = find_store(env)
    tree = _parse_json(read_file(place) or b"") if place else None
    if isinstance(tree, dict) and _is_old(tree, root):
        return [], OLD_STORE
    states: list[ApprovedState] = []
    for folder in (root, *find_main_worktree(root)):
        entry = read_store(env).get(folder)
        for stored in entry.get("states", ()) if isinstance(entry, dict) else ():
            state = _parse_state(stored.get("lock")) if isinstance(stored, dict) else None
            if state is None:
                return [], "the lock that you approved cannot be read"
            fields = {name: str(stored.get(key, "")) for name, key in (("when", "approved"), ("how", "how"))}
            states.append(state.replace(**fields))
    return states, ""


def tighten_words(root: str, words: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """Make a project's settings as strict as approved: a weaker value counts once approved."""
    settings = [state.lock.get("settings", {}) for state in load_approval(root, env).states] if root else []
    approved = [{name: setting[name] for name in policy.WORDS if name in setting} for setting in settings]
    tightened = dict(words)
    if tightened in approved:
        return tightened
    newest = approved[0] if approved else {}
    for name, (strict, _) in policy.WORDS.items():
        default = policy.DEFAULTS[name]
        if words.get(name, default) != strict and newest.get(name, default) == strict:
            tightened[name] = strict
    return tightened


def find_approved_model(root: str, model: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """Find the model in a project's settings, if exactly that model was approved."""
    states = load_approval(root, env).states if root and model else ()
    is_known = any(state.lock.get("settings", {}).get("llm") == model for state in states)
    return dict(model) if is_known else {}


def _is_old(tree: Mapping[str, Tree], root: str) -> bool:
    """Whether only an older hookport recorded approvals."""
    projects = tree.get("projects")
    is_older = isinstance(tree.get("version"), int) and tree["version"] < VERSION
    return (
        is_older
        and isinstance(projects, dict)
        and any(folder in projects for folder in (root, *find_main_worktree(root)))
    )


def _parse_state(lock: Tree) -> ApprovedState | None:
    """Parse a lock with all its required fields; None if one is missing."""
    try:
        hooks = {
            str(place): {**entry, "definition": str(entry["definition"]), "files": dict(entry["files"])}
            for place, entry in lock["hooks"].items()
        }
        return ApprovedState({**lock, "hooks": hooks, "bridge": dict(lock.get("bridge", {}))})
    except (TypeError, KeyError, ValueError, AttributeError):
        return None


def read_store(env: Mapping[str, str]) -> dict[str, Tree]:
    """Read the user's store, by the roots of projects; empty if missing or unreadable."""
    place = find_store(env)
    tree = _parse_json(read_file(place) or b"") if place else None
    projects = tree.get("projects") if isinstance(tree, dict) and tree.get("version") == VERSION else None
    return projects if isinstance(projects, dict) else {}


def has_other_approvals(root: str, env: Mapping[str, str]) -> bool:
    """Whether any other project has approvals, or the variable names another lock."""
    return bool(read_store(env).keys() - {root}) or len(_list_named_hashes(env)) > 1


def _list_named_hashes(env: Mapping[str, str]) -> list[str]:
    """List the hashes of locks that the variable names."""
    named = env.get(VARIABLE, "").replace(",", " ").lower().split()
    return [name.removeprefix("sha256:") for name in named]


def find_approved_roots(folders: Iterable[str], env: Mapping[str, str]) -> list[str]:
    """Find the approved roots at or above some folders; a home counts for itself only.

    Of a linked worktree and the checkout around it whose approval it shares, only the worktree counts.
    """
    projects, named = read_store(env), _list_named_hashes(env)
    home = os.path.realpath(find_named_home(env) or os.sep)
    roots: dict[str, None] = {}
    for start in map(os.path.realpath, folders):
        folder, above, checkouts = "", start, set[str]()
        while above != folder:
            folder, above = above, os.path.dirname(above)
            linked = [
                checkout
                for checkout in find_main_worktree(folder)
                if checkout in projects and folder not in projects
            ]
            is_meant = folder not in checkouts and (folder != home or folder == start)
            is_named = bool(named) and hash_file(os.path.join(folder, LOCK)) in named
            if is_meant and (linked or folder in projects or is_named):
                roots[folder] = None
                checkouts.update(linked)
    return list(roots)


def find_near_roots(folder: str, root: str, env: Mapping[str, str]) -> list[str]:
    """Find other roots that may contain an event of a project: above its folder, or below the root."""
    inside = [near_root for near_root in read_store(env) if near_root.startswith(os.path.join(root, ""))]
    return [
        near_root
        for near_root in dict.fromkeys((*find_approved_roots([folder], env), *inside))
        if near_root != root
    ]


def find_store(env: Mapping[str, str]) -> str:
    """Find the store; empty if the environment names no place."""
    place = journal.find_state_folder(env)
    return os.path.join(place, STORE) if place else ""


def _is_within(path: str, root: str) -> bool:
    """Whether a file belongs to the project."""
    start = os.path.join(os.path.realpath(root), "")
    return bool(path) and os.path.join(os.path.realpath(path), "").startswith(start)


def find_main_worktree(root: str) -> list[str]:
    """Find the checkout of a linked git worktree, if that checkout confirms it."""
    data = read_file(os.path.join(root, ".git")) or b""
    if not data.startswith(b"gitdir: "):
        return []
    git_folder = os.path.join(root, os.fsdecode(data[8:].strip()))
    back = os.fsdecode((read_file(os.path.join(git_folder, "gitdir")) or b"").strip())
    common = os.path.dirname(os.path.dirname(git_folder))
    if not back or os.path.realpath(os.path.join(git_folder, back)) != os.path.realpath(
        os.path.join(root, ".git")
    ):
        return []
    return [os.path.realpath(os.path.dirname(common))] if os.path.basename(common) == ".git" else []


def find_inherited_root(root: str, env: Mapping[str, str]) -> str:
    """Find the checkout whose approval covers a worktree without its own; empty if none does."""
    projects = read_store(env)
    return (
        ""
        if root in projects
        else next((checkout for checkout in find_main_worktree(root) if checkout in projects), "")
    )


def make_lock(hooks: Iterable[PlannedHook], root: str, env: Mapping[str, str]) -> dict[str, Tree]:
    """Make the `hookport.lock` of a project's current hooks."""
    entries = {
        hook.id: {
            "name": hook.name,
            "event": hook.event,
            "definition": hook.definition,
            "files": {name: hash_file(resolve_name(name, root, env)) or None for name in sorted(hook.files)},
            **({"not_covered": list(hook.not_covered)} if hook.not_covered else {}),
        }
        for hook in hooks
    }
    bridge = {name: hash_file(os.path.join(root, name)) for name in BRIDGE}
    lock = {"version": VERSION, "hooks": dict(sorted(entries.items()))}
    return {**lock, "bridge": {name: hash_ for name, hash_ in bridge.items() if hash_}}


def resolve_name(name: str, root: str, env: Mapping[str, str]) -> str:
    """Resolve a file name of the lock: relative to the root, to the home, or absolute."""
    if name.startswith("~/"):
        return os.path.join(find_named_home(env) or os.sep, name[2:])
    return os.path.normpath(os.path.join(root, name))


def list_below(folder: str) -> tuple[list[str], list[str]]:
    """List (files, folders) of a folder, itself first; a link to a folder counts as a file."""
    files: list[str] = []
    folders: list[str] = []
    for place, inside, names in os.walk(folder):
        links = [name for name in inside if os.path.islink(os.path.join(place, name))]
        inside[:] = sorted(set(inside) - {UNREAD} - set(links))
        folders.append(place)
        files += [os.path.join(place, name) for name in (*names, *links)]
    return sorted(files), folders or [folder]


def stamp(path: str) -> list[int] | None:
    """Stamp a file to notice a change, with its ctime, which nobody can reset."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return [status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns]


def stamp_settled(path: str) -> list[int] | None:
    """Stamp a file; None if a later change might leave the stamp unchanged."""
    now_stamp = stamp(path)
    return now_stamp if now_stamp is not None and now_stamp[3] < time.time_ns() - TICK_NS else None


def hash_file(path: str) -> str:
    """Hash a file (SHA-256), or the target of a link to a folder; empty if nothing exists."""
    hasher = _load_sha256()(b"")
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""
            while part := file.read(MOST_BYTES):
                hasher.update(part)
    except IsADirectoryError:
        return sha256(b"link\0" + os.fsencode(os.readlink(path))) if os.path.islink(path) else ""
    except (OSError, ValueError):
        return ""
    return str(hasher.hexdigest())


def sha256(data: bytes) -> str:
    """Hash bytes (SHA-256)."""
    return str(_load_sha256()(data).hexdigest())


def _load_sha256() -> Callable[[bytes], Tree]:
    """Load the library's C code: `hashlib` loads OpenSSL, which takes longer than a dispatch may."""
    for name in ("_sha2", "_sha256") if sys.version_info >= (3, 12) else ("_sha256",):
        try:
            constructor: Callable[[bytes], Tree] = __import__(name).sha256
        except ImportError:
            continue
        return constructor
    import hashlib

    return hashlib.sha256


def read_file(path: str) -> bytes | None:
    """Read a regular file; None if missing or unreadable."""
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except (OSError, ValueError):
        return None


def _parse_json(data: bytes) -> Tree:
    try:
        return loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def list_waiting(hooks: Sequence[PlannedHook]) -> list[tuple[str, Mapping[str, Any]]]:
    """List the project's unapproved hooks: each name, and the agents that load it themselves."""
    return [
        (hook.name, hook.loaded_by)
        for hook in hooks
        if hook.scope == "project" and find_objection(hook.trust)
    ]
