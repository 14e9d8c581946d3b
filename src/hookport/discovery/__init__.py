"""The hooks that run in a project, found on disk; a file that cannot be read costs its own hooks only.

User level is loaded before project level, each in the order of `Dialect.runs_from`, folders by their names:
the guide of the HOOK.md format loads "user-level hooks, project-level hooks (later overrides earlier for same
name)", and its specification runs hooks of one priority in that order. So a project cannot put a hook before
those of its user; it can only put one in the place of another of the same name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from hookport import convert, salvage, sources
from hookport.checks.places import placed
from hookport.checks.scripts import above, named_script
from hookport.dialects import Dialect, get, names
from hookport.discovery.disk import Log, data_of, head_of, is_folder, is_there, names_in
from hookport.discovery.entries import entry_of
from hookport.errors import InputError, Problem, spell_path
from hookport.findings import Finding, FolderPassedOver, HookOverridden, NameTaken, NoHookFile
from hookport.model.hooks import Hook

Scope = Literal["project", "user"]
_SHELL = re.compile(r"[$`*?\[\]{}~%\0]")


class Found(NamedTuple):
    """One hook that may run and where it lives; `package` is the folder that its own root stands for."""

    hook: Hook
    file: str
    place: str
    package: str
    scope: Scope
    scripts: tuple[str, ...]


class Overridden(NamedTuple):
    """A hook of the user and the hooks of the project that take its place, once they are approved."""

    hook: Found
    by: tuple[Found, ...]


class Discovery(NamedTuple):
    """The hooks of a project in the order they were configured.

    `watched` lists the files and folders, also those not there yet, whose change may change the hooks.
    """

    root: str
    hooks: tuple[Found, ...]
    findings: tuple[Finding, ...]
    watched: tuple[str, ...]
    overridden: tuple[Overridden, ...] = ()


class _Folders(NamedTuple):
    """What places start from; None where there is none."""

    root: Path
    home: Path | None
    config: Path | None


class _Place(NamedTuple):
    """Where files may be, and the dialects that they may be in."""

    scope: Scope
    path: str
    dialects: tuple[Dialect, ...]


class _Spot(NamedTuple):
    """One file of a place; `name` is the folder that the star of the place stands for."""

    file: Path
    package: Path
    scope: Scope
    name: str
    dialects: tuple[Dialect, ...]


class _Unit(NamedTuple):
    """The hooks of one file, and the name by which the project overrides those of the user, if any."""

    what: str
    name: str
    spot: _Spot
    hooks: tuple[Found, ...]


def project_root(cwd: str, env: Mapping[str, str]) -> str:
    """The repository that a folder is in, else the nearest folder with hooks, else the folder itself."""
    folders = _upward(cwd, env)
    repository = next((folder for folder in folders if is_there(folder / ".git")), None)
    return str(repository or next((folder for folder in folders if _marks(folder)), folders[0]))


def discover(cwd: str, env: Mapping[str, str]) -> Discovery:
    """Every hook that may run for an agent that works in a folder."""
    folders = _folders(project_root(cwd, env), env)
    log = Log([], {})
    units: list[_Unit] = []
    read: set[tuple[str, str]] = set()
    for place in _places():
        for spot in _spots(place, folders, log):
            # A home that is also the project, or a link, leads to the same folder twice.
            real = (os.path.realpath(spot.file.parent), spot.file.name)
            if real not in read:
                read.add(real)
                units += _read(spot, folders, log)
    kept, overridden = _merged(units, log)
    hooks = tuple(hook for unit in kept for hook in unit.hooks)
    log.findings.extend(_passed_over(cwd, folders.root, env))
    return Discovery(str(folders.root), hooks, tuple(log.findings), tuple(log.watched), tuple(overridden))


def load(path: str, dialect: str | None, env: Mapping[str, str]) -> Discovery:
    """The hooks of one file or folder that a person named; InputError if nothing there can be read."""
    full = Path(os.path.abspath(path))  # noqa: PTH100  (links stay: scripts are found beside the name)
    found, problems = sources.find_all(full, dialect)
    # Files that stand where a project has them make the folder above them one, wherever it lies.
    named = [above(one.dialect, Path(file), "project", "local") for one in found for file in one.files]
    root = next(filter(None, named), None) or project_root(str(full if full.is_dir() else full.parent), env)
    folders = _folders(str(root), env)
    log = Log([], {})
    log.watch(full)
    log.broken(*problems)
    hooks: list[Found] = []
    for source in found:
        own = source.dialect
        files = [Path(name) for name in source.files]
        if own.companions:
            files = [file for file in files if file.name == own.file_name]
        spots = [_Spot(file, _package(own, file), "project", "", (own,)) for file in files]
        for file in files:
            log.watch(file)
        try:
            together = None if own.companions else convert.read(source.files, own)
        except InputError:
            together = None
        if together is not None:
            hooks += _found(together, spots, folders, log)
            continue
        units = [unit for spot in spots for unit in _read(spot, folders, log)]
        hooks += [hook for unit in _merged(units, log)[0] for hook in unit.hooks]
    return Discovery(str(folders.root), tuple(hooks), tuple(log.findings), tuple(log.watched))


def _package(dialect: Dialect, file: Path) -> Path:
    if dialect.companions:
        return file.parent
    return above(dialect, file, "plugin") or sources.root_of(file, dialect)


@cache
def _places() -> tuple[_Place, ...]:
    """Every place, those of the user first."""
    places: dict[tuple[Scope, str], list[Dialect]] = {}
    for dialect in map(get, names()):
        for one in dialect.runs_from:
            scope: Scope = "user" if one.scope == "user" else "project"
            places.setdefault((scope, one.path), []).append(dialect)
    found = [_Place(scope, path, tuple(dialects)) for (scope, path), dialects in places.items()]
    return tuple(sorted(found, key=lambda place: place.scope != "user"))


def home_folder(env: Mapping[str, str]) -> Path | None:
    """The user's home; None where there is none."""
    home = Path(env.get("HOME") or env.get("USERPROFILE") or "~")
    try:
        home = home.expanduser()
    except RuntimeError:  # a user without a home
        return None
    return home if home.is_absolute() else None


def config_folder(env: Mapping[str, str]) -> Path | None:
    """Where the user's own files are; None where the environment names no place."""
    config = Path(env.get("XDG_CONFIG_HOME", ""))
    if config.is_absolute():  # the XDG specification ignores any other
        return config
    home = home_folder(env)
    return home and home / ".config"


def _folders(root: str, env: Mapping[str, str]) -> _Folders:
    return _Folders(Path(root), home_folder(env), config_folder(env))


def _upward(cwd: str, env: Mapping[str, str]) -> list[Path]:
    """A folder and those above it, up to the user's home, which is a project only for itself."""
    here, home = Path(os.path.realpath(cwd)), home_folder(env)
    end = Path(os.path.realpath(home)) if home else None
    folders = [here]
    for folder in here.parents if here != end else ():
        if folder == end:
            break
        folders.append(folder)
    return folders


def _marks(folder: Path) -> list[str]:
    """The places of a project that a folder has."""
    starts = (place.path.partition("/*")[0] for place in _places() if place.scope == "project")
    return [start for start in starts if is_there(folder / start)]


def _passed_over(cwd: str, root: Path, env: Mapping[str, str]) -> Iterator[Finding]:
    for folder in _upward(cwd, env):
        if folder == root:
            return
        marks = _marks(folder)
        if marks:
            yield FolderPassedOver.at("", places=", ".join(marks), root=root)._replace(file=str(folder))


def _spots(place: _Place, folders: _Folders, log: Log) -> Iterator[_Spot]:
    start, star, rest = place.path.partition("/*/")
    roots = (("~/.config/", folders.config), ("~/", folders.home), ("", folders.root))
    prefix, root = next(pair for pair in roots if start.startswith(pair[0]))
    if root is None:
        return
    above = root / start.removeprefix(prefix)
    if not star:
        package = folders.root if place.scope == "project" else above.parent
        yield _Spot(above, package, place.scope, "", place.dialects)
        return
    log.watch(above)
    for name in names_in(above, log):
        if is_folder(above / name, log):
            yield _Spot(above / name / rest, above / name, place.scope, name, place.dialects)


def _read(spot: _Spot, folders: _Folders, log: Log) -> list[_Unit]:
    """The hooks of one file, if it is there; what is wrong with it is a finding."""
    log.watch(spot.file)
    try:
        if spot.dialects[0].companions:
            return _read_folder(spot, log)
        data = data_of(spot.file)
        hooks = _found(_reading(spot, data, log), [spot], folders, log) if data is not None else ()
    except InputError as error:
        log.broken(*error.problems)
        return []
    return [_Unit("plugin" if spot.name else "", spot.name, spot, tuple(hooks))]


def _read_folder(spot: _Spot, log: Log) -> list[_Unit]:
    """The hook of a folder whose script is known by its name; neither its body nor the script is read."""
    dialect = spot.dialects[0]
    head = head_of(spot.file)
    if head is None:
        if not spot.name.startswith((".", "__")):
            log.findings.append(NoHookFile.at("")._replace(file=str(spot.package)))
        return []
    script = spot.package / dialect.companions.removesuffix("*")
    reading = convert.read({str(spot.file): head, str(script): b""}, dialect)
    (hook,), (place,) = reading.decoded.manifest.hooks, reading.decoded.places
    entry, told = entry_of(script.parent, script.name, hook.name, log)
    line, column = reading.documents[place.file].position(place.path) if told else (0, 0)
    log.findings.extend(_placed(reading))
    log.findings.extend(one._replace(file=place.file, line=line, column=column) for one in told)
    if entry is None:
        return []
    hook = hook._replace(handler=hook.handler._replace(command=entry.command))
    scripts = (str(entry.path),)
    found = Found(hook, place.file, spell_path(place.path), str(spot.package), spot.scope, scripts)
    return [_Unit("hook", hook.name, spot, (found,))]


def _reading(spot: _Spot, data: bytes, log: Log) -> convert.Reading:
    """The file in the dialect of its place that fits best, without hooks it refuses; InputError if all."""
    fits: list[tuple[tuple[int, ...], convert.Reading | InputError, list[Problem]]] = []
    for number, dialect in enumerate(spot.dialects):
        reading: convert.Reading | InputError
        problems: list[Problem] = []
        try:
            reading, problems = salvage.read({str(spot.file): data}, dialect)
        except InputError as error:
            reading = error
        fit = _fit(dialect, reading, data)
        fits.append(((*fit, -len(problems), -number), reading, problems))
    _, best, refused = max(fits, key=lambda fit: fit[0])
    if isinstance(best, InputError):
        raise best
    log.broken(*refused)
    return best


def _fit(dialect: Dialect, reading: convert.Reading | InputError, data: bytes) -> tuple[int, ...]:
    """How well a dialect fits: its events are there, its roots, its own keys; little is foreign to it.

    A file with no event of any dialect and the keys that one of them writes belongs to that one, although it
    refuses the file: another would ignore the hooks, and a guard would be lost without an error.
    """
    keys = sum(f'"{key}"'.encode() in data for key in dialect.root_keys)
    if isinstance(reading, InputError):
        return 0, 0, keys, -1, 0
    hooks = reading.decoded.manifest.hooks
    known = sum(":" not in hook.event for hook in hooks)
    rooted = any(root.encode() in data for root in (*dialect.package_dir, *dialect.project_dir))
    foreign = sum(len(hook.provider_data.get(dialect.id, ())) for hook in hooks)
    return bool(known), rooted, keys, 2 * known - len(hooks), -foreign


def _found(reading: convert.Reading, spots: list[_Spot], folders: _Folders, log: Log) -> list[Found]:
    log.findings.extend(_placed(reading))
    by_file = {str(spot.file): spot for spot in spots}
    found: list[Found] = []
    for hook, place in zip(reading.decoded.manifest.hooks, reading.decoded.places, strict=True):
        spot = by_file[place.file]
        scripts = _scripts(hook, reading.dialect, spot.package, folders)
        found.append(Found(hook, place.file, spell_path(place.path), str(spot.package), spot.scope, scripts))
    return found


def _placed(reading: convert.Reading) -> Iterator[Finding]:
    # The number of a hook within one file would be read as one within all.
    return (placed(finding, reading)._replace(hook=None) for finding in reading.decoded.findings)


def _scripts(hook: Hook, dialect: Dialect, package: Path, folders: _Folders) -> tuple[str, ...]:
    """The files that the commands of a hook start, as far as their words tell."""
    found: dict[str, None] = {}
    starts = (
        *((spelling, package) for spelling in dialect.package_dir),
        *((spelling, folders.root) for spelling in dialect.project_dir),
        *((spelling, folders.home) for spelling in ("~", "$HOME", "${HOME}")),
        ("", (package if dialect.script_rules else folders.root) / hook.handler.cwd),
    )
    for command in (hook.handler.command, *hook.handler.platform.values()):
        script = named_script(command)
        if script is None:
            continue
        start, folder = next(pair for pair in starts if not pair[0] or script.word.startswith(f"{pair[0]}/"))
        word = script.word.removeprefix(f"{start}/") if start else script.word
        if folder and not _SHELL.search(word + ("" if start else hook.handler.cwd)):
            found[os.path.normpath(folder / word)] = None
    return tuple(found)


def _merged(units: list[_Unit], log: Log) -> tuple[list[_Unit], list[Overridden]]:
    """The units but those of the user that the project overrides; what runs nothing overrides nothing."""
    project = {(unit.what, unit.name): unit for unit in units if unit.hooks and unit.spot.scope == "project"}
    first: dict[tuple[str, str], _Unit] = {}
    kept: list[_Unit] = []
    overridden: list[Overridden] = []
    for unit in units:
        name = (unit.what, unit.name)
        if not (unit.what and unit.hooks):
            kept.append(unit)
        elif unit.spot.scope == "user" and name in project:
            log.findings.append(_beside(HookOverridden, unit, project[name]))
            overridden += [Overridden(hook, project[name].hooks) for hook in unit.hooks]
        else:
            kept.append(unit)
            other = first.setdefault(name, unit)
            if other is not unit:
                log.findings.append(_beside(NameTaken, unit, other))
    return kept, overridden


def _beside(kind: type[HookOverridden | NameTaken], unit: _Unit, other: _Unit) -> Finding:
    finding = kind.at("", what=unit.what, name=unit.name, other=other.spot.file)
    return finding._replace(file=str(unit.spot.file))
