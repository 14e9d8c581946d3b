"""Find hooks on disk: which files belong to a source, which dialect they are, which scripts they run."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from hookport import convert
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
        files = _files(path, named)
        if not files:
            places = ", ".join(place.path for place in named.locations)
            raise InputError(Problem(f"{named.id} has no hooks there (looked for {places})", file=str(path)))
        return [Source(named, files, root_of(path, named), recognised=False)], []
    owners: dict[str, list[Dialect]] = {}
    contents: dict[str, bytes] = {}
    for one in map(get, names()):
        for name, data in _files(path, one).items():
            owners.setdefault(name, []).append(one)
            contents[name] = data
    chosen: dict[str, dict[str, bytes]] = {}
    problems: list[Problem] = []
    parts = {part for name in contents for part in _companions(name, owners[name], contents)}
    for name in (name for name in contents if name not in parts):
        own = {name: contents[name], **_companions(name, owners[name], contents)}
        best = _at_home(own, name, owners[name]) or recognise(own, _readers(name, owners[name]))
        if best:
            chosen.setdefault(best.id, {}).update(own)
        else:
            problems += _why(own, name, owners[name])
    if not chosen and not problems:
        raise InputError(Problem("no hooks of any dialect are there", file=str(path)))
    found = [
        Source(get(name), files, root_of(path, get(name)), recognised=True) for name, files in chosen.items()
    ]
    return found, problems


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


def _why(files: Mapping[str, bytes], name: str, dialects: list[Dialect]) -> list[Problem]:
    """What is wrong with a file that no dialect reads, as the dialect that it most likely is would say it."""
    signed = [one for one in dialects if _signed(one, files)]
    likely = max(signed or dialects, key=lambda one: (max(_placed(one, name)), one.precedence))
    if signed or any(_placed(likely, name)):
        try:
            convert.read(files, likely)
        except InputError as error:
            return list(error.problems)
    try:
        convert.parse({name: files[name]})
    except InputError as error:
        return list(error.problems)
    return [Problem("not recognised as hooks of any dialect; say which with --from", file=name)]


def _placed(dialect: Dialect, name: str) -> list[int]:
    """For each place of the dialect, how much of it the file's path has: the length of the place, or 0."""
    places = [place.path for place in dialect.locations]
    return [len(place) if _ends_with(name, place.removeprefix("~/")) else 0 for place in places]


def _ends_with(name: str, place: str) -> bool:
    if "*" in place:
        return fnmatch.fnmatchcase("/" + name, "*/" + place)
    return name == place or name.endswith("/" + place)


def _is_in_folder(dialect: Dialect, name: str) -> bool:
    """Whether the file is in a folder where the dialect looks, not only called as it calls its files."""
    places = [place.path.removeprefix("~/") for place in dialect.locations]
    return any("/" in place and _ends_with(name, place) for place in places)


def _readers(name: str, owners: list[Dialect]) -> list[Dialect]:
    """Who may have written a file: those that look there, or anyone where only its bare name is theirs."""
    is_someones = any(_is_in_folder(one, name) or one.file_name for one in owners)
    return owners if is_someones else [get(one) for one in names()]


def _at_home(files: Mapping[str, bytes], name: str, dialects: list[Dialect]) -> Dialect | None:
    """The one dialect whose own place the file is in, if it reads the file there."""
    there = [one for one in dialects if max(_placed(one, name))]
    # Of several that read any file there, the one that calls its own file so.
    named = [
        one
        for one in there
        if any(_ends_with(name, place.path) for place in one.locations if "*" not in place.path)
    ]
    there = named if len(named) == 1 else there
    return there[0] if len(there) == 1 and score(there[0], files) > 0 else None


def recognise(files: Mapping[str, bytes], dialects: list[Dialect]) -> Dialect | None:
    """The dialect whose places and names fit best; of equals, the one that is read by most agents."""
    scored = [(score(one, files), one.precedence, -number) for number, one in enumerate(dialects)]
    best, _, number = max(scored)
    return dialects[-number] if best > 0 else None


def read(source: Source) -> convert.Reading:
    """The manifest of a source, with the text of the scripts that its commands name."""
    reading = convert.read(source.files, source.dialect)
    found = scripts(source.root, reading.decoded.manifest.hooks, source.dialect)
    return reading._replace(found_scripts=found)


def root_of(path: Path, dialect: Dialect) -> Path:
    """The project that a file belongs to: the folder its known place is relative to."""
    if path.is_dir():
        return path
    full = PurePosixPath(path.resolve().as_posix())
    places = [*(place.path for place in dialect.locations), *_runs_from(dialect)]
    for place in sorted(places, key=len, reverse=True):
        parts = PurePosixPath(place.removeprefix("~/")).parts
        tail = full.parts[-len(parts) :]
        if len(tail) == len(parts) and all(map(fnmatch.fnmatchcase, tail, parts)):
            return Path(*full.parts[: -len(parts)])
    return path.resolve().parent


def _runs_from(dialect: Dialect) -> list[str]:
    """The files of a project that hookport itself runs hooks of the dialect from."""
    return [place.path for place in dialect.runs_from if place.scope == "project" and "*" not in place.path]


def scripts(root: Path, hooks: tuple[Hook, ...], dialect: Dialect) -> dict[str, str]:
    """The text of every script that a command names and that is there, by the name in the command."""
    found: dict[str, str] = {}
    roots = (*dialect.project_dir, *dialect.package_dir)
    for hook in hooks:
        for word in _SCRIPT.findall(" ".join((hook.handler.command, *hook.handler.platform.values()))):
            bare = word
            for spelling in roots:
                bare = bare.removeprefix(spelling).lstrip("/") if bare.startswith(spelling) else bare
            text = _script_text(_from_home(bare) if bare.startswith("~") else root / bare)
            if text is not None:
                found[word] = text
    return found


def _from_home(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:  # nobody of that name, or no home at all
        return Path(path)


def _script_text(path: Path) -> str | None:
    try:
        if path.is_file() and path.stat().st_size < 1024 * 1024:
            return path.read_text("utf-8", "replace")
    except OSError:
        return None
    return None


def _files(path: Path, dialect: Dialect) -> dict[str, bytes]:
    """The files of a dialect at a path: the file itself, or those in the places where the dialect looks."""
    if path.is_file():
        return _with_companions(path, dialect)
    found: dict[str, bytes] = {}
    places = [place.path.removeprefix("~/") for place in dialect.locations if place.scope != "system"]
    for pattern in dict.fromkeys([*places, *_runs_from(dialect)]):
        inside = pattern.partition("/")[0] == path.name
        for file in (*_glob(path, pattern), *(_glob(path.parent, pattern) if inside else ())):
            found.update(_with_companions(file, dialect))
    if not found and dialect.file_name:
        for file in _walk(path, dialect.file_name):
            found.update(_with_companions(file, dialect))
    return found


def _with_companions(file: Path, dialect: Dialect) -> dict[str, bytes]:
    """A file and those that belong to it."""
    files = {file.as_posix(): _bytes(file)}
    if dialect.companions and file.name == dialect.file_name:
        parts = sorted(part for part in file.parent.glob(dialect.companions) if part.is_file())
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


def score(dialect: Dialect, files: Mapping[str, bytes]) -> int:
    """How much files look like a dialect: its places, its events, its tools, its placeholders."""
    try:
        reading = convert.read(files, dialect)
    except InputError:
        return 0
    hooks = reading.decoded.manifest.hooks
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
    placed = any(max(_placed(dialect, name)) for name in files)
    if not hooks and not placed:
        return 0
    # A bare name that formats share, such as hooks.json, says little where not one event is the dialect's.
    place = 100 if known or not hooks or any(_is_in_folder(dialect, name) for name in files) else 1
    return (
        place * placed
        + 100 * _signed(dialect, files)
        + 30 * rooted
        + 6 * known
        - 10 * unknown
        + 2 * tools
        - 3 * strange
        + 1
    )
