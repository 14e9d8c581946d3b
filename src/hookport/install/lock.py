"""`hookport.lock` and the user's store: what hooks a project has, and which of them this person approved.

The lock has the same bytes for the same hooks. The store is the user's alone (0600), and is replaced whole.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hookport import planning
from hookport.errors import InputError, Problem
from hookport.project.discovery import Discovery
from hookport.project.identity import identity
from hookport.runtime import trust
from hookport.wires.spellings import iso

Tree = Any
Lock = dict[str, Tree]
What = Literal["new", "changed", "gone"]

# A larger text is approved by its hash alone, so that no diff of it can be shown.
LARGEST_TEXT = 256 * 1024
PRIVATE = 0o600


class Difference(NamedTuple):
    """One hook that is not what it was; `files` are the names of its files that are not, each with how."""

    what: What
    id: str
    name: str
    is_redefined: bool
    files: tuple[tuple[str, What], ...] = ()


def build(found: Discovery, env: Mapping[str, str]) -> Lock:
    """The lock of the hooks of a project as they are now."""
    hooks = [planning.identified(one, found.root, env) for one in planning.projects(found)]
    return trust.lock_of(hooks, found.root, env)


def texts(found: Discovery, env: Mapping[str, str]) -> dict[str, bytes]:
    """What the lock has the hashes of, by these: definitions and scripts, those that are not too large."""
    contents: dict[str, bytes] = {}
    for one in planning.projects(found):
        it = identity(one, found.root, env)
        contents[it.definition] = it.text.encode("utf-8", "surrogatepass")
        for name in it.files:
            path = Path(trust.resolved(name, found.root, env))
            with suppress(OSError):
                if path.is_file() and path.stat().st_size <= LARGEST_TEXT:
                    data = path.read_bytes()
                    contents[trust.sha256(data)] = data
    return contents


def spelled(lock: Lock) -> bytes:
    """The bytes of a lock."""
    return (
        json.dumps(lock, indent=2, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
        + b"\n"
    )


def digest(lock: Lock) -> str:
    """The SHA-256 of a lock's bytes, as HOOKPORT_TRUSTED_LOCK names it."""
    return trust.sha256(spelled(lock))


def read(root: str) -> Lock | None:
    """The lock in a project; None if there is none. InputError if it cannot be read."""
    path = Path(root) / trust.LOCK
    try:
        tree = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(Problem(f"is no lock: {error}", file=str(path))) from None
    if not isinstance(tree, dict) or not isinstance(tree.get("hooks"), dict):
        raise InputError(Problem("is no lock", file=str(path)))
    return tree


def write(root: str, lock: Lock) -> bool:
    """Write the lock of a project; whether it was another one before."""
    path, data = Path(root) / trust.LOCK, spelled(lock)
    with suppress(OSError):
        if path.read_bytes() == data:
            return False
    _replace(path, data, None)
    return True


def compare(old: Lock, new: Lock) -> list[Difference]:
    """What is new, changed or gone; a hook that only moved within its file is the same."""
    before, after = dict(old.get("hooks", {})), dict(new.get("hooks", {}))
    for place in list(after):
        same = next((one for one in _same_file(place, before) if before[one] == after[place]), None)
        if same is not None:
            del before[same], after[place]
    found = [_difference(place, before.pop(place, None), entry) for place, entry in after.items()]
    found += [
        Difference("gone", place, entry.get("name", ""), is_redefined=True) for place, entry in before.items()
    ]
    return found


def _same_file(place: str, entries: Lock) -> list[str]:
    """The places of one file, the very same first."""
    file = place.partition("#")[0] + "#"
    return sorted((one for one in entries if one.startswith(file)), key=lambda one: one != place)


def _difference(place: str, was: Tree, now: Tree) -> Difference:
    if was is None:
        files = tuple((name, _new) for name in now["files"])
        return Difference("new", place, now["name"], is_redefined=True, files=files)
    names = dict.fromkeys((*was["files"], *now["files"]))
    files = tuple(
        (name, _how(was["files"].get(name), now["files"].get(name)))
        for name in names
        if was["files"].get(name) != now["files"].get(name)
    )
    return Difference("changed", place, now["name"], was["definition"] != now["definition"], files)


_new: What = "new"


def _how(was: str | None, now: str | None) -> What:
    return "new" if was is None else "gone" if now is None else "changed"


def approved(root: str, env: Mapping[str, str]) -> tuple[Lock, str]:
    """The lock that this person approved for a project, and when; empty where none was."""
    projects = trust.stored(env)
    for folder in (root, *trust.main_worktree(root)):
        entry = projects.get(folder)
        if isinstance(entry, dict) and isinstance(entry.get("lock"), dict):
            return entry["lock"], str(entry.get("approved", ""))
    return {}, ""


def approved_text(hash_: str, env: Mapping[str, str]) -> bytes | None:
    """A text that was approved, by its hash; None if it was too large or is no longer known."""
    place = trust.store(env)
    if not place or not hash_.isalnum():
        return None
    try:
        data = (Path(place).parent / trust.TEXTS / hash_).read_bytes()
    except OSError:
        return None
    return data if trust.sha256(data) == hash_ else None


def approve(root: str, lock: Lock, contents: Mapping[str, bytes], env: Mapping[str, str]) -> None:
    """Remember that this person approved a lock for a project."""
    with _store(env) as projects:
        projects[root] = {"approved": iso(time.time()), "lock": lock}
        folder = Path(trust.store(env)).parent / trust.TEXTS
        folder.mkdir(0o700, parents=True, exist_ok=True)
        for hash_, data in contents.items():
            if approved_text(hash_, env) is None:
                _replace(folder / hash_, data, PRIVATE)


def forget(root: str | None, env: Mapping[str, str]) -> list[str]:
    """Take back what was approved for a project, or for all; the projects that had something."""
    with _store(env) as projects:
        gone = [one for one in projects if root in (None, one)]
        for one in gone:
            del projects[one]
        _sweep(projects, env)
    return gone


def _sweep(projects: Mapping[str, Tree], env: Mapping[str, str]) -> None:
    """Remove the texts that no approval has any more."""
    locks = [entry.get("lock", {}).get("hooks", {}) for entry in projects.values()]
    hooks = [hook for lock in locks for hook in lock.values()]
    used = {hash_ for hook in hooks for hash_ in (hook["definition"], *hook["files"].values())}
    folder = Path(trust.store(env)).parent / trust.TEXTS
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name not in used:
            path.unlink(missing_ok=True)


@contextmanager
def _store(env: Mapping[str, str]) -> Iterator[dict[str, Tree]]:
    """The projects of the store, written back at the end; who else wants to change it waits."""
    place = trust.store(env)
    if not place:
        raise InputError(
            Problem("there is no place for what you approve: HOME is not set. Set HOOKPORT_STATE_DIR")
        )
    path = Path(place)
    try:
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        held = os.open(path.with_suffix(".turn"), os.O_RDWR | os.O_CREAT, PRIVATE)
        try:
            _wait(held)
            projects = dict(trust.stored(env))
            yield projects
            tree = {"version": trust.VERSION, "projects": projects}
            _replace(path, json.dumps(tree, indent=1, sort_keys=True).encode() + b"\n", PRIVATE)
        finally:
            os.close(held)
    except OSError as error:
        raise InputError(Problem(f"cannot be written: {error.strerror}", file=str(path))) from None


def _wait(held: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(held, msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX)


def _replace(path: Path, data: bytes, mode: int | None) -> None:
    """The old file or the new one, whole, whatever happens; a link stays one."""
    target = Path(os.path.realpath(path))
    number, draft = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is None:
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask()
        Path(draft).chmod(mode)
        Path(draft).replace(target)
    except OSError as error:
        Path(draft).unlink(missing_ok=True)
        raise InputError(Problem(f"cannot be written: {error.strerror}", file=str(path))) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
