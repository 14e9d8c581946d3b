"""The built-in guard: an agent's call that would change hooks, their approval or hookport itself is denied.

Reading is let through. A shell command is taken apart by `hookport.shell`, and a table says what each program
does to its files. It keeps an agent from a wrong turn; a program that is written to get around it is for the
approval to notice.
"""

from __future__ import annotations

import os
import sys

from hookport.model._json import loads
from hookport.runtime import folders, journal, trust
from hookport.runtime.guarded import Guarded, is_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import ModuleType
    from typing import Any

    from hookport.model.runs import Call, Event

    Tree = Any

# The key in the user's own settings.
SWITCH = "self_protection"
EVENTS = ("before_tool_execute", "permission_request")
WRITING = ("file_write", "file_edit", "notebook_edit")
READING = (
    *("file_read", "search", "find", "list", "web_search", "web_fetch"),
    *("agent", "todo", "skill", "ask_user"),
)
# A tool that no vocabulary knows reads, if its name says so.
READING_WORDS = (
    *("read", "get", "list", "search", "find", "view", "grep", "glob", "stat", "show", "fetch", "info"),
)
WRITING_WORDS = (
    *("write", "edit", "delete", "remove", "move", "create", "update", "set", "put", "rename", "patch"),
    *("replace", "apply", "append", "insert", "save", "modify", "copy"),
)
# Names of fields, in small letters and without what parts their words.
COMMAND_KEYS = ("command", "cmd", "script", "code", "commandline", "shellcommand", "bash", "python")
PATCH_KEYS = ("patch", "diff", "patchtext", "unifieddiff", "changes")
# A tool with one of these in its name runs what it is told, whatever the field is called.
RUNNING_WORDS = ("exec", "run_", "shell", "terminal", "process", "eval", "repl")
# A tool that writes many files into a folder, and the fields that name it.
UNPACKING_WORDS = (
    *("extract", "unzip", "unpack", "untar", "clone", "decompress", "copy_dir", "copy_folder", "copy_tree"),
    *("copydir", "copyfolder", "copytree", "sync", "mirror", "restore"),
)
TARGET_KEYS = ("destination", "dest", "target", "output", "outputdir", "to", "directory", "folder", "path")
SOURCE_KEYS = ("source", "src", "from", "sourcepath", "frompath", "origin")
# Where a shell tool is told to start; `cwd` is the vocabulary's word.
FOLDER_KEYS = ("cwd", "directory", "dir_path", "working_directory", "workdir")
# These may come before the verb of a tool that takes a folder with all that is in it.
TREE_WORDS = (
    "move",
    "rename",
    "delete",
    "remove",
    "trash",
    "unlink",
    "rmdir",
    "rm_",
    "mv_",
    "destroy",
    "purge",
)
# Texts that a tool writes or searches for, in which a path is no path.
TEXT_KEYS = (
    *(
        "content",
        "contents",
        "old",
        "new",
        "oldstring",
        "newstring",
        "oldtext",
        "newtext",
        "oldstr",
        "newstr",
    ),
    *("text", "description", "query", "message", "body", "title", "subject", "comment", "prompt", "summary"),
    *("search", "replace", "replacement", "observations"),
)
DEEPEST = 5


def objects(event: Event, paths: Callable[[], Sequence[str]], root: str, env: Mapping[str, str]) -> str:
    """Why an agent may not make this call; empty where it may."""
    call = event.call
    if event.event not in EVENTS or call is None:
        return ""
    calls = [one for one in (call, *call.parts) if not _only_reads(one)]
    if not calls:
        return ""
    guarded = Guarded((*paths(), *_own(root, env)), root, event.cwd or root, env)
    found = next(filter(None, (_objection(one, guarded) for one in calls)), "")
    if not found or _is_off(env):
        return ""
    return (
        f"{found} Agents may not change hooks, their approval or the settings that call them "
        f"(self-protection of hookport); ask the user to do it."
    )


def _own(root: str, env: Mapping[str, str]) -> Iterator[str]:
    """What is protected whatever the plan says."""
    yield from (os.path.join(root, name) for name in (trust.LOCK, ".hookport") if root)
    for place in (journal.folder(env), os.path.dirname(settings(env))):
        if place:
            yield from (place, os.path.realpath(place))


def settings(env: Mapping[str, str]) -> str:
    """The user's own settings, never a file in a project; empty where there is no place for them."""
    return folders.user_settings(env)


def _is_off(env: Mapping[str, str]) -> bool:
    """Whether the user switched it off; what cannot be read switches nothing off."""
    try:
        with open(settings(env), "rb") as file:
            tree = loads(file.read().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(tree, dict) and tree.get(SWITCH) is False


def _only_reads(call: Call) -> bool:
    return call.known_by == "name" and call.tool in READING and not set(call.also) & set(WRITING)


def _objection(call: Call, guarded: Guarded) -> str:
    if call.known_by != "name":
        # What its input tells is good enough to ask a guard, and not to ask nobody.
        call = call.replace(tool="", also=())
    if call.tool == "shell":
        return _shell(_line(call.input.get("command")), guarded, _folder(call, guarded))
    writes = call.tool in WRITING or bool(set(call.also) & set(WRITING))
    if not writes and _reads(call):
        return ""
    name = (call.mcp_tool or call.native).lower()
    is_tree = call.input.get("deleted") is True or any(word in f"{name}_" for word in TREE_WORDS)
    folder = _folder(call, guarded)
    for key, value in _texts(call.input or call.raw):
        if found := _told(name, key, value, guarded, folder, is_tree=is_tree, writes=writes):
            return found
    if not writes:
        raw = call.input or call.raw
        if isinstance(raw, dict) and (found := _shell(_words(raw), guarded, folder)):
            return found
        for folder, value in _siblings(call.input or call.raw):
            if found := guarded.meets(os.path.join(folder, value), above=is_tree):
                return f"this would change {found}."
    return ""


def _told(  # noqa: PLR0913  (of one value)
    name: str, key: str, value: str, guarded: Guarded, folder: str, *, is_tree: bool, writes: bool
) -> str:
    """Why a tool may not be told a value: a command, code, a patch, a pattern or a path."""
    key = "".join(letter for letter in key.lower() if letter.isalnum())
    runs = key in COMMAND_KEYS or (key not in TEXT_KEYS and _has(f"{name}_", RUNNING_WORDS))
    if runs and not writes and (found := _shell(value, guarded, folder)):
        return found
    # Code of a language has calls in it; in a command of a shell they are rare.
    is_code = runs and not writes and "(" in value and not key.startswith(("command", "cmd"))
    if is_code and (found := _commands().object_to_code("a tool", value, guarded, folder)):
        return str(found)
    if key in PATCH_KEYS and not writes and (found := _commands().find_patched(value, guarded, guarded.cwd)):
        return f"this would change {found}."
    if "\n" in value or key in TEXT_KEYS:
        return ""
    if key in SOURCE_KEYS and "copy" in name and not is_tree:
        return ""
    if "*" in value and _has(name, WRITING_WORDS):
        found = _commands().find_globbed(guarded, value)
    else:
        fills = key in TARGET_KEYS and _has(name, UNPACKING_WORDS) and guarded.is_inside(value)
        found = guarded.meets(value, above=is_tree or fills)
    return f"this would change {found}." if found else ""


def _has(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def _words(raw: Mapping[str, Any]) -> str:
    """The command of a tool that is told a program and its words by themselves."""
    program = next((raw[key] for key in ("command", "program", "executable", "cmd") if key in raw), "")
    words = next((raw[key] for key in ("args", "arguments", "argv") if isinstance(raw.get(key), list)), None)
    if words is None or not isinstance(program, str):
        return ""
    return _line([program, *words] if program else words)


def _siblings(tree: Tree, depth: int = 0) -> Iterator[tuple[str, str]]:
    """A folder and a name that stand beside each other."""
    if isinstance(tree, dict) and depth < DEEPEST:
        texts = [
            value
            for key, value in tree.items()
            if isinstance(value, str)
            and 0 < len(value) < 256
            and "\n" not in value
            and str(key).lower().replace("_", "") not in TEXT_KEYS
        ][:8]
        yield from ((one, other) for one in texts for other in texts if one is not other)
        for value in tree.values():
            yield from _siblings(value, depth + 1)
    elif isinstance(tree, list | tuple) and depth < DEEPEST:
        for value in tree:
            yield from _siblings(value, depth + 1)


def _folder(call: Call, guarded: Guarded) -> str:
    """Where the tool starts the command."""
    raw = call.raw if isinstance(call.raw, dict) else {}
    named = (tree.get(key) for tree in (call.input, raw) for key in FOLDER_KEYS)
    folder = next((one for one in named if one and isinstance(one, str)), "")
    return os.path.normpath(os.path.join(guarded.cwd, folder))


def _line(command: Tree) -> str:
    """A command as the shell reads it; a list is words that it does not read."""
    if isinstance(command, list | tuple):
        return " ".join("'" + str(word).replace("'", "'\\''") + "'" for word in command)
    return str(command or "")


def _reads(call: Call) -> bool:
    name = (call.mcp_tool or call.native).lower()
    return any(word in name for word in READING_WORDS) and not any(word in name for word in WRITING_WORDS)


def _texts(tree: Tree, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(tree, str):
        yield key, tree
    elif isinstance(tree, dict) and depth < DEEPEST:
        for name, value in tree.items():
            if "/" in str(name) or "." in str(name):
                # A path, with what is to be written there.
                yield key, str(name)
            yield from _texts(value, str(name), depth + 1)
    elif isinstance(tree, list | tuple) and depth < DEEPEST:
        for value in tree:
            yield from _texts(value, key, depth + 1)


def _shell(text: str, guarded: Guarded, cwd: str = "") -> str:
    """Why a shell command may not run."""
    return "" if is_plain(text) else str(_commands().find_objection(text, guarded, cwd))


def _commands() -> ModuleType:
    """What reads commands: to import it takes as long as a tenth of a dispatch."""
    if quick := sys.modules.get("hookport.loading"):
        # Where a dispatch began that way, this takes half as long.
        quick.load(quick.READING)
    from hookport.runtime import guarded_commands

    return guarded_commands
