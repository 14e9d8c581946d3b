"""The user's store of approvals by the core alone: the same file, taken in turns, as `hookport trust` writes.

It keeps no texts, so that `hookport trust` shows no diff to what was approved here, only that it changed.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager

from hookport.errors import InputError, Problem
from hookport.model._json import dumps, loads
from hookport.runtime import trust
from hookport.wires.spellings import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Tree = Any
    Lock = dict[str, Any]

PRIVATE = 0o600


def locked(root: str) -> Lock:
    """The lock of a project; InputError where there is none that can be read."""
    path = os.path.join(root, trust.LOCK)
    try:
        with open(path, "rb") as file:
            tree = loads(file.read().decode("utf-8"))
    except FileNotFoundError:
        tree = {"hooks": {}}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(Problem(f"is no lock: {error}", file=path)) from None
    if not isinstance(tree, dict) or not isinstance(tree.get("hooks"), dict):
        raise InputError(Problem("is no lock", file=path))
    return tree


def approved(root: str, env: Mapping[str, str]) -> tuple[Lock, str]:
    """The lock that this person approved for a project, and when; empty where none was."""
    projects = trust.stored(env)
    for folder in (root, *trust.main_worktree(root)):
        entry = projects.get(folder)
        if isinstance(entry, dict) and isinstance(entry.get("lock"), dict):
            return entry["lock"], str(entry.get("approved", ""))
    return {}, ""


def differences(before: Lock, after: Lock) -> dict[str, list[str]]:
    """By place each hook that is not what it was: how, then its files that are not."""
    old, new = before.get("hooks", {}), after.get("hooks", {})
    found: dict[str, list[str]] = {}
    for place in sorted(old.keys() | new.keys()):
        was, now = (hooks.get(place, {"files": {}}) for hooks in (old, new))
        if was != now:
            names = sorted(was["files"].keys() | now["files"].keys())
            files = [name for name in names if was["files"].get(name) != now["files"].get(name)]
            found[place] = ["gone" if place not in new else "changed" if place in old else "new", *files]
    return found


def approve(root: str, lock: Lock, env: Mapping[str, str]) -> None:
    """Remember that this person approved a lock for a project."""
    with _store(env) as projects:
        projects[root] = {"approved": iso(time.time()), "lock": lock}


def forget(root: str, env: Mapping[str, str]) -> bool:
    """Take back what was approved for a project; whether anything was."""
    with _store(env) as projects:
        return projects.pop(root, None) is not None


@contextmanager
def _store(env: Mapping[str, str]) -> Iterator[dict[str, Tree]]:
    """The projects of the store, written back at the end; who else wants to change it waits."""
    path = os.path.realpath(trust.store(env)) if trust.store(env) else ""
    if not path:
        message = "there is no place for what you approve: HOME is not set. Set HOOKPORT_STATE_DIR"
        raise InputError(Problem(message))
    draft = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        turn = f"{os.path.splitext(trust.store(env))[0]}.turn"
        held = os.open(turn, os.O_RDWR | os.O_CREAT, PRIVATE)
        try:
            _wait(held)
            projects = dict(trust.stored(env))
            yield projects
            text = dumps({"version": trust.VERSION, "projects": projects}, sort_keys=True)
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE), "wb") as file:
                file.write(text.encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        finally:
            os.close(held)
    except OSError as error:
        raise InputError(Problem(f"cannot be written: {error.strerror}", file=path)) from None


def _wait(held: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(held, msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX)
