"""`bridge.pyz` and its plan, for those who have no hookport: the same bytes, whoever makes them."""

from __future__ import annotations

import json
import os
import re
import shlex
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path

import hookport
from hookport import __version__
from hookport.agents import get, get_wire, list_added, list_builtin, list_dialects, list_markers
from hookport.errors import InputError, Problem
from hookport.findings import (
    BridgeDiffers,
    BridgeMissing,
    BridgeNeeds,
    BridgeStale,
    BridgeUnchecked,
    BridgeUnlocked,
    Finding,
    PersonalHooks,
)
from hookport.project import plan_builder
from hookport.project.contents import Change, read_file
from hookport.project.discovery import Discovery, HookEntry, discover
from hookport.project.ownership import Readers
from hookport.project.places import list_sites
from hookport.runtime import plan, trust
from hookport.runtime.plan import DispatchPlan, PlannedHook, PlanOrigin
from hookport.vendor import vendored
from hookport.vendor.archive import zipped

# What a bridge needs: no dialect, since the tables that follow from them are in it ready-made.
PACKED = (
    *("__init__.py", "errors.py"),
    *(f"vendor/{name}.py" for name in ("__init__", "commands", "importing", "vendored")),
    *("base/*.py", "console/*.py", "model/*.py", "shell/*.py", "wire/*.py"),
    *("runtime/*.py", "runtime/execute/*.py"),
    # For the project's hooks in Python.
    *(f"sdk/{name}.py" for name in ("__init__", "answers", "callers", "calling")),
    *(f"sdk/{name}.py" for name in ("events", "functions", "hooks", "replies")),
)
MAIN, TABLES = "__main__.py", "tables.plan"
# A user without a home has no hooks of their own.
NOBODY = {"HOME": "-"}
BRIDGE = "the project's bridge"
# The dialects that an entry names where it calls the archive.
CALL = re.compile(r"""bridge\.pyz["']? (?:dispatch ([\w-]+)|wrap ([\w-]+) ([\w-]+)) """)


class _NeedsError(InputError):
    """A plan that cannot be made anew without dialects that are not installed here."""

    def __init__(self, file: str, dialects: list[str]) -> None:
        self.finding = BridgeNeeds.at("", dialects=", ".join(dialects))._replace(file=file)
        super().__init__(Problem(f"{self.finding.message}. {self.finding.hint}", file=file))


@cache
def build() -> bytes:
    """The archive: names in order, one date, one mode, line ends of one kind."""
    package = Path(hookport.__file__).parent
    paths = {path for pattern in PACKED for path in package.glob(pattern)}
    members = {f"hookport/{path.relative_to(package).as_posix()}": path for path in paths}
    members[MAIN] = package / "vendor" / "start.py"
    content = {name: path.read_bytes().replace(b"\r\n", b"\n") for name, path in members.items()}
    # Our own dialects alone: those of other packages are not on every machine, so the plan has them.
    own = [name for name in list_dialects() if name in list_builtin()]
    content[TABLES] = plan.make(
        (), map(get_wire, own), PlanOrigin("", __version__, markers=list(list_markers()))
    )
    return zipped(dict(sorted(content.items())))


def compiled(root: str, after: Mapping[str, bytes | None] | None = None) -> bytes:
    """The text of the plan of a project; `after` are files by their path as they are about to be written."""
    found, _ = _shared(root)
    hooks = [_portable(one, root) for one in plan_builder.list_runnable(found)]
    full = plan.parse(plan_builder.compile_plan(found, NOBODY, root))
    assert isinstance(full, DispatchPlan)  # noqa: S101  (we made it)
    start = f"{root}{os.sep}"
    contents = {place: vendored.content(root, place, after or {}) for place in _places(root, found.hooks)}
    origin = PlanOrigin(
        "",
        __version__,
        settings=full.header["settings"],
        broken=[one.replace(start, "") for one in full.header["broken"]],
        contents=contents,
        protected=[_from(root, path) for path in full.protected() if path.startswith(start)],
    )
    return plan.make(hooks, map(get_wire, sorted(list_added())), origin)


def _renewed(root: str, before: bytes | None, after: Mapping[str, bytes | None]) -> bytes:
    """The text of the plan, with what the one before has of dialects that are not installed here."""
    text = compiled(root, after)
    old, new = _parsed(before), _parsed(text)
    absent = _absent(old)
    if old is None or new is None or not absent:
        return text
    was, now = old.header["contents"], new.header["contents"]
    theirs = {place: vendored.content(root, place, after) for place in was if place not in now}
    changed = any(content not in (None, was[place]) for place, content in theirs.items())
    needed = sorted({hook.dialect for hook in old.read_all_hooks() if hook.dialect in absent})
    if needed or changed:
        raise _NeedsError(str(Path(root, vendored.PLAN)), needed or absent)
    loaded_by = {
        hook.id: {name: how for name, how in hook.loaded_by.items() if name in absent}
        for hook in old.read_all_hooks()
    }
    hooks = [
        hook.replace(loaded_by={**hook.loaded_by, **loaded_by.get(hook.id, {})})
        for hook in new.read_all_hooks()
    ]
    wires = {
        **new.read_all_wires(),
        **{name: made for name, made in old.read_all_wires().items() if name in absent},
    }
    same = {place: content for place, content in theirs.items() if content == was[place]}
    origin = PlanOrigin(
        "",
        __version__,
        settings=new.header["settings"],
        broken=new.header["broken"],
        contents=dict(sorted({**now, **same}.items())),
        protected=sorted({*new.protected(), *old.protected()}),
    )
    return plan.make(hooks, [wires[name] for name in sorted(wires)], origin)


def _parsed(text: bytes | None) -> DispatchPlan | None:
    found = plan.parse((text or b"").replace(b"\r\n", b"\n"))
    return found if isinstance(found, DispatchPlan) and "contents" in found.header else None


def _absent(found: DispatchPlan | None) -> list[str]:
    """The dialects that a plan was made with and that are not installed here."""
    return [] if found is None else [name for name in found.header["wires"] if name not in list_dialects()]


def lacks(root: str, command: str) -> list[str]:
    """The dialects that an entry names, and that neither the archive nor the plan it calls was made with."""
    call = CALL.search(command)
    found = vendored.load(root) if call else ""
    known = {*list_builtin(), *(() if isinstance(found, str) else found.header["wires"])}
    return [name for name in (call.groups() if call else ()) if name and name not in known]


def _shared(root: str) -> tuple[Discovery, list[str]]:
    """What the project has for everybody, and the files in it that are for one machine only."""
    found = discover(root, NOBODY)
    if found.root != root:  # without hooks of its own, it is part of the project above it
        return Discovery(root, (), (), ()), []
    own = {str(Path(root) / place) for place in _personal()}
    hooks = tuple(_for_everybody(one) for one in found.hooks if one.file not in own)
    findings = tuple(one for one in found.findings if one.file not in own)
    personal = dict.fromkeys(one.file for one in found.hooks if one.file in own)
    return found._replace(hooks=hooks, findings=findings), list(personal)


def _for_everybody(found: HookEntry) -> HookEntry:
    """A hook without what switches it off on this machine only."""
    return found._replace(off=None) if found.off and found.off.scope != "project" else found


def _personal() -> set[str]:
    """The places that agents keep out of the repository."""
    return {one.path for name in list_dialects() for one in get(name).locations if one.scope == "local"}


def _places(root: str, hooks: Iterable[HookEntry]) -> Iterator[str]:
    """All that may hold hooks of the project, there or not."""
    found = {vendored.SETTINGS, *(_from(root, one.file) for one in hooks)}
    for site in (site for site in list_sites() if site.scope == "project"):
        found.add(site.path)
        start, star, rest = site.path.partition("*")
        for name in vendored.content(root, site.path) or () if star else ():
            found.add(f"{start}{name}{rest if rest.startswith('/') else ''}")
            for dialect in site.dialects:
                if dialect.companions:
                    found.add(f"{start}{name}/{dialect.companions}")
    yield from sorted(found - _personal())


def _portable(found: HookEntry, root: str) -> PlannedHook:
    """A hook with paths from the root; see `vendored.placed`."""
    hook = plan_builder.plan_identified_entry(found, root, NOBODY).replace(
        loaded_by=Readers(root, NOBODY).of(found)
    )
    command = hook.command
    for script in found.scripts if get(hook.dialect).companions else ():
        name = f"{vendored.MARK}{_from(root, script)}{vendored.MARK}"
        command = command.replace(shlex.quote(script), name)
    package = _from(root, found.package)
    return hook.replace(command=command, file=_from(root, found.file), package=package)


def _from(root: str, path: str) -> str:
    inside = Path(path).is_relative_to(root)
    return Path(path).relative_to(root).as_posix() if inside else path


def changes(root: str, after: Mapping[str, bytes | None] | None = None) -> list[Change]:
    """The files to write: the archive and the plan, where they are not yet as they should be."""
    there = {name: read_file(str(Path(root) / name)) for name in (vendored.ARCHIVE, vendored.PLAN)}
    wanted = {
        vendored.ARCHIVE: build(),
        vendored.PLAN: _renewed(root, there[vendored.PLAN], after or {}),
    }
    found = [Change(str(Path(root) / name), there[name], data) for name, data in wanted.items()]
    return [one for one in found if one.before != one.after]


def left_out(root: str) -> list[Finding]:
    """Hooks of the project that are not in the plan, because their file is for one machine only."""
    return [PersonalHooks.at("")._replace(file=file) for file in _shared(root)[1]]


def check(root: str) -> list[Finding]:
    """What is wrong with the archive and the plan of a project, if they are not what this version makes."""
    found: list[Finding] = []
    try:
        wrong = changes(root)
    except _NeedsError as error:
        return [error.finding]
    for one in wrong:
        kind = BridgeStale if one.path.endswith(".plan") else BridgeDiffers
        if one.before is None:
            found.append(BridgeMissing.at("")._replace(file=one.path))
        else:
            named = _plan_difference if kind is BridgeStale else _archive_difference
            why = named(one.before, one.after or b"", root)
            found.append(kind.at("", why=why, version=__version__)._replace(file=one.path))
    path = str(Path(root, vendored.PLAN))
    absent = _absent(_parsed(read_file(path)))
    carried = [BridgeUnchecked.at("", dialects=", ".join(absent))._replace(file=path)] if absent else []
    return found or [*_unlocked(root), *carried]


def _unlocked(root: str) -> list[Finding]:
    path = str(Path(root) / trust.LOCK)
    locked = _locked(read_file(path) or b"{}")
    wrong = [name for name in trust.BRIDGE if locked.get(name) != trust.hash_file(str(Path(root) / name))]
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


def _hook_difference(old: DispatchPlan, new: DispatchPlan) -> str:
    missing = [name for name in new.header["wires"] if name not in old.header["wires"]]
    if missing:
        return f"it was made without {', '.join(missing)}"
    other = [name for name, made in new.read_all_wires().items() if old.wire(name) != made]
    if other:
        return f"it was made with other tables of {', '.join(other)}"
    was, now = ({hook.id: hook for hook in one.read_all_hooks()} for one in (old, new))
    odd = sorted(place for place in was.keys() | now.keys() if was.get(place) != now.get(place))
    return f"it says otherwise of {', '.join(odd)}" if odd else "its header is another"
