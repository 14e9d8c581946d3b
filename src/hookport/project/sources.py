"""Find hooks on disk: which files belong to a source, which dialect they are, which scripts they run."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from hookport import convert, formats
from hookport.checks.scripts import above, folders_of, standing
from hookport.dialects import Dialect, get, names
from hookport.errors import InputError, Problem, UsageError
from hookport.model.hooks import Hook
from hookport.model.tools import TOOLS
from hookport.project import salvage
from hookport.project.disk import Log
from hookport.project.places import manifest_reader, manifest_sites, scoped_sites, sites
from hookport.project.spots import Folders, named_files, object_in, spots_of

LARGEST = 32 * 1024 * 1024
# How deep in a plugin a file of hooks may be.
MOST_STEPS = 4
SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__"})
_SCRIPT = re.compile(r"[\w.~/$\{\}@+-]*[\w-]+(?:\.[A-Za-z0-9]{1,4}|/run)\b")


class Source(NamedTuple):
    """The files of one source and the folder that its paths start from."""

    dialect: Dialect
    files: Mapping[str, bytes]
    root: Path
    recognised: bool


def find(path: Path, dialect: str | None = None) -> Source:
    """The one source at a path; its dialect is recognised if it was not named."""
    found, problems = find_all(path, dialect)
    if problems:
        raise InputError(*problems)
    if len(found) > 1:
        several = ", ".join(source.dialect.id for source in found)
        raise UsageError(f"{path}: holds hooks of {several}. Say which with --from.")
    return found[0]


def find_all(path: Path, dialect: str | None = None) -> tuple[list[Source], list[Problem]]:
    """Every source at a path, one per dialect, and what is wrong with files that no dialect can read."""
    if not path.exists():
        raise InputError(Problem("does not exist", file=str(path)))
    if dialect:
        named = get(dialect)
        files = _files(path, [named])
        if not files:
            places = ", ".join(place.path for place in named.locations)
            raise InputError(Problem(f"{named.id} has no hooks there (looked for {places})", file=str(path)))
        return [Source(named, files, _root(path, named, files), recognised=False)], []
    contents = _files(path, [get(name) for name in names()])
    owners = {name: owners_of(name) for name in contents}
    parts = {part for name in contents for part in _companions(name, owners[name], contents)}
    chosen: dict[tuple[str, ...], tuple[Dialect, dict[str, bytes]]] = {}
    problems: list[Problem] = []
    for name in (name for name in contents if name not in parts):
        own = {name: contents[name], **_companions(name, owners[name], contents)}
        best = recognise(own, owners[name])
        if best:
            plugin = _named_by_plugin(_absolute(name))
            key = (best.id, str(plugin.package) if plugin else "", *best.root)
            chosen.setdefault(key, (best, {}))[1].update(own)
        elif path.is_file() or not _is_unrelated(own, name, owners[name]):
            problems += _why(own, name, owners[name])
    if not chosen and not problems:
        raise InputError(Problem("no hooks of any dialect are there", file=str(path)))
    found = [
        Source(best, files, Path(key[1]) if key[1] else _root(path, best, files), recognised=True)
        for key, (best, files) in chosen.items()
    ]
    return found, problems


def owners_of(name: str) -> list[Dialect]:
    """The dialects at whose own place a file stands; several share a place, and most files stand nowhere."""
    full = _absolute(name)
    named = _named_by_plugin(full)
    if named:
        return [named.dialect]
    depth, owners, package = _standing_at(full)
    if depth > 1:
        return _of_plugin(full, owners, package)
    # A bare name, such as hooks.json, is no place: too many call their files so. One of its own says enough.
    return [one for one in map(get, names()) if one.file_name == full.name]


@cache
def _patterns() -> tuple[tuple[str, tuple[Dialect, ...], str], ...]:
    """Every place, whose it is, and the plugin's folder in it: those of `places`, and those of programs."""
    each = (*sites(), *scoped_sites(), *manifest_sites())
    found = [(site.path, site.dialects, site.package) for site in each]
    known = {path for path, _, _ in found}
    for dialect in map(get, names()):
        rows = [place for place in dialect.locations if place.scope not in ("system", "plugin")]
        found += [(place.path, (dialect,), "") for place in rows if place.path not in known]
    return tuple(found)


@lru_cache(maxsize=1024)
def _standing_at(full: Path) -> tuple[int, tuple[Dialect, ...], Path | None]:
    """How many parts the place has that says most about a file, whose it is, and the plugin's folder."""
    best: tuple[tuple[int, int], tuple[Dialect, ...], Path | None] = ((0, 0), (), None)
    for pattern, dialects, package in _patterns():
        parts = pattern.removeprefix("~/").split("/")
        tail = full.parts[-len(parts) :]
        if len(tail) < len(parts) or not all(map(fnmatch.fnmatchcase, tail, parts)):
            continue
        weight = (len(parts), sum("*" not in part for part in parts))
        steps = len(package.removeprefix("~/").split("/")) if package not in ("", ".") else 0
        folder = Path(*full.parts[: len(full.parts) - len(parts) + steps]) if package else None
        if weight == best[0]:
            more = tuple(one for one in dialects if one not in best[1])
            best = (weight, (*best[1], *more), best[2] or folder)
        best = max(best, (weight, dialects, folder), key=lambda one: one[0])
    return best[0][0], best[1], best[2]


def _of_plugin(full: Path, owners: tuple[Dialect, ...], package: Path | None) -> list[Dialect]:
    """The owners of a file; in a plugin for one agent that agent's alone, of a manifest its inside."""
    if package is None:
        return list(owners)
    if len(owners) == 1 and any(full == package / name for name in owners[0].manifests):
        return [manifest_reader(owners[0], object_in(full))]
    return written_for(package, owners)


def written_for(package: Path, owners: Sequence[Dialect]) -> list[Dialect]:
    """The dialects that a plugin's file may be in: of a plugin for one agent, that agent's.

    An agent whose manifest names other files for its hooks does not read this one.
    """
    manifests = {
        one.id: [package / name for name in one.manifests if (package / name).is_file()] for one in owners
    }
    elsewhere = [
        name
        for name, files in manifests.items()
        if any(named_files(object_in(file).get("hooks")) for file in files)
    ]
    left = [one for one in owners if one.id not in elsewhere]
    named = [one for one in left if manifests[one.id]]
    return named if len(named) == 1 else left or list(owners)


class _Named(NamedTuple):
    """A file that the manifest of a plugin names for its hooks."""

    file: Path
    dialect: Dialect
    package: Path


def _named_above(folder: Path) -> Iterator[_Named]:
    """What manifests of plugins name, of a folder and those above it."""
    for package in (folder, *folder.parents[:MOST_STEPS]):
        for dialect in map(get, names()):
            for name in dialect.manifests:
                for one in named_files(object_in(package / name).get("hooks")):
                    yield _Named(package / one, dialect, package)


def _named_by_plugin(full: Path) -> _Named | None:
    return next((one for one in _named_above(full.parent) if one.file == full), None)


def _companions(name: str, dialects: list[Dialect], contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files that belong to a file, by what its dialects say."""
    folder = name.rpartition("/")[0]
    patterns = [
        f"{folder}/{one.companions}" if folder else one.companions for one in dialects if one.companions
    ]
    return {
        part: data for part, data in contents.items() if any(fnmatch.fnmatchcase(part, p) for p in patterns)
    }


def _signed(dialect: Dialect, files: Mapping[str, bytes]) -> bool:
    """Whether a file says by its name or its own words which dialect it is."""
    if dialect.file_name and any(name.rpartition("/")[2] == dialect.file_name for name in files):
        return True
    key, start = dialect.signature
    if not key:
        return False
    try:
        trees = [document.tree for document in convert.parse(files, dialect).values()]
    except InputError:
        return False
    return any(isinstance(tree, Mapping) and str(tree.get(key, "")).startswith(start) for tree in trees)


def _is_unrelated(files: Mapping[str, bytes], name: str, owners: list[Dialect]) -> bool:
    """Whether a file that a folder has by chance, since it stands nowhere, says nothing of hooks."""
    if owners or any(_signed(one, files) for one in map(get, names())):
        return False
    try:
        tree = convert.parse({name: files[name]})[name].tree
    except InputError:
        return False
    return not (isinstance(tree, Mapping) and "hooks" in tree)


def _why(files: Mapping[str, bytes], name: str, owners: list[Dialect]) -> list[Problem]:
    """What is wrong with a file that no dialect reads, as the dialect that it most likely is would say it."""
    signed = [one for one in owners or map(get, names()) if _signed(one, files)]
    likely = max(signed or owners, key=lambda one: one.precedence, default=None)
    if likely:
        try:
            convert.read(files, likely)
        except InputError as error:
            return list(error.problems)
    try:
        convert.parse({name: files[name]})
    except InputError as error:
        return list(error.problems)
    return [Problem("not recognised as hooks of any dialect; say which with --from", file=name)]


def recognise(files: Mapping[str, bytes], owners: list[Dialect]) -> Dialect | None:
    """The dialect at whose place files stand; what they say decides among several, or where there is none.

    Of equals it is the one that is read by most agents.
    """
    everyone = [get(name) for name in names()]
    if not owners:
        kinds = {formats.kind_of(name) for name in files}
        return _best(files, [one for one in everyone if kinds & _kinds(one)], least=1)
    # A place that formats share, such as hooks/hooks.json, is no agent's own: any folder may be called so.
    is_shared = len(owners) > 1 and any(one.kind == "format" for one in owners)
    signed = [one for one in everyone if is_shared and one not in owners and _signed(one, files)]
    return _best(files, [*owners, *signed])


def _kinds(dialect: Dialect) -> set[str]:
    """The kinds of files that a dialect has."""
    return {formats.kind_of(place.path) for place in (*dialect.locations, *dialect.runs_from)}


def _best(files: Mapping[str, bytes], dialects: list[Dialect], least: int | None = None) -> Dialect | None:
    is_shared = len(dialects) > 1 and any(one.kind == "format" for one in dialects)
    scores = {one.id: score(one, files, is_shared=is_shared) for one in dialects}
    fits = [(one, score_) for one in dialects if (score_ := scores[one.id]) is not None]
    best, most = max(fits, key=lambda fit: (fit[1], fit[0].precedence), default=(None, 0))
    if best is not None and most < 0:
        # Not one event is known: a format that refuses the file and has its keys would not lose a guard.
        refusing = [one for one in dialects if scores[one.id] is None and _has_keys(one, files)]
        best = next((one for one in refusing if one.kind == "format"), best)
    return best if best is not None and (least is None or most >= least) else None


def _has_keys(dialect: Dialect, files: Mapping[str, bytes]) -> bool:
    return any(f'"{key}"'.encode() in data for data in files.values() for key in dialect.root_keys)


def read(source: Source) -> convert.Reading:
    """The manifest of a source, with the text of the scripts that its commands name."""
    reading = convert.read(source.files, source.dialect)
    hooks: dict[str, list[Hook]] = {}
    for hook, place in zip(reading.decoded.manifest.hooks, reading.decoded.places, strict=True):
        hooks.setdefault(place.file, []).append(hook)
    found: dict[str, str] = {}
    for file, those in hooks.items():
        folders = folders_of(source.dialect, file, source.root)
        found |= scripts(folders.project, tuple(those), source.dialect, folders.package)
    return reading._replace(found_scripts=found)


def root_of(path: Path, dialect: Dialect) -> Path:
    """The project that a file belongs to: the folder its known place is relative to."""
    if path.is_dir():
        return path
    full = _absolute(path)
    named = _named_by_plugin(full)
    return named.package if named else above(dialect, full) or full.parent


def _root(path: Path, dialect: Dialect, files: Mapping[str, bytes]) -> Path:
    """The folder that the paths of a source start from: above the one given where that is within a place."""
    roots = [root_of(Path(name), dialect) for name in files]
    top = _absolute(path)
    return path if path.is_dir() and all(root.is_relative_to(top) for root in roots) else roots[0]


def _absolute(path: Path | str) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  (links stay: the name that is read is the place)


def scripts(
    root: Path, hooks: tuple[Hook, ...], dialect: Dialect, package: Path | None = None
) -> dict[str, str]:
    """The text of every script that a command names and that is there, by the name in the command."""
    found: dict[str, str] = {}
    starts = [(spelling, package or root) for spelling in dialect.package_dir]
    starts += [(spelling, root) for spelling in dialect.project_dir]
    for hook in hooks:
        for word in _SCRIPT.findall(" ".join((hook.handler.command, *hook.handler.platform.values()))):
            start, folder = next((pair for pair in starts if word.startswith(pair[0])), ("", root))
            bare = word.removeprefix(start).lstrip("/") if start else word
            text = script_text(_from_home(bare) if bare.startswith("~") else folder / bare)
            if text is not None:
                found[word] = text
    return found


def _from_home(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:  # nobody of that name, or no home at all
        return Path(path)


def script_text(file: str | Path) -> str | None:
    """The text of a script, if it is there and no larger than scripts are."""
    path = Path(file)
    try:
        if path.is_file() and path.stat().st_size < 1024 * 1024:
            return path.read_text("utf-8", "replace")
    except OSError:
        return None
    return None


def _files(path: Path, dialects: list[Dialect]) -> dict[str, bytes]:
    """The files of dialects at a path: the file itself, or those in the places where the dialects look."""
    if path.is_file():
        return _with_companions(path, dialects)
    found: dict[str, bytes] = {}
    empty: dict[str, bytes] = {}
    named: list[Path] = []
    wanted = {one.id for one in dialects}
    patterns = [
        place.removeprefix("~/") for place, owners, _ in _patterns() if wanted & {one.id for one in owners}
    ]
    folders = _absolute(path).parts
    inside = [below for pattern in patterns for below in _below(folders, pattern.split("/"))]
    for pattern in dict.fromkeys(inside):
        for file in _glob(path, pattern):
            if not _is_empty_manifest(_absolute(file)):
                found.update(_with_companions(file, dialects))
                continue
            empty.update(_with_companions(file, dialects))
            named += [one.file for one in _named_above(_absolute(file).parents[1])]
    known, top = {_absolute(name) for name in found}, _absolute(path)
    spots = spots_of(Folders(path, path, {"HOME": str(top)}), Log([], {}))
    more = [(_absolute(spot.file), spot.dialects) for spot in spots]
    more += [(one.file, (one.dialect,)) for one in _named_above(top) if one.file.is_relative_to(top)]
    more += [(file, tuple(owners_of(str(file)))) for file in named if file.is_relative_to(top)]
    for full, owners in more:
        if full not in known and full.is_file() and wanted & {one.id for one in owners}:
            known.add(full)
            found.update(_with_companions(path / full.relative_to(top), dialects))
    for one in dialects:
        if one.file_name and not any(Path(name).name == one.file_name for name in found):
            for file in _walk(path, one.file_name):
                found.update(_with_companions(file, dialects))
    return found or empty


def _is_empty_manifest(full: Path) -> bool:
    """Whether a file is the manifest of a plugin that has no hooks inside."""
    names_ = [name for one in map(get, names()) for name in one.manifests]
    is_manifest = any(full.as_posix().endswith(f"/{name}") for name in names_)
    return is_manifest and not isinstance(object_in(full).get("hooks"), dict)


def _below(folders: tuple[str, ...], parts: list[str]) -> Iterator[str]:
    """What a place is within a folder: all of it, or the rest of it where the folder is its beginning."""
    for depth in range(min(len(parts), len(folders))):
        if all(map(fnmatch.fnmatchcase, folders[len(folders) - depth :], parts[:depth])):
            yield "/".join(parts[depth:])


def _with_companions(file: Path, dialects: list[Dialect]) -> dict[str, bytes]:
    """A file and those that belong to it; its name shows the place that it stands at."""
    full = _absolute(file)
    if len(file.parts) < _standing_at(full)[0]:
        file = full
    files = {file.as_posix(): _bytes(file)}
    for one in dialects:
        if one.companions and file.name == one.file_name:
            parts = sorted(part for part in file.parent.glob(one.companions) if part.is_file())
            files.update((part.as_posix(), _bytes(part)) for part in parts)
    return files


def _bytes(file: Path) -> bytes:
    try:
        if file.exists() and not file.is_file():  # a pipe would be waited for
            raise InputError(Problem("is not a plain file, so it was not read", file=str(file)))
        if file.stat().st_size > LARGEST:
            raise InputError(
                Problem(f"is larger than {LARGEST // 1024 // 1024} MiB, so it was not read", file=str(file))
            )
        return file.read_bytes()
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", file=str(file))) from None


def _glob(root: Path, pattern: str) -> list[Path]:
    if "*" in pattern:
        return sorted(file for file in root.glob(pattern) if file.is_file())
    file = root / pattern
    return [file] if file.is_file() else []


def _walk(root: Path, name: str) -> Iterator[Path]:
    for folder, inside, files in os.walk(root):
        inside[:] = sorted(set(inside) - SKIPPED)
        if name in files:
            yield Path(folder) / name


def score(dialect: Dialect, files: Mapping[str, bytes], *, is_shared: bool = False) -> int | None:
    """How much files look like a dialect: its events, its tools, its placeholders; None if they cannot be.

    `is_shared`: formats have files there too, so that a key that agents write says nothing.
    """
    try:
        reading, problems = salvage.read(files, dialect)
    except InputError:
        return None
    hooks = reading.decoded.manifest.hooks
    is_signed = _signed(dialect, files)
    if not hooks and not is_signed:
        return 0
    known = sum(1 for hook in hooks if ":" not in hook.event)
    unknown = len(hooks) - known
    tools = sum(1 for hook in hooks for term in hook.matcher if term.kind == "tool" and term.value in TOOLS)
    strange = sum(
        1 for hook in hooks for term in hook.matcher if term.kind == "tool" and term.value not in TOOLS
    )
    text = " ".join(hook.handler.command for hook in hooks)
    rooted = any(
        spelling in text for spelling in (*dialect.project_dir, *dialect.package_dir) if len(spelling) > 1
    )
    # Fields, and spellings of events, that the dialect reads and would not write itself.
    foreign = sum(len(hook.provider_data.get(dialect.id, ())) for hook in hooks)
    keys = _has_keys(dialect, files) and (dialect.kind == "format" or not is_shared)
    # A name that formats share, such as hooks.json, says little where not one event is the dialect's.
    is_named = known > 0 and any(standing(dialect, _absolute(name)) for name in files)
    told = 6 * known - 10 * unknown + 2 * tools - 3 * strange + 3 * keys - foreign - 10 * len(problems)
    return 100 * is_named + 100 * is_signed + 30 * rooted + told + 1
