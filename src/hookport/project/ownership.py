"""Which commands are ours, and which agents load a file of hooks themselves.

An agent's own loading follows from its places, its start folder and its trust. The place decides, not the
dialect: an agent does not load a file written for it elsewhere. An agent that also reads another agent's file
does not count: it does less with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect, Tree, get, list_agents
from hookport.base.places import is_at
from hookport.convert import pipeline
from hookport.errors import InputError
from hookport.project.agent_trust import (
    find_first_with_key,
    list_trust_files,
    read_folder_trust,
    read_hook_trust,
    read_settings_file,
    value_at,
)
from hookport.project.discovery import HookEntry
from hookport.project.disk import read_data
from hookport.project.places import CATALOGUE, find_own_place, is_same, list_catalogues, resolve_place
from hookport.project.spots import find_catalogued_plugins, list_written_files, read_manifests
from hookport.runtime.plan import ENTRIES
from hookport.shapes.dialect import (
    HOOK_TRUST,
    PLUGIN_STORE,
    SHADOWS,
    Location,
    PluginStore,
    find_quirk,
    list_locations,
)

# How an agent's entry calls the bridge, as a command of its own: the words before the program, the program,
# and its command, for all hooks or for one installed hook.
_WORD = r"""(?:'[^']*'|"[^"]*"|[^\s'"|&;])+"""
_CALL = re.compile(
    rf"""(?:^|; |& )(?P<before>(?:{_WORD} )*?)(?P<program>{_WORD}) """
    r"""(?:dispatch (?P<dispatch>[\w-]+) (?:'[^']*'|\S+)(?: --\S+(?: \S+)?)*\s*(?:; hookport=\$\?; .*)?$"""
    r"""|wrap [\w-]+ (?P<wrap>[\w-]+) (?:'[^']*'|\S+) )"""
)
# The text after the call in an entry that checks its exit code.
AFTER = "; hookport=$?;"
# The end of an installed command that needs no bridge.
MARK = "# hookport"


class Loading(NamedTuple):
    """An agent's own loading of a file, and its conditions.

    `below`: started in a folder below the project root, it loads the file only if it calls an entry of ours
    of one of these scopes; None if that makes no difference. `proofs`: if its trust in the folder is unknown,
    the scopes of entries that it would not call either without trust; None if known. `lifts` are variables,
    with their value, that make it trust every folder.
    """

    below: tuple[str, ...] | None = None
    proofs: tuple[str, ...] | None = None
    lifts: tuple[tuple[str, str], ...] = ()


def find_loading(dialect: Dialect, entry: HookEntry, root: str, env: Mapping[str, str]) -> Loading | None:
    """How an agent itself loads a hook's file; None if it does not."""
    place = find_own_place(dialect, entry.file, root, env)
    if place is None and entry.hook.dialect == dialect.id:
        place = _find_other_place(dialect, entry, root, env)
    if place is None:
        return _find_plugin_loading(dialect, entry, root, env)
    if entry.dropped or _is_shadowed(dialect, entry.file, root, env):
        return None
    if entry.hook.dialect != dialect.id and not find_own_place(
        get(entry.hook.dialect), entry.file, root, env
    ):
        return None
    if is_of_one_product(dialect, entry, root, env):
        return None
    if read_hook_trust(dialect, entry.file, _parse_steps(entry.place), root, env).is_trusted is False:
        return None
    return find_place_loading(dialect, place, root, env)


def waits_for_trust(dialect: Dialect, entry: HookEntry, root: str, env: Mapping[str, str]) -> bool:
    """Whether a hook is in an agent's own file and lacks only the agent's trust."""
    place = find_own_place(dialect, entry.file, root, env)
    if place is None or entry.hook.dialect != dialect.id:
        return False
    return read_hook_trust(dialect, entry.file, _parse_steps(entry.place), root, env).is_trusted is False


def is_of_one_product(dialect: Dialect, entry: HookEntry, root: str, env: Mapping[str, str]) -> bool:
    """Whether only one of the detected products reads a hook: the calling product is unknown."""
    place = find_own_place(dialect, entry.file, root, env) if dialect.products else None
    if place is None:
        return False
    own_paths = [path for paths in dialect.products for path in paths if path in place.path]
    tops = {path.partition("/")[0] for path in own_paths}
    other_paths = [path for paths in dialect.products for path in paths if path.partition("/")[0] not in tops]
    files = [
        Path(path)
        for row in dialect.locations
        if any(product_path in row.path for product_path in other_paths)
        and (path := resolve_place(dialect, row.path, root, env))
    ]
    # A product with its own copy runs that.
    return bool(own_paths) and any(file.parent.is_dir() and not _names_command(file, entry) for file in files)


def _names_command(file: Path, entry: HookEntry) -> bool:
    """Whether a file has the command of a hook."""
    try:
        data = read_data(file) or b""
    except InputError:
        return False
    return entry.hook.handler.command in data.decode("utf-8", "replace").replace('\\"', '"')


def _parse_steps(place: str) -> tuple[str | int, ...]:
    """The spelled path in a tree, as far as its numbers and its event matter."""
    steps = re.findall(r"\[(\d+)\]|([^.\[\]]+)", place)
    return tuple(int(number) if number else key for number, key in steps)


def find_place_loading(
    dialect: Dialect, place: Location, root: str, env: Mapping[str, str]
) -> Loading | None:
    """How an agent loads a file at one of its own places; None if it does not trust the folder."""
    scope = place.scope
    below: tuple[str, ...] | None = None
    if scope != "user":
        is_repository = Path(root, ".git").exists()
        if (dialect.project_read == "start" and not place.at_repository) or not is_repository:
            below = ()
        elif dialect.project_read == "unsure":
            below = ("project",)
    trust = dialect.folder_trust
    if trust is None or scope not in trust.scopes:
        return Loading(below)
    # Variables that grant trust for this call are read when the call arrives.
    state = read_folder_trust(dialect, root, _remove_lifted(env, trust.lifted)).is_trusted
    if state:
        return Loading(below)
    proofs = tuple(level for level in ENTRIES if level in trust.scopes)
    lifts = trust.lifted if trust.lift_shows else ()
    return Loading(below, proofs, lifts) if proofs or lifts else None


def _remove_lifted(env: Mapping[str, str], lifted: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {name: value for name, value in env.items() if (name, value) not in lifted}


def _is_shadowed(dialect: Dialect, file: str, root: str, env: Mapping[str, str]) -> bool:
    for shadow in find_quirk(dialect, SHADOWS):
        hidden, by = (
            resolve_place(dialect, shadow_path, root, env) for shadow_path in (shadow.file, shadow.by)
        )
        if is_same(file, hidden) and Path(by).is_file() and (shadow.even_empty or _has_hooks(dialect, by)):
            return True
    return False


def _has_hooks(dialect: Dialect, path: str) -> bool:
    try:
        data = read_data(Path(path))
        return data is not None and bool(pipeline.read({path: data}, dialect).decoded.manifest.hooks)
    except InputError:
        return False


def _find_plugin_loading(
    dialect: Dialect, entry: HookEntry, root: str, env: Mapping[str, str]
) -> Loading | None:
    """How an agent loads a hook's plugin; None if the plugin is not installed and enabled."""
    store = find_quirk(dialect, PLUGIN_STORE)
    if store is None or not _is_loaded_file(dialect, store, entry):
        return None
    plugins = value_at(_read_tree(dialect, store.file, root, env), store.key)
    for name, copies in plugins.items() if isinstance(plugins, Mapping) else ():
        installed_copies = [
            copy
            for copy in (copies if isinstance(copies, list) else [copies])
            if _is_for(root, value_at(copy, (store.project,)))
        ]
        folders = [value_at(copy, (store.folder,)) for copy in installed_copies]
        # A plugin installed only for other projects may not be loaded in this one.
        folders += [_find_in_market(dialect, name, root, env)] if installed_copies else []
        # A copy elsewhere is not this file: it may be another version.
        if any(isinstance(folder, str) and folder and is_same(folder, entry.package) for folder in folders):
            return _find_enabled_loading(dialect, name, root, env)
    return None


def _is_for(root: str, project: Tree) -> bool:
    """Whether a copy of a plugin is for a project: for every project, if it names none."""
    return not isinstance(project, str) or is_same(root, project)


def _is_loaded_file(dialect: Dialect, store: PluginStore, entry: HookEntry) -> bool:
    """Whether an agent with a plugin loads this file of it: other files are for other agents."""
    if entry.hook.dialect != dialect.id:
        return False
    package, file = Path(entry.package), Path(entry.file)
    declarations = [
        declaration
        for declaration in read_manifests(package)
        if declaration.dialect is not None and declaration.dialect.id == dialect.id
    ]
    named = [path for declaration in declarations for path in list_written_files(declaration.hooks)]
    if any(not path.startswith(store.path_start) for path in named):
        return False
    defaults = [place.path for place in dialect.locations if place.scope == "plugin" and place.loaded]
    is_default = any(file == package / path for path in defaults) and (store.keeps_default or not named)
    # In a manifest's hooks, an object with another `hooks` in it is skipped.
    is_inside = file.name == CATALOGUE or any(file == declaration.file for declaration in declarations)
    is_inside = is_inside and not re.match(r"hooks(\[\d+\])?\.hooks\.", entry.place)
    return is_default or is_inside or any(file in declaration.files for declaration in declarations)


def _read_tree(dialect: Dialect, place: str, root: str, env: Mapping[str, str]) -> Tree:
    path = resolve_place(dialect, place, root, env)
    document = read_settings_file(Path(path)) if path else None
    return document.tree if document else None


def _find_in_market(dialect: Dialect, name: str, root: str, env: Mapping[str, str]) -> str:
    """The folder of a plugin in a marketplace that is a folder; empty if it is elsewhere."""
    store = find_quirk(dialect, PLUGIN_STORE)
    plugin, _, market = name.rpartition("@")
    place = value_at(_read_tree(dialect, store.markets, root, env), (market, store.place)) if store else None
    if not isinstance(place, str):
        return ""
    for catalogue in list_catalogues():
        for plugin_name, folder in find_catalogued_plugins(Path(place), catalogue):
            if plugin_name == plugin:
                return str(Path(place, folder))
    return ""


def _find_enabled_loading(dialect: Dialect, plugin: str, root: str, env: Mapping[str, str]) -> Loading | None:
    """How the settings that enable a plugin are loaded; None if the nearest switches it off."""
    store = find_quirk(dialect, PLUGIN_STORE)
    assert store is not None  # noqa: S101  (it names the plugin)
    switch = (*store.switch, plugin)
    setting = find_first_with_key(store.settings, switch, dialect, root, env)
    if setting is None or value_at(setting[1].tree, switch) is not True:
        return None
    place = find_own_place(dialect, str(setting[0]), root, env)
    return find_place_loading(dialect, place, root, env) if place else Loading()


def _make_lists(tree: Tree) -> Tree:
    return [_make_lists(item) for item in tree] if isinstance(tree, tuple) else tree


class Readers:
    """The agents that load hooks' files themselves; each file is checked once."""

    def __init__(self, root: str, env: Mapping[str, str]) -> None:
        self.root, self.env = root, env
        self._known: dict[tuple[str, ...], Loading | None] = {}

    def of(self, entry: HookEntry) -> dict[str, list[Tree]]:
        """The agents that load a hook's file, and their conditions, in a plan's form."""
        each = ((name, self._loading(get(name), entry)) for name in list_agents())
        return {name: _make_lists(how) for name, how in each if how is not None}

    def _loading(self, dialect: Dialect, entry: HookEntry) -> Loading | None:
        # Some agents treat hooks of one file differently.
        place = entry.place if find_quirk(dialect, HOOK_TRUST) or dialect.products else ""
        key = (dialect.id, entry.file, entry.package, place)
        if key not in self._known:
            self._known[key] = find_loading(dialect, entry, self.root, self.env)
        return self._known[key]


def list_watched_files(root: str, env: Mapping[str, str]) -> Iterator[str]:
    """The files that decide which agents load what."""
    for dialect in map(get, list_agents()):
        yield from list_trust_files(dialect, root, env)
        store = find_quirk(dialect, PLUGIN_STORE)
        for place in (store.file, store.markets, *store.settings) if store else ():
            if path := resolve_place(dialect, place, root, env):
                yield path


def find_also_read_place(dialect: Dialect, entry: HookEntry, root: str, env: Mapping[str, str]) -> str:
    """The place of another agent's file where an agent also reads a hook; empty if none.

    A hook that was written for the agent has its whole effect there.
    """
    if entry.hook.dialect == dialect.id or find_own_place(dialect, entry.file, root, env):
        return ""
    place = _find_other_place(dialect, entry, root, env)
    return place.path if place else ""


def _find_other_place(
    dialect: Dialect, entry: HookEntry, root: str, env: Mapping[str, str]
) -> Location | None:
    """The place of others' files at which an agent reads a hook."""
    for place in list_locations(dialect, "also read"):
        path = resolve_place(dialect, place.path, root, env)
        if path and (is_same(entry.file, path) or ("*" in path and is_at(entry.file, path))):
            return place
    return None


def is_ours(command: str) -> bool:
    """Whether hookport wrote a command's entry: the hook behind it is found separately."""
    return command.endswith(MARK) or any(_find_calls(command))


def is_dispatch(command: str) -> bool:
    """Whether a command calls the bridge for all hooks."""
    return any(call["dispatch"] for call in _find_calls(command))


def find_agent(command: str) -> str:
    """The agent that an entry of ours was written for; empty if its command does not name it."""
    return next((call["dispatch"] or call["wrap"] for call in _find_calls(command)), "")


def _find_calls(command: str) -> Iterator[re.Match[str]]:
    """The calls of the bridge, by whatever path: the program itself, or a Python that runs it."""
    for call in _CALL.finditer(command):
        words = [_take_file_name(word) for word in re.findall(_WORD, call["before"])]
        name = _take_file_name(call["program"])
        by_python = not words or ("py" in words[0] and all(word.startswith("-") for word in words[1:]))
        # A wrapped command that names no path was put there by a person.
        is_bridge = name in ("bridge.py", "bridge.pyz") or (
            call["dispatch"] and name in ("hookport", "hookport.exe")
        )
        if by_python and is_bridge:
            yield call


def _take_file_name(word: str) -> str:
    """The last part of a path, without quotes."""
    return re.sub(r"""['"]""", "", word).replace("\\", "/").rpartition("/")[2]
