"""The user's store of approvals: one file for all projects (0600), replaced whole, one writer at a time.

Each project has the states that its user approved. This module uses the standard library only, because a
vendored bridge approves too.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager

from hookport.base.files import PRIVATE, close_locked, replace_file
from hookport.base.files import lock as lock_file
from hookport.errors import InputError, Problem
from hookport.model.json_text import dumps, loads
from hookport.runtime import trust
from hookport.wire.spellings import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from hookport.base.tree import Tree

    Lock = Mapping[str, Any]

# The longest time that another process may take to write.
LOCK_SECONDS = 60
# More branches than anyone works on; the oldest approvals are removed first.
MOST_STATES = 500


def read_lock(root: str) -> dict[str, Tree]:
    """Read the lock of a project; InputError if it cannot be read."""
    path = os.path.join(root, trust.LOCK)
    data = trust.read_file(path)
    try:
        tree = loads(data.decode("utf-8")) if data is not None else {"hooks": {}}
    except (ValueError, RecursionError) as error:
        is_conflict = b"<<<<<<< " in (data or b"")
        problem = "has merge conflicts" if is_conflict else f"is not a lock: {error}"
        raise InputError(Problem(problem, file=path)) from None
    if not isinstance(tree, dict) or not isinstance(tree.get("hooks"), dict):
        raise InputError(Problem("is not a lock", file=path))
    if tree.get("version", trust.VERSION) != trust.VERSION:
        message = (
            "was written by another version of hookport. Run `hookport trust` where hookport is installed"
        )
        raise InputError(Problem(message, file=path))
    return tree


def compare_locks(before: Lock, after: Lock) -> dict[str, list[str]]:
    """List each hook that differs, by place: how it changed, then its changed files."""
    old, new = before.get("hooks", {}), after.get("hooks", {})
    changes: dict[str, list[str]] = {}
    for place in sorted(old.keys() | new.keys()):
        was, now = (hooks.get(place, {"files": {}}) for hooks in (old, new))
        if was != now:
            names = sorted(was["files"].keys() | now["files"].keys())
            files = [name for name in names if was["files"].get(name) != now["files"].get(name)]
            changes[place] = ["gone" if place not in new else "changed" if place in old else "new", *files]
    return changes


def find_approved_state(root: str, lock: Lock, env: Mapping[str, str]) -> trust.ApprovedState:
    """Find the approved state that a project with this lock is in or nearest to; empty if none is."""
    states = trust.load_approval(root, env).states
    same = [state for state in states if dict(state.lock) == lock]
    definitions = {place: entry["definition"] for place, entry in lock["hooks"].items()}
    return trust.find_nearest_state(same or states, definitions)


def store_approval(
    root: str, lock: Lock, contents: Mapping[str, bytes], env: Mapping[str, str], how: str = ""
) -> None:
    """Store that the user approved a state of a project, and how; keep its texts."""
    with _open_store(env) as projects:
        entry = projects.get(root)
        states = list(entry["states"]) if isinstance(entry, dict) and "states" in entry else []
        state = {"approved": format_time(time.time()), "how": how, "lock": lock}
        states = [state, *(earlier for earlier in states if earlier.get("lock") != lock)]
        projects[root] = {"states": states[:MOST_STATES]}
        folder = find_text_folder(env)
        os.makedirs(folder, 0o700, exist_ok=True)
        for hash_, data in contents.items():
            if read_approved_text(hash_, env) is None:
                _write_file(os.path.join(folder, hash_), data)


def remove_approval(root: str | None, env: Mapping[str, str]) -> list[str]:
    """Remove the approvals of a project, or of all; return the projects that had approvals."""
    with _open_store(env) as projects:
        gone = [project_root for project_root in projects if root in (None, project_root)]
        for removed_root in gone:
            del projects[removed_root]
        _remove_unused_texts(projects, env)
    return gone


def read_approved_text(hash_: str, env: Mapping[str, str]) -> bytes | None:
    """Read an approved text by its hash; None if it was too large or was removed."""
    folder = find_text_folder(env)
    data = trust.read_file(os.path.join(folder, hash_)) if folder and hash_.isalnum() else None
    return data if data is not None and trust.sha256(data) == hash_ else None


def find_text_folder(env: Mapping[str, str]) -> str:
    """Find the folder of approved texts, which are named by their hashes; empty without a state folder."""
    place = trust.find_store(env)
    return os.path.join(os.path.dirname(place), trust.TEXTS) if place else ""


def _remove_unused_texts(projects: Mapping[str, Tree], env: Mapping[str, str]) -> None:
    """Remove the texts that no approval uses any more."""
    locks = [state["lock"] for entry in projects.values() for state in entry.get("states", ())]
    hooks = [hook for lock in locks for hook in lock["hooks"].values()]
    used = {hash_ for hook in hooks for hash_ in (hook["definition"], *hook["files"].values())}
    used |= {hash_ for lock in locks for hash_ in lock.get("bridge", {}).values()}
    folder = find_text_folder(env)
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name not in used:
            os.unlink(os.path.join(folder, name))


@contextmanager
def _open_store(env: Mapping[str, str]) -> Iterator[dict[str, Tree]]:
    """Yield the projects of the store and write them back at the end; other writers wait."""
    place = trust.find_store(env)
    if not place:
        message = "cannot store approvals: HOME is not set. Set HOOKPORT_STATE_DIR"
        raise InputError(Problem(message))
    try:
        os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)
        held = os.open(f"{os.path.splitext(place)[0]}.turn", os.O_RDWR | os.O_CREAT, PRIVATE)
        try:
            lock_file(held, LOCK_SECONDS)
            projects = dict(trust.read_store(env))
            yield projects
            text = dumps({"version": trust.VERSION, "projects": projects}, sort_keys=True)
            _write_file(place, text.encode() + b"\n")
        finally:
            close_locked(held)
    except OSError as error:
        raise InputError(Problem(f"cannot write this file: {error.strerror}", file=place)) from None


def _write_file(path: str, data: bytes) -> None:
    """Replace a file; keep a link as a link."""
    replace_file(os.path.realpath(path), data, is_durable=True)
