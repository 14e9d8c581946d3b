"""Find hooks on disk: which files belong to a source, which dialect they are, which scripts they run."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hookport import convert, formats
from hookport.checks.scripts import above, folders_of, standing
from hookport.dialects import Dialect, get, names
from hookport.errors import InputError, Problem, UsageError
from hookport.model.hooks import Hook
from hookport.model.tools import TOOLS

LARGEST = 32 * 1024 * 1024
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
    chosen: dict[str, dict[str, bytes]] = {}
    problems: list[Problem] = []
    for name in (name for name in contents if name not in parts):
        own = {name: contents[name], **_companions(name, owners[name], contents)}
        best = recognise(own, owners[name])
        if best:
            chosen.setdefault(best.id, {}).update(own)
        elif path.is_file() or not _is_unrelated(own, name, owners[name]):
            problems += _why(own, name, owners[name])
    if not chosen and not problems:
        raise InputError(Problem("no hooks of any dialect are there", file=str(path)))
    found = [
        Source(get(name), files, _root(path, get(name), files), recognised=True)
        for name, files in chosen.items()
    ]
    return found, problems


def owners_of(name: str) -> list[Dialect]:
    """The dialects at whose own place a file stands; several share a place, and most files stand nowhere."""
    full = _absolute(name)
    depth, owners = _standing_at(full)
    if depth > 1:
        return [get(one) for one in owners]
    # A bare name, such as hooks.json, is no place: too many call their files so. One of its own says enough.
    return [one for one in map(get, names()) if one.file_name == full.name]


@lru_cache(maxsize=1024)
def _standing_at(full: Path) -> tuple[int, tuple[str, ...]]:
    """How many parts the place has that says most about a file, and whose place it is."""
    found = [(place.weight, one.id) for one in map(get, names()) if (place := standing(one, full))]
    most = max((weight for weight, _ in found), default=(0, 0))
    return most[0], tuple(name for weight, name in found if weight == most)


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
    scored = [(score(one, files), one.precedence, -number) for number, one in enumerate(dialects)]
    fits = [fit for fit in scored if fit[0] is not None and (least is None or fit[0] >= least)]
    return dialects[-max(fits)[2]] if fits else None


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
    return above(dialect, full) or full.parent


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
    places = [place for one in dialects for place in (*one.locations, *one.runs_from)]
    patterns = [place.path.removeprefix("~/") for place in places if place.scope != "system"]
    folders = _absolute(path).parts
    inside = [below for pattern in patterns for below in _below(folders, pattern.split("/"))]
    for pattern in dict.fromkeys(inside):
        for file in _glob(path, pattern):
            found.update(_with_companions(file, dialects))
    for one in dialects:
        if one.file_name and not any(Path(name).name == one.file_name for name in found):
            for file in _walk(path, one.file_name):
                found.update(_with_companions(file, dialects))
    return found


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


def score(dialect: Dialect, files: Mapping[str, bytes]) -> int | None:
    """How much files look like a dialect: its events, its tools, its placeholders; None if they cannot be."""
    try:
        reading = convert.read(files, dialect)
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
    keys = [key for data in files.values() for key in dialect.root_keys if f'"{key}"'.encode() in data]
    # A name that formats share, such as hooks.json, says little where not one event is the dialect's.
    is_named = known > 0 and any(standing(dialect, _absolute(name)) for name in files)
    told = 6 * known - 10 * unknown + 2 * tools - 3 * strange + 3 * len(keys) - foreign
    return 100 * is_named + 100 * is_signed + 30 * rooted + told + 1
