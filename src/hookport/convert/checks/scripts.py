"""The scripts that commands name: missing, not executable, without a shebang, outside their package."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path as File
from typing import NamedTuple

from hookport import findings as f
from hookport.agents import Dialect, get
from hookport.base.places import ends_at, split_place
from hookport.convert.checks import CheckedEntry, Reading, drop_repeated, list_entries
from hookport.findings import Finding
from hookport.model.hooks import Hook
from hookport.shapes.dialect import SCRIPT_RULES, Location, find_quirk, list_locations

INTERPRETERS = re.compile(r"(?:ba|z|da|k|fi)?sh|python[\d.]*|node|bun|deno|ruby|perl|php|pwsh|tsx|ts-node")
# Options without a value before the script's name; after any other, a script may be absent.
PLAIN_OPTIONS = re.compile(r"-[eux]+|-[uBIEsSO]+")
# Files that Windows starts by extension: mode and first line do not matter.
OF_WINDOWS = frozenset({".ps1", ".psm1", ".bat", ".cmd", ".exe", ".com", ".vbs", ".wsf"})
# How deep in a plugin its manifest may name a file.
MOST_FOLDERS = 6
# The bridge's spelling of a variable that only the shell expands.
_NAMED_WITH_DEFAULT = re.compile(r"\$\{(\w+)-\.?\}")
HOME = ("~/", "$HOME/", "${HOME}/")
WRAPPERS = frozenset({"exec", "env", "command", "nohup", "time"})


class NamedScript(NamedTuple):
    """A script that a command starts: the word that names it, and whether it runs directly."""

    word: str
    is_direct: bool


class PlacedFile(NamedTuple):
    """A file at a place: the place's base folder, and how much of the file's path it names."""

    base: File
    weight: tuple[int, int]


class CommandFolders(NamedTuple):
    """The base of the paths in a file's commands; `personal`: the file is for all projects of a user."""

    root: File
    project: File
    package: File
    personal: bool


def keep_hook(hook: Hook) -> Hook:
    """The hook itself: the default for `behind`."""
    return hook


def check_scripts(reading: Reading, root: File, behind: Callable[[Hook], Hook] = keep_hook) -> list[Finding]:
    """The errors of the scripts that the hooks start; `root` is the folder they were found in.

    `behind` returns the hook that an entry of the bridge runs.
    """
    reported_files = {
        finding.file for finding in reading.decoded.findings if finding.code == f.ScriptMissing.code
    }
    folders: dict[str, CommandFolders] = {}
    findings: list[Finding] = []
    for entry in list_entries(reading):
        file = entry.place.file
        if file not in folders:
            folders[file] = find_command_folders(entry.dialect, file, root)
        if file not in reported_files:
            findings += _check_scripts(entry, folders[file], behind(entry.hook))
    return drop_repeated(reading, findings)


def find_command_folders(dialect: Dialect, file: str, root: File) -> CommandFolders:
    """The base of the paths in a file's commands; `root` if the file is at no known place."""
    root, full = _make_absolute(file, root)
    project = find_place_folder(dialect, full, "project", "local", "user")
    at_home = project is not None and project == _find_home() == find_place_folder(dialect, full, "user")
    package = _find_manifest_folder(dialect, full) or find_place_folder(dialect, full, "plugin")
    return CommandFolders(root, project or root, package or root, personal=file.startswith("~") or at_home)


def _find_manifest_folder(dialect: Dialect, full: File) -> File | None:
    """The nearest folder above a file that a manifest makes a plugin: it may name files anywhere in it."""
    folders = full.parents[:MOST_FOLDERS]
    return next(
        (folder for folder in folders if any((folder / name).is_file() for name in dialect.manifests)), None
    )


def _find_home() -> File | None:
    try:
        return File.home()
    except RuntimeError:
        return None


def _make_absolute(file: str, root: File) -> tuple[File, File]:
    """The root and a file of it; its name starts from the working directory, or else from the root."""
    # Links are followed only where the names alone do not show that the file is below the root.
    absolute_root = File(os.path.abspath(root))  # noqa: PTH100
    absolute_file = File(os.path.abspath(file))  # noqa: PTH100
    for above, full in ((absolute_root, absolute_file), (absolute_root.resolve(), absolute_file.resolve())):
        if full.is_relative_to(above):
            return above, full
    return absolute_root, absolute_root / file


def find_place_folder(dialect: Dialect, full: File, *scopes: str) -> File | None:
    """The base folder of the dialect's place for a file, if the file is in such a place."""
    placed_file = find_placed_file(dialect, full, *scopes)
    return placed_file.base if placed_file else None


def find_placed_file(dialect: Dialect, full: File, *scopes: str) -> PlacedFile | None:
    """A file at the most specific of the dialect's places that match it."""
    inside = (Location("plugin", name, "") for name in dialect.manifests)
    places = (
        *list_locations(dialect, "own", "run", "scoped"),
        *inside,
    )
    placed_files = [_match_place(full, place.path) for place in places if not scopes or place.scope in scopes]
    return max(filter(None, placed_files), key=lambda placed_file: placed_file.weight, default=None)


def _match_place(full: File, place: str) -> PlacedFile | None:
    if not ends_at(full.parts, place):
        return None
    parts = split_place(place)
    base = full.parent if len(parts) == len(full.parts) else full.parents[len(parts) - 1]
    return PlacedFile(base, (len(parts), sum("*" not in part for part in parts)))


def _check_scripts(entry: CheckedEntry, folders: CommandFolders, inner: Hook) -> Iterator[Finding]:
    handler = entry.hook.handler
    spoken = [
        (command, entry.dialect) for command in dict.fromkeys((handler.command, *handler.platform.values()))
    ]
    if inner != entry.hook:
        spoken.append((_NAMED_WITH_DEFAULT.sub(r"$\1", inner.handler.command), get(inner.dialect)))
    for command, speaks in spoken:
        script = find_named_script(command)
        if script is None:
            continue
        rules = speaks is entry.dialect and find_quirk(speaks, SCRIPT_RULES)
        if rules and not script.word.startswith(("$", "~", "/")):
            name = script.word.removeprefix("./")
            yield entry.note(f.PackageRootUnused, placeholder=entry.dialect.package_dir[0], script=name)
        path = _resolve_word(entry, script.word, folders, speaks)
        if path is not None:
            is_windows = path.suffix.lower() in OF_WINDOWS or command == entry.hook.handler.platform.get(
                "windows"
            )
            in_place = needs_mode(entry.dialect, path)
            is_started = (script.is_direct or rules or in_place) and not is_windows
            yield from _check_file(entry, path, folders, is_started=is_started)


def needs_mode(dialect: Dialect, path: File) -> bool:
    """Whether a script in its place must be executable, although its command names an interpreter."""
    places = [place for place in dialect.locations if place.executable]
    return not path.suffix and any(_match_place(path, place.path) for place in places)


def find_named_script(command: str) -> NamedScript | None:
    """The script that a command clearly starts with, if it does."""
    words = split_first_command(command)
    while words and (words[0].rpartition("/")[2] in WRAPPERS or re.match(r"\w+=", words[0])):
        words = words[1:]
    if not words:
        return None
    if not INTERPRETERS.fullmatch(words[0].rpartition("/")[2]):
        return NamedScript(words[0], is_direct=True) if _is_path(words[0]) else None
    words = words[1:]
    while words and PLAIN_OPTIONS.fullmatch(words[0]):
        words = words[1:]
    if words and (re.fullmatch(r"\w[\w-]*\.\w+", words[0]) or (_is_path(words[0]) and words[0][0] != "-")):
        return NamedScript(words[0], is_direct=False)
    return None


def find_started_scripts(entry: CheckedEntry, root: File) -> Iterator[tuple[NamedScript, File]]:
    """The scripts that a hook starts on any system and their files, as far as the words show."""
    folders = find_command_folders(entry.dialect, entry.place.file, root)
    for command in dict.fromkeys((entry.hook.handler.command, *entry.hook.handler.platform.values())):
        script = find_named_script(command)
        path = _resolve_word(entry, script.word, folders) if script else None
        if script and path:
            yield script, path


def split_first_command(command: str) -> list[str]:
    """The words up to the first operator; none if the quoting is complex."""
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


def _resolve_word(
    entry: CheckedEntry, word: str, folders: CommandFolders, speaks: Dialect | None = None
) -> File | None:
    """The file that a word names, None if only the shell or the agent can expand it.

    `speaks` is the dialect of a command behind the bridge, whose project variables are filled in.
    """
    if word in entry.reading.documents:
        return _make_absolute(word, folders.root)[1]
    for spelling in sorted(entry.dialect.package_dir, key=len, reverse=True):
        if word.startswith(f"{spelling}/"):
            return _join_plain(word.removeprefix(f"{spelling}/"), folders.package)
    for spelling in sorted((speaks or entry.dialect).project_dir, key=len, reverse=True):
        is_moved = folders.personal or (entry.hook.handler.cwd and spelling == ".")
        if word.startswith(f"{spelling}/") and not is_moved:
            return _join_plain(word.removeprefix(f"{spelling}/"), folders.project)
    if spelling := next(filter(word.startswith, HOME), ""):
        home = _find_home()
        return _join_plain(word.removeprefix(spelling), home) if home else None
    if word.startswith("/"):
        return _join_plain(word, folders.root)
    if entry.hook.handler.cwd or (folders.personal and not entry.dialect.starts_in_package):
        return None
    if folders.personal:
        return _join_plain(word, _make_absolute(entry.place.file, folders.root)[1].parent)
    return _join_plain(word, folders.package if entry.dialect.starts_in_package else folders.project)


def _join_plain(name: str, folder: File) -> File | None:
    return None if re.search(r"[$`*?\[\]{}~%\0]", name) else folder / name


def _check_file(
    entry: CheckedEntry, path: File, folders: CommandFolders, *, is_started: bool
) -> Iterator[Finding]:
    above = (folders.root, folders.project, folders.package)
    base = next((folder for folder in above if path.is_relative_to(folder)), None)
    name = path.relative_to(base).as_posix() if base else str(path)
    try:
        if not path.is_file():
            yield entry.note(f.ScriptMissing, script=name)
            return
        if not is_started:
            return
        if not path.stat().st_mode & 0o111:
            yield entry.note(f.ScriptNotExecutable, script=name)
        with path.open("rb") as file:
            head = file.read(512)
    except OSError:
        # A file that we may not read may still exist for the agent.
        return
    if not head.startswith(b"#!") and b"\0" not in head:
        yield entry.note(f.NoShebang, script=name)
