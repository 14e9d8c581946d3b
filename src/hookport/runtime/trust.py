"""Which hooks of a project its user approved: one runs only if its definition and its bytes are those.

`hookport.lock` in the project says what there is, the user's store what this person approved. A plan holds
the outcome for each hook, with stamps of the files; a file that has another stamp is hashed before it runs.
"""

from __future__ import annotations

import os
import stat
import sys
import time

from hookport.model._json import loads
from hookport.model._value import Value
from hookport.runtime import journal
from hookport.runtime.plan import TRUSTED_LOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from hookport.runtime.plan import Planned

    Tree = Any
    Record = Mapping[str, Any]

VERSION = 1
LOCK = "hookport.lock"
# In the state folder: what was approved, and the texts of it by their hash, to show what changed.
STORE, TEXTS = "trust.json", "approved"
# The SHA-256 of a lock that is approved by whoever sets it, for CI.
VARIABLE = TRUSTED_LOCK
# A vendored plan is believed as a whole: it says which definitions its hooks have.
BRIDGE = (".hookport/bridge.plan", ".hookport/bridge.pyz")
NOT_APPROVED, REMEDY = "not approved: ", "; run `hookport trust`"
# Python makes it beside scripts; hooks of a project are kept from reading it by PYTHONPYCACHEPREFIX.
UNREAD = "__pycache__"
MOST_BYTES = 1 << 20
# File systems tell times in ticks of the kernel, 10 ms at most.
TICK_NS = 20_000_000


class Approval(Value):
    """What a user approved for a project; `why` says why it is nothing, where that is not plain."""

    hooks: Mapping[str, Mapping[str, Any]] = {}
    bridge: Mapping[str, str] = {}
    is_known: bool = False
    why: str = ""
    when: str = ""


def verdict(hook: Planned, root: str, env: Mapping[str, str]) -> str:
    """Empty for a hook that may run, else why it may not, in words."""
    return objection(judged(hook, root, env).trust) if hook.scope == "project" else ""


def judged(hook: Planned, root: str, env: Mapping[str, str]) -> Planned:
    """A hook with what is known of its approval; a plan that the project brought along has no say in it."""
    if hook.trust or hook.scope != "project":
        return hook
    return hook.replace(trust=_vendored(hook, root, env))


def gives_way(hook: Planned) -> bool:
    """Whether a user's hook is overridden by hooks of the project, all of which are approved."""
    return bool(hook.rivals) and not any(objection(rival) for rival in hook.rivals)


def objection(record: Record) -> str:
    """Why what a record is about is not approved; its files are looked at now, as late as can be."""
    why = record["why"] or _changed(record)
    return f"{NOT_APPROVED}{why}{REMEDY}" if why else ""


def was_run(run: Record) -> bool:
    """Whether a run in the journal is one: its hook matched, and was not left out for want of approval."""
    return bool(run.get("matched")) and not str(run.get("failure") or "").startswith(NOT_APPROVED)


def _changed(record: Record) -> str:
    for path, (approved, was) in record["files"].items():
        now = stamp(path)
        if now is not None and now == was:
            continue
        if digest(path) != approved:
            what = "changed" if approved and now else "is gone" if approved else "is new"
            return f"its script {os.path.basename(path)} {what} since you approved it"
    folders = record.get("folders", {})
    if any(stamp(folder) != was for folder, was in folders.items()):
        added = set(below(next(iter(folders)))[0]) - set(record["files"])
        if added:
            return f"its file {os.path.basename(min(added))} is new since you approved it"
    return ""


def record(hook: Planned, root: str, env: Mapping[str, str], approved: Approval) -> dict[str, Tree]:
    """What a plan keeps of a hook of the project: why it is not approved, or the hashes to compare."""
    if not approved.is_known:
        why = approved.why or "nothing of this project was approved yet"
        return {"why": why, "files": {}, "quiet": True}
    file = hook.id.partition("#")[0] + "#"
    same = [
        entry
        for place, entry in approved.hooks.items()
        if place.startswith(file) and entry["definition"] == hook.definition
    ]
    if not same:
        is_old = hook.id in approved.hooks
        return {"why": "its definition changed since you approved it" if is_old else "it is new", "files": {}}
    entry = approved.hooks[hook.id] if approved.hooks.get(hook.id) in same else same[0]
    paths = {resolved(name, root, env): hash_ or "" for name, hash_ in entry["files"].items()}
    # The stamp comes first: what is written after it has another one.
    stamps = {path: (_settled(path), digest(path)) for path in paths}
    files = {
        path: [hash_, stamps[path][0] if stamps[path][1] == hash_ else None] for path, hash_ in paths.items()
    }
    found: dict[str, Tree] = {"why": "", "files": files}
    if hook.under:
        was = {folder: _settled(folder) for folder in below(resolved(hook.under, root, env))[1]}
        inside, folders = below(resolved(hook.under, root, env))
        found["folders"] = {folder: was.get(folder) for folder in folders}
        if set(inside) - set(paths):
            # Never equal to the stamp of anything, so that it is looked at when the hook is about to run.
            found["folders"][folders[0]] = []
    elif set(hook.files) - set(entry["files"]):
        found["why"] = "it runs other scripts than you approved"
    return found


def _vendored(hook: Planned, root: str, env: Mapping[str, str]) -> Record:
    """The same for a hook of a plan that the project brought along, which is not believed by itself."""
    approved = approval(root, env)
    plan = BRIDGE[0]
    if approved.is_known and approved.bridge.get(plan) != digest(os.path.join(root, plan)):
        return {"why": f"{plan} is not the one that you approved", "files": {}}
    return record(hook, root, env, approved)


def approval(root: str, env: Mapping[str, str]) -> Approval:
    """What the user approved for a project, or whoever set the variable."""
    named = env.get(VARIABLE, "").strip().lower().removeprefix("sha256:")
    data = _read(os.path.join(root, LOCK)) if named else None
    if data is not None and sha256(data) == named:
        found = _approval(_tree(data), "")
        if found.is_known:
            return found
    if _is_within(store(env), root) and not _is_within(env.get("HOME", ""), root):
        return Approval(why="your trust store is inside the project, where it proves nothing")
    projects = stored(env)
    for folder in (root, *main_worktree(root)):
        entry = projects.get(folder)
        if isinstance(entry, dict):
            return _approval(entry.get("lock"), str(entry.get("approved", "")))
    why = f"{LOCK} is not the one that {VARIABLE} names" if named else ""
    return Approval(why=why)


def _approval(lock: Tree, when: str) -> Approval:
    try:
        hooks = {
            str(place): {"definition": str(one["definition"]), "files": dict(one["files"])}
            for place, one in lock["hooks"].items()
        }
        return Approval(hooks, dict(lock.get("bridge", {})), is_known=True, when=when)
    except (TypeError, KeyError, ValueError, AttributeError):
        return Approval(why="the lock that you approved cannot be read")


def stored(env: Mapping[str, str]) -> dict[str, Tree]:
    """The user's store, by the roots of projects; empty where there is none or it cannot be read."""
    place = store(env)
    tree = _tree(_read(place) or b"") if place else None
    projects = tree.get("projects") if isinstance(tree, dict) and tree.get("version") == VERSION else None
    return projects if isinstance(projects, dict) else {}


def store(env: Mapping[str, str]) -> str:
    """Where the store is; empty where the environment names no place."""
    place = journal.folder(env)
    return os.path.join(place, STORE) if place else ""


def _is_within(path: str, root: str) -> bool:
    """Whether a file is the project's, which brings it along."""
    start = os.path.join(os.path.realpath(root), "")
    return bool(path) and os.path.join(os.path.realpath(path), "").startswith(start)


def main_worktree(root: str) -> list[str]:
    """The checkout that a linked worktree of git belongs to, if that one says so too."""
    data = _read(os.path.join(root, ".git")) or b""
    if not data.startswith(b"gitdir: "):
        return []
    own = os.path.join(root, os.fsdecode(data[8:].strip()))
    back = os.fsdecode((_read(os.path.join(own, "gitdir")) or b"").strip())
    common = os.path.dirname(os.path.dirname(own))
    if not back or os.path.realpath(os.path.join(own, back)) != os.path.realpath(os.path.join(root, ".git")):
        return []
    return [os.path.realpath(os.path.dirname(common))] if os.path.basename(common) == ".git" else []


def lock_of(hooks: Iterable[Planned], root: str, env: Mapping[str, str]) -> dict[str, Tree]:
    """What `hookport.lock` says of the hooks of a project as they are now."""
    entries = {
        hook.id: {
            "name": hook.name,
            "event": hook.event,
            "definition": hook.definition,
            "files": {name: digest(resolved(name, root, env)) or None for name in sorted(hook.files)},
        }
        for hook in hooks
    }
    bridge = {name: digest(os.path.join(root, name)) for name in BRIDGE}
    found = {"version": VERSION, "hooks": dict(sorted(entries.items()))}
    return {**found, "bridge": {name: hash_ for name, hash_ in bridge.items() if hash_}}


def resolved(name: str, root: str, env: Mapping[str, str]) -> str:
    """The path of a file as the lock names it: from the root, from the home, or absolute."""
    if name.startswith("~/"):
        return os.path.join(env.get("HOME") or env.get("USERPROFILE") or os.sep, name[2:])
    return os.path.normpath(os.path.join(root, name))


def named(path: str, root: str, env: Mapping[str, str]) -> str:
    """The other way round."""
    for start, short in ((root, ""), (env.get("HOME", ""), "~/")):
        if start and path.startswith(os.path.join(start, "")):
            return short + path[len(os.path.join(start, "")) :].replace(os.sep, "/")
    return path


def below(folder: str) -> tuple[list[str], list[str]]:
    """(files, folders) of a folder, itself first; a link to a folder is like a file, and is not entered."""
    files: list[str] = []
    folders: list[str] = []
    for place, inside, names in os.walk(folder):
        links = [name for name in inside if os.path.islink(os.path.join(place, name))]
        inside[:] = sorted(set(inside) - {UNREAD} - set(links))
        folders.append(place)
        files += [os.path.join(place, name) for name in (*names, *links)]
    return sorted(files), folders or [folder]


def stamp(path: str) -> list[int] | None:
    """What tells that a file changed, the time of its change included, which nobody can set back."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return [found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns]


def _settled(path: str) -> list[int] | None:
    """The stamp, unless a change to come might leave it as it is."""
    found = stamp(path)
    return found if found is not None and found[3] < time.time_ns() - TICK_NS else None


def digest(path: str) -> str:
    """The SHA-256 of a file, of a link to a folder that of where it leads; empty where nothing is there."""
    made = _sha256()(b"")
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""
            while part := file.read(MOST_BYTES):
                made.update(part)
    except IsADirectoryError:
        return sha256(b"link\0" + os.fsencode(os.readlink(path))) if os.path.islink(path) else ""
    except (OSError, ValueError):
        return ""
    return str(made.hexdigest())


def sha256(data: bytes) -> str:
    """The SHA-256 of some bytes."""
    return str(_sha256()(data).hexdigest())


def _sha256() -> Callable[[bytes], Tree]:
    """The library's C code: `hashlib` loads OpenSSL, which takes longer than a dispatch may."""
    for name in ("_sha2", "_sha256") if sys.version_info >= (3, 12) else ("_sha256",):
        try:
            made: Callable[[bytes], Tree] = __import__(name).sha256
        except ImportError:
            continue
        return made
    import hashlib

    return hashlib.sha256


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except (OSError, ValueError):
        return None


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _tree(data: bytes) -> Tree:
    try:
        return loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def waiting(hooks: Sequence[Planned]) -> list[tuple[str, Mapping[str, Any]]]:
    """The project's hooks that are not approved: each name, and who loads it by itself."""
    return [
        (hook.name, hook.loaded_by) for hook in hooks if hook.scope == "project" and objection(hook.trust)
    ]
