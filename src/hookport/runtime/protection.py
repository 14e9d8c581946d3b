"""The built-in guard: it denies an agent's call that would change hooks, their approval or hookport itself.

Reading passes. `hookport.shell` parses a shell command, and a table lists what each program does to its
files. The guard keeps an agent from accidents; a program written to evade it is for the approval to notice.
"""

from __future__ import annotations

import os

from hookport.base import folders
from hookport.model.json_text import loads
from hookport.runtime import journal, trust
from hookport.runtime.guarded import GuardedPaths, join_line, object_to_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hookport.model.runs import Call, Event


# The key in the user's own settings.
SWITCH = "self_protection"
EVENTS = ("before_tool_execute", "permission_request")
WRITING = ("file_write", "file_edit", "notebook_edit")
READING = (
    *("file_read", "search", "find", "list", "web_search", "web_fetch"),
    *("agent", "todo", "skill", "ask_user"),
)
# Fields for the start folder of a shell tool; `cwd` is the vocabulary's name.
FOLDER_KEYS = ("cwd", "directory", "dir_path", "working_directory", "workdir")


def object_to_event(
    event: Event, paths: Callable[[], Sequence[str]], root: str, env: Mapping[str, str]
) -> str:
    """Explain why an agent may not make this call; empty if it may."""
    call = event.call
    if event.event not in EVENTS or call is None:
        return ""
    calls = [part for part in (call, *call.parts) if not _only_reads(part)]
    if not calls:
        return ""
    try:
        guarded = GuardedPaths((*paths(), *_list_own_paths(root, env)), root, event.cwd or root, env)
        objection = next(filter(None, (_object_to_call(part, guarded) for part in calls)), "")
    except (OSError, ValueError, RecursionError) as error:
        # An error in the parser must not switch protection off.
        objection = f"this call cannot be checked ({type(error).__name__}: {error})."
    if not objection or _is_off(env):
        return ""
    return (
        f"{objection} Agents may not change hooks, their approval or the settings that call them "
        f"(self-protection of hookport); ask the user to do it."
    )


def _list_own_paths(root: str, env: Mapping[str, str]) -> Iterator[str]:
    """List what is protected whatever the plan contains."""
    yield from (os.path.join(root, name) for name in (trust.LOCK, ".hookport") if root)
    for place in (journal.find_state_folder(env), os.path.dirname(find_user_settings(env))):
        if place:
            yield from (place, os.path.realpath(place))


def find_user_settings(env: Mapping[str, str]) -> str:
    """Find the user's own settings, never a file in a project; empty without a place for them."""
    return folders.find_user_settings(env)


def _is_off(env: Mapping[str, str]) -> bool:
    """Whether the user switched protection off; unreadable settings do not."""
    try:
        with open(find_user_settings(env), "rb") as file:
            tree = loads(file.read().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(tree, dict) and tree.get(SWITCH) is False


def _only_reads(call: Call) -> bool:
    return call.known_by == "name" and call.tool in READING and not set(call.also) & set(WRITING)


def _find_folder(call: Call, guarded: GuardedPaths) -> str:
    """Find the folder where the tool starts the command."""
    raw = call.raw if isinstance(call.raw, dict) else {}
    named = (tree.get(key) for tree in (call.input, raw) for key in FOLDER_KEYS)
    folder = next((value for value in named if value and isinstance(value, str)), "")
    return os.path.normpath(os.path.join(guarded.cwd, folder))


def _object_to_call(call: Call, guarded: GuardedPaths) -> str:
    if call.known_by != "name":
        # A tool recognised by its input may run a guard, but may not skip protection.
        call = call.replace(tool="", also=())
    if call.tool == "shell":
        return object_to_command(join_line(call.input.get("command")), guarded, _find_folder(call, guarded))
    try:
        from hookport.runtime import guarded_inputs
    except OSError as error:
        # An OSError on paths lets a call through, and this must not.
        raise ImportError(f"cannot read guarded_inputs: {error}") from error
    writes = call.tool in WRITING or bool(set(call.also) & set(WRITING))
    return guarded_inputs.object_to_input(call, guarded, _find_folder(call, guarded), writes=writes)
