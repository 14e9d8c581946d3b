"""What a hook runs, whatever its dialect's names of folders: this identifies copies for several agents.

A plugin with the manifests of three agents, or a link to another agent's file, starts one script under
several names. Two hooks that start the same script with the same arguments are copies; similar hooks run
separately.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

from hookport.agents import Dialect, get, list_dialects
from hookport.convert.checks.scripts import INTERPRETERS, PLAIN_OPTIONS, find_named_script
from hookport.model.hooks import Hook

# Placeholders for folders while a command is split: a real folder may have blanks.
PACKAGE, ROOT, HOME = "/\ue000", "/\ue001", "/\ue002"
_HOME = re.compile(r"(?<![\w/.])~(?=/)|\$HOME(?!\w)|\$\{HOME\}")
_QUOTES = re.compile(r"""["']""")


def describe_run(hook: Hook, dialect: Dialect, package: Path, root: Path, home: Path | None) -> str:
    """The script that a hook starts, by its real path, and its arguments; of any other hook the words.

    Paths in the project are relative to its root, so that they are equal wherever the project is.
    """
    handler = hook.handler
    text = _mark_folders(handler.command or handler.url or handler.prompt)
    start = package if dialect.starts_in_package else root
    folders = {PACKAGE: _shorten_path(root, str(package)), ROOT: "", HOME: str(home) if home else "~"}
    real = {PACKAGE: str(package), ROOT: str(root), HOME: str(home) if home else "~"}
    variables = f" {sorted(handler.env.items())}" if handler.env else ""
    script = find_named_script(text) if handler.command else None
    if script is None:
        place = folders[PACKAGE] if dialect.starts_in_package else handler.cwd
        words = _fill_in_folders(_QUOTES.sub("", text), folders).removeprefix("./")
        return f"{handler.type} {place} {words}{variables}"
    before, _, after = _QUOTES.sub("", text).partition(_QUOTES.sub("", script.word))
    path = os.path.join(start, handler.cwd, _fill_in_folders(script.word, real))  # noqa: PTH118  (may be absolute)
    words = " ".join(word for word in before.split() if not _starts_script(word))
    script_path = _shorten_path(root, _resolve_path(path))
    arguments = _fill_in_folders(after.rstrip(), folders)
    return f"{handler.type} {words} {script_path}{arguments}{variables}"


def _shorten_path(root: Path, path: str) -> str:
    """A path relative to the project root, if it is below."""
    for folder in (str(root), _resolve_path(str(root))):
        if path == folder:
            return ""
        if path.startswith(f"{folder}/"):
            return path.removeprefix(f"{folder}/")
    return path


def _mark_folders(text: str) -> str:
    """A command with one spelling of a plugin's folder and of the project's."""
    for pattern, folder in _compile_spellings():
        text = re.sub(pattern, lambda _, folder=folder: folder, text)  # type: ignore[misc]
    return _HOME.sub(HOME, text)


@cache
def _compile_spellings() -> tuple[tuple[str, str], ...]:
    """Patterns of the variables and calls by which dialects name folders, the longest first."""
    folder_by_spelling = {
        spelling: folder
        for dialect in map(get, list_dialects())
        for spellings, folder in ((dialect.project_dir, ROOT), (dialect.package_dir, PACKAGE))
        for spelling in spellings
        if len(spelling) > 1
    }
    return tuple(
        (re.escape(spelling) + (r"(?!\w)" if spelling[-1].isalnum() else ""), folder_by_spelling[spelling])
        for spelling in sorted(folder_by_spelling, key=len, reverse=True)
    )


def _fill_in_folders(text: str, folders: dict[str, str]) -> str:
    """A text with the names of folders, but without the project root."""
    for mark, folder in folders.items():
        text = text.replace(mark, folder) if folder else text.replace(f"{mark}/", "").replace(mark, "")
    return text


def _starts_script(word: str) -> bool:
    """Whether a word before a script's name is only its interpreter or an option of it."""
    return bool(INTERPRETERS.fullmatch(word.rpartition("/")[2]) or PLAIN_OPTIONS.fullmatch(word))


def _resolve_path(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # no file can have such a name
        return path
