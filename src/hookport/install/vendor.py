"""`bridge.pyz` and its plan, for those who have no hookport: the same bytes, whoever makes them."""

from __future__ import annotations

import json
import os
import shlex
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path

import hookport
from hookport import __version__, planning
from hookport.dialects import _builtin as builtin
from hookport.dialects import get, names
from hookport.dialects._wiring import wire
from hookport.findings import (
    BridgeDiffers,
    BridgeMissing,
    BridgeStale,
    BridgeUnlocked,
    Finding,
    PersonalHooks,
)
from hookport.install import files
from hookport.install.archive import zipped
from hookport.install.files import Change
from hookport.project.discovery import Discovery, Found, discover
from hookport.project.ownership import Readers
from hookport.project.places import sites
from hookport.runtime import plan, trust, vendored
from hookport.runtime.plan import Origin, Plan, Planned

# What a bridge needs: no dialect, since the tables that follow from them are in it ready-made.
PACKED = (
    *("__init__.py", "answering.py", "errors.py"),
    *("cli/__init__.py", "cli/log.py", "cli/terminal.py", "packed/__init__.py", "packed/approval.py"),
    *("model/*.py", "wires/*.py", "runtime/*.py", "runtime/execute/*.py"),
    # For the project's hooks in Python.
    *(f"authoring/{name}.py" for name in ("__init__", "answers", "callers", "calling")),
    *(f"authoring/{name}.py" for name in ("deciding", "events", "hooks", "replies")),
)
MAIN, TABLES = "__main__.py", "tables.plan"
# A user without a home has no hooks of their own.
NOBODY = {"HOME": "-"}


@cache
def build() -> bytes:
    """The archive: names in order, one date, one mode, line ends of one kind."""
    package = Path(hookport.__file__).parent
    paths = {path for pattern in PACKED for path in package.glob(pattern)}
    members = {f"hookport/{path.relative_to(package).as_posix()}": path for path in paths}
    members[MAIN] = package / "packed" / "start.py"
    content = {name: path.read_bytes().replace(b"\r\n", b"\n") for name, path in members.items()}
    content[TABLES] = plan.make((), map(wire, _own()), Origin("", __version__))
    return zipped(dict(sorted(content.items())))


def _own() -> list[str]:
    """Our own dialects; those of other packages are not on every machine."""
    return [name for name in names() if name in builtin()]


def compiled(root: str, after: Mapping[str, bytes | None] | None = None) -> bytes:
    """The text of the plan of a project; `after` are files by their path as they are about to be written."""
    found, _ = _shared(root)
    hooks = [_portable(one, root) for one in planning.runnable(found)]
    foreign = sorted({hook.dialect for hook in hooks} - set(_own()))
    full = plan.parse(planning.compiled(found, NOBODY, root))
    assert isinstance(full, Plan)  # noqa: S101  (we made it)
    start = f"{root}{os.sep}"
    contents = {place: vendored.content(root, place, after or {}) for place in _places(root, found.hooks)}
    origin = Origin(
        "",
        __version__,
        settings=full.header["settings"],
        broken=[one.replace(start, "") for one in full.header["broken"]],
        contents=contents,
        protected=[_from(root, path) for path in full.protected() if path.startswith(start)],
    )
    return plan.make(hooks, map(wire, foreign), origin)


def _shared(root: str) -> tuple[Discovery, list[str]]:
    """What the project has for everybody, and the files in it that are for one machine only."""
    found = discover(root, NOBODY)
    if found.root != root:  # without hooks of its own, it is part of the project above it
        return Discovery(root, (), (), ()), []
    own = {str(Path(root) / place) for place in _personal()}
    hooks = tuple(one for one in found.hooks if one.file not in own)
    findings = tuple(one for one in found.findings if one.file not in own)
    personal = dict.fromkeys(one.file for one in found.hooks if one.file in own)
    return found._replace(hooks=hooks, findings=findings), list(personal)


def _personal() -> set[str]:
    """The places that agents keep out of the repository."""
    return {one.path for name in names() for one in get(name).locations if one.scope == "local"}


def _places(root: str, hooks: Iterable[Found]) -> Iterator[str]:
    """All that may hold hooks of the project, there or not."""
    found = {vendored.SETTINGS, *(_from(root, one.file) for one in hooks)}
    for site in (site for site in sites() if site.scope == "project"):
        found.add(site.path)
        start, star, rest = site.path.partition("*")
        for name in vendored.content(root, site.path) or () if star else ():
            found.add(f"{start}{name}{rest if rest.startswith('/') else ''}")
            for dialect in site.dialects:
                if dialect.companions:
                    found.add(f"{start}{name}/{dialect.companions}")
    yield from sorted(found - _personal())


def _portable(found: Found, root: str) -> Planned:
    """A hook with paths from the root; see `vendored.placed`."""
    hook = planning.identified(found, root, NOBODY).replace(loaded_by=Readers(root, NOBODY).of(found))
    command = hook.command
    for script in found.scripts if get(hook.dialect).companions else ():
        name = f"{vendored.MARK}{_from(root, script)}{vendored.MARK}"
        command = command.replace(shlex.quote(script), name)
    return hook.replace(command=command, file=_from(root, found.file), package=_from(root, found.package))


def _from(root: str, path: str) -> str:
    inside = Path(path).is_relative_to(root)
    return Path(path).relative_to(root).as_posix() if inside else path


def changes(root: str, after: Mapping[str, bytes | None] | None = None) -> list[Change]:
    """The files to write: the archive and the plan, where they are not yet as they should be."""
    wanted = {vendored.ARCHIVE: build(), vendored.PLAN: compiled(root, after)}
    found = [Change(path := str(Path(root) / name), files.read(path), data) for name, data in wanted.items()]
    return [one for one in found if one.before != one.after]


def left_out(root: str) -> list[Finding]:
    """Hooks of the project that are not in the plan, because their file is for one machine only."""
    return [PersonalHooks.at("")._replace(file=file) for file in _shared(root)[1]]


def check(root: str) -> list[Finding]:
    """What is wrong with the archive and the plan of a project, if they are not what this version makes."""
    found: list[Finding] = []
    for one in changes(root):
        kind = BridgeStale if one.path.endswith(".plan") else BridgeDiffers
        if one.before is None:
            found.append(BridgeMissing.at("")._replace(file=one.path))
        else:
            named = _plan_difference if kind is BridgeStale else _archive_difference
            why = named(one.before, one.after or b"", root)
            found.append(kind.at("", why=why, version=__version__)._replace(file=one.path))
    return found or _unlocked(root)


def _unlocked(root: str) -> list[Finding]:
    path = str(Path(root) / trust.LOCK)
    locked = _locked(files.read(path) or b"{}")
    wrong = [name for name in trust.BRIDGE if locked.get(name) != trust.digest(str(Path(root) / name))]
    return [BridgeUnlocked.at("bridge", name=name)._replace(file=path) for name in wrong]


def _locked(lock: bytes) -> dict[str, str]:
    try:
        return dict(json.loads(lock)["bridge"])
    except (ValueError, TypeError, KeyError):
        return {}


def _archive_difference(before: bytes, after: bytes, _root: str) -> str:
    try:
        old, new = _members(before), _members(after)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        return f"it is no archive ({error})"
    odd = [f"{name} is {word}" for name in sorted(old.keys() | new.keys()) if (word := _word(old, new, name))]
    more = f" and {len(odd) - 3} more" if len(odd) > 3 else ""
    return ", ".join(odd[:3]) + more or "it is packed otherwise"


def _word(old: Mapping[str, bytes], new: Mapping[str, bytes], name: str) -> str:
    if name not in new:
        return "unknown"
    if name not in old:
        return "missing"
    return "another" if old[name] != new[name] else ""


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(data)) as found:
        return {name: found.read(name) for name in found.namelist()}


def _plan_difference(before: bytes, after: bytes, root: str) -> str:
    old, new = plan.parse(before.replace(b"\r\n", b"\n")), plan.parse(after)
    if isinstance(old, str) or isinstance(new, str):
        return str(old)
    if old.header["version"] != new.header["version"]:
        return f"hookport {old.header['version']} made it"
    stale = vendored.stale(old, root)
    if stale:
        return f"{', '.join(stale)} changed since it was made"
    return _hook_difference(old, new)


def _hook_difference(old: Plan, new: Plan) -> str:
    was, now = ({hook.id: hook for hook in one.all_hooks()} for one in (old, new))
    odd = sorted(place for place in was.keys() | now.keys() if was.get(place) != now.get(place))
    return f"it says otherwise of {', '.join(odd)}" if odd else "its header is another"
