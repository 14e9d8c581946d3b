"""Hooks in files that nothing reads: recognised by content, reported with their correct place.

It checks the folders of agents, folders with nearly such a name, and the project root; in the user's home
only the agents' folders. A file at a place that an agent reads is never misplaced.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from hookport import documents
from hookport import findings as f
from hookport.agents import Dialect, get, list_dialects
from hookport.base.paths import make_resolver, spell_path
from hookport.convert import pipeline
from hookport.errors import SLIP, InputError
from hookport.findings import Finding
from hookport.project import salvage, sources
from hookport.project.disk import Log, read_data
from hookport.project.places import find_home_folder, list_catalogues, list_manifest_sites, resolve_place
from hookport.project.spots import Folders, find_module_spots, find_scoped_spots, find_spots, make_folders
from hookport.project.unread import RefusedManifest, UnreadFile, find_refused, find_unread
from hookport.runtime.trust import PLAN
from hookport.shapes.dialect import HOOK_TRUST, Location, find_quirk, list_locations

ENDINGS = (".json", ".jsonc", ".json5", ".yaml", ".yml", ".toml")
# Words in a file with hooks: the key, or an event of any dialect, is near one of these.
WORDS = re.compile(rb"hook|tool|trigger|prompt|session|command", re.IGNORECASE)
MOST_STEPS = 3
MOST_FILES = 400
LARGEST = 1 << 20
# hookport's own settings.
SETTINGS = (".hookport/config.json",)
# Subfolders of agents' folders with other content, some with thousands of files.
SKIPPED = frozenset(
    re.findall(
        r"\S+",
        """
        .git .venv __pycache__ agents cache commands debug extensions file-history history ide logs
        marketplaces memories node_modules plugins projects prompts rules sessions shell-snapshots skills
        statsig tasks templates tmp todos venv workflows
        """,
    )
)
# A folded name is an agent's if it is the start of its id, such as `vscode`.
SHORTEST_NAME = 4
# Keys that belong to hooks; a file with others is not moved as a whole.
ABOUT_HOOKS = frozenset({"$schema", "description", "hooks", "name", "spec", "version"})
# The scopes of places in a project: a folder may be one agent's there and another's in the home.
IN_PROJECT = ("project", "local")
# Words in the names of files at a project root that may contain hooks.
AT_ROOT = ("hook", "setting")
# Folders at a project root in which people keep hooks.
HOOK_FOLDERS = ("hook", "hooks", "agents", ".hooks", ".hook", ".agent", ".hookport")


class Stray(NamedTuple):
    """A file with hooks that nothing reads, its owner, and the place where its agent would read it.

    `reader` is None for an agent without a dialect.
    """

    file: str
    hooks: int
    hook_names: tuple[str, ...]
    reader: Dialect | None
    place: str
    fix: str
    # Other reasons why its hooks do not run.
    trouble: Finding | None = None

    @property
    def finding(self) -> Finding:
        """The finding that reports it."""
        if self.trouble:
            return self.trouble
        count = f"{self.hooks} hook{'s' * (self.hooks != 1)}"
        words = {
            "count": count,
            "s": "s" * (self.hooks == 1),
            "reader": self.reader.title if self.reader else "",
        }
        finding = f.Misplaced.at("", None, place=self.place, fix=self.fix, **words)
        return finding._replace(file=self.file)


class _Folder(NamedTuple):
    """A folder to search, and the agents that own it, or whose folder's name is similar."""

    path: Path
    scope: str
    readers: tuple[Dialect, ...]


def find_misplaced(root: str, env: Mapping[str, str]) -> list[Stray]:
    """The files with hooks in a project and its user's home that nothing reads."""
    folders = make_folders(root, env)
    read_files = _list_read_files(folders)
    unread = [make_unread_stray(unread_file) for unread_file in find_unread(folders)]
    refused = [make_refused_stray(manifest) for manifest in find_refused(folders)]
    met = {os.path.realpath(stray.file) for stray in unread}
    strays = [*unread, *refused]
    for folder in _list_folders(folders):
        for file in _list_candidates(folder):
            real = os.path.realpath(file)
            if str(file) in read_files or real in read_files or real in met:
                continue
            met.add(real)
            stray = judge_file(file, root, env, folder.readers, folder.scope)
            if stray:
                strays.append(stray)
    return strays


def make_unread_stray(unread_file: UnreadFile) -> Stray:
    """A file at an agent's place whose hooks hookport does not read."""
    trouble = f.NotRead.at("", agent=unread_file.agent)._replace(file=str(unread_file.file))
    return Stray(str(unread_file.file), 1, (), unread_file.reader, "", "", trouble)


def make_refused_stray(manifest: RefusedManifest) -> Stray:
    """A manifest that makes its agent refuse the plugin; the plugin's hooks are found separately."""
    words = {"agent": manifest.reader.title, "path": manifest.path, "start": manifest.start}
    trouble = f.PluginRefused.at("hooks", None, **words)._replace(file=str(manifest.file))
    return Stray(str(manifest.file), 0, (), manifest.reader, "", "", trouble)


def is_read(file: Path, root: str, env: Mapping[str, str]) -> bool:
    """Whether an agent or hookport reads hooks from a file."""
    read_files = _list_read_files(make_folders(root, env))
    return str(file) in read_files or os.path.realpath(file) in read_files


def _list_read_files(folders: Folders) -> set[str]:
    """The files that agents or hookport read, with or without hooks."""
    log = Log([], {})
    spots = (*find_spots(folders, log), *find_scoped_spots(folders, log), *find_module_spots(folders, log))
    files = {str(spot.file) for spot in spots}
    places = [site.path for site in list_manifest_sites()] + list(list_catalogues())
    files |= {resolve_place(None, path, str(folders.root), folders.env) for path in places if "*" not in path}
    files |= {str(folders.root / name) for name in (PLAN, *SETTINGS)}
    for dialect in map(get, list_dialects()):
        gates = [file for gate in dialect.gates for file in gate.files if file]
        trust = [
            rule.file
            for rule in (dialect.folder_trust, find_quirk(dialect, HOOK_TRUST))
            if rule and rule.file
        ]
        # An agent's settings file is not a misplaced hook file.
        for path in (*gates, *trust):
            files.add(resolve_place(dialect, path, str(folders.root), folders.env))
    resolve = make_resolver()
    return files | {resolve(path) for path in files if path}


def _list_folders(folders: Folders) -> Iterator[_Folder]:
    yield _Folder(folders.root, "root", ())
    for name in _list_folder_names(folders.root):
        readers = find_readers(name, *IN_PROJECT)
        if readers or name in HOOK_FOLDERS:
            yield _Folder(folders.root / name, "project", readers)
    home = find_home_folder(folders.env)
    if home is None or home == folders.root:
        return
    for name in _list_folder_names(home):
        readers = tuple(reader for reader in find_readers(name) if name in _list_own_folders(reader.id))
        if readers and name.startswith("."):
            yield _Folder(home / name, "user", readers)


def _list_folder_names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []


@cache
def _list_own_folders(name: str, *scopes: str) -> tuple[str, ...]:
    """The first step of each place of a dialect, from a project root or from a home; or of these scopes."""
    wanted = scopes or ("project", "local", "user")
    places = [location for location in get(name).locations if location.scope in wanted]
    paths = [place.path.removeprefix("~/") for place in places]
    return tuple(dict.fromkeys(path.partition("/")[0] for path in paths if "/" in path))


@cache
def find_readers(name: str, *scopes: str) -> tuple[Dialect, ...]:
    """The dialects whose folder has this name, or a name that certainly means it; of these scopes first."""
    everyone = [get(dialect_name) for dialect_name in list_dialects()]
    for wanted in (scopes, ()) if scopes else ((),):
        exact = tuple(dialect for dialect in everyone if name in _list_own_folders(dialect.id, *wanted))
        if exact:
            return exact
    folded = _fold_name(name)
    if len(folded) < SHORTEST_NAME:
        return ()
    near = [
        dialect
        for dialect in everyone
        if any(_is_near(folded, _fold_name(folder)) for folder in _list_own_folders(dialect.id))
    ]
    return tuple(near) or tuple(dialect for dialect in everyone if _fold_name(dialect.id).startswith(folded))


def _is_near(folded: str, own_folder: str) -> bool:
    import difflib

    if own_folder in ("github", "config", "documents"):
        return folded == own_folder
    return folded == own_folder or difflib.SequenceMatcher(None, folded, own_folder).ratio() >= SLIP


def _fold_name(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _list_candidates(folder: _Folder) -> Iterator[Path]:
    """The files of a folder that may contain hooks, by name; the nearest first."""
    if folder.scope == "root":
        yield from (file for file in _list_files(folder.path) if _may_be_hooks(file.name, at_root=True))
        return
    remaining = MOST_FILES
    level = [folder.path]
    for _ in range(MOST_STEPS):
        below: list[Path] = []
        for path in level:
            for file in _list_files(path):
                remaining -= 1
                if remaining < 0:
                    return
                if _may_be_hooks(file.name, at_root=False):
                    yield file
            below += [path / name for name in _list_folder_names(path) if name.lower() not in SKIPPED]
        level = below


def _list_files(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(folder / entry.name for entry in entries if entry.is_file())
    except OSError:
        return []


def _may_be_hooks(name: str, *, at_root: bool) -> bool:
    lower = name.lower()
    if lower.startswith(("hook.m", "hooks.m")):
        return True
    is_named = not at_root or any(word in lower for word in AT_ROOT) or bool(find_readers(Path(name).stem))
    return lower.endswith(ENDINGS) and is_named


def judge_file(
    file: Path, root: str, env: Mapping[str, str], readers: tuple[Dialect, ...] = (), scope: str = "root"
) -> Stray | None:
    """A file that nothing reads, with its correct place; None if it has no hooks."""
    try:
        data = read_data(file, LARGEST)
    except InputError:
        return None
    if not data or len(data) >= LARGEST or not WORDS.search(data):
        return None
    if file.name.lower().startswith(("hook.m", "hooks.m")):
        return _judge_folder(file, data, root, env)
    if documents.detect_kind(str(file)) == "text":
        return None
    readers = readers or (find_readers(_take_first_step(file, root), *IN_PROJECT) if scope != "user" else ())
    content = _recognise_content(file, data, readers)
    if content is None:
        return None
    dialect, count, hook_names = content
    reader = dialect if dialect in readers or not readers else _choose_agent(readers, dialect)
    place = _choose_place(reader, file, "user" if scope == "user" else "project")
    if str(file) == resolve_place(reader, place, root, env):
        return None
    stray = Stray(str(file), count, hook_names, reader, place, "")
    tree = pipeline.parse({str(file): data}, dialect)[str(file)].tree
    return stray._replace(fix=_spell_fix(stray, reader, dialect, tree, root, env))


def _take_first_step(file: Path, root: str) -> str:
    try:
        steps = file.relative_to(root).parts
    except ValueError:
        return ""
    return steps[0] if len(steps) > 1 else ""


def _choose_agent(readers: tuple[Dialect, ...], dialect: Dialect) -> Dialect:
    """The agent that owns the folder; a format's folder may contain anything."""
    return next((reader for reader in readers if reader.kind == "agent"), dialect)


def _recognise_content(
    file: Path, data: bytes, readers: tuple[Dialect, ...]
) -> tuple[Dialect, int, tuple[str, ...]] | None:
    """The dialect and the hooks of a file, the folder's own dialect first; None without hooks."""
    files = {str(file): data}
    candidates = [reader for reader in readers if (sources.score(reader, files) or 0) > 1]
    best = candidates[0] if candidates else sources.recognise(files, [])
    if best is None:
        return None
    try:
        hooks = salvage.read(files, best)[0].decoded.manifest.hooks
    except InputError:
        return None
    known_hooks = [hook for hook in hooks if ":" not in hook.event]
    if not known_hooks:
        return None
    named = (hook.name or PurePosixPath(next(iter(hook.handler.command.split()), "")).name for hook in hooks)
    return best, len(hooks), tuple(filter(None, named))


def _choose_place(reader: Dialect, file: Path, scope: str) -> str:
    """The place where a dialect reads such a file: by scope and kind, the usual place first."""
    every = list_locations(reader, "own", "run")
    places = [location for location in every if location.scope == scope and location.loaded] or list(every)
    kind = _detect_kind(str(file))

    def rank(location: Location) -> tuple[bool, bool, bool]:
        is_beside = PurePosixPath(
            location.path
        ).parent.name == file.parent.name and location in list_locations(reader, "run")
        return (
            _detect_kind(location.path.replace("*", "x")) != kind,
            "/hookport" in location.path,
            not is_beside,
        )

    best = min(places, key=rank)
    return best.path.replace("*.json", file.name)


def _detect_kind(path: str) -> str:
    """The kind of a file; agents that accept comments also accept JSON without them."""
    return documents.detect_kind(path).replace("jsonc", "json")


def _spell_fix(
    stray: Stray, reader: Dialect, content: Dialect, tree: object, root: str, env: Mapping[str, str]
) -> str:
    """The command that moves a file to its correct place; never over an existing file."""
    file, place = Path(stray.file), stray.place
    name = _quote_path(spell_path(str(file), root, env))
    target = Path(resolve_place(reader, place, root, env) or place)
    is_other = content.id != reader.id or _detect_kind(place) != _detect_kind(stray.file)
    if is_other and reader.kind == "agent":
        return f"Run `hookport convert {name} --from {content.id} --to {reader.id} -o .`."
    is_more = isinstance(tree, Mapping) and "hooks" in tree and not {*tree} <= ABOUT_HOOKS
    if target.exists() or is_more:
        return f"Move its hooks into {place}{'' if is_more else f', and remove {name}'}."
    mkdir = "" if target.parent.is_dir() else f"mkdir -p {_quote_path(str(PurePosixPath(place).parent))} && "
    return f"Run `{mkdir}mv {name} {_quote_path(place)}`."


def _quote_path(place: str) -> str:
    return f"~/{shlex.quote(place[2:])}" if place.startswith("~/") else shlex.quote(place)


def _judge_folder(file: Path, data: bytes, root: str, env: Mapping[str, str]) -> Stray | None:
    """A HOOK.md folder in the wrong place, or with HOOK.md misspelled."""
    dialect = next((candidate for candidate in map(get, list_dialects()) if candidate.shape.companions), None)
    if dialect is None or not data.removeprefix(b"\xef\xbb\xbf").startswith(b"---"):
        return None
    name = _read_declared_name(data) or file.parent.name
    scope = "project" if file.is_relative_to(root) else "user"
    pattern = next(location.path for location in dialect.locations if location.scope == scope)
    shown = PurePosixPath(spell_path(str(file), root, env))
    if fnmatchcase(str(shown.parent), str(PurePosixPath(pattern).parent)):
        target = shown.with_name(dialect.shape.file_name)
        fix = f"Run `mv {_quote_path(str(shown))} {_quote_path(str(target))}`."
        return Stray(str(file), 1, (name,), dialect, str(target), fix) if target != shown else None
    target = PurePosixPath(pattern.replace("*", name))
    # A hook's folder moves whole, with its scripts.
    is_whole = (file.parent / "scripts").is_dir() and file.name == dialect.shape.file_name
    source, goal = (shown.parent, target.parent) if is_whole else (shown, target)
    parent, old, new = (_quote_path(str(path)) for path in (goal.parent, source, goal))
    fix = f"Run `mkdir -p {parent} && mv {old} {new}`."
    return Stray(str(file), 1, (name,), dialect, str(target), fix)


def _read_declared_name(data: bytes) -> str:
    match = re.search(rb"^name:[ \t]*[\"']?([\w.-]+)", data, re.MULTILINE)
    return match[1].decode() if match else ""
