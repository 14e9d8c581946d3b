"""The hooks of a project and its user, found on disk; an unreadable file loses only its own hooks.

User level is loaded before project level, each in the order of `places.list_sites`, folders by name: the
guide of the HOOK.md format loads "user-level hooks, project-level hooks (later overrides earlier for same
name)", and its specification runs hooks of one priority in that order. So a project cannot run a hook before
its user's hooks; it can only replace one of the same name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect, get
from hookport.base.folders import walk_upward
from hookport.base.paths import find_repository, make_resolver
from hookport.convert import pipeline
from hookport.convert.checks.places import locate_finding
from hookport.convert.checks.scripts import find_named_script, find_place_folder
from hookport.errors import InputError, spell_path
from hookport.findings import (
    Finding,
    FolderPassedOver,
    HookOverridden,
    NameTaken,
    NeverRuns,
    NoHookFile,
    NotManaged,
    OtherSettings,
)
from hookport.model.hooks import Hook
from hookport.project import salvage, sources
from hookport.project.agent_trust import spell_key
from hookport.project.copies import describe_run
from hookport.project.disk import Log, path_exists, read_data, read_head
from hookport.project.entries import find_entry_script
from hookport.project.places import Scope, find_home_folder, list_sites
from hookport.project.spots import (
    Folders,
    Spot,
    find_module_spots,
    find_scoped_spots,
    find_spots,
    is_generated,
    make_folders,
)
from hookport.project.switches import Switch, Switches
from hookport.shapes.dialect import Path as Way

_SHELL = re.compile(r"[$`*?\[\]{}~%\0]")


class HookEntry(NamedTuple):
    """A hook that may run, and its file; `package` is the folder of its root placeholder."""

    hook: Hook
    file: str
    place: str
    package: str
    scope: Scope
    scripts: tuple[str, ...]
    # Its agent reads no hook of the file, because of another error in it.
    dropped: bool = False
    # A setting, in any file, that switches it off.
    off: Switch | None = None
    # What it runs; this identifies copies of it in several agents' files.
    runs: str = ""


class Override(NamedTuple):
    """A hook of the user and the hooks of the project that take its place, once they are approved."""

    hook: HookEntry
    by: tuple[HookEntry, ...]


class Module(NamedTuple):
    """A module of code that an agent loads by itself: hookport neither runs nor converts it."""

    agent: str
    file: str
    scope: Scope

    @property
    def finding(self) -> Finding:
        """The finding that reports it."""
        return NotManaged.at("", agent=get(self.agent).title)._replace(file=self.file)


class Discovery(NamedTuple):
    """The hooks of a project in the order they were configured.

    `watched` lists the files and folders, also those not there yet, whose change may change the hooks.
    `scoped` are hooks of skills and subagents, which run while one of these is active: only the agent that
    has them knows when, so nobody else can run them. `unmanaged` are modules of code, which may be hooks.
    """

    root: str
    hooks: tuple[HookEntry, ...]
    findings: tuple[Finding, ...]
    watched: tuple[str, ...]
    overridden: tuple[Override, ...] = ()
    scoped: tuple[HookEntry, ...] = ()
    unmanaged: tuple[Module, ...] = ()


class _Unit(NamedTuple):
    """The hooks of one file, and the name by which the project overrides the user's, if any."""

    what: str
    name: str
    spot: Spot
    hooks: tuple[HookEntry, ...]


def find_project_root(cwd: str, env: Mapping[str, str]) -> str:
    """Find the repository of a folder, else the nearest folder with hooks, else the folder itself."""
    start = os.path.realpath(cwd)
    candidates = (str(folder) for folder in _walk_up(start, env) if _list_marks(folder))
    return find_repository(start, _find_last_folder(env)) or next(candidates, start)


def discover(cwd: str, env: Mapping[str, str]) -> Discovery:
    """Find every hook that may run for an agent working in a folder."""
    folders = make_folders(find_project_root(cwd, env), env)
    log = Log([], {})
    units: list[_Unit] = []
    read: set[tuple[str, str, Way]] = set()
    resolve = make_resolver()
    for spot in find_spots(folders, log):
        # A home that is also the project, or a link, leads to the same folder twice.
        real = (resolve(str(spot.file.parent)), spot.file.name, spot.dialects[0].shape.root)
        if real not in read:
            read.add(real)
            units += _read_spot(spot, folders, log)
    remaining, overridden = _merge_units(_apply_switches(units, folders, env, log), log)
    hooks = tuple(hook for unit in remaining for hook in unit.hooks)
    scoped = [
        entry
        for spot in find_scoped_spots(folders, log)
        for unit in _read_spot(spot, folders, log)
        for entry in unit.hooks
    ]
    log.findings.extend(_find_passed_over(cwd, folders.root, env))
    return Discovery(
        str(folders.root),
        hooks,
        tuple(log.findings),
        tuple(log.watched),
        tuple(overridden),
        tuple(scoped),
        find_modules(folders),
    )


def _apply_switches(units: list[_Unit], folders: Folders, env: Mapping[str, str], log: Log) -> list[_Unit]:
    """The units, with the settings that switch their hooks off."""
    switches = Switches(str(folders.root), env)
    for name in dict.fromkeys(entry.hook.dialect for unit in units for entry in unit.hooks):
        for file in switches.files(get(name)):
            log.watch(file)
        # Another file may overrule a switch, so the finding is about the hooks.
        keys = {spell_key(gate.key) for gate in get(name).gates}
        log.findings[:] = [
            finding for finding in log.findings if finding.code != NeverRuns.code or finding.where not in keys
        ]
    return [
        unit._replace(
            hooks=tuple(
                entry._replace(off=switches.of(entry.hook, entry.file, entry.scope)) for entry in unit.hooks
            )
        )
        for unit in units
    ]


def find_modules(folders: Folders) -> tuple[Module, ...]:
    """The code modules that agents load themselves, each once."""
    modules = {
        os.path.realpath(spot.file): Module(spot.dialects[0].id, str(spot.file), spot.scope)
        for spot in find_module_spots(folders, Log([], {}))
    }
    return tuple(modules.values())


def load(path: str, dialect: str | None, env: Mapping[str, str]) -> Discovery:
    """Read the hooks of one file or folder that a person named; InputError if nothing is readable."""
    full = Path(os.path.abspath(path))  # noqa: PTH100  (links stay: scripts are found beside the name)
    found_sources, problems = sources.find_all(full, dialect)
    # Files at a project's places make the folder above them a project, wherever it is.
    named = [
        find_place_folder(hook_source.dialect, Path(file), "project", "local")
        for hook_source in found_sources
        for file in hook_source.files
    ]
    root = next(filter(None, named), None) or find_project_root(
        str(full if full.is_dir() else full.parent), env
    )
    folders = make_folders(str(root), env)
    log = Log([], {})
    log.watch(full)
    log.add_problems(*problems)
    hooks: list[HookEntry] = []
    for source in found_sources:
        source_dialect = source.dialect
        files = [Path(name) for name in source.files]
        if source_dialect.shape.companions:
            files = [file for file in files if file.name == source_dialect.shape.file_name]
        spots = [
            Spot(
                file, source.package or _find_package(source_dialect, file), "project", "", (source_dialect,)
            )
            for file in files
        ]
        for file in files:
            log.watch(file)
        try:
            together = (
                None if source_dialect.shape.companions else pipeline.read(source.files, source_dialect)
            )
        except InputError:
            together = None
        if together is not None:
            hooks += _list_entries(together, spots, folders, log)
            continue
        units = [unit for spot in spots for unit in _read_spot(spot, folders, log)]
        hooks += [hook for unit in _merge_units(units, log)[0] for hook in unit.hooks]
    modules = find_modules(folders) if full.is_dir() else ()
    return Discovery(
        str(folders.root), tuple(hooks), tuple(log.findings), tuple(log.watched), unmanaged=modules
    )


def _find_package(dialect: Dialect, file: Path) -> Path:
    if dialect.shape.companions:
        return file.parent
    return find_place_folder(dialect, file, "plugin") or sources.find_root(file, dialect)


def _walk_up(cwd: str, env: Mapping[str, str]) -> Iterator[Path]:
    """Yield a folder and its parents, up to the user's home, which is a project only for itself."""
    return map(Path, walk_upward(os.path.realpath(cwd), _find_last_folder(env)))


def _find_last_folder(env: Mapping[str, str]) -> str:
    home = find_home_folder(env)
    return os.path.realpath(home) if home else ""


def _list_marks(folder: Path) -> list[str]:
    """The places of a project that exist in a folder."""
    starts = (site.path.partition("/*")[0] for site in list_sites() if site.scope == "project")
    folders = (start for start in dict.fromkeys(starts) if "/" in start and not start.startswith("plugins"))
    return [start for start in folders if path_exists(folder / start)]


def _find_passed_over(cwd: str, root: Path, env: Mapping[str, str]) -> Iterator[Finding]:
    for folder in _walk_up(cwd, env):
        if folder == root:
            return
        marks = [mark for mark in _list_marks(folder) if _may_have_hooks(folder / mark)]
        if marks:
            yield FolderPassedOver.at("", places=", ".join(marks), root=root)._replace(file=str(folder))


def _may_have_hooks(path: Path) -> bool:
    """Whether a place may have hooks: a settings file can exist for other reasons."""
    if not path.is_file():
        return True
    readers = [dialect for site in list_sites() if path.match(site.path) for dialect in site.dialects]
    try:
        data = read_data(path)
        readings = (
            [pipeline.read({str(path): data}, reader) for reader in readers] if data is not None else []
        )
    except InputError:
        return True
    return not readings or any(reading.decoded.manifest.hooks for reading in readings)


def _read_spot(spot: Spot, folders: Folders, log: Log) -> list[_Unit]:
    """The hooks of one file, if it exists; problems become findings."""
    log.watch(spot.file)
    data = None
    try:
        if spot.dialects[0].shape.companions:
            return _read_folder(spot, folders, log)
        data = read_data(spot.file)
        if data is not None and spot.dialects[0].shape.in_place and is_generated(spot.file):
            return []
        hooks = _list_entries(_decode_spot(spot, data, log), [spot], folders, log) if data is not None else ()
    except InputError as error:
        if len(spot.dialects) == 1 or data is None or _is_meant_for_hooks(data):
            log.add_problems(*error.problems)
        return []
    return [_Unit("plugin" if spot.name else "", spot.name, spot, tuple(hooks))]


def _read_folder(spot: Spot, folders: Folders, log: Log) -> list[_Unit]:
    """Read the hook of a folder with a script identified by name; neither body nor script is read."""
    dialect = spot.dialects[0]
    head = read_head(spot.file)
    if head is None:
        if not spot.name.startswith((".", "__")):
            log.findings.append(NoHookFile.at("")._replace(file=str(spot.package)))
        return []
    script = spot.package / dialect.shape.companions.removesuffix("*")
    reading = pipeline.read({str(spot.file): head, str(script): b""}, dialect)
    (hook,), (place,) = reading.decoded.manifest.hooks, reading.decoded.places
    entry, findings = find_entry_script(script.parent, script.name, hook.name, log)
    line, column = reading.documents[place.file].position(place.path) if findings else (0, 0)
    log.findings.extend(_locate_findings(reading))
    log.findings.extend(finding._replace(file=place.file, line=line, column=column) for finding in findings)
    if entry is None:
        return []
    hook = hook._replace(handler=hook.handler._replace(command=entry.command))
    scripts = (str(entry.path),)
    at, package = spell_path(place.path), str(spot.package)
    runs = describe_run(hook, dialect, spot.package, folders.root, folders.home)
    hook_entry = HookEntry(hook, place.file, at, package, spot.scope, scripts, runs=runs)
    return [_Unit("hook", hook.name, spot, (hook_entry,))]


def _decode_spot(spot: Spot, data: bytes, log: Log) -> pipeline.Reading:
    """Read a file in the best dialect of its place, without refused hooks; InputError if all are."""
    files = {str(spot.file): data}
    owners = (
        sources.filter_plugin_owners(spot.package, spot.dialects)
        if len(spot.dialects) > 1
        else [*spot.dialects]
    )
    best = sources.recognise(files, owners) or max(owners, key=lambda owner: owner.wire.precedence)
    # Another file may overrule a switch for all hooks of a file; `switches` decides.
    reading, refused = salvage.read(files, best._replace(shape=best.shape._replace(is_off=None)))
    log.add_problems(*refused)
    return reading._replace(is_partial=bool(refused))


def _is_meant_for_hooks(data: bytes) -> bool:
    """Whether a file with a common name, such as hooks.json, is meant to contain hooks."""
    text = data.replace(b"\0", b"")  # UTF-16 has one in every letter
    return any(f'"{key}"'.encode() in text for key in ("hooks", "spec")) or b"\nhooks:" in b"\n" + text


def _list_entries(
    reading: pipeline.Reading, spots: list[Spot], folders: Folders, log: Log
) -> list[HookEntry]:
    log.findings.extend(_locate_findings(reading))
    by_file = {str(spot.file): spot for spot in spots}
    entries: list[HookEntry] = []
    never = [
        finding
        for finding in reading.decoded.findings
        if finding.code == NeverRuns.code and finding.hook is None
    ]
    dropped = reading.is_partial or bool(never)
    for hook, place in zip(reading.decoded.manifest.hooks, reading.decoded.places, strict=True):
        spot = by_file[place.file]
        if reading.dialect.shape.in_place and spot.scope == "user":
            hook = sources.move_hook_home(hook, reading.dialect)  # noqa: PLW2901
        scripts = _find_scripts(hook, reading.dialect, spot.package, folders)
        if reading.dialect.shape.in_place and not place.path:
            scripts = tuple(dict.fromkeys((*scripts, place.file)))
        at, package = spell_path(place.path), str(spot.package)
        runs = describe_run(hook, reading.dialect, spot.package, folders.root, folders.home)
        entries.append(HookEntry(hook, place.file, at, package, spot.scope, scripts, dropped, runs=runs))
    return entries


def _locate_findings(reading: pipeline.Reading) -> Iterator[Finding]:
    # Other content of a settings file matters only for conversions.
    findings = (finding for finding in reading.decoded.findings if finding.code != OtherSettings.code)
    # The number of a hook within one file would be read as one within all.
    return (locate_finding(finding, reading)._replace(hook=None) for finding in findings)


def _find_scripts(hook: Hook, dialect: Dialect, package: Path, folders: Folders) -> tuple[str, ...]:
    """The files that the commands of a hook start, as far as their words show."""
    scripts: dict[str, None] = {}
    starts = (
        *((spelling, package) for spelling in dialect.package_dir),
        *((spelling, folders.root) for spelling in dialect.project_dir),
        *((spelling, folders.home) for spelling in ("~", "$HOME", "${HOME}")),
        ("", (package if dialect.starts_in_package else folders.root) / hook.handler.cwd),
    )
    for command in (hook.handler.command, *hook.handler.platform.values()):
        script = find_named_script(command)
        if script is None:
            continue
        start, folder = next(pair for pair in starts if not pair[0] or script.word.startswith(f"{pair[0]}/"))
        word = script.word.removeprefix(f"{start}/") if start else script.word
        if folder and not _SHELL.search(word + ("" if start else hook.handler.cwd)):
            scripts[os.path.normpath(folder / word)] = None
    return tuple(scripts)


def _merge_units(units: list[_Unit], log: Log) -> tuple[list[_Unit], list[Override]]:
    """The units without the user's that the project overrides; a unit that runs nothing overrides nothing."""
    project = {(unit.what, unit.name): unit for unit in units if unit.hooks and unit.spot.scope == "project"}
    first: dict[tuple[str, str], _Unit] = {}
    remaining: list[_Unit] = []
    overridden: list[Override] = []
    for unit in units:
        name = (unit.what, unit.name)
        if not (unit.what and unit.hooks):
            remaining.append(unit)
        elif unit.spot.scope == "user" and name in project:
            log.findings.append(_note_other_unit(HookOverridden, unit, project[name]))
            overridden += [Override(hook, project[name].hooks) for hook in unit.hooks]
        else:
            remaining.append(unit)
            other = first.setdefault(name, unit)
            if other.spot.package != unit.spot.package:
                log.findings.append(_note_other_unit(NameTaken, unit, other))
    return remaining, overridden


def _note_other_unit(kind: type[HookOverridden | NameTaken], unit: _Unit, other: _Unit) -> Finding:
    finding = kind.at("", what=unit.what, name=unit.name, other=other.spot.file)
    return finding._replace(file=str(unit.spot.file))
