"""Find hooks on disk: which files belong to a source, which dialect they are, which scripts they run."""

from __future__ import annotations

import fnmatch
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from hookport import documents
from hookport.agents import Dialect, get, list_dialects
from hookport.convert import pipeline
from hookport.convert.checks.scripts import above, folders_of, standing
from hookport.convert.degrade.wrapping import unwrapped
from hookport.errors import InputError, Problem, UsageError
from hookport.model.hooks import NOTHING, Hook
from hookport.model.tools import TOOLS
from hookport.project import salvage
from hookport.project.covered import scripts_of
from hookport.project.disk import Log, data_of, leads_nowhere
from hookport.project.places import (
    FRONTMATTER_HOOKS,
    catalogue_sites,
    catalogues,
    embedded,
    manifest_sites,
    module_sites,
    scoped_sites,
    sites,
)
from hookport.project.spots import (
    Declared,
    Folders,
    Spot,
    has_frontmatter_hooks,
    in_catalogues,
    in_manifests,
    named_files,
    object_in,
    scoped_spots,
    spots_of,
    unread,
)
from hookport.project.unread import UnreadFile, judge_place
from hookport.shapes.dialect import Path as Way

# What is read of a file without frontmatter.
BLANK = b"---\n---\n"
# How deep in a plugin a file of hooks may be.
MOST_STEPS = 4
SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__"})


class Source(NamedTuple):
    """The files of one source and the folder that its paths start from.

    `package` is the plugin that the hooks are of where the place of the files does not tell.
    """

    dialect: Dialect
    files: Mapping[str, bytes]
    root: Path
    recognised: bool
    package: Path | None = None


def find(path: Path, dialect: str | None = None) -> Source:
    """The one source at a path; its dialect is recognised if it was not named."""
    found, problems = find_all(path, dialect)
    if problems:
        raise InputError(*problems)
    if len({source.dialect.id for source in found}) < len(found):
        raise UsageError(
            f"{path}: holds the hooks of several plugins or of several kinds of files. Name one file."
        )
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
        return _as_told(named, files, path), []
    contents = _files(path, [get(name) for name in list_dialects()])
    not_read = {name: one for name in contents if (one := judge_place(_absolute(name)))}
    if path.is_file() and not_read:
        raise InputError(*(_not_read(name, one) for name, one in not_read.items()))
    contents = {name: data for name, data in contents.items() if name not in not_read}
    owners = {name: owners_of(name) for name in contents}
    parts = {part for name in contents for part in _companions(name, owners[name], contents)}
    chosen: dict[tuple[str, Path | None, Way], tuple[Dialect, dict[str, bytes]]] = {}
    problems: list[Problem] = []
    for name in (name for name in contents if name not in parts):
        full = _absolute(name)
        own = {name: contents[name], **_companions(name, owners[name], contents)}
        declared = _declared_in(full)
        problems += [one._replace(file=name) for there in declared for one in unread(there)]
        readers = [([reader], _declaring_package(one)) for one in declared for reader in one.readers]
        plugin = _named_by_plugin(full)
        for candidates, package in readers or [(owners[name], plugin.package if plugin else None)]:
            best = recognise(own, candidates)
            if best:
                chosen.setdefault((best.id, package, best.root), (best, {}))[1].update(own)
            elif path.is_file() or not _is_unrelated(own, name, candidates):
                problems += _why(own, name, candidates)
    if not chosen and not problems:
        nothing = Problem("no hooks of any dialect are there", file=str(path))
        raise InputError(*(_refused_modules(path) or [nothing]))
    found = [
        Source(best, files, package or _root(path, best, files), recognised=True, package=package)
        for (_, package, _), (best, files) in chosen.items()
    ]
    return found, problems


def _not_read(name: str, one: UnreadFile) -> Problem:
    return Problem(
        f"holds hooks of {one.agent}, which are not read; say with --from what they are", file=name
    )


def _as_told(dialect: Dialect, files: Mapping[str, bytes], path: Path) -> list[Source]:
    """Files in the dialect that a person named; of one that declares a plugin's hooks, what is inside."""
    found: list[Source] = []
    plain = dict(files)
    for name, data in files.items():
        for one in _declared_in(_absolute(name)):
            for reader in one.readers:
                if reader.id == dialect.id and reader.root != dialect.root:
                    plain.pop(name, None)
                    own, package = {name: data}, _declaring_package(one)
                    root = package or _root(path, dialect, own)
                    found.append(Source(reader, own, root, recognised=False, package=package))
    if plain:
        found.append(Source(dialect, plain, _root(path, dialect, plain), recognised=False))
    return found


def owners_of(name: str) -> list[Dialect]:
    """The dialects at whose own place a file stands; several share a place, and most files stand nowhere."""
    full = _absolute(name)
    named = _named_by_plugin(full)
    if named:
        return [named.dialect]
    depth, owners, package = _standing_at(full)
    if depth > 1:
        return _of_plugin(full, owners, package)
    if module := _module_owner(full):
        return [module]
    # A bare name, such as hooks.json, is no place: too many call their files so. One of its own says enough.
    return [one for one in map(get, list_dialects()) if one.file_name == full.name]


def stands_at_place(name: str) -> bool:
    """Whether a file stands at a place of a dialect, by more than its bare name, or a plugin names it."""
    return _standing_at(_absolute(name))[0] > 1 or is_named_by_plugin(name)


def is_named_by_plugin(name: str) -> bool:
    """Whether the manifest of a plugin, or the catalogue of a marketplace, names a file for its hooks."""
    return _named_by_plugin(_absolute(name)) is not None


def _module_owner(full: Path) -> Dialect | None:
    """The agent that loads a module of code where it stands."""
    for site in module_sites():
        parts = site.path.removeprefix("~/").split("/")
        tail = full.parts[-len(parts) :]
        if len(tail) == len(parts) and all(map(fnmatch.fnmatchcase, tail, parts)):
            return site.dialects[0]
    return None


def _refused_modules(path: Path) -> list[Problem]:
    """Why the modules of code in a folder are no hooks that can be read."""
    folders = _absolute(path).parts
    patterns = dict.fromkeys(
        below for site in module_sites() for below in _below(folders, site.path.removeprefix("~/"))
    )
    files = [file.as_posix() for pattern in patterns for file in _glob(path, pattern)]
    return [one for name in files for one in _why({name: _bytes(Path(name))}, name, owners_of(name))]


@cache
def _patterns() -> tuple[tuple[str, tuple[Dialect, ...], str], ...]:
    """Every place, whose it is, and the plugin's folder in it: those of `places`, and those of programs."""
    each = (*sites(), *scoped_sites(), *manifest_sites(), *catalogue_sites())
    found = [(site.path, site.dialects, site.package) for site in each]
    known = {path for path, _, _ in found}
    for dialect in map(get, list_dialects()):
        rows = [place for place in dialect.locations if place.scope not in ("system", "plugin")]
        found += [(place.path, (dialect,), "") for place in rows if place.path not in known]
    return tuple(found)


def _standing_at(full: Path) -> tuple[int, tuple[Dialect, ...], Path | None]:
    """How many parts the place has that says most about a file, whose it is, and the plugin's folder."""
    # Any folder may be called `agents` or `skills`: only hooks make what is in it a plugin's.
    return _best_place(full, full.suffix == ".md" and has_frontmatter_hooks(full))


@lru_cache(maxsize=1024)
def _best_place(full: Path, has_hooks: bool) -> tuple[int, tuple[Dialect, ...], Path | None]:  # noqa: FBT001  (a key of the cache)
    best: tuple[tuple[int, int], tuple[Dialect, ...], Path | None] = ((0, 0), (), None)
    for pattern, dialects, package in _patterns():
        parts = pattern.removeprefix("~/").removeprefix("./").split("/")
        tail = full.parts[-len(parts) :]
        if len(tail) < len(parts) or not all(map(fnmatch.fnmatchcase, tail, parts)):
            continue
        if pattern.startswith("./") and not has_hooks:
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
        return [embedded(owners[0], ("hooks",))]
    return written_for(package, owners)


def written_for(package: Path, owners: Sequence[Dialect]) -> list[Dialect]:
    """The dialects that a plugin's file may be in: of a plugin for one agent, that agent's.

    An agent whose manifest names other files for its hooks does not read this one, but for those that load
    the default file besides.
    """
    manifests = {
        one.id: [package / name for name in one.manifests if (package / name).is_file()] for one in owners
    }
    elsewhere = [
        name
        for name, files in manifests.items()
        if not _keeps_default(get(name)) and any(named_files(object_in(file).get("hooks")) for file in files)
    ]
    left = [one for one in owners if one.id not in elsewhere]
    named = [one for one in left if manifests[one.id]]
    return named if len(named) == 1 else left or list(owners)


def _keeps_default(dialect: Dialect) -> bool:
    return dialect.plugin_store is not None and dialect.plugin_store.keeps_default


class _Named(NamedTuple):
    """A file that the manifest of a plugin names for its hooks."""

    file: Path
    dialect: Dialect
    package: Path


def _named_above(folder: Path) -> Iterator[_Named]:
    """What manifests of plugins and entries of catalogues name, of a folder and those above it."""
    for above_ in (folder, *folder.parents[:MOST_STEPS]):
        for one in (*in_manifests(above_), *in_catalogues(above_)):
            if one.dialect and one.package:
                yield from (_Named(file, one.dialect, one.package) for file in one.files)


def _declared_in(full: Path) -> list[Declared]:
    """What a file says of hooks, if it is the manifest of a plugin or the catalogue of a marketplace."""
    above_ = [Path(full.as_posix().removesuffix(f"/{name}")) for name in _declaring() if _ends(full, name)]
    return [
        one
        for folder in above_
        for one in (*in_manifests(folder), *in_catalogues(folder))
        if one.file == full
    ]


def _declaring_package(declared: Declared) -> Path | None:
    """The plugin of an entry in a catalogue; a manifest stands in its plugin."""
    return declared.package if declared.way != ("hooks",) else None


@cache
def _declaring() -> tuple[str, ...]:
    """Where manifests and catalogues are, from the folder of the plugin or the marketplace."""
    return (*(name for one in map(get, list_dialects()) for name in one.manifests), *catalogues())


def _ends(full: Path, name: str) -> bool:
    return full.as_posix().endswith(f"/{name}")


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
        trees = [document.tree for document in pipeline.parse(files, dialect).values()]
    except InputError:
        return False
    return any(isinstance(tree, Mapping) and str(tree.get(key, "")).startswith(start) for tree in trees)


def _is_unrelated(files: Mapping[str, bytes], name: str, owners: list[Dialect]) -> bool:
    """Whether a file that a folder has by chance, since it stands nowhere, says nothing of hooks."""
    if owners or any(_signed(one, files) for one in map(get, list_dialects())):
        return False
    try:
        tree = pipeline.parse({name: files[name]})[name].tree
    except InputError:
        return False
    return not (isinstance(tree, Mapping) and "hooks" in tree)


def _why(files: Mapping[str, bytes], name: str, owners: list[Dialect]) -> list[Problem]:
    """What is wrong with a file that no dialect reads, as the dialect that it most likely is would say it."""
    signed = [one for one in owners or map(get, list_dialects()) if _signed(one, files)]
    likely = max(signed or owners, key=lambda one: one.precedence, default=None)
    if likely:
        try:
            pipeline.read(files, likely)
        except InputError as error:
            return list(error.problems)
    try:
        pipeline.parse({name: files[name]})
    except InputError as error:
        return list(error.problems)
    return [Problem("not recognised as hooks of any dialect; say which with --from", file=name)]


def recognise(files: Mapping[str, bytes], owners: list[Dialect]) -> Dialect | None:
    """The dialect at whose place files stand; what they say decides among several, or where there is none.

    Of equals it is the one that is read by most agents.
    """
    everyone = [get(name) for name in list_dialects()]
    if not owners:
        kinds = {documents.kind_of(name) for name in files}
        return _best(files, [one for one in everyone if kinds & _kinds(one)], least=1)
    # A place that formats share, such as hooks/hooks.json, is no agent's own: any folder may be called so.
    is_shared = len(owners) > 1 and any(one.kind == "format" for one in owners)
    signed = [one for one in everyone if is_shared and one not in owners and _signed(one, files)]
    return _best(files, [*owners, *signed])


def _kinds(dialect: Dialect) -> set[str]:
    """The kinds of files that a dialect has."""
    return {documents.kind_of(place.path) for place in (*dialect.locations, *dialect.runs_from)}


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


def read(source: Source) -> pipeline.Reading:
    """The manifest of a source, with the text of the scripts that its commands name."""
    reading = pipeline.read(source.files, source.dialect)
    hooks: dict[str, list[Hook]] = {}
    for hook, place in zip(reading.decoded.manifest.hooks, reading.decoded.places, strict=True):
        hooks.setdefault(place.file, []).append(hook)
    found: dict[str, dict[str, str]] = {}
    for file, those in hooks.items():
        folders = folders_of(source.dialect, file, source.root)
        if source.dialect.shape.in_place and folders.personal:
            reading = _at_home(reading, file)
        found |= scripts(folders.project, tuple(those), source.dialect, folders.package)
    return reading._replace(found_scripts=found)


def _at_home(reading: pipeline.Reading, file: str) -> pipeline.Reading:
    decoded = reading.decoded
    hooks = tuple(
        at_home(hook, reading.dialect) if place.file == file else hook
        for hook, place in zip(decoded.manifest.hooks, decoded.places, strict=True)
    )
    return reading._replace(decoded=decoded._replace(manifest=decoded.manifest._replace(hooks=hooks)))


def at_home(hook: Hook, dialect: Dialect) -> Hook:
    """A script that runs in its place, where that is in the user's home: projects have places alike."""
    handler, root = hook.handler, f'"{dialect.project_dir[0]}"/'
    platform = {name: command.replace(root, "~/") for name, command in handler.platform.items()}
    command = handler.command.replace(root, "~/")
    return hook._replace(handler=handler._replace(command=command, platform=platform or NOTHING))


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
) -> dict[str, dict[str, str]]:
    """For each command the scripts that it runs and that are there: their texts, by their names."""
    found: dict[str, dict[str, str]] = {}
    base, own = _absolute(root), _absolute(package or root)
    for hook in hooks:
        inner = unwrapped(hook)
        handler = hook.handler
        spoken = [(command, dialect) for command in (handler.command, *handler.platform.values())]
        spoken += [(inner.handler.command, get(inner.dialect))] if inner != hook else []
        for command, speaks in spoken:
            files = scripts_of(command, speaks, str(own), str(base), handler.cwd, os.environ)
            texts = ((_named(Path(file), (own, base)), script_text(file)) for file in files)
            found[command] = {name: text for name, text in texts if text is not None}
    return found


def _named(file: Path, folders: Sequence[Path]) -> str:
    below = next((folder for folder in folders if file.is_relative_to(folder)), None)
    return file.relative_to(below).as_posix() if below else str(file)


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
    inside = [below for pattern in patterns for below in _below(folders, pattern)]
    for pattern in dict.fromkeys(inside):
        for file in itertools.filterfalse(_is_data, _found_at(path, pattern)):
            if not _is_empty_manifest(_absolute(file)):
                found.update(_with_companions(file, dialects))
                continue
            empty.update(_with_companions(file, dialects))
            named += [one.file for one in _named_above(_absolute(file).parents[1])]
    known, top = {_absolute(name) for name in found}, _absolute(path)
    # The folder itself may be a home; that of the person who asks is another source.
    start = Folders(path, path, {"HOME": str(top)})
    spots, scoped = spots_of(start, Log([], {})), scoped_spots(start, Log([], {}))
    more = [(_absolute(spot.file), spot.dialects) for spot in (*spots, *scoped, *_spots_of_markets(top))]
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


def _spots_of_markets(top: Path) -> Iterator[Spot]:
    """The files in a folder that belong to plugins of a marketplace above it."""
    for market in top.parents[:MOST_STEPS]:
        if any((market / name).is_file() for name in catalogues()):
            folders = Folders(market, None, {})
            spots = (*spots_of(folders, Log([], {})), *scoped_spots(folders, Log([], {})))
            yield from (spot for spot in spots if _absolute(spot.file).is_relative_to(top))


def _is_data(file: Path) -> bool:
    """Whether a file stands beside scripts that are hooks by their names, is none, and is no text."""
    owners = owners_of(str(file))
    scripts = [one for one in owners if one.shape.in_place]
    if not scripts or scripts != owners or any(one.shape.in_place(one, file.name) for one in scripts):  # type: ignore[misc]
        return False
    try:
        _bytes(file).decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _is_empty_manifest(full: Path) -> bool:
    """Whether a file is a manifest or a catalogue that has no hooks inside."""
    declared = _declared_in(full)
    has_some = any(one.readers for one in declared) or any(any(unread(one)) for one in declared)
    return any(_ends(full, name) for name in _declaring()) and not has_some


def _found_at(path: Path, pattern: str) -> list[Path]:
    """The files of a place in a folder; skills and subagents of a plugin only where they have hooks."""
    files = _glob(path, pattern.removeprefix("./"))
    return list(filter(has_frontmatter_hooks, files)) if pattern.startswith("./") else files


def _below(folders: tuple[str, ...], place: str) -> Iterator[str]:
    """What a place is within a folder: all of it, or the rest of it where the folder is its beginning."""
    mark = "./" if place.startswith("./") else ""
    parts = place.removeprefix("./").split("/")
    for depth in range(min(len(parts), len(folders))):
        if all(map(fnmatch.fnmatchcase, folders[len(folders) - depth :], parts[:depth])):
            yield mark + "/".join(parts[depth:])


def _with_companions(file: Path, dialects: list[Dialect]) -> dict[str, bytes]:
    """A file and those that belong to it; its name shows the place that it stands at."""
    full = _absolute(file)
    if len(file.parts) < _standing_at(full)[0]:
        file = full
    files = {file.as_posix(): BLANK if _says_nothing(full) else _bytes(file)}
    for one in dialects:
        if one.companions and file.name == one.file_name:
            parts = sorted(part for part in file.parent.glob(one.companions) if part.is_file())
            files.update((part.as_posix(), _bytes(part)) for part in parts)
    return files


def _says_nothing(full: Path) -> bool:
    """Whether a file is a skill, subagent or command without hooks: what else it says may be no YAML."""
    is_scoped = any(one.root == FRONTMATTER_HOOKS for one in _standing_at(full)[1])
    return is_scoped and full.is_file() and not has_frontmatter_hooks(full)


def _bytes(file: Path) -> bytes:
    data = data_of(file)
    if data is None:
        raise InputError(Problem("cannot be read: it is gone", file=str(file)))
    return data


def _glob(root: Path, pattern: str) -> list[Path]:
    if "*" in pattern:
        return sorted(file for file in root.glob(pattern) if file.is_file() or leads_nowhere(file))
    file = root / pattern
    return [file] if file.is_file() or leads_nowhere(file) else []


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
