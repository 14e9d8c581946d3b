"""The scripts that commands name: missing, not executable, without a shebang, outside their package."""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path as File
from pathlib import PurePosixPath
from typing import NamedTuple

from hookport import findings as f
from hookport.agents import Dialect, get
from hookport.convert.checks import Reading, Seen, fresh, seen_in
from hookport.findings import Finding
from hookport.model.hooks import Hook
from hookport.shapes.dialect import Location

INTERPRETERS = re.compile(r"(?:ba|z|da|k|fi)?sh|python[\d.]*|node|bun|deno|ruby|perl|php|pwsh|tsx|ts-node")
# Options without a value after which the script's name follows; any other may mean that there is none.
PLAIN_OPTIONS = re.compile(r"-[eux]+|-[uBIEsSO]+")
# What Windows starts by its extension: neither a mode nor a first line says how.
OF_WINDOWS = frozenset({".ps1", ".psm1", ".bat", ".cmd", ".exe", ".com", ".vbs", ".wsf"})
# How deep in a plugin its manifest may name a file.
MOST_FOLDERS = 6
# How the bridge spells a variable that only the shell shall fill in.
_NAMED_WITH_DEFAULT = re.compile(r"\$\{(\w+)-\.?\}")
HOME = ("~/", "$HOME/", "${HOME}/")
WRAPPERS = frozenset({"exec", "env", "command", "nohup", "time"})


class Script(NamedTuple):
    """A script that a command starts: the word that names it, and whether it runs by itself."""

    word: str
    is_direct: bool


class Standing(NamedTuple):
    """A file at a place: the folder that the place starts from, and how much of the file's path it names."""

    base: File
    weight: tuple[int, int]


class Folders(NamedTuple):
    """What the paths in a file's commands start from; `personal`: the file is for every project of a user."""

    root: File
    project: File
    package: File
    personal: bool


def itself(hook: Hook) -> Hook:
    """The hook that an entry is, where nobody tells that it runs another one."""
    return hook


def check_scripts(reading: Reading, root: File, behind: Callable[[Hook], Hook] = itself) -> list[Finding]:
    """What is wrong with the scripts that the hooks start; `root` is the folder they were found in.

    `behind` gives the hook that an entry of the bridge runs.
    """
    told = {one.file for one in reading.decoded.findings if one.code == f.ScriptMissing.code}
    folders: dict[str, Folders] = {}
    found: list[Finding] = []
    for one in seen_in(reading):
        file = one.place.file
        if file not in folders:
            folders[file] = folders_of(one.dialect, file, root)
        if file not in told:
            found += _check_scripts(one, folders[file], behind(one.hook))
    return fresh(reading, found)


def folders_of(dialect: Dialect, file: str, root: File) -> Folders:
    """What the paths in the commands of a file start from; `root` where the file stands at no known place."""
    root, full = _absolute(file, root)
    project = above(dialect, full, "project", "local", "user")
    at_home = project is not None and project == _home() == above(dialect, full, "user")
    package = _with_manifest(dialect, full) or above(dialect, full, "plugin")
    return Folders(root, project or root, package or root, personal=file.startswith("~") or at_home)


def _with_manifest(dialect: Dialect, full: File) -> File | None:
    """The nearest folder above a file that a manifest makes a plugin: it may name files anywhere in it."""
    folders = full.parents[:MOST_FOLDERS]
    return next((one for one in folders if any((one / name).is_file() for name in dialect.manifests)), None)


def _home() -> File | None:
    try:
        return File.home()
    except RuntimeError:
        return None


def _absolute(file: str, root: File) -> tuple[File, File]:
    """The root and a file of it; its name starts from the working directory, or else from the root."""
    # Links are followed only where the names alone do not show that the file is below the root.
    given = File(os.path.abspath(root))  # noqa: PTH100
    named = File(os.path.abspath(file))  # noqa: PTH100
    for above, full in ((given, named), (given.resolve(), named.resolve())):
        if full.is_relative_to(above):
            return above, full
    return given, given / file


def above(dialect: Dialect, full: File, *scopes: str) -> File | None:
    """The folder that the dialect's place for a file starts from, if the file is in such a place."""
    found = standing(dialect, full, *scopes)
    return found.base if found else None


def standing(dialect: Dialect, full: File, *scopes: str) -> Standing | None:
    """Where a file stands: of the dialect's places that it is in, the one that names most of its path."""
    inside = (Location("plugin", name, "") for name in dialect.manifests)
    places = (*dialect.locations, *dialect.runs_from, *dialect.scoped_in, *inside)
    found = [_standing(full, one.path) for one in places if not scopes or one.scope in scopes]
    return max(filter(None, found), key=lambda one: one.weight, default=None)


def _standing(full: File, place: str) -> Standing | None:
    parts = _parts(place)
    tail = full.parts[-len(parts) :]
    if len(tail) < len(parts) or not all(map(fnmatch.fnmatchcase, tail, parts)):
        return None
    base = full.parent if len(parts) == len(full.parts) else full.parents[len(parts) - 1]
    return Standing(base, (len(parts), sum("*" not in part for part in parts)))


@cache
def _parts(place: str) -> tuple[str, ...]:
    return PurePosixPath(place.removeprefix("~/")).parts


def _check_scripts(one: Seen, folders: Folders, inner: Hook) -> Iterator[Finding]:
    handler = one.hook.handler
    spoken = [
        (command, one.dialect) for command in dict.fromkeys((handler.command, *handler.platform.values()))
    ]
    if inner != one.hook:
        spoken.append((_NAMED_WITH_DEFAULT.sub(r"$\1", inner.handler.command), get(inner.dialect)))
    for command, speaks in spoken:
        script = named_script(command)
        if script is None:
            continue
        rules = speaks is one.dialect and speaks.script_rules
        if rules and not script.word.startswith(("$", "~", "/")):
            name = script.word.removeprefix("./")
            yield one.note(f.PackageRootUnused, placeholder=one.dialect.package_dir[0], script=name)
        path = _resolved(one, script.word, folders, speaks)
        if path is not None:
            is_windows = path.suffix.lower() in OF_WINDOWS or command == one.hook.handler.platform.get(
                "windows"
            )
            in_place = needs_mode(one.dialect, path)
            is_started = (script.is_direct or rules or in_place) and not is_windows
            yield from _check_file(one, path, folders, is_started=is_started)


def needs_mode(dialect: Dialect, path: File) -> bool:
    """Whether a script in its place must be executable, although its command names what runs it."""
    places = [place for place in dialect.locations if place.executable]
    return not path.suffix and any(_standing(path, place.path) for place in places)


def named_script(command: str) -> Script | None:
    """The script that a command clearly starts with, if it does."""
    words = first_command(command)
    while words and (words[0].rpartition("/")[2] in WRAPPERS or re.match(r"\w+=", words[0])):
        words = words[1:]
    if not words:
        return None
    if not INTERPRETERS.fullmatch(words[0].rpartition("/")[2]):
        return Script(words[0], is_direct=True) if _is_path(words[0]) else None
    words = words[1:]
    while words and PLAIN_OPTIONS.fullmatch(words[0]):
        words = words[1:]
    if words and (re.fullmatch(r"\w[\w-]*\.\w+", words[0]) or (_is_path(words[0]) and words[0][0] != "-")):
        return Script(words[0], is_direct=False)
    return None


def started(one: Seen, root: File) -> Iterator[tuple[Script, File]]:
    """The scripts that a hook starts on any system and the files they are, as far as the words tell."""
    folders = folders_of(one.dialect, one.place.file, root)
    for command in dict.fromkeys((one.hook.handler.command, *one.hook.handler.platform.values())):
        script = named_script(command)
        path = _resolved(one, script.word, folders) if script else None
        if script and path:
            yield script, path


def first_command(command: str) -> list[str]:
    """The words up to the first operator; none if the quoting is not plain."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    try:
        for word in lexer:
            if set(word) <= set("();<>|&"):
                break
            words.append(word)
    except ValueError:
        return []
    return words


def _is_path(word: str) -> bool:
    return "/" in word and "://" not in word


def _resolved(one: Seen, word: str, folders: Folders, speaks: Dialect | None = None) -> File | None:
    """The file that a word names, None where only the shell or the agent knows it.

    `speaks` is the dialect of a command behind the bridge, which fills in that one's project.
    """
    if word in one.reading.documents:
        return _absolute(word, folders.root)[1]
    for spelling in sorted(one.dialect.package_dir, key=len, reverse=True):
        if word.startswith(f"{spelling}/"):
            return _plain(word.removeprefix(f"{spelling}/"), folders.package)
    for spelling in sorted((speaks or one.dialect).project_dir, key=len, reverse=True):
        is_moved = folders.personal or (one.hook.handler.cwd and spelling == ".")
        if word.startswith(f"{spelling}/") and not is_moved:
            return _plain(word.removeprefix(f"{spelling}/"), folders.project)
    if spelling := next(filter(word.startswith, HOME), ""):
        home = _home()
        return _plain(word.removeprefix(spelling), home) if home else None
    if word.startswith("/"):
        return _plain(word, folders.root)
    if one.hook.handler.cwd or (folders.personal and not one.dialect.starts_in_package):
        return None
    if folders.personal:
        return _plain(word, _absolute(one.place.file, folders.root)[1].parent)
    return _plain(word, folders.package if one.dialect.starts_in_package else folders.project)


def _plain(name: str, folder: File) -> File | None:
    return None if re.search(r"[$`*?\[\]{}~%\0]", name) else folder / name


def _check_file(one: Seen, path: File, folders: Folders, *, is_started: bool) -> Iterator[Finding]:
    above = (folders.root, folders.project, folders.package)
    base = next((folder for folder in above if path.is_relative_to(folder)), None)
    name = path.relative_to(base).as_posix() if base else str(path)
    try:
        if not path.is_file():
            yield one.note(f.ScriptMissing, script=name)
            return
        if not is_started:
            return
        if not path.stat().st_mode & 0o111:
            yield one.note(f.ScriptNotExecutable, script=name)
        with path.open("rb") as file:
            head = file.read(512)
    except OSError:
        # What we may not look at may still be there for the agent.
        return
    if not head.startswith(b"#!") and b"\0" not in head:
        yield one.note(f.NoShebang, script=name)
