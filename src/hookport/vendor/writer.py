"""`bridge.pyz` and its plan, for people without hookport: the same bytes, whoever builds them."""

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

# The modules of a bridge: no dialects, because it contains their tables ready-made.
PACKED = (
    *("__init__.py", "errors.py"),
    *(f"vendor/{name}.py" for name in ("__init__", "commands", "importing", "vendored")),
    *("base/*.py", "console/*.py", "model/*.py", "shell/*.py", "wire/*.py"),
    *("runtime/*.py", "runtime/execute/*.py"),
    # For the project's hooks in Python.
    *(f"sdk/{name}.py" for name in ("__init__", "answers", "callers", "calling")),
    *(f"sdk/{name}.py" for name in ("conversations", "events", "functions", "hooks", "replies")),
)
MAIN, TABLES = "__main__.py", "tables.plan"
# What a zip file says of a file made on Unix: a plain one with rw-r--r--.
UNIX, FILE_MODE = 3, 0o100644
# A user without a home has no hooks of their own.
NOBODY = {"HOME": "-"}
BRIDGE = "the project's bridge"
# The dialects that an entry names in its call of the archive.
CALL = re.compile(r"""bridge\.pyz["']? (?:dispatch ([\w-]+)|wrap ([\w-]+) ([\w-]+)) """)


class _NeedsError(InputError):
    """A plan that cannot be rebuilt without dialects that are not installed here."""

    def __init__(self, file: str, dialects: list[str]) -> None:
        self.finding = BridgeNeeds.at("", dialects=", ".join(dialects))._replace(file=file)
        super().__init__(Problem(f"{self.finding.message}. {self.finding.hint}", file=file))


@cache
def build_archive() -> bytes:
    """The archive: names in order, one date, one mode, line ends of one kind."""
    package = Path(hookport.__file__).parent
    paths = {path for pattern in PACKED for path in package.glob(pattern)}
    members = {f"hookport/{path.relative_to(package).as_posix()}": path for path in paths}
    members[MAIN] = package / "vendor" / "start.py"
    content = {name: path.read_bytes().replace(b"\r\n", b"\n") for name, path in members.items()}
    # Our own dialects only: those of other packages are not on every machine, so the plan has them.
    own_dialects = [name for name in list_dialects() if name in list_builtin()]
    content[TABLES] = plan.make(
        (), map(get_wire, own_dialects), PlanOrigin("", __version__, markers=list(list_markers()))
    )
    return zip_members(content)


def zip_members(members: Mapping[str, bytes]) -> bytes:
    """A zip file of members in order. They are stored: what deflates them differs between machines.

    Git keeps a stored archive in fewer bytes than a deflated one, and a new version as its difference.
    """
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, data in sorted(members.items()):
            member = zipfile.ZipInfo(name)
            member.create_system, member.external_attr = UNIX, FILE_MODE << 16
            file.writestr(member, data)
    return archive.getvalue()


def compile_plan(root: str, after: Mapping[str, bytes | None] | None = None) -> bytes:
    """The text of a project's plan; `after` are files about to be written, by path."""
    discovery, _ = _find_shared(root)
    hooks = [_make_portable(hook, root) for hook in plan_builder.list_runnable(discovery)]
    full = plan.parse(plan_builder.compile_plan(discovery, NOBODY, root))
    assert isinstance(full, DispatchPlan)  # noqa: S101  (we made it)
    start = f"{root}{os.sep}"
    contents = {
        place: vendored.read_content(root, place, after or {})
        for place in _list_places(root, discovery.hooks)
    }
    origin = PlanOrigin(
        "",
        __version__,
        settings=full.header["settings"],
        broken=[line.replace(start, "") for line in full.header["broken"]],
        contents=contents,
        protected=[_relativize(root, path) for path in full.protected() if path.startswith(start)],
    )
    return plan.make(hooks, map(get_wire, sorted(list_added())), origin)


def _renew_plan(root: str, before: bytes | None, after: Mapping[str, bytes | None]) -> bytes:
    """The text of the plan, with the former plan's data of dialects that are not installed here."""
    text = compile_plan(root, after)
    old, new = _parse_plan(before), _parse_plan(text)
    absent = _list_absent(old)
    if old is None or new is None or not absent:
        return text
    was, now = old.header["contents"], new.header["contents"]
    theirs = {place: vendored.read_content(root, place, after) for place in was if place not in now}
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
        **{name: table for name, table in old.read_all_wires().items() if name in absent},
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


def _parse_plan(text: bytes | None) -> DispatchPlan | None:
    parsed = plan.parse((text or b"").replace(b"\r\n", b"\n"))
    return parsed if isinstance(parsed, DispatchPlan) and "contents" in parsed.header else None


def _list_absent(old_plan: DispatchPlan | None) -> list[str]:
    """The dialects of a plan that are not installed here."""
    return (
        [] if old_plan is None else [name for name in old_plan.header["wires"] if name not in list_dialects()]
    )


def find_lacking(root: str, command: str) -> list[str]:
    """The dialects in an entry that neither the called archive nor its plan has."""
    call = CALL.search(command)
    loaded = vendored.load_plan(root) if call else ""
    known_dialects = {*list_builtin(), *(() if isinstance(loaded, str) else loaded.header["wires"])}
    return [name for name in (call.groups() if call else ()) if name and name not in known_dialects]


def _find_shared(root: str) -> tuple[Discovery, list[str]]:
    """The project's shared hooks, and its files for one machine only."""
    discovery = discover(root, NOBODY)
    if discovery.root != root:  # without hooks of its own, it is part of the project above it
        return Discovery(root, (), (), ()), []
    personal_files = {str(Path(root) / place) for place in _list_personal_places()}
    hooks = tuple(_drop_personal_switch(hook) for hook in discovery.hooks if hook.file not in personal_files)
    findings = tuple(finding for finding in discovery.findings if finding.file not in personal_files)
    personal = dict.fromkeys(hook.file for hook in discovery.hooks if hook.file in personal_files)
    return discovery._replace(hooks=hooks, findings=findings), list(personal)


def _drop_personal_switch(hook: HookEntry) -> HookEntry:
    """A hook without the switch that is off on this machine only."""
    return hook._replace(off=None) if hook.off and hook.off.scope != "project" else hook


def _list_personal_places() -> set[str]:
    """The places that agents keep out of the repository."""
    return {
        location.path
        for name in list_dialects()
        for location in get(name).locations
        if location.scope == "local"
    }


def _list_places(root: str, hooks: Iterable[HookEntry]) -> Iterator[str]:
    """All places that may contain hooks of the project, existing or not."""
    found_places = {vendored.SETTINGS, *(_relativize(root, hook.file) for hook in hooks)}
    for site in (site for site in list_sites() if site.scope == "project"):
        found_places.add(site.path)
        start, star, rest = site.path.partition("*")
        for name in vendored.read_content(root, site.path) or () if star else ():
            found_places.add(f"{start}{name}{rest if rest.startswith('/') else ''}")
            for dialect in site.dialects:
                if dialect.shape.companions:
                    found_places.add(f"{start}{name}/{dialect.shape.companions}")
    yield from sorted(found_places - _list_personal_places())


def _make_portable(found_hook: HookEntry, root: str) -> PlannedHook:
    """A hook with paths from the root; see `vendored.place_hook`."""
    hook = plan_builder.plan_identified_entry(found_hook, root, NOBODY).replace(
        loaded_by=Readers(root, NOBODY).of(found_hook)
    )
    command = hook.command
    for script in found_hook.scripts if get(hook.dialect).shape.companions else ():
        name = f"{vendored.MARK}{_relativize(root, script)}{vendored.MARK}"
        command = command.replace(shlex.quote(script), name)
    package = _relativize(root, found_hook.package)
    return hook.replace(command=command, file=_relativize(root, found_hook.file), package=package)


def _relativize(root: str, path: str) -> str:
    inside = Path(path).is_relative_to(root)
    return Path(path).relative_to(root).as_posix() if inside else path


def plan_changes(root: str, after: Mapping[str, bytes | None] | None = None) -> list[Change]:
    """The files to write: the archive and the plan, if they are not current."""
    current = {name: read_file(str(Path(root) / name)) for name in (vendored.ARCHIVE, vendored.PLAN)}
    wanted = {
        vendored.ARCHIVE: build_archive(),
        vendored.PLAN: _renew_plan(root, current[vendored.PLAN], after or {}),
    }
    candidates = [Change(str(Path(root) / name), current[name], data) for name, data in wanted.items()]
    return [change for change in candidates if change.before != change.after]


def find_left_out(root: str) -> list[Finding]:
    """Findings for hooks outside the plan, because their file is for one machine only."""
    return [PersonalHooks.at("")._replace(file=file) for file in _find_shared(root)[1]]


def check(root: str) -> list[Finding]:
    """Findings for a project's archive and plan that differ from what this version builds."""
    findings: list[Finding] = []
    try:
        wrong = plan_changes(root)
    except _NeedsError as error:
        return [error.finding]
    for change in wrong:
        kind = BridgeStale if change.path.endswith(".plan") else BridgeDiffers
        if change.before is None:
            findings.append(BridgeMissing.at("")._replace(file=change.path))
        else:
            named = _describe_plan_difference if kind is BridgeStale else _describe_archive_difference
            why = named(change.before, change.after or b"", root)
            findings.append(kind.at("", why=why, version=__version__)._replace(file=change.path))
    path = str(Path(root, vendored.PLAN))
    absent = _list_absent(_parse_plan(read_file(path)))
    carried = [BridgeUnchecked.at("", dialects=", ".join(absent))._replace(file=path)] if absent else []
    return findings or [*_find_unlocked(root), *carried]


def _find_unlocked(root: str) -> list[Finding]:
    path = str(Path(root) / trust.LOCK)
    locked = _read_locked(read_file(path) or b"{}")
    wrong = [name for name in trust.BRIDGE if locked.get(name) != trust.hash_file(str(Path(root) / name))]
    return [BridgeUnlocked.at("bridge", name=name)._replace(file=path) for name in wrong]


def _read_locked(lock: bytes) -> dict[str, str]:
    try:
        return dict(json.loads(lock)["bridge"])
    except (ValueError, TypeError, KeyError):
        return {}


def _describe_archive_difference(before: bytes, after: bytes, _root: str) -> str:
    try:
        old, new = _read_members(before), _read_members(after)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        return f"it is not an archive ({error})"
    odd = [
        f"{name} is {word}"
        for name in sorted(old.keys() | new.keys())
        if (word := _describe_member(old, new, name))
    ]
    more = f" and {len(odd) - 3} more" if len(odd) > 3 else ""
    return ", ".join(odd[:3]) + more or "it is packed differently"


def _describe_member(old: Mapping[str, bytes], new: Mapping[str, bytes], name: str) -> str:
    if name not in new:
        return "unknown"
    if name not in old:
        return "missing"
    return "another" if old[name] != new[name] else ""


def _read_members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _describe_plan_difference(before: bytes, after: bytes, root: str) -> str:
    old, new = plan.parse(before.replace(b"\r\n", b"\n")), plan.parse(after)
    if isinstance(old, str) or isinstance(new, str):
        return str(old)
    if old.header["version"] != new.header["version"]:
        return f"hookport {old.header['version']} made it"
    stale = vendored.find_stale(old, root)
    if stale:
        return f"{', '.join(stale)} changed since it was made"
    return _describe_hook_difference(old, new)


def _describe_hook_difference(old: DispatchPlan, new: DispatchPlan) -> str:
    missing = [name for name in new.header["wires"] if name not in old.header["wires"]]
    if missing:
        return f"it was built without {', '.join(missing)}"
    changed = [name for name, table in new.read_all_wires().items() if old.wire(name) != table]
    if changed:
        return f"it was built with other tables of {', '.join(changed)}"
    was, now = ({hook.id: hook for hook in side.read_all_hooks()} for side in (old, new))
    odd = sorted(place for place in was.keys() | now.keys() if was.get(place) != now.get(place))
    return f"it differs in {', '.join(odd)}" if odd else "its header differs"
