"""Which commands are ours, and which agents load a file of hooks by themselves.

The latter by their places, their start folder and what they trust.

The place decides, not the dialect: a file that is written for an agent and stands elsewhere is not loaded by
it. Where an agent reads another agent's file besides its own, that does not count: it does less with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hookport.agents import Dialect, Tree, get, list_agents
from hookport.convert import pipeline
from hookport.errors import InputError
from hookport.project.agent_trust import (
    at,
    first_with,
    settings,
    trust_files,
    trust_of_folder,
    trust_of_hook,
)
from hookport.project.discovery import Found
from hookport.project.disk import data_of
from hookport.project.places import CATALOGUE, absolute, catalogues, is_same, own_place
from hookport.project.spots import catalogued_in, in_manifests, written_files
from hookport.runtime.plan import ENTRIES
from hookport.shapes.dialect import Location, PluginStore

# How an agent's entry calls the bridge, as a command of its own: the words before the program, the program,
# and what it is asked, for all hooks or for one that was installed.
_WORD = r"""(?:'[^']*'|"[^"]*"|[^\s'"|&;])+"""
_CALL = re.compile(
    rf"""(?:^|; |& )(?P<before>(?:{_WORD} )*?)(?P<program>{_WORD}) """
    r"""(?:dispatch (?P<dispatch>[\w-]+) (?:'[^']*'|\S+)(?: --\S+(?: \S+)?)*\s*(?:; hookport=\$\?; .*)?$"""
    r"""|wrap [\w-]+ (?P<wrap>[\w-]+) (?:'[^']*'|\S+) )"""
)
# What follows the call in an entry that looks at how it ended.
AFTER = "; hookport=$?;"
# How an installed command ends that needs no bridge.
MARK = "# hookport"


class Loading(NamedTuple):
    """That an agent loads a file by itself, and when.

    `below`: where it is started in a folder below the project's root, only if it calls an entry of ours of
    one of these scopes; None where that makes no difference. `proofs`: where nothing tells that it trusts the
    folder, the scopes of entries that it would not call either if it did not; None where it does. `lifts` are
    variables, with their value, that make it trust every folder.
    """

    below: tuple[str, ...] | None = None
    proofs: tuple[str, ...] | None = None
    lifts: tuple[tuple[str, str], ...] = ()


def loading(dialect: Dialect, found: Found, root: str, env: Mapping[str, str]) -> Loading | None:
    """How an agent loads the file of a hook by itself; None if it does not."""
    place = own_place(dialect, found.file, root, env)
    if place is None:
        return _plugin_loading(dialect, found, root, env)
    if found.dropped or _is_shadowed(dialect, found.file, root, env):
        return None
    if found.hook.dialect != dialect.id and not own_place(get(found.hook.dialect), found.file, root, env):
        return None
    if is_of_one_product(dialect, found, root, env):
        return None
    if trust_of_hook(dialect, found.file, _steps(found.place), root, env).is_trusted is False:
        return None
    return place_loading(dialect, place, root, env)


def waits_for_trust(dialect: Dialect, found: Found, root: str, env: Mapping[str, str]) -> bool:
    """Whether a hook is in an agent's own file, and all that it lacks is that the agent trusts it."""
    place = own_place(dialect, found.file, root, env)
    if place is None or found.hook.dialect != dialect.id:
        return False
    return trust_of_hook(dialect, found.file, _steps(found.place), root, env).is_trusted is False


def is_of_one_product(dialect: Dialect, found: Found, root: str, env: Mapping[str, str]) -> bool:
    """Whether only one of the products that are used here reads a hook: which of them calls is not known."""
    place = own_place(dialect, found.file, root, env) if dialect.products else None
    if place is None:
        return False
    mine = [path for paths in dialect.products for path in paths if path in place.path]
    tops = {path.partition("/")[0] for path in mine}
    others = [path for paths in dialect.products for path in paths if path.partition("/")[0] not in tops]
    files = [
        Path(path)
        for row in dialect.locations
        if any(one in row.path for one in others) and (path := absolute(dialect, row.path, root, env))
    ]
    # One that has a copy of its own runs that.
    return bool(mine) and any(file.parent.is_dir() and not _names(file, found) for file in files)


def _names(file: Path, found: Found) -> bool:
    """Whether a file has the command of a hook."""
    try:
        data = data_of(file) or b""
    except InputError:
        return False
    return found.hook.handler.command in data.decode("utf-8", "replace").replace('\\"', '"')


def _steps(place: str) -> tuple[str | int, ...]:
    """The way in a tree that is spelled out, as far as its numbers and its event matter."""
    found = re.findall(r"\[(\d+)\]|([^.\[\]]+)", place)
    return tuple(int(number) if number else key for number, key in found)


def place_loading(dialect: Dialect, place: Location, root: str, env: Mapping[str, str]) -> Loading | None:
    """How an agent loads a file at one of its own places; None where it does not trust the folder."""
    scope = place.scope
    below: tuple[str, ...] | None = None
    if scope != "user":
        is_repository = Path(root, ".git").exists()
        if (dialect.at_start and not place.at_repository) or not is_repository:
            below = ()
        elif dialect.unsure_below:
            below = ("project",)
    trust = dialect.folder_trust
    if trust is None or scope not in trust.scopes:
        return Loading(below)
    # What an environment lifts for this call is looked at when the call comes.
    state = trust_of_folder(dialect, root, _without(env, trust.lifted)).is_trusted
    if state:
        return Loading(below)
    proofs = tuple(one for one in ENTRIES if one in trust.scopes)
    lifts = trust.lifted if trust.lift_shows else ()
    return Loading(below, proofs, lifts) if proofs or lifts else None


def _without(env: Mapping[str, str], lifted: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {name: value for name, value in env.items() if (name, value) not in lifted}


def _is_shadowed(dialect: Dialect, file: str, root: str, env: Mapping[str, str]) -> bool:
    for shadow in dialect.shadows:
        hidden, by = (absolute(dialect, one, root, env) for one in (shadow.file, shadow.by))
        if is_same(file, hidden) and Path(by).is_file() and (shadow.even_empty or _has_hooks(dialect, by)):
            return True
    return False


def _has_hooks(dialect: Dialect, path: str) -> bool:
    try:
        data = data_of(Path(path))
        return data is not None and bool(pipeline.read({path: data}, dialect).decoded.manifest.hooks)
    except InputError:
        return False


def _plugin_loading(dialect: Dialect, found: Found, root: str, env: Mapping[str, str]) -> Loading | None:
    """How an agent loads the plugin that a hook is in; None if it has not installed and enabled it."""
    store = dialect.plugin_store
    if store is None or not _is_loaded_file(dialect, store, found):
        return None
    plugins = at(_tree(dialect, store.file, root, env), store.key)
    for name, copies in plugins.items() if isinstance(plugins, Mapping) else ():
        here = [
            copy
            for copy in (copies if isinstance(copies, list) else [copies])
            if _is_for(root, at(copy, (store.project,)))
        ]
        folders = [at(copy, (store.folder,)) for copy in here]
        # One that is installed for other projects only may not be loaded in this.
        folders += [_in_market(dialect, name, root, env)] if here else []
        # A copy elsewhere is not this very file: it may be of another version.
        if any(isinstance(folder, str) and folder and is_same(folder, found.package) for folder in folders):
            return _enabled_loading(dialect, name, root, env)
    return None


def _is_for(root: str, project: Tree) -> bool:
    """Whether a copy of a plugin is for a project: for every one, if it names none."""
    return not isinstance(project, str) or is_same(root, project)


def _is_loaded_file(dialect: Dialect, store: PluginStore, found: Found) -> bool:
    """Whether an agent that has a plugin loads this very file of it: others in it are for other agents."""
    if found.hook.dialect != dialect.id:
        return False
    package, file = Path(found.package), Path(found.file)
    declared = [
        one for one in in_manifests(package) if one.dialect is not None and one.dialect.id == dialect.id
    ]
    named = [path for one in declared for path in written_files(one.hooks)]
    if any(not path.startswith(store.path_start) for path in named):
        return False
    defaults = [place.path for place in dialect.locations if place.scope == "plugin" and place.loaded]
    is_default = any(file == package / path for path in defaults) and (store.keeps_default or not named)
    # Of hooks in a manifest, an object with another `hooks` in it is passed over.
    is_inside = file.name == CATALOGUE or any(file == one.file for one in declared)
    is_inside = is_inside and not re.match(r"hooks(\[\d+\])?\.hooks\.", found.place)
    return is_default or is_inside or any(file in one.files for one in declared)


def _tree(dialect: Dialect, place: str, root: str, env: Mapping[str, str]) -> Tree:
    path = absolute(dialect, place, root, env)
    document = settings(Path(path)) if path else None
    return document.tree if document else None


def _in_market(dialect: Dialect, name: str, root: str, env: Mapping[str, str]) -> str:
    """The folder of a plugin in a marketplace that is a folder; empty if it is elsewhere."""
    store = dialect.plugin_store
    plugin, _, market = name.rpartition("@")
    place = at(_tree(dialect, store.markets, root, env), (market, store.place)) if store else None
    if not isinstance(place, str):
        return ""
    for catalogue in catalogues():
        for one, folder in catalogued_in(Path(place), catalogue):
            if one == plugin:
                return str(Path(place, folder))
    return ""


def _enabled_loading(dialect: Dialect, plugin: str, root: str, env: Mapping[str, str]) -> Loading | None:
    """How the settings that enable a plugin are loaded; None where the nearest says that it is off."""
    store = dialect.plugin_store
    assert store is not None  # noqa: S101  (it names the plugin)
    switch = (*store.switch, plugin)
    found = first_with(store.settings, switch, dialect, root, env)
    if found is None or at(found[1].tree, switch) is not True:
        return None
    place = own_place(dialect, str(found[0]), root, env)
    return place_loading(dialect, place, root, env) if place else Loading()


def _as_lists(tree: Tree) -> Tree:
    return [_as_lists(one) for one in tree] if isinstance(tree, tuple) else tree


class Readers:
    """The agents that load the files of hooks by themselves, each file looked at once."""

    def __init__(self, root: str, env: Mapping[str, str]) -> None:
        self.root, self.env = root, env
        self._known: dict[tuple[str, ...], Loading | None] = {}

    def of(self, found: Found) -> dict[str, list[Tree]]:
        """Who loads the file of a hook, and when, as a plan has it."""
        each = ((name, self._loading(get(name), found)) for name in list_agents())
        return {name: _as_lists(how) for name, how in each if how is not None}

    def _loading(self, dialect: Dialect, found: Found) -> Loading | None:
        # Some agents tell hooks of one file apart.
        place = found.place if dialect.hook_trust or dialect.products else ""
        key = (dialect.id, found.file, found.package, place)
        if key not in self._known:
            self._known[key] = loading(dialect, found, self.root, self.env)
        return self._known[key]


def watched(root: str, env: Mapping[str, str]) -> Iterator[str]:
    """The files that decide which agents load what."""
    for dialect in map(get, list_agents()):
        yield from trust_files(dialect, root, env)
        store = dialect.plugin_store
        for place in (store.file, store.markets, *store.settings) if store else ():
            if path := absolute(dialect, place, root, env):
                yield path


def also_reads(dialect: Dialect, found: Found, root: str, env: Mapping[str, str]) -> str:
    """The place of another agent's file in which an agent reads a hook besides its own; empty if none."""
    if own_place(dialect, found.file, root, env):
        return ""
    for place in dialect.also_reads:
        path = absolute(dialect, place.path, root, env)
        if path and is_same(found.file, path):
            return place.path
    return ""


def is_ours(command: str) -> bool:
    """Whether hookport wrote the entry of a command: what is behind it is found by itself."""
    return command.endswith(MARK) or any(_calls(command))


def is_dispatch(command: str) -> bool:
    """Whether a command calls the bridge for all hooks."""
    return any(call["dispatch"] for call in _calls(command))


def agent_of(command: str) -> str:
    """The agent that an entry of ours was written for; empty where its command does not say."""
    return next((call["dispatch"] or call["wrap"] for call in _calls(command)), "")


def _calls(command: str) -> Iterator[re.Match[str]]:
    """The calls of the bridge, by whatever path: the program itself, or a Python that runs it."""
    for call in _CALL.finditer(command):
        words = [_bare(word) for word in re.findall(_WORD, call["before"])]
        name = _bare(call["program"])
        by_python = not words or ("py" in words[0] and all(word.startswith("-") for word in words[1:]))
        # A wrapped command that names no path was put there by a person.
        known = name in ("bridge.py", "bridge.pyz") or (
            call["dispatch"] and name in ("hookport", "hookport.exe")
        )
        if by_python and known:
            yield call


def _bare(word: str) -> str:
    """The last part of a path, without quotes."""
    return re.sub(r"""['"]""", "", word).replace("\\", "/").rpartition("/")[2]
