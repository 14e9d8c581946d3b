"""Finds hooks on disk: which files belong to a source, their dialect, and the scripts they run."""

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
from hookport.base.places import ends_at, list_rests, split_place
from hookport.convert import pipeline
from hookport.convert.checks.scripts import find_command_folders, find_place_folder, find_placed_file
from hookport.convert.degrade.wrapping import unwrap_hook
from hookport.errors import InputError, Problem, UsageError
from hookport.model.hooks import NOTHING, Hook
from hookport.model.tools import TOOLS
from hookport.project import salvage
from hookport.project.covered import find_started_scripts
from hookport.project.disk import Log, expand_place, is_dangling_link, read_data
from hookport.project.places import (
    FRONTMATTER_HOOKS,
    embed_dialect,
    list_catalogue_sites,
    list_catalogues,
    list_manifest_sites,
    list_module_sites,
    list_scoped_sites,
    list_sites,
)
from hookport.project.spots import (
    Declaration,
    Folders,
    Spot,
    explain_unread,
    find_scoped_spots,
    find_spots,
    has_frontmatter_hooks,
    list_named_files,
    read_catalogues,
    read_manifests,
    read_object,
)
from hookport.project.unread import UnreadFile, judge_place
from hookport.shapes.dialect import PLUGIN_STORE, find_quirk, list_locations
from hookport.shapes.dialect import Path as Way

# How much of a file without frontmatter is read.
BLANK = b"---\n---\n"
# The depth of a file of hooks in a plugin.
MOST_STEPS = 4
SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__"})


class HookSource(NamedTuple):
    """The files of one source and the base folder of its paths.

    `package` is the hooks' plugin if the files' place does not show it.
    """

    dialect: Dialect
    files: Mapping[str, bytes]
    root: Path
    recognised: bool
    package: Path | None = None


def find(path: Path, dialect: str | None = None) -> HookSource:
    """Find the single source at a path; its dialect is recognised if not named."""
    sources, problems = find_all(path, dialect)
    if problems:
        raise InputError(*problems)
    if len({source.dialect.id for source in sources}) < len(sources):
        raise UsageError(f"{path}: contains hooks of several plugins or kinds of files. Name one file.")
    if len(sources) > 1:
        several = ", ".join(source.dialect.id for source in sources)
        raise UsageError(f"{path}: contains hooks of {several}. Choose one with --from.")
    return sources[0]


def find_all(path: Path, dialect: str | None = None) -> tuple[list[HookSource], list[Problem]]:
    """Find every source at a path, one per dialect, and the problems of files that no dialect can read."""
    if not path.exists():
        raise InputError(Problem("does not exist", file=str(path)))
    if dialect:
        named = get(dialect)
        files = _find_files(path, [named])
        if not files:
            places = ", ".join(place.path for place in named.locations)
            raise InputError(Problem(f"contains no hooks of {named.id} (searched {places})", file=str(path)))
        return _make_sources(named, files, path), []
    contents = _find_files(path, [get(name) for name in list_dialects()])
    not_read = {name: unread_file for name in contents if (unread_file := judge_place(_make_absolute(name)))}
    if path.is_file() and not_read:
        raise InputError(*(_explain_unread_file(name, file) for name, file in not_read.items()))
    contents = {name: data for name, data in contents.items() if name not in not_read}
    owners = {name: find_owners(name) for name in contents}
    parts = {part for name in contents for part in _find_companions(name, owners[name], contents)}
    chosen: dict[tuple[str, Path | None, Way], tuple[Dialect, dict[str, bytes]]] = {}
    problems: list[Problem] = []
    for name in (name for name in contents if name not in parts):
        full = _make_absolute(name)
        own_files = {name: contents[name], **_find_companions(name, owners[name], contents)}
        declarations = _find_declarations(full)
        problems += [
            problem._replace(file=name)
            for declaration in declarations
            for problem in explain_unread(declaration)
        ]
        readers = [
            ([reader], _find_declaring_package(declaration))
            for declaration in declarations
            for reader in declaration.readers
        ]
        plugin = _find_naming_plugin(full)
        for candidates, package in readers or [(owners[name], plugin.package if plugin else None)]:
            best = recognise(own_files, candidates)
            if best:
                chosen.setdefault((best.id, package, best.shape.root), (best, {}))[1].update(own_files)
            elif path.is_file() or not _is_unrelated(own_files, name, candidates):
                problems += _explain_refusal(own_files, name, candidates)
    if not chosen and not problems:
        nothing = Problem("contains no hooks of any dialect", file=str(path))
        raise InputError(*(_explain_refused_modules(path) or [nothing]))
    sources = [
        HookSource(
            best, files, package or _find_source_root(path, best, files), recognised=True, package=package
        )
        for (_, package, _), (best, files) in chosen.items()
    ]
    return sources, problems


def _explain_unread_file(name: str, unread_file: UnreadFile) -> Problem:
    return Problem(
        f"contains hooks of {unread_file.agent}, which hookport does not read; name a dialect with --from",
        file=name,
    )


def _make_sources(dialect: Dialect, files: Mapping[str, bytes], path: Path) -> list[HookSource]:
    """Files in the dialect that a person named; for a file that declares a plugin's hooks, its content."""
    sources: list[HookSource] = []
    plain = dict(files)
    for name, data in files.items():
        for declaration in _find_declarations(_make_absolute(name)):
            for reader in declaration.readers:
                if reader.id == dialect.id and reader.shape.root != dialect.shape.root:
                    plain.pop(name, None)
                    own_files, package = {name: data}, _find_declaring_package(declaration)
                    root = package or _find_source_root(path, dialect, own_files)
                    sources.append(HookSource(reader, own_files, root, recognised=False, package=package))
    if plain:
        sources.append(HookSource(dialect, plain, _find_source_root(path, dialect, plain), recognised=False))
    return sources


def find_owners(name: str) -> list[Dialect]:
    """The dialects with a place at a file's path; several share a place, and most files are at none."""
    full = _make_absolute(name)
    named = _find_naming_plugin(full)
    if named:
        return [named.dialect]
    depth, owners, package = _find_place(full)
    if depth > 1:
        return _choose_plugin_owners(full, owners, package)
    if module := _find_module_owner(full):
        return [module]
    # A bare name such as hooks.json is too common to be a place; a dialect's own file name is enough.
    return [dialect for dialect in map(get, list_dialects()) if dialect.shape.file_name == full.name]


def stands_at_place(name: str) -> bool:
    """Whether a file is at a place of a dialect, by more than its bare name, or is named by a plugin."""
    return _find_place(_make_absolute(name))[0] > 1 or is_named_by_plugin(name)


def is_named_by_plugin(name: str) -> bool:
    """Whether the manifest of a plugin, or the catalogue of a marketplace, names a file for its hooks."""
    return _find_naming_plugin(_make_absolute(name)) is not None


def _find_module_owner(full: Path) -> Dialect | None:
    """The agent that loads a code module from its place."""
    for site in list_module_sites():
        if ends_at(full.parts, site.path):
            return site.dialects[0]
    return None


def _explain_refused_modules(path: Path) -> list[Problem]:
    """Explain why the code modules in a folder are not readable hooks."""
    folders = _make_absolute(path).parts
    patterns = dict.fromkeys(
        below for site in list_module_sites() for below in list_rests(folders, site.path)
    )
    files = [file.as_posix() for pattern in patterns for file in _glob(path, pattern)]
    return [
        problem
        for name in files
        for problem in _explain_refusal({name: _read_bytes(Path(name))}, name, find_owners(name))
    ]


@cache
def _list_patterns() -> tuple[tuple[str, tuple[Dialect, ...], str], ...]:
    """Every place, its owner, and the plugin's folder in it: those of `places`, and those of programs."""
    each = (*list_sites(), *list_scoped_sites(), *list_manifest_sites(), *list_catalogue_sites())
    patterns = [(site.path, site.dialects, site.package) for site in each]
    paths = {path for path, _, _ in patterns}
    for dialect in map(get, list_dialects()):
        rows = [place for place in dialect.locations if place.scope not in ("system", "plugin")]
        patterns += [(place.path, (dialect,), "") for place in rows if place.path not in paths]
    return tuple(patterns)


def _find_place(full: Path) -> tuple[int, tuple[Dialect, ...], Path | None]:
    """The number of parts of the most specific place of a file, its dialects, and the plugin's folder."""
    # Any folder may be named `agents` or `skills`: only hooks make its content a plugin's.
    return _find_best_place(full, full.suffix == ".md" and has_frontmatter_hooks(full))


@lru_cache(maxsize=1024)
def _find_best_place(full: Path, has_hooks: bool) -> tuple[int, tuple[Dialect, ...], Path | None]:  # noqa: FBT001  (a key of the cache)
    best: tuple[tuple[int, int], tuple[Dialect, ...], Path | None] = ((0, 0), (), None)
    for pattern, dialects, package in _list_patterns():
        if not ends_at(full.parts, pattern) or (pattern.startswith("./") and not has_hooks):
            continue
        parts = split_place(pattern)
        weight = (len(parts), sum("*" not in part for part in parts))
        steps = len(package.removeprefix("~/").split("/")) if package not in ("", ".") else 0
        folder = Path(*full.parts[: len(full.parts) - len(parts) + steps]) if package else None
        if weight == best[0]:
            more = tuple(dialect for dialect in dialects if dialect not in best[1])
            best = (weight, (*best[1], *more), best[2] or folder)
        best = max(best, (weight, dialects, folder), key=lambda candidate: candidate[0])
    return best[0][0], best[1], best[2]


def _choose_plugin_owners(full: Path, owners: tuple[Dialect, ...], package: Path | None) -> list[Dialect]:
    """The owners of a file; in a plugin for one agent only that agent, for a manifest its content."""
    if package is None:
        return list(owners)
    if len(owners) == 1 and any(full == package / name for name in owners[0].manifests):
        return [embed_dialect(owners[0], ("hooks",))]
    return filter_plugin_owners(package, owners)


def filter_plugin_owners(package: Path, owners: Sequence[Dialect]) -> list[Dialect]:
    """The dialects of a plugin's file: in a plugin for one agent, that agent's.

    An agent whose manifest names other files for its hooks does not read this file, except agents that also
    load the default file.
    """
    manifests = {
        owner.id: [package / name for name in owner.manifests if (package / name).is_file()]
        for owner in owners
    }
    elsewhere = [
        name
        for name, files in manifests.items()
        if not _keeps_default(get(name))
        and any(list_named_files(read_object(file).get("hooks")) for file in files)
    ]
    remaining = [owner for owner in owners if owner.id not in elsewhere]
    named = [owner for owner in remaining if manifests[owner.id]]
    return named if len(named) == 1 else remaining or list(owners)


def _keeps_default(dialect: Dialect) -> bool:
    store = find_quirk(dialect, PLUGIN_STORE)
    return store is not None and store.keeps_default


class _NamedFile(NamedTuple):
    """A file that the manifest of a plugin names for its hooks."""

    file: Path
    dialect: Dialect
    package: Path


def _find_named_above(folder: Path) -> Iterator[_NamedFile]:
    """The files that plugins' manifests and catalogues' entries name, in a folder and above."""
    for above_ in (folder, *folder.parents[:MOST_STEPS]):
        for declaration in (*read_manifests(above_), *read_catalogues(above_)):
            if declaration.dialect and declaration.package:
                yield from (
                    _NamedFile(file, declaration.dialect, declaration.package) for file in declaration.files
                )


def _find_declarations(full: Path) -> list[Declaration]:
    """The hooks that a file declares, if it is a plugin's manifest or a marketplace's catalogue."""
    above_ = [
        Path(full.as_posix().removesuffix(f"/{name}"))
        for name in _list_declaring_files()
        if _ends_with(full, name)
    ]
    return [
        declaration
        for folder in above_
        for declaration in (*read_manifests(folder), *read_catalogues(folder))
        if declaration.file == full
    ]


def _find_declaring_package(declared: Declaration) -> Path | None:
    """The plugin of an entry in a catalogue; None for a manifest, which is inside its plugin."""
    return declared.package if declared.way != ("hooks",) else None


@cache
def _list_declaring_files() -> tuple[str, ...]:
    """The paths of manifests and catalogues, from the folder of the plugin or the marketplace."""
    return (
        *(name for dialect in map(get, list_dialects()) for name in dialect.manifests),
        *list_catalogues(),
    )


def _ends_with(full: Path, name: str) -> bool:
    return full.as_posix().endswith(f"/{name}")


def _find_naming_plugin(full: Path) -> _NamedFile | None:
    return next(
        (named_file for named_file in _find_named_above(full.parent) if named_file.file == full), None
    )


def _find_companions(name: str, dialects: list[Dialect], contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files that belong to a file in its dialects."""
    folder = name.rpartition("/")[0]
    patterns = [
        f"{folder}/{dialect.shape.companions}" if folder else dialect.shape.companions
        for dialect in dialects
        if dialect.shape.companions
    ]
    return {
        part: data for part, data in contents.items() if any(fnmatch.fnmatchcase(part, p) for p in patterns)
    }


def _is_signed(dialect: Dialect, files: Mapping[str, bytes]) -> bool:
    """Whether a file's name or content identifies its dialect."""
    if dialect.shape.file_name and any(name.rpartition("/")[2] == dialect.shape.file_name for name in files):
        return True
    key, start = dialect.shape.signature
    if not key:
        return False
    try:
        trees = [document.tree for document in pipeline.parse(files, dialect).values()]
    except InputError:
        return False
    return any(isinstance(tree, Mapping) and str(tree.get(key, "")).startswith(start) for tree in trees)


def _is_unrelated(files: Mapping[str, bytes], name: str, owners: list[Dialect]) -> bool:
    """Whether a file at no known place has nothing to do with hooks."""
    if owners or any(_is_signed(dialect, files) for dialect in map(get, list_dialects())):
        return False
    try:
        tree = pipeline.parse({name: files[name]})[name].tree
    except InputError:
        return False
    return not (isinstance(tree, Mapping) and "hooks" in tree)


def _explain_refusal(files: Mapping[str, bytes], name: str, owners: list[Dialect]) -> list[Problem]:
    """The problems of a file that no dialect reads, as reported by its most likely dialect."""
    signed = [dialect for dialect in owners or map(get, list_dialects()) if _is_signed(dialect, files)]
    likely = max(signed or owners, key=lambda dialect: dialect.wire.precedence, default=None)
    if likely:
        try:
            pipeline.read(files, likely)
        except InputError as error:
            return list(error.problems)
    try:
        pipeline.parse({name: files[name]})
    except InputError as error:
        return list(error.problems)
    return [Problem("not recognised as hooks of any dialect; name it with --from", file=name)]


def recognise(files: Mapping[str, bytes], owners: list[Dialect]) -> Dialect | None:
    """The dialect of the files' place; among several, or at no place, the content decides.

    Among equals, the dialect that most agents read wins.
    """
    everyone = [get(name) for name in list_dialects()]
    if not owners:
        kinds = {documents.detect_kind(name) for name in files}
        return _choose_best(files, [dialect for dialect in everyone if kinds & _list_kinds(dialect)], least=1)
    # A place shared by formats, such as hooks/hooks.json, belongs to no agent: any folder may have that name.
    is_shared = len(owners) > 1 and any(owner.kind == "format" for owner in owners)
    signed = [
        dialect for dialect in everyone if is_shared and dialect not in owners and _is_signed(dialect, files)
    ]
    return _choose_best(files, [*owners, *signed])


def _list_kinds(dialect: Dialect) -> set[str]:
    """The kinds of files that a dialect has."""
    return {documents.detect_kind(place.path) for place in list_locations(dialect, "own", "run")}


def _choose_best(
    files: Mapping[str, bytes], dialects: list[Dialect], least: int | None = None
) -> Dialect | None:
    is_shared = len(dialects) > 1 and any(dialect.kind == "format" for dialect in dialects)
    scores = {dialect.id: score(dialect, files, is_shared=is_shared) for dialect in dialects}
    fits = [(dialect, score_) for dialect in dialects if (score_ := scores[dialect.id]) is not None]
    best, most = max(fits, key=lambda fit: (fit[1], fit[0].wire.precedence), default=(None, 0))
    if best is not None and most < 0:
        # No event is known: a format with these keys that refuses the file would not lose a guard.
        refusing = [
            dialect for dialect in dialects if scores[dialect.id] is None and _has_keys(dialect, files)
        ]
        best = next((dialect for dialect in refusing if dialect.kind == "format"), best)
    return best if best is not None and (least is None or most >= least) else None


def _has_keys(dialect: Dialect, files: Mapping[str, bytes]) -> bool:
    return any(f'"{key}"'.encode() in data for data in files.values() for key in dialect.shape.root_keys)


def read(source: HookSource) -> pipeline.Reading:
    """Read the manifest of a source, with the text of the scripts that its commands name."""
    reading = pipeline.read(source.files, source.dialect)
    hooks: dict[str, list[Hook]] = {}
    for hook, place in zip(reading.decoded.manifest.hooks, reading.decoded.places, strict=True):
        hooks.setdefault(place.file, []).append(hook)
    texts: dict[str, dict[str, str]] = {}
    for file, file_hooks in hooks.items():
        folders = find_command_folders(source.dialect, file, source.root)
        if source.dialect.shape.in_place and folders.personal:
            reading = _move_reading_home(reading, file)
        texts |= read_scripts(folders.project, tuple(file_hooks), source.dialect, folders.package)
    return reading._replace(found_scripts=texts)


def _move_reading_home(reading: pipeline.Reading, file: str) -> pipeline.Reading:
    decoded = reading.decoded
    hooks = tuple(
        move_hook_home(hook, reading.dialect) if place.file == file else hook
        for hook, place in zip(decoded.manifest.hooks, decoded.places, strict=True)
    )
    return reading._replace(decoded=decoded._replace(manifest=decoded.manifest._replace(hooks=hooks)))


def move_hook_home(hook: Hook, dialect: Dialect) -> Hook:
    """A script that runs at its own path in the user's home: projects have similar places."""
    handler, root = hook.handler, f'"{dialect.project_dir[0]}"/'
    platform = {name: command.replace(root, "~/") for name, command in handler.platform.items()}
    command = handler.command.replace(root, "~/")
    return hook._replace(handler=handler._replace(command=command, platform=platform or NOTHING))


def find_root(path: Path, dialect: Dialect) -> Path:
    """The project of a file: the folder that its known place is relative to."""
    if path.is_dir():
        return path
    full = _make_absolute(path)
    named = _find_naming_plugin(full)
    return named.package if named else find_place_folder(dialect, full) or full.parent


def _find_source_root(path: Path, dialect: Dialect, files: Mapping[str, bytes]) -> Path:
    """The base folder of a source's paths: above the given folder if that is within a place."""
    roots = [find_root(Path(name), dialect) for name in files]
    top = _make_absolute(path)
    return path if path.is_dir() and all(root.is_relative_to(top) for root in roots) else roots[0]


def _make_absolute(path: Path | str) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  (links stay: the name that is read is the place)


def read_scripts(
    root: Path, hooks: tuple[Hook, ...], dialect: Dialect, package: Path | None = None
) -> dict[str, dict[str, str]]:
    """For each command, the texts of its existing scripts, by name."""
    texts_by_command: dict[str, dict[str, str]] = {}
    base, package_folder = _make_absolute(root), _make_absolute(package or root)
    for hook in hooks:
        inner = unwrap_hook(hook)
        handler = hook.handler
        spoken = [(command, dialect) for command in (handler.command, *handler.platform.values())]
        spoken += [(inner.handler.command, get(inner.dialect))] if inner != hook else []
        for command, speaks in spoken:
            files = find_started_scripts(
                command, speaks, str(package_folder), str(base), handler.cwd, os.environ
            )
            texts = ((_name_file(Path(file), (package_folder, base)), read_script(file)) for file in files)
            texts_by_command[command] = {name: text for name, text in texts if text is not None}
    return texts_by_command


def _name_file(file: Path, folders: Sequence[Path]) -> str:
    below = next((folder for folder in folders if file.is_relative_to(folder)), None)
    return file.relative_to(below).as_posix() if below else str(file)


def read_script(file: str | Path) -> str | None:
    """The text of a script, if it exists and is not too large."""
    path = Path(file)
    try:
        if path.is_file() and path.stat().st_size < 1024 * 1024:
            return path.read_text("utf-8", "replace")
    except OSError:
        return None
    return None


def _find_files(path: Path, dialects: list[Dialect]) -> dict[str, bytes]:
    """The files of dialects at a path: the file itself, or those at the dialects' places."""
    if path.is_file():
        return _read_with_companions(path, dialects)
    contents: dict[str, bytes] = {}
    empty: dict[str, bytes] = {}
    named: list[Path] = []
    ids = {asked_dialect.id for asked_dialect in dialects}
    folders = _make_absolute(path).parts
    # In a plugin's folder, skills and subagents count only if they have hooks.
    inside = [
        (below, place.startswith("./"))
        for place, owners, _ in _list_patterns()
        if ids & {owner.id for owner in owners}
        for below in list_rests(folders, place)
    ]
    for pattern, is_loose in dict.fromkeys(inside):
        files = filter(has_frontmatter_hooks, _glob(path, pattern)) if is_loose else _glob(path, pattern)
        for file in itertools.filterfalse(_is_data, files):
            if not _is_empty_manifest(_make_absolute(file)):
                contents.update(_read_with_companions(file, dialects))
                continue
            empty.update(_read_with_companions(file, dialects))
            named += [named_file.file for named_file in _find_named_above(_make_absolute(file).parents[1])]
    found_files, top = {_make_absolute(name) for name in contents}, _make_absolute(path)
    # The folder itself may be a home; the caller's home is a different source.
    start = Folders(path, path, {"HOME": str(top)})
    spots, scoped = find_spots(start, Log([], {})), find_scoped_spots(start, Log([], {}))
    more = [
        (_make_absolute(spot.file), spot.dialects) for spot in (*spots, *scoped, *_find_market_spots(top))
    ]
    more += [
        (named_file.file, (named_file.dialect,))
        for named_file in _find_named_above(top)
        if named_file.file.is_relative_to(top)
    ]
    more += [(file, tuple(find_owners(str(file)))) for file in named if file.is_relative_to(top)]
    for full, owners in more:
        if full not in found_files and full.is_file() and ids & {owner.id for owner in owners}:
            found_files.add(full)
            contents.update(_read_with_companions(path / full.relative_to(top), dialects))
    for dialect in dialects:
        if dialect.shape.file_name and not any(
            Path(name).name == dialect.shape.file_name for name in contents
        ):
            for file in _walk(path, dialect.shape.file_name):
                contents.update(_read_with_companions(file, dialects))
    return contents or empty


def _find_market_spots(top: Path) -> Iterator[Spot]:
    """The files in a folder that belong to plugins of a marketplace above it."""
    for market in top.parents[:MOST_STEPS]:
        if any((market / name).is_file() for name in list_catalogues()):
            folders = Folders(market, None, {})
            spots = (*find_spots(folders, Log([], {})), *find_scoped_spots(folders, Log([], {})))
            yield from (spot for spot in spots if _make_absolute(spot.file).is_relative_to(top))


def _is_data(file: Path) -> bool:
    """Whether a file beside scripts that are hooks by name is neither a hook nor a text."""
    owners = find_owners(str(file))
    scripts = [owner for owner in owners if owner.shape.in_place]
    if not scripts or scripts != owners or any(owner.shape.in_place(owner, file.name) for owner in scripts):  # type: ignore[misc]
        return False
    try:
        _read_bytes(file).decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _is_empty_manifest(full: Path) -> bool:
    """Whether a file is a manifest or a catalogue without hooks."""
    declarations = _find_declarations(full)
    has_some = any(declaration.readers for declaration in declarations) or any(
        any(explain_unread(declaration)) for declaration in declarations
    )
    return any(_ends_with(full, name) for name in _list_declaring_files()) and not has_some


def _read_with_companions(file: Path, dialects: list[Dialect]) -> dict[str, bytes]:
    """A file and its companions; its name shows its place."""
    full = _make_absolute(file)
    if len(file.parts) < _find_place(full)[0]:
        file = full
    files = {file.as_posix(): BLANK if _has_no_hooks(full) else _read_bytes(file)}
    for dialect in dialects:
        if dialect.shape.companions and file.name == dialect.shape.file_name:
            parts = sorted(part for part in file.parent.glob(dialect.shape.companions) if part.is_file())
            files.update((part.as_posix(), _read_bytes(part)) for part in parts)
    return files


def _has_no_hooks(full: Path) -> bool:
    """Whether a file is a skill, subagent or command without hooks: the rest of it may not be YAML."""
    is_scoped = any(dialect.shape.root == FRONTMATTER_HOOKS for dialect in _find_place(full)[1])
    return is_scoped and full.is_file() and not has_frontmatter_hooks(full)


def _read_bytes(file: Path) -> bytes:
    data = read_data(file)
    if data is None:
        raise InputError(Problem("cannot be read: it is gone", file=str(file)))
    return data


def _glob(root: Path, pattern: str) -> list[Path]:
    files = expand_place(pattern, Log([], {}), f"{str(root).rstrip('/')}/")
    return [file for file in files if file.is_file() or is_dangling_link(file)]


def _walk(root: Path, name: str) -> Iterator[Path]:
    for folder, inside, files in os.walk(root):
        inside[:] = sorted(set(inside) - SKIPPED)
        if name in files:
            yield Path(folder) / name


def score(dialect: Dialect, files: Mapping[str, bytes], *, is_shared: bool = False) -> int | None:
    """How similar files are to a dialect: its events, its tools, its placeholders; None if impossible.

    `is_shared`: formats also have files there, so a key that agents write proves nothing.
    """
    try:
        reading, problems = salvage.read(files, dialect)
    except InputError:
        return None
    hooks = reading.decoded.manifest.hooks
    is_signed = _is_signed(dialect, files)
    if not hooks and not is_signed:
        return 0
    known_events = sum(1 for hook in hooks if ":" not in hook.event)
    unknown_events = len(hooks) - known_events
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
    # A shared name such as hooks.json counts only if at least one event is the dialect's.
    is_named = known_events > 0 and any(find_placed_file(dialect, _make_absolute(name)) for name in files)
    points = (
        6 * known_events
        - 10 * unknown_events
        + 2 * tools
        - 3 * strange
        + 3 * keys
        - foreign
        - 10 * len(problems)
    )
    return 100 * is_named + 100 * is_signed + 30 * rooted + points + 1
